//! Python's functions on intervals.

use super::Known;
use super::interval::{Interval, NumberType, library_error, widened};
use super::operators;
use crate::python::{BinaryOperator, ErrorKind, Function, real_function};
use crate::schema::Range;

/// `function(arguments…)` of numbers. `items` are those that an aggregate function combines.
pub(super) fn call(function: Function, arguments: &[Interval], items: &[Interval]) -> Known {
    use Function as F;
    match (function, arguments) {
        (F::Max | F::Min, []) => extreme(function, items),
        (F::Sum, []) => sum(items),
        (F::Pow, &[x, y]) => match operators::power(x, y) {
            // `math.pow` has no complex numbers: a `ValueError`
            Known::Fails(_) => Known::Fails(ErrorKind::Value),
            known => as_float(known),
        },
        (F::Log, &[x, base]) => match (real(F::Log, x), real(F::Log, base)) {
            (Known::Number(x), Known::Number(base)) => {
                operators::binary(BinaryOperator::Divide, x, base)
            }
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
        match operators::binary(BinaryOperator::Add, sum, *item) {
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
        F::Atanh => ((-1.0_f64).next_up(), 1.0_f64.next_down()),
        F::Exp | F::Exp2 | F::Expm1 | F::Sinh | F::Asinh | F::Atan | F::Tanh => {
            (f64::MIN, f64::MAX)
        }
        F::Erf | F::Erfc | F::Cbrt | F::Degrees | F::Radians => (f64::MIN, f64::MAX),
        _ => return None,
    };
    Some(Range { least, most })
}
