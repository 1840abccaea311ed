//! Slurm's default since 19.05: its document "Fair Tree Fairshare Algorithm"
//! (<https://slurm.schedmd.com/fair_tree.html>), and what its daemons do.

use std::cmp::Ordering;

use crate::fairshare::policy::levels::{Levels, NO_VAL, fair_share_parent};
use crate::fairshare::policy::lists::Lists;
use crate::fairshare::policy::measure::{measures, raw_shares};
use crate::fairshare::policy::walk::{Siblings, ranks};
use crate::fairshare::policy::{AssociationShares, EntityShares, Policy, Release, Rules, TreeShares};
use crate::fairshare::x87::Extended;
use crate::fairshare::{Kind, NodeId, ShareTree, Shares};

/// Users ranked by walking the tree, at each level the association with the most shares by usage first.
///
/// **Documented.** `LF = S / U`, `S` and `U` being the parts of the shares and of the usage of an association and its
/// siblings. Depth first, the highest `LF` first, every user gets `rank-- / user_assoc_count`. Tied users have the same
/// rank; a user tied with an account has the rank of the account's best user; tied accounts have their lists merged.
/// Here `LF` is exact: two are tied if the fractions are equal. The document leaves open, and this settles: without
/// shares `LF` is 0, else without usage infinite; a user with `FairShare=parent` has an infinite one, an account with
/// it is left out, and those below it compete in the level above.
///
/// **Scheduler.** `S` is a `double` and `U` a `long double`, the part of the account's usage, so that equal fractions
/// are mostly not tied; and **tied accounts are not merged**: the best user below the second one has the rank of the
/// last user below the first one. Which one is first, the [`Release`] decides.
///
/// [`EntityShares::fairshare_perc`] is the part of the whole machine, [`EntityShares::fairshare_tree_usage`] the part of
/// all usage; the factor of an account, which has none, is 0.
///
/// ```
/// use job_sort_formula::fairshare::policy::fair_tree::FairTree;
/// use job_sort_formula::fairshare::{Assessed, FairShare, Member, Rules, TreeBuilder};
///
/// let mut builder = TreeBuilder::new("root");
/// for name in ["physics", "history"] {
///     builder.add_under("root", Member::group(name))?;
/// }
/// builder.add_under("physics", Member::entity("ann").usage(900.0))?;
/// builder.add_under("physics", Member::entity("bob").usage(1.0))?;
/// builder.add_under("history", Member::entity("cleo").usage(400.0))?;
///
/// let fairshare = Assessed::new(builder.finish(), &FairTree::new(Rules::Scheduler));
/// let factor = |name| fairshare.shares_of(name).map(|shares| shares.fairshare_factor);
/// assert_eq!([factor("cleo"), factor("bob"), factor("ann")], [Some(1.0), Some(2.0 / 3.0), Some(1.0 / 3.0)]);
/// # Ok::<(), job_sort_formula::fairshare::TreeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FairTree {
    rules: Rules,
    release: Release,
}

impl FairTree {
    /// The policy, with the order of siblings of the newest release.
    pub fn new(rules: Rules) -> Self {
        Self { rules, release: Release::default() }
    }

    /// Which daemon's order of siblings decides between tied accounts; of consequence by the scheduler's rules.
    #[must_use]
    pub fn release(self, release: Release) -> Self {
        Self { release, ..self }
    }
}

impl Policy for FairTree {
    fn name(&self) -> &str {
        "fair-tree"
    }

    fn assess(&self, tree: &ShareTree) -> TreeShares {
        match self.rules {
            Rules::Documented => documented(tree),
            Rules::Scheduler => scheduler(tree, self.release),
        }
    }
}

/// What the walk needs: lists, and how their members compare.
struct Ladder<'a> {
    tree: &'a ShareTree,
    lists: Lists,
    level_fs: Vec<Extended>,
    rules: Rules,
}

impl Siblings for Ladder<'_> {
    fn members(&self, node: u32) -> &[u32] {
        self.lists.of(node as usize)
    }

    fn is_user(&self, node: u32) -> bool {
        self.tree.kind(NodeId(node)) == Kind::Entity
    }

    fn order(&self, one: u32, other: u32) -> Ordering {
        self.level_fs[other as usize].total_order(&self.level_fs[one as usize])
    }

    fn tied(&self, one: u32, other: u32) -> bool {
        self.level_fs[one as usize] == self.level_fs[other as usize]
    }

    /// The daemons start every list with a number that means "none" and is one nevertheless.
    fn first_is_tied(&self, first: u32) -> bool {
        self.rules == Rules::Scheduler && self.level_fs[first as usize] == Extended::from(NO_VAL)
    }

    fn merges(&self) -> bool {
        self.rules == Rules::Documented
    }

    fn ties_reach_below(&self) -> bool {
        true
    }
}

impl Ladder<'_> {
    /// The factor of every user, by node.
    fn factors(&self) -> impl Fn(NodeId) -> Option<f64> + use<> {
        let users: Vec<bool> = self.tree.nodes().map(|node| self.tree.kind(node) == Kind::Entity).collect();
        let count = users.iter().filter(|&&is_user| is_user).count() as u32;
        let ranks = ranks(self, users.len(), count);
        move |node| users[node.index()].then(|| f64::from(ranks[node.index()]) / f64::from(count))
    }
}

fn scheduler(tree: &ShareTree, release: Release) -> TreeShares {
    let levels = Levels::of(tree);
    let level_fs = (0..tree.len()).map(|node| level_fs(&levels, node)).collect();
    let ladder = Ladder { tree, lists: levels.lists(release), level_fs, rules: Rules::Scheduler };
    let (factors, norm_shares) = (ladder.factors(), levels.norm_shares());
    let row = |node: NodeId| {
        let (i, factor) = (node.index(), factors(node));
        let shown = AssociationShares {
            effective_usage: Some(effective_usage(&levels, i).to_f64()),
            level_fs: (i != 0 && !levels.is_stand_in(i)).then(|| ladder.level_fs[i].to_f64()),
            fairshare: factor,
            ..levels.association(i, shown_part(&levels, levels.counterpart(i)))
        };
        let norm_usage = shown.norm_usage.unwrap_or(1.0);
        (EntityShares::new(norm_shares[i], norm_usage, factor.unwrap_or(0.0)), shown.sent())
    };
    tree.nodes().map(row).collect()
}

/// Of the root, whose level is not known, the daemons show a number that rounds to 0.
fn shown_part(levels: &Levels, node: usize) -> f64 {
    if node == 0 { 1.0 / f64::from(NO_VAL) } else { levels.part(node) }
}

fn effective_usage(levels: &Levels, node: usize) -> Extended {
    let whole = levels.usage(levels.above(node));
    match node {
        0 => Extended::ONE,
        _ if whole.is_zero() => Extended::ZERO,
        _ => levels.usage(node) / whole,
    }
}

fn level_fs(levels: &Levels, node: usize) -> Extended {
    match levels.part(node) {
        _ if levels.is_stand_in(node) && levels.is_user(node) => Extended::INFINITY,
        _ if levels.is_stand_in(node) => Extended::from(NO_VAL),
        0.0 => Extended::ZERO,
        part => Extended::from(part) / effective_usage(levels, node),
    }
}

/// The document's levels: who stands in whose list, and what is in there.
struct DocumentedLevels {
    above: Vec<u32>,
    shares: Vec<u128>,
    usage: Vec<f64>,
}

impl DocumentedLevels {
    fn of(tree: &ShareTree) -> Self {
        let is_stand_in = |node: NodeId| tree.shares(node) == Shares::Parent;
        let mut levels = Self { above: Vec::new(), shares: vec![0; tree.len()], usage: vec![0.0; tree.len()] };
        for node in tree.nodes() {
            let above = fair_share_parent(tree, node, &levels.above, |parent| is_stand_in(NodeId(parent as u32)));
            levels.above.push(above);
            // what is below an account that stands in is in the list itself
            let is_left_out = is_stand_in(node) && tree.kind(node) == Kind::Group;
            if node != tree.root() {
                levels.shares[above as usize] += count(tree.shares(node));
                levels.usage[above as usize] += if is_left_out { tree.own_usage(node) } else { tree.usage(node) };
            }
        }
        levels
    }

    fn part(&self, tree: &ShareTree, node: NodeId) -> f64 {
        match self.shares[self.above[node.index()] as usize] {
            0 => 0.0,
            sum => count(tree.shares(node)) as f64 / sum as f64,
        }
    }

    fn usage(&self, tree: &ShareTree, node: NodeId) -> f64 {
        let whole = self.usage[self.above[node.index()] as usize];
        if whole == 0.0 { 0.0 } else { tree.usage(node) / whole }
    }

    /// Shares by usage, exactly: equal fractions are equal numbers.
    fn level_fs(&self, tree: &ShareTree, node: NodeId) -> Extended {
        let list = self.above[node.index()] as usize;
        let shares = count(tree.shares(node));
        let (own, whole) = (tree.usage(node), self.usage[list]);
        if tree.shares(node) == Shares::Parent || (shares > 0 && own == 0.0) {
            return Extended::INFINITY;
        }
        let ((own, own_exponent), (whole, exponent)) = (whole_and_exponent(own), whole_and_exponent(whole));
        match (shares.checked_mul(whole), self.shares[list].checked_mul(own)) {
            (_, _) if shares == 0 => Extended::ZERO,
            (Some(numerator), Some(denominator)) => {
                Extended::quotient(numerator, denominator) * Extended::power_of_two(exponent - own_exponent)
            }
            _ => Extended::from(self.part(tree, node)) / Extended::from(self.usage(tree, node)),
        }
    }
}

/// The shares that count; those of whoever stands in for its parent do not.
fn count(shares: Shares) -> u128 {
    u128::try_from(shares.count()).unwrap_or(0)
}

/// A positive double as a whole number, as small as it can be, and a power of 2.
fn whole_and_exponent(value: f64) -> (u128, i32) {
    let (field, fraction) = ((value.to_bits() >> 52) & 0x7ff, value.to_bits() & ((1 << 52) - 1));
    let whole = if field == 0 { fraction } else { fraction | 1 << 52 };
    let shift = whole.trailing_zeros().min(52);
    (u128::from(whole >> shift), field.max(1) as i32 - 1075 + shift as i32)
}

fn documented(tree: &ShareTree) -> TreeShares {
    let (levels, measures) = (DocumentedLevels::of(tree), measures(tree));
    let level_fs = tree.nodes().map(|node| levels.level_fs(tree, node)).collect();
    let lists = Lists::gather(tree, Release::V22_05, &levels.above);
    let ladder = Ladder { tree, lists, level_fs, rules: Rules::Documented };
    let factors = ladder.factors();
    let row = |node: NodeId| {
        let (measure, factor) = (measures[node.index()], factors(node));
        let (shares, is_root) = (raw_shares(tree, node), node == tree.root());
        let is_stand_in = shares == Some(Shares::Parent);
        let part = if is_root || is_stand_in { measure.part } else { levels.part(tree, node) };
        let shown = AssociationShares {
            effective_usage: Some(if is_root { measure.norm_usage } else { levels.usage(tree, node) }),
            level_fs: (!is_root && !is_stand_in).then(|| ladder.level_fs[node.index()].to_f64()),
            fairshare: factor,
            ..AssociationShares::new(shares, tree.usage(node), part, Some(measure.norm_usage))
        };
        (EntityShares::new(measure.norm_shares, measure.norm_usage, factor.unwrap_or(0.0)), shown)
    };
    tree.nodes().map(row).collect()
}

#[cfg(test)]
mod tests;
