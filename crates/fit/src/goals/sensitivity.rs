//! How exactly constants matter: which digits may be rounded away, and which range does as well.

use job_sort_formula::parallel;

use super::FitError;
use super::goal_search::{Evaluated, EvaluatedPoint, Search, rounded, unless_interrupted};
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

/// What other constants are compared with.
struct Reference<'f> {
    fitted: &'f Evaluated,
    /// The blocks by which errors are estimated, in seconds.
    block_seconds: i64,
    /// The standard error of what is gained over the formula in force; 0 where that is not known.
    error_of_gain: f64,
}

/// A value of a constant that was tried.
#[derive(Clone)]
struct Tried {
    value: f64,
    /// Whether it does as well as the fitted one; `None` after an interruption.
    is_as_good: Option<bool>,
}

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
    /// The best constants with as few digits as cost less than one standard error. A value to begin
    /// with keeps its digits.
    pub(super) fn round_best(
        &self,
        best: &EvaluatedPoint,
        block_seconds: i64,
    ) -> Result<Evaluated, FitError> {
        let exact = self.evaluate(&best.formula, &best.values)?;
        let start = self.searched.space.start();
        if best.values == start {
            return Ok(exact);
        }
        let rescaled = self.searched.space.rescaled_to_start(&best.values);
        let candidates = DIGITS.map(|digits| {
            let mut values = self.searched.space.clamped(&rounded(&rescaled, digits));
            for (index, value) in values.iter_mut().enumerate() {
                if rescaled[index] == start[index] {
                    *value = start[index];
                }
            }
            values
        });
        let evaluated = parallel::map(candidates.to_vec(), |values| {
            self.evaluate(&self.template.fill(&values), &values)
        });
        let reference = self.reference(&exact, block_seconds);
        for rounded in evaluated {
            if let Some(rounded) = unless_interrupted(rounded)?
                && self.is_as_good(&reference, &rounded)
            {
                return Ok(rounded);
            }
        }
        Ok(exact)
    }

    /// For each constant the range in which the result stays within one standard error, all others
    /// being fixed. Where there are too few evaluations for it, or after an interruption, the range
    /// is not known.
    pub(super) fn constants(
        &self,
        fitted: &Evaluated,
        evaluations: usize,
        block_seconds: i64,
    ) -> Result<Vec<FittedConstant>, FitError> {
        let count = self.searched.space.constants().len();
        let places = places(evaluations, count);
        let reference = self.reference(fitted, block_seconds);
        let tried: Vec<(usize, f64)> = (0..count)
            .flat_map(|index| self.tried(index, places))
            .collect();
        let evaluated: Vec<Result<Option<bool>, FitError>> =
            parallel::map(tried.clone(), |(index, value)| {
                let mut values = fitted.point.values.clone();
                values[index] = value;
                let other =
                    unless_interrupted(self.evaluate(&self.template.fill(&values), &values))?;
                Ok(other.map(|other| self.is_as_good(&reference, &other)))
            });
        let mut of_constants: Vec<Vec<Tried>> = vec![Vec::new(); count];
        for ((index, value), is_as_good) in tried.into_iter().zip(evaluated) {
            of_constants[index].push(Tried {
                value,
                is_as_good: is_as_good?,
            });
        }
        Ok(of_constants
            .iter()
            .enumerate()
            .map(|(index, tried)| self.constant(fitted, index, tried))
            .collect())
    }

    /// The values of a constant that are tried: equally far apart from one end of its range to the
    /// other.
    fn tried(&self, index: usize, places: usize) -> Vec<(usize, f64)> {
        let range = &self.searched.space.constants()[index];
        let last = places.saturating_sub(1).max(1) as f64;
        let mut values: Vec<f64> = (0..places)
            .map(|place| value_at(range, place as f64 / last))
            .collect();
        values.dedup();
        rounded(&values, DIGITS[DIGITS.len() - 1])
            .into_iter()
            .map(|value| (index, value))
            .collect()
    }

    fn constant(&self, fitted: &Evaluated, index: usize, tried: &[Tried]) -> FittedConstant {
        let value = fitted.point.values[index];
        let is_known = !tried.is_empty() && tried.iter().all(|tried| tried.is_as_good.is_some());
        let is_good = |tried: &&Tried| tried.is_as_good == Some(true);
        let low = tried
            .iter()
            .rev()
            .filter(|tried| tried.value <= value)
            .take_while(is_good)
            .last();
        let high = tried
            .iter()
            .filter(|tried| tried.value >= value)
            .take_while(is_good)
            .last();
        let within = is_known.then(|| [low, high].map(|end| end.map_or(value, |end| end.value)));
        FittedConstant {
            hardly_matters: is_known && tried.iter().all(|tried| is_good(&tried)),
            ..FittedConstant::new(&self.template.constants()[index], value, within)
        }
    }

    fn reference<'f>(&self, fitted: &'f Evaluated, block_seconds: i64) -> Reference<'f> {
        let goals = self.simulator.goals;
        let gain = self.searched.part.objective_change(
            goals,
            &self.searched.in_force,
            &fitted.run,
            block_seconds,
        );
        let error_of_gain = gain.and_then(|gain| gain.standard_error()).unwrap_or(0.0);
        Reference {
            fitted,
            block_seconds,
            error_of_gain,
        }
    }

    /// Whether other constants miss the goals by no more, and lose less of the objective than one
    /// standard error of what is gained over the formula in force. The error of the loss alone
    /// would be too small a measure: the fitted constants are the best of many, so that others look
    /// worse by about as much as chance makes of them.
    fn is_as_good(&self, reference: &Reference<'_>, other: &Evaluated) -> bool {
        let Reference {
            fitted,
            block_seconds,
            error_of_gain,
        } = *reference;
        if other.point.score.missed > fitted.point.score.missed {
            return false;
        }
        let goals = self.simulator.goals;
        let Some(objective) = &goals.objective else {
            return true;
        };
        let change =
            self.searched
                .part
                .objective_change(goals, &fitted.run, &other.run, block_seconds);
        match change.and_then(|change| Some((change.difference(), change.standard_error()?))) {
            Some((growth, error)) => {
                let loss = if objective.is_minimised {
                    growth
                } else {
                    -growth
                };
                loss <= error_of_gain.max(error)
            }
            None => other.point.score.objective <= fitted.point.score.objective,
        }
    }
}
