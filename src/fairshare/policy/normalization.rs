//! The normalised shares and usage that every published policy starts from, in double precision.

use crate::fairshare::policy::{AssociationShares, EntityShares};
use crate::fairshare::{NodeId, ShareTree, Shares};

/// The sum of the children's shares, by parent. Wide enough for any number of any shares.
pub fn sibling_sums(tree: &ShareTree) -> Vec<i128> {
    let mut sums = vec![0i128; tree.len()];
    for node in tree.nodes() {
        if let Some(parent) = tree.parent(node) {
            sums[parent.index()] += i128::from(tree.shares(node).count());
        }
    }
    sums
}

/// A node's fraction of its siblings' shares: 1 for [`Shares::Parent`], 0 if the siblings' shares
/// sum to 0.
pub fn share_fraction(shares: Shares, sum: i128) -> f64 {
    match shares {
        Shares::Parent => 1.0,
        Shares::Count(_) if sum == 0 => 0.0,
        Shares::Count(count) => count as f64 / sum as f64,
    }
}

/// The normalised numbers of a node, as the documents define them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Normalized {
    /// Its fraction of its siblings' shares.
    pub(super) fraction: f64,
    /// Its fraction of the whole machine: the product of the fractions from the root down.
    pub(super) norm_shares: f64,
    /// Its fraction of all usage; 0 for every node of a tree without usage.
    pub(super) norm_usage: f64,
    /// Whether it is a child of the root, or of a [`Shares::Parent`] node on the first level.
    pub(super) is_first_level: bool,
}

impl Normalized {
    /// The numbers of every node, in the order of [`ShareTree::nodes`].
    pub(super) fn table(tree: &ShareTree) -> Vec<Self> {
        let sums = sibling_sums(tree);
        let whole = tree.usage(tree.root());
        let mut table: Vec<Self> = Vec::with_capacity(tree.len());
        for node in tree.nodes() {
            let norm_usage = if whole == 0.0 {
                0.0
            } else {
                tree.usage(node) / whole
            };
            table.push(match tree.parent(node) {
                None => Self {
                    fraction: 1.0,
                    norm_shares: 1.0,
                    norm_usage,
                    is_first_level: false,
                },
                Some(parent) => {
                    let above = table[parent.index()];
                    let fraction = share_fraction(tree.shares(node), sums[parent.index()]);
                    // below a `FairShare=parent` account of the first level, the root is the
                    // fair-share parent
                    let replaces_root =
                        above.is_first_level && tree.shares(parent) == Shares::Parent;
                    let is_first_level = parent == tree.root() || replaces_root;
                    Self {
                        fraction,
                        norm_shares: fraction * above.norm_shares,
                        norm_usage,
                        is_first_level,
                    }
                }
            });
        }
        table
    }

    /// The node's row under a policy with this effective usage and factor.
    pub(super) fn row(
        self,
        tree: &ShareTree,
        node: NodeId,
        effective_usage: f64,
        factor: f64,
    ) -> (EntityShares, AssociationShares) {
        let association = AssociationShares {
            effective_usage: Some(effective_usage),
            fairshare: Some(factor),
            ..self.association(tree, node, self.norm_shares)
        };
        (
            EntityShares::from_policy(self.norm_shares, effective_usage, factor),
            association,
        )
    }

    /// What every policy shows for the node, with the shares in the policy's own normalisation.
    pub(super) fn association(
        self,
        tree: &ShareTree,
        node: NodeId,
        norm_shares: f64,
    ) -> AssociationShares {
        let shares = tree.parent(node).map(|_| tree.shares(node));
        AssociationShares::new(shares, tree.usage(node), norm_shares, Some(self.norm_usage))
    }
}
