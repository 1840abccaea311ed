//! A fair-share tree in the project's own JSON, as plain nodes: what builds a tree from them checks the rest.

mod read;

use std::collections::BTreeSet;

use thiserror::Error;

use crate::fairshare::policy::Release;
pub use crate::fairshare::tree_document::read::read_tree;

/// The deepest tree that is read: so many nodes from the top down to the lowest one.
pub const MAX_DEPTH: usize = 200;
/// The most nodes that are read.
pub const MAX_NODES: usize = 1_000_000;
/// The longest name, in bytes.
pub const MAX_NAME: usize = 4096;

const EXPECTED: &str = "{\"children\":[{\"name\":…,\"shares\":…}]}";

/// A tree as its document gives it. The top of the document is the root and not among the nodes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TreeDocument {
    /// `unknown_shares`: what entities share that the tree does not name.
    pub unknown_shares: Option<i64>,
    /// The root's own usage.
    pub usage: f64,
    /// The nodes, parents before children, siblings in the order of the document.
    pub nodes: Vec<TreeNode>,
    /// The release of Slurm that wrote the document, where it says.
    pub release: Option<Release>,
    /// Keys that mean nothing here; each once.
    pub unknown_keys: BTreeSet<String>,
}

/// A node of a [`TreeDocument`].
#[derive(Debug, Clone, PartialEq)]
pub struct TreeNode {
    /// Its name.
    pub name: String,
    /// The place of its parent among the nodes; `None` under the root.
    pub parent: Option<usize>,
    /// The partition that a user's association is bound to; `None` for all.
    pub partition: Option<String>,
    /// What it is allotted among its siblings; 1 where the document does not say.
    pub shares: NodeShares,
    /// Its own usage, not counting its children's; `None` where the document does not say, which to OpenPBS is 1.
    pub usage: Option<f64>,
    /// What it is: as `kind` says, else an account if it has `children`, a user if not.
    pub kind: NodeKind,
}

impl TreeNode {
    /// The name that the node has in a tree: `user:partition` if it is bound to one.
    pub(crate) fn full_name(&self) -> String {
        self.partition.as_ref().map_or_else(|| self.name.clone(), |partition| format!("{}:{partition}", self.name))
    }
}

/// What a node is allotted among its siblings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeShares {
    /// So many shares.
    Count(i64),
    /// `"parent"`: it stands in for its parent.
    Parent,
}

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeKind {
    /// An account or group, which may have children.
    Account,
    /// A user or entity, whom jobs belong to.
    User,
}

/// A tree that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TreeDocumentError {
    /// It is broken JSON.
    #[error("`{source_name}` is not valid JSON: {reason}")]
    Json {
        /// The document's name.
        source_name: String,
        /// What is wrong, and where.
        reason: String,
    },
    /// It is JSON of another form.
    #[error("`{source_name}` is {found}, expected {EXPECTED}")]
    NotATree {
        /// The document's name.
        source_name: String,
        /// What was found.
        found: String,
    },
    /// A node has something of another form.
    #[error("`{source_name}`: {key} of `{path}` is {found}, expected {expected}")]
    Node {
        /// The document's name.
        source_name: String,
        /// The names from the top down to the node, divided by `/`; a node without a name is `#N` among its siblings.
        path: String,
        /// The key, in back-ticks.
        key: String,
        /// What was found.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// The tree is deeper than [`MAX_DEPTH`].
    #[error("`{source_name}`: the tree is deeper than {MAX_DEPTH} nodes at `{path}`")]
    TooDeep {
        /// The document's name.
        source_name: String,
        /// The lowest node that was read.
        path: String,
    },
    /// The tree has more nodes than [`MAX_NODES`].
    #[error("`{source_name}`: the tree has more than {MAX_NODES} nodes")]
    TooLarge {
        /// The document's name.
        source_name: String,
    },
}

#[cfg(test)]
mod tests;
