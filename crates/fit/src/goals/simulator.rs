//! Simulates formulas on a part of a log, and judges the schedules.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use job_sort_formula::formula::Formula;
use jsf_simulate::{
    Goals, JudgedGoal, JudgedRun, MeanChange, Observer, Results, Statistics, Workload,
};
use jsf_site::{SimulatedQueue, Site, SiteError};

use super::score::GoalValue;
use super::{FitError, FitObserver, FitOptions};

/// What all simulations of a fit have in common.
pub(super) struct Simulator<'a> {
    pub(super) site: &'a Site,
    pub(super) goals: &'a Goals,
    pub(super) options: &'a FitOptions,
    pub(super) observer: &'a dyn FitObserver,
    pub(super) is_interrupted: AtomicBool,
}

/// Jobs on which formulas are compared.
pub(super) struct Part {
    pub(super) workload: Workload,
    /// How long after the first submission the jobs begin that count, in seconds.
    pub(super) warm_up: i64,
    /// Whether simulations end when the observer asks for it.
    pub(super) is_interruptible: bool,
}

/// A formula on a part.
pub(super) struct Run {
    pub(super) simulated: SimulatedQueue,
    pub(super) results: Results,
    /// The goals, to which those of another run may refer.
    judged: Vec<JudgedGoal>,
    pub(super) goals: Vec<GoalValue>,
    pub(super) objective: Option<f64>,
}

impl Simulator<'_> {
    /// Simulates a formula on a part. `old` is the run that limits of goals may refer to.
    pub(super) fn run(&self, text: &str, part: &Part, old: Option<&Run>) -> Result<Run, FitError> {
        let invalid = |message: String| FitError::Formula {
            text: text.to_owned(),
            message,
        };
        let formula = Formula::parse(text).map_err(|error| invalid(error.to_string()))?;
        let mut observer = Interruption {
            simulator: self,
            is_asked: part.is_interruptible,
        };
        let simulated = self.site.simulate(
            &formula,
            &part.workload,
            self.options.simulation,
            &mut observer,
        );
        let simulated = simulated.map_err(|error| match error {
            SiteError::NotArithmetic => invalid("it is valid Python but not arithmetic".to_owned()),
            error => FitError::Site(error),
        })?;
        if !simulated.schedule.is_complete {
            return Err(FitError::Interrupted);
        }
        let results = if self.goals.measure_runs() {
            simulated.results(&part.workload, part.warm_up)
        } else {
            // no goal asks for statistics of the whole run
            Results {
                statistics: Statistics {
                    warm_up: part.warm_up,
                    ..Statistics::default()
                },
                fairness: None,
            }
        };
        let run = results.run(&part.workload, &simulated.schedule);
        let judged = self.goals.judge(&run, old.map(|old| &*old.judged));
        let goals = judged.iter().map(GoalValue::from).collect();
        let objective = self
            .goals
            .objective
            .as_ref()
            .and_then(|objective| run.objective(objective));
        Ok(Run {
            simulated,
            results,
            judged,
            goals,
            objective,
        })
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
    /// How the objective changes from one formula to another; `None` without an objective, or for
    /// one without an interval.
    pub(super) fn objective_change(
        &self,
        goals: &Goals,
        old: &Run,
        new: &Run,
        block_seconds: i64,
    ) -> Option<MeanChange> {
        let objective = goals.objective.as_ref()?;
        objective.change(
            &old.of(&self.workload),
            &new.of(&self.workload),
            block_seconds,
        )
    }
}

impl Run {
    /// The run of this workload as goals and objectives judge it.
    pub(super) fn of<'r>(&'r self, workload: &'r Workload) -> JudgedRun<'r> {
        self.results.run(workload, &self.simulated.schedule)
    }
}

/// Ends a simulation when the observer asks for it.
struct Interruption<'a> {
    simulator: &'a Simulator<'a>,
    is_asked: bool,
}

impl Observer for Interruption<'_> {
    fn progress(&mut self, _started: usize) -> ControlFlow<()> {
        if self.is_asked {
            self.simulator.poll()
        } else {
            ControlFlow::Continue(())
        }
    }
}
