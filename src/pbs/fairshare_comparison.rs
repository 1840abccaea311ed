//! Which of two entities deserves the machine more, as `pbsfs -c` answers and the scheduler orders by.
//!
//! Found in `tests/golden/openpbs`: every `pbsfs -c` of `pbsfs/cases.jsonl`, and the orders under `fair_share` of
//! `evaluate/orders.jsonl`.

use std::cmp::Ordering;

use crate::fairshare::NodeId;
use crate::pbs::share_tree::PbsTree;

/// The way from just below the root down to an entity, with what counts of each node on it.
#[derive(Debug, Clone, Default)]
pub(super) struct Path(Vec<Step>);

#[derive(Debug, Clone, Copy)]
struct Step {
    node: NodeId,
    perc: f64,
    usage: f64,
}

impl Path {
    pub(super) fn to(tree: &PbsTree, node: NodeId) -> Self {
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

    /// `Less` comes first. From the root downwards the first pair of nodes decides that differs and does not tie.
    /// Where one way ends the two are equal, so a group ties with all below it.
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
    /// Compares two nodes as `pbsfs -c` does: `Less` deserves more, which is less usage for its percentage.
    pub fn compare(&self, left: NodeId, right: NodeId) -> Ordering {
        Path::to(self, left).compare(&Path::to(self, right))
    }
}
