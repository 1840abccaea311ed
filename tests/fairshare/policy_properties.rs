//! Properties of every policy on random trees.

use job_sort_formula::fairshare::{
    AssessedTree, Classic, DepthOblivious, FairTree, Member, NodeId, NodeKind, Policy, PolicyRules,
    Release, ShareTree, TicketBased, TreeBuilder, WeightedWalk,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::trees::{Node, build, permute};

/// A node: the index of its parent among the groups so far, whether it is a group, its shares
/// (`None` for those of its parent) and its usage.
type Sketch = Vec<(Index, bool, Option<i64>, u32)>;

/// The numbers are few, so that there are ties.
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

/// Every group has an entity of its own, so that all shares reach entities. With `apart`, no group
/// has both entities and groups below it.
fn members(sketch: &Sketch, apart: bool) -> Vec<Node> {
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
        let allot = |member: Member| {
            shares.map_or(member.clone().shares_of_parent(), |shares| {
                member.shares(shares)
            })
        };
        if *is_group {
            members.push((name.clone(), above, allot(Member::group(name.as_str()))));
            push_entity(
                &mut members,
                format!("own{i}"),
                name.clone(),
                Member::group(format!("own{i}")),
            );
            groups.push(name);
        } else if apart {
            members.push((name.clone(), above, allot(Member::group(name.as_str()))));
            members.push((
                format!("{name}'"),
                name.clone(),
                Member::entity(format!("{name}'")).usage(usage),
            ));
        } else {
            members.push((
                name.clone(),
                above,
                allot(Member::entity(name.as_str())).usage(usage),
            ));
        }
    }
    members
}

fn entities(tree: &ShareTree) -> impl Iterator<Item = NodeId> + '_ {
    tree.nodes()
        .filter(|&node| tree.kind(node) == NodeKind::Entity)
}

const RULES: [PolicyRules; 2] = [PolicyRules::Documented, PolicyRules::Scheduler];

/// A policy with its name.
type Named = (&'static str, Box<dyn Policy>);

fn named(name: &'static str, policy: impl Policy + 'static) -> Named {
    (name, Box::new(policy))
}

/// Every policy that needs only a tree, under both rules.
fn by_tree() -> Vec<Named> {
    let mut policies = Vec::new();
    for rules in RULES {
        policies.push(named("classic", Classic::new(rules)));
        policies.push(named("classic", Classic::new(rules).dampening(5)));
        policies.push(named("depth-oblivious", DepthOblivious::new(rules)));
        policies.push(fair_tree(rules, Release::V26_11));
    }
    policies
}

fn fair_tree(rules: PolicyRules, release: Release) -> Named {
    named("fair-tree", FairTree::new(rules).release(release))
}

/// Two of three entities have a waiting job.
fn tickets(tree: &ShareTree, rules: PolicyRules) -> TicketBased {
    let waiting =
        entities(tree).filter(|&node| tree.name(node).bytes().map(u32::from).sum::<u32>() % 3 != 0);
    TicketBased::new(rules, waiting.collect::<Vec<_>>())
}

fn all(tree: &ShareTree) -> Vec<Named> {
    let mut policies = by_tree();
    policies.extend(RULES.map(|rules| named("ticket-based", tickets(tree, rules))));
    policies.push(named("weighted-walk", WeightedWalk));
    policies
}

fn factor(of: &AssessedTree, name: &str) -> f64 {
    let node = of.tree().find(name).expect("in the tree");
    of.shares().get(node).expect("a row").fairshare_factor
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// flux-accounting ignores users that are siblings of banks, so its trees have none.
    #[test]
    fn the_shares_of_all_entities_sum_to_1(sketch in counted()) {
        for apart in [false, true] {
            let tree = build(&members(&sketch, apart));
            for (policy_name, policy) in all(&tree).into_iter().filter(|(name, _)| apart || *name != "weighted-walk") {
                let shares = policy.assess(&tree);
                let sum: f64 = entities(&tree).filter_map(|node| shares.get(node)).map(|row| row.fairshare_perc).sum();
                prop_assert!((sum - 1.0).abs() < 1e-12, "{}: {sum}", policy_name);
            }
        }
    }

    /// Except under the daemon's ticket rule if a user has the shares of its parent: its jobs get
    /// the tickets of the parent, which may be more than any user has.
    #[test]
    fn factors_are_within_0_and_1(sketch in any_shares()) {
        let tree = build(&members(&sketch, false));
        let has_parents_shares = sketch.iter().any(|(_, _, shares, _)| shares.is_none_or(|shares| shares as u32 == i32::MAX as u32));
        for (policy_name, policy) in all(&tree) {
            let shares = policy.assess(&tree);
            for node in tree.nodes() {
                let factor = shares.get(node).expect("a row").fairshare_factor;
                let is_account = tree.kind(node) != NodeKind::Entity && policy_name == "ticket-based";
                let holds = (0.0..=1.0 + 1e-12).contains(&factor) || is_account || (policy_name == "ticket-based" && has_parents_shares);
                prop_assert!(holds, "{}: {factor} of {}", policy_name, tree.name(node));
            }
        }
    }

    /// Slurm 22.05 breaks the tie of two accounts by their order, Slurm 26.11 by their names.
    #[test]
    fn the_order_of_siblings_matters_only_for_ties(sketch in any_shares(), keys in vec(any::<u32>(), 1..20)) {
        let one = members(&sketch, false);
        let (tree, other) = (build(&one), build(&permute(&one, &keys)));
        let mut policies = by_tree();
        policies.push(named("weighted-walk", WeightedWalk));
        if !has_tied_accounts(&tree) {
            policies.push(fair_tree(PolicyRules::Scheduler, Release::default()));
        }
        for (policy_name, policy) in policies {
            let (before, after) = (AssessedTree::new(tree.clone(), &*policy), AssessedTree::new(other.clone(), &*policy));
            for (name, _, _) in &one {
                let (before, after) = (factor(&before, name), factor(&after, name));
                prop_assert!((before - after).abs() < 1e-12, "{}: {name} {before} {after}", policy_name);
            }
        }
    }

    /// The daemon rounds tickets to whole numbers through a running sum over the siblings, in their
    /// order.
    #[test]
    fn the_order_of_siblings_moves_at_most_one_ticket_per_level(sketch in counted(), keys in vec(any::<u32>(), 1..20)) {
        let one = members(&sketch, false);
        let (tree, other) = (build(&one), build(&permute(&one, &keys)));
        for rules in RULES {
            let [before, after] = [&tree, &other].map(|tree| tickets(tree, rules).assess(tree));
            for (name, _, _) in &one {
                let tickets_of = |tree: &ShareTree, shares: &job_sort_formula::fairshare::ShareTable| {
                    let node = tree.find(name).expect("in the tree");
                    shares.association(node).expect("an association").tickets.unwrap_or(0.0)
                };
                let levels = tree.path(tree.find(name).expect("in the tree")).len() as f64;
                prop_assert!((tickets_of(&tree, &before) - tickets_of(&other, &after)).abs() <= levels, "{name}");
            }
        }
    }

    /// Every policy but the ticket rule guarantees this, see below; flux-accounting only for usage
    /// in whole units, because it keeps the sum of the siblings' usage as an integer.
    #[test]
    fn more_usage_never_raises_the_factor(sketch in any_shares(), which in any::<Index>(), more in 0u32..10_000_000) {
        let one = members(&sketch, false);
        let tree = build(&one);
        let names: Vec<&str> = entities(&tree).map(|node| tree.name(node)).collect();
        prop_assume!(!names.is_empty());
        let name = *which.get(&names);
        let mut charged = tree.clone();
        charged.charge(tree.find(name).expect("in the tree"), f64::from(more)).expect("a usage");
        let mut policies = by_tree();
        policies.push(named("weighted-walk", WeightedWalk));
        policies.push(fair_tree(PolicyRules::Scheduler, Release::default()));
        for (policy_name, policy) in policies {
            let (before, after) = (AssessedTree::new(tree.clone(), &*policy), AssessedTree::new(charged.clone(), &*policy));
            let (before, after) = (factor(&before, name), factor(&after, name));
            prop_assert!(after <= before + 1e-12, "{}: {after} > {before} of {name} in {one:?}", policy_name);
        }
    }
}

fn has_tied_accounts(tree: &ShareTree) -> bool {
    let shares = FairTree::new(PolicyRules::Scheduler).assess(tree);
    let level_fs = |node: NodeId| shares.association(node).and_then(|shown| shown.level_fs);
    let accounts: Vec<f64> = tree
        .nodes()
        .filter(|&node| tree.kind(node) == NodeKind::Group)
        .filter_map(level_fs)
        .collect();
    (1..accounts.len()).any(|i| accounts[..i].contains(&accounts[i]))
}

/// Under the ticket rule more usage may raise the factor slightly: usage below the floor costs
/// nothing, but it lowers the part of all usage that the others have, which moves tickets from the
/// one with the most tickets to its sibling.
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
        let waiting: Vec<NodeId> = ["own", "most", "sibling"]
            .iter()
            .filter_map(|name| tree.find(name))
            .collect();
        factor(
            &AssessedTree::new(tree, &TicketBased::new(PolicyRules::Documented, waiting)),
            "own",
        )
    };
    assert!(factor_after(20.0) > factor_after(0.0) + 1e-7);
    assert!(factor_after(500.0) < factor_after(0.0));
}

/// Recursion would overflow the stack.
#[test]
fn every_policy_accepts_a_chain_of_100_000_levels() {
    let mut builder = TreeBuilder::new("root");
    let mut at = builder.root();
    for level in 0..100_000 {
        let shares = Member::group(format!("g{level}"));
        let shares = if level % 1000 == 0 {
            shares.shares_of_parent()
        } else {
            shares.shares(level)
        };
        at = builder.add(at, shares).expect("sound");
    }
    let leaf = builder
        .add(at, Member::entity("leaf").usage(7.0))
        .expect("sound");
    let tree = builder.finish();
    let mut policies = all(&tree);
    policies.push(named(
        "ticket-based",
        TicketBased::new(PolicyRules::Scheduler, [leaf]),
    ));
    for (policy_name, policy) in policies {
        let shares = policy.assess(&tree);
        assert!(shares.get(leaf).is_some(), "{}", policy_name);
    }
}
