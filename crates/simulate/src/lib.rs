//! Runs the queue of a site through time: who would wait how long under a formula.
//!
//! In: a [`Workload`], which is a log of jobs, a compiled formula, and [`SimulationRules`]; with
//! fair share also a tree. Out: a [`Schedule`], the time at which each job starts.
//!
//! Time goes from event to event, which are the submissions and the ends of jobs. At each event
//! usage is charged and decayed, jobs that end leave, jobs that are submitted join the queue, and
//! one [cycle](jsf_openpbs::cycle) of OpenPBS's scheduler starts what may start. A job ends after
//! its run time or its walltime, whichever is shorter. Everything is deterministic: equal workloads
//! give equal schedules, in whatever order their jobs are given.
//!
//! What is kept in memory: about 300 bytes for every job of the log, 16 for each further input
//! of the formula, and the waiting and the running jobs.
//!
//! Internal to the workspace: the crates that other programs call are `job-sort-formula` and
//! `jsf-site`.

#![forbid(unsafe_code)]
#![allow(
    non_camel_case_types,
    reason = "`object!` names the type of each value after its key"
)]

mod faults;
#[cfg(test)]
#[path = "../tests/identical_processors.rs"]
mod identical_processors;
mod logs;
mod results;
mod schedule;
mod workload;

pub use faults::*;
pub use logs::*;
pub use results::*;
pub use schedule::*;
pub use workload::builder::*;
pub use workload::generate::*;
pub use workload::*;
