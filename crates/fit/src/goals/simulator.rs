//! Simulates formulas on a part of a log, and judges the schedules.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use job_sort_formula::formula::Formula;
use jsf_simulate::{
    Goals, JudgedGoal, JudgedRun, MeanChange, Observer, Results, Statistics, Workload,
};
use jsf_site::{SimulatedQueue, Site, SiteError};

use super::score::GoalValue;
use super::{FitError, FitObserver, FitOptions, FitProgress};

/// What all simulations of a fit have in common.
pub struct Simulator<'a> {
    pub site: &'a Site,
    pub goals: &'a Goals,
    pub options: &'a FitOptions,
    pub observer: &'a FitObserver<'a>,
    pub is_interrupted: AtomicBool,
}

/// Jobs on which formulas are compared.
pub struct Part {
    pub workload: Workload,
    /// How long after the first submission the jobs begin that count, in seconds.
    pub warm_up: i64,
    /// Whether simulations end when the observer asks for it.
    pub is_interruptible: bool,
}

/// A formula on a part.
pub struct Run {
    pub simulated: SimulatedQueue,
    results: Results,
    /// The goals, to which those of another run may refer.
    judged: Vec<JudgedGoal>,
    pub goals: Vec<GoalValue>,
    pub objective: Option<f64>,
}

impl Simulator<'_> {
    /// Simulates a formula on a part; `None` after an interruption. `old` is the run that limits of
    /// goals may refer to.
    pub fn run(&self, text: &str, part: &Part, old: Option<&Run>) -> Result<Option<Run>, FitError> {
        let invalid = |message: String| FitError::Formula {
            text: text.to_owned(),
            message,
        };
        let formula = Formula::parse(text).map_err(|error| invalid(error.to_string()))?;
        let (workload, simulation) = (&part.workload, self.options.simulation);
        let (mut ended_by_observer, mut never_ended) = (self, ());
        let observer: &mut dyn Observer = if part.is_interruptible {
            &mut ended_by_observer
        } else {
            &mut never_ended
        };
        let simulated = match self.site.simulate(&formula, workload, simulation, observer) {
            Err(SiteError::NotArithmetic) => {
                return Err(invalid("it is valid Python but not arithmetic".to_owned()));
            }
            simulated => simulated?,
        };
        if !simulated.schedule.is_complete {
            return Ok(None);
        }
        let results = if self.goals.measure_runs() {
            simulated.results(workload, part.warm_up)
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
        let run = results.run(workload, &simulated.schedule);
        let judged = self.goals.judge(&run, old.map(|old| &*old.judged));
        let mut value = None;
        if let Some(objective) = &self.goals.objective {
            value = run.objective(objective);
        }
        Ok(Some(Run {
            goals: judged.iter().map(GoalValue::from).collect(),
            objective: value,
            judged,
            simulated,
            results,
        }))
    }

    /// How the objective changes from one run on a part to another; `None` without an objective, or
    /// for one without an interval.
    pub fn objective_change(
        &self,
        part: &Part,
        old: &Run,
        new: &Run,
        block_seconds: i64,
    ) -> Option<MeanChange> {
        let objective = self.goals.objective.as_ref()?;
        let workload = &part.workload;
        objective.change(&old.of(workload), &new.of(workload), block_seconds)
    }
}

impl Observer for &Simulator<'_> {
    /// Ends a simulation when the observer of the fit asks for it.
    fn progress(&mut self, _started: usize) -> ControlFlow<()> {
        if self.is_interrupted.load(Ordering::Relaxed)
            || (self.observer)(FitProgress::Simulating).is_break()
        {
            self.is_interrupted.store(true, Ordering::Relaxed);
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl Run {
    /// The run of this workload as goals and objectives judge it.
    pub fn of<'r>(&'r self, workload: &'r Workload) -> JudgedRun<'r> {
        self.results.run(workload, &self.simulated.schedule)
    }
}
