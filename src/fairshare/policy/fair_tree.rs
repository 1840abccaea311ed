//! Slurm's default since 19.05: its document "Fair Tree Fairshare Algorithm"
//! (<https://slurm.schedmd.com/fair_tree.html>), and what its daemons do.
//!
//! The weighted walk of flux-accounting ranks users by the same walk: depth first, the best sibling
//! first.

use std::cmp::Ordering;

use num_traits::float::FloatCore;

use crate::fairshare::policy::normalization::Normalized;
use crate::fairshare::policy::slurm_associations::{
    NO_VAL, SlurmModel, fair_share_parent, sibling_lists,
};
use crate::fairshare::policy::{
    AssociationShares, EntityShares, Policy, PolicyRules, Release, ShareTable,
};
use crate::fairshare::x87::Extended;
use crate::fairshare::{NodeId, NodeKind, ShareTree, Shares};

/// Users ranked by a walk of the tree, at each level the association with the highest ratio of
/// shares to usage first.
///
/// **Documented.** `LF = S / U`, where `S` and `U` are the association's fractions of the shares
/// and of the usage of itself and its siblings. Depth first, the highest `LF` first, every user
/// gets `rank-- / user_assoc_count`. Tied users have the same rank; a user tied with an account has
/// the rank of the account's best user; the lists of tied accounts are merged. `LF` is exact here:
/// two are tied if the fractions are equal. The document does not say, and this implementation
/// decides: without shares `LF` is 0, else without usage infinite; for a user with
/// `FairShare=parent` it is infinite; an account with it is left out, and the nodes below it
/// compete in the level above.
///
/// **Scheduler.** `S` is a `double` and `U` a `long double`, the fraction of the account's usage,
/// so that equal fractions are mostly not tied; and **tied accounts are not merged**: the best user
/// below the second one has the rank of the last user below the first one. The [`Release`] decides
/// which one is first.
///
/// [`EntityShares::fairshare_perc`] is the fraction of the whole machine,
/// [`EntityShares::fairshare_tree_usage`] the fraction of all usage; an account has no factor,
/// which is given as 0.
///
/// ```
/// use job_sort_formula::fairshare::FairTree;
/// use job_sort_formula::fairshare::{AssessedTree, FairShare, Member, PolicyRules, TreeBuilder};
///
/// let mut builder = TreeBuilder::new("root");
/// for name in ["physics", "history"] {
///     builder.add_under("root", Member::group(name))?;
/// }
/// builder.add_under("physics", Member::entity("ann").usage(900.0))?;
/// builder.add_under("physics", Member::entity("bob").usage(1.0))?;
/// builder.add_under("history", Member::entity("cleo").usage(400.0))?;
///
/// let fairshare = AssessedTree::new(builder.finish(), &FairTree::new(PolicyRules::Scheduler));
/// for (name, factor) in [("cleo", 1.0), ("bob", 2.0 / 3.0), ("ann", 1.0 / 3.0)] {
///     assert_eq!(fairshare.shares_of(name).map(|shares| shares.fairshare_factor), Some(factor));
/// }
/// # Ok::<(), job_sort_formula::fairshare::TreeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FairTree {
    rules: PolicyRules,
    release: Release,
}

impl FairTree {
    /// The policy, with the order of siblings of the newest release.
    pub fn new(rules: PolicyRules) -> Self {
        Self {
            rules,
            release: Release::default(),
        }
    }

    /// The release whose order of siblings decides between tied accounts under the scheduler's
    /// rules.
    #[must_use]
    pub fn release(self, release: Release) -> Self {
        Self { release, ..self }
    }
}

impl Policy for FairTree {
    fn assess(&self, tree: &ShareTree) -> ShareTable {
        match self.rules {
            PolicyRules::Documented => documented(tree),
            PolicyRules::Scheduler => scheduler(tree, self.release),
        }
    }
}

/// The factor of every user, by node, from the `LF` of every node.
fn factors(
    tree: &ShareTree,
    lists: &[Vec<NodeId>],
    level_fs: &[Extended],
    rules: PolicyRules,
) -> Vec<Option<f64>> {
    let users = tree.user_count();
    let walk = RankWalk {
        tree,
        lists,
        values: level_fs,
        compare: Extended::total_order,
        are_tied: Extended::eq,
        // the daemons compare the first member of a list with a number that means "no member
        // before"
        before_all: match rules {
            PolicyRules::Scheduler => Some(Extended::from(NO_VAL)),
            PolicyRules::Documented => None,
        },
        merges_tied_accounts: rules == PolicyRules::Documented,
        extends_ties_below: true,
    };
    let factor = |(node, rank)| {
        let is_user = tree.kind(node) == NodeKind::Entity;
        is_user.then_some(f64::from(rank) / f64::from(users))
    };
    tree.nodes().zip(walk.ranks(users)).map(factor).collect()
}

fn scheduler(tree: &ShareTree, release: Release) -> ShareTable {
    let model = SlurmModel::new(tree);
    let level_fs: Vec<_> = (0..tree.len())
        .map(|node| level_fs_of(&model, node))
        .collect();
    let factors = factors(
        tree,
        &model.lists(release),
        &level_fs,
        PolicyRules::Scheduler,
    );
    let norm_shares = model.norm_shares();
    let mut table = ShareTable::with_capacity(tree.len());
    for (node, factor) in factors.into_iter().enumerate() {
        let has_level_fs = node != 0 && !model.uses_parent(node);
        let association = AssociationShares {
            effective_usage: Some(effective_usage(&model, node).to_f64()),
            fairshare: factor,
            level_fs: has_level_fs.then(|| level_fs[node].to_f64()),
            ..model.association(node, displayed_fraction(&model, model.job_node(node)))
        };
        // the root's is blank: it has all usage
        let norm_usage = association.norm_usage.unwrap_or(1.0);
        let entity =
            EntityShares::from_policy(norm_shares[node], norm_usage, factor.unwrap_or(0.0));
        table.push((entity, association.as_received()));
    }
    table
}

/// The fraction that `sshare` shows. The root has no siblings; the daemons give it a number that
/// rounds to 0.
fn displayed_fraction(model: &SlurmModel, node: usize) -> f64 {
    if node == 0 {
        1.0 / f64::from(NO_VAL)
    } else {
        model.fraction(node)
    }
}

fn effective_usage(model: &SlurmModel, node: usize) -> Extended {
    let list_usage = model.usage(model.above(node));
    match node {
        0 => Extended::one(),
        _ if list_usage.is_zero() => Extended::ZERO,
        _ => model.usage(node) / list_usage,
    }
}

fn level_fs_of(model: &SlurmModel, node: usize) -> Extended {
    match model.fraction(node) {
        _ if model.uses_parent(node) && model.is_user(node) => Extended::INFINITY,
        // ranks nobody: no list is below such an account
        _ if model.uses_parent(node) => Extended::from(NO_VAL),
        // before the quotient: an association without shares and usage is the last, not the
        // first
        0.0 => Extended::ZERO,
        fraction => Extended::from(fraction) / effective_usage(model, node),
    }
}

/// The lists of siblings under the document's rules.
struct DocumentedLevels {
    /// The owner of the list that each node is a member of.
    owners: Vec<u32>,
    /// The sum of the shares in the list of each node.
    // wide enough for the sum of 16,000,000 numbers of 64 bits
    shares: Vec<u128>,
    /// The sum of the usage in the list of each node.
    usage: Vec<f64>,
}

impl DocumentedLevels {
    fn new(tree: &ShareTree) -> Self {
        let mut levels = Self {
            owners: Vec::new(),
            shares: vec![0; tree.len()],
            usage: vec![0.0; tree.len()],
        };
        for node in tree.nodes() {
            let owner = fair_share_parent(tree, node, &levels.owners, |parent| {
                tree.shares(NodeId(parent as u32)) == Shares::Parent
            });
            levels.owners.push(owner);
            // the nodes below a `FairShare=parent` account are in the list themselves
            let is_left_out =
                tree.shares(node) == Shares::Parent && tree.kind(node) == NodeKind::Group;
            if node != tree.root() {
                levels.shares[owner as usize] += count(tree.shares(node));
                levels.usage[owner as usize] += if is_left_out {
                    tree.own_usage(node)
                } else {
                    tree.usage(node)
                };
            }
        }
        levels
    }

    fn fraction(&self, tree: &ShareTree, node: NodeId) -> f64 {
        match self.shares[self.owners[node.index()] as usize] {
            0 => 0.0,
            sum => count(tree.shares(node)) as f64 / sum as f64,
        }
    }

    fn usage(&self, tree: &ShareTree, node: NodeId) -> f64 {
        let list_usage = self.usage[self.owners[node.index()] as usize];
        if list_usage == 0.0 {
            0.0
        } else {
            tree.usage(node) / list_usage
        }
    }

    /// Divides the fraction of the shares by the fraction of the usage. The quotient of integers is
    /// rounded once, so that equal quotients are equal numbers.
    fn level_fs(&self, tree: &ShareTree, node: NodeId) -> Extended {
        let owner = self.owners[node.index()] as usize;
        let shares = count(tree.shares(node));
        let usage = tree.usage(node);
        if tree.shares(node) == Shares::Parent || (shares > 0 && usage == 0.0) {
            return Extended::INFINITY;
        }
        let (usage, exponent) = integer_and_exponent(usage);
        let (list_usage, list_exponent) = integer_and_exponent(self.usage[owner]);
        match (
            shares.checked_mul(list_usage),
            self.shares[owner].checked_mul(usage),
        ) {
            // before the quotient, which is 0 / 0 if the usage is 0 as well
            (_, _) if shares == 0 => Extended::ZERO,
            (Some(numerator), Some(denominator)) => {
                Extended::quotient(numerator, denominator)
                    * Extended::power_of_two(list_exponent - exponent)
            }
            // the products exceed 128 bits, so the fractions are rounded one by one
            _ => Extended::from(self.fraction(tree, node)) / Extended::from(self.usage(tree, node)),
        }
    }
}

/// The number of shares that count in the sum of a list: 0 under `FairShare=parent`.
fn count(shares: Shares) -> u128 {
    // negative shares, which a lenient tree may have, count as none
    u128::try_from(shares.count()).unwrap_or(0)
}

/// The least integer `i`, and the exponent `e`, for which a positive double is `i * 2^e`.
fn integer_and_exponent(value: f64) -> (u128, i32) {
    let (mantissa, exponent, _) = value.integer_decode();
    // a mantissa of 0 has 64 trailing zeros, too many for a shift
    let shift = mantissa.trailing_zeros().min(52);
    (
        u128::from(mantissa >> shift),
        i32::from(exponent) + shift as i32,
    )
}

fn documented(tree: &ShareTree) -> ShareTable {
    let levels = DocumentedLevels::new(tree);
    let normalized = Normalized::table(tree);
    let level_fs: Vec<_> = tree
        .nodes()
        .map(|node| levels.level_fs(tree, node))
        .collect();
    // in the order of the input, as the document names no other
    let lists = sibling_lists(tree, Release::V22_05, &levels.owners);
    let factors = factors(tree, &lists, &level_fs, PolicyRules::Documented);
    let mut table = ShareTable::with_capacity(tree.len());
    for (node, normalized) in tree.nodes().zip(normalized) {
        let factor = factors[node.index()];
        let is_root = node == tree.root();
        let uses_parent = !is_root && tree.shares(node) == Shares::Parent;
        let fraction = if is_root || uses_parent {
            normalized.fraction
        } else {
            levels.fraction(tree, node)
        };
        let effective_usage = if is_root {
            normalized.norm_usage
        } else {
            levels.usage(tree, node)
        };
        let has_level_fs = !is_root && !uses_parent;
        let association = AssociationShares {
            effective_usage: Some(effective_usage),
            fairshare: factor,
            level_fs: has_level_fs.then(|| level_fs[node.index()].to_f64()),
            ..normalized.association(tree, node, fraction)
        };
        let entity = EntityShares::from_policy(
            normalized.norm_shares,
            normalized.norm_usage,
            factor.unwrap_or(0.0),
        );
        table.push((entity, association));
    }
    table
}

/// The siblings of a tree, and how a policy orders them.
pub(super) struct RankWalk<'a, N> {
    pub(super) tree: &'a ShareTree,
    /// The list below each node, in the order that breaks ties.
    pub(super) lists: &'a [Vec<NodeId>],
    /// What nodes are ordered by, the greatest first.
    pub(super) values: &'a [N],
    /// A total order of values.
    pub(super) compare: fn(&N, &N) -> Ordering,
    /// Whether two adjacent siblings are tied.
    pub(super) are_tied: fn(&N, &N) -> bool,
    /// With this value, the first sibling of a list is tied with what came before the list.
    pub(super) before_all: Option<N>,
    /// Whether the lists of tied accounts are merged.
    pub(super) merges_tied_accounts: bool,
    /// Whether the first sibling below a tied account is tied too.
    pub(super) extends_ties_below: bool,
}

/// A sorted list that the walk is in.
struct Frame {
    members: Vec<NodeId>,
    next: usize,
    /// Whether the first member is tied with what came before the list.
    is_first_tied: bool,
}

impl<N: PartialEq> RankWalk<'_, N> {
    /// The rank of every user, by node: `users` for the best, one less for each further user, the
    /// same for tied users. A node that the walk does not reach has 0.
    pub(super) fn ranks(&self, users: u32) -> Vec<u32> {
        let mut ranks = vec![0; self.tree.len()];
        let mut rank = users;
        let mut next_rank = users;
        // not by recursion: a tree may be 100,000 levels deep
        let mut stack = vec![self.frame(self.members(self.tree.root()).to_vec(), false)];
        while let Some(frame) = stack.last_mut() {
            let Some(&node) = frame.members.get(frame.next) else {
                stack.pop();
                continue;
            };
            let is_tied = self.is_tied(frame, node);
            if self.is_user(node) {
                frame.next += 1;
                rank = if is_tied { rank } else { next_rank };
                ranks[node.index()] = rank;
                // 0 only after the last user, since each user takes one rank
                next_rank = next_rank.saturating_sub(1);
            } else {
                let below = self.take_accounts(frame, node);
                let is_first_tied = is_tied && self.extends_ties_below;
                stack.push(self.frame(below, is_first_tied));
            }
        }
        ranks
    }

    fn members(&self, node: NodeId) -> &[NodeId] {
        &self.lists[node.index()]
    }

    fn is_user(&self, node: NodeId) -> bool {
        self.tree.kind(node) == NodeKind::Entity
    }

    fn value(&self, node: NodeId) -> &N {
        &self.values[node.index()]
    }

    fn are_tied(&self, one: NodeId, other: NodeId) -> bool {
        (self.are_tied)(self.value(one), self.value(other))
    }

    fn frame(&self, mut members: Vec<NodeId>, is_first_tied: bool) -> Frame {
        // stable, so that ties keep the order of the list
        members.sort_by(|&one, &other| (self.compare)(self.value(other), self.value(one)));
        // not in the comparison, because a tie within a tolerance is not transitive
        for run in members.chunk_by_mut(|&one, &other| self.are_tied(one, other)) {
            // users first: one that is tied with an account has its rank before the account's users
            // take theirs
            run.sort_by_key(|&node| !self.is_user(node));
        }
        Frame {
            members,
            next: 0,
            is_first_tied,
        }
    }

    /// Whether the next member is tied with the one before it.
    fn is_tied(&self, frame: &Frame, node: NodeId) -> bool {
        match frame.next.checked_sub(1) {
            Some(before) => self.are_tied(frame.members[before], node),
            None => frame.is_first_tied || self.before_all.as_ref() == Some(self.value(node)),
        }
    }

    /// The members below the account, and below the accounts tied with it if those are merged; all
    /// count as visited.
    fn take_accounts(&self, frame: &mut Frame, first: NodeId) -> Vec<NodeId> {
        let mut below = self.members(first).to_vec();
        frame.next += 1;
        while let Some(&account) = frame.members.get(frame.next) {
            let joins = self.merges_tied_accounts && !self.is_user(account);
            if !joins || !self.are_tied(frame.members[frame.next - 1], account) {
                break;
            }
            below.extend(self.members(account));
            frame.next += 1;
        }
        below
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairshare::policy::worked_example;
    use crate::fairshare::{AssessedTree, FairShare, Member, TreeBuilder};

    const BOTH: [PolicyRules; 2] = [PolicyRules::Documented, PolicyRules::Scheduler];

    fn grow(members: &[(&str, Member)]) -> ShareTree {
        let mut builder = TreeBuilder::new("root");
        for (parent, member) in members {
            builder.add_under(parent, member.clone()).expect("sound");
        }
        builder.finish()
    }

    fn factors<const N: usize>(tree: &ShareTree, policy: FairTree, names: [&str; N]) -> [f64; N] {
        let assessed = AssessedTree::new(tree.clone(), &policy);
        names.map(|name| {
            assessed
                .shares_of(name)
                .expect("in the tree")
                .fairshare_factor
        })
    }

    fn account(name: &str) -> Member {
        Member::group(name)
    }

    fn user(name: &str, usage: f64) -> Member {
        Member::entity(name).usage(usage)
    }

    /// The document's users: the first common ancestor of `UserA` and `UserB` is `Acct1`; the
    /// higher of the `Level FS` of `Acct12` and `Acct16` decides, however little the other user
    /// himself has used.
    #[test]
    fn the_level_below_the_common_ancestor_decides() {
        let tree = grow(&[
            ("root", account("Acct1")),
            ("Acct1", account("Acct12")),
            ("Acct1", account("Acct16")),
            ("Acct12", user("UserA", 1.0)),
            ("Acct12", user("busy", 900.0)),
            ("Acct16", user("UserB", 300.0)),
        ]);
        for rules in BOTH {
            let ours = factors(&tree, FairTree::new(rules), ["UserB", "UserA", "busy"]);
            assert_eq!(ours, [1.0, 2.0 / 3.0, 1.0 / 3.0], "{rules:?}");
        }
    }

    /// The example of the other documents: `LF` is 0.4 by 0.45 of 0.7 and 0.6 by 0.25 of 0.7.
    #[test]
    fn level_fs_of_the_worked_example() {
        let assessed = AssessedTree::new(worked_example(), &FairTree::new(PolicyRules::Documented));
        for (name, level_fs) in [
            ("A", "0.6222"),
            ("D", "1.6800"),
            ("B", "1.6875"),
            ("C", "0.4500"),
            ("F", "inf"),
            ("User5", "inf"),
            ("User1", "1.0000"),
            ("User2", "0.5000"),
            ("User3", "inf"),
        ] {
            let node = assessed.tree().find(name).expect("in the tree");
            let shown = assessed.shares().association(node).expect("an association");
            assert_eq!(
                format!("{:.4}", shown.level_fs.expect("a level")),
                level_fs,
                "{name}"
            );
        }
        let order = ["User5", "User4", "User1", "User3", "User2"];
        for rules in BOTH {
            assert_eq!(
                factors(&worked_example(), FairTree::new(rules), order),
                [1.0, 0.8, 0.6, 0.4, 0.2],
                "{rules:?}"
            );
        }
    }

    #[test]
    fn tied_users_and_a_user_tied_with_an_account() {
        let tree = grow(&[
            ("root", user("same", 100.0)),
            ("root", user("too", 100.0)),
            ("root", account("a")),
            ("a", user("best", 30.0)),
            ("a", user("next", 70.0)),
        ]);
        for rules in BOTH {
            let ours = factors(&tree, FairTree::new(rules), ["same", "too", "best", "next"]);
            assert_eq!(ours, [1.0, 1.0, 1.0, 0.25], "{rules:?}");
        }
    }

    /// The document merges the lists of tied accounts; the daemons walk one after the other, in
    /// their order.
    #[test]
    fn tied_accounts_are_merged_in_the_document_only() {
        let tree = grow(&[
            ("root", account("z")),
            ("root", account("a")),
            ("z", user("z1", 100.0)),
            ("z", user("z2", 300.0)),
            ("a", user("a1", 50.0)),
            ("a", user("a2", 350.0)),
        ]);
        let names = ["a1", "z1", "z2", "a2"];
        assert_eq!(
            factors(&tree, FairTree::new(PolicyRules::Documented), names),
            [1.0, 0.75, 0.5, 0.25]
        );
        let daemon = FairTree::new(PolicyRules::Scheduler);
        assert_eq!(
            factors(&tree, daemon.release(Release::V22_05), names),
            [0.75, 1.0, 0.75, 0.25]
        );
        assert_eq!(
            factors(&tree, daemon.release(Release::V26_11), names),
            [1.0, 0.75, 0.25, 0.75]
        );
    }

    /// 1/3 by 1/3 and 1/7 by 1/7 are the same fraction, but not the same `double` by `long double`.
    #[test]
    fn equal_fractions_are_tied_in_the_document_only() {
        let tree = grow(&[
            ("root", Member::entity("a").shares(3).usage(3.0)),
            ("root", Member::entity("b").shares(7).usage(7.0)),
            ("root", Member::entity("c").shares(11).usage(11.0)),
        ]);
        assert_eq!(
            factors(
                &tree,
                FairTree::new(PolicyRules::Documented),
                ["a", "b", "c"]
            ),
            [1.0; 3]
        );
        let daemon = factors(
            &tree,
            FairTree::new(PolicyRules::Scheduler),
            ["a", "b", "c"],
        );
        assert_ne!(daemon, [1.0; 3]);
    }

    #[test]
    fn fairshare_parent() {
        let tree = grow(&[
            ("root", account("a").shares(4)),
            ("root", user("other", 10.0).shares(0)),
            ("a", account("b").shares_of_parent()),
            ("a", user("ann", 5.0)),
            ("a", Member::entity("first").usage(80.0).shares_of_parent()),
            ("b", user("bob", 1.0)),
        ]);
        for rules in BOTH {
            let ours = factors(
                &tree,
                FairTree::new(rules),
                ["first", "bob", "ann", "other"],
            );
            assert_eq!(ours, [1.0, 0.75, 0.5, 0.25], "{rules:?}");
        }
    }

    #[test]
    fn a_tree_without_users_has_no_factors() {
        for rules in BOTH {
            let assessed =
                AssessedTree::new(TreeBuilder::new("root").finish(), &FairTree::new(rules));
            let root = assessed.tree().root();
            assert_eq!(
                assessed
                    .shares()
                    .association(root)
                    .and_then(|shown| shown.fairshare),
                None
            );
        }
    }
}
