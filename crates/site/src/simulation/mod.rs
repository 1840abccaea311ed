//! Simulating a site: a log of its jobs runs through time under a formula.
//!
//! In: logs of jobs, and the machine, the limits and the times of a site. Out: the schedule, what
//! the simulation leaves out, and what is found about a formula on these jobs.

pub mod simulation_rules;
pub mod site_simulation;
pub mod workload_findings;
