//! Searches the constants on the searched part of a log.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use job_sort_formula::formula::Template;
use job_sort_formula::parallel;
use serde::Serialize;

use super::score::{GoalValue, Score};
use super::searched::Searched;
use super::simulator::{Run, Simulator};
use super::{FitError, FitProgress};
use crate::search::cma_es;

/// CMA-ES ends a run when its points differ by less than this part of the ranges: constants are
/// rounded to two digits.
const TOLERANCE: f64 = 1e-3;
/// The digits of the values that are searched.
const DIGITS: i32 = 6;

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
    pub goals: Vec<GoalValue>,
    /// The value of the objective.
    pub objective: Option<f64>,
    /// How good they are.
    #[serde(flatten)]
    pub score: Score,
}

/// Constants with their run on the searched part.
pub(super) struct Evaluated {
    pub(super) point: EvaluatedPoint,
    pub(super) run: Run,
}

/// A search, and what it has found so far.
pub(super) struct Search<'a> {
    pub(super) simulator: &'a Simulator<'a>,
    pub(super) template: &'a Template,
    pub(super) searched: &'a Searched,
    /// The number of formulas that are to be simulated.
    pub(super) planned: usize,
    pub(super) points: Vec<EvaluatedPoint>,
    /// The place of each formula among the points.
    places: HashMap<String, usize>,
    /// The number of formulas that were simulated.
    evaluated: Mutex<usize>,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        simulator: &'a Simulator<'a>,
        template: &'a Template,
        searched: &'a Searched,
        planned: usize,
    ) -> Self {
        Self {
            simulator,
            template,
            searched,
            planned,
            points: Vec::new(),
            places: HashMap::new(),
            evaluated: Mutex::new(0),
        }
    }

    /// Evaluates so many points: the constants to begin with first.
    ///
    /// # Errors
    /// A formula cannot be simulated, or the observer ends the search; what was found until then is
    /// kept.
    pub(super) fn run(&mut self, evaluations: usize, seed: u64) -> Result<(), FitError> {
        let space = &self.searched.space;
        let start = space.start();
        self.evaluate_values(vec![start.clone()])?;
        if start.is_empty() {
            return Ok(());
        }
        let settings = cma_es::Settings {
            evaluations: evaluations.saturating_sub(1),
            tolerance: TOLERANCE,
            seed,
            sigma: cma_es::FIRST_SIGMA,
        };
        let ended = cma_es::search(&space.point(&start), &settings, &mut |points| {
            let values = points
                .iter()
                .map(|point| rounded(&space.values(point), DIGITS))
                .collect();
            match self.evaluate_values(values) {
                Ok(scores) => ControlFlow::Continue(scores),
                Err(error) => ControlFlow::Break(error),
            }
        });
        ended.break_value().map_or(Ok(()), Err)
    }

    /// The best point; of equal ones the first.
    pub(super) fn best(&self) -> Option<&EvaluatedPoint> {
        self.points.iter().min_by_key(|point| point.score)
    }

    /// The number of formulas that were simulated.
    pub(super) fn evaluations(&self) -> usize {
        self.evaluated.lock().map_or(0, |evaluated| *evaluated)
    }

    /// The scores of the formulas with these constants. Those that are new are simulated in
    /// parallel, and kept in their order.
    fn evaluate_values(&mut self, values: Vec<Vec<f64>>) -> Result<Vec<Score>, FitError> {
        let formulas: Vec<String> = values
            .iter()
            .map(|values| self.template.fill(values))
            .collect();
        let mut new: Vec<(&String, &Vec<f64>)> = Vec::new();
        for (formula, values) in formulas.iter().zip(&values) {
            if !self.places.contains_key(formula) && new.iter().all(|(other, _)| *other != formula)
            {
                new.push((formula, values));
            }
        }
        let mut is_complete = true;
        for evaluated in parallel::map(new, |(formula, values)| self.evaluate(formula, values)) {
            match unless_interrupted(evaluated)? {
                None => is_complete = false,
                Some(Evaluated { point, .. }) => {
                    self.places.insert(point.formula.clone(), self.points.len());
                    self.points.push(point);
                }
            }
        }
        if !is_complete {
            return Err(FitError::Interrupted);
        }
        Ok(formulas
            .iter()
            .map(|formula| self.points[self.places[formula]].score)
            .collect())
    }

    /// Simulates one formula.
    pub(super) fn evaluate(&self, formula: &str, values: &[f64]) -> Result<Evaluated, FitError> {
        let Searched {
            part,
            in_force,
            space,
            ..
        } = self.searched;
        let run = self.simulator.run(formula, part, Some(in_force))?;
        let goals = run.goals.clone();
        let score = Score {
            missed: goals.iter().map(|goal| goal.missed).sum(),
            objective: self.objective_score(run.objective, &goals),
            distance: space.distance_to_start(values),
        };
        let (values, formula) = (values.to_vec(), formula.to_owned());
        let point = EvaluatedPoint {
            values,
            formula,
            goals,
            objective: run.objective,
            score,
        };
        self.note_evaluated();
        Ok(Evaluated { point, run })
    }

    fn objective_score(&self, value: Option<f64>, goals: &[GoalValue]) -> f64 {
        match (&self.simulator.goals.objective, value) {
            (None, _) => -goals
                .iter()
                .filter_map(|goal| goal.margin)
                .reduce(f64::min)
                .unwrap_or(0.0),
            (Some(_), None) => f64::INFINITY,
            (Some(objective), Some(value)) if objective.is_minimised => value,
            (Some(_), Some(value)) => -value,
        }
    }

    /// Tells the observer that a formula was simulated, one at a time.
    fn note_evaluated(&self) {
        let Ok(mut evaluated) = self.evaluated.lock() else {
            return;
        };
        *evaluated += 1;
        let progress = FitProgress {
            evaluations: *evaluated,
            planned: self.planned.max(*evaluated),
        };
        if self.simulator.observer.progress(&progress).is_break() {
            self.simulator.is_interrupted.store(true, Ordering::Relaxed);
        }
    }
}

/// What was evaluated; `None` after an interruption.
pub(super) fn unless_interrupted(
    evaluated: Result<Evaluated, FitError>,
) -> Result<Option<Evaluated>, FitError> {
    match evaluated {
        Err(FitError::Interrupted) => Ok(None),
        evaluated => evaluated.map(Some),
    }
}

/// Values with so many significant digits.
pub(super) fn rounded(values: &[f64], digits: i32) -> Vec<f64> {
    values.iter().map(|value| round(*value, digits)).collect()
}

/// A value with so many significant digits: through its text, so that it is the double nearest to
/// the decimal number.
pub(super) fn round(value: f64, digits: i32) -> f64 {
    let digits = usize::try_from(digits - 1).unwrap_or(0);
    format!("{value:.digits$e}").parse().unwrap_or(value)
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
