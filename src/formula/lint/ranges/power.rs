//! `**` and `pow` on intervals.
//!
//! On bases of at least 0 a power keeps order in the base and in the exponent, so that its bounds lie at the corners.
//! The C library's power is off by less than a unit in the last place; bounds that are not exact are moved by two.

use crate::formula::lint::ranges::arithmetic::{hull, kinds_of};
use crate::formula::lint::ranges::kinds::{Errors, Kinds};
use crate::formula::lint::ranges::outcome::Outcome;
use crate::formula::lint::ranges::values::Values;
use crate::python::ErrorKind;
use crate::python::MAX_EXACT_FLOAT;

/// `a ** b`
pub(super) fn operator(a: Values, b: Values) -> Outcome {
    let mut outcome = Outcome::NEVER;
    if kinds_of(a, b).meets(Kinds::INT) {
        outcome = integers(whole(a), whole(b));
    }
    if kinds_of(a, b).meets(Kinds::FLOAT) {
        let mut errors = Errors::when(has_pole(a, b), ErrorKind::ZeroDivision);
        errors = errors.or(Errors::when(is_complex(a, b), ErrorKind::Complex));
        outcome = outcome.or(doubles(a, b, errors));
    }
    outcome
}

/// `pow(a, b)`, which computes with doubles and has its own errors.
pub(super) fn function(a: Values, b: Values) -> Outcome {
    let errors = Errors::when(has_pole(a, b) || is_complex(a, b), ErrorKind::Value);
    doubles(a, b, errors)
}

fn whole(x: Values) -> Values {
    Values::between(x.kinds().and(Kinds::WHOLE), x.least(), x.most())
}

/// 0 to a negative power.
fn has_pole(a: Values, b: Values) -> bool {
    a.may_be_zero() && b.least() < 0.0
}

/// A fractional power of a negative number.
fn is_complex(a: Values, b: Values) -> bool {
    let fractional = b.kinds().meets(Kinds::FLOAT) && b.only().is_none_or(|exponent| exponent != exponent.floor());
    a.least() < 0.0 && fractional && b.bounds().is_some()
}

/// Integers: exact for an exponent from 0, doubles for one below.
fn integers(a: Values, b: Values) -> Outcome {
    let mut outcome = Outcome::NEVER;
    let exponent = b.clipped(0.0, f64::INFINITY);
    if !exponent.is_never() {
        let (least, most) = bounds(a, exponent);
        let values = Values::between(Kinds::INT, least, most).outward();
        let values = if a.may_be_zero() { values } else { values.nonzero() };
        outcome = Outcome::fine(values).may_raise(ErrorKind::Limit, values.may_exceed_doubles());
    }
    let negative = b.clipped(f64::NEG_INFINITY, -1.0);
    if !negative.is_never() {
        outcome = outcome.or(doubles(a, negative, Errors::when(a.may_be_zero(), ErrorKind::ZeroDivision)));
    }
    outcome
}

/// Doubles, with the errors that the domain gives.
fn doubles(a: Values, b: Values, errors: Errors) -> Outcome {
    let infinite = a.may_be_infinite() || b.may_be_infinite();
    let never = a.bounds().is_none() || b.bounds().is_none();
    let always_pole = a.only() == Some(0.0) && b.most() < 0.0 && !b.may_be_infinite();
    let always_complex = a.most() < 0.0 && b.only().is_some_and(|y| y.is_finite() && y != y.floor());
    let mut values = Values::NEVER;
    let mut overflows = false;
    if !never && !always_pole && (!always_complex || infinite) {
        let (least, most) = bounds(a, b);
        overflows = least == f64::NEG_INFINITY || most == f64::INFINITY;
        // what is infinite of finite numbers is an error
        let (least, most) = if infinite { (least, most) } else { (least.max(f64::MIN), most.min(f64::MAX)) };
        let always_overflows = !infinite && least > most;
        values = if always_overflows { Values::NEVER } else { Values::between(Kinds::FLOAT, least, most) };
    }
    let nan = a.may_be_nan() || b.may_be_nan();
    let too_long = a.may_exceed_doubles() || b.may_exceed_doubles();
    // nan to the power of 0 is 1, and so is 1 to the power of nan
    let values = if nan { values.or(Values::between(Kinds::FLOAT, 1.0, 1.0)).or_nan(true) } else { values };
    Outcome { values, errors }.may_raise(ErrorKind::Overflow, overflows || too_long)
}

/// Bounds of the power, wherever it is a real number.
fn bounds(a: Values, b: Values) -> (f64, f64) {
    let above = a.clipped(0.0, f64::INFINITY);
    let mut result = (f64::INFINITY, f64::NEG_INFINITY);
    if above.bounds().is_some() {
        result = corners(above.least(), above.most(), b);
    }
    if a.least() < 0.0 {
        let sizes = corners((-a.most()).max(0.0) + 0.0, -a.least(), b);
        let (least, most) = match b.only() {
            Some(exponent) if exponent % 2.0 == 0.0 => sizes,
            Some(exponent) if (exponent % 2.0).abs() == 1.0 => (-sizes.1, -sizes.0),
            _ => (-sizes.1, sizes.1),
        };
        result = (result.0.min(least), result.1.max(most));
    }
    result
}

/// The bounds of `x ** y` for `x` from `low` to `high`, which is not negative.
fn corners(low: f64, high: f64, b: Values) -> (f64, f64) {
    let (least, most) =
        hull([low.powf(b.least()), low.powf(b.most()), high.powf(b.least()), high.powf(b.most())].map(|corner| {
            // 1 to the power of infinity
            if corner.is_nan() { 1.0 } else { corner }
        }));
    // 0 to the power of 0 is 1, although all around it is 0
    let is_exact = |bound: f64| bound == bound.floor() && bound.abs() <= MAX_EXACT_FLOAT || bound.is_infinite();
    let down = if is_exact(least) { least } else { least.next_down().next_down().max(0.0) };
    let up = if is_exact(most) { most } else { most.next_up().next_up() };
    let zero_to_zero = low == 0.0 && b.may_be_zero();
    if zero_to_zero { (down, up.max(1.0)) } else { (down, up) }
}
