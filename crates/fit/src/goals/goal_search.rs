//! Searches the constants on the searched part of a log, and finds how exactly they matter: which
//! digits may be rounded away, and which range does as well.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use job_sort_formula::formula::{Template, TemplateConstant};
use job_sort_formula::parallel;
use jsf_simulate::{Difference, JudgedGoal, MeanChange, Workload};
use serde::Serialize;

use super::{Part, Run, Score, Simulator, Split};
use crate::search_space::{Space, is_scale_free, value_at};
use crate::{FitError, FittedConstant, cma_es, round};

/// CMA-ES ends a run when its points differ by less than this part of the ranges: constants are
/// rounded to two digits.
const TOLERANCE: f64 = 1e-3;
/// The digits of the values that are searched.
const DIGITS: usize = 6;
/// The digits to which constants are rounded, the fewest first.
const FEW_DIGITS: [usize; 4] = [2, 3, 4, DIGITS];
/// The most places of a range at which a constant is tried, and the least that say something.
const MAX_PLACES: usize = 12;
const MIN_PLACES: usize = 4;
/// The part of all evaluations that shows how exactly constants matter.
const PART: f64 = 0.25;

/// The least number of blocks of the searched part, from which errors are estimated.
const MIN_BLOCKS: i64 = 6;

/// Constants that were simulated on the searched part.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvaluatedPoint {
    /// The values of the constants.
    pub values: Vec<f64>,
    /// The formula with them.
    #[serde(skip)]
    pub formula: String,
    /// The values of the goals.
    #[serde(skip)]
    pub goals: Vec<JudgedGoal>,
    /// The value of the objective.
    pub objective: Option<f64>,
    /// How good they are.
    #[serde(flatten)]
    pub score: Score,
}

/// Constants with their run on the searched part.
pub struct Evaluated {
    pub point: EvaluatedPoint,
    pub run: Run,
}

/// A search, and what it has found so far.
pub struct Search<'a> {
    simulator: &'a Simulator<'a>,
    template: &'a Template,
    space: Space,
    pub split: Split,
    /// The part that is searched, and the formula in force on it.
    part: Part,
    pub in_force: Run,
    /// The length of the blocks by which errors are estimated, in seconds: that of a comparison, but
    /// a short part has six too.
    block_seconds: i64,
    pub points: Vec<EvaluatedPoint>,
    /// The place of each formula among the points.
    places: HashMap<String, usize>,
    /// The number of formulas that were simulated.
    evaluated: Mutex<usize>,
}

impl<'a> Search<'a> {
    /// A search that has found nothing yet.
    ///
    /// # Errors
    /// The log is too short, or the formula in force cannot be simulated.
    pub fn new(
        simulator: &'a Simulator<'a>,
        template: &'a Template,
        workload: &Workload,
    ) -> Result<Self, FitError> {
        let options = simulator.options;
        let warm_up = match options.warm_up {
            Some(seconds) => seconds,
            None => simulator
                .site
                .warm_up(workload, &options.simulation)?
                .seconds(),
        };
        let split = Split::new(workload, options.held_out, warm_up, options.force)?;
        let part = Part {
            workload: workload.submitted_before(split.searched_until),
            warm_up: split.counted_from - split.begin,
            is_interruptible: true,
        };
        let is_scale_free = is_scale_free(template, simulator.site);
        let in_force = simulator.run(options.in_force_text(), &part, None)?;
        let in_force = in_force.ok_or_else(FitError::interrupted)?;
        let schedule = &in_force.simulated.schedule;
        // compared with itself, as only the length of its blocks is asked for
        let compared = Difference::new(&part.workload, schedule, schedule, part.warm_up);
        let longest = (split.searched_until - split.counted_from) / MIN_BLOCKS;
        Ok(Self {
            simulator,
            template,
            space: Space::new(template.constants().to_vec(), is_scale_free),
            split,
            block_seconds: compared.block_seconds.min(longest).max(1),
            part,
            in_force,
            points: Vec::new(),
            places: HashMap::new(),
            evaluated: Mutex::new(0),
        })
    }

    /// Evaluates so many points, the constants to begin with first, or as many as there are until
    /// the observer ends the search.
    ///
    /// # Errors
    /// A formula cannot be simulated.
    pub fn run(&mut self, evaluations: usize) -> Result<(), FitError> {
        let start = self.space.start();
        // a template without constants has a single point
        if self.scores(std::slice::from_ref(&start))?.is_none() || start.is_empty() {
            return Ok(());
        }
        let settings = cma_es::Settings {
            // one is spent on the values to begin with
            evaluations: evaluations.saturating_sub(1),
            tolerance: TOLERANCE,
            seed: self.simulator.options.seed,
            sigma: cma_es::FIRST_SIGMA,
        };
        let first = self.space.point(&start);
        let ended = cma_es::search(&first, &settings, &mut |points| {
            let mut values = Vec::new();
            for point in points {
                // rounded, so that what is shown is what was simulated, and near points are one
                values.push(rounded(&self.space.values(point), DIGITS));
            }
            match self.scores(&values) {
                Ok(Some(scores)) => ControlFlow::Continue(scores),
                Ok(None) => ControlFlow::Break(Ok(())),
                Err(error) => ControlFlow::Break(Err(error)),
            }
        });
        ended.break_value().unwrap_or(Ok(()))
    }

    /// The best point; of equal ones the first.
    pub fn best(&self) -> Option<&EvaluatedPoint> {
        self.points.iter().min_by_key(|point| point.score)
    }

    /// The number of formulas that were simulated.
    pub fn evaluations(&self) -> usize {
        self.evaluated.lock().map_or(0, |evaluated| *evaluated)
    }

    /// The scores of the formulas with these constants; `None` after an interruption. Those that are
    /// new are simulated in parallel, and kept in their order.
    fn scores(&mut self, values: &[Vec<f64>]) -> Result<Option<Vec<Score>>, FitError> {
        let mut new: Vec<&[f64]> = Vec::new();
        let mut places = Vec::new();
        for values in values {
            let formula = self.template.fill(values);
            let next = self.points.len() + new.len();
            let place = *self.places.entry(formula).or_insert(next);
            if place == next {
                new.push(values);
            }
            places.push(place);
        }
        let mut is_complete = true;
        for evaluated in parallel::map(new, |values| self.evaluate(values)) {
            match evaluated? {
                Some(evaluated) => self.points.push(evaluated.point),
                None => is_complete = false,
            }
        }
        // nothing is searched after an interruption, which leaves out some points of their places
        if !is_complete {
            return Ok(None);
        }
        let scores = places.into_iter().map(|place| self.points[place].score);
        Ok(Some(scores.collect()))
    }

    /// Simulates the formula with these constants; `None` after an interruption.
    fn evaluate(&self, values: &[f64]) -> Result<Option<Evaluated>, FitError> {
        let formula = self.template.fill(values);
        let simulated = self
            .simulator
            .run(&formula, &self.part, Some(&self.in_force))?;
        let Some(run) = simulated else {
            return Ok(None);
        };
        let point = EvaluatedPoint {
            values: values.to_vec(),
            formula,
            goals: run.goals.clone(),
            objective: run.objective,
            score: Score {
                missed: run.goals.iter().map(|goal| goal.missed()).sum(),
                objective: self.objective_score(&run),
                distance: self.space.distance_to_start(values),
            },
        };
        self.note_evaluated();
        Ok(Some(Evaluated { point, run }))
    }

    fn objective_score(&self, run: &Run) -> f64 {
        match (&self.simulator.goals.objective, run.objective) {
            (None, _) => {
                let margins = run.goals.iter().filter_map(JudgedGoal::margin);
                -margins.reduce(f64::min).unwrap_or(0.0)
            }
            // worse than any value
            (Some(_), None) => f64::INFINITY,
            (Some(objective), Some(value)) if objective.is_minimised => value,
            (Some(_), Some(value)) => -value,
        }
    }

    /// Tells the observer that a formula was simulated, one at a time.
    fn note_evaluated(&self) {
        // held during the call, so that the observer hears of one formula at a time
        let Ok(mut evaluated) = self.evaluated.lock() else {
            return;
        };
        *evaluated += 1;
        // few evaluations are less than the reserve, which is spent in any case
        let planned = self.simulator.options.evaluations.max(*evaluated);
        if (self.simulator.watch)(Some((*evaluated, planned))).is_break() {
            self.simulator.is_interrupted.store(true, Ordering::Relaxed);
        }
    }

    /// The best constants with as few digits as cost less than one standard error; `None` after an
    /// interruption. A value to begin with keeps its digits.
    pub fn round_best(&self, best: &EvaluatedPoint) -> Result<Option<Evaluated>, FitError> {
        // simulated again: the search keeps points alone, and errors are estimated from runs
        let Some(exact) = self.evaluate(&best.values)? else {
            return Ok(None);
        };
        let start = self.space.start();
        if best.values == start {
            return Ok(Some(exact));
        }
        let rescaled = self.space.rescaled_to_start(&best.values);
        let mut candidates = Vec::new();
        for digits in FEW_DIGITS {
            let mut values = self.space.clamped(&rounded(&rescaled, digits));
            for (index, value) in values.iter_mut().enumerate() {
                if rescaled[index] == start[index] {
                    *value = start[index];
                }
            }
            candidates.push(values);
        }
        // all at once, in parallel, though only the first good one is taken
        let evaluated = parallel::map(candidates, |values| self.evaluate(&values));
        let error_of_gain = self.error_of_gain(&exact);
        for rounded in evaluated {
            if let Some(rounded) = rounded?
                && self.is_as_good(&exact, error_of_gain, &rounded)
            {
                return Ok(Some(rounded));
            }
        }
        Ok(Some(exact))
    }

    /// For each constant the range in which the result stays within one standard error, all others
    /// being fixed. Where there are too few evaluations for it, or after an interruption, the range
    /// is not known.
    pub fn constants(&self, fitted: &Evaluated) -> Result<Vec<FittedConstant>, FitError> {
        let ranges = self.space.constants();
        let places = places(self.simulator.options.evaluations, ranges.len());
        let error_of_gain = self.error_of_gain(fitted);
        let mut to_try = Vec::new();
        for (index, range) in ranges.iter().enumerate() {
            for value in tried_values(range, places) {
                to_try.push((index, value));
            }
        }
        let evaluated = parallel::map(to_try, |(index, value)| -> Result<_, FitError> {
            let mut values = fitted.point.values.clone();
            values[index] = value;
            let other = self.evaluate(&values)?;
            let is_as_good = other.map(|other| self.is_as_good(fitted, error_of_gain, &other));
            Ok((index, (value, is_as_good)))
        });
        let mut tried: Vec<Vec<Tried>> = vec![Vec::new(); ranges.len()];
        for evaluated in evaluated {
            let (index, value) = evaluated?;
            tried[index].push(value);
        }
        let mut constants = Vec::new();
        for (index, range) in ranges.iter().enumerate() {
            constants.push(constant(range, fitted.point.values[index], &tried[index]));
        }
        Ok(constants)
    }

    /// The standard error of what is gained over the formula in force; 0 where that is not known.
    fn error_of_gain(&self, fitted: &Evaluated) -> f64 {
        let gain = self.objective_change(&self.in_force, &fitted.run);
        gain.and_then(|gain| gain.standard_error()).unwrap_or(0.0)
    }

    fn objective_change(&self, old: &Run, new: &Run) -> Option<MeanChange> {
        self.simulator
            .objective_change(&self.part, old, new, self.block_seconds)
    }

    /// Whether other constants miss the goals by no more, and lose less of the objective than one
    /// standard error of what is gained over the formula in force. The error of the loss alone
    /// would be too small a measure: the fitted constants are the best of many, so that others look
    /// worse by about as much as chance makes of them.
    fn is_as_good(&self, fitted: &Evaluated, error_of_gain: f64, other: &Evaluated) -> bool {
        let [score, of_other] = [&fitted.point.score, &other.point.score];
        if of_other.missed > score.missed {
            return false;
        }
        let Some(objective) = &self.simulator.goals.objective else {
            return true;
        };
        if let Some(change) = self.objective_change(&fitted.run, &other.run)
            && let Some(error) = change.standard_error()
        {
            let growth = change.difference();
            let loss = if objective.is_minimised {
                growth
            } else {
                -growth
            };
            loss <= error_of_gain.max(error)
        } else {
            of_other.objective <= score.objective
        }
    }
}

/// A value of a constant that was tried, and whether it does as well as the fitted one; `None`
/// after an interruption.
type Tried = (f64, Option<bool>);

/// The number of evaluations that are kept for the best constants again, for roundings and for
/// ranges.
pub fn reserve(evaluations: usize, constants: usize) -> usize {
    1 + FEW_DIGITS.len() + constants * places(evaluations, constants)
}

/// The places of each range at which its constant is tried.
fn places(evaluations: usize, constants: usize) -> usize {
    let places = (evaluations as f64 * PART) as usize / constants.max(1);
    if places < MIN_PLACES {
        0
    } else {
        places.min(MAX_PLACES)
    }
}

/// Values with so many significant digits.
fn rounded(values: &[f64], digits: usize) -> Vec<f64> {
    values.iter().map(|value| round(*value, digits)).collect()
}

/// The values of a constant that are tried: equally far apart from one end of its range to the
/// other.
fn tried_values(range: &TemplateConstant, places: usize) -> Vec<f64> {
    let last = places.saturating_sub(1).max(1) as f64;
    let mut values = Vec::new();
    for place in 0..places {
        values.push(value_at(range, place as f64 / last));
    }
    // an integer has fewer values than there are places
    values.dedup();
    rounded(&values, DIGITS)
}

fn constant(range: &TemplateConstant, value: f64, tried: &[Tried]) -> FittedConstant {
    let mut within = None;
    let mut hardly_matters = false;
    if !tried.is_empty() && !tried.iter().any(|(_, is_as_good)| is_as_good.is_none()) {
        // both from the value outwards
        let below = tried.iter().rev().filter(|(other, _)| *other <= value);
        let above = tried.iter().filter(|(other, _)| *other >= value);
        within = Some([last_good(below, value), last_good(above, value)]);
        hardly_matters = !tried
            .iter()
            .any(|(_, is_as_good)| *is_as_good == Some(false));
    }
    FittedConstant {
        hardly_matters,
        ..FittedConstant::new(range, value, within)
    }
}

/// The last value before the first one that does not do as well; without such a one, `value`.
fn last_good<'t>(tried: impl Iterator<Item = &'t Tried>, value: f64) -> f64 {
    let mut last = value;
    for (other, is_as_good) in tried {
        if *is_as_good != Some(true) {
            break;
        }
        last = *other;
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_rounded_to_significant_digits() {
        assert_eq!(
            rounded(&[123.456, 0.001_267, -9.96, 0.0, 5.0], 2),
            [120.0, 0.0013, -10.0, 0.0, 5.0]
        );
        assert_eq!(round(0.1 + 0.2, 6), 0.3);
    }
}
