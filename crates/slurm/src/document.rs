//! Recognises what Slurm's tools print beside the associations.

use crate::jobs;
use crate::sprio;
use crate::tree::table::is_column;

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
        if jobs::is_header(first) {
            return Some(Self::Jobs);
        }
        if sprio::is_header(first) {
            return Some(Self::Sprio);
        }
        let names: Vec<&str> = first.split('|').map(str::trim).collect();
        let has = |name| names.iter().any(|column| is_column(column, name));
        if names.len() < 2 || !has("Priority") {
            None
        } else if has("Account") && has("User") {
            Some(Self::Associations)
        } else {
            let is_qos = names[0].eq_ignore_ascii_case("Name");
            is_qos.then_some(Self::Qos)
        }
    }
}
