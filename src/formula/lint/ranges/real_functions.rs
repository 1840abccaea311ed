//! Python's functions of real numbers on value sets.

use std::f64::consts::PI;

use crate::formula::lint::ranges::facts::OperationResult;
use crate::formula::lint::ranges::operators::{bounded, truth_values};
use crate::formula::lint::ranges::type_set::TypeSet;
use crate::formula::lint::ranges::value_set::{Truth, ValueSet};
use crate::python::{ErrorKind, Function, real_function};

/// A function that is monotonic on its domain.
struct Monotonic {
    function: Function,
    /// The least and the greatest argument of the domain.
    from: f64,
    to: f64,
    decreases: bool,
    /// The maximum error of a result, in units in the last place.
    units: u32,
}

/// Applies a function that converts its argument to a double: a value that is not a number is a `TypeError`, an integer
/// that no double can hold an `OverflowError`.
pub(super) fn converted(x: ValueSet, function: impl FnOnce(ValueSet) -> OperationResult) -> OperationResult {
    let number = x.numbers();
    let outcome = if number.is_empty() { OperationResult::EMPTY } else { function(number) };
    outcome.may_raise(ErrorKind::Type, !x.is_number()).may_raise(ErrorKind::Overflow, x.may_exceed_doubles())
}

/// Applies a function that converts both arguments to doubles, like [`converted`].
pub(super) fn converted_both(
    x: ValueSet,
    y: ValueSet,
    function: impl FnOnce(ValueSet, ValueSet) -> OperationResult,
) -> OperationResult {
    converted(x, |x| converted(y, |y| function(x, y)))
        .may_raise(ErrorKind::Type, !y.is_number())
        .may_raise(ErrorKind::Overflow, y.may_exceed_doubles())
}

/// A function of one double.
pub(super) fn real(function: Function, x: ValueSet) -> OperationResult {
    use Function as F;
    match function {
        F::Sin | F::Cos => finite_only(x, ValueSet::between(TypeSet::FLOAT, -1.0, 1.0)),
        F::Tan => finite_only(x, ValueSet::between(TypeSet::FLOAT, f64::MIN, f64::MAX)),
        F::Cosh => {
            let absolute_values = absolute(x).values;
            cosh(absolute_values.or_nan(x.may_be_nan()))
        }
        F::Fabs => OperationResult::ok(to_float(absolute(x).values)),
        F::Float => OperationResult::ok(to_float(x)),
        F::Ulp => {
            OperationResult::ok(ValueSet::between(TypeSet::FLOAT, 0.0, f64::INFINITY).nonzero().or_nan(x.may_be_nan()))
        }
        F::Gamma => gamma(x),
        F::Lgamma => log_gamma(x),
        F::Isfinite | F::Isinf | F::Isnan => classification(function, x),
        _ => monotonic(function).map_or(OperationResult::UNKNOWN, |f| at_bounds(&f, x)),
    }
}

fn monotonic(function: Function) -> Option<Monotonic> {
    use Function as F;
    let tiny = f64::from_bits(1);
    let infinity = f64::INFINITY;
    let (from, to, decreases, units) = match function {
        F::Sqrt => (0.0, infinity, false, 0),
        F::Log | F::Log2 | F::Log10 => (tiny, infinity, false, 2),
        F::Log1p => ((-1.0_f64).next_up(), infinity, false, 2),
        F::Exp | F::Exp2 | F::Expm1 | F::Sinh => (-infinity, infinity, false, 3),
        F::Asinh => (-infinity, infinity, false, 16),
        F::Atan | F::Tanh | F::Erf | F::Cbrt => (-infinity, infinity, false, 4),
        F::Degrees | F::Radians => (-infinity, infinity, false, 1),
        F::Acosh => (1.0, infinity, false, 16),
        F::Asin => (-1.0, 1.0, false, 2),
        F::Acos => (-1.0, 1.0, true, 2),
        F::Atanh => ((-1.0_f64).next_up(), 1.0_f64.next_down(), false, 16),
        F::Erfc => (-infinity, infinity, true, 4),
        _ => return None,
    };
    Some(Monotonic { function, from, to, decreases, units })
}

/// A monotonic function: the bounds of the result are the results at the bounds.
fn at_bounds(f: &Monotonic, x: ValueSet) -> OperationResult {
    let in_domain = x.clipped(f.from, f.to);
    let outside = x.least() < f.from || x.most() > f.to;
    let mut overflows = false;
    let mut values = ValueSet::EMPTY;
    if let Some(bounds) = in_domain.bounds() {
        let (from, to) = if f.decreases { (bounds.most, bounds.least) } else { (bounds.least, bounds.most) };
        // the numbers near an infinity are finite, and their results may overflow
        overflows = [from, to].iter().any(|x| real_function(f.function, x.clamp(f64::MIN, f64::MAX)).is_err());
        let least = moved(at(f.function, from), f.units, f64::next_down);
        let most = moved(at(f.function, to), f.units, f64::next_up);
        let infinite = x.may_be_infinite() || f.function == Function::Degrees;
        values = match infinite {
            true => bounded_float(least, most),
            false => bounded_float(least.max(f64::MIN), most.min(f64::MAX)),
        };
    }
    let values = if is_zero_only_at_zero(f.function) && !x.may_be_zero() { values.nonzero() } else { values };
    OperationResult::ok(values.or_nan(x.may_be_nan()))
        .may_raise(ErrorKind::Value, outside)
        .may_raise(ErrorKind::Overflow, overflows)
}

/// The function at a bound of its argument; infinity if it overflows.
fn at(function: Function, bound: f64) -> f64 {
    real_function(function, bound).unwrap_or_else(|_| f64::INFINITY.copysign(bound))
}

/// Functions that are 0 only at 0, and round no other result to 0.
fn is_zero_only_at_zero(function: Function) -> bool {
    use Function as F;
    matches!(function, F::Sqrt | F::Asinh | F::Atan | F::Tanh | F::Cbrt | F::Sinh | F::Expm1 | F::Log1p | F::Asin)
}

/// A bound of a result, moved outward by a number of units. A result of 0 is exact, so it is not moved.
fn moved(bound: f64, units: u32, step: fn(f64) -> f64) -> f64 {
    if bound == 0.0 { bound } else { (0..units).fold(bound, |bound, _| step(bound)) }
}

fn bounded_float(least: f64, most: f64) -> ValueSet {
    bounded(TypeSet::FLOAT, least, most)
}

/// The numbers converted to floats.
fn to_float(x: ValueSet) -> ValueSet {
    let values =
        x.bounds().map_or(ValueSet::EMPTY, |bounds| ValueSet::between(TypeSet::FLOAT, bounds.least, bounds.most));
    let values = if x.may_be_zero() { values } else { values.nonzero() };
    values.or_nan(x.may_be_nan())
}

/// A function that raises `ValueError` for an infinity and otherwise returns one of `result`.
fn finite_only(x: ValueSet, result: ValueSet) -> OperationResult {
    let values = if x.bounds().is_some() { result } else { ValueSet::EMPTY };
    OperationResult::ok(values.or_nan(x.may_be_nan())).may_raise(ErrorKind::Value, x.may_be_infinite())
}

/// `abs(x)`.
pub(super) fn absolute(x: ValueSet) -> OperationResult {
    let number = x.numbers();
    let types = number.types().promoted();
    let values = match number.bounds() {
        None => ValueSet::EMPTY,
        Some(bounds) if bounds.least >= 0.0 => ValueSet::between(types, bounds.least, bounds.most),
        Some(bounds) if bounds.most <= 0.0 => ValueSet::between(types, -bounds.most, -bounds.least),
        Some(_) => ValueSet::between(types, 0.0, number.max_abs()),
    };
    let values = if number.may_be_zero() { values } else { values.nonzero() };
    OperationResult::ok(values.or_nan(number.may_be_nan())).may_raise(ErrorKind::Type, !x.is_number())
}

/// `cosh` of the absolute values of its argument.
fn cosh(absolute_values: ValueSet) -> OperationResult {
    at_bounds(
        &Monotonic { function: Function::Cosh, from: f64::NEG_INFINITY, to: f64::INFINITY, decreases: false, units: 3 },
        absolute_values,
    )
}

fn gamma(x: ValueSet) -> OperationResult {
    gamma_or_log(x, 0.88).may_raise(ErrorKind::Overflow, x.most() > 171.0 || x.min_abs() < 1e-300)
}

fn log_gamma(x: ValueSet) -> OperationResult {
    gamma_or_log(x, -0.13).may_raise(ErrorKind::Overflow, x.max_abs() > 1e300)
}

/// `gamma` and its logarithm, whose least value for a positive number is `least`.
fn gamma_or_log(x: ValueSet, least: f64) -> OperationResult {
    let values = match x.bounds() {
        None => ValueSet::EMPTY,
        Some(bounds) if bounds.most <= 0.0 && x.is_integral() => ValueSet::EMPTY,
        Some(bounds) if bounds.least >= 0.0 => bounded_float(least, f64::INFINITY),
        Some(_) => bounded_float(f64::NEG_INFINITY, f64::INFINITY),
    };
    OperationResult::ok(values.or_nan(x.may_be_nan())).may_raise(ErrorKind::Value, x.may_be_zero() || x.least() < 0.0)
}

fn classification(function: Function, x: ValueSet) -> OperationResult {
    let nan = x.may_be_nan();
    let infinite = x.may_be_infinite();
    let finite = x.least() < f64::INFINITY;
    let truth = match function {
        Function::Isfinite => Truth { may_be_true: finite, may_be_false: nan || infinite },
        Function::Isinf => Truth { may_be_true: infinite, may_be_false: nan || finite },
        _ => Truth { may_be_true: nan, may_be_false: infinite || finite },
    };
    OperationResult::ok(truth_values(truth))
}

/// A function of two doubles.
pub(super) fn real_of_two(function: Function, x: ValueSet, y: ValueSet) -> OperationResult {
    let nan = x.may_be_nan() || y.may_be_nan();
    if function == Function::Copysign {
        return OperationResult::ok(copysign(x, y).or_nan(x.may_be_nan()));
    }
    if x.bounds().is_none() || y.bounds().is_none() {
        return OperationResult::ok(ValueSet::EMPTY.or_nan(nan));
    }
    let values = match function {
        Function::Atan2 => bounded_float(-PI, PI),
        Function::Nextafter => bounded_float(x.least().min(y.least()), x.most().max(y.most())),
        _ => return remainder(function, x, y),
    };
    OperationResult::ok(values.or_nan(nan))
}

fn copysign(x: ValueSet, y: ValueSet) -> ValueSet {
    let size = to_float(absolute(x).values);
    let above = bounded_float(size.least(), size.most());
    let below = bounded_float(-size.most(), -size.least());
    // 0 and nan can have either sign
    let may_be_positive = y.most() >= 0.0 || y.may_be_nan();
    let may_be_negative = y.least() <= 0.0 || y.may_be_nan();
    let values = match (may_be_positive, may_be_negative) {
        (true, false) => above,
        (false, true) => below,
        _ => above.or(below),
    };
    if x.may_be_zero() { values } else { values.nonzero() }
}

/// `fmod` and `remainder`, whose absolute value does not exceed that of either argument.
fn remainder(function: Function, x: ValueSet, y: ValueSet) -> OperationResult {
    let nan = x.may_be_nan() || y.may_be_nan();
    let size = x.max_abs().min(y.max_abs());
    let is_signed = function == Function::Remainder;
    let least = if x.least() < 0.0 || is_signed { -size } else { 0.0 };
    let most = if x.most() > 0.0 || is_signed { size } else { 0.0 };
    let values = if y.nonzero().is_empty() { ValueSet::EMPTY } else { bounded_float(least, most) };
    OperationResult::ok(values.or_nan(nan)).may_raise(ErrorKind::Value, y.may_be_zero() || x.may_be_infinite())
}

/// `ldexp(x, exponent)`.
pub(super) fn ldexp(x: ValueSet, exponent: ValueSet) -> OperationResult {
    let least = if x.least() >= 0.0 { 0.0 } else { f64::NEG_INFINITY };
    let most = if x.most() <= 0.0 { 0.0 } else { f64::INFINITY };
    let has_exponent = exponent.types().intersects(TypeSet::INTEGRAL);
    let values = if x.bounds().is_some() && has_exponent { bounded_float(least, most) } else { ValueSet::EMPTY };
    OperationResult::ok(values.or_nan(x.may_be_nan() && has_exponent))
        .may_raise(ErrorKind::Type, !exponent.is_integral())
        .may_raise(ErrorKind::Overflow, true)
}
