//! Functions of many values.

use crate::formula::lint::ranges::arithmetic::{binary, bounded};
use crate::formula::lint::ranges::functions::{Argument, sequence_only};
use crate::formula::lint::ranges::kinds::{Errors, Kinds};
use crate::formula::lint::ranges::outcome::Outcome;
use crate::formula::lint::ranges::values::Values;
use crate::python::{BinaryOperator, ErrorKind, Function};

/// `min`, `max`, `sum`, `prod`, `fsum` of the items of one argument.
pub(super) fn of_items(function: Function, argument: &Argument) -> Outcome {
    let Some(items) = &argument.items else {
        return unknown_items(function, argument.values);
    };
    match function {
        Function::Max | Function::Min => extreme(function, items),
        Function::Sum => folded(BinaryOperator::Add, Values::between(Kinds::INT, 0.0, 0.0), items),
        Function::Prod => folded(BinaryOperator::Multiply, Values::between(Kinds::INT, 1.0, 1.0), items),
        _ => exact_sum(items),
    }
}

fn unknown_items(function: Function, x: Values) -> Outcome {
    let values = if function == Function::Fsum { Values::ANY_NUMBER } else { Values::ANY };
    if x.kinds().meets(Kinds::SEQUENCE) {
        Outcome { values, errors: Errors::ANY }
    } else {
        sequence_only(x, Values::NEVER)
    }
}

/// `sum(items, start)`
pub(super) fn sum_from(items: &Argument, start: Values) -> Outcome {
    match &items.items {
        Some(items) => folded(BinaryOperator::Add, start, items),
        None => unknown_items(Function::Sum, items.values),
    }
}

fn folded(op: BinaryOperator, start: Values, items: &[Values]) -> Outcome {
    items.iter().fold(Outcome::fine(start), |so_far, &item| {
        let next = binary(op, so_far.values, item);
        Outcome { values: next.values, errors: so_far.errors.or(next.errors) }
    })
}

/// `fsum`: the exact sum, rounded once.
fn exact_sum(items: &[Values]) -> Outcome {
    let numeric = items.iter().all(|item| item.kinds().meets(Kinds::NUMBER));
    let (mut least, mut most, mut size) = (0.0_f64, 0.0_f64, 0.0_f64);
    for item in items {
        (least, most, size) = (least + item.least(), most + item.most(), size + item.most_size());
    }
    let slack = size * f64::EPSILON * items.len() as f64;
    let infinite = items.iter().any(Values::may_be_infinite) || !size.is_finite();
    let values = match (numeric, infinite) {
        (false, _) => Values::NEVER,
        (true, true) => Values::between(Kinds::FLOAT, f64::NEG_INFINITY, f64::INFINITY).or_nan(true),
        (true, false) => Values::between(Kinds::FLOAT, least - slack, most + slack),
    };
    let nan = items.iter().any(Values::may_be_nan);
    let long = items.iter().any(Values::may_exceed_doubles);
    Outcome::fine(values.or_nan(nan && numeric))
        .may_raise(ErrorKind::Type, !items.iter().all(Values::is_number))
        .may_raise(ErrorKind::Value, infinite)
        .may_raise(ErrorKind::Overflow, infinite || long)
}

/// `min` and `max` of several values.
pub(super) fn extreme(function: Function, items: &[Values]) -> Outcome {
    let any = items.iter().fold(Values::NEVER, |any, &item| any.or(item));
    let (Some(first), numeric) = (items.first(), items.iter().all(Values::is_number)) else {
        return Outcome::fails(ErrorKind::Value);
    };
    if items.len() == 1 {
        return Outcome::fine(*first);
    }
    if !numeric {
        let errors = Errors::just(ErrorKind::Type).or(Errors::just(ErrorKind::Limit));
        return Outcome { values: any, errors };
    }
    if any.may_be_nan() {
        return Outcome::fine(any);
    }
    let is_max = function == Function::Max;
    let outermost = |pick: fn(&Values) -> f64| {
        let bounds = items.iter().map(pick);
        if is_max { bounds.fold(f64::NEG_INFINITY, f64::max) } else { bounds.fold(f64::INFINITY, f64::min) }
    };
    let (least, most) = (outermost(Values::least), outermost(Values::most));
    let may_win = |item: &&Values| if is_max { item.most() >= least } else { item.least() <= most };
    let kinds = items.iter().filter(may_win).fold(Kinds::NONE, |kinds, item| kinds.or(item.kinds()));
    let values = Values::between(kinds, least, most);
    Outcome::fine(if any.may_be_zero() { values } else { values.nonzero() })
}

/// `len(x)`
pub(super) fn length(argument: &Argument) -> Outcome {
    let most = argument.items.as_ref().map(|items| items.len() as f64);
    let values = Values::between(Kinds::INT, most.unwrap_or(0.0), most.unwrap_or(f64::MAX));
    sequence_only(argument.values, values)
}

/// `hypot` of any number of coordinates.
pub(super) fn hypot(coordinates: &[Values]) -> Outcome {
    let numeric = coordinates.iter().all(|x| x.kinds().meets(Kinds::NUMBER));
    let nearest = |x: &Values| if x.least() <= 0.0 && 0.0 <= x.most() { 0.0 } else { x.least_size() };
    let least = coordinates.iter().map(nearest).fold(0.0, f64::max);
    let most = coordinates.iter().map(Values::most_size).fold(0.0, f64::hypot);
    let off = 4.0 * f64::EPSILON * coordinates.len() as f64;
    let values = if numeric { bounded(Kinds::FLOAT, least * (1.0 - off), most * (1.0 + off)) } else { Values::NEVER };
    let nan = coordinates.iter().any(Values::may_be_nan);
    Outcome::fine(values.or_nan(nan && numeric))
        .may_raise(ErrorKind::Type, !coordinates.iter().all(Values::is_number))
        .may_raise(ErrorKind::Overflow, coordinates.iter().any(Values::may_exceed_doubles))
}

/// `dist(p, q)`
pub(super) fn distance(p: Values, q: Values) -> Outcome {
    let both = p.kinds().meets(Kinds::SEQUENCE) && q.kinds().meets(Kinds::SEQUENCE);
    let values = bounded(Kinds::FLOAT, 0.0, f64::INFINITY).or_nan(true);
    Outcome { values: if both { values } else { Values::NEVER }, errors: Errors::ANY }
}
