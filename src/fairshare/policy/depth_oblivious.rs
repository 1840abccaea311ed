//! Slurm's depth-oblivious policy (`PriorityFlags=DEPTH_OBLIVIOUS`): its document "Depth-Oblivious
//! Fair-share Factor", and what its daemons do.

use std::cell::OnceCell;
use std::cmp::Ordering;

use crate::fairshare::policy::normalization::Normalized;
use crate::fairshare::policy::slurm_associations::{
    ExponentialFactor, NO_VAL, SlurmModel, daemon_order, request_order,
};
use crate::fairshare::policy::{Policy, PolicyRules, Release, ShareTable};
use crate::fairshare::x87::Extended;
use crate::fairshare::{NodeId, ShareTree, Shares};

/// The classic policy for deep and uneven trees: the usage of the accounts above counts less, the
/// more it differs from their shares.
///
/// **Documented.** `r = U / S`; on the first level `R = r`, else `R = R_parent * rl^k` with
/// `rl = r / (U_all_siblings / S_all_siblings)`, and `F = 2^-R`. `k` is 1 where
/// `ln(R_parent) * ln(rl) >= 0`, else `1 / (1 + (5 * ln(R_parent))^2)`. The document does not say,
/// and this implementation decides: where `R_parent` or `rl` is 0 and has no logarithm, `k` is 1;
/// where the siblings have used nothing, `rl` is 0; without shares the factor is 0; a node with
/// `FairShare=parent` has the parent's `R` and `S` and is no sibling.
/// [`effective_usage`](crate::fairshare::AssociationShares::effective_usage) is `R * S`, as the
/// daemons show it.
///
/// **Scheduler.** `rl` divides by the parent's normalised shares instead of the siblings' sum; a
/// node without usage or shares, or whose parent has none, has its own usage; and
/// `FairShareDampeningFactor` divides `R`. These are the numbers after every association has been
/// computed once. [`first_cycle`](Self::first_cycle) gives those of a daemon's first cycle, which
/// depend on the order of the requests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DepthOblivious {
    rules: PolicyRules,
    factor: ExponentialFactor,
    /// In the daemon's first cycle, the users that are requested before the others.
    requested: Option<Vec<NodeId>>,
}

impl DepthOblivious {
    /// The policy of the newest release with a dampening factor of 1.
    pub fn new(rules: PolicyRules) -> Self {
        Self {
            rules,
            ..Self::default()
        }
    }

    /// `FairShareDampeningFactor`, which the daemons apply but the document does not mention. 0
    /// counts as 1.
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

    /// Under the scheduler's rules: the numbers of the first cycle after the daemon's start, as
    /// `sshare -a` prints them.
    ///
    /// The daemon computes one account after another, and users when they are requested: first
    /// `requested`, which are those of the pending jobs in the order of these, then the others by
    /// `sshare -a` in the order of its rows. A sibling that is not computed yet
    /// counts with a usage of 4294967294, so that all but the last sibling of a list seem to have
    /// used next to nothing.
    #[must_use]
    pub fn first_cycle(self, requested: &[NodeId]) -> Self {
        Self {
            requested: Some(requested.to_vec()),
            ..self
        }
    }

    fn scheduler(&self, tree: &ShareTree) -> ShareTable {
        let model = SlurmModel::new(tree);
        let release = self.factor.release;
        let shares = model.norm_shares();
        let lists = model.lists(release);
        let effective = if let Some(requested) = &self.requested {
            let mut order = daemon_order(tree, release);
            // the daemon computes accounts by itself, users only when they are requested
            order.retain(|node| !model.is_user(node.index()));
            let mut is_computed = vec![false; tree.len()];
            for &node in requested.iter().chain(&request_order(tree, release)) {
                let index = node.index();
                if index < tree.len() && model.is_user(index) && !is_computed[index] {
                    is_computed[index] = true;
                    order.push(node);
                }
            }
            // the root is left out: its usage is 1, not computed
            first_cycle(&model, &lists, &shares, &order[1..])
        } else {
            settled(&model, &lists, &shares)
        };
        self.factor.table(&model, &shares, &effective)
    }

    fn documented(&self, tree: &ShareTree) -> ShareTable {
        let normalized = Normalized::table(tree);
        let siblings = sibling_totals(tree, &normalized);
        let unadjusted = |node: &Normalized| ratio(node.norm_usage, node.norm_shares);
        let unadjusted: Vec<f64> = normalized.iter().map(unadjusted).collect();
        let mut ratios = vec![unadjusted[0]; tree.len()];
        for parent in tree.nodes() {
            let above = ratios[parent.index()];
            let [usage, shares] = siblings[parent.index()];
            let dampening = Dampening::new(above.into());
            for &node in tree.children(parent) {
                ratios[node.index()] = match tree.shares(node) {
                    Shares::Parent => above,
                    _ if normalized[node.index()].is_first_level => unadjusted[node.index()],
                    _ => {
                        let local = ratio(unadjusted[node.index()], ratio(usage, shares));
                        // libm's, not the C library's: the same on every platform
                        above * libm::pow(local, dampening.exponent(local.into()))
                    }
                };
            }
        }
        let mut table = ShareTable::with_capacity(tree.len());
        for (node, own) in tree.nodes().zip(&normalized) {
            let ratio = ratios[node.index()];
            let effective = if own.norm_shares == 0.0 {
                own.norm_usage
            } else {
                ratio * own.norm_shares
            };
            // not `self.factor`: the document knows no dampening factor
            let factor = ExponentialFactor::default().documented(ratio, own.norm_shares);
            table.push(own.row(tree, node, effective, factor));
        }
        table
    }
}

impl Policy for DepthOblivious {
    fn assess(&self, tree: &ShareTree) -> ShareTable {
        match self.rules {
            PolicyRules::Documented => self.documented(tree),
            PolicyRules::Scheduler => self.scheduler(tree),
        }
    }
}

/// The effective usage of every association after all have been computed, list by list from the
/// top.
fn settled(model: &SlurmModel, lists: &[Vec<NodeId>], shares: &[f64]) -> Vec<Extended> {
    // the root is in no list and keeps its 1
    let mut effective = vec![Extended::one(); shares.len()];
    for above in 0..shares.len() {
        let members = &lists[above];
        if members.is_empty() {
            continue;
        }
        // the owner of a list precedes its members, so its own usage is final
        let level = Level::new(effective[above], shares[above], list_usage(model, members));
        for member in members {
            let node = member.index();
            effective[node] = level.effective_usage(model, node, shares[node]);
        }
    }
    effective
}

/// The effective usages in the daemon's first cycle. `order` are all nodes but the root, in the
/// order in which they are computed.
fn first_cycle(
    model: &SlurmModel,
    lists: &[Vec<NodeId>],
    shares: &[f64],
    order: &[NodeId],
) -> Vec<Extended> {
    let mut effective = vec![Extended::one(); shares.len()];
    let mut pending = vec![0u32; shares.len()];
    for node in 1..shares.len() {
        if !model.uses_parent(node) {
            pending[model.above(node)] += 1;
        }
    }
    let mut known = vec![Extended::ZERO; shares.len()];
    for node in order {
        let node = node.index();
        let above = model.above(node);
        if model.uses_parent(node) {
            effective[node] = if above == 0 {
                model.norm_usage(node)
            } else {
                effective[above]
            };
            continue;
        }
        // not below 0, as each node is in the order once
        pending[above] -= 1;
        known[above] = known[above] + model.norm_usage(node);
        let list_usage = match pending[above] {
            // the last member sums the list in the order of the list, which may change the last bit
            0 => list_usage(model, &lists[above]),
            // each member that is not computed yet has the daemon's value for an unknown usage
            count => known[above] + Extended::from(u64::from(count) * u64::from(NO_VAL)),
        };
        let level = Level::new(effective[above], shares[above], list_usage);
        effective[node] = level.effective_usage(model, node, shares[node]);
    }
    effective
}

/// The normalised usage in a list without its `FairShare=parent` members, summed in the daemon's
/// order.
fn list_usage(model: &SlurmModel, members: &[NodeId]) -> Extended {
    let mut usage = Extended::ZERO;
    for member in members {
        if !model.uses_parent(member.index()) {
            usage = usage + model.norm_usage(member.index());
        }
    }
    usage
}

/// The numbers that the members of a list have in common.
struct Level {
    /// The effective usage of the list's owner.
    above: Extended,
    /// The usage in the list divided by the normalised shares of the list's owner.
    ratio: Extended,
    dampening: Dampening,
    is_idle: bool,
}

impl Level {
    fn new(above: Extended, shares_above: f64, usage: Extended) -> Self {
        let is_idle = shares_above == 0.0 || above.is_zero();
        let shares_above = Extended::from(shares_above);
        let (ratio_above, ratio) = if is_idle {
            (Extended::ZERO, Extended::ZERO)
        } else {
            (above / shares_above, usage / shares_above)
        };
        Self {
            above,
            ratio,
            dampening: Dampening::new(ratio_above),
            is_idle,
        }
    }

    /// The effective usage of one member of the list.
    fn effective_usage(&self, model: &SlurmModel, node: usize, shares: f64) -> Extended {
        let norm_usage = model.norm_usage(node);
        match model.above(node) {
            0 => norm_usage,
            _ if model.uses_parent(node) => self.above,
            // the daemons test all divisors and logarithms for 0 before they use them
            _ if self.is_idle || shares == 0.0 || norm_usage.is_zero() => norm_usage,
            _ => {
                let shares = Extended::from(shares);
                let local = (norm_usage / shares) / self.ratio;
                // the daemons compute this power in double precision
                let power = libm::pow(local.to_f64(), self.dampening.exponent(local));
                self.dampening.ratio_above * Extended::from(power) * shares
            }
        }
    }
}

/// How much the ancestors' ratio dampens the ratios below it.
struct Dampening {
    ratio_above: Extended,
    /// Whether that ratio is below or above 1; `None` if it has no logarithm.
    side_of_one: Option<Ordering>,
    /// The document's `k` for ratios on the other side of 1, computed on first use.
    opposite_exponent: OnceCell<f64>,
}

impl Dampening {
    fn new(ratio_above: Extended) -> Self {
        let has_logarithm = ratio_above > Extended::ZERO && ratio_above < Extended::INFINITY;
        let side_of_one = if has_logarithm {
            ratio_above.partial_cmp(&Extended::one())
        } else {
            None
        };
        Self {
            ratio_above,
            side_of_one,
            opposite_exponent: OnceCell::new(),
        }
    }

    /// The document's `k`, 0..=1: the exponent of a local ratio. A ratio without a logarithm counts
    /// as on the same side of 1 as any other.
    fn exponent(&self, local: Extended) -> f64 {
        let is_opposite = match self.side_of_one {
            Some(Ordering::Less) => local > Extended::one() && local < Extended::INFINITY,
            Some(Ordering::Greater) => local < Extended::one() && local > Extended::ZERO,
            _ => false,
        };
        if is_opposite {
            *self
                .opposite_exponent
                .get_or_init(|| self.compute_opposite_exponent())
        } else {
            1.0
        }
    }

    /// Computes the document's `1 / (1 + (5 * ln(R_parent))^2)` in 64 bits, as the daemons do: in
    /// 53 bits the last bit of many usages differs.
    fn compute_opposite_exponent(&self) -> f64 {
        let five_ln = Extended::from(5u32) * self.ratio_above.ln();
        (Extended::one() / (Extended::one() + five_ln * five_ln)).to_f64()
    }
}

/// A quotient; 0 if the divisor, shares or usage, is 0.
fn ratio(usage: f64, shares: f64) -> f64 {
    if shares == 0.0 { 0.0 } else { usage / shares }
}

/// The normalised usage and shares of all children of a node that have shares of their own.
fn sibling_totals(tree: &ShareTree, normalized: &[Normalized]) -> Vec<[f64; 2]> {
    let mut totals = vec![[0.0; 2]; tree.len()];
    for (node, own) in tree.nodes().zip(normalized) {
        if let Some(parent) = tree.parent(node)
            && tree.shares(node) != Shares::Parent
        {
            totals[parent.index()][0] += own.norm_usage;
            totals[parent.index()][1] += own.norm_shares;
        }
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairshare::policy::{shares_of_node, worked_example};
    use crate::fairshare::{AssessedTree, FairShare, Member, TreeBuilder};

    /// `Ann` and `Bob` below an account that has a quarter of all shares and this much usage,
    /// beside `rest`.
    fn factor_of_ann(ann: f64, bob: f64, rest: f64) -> f64 {
        let mut builder = TreeBuilder::new("root");
        for (parent, member) in [
            ("root", Member::group("account").shares(1)),
            ("root", Member::entity("rest").shares(3).usage(rest)),
            ("account", Member::entity("Ann").shares(1).usage(ann)),
            ("account", Member::entity("Bob").shares(1).usage(bob)),
        ] {
            builder.add_under(parent, member).expect("sound");
        }
        let tree = builder.finish();
        let both = [PolicyRules::Documented, PolicyRules::Scheduler].map(|rules| {
            let assessed = AssessedTree::new(tree.clone(), &DepthOblivious::new(rules));
            assessed
                .shares_of("Ann")
                .expect("in the tree")
                .fairshare_factor
        });
        assert!((both[0] - both[1]).abs() < 1e-15, "{both:?}");
        both[0]
    }

    fn exponent(above: f64, local: f64) -> f64 {
        Dampening::new(above.into()).exponent(local.into())
    }

    fn close(ours: f64, expected: f64) {
        assert!((ours - expected).abs() < 1e-14, "{ours} is not {expected}");
    }

    /// The document: siblings at twice their shares and a child at two thirds of its own have a
    /// local ratio of one third. With the account at twice its share, `k` is that of the plot.
    #[test]
    fn a_child_below_target_under_a_parent_above_it() {
        // of 600 the account has 300, twice its quarter; Ann 50, two thirds of her eighth
        let k = 1.0 / (1.0 + (5.0 * 2f64.ln()).powi(2));
        close(exponent(2.0, 1.0 / 3.0), k);
        close(
            factor_of_ann(50.0, 250.0, 300.0),
            2f64.powf(-2.0 * (1.0f64 / 3.0).powf(k)),
        );
    }

    /// The document: ancestors at two times their shares, the child at three times its own: `k` is
    /// kept at 1.
    #[test]
    fn a_child_further_off_than_its_parent() {
        close(factor_of_ann(225.0, 75.0, 300.0), 2f64.powi(-3));
    }

    /// The daemon's first cycle with two users, requested by name: next to Bob, who is not computed
    /// yet, Ann has used next to nothing; Bob is the last and has his own usage.
    #[test]
    fn the_first_cycle_depends_on_the_order_of_requests() {
        let mut builder = TreeBuilder::new("root");
        for (parent, member) in [
            ("root", Member::group("account").shares(1)),
            ("root", Member::entity("rest").shares(3).usage(300.0)),
            ("account", Member::entity("bob").usage(225.0)),
            ("account", Member::entity("ann").usage(75.0)),
            ("account", Member::entity("uses-parent").shares_of_parent()),
        ] {
            builder.add_under(parent, member).expect("sound");
        }
        let tree = builder.finish();
        let policy = DepthOblivious::new(PolicyRules::Scheduler);
        let [settled, first] = [policy.clone(), policy.first_cycle(&[])].map(|policy| {
            let assessed = AssessedTree::new(tree.clone(), &policy);
            ["ann", "bob", "uses-parent"].map(|name| {
                assessed
                    .shares_of(name)
                    .expect("in the tree")
                    .fairshare_factor
            })
        });
        let k = 1.0 / (1.0 + (5.0 * 2f64.ln()).powi(2));
        let local: f64 = (0.125 / 0.125) / ((0.125 + 4_294_967_294.0) / 0.25);
        close(first[0], 2f64.powf(-2.0 * local.powf(k)));
        assert!(first[0] > settled[0]);
        assert_eq!(first[1..], settled[1..]);
    }

    #[test]
    fn boundary_cases() {
        // nobody has used anything
        close(factor_of_ann(0.0, 0.0, 0.0), 1.0);
        // ln 0 of the local ratio, and of both
        close(factor_of_ann(0.0, 100.0, 100.0), 1.0);
        close(factor_of_ann(0.0, 0.0, 100.0), 1.0);
        // the parent is on target, so the child's own ratio decides
        close(factor_of_ann(10.0, 90.0, 300.0), 2f64.powf(-0.2));
        // the child is as its siblings are
        close(factor_of_ann(100.0, 100.0, 200.0), 2f64.powi(-2));
        close(exponent(0.0, 0.5), 1.0);
        close(exponent(0.5, 0.0), 1.0);
        close(exponent(1.0, 7.0), 1.0);
    }

    /// The document: on the first level the policy is the classic one.
    #[test]
    fn the_first_level_follows_the_classic_policy() {
        let assessed = AssessedTree::new(
            worked_example(),
            &DepthOblivious::new(PolicyRules::Documented),
        );
        for (name, usage, shares) in [("A", 0.45, 0.4), ("D", 0.25, 0.6)] {
            let account = shares_of_node(&assessed, name);
            close(account.fairshare_factor, 2f64.powf(-usage / shares));
        }
        assert_eq!(
            assessed.shares_of("User4"),
            Some(shares_of_node(&assessed, "E"))
        );
    }
}
