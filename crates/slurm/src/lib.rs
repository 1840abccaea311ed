//! Slurm's association tree in the formats of its tools, and its settings.
//!
//! [`read_tree`] reads the associations from the output of any of Slurm's tools (`sshare -a -l` in
//! columns or with `-P`, `sshare --json`, a file for `sacctmgr load`, `sacctmgr -P show assoc`) and
//! returns a [`TreeDocument`](job_sort_formula::fairshare::tree_document::TreeDocument). [`conf`]
//! reads the policy and its settings from `slurm.conf`.
//!
//! The behaviour of the tools is recorded in `tests/golden/slurm`; no code is taken from them.
//!
//! Internal to the workspace: the crates that other programs call are `job-sort-formula` and
//! `jsf-site`.

#![forbid(unsafe_code)]

pub mod cluster;
pub mod conf;
mod document;
mod form;
mod host_list;
pub mod jobs;
mod logical_lines;
pub mod priority;
mod records;
pub mod sprio;
pub mod tree;
mod tres;

pub use document::SlurmDocument;
pub use tree::{SlurmTree, read_tree};

/// A text, unless it is empty.
fn non_empty(text: String) -> Option<String> {
    if text.is_empty() { None } else { Some(text) }
}
