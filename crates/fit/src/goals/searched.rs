//! The searched part of a log.

use job_sort_formula::formula::Template;
use jsf_simulate::Workload;

use super::FitError;
use super::held_out::FIRST_COME_FIRST_SERVED;
use super::simulator::{Part, Run, Simulator};
use super::split::Split;
use crate::search::Space;

/// The searched part, and the formula in force on it.
pub(super) struct Searched {
    pub(super) space: Space,
    pub(super) split: Split,
    pub(super) part: Part,
    pub(super) in_force: Run,
}

impl Searched {
    pub(super) fn new(
        simulator: &Simulator<'_>,
        template: &Template,
        workload: &Workload,
    ) -> Result<Self, FitError> {
        let options = simulator.options;
        let in_force = options
            .in_force
            .as_deref()
            .unwrap_or(FIRST_COME_FIRST_SERVED);
        let space = Space::new(template.constants().to_vec(), options.is_scale_free);
        let warm_up = warm_up(simulator, workload)?;
        let split = Split::new(workload, options.held_out, warm_up, options.force)?;
        let part = Part {
            workload: workload.submitted_before(split.searched_until),
            warm_up: split.counted_from - split.begin,
            is_interruptible: true,
        };
        let in_force = simulator.run(in_force, &part, None)?;
        Ok(Self {
            space,
            split,
            part,
            in_force,
        })
    }
}

/// How long after the first submission the jobs begin that count, in seconds.
fn warm_up(simulator: &Simulator<'_>, workload: &Workload) -> Result<i64, FitError> {
    let options = simulator.options;
    match options.warm_up {
        Some(seconds) => Ok(seconds),
        None => Ok(simulator
            .site
            .warm_up(workload, &options.simulation)?
            .seconds()),
    }
}
