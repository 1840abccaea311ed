//! [`TreeDocument`], the one form in which every reader of files returns a fair-share tree: native
//! JSON in `jsf-ingest`, Slurm's formats in the crate `jsf-slurm`, OpenPBS's in `jsf-openpbs`. It
//! is converted to a [`ShareTree`], or to the tree of OpenPBS's daemon.

use std::collections::{BTreeMap, BTreeSet};

use crate::fairshare::{
    Member, Naming, NodeId, NodeKind, Release, ShareTree, Shares, TreeBuilder, TreeError,
};

/// A tree as read from a document.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeDocument {
    /// The name of the root, which is not among the nodes; `root` where the document does not name
    /// it.
    pub root: String,
    /// The shares of the group of entities that are not in the tree (`unknown_shares`).
    pub unknown_shares: Option<i64>,
    /// The root's own usage, without that of the nodes.
    pub usage: f64,
    /// The nodes, parents before children, siblings in the order of the document.
    pub nodes: Vec<TreeNode>,
    /// Usage by name, in the order of a usage file of OpenPBS, in addition to the usage of the
    /// nodes. An entity may have several records, or no node.
    pub records: Vec<UsageRecord>,
    /// The release of Slurm that wrote the document, where it says.
    pub release: Option<Release>,
    /// Keys that are not part of the format, each once.
    pub unknown_keys: BTreeSet<String>,
    /// Keys that a node has more than once, each with the path of the first such node. The last
    /// value counts; lists of children are joined.
    pub repeated_keys: BTreeMap<&'static str, String>,
}

impl Default for TreeDocument {
    fn default() -> Self {
        Self {
            root: "root".to_owned(),
            unknown_shares: None,
            usage: 0.0,
            nodes: Vec::new(),
            records: Vec::new(),
            release: None,
            unknown_keys: BTreeSet::new(),
            repeated_keys: BTreeMap::new(),
        }
    }
}

/// A node of a [`TreeDocument`].
#[derive(Debug, Clone, PartialEq)]
pub struct TreeNode {
    /// A group (Slurm: an account) or an entity (Slurm: a user in an account).
    pub kind: NodeKind,
    /// The name of the group or entity, without a partition.
    pub name: String,
    /// The index of the parent among the nodes; `None` for a child of the root.
    pub parent: Option<usize>,
    /// The partition of a user's association; `None` for all partitions.
    pub partition: Option<String>,
    /// The shares among the siblings; 1 where the document does not say.
    pub shares: Shares,
    /// The node's own usage, without that of its children; `None` where the document does not say,
    /// which OpenPBS counts as 1 and every other policy as 0.
    pub usage: Option<f64>,
    /// The id of the node in OpenPBS's `resource_group`, which `pbsfs` shows and no policy uses.
    pub cgroup: Option<i32>,
}

/// The usage of one entity in a [`TreeDocument`].
#[derive(Debug, Clone, PartialEq)]
pub struct UsageRecord {
    /// The entity; may be empty.
    pub entity: String,
    /// Its usage, in the unit of the document.
    pub usage: f64,
}

impl TreeNode {
    /// The name that the node has in a [`ShareTree`]: `user:partition` with a partition.
    pub fn full_name(&self) -> String {
        match &self.partition {
            Some(partition) => format!("{}:{partition}", self.name),
            None => self.name.clone(),
        }
    }
}

impl TreeDocument {
    /// Builds the tree of the nodes for any policy, without [`records`](Self::records). The names
    /// of groups must be unique; those of entities must be unique within their group.
    ///
    /// # Errors
    /// [`TreeError`]: a duplicate name, negative shares, or a usage that is not a finite number of at least 0.
    pub fn share_tree(&self) -> Result<ShareTree, TreeError> {
        let mut builder = TreeBuilder::new(self.root.as_str()).naming(Naming::PerGroup);
        builder.charge(builder.root(), self.usage)?;
        let mut ids: Vec<NodeId> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let member = match node.kind {
                NodeKind::Entity => Member::entity(&*node.name)
                    .partition(node.partition.as_deref().unwrap_or_default()),
                NodeKind::Group | NodeKind::Root => Member::group(&*node.name),
            };
            let member = match node.shares {
                Shares::Count(shares) => member.shares(shares),
                Shares::Parent => member.shares_of_parent(),
            };
            let parent = match node.parent {
                // parents come first: no reader gives another index
                Some(parent) if parent < ids.len() => ids[parent],
                _ => builder.root(),
            };
            // the 1 of OpenPBS is no usage that is summed: `OpenPbs::start_usage` sets it
            ids.push(builder.add(parent, member.usage(node.usage.unwrap_or(0.0)))?);
        }
        Ok(builder.finish())
    }

    /// The name of the node's parent.
    pub fn parent_name(&self, node: &TreeNode) -> &str {
        match node.parent {
            Some(parent) if parent < self.nodes.len() => &self.nodes[parent].name,
            _ => &self.root,
        }
    }
}
