//! A site of Slurm: its priority as a formula, and its jobs with the inputs of this formula.
//!
//! In: `slurm.conf`, the jobs, and what Slurm's tools print of partitions, nodes, qualities of
//! service, associations and priorities. Out: a formula, and the jobs as native NDJSON, which the
//! rest of the site reads like any other document of jobs.

pub mod native_job;
pub mod printed_priority;
pub mod slurm_queue;
