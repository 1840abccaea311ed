//! Intervals of doubles, the numbers that an expression or an input can have; Python's operators and
//! functions on them.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::{Div, Mul};

use num_traits::ToPrimitive;

use crate::formula::lint::ranges::Known;
use crate::python::{
    Arithmetic, BinaryOperator, ComparisonOperator, ErrorKind, Function, MAX_EXACT_FLOAT, Python,
    UnaryOperator, Value, real_function,
};
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
    fn least_size(&self) -> f64 {
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
fn with_signs_of(bounds: Range, least: f64, most: f64) -> Range {
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
fn library_error(result: f64) -> f64 {
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

/// `op x`.
pub(super) fn unary(op: UnaryOperator, x: Interval) -> Known {
    match (op, x.kind()) {
        (UnaryOperator::Plus, _) => Known::Number(x),
        (UnaryOperator::Minus, kind) => Known::Number(Interval::new(kind, -x.high, -x.low)),
        (UnaryOperator::Not, _) => Interval::truth_values(negated(x.truth())),
        (UnaryOperator::Invert, NumberType::Int) => {
            Known::rounded(NumberType::Int, -x.high - 1.0, -x.low - 1.0)
        }
        (UnaryOperator::Invert, NumberType::Float) => Known::Fails(ErrorKind::Type),
        (UnaryOperator::Invert, NumberType::Either) => Known::Anything,
    }
}

/// `x op y`. Rounding is monotonic, so that the bounds of a sum, a product or a quotient are
/// computed as Python computes them.
pub(super) fn binary(op: BinaryOperator, x: Interval, y: Interval) -> Known {
    use BinaryOperator as Op;
    let kind = x.kind().with(y.kind());
    match op {
        Op::Add => Known::rounded(kind, x.low + y.low, x.high + y.high),
        Op::Subtract => Known::rounded(kind, x.low - y.high, x.high - y.low),
        Op::Multiply => corners(kind, x, y, Mul::mul),
        Op::Divide | Op::FloorDivide | Op::Modulo if y.single() == Some(0.0) => {
            Known::Fails(ErrorKind::ZeroDivision)
        }
        // may divide by zero, and is not bounded near it
        Op::Divide | Op::FloorDivide | Op::Modulo if y.contains_zero() => Known::Anything,
        Op::Divide => corners(NumberType::Float, x, y, Div::div),
        Op::FloorDivide => floor_quotient(kind, x, y),
        Op::Modulo => modulo(kind, x, y),
        Op::Power => power(x, y),
        Op::MatrixMultiply => Known::Fails(ErrorKind::Type),
        _ if kind == NumberType::Float => Known::Fails(ErrorKind::Type),
        _ if kind == NumberType::Either => Known::Anything,
        Op::ShiftLeft | Op::ShiftRight if y.high < 0.0 => Known::Fails(ErrorKind::Value),
        Op::ShiftLeft | Op::ShiftRight if y.low < 0.0 => Known::Anything,
        // a shift is a product with a power of two
        Op::ShiftLeft => corners(kind, x, y, |x, y| x * y.exp2()),
        // a shift moves a number towards 0 or -1, so that 0 bounds it on the other side
        Op::ShiftRight => Known::rounded(kind, x.low.min(0.0), x.high.max(0.0)),
        Op::BitAnd | Op::BitOr | Op::BitXor => bitwise(op, x, y),
    }
}

/// The least and the greatest of an operation that is monotonic in each operand.
fn corners(kind: NumberType, x: Interval, y: Interval, operation: fn(f64, f64) -> f64) -> Known {
    let Range { least, most } = Range::hull([
        operation(x.low, y.low),
        operation(x.low, y.high),
        operation(x.high, y.low),
        operation(x.high, y.high),
    ]);
    Known::rounded(kind, least, most)
}

fn floor_quotient(kind: NumberType, x: Interval, y: Interval) -> Known {
    let Known::Number(quotient) = corners(NumberType::Float, x, y, Div::div) else {
        return Known::Anything;
    };
    // rounding can carry a quotient to the next integer, and `//` of floats can be off by 1
    let slack = if kind == NumberType::Int { 0.0 } else { 1.0 };
    let low = quotient.low.next_down().floor() - slack;
    let high = quotient.high.next_up().floor() + slack;
    let Range { least, most } = with_signs_of(quotient.range(), low, high);
    Known::rounded(kind, least, most)
}

/// `x % y`, which has the sign of `y`.
fn modulo(kind: NumberType, x: Interval, y: Interval) -> Known {
    // the remainder of integers is at least 1 less than the divisor
    let step = if kind == NumberType::Int { 1.0 } else { 0.0 };
    let (mut least, mut most) = (0.0, 0.0);
    if y.low > 0.0 {
        most = y.high - step;
        if x.low >= 0.0 {
            most = x.high.min(most);
        }
    } else {
        least = y.low + step;
        if x.high <= 0.0 {
            least = x.low.max(least);
        }
    }
    Known::rounded(kind, least, most)
}

/// `x ** y`; with `pow` of `math`, the result is always a float.
pub(super) fn power(x: Interval, y: Interval) -> Known {
    let kind = match x.kind().with(y.kind()) {
        NumberType::Int if y.low >= 0.0 => NumberType::Int,
        NumberType::Int if y.high < 0.0 => NumberType::Float,
        NumberType::Int => NumberType::Either,
        kind => kind,
    };
    match y.single() {
        Some(exponent) if x.high < 0.0 && exponent.fract() != 0.0 => {
            Known::Fails(ErrorKind::Complex)
        }
        // 0 to a negative power is an error
        _ if x.low > 0.0 || x.low == 0.0 && y.low >= 0.0 => corner_powers(kind, x, y),
        // an even or an odd power
        Some(exponent) if exponent >= 0.0 && exponent.fract() == 0.0 => {
            let sizes = Interval::new(x.kind(), x.least_size(), x.size());
            match corner_powers(kind, sizes, y) {
                Known::Number(sizes) if exponent % 2.0 == 0.0 => Known::Number(sizes),
                Known::Number(sizes) if x.high <= 0.0 => {
                    Known::Number(Interval::new(kind, -sizes.high, -sizes.low))
                }
                Known::Number(sizes) => Known::Number(Interval::new(kind, -sizes.high, sizes.high)),
                other => other,
            }
        }
        _ => Known::Anything,
    }
}

/// Powers of numbers that are not negative, which are monotonic in the base and in the exponent.
fn corner_powers(kind: NumberType, x: Interval, y: Interval) -> Known {
    let Known::Number(powers) = corners(kind, x, y, f64::powf) else {
        return Known::Anything;
    };
    let Range { least, most } = widened(
        powers.range(),
        power_error(powers.low),
        power_error(powers.high),
    );
    // `0 ** 0` is 1
    let has_one = x.low == 0.0 && y.low == 0.0;
    Known::rounded(kind, least, if has_one { most.max(1.0) } else { most })
}

/// The error of a power: none of a whole number that is exact.
fn power_error(power: f64) -> f64 {
    if power == power.floor() && power.abs() <= MAX_EXACT_FLOAT {
        0.0
    } else {
        library_error(power)
    }
}

/// `x op y` for `& | ^` of integers, whose result has no bit above the highest of the operands.
fn bitwise(op: BinaryOperator, x: Interval, y: Interval) -> Known {
    if x.low < 0.0 || y.low < 0.0 {
        return Known::Anything;
    }
    let high = match op {
        BinaryOperator::BitAnd => x.high.min(y.high),
        // the next power of two, and one more because the logarithm is rounded
        _ => ((x.high.max(y.high) + 1.0).log2().ceil() + 1.0).exp2(),
    };
    Known::rounded(NumberType::Int, 0.0, high)
}

/// The truth value of `x op y`, if it is the same for all numbers.
pub(in crate::formula::lint) fn comparison(
    op: ComparisonOperator,
    x: Interval,
    y: Interval,
) -> Option<bool> {
    use ComparisonOperator as Op;
    match op {
        Op::Less => {
            if x.high < y.low {
                Some(true)
            } else {
                (x.low >= y.high).then_some(false)
            }
        }
        // there are no nans in an interval, so that the negation is exact
        Op::LessOrEqual => negated(comparison(Op::Less, y, x)),
        Op::Greater => comparison(Op::Less, y, x),
        Op::GreaterOrEqual => negated(comparison(Op::Less, x, y)),
        Op::Equal if x.high < y.low || y.high < x.low => Some(false),
        Op::Equal => {
            // beyond 2^53 a bound is the double of several integers
            let is_exact = x.size() < MAX_EXACT_FLOAT;
            (is_exact && x.single().is_some() && x.single() == y.single()).then_some(true)
        }
        Op::NotEqual => negated(comparison(Op::Equal, x, y)),
        Op::In | Op::NotIn => None,
    }
}

fn negated(truth: Option<bool>) -> Option<bool> {
    Some(!truth?)
}

/// `function(arguments…)` of numbers. `items` are those that an aggregate function combines.
pub(super) fn call(function: Function, arguments: &[Interval], items: &[Interval]) -> Known {
    use Function as F;
    match (function, arguments) {
        (F::Max | F::Min, []) => extreme(function, items),
        (F::Sum, []) => sum(items),
        (F::Pow, &[x, y]) => match power(x, y) {
            // `math.pow` has no complex numbers: a `ValueError`
            Known::Fails(_) => Known::Fails(ErrorKind::Value),
            known => as_float(known),
        },
        (F::Log, &[x, base]) => match (real(F::Log, x), real(F::Log, base)) {
            (Known::Number(x), Known::Number(base)) => binary(BinaryOperator::Divide, x, base),
            _ => Known::Anything,
        },
        (F::Round, &[x, digits]) => round_to_digits(x, digits),
        (F::Abs, &[x]) => absolute(x),
        (F::Fabs, &[x]) => as_float(absolute(x)),
        (F::Float, &[x]) => as_float(Known::Number(x)),
        (F::Bool, &[x]) => Interval::truth_values(x.truth()),
        (F::Ceil, &[x]) => Known::rounded(NumberType::Int, x.low.ceil(), x.high.ceil()),
        (F::Floor, &[x]) => Known::rounded(NumberType::Int, x.low.floor(), x.high.floor()),
        (F::Int | F::Trunc, &[x]) => Known::rounded(NumberType::Int, x.low.trunc(), x.high.trunc()),
        (F::Round, &[x]) => Known::rounded(
            NumberType::Int,
            x.low.round_ties_even(),
            x.high.round_ties_even(),
        ),
        // not monotonic, so that the bounds of the argument say nothing
        (F::Sin | F::Cos, &[_]) => Known::rounded(NumberType::Float, -1.0, 1.0),
        (_, &[x]) => real(function, x),
        _ => Known::Anything,
    }
}

fn as_float(known: Known) -> Known {
    match known {
        Known::Number(x) => Known::rounded(NumberType::Float, x.low, x.high),
        other => other,
    }
}

fn absolute(x: Interval) -> Known {
    Known::Number(Interval::new(x.kind(), x.least_size(), x.size()))
}

/// `round(x, digits)`, which changes a float by half a unit at most, and not its sign.
fn round_to_digits(x: Interval, digits: Interval) -> Known {
    let places = match digits.single() {
        Some(places) if digits.kind() == NumberType::Int && places.abs() < 300.0 => places,
        _ => return Known::Anything,
    };
    // half a unit, a little more for its own rounding, and that of the result
    let unit = 10.0_f64.powf(-places) * 0.500_001 + x.size() * f64::EPSILON;
    let Range { least, most } = widened(x.range(), unit, unit);
    Known::rounded(x.kind(), least, most)
}

/// `min` and `max` of several numbers.
fn extreme(function: Function, items: &[Interval]) -> Known {
    let Some((&first, others)) = items.split_first() else {
        return Known::Anything;
    };
    let mut extreme = first;
    for item in others {
        let hull = extreme.hull(*item);
        extreme = if function == Function::Max {
            Interval::new(hull.kind(), extreme.low.max(item.low), hull.high)
        } else {
            Interval::new(hull.kind(), hull.low, extreme.high.min(item.high))
        };
    }
    Known::Number(extreme)
}

/// `sum`, wider by as much as the compensation of the rounding errors of floats can change it.
fn sum(items: &[Interval]) -> Known {
    let mut kind = NumberType::Int;
    let mut sum = Interval::new(NumberType::Int, 0.0, 0.0);
    // since 3.12, `sum` compensates errors of at most this size
    let mut size = 0.0;
    for item in items {
        kind = kind.with(item.kind());
        size += item.size();
        match binary(BinaryOperator::Add, sum, *item) {
            Known::Number(longer) => sum = longer,
            _ => return Known::Anything,
        }
    }
    let slack = if kind == NumberType::Int {
        0.0
    } else {
        size * f64::EPSILON * items.len() as f64
    };
    Known::rounded(kind, sum.low - slack, sum.high + slack)
}

/// A function of one number that is monotonic on its domain: the bounds of the result are the
/// results at the bounds.
fn real(function: Function, x: Interval) -> Known {
    let Some(domain) = domain(function) else {
        return Known::Anything;
    };
    // all of it outside: an error for every job; a part: nothing is known
    if x.high < domain.least || domain.most < x.low {
        return Known::Fails(ErrorKind::Value);
    }
    if x.low < domain.least || domain.most < x.high {
        return Known::Anything;
    }
    let (Ok(at_low), Ok(at_high)) = (
        real_function(function, x.low),
        real_function(function, x.high),
    ) else {
        return Known::Anything;
    };
    let results = Range::hull([at_low, at_high]);
    let Range { least, most } = widened(
        results,
        library_error(results.least),
        library_error(results.most),
    );
    Known::rounded(NumberType::Float, least, most)
}

/// Whether a function of one number is monotonic on its whole domain; all but `acos` and `erfc`
/// increase.
pub(in crate::formula::lint) fn is_monotonic(function: Function) -> bool {
    domain(function).is_some()
}

/// Where a monotonic function of one number is defined.
fn domain(function: Function) -> Option<Range> {
    use Function as F;
    let (least, most) = match function {
        F::Sqrt => (0.0, f64::MAX),
        // the least positive double, since 0 itself is a pole
        F::Log | F::Log2 | F::Log10 => (f64::from_bits(1), f64::MAX),
        F::Log1p => ((-1.0_f64).next_up(), f64::MAX),
        F::Acosh => (1.0, f64::MAX),
        F::Asin | F::Acos => (-1.0, 1.0),
        // both ends are poles
        F::Atanh => ((-1.0_f64).next_up(), 1.0_f64.next_down()),
        F::Exp | F::Exp2 | F::Expm1 | F::Sinh | F::Asinh | F::Atan | F::Tanh => {
            (f64::MIN, f64::MAX)
        }
        F::Erf | F::Erfc | F::Cbrt | F::Degrees | F::Radians => (f64::MIN, f64::MAX),
        _ => return None,
    };
    Some(Range { least, most })
}
