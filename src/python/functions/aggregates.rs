//! Functions over many values: `min`, `max`, `sum`, `prod`, `fsum`, `hypot`, `dist`.

use crate::python::limits::Fuel;
use crate::python::{BinaryOperator, ComparisonOperator, ErrorKind, Function, Raised, Value, float_parts, operators};

/// `min` and `max`. Of equal values, the first is returned. `call(key, value)` calls the function `key` with a value.
pub(super) fn extreme(
    function: Function,
    values: &[Value],
    key: Option<&Value>,
    default: Option<&Value>,
    call: impl Fn(&Value, &Value) -> Result<Value, Raised>,
    fuel: &Fuel,
) -> Result<Value, Raised> {
    let op = if function == Function::Max { ComparisonOperator::Greater } else { ComparisonOperator::Less };
    let values = match values {
        [single] => single.iterable_argument()?,
        several => several,
    };
    let key = key.filter(|key| !matches!(key, Value::None));
    let best = match key {
        None => extreme_value(op, values, fuel)?,
        Some(key) => extreme_by_key(op, values, |value| call(key, value), fuel)?,
    };
    match best.or(default) {
        Some(value) => Ok(value.clone()),
        None => Err(Raised::new(ErrorKind::Value, format!("{}() arg is an empty sequence", function.name()))),
    }
}

fn extreme_value<'a>(op: ComparisonOperator, values: &'a [Value], fuel: &Fuel) -> Result<Option<&'a Value>, Raised> {
    let Some((mut best, rest)) = values.split_first() else {
        return Ok(None);
    };
    for value in rest {
        if operators::compare(op, value, best, fuel)? {
            best = value;
        }
    }
    Ok(Some(best))
}

fn extreme_by_key<'a>(
    op: ComparisonOperator,
    values: &'a [Value],
    key: impl Fn(&Value) -> Result<Value, Raised>,
    fuel: &Fuel,
) -> Result<Option<&'a Value>, Raised> {
    let mut best: Option<(Value, &Value)> = None;
    for value in values {
        let value_key = key(value)?;
        let is_better = match &best {
            None => true,
            Some((best_key, _)) => operators::compare(op, &value_key, best_key, fuel)?,
        };
        if is_better {
            best = Some((value_key, value));
        }
    }
    Ok(best.map(|(_, value)| value))
}

/// `sum(iterable, start=0)`: plain `+` from the left, as in Python 3.11. Later releases compensate the rounding errors of
/// floats.
pub(super) fn sum(items: &Value, start: Option<&Value>, fuel: &Fuel) -> Result<Value, Raised> {
    accumulate(BinaryOperator::Add, items, start.cloned().unwrap_or(Value::Int(0)), fuel)
}

/// `prod(iterable, start=1)`.
pub(super) fn prod(items: &Value, start: Option<&Value>, fuel: &Fuel) -> Result<Value, Raised> {
    accumulate(BinaryOperator::Multiply, items, start.cloned().unwrap_or(Value::Int(1)), fuel)
}

fn accumulate(op: BinaryOperator, items: &Value, start: Value, fuel: &Fuel) -> Result<Value, Raised> {
    items.iterable_argument()?.iter().try_fold(start, |result, item| operators::binary(op, &result, item, fuel))
}

/// `fsum(iterable)`: Shewchuk's exact summation with non-overlapping partial sums, rounded once.
pub(super) fn fsum(items: &Value) -> Result<Value, Raised> {
    let mut partials: Vec<f64> = Vec::new();
    let mut special = 0.0;
    let mut infinities = 0.0;
    for item in items.iterable_argument()? {
        let value = item.math_argument()?;
        let high = add_partial(&mut partials, value);
        if high.is_finite() {
            if high != 0.0 {
                partials.push(high);
            }
            continue;
        }
        if value.is_finite() {
            return Err(Raised::overflow("intermediate overflow in fsum"));
        }
        if value.is_infinite() {
            infinities += value;
        }
        special += value;
        partials.clear();
    }
    if special == 0.0 {
        return Ok(Value::Float(round_once(&partials)));
    }
    if infinities.is_nan() { Err(Raised::value("-inf + inf in fsum")) } else { Ok(Value::Float(special)) }
}

/// Adds a value to the partial sums and returns the rounded total. `partials` keeps its rounding errors only: together
/// with the returned number, they sum to the exact total.
fn add_partial(partials: &mut Vec<f64>, mut value: f64) -> f64 {
    let mut kept = 0;
    for index in 0..partials.len() {
        let (large, small) = match partials[index] {
            partial if value.abs() < partial.abs() => (partial, value),
            partial => (value, partial),
        };
        let high = large + small;
        let low = small - (high - large);
        if low != 0.0 {
            partials[kept] = low;
            kept += 1;
        }
        value = high;
    }
    partials.truncate(kept);
    value
}

/// The sum of non-overlapping doubles, in increasing order of magnitude, rounded once, ties to even.
fn round_once(partials: &[f64]) -> f64 {
    let mut rest = partials.iter().rev().copied();
    let mut high = rest.next().unwrap_or(0.0);
    for partial in rest.by_ref() {
        let before = high;
        high = before + partial;
        let low = partial - (high - before);
        if low == 0.0 {
            continue;
        }
        // The rounding error may be exactly half a unit; the next partial sum then decides the direction.
        let follows = rest.next().unwrap_or(0.0);
        let corrected = high + 2.0 * low;
        if follows != 0.0 && (low < 0.0) == (follows < 0.0) && corrected - high == 2.0 * low {
            high = corrected;
        }
        break;
    }
    high
}

/// `hypot(*coordinates)`.
pub(super) fn hypot<'a>(coordinates: impl Iterator<Item = &'a Value>) -> Result<f64, Raised> {
    let lengths = coordinates.map(|value| value.math_argument().map(f64::abs)).collect::<Result<Vec<_>, _>>()?;
    Ok(norm(&lengths))
}

/// `dist(p, q)`.
pub(super) fn dist(p: &Value, q: &Value) -> Result<Value, Raised> {
    let p = p.iterable_argument()?;
    let q = q.iterable_argument()?;
    if p.len() != q.len() {
        return Err(Raised::value("both points must have the same number of dimensions"));
    }
    let mut lengths = Vec::with_capacity(p.len());
    for (a, b) in p.iter().zip(q) {
        lengths.push((a.math_argument()? - b.math_argument()?).abs());
    }
    Ok(Value::Float(norm(&lengths)))
}

/// The square root of the sum of squares, rounded nearly once: squares and sum are double-double numbers.
fn norm(lengths: &[f64]) -> f64 {
    let largest = lengths.iter().copied().fold(0.0, f64::max);
    if largest.is_infinite() || lengths.len() == 1 {
        return lengths.iter().copied().find(|length| length.is_nan() && !largest.is_infinite()).unwrap_or(largest);
    }
    if lengths.iter().any(|length| length.is_nan()) {
        return f64::NAN;
    }
    if largest == 0.0 {
        return 0.0;
    }
    // Scaled to about 1 by a power of two, no square overflows, and none that matters underflows.
    let (_, scale) = float_parts::fraction_and_exponent(largest);
    let mut high = 0.0_f64;
    let mut low = 0.0_f64;
    for length in lengths {
        let scaled = length * float_parts::power_of_two(-scale / 2) * float_parts::power_of_two(scale / 2 - scale);
        let square = scaled * scaled;
        let sum = high + square;
        let (large, small) = if high < square { (square, high) } else { (high, square) };
        low += (small - (sum - large)) + scaled.mul_add(scaled, -square);
        high = sum;
    }
    let root = (high + low).sqrt();
    let correction = (high - root * root) - root.mul_add(root, -(root * root)) + low;
    let root = root + correction / (2.0 * root);
    root * float_parts::power_of_two(scale / 2) * float_parts::power_of_two(scale - scale / 2)
}
