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
//! What is kept in memory: about 64 bytes for every job of the log, 16 for each further input
//! of the formula, and the columns of the waiting and the running jobs.
//!
//! Internal to the workspace: the crates that other programs call are `job-sort-formula` and
//! `jsf-site`.

#![forbid(unsafe_code)]

mod accounting;
mod alcf;
mod complete;
mod difference;
mod errors;
mod fairness;
mod fairshare;
mod fields;
mod generate;
mod goals;
mod jobs;
mod left_out;
mod log_rules;
mod mentions;
mod native;
mod qstat;
mod read;
mod results;
mod rules;
mod sacct;
mod schedule;
mod shake;
mod start_values;
mod started;
mod statistics;
mod student_t;
mod swf;
mod times_ahead;
mod validate;
mod valued_jobs;
mod waiting;
mod warm_up;
mod workload;

pub use difference::{Difference, GroupDifference, MeanChange};
pub use errors::{ErrorKind, EvaluationErrors};
pub use fairness::{EntityUse, Fairness};
pub use fairshare::{Decay, Fairshare, FairsharePolicy, UsageMeasure};
pub use generate::{Random, WorkloadModel, generate};
pub use goals::{
    Goal, GoalState, Goals, GoalsError, JudgedGoal, JudgedRun, MAX_GOALS_BYTES, Measure, Member,
    Objective, in_one_line,
};
pub use left_out::{Fault, Faults, LeftOutReason};
pub use log_rules::{AssumedWalltimes, Cancelled, LogRules, Overrun, ProcessorsOf};
pub use read::read_workload;
pub use results::Results;
pub use rules::{Backfill, NonPrimeRules, OrderRules, PlacedRequests, SimulationRules};
pub use sacct::sacct_advice;
pub use schedule::{Observer, Schedule, simulate};
pub use shake::{SHAKE_SECONDS, Shake, Spread};
pub use start_values::StartValues;
pub use started::Preemptions;
pub use statistics::{
    ByKind, Distribution, GroupStatistics, Period, Statistics, Summary, Whole, bounded_slowdown,
    wait_of,
};
pub use validate::Validation;
pub use warm_up::WarmUp;
pub use workload::{
    Amount, Extent, LogInputs, LoggedAmount, LoggedJob, MAX_JOBS, MAX_NAME, MAX_PROCESSORS,
    MAX_RUN_SUBJOBS, MAX_SECONDS, NameLists, Names, SlurmPriority, Workload, WorkloadBuilder,
    WorkloadJob, compare_ids,
};
