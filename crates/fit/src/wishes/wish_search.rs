//! The constants that miss the wishes least.
//!
//! What is minimised are the differences of values between pairs of jobs in the wrong order, as a
//! part of all such differences. A list of jobs also gives pairs that are 2, 4, 8 … places apart,
//! so that jobs which are far from their places count for more than neighbours that are exchanged.
//! Integers are searched as numbers with fractions first, and then fixed one after the other.

use std::ops::ControlFlow;

use job_sort_formula::formula::TemplateConstant;

use super::wished_queue::{WishedQueue, count};
use super::{Wish, WishOptions};
use crate::cma_es::{self, FIRST_SIGMA, Settings};
use crate::space::{Space, is_scale_free};

/// What a pair in the wrong order costs in any case: jobs with equal values may be in the wrong
/// order too.
const WRONG_ORDER: f64 = 0.1;
/// A run of the search ends when its points differ by less than this part of the ranges.
const TOLERANCE: f64 = 1e-9;
/// The part of the rankings with which integers are fixed, and the standard deviation of the search
/// beside one.
const OF_INTEGERS: f64 = 0.5;
const NARROW: f64 = 0.05;
/// How far the integers are from the number with a fraction that are tried.
const NEAR: f64 = 2.0;

/// Finds constants that meet as many wishes as possible, or whose values are nearest to the scores.
pub fn search(queue: &mut WishedQueue<'_>, options: &WishOptions) -> Vec<f64> {
    let ranges = queue.template.constants();
    let mut with_fractions = ranges.to_vec();
    let mut integers = Vec::new();
    for (index, range) in with_fractions.iter_mut().enumerate() {
        if range.is_int {
            range.is_int = false;
            integers.push(index);
        }
    }
    let pairs = compared_pairs(queue);
    let is_scale_free = is_scale_free(queue.template, queue.site)
        && queue.wished.scores.is_empty()
        && integers.is_empty();
    let space = Space::new(with_fractions, is_scale_free);
    let mut search = Search {
        space,
        seed: options.seed,
        pairs,
        best: None,
        queue,
    };
    let start = search.space.start();
    let of_integers = if integers.is_empty() {
        0
    } else {
        (options.evaluations as f64 * OF_INTEGERS) as usize
    };
    let mut free: Vec<usize> = (0..start.len()).collect();
    search.explore(
        &start,
        &free,
        options.evaluations - of_integers,
        FIRST_SIGMA,
    );
    for &index in &integers {
        free.retain(|other| *other != index);
        search.fix_integer(index, &ranges[index], &free, of_integers / integers.len());
    }
    search.try_ends(ranges);
    let values = match &search.best {
        Some(best) => &best.values,
        None => &start,
    };
    search.space.rescaled_to_start(values)
}

/// The best constants so far.
struct Best {
    unmet: usize,
    loss: f64,
    values: Vec<f64>,
}

impl Best {
    fn is_better_than(&self, other: Option<&Self>) -> bool {
        other.is_none_or(|other| (self.unmet, self.loss) < (other.unmet, other.loss))
    }
}

struct Search<'q, 'a> {
    queue: &'q mut WishedQueue<'a>,
    space: Space,
    seed: u64,
    /// The pairs of rows of which the first one is to be above the second one.
    pairs: Vec<Wish>,
    best: Option<Best>,
}

impl Search<'_, '_> {
    /// Searches some of the constants, beginning at these values. The others keep theirs.
    fn explore(&mut self, from: &[f64], free: &[usize], evaluations: usize, sigma: f64) {
        let whole = self.space.point(from);
        let start: Vec<f64> = free.iter().map(|&index| whole[index]).collect();
        let settings = Settings {
            evaluations,
            tolerance: TOLERANCE,
            seed: self.seed,
            sigma,
        };
        if self.evaluate(from.to_vec()).is_break() || free.is_empty() {
            return;
        }
        // the search ends early where `evaluate` says so
        let _ = cma_es::search(&start, &settings, &mut |points| {
            let mut losses = Vec::new();
            for point in points {
                let mut values = from.to_vec();
                let mut place = whole.clone();
                for (&index, coordinate) in free.iter().zip(point) {
                    place[index] = *coordinate;
                }
                let found = self.space.values(&place);
                for &index in free {
                    values[index] = found[index];
                }
                losses.push(self.evaluate(values)?);
            }
            ControlFlow::Continue(losses)
        });
    }

    /// Tries the ends of each range, and 0, with the best constants: equal values may leave the
    /// order to what follows them.
    fn try_ends(&mut self, ranges: &[TemplateConstant]) {
        for (index, range) in ranges.iter().enumerate() {
            for end in [range.low, range.high, 0.0_f64.clamp(range.low, range.high)] {
                let Some(best) = &self.best else {
                    return;
                };
                let mut values = best.values.clone();
                values[index] = end;
                if self.evaluate(values).is_break() {
                    return;
                }
            }
        }
    }

    /// Gives one constant the integer near to its value beside which the free ones meet the most.
    fn fix_integer(
        &mut self,
        index: usize,
        range: &TemplateConstant,
        free: &[usize],
        evaluations: usize,
    ) {
        let Some(Best { values, .. }) = self.best.take() else {
            return;
        };
        let first = (values[index] - NEAR).ceil().max(range.low);
        let last = (values[index] + NEAR).floor().min(range.high);
        let steps = (last - first).max(0.0) as usize;
        let mut best: Option<Best> = None;
        for step in 0..=steps {
            let mut fixed = values.clone();
            fixed[index] = first + step as f64;
            self.explore(&fixed, free, evaluations / (steps + 1), NARROW);
            if let Some(found) = self.best.take()
                && found.is_better_than(best.as_ref())
            {
                best = Some(found);
            }
        }
        self.best = best;
    }

    /// The loss of these constants; ends the search where nothing better can be found.
    fn evaluate(&mut self, values: Vec<f64>) -> ControlFlow<(), u64> {
        let is_met = self.queue.met(&values);
        let (unmet, loss) = match self.queue.mean_deviation() {
            Some(deviation) => (0, deviation),
            None => (is_met.len() - count(&is_met), loss(self.queue, &self.pairs)),
        };
        let found = Best {
            unmet,
            loss,
            values,
        };
        if found.is_better_than(self.best.as_ref()) {
            self.best = Some(found);
        }
        let has_scores = !self.queue.wished.scores.is_empty();
        let is_done = if has_scores { loss == 0.0 } else { unmet == 0 };
        if is_done || self.queue.is_interrupted {
            return ControlFlow::Break(());
        }
        // losses are not negative, so that their bits are ordered as they are
        ControlFlow::Continue(loss.to_bits())
    }
}

/// Pairs of rows of which the first one is wished above the second one.
fn compared_pairs(queue: &WishedQueue<'_>) -> Vec<Wish> {
    let mut pairs = queue.wished.wishes.clone();
    for list in &queue.wished.lists {
        let member = |group: usize, other: usize| list[group][other % list[group].len()];
        let mut distance = 2;
        while distance < list.len() {
            for group in 0..list.len() - distance {
                pairs.push(Wish {
                    above: member(group, group + distance),
                    below: member(group + distance, group),
                });
            }
            distance *= 2;
        }
    }
    pairs
}

/// How far the present ranking is from the wishes, from 0 to a little more than 1.
fn loss(queue: &WishedQueue<'_>, pairs: &[Wish]) -> f64 {
    let rows = 0..queue.queue.table.len();
    let values: Vec<f64> = rows.map(|row| queue.value(row)).collect();
    let (mut wrong, mut missing, mut all) = (0, 0.0, 0.0);
    for &Wish { above, below } in pairs {
        let difference = values[above] - values[below];
        all += difference.abs();
        if !queue.is_above(above, below) {
            wrong += 1;
            missing += (-difference).max(0.0);
        }
    }
    let part = if all > 0.0 {
        missing / all
    } else {
        f64::from(u8::from(wrong > 0))
    };
    part + WRONG_ORDER * f64::from(wrong) / pairs.len() as f64
}
