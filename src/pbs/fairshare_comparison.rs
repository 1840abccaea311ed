//! The fair-share comparison of two entities, which `pbsfs -c` prints and the scheduler orders jobs by.
//!
//! Source, in `tests/golden/openpbs`: every `pbsfs -c` of `pbsfs/cases.jsonl`, and the orders under `fair_share` of
//! `evaluate/orders.jsonl`.

use std::cmp::Ordering;

use crate::fairshare::NodeId;
use crate::pbs::share_tree::PbsTree;

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

impl PbsTree {
    /// Compares two nodes as `pbsfs -c` does: `Less` has the higher priority, that is, less usage for its percentage.
    pub fn compare(&self, left: NodeId, right: NodeId) -> Ordering {
        SharePath::from_root(self, left).compare(&SharePath::from_root(self, right))
    }
}
