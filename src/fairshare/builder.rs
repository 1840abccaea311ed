//! Builds a [`ShareTree`] from the root down; every node is checked as it is added.

use std::sync::Arc;

use std::collections::{HashMap, HashSet};

use crate::fairshare::decay::IntervalDecay;
use crate::fairshare::tree::{Node, NodeId, NodeKind, ShareTree, Shares};

/// Why a tree cannot be built or changed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
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
    /// The parent is not in the tree: parents are added before children.
    #[error("`{name}` cannot be added: its parent `{parent}` is not in the tree")]
    UnknownParent {
        /// The name of the new node.
        name: String,
        /// The parent of the new node.
        parent: String,
    },
    /// An entity cannot have children.
    #[error("`{name}` cannot be added: its parent `{parent}` is an entity, not a group")]
    ParentIsEntity {
        /// The name of the new node.
        name: String,
        /// The entity that was given as the parent.
        parent: String,
    },
    /// Negative shares.
    #[error("`{name}` has negative shares, {shares}")]
    NegativeShares {
        /// The name of the node.
        name: String,
        /// Its shares.
        shares: i64,
    },
    /// A usage that is negative, infinite or not a number.
    #[error("`{name}` has a usage of {usage}, which is not a finite number of at least 0")]
    BadUsage {
        /// The name of the new node.
        name: String,
        /// Its usage.
        usage: f64,
    },
    /// A charge that is negative, infinite or not a number.
    #[error("cannot charge {amount} to `{name}`, expected a finite number of at least 0")]
    BadCharge {
        /// The name of the node.
        name: String,
        /// The amount.
        amount: f64,
    },
    /// A factor of decay that is not a number from 0 to 1.
    #[error("the factor of decay is {factor}, expected a number from 0 to 1")]
    BadDecay {
        /// The factor.
        factor: f64,
    },
    /// A charge that would make usage infinite.
    #[error(
        "cannot charge {amount} to `{name}`: its usage, or that of a node above it, would be infinite"
    )]
    UsageOverflow {
        /// The name of the node.
        name: String,
        /// The amount.
        amount: f64,
    },
    /// The root cannot be removed.
    #[error("`{name}` is the root of the tree and cannot be removed")]
    RemovedRoot {
        /// The name of the root.
        name: String,
    },
    /// A fair-share number out of its range.
    #[error("`{input}` is {value}, expected a number from 0 to 1")]
    OutOfRange {
        /// The name of the number.
        input: &'static str,
        /// Its value.
        value: f64,
    },
    /// The id is that of a larger tree. An id is the number of a node, so that after a node was
    /// removed the ids of others are theirs no longer: ask the tree for them again
    /// ([`ShareTree::find`](crate::fairshare::ShareTree::find)).
    #[error("the tree has no node with the index {index}")]
    UnknownNode {
        /// The index.
        index: usize,
    },
    /// A node without a name.
    #[error("a node cannot be added under `{parent}`: its name is empty")]
    EmptyName {
        /// The parent of the new node.
        parent: String,
    },
    /// More than [`TreeBuilder::MAX_NODES`] nodes.
    #[error("the tree would have more than {} nodes", TreeBuilder::MAX_NODES)]
    TooLarge,
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
    by_name: HashMap<Arc<str>, NodeId>,
    naming: Naming,
    /// The root and the groups.
    groups: HashMap<Arc<str>, NodeId>,
    /// With [`Naming::PerGroup`]: the names of the entities, each with the index of its group.
    entities: HashSet<(u32, Arc<str>)>,
    /// The partition of each association that has one.
    partitions: HashMap<NodeId, Arc<str>>,
    lenient: bool,
    removed: HashSet<NodeId>,
    /// The usage that the first nodes had in the tree from which they are.
    before: UsageBefore,
}

/// The usage of the nodes of a tree before it is changed.
#[derive(Debug, Clone)]
struct UsageBefore {
    own: Vec<f64>,
    /// That of each node and of all nodes below it, or a daemon's running totals.
    total: Vec<f64>,
    is_summed: bool,
}

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
            groups: HashMap::new(),
            entities: HashSet::new(),
            partitions: HashMap::new(),
            lenient: false,
            removed: HashSet::new(),
            before: UsageBefore {
                own: Vec::new(),
                total: Vec::new(),
                is_summed: true,
            },
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
    /// [`TreeError::UnknownNode`] and [`TreeError::BadUsage`].
    pub fn charge(&mut self, node: NodeId, usage: f64) -> Result<(), TreeError> {
        self.check_node(node)?;
        let known = &mut self.nodes[node.index()];
        if !self.lenient && !is_usage(usage) {
            return Err(TreeError::BadUsage {
                name: known.name.to_string(),
                usage,
            });
        }
        known.own_usage += usage;
        Ok(())
    }

    /// Removes a node and all nodes below it. [`finish`](Self::finish) then gives new ids to the
    /// nodes that were added after it; until then, all ids stay valid.
    ///
    /// # Errors
    /// [`TreeError::UnknownNode`] and [`TreeError::RemovedRoot`].
    pub fn remove(&mut self, node: NodeId) -> Result<(), TreeError> {
        self.check_node(node)?;
        if node.0 == 0 {
            return Err(TreeError::RemovedRoot {
                name: self.nodes[0].name.to_string(),
            });
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
        match kind {
            NodeKind::Entity => _ = self.entities.remove(&(parent, name)),
            NodeKind::Root | NodeKind::Group => _ = self.groups.remove(&name),
        }
    }

    fn check_node(&self, node: NodeId) -> Result<(), TreeError> {
        let is_known = node.index() < self.nodes.len() && !self.removed.contains(&node);
        if is_known {
            Ok(())
        } else {
            Err(TreeError::UnknownNode {
                index: node.index(),
            })
        }
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
        let own = nodes.iter().map(|node| node.own_usage).collect();
        let before = UsageBefore {
            own,
            total: usage,
            is_summed,
        };
        let mut builder = Self {
            naming,
            before,
            ..Self::empty()
        };
        for (index, node) in nodes.iter().enumerate() {
            match node.kind {
                NodeKind::Entity => _ = builder.entities.insert((node.parent, node.name.clone())),
                NodeKind::Root | NodeKind::Group => {
                    _ = builder
                        .groups
                        .insert(node.name.clone(), NodeId(index as u32))
                }
            }
        }
        Self {
            nodes,
            by_name,
            partitions,
            ..builder
        }
    }

    /// Adds a node under a parent.
    ///
    /// # Errors
    /// Any [`TreeError`]; the tree is then unchanged.
    pub fn add(&mut self, parent: NodeId, member: Member) -> Result<NodeId, TreeError> {
        if self.nodes.len() >= Self::MAX_NODES {
            return Err(TreeError::TooLarge);
        }
        self.check_parent(parent, &member)?;
        if !self.lenient && member.name.is_empty() {
            return Err(TreeError::EmptyName {
                parent: self.nodes[parent.index()].name.to_string(),
            });
        }
        if !self.lenient {
            check_amounts(&member)?;
        }
        // last, because it records the name: a refused node must leave no trace
        self.claim_name(parent, &member)?;
        Ok(self.push(parent, member))
    }

    /// Adds a node under the parent of that name.
    ///
    /// # Errors
    /// Any [`TreeError`]; the tree is then unchanged.
    pub fn add_under(&mut self, parent: &str, member: Member) -> Result<NodeId, TreeError> {
        match self.group_named(parent) {
            Some(id) => self.add(id, member),
            None => Err(TreeError::UnknownParent {
                name: member.name.to_string(),
                parent: parent.to_owned(),
            }),
        }
    }

    /// The tree, with the usage of every node summed over all nodes below it. In a builder [from a
    /// tree](ShareTree::into_builder), the usage of nodes changes only where usage came or went.
    pub fn finish(self) -> ShareTree {
        // before any node is dropped, as the usage before is by the old ids
        let mut usage = self.total_usage();
        let is_summed = self.before.is_summed;
        let mut builder = self;
        if !builder.removed.is_empty() {
            let kept = usage.into_iter().enumerate();
            usage = kept
                .filter(|&(i, _)| !builder.removed.contains(&NodeId(i as u32)))
                .map(|(_, usage)| usage)
                .collect();
            builder = builder.without_removed();
        }
        let Self {
            nodes,
            by_name,
            partitions,
            naming,
            ..
        } = builder;
        ShareTree::from_nodes(nodes, usage, is_summed, by_name, partitions, naming)
    }

    /// The usage of each node and of all nodes below it. Where none came or went, it is that of the
    /// tree before. Elsewhere it is summed again or, where a daemon's running totals are no sums,
    /// changed by the difference.
    fn total_usage(&self) -> Vec<f64> {
        let own: Vec<f64> = (0..self.nodes.len())
            .map(|index| self.kept_usage(index))
            .collect();
        let before = (0..own.len()).map(|index| self.before.own.get(index).copied().unwrap_or(0.0));
        let mut change: Vec<f64> = own
            .iter()
            .zip(before.clone())
            .map(|(own, before)| own - before)
            .collect();
        let mut is_changed: Vec<bool> = own
            .iter()
            .zip(before)
            // bits, because a lenient tree may hold a NaN, which is never equal to itself
            .map(|(own, before)| own.to_bits() != before.to_bits())
            .collect();
        for index in (1..own.len())
            .rev()
            .filter(|_| !self.before.total.is_empty())
        {
            let parent = self.nodes[index].parent as usize;
            is_changed[parent] |= is_changed[index];
            change[parent] += change[index];
        }
        let mut total = own;
        for (index, &before) in self.before.total.iter().enumerate() {
            match (is_changed[index], self.before.is_summed) {
                (true, true) => {}
                (true, false) => total[index] = changed_total(before, change[index]),
                (false, _) => total[index] = before,
            }
        }
        // backwards, so that a node has its whole sum before that is added to its parent
        for index in (1..total.len()).rev() {
            let parent = self.nodes[index].parent as usize;
            let is_new = parent >= self.before.total.len();
            if is_new || self.before.is_summed && is_changed[parent] {
                total[parent] += total[index];
            }
        }
        total
    }

    /// The own usage of a node, 0 if it is removed.
    fn kept_usage(&self, index: usize) -> f64 {
        if self.removed.contains(&NodeId(index as u32)) {
            0.0
        } else {
            self.nodes[index].own_usage
        }
    }

    /// The group of that name, else the latest entity.
    fn group_named(&self, name: &str) -> Option<NodeId> {
        self.groups.get(name).copied().or_else(|| self.find(name))
    }

    fn check_parent(&self, parent: NodeId, member: &Member) -> Result<(), TreeError> {
        let name = member.name.to_string();
        match self.nodes.get(parent.index()) {
            None => Err(TreeError::UnknownParent {
                name,
                parent: format!("#{}", parent.0),
            }),
            Some(above) if self.removed.contains(&parent) => Err(TreeError::UnknownParent {
                name,
                parent: above.name.to_string(),
            }),
            Some(above) if above.kind == NodeKind::Entity && !self.lenient => {
                Err(TreeError::ParentIsEntity {
                    name,
                    parent: above.name.to_string(),
                })
            }
            Some(_) => Ok(()),
        }
    }

    fn claim_name(&mut self, parent: NodeId, member: &Member) -> Result<(), TreeError> {
        let free = match (self.naming, member.kind) {
            (Naming::Global, _) => !self.by_name.contains_key(&member.name),
            (Naming::PerGroup, NodeKind::Entity) => {
                self.entities.insert((parent.0, member.name.clone()))
            }
            (Naming::PerGroup, _) => !self.groups.contains_key(&member.name),
        };
        if free {
            Ok(())
        } else {
            Err(self.duplicate(parent, member))
        }
    }

    /// The error that names the parent of the node with the name.
    fn duplicate(&self, parent: NodeId, member: &Member) -> TreeError {
        let holder = match (self.naming, member.kind) {
            (Naming::PerGroup, NodeKind::Entity) => parent.0,
            _ => self
                .group_named(&member.name)
                .map_or(0, |id| self.nodes[id.index()].parent),
        };
        TreeError::DuplicateName {
            name: member.name.to_string(),
            parent: self.nodes[holder as usize].name.to_string(),
        }
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
        if kind != NodeKind::Entity {
            self.groups.insert(name.clone(), id);
        }
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

fn check_amounts(member: &Member) -> Result<(), TreeError> {
    check_shares(&member.name, member.shares)?;
    if is_usage(member.usage) {
        return Ok(());
    }
    Err(TreeError::BadUsage {
        name: member.name.to_string(),
        usage: member.usage,
    })
}

pub(super) fn check_shares(name: &str, shares: Shares) -> Result<(), TreeError> {
    match shares {
        Shares::Count(shares) if shares < 0 => Err(TreeError::NegativeShares {
            name: name.to_owned(),
            shares,
        }),
        _ => Ok(()),
    }
}

pub(super) fn is_usage(usage: f64) -> bool {
    usage.is_finite() && usage >= 0.0
}
