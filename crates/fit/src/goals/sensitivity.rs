//! How exactly constants matter: which digits may be rounded away, and which range does as well.

use job_sort_formula::parallel;

use super::search::{EvaluatedPoint, Search, rounded};
use super::simulator::Runs;
use super::{FitError, FittedConstant};

/// The digits to which constants are rounded, the fewest first; the last ones are those that were searched.
const DIGITS: [i32; 4] = [2, 3, 4, 6];
/// The most places of a range at which a constant is tried, and the least that say something.
const MAX_PLACES: usize = 12;
const MIN_PLACES: usize = 4;
/// The part of all evaluations that shows how exactly constants matter.
const PART: f64 = 0.25;

/// Constants with their runs on the searched part.
pub(super) struct Fitted {
    pub(super) point: EvaluatedPoint,
    pub(super) runs: Runs,
}

/// What other constants are compared with.
struct Reference<'f> {
    fitted: &'f Fitted,
    /// The blocks by which errors are estimated, in seconds.
    block_seconds: i64,
    /// The standard error of what is gained over the formula in force; 0 where that is not known.
    error_of_gain: f64,
}

/// The number of evaluations that are kept for the best constants again, for roundings and for ranges.
pub(super) fn reserve(evaluations: usize, constants: usize) -> usize {
    1 + DIGITS.len() + constants * places(evaluations, constants)
}

/// The places of each range at which its constant is tried.
fn places(evaluations: usize, constants: usize) -> usize {
    let places = (evaluations as f64 * PART) as usize / constants.max(1);
    if places < MIN_PLACES { 0 } else { places.min(MAX_PLACES) }
}

impl Search<'_> {
    /// The best constants with as few digits as cost less than one standard error. A value to begin with keeps its digits. `None`
    /// after an interruption.
    pub(super) fn round_best(&self, best: &EvaluatedPoint, block_seconds: i64) -> Result<Option<Fitted>, FitError> {
        let Some(exact) = self.fitted(best.formula.clone(), &best.values)? else { return Ok(None) };
        let start = self.space.start();
        if best.values == start {
            return Ok(Some(exact));
        }
        let rescaled = self.space.rescaled_to_start(&best.values);
        let candidates = DIGITS.map(|digits| {
            let values = self.space.clamped(&rounded(&rescaled, digits));
            let own = values.into_iter().zip(rescaled.iter().zip(&start));
            own.map(|(rounded, (value, start))| if value == start { *value } else { rounded }).collect::<Vec<f64>>()
        });
        let evaluated: Result<Vec<Option<Fitted>>, FitError> =
            parallel::map(candidates.to_vec(), |values| self.fitted(self.template.fill(&values), &values))
                .into_iter()
                .collect();
        let reference = self.reference(&exact, block_seconds);
        let found = evaluated?.into_iter().flatten().find(|rounded| self.is_as_good(&reference, rounded));
        Ok(Some(found.unwrap_or(exact)))
    }

    /// For each constant the range in which the result stays within one standard error, all others being fixed. Where there are too
    /// few evaluations for it, or after an interruption, the range is not known.
    pub(super) fn constants(
        &self,
        fitted: &Fitted,
        evaluations: usize,
        block_seconds: i64,
    ) -> Result<Vec<FittedConstant>, FitError> {
        let count = self.space.ranges().len();
        let places = places(evaluations, count);
        let tried: Vec<(usize, f64)> = (0..count).flat_map(|index| self.tried(index, places)).collect();
        let reference = self.reference(fitted, block_seconds);
        let is_as_good = parallel::map(tried.clone(), |(index, value)| self.is_as_good_with(&reference, index, value));
        let is_as_good: Vec<Option<bool>> = is_as_good.into_iter().collect::<Result<_, _>>()?;
        let of_constant = |index: usize| {
            let own = tried.iter().zip(&is_as_good).filter(|((other, _), _)| *other == index);
            let own: Vec<(f64, Option<bool>)> = own.map(|((_, value), is_as_good)| (*value, *is_as_good)).collect();
            self.constant(fitted, index, &own)
        };
        Ok((0..count).map(of_constant).collect())
    }

    /// The values of a constant that are tried: equally far apart from one end of its range to the other.
    fn tried(&self, index: usize, places: usize) -> Vec<(usize, f64)> {
        let range = self.space.ranges()[index];
        let last = places.saturating_sub(1).max(1) as f64;
        let mut values: Vec<f64> = (0..places).map(|place| range.value(place as f64 / last)).collect();
        values.dedup();
        rounded(&values, DIGITS[DIGITS.len() - 1]).into_iter().map(|value| (index, value)).collect()
    }

    fn constant(&self, fitted: &Fitted, index: usize, tried: &[(f64, Option<bool>)]) -> FittedConstant {
        let value = fitted.point.values[index];
        let is_known = !tried.is_empty() && tried.iter().all(|(_, is_as_good)| is_as_good.is_some());
        let is_good = |entry: &&(f64, Option<bool>)| entry.1 == Some(true);
        let low = tried.iter().rev().filter(|(other, _)| *other <= value).take_while(is_good).last();
        let high = tried.iter().filter(|(other, _)| *other >= value).take_while(is_good).last();
        FittedConstant {
            name: self.template.constants()[index].name.to_string(),
            value,
            range: self.space.ranges()[index],
            within: is_known.then(|| [low.map_or(value, |low| low.0), high.map_or(value, |high| high.0)]),
            hardly_matters: is_known && tried.iter().all(|(_, is_as_good)| *is_as_good == Some(true)),
        }
    }

    /// Whether the fitted constants with another value of one of them do as well. `None` after an interruption.
    fn is_as_good_with(&self, reference: &Reference<'_>, index: usize, value: f64) -> Result<Option<bool>, FitError> {
        let mut values = reference.fitted.point.values.clone();
        values[index] = value;
        let other = self.fitted(self.template.fill(&values), &values)?;
        Ok(other.map(|other| self.is_as_good(reference, &other)))
    }

    fn reference<'f>(&self, fitted: &'f Fitted, block_seconds: i64) -> Reference<'f> {
        let runs = [self.in_force, &fitted.runs];
        let gain = self.part.objective_difference(self.simulator.goals, runs, block_seconds);
        Reference { fitted, block_seconds, error_of_gain: gain.map_or(0.0, |gain| gain.standard_error) }
    }

    fn fitted(&self, formula: String, values: &[f64]) -> Result<Option<Fitted>, FitError> {
        let evaluated = self.evaluate(&formula, values)?;
        Ok(evaluated.map(|(point, runs)| Fitted { point, runs }))
    }

    /// Whether other constants miss the goals by no more, and lose less of the objective than one standard error of what is gained
    /// over the formula in force. The error of the loss alone would be too small a measure: the fitted constants are the best of many,
    /// so that others look worse by about as much as chance makes of them.
    fn is_as_good(&self, reference: &Reference<'_>, other: &Fitted) -> bool {
        let Reference { fitted, block_seconds, error_of_gain } = *reference;
        if other.point.score.missed > fitted.point.score.missed {
            return false;
        }
        let goals = self.simulator.goals;
        if goals.objective.is_none() {
            return true;
        }
        match self.part.objective_difference(goals, [&fitted.runs, &other.runs], block_seconds) {
            Some(loss) => loss.difference <= error_of_gain.max(loss.standard_error),
            None => other.point.score.objective <= fitted.point.score.objective,
        }
    }
}
