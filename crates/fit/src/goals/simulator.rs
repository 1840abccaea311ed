//! Simulates formulas on a part of a log, and judges the schedules.

use std::cmp;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use job_sort_formula::formula::Formula;
use jsf_simulate::{
    GoalState, Goals, JudgedGoal, JudgedRun, MeanChange, Observer, Results, Statistics, Workload,
};
use jsf_site::{SimulatedQueue, Site, SiteError};
use serde::Serialize;

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

/// How good constants are. A smaller score is better.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Score {
    /// By how much goals are missed, as the sum of fractions of their limits; 0 if all are met that
    /// can be judged.
    pub missed: f64,
    /// The value of the objective, negative if it is to be as large as possible. Without one, by
    /// how much all goals are met at least, as a negative fraction of their limits: constants that
    /// barely meet a goal on some days miss it on others.
    #[serde(skip)]
    pub objective: f64,
    /// The distance to the constants to begin with.
    #[serde(skip)]
    pub distance: f64,
}

impl Eq for Score {}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> cmp::Ordering {
        let by_missed = self.missed.total_cmp(&other.missed);
        let by_objective = self.objective.total_cmp(&other.objective);
        let by_distance = self.distance.total_cmp(&other.distance);
        by_missed.then(by_objective).then(by_distance)
    }
}

/// The value of a goal on a part of the log.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GoalValue {
    /// The value; `None` if there is no job or no share.
    pub value: Option<f64>,
    /// The limit; `None` if it refers to a value that there is not.
    pub limit: Option<f64>,
    /// The number of jobs that it is about.
    pub jobs: usize,
    /// Whether the value is at most the limit, or at least, as the goal asks for.
    #[serde(rename = "met")]
    pub state: GoalState,
    /// By how much it is missed, as a fraction of the limit.
    #[serde(skip)]
    pub missed: f64,
    /// By how much it is met, as a fraction of the limit; negative if it is missed, `None` if it
    /// cannot be judged.
    #[serde(skip)]
    pub margin: Option<f64>,
}

impl GoalValue {
    /// Whether the goal is met, which one about no job is not.
    pub fn is_met(&self) -> bool {
        self.state == GoalState::Met
    }

    /// Whether the goal is missed, which one about no job is not.
    pub fn is_missed(&self) -> bool {
        self.state == GoalState::Missed
    }
}

impl From<&JudgedGoal> for GoalValue {
    fn from(
        &JudgedGoal {
            value,
            limit,
            is_most,
            jobs,
            ..
        }: &JudgedGoal,
    ) -> Self {
        let mut margin = None;
        let mut missed = 0.0;
        if let (Some(value), Some(limit)) = (value, limit) {
            let relative = relative_margin(value, limit, is_most);
            margin = Some(relative);
            missed = (-relative).max(0.0);
        }
        let state = match value {
            _ if jobs == 0 => GoalState::NoJobs,
            Some(_) if missed == 0.0 => GoalState::Met,
            _ => GoalState::Missed,
        };
        Self {
            value,
            limit,
            jobs,
            state,
            missed,
            margin,
        }
    }
}

/// By how much a limit is met, as a fraction of it.
fn relative_margin(value: f64, limit: f64, is_most: bool) -> f64 {
    let within = if is_most {
        limit - value
    } else {
        value - limit
    };
    let unit = if limit == 0.0 { 1.0 } else { limit.abs() };
    within / unit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_come_before_the_objective_and_that_before_the_distance() {
        let score = |missed, objective, distance| Score {
            missed,
            objective,
            distance,
        };
        let mut scores = [
            score(0.1, 0.0, 0.0),
            score(0.0, 2.0, 0.0),
            score(0.0, 1.0, 0.5),
            score(0.0, 1.0, 0.2),
        ];
        scores.sort();
        assert_eq!(scores.map(|score| score.distance), [0.2, 0.5, 0.0, 0.0]);
        assert_eq!(scores[3].missed, 0.1);
    }

    #[test]
    fn a_margin_is_a_fraction_of_the_limit() {
        assert_eq!(relative_margin(90.0, 60.0, true), -0.5);
        assert_eq!(relative_margin(90.0, 60.0, false), 0.5);
        assert_eq!(relative_margin(3.0, 0.0, true), -3.0);
    }
}
