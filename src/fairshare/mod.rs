//! The fair-share tree: shares and usage of groups and entities, and the numbers that published
//! policies compute.
//!
//! Names, shares and usage enter through a [`TreeBuilder`], or as a
//! [`TreeDocument`](tree_document::TreeDocument) that a reader of files returns, and become a
//! [`ShareTree`]. A [`Policy`] computes [`ShareTable`] from the tree, one [`EntityShares`] per
//! node. A ranking asks a [`FairShare`] for the numbers of one entity and sees neither tree nor
//! policy: a scheduler with its own accounting implements that trait.
//!
//! ```
//! use job_sort_formula::fairshare::{AssessedTree, FairShare, Member, TreeBuilder};
//! use job_sort_formula::fairshare::DocumentedOpenPbs;
//!
//! let mut builder = TreeBuilder::new("root");
//! let group = builder.add(builder.root(), Member::group("group1").shares(40))?;
//! builder.add(group, Member::entity("Bob").shares(50).usage(100.0))?;
//! builder.add(group, Member::entity("Cathy").shares(50).usage(100.0))?;
//! builder.add(builder.root(), Member::entity("Suzy").shares(60).usage(1000.0))?;
//!
//! let fairshare = AssessedTree::new(builder.finish(), &DocumentedOpenPbs);
//! let bob = fairshare.shares_of("Bob").expect("Bob is in the tree");
//! assert_eq!(bob.fairshare_perc, 0.2);
//! # Ok::<(), job_sort_formula::fairshare::TreeError>(())
//! ```

pub mod decay;
pub mod policy;
mod share_tree;
pub mod tree_document;
pub mod x87;

pub use policy::classic::Classic;
pub use policy::depth_oblivious::DepthOblivious;
pub use policy::documented_openpbs::DocumentedOpenPbs;
pub use policy::fair_tree::FairTree;
pub use policy::openpbs::OpenPbs;
pub use policy::stored_shares;
pub use policy::ticket_based::TicketBased;
pub use policy::weighted_walk::WeightedWalk;
pub use policy::{
    AssessedTree, AssociationShares, EntityShares, FairShare, Policy, PolicyRules, Release,
    ShareTable,
};
pub use share_tree::{Member, Naming, NodeId, NodeKind, ShareTree, Shares, TreeBuilder, TreeError};

use share_tree::NodeLists;
