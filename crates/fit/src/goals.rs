//! Finds the constants of a formula that meet goals on a log.
//!
//! The first part of the log is searched by CMA-ES. What was found is judged on the last part,
//! which the search never sees: the advice is to use it only if it is better there than the formula
//! in force by more than chance.

mod constant_search;
mod held_out;
mod simulator;

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use job_sort_formula::formula::{Formula, Template};
use jsf_simulate::{GoalState, Goals, MeanChange, Measure, Workload};
use jsf_site::{SimulationOptions, Site, SiteError};
use serde::{Serialize, Serializer};
use thiserror::Error;

pub use constant_search::EvaluatedPoint;
pub use held_out::{HeldOut, HeldOutFormula, Split};
pub use simulator::{GoalValue, Score};

use crate::{FittedConstant, serialize_ends, starts};
use constant_search::{Search, reserve};
use held_out::{FIRST_COME_FIRST_SERVED, MIN_JOBS, MIN_WEEKS, reason};
use simulator::{Part, Run, Simulator};

/// How to fit.
#[derive(Debug, Clone)]
pub struct FitOptions {
    /// The formula in force; `None`: jobs start in the order of their submission.
    pub in_force: Option<String>,
    /// Another seed searches other points.
    pub seed: u64,
    /// The number of formulas that are simulated on the searched part.
    pub evaluations: usize,
    /// The part of the log, by time, that is never searched.
    pub held_out: f64,
    /// Whether to fit a log that is too short to say something of other weeks.
    pub force: bool,
    /// How long after the first submission the jobs begin that count, in seconds; `None`: as long
    /// as usage that starts fresh shapes the schedule.
    pub warm_up: Option<i64>,
    /// How the log is simulated.
    pub simulation: SimulationOptions,
}

impl Default for FitOptions {
    /// 240 formulas, and the last third of the log held out.
    fn default() -> Self {
        Self {
            in_force: None,
            seed: 1,
            evaluations: 240,
            held_out: 0.33,
            force: false,
            warm_up: None,
            simulation: SimulationOptions::default(),
        }
    }
}

impl FitOptions {
    /// The formula in force, be it assumed.
    fn in_force_text(&self) -> &str {
        self.in_force.as_deref().unwrap_or(FIRST_COME_FIRST_SERVED)
    }
}

/// Follows a fit, and may end the search, which then gives the best so far. It is called from
/// several threads.
pub type FitObserver<'a> = dyn Fn(FitProgress) -> ControlFlow<()> + Sync + 'a;

/// How far a fit is.
#[derive(Debug, Clone, Copy)]
pub enum FitProgress {
    /// A formula is being simulated: this is said often.
    Simulating,
    /// A formula of the search was simulated: this is said once for each, one at a time.
    Simulated {
        /// The number of formulas that were simulated on the searched part.
        evaluations: usize,
        /// The number that are planned.
        planned: usize,
    },
}

/// The result of a fit.
#[derive(Debug, Clone, Serialize)]
pub struct GoalFit {
    /// The formula.
    pub formula: String,
    /// What is advised, and why.
    pub reason: Reason,
    /// The constants.
    #[serde(rename = "parameters")]
    pub constants: Vec<FittedConstant>,
    /// The goals.
    pub goals: Vec<FittedGoal>,
    /// The objective.
    #[serde(skip)]
    pub objective: Option<FittedObjective>,
    /// All constants that were simulated in the search, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<EvaluatedPoint>,
    /// Goals that exclude each other, if the goals cannot all be met.
    #[serde(skip)]
    pub exclusions: Vec<Exclusion>,
    /// The number of formulas that were simulated on the searched part.
    pub evaluations: usize,
    /// The seed.
    pub seed: u64,
    /// The parts of the log.
    #[serde(skip)]
    pub split: Split,
    /// Whether a formula is known to be in force, and not assumed to be first come, first served.
    #[serde(skip)]
    pub is_in_force_known: bool,
    /// Whether the search came to its end and was not interrupted.
    #[serde(rename = "complete")]
    pub is_complete: bool,
    /// What the formulas do on the held-out part.
    #[serde(flatten)]
    pub held_out: HeldOut,
}

/// What is advised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Recommendation {
    /// To use the fitted formula.
    Use,
    /// To keep the formula in force.
    Keep,
    /// Nothing: no constants meet the goals.
    None,
}

/// Why something is advised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Reason {
    /// Better on the held-out part by more than chance.
    #[serde(rename = "better")]
    Better,
    /// It meets a goal about each job (`max`, `within`) on both parts, which the formula in force
    /// misses on one of them.
    #[serde(rename = "goal gained")]
    GoalGained,
    /// No constants meet all goals on the searched part.
    #[serde(rename = "goals missed")]
    GoalsMissed,
    /// The fitted formula is the one in force.
    #[serde(rename = "in force")]
    InForce,
    /// The formula in force meets all goals, and there is no objective.
    #[serde(rename = "goals met in force")]
    GoalsMetInForce,
    /// On the held-out part a goal is missed that the formula in force meets, or the objective is
    /// worse by more than chance.
    #[serde(rename = "goal lost")]
    GoalLost,
    /// Not better on the held-out part by more than chance.
    #[serde(rename = "within chance")]
    WithinChance,
    /// The held-out part is too short for intervals, or nothing that is wanted has one.
    #[serde(rename = "too short to judge")]
    TooShortToJudge,
}

impl Reason {
    /// What is advised.
    pub fn recommendation(self) -> Recommendation {
        match self {
            Self::Better | Self::GoalGained => Recommendation::Use,
            Self::GoalsMissed => Recommendation::None,
            Self::InForce
            | Self::GoalsMetInForce
            | Self::GoalLost
            | Self::WithinChance
            | Self::TooShortToJudge => Recommendation::Keep,
        }
    }
}

fn serialize_interval<S: Serializer>(
    change: &Option<MeanChange>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serialize_ends(&change.and_then(|change| change.interval()), serializer)
}

/// A goal under the formula in force and the fitted one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FittedGoal {
    /// Its name.
    pub name: String,
    /// What is measured.
    pub measure: Measure,
    /// Whether the value is to be at most the limit, else at least.
    #[serde(skip)]
    pub is_most: bool,
    /// Under the formula in force, on the searched part.
    pub current: GoalValue,
    /// Under the fitted formula, on the searched part.
    pub train: GoalValue,
    /// Under the formula in force, on the held-out part.
    pub held_out_current: GoalValue,
    /// Under the fitted formula, on the held-out part.
    pub held_out: GoalValue,
    /// The change on the held-out part; `None` for a measure without an interval.
    #[serde(skip)]
    pub change: Option<MeanChange>,
    /// The best value of any point that was simulated.
    #[serde(skip)]
    pub best: Option<f64>,
}

/// The objective under the formula in force and the fitted one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FittedObjective {
    /// Its name.
    pub name: String,
    /// What is measured.
    #[serde(skip)]
    pub measure: Measure,
    /// Whether it is to be as small as possible, else as large.
    #[serde(skip)]
    pub is_minimised: bool,
    /// Under the formula in force, on the searched part.
    pub current: Option<f64>,
    /// Under the fitted formula, on the searched part.
    pub fitted: Option<f64>,
    /// By how much less it improves on the held-out part than on the searched one: what was fitted
    /// to chance, and what differs between the two parts, such as the load. Negative if it improves
    /// more there.
    pub optimism: Option<f64>,
    /// On the held-out part.
    pub held_out: HeldOutObjective,
}

/// The objective on the held-out part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeldOutObjective {
    /// Under the formula in force.
    pub current: Option<f64>,
    /// Under the fitted formula.
    pub fitted: Option<f64>,
    /// The change, whose interval is shown; `None` for a measure without an interval.
    #[serde(flatten, serialize_with = "serialize_interval")]
    pub change: Option<MeanChange>,
}

impl FittedObjective {
    /// By how much the objective improves on the searched part; negative if it gets worse, 0 where
    /// it has no value.
    pub fn gain(&self) -> f64 {
        let change = growth(self.current, self.fitted).unwrap_or(0.0);
        if self.is_minimised { -change } else { change }
    }
}

/// A fit that has no result.
#[derive(Debug, Error)]
pub enum FitError {
    /// The log is too short to say something of other weeks.
    #[error(
        "the log has {jobs} jobs in {weeks:.1} weeks; a fit needs at least {MIN_JOBS} jobs in {MIN_WEEKS} weeks, since it is \
         judged on a part that was not searched"
    )]
    TooShort {
        /// The number of jobs.
        jobs: usize,
        /// The weeks from the first submission to the last.
        weeks: f64,
    },
    /// The warm-up leaves nothing to search.
    #[error("no job of the log is left to search: the warm-up and what is held out take all of it")]
    NothingToSearch,
    /// There is no objective, and no goal is about a job of the searched part.
    #[error(
        "no goal is about a job of the days that are searched, and there is no objective: nothing can be fitted"
    )]
    NothingToJudge,
    /// The part that is held out is not a fraction.
    #[error("the part that is held out is {0}, expected a fraction from 0 to less than 1")]
    HeldOut(f64),
    /// A formula cannot be simulated.
    #[error("`{text}`: {message}")]
    Formula {
        /// The formula.
        text: String,
        /// What is wrong.
        message: String,
    },
    /// The site cannot simulate the log.
    #[error(transparent)]
    Site(#[from] SiteError),
    /// The search ended before a formula was simulated.
    #[error("interrupted before a formula was simulated")]
    Interrupted,
}

/// The formulas whose names a log is read for: the one in force, and the template with its start
/// values.
pub fn formulas_read(template: &Template, in_force: Option<&str>) -> Vec<Formula> {
    let started = template.fill(&starts(template));
    let mut formulas = Vec::new();
    for text in in_force.into_iter().chain([&*started]) {
        formulas.extend(Formula::parse(text));
    }
    formulas
}

/// Finds the constants of a template that meet goals on a workload, which was read with the names
/// of the template, the formula in force and the goals. Equal options give equal results on any
/// number of threads.
///
/// # Errors
/// The log is too short, a formula cannot be simulated, or the observer ends the search before the
/// first result.
pub fn fit_goals(
    site: &Site,
    template: &Template,
    workload: &Workload,
    goals: &Goals,
    options: &FitOptions,
    observer: &FitObserver<'_>,
) -> Result<GoalFit, FitError> {
    let simulator = Simulator {
        site,
        goals,
        options,
        observer,
        is_interrupted: AtomicBool::new(false),
    };
    let mut search = Search::new(&simulator, template, workload)?;
    let mut judged = search.in_force.goals.iter();
    if goals.objective.is_none() && judged.all(|goal| goal.state == GoalState::NoJobs) {
        return Err(FitError::NothingToJudge);
    }
    let kept = reserve(options.evaluations, template.constants().len());
    search.run(options.evaluations.saturating_sub(kept))?;
    let best = search.best().ok_or(FitError::Interrupted)?;
    let (fitted, constants) = match search.round_best(best)? {
        Some(fitted) => {
            let constants = search.constants(&fitted)?;
            (fitted.point, constants)
        }
        // an interrupted search does not know the ranges
        None => {
            let mut constants = Vec::new();
            for (range, value) in template.constants().iter().zip(&best.values) {
                constants.push(FittedConstant::new(range, *value, None));
            }
            (best.clone(), constants)
        }
    };
    let split = search.split;
    let whole = Part {
        workload: workload.clone(),
        warm_up: split.held_out_from - split.begin,
        is_interruptible: false,
    };
    let held_out = HeldOut::new(&simulator, &split, &whole, &fitted.formula)?;
    let in_force = &search.in_force;
    Ok(GoalFit {
        reason: reason(goals, &in_force.goals, &fitted, &held_out),
        constants,
        goals: fitted_goals(goals, in_force, &fitted, &held_out, &search.points),
        objective: fitted_objective(goals, in_force, &fitted, &held_out),
        formula: fitted.formula,
        exclusions: if fitted.score.missed > 0.0 {
            exclusions(goals, &search.points)
        } else {
            Vec::new()
        },
        evaluations: search.evaluations(),
        seed: options.seed,
        split,
        is_in_force_known: options.in_force.is_some(),
        held_out,
        is_complete: !simulator.is_interrupted.load(Ordering::Relaxed),
        points: search.points,
    })
}

fn fitted_goals(
    goals: &Goals,
    in_force: &Run,
    fitted: &EvaluatedPoint,
    held_out: &HeldOut,
    points: &[EvaluatedPoint],
) -> Vec<FittedGoal> {
    let mut fitted_goals = Vec::new();
    for (index, goal) in goals.goals.iter().enumerate() {
        fitted_goals.push(FittedGoal {
            name: goal.name.clone(),
            measure: goal.measure,
            is_most: goal.limit.is_most,
            current: in_force.goals[index],
            train: fitted.goals[index],
            held_out_current: held_out.current.goals[index],
            held_out: held_out.fitted.goals[index],
            change: held_out.goals[index],
            best: best_value(goals, index, points),
        });
    }
    fitted_goals
}

fn fitted_objective(
    goals: &Goals,
    in_force: &Run,
    fitted: &EvaluatedPoint,
    held_out: &HeldOut,
) -> Option<FittedObjective> {
    let objective = goals.objective.as_ref()?;
    let held_out = HeldOutObjective {
        current: held_out.current.objective,
        fitted: held_out.fitted.objective,
        change: held_out.objective,
    };
    let mut optimism = growth(
        growth(in_force.objective, fitted.objective),
        growth(held_out.current, held_out.fitted),
    );
    if !objective.is_minimised {
        optimism = optimism.map(std::ops::Neg::neg);
    }
    Some(FittedObjective {
        name: objective.name.clone(),
        measure: objective.measure,
        is_minimised: objective.is_minimised,
        current: in_force.objective,
        fitted: fitted.objective,
        optimism,
        held_out,
    })
}

/// By how much a value grows, if both are known.
fn growth(from: Option<f64>, to: Option<f64>) -> Option<f64> {
    Some(to? - from?)
}

/// Two goals that no evaluated constants meet together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exclusion {
    /// The place of the goal that is met.
    pub met: usize,
    /// The place of the other goal.
    pub other: usize,
    /// The best value of the other goal where the first one is met.
    pub best: f64,
}

/// Whether a point meets a goal.
fn meets(point: &EvaluatedPoint, goal: usize) -> bool {
    point.goals[goal].missed == 0.0
}

/// Which goals exclude each other, if no point meets all. The best value of each goal beside each
/// other one that can be met.
fn exclusions(goals: &Goals, points: &[EvaluatedPoint]) -> Vec<Exclusion> {
    let mut excluded = Vec::new();
    let places = 0..goals.goals.len();
    for met in places.clone() {
        let mut meeting = Vec::from_iter(points);
        meeting.retain(|point| meets(point, met));
        for other in places.clone() {
            if other != met
                && !meeting.iter().any(|point| meets(point, other))
                && points.iter().any(|point| meets(point, other))
                && let Some(best) = best_value(goals, other, meeting.iter().copied())
            {
                excluded.push(Exclusion { met, other, best });
            }
        }
    }
    excluded
}

/// The best value that a goal has at some points.
fn best_value<'p>(
    goals: &Goals,
    goal: usize,
    points: impl IntoIterator<Item = &'p EvaluatedPoint>,
) -> Option<f64> {
    let values = points
        .into_iter()
        .filter_map(|point| point.goals[goal].value);
    let is_most = goals.goals[goal].limit.is_most;
    values.reduce(if is_most { f64::min } else { f64::max })
}

#[cfg(test)]
mod tests;
