//! The constants of any template, by a search without derivatives.
//!
//! What is minimised is a hinge loss over pairs of jobs: a pair in the wrong order costs the more, the farther its jobs are from
//! the right order. A list of jobs also gives pairs that are 2, 4, 8 … places apart, so that jobs which are far from their
//! places count for more than neighbours that are exchanged.

use std::ops::ControlFlow;

use super::fit::WishOptions;
use super::score_fit::{mean_deviation, scale};
use super::wished_queue::{WishedQueue, count, starts};
use crate::search::cma_es::{self, Settings};
use crate::search::{Range, Space};

/// What a pair in the wrong order costs in any case, in parts of the length of the queue.
const WRONG_ORDER: f64 = 0.25;
/// A run of the search ends when its points differ by less than this part of the ranges.
const TOLERANCE: f64 = 1e-6;

/// The best constants so far.
struct Best {
    met: usize,
    loss: f64,
    values: Vec<f64>,
}

/// Finds constants that meet as many wishes as possible, or whose values are nearest to the scores.
pub(super) fn fit_by_search(queue: &mut WishedQueue<'_>, options: &WishOptions) -> Vec<f64> {
    let space = Space::new(queue.template.constants().iter().map(Range::from).collect(), false);
    let pairs = compared_pairs(queue);
    let has_scores = !queue.wished.scores.is_empty();
    let mut best = Best { met: 0, loss: f64::INFINITY, values: starts(queue.template) };
    let mut evaluate = |point: &[f64]| {
        let values = space.values(point);
        let met = count(&queue.met(&values));
        let loss = loss(queue, &pairs);
        let meets_more = !has_scores && met > best.met;
        if meets_more || (loss < best.loss && (has_scores || met == best.met)) {
            best = Best { met, loss, values };
        }
        let is_done = !has_scores && best.met == queue.wishes().len();
        // losses are not negative, so that their bits are ordered as they are
        (!is_done && !queue.is_interrupted).then(|| loss.to_bits())
    };
    let start = space.point(&space.start());
    let settings = Settings { evaluations: options.evaluations, tolerance: TOLERANCE, seed: options.seed };
    // the search ends early where `evaluate` says so
    if evaluate(&start).is_some() {
        let _ = cma_es::search(&start, &settings, &mut |points| {
            let losses: Option<Vec<u64>> = points.iter().map(|point| evaluate(point)).collect();
            losses.map_or(ControlFlow::Break(()), ControlFlow::Continue)
        });
    }
    best.values
}

/// Pairs of rows of which the first one is wished above the second one.
fn compared_pairs(queue: &WishedQueue<'_>) -> Vec<(usize, usize)> {
    let mut pairs: Vec<(usize, usize)> = queue.wishes().iter().map(|wish| (wish.above, wish.below)).collect();
    for list in &queue.wished.lists {
        let member = |group: usize, other: usize| list[group][other % list[group].len()];
        let distances = (1..usize::BITS).map(|power| 1 << power).take_while(|distance| *distance < list.len());
        for distance in distances {
            let starts = 0..list.len() - distance;
            pairs.extend(starts.map(|group| (member(group, group + distance), member(group + distance, group))));
        }
    }
    pairs
}

/// How far the present ranking is from the wishes.
fn loss(queue: &WishedQueue<'_>, pairs: &[(usize, usize)]) -> f64 {
    if let Some(deviation) = mean_deviation(queue) {
        return deviation / scale(queue);
    }
    let jobs = queue.queue.table.len() as f64;
    let wrong = pairs.iter().filter_map(|&(above, below)| queue.places_apart(above, below));
    wrong.map(|places| WRONG_ORDER + places as f64 / jobs).sum::<f64>() / pairs.len() as f64
}
