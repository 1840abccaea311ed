//! What must hold of every tree under every published policy.

use job_sort_formula::fairshare::policy::classic::Classic;
use job_sort_formula::fairshare::policy::depth_oblivious::DepthOblivious;
use job_sort_formula::fairshare::policy::fair_tree::FairTree;
use job_sort_formula::fairshare::policy::ticket_based::TicketBased;
use job_sort_formula::fairshare::policy::weighted_walk::WeightedWalk;
use job_sort_formula::fairshare::{
    AssessedTree, FairShare, Member, NodeId, NodeKind, Policy, Release, Rules, ShareTree, TreeBuilder,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// A node: which of the groups above it is its parent, whether it is a group, its shares (`None` for the parent's) and
/// its usage.
type Sketch = Vec<(Index, bool, Option<i64>, u32)>;

/// Few numbers, so that there are ties.
fn sketch(shares: impl Strategy<Value = Option<i64>>) -> impl Strategy<Value = Sketch> {
    let usage = prop_oneof![0u32..1_000_000, 0u32..4];
    vec((any::<Index>(), any::<bool>(), shares, usage), 1..40)
}

fn counted() -> impl Strategy<Value = Sketch> {
    sketch(prop_oneof![1i64..1000, 1i64..4].prop_map(Some))
}

fn any_shares() -> impl Strategy<Value = Sketch> {
    sketch(
        prop_oneof![4 => (0i64..4).prop_map(Some), 1 => Just(None), 1 => any::<i64>().prop_map(|it| Some(it.max(0)))],
    )
}

/// The nodes as `(name, parent, member)`. Every group gets an entity of its own, so that all shares reach entities;
/// with `apart`, no group has both entities and groups below it.
fn members(sketch: &Sketch, apart: bool) -> Vec<(String, String, Member)> {
    let mut groups = vec!["root".to_owned()];
    let mut members = Vec::new();
    let push_entity = |members: &mut Vec<_>, name: String, above: String, member: Member| {
        let entity = format!("{name}'");
        let above_entity = if apart {
            members.push((name.clone(), above, member));
            name
        } else {
            above
        };
        let usage = Member::entity(entity.as_str());
        members.push((entity, above_entity, usage));
    };
    for (i, (parent, is_group, shares, usage)) in sketch.iter().enumerate() {
        let above = parent.get(&groups).clone();
        let (name, usage) = (format!("n{i}"), f64::from(*usage));
        let allot = |member: Member| shares.map_or(member.clone().shares_of_parent(), |shares| member.shares(shares));
        if *is_group {
            members.push((name.clone(), above, allot(Member::group(name.as_str()))));
            push_entity(&mut members, format!("own{i}"), name.clone(), Member::group(format!("own{i}")));
            groups.push(name);
        } else if apart {
            members.push((name.clone(), above, allot(Member::group(name.as_str()))));
            members.push((format!("{name}'"), name.clone(), Member::entity(format!("{name}'")).usage(usage)));
        } else {
            members.push((name.clone(), above, allot(Member::entity(name.as_str())).usage(usage)));
        }
    }
    members
}

fn grow(members: &[(String, String, Member)]) -> ShareTree {
    let mut builder = TreeBuilder::new("root");
    for (_, parent, member) in members {
        builder.add_under(parent, member.clone()).expect("a sound sketch");
    }
    builder.finish()
}

/// The same nodes, siblings in another order: sorted by level first, so that parents still come first.
fn permuted(members: &[(String, String, Member)], keys: &[u32]) -> Vec<(String, String, Member)> {
    let tree = grow(members);
    let mut order: Vec<usize> = (0..members.len()).collect();
    let level = |i: usize| tree.path(tree.find(&members[i].0).expect("in the tree")).len();
    order.sort_by_key(|&i| (level(i), keys[i % keys.len()], i));
    order.into_iter().map(|i| members[i].clone()).collect()
}

fn entities(tree: &ShareTree) -> impl Iterator<Item = NodeId> + '_ {
    tree.nodes().filter(|&node| tree.kind(node) == NodeKind::Entity)
}

const RULES: [Rules; 2] = [Rules::Documented, Rules::Scheduler];

/// Every policy that a tree alone decides, by both rules.
fn by_tree() -> Vec<Box<dyn Policy>> {
    let mut policies: Vec<Box<dyn Policy>> = vec![Box::new(Classic::simplified())];
    for rules in RULES {
        policies.push(Box::new(Classic::new(rules)));
        policies.push(Box::new(Classic::new(rules).dampening(5)));
        policies.push(Box::new(DepthOblivious::new(rules)));
        policies.push(Box::new(FairTree::new(rules).release(Release::V26_11)));
    }
    policies
}

/// Every third entity has a job waiting.
fn tickets(tree: &ShareTree, rules: Rules) -> TicketBased {
    let waiting = entities(tree).filter(|&node| tree.name(node).bytes().map(u32::from).sum::<u32>() % 3 != 0);
    TicketBased::new(rules, waiting.collect::<Vec<_>>())
}

fn all(tree: &ShareTree) -> Vec<Box<dyn Policy>> {
    let mut policies = by_tree();
    policies.extend(RULES.map(|rules| Box::new(tickets(tree, rules)) as Box<dyn Policy>));
    policies.push(Box::new(WeightedWalk));
    policies
}

fn factor(of: &AssessedTree, name: &str) -> f64 {
    of.shares_of(name).expect("in the tree").fairshare_factor
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// flux-accounting leaves users beside banks out; so there are none here.
    #[test]
    fn the_shares_of_all_entities_sum_to_1(sketch in counted()) {
        for apart in [false, true] {
            let tree = grow(&members(&sketch, apart));
            for policy in all(&tree).into_iter().filter(|policy| apart || policy.name() != "weighted-walk") {
                let shares = policy.assess(&tree);
                let sum: f64 = entities(&tree).filter_map(|node| shares.get(node)).map(|row| row.fairshare_perc).sum();
                prop_assert!((sum - 1.0).abs() < 1e-12, "{}: {sum}", policy.name());
            }
        }
    }

    /// Not by the ticket rule of the daemon if anybody stands in for his parent: his jobs get its tickets, which may
    /// be more than any user has.
    #[test]
    fn every_factor_is_in_0_to_1(sketch in any_shares()) {
        let tree = grow(&members(&sketch, false));
        let stands_in = sketch.iter().any(|(_, _, shares, _)| shares.is_none_or(|shares| shares as u32 == i32::MAX as u32));
        for policy in all(&tree) {
            let shares = policy.assess(&tree);
            for node in tree.nodes() {
                let factor = shares.get(node).expect("a row").fairshare_factor;
                let is_accounts = tree.kind(node) != NodeKind::Entity && policy.name() == "ticket-based";
                let holds = (0.0..=1.0 + 1e-12).contains(&factor) || is_accounts || (policy.name() == "ticket-based" && stands_in);
                prop_assert!(holds, "{}: {factor} of {}", policy.name(), tree.name(node));
            }
        }
    }

    /// By 22.05's order the tie of two accounts depends on which comes first; by 26.11's on their names.
    #[test]
    fn the_order_of_siblings_changes_nothing_but_ties(sketch in any_shares(), keys in vec(any::<u32>(), 1..20)) {
        let one = members(&sketch, false);
        let (tree, other) = (grow(&one), grow(&permuted(&one, &keys)));
        let mut policies = by_tree();
        policies.push(Box::new(WeightedWalk));
        if !has_tied_accounts(&tree) {
            policies.push(Box::new(FairTree::new(Rules::Scheduler)));
        }
        for policy in policies {
            let (before, after) = (AssessedTree::new(tree.clone(), &policy), AssessedTree::new(other.clone(), &policy));
            for (name, _, _) in &one {
                let (before, after) = (factor(&before, name), factor(&after, name));
                prop_assert!((before - after).abs() < 1e-12, "{}: {name} {before} {after}", policy.name());
            }
        }
    }

    /// The daemon's tickets are cut to whole ones by a sum that is taken in the siblings' order.
    #[test]
    fn the_order_of_siblings_moves_tickets_by_a_ticket_a_level(sketch in counted(), keys in vec(any::<u32>(), 1..20)) {
        let one = members(&sketch, false);
        let (tree, other) = (grow(&one), grow(&permuted(&one, &keys)));
        for rules in RULES {
            let [before, after] = [&tree, &other].map(|tree| tickets(tree, rules).assess(tree));
            for (name, _, _) in &one {
                let dealt = |tree: &ShareTree, shares: &job_sort_formula::fairshare::TreeShares| {
                    let node = tree.find(name).expect("in the tree");
                    shares.association(node).expect("an association").tickets.unwrap_or(0.0)
                };
                let levels = tree.path(tree.find(name).expect("in the tree")).len() as f64;
                prop_assert!((dealt(&tree, &before) - dealt(&other, &after)).abs() <= levels, "{name}");
            }
        }
    }

    /// Guaranteed by all but the ticket rule, see below; and, by flux-accounting, only for whole units: usages below 1 all
    /// together weigh nothing at all, and more may weigh more.
    #[test]
    fn more_usage_never_raises_the_factor(sketch in any_shares(), which in any::<Index>(), more in 0u32..10_000_000) {
        let one = members(&sketch, false);
        let tree = grow(&one);
        let names: Vec<&str> = entities(&tree).map(|node| tree.name(node)).collect();
        prop_assume!(!names.is_empty());
        let name = *which.get(&names);
        let mut charged = tree.clone();
        charged.charge(tree.find(name).expect("in the tree"), f64::from(more));
        let mut policies = by_tree();
        policies.push(Box::new(WeightedWalk));
        policies.push(Box::new(FairTree::new(Rules::Scheduler)));
        for policy in policies {
            let (before, after) = (AssessedTree::new(tree.clone(), &policy), AssessedTree::new(charged.clone(), &policy));
            let (before, after) = (factor(&before, name), factor(&after, name));
            prop_assert!(after <= before + 1e-12, "{}: {after} > {before} of {name} in {one:?}", policy.name());
        }
    }
}

fn has_tied_accounts(tree: &ShareTree) -> bool {
    let shares = FairTree::new(Rules::Scheduler).assess(tree);
    let level_fs = |node: NodeId| shares.association(node).and_then(|shown| shown.level_fs);
    let accounts: Vec<f64> =
        tree.nodes().filter(|&node| tree.kind(node) == NodeKind::Group).filter_map(level_fs).collect();
    (1..accounts.len()).any(|i| accounts[..i].contains(&accounts[i]))
}

/// By the ticket rule more usage may raise the factor a little: while it lies under the floor it costs nothing, yet it
/// makes everybody else's part of all usage smaller, and so takes tickets from the one with most and gives them to his
/// sibling.
#[test]
fn more_usage_may_raise_the_factor_of_tickets() {
    let factor_after = |usage: f64| {
        let mut builder = TreeBuilder::new("root");
        for (parent, member) in [
            ("root", Member::entity("own").shares(40).usage(usage)),
            ("root", Member::group("account").shares(50)),
            ("root", Member::entity("busy").shares(1).usage(10_000.0)),
            ("account", Member::entity("most").shares(99)),
            ("account", Member::entity("sibling").shares(1).usage(40.0)),
        ] {
            builder.add_under(parent, member).expect("sound");
        }
        let tree = builder.finish();
        let waiting: Vec<NodeId> = ["own", "most", "sibling"].iter().filter_map(|name| tree.find(name)).collect();
        factor(&AssessedTree::new(tree, &TicketBased::new(Rules::Documented, waiting)), "own")
    };
    assert!(factor_after(20.0) > factor_after(0.0) + 1e-7);
    assert!(factor_after(500.0) < factor_after(0.0));
}

/// No pass may recurse.
#[test]
fn every_policy_takes_a_chain_of_100_000_levels() {
    let mut builder = TreeBuilder::new("root");
    let mut at = builder.root();
    for level in 0..100_000 {
        let shares = Member::group(format!("g{level}"));
        let shares = if level % 1000 == 0 { shares.shares_of_parent() } else { shares.shares(level) };
        at = builder.add(at, shares).expect("sound");
    }
    let leaf = builder.add(at, Member::entity("leaf").usage(7.0)).expect("sound");
    let tree = builder.finish();
    let mut policies = all(&tree);
    policies.push(Box::new(TicketBased::new(Rules::Scheduler, [leaf])));
    for policy in policies {
        let shares = policy.assess(&tree);
        assert!(shares.get(leaf).is_some(), "{}", policy.name());
    }
}
