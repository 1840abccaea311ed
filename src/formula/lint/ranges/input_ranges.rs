//! The numbers that each input of a formula can have.

use std::collections::BTreeMap;

use super::interval::{Interval, NumberType};
use crate::python::Value;
use crate::schema::{InputType, Schema};

/// 2^128, which no amount of a resource exceeds: the server holds floats as C floats, all other
/// amounts in 64 bits with a unit.
const MAX_AMOUNT: f64 = 340_282_366_920_938_463_463_374_607_431_768_211_456.0;

/// The numbers that each input can have. An input without an explicit range has that of the schema,
/// limited to ±2^128.
///
/// ```
/// use job_sort_formula::{Schema, Value};
/// use job_sort_formula::formula::lint::Ranges;
///
/// let mut ranges = Ranges::default();
/// ranges.observe("ncpus", [Value::Int(1), Value::Int(64)]);
/// let schema = Schema::openpbs();
/// assert_eq!(ranges.interval("ncpus", &schema).to_string(), "an int from 1 to 64");
/// assert_eq!(ranges.interval("fairshare_perc", &schema).to_string(), "a float from 0 to 1");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Ranges {
    named: BTreeMap<Box<str>, Interval>,
}

impl Ranges {
    /// Sets the numbers that one input can have; they replace those of the schema.
    pub fn set(&mut self, name: &str, interval: Interval) {
        self.named.insert(name.into(), interval);
    }

    /// Sets the range of one input to the smallest interval that contains these values; changes
    /// nothing if there are none, or one is not finite.
    pub fn observe(&mut self, name: &str, seen: impl IntoIterator<Item = Value>) {
        let mut hull: Option<Interval> = None;
        for value in seen {
            let Some(interval) = Interval::from_value(&value) else {
                return;
            };
            hull = Some(match hull {
                Some(hull) => hull.hull(interval),
                None => interval,
            });
        }
        if let Some(hull) = hull {
            self.set(name, hull);
        }
    }

    /// The range that was set for an input; `None` if none was.
    pub fn explicit(&self, name: &str) -> Option<Interval> {
        self.named.get(name).copied()
    }

    /// The numbers that an input can have.
    ///
    /// Counts, sizes and durations are integers, and the fair-share numbers are floats. A float
    /// resource can be either: OpenPBS prints an amount without decimals as an integer.
    pub fn interval(&self, name: &str, schema: &Schema) -> Interval {
        match self.explicit(name) {
            Some(interval) => interval,
            None => range_in_schema(name, schema),
        }
    }
}

fn range_in_schema(name: &str, schema: &Schema) -> Interval {
    let Some(entry) = schema.entry(name) else {
        return Interval::new(NumberType::Either, -MAX_AMOUNT, MAX_AMOUNT);
    };
    let kind = match entry.input_type {
        InputType::Ratio => NumberType::Float,
        InputType::Count | InputType::Size | InputType::Duration => NumberType::Int,
        InputType::Float | InputType::Bool | InputType::Text => NumberType::Either,
    };
    Interval::new(
        kind,
        entry.range.least.max(-MAX_AMOUNT),
        entry.range.most.min(MAX_AMOUNT),
    )
}
