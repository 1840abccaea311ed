//! The tree as Slurm's daemons hold it: who competes with whom, in which order, and with what.
//!
//! An association competes in the list of its *fair-share parent*: the nearest one above that is not
//! `FairShare=parent`. Hence an account with `FairShare=parent` has an empty list, and its users and accounts stand in
//! the list of the account above, beside it.

use crate::fairshare::policy::association::{FS_USE_PARENT, stored_shares};
use crate::fairshare::policy::lists::Lists;
use crate::fairshare::policy::{AssociationShares, Release};
use crate::fairshare::x87::Extended;
use crate::fairshare::{Kind, NodeId, ShareTree, Shares};

/// What the daemons hold where a number is not known: 4294967294.
pub(super) const NO_VAL: u32 = 0xffff_fffe;
/// Beyond so many levels that shares change at, a node's normalised shares are its parent's times its own part. The
/// daemons multiply from the leaf up at any depth, which may differ in the last bit.
const MAX_FACTORS: usize = 256;

/// The associations' columns, by [`NodeId::index`].
pub(super) struct Levels<'a> {
    pub(super) tree: &'a ShareTree,
    /// [`FS_USE_PARENT`] for whoever stands in for its parent.
    shares: Vec<u32>,
    above: Vec<u32>,
    /// The sum of the shares in the list of a node, in 32 bits: it wraps.
    list_shares: Vec<u32>,
    usage: Vec<Extended>,
    /// The parts of all usage.
    norm_usage: Vec<Extended>,
}

impl<'a> Levels<'a> {
    pub(super) fn of(tree: &'a ShareTree) -> Self {
        let usage = usage_of(tree);
        let mut levels = Self {
            tree,
            shares: tree.nodes().map(|node| as_stored(tree.shares(node))).collect(),
            above: Vec::with_capacity(tree.len()),
            list_shares: vec![0; tree.len()],
            norm_usage: norm_usage_of(&usage),
            usage,
        };
        for node in tree.nodes() {
            let above = fair_share_parent(tree, node, &levels.above, |parent| levels.is_stand_in(parent));
            levels.above.push(above);
            if node != tree.root() && !levels.is_stand_in(node.index()) {
                let sum = &mut levels.list_shares[above as usize];
                *sum = sum.wrapping_add(levels.shares[node.index()]);
            }
        }
        levels
    }

    /// Whether the association is `FairShare=parent`. Nothing is asked of the root's shares.
    pub(super) fn is_stand_in(&self, node: usize) -> bool {
        node != 0 && self.shares[node] == FS_USE_PARENT
    }

    pub(super) fn is_user(&self, node: usize) -> bool {
        self.tree.kind(NodeId(node as u32)) == Kind::Entity
    }

    /// The fair-share parent; the root's is the root.
    pub(super) fn above(&self, node: usize) -> usize {
        self.above[node] as usize
    }

    /// The association whose numbers a job of this one gets: the fair-share parent if it stands in for that.
    pub(super) fn counterpart(&self, node: usize) -> usize {
        if self.is_stand_in(node) { self.above(node) } else { node }
    }

    /// The shares in the list that the node stands in.
    pub(super) fn level_shares(&self, node: usize) -> u32 {
        self.list_shares[self.above(node)]
    }

    pub(super) fn shares(&self, node: usize) -> u32 {
        self.shares[node]
    }

    /// The node's part of its level's shares, 0 where there are none.
    pub(super) fn part(&self, node: usize) -> f64 {
        match self.level_shares(node) {
            0 => 0.0,
            sum => f64::from(self.shares[node]) / f64::from(sum),
        }
    }

    pub(super) fn usage(&self, node: usize) -> Extended {
        self.usage[node]
    }

    /// The part of all usage, at most 1.
    pub(super) fn norm_usage(&self, node: usize) -> Extended {
        self.norm_usage[node]
    }

    /// What the policies but fair tree call normalised shares: the parts from the node up to below the root,
    /// multiplied in that order, which shows in the last bit.
    pub(super) fn norm_shares(&self) -> Vec<f64> {
        let mut norm_shares: Vec<f64> = Vec::with_capacity(self.shares.len());
        // the nearest node above whose part changes a product; 0 is the root, where the way ends
        let mut next = vec![0u32; self.shares.len()];
        for node in self.tree.nodes() {
            let (node, parent) = (node.index(), self.tree.parent(node).map_or(0, NodeId::index));
            let skipped = self.is_stand_in(parent) || self.part(parent) == 1.0;
            next[node] = if parent == 0 || skipped { next[parent] } else { parent as u32 };
            norm_shares.push(match node {
                0 => 1.0,
                _ if self.is_stand_in(node) => norm_shares[self.above(node)],
                _ => self.product_upwards(node, &next, &norm_shares),
            });
        }
        norm_shares
    }

    fn product_upwards(&self, node: usize, next: &[u32], norm_shares: &[f64]) -> f64 {
        let (mut product, mut at) = (self.part(node), next[node] as usize);
        for _ in 0..MAX_FACTORS {
            if at == 0 {
                return product;
            }
            product *= self.part(at);
            at = next[at] as usize;
        }
        let parent = self.tree.parent(NodeId(node as u32)).map_or(0, NodeId::index);
        self.part(node) * norm_shares[parent]
    }

    /// What is shown of the node under every policy. The root's normalised usage is not known.
    pub(super) fn association(&self, node: usize, norm_shares: f64) -> AssociationShares {
        let shares = (node != 0).then(|| match self.shares[node] {
            FS_USE_PARENT => Shares::Parent,
            count => Shares::Count(count.into()),
        });
        let norm_usage = (node != 0).then(|| self.norm_usage(node).to_f64());
        AssociationShares::new(shares, self.usage[node].to_f64(), norm_shares, norm_usage)
    }

    /// The lists of all nodes.
    pub(super) fn lists(&self, release: Release) -> Lists {
        Lists::gather(self.tree, release, &self.above)
    }
}

/// The nearest node above that does not stand in for its own parent, given those of the nodes before this one.
pub(super) fn fair_share_parent(
    tree: &ShareTree,
    node: NodeId,
    above: &[u32],
    is_stand_in: impl Fn(usize) -> bool,
) -> u32 {
    match tree.parent(node) {
        Some(parent) if parent != tree.root() && is_stand_in(parent.index()) => above[parent.index()],
        Some(parent) => parent.0,
        None => 0,
    }
}

fn as_stored(shares: Shares) -> u32 {
    match shares {
        Shares::Parent => FS_USE_PARENT,
        Shares::Count(count) => match stored_shares(count) {
            Shares::Parent => FS_USE_PARENT,
            Shares::Count(count) => count as u32,
        },
    }
}

/// Usage summed from the last node up, as exactly as the daemons sum; or what the tree was told.
fn usage_of(tree: &ShareTree) -> Vec<Extended> {
    if !tree.is_summed() {
        return tree.nodes().map(|node| Extended::from(tree.usage(node))).collect();
    }
    let mut usage: Vec<Extended> = tree.nodes().map(|node| as_written(tree.own_usage(node))).collect();
    for node in tree.nodes().rev() {
        if let Some(parent) = tree.parent(node) {
            let below = usage[node.index()];
            let sum = &mut usage[parent.index()];
            *sum = *sum + below;
        }
    }
    usage
}

fn norm_usage_of(usage: &[Extended]) -> Vec<Extended> {
    let whole = usage[0];
    let part = |own: &Extended| match own.is_zero() || whole.is_zero() {
        true => Extended::ZERO,
        false => Extended::ONE.min(*own / whole),
    };
    usage.iter().map(part).collect()
}

/// A usage as the daemon reads it back: its state file has six decimals, which a `double` mostly cannot hold.
fn as_written(usage: f64) -> Extended {
    const DECIMALS: f64 = 1e6;
    if usage as u64 as f64 == usage {
        return Extended::from(usage);
    }
    let millionths = (usage * DECIMALS).round();
    if millionths.abs() < crate::python::MAX_EXACT_FLOAT && millionths / DECIMALS == usage {
        Extended::from(millionths) / Extended::from(DECIMALS)
    } else {
        Extended::from(usage)
    }
}
