//! How a tree is made: from the root down, every node checked as it is added.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::fairshare::tree::{Kind, Node, NodeId, ShareTree, Shares};

/// The most nodes that a tree may have.
pub const MAX_NODES: usize = 16_000_000;

/// Why a node was not added. Names stand in back-ticks as they were given.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TreeError {
    /// The name is taken; by whom depends on the [`Naming`].
    #[error("`{name}` is already in the tree, under `{parent}`")]
    DuplicateName {
        /// The name that was to be added.
        name: String,
        /// The parent of the node that has the name.
        parent: String,
    },
    /// The parent is not in the tree (yet): parents come first.
    #[error("`{name}` cannot be added: its parent `{parent}` is not in the tree")]
    UnknownParent {
        /// The node that was to be added.
        name: String,
        /// The parent that it named.
        parent: String,
    },
    /// An entity cannot have children.
    #[error("`{name}` cannot be added: its parent `{parent}` is an entity, not a group")]
    ParentIsEntity {
        /// The node that was to be added.
        name: String,
        /// The entity that it named as its parent.
        parent: String,
    },
    /// Shares below zero.
    #[error("`{name}` has negative shares, {shares}")]
    NegativeShares {
        /// The node that was to be added.
        name: String,
        /// Its shares.
        shares: i64,
    },
    /// A usage that is negative, infinite or not a number.
    #[error("`{name}` has a usage of {usage}, which is not a finite number of at least 0")]
    BadUsage {
        /// The node that was to be added.
        name: String,
        /// Its usage.
        usage: f64,
    },
    /// More than [`MAX_NODES`] nodes.
    #[error("the tree would have more than {MAX_NODES} nodes")]
    TooLarge,
}

/// Who may share a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Naming {
    /// Nobody: a name says which node (OpenPBS).
    #[default]
    Global,
    /// A group's name is unique among groups, an entity's among the entities of its group (Slurm's accounts and users).
    PerGroup,
}

/// A node on its way into the tree: a name, a kind, 1 share and no usage, until told otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    name: Arc<str>,
    kind: Kind,
    shares: Shares,
    usage: f64,
    partition: Option<Arc<str>>,
}

impl Member {
    /// A group, which may have children.
    pub fn group(name: impl Into<Arc<str>>) -> Self {
        Self { name: name.into(), kind: Kind::Group, shares: Shares::Count(1), usage: 0.0, partition: None }
    }

    /// An entity, which jobs belong to.
    pub fn entity(name: impl Into<Arc<str>>) -> Self {
        Self { kind: Kind::Entity, ..Self::group(name) }
    }

    /// Binds the association to one partition, of which a user may have one each (Slurm), and names it
    /// `user:partition`, so that names still tell which. To none if the partition has no name.
    #[must_use]
    pub fn partition(self, partition: impl Into<Arc<str>>) -> Self {
        let partition: Arc<str> = partition.into();
        if partition.is_empty() {
            return self;
        }
        Self { name: format!("{}:{partition}", self.name).into(), partition: Some(partition), ..self }
    }

    /// Allots so many shares.
    #[must_use]
    pub fn shares(self, shares: i64) -> Self {
        Self { shares: Shares::Count(shares), ..self }
    }

    /// Makes the node stand in for its parent, see [`Shares::Parent`].
    #[must_use]
    pub fn shares_of_parent(self) -> Self {
        Self { shares: Shares::Parent, ..self }
    }

    /// Charges usage to the node itself, in whatever unit the site counts.
    #[must_use]
    pub fn usage(self, usage: f64) -> Self {
        Self { usage, ..self }
    }
}

/// Makes a [`ShareTree`], parents before children.
#[derive(Debug, Clone)]
pub struct TreeBuilder {
    nodes: Vec<Node>,
    by_name: HashMap<Arc<str>, NodeId>,
    naming: Naming,
    /// The root and the groups.
    groups: HashMap<Arc<str>, NodeId>,
    /// With [`Naming::PerGroup`]: the names of the entities, each with the place of its group.
    entities: HashSet<(u32, Arc<str>)>,
    /// Of those that are bound to one.
    partitions: HashMap<NodeId, Arc<str>>,
    lenient: bool,
}

impl TreeBuilder {
    /// A tree of nothing but its top, which bears this name.
    pub fn new(root: impl Into<Arc<str>>) -> Self {
        let top = Member { kind: Kind::Root, ..Member::group(root) };
        let mut builder = Self {
            nodes: Vec::new(),
            by_name: HashMap::new(),
            naming: Naming::Global,
            groups: HashMap::new(),
            entities: HashSet::new(),
            partitions: HashMap::new(),
            lenient: false,
        };
        builder.push(NodeId(0), top);
        builder
    }

    /// Chooses who may share a name. To be called before the first [`add`](Self::add).
    #[must_use]
    pub fn naming(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    /// Takes negative shares and any usage, and lets entities have children: what some daemons put up with.
    #[must_use]
    pub fn lenient(mut self) -> Self {
        self.lenient = true;
        self
    }

    /// The top, under which everything is added.
    pub fn root(&self) -> NodeId {
        NodeId(0)
    }

    /// The latest node of that name.
    pub fn find(&self, name: &str) -> Option<NodeId> {
        self.by_name.get(name).copied()
    }

    /// Charges usage to a node that was added already, the root for one.
    ///
    /// # Errors
    /// [`TreeError::BadUsage`].
    pub fn charge(&mut self, node: NodeId, usage: f64) -> Result<(), TreeError> {
        let known = &mut self.nodes[node.index()];
        if !self.lenient && !is_usage(usage) {
            return Err(TreeError::BadUsage { name: known.name.to_string(), usage });
        }
        known.own_usage += usage;
        Ok(())
    }

    /// Adds a node under a parent.
    ///
    /// # Errors
    /// Any [`TreeError`]; the tree is then as it was.
    pub fn add(&mut self, parent: NodeId, member: Member) -> Result<NodeId, TreeError> {
        if self.nodes.len() >= MAX_NODES {
            return Err(TreeError::TooLarge);
        }
        self.check_parent(parent, &member)?;
        if !self.lenient {
            check_amounts(&member)?;
        }
        self.claim_name(parent, &member)?;
        Ok(self.push(parent, member))
    }

    /// Adds a node under the parent of that name.
    ///
    /// # Errors
    /// Any [`TreeError`]; the tree is then as it was.
    pub fn add_under(&mut self, parent: &str, member: Member) -> Result<NodeId, TreeError> {
        match self.group_named(parent) {
            Some(id) => self.add(id, member),
            None => Err(TreeError::UnknownParent { name: member.name.to_string(), parent: parent.to_owned() }),
        }
    }

    /// The tree, with the usage of every node summed over all below it.
    pub fn finish(self) -> ShareTree {
        ShareTree::from_nodes(self.nodes, self.by_name, self.partitions)
    }

    /// The group of that name, else the latest entity.
    fn group_named(&self, name: &str) -> Option<NodeId> {
        self.groups.get(name).copied().or_else(|| self.find(name))
    }

    fn check_parent(&self, parent: NodeId, member: &Member) -> Result<(), TreeError> {
        let name = member.name.to_string();
        match self.nodes.get(parent.index()) {
            None => Err(TreeError::UnknownParent { name, parent: format!("#{}", parent.0) }),
            Some(above) if above.kind == Kind::Entity && !self.lenient => {
                Err(TreeError::ParentIsEntity { name, parent: above.name.to_string() })
            }
            Some(_) => Ok(()),
        }
    }

    fn claim_name(&mut self, parent: NodeId, member: &Member) -> Result<(), TreeError> {
        let free = match (self.naming, member.kind) {
            (Naming::Global, _) => !self.by_name.contains_key(&member.name),
            (Naming::PerGroup, Kind::Entity) => self.entities.insert((parent.0, member.name.clone())),
            (Naming::PerGroup, _) => !self.groups.contains_key(&member.name),
        };
        if free { Ok(()) } else { Err(self.duplicate(parent, member)) }
    }

    /// Names the parent of the node that has the name already.
    fn duplicate(&self, parent: NodeId, member: &Member) -> TreeError {
        let holder = match (self.naming, member.kind) {
            (Naming::PerGroup, Kind::Entity) => parent.0,
            _ => self.group_named(&member.name).map_or(0, |id| self.nodes[id.index()].parent),
        };
        TreeError::DuplicateName { name: member.name.to_string(), parent: self.nodes[holder as usize].name.to_string() }
    }

    fn push(&mut self, parent: NodeId, member: Member) -> NodeId {
        let Member { name, kind, shares, usage, partition } = member;
        let id = NodeId(self.nodes.len() as u32);
        let namesake = self.by_name.insert(name.clone(), id);
        if kind != Kind::Entity {
            self.groups.insert(name.clone(), id);
        }
        self.partitions.extend(partition.map(|partition| (id, partition)));
        self.nodes.push(Node { name, parent: parent.0, kind, shares, own_usage: usage, namesake });
        id
    }
}

fn check_amounts(member: &Member) -> Result<(), TreeError> {
    let name = || member.name.to_string();
    match member.shares {
        Shares::Count(shares) if shares < 0 => Err(TreeError::NegativeShares { name: name(), shares }),
        _ if !is_usage(member.usage) => Err(TreeError::BadUsage { name: name(), usage: member.usage }),
        _ => Ok(()),
    }
}

fn is_usage(usage: f64) -> bool {
    usage.is_finite() && usage >= 0.0
}
