//! The rules of a simulation without a site, for tests and measurements.

use std::collections::HashMap;
use std::sync::Arc;

use job_sort_formula::rank::{OnError, ScorePrecision};
use jsf_openpbs::cycle::{CycleState, Machine, Request};

use super::{Backfill, OrderRules, SimulationRules, Workload};

/// Identical processors, of which each job asks for its own in one chunk, the higher value first,
/// doubles, 0 for an error.
pub fn identical_processors(
    workload: &Workload,
    processors: u32,
    backfill: Backfill,
) -> SimulationRules {
    let mut known: HashMap<(u32, u32), Arc<Request>> = HashMap::new();
    let jobs = workload.cycle_jobs(|job| {
        let job = workload.jobs()[job];
        let request = known.entry((job.queue, job.processors));
        let new = || {
            Arc::new(Request::of_one_chunk(
                vec![job.processors.into()],
                job.queue,
            ))
        };
        request.or_insert_with(new).clone()
    });
    SimulationRules {
        state: CycleState {
            machine: Machine::new(&[vec![processors.into()]]),
            ..CycleState::default()
        },
        jobs,
        cycle: backfill.rules(),
        order: OrderRules::default(),
        non_prime: None,
        threshold: None,
        has_accrual: false,
        max_age: None,
        precision: ScorePrecision::Double,
        on_error: OnError::ZeroLikePbs,
    }
}
