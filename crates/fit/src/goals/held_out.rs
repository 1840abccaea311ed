//! What a formula does on the part of a log that the search did not see.

use job_sort_formula::parallel;
use jsf_simulate::{Difference, Goal, MeanChange, Objective, Schedule, Validation, Workload, wait_of};
use jsf_site::SimulatedQueue;

use super::score::GoalValue;
use super::search::EvaluatedPoint;
use super::simulator::{Part, Runs, Simulator};
use super::split::Split;
use super::{FitError, Reason};

/// The formulas that a result is compared with besides the one in force.
const BASELINES: [(&str, &str); 3] = [
    (FIRST_COME_FIRST_SERVED, "first come, first served"),
    ("-walltime", "shortest first"),
    // the walltime may be 0
    ("(eligible_time + walltime + 1) / (walltime + 1)", "expansion factor"),
];
/// The order of a site without a formula.
pub(super) const FIRST_COME_FIRST_SERVED: &str = "eligible_time";

/// A formula on the held-out part.
#[derive(Debug, Clone, PartialEq)]
pub struct HeldOutFormula {
    /// The formula.
    pub formula: String,
    /// What it is called.
    pub name: &'static str,
    /// The values of the goals.
    pub goals: Vec<GoalValue>,
    /// The value of the objective.
    pub objective: Option<f64>,
}

/// The fitted formula and the one in force on the held-out part.
pub(super) struct HeldOut {
    pub(super) current: HeldOutFormula,
    pub(super) fitted: HeldOutFormula,
    pub(super) baselines: Vec<HeldOutFormula>,
    /// How the value of each goal changes.
    pub(super) goals: Vec<Option<MeanChange>>,
    pub(super) objective: Option<MeanChange>,
    pub(super) difference: Difference,
    /// The longest wait under the formula in force and under the fitted one.
    pub(super) longest_waits: [Option<i64>; 2],
    pub(super) validation: Option<Validation>,
    /// The whole log under the formula in force.
    pub(super) simulated: SimulatedQueue,
}

impl HeldOut {
    /// Simulates the whole log, of which the jobs of the held-out part count.
    pub(super) fn new(
        simulator: &Simulator<'_>,
        split: &Split,
        part: &Part,
        [in_force, fitted]: [&str; 2],
    ) -> Result<Self, FitError> {
        let run = |formula: &str, old: Option<&Runs>| {
            simulator.run(formula, part, old).and_then(|runs| runs.ok_or(FitError::Interrupted))
        };
        let mut current = run(in_force, None)?;
        let named = [(fitted, "fitted")].into_iter().chain(BASELINES);
        let others: Vec<(&str, &str)> =
            named.filter(|(formula, name)| *name == "fitted" || *formula != in_force).collect();
        let runs = parallel::map(others.clone(), |(formula, _)| run(formula, Some(&current)));
        let runs: Vec<Runs> = runs.into_iter().collect::<Result<_, _>>()?;
        let mut described = others.iter().zip(&runs).map(|((formula, name), runs)| described(formula, name, runs));
        let fitted_formula = described.next().ok_or(FitError::Interrupted)?;
        let baselines = described.collect();
        let workload = &part.copies[0];
        let schedule = &current.0[0].simulated.schedule;
        let new = &runs[0].0[0];
        let difference = Difference::new(workload, schedule, &new.simulated.schedule, part.warm_up);
        let longest_waits =
            [schedule, &new.simulated.schedule].map(|schedule| longest_wait(workload, schedule, part.warm_up));
        let judged = [current.0[0].judged(workload), new.judged(workload)];
        let block_seconds = difference.block_seconds;
        let goals = simulator.goals.goals.iter();
        Ok(Self {
            current: described_current(in_force, &current),
            fitted: fitted_formula,
            baselines,
            goals: goals.map(|goal| goal.change(&judged[0], &judged[1], block_seconds)).collect(),
            objective: simulator
                .goals
                .objective
                .as_ref()
                .and_then(|objective| objective.change(&judged[0], &judged[1], block_seconds)),
            validation: Validation::new(workload, schedule, split.counted_from - split.begin),
            difference,
            longest_waits,
            simulated: current.0.swap_remove(0).simulated,
        })
    }
}

/// The longest wait, in seconds, of the jobs that start and are submitted at least `warm_up` seconds after the first one.
fn longest_wait(workload: &Workload, schedule: &Schedule, warm_up: i64) -> Option<i64> {
    let jobs = workload.jobs();
    let begin = jobs.first()?.submit.saturating_add(warm_up);
    let counted = (0..jobs.len()).filter(|&job| jobs[job].submit >= begin);
    counted.filter_map(|job| wait_of(workload, schedule, job)).max()
}

fn described_current(formula: &str, runs: &Runs) -> HeldOutFormula {
    described(formula, "in force", runs)
}

fn described(formula: &str, name: &'static str, runs: &Runs) -> HeldOutFormula {
    HeldOutFormula { formula: formula.to_owned(), name, goals: runs.goals(), objective: runs.objective() }
}

/// What is advised, and why. `current` are the values of the goals under the formula in force on the searched part.
///
/// As in the search, goals come first: a goal that the formula in force misses counts as much as the objective, whose interval is the one
/// that is shown. Of several goals that would each be a reason, one may be better by chance, so that each is tested at a part of the level.
pub(super) fn reason(
    simulator: &Simulator<'_>,
    current: &[GoalValue],
    fitted: &EvaluatedPoint,
    held_out: &HeldOut,
) -> Reason {
    if fitted.score.missed > 0.0 {
        return Reason::GoalsMissed;
    }
    if held_out.fitted.formula == held_out.current.formula {
        return Reason::InForce;
    }
    let goals = &simulator.goals.goals;
    let objective = simulator.goals.objective.as_ref();
    let gains = (0..goals.len()).any(|goal| is_gained(goal, goals, current, held_out));
    let missed: Vec<usize> = (0..goals.len()).filter(|&goal| current[goal].missed > 0.0).collect();
    let level_of_goals = LEVEL / missed.len().max(1) as f64;
    let of_goals = missed.iter().map(|&goal| (held_out.goals[goal], goals[goal].limit.is_most, level_of_goals));
    let of_objective = objective.map(|objective| (held_out.objective, objective.is_minimised, LEVEL));
    let tested: Vec<(Option<MeanChange>, bool, f64)> = of_goals.chain(of_objective).collect();
    if tested.is_empty() && !gains {
        return Reason::GoalsMetInForce;
    }
    let is_better = |(change, is_less, level): &(Option<MeanChange>, bool, f64)| {
        is_beyond_chance(change.as_ref(), *is_less, *level)
    };
    // a goal that few jobs decide has no interval; it is not given up either
    let is_lost = |(fitted, current): (&GoalValue, &GoalValue)| !fitted.is_met() && current.is_met();
    let of_held_out = held_out.fitted.goals.iter().zip(&held_out.current.goals);
    let is_worse =
        |objective: &Objective| is_beyond_chance(held_out.objective.as_ref(), !objective.is_minimised, LEVEL);
    if of_held_out.into_iter().any(is_lost) || objective.is_some_and(is_worse) {
        return Reason::GoalLost;
    }
    if tested.iter().any(is_better) {
        return Reason::Better;
    }
    if gains {
        return Reason::GoalGained;
    }
    let is_judged = tested.iter().any(|(change, ..)| change.and_then(|change| change.interval()).is_some());
    if is_judged { Reason::WithinChance } else { Reason::TooShortToJudge }
}

/// Whether the fitted formula meets a goal about each job which the formula in force misses on a part of the log. Such a goal is met
/// or missed by the log itself, so that it needs no interval. That the fitted formula meets it on the searched part is known.
fn is_gained(goal: usize, goals: &[Goal], current: &[GoalValue], held_out: &HeldOut) -> bool {
    let was_missed = current[goal].is_missed() || held_out.current.goals[goal].is_missed();
    goals[goal].measure.is_of_each_job() && was_missed && held_out.fitted.goals[goal].is_met()
}

/// What is left of the confidence of an interval of `simulate`.
const LEVEL: f64 = 0.05;

/// Whether a value falls, or grows, by more than chance would explain.
fn is_beyond_chance(change: Option<&MeanChange>, is_fall: bool, level: f64) -> bool {
    let change = change.map(|change| MeanChange { level, ..*change });
    change.is_some_and(|change| if is_fall { change.is_decrease() } else { change.is_increase() })
}
