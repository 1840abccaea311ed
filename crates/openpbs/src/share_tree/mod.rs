//! The daemon's fair-share tree: the shares and usage of its nodes, their order, and the comparison
//! of two entities, which `pbsfs -c` prints and the scheduler orders jobs by.
//!
//! In: a [`TreeDocument`](job_sort_formula::fairshare::tree_document::TreeDocument) or the files of
//! `sched_priv`, and the entities of the jobs, through [`PbsTreeBuilder`]. Out: a [`PbsTree`]. The
//! comparison is held to recordings in `tests/golden/openpbs`: every `pbsfs -c` of
//! `pbsfs/cases.jsonl`, and the orders under `fair_share` of `evaluate/orders.jsonl`.

mod builder;

use std::cmp::Ordering;

pub use builder::{PbsTreeBuilder, PbsTreeError};
use job_sort_formula::fairshare::{
    AssessedTree, EntityShares, FairShare, NodeId, Policy, ShareTable, ShareTree,
};

/// The daemon's tree and the shares of its nodes.
#[derive(Debug, Clone)]
pub struct PbsTree {
    /// The tree with its shares.
    pub assessed: AssessedTree,
    cgroups: Vec<i32>,
    /// The group of the entities that are not in `resource_group`.
    pub unknown: NodeId,
}

impl PbsTree {
    /// The tree. Children are in the order of `resource_group`; the daemon keeps and shows them in
    /// reverse.
    pub fn tree(&self) -> &ShareTree {
        self.assessed.tree()
    }

    /// Whether nothing has run yet: the usage of every node is 1, as without a file `usage`.
    pub fn is_unused(&self) -> bool {
        let tree = self.tree();
        tree.nodes().all(|node| tree.usage(node) == 1.0)
    }

    /// The shares of every node at full precision; the formula gets them
    /// [printed with six decimals](crate::number_format::printed_fairshare).
    pub fn shares(&self) -> &ShareTable {
        self.assessed.shares()
    }

    /// The tree without the shares of its nodes.
    pub fn into_tree(self) -> ShareTree {
        self.assessed.into_tree()
    }

    /// Replaces the usage by that of `tree`, which must have the same nodes, and computes the
    /// shares again by `policy`.
    pub fn with_usage_of(self, tree: ShareTree, policy: &dyn Policy) -> Self {
        Self {
            assessed: AssessedTree::new(tree, policy),
            ..self
        }
    }

    /// The id that `pbsfs` shows for a node (OpenPBS's `cgroup`, not a control group of the
    /// kernel): that of its line in `resource_group`, or 0 for the root, 1 for `unknown` and -1 for
    /// an entity that only the jobs or the usage name.
    pub fn cgroup(&self, node: NodeId) -> i32 {
        self.cgroups[node.index()]
    }

    /// Every node in the daemon's order: a group before its children, siblings in reverse order of
    /// `resource_group`.
    pub fn daemon_order(&self) -> impl Iterator<Item = NodeId> + '_ {
        let mut waiting = vec![self.tree().root()];
        std::iter::from_fn(move || {
            let node = waiting.pop()?;
            waiting.extend_from_slice(self.tree().children(node));
            Some(node)
        })
    }

    /// Compares two nodes as `pbsfs -c` does. `Less` means that `left` has the higher priority,
    /// that is, less usage for its percentage.
    pub fn compare(&self, left: NodeId, right: NodeId) -> Ordering {
        self.path(left).compare(&self.path(right))
    }

    /// The path to a node.
    pub(super) fn path(&self, node: NodeId) -> SharePath {
        SharePath::from_root(self.tree(), node, |node| {
            let shares = self.shares().get(node);
            let perc = shares.map_or(0.0, |shares| shares.fairshare_perc);
            (perc, self.tree().usage(node))
        })
    }
}

impl FairShare for PbsTree {
    fn shares_of(&self, entity: &str) -> Option<EntityShares> {
        self.shares().get(self.tree().find(entity)?)
    }
}

/// The paths of entities, by their indices; those beyond the list are equal to all others.
#[derive(Debug, Clone, Default)]
pub struct SharePaths(pub Vec<SharePath>);

impl SharePaths {
    /// Compares two entities: `Less` sorts first.
    pub fn compare(&self, left: usize, right: usize) -> Ordering {
        match (self.0.get(left), self.0.get(right)) {
            (Some(left), Some(right)) => left.compare(right),
            _ => Ordering::Equal,
        }
    }

    /// Charges usage to an entity and the groups above it. Returns whether that can change the
    /// order.
    pub fn charge(&mut self, entity: usize, usage: f64) -> bool {
        if usage == 0.0 {
            return false;
        }
        let Some(charged) = self.0.get(entity).cloned() else {
            return false;
        };
        for path in &mut self.0 {
            path.charge(&charged, usage);
        }
        true
    }
}

/// The nodes from just below the root down to an entity, each with its percentage and its usage.
#[derive(Debug, Clone, Default)]
pub struct SharePath(Vec<Step>);

#[derive(Debug, Clone, Copy)]
struct Step {
    node: NodeId,
    perc: f64,
    usage: f64,
}

impl SharePath {
    /// The path to a node of a tree. `numbers` are the percentage and the usage of a node.
    pub fn from_root(
        tree: &ShareTree,
        node: NodeId,
        numbers: impl Fn(NodeId) -> (f64, f64),
    ) -> Self {
        let mut steps = Vec::new();
        let mut next = Some(node);
        while let Some(node) = next
            && node != tree.root()
        {
            let (perc, usage) = numbers(node);
            steps.push(Step { node, perc, usage });
            next = tree.parent(node);
        }
        steps.reverse();
        Self(steps)
    }

    /// Adds usage to the nodes that this path has in common with another one.
    fn charge(&mut self, other: &Self, usage: f64) {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            if own.node != other.node {
                break;
            }
            own.usage += usage;
        }
    }

    /// `Less` sorts first. From the root downwards, the first pair of different nodes that does not
    /// tie decides. A pair whose percentages are both 0 or less ends the comparison as a tie. If no
    /// pair decides before the shorter path ends, the paths are equal, so a group ties with all its
    /// descendants.
    fn compare(&self, other: &Self) -> Ordering {
        for (left, right) in self.0.iter().zip(&other.0) {
            if left.node == right.node {
                continue;
            }
            let order = match (left.perc <= 0.0, right.perc <= 0.0) {
                (true, true) => return Ordering::Equal,
                // the guards let a percentage of NaN through to the last arm, where it ties
                (true, false) if right.perc > 0.0 => Some(Ordering::Greater),
                (false, true) if left.perc > 0.0 => Some(Ordering::Less),
                _ => (left.usage / left.perc).partial_cmp(&(right.usage / right.perc)),
            };
            if let Some(decided) = order
                && decided.is_ne()
            {
                return decided;
            }
        }
        Ordering::Equal
    }
}
