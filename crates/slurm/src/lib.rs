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

pub mod conf;
pub mod jobs;
pub mod priority;
mod records;
pub mod times;
pub mod tree;

pub use tree::{SlurmTree, read_tree};

use records::is_column;

/// What a text of Slurm's tools describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlurmDocument {
    /// `scontrol show job`, or `squeue -O` with the resources of the jobs.
    Jobs,
    /// `scontrol show partition`
    Partitions,
    /// `scontrol show node`
    Nodes,
    /// `sacctmgr -P show qos`
    Qos,
    /// `sacctmgr -P show assoc` with the priorities of the associations
    Associations,
    /// `sprio -l` or `sprio -n`
    Sprio,
}

impl SlurmDocument {
    /// What a text is, by its start; `None` if it is something else.
    pub fn detect(text: &str) -> Option<Self> {
        let first = text.lines().find(|line| !line.trim().is_empty())?;
        if first.starts_with("JobId=") {
            return Some(Self::Jobs);
        }
        // lines of slurm.conf begin with these keys too
        if first.starts_with("PartitionName=") && text.contains("TotalNodes=") {
            return Some(Self::Partitions);
        }
        if first.starts_with("NodeName=") && text.contains("CPUAlloc=") {
            return Some(Self::Nodes);
        }
        let names: Vec<&str> = first.split('|').map(str::trim).collect();
        let has = |name| names.iter().any(|column| is_column(column, name));
        if names.len() > 1 && has("PRIORITY") && has("TRES_ALLOC") {
            Some(Self::Jobs)
        } else if priority::is_header(first) {
            Some(Self::Sprio)
        } else if names.len() < 2 || !has("Priority") {
            None
        } else if has("Account") && has("User") {
            Some(Self::Associations)
        } else {
            let is_qos = names[0].eq_ignore_ascii_case("Name");
            is_qos.then_some(Self::Qos)
        }
    }
}

/// A text, unless it is empty.
fn non_empty(text: String) -> Option<String> {
    if text.is_empty() { None } else { Some(text) }
}
