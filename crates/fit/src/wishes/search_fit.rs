//! The constants of any template, by a search without derivatives.
//!
//! What is minimised is a hinge loss over pairs of jobs: a pair in the wrong order costs the more, the farther its jobs are from
//! the right order. A list of jobs also gives pairs that are 2, 4, 8 … places apart, so that jobs which are far from their
//! places count for more than neighbours that are exchanged.

use job_sort_formula::formula::TemplateConstant;

use super::fit::WishOptions;
use super::nelder_mead;
use super::score_fit::{mean_deviation, scale};
use super::wished_queue::{WishedQueue, count, starts};

/// What a pair in the wrong order costs in any case, in parts of the length of the queue.
const WRONG_ORDER: f64 = 0.25;
/// The steps of a search from the start, and from the best points.
const STEPS: [f64; 3] = [0.2, 0.1, 0.03];
/// The bases of the sequence of points, one for each constant.
const PRIMES: [u64; 20] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71];

/// The best constants so far.
struct Best {
    met: usize,
    loss: f64,
    values: Vec<f64>,
}

/// Finds constants that meet as many wishes as possible, or whose values are nearest to the scores.
pub(super) fn fit_by_search(queue: &mut WishedQueue<'_>, options: &WishOptions) -> Vec<f64> {
    let constants = queue.template.constants();
    let pairs = compared_pairs(queue);
    let mut best = Best { met: 0, loss: f64::INFINITY, values: starts(queue.template) };
    let mut evaluate = |point: &[f64]| {
        let values: Vec<f64> =
            constants.iter().zip(point).map(|(constant, place)| value_at(constant, *place)).collect();
        let met = count(&queue.met(&values));
        let loss = loss(queue, &pairs);
        let has_scores = !queue.wished.scores.is_empty();
        let meets_more = !has_scores && met > best.met;
        let is_better = meets_more || (loss < best.loss && (has_scores || met == best.met));
        if is_better {
            best = Best { met, loss, values };
        }
        let is_done = !has_scores && best.met == queue.wishes().len();
        (!is_done && !queue.is_interrupted && queue.evaluations < options.evaluations).then_some(loss)
    };
    // ends where `evaluate` says so
    let _ = search_from_many_points(constants, options, &mut evaluate);
    best.values
}

/// Searches from the given constants, then from the best of many points, with smaller and smaller steps.
fn search_from_many_points(
    constants: &[TemplateConstant],
    options: &WishOptions,
    evaluate: &mut dyn FnMut(&[f64]) -> Option<f64>,
) -> Option<()> {
    let start: Vec<f64> = constants.iter().map(|constant| place_of(constant, constant.start)).collect();
    let mut points = vec![(evaluate(&start)?, start)];
    for index in 0..options.evaluations as u64 / 5 {
        let point = point_of_sequence(index, options.seed, constants.len());
        points.push((evaluate(&point)?, point));
    }
    points.sort_by(|left, right| left.0.total_cmp(&right.0));
    for (_, point) in &points {
        let (mut least, mut nearest) = (f64::INFINITY, point.clone());
        for step in STEPS {
            let start = nearest.clone();
            nelder_mead::search(&start, step, &mut |point| {
                let loss = evaluate(point)?;
                if loss < least {
                    (least, nearest) = (loss, point.to_vec());
                }
                Some(loss)
            })?;
        }
    }
    Some(())
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

pub(super) fn value_at(constant: &TemplateConstant, place: f64) -> f64 {
    let TemplateConstant { low, high, .. } = *constant;
    let value = match constant.is_log {
        true => low * (high / low).powf(place),
        false => low + place * (high - low),
    };
    let value = if constant.is_int { value.round() } else { value };
    value.clamp(low, high)
}

fn place_of(constant: &TemplateConstant, value: f64) -> f64 {
    match constant.is_log {
        true => (value / constant.low).ln() / (constant.high / constant.low).ln(),
        false => (value - constant.low) / (constant.high - constant.low),
    }
}

/// A point of Halton's sequence, moved by what the seed gives for each axis.
fn point_of_sequence(index: u64, seed: u64, axes: usize) -> Vec<f64> {
    PRIMES[..axes].iter().zip(0..).map(|(&base, axis)| (halton(index + 1, base) + shift(seed, axis)).fract()).collect()
}

fn halton(mut index: u64, base: u64) -> f64 {
    let (mut place, mut digit) = (0.0, 1.0);
    while index > 0 {
        digit /= base as f64;
        place += digit * (index % base) as f64;
        index /= base;
    }
    place
}

/// A number from 0 to 1, by the generator SplitMix64.
fn shift(seed: u64, axis: u64) -> f64 {
    let mut state = seed.wrapping_add((axis + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((state ^ (state >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}
