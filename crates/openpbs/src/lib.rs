//! OpenPBS: what its server, its scheduler and its tools do with a formula, reproduced from
//! recorded runs.
//!
//! In: the text of a formula ([`submission`]), the files and listings of a site ([`files`]),
//! resource amounts ([`amounts`]), durations and times ([`times`]), what the attributes of jobs say
//! ([`job_attributes`]), and a job table with scores.
//! Out: the numbers that the formula sees, the fair-share tree ([`pbs_tree`]), the order of jobs
//! ([`order`]), a scheduling cycle ([`cycle`]), the commands of `qmgr` ([`qmgr_command`]), the answer
//! of the server ([`server_validation`]), the output of `pbsfs` ([`pbsfs`]), the findings that need
//! the site ([`check`]), and the comparison with a scheduler's log ([`log_comparison`]).
//!
//! Internal to the workspace: the crates that other programs call are `job-sort-formula` and
//! `jsf-site`.

#![forbid(unsafe_code)]

pub mod amounts;
mod c_text;
pub mod check;
pub mod cycle;
pub mod job_attributes;
pub mod log_comparison;
pub mod order;
mod order_in_words;
pub mod pbs_tree;
pub mod pbsfs;
pub mod qmgr_command;
pub mod server_validation;
pub mod submission;
pub mod times;

/// The files and listings of OpenPBS: readers, and writers for the files that OpenPBS reads.
pub mod files {
    pub mod fairshare_files;
    pub mod formula_text;
    pub mod holidays;
    pub mod nodes;
    pub mod objects;
    pub mod pbs_rstat;
    pub mod queues;
    pub mod resources;
    pub mod run_limits;
    pub mod sched_config;
    pub mod server;
    pub mod versions;
}

pub use amounts::{AmountSource, NumberMode};
pub use files::fairshare_files::{ResourceGroup, UsageFile};
pub use files::nodes::Nodes;
pub use files::objects::Objects;
pub use files::queues::Queues;
pub use files::sched_config::SchedConfig;
pub use job_attributes::{ArrayIndices, Chunk, EntityAttributes, FairshareEntity};
pub use pbs_tree::PbsTree;
pub use submission::FormulaSubmission;
pub use times::Time;
