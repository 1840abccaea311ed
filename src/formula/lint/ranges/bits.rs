//! The operators on the bits of integers.

use crate::formula::lint::ranges::kinds::{Errors, Kinds};
use crate::formula::lint::ranges::outcome::Outcome;
use crate::formula::lint::ranges::values::Values;
use crate::python::{BinaryOperator, ErrorKind};

/// `a op b` for `& | ^ << >>`; a float does not know them.
pub(super) fn binary(op: BinaryOperator, a: Values, b: Values) -> Outcome {
    let errors = Errors::when(!a.is_whole() || !b.is_whole(), ErrorKind::Type);
    let whole = |x: Values| Values::between(x.kinds().and(Kinds::WHOLE), x.least(), x.most());
    let (a, b) = (whole(a), whole(b));
    if a.is_never() || b.is_never() {
        return Outcome { values: Values::NEVER, errors };
    }
    let outcome = match op {
        BinaryOperator::ShiftLeft => shift_left(a, b),
        BinaryOperator::ShiftRight => shift_right(a, b),
        _ => Outcome::fine(logical(op, a, b)),
    };
    let long = a.may_exceed_doubles() || b.may_exceed_doubles();
    Outcome { errors: outcome.errors.or(errors), ..outcome }.may_raise(ErrorKind::Limit, long)
}

fn logical(op: BinaryOperator, a: Values, b: Values) -> Values {
    let bools = a.kinds().and(b.kinds()).and(Kinds::BOOL);
    let integers = a.kinds().or(b.kinds()).meets(Kinds::INT);
    let kinds = if integers { bools.or(Kinds::INT) } else { bools };
    // all bits below the highest one of either
    let size = a.most_size().max(b.most_size());
    let full = 2.0_f64.powf((size + 1.0).log2().ceil() + 1.0);
    let negative = a.least() < 0.0 || b.least() < 0.0;
    let (least, most) = match op {
        BinaryOperator::BitAnd if a.least() >= 0.0 && b.least() >= 0.0 => (0.0, a.most().min(b.most())),
        BinaryOperator::BitAnd if a.least() >= 0.0 => (0.0, a.most()),
        BinaryOperator::BitAnd if b.least() >= 0.0 => (0.0, b.most()),
        _ if negative => (-full, full),
        _ => (0.0, full),
    };
    let most = if integers { most } else { 1.0 };
    Values::between(kinds, least, most)
}

fn shift_left(a: Values, b: Values) -> Outcome {
    let count = b.clipped(0.0, f64::INFINITY);
    let values = if count.is_never() {
        Values::NEVER
    } else {
        let (few, many) = (2.0_f64.powf(count.least()), 2.0_f64.powf(count.most()));
        let times = |x: f64, factor: f64| if x == 0.0 { 0.0 } else { x * factor };
        let least = times(a.least(), if a.least() < 0.0 { many } else { few });
        let most = times(a.most(), if a.most() > 0.0 { many } else { few });
        let values = Values::between(Kinds::INT, least, most).outward();
        if a.may_be_zero() { values } else { values.nonzero() }
    };
    Outcome::fine(values)
        .may_raise(ErrorKind::Value, b.least() < 0.0)
        .may_raise(ErrorKind::Limit, values.may_exceed_doubles())
        .may_raise(ErrorKind::Overflow, b.most() >= 9e18)
}

fn shift_right(a: Values, b: Values) -> Outcome {
    let values = if b.most() < 0.0 {
        Values::NEVER
    } else {
        let least = if a.least() < 0.0 { a.least() } else { 0.0 };
        let most = if a.most() < 0.0 { -1.0 } else { a.most() };
        Values::between(Kinds::INT, least, most)
    };
    Outcome::fine(values).may_raise(ErrorKind::Value, b.least() < 0.0)
}
