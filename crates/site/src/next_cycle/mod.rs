//! The next cycle of a site's scheduler.
//!
//! In: the jobs of a site with their values, its nodes, reservations, limits and times. Out: which
//! jobs start, which are promised a start, and why each other one waits.

pub(crate) mod cycle_decisions;
pub(crate) mod cycled_queue;
pub(crate) mod left_out;
pub(crate) mod node_pools;
pub(crate) mod placement_left_out;
pub(crate) mod places;
pub(crate) mod preemption_inputs;
pub(crate) mod prime_and_dedicated;
pub(crate) mod queue_rules;
pub(crate) mod reserved_nodes;
pub(crate) mod site_machine;
pub(crate) mod waiting_reasons;
