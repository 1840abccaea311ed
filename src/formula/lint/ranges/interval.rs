//! Intervals of doubles: the numbers that an expression or an input can have.

use std::collections::BTreeMap;
use std::fmt;

use num_traits::ToPrimitive;

use super::Known;
use crate::python::{Arithmetic, ComparisonOperator, MAX_EXACT_FLOAT, Python, Value};
use crate::schema::{InputType, Range, Schema};

/// Larger numbers are in no interval: an operation on them may overflow.
const MAX_BOUND: f64 = 1e300;

/// The types of the numbers in an [`Interval`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberType {
    /// Integers and truth values.
    Int,
    /// Floats.
    Float,
    /// Both, as OpenPBS prints an amount of a float resource without decimals as an integer.
    Either,
}

impl NumberType {
    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Int => "an int",
            Self::Float => "a float",
            Self::Either => "an int or a float",
        }
    }

    /// The type of an arithmetic operation on this and another type.
    pub(super) fn with(self, other: Self) -> Self {
        match (self, other) {
            (Self::Float, _) | (_, Self::Float) => Self::Float,
            (Self::Int, Self::Int) => Self::Int,
            _ => Self::Either,
        }
    }
}

/// The finite numbers between two bounds, both included. It can contain numbers that no job gives,
/// but it lacks none.
///
/// ```
/// use job_sort_formula::Value;
/// use job_sort_formula::formula::lint::{Interval, NumberType};
///
/// let share = Interval::new(NumberType::Float, 0.0, 1.0);
/// assert!(share.contains(&Value::Float(0.5)) && share.contains_zero());
/// assert!(!share.contains(&Value::Int(2)));
/// assert_eq!(share.to_string(), "a float from 0 to 1");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interval {
    kind: NumberType,
    /// The least number.
    pub low: f64,
    /// The greatest number.
    pub high: f64,
}

impl Interval {
    /// The numbers of a type from `low` to `high`.
    pub fn new(kind: NumberType, low: f64, high: f64) -> Self {
        // a zero is positive, so that the sign of a quotient does not depend on it
        let (low, high) = (low + 0.0, high + 0.0);
        match kind {
            NumberType::Int => Self {
                kind,
                // no integer lies between a bound and the next integer
                low: low.ceil(),
                high: high.floor(),
            },
            _ => Self { kind, low, high },
        }
    }

    /// A single number; an integer beyond 2^53 is between the doubles around it. `None` for what is
    /// no number, for nan and for what is too large.
    pub fn from_value(value: &Value) -> Option<Self> {
        let (kind, number) = match value {
            Value::Bool(truth) => (NumberType::Int, f64::from(u8::from(*truth))),
            Value::Int(number) => (NumberType::Int, *number as f64),
            Value::Big(number) => (NumberType::Int, number.digits().to_f64()?),
            Value::Float(number) => (NumberType::Float, *number),
            _ => return None,
        };
        Self::rounded(kind, number, number)
    }

    /// The interval of results that are computed with these bounds, whose integers beyond 2^53 are
    /// rounded; `None` if a result may be too large, or none.
    pub(super) fn rounded(kind: NumberType, mut low: f64, mut high: f64) -> Option<Self> {
        if !(low.abs() <= MAX_BOUND && high.abs() <= MAX_BOUND && low <= high) {
            return None;
        }
        if kind != NumberType::Float {
            // a conversion to a double may have rounded it inwards
            if low.abs() >= MAX_EXACT_FLOAT {
                low = low.next_down();
            }
            if high.abs() >= MAX_EXACT_FLOAT {
                high = high.next_up();
            }
        }
        Some(Self::new(kind, low, high))
    }

    /// The types of the numbers.
    pub fn kind(&self) -> NumberType {
        self.kind
    }

    /// Its bounds.
    pub(in crate::formula::lint) fn range(&self) -> Range {
        Range::new(self.low, self.high)
    }

    /// The number, if there is only one.
    pub fn single(&self) -> Option<f64> {
        (self.low == self.high).then_some(self.low)
    }

    /// The value, if there is only one, of one type; a float zero has two signs.
    pub(super) fn value(&self) -> Option<Value> {
        match (self.single()?, self.kind) {
            (number, NumberType::Int) if number.abs() <= MAX_EXACT_FLOAT => {
                Some(Value::Int(number as i64))
            }
            (number, NumberType::Float) if number != 0.0 => Some(Value::Float(number)),
            _ => None,
        }
    }

    /// The greatest absolute value.
    pub(in crate::formula::lint) fn size(&self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    /// The least absolute value.
    pub(super) fn least_size(&self) -> f64 {
        if self.contains_zero() {
            0.0
        } else {
            self.low.abs().min(self.high.abs())
        }
    }

    /// Whether 0 is between the bounds.
    pub fn contains_zero(&self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }

    /// The truth value in Python, if all numbers have the same.
    pub(in crate::formula::lint) fn truth(&self) -> Option<bool> {
        if self.single() == Some(0.0) {
            Some(false)
        } else {
            (!self.contains_zero()).then_some(true)
        }
    }

    /// Whether `value` is one of the numbers.
    pub fn contains(&self, value: &Value) -> bool {
        let is_within = |op, bound| {
            Python::new()
                .compare(op, value, &Value::Float(bound))
                .unwrap_or(false)
        };
        let has_type = match value {
            Value::Float(_) => self.kind != NumberType::Int,
            _ => self.kind != NumberType::Float,
        };
        has_type
            && is_within(ComparisonOperator::GreaterOrEqual, self.low)
            && is_within(ComparisonOperator::LessOrEqual, self.high)
    }

    /// The interval from the lower to the higher of the bounds of both.
    pub(super) fn hull(self, other: Self) -> Self {
        let kind = if self.kind == other.kind {
            self.kind
        } else {
            NumberType::Either
        };
        Self {
            kind,
            low: self.low.min(other.low),
            high: self.high.max(other.high),
        }
    }

    /// The truth values that a condition can have.
    pub(super) fn truth_values(truth: Option<bool>) -> Known {
        let low = f64::from(u8::from(truth == Some(true)));
        let high = f64::from(u8::from(truth != Some(false)));
        Known::Number(Self::new(NumberType::Int, low, high))
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [kind, low, high] = [
            self.kind.name().to_owned(),
            Rounded(self.low).to_string(),
            Rounded(self.high).to_string(),
        ];
        if self.low == self.high {
            write!(f, "{kind}, {low}")
        } else if low == high {
            write!(f, "{kind}, about {low}")
        } else {
            write!(f, "{kind} from {low} to {high}")
        }
    }
}

/// The bounds moved outward, but not to the other side of 0.
pub(in crate::formula::lint) fn widened(bounds: Range, below: f64, above: f64) -> Range {
    with_signs_of(bounds, bounds.least - below, bounds.most + above)
}

/// Bounds that were moved outward, but not to the other side of 0: rounding does not change the
/// sign.
pub(super) fn with_signs_of(bounds: Range, least: f64, most: f64) -> Range {
    Range {
        least: if bounds.least >= 0.0 {
            least.max(0.0)
        } else {
            least
        },
        most: if bounds.most <= 0.0 {
            most.min(0.0)
        } else {
            most
        },
    }
}

/// A few units in the last place, by which the C library may be wrong.
pub(super) fn library_error(result: f64) -> f64 {
    // the least normal number, because the relative error of a subnormal is larger
    result.abs() * 8.0 * f64::EPSILON + f64::MIN_POSITIVE
}

/// Displays a number as people write it: an integer, or rounded to six significant digits.
pub(in crate::formula::lint) struct Rounded(pub f64);

impl fmt::Display for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.abs();
        // through the text, which rounds in base ten
        let rounded: f64 = format!("{:.5e}", self.0).parse().unwrap_or(self.0);
        match magnitude {
            0.0 => f.write_str("0"),
            ..1e15 if self.0.fract() == 0.0 => write!(f, "{}", self.0),
            1e-4..1e15 => write!(f, "{rounded}"),
            _ => write!(f, "{rounded:e}"),
        }
    }
}

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
