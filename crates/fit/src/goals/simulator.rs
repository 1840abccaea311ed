//! Simulates formulas on a part of a log, and judges the schedules.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use job_sort_formula::formula::Formula;
use job_sort_formula::parallel;
use jsf_simulate::{Goals, JudgedGoal, JudgedRun, MeanChange, Observer, Results, Statistics, Workload};
use jsf_site::{SimulateRequest, SimulatedQueue, Site, SiteError};

use super::score::{GoalValue, mean};
use super::{FitError, FitObserver, FitOptions};

/// What all simulations of a fit have in common.
pub(super) struct Simulator<'a> {
    pub(super) site: &'a Site,
    pub(super) goals: &'a Goals,
    pub(super) options: &'a FitOptions,
    pub(super) observer: &'a dyn FitObserver,
    pub(super) is_interrupted: AtomicBool,
}

/// Jobs on which formulas are compared: one workload, or several copies of it with moved submissions.
pub(super) struct Part {
    pub(super) copies: Vec<Workload>,
    /// How long after the first submission the jobs begin that count, in seconds.
    pub(super) warm_up: i64,
    /// Whether simulations end when the observer asks for it.
    pub(super) is_interruptible: bool,
}

/// A formula on one copy of a part.
pub(super) struct Run {
    pub(super) simulated: SimulatedQueue,
    pub(super) results: Results,
    pub(super) goals: Vec<JudgedGoal>,
    pub(super) objective: Option<f64>,
}

/// A formula on all copies of a part.
pub(super) struct Runs(pub(super) Vec<Run>);

/// The difference of an objective between two formulas.
#[derive(Debug, Clone, Copy)]
pub(super) struct ObjectiveDifference {
    pub(super) difference: f64,
    pub(super) standard_error: f64,
}

impl Simulator<'_> {
    /// Simulates a formula on all copies of a part. `old` are the runs that limits of goals may refer to. `None` after an
    /// interruption.
    pub(super) fn run(&self, text: &str, part: &Part, old: Option<&Runs>) -> Result<Option<Runs>, FitError> {
        let formula = Formula::parse(text)
            .map_err(|error| FitError::Formula { text: text.to_owned(), message: error.to_string() })?;
        let run = |(copy, workload): (usize, &Workload)| {
            let old = old.map(|old: &Runs| &*old.0[copy].goals);
            self.run_copy(&formula, text, workload, part, old)
        };
        let runs = parallel::map(part.copies.iter().enumerate().collect(), run);
        let runs: Option<Vec<Run>> = runs.into_iter().collect::<Result<_, _>>()?;
        Ok(runs.map(Runs))
    }

    fn run_copy(
        &self,
        formula: &Formula,
        text: &str,
        workload: &Workload,
        part: &Part,
        old: Option<&[JudgedGoal]>,
    ) -> Result<Option<Run>, FitError> {
        let FitOptions { processors, backfill, usage, decay_period, decay_factor, .. } = *self.options;
        let mut observer = Interruption { simulator: self, is_asked: part.is_interruptible };
        let request = SimulateRequest {
            processors,
            backfill,
            usage,
            decay_period,
            decay_factor,
            ..SimulateRequest::new(formula, workload, &mut observer)
        };
        let simulated = self.site.simulate(request).map_err(|error| match error {
            SiteError::NotArithmetic => {
                FitError::Formula { text: text.to_owned(), message: "it is valid Python but not arithmetic".to_owned() }
            }
            error => FitError::Site(error),
        })?;
        if !simulated.schedule.is_complete {
            return Ok(None);
        }
        let results = match self.goals.measure_runs() {
            true => simulated.results(workload, part.warm_up),
            // no goal asks for statistics of the whole run
            false => Results { statistics: Statistics::default(), fairness: None, warm_up: part.warm_up },
        };
        let goals = results.judge(Some(self.goals), workload, &simulated.schedule, old);
        let run = results.run(workload, &simulated.schedule);
        let objective = self.goals.objective.as_ref().and_then(|objective| run.objective(objective));
        Ok(Some(Run { simulated, results, goals, objective }))
    }

    /// Whether the observer has asked to end the search.
    fn poll(&self) -> ControlFlow<()> {
        if self.is_interrupted.load(Ordering::Relaxed) || self.observer.poll().is_break() {
            self.is_interrupted.store(true, Ordering::Relaxed);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl Part {
    /// How the objective changes from one formula to another: the mean over the copies, whose errors are not independent.
    pub(super) fn objective_difference(
        &self,
        goals: &Goals,
        [old, new]: [&Runs; 2],
        block_seconds: i64,
    ) -> Option<ObjectiveDifference> {
        let objective = goals.objective.as_ref()?;
        let pairs = self.copies.iter().zip(old.0.iter().zip(&new.0));
        let changes = pairs.map(|(workload, (old, new))| {
            objective.change(&old.judged(workload), &new.judged(workload), block_seconds)
        });
        let changes: Vec<MeanChange> = changes.collect::<Option<_>>()?;
        let sign = if objective.is_minimised { 1.0 } else { -1.0 };
        Some(ObjectiveDifference {
            difference: sign * mean(changes.iter().map(MeanChange::difference))?,
            standard_error: mean(changes.iter().filter_map(MeanChange::standard_error))?,
        })
    }
}

impl Run {
    /// The run as goals and objectives judge it.
    pub(super) fn judged<'r>(&'r self, workload: &'r Workload) -> JudgedRun<'r> {
        self.results.run(workload, &self.simulated.schedule)
    }
}

impl Runs {
    /// The values of the goals, each the mean over the copies.
    pub(super) fn goals(&self) -> Vec<GoalValue> {
        let count = self.0.first().map_or(0, |run| run.goals.len());
        let of_goal = |goal: usize| self.0.iter().map(|run| &run.goals[goal]).collect::<Vec<_>>();
        (0..count).map(|goal| GoalValue::mean(&of_goal(goal))).collect()
    }

    /// The value of the objective, which is the mean over the copies.
    pub(super) fn objective(&self) -> Option<f64> {
        mean(self.0.iter().filter_map(|run| run.objective))
    }
}

/// Ends a simulation when the observer asks for it.
struct Interruption<'a> {
    simulator: &'a Simulator<'a>,
    is_asked: bool,
}

impl Observer for Interruption<'_> {
    fn progress(&mut self, _started: usize) -> ControlFlow<()> {
        if self.is_asked { self.simulator.poll() } else { ControlFlow::Continue(()) }
    }
}
