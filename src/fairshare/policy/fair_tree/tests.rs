use crate::fairshare::policy::fair_tree::*;
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

/// The document's users: the first common ancestor of `UserA` and `UserB` is `Acct1`; the higher of
/// the `Level FS` of `Acct12` and `Acct16` decides, however little the other user himself has used.
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

/// The document merges the lists of tied accounts; the daemons walk one after the other, in their
/// order.
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
        let assessed = AssessedTree::new(TreeBuilder::new("root").finish(), &FairTree::new(rules));
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
