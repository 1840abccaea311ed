//! The fair-share tree: groups and entities with their shares and their usage.
//!
//! The tree is an arena with every parent before its children, so that a forward pass distributes
//! from the root down and a backward pass sums from the leaves up. Nothing here recurses, however
//! deep the tree. It is built from the root down; every node is checked as it is added.

use std::collections::HashMap;
use std::iter;
use std::sync::Arc;

/// The index of a node in its [`ShareTree`]. A parent's index is lower than its children's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub(super) u32);

impl NodeId {
    /// The index as a number, `0..tree.len()`; the root is 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// An error unless a tree of so many nodes has the node.
    fn check(self, nodes: usize) -> Result<(), TreeError> {
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
struct Node {
    /// What was added; its usage is that of the node itself.
    member: Member,
    parent: u32,
    /// The node of the same name that was added before this one.
    namesake: Option<NodeId>,
}

/// For every node the nodes of a list that it owns, such as its children.
pub(super) type NodeLists = Vec<Vec<NodeId>>;

/// A fair-share tree of groups and entities, built by a
/// [`TreeBuilder`].
///
/// # Panics
/// The methods that take a [`NodeId`], except for [`charge`](Self::charge), panic on one that
/// belongs to a larger tree.
#[derive(Debug, Clone)]
pub struct ShareTree {
    builder: TreeBuilder,
    /// The usage of the node and of all nodes below it.
    usage: Vec<f64>,
    /// Whether the usage of every node is the sum of its own usage and the usage of its children.
    is_summed: bool,
    /// The children of each node, in the order they were added.
    children: NodeLists,
}

impl ShareTree {
    /// The root of the tree.
    pub fn root(&self) -> NodeId {
        NodeId(0)
    }

    /// The number of nodes, the root included: at least 1.
    #[expect(clippy::len_without_is_empty, reason = "a tree always has its root")]
    pub fn len(&self) -> usize {
        self.builder.nodes.len()
    }

    /// Every node, parents before children, else in the order they were added.
    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + use<> {
        // it fits, since there are at most `MAX_NODES`
        (0..self.builder.nodes.len() as u32).map(NodeId)
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

    fn member(&self, node: NodeId) -> &Member {
        &self.builder.nodes[node.index()].member
    }

    /// The kind of the node.
    pub fn kind(&self, node: NodeId) -> NodeKind {
        self.member(node).kind
    }

    /// The shares of the node among its siblings; those of the root have no meaning.
    pub fn shares(&self, node: NodeId) -> Shares {
        self.member(node).shares
    }

    /// The usage charged to the node itself, in the site's unit.
    pub fn own_usage(&self, node: NodeId) -> f64 {
        self.member(node).usage
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

    pub(super) fn user_count(&self) -> u32 {
        let is_user = |node: &&Node| node.member.kind == NodeKind::Entity;
        self.builder.nodes.iter().filter(is_user).count() as u32
    }

    /// The parent, `None` for the root.
    pub fn parent(&self, node: NodeId) -> Option<NodeId> {
        (node.0 != 0).then(|| NodeId(self.builder.nodes[node.index()].parent))
    }

    /// The children, in the order they were added.
    pub fn children(&self, node: NodeId) -> &[NodeId] {
        &self.children[node.index()]
    }

    /// The parent, its parent, and so on up to the root.
    pub fn ancestors(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        iter::successors(self.parent(node), |&above| self.parent(above))
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
        // all are checked before any is changed, so that an error leaves the tree as it is
        let above = self.ancestors(node).map(|above| self.usage(above));
        for usage in [self.own_usage(node), self.usage(node)]
            .into_iter()
            .chain(above)
        {
            // one that `set_usage` has made infinite cannot overflow
            if usage < f64::INFINITY && usage + amount == f64::INFINITY {
                return TreeError::invalid(format!(
                    "cannot charge {amount} to `{name}`: its usage, or that of a node above it, would be infinite"
                ));
            }
        }
        self.add_usage(node, amount);
        Ok(())
    }

    /// Adds any amount, also a negative one, to the usage of a node and of all nodes above it. One
    /// that is not finite makes fair-share numbers NaN; [`charge`](Self::charge) refuses it.
    pub fn add_usage(&mut self, node: NodeId, amount: f64) {
        self.builder.nodes[node.index()].member.usage += amount;
        self.usage[node.index()] += amount;
        self.add_to_ancestors(node, amount);
    }

    /// Adds a node, whose usage is added to that of all nodes above it. The scheduler of OpenPBS
    /// gives a node without usage 1, which is not added to the groups above it: set it with
    /// [`set_usage`](Self::set_usage) afterwards.
    ///
    /// # Errors
    /// Any [`TreeError`]; the tree is then unchanged.
    ///
    /// ```
    /// use job_sort_formula::fairshare::{Member, TreeBuilder};
    ///
    /// let mut builder = TreeBuilder::new("root");
    /// let physics = builder.add_under("root", Member::group("physics"))?;
    /// builder.add(physics, Member::entity("ada").usage(60.0))?;
    /// let mut tree = builder.finish();
    /// let emmy = tree.add(physics, Member::entity("emmy").usage(5.0))?;
    /// assert_eq!((tree.find("emmy"), tree.usage(tree.root())), (Some(emmy), 65.0));
    /// # Ok::<(), job_sort_formula::fairshare::TreeError>(())
    /// ```
    pub fn add(&mut self, parent: NodeId, member: Member) -> Result<NodeId, TreeError> {
        let usage = member.usage;
        let node = self.builder.add(parent, member)?;
        self.usage.push(usage);
        self.children.push(Vec::new());
        self.children[parent.index()].push(node);
        // summed again and not added: the last bit would depend on when a node was added
        if usage != 0.0 && self.is_summed {
            self.sum_ancestors(node);
        } else {
            self.add_to_ancestors(node, usage);
        }
        Ok(node)
    }

    /// Multiplies every usage by `factor`: one step of decay. OpenPBS charges what running jobs
    /// have used before it decays.
    ///
    /// # Errors
    /// The factor is not a number from 0 to 1; the tree is then unchanged.
    pub fn decay(&mut self, factor: f64) -> Result<(), TreeError> {
        // refuses a NaN too, with which no comparison is true
        if !(0.0..=1.0).contains(&factor) {
            return TreeError::invalid(format!(
                "the factor of decay is {factor}, expected a number from 0 to 1"
            ));
        }
        // the totals stay sums, but for their last bits, so `is_summed` is kept
        for node in &mut self.builder.nodes {
            node.member.usage *= factor;
        }
        for usage in &mut self.usage {
            *usage *= factor;
        }
        Ok(())
    }

    /// Replaces every usage `u` by `step(u)`; an own usage of 0 stays 0. The usage of a group may
    /// then differ from the sum of its members'.
    pub fn decay_with(&mut self, step: impl Fn(f64) -> f64) {
        for node in &mut self.builder.nodes {
            // a floor would give a usage of their own to all nodes that have none
            let own = &mut node.member.usage;
            if *own != 0.0 {
                *own = step(*own);
            }
        }
        for usage in &mut self.usage {
            *usage = step(*usage);
        }
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

    /// Sums the usage of the nodes above a node again, in the order in which a built tree has it.
    fn sum_ancestors(&mut self, node: NodeId) {
        let mut index = node.index();
        while index != 0 {
            index = self.builder.nodes[index].parent as usize;
            let mut usage = self.builder.nodes[index].member.usage;
            // backwards, in the order in which `TreeBuilder::finish` adds them
            for child in self.children(NodeId(index as u32)).iter().rev() {
                usage += self.usage[child.index()];
            }
            self.usage[index] = usage;
        }
    }

    fn add_to_ancestors(&mut self, node: NodeId, amount: f64) {
        let mut index = node.index();
        while index != 0 {
            index = self.builder.nodes[index].parent as usize;
            self.usage[index] += amount;
        }
    }
}

/// Names and paths.
impl ShareTree {
    /// The node's name; `user:partition` for an association with a partition.
    pub fn name(&self, node: NodeId) -> &str {
        &self.member(node).name
    }

    /// The partition of a user's association; `None` if it applies to all partitions.
    pub fn partition(&self, node: NodeId) -> Option<&str> {
        self.member(node).partition.as_deref()
    }

    /// The node's name without its partition.
    pub fn base_name(&self, node: NodeId) -> &str {
        let name = self.name(node);
        match self.partition(node) {
            // `Member::partition` has joined the two with a colon
            Some(partition) => &name[..name.len() - partition.len() - 1],
            None => name,
        }
    }

    /// Every node with a partition, in the order of [`nodes`](Self::nodes).
    pub fn nodes_with_partition(&self) -> Vec<NodeId> {
        let mut nodes: Vec<NodeId> = self.nodes().collect();
        nodes.retain(|&node| self.partition(node).is_some());
        nodes
    }

    /// The names from the first level down to the node; empty for the root.
    pub fn path(&self, node: NodeId) -> Vec<&str> {
        let mut path = Vec::new();
        let mut below = node;
        while let Some(parent) = self.parent(below) {
            path.push(self.name(below));
            below = parent;
        }
        path.reverse();
        path
    }

    /// Every node of that name, the latest first. Only a tree with
    /// [`Naming::PerGroup`] has several.
    pub fn named(&self, name: &str) -> impl Iterator<Item = NodeId> + '_ {
        iter::successors(self.builder.by_name.get(name).copied(), |id| {
            self.builder.nodes[id.index()].namesake
        })
    }

    /// The node of that name; `None` unless there is exactly one.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        let &node = self.builder.by_name.get(name)?;
        let is_unique = self.builder.nodes[node.index()].namesake.is_none();
        is_unique.then_some(node)
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
        let mut candidates = self.candidates(name);
        if candidates.len() > 1 {
            candidates.retain(|&node| self.kind(node) == NodeKind::Entity);
        }
        match candidates.as_slice() {
            &[single] => Some(single),
            _ => None,
        }
    }

    /// Every node that [`resolve`](Self::resolve) chooses from.
    pub fn candidates(&self, name: &str) -> Vec<NodeId> {
        let named: Vec<NodeId> = self.named(name).collect();
        let Some((accounts, name)) = name.rsplit_once('/') else {
            return named;
        };
        // a name may contain a `/` itself
        if !named.is_empty() {
            return named;
        }
        let account = accounts.rsplit('/').next().unwrap_or_default();
        let mut candidates = Vec::new();
        // only one node of a name can have children
        if let Some(account) = self.builder.group_named(account) {
            candidates.extend(self.named_under(account, name));
        }
        candidates.retain(|&node| self.is_below(node, accounts));
        candidates
    }

    /// Whether the nodes above a node have these names, `account/subaccount`.
    fn is_below(&self, node: NodeId, accounts: &str) -> bool {
        let mut below = node;
        for account in accounts.rsplit('/') {
            match self.parent(below) {
                Some(parent) if self.name(parent) == account => below = parent,
                _ => return false,
            }
        }
        true
    }

    /// The child of `group` with that name. If an entity and a group have it, returns the entity.
    pub fn find_in(&self, group: NodeId, name: &str) -> Option<NodeId> {
        self.named_under(group, name).next()
    }

    /// The entity and the group of this name under a node.
    fn named_under(&self, parent: NodeId, name: &str) -> impl Iterator<Item = NodeId> {
        let name: Arc<str> = name.into();
        let by_place = &self.builder.by_place;
        let entity = by_place.get(&(parent.0, name.clone()));
        let group = by_place.get(&(GROUPS, name));
        // the only group of this name may be elsewhere in the tree
        let group = group.filter(|group| self.parent(**group) == Some(parent));
        entity.into_iter().chain(group).copied()
    }
}

/// Why a tree cannot be built or changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// The name is taken, under the rule of the [`Naming`].
    #[error("`{name}` is already in the tree, under `{parent}`")]
    DuplicateName {
        /// The name of the new node.
        name: String,
        /// The parent of the node with that name.
        parent: String,
    },
    /// Any other reason, in words.
    #[error("{0}")]
    Invalid(String),
}

impl TreeError {
    pub(super) fn invalid<T>(reason: impl Into<String>) -> Result<T, Self> {
        Err(Self::Invalid(reason.into()))
    }
}

/// Which nodes may have the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Naming {
    /// None: a name identifies a node (OpenPBS).
    #[default]
    Global,
    /// A group's name is unique among groups, an entity's within its group (Slurm's accounts and
    /// users).
    PerGroup,
}

/// A node to be added to a tree: a name and a kind, with 1 share and no usage by default.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    name: Arc<str>,
    kind: NodeKind,
    shares: Shares,
    usage: f64,
    partition: Option<Arc<str>>,
}

impl Member {
    /// A group, which can have children.
    pub fn group(name: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            kind: NodeKind::Group,
            shares: Shares::Count(1),
            usage: 0.0,
            partition: None,
        }
    }

    /// An entity, which has jobs.
    pub fn entity(name: impl Into<Arc<str>>) -> Self {
        Self {
            kind: NodeKind::Entity,
            ..Self::group(name)
        }
    }

    /// Limits the association to one partition (Slurm) and names it `user:partition`: a user may
    /// have one for each partition of an account. An empty name means all partitions.
    #[must_use]
    pub fn partition(self, partition: impl Into<Arc<str>>) -> Self {
        let partition: Arc<str> = partition.into();
        if partition.is_empty() {
            return self;
        }
        Self {
            name: format!("{}:{partition}", self.name).into(),
            partition: Some(partition),
            ..self
        }
    }

    /// Sets the number of shares.
    #[must_use]
    pub fn shares(self, shares: i64) -> Self {
        Self {
            shares: Shares::Count(shares),
            ..self
        }
    }

    /// Gives the node its parent's shares, see [`Shares::Parent`].
    #[must_use]
    pub fn shares_of_parent(self) -> Self {
        Self {
            shares: Shares::Parent,
            ..self
        }
    }

    /// Sets the usage of the node itself, in the site's unit.
    #[must_use]
    pub fn usage(self, usage: f64) -> Self {
        Self { usage, ..self }
    }
}

/// Builds a [`ShareTree`], parents before children.
#[derive(Debug, Clone)]
pub struct TreeBuilder {
    nodes: Vec<Node>,
    /// The latest node of each name.
    by_name: HashMap<Arc<str>, NodeId>,
    naming: Naming,
    /// The nodes by [`place`] and name.
    by_place: HashMap<(u32, Arc<str>), NodeId>,
    lenient: bool,
}

/// Within which an entity's or a group's name is unique with [`Naming::PerGroup`]: the index of
/// the entity's group, or [`GROUPS`].
fn place(kind: NodeKind, parent: u32) -> u32 {
    match kind {
        NodeKind::Entity => parent,
        NodeKind::Root | NodeKind::Group => GROUPS,
    }
}

/// No index of a node.
// indices are less than `MAX_NODES`
const GROUPS: u32 = u32::MAX;

impl TreeBuilder {
    /// The most nodes that a tree may have.
    pub const MAX_NODES: usize = 16_000_000;

    /// A tree with nothing but its root, of this name.
    pub fn new(root: impl Into<Arc<str>>) -> Self {
        let top = Member {
            kind: NodeKind::Root,
            ..Member::group(root)
        };
        let mut builder = Self {
            nodes: Vec::new(),
            by_name: HashMap::new(),
            naming: Naming::Global,
            by_place: HashMap::new(),
            lenient: false,
        };
        // the root is its own parent; walks upwards end at index 0
        builder.push(NodeId(0), top);
        builder
    }

    /// Sets which nodes may have the same name. Call it before the first [`add`](Self::add).
    #[must_use]
    pub fn naming(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    /// Accepts negative shares, any usage, an empty name, and children of entities, as some daemons
    /// do.
    #[must_use]
    pub fn lenient(mut self) -> Self {
        self.lenient = true;
        self
    }

    /// The root, above every node that is added.
    pub fn root(&self) -> NodeId {
        NodeId(0)
    }

    /// The latest node of that name.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        self.by_name.get(name).copied()
    }

    /// Adds usage to a node of the tree, such as the root.
    ///
    /// # Errors
    /// There is no such node, or the usage is not a finite number of at least 0.
    pub fn charge(&mut self, node: NodeId, usage: f64) -> Result<(), TreeError> {
        node.check(self.nodes.len())?;
        let known = &mut self.nodes[node.index()].member;
        if !self.lenient {
            check_usage(&known.name, usage)?;
        }
        known.usage += usage;
        Ok(())
    }

    /// Adds a node under a parent.
    ///
    /// # Errors
    /// Any [`TreeError`]; the tree is then unchanged.
    pub fn add(&mut self, parent: NodeId, member: Member) -> Result<NodeId, TreeError> {
        if self.nodes.len() >= Self::MAX_NODES {
            return TreeError::invalid(format!(
                "the tree would have more than {} nodes",
                Self::MAX_NODES
            ));
        }
        // first, because the messages of the other checks name the parent
        self.check_parent(parent, &member)?;
        if !self.lenient {
            if member.name.is_empty() {
                let parent = &self.nodes[parent.index()].member.name;
                return TreeError::invalid(format!(
                    "a node cannot be added under `{parent}`: its name is empty"
                ));
            }
            member.shares.check(&member.name)?;
            check_usage(&member.name, member.usage)?;
        }
        self.check_name(parent, &member)?;
        Ok(self.push(parent, member))
    }

    /// Adds a node under the parent of that name.
    ///
    /// # Errors
    /// Any [`TreeError`]; the tree is then unchanged.
    pub fn add_under(&mut self, parent: &str, member: Member) -> Result<NodeId, TreeError> {
        match self.group_named(parent) {
            // by way of `group_named`, since a user of Slurm may have the name of an account
            Some(id) => self.add(id, member),
            None => missing_parent(&member, parent),
        }
    }

    /// The tree, with the usage of every node summed over all nodes below it.
    pub fn finish(mut self) -> ShareTree {
        // what is added to the tree is checked
        self.lenient = false;
        let nodes = &self.nodes;
        let mut usage: Vec<f64> = nodes.iter().map(|node| node.member.usage).collect();
        // backwards, so that a node has the usage of all below it before it is added to its parent
        for index in (1..nodes.len()).rev() {
            let total = usage[index];
            usage[nodes[index].parent as usize] += total;
        }
        let mut children: NodeLists = vec![Vec::new(); nodes.len()];
        // all but the root have a parent
        for (id, node) in (0..).map(NodeId).zip(nodes).skip(1) {
            children[node.parent as usize].push(id);
        }
        ShareTree {
            children,
            usage,
            is_summed: true,
            builder: self,
        }
    }

    /// The group of that name, else the latest entity.
    fn group_named(&self, name: &str) -> Option<NodeId> {
        match self.by_place.get(&(GROUPS, name.into())) {
            Some(&group) => Some(group),
            None => self.find(name),
        }
    }

    fn check_parent(&self, parent: NodeId, member: &Member) -> Result<(), TreeError> {
        match self.nodes.get(parent.index()) {
            None => missing_parent(member, &format!("#{}", parent.0)),
            Some(above) if above.member.kind == NodeKind::Entity && !self.lenient => {
                TreeError::invalid(format!(
                    "`{}` cannot be added: its parent `{}` is an entity, not a group",
                    member.name, above.member.name
                ))
            }
            Some(_) => Ok(()),
        }
    }

    fn check_name(&self, parent: NodeId, member: &Member) -> Result<(), TreeError> {
        let name = &member.name;
        let place = place(member.kind, parent.0);
        let is_taken = match self.naming {
            Naming::Global => self.by_name.contains_key(name),
            Naming::PerGroup => self.by_place.contains_key(&(place, name.clone())),
        };
        if !is_taken {
            return Ok(());
        }
        let holder = if self.naming == Naming::PerGroup && member.kind == NodeKind::Entity {
            parent.0
        } else {
            let known = self.group_named(name);
            known.map_or(0, |id| self.nodes[id.index()].parent)
        };
        Err(TreeError::DuplicateName {
            name: name.to_string(),
            parent: self.nodes[holder as usize].member.name.to_string(),
        })
    }

    fn push(&mut self, parent: NodeId, member: Member) -> NodeId {
        // it fits, since `add` allows at most `MAX_NODES`
        let id = NodeId(self.nodes.len() as u32);
        let name = &member.name;
        let namesake = self.by_name.insert(name.clone(), id);
        // under both kinds of naming, because `group_named` looks groups up here
        let place = place(member.kind, parent.0);
        self.by_place.insert((place, name.clone()), id);
        self.nodes.push(Node {
            member,
            parent: parent.0,
            namesake,
        });
        id
    }
}

fn missing_parent<T>(member: &Member, parent: &str) -> Result<T, TreeError> {
    TreeError::invalid(format!(
        "`{}` cannot be added: its parent `{parent}` is not in the tree",
        member.name
    ))
}

fn check_usage(name: &str, usage: f64) -> Result<(), TreeError> {
    if is_usage(usage) {
        return Ok(());
    }
    TreeError::invalid(format!(
        "`{name}` has a usage of {usage}, which is not a finite number of at least 0"
    ))
}

fn is_usage(usage: f64) -> bool {
    usage.is_finite() && usage >= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairshare::policy::documented_openpbs::DocumentedOpenPbs;
    use crate::fairshare::policy::shares_of_node;
    use crate::fairshare::{AssessedTree, EntityShares, FairShare, OpenPbs, Policy};

    /// The worked example at the end of PP-718.
    fn worked_example() -> TreeBuilder {
        let mut builder = TreeBuilder::new("root");
        for (parent, member) in [
            ("root", Member::group("group1").shares(40)),
            ("root", Member::group("group2").shares(60)),
            ("group1", Member::entity("Bob").shares(50).usage(100.0)),
            ("group1", Member::entity("Cathy").shares(50).usage(100.0)),
            ("group2", Member::entity("Suzy").shares(60)),
            ("group2", Member::entity("Scott").shares(40).usage(1000.0)),
        ] {
            builder.add_under(parent, member).expect("a sound example");
        }
        builder
    }

    #[test]
    fn the_worked_example_of_pp718_comes_out_to_the_printed_digits() {
        let assessed = AssessedTree::new(worked_example().finish(), &DocumentedOpenPbs);
        for (name, perc, tree_usage, factor) in [
            ("Bob", "0.20", "0.125", "0.648"),
            ("Suzy", "0.36", "0.500", "0.382"),
            ("group1", "0.40", "0.167", "0.749"),
        ] {
            let shares = shares_of_node(&assessed, name);
            assert_eq!(format!("{:.2}", shares.fairshare_perc), perc, "{name}");
            assert_eq!(
                format!("{:.3}", shares.fairshare_tree_usage),
                tree_usage,
                "{name}"
            );
            assert_eq!(format!("{:.3}", shares.fairshare_factor), factor, "{name}");
        }
        assert_eq!(
            format!(
                "{:.2}",
                assessed
                    .shares_of("Scott")
                    .expect("in the tree")
                    .fairshare_perc
            ),
            "0.24"
        );
        let tree = assessed.tree();
        assert_eq!(tree.usage(tree.root()), 1200.0);
        assert_eq!(
            tree.path(tree.find("Bob").expect("in the tree")),
            ["group1", "Bob"]
        );
    }

    #[test]
    fn without_shares_or_usage_nothing_is_divided_by_zero() {
        let mut builder = TreeBuilder::new("root");
        let idle = builder
            .add(builder.root(), Member::group("idle").shares(0))
            .expect("sound");
        builder
            .add(idle, Member::entity("a").shares(5))
            .expect("sound");
        builder
            .add(builder.root(), Member::entity("b").shares(1))
            .expect("sound");
        let assessed = AssessedTree::new(builder.finish(), &DocumentedOpenPbs);
        assert_eq!(
            assessed.shares_of("a"),
            Some(EntityShares::from_policy(0.0, 0.0, 0.0))
        );
        assert_eq!(
            assessed.shares_of("b"),
            Some(EntityShares::from_policy(1.0, 0.0, 1.0))
        );
        assert_eq!(assessed.shares_of("nobody"), None);
    }

    #[test]
    fn a_node_with_fairshare_parent_has_its_parents_numbers() {
        let mut builder = worked_example();
        builder
            .add_under("group1", Member::entity("Paul").shares_of_parent())
            .expect("sound");
        let assessed = AssessedTree::new(builder.finish(), &DocumentedOpenPbs);
        assert_eq!(
            assessed.shares_of("Paul"),
            Some(shares_of_node(&assessed, "group1"))
        );
        assert_eq!(
            assessed.shares_of("Bob").map(|bob| bob.fairshare_perc),
            Some(0.2)
        );
    }

    #[test]
    fn the_builder_reports_what_is_wrong() {
        let mut builder = worked_example();
        let dan = Member::entity("Dan");
        for (parent, member, expected) in [
            (
                "group2",
                Member::entity("Bob"),
                "`Bob` is already in the tree, under `group1`",
            ),
            (
                "group3",
                dan.clone(),
                "`Dan` cannot be added: its parent `group3` is not in the tree",
            ),
            (
                "Bob",
                dan.clone(),
                "`Dan` cannot be added: its parent `Bob` is an entity, not a group",
            ),
            (
                "root",
                dan.clone().shares(-3),
                "`Dan` has negative shares, -3",
            ),
            (
                "root",
                dan.clone().usage(-1.0),
                "`Dan` has a usage of -1, which is not a finite number of at least 0",
            ),
            (
                "root",
                dan.clone().usage(f64::NAN),
                "`Dan` has a usage of NaN, which is not a finite number of at least 0",
            ),
            (
                "root",
                dan.usage(f64::INFINITY),
                "`Dan` has a usage of inf, which is not a finite number of at least 0",
            ),
        ] {
            assert_eq!(
                builder
                    .add_under(parent, member)
                    .expect_err("unsound")
                    .to_string(),
                expected
            );
        }
        let second_root = builder
            .add_under("root", Member::group("root"))
            .expect_err("unsound");
        assert!(second_root.to_string().contains("already in the tree"));
        builder
            .add_under("root", Member::entity("Dan"))
            .expect("a refused name is still free");
    }

    #[test]
    fn users_may_share_a_name_if_their_accounts_differ() {
        let mut builder = TreeBuilder::new("root").naming(Naming::PerGroup);
        let root_user = builder
            .add(builder.root(), Member::entity("root"))
            .expect("a user `root` is no account");
        let a = builder
            .add(builder.root(), Member::group("a"))
            .expect("sound");
        let b = builder.add_under("a", Member::group("b")).expect("sound");
        let in_a = builder
            .add(a, Member::entity("ann").usage(1.0))
            .expect("sound");
        let in_b = builder
            .add_under("b", Member::entity("ann").usage(2.0))
            .expect("sound");
        builder
            .add(b, Member::entity("b"))
            .expect("a user may be named like an account");
        assert!(builder.add(b, Member::entity("ann")).is_err());
        assert!(builder.add(a, Member::group("root")).is_err());
        let mut tree = builder.finish();
        assert_eq!(tree.find("ann"), None);
        assert_eq!(tree.named("ann").collect::<Vec<_>>(), [in_b, in_a]);
        assert_eq!(tree.find_in(a, "ann"), Some(in_a));
        assert_eq!(tree.parent(root_user), Some(tree.root()));
        tree.charge(in_b, 4.0).expect("a usage");
        assert_eq!(
            (tree.usage(b), tree.usage(a), tree.own_usage(in_b)),
            (6.0, 7.0, 6.0)
        );
        tree.decay(0.5).unwrap();
        let bits = tree.usage(tree.root()).to_bits();
        for factor in [f64::NAN, -0.5, 1.5, f64::INFINITY] {
            assert!(
                matches!(tree.decay(factor), Err(TreeError::Invalid(_))),
                "{factor}"
            );
        }
        assert_eq!(tree.usage(tree.root()).to_bits(), bits);
        assert_eq!(tree.usage(tree.root()), 3.5);
        let assessed = AssessedTree::new(tree, &DocumentedOpenPbs);
        assert_eq!(assessed.shares_of("b/ann"), assessed.shares().get(in_b));
    }

    #[test]
    fn huge_shares_do_not_overflow() {
        let mut builder = TreeBuilder::new("root");
        for name in ["a", "b", "c", "d"] {
            builder
                .add_under("root", Member::entity(name).shares(i64::MAX))
                .expect("sound");
        }
        let assessed = AssessedTree::new(builder.finish(), &DocumentedOpenPbs);
        assert_eq!(
            assessed.shares_of("d").map(|shares| shares.fairshare_perc),
            Some(0.25)
        );
    }

    #[test]
    fn a_chain_of_100_000_levels_works() {
        let mut builder = TreeBuilder::new("root");
        let mut at = builder.root();
        for level in 0..100_000 {
            at = builder
                .add(at, Member::group(format!("g{level}")))
                .expect("sound");
        }
        let leaf = builder
            .add(at, Member::entity("leaf").usage(7.0))
            .expect("sound");
        let assessed = AssessedTree::new(builder.finish(), &DocumentedOpenPbs);
        assert_eq!(
            assessed.shares().get(leaf),
            Some(EntityShares::from_policy(1.0, 1.0, 0.5))
        );
        assert_eq!(assessed.tree().path(leaf).len(), 100_001);
    }

    #[test]
    fn a_million_entities_work() {
        let mut builder = TreeBuilder::new("root");
        let groups: Vec<NodeId> = (0..1000)
            .map(|group| {
                builder
                    .add(builder.root(), Member::group(format!("g{group}")))
                    .expect("sound")
            })
            .collect();
        for entity in 0..1_000_000u32 {
            let group = groups[entity as usize % 1000];
            builder
                .add(group, Member::entity(format!("e{entity}")).usage(1.0))
                .expect("sound");
        }
        let assessed = AssessedTree::new(builder.finish(), &DocumentedOpenPbs);
        let last = assessed.shares_of("e999999").expect("in the tree");
        assert!((last.fairshare_perc - 1e-6).abs() < 1e-18);
        assert!((last.fairshare_tree_usage - 1.999e-6).abs() < 1e-15);
    }

    /// Every account has a user of the same name, so a search that compares all of them would take
    /// the square of the accounts.
    #[test]
    fn a_user_is_found_by_account_among_200_000_namesakes() {
        const ACCOUNTS: usize = 200_000;
        let mut builder = TreeBuilder::new("root").naming(Naming::PerGroup);
        let mut users = Vec::new();
        for account in 0..ACCOUNTS {
            let group = builder
                .add_under("root", Member::group(format!("a{account}")))
                .expect("sound");
            users.push(builder.add(group, Member::entity("u")).expect("sound"));
        }
        let inner = builder
            .add_under("a7", Member::group("a7x"))
            .expect("sound");
        let nested = builder.add(inner, Member::entity("u")).expect("sound");
        let tree = builder.finish();
        for (account, user) in users.into_iter().enumerate() {
            assert_eq!(tree.resolve(&format!("a{account}/u")), Some(user));
            assert_eq!(tree.candidates(&format!("a{account}/u")), [user]);
        }
        assert_eq!(tree.resolve("a7/a7x/u"), Some(nested));
        assert_eq!(
            [
                tree.resolve("a8/a7x/u"),
                tree.resolve("a7/v"),
                tree.resolve("u")
            ],
            [None; 3]
        );
        assert_eq!(tree.find_in(inner, "u"), Some(nested));
    }

    #[test]
    fn only_entities_have_the_shares_of_a_job() {
        let assessed = AssessedTree::new(worked_example().finish(), &DocumentedOpenPbs);
        assert_eq!(
            ["root", "group1", "nobody"].map(|name| assessed.shares_of(name)),
            [None; 3]
        );
        // OpenPBS's scheduler looks a name up among all nodes
        let assessed = AssessedTree::new(worked_example().finish(), &OpenPbs);
        assert_eq!(
            assessed.shares_of("group1"),
            Some(shares_of_node(&assessed, "group1"))
        );
        assert_eq!(
            ["root", "nobody"].map(|name| assessed.shares_of(name)),
            [None; 2]
        );

        let mut builder = TreeBuilder::new("root").naming(Naming::PerGroup);
        let root = builder
            .add_under("root", Member::entity("root").shares(3))
            .expect("sound");
        let assessed = AssessedTree::new(builder.finish(), &DocumentedOpenPbs);
        assert_eq!(assessed.shares_of("root"), assessed.shares().get(root));
    }

    #[test]
    fn a_tree_to_which_a_node_is_added_is_the_one_that_is_built_with_it() {
        let member = Member::entity("Emmy").shares(3).usage(20.5);
        let mut builder = worked_example();
        let mut tree = builder.clone().finish();
        let group = tree.find("group1").expect("in the tree");
        let built = builder.add(group, member.clone()).expect("a new name");
        let built_tree = builder.finish();
        assert_eq!(tree.add(group, member.clone()), Ok(built));
        assert_eq!(OpenPbs.assess(&tree), OpenPbs.assess(&built_tree));
        for node in tree.nodes() {
            assert_eq!(tree.usage(node).to_bits(), built_tree.usage(node).to_bits());
        }
        assert_eq!(tree.children(group), built_tree.children(group));
        assert_eq!(tree.find_in(group, "Emmy"), Some(built));
        let refused = tree.add(group, member).expect_err("the name is taken");
        assert_eq!(
            refused.to_string(),
            "`Emmy` is already in the tree, under `group1`"
        );
        assert_eq!(
            (tree.len(), tree.find("Emmy")),
            (built_tree.len(), Some(built))
        );
    }

    #[test]
    fn usage_that_is_added_is_summed_as_in_a_tree_that_is_built() {
        let mut builder = TreeBuilder::new("root");
        for (name, usage) in [("ada", 0.1), ("emmy", 0.2)] {
            let member = Member::entity(name).usage(usage);
            builder.add_under("root", member).expect("a new name");
        }
        let member = Member::entity("grace").usage(0.3);
        let mut tree = builder.clone().finish();
        tree.add(tree.root(), member.clone()).expect("a new name");
        builder.add_under("root", member).expect("a new name");
        // from the first node on the sum is 0.6000000000000001
        assert_eq!(
            (tree.usage(tree.root()), builder.finish().usage(tree.root())),
            (0.6, 0.6)
        );
    }

    #[test]
    fn the_builder_refuses_nodes_that_it_does_not_have() {
        let mut larger = worked_example();
        let unknown = larger.find("Scott").expect("in the tree");
        let mut builder = TreeBuilder::new("root");
        let error = Err(unknown_node(unknown));
        assert_eq!(builder.charge(unknown, 1.0), error);
        assert_eq!(builder.clone().finish().charge(unknown, 1.0), error);
        assert!(builder.add(unknown, Member::entity("ann")).is_err());

        let nameless = larger
            .add_under("root", Member::entity(""))
            .expect_err("no name");
        assert_eq!(
            nameless.to_string(),
            "a node cannot be added under `root`: its name is empty"
        );
    }

    #[test]
    fn a_charge_that_overflows_changes_nothing() {
        let mut builder = TreeBuilder::new("root");
        let root = builder.root();
        let [ann, bob] =
            ["ann", "bob"].map(|name| builder.add(root, Member::entity(name)).expect("a new name"));
        let mut tree = builder.finish();
        tree.charge(ann, 1e308).expect("a usage");
        let refused = tree.charge(bob, 1e308);
        assert!(
            matches!(&refused, Err(error) if error.to_string().contains("would be infinite")),
            "{refused:?}"
        );
        assert_eq!(
            [tree.usage(bob), tree.own_usage(bob), tree.usage(root)],
            [0.0, 0.0, 1e308]
        );
    }

    fn unknown_node(node: NodeId) -> TreeError {
        TreeError::Invalid(format!("the tree has no node with the index {}", node.0))
    }
}
