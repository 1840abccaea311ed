//! Functions of integers.

use crate::formula::lint::ranges::arithmetic::bounded;
use crate::formula::lint::ranges::kinds::Kinds;
use crate::formula::lint::ranges::outcome::Outcome;
use crate::formula::lint::ranges::values::Values;
use crate::python::{ErrorKind, Function, real_function};

fn whole(x: Values) -> Values {
    Values::between(x.kinds().and(Kinds::WHOLE), x.least(), x.most())
}

/// Integers from 0, with the errors of arguments that are none.
fn from_zero(arguments: &[Values], values: impl FnOnce() -> Values) -> Outcome {
    let all_whole = arguments.iter().all(|x| x.kinds().meets(Kinds::WHOLE));
    let negative = arguments.iter().any(|x| x.least() < 0.0);
    let always_negative = arguments.iter().any(|x| x.is_whole() && x.most() < 0.0);
    let values = if all_whole && !always_negative { values() } else { Values::NEVER };
    Outcome::fine(values)
        .may_raise(ErrorKind::Type, !arguments.iter().all(Values::is_whole))
        .may_raise(ErrorKind::Value, negative)
}

/// The factorial as a double, infinite beyond them.
fn factorial_of(x: f64) -> f64 {
    real_function(Function::Gamma, x.max(0.0) + 1.0).map_or(f64::INFINITY, |value| value * 1.000_001)
}

/// `factorial(x)`
pub(super) fn factorial(x: Values) -> Outcome {
    let number = whole(x);
    from_zero(&[x], || bounded(Kinds::INT, 1.0, factorial_of(number.most())))
        .may_raise(ErrorKind::Limit, number.most() > 169.0)
        .may_raise(ErrorKind::Overflow, number.most() > 9e18)
        .may_raise(ErrorKind::Type, x.kinds().meets(Kinds::NOTHING))
}

/// `isqrt(x)`
pub(super) fn isqrt(x: Values) -> Outcome {
    let number = whole(x);
    let root = |bound: f64| bound.max(0.0).sqrt();
    let (least, most) = (root(number.least()).next_down().floor().max(0.0), root(number.most()).next_up().ceil());
    from_zero(&[x], || bounded(Kinds::INT, least, most).outward())
        .may_raise(ErrorKind::Limit, number.may_exceed_doubles())
}

/// `comb(n, k)` and `perm(n, k)`
pub(super) fn choices(function: Function, n: Values, k: Values) -> Outcome {
    if !k.is_whole() {
        // `perm(n, None)` is a factorial
        return Outcome { values: bounded(Kinds::INT, 0.0, f64::INFINITY), ..Outcome::UNKNOWN };
    }
    let most = if function == Function::Perm { factorial_of(n.most()) } else { 2.0_f64.powf(n.most().max(0.0)) };
    from_zero(&[n, k], || bounded(Kinds::INT, 0.0, most.max(1.0)))
        .may_raise(ErrorKind::Limit, n.most() > 169.0)
        .may_raise(ErrorKind::Overflow, n.most() > 9e18)
}

/// `gcd` and `lcm` of any number of arguments.
pub(super) fn divisors(function: Function, arguments: &[Values]) -> Outcome {
    let all_whole = arguments.iter().all(|x| x.kinds().meets(Kinds::WHOLE));
    let sizes = arguments.iter().map(|&x| whole(x).most_size());
    let most =
        if function == Function::Gcd { sizes.fold(0.0, f64::max) } else { sizes.fold(1.0, |x, y| x * y.max(1.0)) };
    let values = if all_whole { Values::between(Kinds::INT, 0.0, most).outward() } else { Values::NEVER };
    let long = values.may_exceed_doubles() || arguments.iter().any(Values::may_exceed_doubles);
    Outcome::fine(values)
        .may_raise(ErrorKind::Type, !arguments.iter().all(Values::is_whole))
        .may_raise(ErrorKind::Limit, long)
}
