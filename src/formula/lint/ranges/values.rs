//! What a part of a formula can be: the types, and for numbers an interval.

use num_traits::ToPrimitive;

use crate::formula::lint::ranges::kinds::Kinds;
use crate::python::{Arithmetic, ComparisonOperator, MAX_EXACT_FLOAT, Python, Value};
use crate::schema::Range;

/// A set of values, never smaller than what it stands for.
///
/// ```
/// use job_sort_formula::Value;
/// use job_sort_formula::formula::lint::{Kinds, Values};
///
/// let share = Values::between(Kinds::FLOAT, 0.0, 1.0);
/// assert!(share.contains(&Value::Float(0.5)));
/// assert!(!share.contains(&Value::Int(2)));
/// assert!(share.may_be_zero());
/// assert_eq!(share.to_string(), "a float from 0 to 1");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Values {
    kinds: Kinds,
    /// Bounds of the numbers, nan left out; of an int beyond the doubles, the greatest double or infinity.
    least: f64,
    most: f64,
    zero: bool,
    nan: bool,
}

/// Which truth values a test can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Truth {
    pub(super) may_hold: bool,
    pub(super) may_fail: bool,
}

impl Values {
    /// No value at all: whatever stands here raises an error.
    pub const NEVER: Self =
        Self { kinds: Kinds::NONE, least: f64::INFINITY, most: f64::NEG_INFINITY, zero: false, nan: false };
    /// Any value of any type.
    pub const ANY: Self =
        Self { kinds: Kinds::ANY, least: f64::NEG_INFINITY, most: f64::INFINITY, zero: true, nan: true };
    /// Any number.
    pub const ANY_NUMBER: Self = Self { kinds: Kinds::NUMBER, ..Self::ANY };
    /// `True` or `False`.
    pub const TRUTH: Self = Self { kinds: Kinds::BOOL, least: 0.0, most: 1.0, zero: true, nan: false };

    /// Numbers of these types from `least` to `most`, both included, without nan.
    pub fn between(kinds: Kinds, least: f64, most: f64) -> Self {
        let kinds = kinds.and(Kinds::NUMBER);
        Self { kinds, least, most, zero: true, nan: false }.settled()
    }

    /// No numbers, but values of these types.
    pub(super) fn others(kinds: Kinds) -> Self {
        Self { kinds: kinds.without(Kinds::NUMBER), ..Self::NEVER }
    }

    /// Just this value; of an integer beyond 2^53, the doubles around it.
    pub fn just(value: &Value) -> Self {
        let kinds = Kinds::of(value);
        match value {
            Value::Bool(truth) => Self::between(kinds, f64::from(u8::from(*truth)), f64::from(u8::from(*truth))),
            Value::Float(x) if x.is_nan() => Self { kinds, nan: true, ..Self::NEVER },
            Value::Float(x) => Self::between(kinds, *x, *x),
            Value::Int(x) => Self::between(kinds, *x as f64, *x as f64).outward(),
            Value::Big(x) => {
                let nearest = x.to_f64().unwrap_or(f64::INFINITY);
                Self::between(kinds, nearest, nearest).outward()
            }
            _ => Self::others(kinds),
        }
    }

    /// The same with nan, if it is so.
    pub fn or_nan(mut self, nan: bool) -> Self {
        self.nan |= nan;
        if nan {
            self.kinds = self.kinds.or(Kinds::FLOAT);
        }
        self
    }

    /// The types it may have.
    pub fn kinds(&self) -> Kinds {
        self.kinds
    }

    /// The least and the greatest number it may be; `None` when it can be no number but nan.
    pub fn bounds(&self) -> Option<Range> {
        (self.least <= self.most).then_some(Range { least: self.least, most: self.most })
    }

    /// The lower bound; infinity when there are no numbers.
    pub fn least(&self) -> f64 {
        self.least
    }

    /// The upper bound; minus infinity when there are no numbers.
    pub fn most(&self) -> f64 {
        self.most
    }

    /// Whether it may be 0.
    pub fn may_be_zero(&self) -> bool {
        self.zero
    }

    /// Whether it may be nan.
    pub fn may_be_nan(&self) -> bool {
        self.nan
    }

    /// Whether there is no value.
    pub fn is_never(&self) -> bool {
        self.kinds.is_empty()
    }

    /// Whether it is a number if it is anything.
    pub fn is_number(&self) -> bool {
        self.kinds.within(Kinds::NUMBER)
    }

    /// Whether it is an `int` or a `bool` if it is anything.
    pub fn is_whole(&self) -> bool {
        self.kinds.within(Kinds::WHOLE)
    }

    /// The one number it can be, if there is only one.
    pub fn only(&self) -> Option<f64> {
        (self.least == self.most && !self.nan && self.is_number()).then_some(self.least)
    }

    /// Whether the value is one of these.
    pub fn contains(&self, value: &Value) -> bool {
        let python = Python::new();
        let holds = |op, bound: f64| python.compare(op, value, &Value::Float(bound)).unwrap_or(false);
        match value {
            _ if !self.kinds.meets(Kinds::of(value)) => false,
            Value::Float(x) if x.is_nan() => self.nan,
            Value::Bool(_) | Value::Int(_) | Value::Big(_) | Value::Float(_) => {
                // beyond the doubles there are still integers, all of them within infinity
                holds(ComparisonOperator::GreaterOrEqual, self.least)
                    && holds(ComparisonOperator::LessOrEqual, self.most)
                    && (self.zero || value.truth())
            }
            _ => true,
        }
    }

    /// Either of both.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            kinds: self.kinds.or(other.kinds),
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            zero: self.zero || other.zero,
            nan: self.nan || other.nan,
        }
    }

    /// What is in both.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            kinds: self.kinds.and(other.kinds),
            least: self.least.max(other.least),
            most: self.most.min(other.most),
            zero: self.zero && other.zero,
            nan: self.nan && other.nan,
        }
        .settled()
    }

    /// Only the numbers.
    pub(super) fn numbers(self) -> Self {
        Self { kinds: self.kinds.and(Kinds::NUMBER), ..self }
    }

    /// The same without 0.
    pub(super) fn nonzero(self) -> Self {
        Self { zero: false, ..self }.settled()
    }

    /// The numbers from `least` to `most`, without nan.
    pub(super) fn clipped(self, least: f64, most: f64) -> Self {
        Self { least: self.least.max(least), most: self.most.min(most), nan: false, ..self.numbers() }.settled()
    }

    /// What of these Python counts as true, or as false.
    pub(super) fn that_are(self, truth: bool) -> Self {
        if truth {
            let kinds = self.kinds.without(Kinds::NOTHING);
            return Self { kinds, ..self }.nonzero();
        }
        let kinds = self.kinds.without(Kinds::FUNCTION);
        let zero = if self.zero { 0.0 } else { f64::NAN };
        Self { kinds, least: zero, most: zero, zero: self.zero, nan: false }.settled()
    }

    /// Which truth Python finds in it.
    pub(super) fn truth(&self) -> Truth {
        let sequences = self.kinds.meets(Kinds::SEQUENCE);
        let nonzero = self.nan || !self.nonzero().numbers().is_never();
        Truth {
            may_hold: nonzero || sequences || self.kinds.meets(Kinds::FUNCTION),
            may_fail: self.zero || sequences || self.kinds.meets(Kinds::NOTHING),
        }
    }

    /// The least distance from 0 of anything but 0.
    pub(super) fn least_size(&self) -> f64 {
        let smallest = if self.is_whole() { 1.0 } else { f64::from_bits(1) };
        if self.least > 0.0 {
            self.least
        } else if self.most < 0.0 {
            -self.most
        } else {
            smallest
        }
    }

    /// The greatest distance from 0.
    pub(super) fn most_size(&self) -> f64 {
        self.least.abs().max(self.most.abs())
    }

    /// Whether it may be a float of plus infinity, minus infinity.
    pub(super) fn may_be_infinite(&self) -> bool {
        self.kinds.meets(Kinds::FLOAT) && (self.most == f64::INFINITY || self.least == f64::NEG_INFINITY)
    }

    /// Whether it may be an integer that no double holds.
    pub(super) fn may_exceed_doubles(&self) -> bool {
        self.kinds.meets(Kinds::INT) && (self.most == f64::INFINITY || self.least == f64::NEG_INFINITY)
    }

    /// The bounds moved away from each other as far as a nearest double of an integer can be off.
    pub(super) fn outward(mut self) -> Self {
        if self.kinds.meets(Kinds::INT) {
            let off = |bound: f64| bound.abs() >= MAX_EXACT_FLOAT;
            self.least = if off(self.least) { self.least.next_down() } else { self.least };
            self.most = if off(self.most) { self.most.next_up() } else { self.most };
            self.least = self.least.min(f64::MAX);
            self.most = self.most.max(f64::MIN);
        }
        self
    }

    /// Bounds that agree with the types and with whether 0 is among them.
    fn settled(mut self) -> Self {
        // a zero has no sign: what is divided by it would have one
        (self.least, self.most) = (self.least + 0.0, self.most + 0.0);
        if self.kinds.meets(Kinds::NUMBER) && self.is_number() && self.is_whole() {
            (self.least, self.most) = (self.least.ceil(), self.most.floor());
        }
        if !self.zero {
            let smallest = if self.kinds.meets(Kinds::FLOAT) { f64::from_bits(1) } else { 1.0 };
            self.least = if self.least == 0.0 { smallest } else { self.least };
            self.most = if self.most == 0.0 { -smallest } else { self.most };
        }
        let has_bounds = self.least <= self.most;
        self.nan &= self.kinds.meets(Kinds::FLOAT);
        if !has_bounds || !self.kinds.meets(Kinds::NUMBER) {
            let left = if self.nan { Kinds::FLOAT } else { Kinds::NONE };
            let kinds = self.kinds.without(Kinds::NUMBER).or(left);
            return Self { kinds, nan: self.nan, ..Self::NEVER };
        }
        self.zero &= self.least <= 0.0 && 0.0 <= self.most;
        if self.least > 1.0 || self.most < 0.0 {
            self.kinds = self.kinds.without(Kinds::BOOL);
            if self.kinds.and(Kinds::NUMBER).is_empty() {
                return Self { kinds: self.kinds, ..Self::NEVER };
            }
        }
        self
    }
}
