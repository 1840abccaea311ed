//! flux-accounting's fair share, as documented at
//! <https://flux-framework.readthedocs.io/projects/flux-accounting> and implemented in release
//! 0.60.

use crate::fairshare::policy::fair_tree::RankWalk;
use crate::fairshare::policy::slurm_associations::{NO_LIST, sibling_lists};
use crate::fairshare::policy::{AssociationShares, EntityShares, Policy, Release, ShareTable};
use crate::fairshare::{NodeId, NodeKind, NodeLists, ShareTree, Shares};

/// The weight of a node without usage: 2^64.
const UNUSED: f64 = 18_446_744_073_709_551_616.0;
/// The factor of a user that the walk does not reach.
const UNRANKED: f64 = 0.5;

/// Users ranked by a walk of the tree, at each level the highest weight first: close to fair tree,
/// with one set of rules.
///
/// A weight is the fraction of the siblings' shares divided by the fraction of their usage; 0
/// without shares, 2^64 without usage. Two weights are equal if they differ by less than the
/// precision of the larger, or of 1. Tied users have the rank of the first, tied banks are walked
/// as one, a user and a bank are never tied. The sum of the siblings' usage is an integer,
/// truncated at each addition; so usages below 1 sum to 0 and have the weight 0. Users of a bank
/// with banks below it are left out: they have 0.5, and their usage counts nowhere. There is no
/// `FairShare=parent`: it counts as 1 share.
///
/// [`AssociationShares::level_fs`] is the weight, infinite without usage; the factor of a bank,
/// which has none, is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WeightedWalk;

impl Policy for WeightedWalk {
    fn assess(&self, tree: &ShareTree) -> ShareTable {
        let bank = Bank::new(tree);
        let users = tree.user_count();
        let walk = RankWalk {
            tree,
            lists: &bank.lists,
            values: &bank.weights,
            compare: f64::total_cmp,
            are_tied,
            before_all: None,
            merges_tied_accounts: true,
            extends_ties_below: false,
        };
        let ranks = walk.ranks(users);
        let whole = bank.usage[0];
        let mut norm_shares: Vec<f64> = Vec::with_capacity(tree.len());
        let mut table = ShareTable::with_capacity(tree.len());
        for node in tree.nodes() {
            let i = node.index();
            norm_shares.push(match tree.parent(node) {
                Some(parent) => norm_shares[parent.index()] * bank.fraction(node),
                None => bank.fraction(node),
            });
            let norm_usage = if whole == 0.0 {
                0.0
            } else {
                bank.usage[i] / whole
            };
            let factor = match tree.kind(node) {
                NodeKind::Entity if bank.is_walked(node) => f64::from(ranks[i]) / f64::from(users),
                NodeKind::Entity => UNRANKED,
                NodeKind::Root | NodeKind::Group => 0.0,
            };
            let mut association =
                AssociationShares::new(None, bank.usage[i], bank.fraction(node), Some(norm_usage));
            if node != tree.root() {
                // it fits: the shares were an `i64` before
                association.raw_shares = Some(Shares::Count(shares(tree, node) as i64));
                association.level_fs = Some(displayed_weight(bank.weights[i]));
                let usage_fraction = bank.usage_fraction(node);
                if usage_fraction.is_finite() {
                    association.effective_usage = Some(usage_fraction);
                }
            }
            if tree.kind(node) == NodeKind::Entity {
                association.fairshare = Some(factor);
            }
            let entity = EntityShares::from_policy(norm_shares[i], norm_usage, factor);
            table.push((entity, association));
        }
        table
    }
}

/// A weight as it is shown: the one that represents infinity is infinite.
fn displayed_weight(weight: f64) -> f64 {
    if weight == UNUSED {
        f64::INFINITY
    } else {
        weight
    }
}

/// The tree as flux-accounting reads it.
struct Bank<'a> {
    tree: &'a ShareTree,
    /// The owner of the list that each node is in; [`NO_LIST`] for a user whose siblings include
    /// banks.
    above: Vec<u32>,
    lists: NodeLists,
    usage: Vec<f64>,
    /// The sums of the shares and of the usage in the list of each node.
    list_shares: Vec<u64>,
    list_usage: Vec<u64>,
    weights: Vec<f64>,
}

impl<'a> Bank<'a> {
    fn new(tree: &'a ShareTree) -> Self {
        let mut has_banks = vec![false; tree.len()];
        for node in tree.nodes() {
            if let Some(parent) = tree.parent(node)
                && tree.kind(node) != NodeKind::Entity
            {
                has_banks[parent.index()] = true;
            }
        }
        let mut above = Vec::with_capacity(tree.len());
        for node in tree.nodes() {
            above.push(match tree.parent(node) {
                Some(parent)
                    if tree.kind(node) == NodeKind::Entity && has_banks[parent.index()] =>
                {
                    NO_LIST
                }
                Some(parent) => parent.0,
                None => 0,
            });
        }
        let usage = usage_of(tree, &above);
        let mut list_shares = vec![0u64; tree.len()];
        let mut list_usage = vec![0u64; tree.len()];
        for node in tree.nodes().skip(1) {
            let list = above[node.index()];
            if list != NO_LIST {
                let list = list as usize;
                list_shares[list] = list_shares[list].wrapping_add(shares(tree, node));
                // flux-accounting keeps this sum in an integer, which each addition truncates
                list_usage[list] = (list_usage[list] as f64 + usage[node.index()]) as u64;
            }
        }
        let lists = sibling_lists(tree, Release::V26_11, &above);
        let mut bank = Self {
            tree,
            above,
            lists,
            usage,
            list_shares,
            list_usage,
            weights: Vec::new(),
        };
        bank.weights = tree.nodes().map(|node| bank.weight(node)).collect();
        bank
    }

    fn is_walked(&self, node: NodeId) -> bool {
        self.above[node.index()] != NO_LIST
    }

    fn fraction(&self, node: NodeId) -> f64 {
        match self.above[node.index()] {
            _ if node == self.tree.root() => 1.0,
            NO_LIST => 0.0,
            list => match self.list_shares[list as usize] {
                0 => 0.0,
                sum => shares(self.tree, node) as f64 / sum as f64,
            },
        }
    }

    fn usage_fraction(&self, node: NodeId) -> f64 {
        let list_usage = self.list_usage.get(self.above[node.index()] as usize);
        // `NO_LIST` is no index: the quotient is then not finite, and not shown
        self.usage[node.index()] / *list_usage.unwrap_or(&0) as f64
    }

    fn weight(&self, node: NodeId) -> f64 {
        if node == self.tree.root() || !self.is_walked(node) || self.fraction(node) == 0.0 {
            0.0
        } else if self.usage[node.index()].abs() < 1e-9 {
            // flux-accounting takes a usage below this for none
            UNUSED
        } else {
            self.fraction(node) / self.usage_fraction(node)
        }
    }
}

/// Whether two weights differ by less than their precision.
fn are_tied(one: &f64, other: &f64) -> bool {
    (one - other).abs() < f64::EPSILON * one.abs().max(other.abs()).max(1.0)
}

fn shares(tree: &ShareTree, node: NodeId) -> u64 {
    match tree.shares(node) {
        Shares::Count(count) => u64::try_from(count).unwrap_or(0),
        Shares::Parent => 1,
    }
}

/// The usage of each node: a user's own; for a bank that of its banks, or of its users if it has no
/// banks.
fn usage_of(tree: &ShareTree, above: &[u32]) -> Vec<f64> {
    let mut usage = vec![0.0; tree.len()];
    for node in tree.nodes() {
        if tree.kind(node) == NodeKind::Entity {
            usage[node.index()] = tree.own_usage(node);
        }
    }
    // backwards, so that a bank has the usage of all below it before it is added to the bank above
    for node in (1..tree.len()).rev() {
        if above[node] != NO_LIST {
            usage[above[node] as usize] += usage[node];
        }
    }
    usage
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairshare::policy::worked_example;
    use crate::fairshare::{AssessedTree, FairShare, Member, TreeBuilder};

    fn factors<const N: usize>(members: &[(&str, Member)], names: [&str; N]) -> [f64; N] {
        let mut builder = TreeBuilder::new("root");
        for (parent, member) in members {
            builder.add_under(parent, member.clone()).expect("sound");
        }
        let assessed = AssessedTree::new(builder.finish(), &WeightedWalk);
        names.map(|name| {
            assessed
                .shares_of(name)
                .expect("in the tree")
                .fairshare_factor
        })
    }

    fn user(name: &str, usage: f64) -> Member {
        Member::entity(name).usage(usage)
    }

    #[test]
    fn tied_users_share_the_higher_rank_and_tied_banks_are_one() {
        let members = [
            ("root", Member::group("one")),
            ("root", Member::group("two")),
            ("one", user("a", 100.0)),
            ("one", user("b", 300.0)),
            ("two", user("c", 100.0)),
            ("two", user("d", 300.0)),
            ("two", user("e", 0.0)),
        ];
        // half by a quarter, third by a quarter, half by three quarters, third by three quarters; e
        // beats all
        assert_eq!(
            factors(&members, ["e", "a", "c", "b", "d"]),
            [1.0, 0.8, 0.6, 0.4, 0.2]
        );
        let tied = [
            &members[..2],
            &[
                ("one", user("a", 200.0)),
                ("two", user("c", 200.0)),
                ("two", user("d", 0.0)),
            ],
        ];
        assert_eq!(
            factors(&tied.concat(), ["d", "a", "c"]),
            [1.0, 2.0 / 3.0, 1.0 / 3.0]
        );
        let users = [
            ("root", user("a", 5.0)),
            ("root", user("b", 5.0)),
            ("root", user("c", 9.0)),
        ];
        assert_eq!(factors(&users, ["a", "b", "c"]), [1.0, 1.0, 1.0 / 3.0]);
    }

    #[test]
    fn users_beside_banks_are_left_out() {
        let members = [
            ("root", Member::group("bank")),
            ("root", user("beside", 900.0)),
            ("bank", user("within", 100.0)),
        ];
        assert_eq!(factors(&members, ["within", "beside"]), [1.0, 0.5]);
    }

    #[test]
    fn fractions_of_usage_are_cut_from_the_sum() {
        let members = [
            ("root", user("half", 0.5)),
            ("root", user("tenth", 0.1)),
            ("root", user("none", 0.0)),
            ("root", Member::entity("no shares").shares(0)),
        ];
        assert_eq!(
            factors(&members, ["none", "half", "tenth", "no shares"]),
            [1.0, 0.75, 0.75, 0.75]
        );
    }

    #[test]
    fn without_ties_it_is_the_fair_tree() {
        use crate::fairshare::policy::PolicyRules;
        use crate::fairshare::policy::fair_tree::FairTree;
        let mut tree = worked_example();
        tree.decay_with(|usage| usage * 1e6);
        let walk = AssessedTree::new(tree.clone(), &WeightedWalk);
        let fair_tree = AssessedTree::new(tree, &FairTree::new(PolicyRules::Documented));
        for name in ["User1", "User2", "User3", "User4", "User5"] {
            let [walk, fair_tree] =
                [&walk, &fair_tree].map(|tree| tree.shares_of(name).expect("in the tree"));
            assert_eq!(walk.fairshare_factor, fair_tree.fairshare_factor, "{name}");
        }
    }

    /// The nodes below `above` that the walk compares, found by a search of the whole tree.
    fn plain_list(tree: &ShareTree, above: NodeId) -> Vec<NodeId> {
        let below = tree
            .nodes()
            .filter(|&node| tree.parent(node) == Some(above));
        let (users, banks): (Vec<_>, Vec<_>) =
            below.partition(|&node| tree.kind(node) == NodeKind::Entity);
        if banks.is_empty() { users } else { banks }
    }

    fn plain_usage(tree: &ShareTree, node: NodeId) -> f64 {
        match tree.kind(node) {
            NodeKind::Entity => tree.own_usage(node),
            _ => plain_list(tree, node)
                .into_iter()
                .map(|below| plain_usage(tree, below))
                .sum(),
        }
    }

    /// The weight of a node that the walk compares, from the sums of its siblings.
    fn plain_weight(tree: &ShareTree, node: NodeId) -> f64 {
        let siblings = plain_list(tree, tree.parent(node).expect("not the root"));
        let sum: u64 = siblings.iter().map(|&sibling| shares(tree, sibling)).sum();
        let list_usage = siblings.iter().fold(0, |sum, &sibling| {
            (sum as f64 + plain_usage(tree, sibling)) as u64
        });
        match plain_usage(tree, node) {
            _ if shares(tree, node) == 0 => 0.0,
            0.0 => UNUSED,
            usage => shares(tree, node) as f64 / sum as f64 / (usage / list_usage as f64),
        }
    }

    /// Ranks the users below tied banks: each time the node with the highest weight of those left,
    /// and all tied with it.
    fn plain_walk(tree: &ShareTree, banks: &[NodeId], ranked: &mut u32, factors: &mut [f64]) {
        let users = tree
            .nodes()
            .filter(|&node| tree.kind(node) == NodeKind::Entity)
            .count();
        let mut left: Vec<(NodeId, f64)> = Vec::new();
        for &bank in banks {
            left.extend(
                plain_list(tree, bank)
                    .into_iter()
                    .map(|node| (node, plain_weight(tree, node))),
            );
        }
        while let Some(&(_, best)) = left.iter().max_by(|one, other| one.1.total_cmp(&other.1)) {
            let tied = left.extract_if(.., |(_, weight)| {
                (*weight - best).abs() < f64::EPSILON * best.max(1.0)
            });
            let (tied_users, tied_banks): (Vec<_>, Vec<_>) = tied
                .map(|(node, _)| node)
                .partition(|&node| tree.kind(node) == NodeKind::Entity);
            let rank = users as u32 - *ranked;
            tied_users
                .iter()
                .for_each(|user| factors[user.index()] = f64::from(rank) / users as f64);
            *ranked += tied_users.len() as u32;
            if !tied_banks.is_empty() {
                plain_walk(tree, &tied_banks, ranked, factors);
            }
        }
    }

    #[test]
    fn it_is_the_plain_walk_on_random_trees() {
        let mut bits = 0x9e37_79b9_7f4a_7c15_u64;
        let mut reached = 0;
        let mut left_out = 0;
        for _ in 0..500 {
            let mut builder = TreeBuilder::new("root");
            let mut groups = vec![builder.root()];
            for number in 0..2 + random(&mut bits, 40) {
                let name = format!("n{number}");
                let shares = [0, 1, 1, 1, 2, 3, 10][random(&mut bits, 7)];
                let parent = groups[random(&mut bits, groups.len())];
                if random(&mut bits, 3) == 0 {
                    groups.push(
                        builder
                            .add(parent, Member::group(name).shares(shares))
                            .expect("sound"),
                    );
                } else {
                    // powers of two, so that every sum is exact
                    let usage = [0.0, 0.0, 0.5, 1.0, 1.0, 2.0, 64.0][random(&mut bits, 7)];
                    builder
                        .add(parent, Member::entity(name).shares(shares).usage(usage))
                        .expect("sound");
                }
            }
            let tree = builder.finish();
            let mut factors = vec![UNRANKED; tree.len()];
            plain_walk(&tree, &[tree.root()], &mut 0, &mut factors);
            let table = WeightedWalk.assess(&tree);
            for node in tree
                .nodes()
                .filter(|&node| tree.kind(node) == NodeKind::Entity)
            {
                let factor = table.get(node).map(|shares| shares.fairshare_factor);
                assert_eq!(factor, Some(factors[node.index()]), "{tree:?}");
                *(if factors[node.index()] == UNRANKED {
                    &mut left_out
                } else {
                    &mut reached
                }) += 1;
            }
        }
        assert!(reached > 1500 && left_out > 500, "{reached} {left_out}");
    }

    /// The next pseudo-random number below a bound.
    fn random(bits: &mut u64, below: usize) -> usize {
        *bits = bits
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*bits >> 33) as usize % below
    }

    #[test]
    fn two_hundred_thousand_siblings_are_not_compared_with_each_other() {
        let mut builder = TreeBuilder::new("root");
        for user in 0..200_000 {
            builder
                .add(
                    builder.root(),
                    Member::entity(format!("u{user}")).usage(f64::from(user % 1000)),
                )
                .expect("sound");
        }
        let tree = builder.finish();
        let table = WeightedWalk.assess(&tree);
        for (user, factor) in [("u0", 1.0), ("u199000", 1.0), ("u999", 0.001)] {
            let node = tree.find(user).expect("a user");
            assert_eq!(
                table.get(node).map(|shares| shares.fairshare_factor),
                Some(factor),
                "{user}"
            );
        }
    }
}
