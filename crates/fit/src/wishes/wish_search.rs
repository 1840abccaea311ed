//! The constants that miss the wishes least; with few digits, and how far each may vary.
//!
//! What is minimised are the differences of values between pairs of jobs in the wrong order, as a
//! part of all such differences. A list of jobs also gives pairs that are 2, 4, 8 … places apart,
//! so that jobs which are far from their places count for more than neighbours that are exchanged.
//! Integers are searched as numbers with fractions first, and then fixed one after the other.

use std::ops::ControlFlow;

use job_sort_formula::formula::TemplateConstant;

use crate::cma_es::{self, FIRST_SIGMA, Settings};
use crate::round;
use crate::search_space::{Space, is_scale_free};
use crate::wishes::{Wish, WishOptions, WishedQueue, count};

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
    // scores fix the scale, and an integer does not have multiples of every size
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
        // the best so far may have a fraction here, so that it is no measure for what has none
        let Some(Best { values, .. }) = self.best.take() else {
            return;
        };
        let first = (values[index] - NEAR).ceil().max(range.low);
        let last = (values[index] + NEAR).floor().min(range.high);
        // at most 4: both are within `NEAR` of the value
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
            // no wish counts as unmet, so that the deviation alone decides
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
        // each pair takes another member of a group of equals, so that no single one represents all
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
        // equal values are as far from a wished order as reversed ones
        f64::from(u8::from(wrong > 0))
    };
    part + WRONG_ORDER * f64::from(wrong) / pairs.len() as f64
}

/// The digits to begin with, and those that distinguish every double.
const FEW_DIGITS: usize = 2;
const ALL_DIGITS: usize = 17;
/// The equal parts of what is between a constant and an end of its range, at which it is tried.
const EQUAL_PARTS: u32 = 16;
/// How far inside of the range that is good a constant stays, as a part of it.
const INSIDE: f64 = 0.1;
/// How often an interval is halved to find where the range of a constant ends.
const HALVINGS: usize = 20;

/// What constants have to keep to be good.
pub struct Kept<'q, 'a> {
    pub queue: &'q mut WishedQueue<'a>,
    /// Which wishes are met at least.
    pub met: Vec<bool>,
    /// The most that the values may deviate from the scores.
    pub most_deviation: Option<f64>,
    pub constants: &'a [TemplateConstant],
}

impl<'q, 'a> Kept<'q, 'a> {
    /// What these constants keep.
    pub fn new(queue: &'q mut WishedQueue<'a>, values: &[f64]) -> Self {
        Self {
            met: queue.met(values),
            most_deviation: None,
            constants: queue.template.constants(),
            queue,
        }
    }

    /// Whether constants are good. Nothing is tried after an interruption.
    fn is_good(&mut self, values: &[f64]) -> bool {
        if self.queue.is_interrupted {
            return false;
        }
        for (is_met, was_met) in self.queue.met(values).into_iter().zip(&self.met) {
            if *was_met && !is_met {
                return false;
            }
        }
        self.most_deviation.is_none() || self.queue.mean_deviation() <= self.most_deviation
    }

    /// Gives each constant the value with which it begins, if that is good beside the others.
    pub fn take_starts(&mut self, values: &mut [f64]) {
        for (index, constant) in self.constants.iter().enumerate() {
            self.try_value(values, index, constant.start);
        }
    }

    /// Moves each constant that does not begin so a little inside of the values that are good, at
    /// the end where it begins.
    pub fn move_inside(&mut self, values: &mut [f64]) {
        for (index, constant) in self.constants.iter().enumerate() {
            if values[index] == constant.start {
                continue;
            }
            let [mut near, mut far] = self.range_of(index, values);
            // the start was tried and is not good, so that it is beyond one of the two ends
            if constant.start > near {
                (near, far) = (far, near);
            }
            let mut value = near + INSIDE * (far - near);
            if constant.is_int {
                value = value.round();
            }
            self.try_value(values, index, value);
        }
    }

    /// Each constant with as few digits as are good.
    pub fn shortened(&mut self, exact: &[f64]) -> Vec<f64> {
        let mut found = exact.to_vec();
        // all with so many digits first: one after the other they may leave each other no room;
        // with `ALL_DIGITS` a value is itself, which is good
        for digits in FEW_DIGITS..ALL_DIGITS {
            let mut rounded = Vec::new();
            for (value, constant) in exact.iter().zip(self.constants) {
                rounded.push(to_digits(*value, digits, constant));
            }
            if self.is_good(&rounded) {
                found = rounded;
                break;
            }
        }
        for (index, constant) in self.constants.iter().enumerate() {
            for digits in FEW_DIGITS..ALL_DIGITS {
                let value = to_digits(exact[index], digits, constant);
                if self.try_value(&mut found, index, value) {
                    break;
                }
            }
        }
        found
    }

    /// Gives a constant another value if that is good, and says whether it has it.
    fn try_value(&mut self, values: &mut [f64], index: usize, value: f64) -> bool {
        let before = std::mem::replace(&mut values[index], value);
        // an equal value needs no ranking
        let is_kept = before == value || self.is_good(values);
        if !is_kept {
            values[index] = before;
        }
        is_kept
    }

    /// The least and the greatest value of a constant up to which those that were tried are good,
    /// the others being as they are.
    pub fn range_of(&mut self, index: usize, values: &[f64]) -> [f64; 2] {
        let constant = &self.constants[index];
        [constant.low, constant.high].map(|end| self.farthest(index, values, end, constant.is_int))
    }

    /// The value that is farthest from the present one toward an end, among those up to which all
    /// that were tried at equal distances are good.
    fn farthest(&mut self, index: usize, values: &[f64], end: f64, is_int: bool) -> f64 {
        let value = values[index];
        let mut tried = values.to_vec();
        let mut is_good_at = |part: f64| {
            tried[index] = part_of_way(value, end, part, is_int);
            self.is_good(&tried)
        };
        // by equal parts first: halving alone could pass over values that are not good
        let mut parts = (1..=EQUAL_PARTS).map(|part| f64::from(part) / f64::from(EQUAL_PARTS));
        let Some(mut bad) = parts.find(|part| !is_good_at(*part)) else {
            return end;
        };
        let mut good = bad - 1.0 / f64::from(EQUAL_PARTS);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(good, bad);
            if is_good_at(middle) {
                good = middle
            } else {
                bad = middle
            }
        }
        let found = part_of_way(value, end, good, is_int);
        // with three digits, toward the value
        let short = round(found, 3);
        let is_between = short >= value.min(found) && short <= value.max(found);
        if is_between && !is_int { short } else { found }
    }
}

/// The value at a part of the way to an end.
fn part_of_way(value: f64, end: f64, part: f64, is_int: bool) -> f64 {
    let value = value + part * (end - value);
    if is_int { value.round() } else { value }
}

fn to_digits(value: f64, digits: usize, constant: &TemplateConstant) -> f64 {
    if value == constant.start || constant.is_int {
        return value;
    }
    round(value, digits).clamp(constant.low, constant.high)
}
