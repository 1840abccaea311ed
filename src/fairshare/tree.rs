//! The tree itself: an arena in which every parent stands before its children, so that one pass forwards hands
//! things down and one pass backwards adds things up. Nothing here recurses, however deep the tree.

use std::collections::HashMap;
use std::iter;
use std::sync::Arc;

/// The place of a node in its [`ShareTree`]. A parent's place is always lower than its children's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(super) u32);

impl NodeId {
    /// The place as a number, `0..tree.len()`; the root is 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The top, which owns everything.
    Root,
    /// A group (PBS) or an account (Slurm).
    Group,
    /// Whoever jobs belong to: an entity (PBS) or a user (Slurm).
    Entity,
}

/// What a node is allotted among its siblings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shares {
    /// So many shares of the parent's, relative to the sum over the siblings. Negative ones only come from a
    /// [`lenient`](crate::fairshare::TreeBuilder::lenient) builder.
    Count(i64),
    /// Stands in for the parent (Slurm's `FairShare=parent`) and takes no part in the siblings' sum.
    Parent,
}

impl Shares {
    /// The number of shares, 0 for [`Shares::Parent`].
    pub fn count(self) -> i64 {
        match self {
            Self::Count(count) => count,
            Self::Parent => 0,
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) name: Arc<str>,
    pub(super) parent: u32,
    pub(super) kind: Kind,
    pub(super) shares: Shares,
    pub(super) own_usage: f64,
    /// The node of the same name added before this one.
    pub(super) namesake: Option<NodeId>,
}

/// A fair-share tree of groups and entities, built by a [`TreeBuilder`](crate::fairshare::TreeBuilder).
///
/// # Panics
/// The methods that take a [`NodeId`] panic on one that belongs to a larger tree.
#[derive(Debug, Clone)]
pub struct ShareTree {
    pub(super) nodes: Vec<Node>,
    /// Usage of the node and of all below it.
    usage: Vec<f64>,
    /// Whether `usage` is the sum of own usages, and nothing else.
    summed: bool,
    /// The children of node `i` are `children[first_child[i]..first_child[i + 1]]`, in the order they were added.
    first_child: Vec<u32>,
    children: Vec<NodeId>,
    /// The latest node of each name; older namesakes hang off that one.
    pub(super) by_name: HashMap<Arc<str>, NodeId>,
    /// Of those that are bound to one, which are few.
    pub(super) partitions: HashMap<NodeId, Arc<str>>,
}

impl ShareTree {
    pub(super) fn from_nodes(
        nodes: Vec<Node>,
        by_name: HashMap<Arc<str>, NodeId>,
        partitions: HashMap<NodeId, Arc<str>>,
    ) -> Self {
        let usage = summed_usage(&nodes);
        let (first_child, children) = child_lists(&nodes);
        Self { nodes, usage, summed: true, first_child, children, by_name, partitions }
    }

    /// The top of the tree.
    pub fn root(&self) -> NodeId {
        NodeId(0)
    }

    /// The number of nodes, the root included: at least 1.
    #[expect(clippy::len_without_is_empty, reason = "a tree always has its root")]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Every node, parents before children, else in the order they were added.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// What the node is.
    pub fn kind(&self, node: NodeId) -> Kind {
        self.nodes[node.index()].kind
    }

    /// What the node is allotted among its siblings; nothing is asked of the root's.
    pub fn shares(&self, node: NodeId) -> Shares {
        self.nodes[node.index()].shares
    }

    /// The usage charged to the node itself, in whatever unit the site counts.
    pub fn own_usage(&self, node: NodeId) -> f64 {
        self.nodes[node.index()].own_usage
    }

    /// The usage of the node and of everything below it, unless [`set_usage`](Self::set_usage) said otherwise.
    pub fn usage(&self, node: NodeId) -> f64 {
        self.usage[node.index()]
    }

    /// Whether every node's usage is nothing but the sum of the usages charged to it and to all below it; a
    /// scheduler's running totals, see [`set_usage`](Self::set_usage), may be something else.
    pub fn is_summed(&self) -> bool {
        self.summed
    }

    /// The node above, `None` for the root.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        (node.0 != 0).then(|| NodeId(self.nodes[node.index()].parent))
    }

    /// The nodes directly below, in the order they were added.
    pub fn children(&self, node: NodeId) -> &[NodeId] {
        let (start, end) = (self.first_child[node.index()], self.first_child[node.index() + 1]);
        &self.children[start as usize..end as usize]
    }

    /// The parent, its parent, and so on up to the root.
    pub fn ancestors(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        iter::successors(self.parent(node), |&above| self.parent(above))
    }

    /// Charges more usage to a node: its own usage grows, and so does the usage of the node and of all above it.
    pub fn charge(&mut self, node: NodeId, amount: f64) {
        self.nodes[node.index()].own_usage += amount;
        self.usage[node.index()] += amount;
        self.climb(node, amount);
    }

    /// Multiplies every usage by `factor`: one step of decay.
    pub fn decay(&mut self, factor: f64) {
        self.nodes.iter_mut().for_each(|node| node.own_usage *= factor);
        self.usage.iter_mut().for_each(|usage| *usage *= factor);
    }

    /// Makes every usage what `step` leaves of it, own usage only where there is any. What is then above need no
    /// longer be the sum of what is below.
    pub fn decay_with(&mut self, step: impl Fn(f64) -> f64) {
        let owners = self.nodes.iter_mut().filter(|node| node.own_usage != 0.0);
        owners.for_each(|node| node.own_usage = step(node.own_usage));
        self.usage.iter_mut().for_each(|usage| *usage = step(*usage));
        self.summed = false;
    }

    /// Says what [`usage`](Self::usage) answers for this one node. For daemons whose running totals are not sums.
    pub fn set_usage(&mut self, node: NodeId, usage: f64) {
        self.usage[node.index()] = usage;
        self.summed = false;
    }

    /// Adds to the usage of everything above the node, and not to the node's.
    pub fn add_above(&mut self, node: NodeId, amount: f64) {
        self.climb(node, amount);
        self.summed = false;
    }

    fn climb(&mut self, node: NodeId, amount: f64) {
        let mut at = node.index();
        while at != 0 {
            at = self.nodes[at].parent as usize;
            self.usage[at] += amount;
        }
    }
}

/// Own usage plus that of all below, from the last node up.
fn summed_usage(nodes: &[Node]) -> Vec<f64> {
    let mut usage: Vec<f64> = nodes.iter().map(|node| node.own_usage).collect();
    for i in (1..nodes.len()).rev() {
        usage[nodes[i].parent as usize] += usage[i];
    }
    usage
}

/// Where each node's children start, and the children: counted, then dealt out in order.
fn child_lists(nodes: &[Node]) -> (Vec<u32>, Vec<NodeId>) {
    let mut first = vec![0u32; nodes.len() + 1];
    for node in &nodes[1..] {
        first[node.parent as usize + 1] += 1;
    }
    for i in 1..first.len() {
        first[i] += first[i - 1];
    }
    let mut next = first.clone();
    let mut children = vec![NodeId(0); nodes.len() - 1];
    for (i, node) in nodes.iter().enumerate().skip(1) {
        let slot = &mut next[node.parent as usize];
        children[*slot as usize] = NodeId(i as u32);
        *slot += 1;
    }
    (first, children)
}
