//! Slurm's `PriorityFlags=DEPTH_OBLIVIOUS`: its document "Depth-Oblivious Fair-share Factor", and what its daemons do.

use super::classic::{Factors, halved};
use super::levels::Levels;
use super::measure::{Measure, measures, raw_shares};
use super::{AssociationShares, EntityShares, Policy, Release, Rules, TreeShares};
use crate::fairshare::extended::Extended;
use crate::fairshare::{ShareTree, Shares};

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
/// numbers once every association has been looked at: in a daemon's first cycle they depend on the order of asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DepthOblivious {
    rules: Rules,
    release: Release,
    damping: u16,
}

impl DepthOblivious {
    /// The policy with a damping factor of 1.
    pub fn new(rules: Rules) -> Self {
        Self { rules, release: Release::default(), damping: 1 }
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

    fn scheduler(&self, tree: &ShareTree) -> TreeShares {
        let levels = Levels::of(tree);
        let norm_shares = levels.norm_shares();
        let level_ratios = level_ratios(&levels, &norm_shares, self.release);
        let mut counted: Vec<Extended> = Vec::with_capacity(tree.len());
        for node in 0..tree.len() {
            let above = levels.above(node);
            counted.push(match node {
                0 => Extended::ONE,
                _ if above == 0 => levels.norm_usage(node),
                _ if levels.is_stand_in(node) => counted[above],
                _ => {
                    let shares = [norm_shares[node], norm_shares[above]];
                    effective_usage(levels.norm_usage(node), counted[above], level_ratios[above], shares)
                }
            });
        }
        Factors { release: self.release, damping: self.damping }.table(&levels, &norm_shares, &counted)
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

/// The normalised usage in the list of every node, stand-ins left out, by the node's normalised shares. The sum is
/// taken in the daemon's order.
fn level_ratios(levels: &Levels, norm_shares: &[f64], release: Release) -> Vec<Extended> {
    let lists = levels.lists(release);
    let own = |member: &u32| levels.norm_usage(*member as usize);
    let counts = |member: &&u32| !levels.is_stand_in(**member as usize);
    let sum = |node| lists.of(node).iter().filter(counts).map(own).fold(Extended::ZERO, |sum, usage| sum + usage);
    let ratio = |(node, shares): (usize, &f64)| sum(node) / Extended::from(*shares);
    norm_shares.iter().enumerate().map(ratio).collect()
}

/// `shares` are the node's own and those of the level above, normalised.
fn effective_usage(own: Extended, above: Extended, level_ratio: Extended, shares: [f64; 2]) -> Extended {
    if shares.contains(&0.0) || above.is_zero() || own.is_zero() {
        return own;
    }
    let [own_shares, shares_above] = shares.map(Extended::from);
    let ratio_above = above / shares_above;
    let local = (own / own_shares) / level_ratio;
    let power = libm::pow(local.to_f64(), exponent(ratio_above.to_f64(), local.to_f64()));
    ratio_above * Extended::from(power) * own_shares
}

/// The document's `k`: how much the node's own ratio counts beside its ancestors', 0..=1.
fn exponent(ratio_above: f64, local: f64) -> f64 {
    let (above, local) = (libm::log(ratio_above), libm::log(local));
    // a logarithm that is not finite is that of 0
    let same_side = above * local >= 0.0 || !above.is_finite() || !local.is_finite();
    if same_side { 1.0 } else { 1.0 / (1.0 + (5.0 * above) * (5.0 * above)) }
}

fn documented(tree: &ShareTree) -> TreeShares {
    let measures = measures(tree);
    let siblings = sibling_totals(tree, &measures);
    let mut ratios: Vec<f64> = Vec::with_capacity(tree.len());
    for node in tree.nodes() {
        let measure = measures[node.index()];
        let own = ratio(measure.norm_usage, measure.norm_shares);
        ratios.push(match tree.parent(node) {
            None => own,
            Some(parent) if tree.shares(node) == Shares::Parent => ratios[parent.index()],
            Some(_) if measure.is_first_level => own,
            Some(parent) => {
                let [usage, shares] = siblings[parent.index()];
                let (above, local) = (ratios[parent.index()], ratio(own, ratio(usage, shares)));
                above * libm::pow(local, exponent(above, local))
            }
        });
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
