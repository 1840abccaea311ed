//! How exactly constants matter: which digits may be rounded away, and which range does as well.

use job_sort_formula::formula::TemplateConstant;
use job_sort_formula::parallel;
use jsf_simulate::MeanChange;

use super::FitError;
use super::constant_search::{Evaluated, EvaluatedPoint, Search, rounded};
use super::simulator::Run;
use crate::FittedConstant;
use crate::search::value_at;

/// The digits to which constants are rounded, the fewest first; the last ones are those that were
/// searched.
const DIGITS: [i32; 4] = [2, 3, 4, 6];
/// The most places of a range at which a constant is tried, and the least that say something.
const MAX_PLACES: usize = 12;
const MIN_PLACES: usize = 4;
/// The part of all evaluations that shows how exactly constants matter.
const PART: f64 = 0.25;

/// A value of a constant that was tried, and whether it does as well as the fitted one; `None`
/// after an interruption.
type Tried = (f64, Option<bool>);

/// The number of evaluations that are kept for the best constants again, for roundings and for
/// ranges.
pub(super) fn reserve(evaluations: usize, constants: usize) -> usize {
    1 + DIGITS.len() + constants * places(evaluations, constants)
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

impl Search<'_> {
    /// The best constants with as few digits as cost less than one standard error; `None` after an
    /// interruption. A value to begin with keeps its digits.
    pub(super) fn round_best(&self, best: &EvaluatedPoint) -> Result<Option<Evaluated>, FitError> {
        let Some(exact) = self.evaluate(&best.values)? else {
            return Ok(None);
        };
        let start = self.space.start();
        if best.values == start {
            return Ok(Some(exact));
        }
        let rescaled = self.space.rescaled_to_start(&best.values);
        let mut candidates = Vec::new();
        for digits in DIGITS {
            let mut values = self.space.clamped(&rounded(&rescaled, digits));
            for (index, value) in values.iter_mut().enumerate() {
                if rescaled[index] == start[index] {
                    *value = start[index];
                }
            }
            candidates.push(values);
        }
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
    pub(super) fn constants(&self, fitted: &Evaluated) -> Result<Vec<FittedConstant>, FitError> {
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

/// The values of a constant that are tried: equally far apart from one end of its range to the
/// other.
fn tried_values(range: &TemplateConstant, places: usize) -> Vec<f64> {
    let last = places.saturating_sub(1).max(1) as f64;
    let mut values = Vec::new();
    for place in 0..places {
        values.push(value_at(range, place as f64 / last));
    }
    values.dedup();
    rounded(&values, DIGITS[DIGITS.len() - 1])
}

fn constant(range: &TemplateConstant, value: f64, tried: &[Tried]) -> FittedConstant {
    let mut within = None;
    let mut hardly_matters = false;
    if !tried.is_empty() && !tried.iter().any(|(_, is_as_good)| is_as_good.is_none()) {
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
