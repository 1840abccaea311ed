//! What a policy makes of a tree, and the door through which an embedding scheduler supplies its own numbers.
//!
//! Every published policy has a file here, with what its document says and, where that differs, what the daemon does.
//! A policy sees nothing but the tree.
//!
//! | policy | document |
//! |---|---|
//! | [`pbs`] | OpenPBS, PP-718 |
//! | [`classic`] | Slurm, "Classic Fairshare Algorithm" |
//! | [`depth_oblivious`] | Slurm, "Depth-Oblivious Fair-share Factor" |
//! | [`ticket_based`] | Slurm, "Ticket-Based Multifactor Priority Plugin" |
//! | [`fair_tree`] | Slurm, "Fair Tree Fairshare Algorithm" |
//! | [`weighted_walk`] | flux-accounting, "Fair-share" |

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};
use std::sync::Arc;

use crate::fairshare::tree::{NodeId, ShareTree};

mod association;
pub mod classic;
pub mod depth_oblivious;
pub mod fair_tree;
mod levels;
mod lists;
mod measure;
pub mod pbs;
pub mod ticket_based;
mod walk;
pub mod weighted_walk;

pub use association::{AssociationShares, Release, Rules, stored_shares};

/// What a formula may ask about the entity of a job.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct EntityShares {
    /// The part of the whole machine that the entity is allotted, 0..=1. Higher is more.
    pub fairshare_perc: f64,
    /// The usage that counts against the entity, its place in the tree allowed for, 0..=1. Higher is less deserving.
    pub fairshare_tree_usage: f64,
    /// How deserving the entity is, 0..=1. Higher is more deserving; 0.5 is on target under PP-718.
    pub fairshare_factor: f64,
}

impl EntityShares {
    /// The three numbers in the order in which the struct has them.
    pub fn new(fairshare_perc: f64, fairshare_tree_usage: f64, fairshare_factor: f64) -> Self {
        Self { fairshare_perc, fairshare_tree_usage, fairshare_factor }
    }
}

/// A source of fair-share numbers: implement this to feed a ranking from accounting of your own.
///
/// ```
/// use job_sort_formula::fairshare::{EntityShares, FairShare};
///
/// /// Everybody has the same, except for those who were naughty.
/// struct Teacher { naughty: Vec<String> }
///
/// impl FairShare for Teacher {
///     fn shares_of(&self, entity: &str) -> Option<EntityShares> {
///         let factor = if self.naughty.iter().any(|name| name == entity) { 0.25 } else { 0.5 };
///         Some(EntityShares::new(0.1, 0.1, factor))
///     }
/// }
///
/// let backend: Box<dyn FairShare> = Box::new(Teacher { naughty: vec!["Bob".into()] });
/// assert_eq!(backend.shares_of("Bob").map(|shares| shares.fairshare_factor), Some(0.25));
/// ```
pub trait FairShare {
    /// The numbers of the entity that a job belongs to, `None` if nothing is known of it. It may be asked once
    /// per job.
    fn shares_of(&self, entity: &str) -> Option<EntityShares>;
}

impl<T: FairShare + ?Sized> FairShare for &T {
    fn shares_of(&self, entity: &str) -> Option<EntityShares> {
        (**self).shares_of(entity)
    }
}

impl<T: FairShare + ?Sized> FairShare for Box<T> {
    fn shares_of(&self, entity: &str) -> Option<EntityShares> {
        (**self).shares_of(entity)
    }
}

impl<T: FairShare + ?Sized> FairShare for Arc<T> {
    fn shares_of(&self, entity: &str) -> Option<EntityShares> {
        (**self).shares_of(entity)
    }
}

/// Ready-made numbers by entity.
impl<K: Borrow<str> + Eq + Hash, S: BuildHasher> FairShare for HashMap<K, EntityShares, S> {
    fn shares_of(&self, entity: &str) -> Option<EntityShares> {
        self.get(entity).copied()
    }
}

/// A rule that gives every node of a tree its numbers.
///
/// The same tree must always give the same numbers, and a tree of any depth must work: nodes come parents first, so
/// a loop over [`ShareTree::nodes`] needs no recursion.
pub trait Policy {
    /// The policy's name, as a user would type it: lower case, words joined by `-`.
    fn name(&self) -> &str;

    /// The numbers of every node.
    fn assess(&self, tree: &ShareTree) -> TreeShares;
}

impl<T: Policy + ?Sized> Policy for &T {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn assess(&self, tree: &ShareTree) -> TreeShares {
        (**self).assess(tree)
    }
}

impl<T: Policy + ?Sized> Policy for Box<T> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn assess(&self, tree: &ShareTree) -> TreeShares {
        (**self).assess(tree)
    }
}

/// A column with one [`EntityShares`] per node of a tree, and what else the policy has to show of the node.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TreeShares {
    rows: Vec<EntityShares>,
    associations: Vec<association::Packed>,
}

impl TreeShares {
    /// The numbers of a node; `None` when the policy gave that node none.
    pub fn of(&self, node: NodeId) -> Option<EntityShares> {
        self.rows.get(node.index()).copied()
    }

    /// What Slurm's `sshare` would show of a node; `None` under a policy that is not of that kind.
    pub fn association(&self, node: NodeId) -> Option<AssociationShares> {
        self.associations.get(node.index()).map(|&packed| packed.into())
    }
}

/// In the order of [`ShareTree::nodes`].
impl FromIterator<EntityShares> for TreeShares {
    fn from_iter<I: IntoIterator<Item = EntityShares>>(rows: I) -> Self {
        Self { rows: rows.into_iter().collect(), associations: Vec::new() }
    }
}

/// In the order of [`ShareTree::nodes`].
impl FromIterator<(EntityShares, AssociationShares)> for TreeShares {
    fn from_iter<I: IntoIterator<Item = (EntityShares, AssociationShares)>>(rows: I) -> Self {
        let rows = rows.into_iter();
        let (expected, _) = rows.size_hint();
        let mut shares = Self { rows: Vec::with_capacity(expected), associations: Vec::with_capacity(expected) };
        for (row, association) in rows {
            shares.rows.push(row);
            shares.associations.push(association.into());
        }
        shares
    }
}

/// A tree and what a policy made of it: the [`FairShare`] of a tree that stands still.
#[derive(Debug, Clone)]
pub struct Assessed {
    tree: ShareTree,
    shares: TreeShares,
}

impl Assessed {
    /// Assesses a tree, once.
    pub fn new(tree: ShareTree, policy: &(impl Policy + ?Sized)) -> Self {
        let shares = policy.assess(&tree);
        Self { tree, shares }
    }

    /// The tree.
    pub fn tree(&self) -> &ShareTree {
        &self.tree
    }

    /// The numbers of every node.
    pub fn shares(&self) -> &TreeShares {
        &self.shares
    }

    /// The tree back, to change it and to assess it again.
    pub fn into_tree(self) -> ShareTree {
        self.tree
    }
}

/// Entities are found by name where it is unique, else as `group/entity`: see [`ShareTree::meant_by`]. An association
/// that is bound to a partition is only found by its full name, `user:partition`.
impl FairShare for Assessed {
    fn shares_of(&self, entity: &str) -> Option<EntityShares> {
        self.shares.of(self.tree.meant_by(entity)?)
    }
}

/// The example of Slurm's documents: two accounts with two accounts each, and five users. Its usage sums to 0.7 of the
/// machine's, so the root has the rest.
#[cfg(test)]
fn worked_example() -> ShareTree {
    use crate::fairshare::{Member, TreeBuilder};

    let mut builder = TreeBuilder::new("root");
    builder.charge(builder.root(), 0.3).expect("sound");
    for (parent, member) in [
        ("root", Member::group("A").shares(40)),
        ("root", Member::group("D").shares(60)),
        ("A", Member::group("B").shares(30)),
        ("A", Member::group("C").shares(10)),
        ("D", Member::group("E").shares(25)),
        ("D", Member::group("F").shares(35)),
        ("B", Member::entity("User1").usage(0.2)),
        ("C", Member::entity("User2").usage(0.25)),
        ("C", Member::entity("User3")),
        ("E", Member::entity("User4").usage(0.25)),
        ("F", Member::entity("User5")),
    ] {
        builder.add_under(parent, member).expect("sound");
    }
    builder.finish()
}
