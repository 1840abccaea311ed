//! Slurm: its association tree in the forms that its tools write and read, and its settings.
//!
//! [`read_tree`] takes whatever a site can show of its associations (`sshare -a -l` in columns or with `-P`,
//! `sshare --json`, a file for `sacctmgr load`, `sacctmgr -P show assoc`) and gives one [`AssociationTree`], which
//! becomes a [`ShareTree`](crate::fairshare::ShareTree). [`load_file`] writes a tree back for `sacctmgr load`,
//! [`sshare_text`] prints one with a policy's numbers as `sshare` would, and [`conf`] reads from `slurm.conf` which
//! policy that is.
//!
//! How the tools behave is recorded in `tests/golden/slurm`; nothing here is taken from their code.

pub mod conf;
pub mod load_file;
mod logical_lines;
pub mod sshare_text;
pub mod tree;

pub use tree::{AssociationTree, read_tree};
