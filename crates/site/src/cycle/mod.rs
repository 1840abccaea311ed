//! The next cycle of a site's scheduler.
//!
//! In: the jobs of a site with their values, its nodes, reservations, limits and times. Out: which
//! jobs start, which are promised a start, why each other one waits, and when a job that is asked
//! for starts. What it runs on and by is that of a simulation too. The cycle itself is that of
//! `jsf_openpbs::cycle`.

mod cycle_settings;
mod decisions;
mod left_out;
mod next_cycle;
mod node_pools;
mod prime_time;
mod reservations;
mod running_jobs;

pub(crate) use cycle_settings::{LimitedNames, starts_in_words};
pub use left_out::LeftOut;
pub use next_cycle::{
    CycleProcessors, CycleRequest, CycledQueue, EstimatedStart, PreemptedJob, ReservedJob,
    WaitingJob,
};
pub(crate) use node_pools::{PROCESSORS, Pools};
pub(crate) use reservations::Reservations;
