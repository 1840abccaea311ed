//! Slurm's classic policy (`PriorityFlags=NO_FAIR_TREE` since 19.05): its document "Classic
//! Fairshare Algorithm", and what its daemons do.

use crate::fairshare::policy::normalization::Normalized;
use crate::fairshare::policy::slurm_associations::{ExponentialFactor, SlurmModel};
use crate::fairshare::policy::{Policy, PolicyRules, Release, ShareTable};
use crate::fairshare::x87::Extended;
use crate::fairshare::{ShareTree, Shares};

/// The factor is 1 without usage and is halved for every effective usage of the size of the
/// normalised shares.
///
/// **Documented.** Normalised shares `S` are the product of the fractions of the siblings' shares
/// from the node up; normalised usage `U` is the fraction of all usage. Effective usage is `U` on
/// the first level, else `UE = UA + (UE_parent - UA) * S_child / S_all_siblings`. The factor is
/// `F = 2^(-UE / S / d)`, where `d` is `FairShareDampeningFactor`. A node with `FairShare=parent`
/// has the parent's `S` and `UE`. The document does not say, and this implementation decides:
/// without shares the factor is 0; in a tree without usage every usage is 0.
///
/// **Scheduler.** Usage is a `long double`; a level without shares has its parent's effective
/// usage; the users and accounts of an account with `FairShare=parent` compete in the level above.
/// A `FairShare=parent` node on the first level has its own usage and all the shares, but its jobs
/// get the root's factor, so that 22.05's `sshare` shows a factor that no job has.
///
/// ```
/// use job_sort_formula::fairshare::Classic;
/// use job_sort_formula::fairshare::{AssessedTree, FairShare, Member, PolicyRules, TreeBuilder};
///
/// let mut builder = TreeBuilder::new("root");
/// builder.add_under("root", Member::entity("ann").shares(3).usage(300.0))?;
/// builder.add_under("root", Member::entity("bob").shares(1).usage(100.0))?;
///
/// let fairshare = AssessedTree::new(builder.finish(), &Classic::new(PolicyRules::Scheduler));
/// assert_eq!(fairshare.shares_of("bob").map(|shares| shares.fairshare_factor), Some(0.5));
/// # Ok::<(), job_sort_formula::fairshare::TreeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Classic {
    rules: PolicyRules,
    factor: ExponentialFactor,
}

impl Classic {
    /// The policy of the newest release with a dampening factor of 1.
    pub fn new(rules: PolicyRules) -> Self {
        Self {
            rules,
            ..Self::default()
        }
    }

    /// `FairShareDampeningFactor`, which brings factors closer to 1. At least 1: 0 counts as 1.
    #[must_use]
    pub fn dampening(self, dampening: u16) -> Self {
        let factor = self.factor.with_dampening(dampening);
        Self { factor, ..self }
    }

    /// The release whose `sshare` decides
    /// [`AssociationShares::fairshare`](crate::fairshare::AssociationShares::fairshare) under the
    /// scheduler's rules.
    #[must_use]
    pub fn release(self, release: Release) -> Self {
        let factor = ExponentialFactor {
            release,
            ..self.factor
        };
        Self { factor, ..self }
    }

    fn documented(&self, tree: &ShareTree) -> ShareTable {
        let normalized = Normalized::table(tree);
        let mut effective: Vec<f64> = Vec::with_capacity(tree.len());
        for node in tree.nodes() {
            let own = normalized[node.index()];
            let above = match tree.parent(node) {
                Some(parent) => effective[parent.index()],
                None => own.norm_usage,
            };
            effective.push(match tree.shares(node) {
                Shares::Parent => above,
                _ if own.is_first_level => own.norm_usage,
                _ => own.norm_usage + (above - own.norm_usage) * own.fraction,
            });
        }
        let mut table = ShareTable::with_capacity(tree.len());
        for (node, own) in tree.nodes().zip(normalized) {
            let usage = effective[node.index()];
            let ratio = usage / own.norm_shares;
            let factor = self.factor.documented(ratio, own.norm_shares);
            table.push(own.row(tree, node, usage, factor));
        }
        table
    }

    fn scheduler(&self, tree: &ShareTree) -> ShareTable {
        let model = SlurmModel::new(tree);
        let mut effective: Vec<Extended> = Vec::with_capacity(tree.len());
        for node in 0..tree.len() {
            effective.push(if node == 0 {
                Extended::one()
            } else {
                effective_usage(&model, node, &effective)
            });
        }
        self.factor.table(&model, &model.norm_shares(), &effective)
    }
}

impl Policy for Classic {
    fn assess(&self, tree: &ShareTree) -> ShareTable {
        match self.rules {
            PolicyRules::Documented => self.documented(tree),
            PolicyRules::Scheduler => self.scheduler(tree),
        }
    }
}

fn effective_usage(model: &SlurmModel, node: usize, effective: &[Extended]) -> Extended {
    let own = model.norm_usage(node);
    let above = model.above(node);
    match model.level_shares(node) {
        // first: on the first level, also a `FairShare=parent` node has its own usage
        _ if above == 0 => own,
        0 => effective[above],
        _ if model.uses_parent(node) => effective[above],
        sum => {
            // another order of these operations changes the last bit
            own + (effective[above] - own)
                * (Extended::from(model.shares(node)) / Extended::from(sum))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairshare::policy::{shares_of_node, worked_example};
    use crate::fairshare::{AssessedTree, FairShare, Member, TreeBuilder};

    /// The document's example, to the digits that it prints.
    #[test]
    fn the_worked_example() {
        let assessed = AssessedTree::new(worked_example(), &Classic::new(PolicyRules::Documented));
        for (name, shares, usage, factor) in [
            ("User1", "0.30", "0.3875", "0.408479"),
            ("User2", "0.05", "0.2750", "0.022097"),
            ("User3", "0.05", "0.1500", "0.125000"),
            ("User4", "0.25", "0.2500", "0.500000"),
            ("User5", "0.35", "0.1458", "0.749154"),
        ] {
            let user = assessed.shares_of(name).expect("in the tree");
            assert_eq!(format!("{:.2}", user.fairshare_perc), shares, "{name}");
            assert_eq!(format!("{:.4}", user.fairshare_tree_usage), usage, "{name}");
            assert_eq!(format!("{:.6}", user.fairshare_factor), factor, "{name}");
        }
        for (name, usage) in [
            ("A", "0.4500"),
            ("B", "0.3875"),
            ("C", "0.3000"),
            ("D", "0.2500"),
            ("E", "0.2500"),
            ("F", "0.1458"),
        ] {
            let account = shares_of_node(&assessed, name);
            assert_eq!(
                format!("{:.4}", account.fairshare_tree_usage),
                usage,
                "{name}"
            );
        }
    }

    #[test]
    fn nodes_with_fairshare_parent_have_the_numbers_of_the_node_above_at_any_depth() {
        let mut builder = TreeBuilder::new("root");
        for (parent, member) in [
            ("root", Member::group("a").shares(3)),
            ("root", Member::entity("other").shares(1).usage(50.0)),
            ("a", Member::group("b").shares_of_parent()),
            ("b", Member::entity("ann").shares_of_parent().usage(30.0)),
            ("b", Member::entity("bob").shares(1).usage(20.0)),
        ] {
            builder.add_under(parent, member).expect("sound");
        }
        let tree = builder.finish();
        for rules in [PolicyRules::Documented, PolicyRules::Scheduler] {
            let assessed = AssessedTree::new(tree.clone(), &Classic::new(rules));
            let ann = assessed.shares_of("ann").expect("in the tree");
            assert_eq!(
                (ann.fairshare_perc, ann.fairshare_tree_usage),
                (0.75, 0.5),
                "{rules:?}"
            );
            assert_eq!(
                ann.fairshare_factor,
                shares_of_node(&assessed, "a").fairshare_factor,
                "{rules:?}"
            );
        }
    }
}
