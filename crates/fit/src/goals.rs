//! Finds the constants of a formula that meet goals on a log.
//!
//! The first part of the log is searched by CMA-ES. What was found is judged on the last part,
//! which the search never sees: the advice is to use it only if it is better there than the formula
//! in force by more than chance.
//!
//! The searched part is simulated with its own jobs only, so that nothing of the later ones is
//! known. The held-out part is simulated as the end of the whole log under each formula: it begins
//! with the queue and the usage that the formula itself would have left, as it would be had it been
//! in force. Between them no job counts for the time that the longest job may run, so that what the
//! last searched jobs leave behind is hardly seen: a formula that was fitted to them has no
//! advantage by it. Equal formulas give equal results on the held-out part, whatever was searched.

use std::cmp;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use goal_search::{Search, reserve};
use job_sort_formula::formula::{Formula, Template};
use job_sort_formula::parallel;
use jsf_json::object;
use jsf_simulate::{
    Difference, GoalState, Goals, JudgedGoal, JudgedRun, MeanChange, Measure, Schedule, Statistics,
    Validation, Workload, wait_of,
};
use jsf_site::{Processors, SimulatedQueue, SimulationOptions, Site, SiteError};
use serde::{Serialize, Serializer};

use crate::{FitError, FittedConstant, Watch, serialize_ends};

mod goal_search;
#[cfg(test)]
mod tests;

pub use goal_search::EvaluatedPoint;

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
    #[serde(skip)]
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

/// Serialises a goal without what its parts of the log have in common.
fn serialize_value<S: Serializer>(goal: &JudgedGoal, serializer: S) -> Result<S::Ok, S::Error> {
    let members = object! {
        value: goal.value,
        limit: goal.limit,
        jobs: goal.jobs,
        met: goal.state,
    };
    members.serialize(serializer)
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
    #[serde(serialize_with = "serialize_value")]
    pub current: JudgedGoal,
    /// Under the fitted formula, on the searched part.
    #[serde(serialize_with = "serialize_value")]
    pub train: JudgedGoal,
    /// Under the formula in force, on the held-out part.
    #[serde(serialize_with = "serialize_value")]
    pub held_out_current: JudgedGoal,
    /// Under the fitted formula, on the held-out part.
    #[serde(serialize_with = "serialize_value")]
    pub held_out: JudgedGoal,
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

/// The formulas whose names a log is read for: the one in force, and the template with its start
/// values.
pub fn formulas_read(template: &Template, in_force: Option<&str>) -> Vec<Formula> {
    let started = template.fill(&template.starts());
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
/// The log is too short, a formula cannot be simulated, or `watch` ends the search before the
/// first result.
pub fn fit_goals(
    site: &Site,
    template: &Template,
    workload: &Workload,
    goals: &Goals,
    options: &FitOptions,
    watch: &Watch<'_>,
) -> Result<GoalFit, FitError> {
    let simulator = Simulator {
        site,
        goals,
        options,
        watch,
        is_interrupted: AtomicBool::new(false),
    };
    let mut search = Search::new(&simulator, template, workload)?;
    let mut judged = search.in_force.goals.iter();
    if goals.objective.is_none() && judged.all(|goal| goal.state == GoalState::NoJobs) {
        return Err(FitError::new(
            "no goal is about a job of the days that are searched, and there is no objective: nothing can be fitted",
        ));
    }
    let kept = reserve(options.evaluations, template.constants().len());
    search.run(options.evaluations.saturating_sub(kept))?;
    let best = search.best().ok_or_else(FitError::interrupted)?;
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
    // what was found is worth its judgement, so that nothing ends this part
    let whole = Part {
        workload: workload.clone(),
        // all that is submitted before the held-out part warms it up
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
            current: in_force.goals[index].clone(),
            train: fitted.goals[index].clone(),
            held_out_current: held_out.current.goals[index].clone(),
            held_out: held_out.fitted.goals[index].clone(),
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
    point.goals[goal].missed() == 0.0
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
                // a goal that no point meets is excluded by no other one
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

/// The formulas that a result is compared with besides the one in force.
const BASELINES: [(&str, &str); 3] = [
    (FIRST_COME_FIRST_SERVED, "first come, first served"),
    ("-walltime", "shortest first"),
    // the walltime may be 0
    (
        "(eligible_time + walltime + 1) / (walltime + 1)",
        "expansion factor",
    ),
];
/// The order of a site without a formula.
const FIRST_COME_FIRST_SERVED: &str = "eligible_time";

/// A formula on the held-out part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeldOutFormula {
    /// The formula.
    pub formula: String,
    /// What it is called.
    pub name: &'static str,
    /// The values of the goals.
    #[serde(skip)]
    pub goals: Vec<JudgedGoal>,
    /// The value of the objective.
    #[serde(rename = "held_out")]
    pub objective: Option<f64>,
}

/// The fitted formula and the one in force on the held-out part.
#[derive(Debug, Clone)]
pub struct HeldOut {
    /// The formula in force. Without one, this is first come, first served.
    pub current: HeldOutFormula,
    /// The fitted formula.
    pub fitted: HeldOutFormula,
    /// Other formulas.
    pub baselines: Vec<HeldOutFormula>,
    /// How the value of each goal changes.
    goals: Vec<Option<MeanChange>>,
    objective: Option<MeanChange>,
    /// The waits under the fitted formula against those under the one in force.
    pub difference: Difference,
    /// The longest wait under the formula in force and under the fitted one, in seconds.
    pub longest_waits: [Option<f64>; 2],
    /// The waits under the formula in force against those in the log; `None` if it has none.
    pub validation: Option<Validation>,
    /// The processors of the machine.
    pub processors: Processors,
    /// What the simulation of the whole log under the formula in force leaves out or assumes, one
    /// sentence each.
    pub warnings: Vec<String>,
}

impl HeldOut {
    /// Simulates the whole log, of which the jobs of the held-out part count.
    fn new(
        simulator: &Simulator<'_>,
        split: &Split,
        part: &Part,
        fitted: &str,
    ) -> Result<Self, FitError> {
        let in_force = simulator.options.in_force_text();
        // before the others, since the limits of goals may refer to it
        let current = simulator.run(in_force, part, None)?;
        let current = current.ok_or_else(FitError::interrupted)?;
        let mut named = vec![(fitted, "fitted")];
        for baseline in BASELINES {
            if baseline.0 != in_force {
                named.push(baseline);
            }
        }
        let runs = parallel::map(named, |(formula, name)| {
            let run = simulator.run(formula, part, Some(&current))?;
            let run = run.ok_or_else(FitError::interrupted)?;
            Ok((described(formula, name, &run), run))
        });
        let mut runs = runs.into_iter().collect::<Result<Vec<_>, FitError>>()?;
        // the first of `named`
        let (fitted, new) = runs.remove(0);
        let (workload, warm_up) = (&part.workload, part.warm_up);
        let old_schedule = &current.simulated.schedule;
        let new_schedule = &new.simulated.schedule;
        let difference = Difference::new(workload, old_schedule, new_schedule, warm_up);
        let [old_run, new_run] = [current.of(workload), new.of(workload)];
        let block_seconds = difference.block_seconds;
        let mut goals = Vec::new();
        for goal in &simulator.goals.goals {
            goals.push(old_run.change_to(&new_run, goal.measure, Some(goal), block_seconds));
        }
        Ok(Self {
            current: described(in_force, "in force", &current),
            fitted,
            baselines: runs.into_iter().map(|(baseline, _)| baseline).collect(),
            goals,
            objective: simulator.objective_change(part, &current, &new, block_seconds),
            longest_waits: [
                longest_wait(workload, old_schedule, warm_up),
                longest_wait(workload, new_schedule, warm_up),
            ],
            // of all jobs after the warm-up: the formula in force was not fitted to any of them
            validation: Validation::new(workload, old_schedule, split.counted_from - split.begin),
            difference,
            processors: current.simulated.processors,
            warnings: current.simulated.warnings,
        })
    }
}

/// The longest wait, in seconds, of the jobs that start and are submitted at least `warm_up`
/// seconds after the first one.
fn longest_wait(workload: &Workload, schedule: &Schedule, warm_up: i64) -> Option<f64> {
    let mut longest = None;
    for job in workload.after_warm_up(warm_up) {
        longest = longest.max(wait_of(workload, schedule, job));
    }
    Some(longest? as f64)
}

fn described(formula: &str, name: &'static str, run: &Run) -> HeldOutFormula {
    HeldOutFormula {
        formula: formula.to_owned(),
        name,
        goals: run.goals.clone(),
        objective: run.objective,
    }
}

/// What is advised, and why. `current` are the values of the goals under the formula in force on
/// the searched part.
///
/// As in the search, goals come first: a goal that the formula in force misses counts as much as
/// the objective, whose interval is the one that is shown. Of several goals that would each be a
/// reason, one may be better by chance, so that each is tested at a part of the level.
fn reason(
    goals: &Goals,
    current: &[JudgedGoal],
    fitted: &EvaluatedPoint,
    held_out: &HeldOut,
) -> Reason {
    if fitted.score.missed > 0.0 {
        return Reason::GoalsMissed;
    }
    if held_out.fitted.formula == held_out.current.formula {
        return Reason::InForce;
    }
    let objective = goals.objective.as_ref();
    let goals = &goals.goals;
    let mut missed = Vec::new();
    let (mut is_gained, mut is_lost) = (false, false);
    for (place, goal) in goals.iter().enumerate() {
        let before = &held_out.current.goals[place];
        let after = &held_out.fitted.goals[place];
        if current[place].missed() > 0.0 {
            missed.push(place);
        }
        // a goal about each job is met or missed by the log itself, so that it needs no interval;
        // that the fitted formula meets it on the searched part is known
        let was_missed = current[place].is_missed() || before.is_missed();
        is_gained |= goal.measure.is_of_each_job() && was_missed && after.is_met();
        // a goal that few jobs decide has no interval; it is not given up either
        is_lost |= before.is_met() && !after.is_met();
    }
    if missed.is_empty() && objective.is_none() && !is_gained {
        return Reason::GoalsMetInForce;
    }
    let (mut is_better, mut is_judged) = (false, false);
    if let (Some(objective), Some(change)) = (objective, held_out.objective) {
        is_lost |= is_beyond_chance(change, !objective.is_minimised, LEVEL);
        is_better |= is_beyond_chance(change, objective.is_minimised, LEVEL);
        is_judged |= change.interval().is_some();
    }
    // Bonferroni's correction
    let level_of_goals = LEVEL / missed.len().max(1) as f64;
    for place in missed {
        if let Some(change) = held_out.goals[place] {
            is_better |= is_beyond_chance(change, goals[place].limit.is_most, level_of_goals);
            is_judged |= change.interval().is_some();
        }
    }
    // first, since no gain makes up for a goal that is lost
    if is_lost {
        Reason::GoalLost
    } else if is_better {
        Reason::Better
    } else if is_gained {
        Reason::GoalGained
    } else if is_judged {
        Reason::WithinChance
    } else {
        Reason::TooShortToJudge
    }
}

/// What is left of the confidence of an interval of `simulate`.
const LEVEL: f64 = 0.05;

/// Whether a value falls, or grows, by more than chance would explain.
fn is_beyond_chance(change: MeanChange, is_fall: bool, level: f64) -> bool {
    let change = MeanChange { level, ..change };
    if is_fall {
        change.is_decrease()
    } else {
        change.is_increase()
    }
}

const DAY: f64 = 86_400.0;
const DAYS_OF_WEEK: f64 = 7.0;
/// The least of a log that is fitted without force: less says nothing of other weeks.
const MIN_WEEKS: f64 = 8.0;
pub const MIN_JOBS: usize = 2000;
/// The largest part of what follows the searched part that a gap takes, where a job asks for more
/// time than that.
const MAX_GAP: f64 = 0.5;

const NOTHING_TO_SEARCH: &str =
    "no job of the log is left to search: the warm-up and what is held out take all of it";

/// The parts of a log, by times of submission in seconds of its clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    /// The first submission.
    pub begin: i64,
    /// From here on, after the warm-up, jobs of the searched part count.
    pub counted_from: i64,
    /// The end of the searched part.
    pub searched_until: i64,
    /// The beginning of the held-out part.
    held_out_from: i64,
    /// The last submission.
    pub end: i64,
}

impl Split {
    /// Holds out this fraction of the time of a log. A log that is too short is refused unless
    /// `force` is set.
    fn new(
        workload: &Workload,
        held_out: f64,
        warm_up: i64,
        force: bool,
    ) -> Result<Self, FitError> {
        if !(0.0..1.0).contains(&held_out) {
            return Err(FitError::new(format!(
                "the part that is held out is {held_out}, expected a fraction from 0 to less than 1"
            )));
        }
        let jobs = workload.jobs();
        let [Some(first), Some(last)] = [jobs.first(), jobs.last()] else {
            return Err(FitError::new(NOTHING_TO_SEARCH));
        };
        let [begin, end] = [first.submit, last.submit];
        let weeks = (end - begin) as f64 / DAY / DAYS_OF_WEEK;
        if !force && (weeks < MIN_WEEKS || jobs.len() < MIN_JOBS) {
            return Err(FitError::TooShort(format!(
                "the log has {} jobs in {weeks:.1} weeks; a fit needs at least {MIN_JOBS} jobs in {MIN_WEEKS} weeks, since it \
                 is judged on a part that was not searched",
                jobs.len()
            )));
        }
        // the casts are exact enough: a log's times have at most 10^11 seconds
        let searched_until = end - ((end - begin) as f64 * held_out) as i64;
        let longest = jobs.iter().map(|job| job.walltime).max().unwrap_or(0);
        // of a longer gap too little would be left to judge by
        let gap = longest.min(((end - searched_until) as f64 * MAX_GAP) as i64);
        // a warm-up that the caller gives may be of any length
        let counted_from = begin.saturating_add(warm_up);
        let split = Self {
            begin,
            counted_from,
            searched_until,
            held_out_from: searched_until + gap,
            end,
        };
        if split.counted_from >= searched_until {
            return Err(FitError::new(NOTHING_TO_SEARCH));
        }
        Ok(split)
    }

    /// How many days are searched.
    pub fn searched_days(&self) -> f64 {
        (self.searched_until - self.counted_from) as f64 / DAY
    }

    /// How many days are held out.
    pub fn held_out_days(&self) -> f64 {
        (self.end - self.held_out_from) as f64 / DAY
    }
}

/// What all simulations of a fit have in common.
struct Simulator<'a> {
    site: &'a Site,
    goals: &'a Goals,
    options: &'a FitOptions,
    watch: &'a Watch<'a>,
    is_interrupted: AtomicBool,
}

/// Jobs on which formulas are compared.
struct Part {
    workload: Workload,
    /// How long after the first submission the jobs begin that count, in seconds.
    warm_up: i64,
    /// Whether simulations end when who watches the fit asks for it.
    is_interruptible: bool,
}

/// A formula on a part.
struct Run {
    simulated: SimulatedQueue,
    statistics: Statistics,
    /// The goals, to which those of another run may refer.
    goals: Vec<JudgedGoal>,
    objective: Option<f64>,
}

impl Simulator<'_> {
    /// Simulates a formula on a part; `None` after an interruption. `old` is the run that limits of
    /// goals may refer to.
    fn run(&self, text: &str, part: &Part, old: Option<&Run>) -> Result<Option<Run>, FitError> {
        let formula =
            Formula::parse(text).map_err(|error| FitError::new(format!("`{text}`: {error}")))?;
        let (workload, simulation) = (&part.workload, self.options.simulation);
        let mut watch = |_| {
            // relaxed: no other memory depends on the flag
            if part.is_interruptible
                && (self.is_interrupted.load(Ordering::Relaxed) || (self.watch)(None).is_break())
            {
                self.is_interrupted.store(true, Ordering::Relaxed);
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        };
        let simulated = match self
            .site
            .simulate(&formula, workload, simulation, &mut watch)
        {
            Err(SiteError::NotArithmetic) => {
                return Err(FitError::new(format!(
                    "`{text}`: it is valid Python but not arithmetic"
                )));
            }
            simulated => simulated?,
        };
        if !simulated.schedule.is_complete {
            return Ok(None);
        }
        let statistics = if self.goals.measure_runs() {
            simulated.statistics(workload, part.warm_up)
        } else {
            // no goal asks for statistics of the whole run
            Statistics {
                warm_up: part.warm_up,
                ..Statistics::default()
            }
        };
        let run = JudgedRun {
            workload,
            schedule: &simulated.schedule,
            statistics: &statistics,
        };
        let mut goals = self.goals.judge(&run, old.map_or(&[], |old| &old.goals));
        for goal in &mut goals {
            // a limit that refers to the formula in force is met by that formula itself, but not
            // where there is nothing to measure
            if goal.state == GoalState::NoOldSide {
                goal.state = if goal.value.is_some() {
                    GoalState::Met
                } else {
                    GoalState::Missed
                };
            }
        }
        let objective = self.goals.objective.as_ref();
        Ok(Some(Run {
            goals,
            objective: objective.and_then(|objective| run.objective(objective)),
            simulated,
            statistics,
        }))
    }

    /// How the objective changes from one run on a part to another; `None` without an objective, or
    /// for one without an interval.
    fn objective_change(
        &self,
        part: &Part,
        old: &Run,
        new: &Run,
        block_seconds: i64,
    ) -> Option<MeanChange> {
        let objective = self.goals.objective.as_ref()?;
        let workload = &part.workload;
        let (old, new) = (old.of(workload), new.of(workload));
        old.change_to(&new, objective.measure, None, block_seconds)
    }
}

impl Run {
    /// The run of this workload as goals and objectives judge it.
    fn of<'r>(&'r self, workload: &'r Workload) -> JudgedRun<'r> {
        JudgedRun {
            workload,
            schedule: &self.simulated.schedule,
            statistics: &self.statistics,
        }
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
        // of constants that are as good, those that change less
        let by_distance = self.distance.total_cmp(&other.distance);
        by_missed.then(by_objective).then(by_distance)
    }
}
