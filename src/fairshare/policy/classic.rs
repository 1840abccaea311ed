//! Slurm's first policy, `PriorityFlags=NO_FAIR_TREE` since 19.05: its document "Classic Fairshare Algorithm", and what
//! its daemons do.

use crate::fairshare::policy::association::sent;
use crate::fairshare::policy::levels::Levels;
use crate::fairshare::policy::measure::{Measure, measures, raw_shares};
use crate::fairshare::policy::{AssociationShares, EntityShares, Policy, Release, Rules, TreeShares};
use crate::fairshare::x87::Extended;
use crate::fairshare::{ShareTree, Shares};

/// Half the factor for every share's worth of effective usage.
///
/// **Documented.** Normalised shares `S` are the parts of the siblings' shares on the way up, multiplied; normalised
/// usage `U` is the part of all usage. Effective usage is `U` right below the root, else
/// `UE = UA + (UE_parent - UA) * S_child / S_all_siblings`. The factor is `F = 2^(-UE / S / d)`, `d` being
/// `FairShareDampeningFactor`. Whoever is `FairShare=parent` has the parent's `S` and `UE`. The document leaves open,
/// and this settles: without shares the factor is 0, and where nobody has used anything every usage is 0.
///
/// **Scheduler.** Usage in `long double`; a level without shares hands its parent's effective usage on; the users and
/// accounts of an account with `FairShare=parent` compete in the level above. One with `FairShare=parent` right below
/// the root has its own usage and all the shares, but its jobs get the root's factor; so 22.05's `sshare` shows
/// another one.
///
/// ```
/// use job_sort_formula::fairshare::policy::classic::Classic;
/// use job_sort_formula::fairshare::{Assessed, FairShare, Member, Rules, TreeBuilder};
///
/// let mut builder = TreeBuilder::new("root");
/// builder.add_under("root", Member::entity("ann").shares(3).usage(300.0))?;
/// builder.add_under("root", Member::entity("bob").shares(1).usage(100.0))?;
///
/// let fairshare = Assessed::new(builder.finish(), &Classic::new(Rules::Scheduler));
/// assert_eq!(fairshare.shares_of("bob").map(|shares| shares.fairshare_factor), Some(0.5));
/// # Ok::<(), job_sort_formula::fairshare::TreeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Classic {
    rules: Rules,
    release: Release,
    damping: u16,
    simplified: bool,
}

impl Classic {
    /// The policy with a damping factor of 1.
    pub fn new(rules: Rules) -> Self {
        Self { rules, release: Release::default(), damping: 1, simplified: false }
    }

    /// The document's "Simplified Fair-Share Formula": `F = 2^(-U / S / d)`, a user's own usage alone.
    pub fn simplified() -> Self {
        Self { simplified: true, ..Self::new(Rules::Documented) }
    }

    /// `FairShareDampeningFactor`, which brings factors closer to 1. At least 1: 0 counts as 1.
    #[must_use]
    pub fn damping(self, damping: u16) -> Self {
        Self { damping: damping.max(1), ..self }
    }

    /// Whose `sshare` says what [`AssociationShares::fairshare`] is; of consequence by the scheduler's rules.
    #[must_use]
    pub fn release(self, release: Release) -> Self {
        Self { release, ..self }
    }

    fn documented(&self, tree: &ShareTree) -> TreeShares {
        let measures = measures(tree);
        let mut counted: Vec<f64> = Vec::with_capacity(tree.len());
        for node in tree.nodes() {
            let measure = measures[node.index()];
            let above = tree.parent(node).map_or(measure.norm_usage, |parent| counted[parent.index()]);
            counted.push(self.documented_usage(measure, above, tree.shares(node)));
        }
        let row = |(node, (measure, counted)): (_, (Measure, f64))| {
            let factor = halved(counted / measure.norm_shares, measure.norm_shares, self.damping);
            let shown = AssociationShares {
                effective_usage: Some(counted),
                fairshare: Some(factor),
                ..AssociationShares::new(
                    raw_shares(tree, node),
                    tree.usage(node),
                    measure.norm_shares,
                    Some(measure.norm_usage),
                )
            };
            (EntityShares::new(measure.norm_shares, counted, factor), shown)
        };
        tree.nodes().zip(measures.iter().copied().zip(counted)).map(row).collect()
    }

    fn documented_usage(&self, measure: Measure, above: f64, shares: Shares) -> f64 {
        match shares {
            Shares::Parent => above,
            _ if self.simplified || measure.is_first_level => measure.norm_usage,
            _ => measure.norm_usage + (above - measure.norm_usage) * measure.part,
        }
    }

    fn scheduler(&self, tree: &ShareTree) -> TreeShares {
        let levels = Levels::of(tree);
        let mut counted: Vec<Extended> = Vec::with_capacity(tree.len());
        for node in 0..tree.len() {
            counted.push(if node == 0 { Extended::ONE } else { effective_usage(&levels, node, &counted) });
        }
        Factors { release: self.release, damping: self.damping }.table(&levels, &levels.norm_shares(), &counted)
    }
}

impl Default for Classic {
    fn default() -> Self {
        Self::new(Rules::default())
    }
}

impl Policy for Classic {
    fn name(&self) -> &str {
        "classic"
    }

    fn assess(&self, tree: &ShareTree) -> TreeShares {
        match self.rules {
            Rules::Documented => self.documented(tree),
            Rules::Scheduler => self.scheduler(tree),
        }
    }
}

fn effective_usage(levels: &Levels, node: usize, counted: &[Extended]) -> Extended {
    let (own, above) = (levels.norm_usage(node), levels.above(node));
    match levels.level_shares(node) {
        _ if above == 0 => own,
        0 => counted[above],
        _ if levels.is_stand_in(node) => counted[above],
        sum => own + (counted[above] - own) * (Extended::from(levels.shares(node)) / Extended::from(sum)),
    }
}

/// `2^(-ratio / damping)`, and nothing without shares.
pub(super) fn halved(ratio: f64, norm_shares: f64, damping: u16) -> f64 {
    if norm_shares > 0.0 { libm::exp2(-(ratio / f64::from(damping))) } else { 0.0 }
}

/// From effective usage to factors: the same under the classic and the depth-oblivious policy.
pub(super) struct Factors {
    pub(super) release: Release,
    pub(super) damping: u16,
}

impl Factors {
    /// The table of a tree's normalised shares and effective usages.
    pub(super) fn table(&self, levels: &Levels, norm_shares: &[f64], counted: &[Extended]) -> TreeShares {
        let row = |node: usize| {
            let jobs_node = levels.counterpart(node);
            let exponent = self.exponent(counted[jobs_node], norm_shares[jobs_node]);
            let factor = power_of_half(exponent);
            let effective_usage = counted[node].to_f64();
            let mut shown = AssociationShares {
                effective_usage: Some(effective_usage),
                fairshare: levels.is_user(node).then_some(factor),
                ..levels.association(node, norm_shares[node])
            };
            shown = shown.sent();
            if self.release == Release::V22_05 {
                // the client makes it of what it got, and knows nothing of stand-ins
                let again = self.exponent(Extended::from(sent(effective_usage)), sent(norm_shares[node]));
                shown.fairshare = Some(if again == exponent { factor } else { power_of_half(again) });
            }
            (EntityShares::new(norm_shares[node], effective_usage, factor), shown)
        };
        (0..counted.len()).map(row).collect()
    }

    /// How often the factor is half; `None` without shares.
    fn exponent(&self, counted: Extended, norm_shares: f64) -> Option<f64> {
        if norm_shares.is_nan() || norm_shares <= 0.0 {
            return None;
        }
        let ratio = counted / Extended::from(norm_shares);
        let damped = if self.damping == 1 { ratio } else { ratio / Extended::from(u32::from(self.damping)) };
        Some(damped.to_f64())
    }
}

fn power_of_half(exponent: Option<f64>) -> f64 {
    exponent.map_or(0.0, |exponent| libm::exp2(-exponent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairshare::policy::worked_example;
    use crate::fairshare::{Assessed, FairShare, Member, TreeBuilder};

    /// The document's example, to the digits that it prints.
    #[test]
    fn the_worked_example() {
        let assessed = Assessed::new(worked_example(), &Classic::new(Rules::Documented));
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
        for (name, usage) in
            [("A", "0.4500"), ("B", "0.3875"), ("C", "0.3000"), ("D", "0.2500"), ("E", "0.2500"), ("F", "0.1458")]
        {
            let account = assessed.shares_of(name).expect("in the tree");
            assert_eq!(format!("{:.4}", account.fairshare_tree_usage), usage, "{name}");
        }
    }

    #[test]
    fn the_simplified_formula_looks_at_own_usage() {
        let assessed = Assessed::new(worked_example(), &Classic::simplified());
        let factor = |name| assessed.shares_of(name).map(|shares| shares.fairshare_factor);
        assert_eq!(factor("User3"), Some(1.0));
        assert_eq!(factor("User2"), Some(libm::exp2(-0.25 / 0.05)));
        let damped = Assessed::new(worked_example(), &Classic::simplified().damping(5));
        assert_eq!(damped.shares_of("User2").map(|shares| shares.fairshare_factor), Some(0.5));
    }

    #[test]
    fn stand_ins_have_their_parents_numbers_however_deep() {
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
        for rules in [Rules::Documented, Rules::Scheduler] {
            let assessed = Assessed::new(tree.clone(), &Classic::new(rules));
            let ann = assessed.shares_of("ann").expect("in the tree");
            assert_eq!((ann.fairshare_perc, ann.fairshare_tree_usage), (0.75, 0.5), "{rules:?}");
            assert_eq!(Some(ann.fairshare_factor), assessed.shares_of("a").map(|a| a.fairshare_factor), "{rules:?}");
        }
    }
}
