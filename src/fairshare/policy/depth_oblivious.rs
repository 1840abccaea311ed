//! Slurm's `PriorityFlags=DEPTH_OBLIVIOUS`: its document "Depth-Oblivious Fair-share Factor", and what its daemons do.

use std::cell::OnceCell;
use std::cmp::Ordering;

use crate::fairshare::policy::classic::{Factors, halved};
use crate::fairshare::policy::levels::{Levels, NO_VAL};
use crate::fairshare::policy::lists::{Lists, asking_order, daemon_order};
use crate::fairshare::policy::measure::{Measure, measures, raw_shares};
use crate::fairshare::policy::{AssociationShares, EntityShares, Policy, Release, Rules, TreeShares};
use crate::fairshare::x87::Extended;
use crate::fairshare::{NodeId, ShareTree, Shares};

/// The classic policy for deep and uneven trees: the usage of those above counts less the further off target it is.
///
/// **Documented.** `r = U / S`; right below the root `R = r`, else `R = R_parent * rl^k` with
/// `rl = r / (U_all_siblings / S_all_siblings)`, and `F = 2^-R`. `k` is 1 where `ln(R_parent) * ln(rl) >= 0`, else
/// `1 / (1 + (5 * ln(R_parent))^2)`. The document leaves open, and this settles: where `R_parent` or `rl` is 0 and has
/// no logarithm, `k` is 1; where the siblings have used nothing `rl` is 0; without shares the factor is 0; whoever is
/// `FairShare=parent` has the parent's `R` and `S` and is no sibling. [`AssociationShares::effective_usage`] is
/// `R * S`, as the daemons show it.
///
/// **Scheduler.** `rl` is by the parent's normalised shares instead of the siblings' sum; whoever has no usage or no
/// shares, or whose parent has none, has its own usage; and `FairShareDampeningFactor` divides `R`. These are the
/// numbers once every association has been looked at; those of a daemon's first cycle, which depend on the order of
/// asking, are to be had by [`first_cycle`](Self::first_cycle).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DepthOblivious {
    rules: Rules,
    release: Release,
    damping: u16,
    is_settled: bool,
}

impl DepthOblivious {
    /// The policy with a damping factor of 1.
    pub fn new(rules: Rules) -> Self {
        Self { rules, release: Release::default(), damping: 1, is_settled: true }
    }

    /// `FairShareDampeningFactor`, which the daemons apply and the document does not know. 0 counts as 1.
    #[must_use]
    pub fn damping(self, damping: u16) -> Self {
        Self { damping: damping.max(1), ..self }
    }

    /// Whose `sshare` says what [`AssociationShares::fairshare`] is; of consequence by the scheduler's rules.
    #[must_use]
    pub fn release(self, release: Release) -> Self {
        Self { release, ..self }
    }

    /// By the scheduler's rules: the numbers of the first cycle after the daemon's start, as `sshare -a` finds them.
    ///
    /// The daemon works out one account after another, and the users as they are asked for: `sshare -a` asks in the
    /// order of its rows. Whoever's turn is still to come counts among the siblings with a usage of 4294967294, so that
    /// all before the last of a list seem to have used next to nothing beside them.
    #[must_use]
    pub fn first_cycle(self) -> Self {
        Self { is_settled: false, ..self }
    }

    fn scheduler(&self, tree: &ShareTree) -> TreeShares {
        let levels = Levels::of(tree);
        let shares = levels.norm_shares();
        let lists = levels.lists(self.release);
        let counted = if self.is_settled {
            settled(&levels, &lists, &shares)
        } else {
            let is_user = |&node: &u32| levels.is_user(node as usize);
            let mut order = daemon_order(tree, self.release);
            order.retain(|node| !is_user(node));
            order.extend(asking_order(tree, self.release).into_iter().filter(is_user));
            unsettled(&levels, &lists, &shares, &order[1..])
        };
        drop(lists);
        Factors { release: self.release, damping: self.damping }.table(&levels, &shares, &counted)
    }
}

impl Default for DepthOblivious {
    fn default() -> Self {
        Self::new(Rules::default())
    }
}

impl Policy for DepthOblivious {
    fn name(&self) -> &str {
        "depth-oblivious"
    }

    fn assess(&self, tree: &ShareTree) -> TreeShares {
        match self.rules {
            Rules::Documented => documented(tree),
            Rules::Scheduler => self.scheduler(tree),
        }
    }
}

/// The effective usage of every association once all have been looked at, list by list from the top.
fn settled(levels: &Levels, lists: &Lists, shares: &[f64]) -> Vec<Extended> {
    let mut counted = vec![Extended::ONE; shares.len()];
    for above in 0..shares.len() {
        let members = lists.of(above);
        if members.is_empty() {
            continue;
        }
        let level = Level::new(counted[above], shares[above], list_usage(levels, members));
        for node in members.iter().map(|&member| member as usize) {
            counted[node] = level.usage_of(levels, node, shares[node]);
        }
    }
    counted
}

/// The effective usages as they are found one after another in this order, the root left out.
fn unsettled(levels: &Levels, lists: &Lists, shares: &[f64], order: &[u32]) -> Vec<Extended> {
    let mut counted = vec![Extended::ONE; shares.len()];
    let competes = |node: usize| node != 0 && !levels.is_stand_in(node);
    let mut waiting = vec![0u32; shares.len()];
    (0..shares.len()).filter(|&node| competes(node)).for_each(|node| waiting[levels.above(node)] += 1);
    let mut known = vec![Extended::ZERO; shares.len()];
    for node in order.iter().map(|&node| node as usize) {
        let above = levels.above(node);
        if !competes(node) {
            counted[node] = if above == 0 { levels.norm_usage(node) } else { counted[above] };
            continue;
        }
        waiting[above] -= 1;
        known[above] = known[above] + levels.norm_usage(node);
        let list_usage = match waiting[above] {
            // once a list, in its own order, in which the last bit may differ
            0 => list_usage(levels, lists.of(above)),
            some => known[above] + Extended::from(u64::from(some) * u64::from(NO_VAL)),
        };
        counted[node] = Level::new(counted[above], shares[above], list_usage).usage_of(levels, node, shares[node]);
    }
    counted
}

/// The normalised usage in a list, stand-ins left out, summed in the daemon's order.
fn list_usage(levels: &Levels, members: &[u32]) -> Extended {
    let competing = members.iter().map(|&member| member as usize).filter(|&member| !levels.is_stand_in(member));
    competing.fold(Extended::ZERO, |sum, member| sum + levels.norm_usage(member))
}

/// What all in a list have in common.
struct Level {
    /// The effective usage of the one whose list it is.
    above: Extended,
    /// The usage in the list by the normalised shares of the one whose list it is.
    ratio: Extended,
    pull: Pull,
    is_idle: bool,
}

impl Level {
    fn new(above: Extended, shares_above: f64, usage: Extended) -> Self {
        let is_idle = shares_above == 0.0 || above.is_zero();
        let shares_above = Extended::from(shares_above);
        let (ratio_above, ratio) =
            if is_idle { (Extended::ZERO, Extended::ZERO) } else { (above / shares_above, usage / shares_above) };
        Self { above, ratio, pull: Pull::of(ratio_above), is_idle }
    }

    /// The effective usage of one in the list.
    fn usage_of(&self, levels: &Levels, node: usize, shares: f64) -> Extended {
        let own = levels.norm_usage(node);
        match levels.above(node) {
            0 => own,
            _ if levels.is_stand_in(node) => self.above,
            _ if self.is_idle || shares == 0.0 || own.is_zero() => own,
            _ => {
                let shares = Extended::from(shares);
                let local = (own / shares) / self.ratio;
                // the daemons take this one power of doubles
                let power = libm::pow(local.to_f64(), self.pull.exponent(local));
                self.pull.ratio_above * Extended::from(power) * shares
            }
        }
    }
}

/// How far the ancestors' ratio pulls at the ratios below it.
struct Pull {
    ratio_above: Extended,
    /// On which side of 1 that ratio is; `None` where it has no logarithm.
    side: Option<Ordering>,
    /// The document's `k` for ratios on the other side, once one is met.
    across: OnceCell<f64>,
}

impl Pull {
    fn of(ratio_above: Extended) -> Self {
        let has_logarithm = ratio_above > Extended::ZERO && ratio_above < Extended::INFINITY;
        let side = ratio_above.partial_cmp(&Extended::ONE).filter(|_| has_logarithm);
        Self { ratio_above, side, across: OnceCell::new() }
    }

    /// The document's `k`: how much a local ratio counts beside its ancestors', 0..=1. A ratio without a logarithm is
    /// on the same side as any.
    fn exponent(&self, local: Extended) -> f64 {
        let is_across = match self.side {
            Some(Ordering::Less) => local > Extended::ONE && local < Extended::INFINITY,
            Some(Ordering::Greater) => local < Extended::ONE && local > Extended::ZERO,
            _ => false,
        };
        if is_across { *self.across.get_or_init(|| self.across()) } else { 1.0 }
    }

    /// In 64 bits, as the daemons take it: in 53 the last bit of many a usage is another one.
    fn across(&self) -> f64 {
        let away = Extended::from(5u32) * self.ratio_above.ln();
        (Extended::ONE / (Extended::ONE + away * away)).to_f64()
    }
}

fn documented(tree: &ShareTree) -> TreeShares {
    let measures = measures(tree);
    let siblings = sibling_totals(tree, &measures);
    let own = |node: NodeId| ratio(measures[node.index()].norm_usage, measures[node.index()].norm_shares);
    let mut ratios = vec![own(tree.root()); tree.len()];
    for parent in tree.nodes() {
        let (above, [usage, shares]) = (ratios[parent.index()], siblings[parent.index()]);
        let pull = Pull::of(above.into());
        for &node in tree.children(parent) {
            ratios[node.index()] = match tree.shares(node) {
                Shares::Parent => above,
                _ if measures[node.index()].is_first_level => own(node),
                _ => {
                    let local = ratio(own(node), ratio(usage, shares));
                    above * libm::pow(local, pull.exponent(local.into()))
                }
            };
        }
    }
    let row = |(node, (measure, ratio)): (_, (Measure, f64))| {
        let factor = halved(ratio, measure.norm_shares, 1);
        let counted = if measure.norm_shares == 0.0 { measure.norm_usage } else { ratio * measure.norm_shares };
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
    tree.nodes().zip(measures.iter().copied().zip(ratios)).map(row).collect()
}

/// A quotient, 0 where there is nothing to divide by: no shares, or no usage.
fn ratio(usage: f64, shares: f64) -> f64 {
    if shares == 0.0 { 0.0 } else { usage / shares }
}

/// The normalised usage and shares of all children of a node that do not stand in for it.
fn sibling_totals(tree: &ShareTree, measures: &[Measure]) -> Vec<[f64; 2]> {
    let mut totals = vec![[0.0; 2]; tree.len()];
    for node in tree.nodes().filter(|&node| tree.shares(node) != Shares::Parent) {
        if let Some(parent) = tree.parent(node) {
            let measure = measures[node.index()];
            totals[parent.index()][0] += measure.norm_usage;
            totals[parent.index()][1] += measure.norm_shares;
        }
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairshare::policy::worked_example;
    use crate::fairshare::{Assessed, FairShare, Member, TreeBuilder};

    /// `Ann` and `Bob` below an account that has a quarter of all shares and this much usage, beside `rest`.
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
        let both = [Rules::Documented, Rules::Scheduler].map(|rules| {
            let assessed = Assessed::new(tree.clone(), &DepthOblivious::new(rules));
            assessed.shares_of("Ann").expect("in the tree").fairshare_factor
        });
        assert!((both[0] - both[1]).abs() < 1e-15, "{both:?}");
        both[0]
    }

    fn exponent(above: f64, local: f64) -> f64 {
        Pull::of(above.into()).exponent(local.into())
    }

    fn close(ours: f64, expected: f64) {
        assert!((ours - expected).abs() < 1e-14, "{ours} is not {expected}");
    }

    /// The document: siblings at two times their shares and a child at two thirds of his own make a local ratio of
    /// one third. With the account at twice its share, `k` is that of the plot.
    #[test]
    fn a_child_below_target_under_a_parent_above_it() {
        // of 600 the account has 300, twice its quarter; Ann 50, two thirds of her eighth
        let k = 1.0 / (1.0 + (5.0 * 2f64.ln()).powi(2));
        close(exponent(2.0, 1.0 / 3.0), k);
        close(factor_of_ann(50.0, 250.0, 300.0), 2f64.powf(-2.0 * (1.0f64 / 3.0).powf(k)));
    }

    /// The document: ancestors at two times their shares, the child at three times its own: `k` is kept at 1.
    #[test]
    fn a_child_further_off_than_its_parent() {
        close(factor_of_ann(225.0, 75.0, 300.0), 2f64.powi(-3));
    }

    /// The daemon's first cycle with two users, asked for by name: beside Bob, whose turn is still to come, Ann has used
    /// next to nothing; Bob is the last and has his own.
    #[test]
    fn the_first_cycle_goes_by_the_order_of_asking() {
        let mut builder = TreeBuilder::new("root");
        for (parent, member) in [
            ("root", Member::group("account").shares(1)),
            ("root", Member::entity("rest").shares(3).usage(300.0)),
            ("account", Member::entity("bob").usage(225.0)),
            ("account", Member::entity("ann").usage(75.0)),
            ("account", Member::entity("stand-in").shares_of_parent()),
        ] {
            builder.add_under(parent, member).expect("sound");
        }
        let tree = builder.finish();
        let factors = |policy: DepthOblivious| {
            let assessed = Assessed::new(tree.clone(), &policy);
            ["ann", "bob", "stand-in"].map(|name| assessed.shares_of(name).expect("in the tree").fairshare_factor)
        };
        let settled = factors(DepthOblivious::new(Rules::Scheduler));
        let first = factors(DepthOblivious::new(Rules::Scheduler).first_cycle());
        let k = 1.0 / (1.0 + (5.0 * 2f64.ln()).powi(2));
        let local: f64 = (0.125 / 0.125) / ((0.125 + 4_294_967_294.0) / 0.25);
        close(first[0], 2f64.powf(-2.0 * local.powf(k)));
        assert!(first[0] > settled[0]);
        assert_eq!(first[1..], settled[1..]);
    }

    #[test]
    fn the_edges() {
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

    /// On the first level the same as the classic policy, the document says.
    #[test]
    fn the_first_level_is_as_before() {
        let assessed = Assessed::new(worked_example(), &DepthOblivious::new(Rules::Documented));
        for (name, usage, shares) in [("A", 0.45, 0.4), ("D", 0.25, 0.6)] {
            let account = assessed.shares_of(name).expect("in the tree");
            close(account.fairshare_factor, 2f64.powf(-usage / shares));
        }
        assert_eq!(Some(assessed.shares_of("E")), Some(assessed.shares_of("User4")));
    }
}
