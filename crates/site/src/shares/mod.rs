//! The fair-share tree of a site, and the shares under its policies.
//!
//! In: the files with usage, shares and associations. Out: the tree, the policy in force, the
//! factors of the jobs' entities, and how far they agree with those that `sshare` prints.

pub mod applied_tree;
pub mod policy_selection;
pub mod policy_shares;
pub mod printed_fairshare;
pub mod site_tree;
