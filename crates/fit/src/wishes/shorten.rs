//! Constants with few digits, and how far each may vary.

use job_sort_formula::formula::TemplateConstant;

use super::wished_queue::WishedQueue;
use crate::round;

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
        // all with so many digits first: one after the other they may leave each other no room
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
