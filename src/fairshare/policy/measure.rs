//! What the documents of all policies start from: a node's part of its siblings' shares and of all usage.

use crate::fairshare::{NodeId, ShareTree, Shares};

/// The sum of the children's shares, by parent. Wide enough for any number of any shares.
pub(super) fn sibling_sums(tree: &ShareTree) -> Vec<i128> {
    let mut sums = vec![0i128; tree.len()];
    for node in tree.nodes() {
        if let Some(NodeId(parent)) = tree.parent(node) {
            sums[parent as usize] += i128::from(tree.shares(node).count());
        }
    }
    sums
}

/// A node's part of its siblings' shares: all of it for whoever stands in for the parent, none where there are none.
pub(super) fn part_of(shares: Shares, sum: i128) -> f64 {
    match shares {
        Shares::Parent => 1.0,
        Shares::Count(_) if sum == 0 => 0.0,
        Shares::Count(count) => count as f64 / sum as f64,
    }
}

/// The documents' normalised numbers of a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measure {
    /// Its part of its siblings' shares.
    pub(super) part: f64,
    /// Its part of the whole machine: the parts on the way down, multiplied.
    pub(super) norm_shares: f64,
    /// Its part of all usage; nobody's where there is none.
    pub(super) norm_usage: f64,
    /// Whether it is right below the root, or below what stands in for the root.
    pub(super) is_first_level: bool,
}

/// The measures of every node, in the order of [`ShareTree::nodes`].
pub(super) fn measures(tree: &ShareTree) -> Vec<Measure> {
    let sums = sibling_sums(tree);
    let whole = tree.usage(tree.root());
    let mut measures: Vec<Measure> = Vec::with_capacity(tree.len());
    for node in tree.nodes() {
        let norm_usage = if whole == 0.0 { 0.0 } else { tree.usage(node) / whole };
        measures.push(match tree.parent(node) {
            None => Measure { part: 1.0, norm_shares: 1.0, norm_usage, is_first_level: false },
            Some(parent) => {
                let above = measures[parent.index()];
                let part = part_of(tree.shares(node), sums[parent.index()]);
                let stands_for_root = above.is_first_level && tree.shares(parent) == Shares::Parent;
                let is_first_level = parent == tree.root() || stands_for_root;
                Measure { part, norm_shares: part * above.norm_shares, norm_usage, is_first_level }
            }
        });
    }
    measures
}

/// What the tree says of a node's shares; nothing of the root's.
pub(super) fn raw_shares(tree: &ShareTree, node: NodeId) -> Option<Shares> {
    tree.parent(node).map(|_| tree.shares(node))
}
