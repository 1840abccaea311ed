//! The fair-share tree: shares and usage of groups and entities, and the numbers that published
//! policies compute.
//!
//! Names, shares and usage enter through a [`TreeBuilder`], or as a
//! [`TreeDocument`](tree_document::TreeDocument) that a reader of files returns, and become a
//! [`ShareTree`]. A [`Policy`] computes [`ShareTable`] from the tree, one [`EntityShares`] per
//! node. A ranking asks a [`FairShare`] for the numbers of one entity and sees neither tree nor
//! policy: a scheduler with its own accounting implements that trait.
//!
//! ```
//! use job_sort_formula::fairshare::{AssessedTree, FairShare, Member, TreeBuilder};
//! use job_sort_formula::fairshare::DocumentedOpenPbs;
//!
//! let mut builder = TreeBuilder::new("root");
//! let group = builder.add(builder.root(), Member::group("group1").shares(40))?;
//! builder.add(group, Member::entity("Bob").shares(50).usage(100.0))?;
//! builder.add(group, Member::entity("Cathy").shares(50).usage(100.0))?;
//! builder.add(builder.root(), Member::entity("Suzy").shares(60).usage(1000.0))?;
//!
//! let fairshare = AssessedTree::new(builder.finish(), &DocumentedOpenPbs);
//! let bob = fairshare.shares_of("Bob").expect("Bob is in the tree");
//! assert_eq!(bob.fairshare_perc, 0.2);
//! # Ok::<(), job_sort_formula::fairshare::TreeError>(())
//! ```

pub mod decay;
pub mod policy;
mod tree;
pub mod tree_document;
pub mod x87;

pub use policy::classic::Classic;
pub use policy::depth_oblivious::DepthOblivious;
pub use policy::documented_openpbs::DocumentedOpenPbs;
pub use policy::fair_tree::FairTree;
pub use policy::openpbs::OpenPbs;
pub use policy::stored_shares;
pub use policy::ticket_based::TicketBased;
pub use policy::weighted_walk::WeightedWalk;
pub use policy::{
    AssessedTree, AssociationShares, EntityShares, FairShare, Policy, PolicyRules, Release,
    ShareTable,
};
pub use tree::{Member, Naming, NodeId, NodeKind, ShareTree, Shares, TreeBuilder, TreeError};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairshare::policy::documented_openpbs::DocumentedOpenPbs;
    use crate::fairshare::policy::shares_of_node;

    /// The worked example at the end of PP-718.
    fn worked_example() -> TreeBuilder {
        let mut builder = TreeBuilder::new("root");
        for (parent, member) in [
            ("root", Member::group("group1").shares(40)),
            ("root", Member::group("group2").shares(60)),
            ("group1", Member::entity("Bob").shares(50).usage(100.0)),
            ("group1", Member::entity("Cathy").shares(50).usage(100.0)),
            ("group2", Member::entity("Suzy").shares(60)),
            ("group2", Member::entity("Scott").shares(40).usage(1000.0)),
        ] {
            builder.add_under(parent, member).expect("a sound example");
        }
        builder
    }

    #[test]
    fn the_worked_example_of_pp718_comes_out_to_the_printed_digits() {
        let assessed = AssessedTree::new(worked_example().finish(), &DocumentedOpenPbs);
        for (name, perc, tree_usage, factor) in [
            ("Bob", "0.20", "0.125", "0.648"),
            ("Suzy", "0.36", "0.500", "0.382"),
            ("group1", "0.40", "0.167", "0.749"),
        ] {
            let shares = shares_of_node(&assessed, name);
            assert_eq!(format!("{:.2}", shares.fairshare_perc), perc, "{name}");
            assert_eq!(
                format!("{:.3}", shares.fairshare_tree_usage),
                tree_usage,
                "{name}"
            );
            assert_eq!(format!("{:.3}", shares.fairshare_factor), factor, "{name}");
        }
        assert_eq!(
            format!(
                "{:.2}",
                assessed
                    .shares_of("Scott")
                    .expect("in the tree")
                    .fairshare_perc
            ),
            "0.24"
        );
        let tree = assessed.tree();
        assert_eq!(tree.usage(tree.root()), 1200.0);
        assert_eq!(
            tree.path(tree.find("Bob").expect("in the tree")),
            ["group1", "Bob"]
        );
    }

    #[test]
    fn without_shares_or_usage_nothing_is_divided_by_zero() {
        let mut builder = TreeBuilder::new("root");
        let idle = builder
            .add(builder.root(), Member::group("idle").shares(0))
            .expect("sound");
        builder
            .add(idle, Member::entity("a").shares(5))
            .expect("sound");
        builder
            .add(builder.root(), Member::entity("b").shares(1))
            .expect("sound");
        let assessed = AssessedTree::new(builder.finish(), &DocumentedOpenPbs);
        assert_eq!(
            assessed.shares_of("a"),
            Some(EntityShares::from_policy(0.0, 0.0, 0.0))
        );
        assert_eq!(
            assessed.shares_of("b"),
            Some(EntityShares::from_policy(1.0, 0.0, 1.0))
        );
        assert_eq!(assessed.shares_of("nobody"), None);
    }

    #[test]
    fn a_node_with_fairshare_parent_has_its_parents_numbers() {
        let mut builder = worked_example();
        builder
            .add_under("group1", Member::entity("Paul").shares_of_parent())
            .expect("sound");
        let assessed = AssessedTree::new(builder.finish(), &DocumentedOpenPbs);
        assert_eq!(
            assessed.shares_of("Paul"),
            Some(shares_of_node(&assessed, "group1"))
        );
        assert_eq!(
            assessed.shares_of("Bob").map(|bob| bob.fairshare_perc),
            Some(0.2)
        );
    }

    #[test]
    fn the_builder_reports_what_is_wrong() {
        let mut builder = worked_example();
        let dan = Member::entity("Dan");
        for (parent, member, expected) in [
            (
                "group2",
                Member::entity("Bob"),
                "`Bob` is already in the tree, under `group1`",
            ),
            (
                "group3",
                dan.clone(),
                "`Dan` cannot be added: its parent `group3` is not in the tree",
            ),
            (
                "Bob",
                dan.clone(),
                "`Dan` cannot be added: its parent `Bob` is an entity, not a group",
            ),
            (
                "root",
                dan.clone().shares(-3),
                "`Dan` has negative shares, -3",
            ),
            (
                "root",
                dan.clone().usage(-1.0),
                "`Dan` has a usage of -1, which is not a finite number of at least 0",
            ),
            (
                "root",
                dan.clone().usage(f64::NAN),
                "`Dan` has a usage of NaN, which is not a finite number of at least 0",
            ),
            (
                "root",
                dan.usage(f64::INFINITY),
                "`Dan` has a usage of inf, which is not a finite number of at least 0",
            ),
        ] {
            assert_eq!(
                builder
                    .add_under(parent, member)
                    .expect_err("unsound")
                    .to_string(),
                expected
            );
        }
        let second_root = builder
            .add_under("root", Member::group("root"))
            .expect_err("unsound");
        assert!(second_root.to_string().contains("already in the tree"));
        builder
            .add_under("root", Member::entity("Dan"))
            .expect("a refused name is still free");
    }

    #[test]
    fn users_may_share_a_name_if_their_accounts_differ() {
        let mut builder = TreeBuilder::new("root").naming(Naming::PerGroup);
        let root_user = builder
            .add(builder.root(), Member::entity("root"))
            .expect("a user `root` is no account");
        let a = builder
            .add(builder.root(), Member::group("a"))
            .expect("sound");
        let b = builder.add_under("a", Member::group("b")).expect("sound");
        let in_a = builder
            .add(a, Member::entity("ann").usage(1.0))
            .expect("sound");
        let in_b = builder
            .add_under("b", Member::entity("ann").usage(2.0))
            .expect("sound");
        builder
            .add(b, Member::entity("b"))
            .expect("a user may be named like an account");
        assert!(builder.add(b, Member::entity("ann")).is_err());
        assert!(builder.add(a, Member::group("root")).is_err());
        let mut tree = builder.finish();
        assert_eq!(tree.find("ann"), None);
        assert_eq!(tree.named("ann").collect::<Vec<_>>(), [in_b, in_a]);
        assert_eq!(tree.find_in(a, "ann"), Some(in_a));
        assert_eq!(tree.parent(root_user), Some(tree.root()));
        tree.charge(in_b, 4.0).expect("a usage");
        assert_eq!(
            (tree.usage(b), tree.usage(a), tree.own_usage(in_b)),
            (6.0, 7.0, 6.0)
        );
        tree.decay(0.5).unwrap();
        let bits = tree.usage(tree.root()).to_bits();
        for factor in [f64::NAN, -0.5, 1.5, f64::INFINITY] {
            assert!(
                matches!(tree.decay(factor), Err(TreeError::Invalid(_))),
                "{factor}"
            );
        }
        assert_eq!(tree.usage(tree.root()).to_bits(), bits);
        assert_eq!(tree.usage(tree.root()), 3.5);
        let assessed = AssessedTree::new(tree, &DocumentedOpenPbs);
        assert_eq!(assessed.shares_of("b/ann"), assessed.shares().get(in_b));
    }

    #[test]
    fn huge_shares_do_not_overflow() {
        let mut builder = TreeBuilder::new("root");
        for name in ["a", "b", "c", "d"] {
            builder
                .add_under("root", Member::entity(name).shares(i64::MAX))
                .expect("sound");
        }
        let assessed = AssessedTree::new(builder.finish(), &DocumentedOpenPbs);
        assert_eq!(
            assessed.shares_of("d").map(|shares| shares.fairshare_perc),
            Some(0.25)
        );
    }

    #[test]
    fn a_chain_of_100_000_levels_works() {
        let mut builder = TreeBuilder::new("root");
        let mut at = builder.root();
        for level in 0..100_000 {
            at = builder
                .add(at, Member::group(format!("g{level}")))
                .expect("sound");
        }
        let leaf = builder
            .add(at, Member::entity("leaf").usage(7.0))
            .expect("sound");
        let assessed = AssessedTree::new(builder.finish(), &DocumentedOpenPbs);
        assert_eq!(
            assessed.shares().get(leaf),
            Some(EntityShares::from_policy(1.0, 1.0, 0.5))
        );
        assert_eq!(assessed.tree().path(leaf).len(), 100_001);
    }

    #[test]
    fn a_million_entities_work() {
        let mut builder = TreeBuilder::new("root");
        let groups: Vec<NodeId> = (0..1000)
            .map(|group| {
                builder
                    .add(builder.root(), Member::group(format!("g{group}")))
                    .expect("sound")
            })
            .collect();
        for entity in 0..1_000_000u32 {
            let group = groups[entity as usize % 1000];
            builder
                .add(group, Member::entity(format!("e{entity}")).usage(1.0))
                .expect("sound");
        }
        let assessed = AssessedTree::new(builder.finish(), &DocumentedOpenPbs);
        let last = assessed.shares_of("e999999").expect("in the tree");
        assert!((last.fairshare_perc - 1e-6).abs() < 1e-18);
        assert!((last.fairshare_tree_usage - 1.999e-6).abs() < 1e-15);
    }

    /// Every account has a user of the same name, so a search that compares all of them would take the
    /// square of the accounts.
    #[test]
    fn a_user_is_found_by_account_among_200_000_namesakes() {
        const ACCOUNTS: usize = 200_000;
        let mut builder = TreeBuilder::new("root").naming(Naming::PerGroup);
        let mut users = Vec::new();
        for account in 0..ACCOUNTS {
            let group = builder
                .add_under("root", Member::group(format!("a{account}")))
                .expect("sound");
            users.push(builder.add(group, Member::entity("u")).expect("sound"));
        }
        let inner = builder
            .add_under("a7", Member::group("a7x"))
            .expect("sound");
        let nested = builder.add(inner, Member::entity("u")).expect("sound");
        let tree = builder.finish();
        for (account, user) in users.into_iter().enumerate() {
            assert_eq!(tree.resolve(&format!("a{account}/u")), Some(user));
            assert_eq!(tree.candidates(&format!("a{account}/u")), [user]);
        }
        assert_eq!(tree.resolve("a7/a7x/u"), Some(nested));
        assert_eq!(
            [
                tree.resolve("a8/a7x/u"),
                tree.resolve("a7/v"),
                tree.resolve("u")
            ],
            [None; 3]
        );
        assert_eq!(tree.find_in(inner, "u"), Some(nested));
    }

    #[test]
    fn only_entities_have_the_shares_of_a_job() {
        let assessed = AssessedTree::new(worked_example().finish(), &DocumentedOpenPbs);
        assert_eq!(
            ["root", "group1", "nobody"].map(|name| assessed.shares_of(name)),
            [None; 3]
        );
        // OpenPBS's scheduler looks a name up among all nodes
        let assessed = AssessedTree::new(worked_example().finish(), &OpenPbs);
        assert_eq!(
            assessed.shares_of("group1"),
            Some(shares_of_node(&assessed, "group1"))
        );
        assert_eq!(
            ["root", "nobody"].map(|name| assessed.shares_of(name)),
            [None; 2]
        );

        let mut builder = TreeBuilder::new("root").naming(Naming::PerGroup);
        let root = builder
            .add_under("root", Member::entity("root").shares(3))
            .expect("sound");
        let assessed = AssessedTree::new(builder.finish(), &DocumentedOpenPbs);
        assert_eq!(assessed.shares_of("root"), assessed.shares().get(root));
    }

    #[test]
    fn a_tree_to_which_a_node_is_added_is_the_one_that_is_built_with_it() {
        let member = Member::entity("Emmy").shares(3).usage(20.5);
        let mut builder = worked_example();
        let mut tree = builder.clone().finish();
        let group = tree.find("group1").expect("in the tree");
        let built = builder.add(group, member.clone()).expect("a new name");
        let built_tree = builder.finish();
        assert_eq!(tree.add(group, member.clone()), Ok(built));
        assert_eq!(OpenPbs.assess(&tree), OpenPbs.assess(&built_tree));
        for node in tree.nodes() {
            assert_eq!(tree.usage(node).to_bits(), built_tree.usage(node).to_bits());
        }
        assert_eq!(tree.children(group), built_tree.children(group));
        assert_eq!(tree.find_in(group, "Emmy"), Some(built));
        let refused = tree.add(group, member).expect_err("the name is taken");
        assert_eq!(
            refused.to_string(),
            "`Emmy` is already in the tree, under `group1`"
        );
        assert_eq!(
            (tree.len(), tree.find("Emmy")),
            (built_tree.len(), Some(built))
        );
    }

    #[test]
    fn usage_that_is_added_is_summed_as_in_a_tree_that_is_built() {
        let mut builder = TreeBuilder::new("root");
        for (name, usage) in [("ada", 0.1), ("emmy", 0.2)] {
            let member = Member::entity(name).usage(usage);
            builder.add_under("root", member).expect("a new name");
        }
        let member = Member::entity("grace").usage(0.3);
        let mut tree = builder.clone().finish();
        tree.add(tree.root(), member.clone()).expect("a new name");
        builder.add_under("root", member).expect("a new name");
        // from the first node on the sum is 0.6000000000000001
        assert_eq!(
            (tree.usage(tree.root()), builder.finish().usage(tree.root())),
            (0.6, 0.6)
        );
    }

    #[test]
    fn the_builder_refuses_nodes_that_it_does_not_have() {
        let mut larger = worked_example();
        let unknown = larger.find("Scott").expect("in the tree");
        let mut builder = TreeBuilder::new("root");
        let error = Err(unknown_node(unknown));
        assert_eq!(builder.charge(unknown, 1.0), error);
        assert_eq!(builder.clone().finish().charge(unknown, 1.0), error);
        assert!(builder.add(unknown, Member::entity("ann")).is_err());

        let nameless = larger
            .add_under("root", Member::entity(""))
            .expect_err("no name");
        assert_eq!(
            nameless.to_string(),
            "a node cannot be added under `root`: its name is empty"
        );
    }

    #[test]
    fn a_charge_that_overflows_changes_nothing() {
        let mut builder = TreeBuilder::new("root");
        let root = builder.root();
        let [ann, bob] =
            ["ann", "bob"].map(|name| builder.add(root, Member::entity(name)).expect("a new name"));
        let mut tree = builder.finish();
        tree.charge(ann, 1e308).expect("a usage");
        let refused = tree.charge(bob, 1e308);
        assert!(
            matches!(&refused, Err(error) if error.to_string().contains("would be infinite")),
            "{refused:?}"
        );
        assert_eq!(
            [tree.usage(bob), tree.own_usage(bob), tree.usage(root)],
            [0.0, 0.0, 1e308]
        );
    }

    fn unknown_node(node: NodeId) -> TreeError {
        TreeError::Invalid(format!("the tree has no node with the index {}", node.0))
    }
}
