//! The daemon's fair-share tree: its numbers, its order of nodes, and its comparison of two entities, which `pbsfs -c`
//! prints and the scheduler orders jobs by.
//!
//! In: a [`TreeDocument`](crate::fairshare::tree_document::TreeDocument) or the files of `sched_priv`, and the entities
//! of the jobs, through [`PbsTreeBuilder`]. Out: a [`PbsTree`]. Source of the comparison, in `tests/golden/openpbs`:
//! every `pbsfs -c` of `pbsfs/cases.jsonl`, and the orders under `fair_share` of `evaluate/orders.jsonl`.

mod builder;

use std::cmp::Ordering;

use crate::fairshare::{AssessedTree, EntityShares, FairShare, NodeId, Policy, ShareTree, TreeShares};
use crate::pbs::files::usage::{MIN_USAGE, encode_usage_file};
pub use builder::{PbsTreeBuilder, PbsTreeError};

/// The daemon's tree and the numbers of its nodes.
#[derive(Debug, Clone)]
pub struct PbsTree {
    assessed: AssessedTree,
    cgroups: Vec<i32>,
    unknown: NodeId,
}

impl PbsTree {
    /// The tree. Children are in file order; the daemon keeps and shows them in reverse.
    pub fn tree(&self) -> &ShareTree {
        self.assessed.tree()
    }

    /// The numbers of every node, not yet [printed with six decimals](crate::pbs::number_format::printed_fairshare).
    pub fn shares(&self) -> &TreeShares {
        self.assessed.shares()
    }

    /// The tree with its numbers.
    pub fn assessed(&self) -> &AssessedTree {
        &self.assessed
    }

    /// The same tree with other usage.
    pub(crate) fn with_usage_of(self, tree: ShareTree, policy: &dyn Policy) -> Self {
        Self { assessed: AssessedTree::new(tree, policy), ..self }
    }

    /// The group of the entities that are not in the document.
    pub fn unknown(&self) -> NodeId {
        self.unknown
    }

    /// The node's number in `resource_group`: 0 for the root, 1 for `unknown`, -1 for an entity in `unknown`.
    pub fn cgroup(&self, node: NodeId) -> i32 {
        self.cgroups[node.index()]
    }

    /// Every node in the daemon's order: a group before its children, siblings in reverse file order.
    pub fn daemon_order(&self) -> impl Iterator<Item = NodeId> + '_ {
        let mut waiting = vec![self.tree().root()];
        std::iter::from_fn(move || {
            let node = waiting.pop()?;
            waiting.extend_from_slice(self.tree().children(node));
            Some(node)
        })
    }

    /// Compares two nodes as `pbsfs -c` does: `Less` has the higher priority, that is, less usage for its percentage.
    pub fn compare(&self, left: NodeId, right: NodeId) -> Ordering {
        SharePath::from_root(self, left).compare(&SharePath::from_root(self, right))
    }
}

impl FairShare for PbsTree {
    fn shares_of(&self, entity: &str) -> Option<EntityShares> {
        self.tree().find(entity).and_then(|node| self.shares().get(node))
    }
}

/// The path from the child of the root down to an entity, with the percentage and the usage of each node.
#[derive(Debug, Clone, Default)]
pub(super) struct SharePath(Vec<Step>);

#[derive(Debug, Clone, Copy)]
struct Step {
    node: NodeId,
    perc: f64,
    usage: f64,
}

impl SharePath {
    pub(super) fn from_root(tree: &PbsTree, node: NodeId) -> Self {
        let shares = tree.tree();
        let below_root = std::iter::once(node).chain(shares.ancestors(node)).filter(|&node| node != shares.root());
        let step = |node| {
            let perc = tree.shares().get(node).map_or(0.0, |shares| shares.fairshare_perc);
            Step { node, perc, usage: shares.usage(node) }
        };
        let mut steps: Vec<_> = below_root.map(step).collect();
        steps.reverse();
        Self(steps)
    }

    /// `Less` sorts first. From the root downwards, the first pair of different nodes that does not tie decides. The
    /// paths are equal where one of them ends, so a group ties with all its descendants.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let pairs = self.0.iter().zip(&other.0).filter(|(left, right)| left.node != right.node);
        for (left, right) in pairs {
            let order = match (left.perc <= 0.0, right.perc <= 0.0) {
                (true, true) => return Ordering::Equal,
                (true, false) if right.perc > 0.0 => Some(Ordering::Greater),
                (false, true) if left.perc > 0.0 => Some(Ordering::Less),
                _ => (left.usage / left.perc).partial_cmp(&(right.usage / right.perc)),
            };
            if let Some(decided) = order.filter(|order| order.is_ne()) {
                return decided;
            }
        }
        Ordering::Equal
    }
}

/// The bytes of a usage file of version 2 for the tree, as the daemon and `pbsfs` write it. `change` maps every usage:
/// [`decayed`](crate::pbs::files::usage::decayed) for a step of decay, the identity for a copy.
///
/// Only nodes without children whose usage is not 1 are written, the children of a group before its grandchildren, and
/// the grandchildren of the last child first. The group `unknown` is never written. A name is truncated to 49 bytes.
pub fn write_usage(tree: &PbsTree, last_decay: i64, change: impl Fn(f64) -> f64) -> Vec<u8> {
    write_usage_of_nodes(tree, last_decay, |node| change(tree.tree().usage(node)))
}

/// [`write_usage`] with the usage of each node given by `usage_of`.
pub(crate) fn write_usage_of_nodes(tree: &PbsTree, last_decay: i64, usage_of: impl Fn(NodeId) -> f64) -> Vec<u8> {
    let nodes = leaves_in_file_order(tree).filter(|&node| node != tree.unknown());
    let records = nodes.map(|node| (tree.tree().name(node), usage_of(node)));
    encode_usage_file(last_decay, records.filter(|&(_, usage)| usage != MIN_USAGE))
}

/// The nodes without children, in the order of their records in a usage file.
fn leaves_in_file_order(tree: &PbsTree) -> impl Iterator<Item = NodeId> + '_ {
    let mut groups = vec![tree.tree().root()];
    let leaves = std::iter::from_fn(move || {
        let children = tree.tree().children(groups.pop()?);
        let is_group = |node: &NodeId| !tree.tree().children(*node).is_empty();
        groups.extend(children.iter().rev().copied().filter(is_group));
        Some(children.iter().rev().copied().filter(move |node| !is_group(node)))
    });
    leaves.flatten()
}
