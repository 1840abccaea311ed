//! The values that an expression can have, as an abstract value: a set of types and, for numbers, an interval.

use std::fmt;

use num_traits::ToPrimitive;

use crate::formula::lint::ranges::type_set::TypeSet;
use crate::python::{Arithmetic, ComparisonOperator, MAX_EXACT_FLOAT, Python, Value};
use crate::schema::Range;

/// The set of the values that an expression can have: their types, and for numbers an interval.
///
/// It is an over-approximation: it can contain values that no job gives, but it lacks none.
///
/// ```
/// use job_sort_formula::Value;
/// use job_sort_formula::formula::lint::{TypeSet, ValueSet};
///
/// let share = ValueSet::between(TypeSet::FLOAT, 0.0, 1.0);
/// assert!(share.contains(&Value::Float(0.5)));
/// assert!(!share.contains(&Value::Int(2)));
/// assert!(share.may_be_zero());
/// assert_eq!(share.to_string(), "a float from 0 to 1");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValueSet {
    types: TypeSet,
    /// The bounds of the numbers except NaN; infinite if an integer can exceed the largest double.
    least: f64,
    most: f64,
    /// Whether 0 is in the set.
    zero: bool,
    /// Whether NaN is in the set.
    nan: bool,
}

/// The truth values that a condition can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Truth {
    pub(super) may_be_true: bool,
    pub(super) may_be_false: bool,
}

impl Truth {
    /// The truth values of `not x`.
    pub(super) fn negated(self) -> Self {
        Self { may_be_true: self.may_be_false, may_be_false: self.may_be_true }
    }
}

impl ValueSet {
    /// No value: the expression raises an error for every job.
    pub const EMPTY: Self =
        Self { types: TypeSet::EMPTY, least: f64::INFINITY, most: f64::NEG_INFINITY, zero: false, nan: false };
    /// Any value of any type.
    pub const ANY: Self =
        Self { types: TypeSet::ANY, least: f64::NEG_INFINITY, most: f64::INFINITY, zero: true, nan: true };
    /// Any number.
    pub const ANY_NUMBER: Self = Self { types: TypeSet::NUMBER, ..Self::ANY };
    /// `True` or `False`.
    pub const TRUTH: Self = Self { types: TypeSet::BOOL, least: 0.0, most: 1.0, zero: true, nan: false };

    /// The numbers of these types from `least` to `most`, both included, without nan.
    pub fn between(types: TypeSet, least: f64, most: f64) -> Self {
        let types = types.and(TypeSet::NUMBER);
        Self { types, least, most, zero: true, nan: false }.normalized()
    }

    /// All values of the types among these that are not numeric.
    pub(super) fn non_numbers(types: TypeSet) -> Self {
        Self { types: types.without(TypeSet::NUMBER), ..Self::EMPTY }
    }

    /// A single value; for an integer beyond 2^53, the interval between the doubles around it.
    pub fn from_value(value: &Value) -> Self {
        let types = TypeSet::from_value(value);
        match value {
            Value::Bool(truth) => Self::between(types, f64::from(*truth), f64::from(*truth)),
            Value::Float(x) if x.is_nan() => Self { types, nan: true, ..Self::EMPTY },
            Value::Float(x) => Self::between(types, *x, *x),
            Value::Int(x) => Self::between(types, *x as f64, *x as f64).rounded_outward(),
            Value::Big(x) => {
                let nearest = x.digits().to_f64().unwrap_or(f64::INFINITY);
                Self::between(types, nearest, nearest).rounded_outward()
            }
            _ => Self::non_numbers(types),
        }
    }

    /// Adds NaN if `nan` is true.
    pub fn or_nan(mut self, nan: bool) -> Self {
        self.nan |= nan;
        if nan {
            self.types = self.types.or(TypeSet::FLOAT);
        }
        self
    }

    /// The types of the values.
    pub fn types(&self) -> TypeSet {
        self.types
    }

    /// The least and the greatest number; `None` if the set contains no number other than nan.
    pub fn bounds(&self) -> Option<Range> {
        (self.least <= self.most).then_some(Range { least: self.least, most: self.most })
    }

    /// The least number; infinity if it contains no number.
    pub fn least(&self) -> f64 {
        self.least
    }

    /// The greatest number; minus infinity if it contains no number.
    pub fn most(&self) -> f64 {
        self.most
    }

    /// Whether it contains 0.
    pub fn may_be_zero(&self) -> bool {
        self.zero
    }

    /// Whether it contains nan.
    pub fn may_be_nan(&self) -> bool {
        self.nan
    }

    /// Whether it contains no value.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// Whether every value is a number.
    pub fn is_number(&self) -> bool {
        self.types.is_subset(TypeSet::NUMBER)
    }

    /// Whether every value is an `int` or a `bool`.
    pub fn is_integral(&self) -> bool {
        self.types.is_subset(TypeSet::INTEGRAL)
    }

    /// The number, if the set contains one number and nothing else.
    pub fn single(&self) -> Option<f64> {
        (self.least == self.most && !self.nan && self.is_number()).then_some(self.least)
    }

    /// Whether `value` is in the set.
    pub fn contains(&self, value: &Value) -> bool {
        match value {
            _ if !self.types.intersects(TypeSet::from_value(value)) => false,
            Value::Float(x) if x.is_nan() => self.nan,
            Value::Bool(_) | Value::Int(_) | Value::Big(_) | Value::Float(_) => {
                // an infinite bound covers the integers beyond the largest double
                holds(value, ComparisonOperator::GreaterOrEqual, self.least)
                    && holds(value, ComparisonOperator::LessOrEqual, self.most)
                    && (self.zero || value.truth())
            }
            _ => true,
        }
    }

    /// The union.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            types: self.types.or(other.types),
            least: self.least.min(other.least),
            most: self.most.max(other.most),
            zero: self.zero || other.zero,
            nan: self.nan || other.nan,
        }
    }

    /// The intersection.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            types: self.types.and(other.types),
            least: self.least.max(other.least),
            most: self.most.min(other.most),
            zero: self.zero && other.zero,
            nan: self.nan && other.nan,
        }
        .normalized()
    }

    /// Only the numbers.
    pub(super) fn numbers(self) -> Self {
        Self { types: self.types.and(TypeSet::NUMBER), ..self }
    }

    /// Only the values of the types `int` and `bool`.
    pub(super) fn integers(self) -> Self {
        Self::between(self.types.and(TypeSet::INTEGRAL), self.least, self.most)
    }

    /// The set without 0.
    pub(super) fn nonzero(self) -> Self {
        Self { zero: false, ..self }.normalized()
    }

    /// The numbers from `least` to `most`, without nan.
    pub(super) fn clipped(self, least: f64, most: f64) -> Self {
        Self { least: self.least.max(least), most: self.most.min(most), nan: false, ..self.numbers() }.normalized()
    }

    /// The values whose truth value in Python is `truth`.
    pub(super) fn with_truth(self, truth: bool) -> Self {
        if truth {
            let types = self.types.without(TypeSet::NONE);
            return Self { types, ..self }.nonzero();
        }
        let types = self.types.without(TypeSet::FUNCTION);
        let zero = if self.zero { 0.0 } else { f64::NAN };
        Self { types, least: zero, most: zero, zero: self.zero, nan: false }.normalized()
    }

    /// The truth values that the values have in Python.
    pub(super) fn truth(&self) -> Truth {
        let may_be_sequence = self.types.intersects(TypeSet::SEQUENCE);
        let nonzero = self.nan || !self.nonzero().numbers().is_empty();
        Truth {
            may_be_true: nonzero || may_be_sequence || self.types.intersects(TypeSet::FUNCTION),
            may_be_false: self.zero || may_be_sequence || self.types.intersects(TypeSet::NONE),
        }
    }

    /// The least absolute value of the numbers other than 0.
    pub(super) fn min_abs(&self) -> f64 {
        let smallest = if self.is_integral() { 1.0 } else { f64::from_bits(1) };
        if self.least > 0.0 {
            self.least
        } else if self.most < 0.0 {
            -self.most
        } else {
            smallest
        }
    }

    /// The greatest absolute value.
    pub(super) fn max_abs(&self) -> f64 {
        self.least.abs().max(self.most.abs())
    }

    /// Whether it contains an infinite float.
    pub(super) fn may_be_infinite(&self) -> bool {
        self.types.intersects(TypeSet::FLOAT) && (self.most == f64::INFINITY || self.least == f64::NEG_INFINITY)
    }

    /// Whether it contains an integer beyond the largest double.
    pub(super) fn may_exceed_doubles(&self) -> bool {
        self.types.intersects(TypeSet::INT) && (self.most == f64::INFINITY || self.least == f64::NEG_INFINITY)
    }

    /// Rounds the bounds of integers outward, because the double nearest to an integer can be on either side of it.
    pub(super) fn rounded_outward(mut self) -> Self {
        if self.types.intersects(TypeSet::INT) {
            if self.least.abs() >= MAX_EXACT_FLOAT {
                self.least = self.least.next_down().min(f64::MAX);
            }
            if self.most.abs() >= MAX_EXACT_FLOAT {
                self.most = self.most.next_up().max(f64::MIN);
            }
        }
        self
    }

    /// Makes the bounds, the types and the flag for 0 consistent.
    fn normalized(mut self) -> Self {
        // make a zero positive, so that the sign of a quotient does not depend on it
        self.least += 0.0;
        self.most += 0.0;
        if !self.is_empty() && self.is_integral() {
            self.least = self.least.ceil();
            self.most = self.most.floor();
        }
        if !self.zero {
            let smallest = if self.types.intersects(TypeSet::FLOAT) { f64::from_bits(1) } else { 1.0 };
            self.least = if self.least == 0.0 { smallest } else { self.least };
            self.most = if self.most == 0.0 { -smallest } else { self.most };
        }
        let has_bounds = self.least <= self.most;
        self.nan &= self.types.intersects(TypeSet::FLOAT);
        if !has_bounds || !self.types.intersects(TypeSet::NUMBER) {
            let numeric = if self.nan { TypeSet::FLOAT } else { TypeSet::EMPTY };
            let types = self.types.without(TypeSet::NUMBER).or(numeric);
            return Self { types, nan: self.nan, ..Self::EMPTY };
        }
        self.zero &= self.least <= 0.0 && 0.0 <= self.most;
        if self.least > 1.0 || self.most < 0.0 {
            self.types = self.types.without(TypeSet::BOOL);
            if self.types.and(TypeSet::NUMBER).is_empty() {
                return Self { types: self.types, ..Self::EMPTY };
            }
        }
        self
    }
}

/// Whether the comparison of a number with a bound is true.
fn holds(value: &Value, op: ComparisonOperator, bound: f64) -> bool {
    Python::new().compare(op, value, &Value::Float(bound)).unwrap_or(false)
}

impl fmt::Display for ValueSet {
    /// For example `a float from 0 to 1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("no value");
        }
        f.write_str(&self.types().names().join(" or "))?;
        match self.bounds() {
            Some(Range { least, most }) if self.types().is_subset(TypeSet::BOOL) && least < most => Ok(()),
            Some(Range { least, most }) if least == most => write!(f, ", {}", Rounded(least)),
            Some(Range { least, most }) if Rounded(least).to_string() == Rounded(most).to_string() => {
                write!(f, ", about {}", Rounded(least))
            }
            Some(Range { least, most }) if least.is_finite() && most.is_finite() => {
                write!(f, " from {} to {}", Rounded(least), Rounded(most))
            }
            Some(Range { least, .. }) if least.is_finite() => write!(f, " of at least {}", Rounded(least)),
            Some(Range { most, .. }) if most.is_finite() => write!(f, " of at most {}", Rounded(most)),
            _ => Ok(()),
        }?;
        if self.may_be_nan() { f.write_str(", or nan") } else { Ok(()) }
    }
}

/// Displays a number as people write it: an integer, or rounded to six significant digits.
pub(in crate::formula::lint) struct Rounded(pub f64);

impl fmt::Display for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let magnitude = self.0.abs();
        let rounded: f64 = format!("{:.5e}", self.0).parse().unwrap_or(self.0);
        match magnitude {
            0.0 => f.write_str("0"),
            ..1e15 if self.0.fract() == 0.0 => write!(f, "{}", self.0),
            1e-4..1e15 => write!(f, "{rounded}"),
            _ => write!(f, "{rounded:e}"),
        }
    }
}
