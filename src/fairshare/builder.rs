//! Builds a [`ShareTree`] from the root down; every node is checked as it is added.

use std::sync::Arc;

use std::collections::HashMap;

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
    pub(super) usage: f64,
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
    pub(super) nodes: Vec<Node>,
    /// The latest node of each name.
    pub(super) by_name: HashMap<Arc<str>, NodeId>,
    naming: Naming,
    /// The nodes by [`place`] and name.
    by_place: HashMap<(u32, Arc<str>), NodeId>,
    /// The partition of each association that has one.
    pub(super) partitions: HashMap<NodeId, Arc<str>>,
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
        let mut builder =
            Self::of_nodes(Vec::new(), HashMap::new(), HashMap::new(), Naming::Global);
        builder.push(NodeId(0), top);
        builder
    }

    /// A builder of these nodes, to add others to them.
    pub(super) fn of_nodes(
        nodes: Vec<Node>,
        by_name: HashMap<Arc<str>, NodeId>,
        partitions: HashMap<NodeId, Arc<str>>,
        naming: Naming,
    ) -> Self {
        let mut by_place = HashMap::with_capacity(nodes.len());
        for (id, node) in (0..).map(NodeId).zip(&nodes) {
            by_place.insert((place(node.kind, node.parent), node.name.clone()), id);
        }
        Self {
            nodes,
            by_name,
            naming,
            by_place,
            partitions,
            lenient: false,
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
        node.check(self.nodes.len())?;
        let known = &mut self.nodes[node.index()];
        if !self.lenient {
            check_usage(&known.name, usage)?;
        }
        known.own_usage += usage;
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

    /// The tree, with the usage of every node summed over all nodes below it.
    pub fn finish(self) -> ShareTree {
        ShareTree::from_nodes(self.nodes, self.by_name, self.partitions, self.naming)
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
        // under both kinds of naming, because `group_named` looks groups up here
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
