//! What the functions make of intervals, by family.

mod aggregates;
mod reals;
mod rounding;
mod theory;

use crate::formula::lint::ranges::arithmetic::truth_values;
use crate::formula::lint::ranges::kinds::Kinds;
use crate::formula::lint::ranges::outcome::Outcome;
use crate::formula::lint::ranges::power;
use crate::formula::lint::ranges::values::Values;
use crate::python::{ErrorKind, Function};

/// An argument of a call.
#[derive(Debug, Clone)]
pub(super) struct Argument {
    /// What it can be.
    pub(super) values: Values,
    /// What its items can be, where it is written out as a tuple or a list.
    pub(super) items: Option<Vec<Values>>,
}

/// `function(arguments…)`, with or without keywords.
pub(super) fn call(function: Function, arguments: &[Argument], keywords: usize) -> Outcome {
    let (least, most) = function.arity();
    let positions = match function {
        Function::Prod => 1,
        Function::Isclose => 2,
        _ => most.unwrap_or(usize::MAX),
    };
    let given = arguments.len();
    if given > positions || given + keywords < least || (keywords > 0 && function.keywords().is_empty()) {
        return Outcome::fails(ErrorKind::Type);
    }
    if keywords > 0 {
        return Outcome::UNKNOWN;
    }
    match arguments {
        [] => none(function),
        [x] => one(function, x),
        [x, y] => two(function, x, y, arguments),
        several => many(function, several),
    }
}

fn none(function: Function) -> Outcome {
    let values = match function {
        Function::Int | Function::Gcd => Values::between(Kinds::INT, 0.0, 0.0),
        Function::Lcm => Values::between(Kinds::INT, 1.0, 1.0),
        Function::Float | Function::Hypot => Values::between(Kinds::FLOAT, 0.0, 0.0),
        Function::Bool => truth_values(false, true),
        _ => return Outcome::UNKNOWN,
    };
    Outcome::fine(values)
}

fn one(function: Function, argument: &Argument) -> Outcome {
    use Function as F;
    let x = argument.values;
    match function {
        F::Abs => reals::absolute(x),
        F::All | F::Any => sequence_only(x, Values::TRUTH),
        F::Bool => Outcome::fine(truth_values(x.truth().may_hold, x.truth().may_fail)),
        F::Len => aggregates::length(argument),
        F::Ceil => rounding::to_integer(x, f64::ceil),
        F::Floor => rounding::to_integer(x, f64::floor),
        F::Trunc | F::Int => rounding::to_integer(x, f64::trunc),
        F::Round => rounding::to_integer(x, f64::round_ties_even),
        F::Factorial | F::Perm => theory::factorial(x),
        F::Isqrt => theory::isqrt(x),
        F::Gcd | F::Lcm => theory::divisors(function, &[x]),
        F::Frexp | F::Modf => reals::converted(x, |_| Outcome::fine(Values::others(Kinds::TUPLE))),
        F::Max | F::Min | F::Sum | F::Prod | F::Fsum => aggregates::of_items(function, argument),
        F::Hypot => aggregates::hypot(&[x]),
        _ => reals::converted(x, |x| reals::real(function, x)),
    }
}

fn two(function: Function, first: &Argument, second: &Argument, both: &[Argument]) -> Outcome {
    use Function as F;
    let (x, y) = (first.values, second.values);
    match function {
        F::Comb | F::Perm => theory::choices(function, x, y),
        F::Dist => aggregates::distance(x, y),
        F::Divmod => pairs(x, y),
        F::Ldexp => reals::converted(x, |x| reals::ldexp(x, y)),
        F::Log => {
            let numerator = reals::converted(x, |x| reals::real(F::Log, x));
            let base = reals::converted(y, |y| reals::real(F::Log, y));
            let quotient = crate::formula::lint::ranges::arithmetic::binary(
                crate::python::BinaryOperator::Divide,
                numerator.values,
                base.values,
            );
            Outcome { errors: quotient.errors.or(numerator.errors).or(base.errors), ..quotient }
        }
        F::Int => Outcome::fails(ErrorKind::Type).may_raise(ErrorKind::Value, true),
        F::Round => rounding::to_digits(x, y),
        F::Sum => aggregates::sum_from(first, y),
        F::Isclose => reals::converted_both(x, y, |_, _| Outcome::fine(Values::TRUTH)),
        F::Pow => reals::converted_both(x, y, power::function),
        F::Atan2 | F::Copysign | F::Fmod | F::Nextafter | F::Remainder => {
            reals::converted_both(x, y, |x, y| reals::real_of_two(function, x, y))
        }
        _ => many(function, both),
    }
}

fn many(function: Function, arguments: &[Argument]) -> Outcome {
    let values: Vec<Values> = arguments.iter().map(|argument| argument.values).collect();
    match function {
        Function::Max | Function::Min => aggregates::extreme(function, &values),
        Function::Gcd | Function::Lcm => theory::divisors(function, &values),
        Function::Hypot => aggregates::hypot(&values),
        _ => Outcome::UNKNOWN,
    }
}

/// A function that goes through the items of a tuple or a list, and takes nothing else.
fn sequence_only(x: Values, result: Values) -> Outcome {
    let values = if x.kinds().meets(Kinds::SEQUENCE) { result } else { Values::NEVER };
    Outcome::fine(values).may_raise(ErrorKind::Type, !x.kinds().within(Kinds::SEQUENCE))
}

/// `divmod`
fn pairs(x: Values, y: Values) -> Outcome {
    let quotient = crate::formula::lint::ranges::arithmetic::binary(crate::python::BinaryOperator::FloorDivide, x, y);
    let values = if quotient.values.is_never() { Values::NEVER } else { Values::others(Kinds::TUPLE) };
    Outcome { values, ..quotient }
}
