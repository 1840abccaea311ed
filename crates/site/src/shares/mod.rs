//! The fair-share tree of a site, and the shares under its policies.
//!
//! In: the files with usage, shares and associations. Out: the tree, the policy in force, the
//! factors of the jobs' entities, and how far they agree with those that `sshare` prints.

pub(crate) mod applied_tree;
pub(crate) mod policy_selection;
pub(crate) mod policy_shares;
pub(crate) mod printed_fairshare;
pub(crate) mod site_tree;
