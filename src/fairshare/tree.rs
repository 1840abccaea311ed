//! The tree: an arena with every parent before its children, so that a forward pass distributes
//! from the root down and a backward pass sums from the leaves up. Nothing here recurses, however
//! deep the tree.

use std::cmp::Reverse;
use std::iter;
use std::sync::{Arc, OnceLock};

use std::collections::HashMap;

use crate::fairshare::builder::{Naming, TreeBuilder, TreeError, is_usage};

/// The index of a node in its [`ShareTree`]. A parent's index is lower than its children's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(super) u32);

impl NodeId {
    /// The index as a number, `0..tree.len()`; the root is 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// An error unless a tree of so many nodes has the node. An id is the number of a node, so that
    /// after a node was removed the ids of others are theirs no longer.
    pub(super) fn check(self, nodes: usize) -> Result<(), TreeError> {
        if self.index() < nodes {
            return Ok(());
        }
        TreeError::invalid(format!("the tree has no node with the index {}", self.0))
    }
}

/// The kind of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// The root, which has the whole machine.
    Root,
    /// A group (PBS) or an account (Slurm).
    Group,
    /// An owner of jobs: an entity (PBS) or a user in an account (Slurm).
    Entity,
}

/// The shares of a node among its siblings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shares {
    /// A number of shares, relative to the sum of the siblings'. Only a
    /// [`lenient`](crate::fairshare::TreeBuilder::lenient) builder takes a negative number.
    Count(i64),
    /// The parent's shares (Slurm's `FairShare=parent`): the node is not in the siblings' sum.
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

    /// Checks the shares of the node `name`.
    ///
    /// # Errors
    /// They are negative.
    pub fn check(self, name: &str) -> Result<(), TreeError> {
        match self {
            Self::Count(shares @ ..0) => {
                TreeError::invalid(format!("`{name}` has negative shares, {shares}"))
            }
            _ => Ok(()),
        }
    }
}

#[derive(Debug, Clone)]
pub(super) struct Node {
    pub(super) name: Arc<str>,
    pub(super) parent: u32,
    pub(super) kind: NodeKind,
    pub(super) shares: Shares,
    pub(super) own_usage: f64,
    /// The node of the same name that was added before this one.
    pub(super) namesake: Option<NodeId>,
}

/// A fair-share tree of groups and entities, built by a
/// [`TreeBuilder`](crate::fairshare::TreeBuilder).
///
/// # Panics
/// The methods that take a [`NodeId`], except for [`charge`](Self::charge) and
/// [`set_shares`](Self::set_shares), panic on one that belongs to a larger tree.
#[derive(Debug, Clone)]
pub struct ShareTree {
    pub(super) nodes: Vec<Node>,
    /// The usage of the node and of all nodes below it.
    pub(super) usage: Vec<f64>,
    /// Whether the usage of every node is the sum of its own usage and the usage of its children.
    pub(super) is_summed: bool,
    /// The children of node `i` are `children[first_child[i]..first_child[i + 1]]`, in the order
    /// they were added.
    first_child: Vec<u32>,
    children: Vec<NodeId>,
    /// The latest node of each name, which links to the earlier ones.
    pub(super) by_name: HashMap<Arc<str>, NodeId>,
    /// The partition of each association that has one.
    pub(super) partitions: HashMap<NodeId, Arc<str>>,
    pub(super) naming: Naming,
    /// The nodes below the root by the name of their parent and their own, the latest first; made
    /// when it is needed.
    by_account: OnceLock<Vec<NodeId>>,
}

impl ShareTree {
    pub(super) fn from_nodes(
        nodes: Vec<Node>,
        usage: Vec<f64>,
        is_summed: bool,
        by_name: HashMap<Arc<str>, NodeId>,
        partitions: HashMap<NodeId, Arc<str>>,
        naming: Naming,
    ) -> Self {
        let (first_child, children) = child_lists(&nodes);
        let by_account = OnceLock::new();
        Self {
            nodes,
            usage,
            is_summed,
            first_child,
            children,
            by_name,
            partitions,
            naming,
            by_account,
        }
    }

    /// The root of the tree.
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

    /// The node with this [index](NodeId::index); `None` beyond the last one.
    pub fn node(&self, index: usize) -> Option<NodeId> {
        (index < self.len()).then_some(NodeId(index as u32))
    }

    /// All nodes, each before its children, and these in their order.
    pub fn depth_first(&self) -> Vec<NodeId> {
        let mut nodes = Vec::with_capacity(self.len());
        let mut stack = vec![self.root()];
        while let Some(node) = stack.pop() {
            nodes.push(node);
            stack.extend(self.children(node).iter().rev());
        }
        nodes
    }

    /// The kind of the node.
    pub fn kind(&self, node: NodeId) -> NodeKind {
        self.nodes[node.index()].kind
    }

    /// The shares of the node among its siblings; those of the root have no meaning.
    pub fn shares(&self, node: NodeId) -> Shares {
        self.nodes[node.index()].shares
    }

    /// The usage charged to the node itself, in the site's unit.
    pub fn own_usage(&self, node: NodeId) -> f64 {
        self.nodes[node.index()].own_usage
    }

    /// The usage of the node and of all nodes below it, or what [`set_usage`](Self::set_usage) has
    /// set.
    pub fn usage(&self, node: NodeId) -> f64 {
        self.usage[node.index()]
    }

    /// Whether every node's usage is the sum of the usages charged to it and to all nodes below it.
    /// A scheduler's running totals, see [`set_usage`](Self::set_usage), may differ.
    pub fn is_summed(&self) -> bool {
        self.is_summed
    }

    /// The parent, `None` for the root.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        (node.0 != 0).then(|| NodeId(self.nodes[node.index()].parent))
    }

    /// The children, in the order they were added.
    pub fn children(&self, node: NodeId) -> &[NodeId] {
        let start = self.first_child[node.index()] as usize;
        let end = self.first_child[node.index() + 1] as usize;
        &self.children[start..end]
    }

    /// The parent, its parent, and so on up to the root.
    pub fn ancestors(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        iter::successors(self.parent(node), |&above| self.parent(above))
    }

    /// Changes the shares of a node; those of the root have no meaning.
    ///
    /// # Errors
    /// The id belongs to a larger tree, or the shares are negative; the tree is then unchanged.
    pub fn set_shares(&mut self, node: NodeId, shares: Shares) -> Result<(), TreeError> {
        node.check(self.len())?;
        let changed = &mut self.nodes[node.index()];
        shares.check(&changed.name)?;
        changed.shares = shares;
        Ok(())
    }

    /// Adds usage to a node: to its own usage, and to the usage of the node and of all nodes above
    /// it.
    ///
    /// # Errors
    /// The id belongs to a larger tree, the amount is negative, infinite or not a number, or a
    /// usage would become infinite; the tree is then unchanged.
    pub fn charge(&mut self, node: NodeId, amount: f64) -> Result<(), TreeError> {
        node.check(self.len())?;
        let name = self.name(node);
        if !is_usage(amount) {
            return TreeError::invalid(format!(
                "cannot charge {amount} to `{name}`, expected a finite number of at least 0"
            ));
        }
        let mut usages = vec![self.own_usage(node), self.usage(node)];
        usages.extend(self.ancestors(node).map(|above| self.usage(above)));
        // one that `set_usage` has made infinite cannot overflow
        let overflows = |usage: f64| usage < f64::INFINITY && usage + amount == f64::INFINITY;
        if usages.into_iter().any(overflows) {
            return TreeError::invalid(format!(
                "cannot charge {amount} to `{name}`: its usage, or that of a node above it, would be infinite"
            ));
        }
        self.add_usage(node, amount);
        Ok(())
    }

    /// Adds any amount, also a negative one, to the usage of a node and of all nodes above it. One
    /// that is not finite makes fair-share numbers NaN; [`charge`](Self::charge) refuses it.
    pub fn add_usage(&mut self, node: NodeId, amount: f64) {
        self.nodes[node.index()].own_usage += amount;
        self.usage[node.index()] += amount;
        self.add_to_ancestors(node, amount);
    }

    /// A builder that contains the nodes of the tree, to add and to remove some. The usage of every
    /// node that stays is kept, bit by bit, unless usage is added or removed at it or below it:
    /// then it is summed again or, in a tree that is not [summed](Self::is_summed), changed by the
    /// difference, and not below OpenPBS's least usage of 1. A new node begins with the usage of
    /// its [`Member`](crate::fairshare::Member). The scheduler of OpenPBS gives a node without
    /// usage 1, which is not added to the groups above it: set it with
    /// [`set_usage`](Self::set_usage) afterwards.
    ///
    /// ```
    /// use job_sort_formula::fairshare::{Member, TreeBuilder};
    ///
    /// let mut builder = TreeBuilder::new("root");
    /// let physics = builder.add_under("root", Member::group("physics"))?;
    /// let ada = builder.add(physics, Member::entity("ada").usage(60.0))?;
    /// let mut tree = builder.finish();
    /// tree.charge(ada, 40.0)?;
    ///
    /// let mut builder = tree.into_builder();
    /// builder.add_under("physics", Member::entity("emmy").usage(5.0))?;
    /// builder.remove(ada)?;
    /// let tree = builder.finish();
    /// assert_eq!((tree.len(), tree.usage(tree.root()), tree.find("ada")), (3, 5.0, None));
    /// # Ok::<(), job_sort_formula::fairshare::TreeError>(())
    /// ```
    pub fn into_builder(self) -> TreeBuilder {
        TreeBuilder::from_tree(self)
    }

    /// Adds and removes nodes, as [`into_builder`](Self::into_builder) does. The ids of nodes
    /// change if some are removed: an id from before is then that of another node, or of none.
    ///
    /// # Errors
    /// That of `change`; the tree is then unchanged.
    pub fn rebuild(
        &mut self,
        change: impl FnOnce(&mut TreeBuilder) -> Result<(), TreeError>,
    ) -> Result<(), TreeError> {
        let mut builder = self.clone().into_builder();
        change(&mut builder)?;
        *self = builder.finish();
        Ok(())
    }

    /// Multiplies every usage by `factor`: one step of decay. OpenPBS charges what running jobs
    /// have used before it decays.
    ///
    /// # Errors
    /// The factor is not a number from 0 to 1; the tree is then unchanged.
    pub fn decay(&mut self, factor: f64) -> Result<(), TreeError> {
        if !(0.0..=1.0).contains(&factor) {
            return TreeError::invalid(format!(
                "the factor of decay is {factor}, expected a number from 0 to 1"
            ));
        }
        self.nodes
            .iter_mut()
            .for_each(|node| node.own_usage *= factor);
        self.usage.iter_mut().for_each(|usage| *usage *= factor);
        Ok(())
    }

    /// Replaces every usage `u` by `step(u)`; an own usage of 0 stays 0. The usage of a group may
    /// then differ from the sum of its members'.
    pub fn decay_with(&mut self, step: impl Fn(f64) -> f64) {
        // a floor would give a usage of their own to all nodes that have none
        let users = self.nodes.iter_mut().filter(|node| node.own_usage != 0.0);
        users.for_each(|node| node.own_usage = step(node.own_usage));
        self.usage
            .iter_mut()
            .for_each(|usage| *usage = step(*usage));
        self.is_summed = false;
    }

    /// Sets the [`usage`](Self::usage) of this node alone, for daemons whose running totals are not
    /// sums. Any number is taken; one that is not finite makes fair-share numbers NaN.
    pub fn set_usage(&mut self, node: NodeId, usage: f64) {
        self.usage[node.index()] = usage;
        self.is_summed = false;
    }

    /// Adds to the usage of all nodes above the node, and not to the node's.
    pub fn add_above(&mut self, node: NodeId, amount: f64) {
        self.add_to_ancestors(node, amount);
        self.is_summed = false;
    }

    fn add_to_ancestors(&mut self, node: NodeId, amount: f64) {
        let mut index = node.index();
        while index != 0 {
            index = self.nodes[index].parent as usize;
            self.usage[index] += amount;
        }
    }
}

/// Names and paths.
impl ShareTree {
    /// The node's name; `user:partition` for an association with a partition.
    pub fn name(&self, node: NodeId) -> &str {
        &self.nodes[node.index()].name
    }

    /// The partition of a user's association; `None` if it applies to all partitions.
    pub fn partition(&self, node: NodeId) -> Option<&str> {
        self.partitions.get(&node).map(|partition| &**partition)
    }

    /// The node's name without its partition.
    pub fn base_name(&self, node: NodeId) -> &str {
        let name = self.name(node);
        self.partition(node)
            // `Member::partition` has joined the two with a colon
            .map_or(name, |partition| &name[..name.len() - partition.len() - 1])
    }

    /// Every node with a partition, in the order of [`nodes`](Self::nodes).
    pub fn nodes_with_partition(&self) -> Vec<NodeId> {
        let mut nodes: Vec<NodeId> = self.partitions.keys().copied().collect();
        nodes.sort_unstable();
        nodes
    }

    /// The names from the first level down to the node; empty for the root.
    pub fn path(&self, node: NodeId) -> Vec<&str> {
        let mut path: Vec<&str> = iter::once(node)
            .chain(self.ancestors(node))
            .filter(|id| id.0 != 0)
            .map(|id| self.name(id))
            .collect();
        path.reverse();
        path
    }

    /// Every node of that name, the latest first. Only a tree with
    /// [`Naming::PerGroup`](crate::fairshare::Naming::PerGroup) has several.
    pub fn named(&self, name: &str) -> impl Iterator<Item = NodeId> + '_ {
        iter::successors(self.by_name.get(name).copied(), |id| {
            self.nodes[id.index()].namesake
        })
    }

    /// The node of that name; `None` unless there is exactly one.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        let mut found = self.named(name);
        found.next().filter(|_| found.next().is_none())
    }

    /// The node that `NAME` or `ACCOUNT/NAME` (with any number of accounts) refers to; `None` if
    /// there is none, or several. If a single entity is among several nodes, the name refers to it.
    ///
    /// ```
    /// use job_sort_formula::fairshare::{Member, Naming, TreeBuilder};
    ///
    /// let mut builder = TreeBuilder::new("root").naming(Naming::PerGroup);
    /// let physics = builder.add_under("root", Member::group("physics"))?;
    /// let ann = builder.add(physics, Member::entity("ann"))?;
    /// let on_gpus = builder.add(physics, Member::entity("ann").partition("gpu"))?;
    /// let tree = builder.finish();
    /// assert_eq!([tree.resolve("ann"), tree.resolve("physics/ann:gpu")], [Some(ann), Some(on_gpus)]);
    /// assert_eq!((tree.base_name(on_gpus), tree.partition(on_gpus)), ("ann", Some("gpu")));
    /// # Ok::<(), job_sort_formula::fairshare::TreeError>(())
    /// ```
    pub fn resolve(&self, name: &str) -> Option<NodeId> {
        // nearly every name is unique, and then needs no list; this is called once per job
        if let Some(&node) = self.by_name.get(name)
            && self.nodes[node.index()].namesake.is_none()
        {
            return Some(node);
        }
        let candidates = self.candidates(name);
        let mut entities = candidates
            .iter()
            .filter(|&&node| self.kind(node) == NodeKind::Entity);
        match (entities.next(), entities.next(), candidates.as_slice()) {
            (Some(&single), None, _) | (None, _, &[single]) => Some(single),
            _ => None,
        }
    }

    /// Every node that [`resolve`](Self::resolve) chooses from.
    pub fn candidates(&self, name: &str) -> Vec<NodeId> {
        let named: Vec<NodeId> = self.named(name).collect();
        match name.rsplit_once('/') {
            // a name may contain a `/` itself
            Some((accounts, name)) if named.is_empty() => {
                let account = accounts.rsplit('/').next().unwrap_or_default();
                let mut candidates = self.named_in(account, name).to_vec();
                candidates.retain(|&node| {
                    let mut ancestors = self.ancestors(node);
                    accounts.rsplit('/').all(|account| {
                        ancestors
                            .next()
                            .is_some_and(|node| self.name(node) == account)
                    })
                });
                candidates
            }
            _ => named,
        }
    }

    /// The child of `group` with that name. If an entity and a group have it, returns the entity.
    pub fn find_in(&self, group: NodeId, name: &str) -> Option<NodeId> {
        let named = self.named_in(self.name(group), name).iter().copied();
        named
            .filter(|&id| self.parent(id) == Some(group))
            .min_by_key(|&id| self.kind(id) != NodeKind::Entity)
    }

    /// The nodes of this name under the nodes of another name, the latest first.
    fn named_in(&self, parent: &str, name: &str) -> &[NodeId] {
        let all = self.by_account.get_or_init(|| {
            let mut nodes: Vec<NodeId> = self.nodes().skip(1).collect();
            nodes.sort_unstable_by(|&one, &other| {
                (self.parent_and_name(one), Reverse(one))
                    .cmp(&(self.parent_and_name(other), Reverse(other)))
            });
            nodes
        });
        let start = all.partition_point(|&node| self.parent_and_name(node) < (parent, name));
        let end = all.partition_point(|&node| self.parent_and_name(node) <= (parent, name));
        &all[start..end]
    }

    fn parent_and_name(&self, node: NodeId) -> (&str, &str) {
        let node = &self.nodes[node.index()];
        (&self.nodes[node.parent as usize].name, &node.name)
    }
}

/// Sorts the nodes by their parents with a counting sort. Returns the index of each node's first
/// child in the list of children, and that list.
fn child_lists(nodes: &[Node]) -> (Vec<u32>, Vec<NodeId>) {
    let mut first = vec![0u32; nodes.len() + 1];
    // all but the root have a parent
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
