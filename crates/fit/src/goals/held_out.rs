//! The parts of a log: the one that is searched, a gap, and the one that judges what was found; and
//! what a formula does on that last one.
//!
//! The searched part is simulated with its own jobs only, so that nothing of the later ones is
//! known. The held-out part is simulated as the end of the whole log under each formula: it begins
//! with the queue and the usage that the formula itself would have left, as it would be had it been
//! in force. Between them no job counts for the time that the longest job may run, so that what the
//! last searched jobs leave behind is hardly seen: a formula that was fitted to them has no
//! advantage by it. Equal formulas give equal results on the held-out part, whatever was searched.

use job_sort_formula::parallel;
use jsf_simulate::{Difference, Goals, MeanChange, Schedule, Validation, Workload, wait_of};
use jsf_site::Processors;
use serde::Serialize;

use super::constant_search::EvaluatedPoint;
use super::simulator::{GoalValue, Part, Run, Simulator};
use super::{FitError, Reason};

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
pub const FIRST_COME_FIRST_SERVED: &str = "eligible_time";

/// A formula on the held-out part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeldOutFormula {
    /// The formula.
    pub formula: String,
    /// What it is called.
    pub name: &'static str,
    /// The values of the goals.
    #[serde(skip)]
    pub goals: Vec<GoalValue>,
    /// The value of the objective.
    #[serde(rename = "held_out")]
    pub objective: Option<f64>,
}

/// The fitted formula and the one in force on the held-out part.
#[derive(Debug, Clone, Serialize)]
pub struct HeldOut {
    /// The formula in force. Without one, this is first come, first served.
    #[serde(skip)]
    pub current: HeldOutFormula,
    /// The fitted formula.
    #[serde(skip)]
    pub fitted: HeldOutFormula,
    /// Other formulas.
    #[serde(skip)]
    pub baselines: Vec<HeldOutFormula>,
    /// How the value of each goal changes.
    #[serde(skip)]
    pub(super) goals: Vec<Option<MeanChange>>,
    #[serde(skip)]
    pub(super) objective: Option<MeanChange>,
    /// The waits under the fitted formula against those under the one in force.
    #[serde(skip)]
    pub difference: Difference,
    /// The longest wait under the formula in force and under the fitted one, in seconds.
    #[serde(skip)]
    pub longest_waits: [Option<f64>; 2],
    /// The waits under the formula in force against those in the log; `None` if it has none.
    #[serde(skip)]
    pub validation: Option<Validation>,
    /// The processors of the machine.
    #[serde(skip)]
    pub processors: Processors,
    /// What the simulation of the whole log under the formula in force leaves out or assumes, one
    /// sentence each.
    pub warnings: Vec<String>,
}

impl HeldOut {
    /// Simulates the whole log, of which the jobs of the held-out part count.
    pub(super) fn new(
        simulator: &Simulator<'_>,
        split: &Split,
        part: &Part,
        fitted: &str,
    ) -> Result<Self, FitError> {
        let in_force = simulator.options.in_force_text();
        let current = simulator.run(in_force, part, None)?;
        let current = current.ok_or(FitError::Interrupted)?;
        let mut named = vec![(fitted, "fitted")];
        for baseline in BASELINES {
            if baseline.0 != in_force {
                named.push(baseline);
            }
        }
        let runs = parallel::map(named, |(formula, name)| {
            let run = simulator.run(formula, part, Some(&current))?;
            let run = run.ok_or(FitError::Interrupted)?;
            Ok((described(formula, name, &run), run))
        });
        let mut runs = runs.into_iter().collect::<Result<Vec<_>, FitError>>()?;
        let (fitted, new) = runs.remove(0);
        let (workload, warm_up) = (&part.workload, part.warm_up);
        let old_schedule = &current.simulated.schedule;
        let new_schedule = &new.simulated.schedule;
        let difference = Difference::new(workload, old_schedule, new_schedule, warm_up);
        let [old_run, new_run] = [current.of(workload), new.of(workload)];
        let block_seconds = difference.block_seconds;
        let mut goals = Vec::new();
        for goal in &simulator.goals.goals {
            goals.push(goal.change(&old_run, &new_run, block_seconds));
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
pub fn reason(
    goals: &Goals,
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
    let objective = goals.objective.as_ref();
    let goals = &goals.goals;
    let mut missed = Vec::new();
    let (mut is_gained, mut is_lost) = (false, false);
    for (place, goal) in goals.iter().enumerate() {
        let before = &held_out.current.goals[place];
        let after = &held_out.fitted.goals[place];
        if current[place].missed > 0.0 {
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
    let level_of_goals = LEVEL / missed.len().max(1) as f64;
    for place in missed {
        if let Some(change) = held_out.goals[place] {
            is_better |= is_beyond_chance(change, goals[place].limit.is_most, level_of_goals);
            is_judged |= change.interval().is_some();
        }
    }
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
pub const MIN_WEEKS: f64 = 8.0;
pub const MIN_JOBS: usize = 2000;
/// The largest part of what follows the searched part that a gap takes, where a job asks for more
/// time than that.
const MAX_GAP: f64 = 0.5;

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
    pub held_out_from: i64,
    /// The last submission.
    pub end: i64,
}

impl Split {
    /// Holds out this fraction of the time of a log. A log that is too short is refused unless
    /// `force` is set.
    pub(super) fn new(
        workload: &Workload,
        held_out: f64,
        warm_up: i64,
        force: bool,
    ) -> Result<Self, FitError> {
        if !(0.0..1.0).contains(&held_out) {
            return Err(FitError::HeldOut(held_out));
        }
        let jobs = workload.jobs();
        let [Some(first), Some(last)] = [jobs.first(), jobs.last()] else {
            return Err(FitError::NothingToSearch);
        };
        let [begin, end] = [first.submit, last.submit];
        let weeks = (end - begin) as f64 / DAY / DAYS_OF_WEEK;
        if !force && (weeks < MIN_WEEKS || jobs.len() < MIN_JOBS) {
            return Err(FitError::TooShort {
                jobs: jobs.len(),
                weeks,
            });
        }
        let searched_until = end - ((end - begin) as f64 * held_out) as i64;
        let longest = jobs.iter().map(|job| job.walltime).max().unwrap_or(0);
        let gap = longest.min(((end - searched_until) as f64 * MAX_GAP) as i64);
        let counted_from = begin.saturating_add(warm_up).min(end);
        let split = Self {
            begin,
            counted_from,
            searched_until,
            held_out_from: searched_until + gap,
            end,
        };
        if split.counted_from >= searched_until {
            return Err(FitError::NothingToSearch);
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
