//! Simulating a site: logs of its jobs run through time under a formula.
//!
//! In: logs of jobs, and the machine, the limits and the times of a site. Out: the schedule, what
//! the simulation leaves out, and what is found about the formula on these jobs.

mod goal_checks;
mod job_logs;
mod simulated_queue;
mod simulation_rules;

pub use simulated_queue::{
    Processors, SimulatedQueue, SimulationOptions, StartingUsage, check_warm_up,
};
