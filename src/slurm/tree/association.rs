//! The associations of one cluster.

use std::borrow::Cow;

use crate::fairshare::{Kind, Member, Naming, NodeId, Release, ShareTree, Shares, TreeBuilder, TreeError};

use crate::slurm::tree::{TreeFormat, TreeWarning};

/// What an association is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AssociationKind {
    /// An account, which may have users and sub-accounts.
    Account,
    /// A user in an account, whom jobs belong to.
    User,
}

/// One association below the root.
#[derive(Debug, Clone, PartialEq)]
pub struct Association {
    /// What it is of.
    pub kind: AssociationKind,
    /// The account's or the user's name. A user may be in many accounts.
    pub name: String,
    /// The account that it is in, the root's name at the top.
    pub parent: String,
    /// The partition that a user's association is bound to, empty for all. Of the several associations that a user has
    /// in an account by a document without partitions, the second is bound to `?2`, the third to `?3`, and so on.
    pub partition: String,
    /// What it is allotted among its siblings.
    pub shares: Shares,
    /// Its own usage in TRES-seconds, not counting what is below it; 0 where the document does not say.
    pub usage: f64,
}

/// What an association is called that may be bound to a partition: as in a [`ShareTree`].
pub(super) fn full_name<'n>(name: &'n str, partition: &str) -> Cow<'n, str> {
    if partition.is_empty() { name.into() } else { format!("{name}:{partition}").into() }
}

/// The associations of one cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct AssociationTree {
    /// What the tree was read from; `None` if it was made from a [`ShareTree`].
    pub format: Option<TreeFormat>,
    /// The cluster, where the document says.
    pub cluster: Option<String>,
    /// The release of Slurm that wrote the document, where it says.
    pub release: Option<Release>,
    /// The name of the top account: `root`.
    pub root: String,
    /// The top's own usage.
    pub root_usage: f64,
    /// Whether the document says anything of usage.
    pub usage_known: bool,
    /// All associations but the root, parents before children, siblings in the order of the document.
    pub nodes: Vec<Association>,
    /// What was odd in the document.
    pub warnings: Vec<TreeWarning>,
}

impl AssociationTree {
    /// The tree, ready for a policy. An association that is bound to a partition is named `user:partition`,
    /// see [`Member::partition`].
    ///
    /// # Errors
    /// [`TreeError`] for nodes that were put together by hand: parents after children, or a name twice.
    pub fn share_tree(&self) -> Result<ShareTree, TreeError> {
        let mut builder = TreeBuilder::new(self.root.as_str()).naming(Naming::PerGroup);
        builder.charge(builder.root(), self.root_usage)?;
        for node in &self.nodes {
            let member = match node.kind {
                AssociationKind::Account => Member::group(node.name.as_str()),
                AssociationKind::User => Member::entity(node.name.as_str()).partition(node.partition.as_str()),
            };
            let member = match node.shares {
                Shares::Count(count) => member.shares(count),
                Shares::Parent => member.shares_of_parent(),
            };
            builder.add_under(&node.parent, member.usage(node.usage))?;
        }
        Ok(builder.finish())
    }

    /// The tree as plain nodes. An entity with nodes below it becomes an account; names and shares stay as they are,
    /// whether Slurm could hold them or not.
    pub fn of(tree: &ShareTree) -> Self {
        let below_root = tree.nodes().skip(1);
        let nodes = below_root.map(|id| association(tree, id)).collect();
        Self {
            format: None,
            cluster: None,
            release: None,
            root: tree.name(tree.root()).to_owned(),
            root_usage: tree.own_usage(tree.root()),
            usage_known: true,
            nodes,
            warnings: Vec::new(),
        }
    }
}

fn association(tree: &ShareTree, id: NodeId) -> Association {
    let is_user = tree.kind(id) == Kind::Entity && tree.children(id).is_empty();
    Association {
        kind: if is_user { AssociationKind::User } else { AssociationKind::Account },
        name: tree.name_alone(id).to_owned(),
        parent: tree.name(tree.parent(id).unwrap_or(tree.root())).to_owned(),
        partition: tree.partition(id).unwrap_or_default().to_owned(),
        shares: tree.shares(id),
        usage: tree.own_usage(id),
    }
}
