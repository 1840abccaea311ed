//! The operators on intervals.
//!
//! `+ - * /` of doubles are rounded to nearest, which keeps order: the bounds of a result are the results at the
//! bounds. Integers are exact, so that beyond 2^53 their bounds are moved outward.

use crate::formula::lint::ranges::kinds::{Errors, Kinds};
use crate::formula::lint::ranges::outcome::Outcome;
use crate::formula::lint::ranges::values::Values;
use crate::formula::lint::ranges::{bits, power};
use crate::python::{BinaryOperator, ErrorKind, UnaryOperator};

/// `op x`.
pub(super) fn unary(op: UnaryOperator, x: Values) -> Outcome {
    if op == UnaryOperator::Not {
        let truth = x.truth();
        return Outcome::fine(truth_values(truth.may_fail, truth.may_hold));
    }
    let number = x.numbers();
    let (least, most) = (number.least(), number.most());
    let kinds = number.kinds().without(Kinds::BOOL);
    let kinds = if number.kinds().meets(Kinds::BOOL) { kinds.or(Kinds::INT) } else { kinds };
    let rejects = if op == UnaryOperator::Invert { Kinds::WHOLE } else { Kinds::NUMBER };
    let signed = |least, most| bounded(kinds, least, most).or_nan(number.may_be_nan());
    let values = match op {
        UnaryOperator::Invert if number.kinds().meets(Kinds::WHOLE) => {
            Values::between(Kinds::INT, -most.floor() - 1.0, -least.ceil() - 1.0).outward()
        }
        UnaryOperator::Invert => Values::NEVER,
        _ if number.is_never() => Values::NEVER,
        UnaryOperator::Minus => signed(-most, -least),
        _ => signed(least, most),
    };
    let values = if op != UnaryOperator::Invert && !x.may_be_zero() { values.nonzero() } else { values };
    Outcome::fine(values).may_raise(ErrorKind::Type, !x.kinds().within(rejects)).unless_never(&[x])
}

/// `bool` of a test.
pub(super) fn truth_values(may_hold: bool, may_fail: bool) -> Values {
    match (may_hold, may_fail) {
        (true, true) => Values::TRUTH,
        (true, false) => Values::between(Kinds::BOOL, 1.0, 1.0),
        (false, true) => Values::between(Kinds::BOOL, 0.0, 0.0),
        (false, false) => Values::NEVER,
    }
}

/// Numbers between bounds, or none where there are no bounds.
pub(super) fn bounded(kinds: Kinds, least: f64, most: f64) -> Values {
    if least > most { Values::NEVER } else { Values::between(kinds, least, most) }
}

/// `x op y`.
pub(super) fn binary(op: BinaryOperator, x: Values, y: Values) -> Outcome {
    let (a, b) = (x.numbers(), y.numbers());
    let mut outcome = others(op, x, y);
    if !a.is_never() && !b.is_never() {
        outcome = outcome.or(numeric(op, a, b));
    }
    outcome.unless_never(&[x, y])
}

/// Where one operand at least is no number.
fn others(op: BinaryOperator, x: Values, y: Values) -> Outcome {
    if x.is_number() && y.is_number() {
        return Outcome::NEVER;
    }
    let kinds = match op {
        BinaryOperator::Add => x.kinds().and(y.kinds()).and(Kinds::SEQUENCE),
        BinaryOperator::Multiply => {
            let repeated = |sequence: Values, count: Values| match count.kinds().meets(Kinds::WHOLE) {
                true => sequence.kinds().and(Kinds::SEQUENCE),
                false => Kinds::NONE,
            };
            repeated(x, y).or(repeated(y, x))
        }
        _ => Kinds::NONE,
    };
    let long = Errors::just(ErrorKind::Limit).or(Errors::just(ErrorKind::Overflow));
    let errors = if kinds.is_empty() { Errors::NONE } else { long };
    Outcome { values: Values::others(kinds), errors: errors.or(Errors::just(ErrorKind::Type)) }
}

/// The types that the result has where integers stay integers.
pub(super) fn kinds_of(a: Values, b: Values) -> Kinds {
    let whole = a.kinds().meets(Kinds::WHOLE) && b.kinds().meets(Kinds::WHOLE);
    let float = a.kinds().meets(Kinds::FLOAT) || b.kinds().meets(Kinds::FLOAT);
    let kinds = if whole { Kinds::INT } else { Kinds::NONE };
    if float { kinds.or(Kinds::FLOAT) } else { kinds }
}

fn numeric(op: BinaryOperator, a: Values, b: Values) -> Outcome {
    use BinaryOperator as Op;
    match op {
        Op::MatrixMultiply => Outcome::fails(ErrorKind::Type),
        Op::BitAnd | Op::BitOr | Op::BitXor | Op::ShiftLeft | Op::ShiftRight => bits::binary(op, a, b),
        Op::Power => power::operator(a, b),
        _ => {
            let outcome = match op {
                Op::Add => Outcome::fine(sum(a, b)),
                Op::Subtract => Outcome::fine(sum(a, negated(b))),
                Op::Multiply => Outcome::fine(product(a, b)),
                Op::Divide => quotient(a, b),
                Op::FloorDivide => floor_quotient(a, b),
                _ => modulo(a, b),
            };
            outcome.may_raise(ErrorKind::Overflow, mixed_overflow(a, b)).may_raise(ErrorKind::Limit, is_long(a, b))
        }
    }
}

/// Whether an integer may have to become a double and be too large for it.
pub(super) fn mixed_overflow(a: Values, b: Values) -> bool {
    let fails = |x: Values, y: Values| x.may_exceed_doubles() && y.kinds().meets(Kinds::FLOAT);
    fails(a, b) || fails(b, a)
}

/// Whether integers beyond the doubles may take part, or come out: the limits of the arithmetic are near.
pub(super) fn is_long(a: Values, b: Values) -> bool {
    a.may_exceed_doubles()
        || b.may_exceed_doubles()
        || (a.kinds().meets(Kinds::WHOLE)
            && b.kinds().meets(Kinds::WHOLE)
            && (a.most_size() * b.most_size()).is_infinite())
}

/// `-x` without its errors.
pub(super) fn negated(x: Values) -> Values {
    unary(UnaryOperator::Minus, x).values
}

/// `a + b`
pub(super) fn sum(a: Values, b: Values) -> Values {
    let kinds = kinds_of(a, b);
    let least = or_else(a.least() + b.least(), f64::NEG_INFINITY);
    let most = or_else(a.most() + b.most(), f64::INFINITY);
    let opposite = |x: Values, y: Values| {
        x.may_be_infinite() && y.may_be_infinite() && x.most() == f64::INFINITY && y.least() == f64::NEG_INFINITY
    };
    let nan = a.may_be_nan() || b.may_be_nan() || opposite(a, b) || opposite(b, a);
    bounded_or_nan(kinds, least, most, nan, a, b)
}

/// Numbers between bounds, none where an operand can only be nan.
fn bounded_or_nan(kinds: Kinds, least: f64, most: f64, nan: bool, a: Values, b: Values) -> Values {
    let is_there = a.bounds().is_some() && b.bounds().is_some();
    let values = if is_there { Values::between(kinds, least, most).outward() } else { Values::NEVER };
    values.or_nan(nan)
}

fn or_else(x: f64, otherwise: f64) -> f64 {
    if x.is_nan() { otherwise } else { x }
}

/// `a * b`
pub(super) fn product(a: Values, b: Values) -> Values {
    let times = |x: f64, y: f64| if x == 0.0 || y == 0.0 { 0.0 } else { x * y };
    let corners = [
        times(a.least(), b.least()),
        times(a.least(), b.most()),
        times(a.most(), b.least()),
        times(a.most(), b.most()),
    ];
    let (least, most) = hull(corners);
    let cancels = |x: Values, y: Values| x.may_be_zero() && y.may_be_infinite();
    let nan = a.may_be_nan() || b.may_be_nan() || cancels(a, b) || cancels(b, a);
    let vanishes = a.may_be_zero() || b.may_be_zero() || a.least_size() * b.least_size() == 0.0;
    let values = bounded_or_nan(kinds_of(a, b), least, most, nan, a, b);
    if vanishes { values } else { values.nonzero() }
}

/// The least and the greatest.
pub(super) fn hull<const N: usize>(corners: [f64; N]) -> (f64, f64) {
    corners.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), &x| (least.min(x), most.max(x)))
}

/// The divisors above 0 and those below.
fn signed_parts(b: Values) -> [Option<(f64, f64)>; 2] {
    let part = |values: Values| values.bounds().map(|bounds| (bounds.least, bounds.most));
    let nonzero = b.nonzero();
    let above = if nonzero.most() > 0.0 { part(nonzero.clipped(nonzero.least_size(), f64::INFINITY)) } else { None };
    let below = negated(nonzero);
    let below = if below.most() > 0.0 { part(below.clipped(below.least_size(), f64::INFINITY)) } else { None };
    [above, below]
}

/// The bounds of `a / b` as doubles, 0 left out of the divisor; `None` where there is nothing to divide by.
fn quotient_bounds(a: Values, b: Values) -> Option<(f64, f64)> {
    let by = |(low, high): (f64, f64), least: f64, most: f64| {
        // infinity by infinity is anything between
        let below = or_else(least / if least >= 0.0 { high } else { low }, 0.0_f64.min(least));
        let above = or_else(most / if most >= 0.0 { low } else { high }, 0.0_f64.max(most));
        (below, above)
    };
    let [above, below] = signed_parts(b);
    let above = above.map(|divisor| by(divisor, a.least(), a.most()));
    let below = below.map(|divisor| by(divisor, -a.most(), -a.least()));
    match (above, below) {
        (Some(x), Some(y)) => Some((x.0.min(y.0), x.1.max(y.1))),
        (one, other) => one.or(other),
    }
}

/// `a / b`
fn quotient(a: Values, b: Values) -> Outcome {
    let nan = a.may_be_nan() || b.may_be_nan() || (a.may_be_infinite() && b.may_be_infinite());
    let has_divisor = !b.nonzero().is_never();
    let bounds = if a.bounds().is_some() { quotient_bounds(a, b) } else { None };
    let values = bounds.map_or(Values::NEVER, |(least, most)| Values::between(Kinds::FLOAT, least, most));
    let vanishes = a.may_be_zero() || a.least_size() / b.most_size() == 0.0;
    let values = if vanishes { values } else { values.nonzero() };
    Outcome::fine(values.or_nan(nan && has_divisor))
        .may_raise(ErrorKind::ZeroDivision, b.may_be_zero())
        .may_raise(ErrorKind::Overflow, a.may_exceed_doubles())
}

/// `a // b`
fn floor_quotient(a: Values, b: Values) -> Outcome {
    let nan = a.may_be_nan() || b.may_be_nan() || a.may_be_infinite();
    let has_divisor = !b.nonzero().is_never();
    let bounds = if a.bounds().is_some() { quotient_bounds(a, b) } else { None };
    let kinds = kinds_of(a, b);
    let (above, below) = (b.most() > 0.0, b.least() < 0.0);
    let (positive, negative) = (a.most() > 0.0, a.least() < 0.0);
    // a rounded quotient may have reached the next integer; that of doubles may be off by one
    let slack = if kinds.meets(Kinds::FLOAT) { 1.0 } else { 0.0 };
    let values = bounds.map_or(Values::NEVER, |(least, most)| {
        let (down, up) = (least.next_down().floor() - slack, most.next_up().floor() + slack);
        let down = if (above && negative) || (below && positive) { down } else { down.max(0.0) };
        let up = if (above && positive) || (below && negative) { up } else { up.min(0.0) };
        Values::between(kinds, down, up).outward()
    });
    Outcome::fine(values.or_nan(nan && has_divisor)).may_raise(ErrorKind::ZeroDivision, b.may_be_zero())
}

/// `a % b`, which has the sign of `b`.
fn modulo(a: Values, b: Values) -> Outcome {
    let nan = a.may_be_nan() || b.may_be_nan() || a.may_be_infinite();
    let [above, below] = signed_parts(b);
    let kinds = kinds_of(a, b);
    let step = if kinds.meets(Kinds::FLOAT) { 0.0 } else { 1.0 };
    let most_above =
        above.map_or(0.0, |(_, high)| if a.least() >= 0.0 { (high - step).min(a.most()) } else { high - step });
    let most_below =
        below.map_or(0.0, |(_, high)| if a.most() <= 0.0 { (high - step).min(-a.least()) } else { high - step });
    let has_divisor = above.is_some() || below.is_some();
    let values = match a.bounds() {
        Some(_) if has_divisor => Values::between(kinds, -most_below, most_above).outward(),
        _ => Values::NEVER,
    };
    let has_divisor = has_divisor || b.may_be_nan();
    Outcome::fine(values.or_nan(nan && has_divisor)).may_raise(ErrorKind::ZeroDivision, b.may_be_zero())
}
