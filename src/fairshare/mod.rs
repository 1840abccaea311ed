//! The fair-share tree: who is allotted what, who has used what, and what a published policy makes of it.
//!
//! Names, shares and usage enter through a [`TreeBuilder`] and become a [`ShareTree`]. A [`Policy`] turns the tree
//! into [`TreeShares`], one [`EntityShares`] per node. Whoever ranks jobs asks a [`FairShare`] for the shares of one
//! entity and knows neither tree nor policy: a scheduler with accounting of its own implements that one trait.
//!
//! ```
//! use job_sort_formula::fairshare::{Assessed, FairShare, Member, TreeBuilder};
//! use job_sort_formula::fairshare::policy::pbs::Pp718;
//!
//! let mut builder = TreeBuilder::new("root");
//! let group = builder.add(builder.root(), Member::group("group1").shares(40))?;
//! builder.add(group, Member::entity("Bob").shares(50).usage(100.0))?;
//! builder.add(group, Member::entity("Cathy").shares(50).usage(100.0))?;
//! builder.add(builder.root(), Member::entity("Suzy").shares(60).usage(1000.0))?;
//!
//! let fairshare = Assessed::new(builder.finish(), &Pp718);
//! let bob = fairshare.shares_of("Bob").expect("Bob is in the tree");
//! assert_eq!(bob.fairshare_perc, 0.2);
//! # Ok::<(), job_sort_formula::fairshare::TreeError>(())
//! ```

mod builder;
pub mod decay;
mod names;
pub mod policy;
mod tree;
pub mod tree_document;
pub(crate) mod unique_names;
pub mod x87;

pub use builder::{MAX_NODES, Member, Naming, TreeBuilder, TreeError};
pub use policy::{Assessed, AssociationShares, EntityShares, FairShare, Policy, Release, Rules, TreeShares};
pub use tree::{Kind, NodeId, ShareTree, Shares};

#[cfg(test)]
mod tests;
