//! The next cycle of a site's scheduler.
//!
//! In: the jobs of a site with their values, its nodes, reservations, limits and times. Out: which
//! jobs start, which are promised a start, why each other one waits, and when a job that is asked
//! for starts. What it runs on and by is that of a simulation too.

mod cycle_machine;
mod cycle_settings;
mod cycled_queue;
mod decisions;
mod node_pools;

pub use cycle_settings::LeftOut;
pub(crate) use cycle_settings::{LimitedNames, starts_in_words};
pub use cycled_queue::{
    CycleProcessors, CycleRequest, CycledQueue, EstimatedStart, PreemptedJob, ReservedJob,
    WaitingJob,
};
pub(crate) use node_pools::{PROCESSORS, Pools, Reservations};
