//! Python's operators and functions on intervals.

use std::ops::{Div, Mul};

use super::Known;
use super::interval::{Interval, NumberType, library_error, widened, with_signs_of};
use crate::python::{
    BinaryOperator, ComparisonOperator, ErrorKind, Function, MAX_EXACT_FLOAT, UnaryOperator,
    real_function,
};
use crate::schema::Range;

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
