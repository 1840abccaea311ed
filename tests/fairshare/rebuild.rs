//! A change of the nodes of a tree keeps the usage of all others.

use job_sort_formula::fairshare::decay::IntervalDecay;
use job_sort_formula::fairshare::{Member, NodeId, NodeKind, OpenPbs, ShareTree, TreeBuilder};
use jsf_testing::random::Generator;

/// A tree in which usage was charged and has decayed, with the running totals of OpenPBS if
/// `has_floor`.
fn random_tree(random: &mut Generator, has_floor: bool) -> ShareTree {
    let mut builder = TreeBuilder::new("root");
    let mut groups = vec![builder.root()];
    for index in 0..2 + random.below(30) {
        let parent = random.pick(&groups);
        if random.below(3) == 0 {
            groups.push(
                builder
                    .add(parent, Member::group(format!("g{index}")))
                    .unwrap(),
            );
        } else {
            let usage = random.below(1000) as f64 / 7.0 * random.below(2) as f64;
            builder
                .add(parent, Member::entity(format!("u{index}")).usage(usage))
                .unwrap();
        }
    }
    let mut tree = builder.finish();
    let nodes: Vec<NodeId> = tree.nodes().collect();
    if has_floor {
        OpenPbs::start_usage(&mut tree);
    }
    for _ in 0..random.below(6) {
        tree.charge(random.pick(&nodes), random.below(1000) as f64 / 11.0)
            .unwrap();
        if has_floor {
            tree.decay_with(|usage| IntervalDecay::new(0.7, 1).step(usage))
        } else {
            tree.decay(0.7).unwrap()
        }
    }
    tree
}

/// The bits of the usage of every node, by name.
fn usage(tree: &ShareTree) -> Vec<(String, [u64; 2])> {
    let bits = |node| [tree.usage(node).to_bits(), tree.own_usage(node).to_bits()];
    tree.nodes()
        .map(|node| (tree.name(node).to_owned(), bits(node)))
        .collect()
}

#[test]
fn a_rebuild_that_changes_nothing_keeps_every_bit() {
    let mut random = Generator(7);
    for round in 0..400 {
        let mut tree = random_tree(&mut random, round % 2 == 0);
        let before = (usage(&tree), tree.is_summed());
        tree.rebuild(|_| Ok(())).unwrap();
        assert_eq!((usage(&tree), tree.is_summed()), before);
        // a node that comes and goes at once leaves no trace either
        tree.rebuild(|builder| {
            let guest = builder.add(builder.root(), Member::entity("guest").usage(0.1))?;
            builder.charge(guest, 0.3)?;
            builder.remove(guest)
        })
        .unwrap();
        assert_eq!((usage(&tree), tree.is_summed()), before);
    }
}

#[test]
fn a_rebuild_changes_the_usage_above_what_came_or_went() {
    let mut random = Generator(11);
    for round in 0..2000 {
        let mut tree = random_tree(&mut random, round % 2 == 0);
        let before = tree.clone();
        let nodes: Vec<NodeId> = tree.nodes().collect();
        let groups: Vec<NodeId> = nodes
            .iter()
            .copied()
            .filter(|&node| tree.kind(node) != NodeKind::Entity)
            .collect();
        let parent = random.pick(&groups);
        let mut removed = random.pick(&nodes);
        if removed == parent || tree.ancestors(parent).any(|above| above == removed) {
            removed = tree.root();
        }
        tree.rebuild(|builder| {
            builder.add(parent, Member::entity("new").usage(20.5))?;
            if removed == builder.root() {
                Ok(())
            } else {
                builder.remove(removed)
            }
        })
        .unwrap();
        let new = tree.find("new").unwrap();
        assert_eq!(
            (tree.usage(new), tree.is_summed()),
            (20.5, before.is_summed())
        );
        for &node in &nodes {
            let Some(kept) = tree.find(before.name(node)) else {
                continue;
            };
            let has = |changed: NodeId| {
                node == changed || before.ancestors(changed).any(|above| above == node)
            };
            let gone = if removed != tree.root() && has(removed) {
                own_usage_below(&before, removed)
            } else {
                0.0
            };
            let came = if has(parent) { 20.5 } else { 0.0 };
            let (usage, expected) = (tree.usage(kept), before.usage(node) + came - gone);
            if came == 0.0 && gone == 0.0 {
                assert_eq!(usage.to_bits(), before.usage(node).to_bits());
            } else {
                let least = if before.is_summed() { 0.0 } else { 1.0 };
                assert!(
                    (usage - expected.max(least)).abs() < 1e-9,
                    "{usage}, expected {expected}"
                );
            }
        }
    }
}

/// The usage charged to a node and to all nodes below it.
fn own_usage_below(tree: &ShareTree, top: NodeId) -> f64 {
    let nodes = tree
        .nodes()
        .filter(|&node| node == top || tree.ancestors(node).any(|above| above == top));
    nodes.map(|node| tree.own_usage(node)).sum()
}
