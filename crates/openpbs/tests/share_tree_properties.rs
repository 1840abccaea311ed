//! Properties of PP-718's shares on random trees, and of OpenPBS's readers on random files.

use job_sort_formula::fairshare::{
    AssessedTree, DocumentedOpenPbs, FairShare, Member, NodeKind, PolicyRules,
};
use jsf_openpbs::{PbsTree, ResourceGroup, SchedConfig, UsageFile};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::trees::{Node, build, permute};

/// A node: which of the groups above it is its parent, whether it is a group, its shares and its
/// usage.
type Sketch = Vec<(prop::sample::Index, bool, i64, u32)>;

fn sketch() -> impl Strategy<Value = Sketch> {
    vec(
        (
            any::<prop::sample::Index>(),
            any::<bool>(),
            1i64..1000,
            0u32..1_000_000,
        ),
        1..60,
    )
}

/// Every group has an entity of its own, so that all shares reach entities.
fn members(sketch: &Sketch) -> Vec<Node> {
    let mut groups = vec!["root".to_owned()];
    let mut members = Vec::new();
    for (i, (parent, is_group, shares, usage)) in sketch.iter().enumerate() {
        let above = parent.get(&groups).clone();
        let name = format!("n{i}");
        let member = if *is_group {
            Member::group(name.as_str())
        } else {
            Member::entity(name.as_str())
        };
        members.push((
            name.clone(),
            above,
            member.shares(*shares).usage(f64::from(*usage)),
        ));
        if *is_group {
            members.push((
                format!("own{i}"),
                name.clone(),
                Member::entity(format!("own{i}")),
            ));
            groups.push(name);
        }
    }
    members
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_percentages_of_all_entities_sum_to_1(sketch in sketch()) {
        let assessed = AssessedTree::new(build(&members(&sketch)), &DocumentedOpenPbs);
        let tree = assessed.tree();
        let entities = tree.nodes().filter(|&node| tree.kind(node) == NodeKind::Entity);
        let sum: f64 = entities.filter_map(|node| assessed.shares().get(node)).map(|row| row.fairshare_perc).sum();
        prop_assert!((sum - 1.0).abs() < 1e-12, "{sum}");
    }

    #[test]
    fn all_numbers_are_within_0_and_1(sketch in sketch()) {
        let assessed = AssessedTree::new(build(&members(&sketch)), &DocumentedOpenPbs);
        for node in assessed.tree().nodes() {
            let row = assessed.shares().get(node).expect("every node has shares");
            for number in [row.fairshare_perc, row.fairshare_tree_usage, row.fairshare_factor] {
                prop_assert!((0.0..=1.0 + 1e-12).contains(&number), "{row:?}");
            }
        }
    }

    #[test]
    fn the_order_of_siblings_does_not_matter(sketch in sketch(), keys in vec(any::<u32>(), 1..20)) {
        let members = members(&sketch);
        let one = AssessedTree::new(build(&members), &DocumentedOpenPbs);
        let other = AssessedTree::new(build(&permute(&members, &keys)), &DocumentedOpenPbs);
        for (name, _, _) in &members {
            let [one, other] = [&one, &other].map(|of| of.shares().get(of.tree().find(name).expect("in the tree")));
            prop_assert_eq!(one, other);
        }
    }

    #[test]
    fn more_usage_never_raises_the_factor(sketch in sketch(), which in any::<prop::sample::Index>(), more in 0u32..10_000_000) {
        let members = members(&sketch);
        let before = AssessedTree::new(build(&members), &DocumentedOpenPbs);
        let name = &which.get(&members).0;
        let mut tree = before.tree().clone();
        let node = tree.find(name).expect("in the tree");
        tree.charge(node, f64::from(more)).expect("a usage");
        let after = AssessedTree::new(tree, &DocumentedOpenPbs);
        let factor = |of: &AssessedTree| of.shares().get(node).expect("a row").fairshare_factor;
        prop_assert!(factor(&after) <= factor(&before) + 1e-12, "{} > {}", factor(&after), factor(&before));
    }

    #[test]
    fn random_files_give_a_complete_tree(
        lines in prop_oneof![vec(any::<u8>(), 0..600), file_like()],
        usage in prop_oneof![vec(any::<u8>(), 0..600), usage_like()],
        config in prop_oneof![vec(any::<u8>(), 0..600), config_like()],
        jobs in vec("[a-d]?", 0..4),
    ) {
        let (lines, config) = (ResourceGroup::parse(&lines), SchedConfig::parse(&config));
        let usage = UsageFile::parse(&usage);
        for rules in [PolicyRules::Scheduler, PolicyRules::Documented] {
            let document = lines.document(Some(&usage), config.unknown_shares);
            let tree = PbsTree::build(&document, rules, &jobs).expect("small enough");
            prop_assert_eq!(tree.daemon_order().count(), tree.tree().len());
            for job in &jobs {
                prop_assert!(tree.shares_of(job).is_some(), "every job's entity is in the tree");
            }
        }
    }
}

/// A `resource_group` whose lines are almost valid.
fn file_like() -> impl Strategy<Value = Vec<u8>> {
    let line = "[a-d] (-?[0-9]{1,20}|x) (root|TREEROOT|unknown|[a-d]) -?[0-9]{1,11}[ \r]?\n";
    vec(line, 0..12).prop_map(|lines| lines.concat().into_bytes())
}

/// A usage file, possibly truncated, with any usage.
fn usage_like() -> impl Strategy<Value = Vec<u8>> {
    (vec(("[a-d]{0,2}", any::<f64>()), 0..6), 0usize..70).prop_map(|(records, cut)| {
        let mut file = [
            b"PBS_MAG!\0\0\0\0\0\0\0\0".as_slice(),
            &2f64.to_le_bytes(),
            &[9; 8],
        ]
        .concat();
        for (name, usage) in records {
            let mut field = name.into_bytes();
            field.resize(56, 0);
            file.extend(field.into_iter().chain(usage.to_le_bytes()));
        }
        file.truncate(file.len().saturating_sub(cut));
        file
    })
}

fn config_like() -> impl Strategy<Value = Vec<u8>> {
    let line = "(unknown_shares|fair_share|job_sort_key|fairshare_decay_time) ?: ?\"?[a-z0-9:.-]{0,22}\"? ?(ALL|prime)?\n";
    vec(line, 0..6).prop_map(|lines| lines.concat().into_bytes())
}
