//! A [`ShareTree`] enters, one [`EntityShares`] per node leaves: the published policies, and the
//! traits by which an embedding scheduler supplies its own.
//!
//! Every published policy has a file here, with the rules of its document and, where they differ,
//! those of the daemon. A policy sees nothing but the tree.
//!
//! | policy | document |
//! |---|---|
//! | [`documented_openpbs`], and as the scheduler computes it [`openpbs`] | OpenPBS, PP-718 |
//! | [`classic`] | Slurm, "Classic Fairshare Algorithm" |
//! | [`depth_oblivious`] | Slurm, "Depth-Oblivious Fair-share Factor" |
//! | [`ticket_based`] | Slurm, "Ticket-Based Multifactor Priority Plugin" |
//! | [`fair_tree`] | Slurm, "Fair Tree Fairshare Algorithm" |
//! | [`weighted_walk`] | flux-accounting, "Fair-share" |

pub mod classic;
pub mod depth_oblivious;
pub mod documented_openpbs;
pub mod fair_tree;
pub mod normalization;
pub mod openpbs;
mod slurm_associations;
pub mod ticket_based;
pub mod weighted_walk;

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};

use crate::fairshare::{NodeId, NodeKind, ShareTree, TreeError};
use crate::printing;

pub use slurm_associations::{AssociationShares, PolicyRules, Release, stored_shares};

/// The fair-share numbers of an entity, as a formula sees them.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub struct EntityShares {
    /// The fraction of the whole machine that the entity's shares give it, 0..=1.
    pub fairshare_perc: f64,
    /// The usage that counts against the entity, weighted by the usage of the groups above it,
    /// 0..=1.
    pub fairshare_tree_usage: f64,
    /// The factor that orders entities, 0..=1, higher the further usage is below the shares; 0.5 is
    /// on target under PP-718.
    pub fairshare_factor: f64,
}

impl EntityShares {
    /// The three numbers in the order of the fields.
    ///
    /// # Errors
    /// One is not in 0..=1.
    pub fn new(
        fairshare_perc: f64,
        fairshare_tree_usage: f64,
        fairshare_factor: f64,
    ) -> Result<Self, TreeError> {
        for (name, value) in [
            ("fairshare_perc", fairshare_perc),
            ("fairshare_tree_usage", fairshare_tree_usage),
            ("fairshare_factor", fairshare_factor),
        ] {
            if !(0.0..=1.0).contains(&value) {
                return TreeError::invalid(format!(
                    "`{name}` is {value}, expected a number from 0 to 1"
                ));
            }
        }
        Ok(Self::from_policy(
            fairshare_perc,
            fairshare_tree_usage,
            fairshare_factor,
        ))
    }

    /// The numbers as OpenPBS's scheduler prints them for a formula: with six decimals. A scheduler
    /// that wants OpenPBS's scores to the bit ranks with these; the policies compute all digits.
    #[must_use]
    pub fn printed(self) -> Self {
        Self {
            fairshare_perc: printing::fairshare(self.fairshare_perc),
            fairshare_tree_usage: printing::fairshare(self.fairshare_tree_usage),
            fairshare_factor: printing::fairshare(self.fairshare_factor),
        }
    }

    /// The numbers that a policy computes from any tree, some of which leave the range.
    pub(crate) fn from_policy(
        fairshare_perc: f64,
        fairshare_tree_usage: f64,
        fairshare_factor: f64,
    ) -> Self {
        // a ticket-based factor of a user with `FairShare=parent` may exceed 1
        Self {
            fairshare_perc,
            fairshare_tree_usage,
            fairshare_factor,
        }
    }
}

/// A source of fair-share numbers: implement it to rank jobs with your own accounting.
///
/// ```
/// use job_sort_formula::fairshare::{EntityShares, FairShare};
///
/// /// Every entity has the same factor, except for those over their quota.
/// struct Quota { exceeded: Vec<String> }
///
/// impl FairShare for Quota {
///     fn shares_of(&self, entity: &str) -> Option<EntityShares> {
///         let factor = if self.exceeded.iter().any(|name| name == entity) { 0.25 } else { 0.5 };
///         EntityShares::new(0.1, 0.1, factor).ok()
///     }
/// }
///
/// let backend: Box<dyn FairShare> = Box::new(Quota { exceeded: vec!["Bob".into()] });
/// assert_eq!(backend.shares_of("Bob").map(|shares| shares.fairshare_factor), Some(0.25));
/// ```
pub trait FairShare {
    /// The numbers of the entity of a job, `None` for an unknown entity. May be called once per
    /// job.
    fn shares_of(&self, entity: &str) -> Option<EntityShares>;
}

/// Ready-made numbers by entity.
impl<K: Borrow<str> + Eq + Hash, S: BuildHasher> FairShare for HashMap<K, EntityShares, S> {
    fn shares_of(&self, entity: &str) -> Option<EntityShares> {
        self.get(entity).copied()
    }
}

/// Assesses a tree: computes the shares of every node, which are its percentage, usage and factors.
///
/// The same tree must always give the same shares, and a tree of any depth must work: parents come
/// before children, so that a loop over [`ShareTree::nodes`] needs no recursion.
pub trait Policy {
    /// Computes the shares of every node.
    fn assess(&self, tree: &ShareTree) -> ShareTable;
}

/// One [`EntityShares`] per node of a tree and, under a Slurm policy, its [`AssociationShares`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ShareTable {
    rows: Vec<EntityShares>,
    associations: Vec<AssociationShares>,
    /// Whether a job whose entity has the name of a group gets the shares of the group.
    groups_have_jobs: bool,
}

impl ShareTable {
    fn with_capacity(nodes: usize) -> Self {
        Self {
            rows: Vec::with_capacity(nodes),
            associations: Vec::with_capacity(nodes),
            groups_have_jobs: false,
        }
    }

    /// Adds the numbers of the next node, in the order of [`ShareTree::nodes`].
    fn push(&mut self, (shares, association): (EntityShares, AssociationShares)) {
        self.rows.push(shares);
        self.associations.push(association);
    }

    /// The shares, of which jobs get those of groups, too.
    fn with_jobs_of_groups(self) -> Self {
        Self {
            groups_have_jobs: true,
            ..self
        }
    }

    /// The shares of a node; `None` if the policy computed none for it.
    pub fn get(&self, node: NodeId) -> Option<EntityShares> {
        self.rows.get(node.index()).copied()
    }

    /// The columns of Slurm's `sshare` for a node; `None` under a policy without them.
    pub fn association(&self, node: NodeId) -> Option<AssociationShares> {
        self.associations.get(node.index()).copied()
    }
}

/// In the order of [`ShareTree::nodes`].
impl FromIterator<EntityShares> for ShareTable {
    fn from_iter<I: IntoIterator<Item = EntityShares>>(rows: I) -> Self {
        Self {
            rows: rows.into_iter().collect(),
            ..Self::default()
        }
    }
}

/// A tree, and the shares that a policy computed for its nodes.
#[derive(Debug, Clone)]
pub struct AssessedTree {
    tree: ShareTree,
    shares: ShareTable,
}

impl AssessedTree {
    /// Computes the shares of the tree once, by [`Policy::assess`].
    pub fn new(tree: ShareTree, policy: &(impl Policy + ?Sized)) -> Self {
        let shares = policy.assess(&tree);
        Self { tree, shares }
    }

    /// The tree.
    pub fn tree(&self) -> &ShareTree {
        &self.tree
    }

    /// The shares of every node.
    pub fn shares(&self) -> &ShareTable {
        &self.shares
    }

    /// Changes the tree, and computes the shares of all nodes again: once for all that `change`
    /// does. Returns what `change` returns.
    ///
    /// ```
    /// use job_sort_formula::fairshare::{AssessedTree, DocumentedOpenPbs, FairShare, Member, TreeBuilder, TreeError};
    ///
    /// struct Scheduler {
    ///     fairshare: AssessedTree,
    /// }
    ///
    /// impl Scheduler {
    ///     fn finish_job(&mut self, entity: &str, cpu_seconds: f64) -> Result<(), TreeError> {
    ///         self.fairshare.update(&DocumentedOpenPbs, |tree| match tree.find(entity) {
    ///             Some(node) => tree.charge(node, cpu_seconds),
    ///             None => {
    ///                 let member = Member::entity(entity).shares(40).usage(cpu_seconds);
    ///                 tree.add(tree.root(), member).map(drop)
    ///             }
    ///         })
    ///     }
    /// }
    ///
    /// let mut builder = TreeBuilder::new("root");
    /// builder.add_under("root", Member::entity("ada").shares(60))?;
    /// let mut scheduler = Scheduler { fairshare: AssessedTree::new(builder.finish(), &DocumentedOpenPbs) };
    /// scheduler.finish_job("ada", 30.0)?;
    /// scheduler.finish_job("emmy", 10.0)?;
    /// let emmy = scheduler.fairshare.shares_of("emmy").expect("emmy is in the tree");
    /// assert_eq!((emmy.fairshare_perc, emmy.fairshare_tree_usage), (0.4, 0.25));
    /// # Ok::<(), TreeError>(())
    /// ```
    pub fn update<R>(
        &mut self,
        policy: &(impl Policy + ?Sized),
        change: impl FnOnce(&mut ShareTree) -> R,
    ) -> R {
        let result = change(&mut self.tree);
        // of all nodes: the usage of each is a part of the usage of the whole tree
        self.shares = policy.assess(&self.tree);
        result
    }

    /// The tree, to change it and assess it again.
    pub fn into_tree(self) -> ShareTree {
        self.tree
    }
}

/// Entities are found by name if it is unique, else by `group/entity`: see [`ShareTree::resolve`].
/// An association with a partition is found by its full name, `user:partition`, only.
///
/// The root and the groups are not entities: a user `root` who is not in the tree has no shares.
/// Under [`OpenPbs`](openpbs::OpenPbs) a user with the name of a group gets the group's, because
/// the scheduler looks a job's entity up among all nodes; its root has the name `TREEROOT`, which
/// no user has.
impl FairShare for AssessedTree {
    fn shares_of(&self, entity: &str) -> Option<EntityShares> {
        let node = self.tree.resolve(entity)?;
        let has_jobs = match self.tree.kind(node) {
            NodeKind::Root => false,
            NodeKind::Group => self.shares.groups_have_jobs,
            NodeKind::Entity => true,
        };
        self.shares.get(node).filter(|_| has_jobs)
    }
}

/// The shares of the node of this name, which may be a group.
#[cfg(test)]
pub(crate) fn shares_of_node(assessed: &AssessedTree, name: &str) -> EntityShares {
    let node = assessed.tree.resolve(name).expect("in the tree");
    assessed.shares.get(node).expect("every node has shares")
}

/// The example of Slurm's documents: two accounts with two accounts each, and five users. Its usage
/// sums to 0.7 of the machine, so the root has the rest as its own.
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
