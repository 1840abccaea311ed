//! What a search minimises: formulas on the searched part of a log.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use job_sort_formula::formula::Template;
use jsf_simulate::{Goals, Workload};
use jsf_site::Site;

use super::held_out::FIRST_COME_FIRST_SERVED;
use super::search::Search;
use super::simulator::{Part, Run, Simulator};
use super::{EvaluatedPoint, FitError, FitObserver, FitOptions, Split};
use crate::search::Space;

/// The searched part of a log, for searches of other programs: formulas are simulated and scored on
/// it as [`fit_goals`](super::fit_goals) does.
pub struct Objective {
    site: Arc<Site>,
    template: Template,
    goals: Goals,
    options: FitOptions,
    searched: Searched,
}

impl Objective {
    /// Divides a workload, which was read as for [`fit_goals`](super::fit_goals), and simulates the
    /// formula in force.
    ///
    /// # Errors
    /// As those of [`fit_goals`](super::fit_goals).
    pub fn new(
        site: Arc<Site>,
        template: Template,
        workload: &Workload,
        goals: Goals,
        options: FitOptions,
        observer: &dyn FitObserver,
    ) -> Result<Self, FitError> {
        let is_interrupted = AtomicBool::new(false);
        let simulator = Simulator {
            site: &site,
            goals: &goals,
            options: &options,
            observer,
            is_interrupted,
        };
        let searched = Searched::new(&simulator, &template, workload)?;
        Ok(Self {
            site,
            template,
            goals,
            options,
            searched,
        })
    }

    /// The template.
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// Simulates the formula with these constants on the searched part. The observer may interrupt
    /// it.
    ///
    /// # Errors
    /// The formula cannot be simulated, or it is interrupted.
    pub fn evaluate(
        &self,
        values: &[f64],
        observer: &dyn FitObserver,
    ) -> Result<EvaluatedPoint, FitError> {
        let Self {
            site,
            template,
            goals,
            options,
            searched,
        } = self;
        let simulator = Simulator {
            site,
            goals,
            options,
            observer,
            is_interrupted: AtomicBool::new(false),
        };
        let search = Search::new(&simulator, template, searched, 1);
        Ok(search.evaluate(&template.fill(values), values)?.point)
    }
}

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
