//! The constants of an affine template whose values are nearest to wished scores.

use job_sort_formula::formula::TemplateConstant;

use super::affine::AffineValues;
use super::linear_program::{Deviation, least_deviation};
use super::order_fit::{place_of, value_at};
use super::wished_queue::{WishedQueue, starts};

/// A difference of values that is small in comparison with the median deviation.
const SMALL_PART: f64 = 0.1;
/// What the distance of a constant from where it begins counts for beside the deviations.
const OPEN: f64 = 1e-6;
/// Deviations up to this part of the scores are ignored.
const NO_DEVIATION: f64 = 1e-9;

/// Finds the constants with the least absolute deviations.
pub(super) fn fit_scores(queue: &WishedQueue<'_>, values: &AffineValues) -> Vec<f64> {
    let constants = queue.template.constants();
    let scale = scale(queue);
    let mut deviations: Vec<Deviation> = queue
        .wished
        .scores
        .iter()
        .map(|(row, score)| {
            let affine = values.row(*row);
            let pairs = constants.iter().zip(&affine.coefficients);
            let at_low: f64 = pairs.clone().map(|(constant, coefficient)| coefficient * constant.low).sum();
            let width = |(constant, coefficient): (&TemplateConstant, &f64)| {
                coefficient * (constant.high - constant.low) / scale
            };
            Deviation { coefficients: pairs.map(width).collect(), offset: (affine.free + at_low - score) / scale }
        })
        .collect();
    deviations.extend((0..constants.len()).map(|index| from_start(index, constants)));
    let mut bounds = vec![(0.0, 1.0); constants.len()];
    let Some(mut point) = least_deviation(&deviations, &bounds) else { return starts(queue.template) };
    for (index, constant) in constants.iter().enumerate().filter(|(_, constant)| constant.is_int) {
        let place = place_of(constant, value_at(constant, point[index]).round());
        bounds[index] = (place, place);
        point = least_deviation(&deviations, &bounds).unwrap_or(point);
    }
    constants.iter().zip(&point).map(|(constant, place)| value_at(constant, *place)).collect()
}

/// That a constant stays where it begins, as far as the scores leave it open.
fn from_start(index: usize, constants: &[TemplateConstant]) -> Deviation {
    let mut coefficients = vec![0.0; constants.len()];
    coefficients[index] = OPEN;
    Deviation { coefficients, offset: -OPEN * place_of(&constants[index], constants[index].start) }
}

/// The mean absolute deviation of the jobs' present values from the scores.
pub(super) fn mean_deviation(queue: &WishedQueue<'_>) -> Option<f64> {
    let scores = &queue.wished.scores;
    let deviation = |(row, score): &(usize, f64)| (queue.value(*row) - score).abs();
    (!scores.is_empty()).then(|| scores.iter().map(deviation).sum::<f64>() / scores.len() as f64)
}

/// The values of the jobs with scores, near to which others must be.
pub(super) struct Near {
    values: Vec<f64>,
    distance: f64,
}

impl Near {
    /// The present values. Near is what is small in comparison with the deviations of most jobs, and not only of those with wrong
    /// scores.
    pub(super) fn new(queue: &WishedQueue<'_>) -> Self {
        let scores = &queue.wished.scores;
        let mut deviations: Vec<f64> = scores.iter().map(|(row, score)| (queue.value(*row) - score).abs()).collect();
        deviations.sort_by(f64::total_cmp);
        let median = deviations.get(deviations.len() / 2).copied().unwrap_or_default();
        let distance = SMALL_PART * median + NO_DEVIATION * scale(queue);
        Self { values: scores.iter().map(|(row, _)| queue.value(*row)).collect(), distance }
    }

    /// Whether the present values are near.
    pub(super) fn contains(&self, queue: &WishedQueue<'_>) -> bool {
        let rows = queue.wished.scores.iter().map(|(row, _)| *row);
        rows.zip(&self.values).all(|(row, value)| (queue.value(row) - value).abs() <= self.distance)
    }
}

/// How large the scores are.
pub(super) fn scale(queue: &WishedQueue<'_>) -> f64 {
    let largest = queue.wished.scores.iter().map(|(_, score)| score.abs()).fold(0.0, f64::max);
    if largest > 0.0 { largest } else { 1.0 }
}
