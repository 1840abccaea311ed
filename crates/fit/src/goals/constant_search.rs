//! Searches the constants on the searched part of a log.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

use job_sort_formula::formula::Template;
use job_sort_formula::parallel;
use jsf_simulate::{Difference, Workload};
use serde::Serialize;

use super::score::{GoalValue, Score};
use super::simulator::{Part, Run, Simulator};
use super::split::Split;
use super::{FitError, FitProgress};
use crate::search::{Space, cma_es};

/// CMA-ES ends a run when its points differ by less than this part of the ranges: constants are
/// rounded to two digits.
const TOLERANCE: f64 = 1e-3;
/// The digits of the values that are searched.
const DIGITS: i32 = 6;
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
    template: &'a Template,
    pub(super) space: Space,
    pub(super) split: Split,
    /// The part that is searched, and the formula in force on it.
    pub(super) part: Part,
    pub(super) in_force: Run,
    /// The length of the blocks by which errors are estimated, in seconds: that of a comparison, but
    /// a short part has six too.
    pub(super) block_seconds: i64,
    pub(super) points: Vec<EvaluatedPoint>,
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
    pub(super) fn new(
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
        let in_force = simulator.run(options.in_force_text(), &part, None)?;
        let in_force = in_force.ok_or(FitError::Interrupted)?;
        let schedule = &in_force.simulated.schedule;
        let compared = Difference::new(&part.workload, schedule, schedule, part.warm_up);
        let longest = (split.searched_until - split.counted_from) / MIN_BLOCKS;
        Ok(Self {
            simulator,
            template,
            space: Space::new(template.constants().to_vec(), options.is_scale_free),
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
    pub(super) fn run(&mut self, evaluations: usize) -> Result<(), FitError> {
        let start = self.space.start();
        if self.scores(std::slice::from_ref(&start))?.is_none() || start.is_empty() {
            return Ok(());
        }
        let settings = cma_es::Settings {
            evaluations: evaluations.saturating_sub(1),
            tolerance: TOLERANCE,
            seed: self.simulator.options.seed,
            sigma: cma_es::FIRST_SIGMA,
        };
        let first = self.space.point(&start);
        let ended = cma_es::search(&first, &settings, &mut |points| {
            let mut values = Vec::new();
            for point in points {
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
    pub(super) fn best(&self) -> Option<&EvaluatedPoint> {
        self.points.iter().min_by_key(|point| point.score)
    }

    /// The number of formulas that were simulated.
    pub(super) fn evaluations(&self) -> usize {
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
        if !is_complete {
            self.number_points();
            return Ok(None);
        }
        let scores = places.into_iter().map(|place| self.points[place].score);
        Ok(Some(scores.collect()))
    }

    /// Sets the place of each formula among the points, of which an interruption leaves some out.
    fn number_points(&mut self) {
        self.places.clear();
        for (place, point) in self.points.iter().enumerate() {
            self.places.insert(point.formula.clone(), place);
        }
    }

    /// Simulates the formula with these constants; `None` after an interruption.
    pub(super) fn evaluate(&self, values: &[f64]) -> Result<Option<Evaluated>, FitError> {
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
                missed: run.goals.iter().map(|goal| goal.missed).sum(),
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
                let margins = run.goals.iter().filter_map(|goal| goal.margin);
                -margins.reduce(f64::min).unwrap_or(0.0)
            }
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
        let progress = FitProgress::Simulated {
            evaluations: *evaluated,
            planned: self.simulator.options.evaluations.max(*evaluated),
        };
        if (self.simulator.observer)(progress).is_break() {
            self.simulator.is_interrupted.store(true, Ordering::Relaxed);
        }
    }
}

/// Values with so many significant digits.
pub(super) fn rounded(values: &[f64], digits: i32) -> Vec<f64> {
    values.iter().map(|value| round(*value, digits)).collect()
}

/// A value with so many significant digits: through its text, so that it is the double nearest to
/// the decimal number.
fn round(value: f64, digits: i32) -> f64 {
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
