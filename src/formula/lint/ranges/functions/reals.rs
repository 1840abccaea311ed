//! Functions from doubles to a double.

use std::f64::consts::PI;

use crate::formula::lint::ranges::arithmetic::{bounded, truth_values};
use crate::formula::lint::ranges::kinds::Kinds;
use crate::formula::lint::ranges::outcome::Outcome;
use crate::formula::lint::ranges::values::Values;
use crate::python::{ErrorKind, Function, real_function};

/// A function that keeps or turns the order of its arguments between two bounds.
struct Shape {
    function: Function,
    /// The least and the greatest argument.
    from: f64,
    to: f64,
    falls: bool,
    /// How many units in the last place a result may be off.
    units: u32,
}

/// A function whose argument must be a real number.
pub(super) fn converted(x: Values, function: impl FnOnce(Values) -> Outcome) -> Outcome {
    let number = x.numbers();
    let outcome = if number.is_never() { Outcome::NEVER } else { function(number) };
    outcome.may_raise(ErrorKind::Type, !x.is_number()).may_raise(ErrorKind::Overflow, x.may_exceed_doubles())
}

/// A function whose two arguments must be real numbers.
pub(super) fn converted_both(x: Values, y: Values, function: impl FnOnce(Values, Values) -> Outcome) -> Outcome {
    let mut errors = Outcome::NEVER;
    let outcome = converted(x, |x| {
        errors = converted(y, |y| function(x, y));
        errors
    });
    Outcome { errors: outcome.errors.or(errors.errors), ..outcome }
        .may_raise(ErrorKind::Type, !y.is_number())
        .may_raise(ErrorKind::Overflow, y.may_exceed_doubles())
}

/// A function of one double.
pub(super) fn real(function: Function, x: Values) -> Outcome {
    use Function as F;
    match function {
        F::Sin | F::Cos => finite_only(x, Values::between(Kinds::FLOAT, -1.0, 1.0)),
        F::Tan => finite_only(x, Values::between(Kinds::FLOAT, f64::MIN, f64::MAX)),
        F::Cosh => {
            let sizes = absolute(x).values;
            even(sizes.or_nan(x.may_be_nan()))
        }
        F::Fabs => Outcome::fine(float_of(absolute(x).values)),
        F::Float => Outcome::fine(float_of(x)),
        F::Ulp => Outcome::fine(Values::between(Kinds::FLOAT, 0.0, f64::INFINITY).nonzero().or_nan(x.may_be_nan())),
        F::Gamma => gamma(x),
        F::Lgamma => log_gamma(x),
        F::Isfinite | F::Isinf | F::Isnan => classified(function, x),
        _ => shape(function).map_or(Outcome::UNKNOWN, |shape| ordered(&shape, x)),
    }
}

fn shape(function: Function) -> Option<Shape> {
    use Function as F;
    let tiny = f64::from_bits(1);
    let infinity = f64::INFINITY;
    let (from, to, falls, units) = match function {
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
    Some(Shape { function, from, to, falls, units })
}

/// A function that keeps or turns order: its bounds are its values at the bounds.
fn ordered(shape: &Shape, x: Values) -> Outcome {
    let inside = x.clipped(shape.from, shape.to);
    let outside = x.least() < shape.from || x.most() > shape.to;
    let mut overflows = false;
    let mut at = |bound: f64| {
        // what lies just before an infinity is finite, and may overflow
        overflows |= real_function(shape.function, bound.clamp(f64::MIN, f64::MAX)).is_err();
        real_function(shape.function, bound).unwrap_or_else(|_| f64::INFINITY.copysign(bound))
    };
    let values = match inside.bounds() {
        None => Values::NEVER,
        Some(bounds) => {
            let (low, high) = (at(bounds.least), at(bounds.most));
            let (low, high) = if shape.falls { (high, low) } else { (low, high) };
            let (low, high) = (moved(low, shape.units, f64::next_down), moved(high, shape.units, f64::next_up));
            let infinite = x.may_be_infinite() || shape.function == Function::Degrees;
            if infinite { bounded_float(low, high) } else { bounded_float(low.max(f64::MIN), high.min(f64::MAX)) }
        }
    };
    let values = if keeps_zero_out(shape.function) && !x.may_be_zero() { values.nonzero() } else { values };
    Outcome::fine(values.or_nan(x.may_be_nan()))
        .may_raise(ErrorKind::Value, outside)
        .may_raise(ErrorKind::Overflow, overflows)
}

/// Functions that are 0 at 0 alone, and round no other result to it.
fn keeps_zero_out(function: Function) -> bool {
    use Function as F;
    matches!(function, F::Sqrt | F::Asinh | F::Atan | F::Tanh | F::Cbrt | F::Sinh | F::Expm1 | F::Log1p | F::Asin)
}

/// A bound so many units further out. At 0 all these functions are exact and keep to their side.
fn moved(bound: f64, units: u32, step: fn(f64) -> f64) -> f64 {
    if bound == 0.0 { bound } else { (0..units).fold(bound, |bound, _| step(bound)) }
}

fn bounded_float(least: f64, most: f64) -> Values {
    bounded(Kinds::FLOAT, least, most)
}

/// The same numbers as floats.
fn float_of(x: Values) -> Values {
    let values = x.bounds().map_or(Values::NEVER, |bounds| Values::between(Kinds::FLOAT, bounds.least, bounds.most));
    let values = if x.may_be_zero() { values } else { values.nonzero() };
    values.or_nan(x.may_be_nan())
}

fn finite_only(x: Values, result: Values) -> Outcome {
    let values = if x.bounds().is_some() { result } else { Values::NEVER };
    Outcome::fine(values.or_nan(x.may_be_nan())).may_raise(ErrorKind::Value, x.may_be_infinite())
}

/// `abs(x)`
pub(super) fn absolute(x: Values) -> Outcome {
    let number = x.numbers();
    let kinds = if number.kinds().meets(Kinds::BOOL) { Kinds::INT } else { Kinds::NONE };
    let kinds = kinds.or(number.kinds().without(Kinds::BOOL));
    let values = match number.bounds() {
        None => Values::NEVER,
        Some(bounds) if bounds.least >= 0.0 => Values::between(kinds, bounds.least, bounds.most),
        Some(bounds) if bounds.most <= 0.0 => Values::between(kinds, -bounds.most, -bounds.least),
        Some(_) => Values::between(kinds, 0.0, number.most_size()),
    };
    let values = if number.may_be_zero() { values } else { values.nonzero() };
    Outcome::fine(values.or_nan(number.may_be_nan())).may_raise(ErrorKind::Type, !x.is_number())
}

/// `cosh` of the sizes of its argument.
fn even(sizes: Values) -> Outcome {
    ordered(
        &Shape { function: Function::Cosh, from: f64::NEG_INFINITY, to: f64::INFINITY, falls: false, units: 3 },
        sizes,
    )
}

fn gamma(x: Values) -> Outcome {
    let values = match x.bounds() {
        None => Values::NEVER,
        Some(bounds) if bounds.most <= 0.0 && x.is_whole() => Values::NEVER,
        Some(bounds) if bounds.least >= 0.0 => bounded_float(0.88, f64::INFINITY),
        Some(_) => bounded_float(f64::NEG_INFINITY, f64::INFINITY),
    };
    Outcome::fine(values.or_nan(x.may_be_nan()))
        .may_raise(ErrorKind::Value, x.may_be_zero() || x.least() < 0.0)
        .may_raise(ErrorKind::Overflow, x.most() > 171.0 || x.least_size() < 1e-300)
}

fn log_gamma(x: Values) -> Outcome {
    let values = match x.bounds() {
        None => Values::NEVER,
        Some(bounds) if bounds.most <= 0.0 && x.is_whole() => Values::NEVER,
        Some(bounds) if bounds.least >= 0.0 => bounded_float(-0.13, f64::INFINITY),
        Some(_) => bounded_float(f64::NEG_INFINITY, f64::INFINITY),
    };
    Outcome::fine(values.or_nan(x.may_be_nan()))
        .may_raise(ErrorKind::Value, x.may_be_zero() || x.least() < 0.0)
        .may_raise(ErrorKind::Overflow, x.most_size() > 1e300)
}

fn classified(function: Function, x: Values) -> Outcome {
    let (nan, infinite, finite) = (x.may_be_nan(), x.may_be_infinite(), x.least() < f64::INFINITY);
    let (holds, fails) = match function {
        Function::Isfinite => (finite, nan || infinite),
        Function::Isinf => (infinite, nan || finite),
        _ => (nan, infinite || finite),
    };
    Outcome::fine(truth_values(holds, fails))
}

/// A function of two doubles.
pub(super) fn real_of_two(function: Function, x: Values, y: Values) -> Outcome {
    let nan = x.may_be_nan() || y.may_be_nan();
    if function == Function::Copysign {
        return Outcome::fine(sign_copied(x, y).or_nan(x.may_be_nan()));
    }
    if x.bounds().is_none() || y.bounds().is_none() {
        return Outcome::fine(Values::NEVER.or_nan(nan));
    }
    let values = match function {
        Function::Atan2 => bounded_float(-PI, PI),
        Function::Nextafter => bounded_float(x.least().min(y.least()), x.most().max(y.most())),
        _ => return remainder(function, x, y),
    };
    Outcome::fine(values.or_nan(nan))
}

fn sign_copied(x: Values, y: Values) -> Values {
    let sizes = float_of(absolute(x).values);
    let (above, below) = (bounded_float(sizes.least(), sizes.most()), bounded_float(-sizes.most(), -sizes.least()));
    // a 0 or a nan may have either sign
    let (may_rise, may_fall) = (y.most() >= 0.0 || y.may_be_nan(), y.least() <= 0.0 || y.may_be_nan());
    let values = match (may_rise, may_fall) {
        (true, false) => above,
        (false, true) => below,
        _ => above.or(below),
    };
    if x.may_be_zero() { values } else { values.nonzero() }
}

/// `fmod` and `remainder`: no further from 0 than either argument.
fn remainder(function: Function, x: Values, y: Values) -> Outcome {
    let nan = x.may_be_nan() || y.may_be_nan();
    let size = x.most_size().min(y.most_size());
    let is_signed = function == Function::Remainder;
    let least = if x.least() < 0.0 || is_signed { -size } else { 0.0 };
    let most = if x.most() > 0.0 || is_signed { size } else { 0.0 };
    let values = if y.nonzero().is_never() { Values::NEVER } else { bounded_float(least, most) };
    Outcome::fine(values.or_nan(nan)).may_raise(ErrorKind::Value, y.may_be_zero() || x.may_be_infinite())
}

/// `ldexp(x, exponent)`
pub(super) fn ldexp(x: Values, exponent: Values) -> Outcome {
    let least = if x.least() >= 0.0 { 0.0 } else { f64::NEG_INFINITY };
    let most = if x.most() <= 0.0 { 0.0 } else { f64::INFINITY };
    let is_there = exponent.kinds().meets(Kinds::WHOLE);
    let values = if x.bounds().is_some() && is_there { bounded_float(least, most) } else { Values::NEVER };
    Outcome::fine(values.or_nan(x.may_be_nan() && is_there))
        .may_raise(ErrorKind::Type, !exponent.is_whole())
        .may_raise(ErrorKind::Overflow, true)
}
