//! Comparisons of intervals.

use crate::formula::lint::ranges::kinds::{Errors, Kinds};
use crate::formula::lint::ranges::values::{Truth, Values};
use crate::python::{ComparisonOperator, ErrorKind};

const EITHER: Truth = Truth { may_hold: true, may_fail: true };
const NEITHER: Truth = Truth { may_hold: false, may_fail: false };

/// How one link of a chain can end, and what it can raise.
pub(super) fn link(op: ComparisonOperator, a: Values, b: Values) -> (Truth, Errors) {
    use ComparisonOperator as Op;
    if a.is_never() || b.is_never() {
        return (NEITHER, Errors::NONE);
    }
    let odd = Errors::just(ErrorKind::Type).or(Errors::just(ErrorKind::Limit));
    match op {
        Op::In | Op::NotIn if !b.kinds().meets(Kinds::SEQUENCE) => (NEITHER, Errors::just(ErrorKind::Type)),
        Op::In | Op::NotIn => (EITHER, odd),
        _ if !a.is_number() || !b.is_number() => (EITHER, odd),
        _ => {
            let long = a.may_exceed_doubles() || b.may_exceed_doubles();
            (numbers(op, a, b), Errors::when(long, ErrorKind::Limit))
        }
    }
}

fn numbers(op: ComparisonOperator, a: Values, b: Values) -> Truth {
    use ComparisonOperator as Op;
    let nan = a.may_be_nan() || b.may_be_nan();
    let turned = |truth: Truth| Truth { may_hold: truth.may_fail, may_fail: truth.may_hold };
    if a.bounds().is_none() || b.bounds().is_none() {
        let holds = op == Op::NotEqual;
        return Truth { may_hold: holds, may_fail: !holds };
    }
    match op {
        Op::Less => Truth { may_hold: a.least() < b.most(), may_fail: nan || a.most() >= b.least() },
        Op::LessOrEqual => Truth { may_hold: a.least() <= b.most(), may_fail: nan || a.most() > b.least() },
        Op::Greater => numbers(Op::Less, b, a),
        Op::GreaterOrEqual => numbers(Op::LessOrEqual, b, a),
        Op::Equal => equality(a, b, nan),
        _ => turned(equality(a, b, nan)),
    }
}

fn equality(a: Values, b: Values, nan: bool) -> Truth {
    let (least, most) = (a.least().max(b.least()), a.most().min(b.most()));
    let only_zero = least == 0.0 && most == 0.0;
    let both_zero = a.may_be_zero() && b.may_be_zero();
    let same = a.only().is_some() && a.only() == b.only() && a.most_size() < crate::python::MAX_EXACT_FLOAT;
    Truth { may_hold: least <= most && (!only_zero || both_zero), may_fail: nan || !same }
}

/// What is left of `a` where `a op b` has this outcome; the same for `b` with the operator turned.
pub(super) fn refined(op: ComparisonOperator, a: Values, b: Values, holds: bool) -> Values {
    use ComparisonOperator as Op;
    if !a.is_number() || !b.is_number() || b.bounds().is_none() {
        return a;
    }
    let nan = !holds && a.may_be_nan();
    let kept = |values: Values| if nan { values.or_nan(true) } else { values };
    // a nan beside it fails every test
    if !holds && b.may_be_nan() {
        return a;
    }
    match (op, holds) {
        (Op::Less, true) | (Op::GreaterOrEqual, false) => kept(a.clipped(f64::NEG_INFINITY, below(a, b.most()))),
        (Op::LessOrEqual, true) | (Op::Greater, false) => kept(a.clipped(f64::NEG_INFINITY, b.most())),
        (Op::Greater, true) | (Op::LessOrEqual, false) => kept(a.clipped(-below(a, -b.least()), f64::INFINITY)),
        (Op::GreaterOrEqual, true) | (Op::Less, false) => kept(a.clipped(b.least(), f64::INFINITY)),
        (Op::Equal, true) | (Op::NotEqual, false) => {
            let values = a.clipped(b.least(), b.most());
            if b.may_be_zero() { values } else { values.nonzero() }
        }
        (Op::Equal, false) | (Op::NotEqual, true) if b.only() == Some(0.0) => a.nonzero(),
        _ => a,
    }
}

/// The greatest number below a bound; an integer beyond 2^53 may lie between two doubles.
fn below(a: Values, bound: f64) -> f64 {
    let between = a.kinds().meets(Kinds::INT) && bound.abs() > crate::python::MAX_EXACT_FLOAT;
    if between { bound } else { bound.next_down() }
}

/// The operator seen from the other side.
pub(super) fn turned(op: ComparisonOperator) -> ComparisonOperator {
    use ComparisonOperator as Op;
    match op {
        Op::Less => Op::Greater,
        Op::LessOrEqual => Op::GreaterOrEqual,
        Op::Greater => Op::Less,
        Op::GreaterOrEqual => Op::LessOrEqual,
        same => same,
    }
}
