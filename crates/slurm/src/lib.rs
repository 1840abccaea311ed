//! Slurm: its settings, its priority, its jobs and its association tree, from what its tools print.
//!
//! [`read_tree`] reads the associations from the output of any of Slurm's tools (`sshare -a -l` in
//! columns or with `-P`, `sshare --json`, a file for `sacctmgr load`, `sacctmgr -P show assoc`) and
//! returns a [`TreeDocument`](job_sort_formula::fairshare::tree_document::TreeDocument). [`slurm_conf`]
//! reads the policy and its settings from `slurm.conf`.
//!
//! The behaviour of the tools is recorded in `tests/golden/slurm`; no code is taken from them.
//!
//! Internal to the workspace: the crates that other programs call are `job-sort-formula` and
//! `jsf-site`.

#![forbid(unsafe_code)]

pub mod associations;
pub mod cluster;
pub mod priority;
mod records;
pub mod slurm_conf;
pub mod slurm_jobs;
pub mod sprio;
mod tables;
pub mod values;

pub use associations::{SlurmTree, read_tree};
pub use cluster::Cluster;
pub use priority::{AGE, Factor, PrioritySettings};
pub use slurm_conf::SlurmConf;
pub use slurm_jobs::SlurmJob;
pub use values::{TimeLimit, TresAmounts};

use tables::Table;

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
        let table = Table::of_words(text)?;
        let has = |column| table.has(column);
        if sprio::is_of_sprio(&table) {
            Some(Self::Sprio)
        } else if !table.is_piped() || !has("PRIORITY") {
            None
        } else if has("TRES_ALLOC") {
            Some(Self::Jobs)
        } else if has("Account") && has("User") {
            Some(Self::Associations)
        } else {
            (table.column("Name") == Some(0)).then_some(Self::Qos)
        }
    }
}

/// A text, unless it is empty.
fn non_empty(text: String) -> Option<String> {
    if text.is_empty() { None } else { Some(text) }
}
