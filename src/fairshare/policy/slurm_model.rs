//! The associations as Slurm's daemons hold them: the fair-share parent of each, its shares as
//! stored, and its usage in `long double`.
//!
//! An association competes in the list of its *fair-share parent*: the nearest node above that is
//! not `FairShare=parent`. So the list of an account with `FairShare=parent` is empty, and its
//! users and accounts are in the list of the account above, next to it.

use crate::fairshare::policy::association::{FS_USE_PARENT, stored_shares};
use crate::fairshare::policy::sibling_lists::SiblingLists;
use crate::fairshare::policy::{AssociationShares, Release};
use crate::fairshare::x87::Extended;
use crate::fairshare::{NodeId, NodeKind, ShareTree, Shares};

/// The daemons' value for a number that is not known: 4294967294.
pub(super) const NO_VAL: u32 = 0xffff_fffe;
/// The most fractions that are multiplied from the leaf up. In a deeper tree, a node's normalised
/// shares are its parent's times its own fraction. The daemons multiply from the leaf up at any
/// depth, which may differ in the last bit.
// without a limit, a chain of n accounts would take n² products
const MAX_FACTORS: usize = 256;

/// The associations, one column for each number, by [`NodeId::index`].
pub(super) struct SlurmModel<'a> {
    tree: &'a ShareTree,
    /// [`FS_USE_PARENT`] for `FairShare=parent`.
    shares: Vec<u32>,
    above: Vec<u32>,
    /// The sum of the shares in the list of each node, in 32 bits: it wraps.
    list_shares: Vec<u32>,
    usage: Vec<Extended>,
    /// The fractions of all usage.
    norm_usage: Vec<Extended>,
}

impl<'a> SlurmModel<'a> {
    pub(super) fn new(tree: &'a ShareTree) -> Self {
        let usage = usage_of(tree);
        let mut model = Self {
            tree,
            shares: Vec::with_capacity(tree.len()),
            above: Vec::with_capacity(tree.len()),
            list_shares: vec![0; tree.len()],
            norm_usage: norm_usage_of(&usage),
            usage,
        };
        for node in tree.nodes() {
            model.shares.push(as_stored(tree.shares(node)));
            let above =
                fair_share_parent(tree, node, &model.above, |parent| model.uses_parent(parent));
            model.above.push(above);
            if node != tree.root() && !model.uses_parent(node.index()) {
                let sum = &mut model.list_shares[above as usize];
                *sum = sum.wrapping_add(model.shares[node.index()]);
            }
        }
        model
    }

    /// Whether the association is `FairShare=parent`. The root's shares have no meaning.
    pub(super) fn uses_parent(&self, node: usize) -> bool {
        node != 0 && self.shares[node] == FS_USE_PARENT
    }

    pub(super) fn is_user(&self, node: usize) -> bool {
        self.tree.kind(NodeId(node as u32)) == NodeKind::Entity
    }

    /// The fair-share parent; the root's is the root.
    pub(super) fn above(&self, node: usize) -> usize {
        self.above[node] as usize
    }

    /// The association whose numbers a job of this one gets: the fair-share parent under
    /// `FairShare=parent`.
    pub(super) fn job_node(&self, node: usize) -> usize {
        if self.uses_parent(node) {
            self.above(node)
        } else {
            node
        }
    }

    /// The sum of the shares in the list that the node is in.
    pub(super) fn level_shares(&self, node: usize) -> u32 {
        self.list_shares[self.above(node)]
    }

    pub(super) fn shares(&self, node: usize) -> u32 {
        self.shares[node]
    }

    /// The node's fraction of its level's shares, 0 where they sum to 0.
    pub(super) fn fraction(&self, node: usize) -> f64 {
        match self.level_shares(node) {
            0 => 0.0,
            sum => f64::from(self.shares[node]) / f64::from(sum),
        }
    }

    pub(super) fn usage(&self, node: usize) -> Extended {
        self.usage[node]
    }

    /// The fraction of all usage, at most 1.
    pub(super) fn norm_usage(&self, node: usize) -> Extended {
        self.norm_usage[node]
    }

    /// The normalised shares of every policy but fair tree: the product of the fractions from the
    /// node up to the first level, multiplied in that order, which decides the last bit.
    pub(super) fn norm_shares(&self) -> Vec<f64> {
        let mut norm_shares: Vec<f64> = Vec::with_capacity(self.shares.len());
        // the nearest node above whose fraction changes the product; 0 is the root, which ends it
        let mut next = vec![0u32; self.shares.len()];
        for node in self.tree.nodes() {
            let parent = self.tree.parent(node).map_or(0, NodeId::index);
            let node = node.index();
            // a factor of 1 changes nothing: a long chain of single accounts takes no time
            let skipped = self.uses_parent(parent) || self.fraction(parent) == 1.0;
            next[node] = if parent == 0 || skipped {
                next[parent]
            } else {
                parent as u32
            };
            norm_shares.push(match node {
                0 => 1.0,
                _ if self.uses_parent(node) => norm_shares[self.above(node)],
                _ => self.product_upwards(node, &next, &norm_shares),
            });
        }
        norm_shares
    }

    fn product_upwards(&self, node: usize, next: &[u32], norm_shares: &[f64]) -> f64 {
        let mut product = self.fraction(node);
        let mut at = next[node] as usize;
        for _ in 0..MAX_FACTORS {
            if at == 0 {
                return product;
            }
            product *= self.fraction(at);
            at = next[at] as usize;
        }
        let parent = self
            .tree
            .parent(NodeId(node as u32))
            .map_or(0, NodeId::index);
        self.fraction(node) * norm_shares[parent]
    }

    /// What every policy shows for the node. The root's normalised usage is blank.
    pub(super) fn association(&self, node: usize, norm_shares: f64) -> AssociationShares {
        let usage = self.usage[node].to_f64();
        if node == 0 {
            return AssociationShares::new(None, usage, norm_shares, None);
        }
        let shares = match self.shares[node] {
            FS_USE_PARENT => Shares::Parent,
            count => Shares::Count(count.into()),
        };
        let norm_usage = self.norm_usage(node).to_f64();
        AssociationShares::new(Some(shares), usage, norm_shares, Some(norm_usage))
    }

    /// The lists of all nodes.
    pub(super) fn lists(&self, release: Release) -> SiblingLists {
        SiblingLists::new(self.tree, release, &self.above)
    }
}

/// The nearest node above that is not `FairShare=parent`, from those of the nodes before this one.
pub(super) fn fair_share_parent(
    tree: &ShareTree,
    node: NodeId,
    above: &[u32],
    uses_parent: impl Fn(usize) -> bool,
) -> u32 {
    match tree.parent(node) {
        Some(parent) if parent != tree.root() && uses_parent(parent.index()) => {
            above[parent.index()]
        }
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

/// Usage summed from the last node up with the daemons' precision, or the usage that was set.
fn usage_of(tree: &ShareTree) -> Vec<Extended> {
    let mut usage = Vec::with_capacity(tree.len());
    for node in tree.nodes() {
        usage.push(if tree.is_summed() {
            from_state_file(tree.own_usage(node))
        } else {
            // a usage that was set is not the sum of others, and is taken as it is
            Extended::from(tree.usage(node))
        });
    }
    if !tree.is_summed() {
        return usage;
    }
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
    let mut fractions = Vec::with_capacity(usage.len());
    for &own in usage {
        let is_unused = own.is_zero() || whole.is_zero();
        fractions.push(if is_unused {
            Extended::ZERO
        } else {
            // usage that was set, not summed, may be more than the root's
            Extended::one().min(own / whole)
        });
    }
    fractions
}

/// A usage as the daemon reads it: its state file has six decimals, which a `double` mostly cannot
/// represent.
fn from_state_file(usage: f64) -> Extended {
    const DECIMALS: f64 = 1e6;
    // a whole number is exact in the file and as a `double`
    if usage as u64 as f64 == usage {
        return Extended::from(usage);
    }
    let millionths = (usage * DECIMALS).round();
    // 2^53: beyond it, the product with a million is not exact; the quotient tells whether six
    // decimals are all that the usage had
    if millionths.abs() < (1u64 << f64::MANTISSA_DIGITS) as f64 && millionths / DECIMALS == usage {
        Extended::from(millionths) / Extended::from(DECIMALS)
    } else {
        Extended::from(usage)
    }
}
