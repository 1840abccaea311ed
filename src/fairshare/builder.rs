//! Builds a [`ShareTree`] from the root down; every node is checked as it is added.

use std::sync::Arc;

use std::collections::{HashMap, HashSet};

use crate::fairshare::decay::IntervalDecay;
use crate::fairshare::tree::{Node, NodeId, NodeKind, ShareTree, Shares};

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
    /// The partition of each association that has one.
    partitions: HashMap<NodeId, Arc<str>>,
    lenient: bool,
    removed: HashSet<NodeId>,
    /// The usage that the first nodes had in the tree from which they are.
    before: UsageBefore,
}

/// The usage of the nodes of a tree before it is changed.
#[derive(Debug, Clone, Default)]
struct UsageBefore {
    own: Vec<f64>,
    /// That of each node and of all nodes below it, or a daemon's running totals.
    total: Vec<f64>,
    are_running_totals: bool,
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
        let mut builder = Self::empty();
        builder.push(NodeId(0), top);
        builder
    }

    /// A tree without a root.
    fn empty() -> Self {
        Self {
            nodes: Vec::new(),
            by_name: HashMap::new(),
            naming: Naming::Global,
            by_place: HashMap::new(),
            partitions: HashMap::new(),
            lenient: false,
            removed: HashSet::new(),
            before: UsageBefore::default(),
        }
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
        self.check_node(node)?;
        let known = &mut self.nodes[node.index()];
        if !self.lenient {
            check_usage(&known.name, usage)?;
        }
        known.own_usage += usage;
        Ok(())
    }

    /// Removes a node and all nodes below it. [`finish`](Self::finish) then gives new ids to the
    /// nodes that were added after it; until then, all ids stay valid.
    ///
    /// # Errors
    /// There is no such node, or it is the root.
    pub fn remove(&mut self, node: NodeId) -> Result<(), TreeError> {
        self.check_node(node)?;
        if node.0 == 0 {
            let name = &self.nodes[0].name;
            return TreeError::invalid(format!(
                "`{name}` is the root of the tree and cannot be removed"
            ));
        }
        let mut below: HashSet<u32> = HashSet::from_iter([node.0]);
        // parents precede their children, so one pass forward finds all nodes below
        for index in node.0..self.nodes.len() as u32 {
            if index == node.0 || below.contains(&self.nodes[index as usize].parent) {
                below.insert(index);
                // a node that was removed before has given up its name, another may have it
                if !self.removed.contains(&NodeId(index)) {
                    self.release_name(NodeId(index));
                }
            }
        }
        Ok(())
    }

    /// Lets another node have the name of a removed one.
    fn release_name(&mut self, node: NodeId) {
        self.removed.insert(node);
        let Node {
            name,
            parent,
            kind,
            namesake,
            ..
        } = self.nodes[node.index()].clone();
        // only the latest node of a name is in the map; its removal uncovers an earlier one
        if self.by_name.get(&name) == Some(&node) {
            let mut earlier = std::iter::successors(namesake, |id| self.nodes[id.index()].namesake);
            match earlier.find(|id| !self.removed.contains(id)) {
                Some(earlier) => _ = self.by_name.insert(name.clone(), earlier),
                None => _ = self.by_name.remove(&name),
            }
        }
        self.by_place.remove(&(place(kind, parent), name));
    }

    fn check_node(&self, node: NodeId) -> Result<(), TreeError> {
        if self.removed.contains(&node) {
            return node.check(0);
        }
        node.check(self.nodes.len())
    }

    /// The builder without the removed nodes.
    fn without_removed(self) -> Self {
        let mut kept = Self {
            naming: self.naming,
            lenient: self.lenient,
            ..Self::empty()
        };
        // a parent is renumbered before its children, and is not removed unless they are
        let mut new_ids = vec![NodeId(0); self.nodes.len()];
        for (index, node) in self.nodes.into_iter().enumerate() {
            let id = NodeId(index as u32);
            if !self.removed.contains(&id) {
                let Node {
                    name,
                    parent,
                    kind,
                    shares,
                    own_usage,
                    ..
                } = node;
                let partition = self.partitions.get(&id).cloned();
                let member = Member {
                    name,
                    kind,
                    shares,
                    usage: own_usage,
                    partition,
                };
                new_ids[index] = kept.push(new_ids[parent as usize], member);
            }
        }
        kept
    }

    /// A builder with the nodes of a tree.
    pub(super) fn from_tree(tree: ShareTree) -> Self {
        let ShareTree {
            nodes,
            usage,
            is_summed,
            by_name,
            partitions,
            naming,
            ..
        } = tree;
        let mut by_place = HashMap::new();
        for (index, node) in nodes.iter().enumerate() {
            let key = (place(node.kind, node.parent), node.name.clone());
            by_place.insert(key, NodeId(index as u32));
        }
        let before = UsageBefore {
            own: nodes.iter().map(|node| node.own_usage).collect(),
            total: usage,
            are_running_totals: !is_summed,
        };
        Self {
            nodes,
            by_name,
            naming,
            by_place,
            partitions,
            before,
            ..Self::empty()
        }
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
        self.check_parent(parent, &member)?;
        if !self.lenient {
            if member.name.is_empty() {
                let parent = &self.nodes[parent.index()].name;
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
            Some(id) => self.add(id, member),
            None => missing_parent(&member, parent),
        }
    }

    /// The tree, with the usage of every node summed over all nodes below it. In a builder [from a
    /// tree](ShareTree::into_builder), the usage of nodes changes only where usage came or went.
    pub fn finish(self) -> ShareTree {
        // before any node is dropped, as the usage before is by the old ids
        let mut usage = self.total_usage();
        let is_summed = !self.before.are_running_totals;
        let mut builder = self;
        if !builder.removed.is_empty() {
            let mut ids = (0..).map(NodeId);
            usage.retain(|_| ids.next().is_some_and(|id| !builder.removed.contains(&id)));
            builder = builder.without_removed();
        }
        ShareTree::from_nodes(
            builder.nodes,
            usage,
            is_summed,
            builder.by_name,
            builder.partitions,
            builder.naming,
        )
    }

    /// The usage of each node and of all nodes below it. Where none came or went, it is that of the
    /// tree before. Elsewhere it is summed again or, where a daemon's running totals are no sums,
    /// changed by the difference.
    fn total_usage(&self) -> Vec<f64> {
        let before = &self.before;
        let mut total = Vec::with_capacity(self.nodes.len());
        let mut change = Vec::with_capacity(self.nodes.len());
        let mut is_changed = Vec::with_capacity(self.nodes.len());
        for (index, node) in self.nodes.iter().enumerate() {
            let is_removed = self.removed.contains(&NodeId(index as u32));
            let own = if is_removed { 0.0 } else { node.own_usage };
            let own_before = before.own.get(index).copied().unwrap_or(0.0);
            total.push(own);
            change.push(own - own_before);
            // bits, because a lenient tree may hold a NaN, which is never equal to itself
            is_changed.push(own.to_bits() != own_before.to_bits());
        }
        // backwards, so that a node has all of its change before that is added to its parent
        for index in (1..self.nodes.len()).rev() {
            let parent = self.nodes[index].parent as usize;
            is_changed[parent] |= is_changed[index];
            change[parent] += change[index];
        }
        for (index, &before_change) in before.total.iter().enumerate() {
            if !is_changed[index] {
                total[index] = before_change;
            } else if before.are_running_totals {
                total[index] = changed_total(before_change, change[index]);
            }
        }
        for index in (1..self.nodes.len()).rev() {
            let parent = self.nodes[index].parent as usize;
            let is_new = parent >= before.total.len();
            if is_new || !before.are_running_totals && is_changed[parent] {
                total[parent] += total[index];
            }
        }
        total
    }

    /// The group of that name, else the latest entity.
    fn group_named(&self, name: &str) -> Option<NodeId> {
        let group = self.by_place.get(&(GROUPS, name.into())).copied();
        group.or_else(|| self.find(name))
    }

    fn check_parent(&self, parent: NodeId, member: &Member) -> Result<(), TreeError> {
        match self.nodes.get(parent.index()) {
            None => missing_parent(member, &format!("#{}", parent.0)),
            Some(above) if self.removed.contains(&parent) => missing_parent(member, &above.name),
            Some(above) if above.kind == NodeKind::Entity && !self.lenient => {
                TreeError::invalid(format!(
                    "`{}` cannot be added: its parent `{}` is an entity, not a group",
                    member.name, above.name
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
            parent: self.nodes[holder as usize].name.to_string(),
        })
    }

    fn push(&mut self, parent: NodeId, member: Member) -> NodeId {
        let Member {
            name,
            kind,
            shares,
            usage,
            partition,
        } = member;
        // it fits, since `add` allows at most `MAX_NODES`
        let id = NodeId(self.nodes.len() as u32);
        let namesake = self.by_name.insert(name.clone(), id);
        self.by_place
            .insert((place(kind, parent.0), name.clone()), id);
        self.partitions
            .extend(partition.map(|partition| (id, partition)));
        self.nodes.push(Node {
            name,
            parent: parent.0,
            kind,
            shares,
            own_usage: usage,
            namesake,
        });
        id
    }
}

/// A running total after a change of the usage at or below the node. What leaves may be more than
/// the total has of it, because a decay has a floor for each node; the total keeps this floor then.
fn changed_total(total: f64, change: f64) -> f64 {
    let changed = total + change;
    if change < 0.0 {
        changed.max(total.min(IntervalDecay::FLOOR))
    } else {
        changed
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

pub(super) fn is_usage(usage: f64) -> bool {
    usage.is_finite() && usage >= 0.0
}
