//! Python's functions on value sets: rounding, functions of integers and aggregates. The functions of real numbers are
//! in [`real_functions`].

use crate::formula::lint::ranges::facts::OperationResult;
use crate::formula::lint::ranges::operators::{self, binary, bounded};
use crate::formula::lint::ranges::real_functions;
use crate::formula::lint::ranges::type_set::{ErrorSet, TypeSet};
use crate::formula::lint::ranges::value_set::ValueSet;
use crate::python::{BinaryOperator, ErrorKind, Function, PythonVersion, bind, real_function};

/// An argument of a call.
#[derive(Debug, Clone)]
pub(super) struct Argument {
    /// The values that it can have.
    pub(super) values: ValueSet,
    /// The values that its items can have, if it is a tuple or list literal.
    pub(super) items: Option<Vec<ValueSet>>,
}

/// `function(arguments…, keyword=…)`.
pub(super) fn call(
    function: Function,
    python: PythonVersion,
    arguments: &[Argument],
    keywords: &[(&str, ValueSet)],
) -> OperationResult {
    let positional: Vec<ValueSet> = arguments.iter().map(|argument| argument.values).collect();
    if bind(function, python, &positional, keywords).is_err() {
        return OperationResult::error(ErrorKind::Type);
    }
    let has_factorials_of_floats =
        python.has_factorials_of_floats() && matches!(function, Function::Factorial | Function::Perm);
    if !keywords.is_empty() || has_factorials_of_floats {
        return OperationResult::UNKNOWN;
    }
    let result = match arguments {
        [] => call_without_arguments(function),
        [x] => call_with_one(function, x),
        [x, y] => call_with_two(function, x, y, arguments),
        several => call_with_several(function, several),
    };
    match summed_items(function, arguments) {
        Some(items) if python.compensates_sums() => with_compensation(result, items),
        _ => result,
    }
}

/// The items that `sum` adds, if they are known.
fn summed_items(function: Function, arguments: &[Argument]) -> Option<&[ValueSet]> {
    arguments.first().filter(|_| function == Function::Sum)?.items.as_deref()
}

/// The result of `sum`, wider by as much as the compensation of the rounding errors of floats can change it.
fn with_compensation(result: OperationResult, items: &[ValueSet]) -> OperationResult {
    let values = result.values;
    let size = items.iter().map(ValueSet::max_abs).sum::<f64>() + values.max_abs();
    if !values.types().intersects(TypeSet::FLOAT) || !size.is_finite() {
        return result;
    }
    let slack = size * f64::EPSILON * items.len() as f64;
    let wider = ValueSet::between(values.types(), values.least() - slack, values.most() + slack);
    OperationResult { values: values.or(wider), ..result }
}

fn call_without_arguments(function: Function) -> OperationResult {
    let values = match function {
        Function::Int | Function::Gcd => ValueSet::between(TypeSet::INT, 0.0, 0.0),
        Function::Lcm => ValueSet::between(TypeSet::INT, 1.0, 1.0),
        Function::Float | Function::Hypot => ValueSet::between(TypeSet::FLOAT, 0.0, 0.0),
        Function::Bool => ValueSet::between(TypeSet::BOOL, 0.0, 0.0),
        _ => return OperationResult::UNKNOWN,
    };
    OperationResult::ok(values)
}

fn call_with_one(function: Function, argument: &Argument) -> OperationResult {
    use Function as F;
    let x = argument.values;
    match function {
        F::Abs => real_functions::absolute(x),
        F::All | F::Any => sequence_function(x, ValueSet::TRUTH),
        F::Bool => OperationResult::ok(operators::truth_values(x.truth())),
        F::Len => length(argument),
        F::Ceil => to_integer(x, f64::ceil),
        F::Floor => to_integer(x, f64::floor),
        F::Trunc | F::Int => to_integer(x, f64::trunc),
        F::Round => to_integer(x, f64::round_ties_even),
        F::Factorial | F::Perm => factorial(x),
        F::Isqrt => isqrt(x),
        F::Gcd | F::Lcm => gcd_or_lcm(function, &[x]),
        F::Frexp | F::Modf => {
            real_functions::converted(x, |_| OperationResult::ok(ValueSet::non_numbers(TypeSet::TUPLE)))
        }
        F::Max | F::Min | F::Sum | F::Prod | F::Fsum => aggregate(function, argument),
        F::Hypot => hypot(&[x]),
        _ => real_functions::converted(x, |x| real_functions::real(function, x)),
    }
}

fn call_with_two(function: Function, first: &Argument, second: &Argument, both: &[Argument]) -> OperationResult {
    use Function as F;
    let x = first.values;
    let y = second.values;
    match function {
        F::Comb | F::Perm => comb_or_perm(function, x, y),
        F::Dist => distance(x, y),
        F::Divmod => divmod(x, y),
        F::Ldexp => real_functions::converted(x, |x| real_functions::ldexp(x, y)),
        F::Log => {
            let numerator = real_functions::converted(x, |x| real_functions::real(F::Log, x));
            let base = real_functions::converted(y, |y| real_functions::real(F::Log, y));
            let quotient = binary(BinaryOperator::Divide, numerator.values, base.values);
            OperationResult { errors: quotient.errors.or(numerator.errors).or(base.errors), ..quotient }
        }
        F::Int => OperationResult::error(ErrorKind::Type).may_raise(ErrorKind::Value, true),
        F::Round => round_to_digits(x, y),
        F::Sum => sum_from(first, y),
        F::Isclose => real_functions::converted_both(x, y, |_, _| OperationResult::ok(ValueSet::TRUTH)),
        F::Pow => real_functions::converted_both(x, y, operators::math_pow),
        F::Atan2 | F::Copysign | F::Fmod | F::Nextafter | F::Remainder => {
            real_functions::converted_both(x, y, |x, y| real_functions::real_of_two(function, x, y))
        }
        _ => call_with_several(function, both),
    }
}

fn call_with_several(function: Function, arguments: &[Argument]) -> OperationResult {
    let values: Vec<ValueSet> = arguments.iter().map(|argument| argument.values).collect();
    match function {
        Function::Max | Function::Min => extreme(function, &values),
        Function::Gcd | Function::Lcm => gcd_or_lcm(function, &values),
        Function::Hypot => hypot(&values),
        _ => OperationResult::UNKNOWN,
    }
}

/// A function that accepts only a tuple or a list and then returns one of `result`.
fn sequence_function(x: ValueSet, result: ValueSet) -> OperationResult {
    let values = if x.types().intersects(TypeSet::SEQUENCE) { result } else { ValueSet::EMPTY };
    OperationResult::ok(values).may_raise(ErrorKind::Type, !x.types().is_subset(TypeSet::SEQUENCE))
}

/// `divmod(x, y)`.
fn divmod(x: ValueSet, y: ValueSet) -> OperationResult {
    let quotient = binary(BinaryOperator::FloorDivide, x, y);
    let values = if quotient.values.is_empty() { ValueSet::EMPTY } else { ValueSet::non_numbers(TypeSet::TUPLE) };
    OperationResult { values, ..quotient }
}

/// A function that rounds a number to an integer.
fn to_integer(x: ValueSet, round: fn(f64) -> f64) -> OperationResult {
    let number = x.numbers();
    let values = match number.bounds() {
        None => ValueSet::EMPTY,
        Some(bounds) if x.may_exceed_doubles() => {
            ValueSet::between(TypeSet::INT, round(bounds.least), round(bounds.most))
        }
        // an infinity raises an error
        Some(bounds) => bounded(TypeSet::INT, round(bounds.least).max(f64::MIN), round(bounds.most).min(f64::MAX)),
    };
    OperationResult::ok(values)
        .may_raise(ErrorKind::Type, !x.is_number())
        .may_raise(ErrorKind::Value, number.may_be_nan())
        .may_raise(ErrorKind::Overflow, number.may_be_infinite())
}

/// `round(x, digits)`: an integer stays an integer, and a double changes by half a unit at most.
fn round_to_digits(x: ValueSet, digits: ValueSet) -> OperationResult {
    let number = x.numbers();
    let accepted = TypeSet::INTEGRAL.or(TypeSet::NONE);
    let outcome = match (number.bounds(), digits.types().intersects(accepted)) {
        (Some(bounds), true) => {
            let unit = match digits.single() {
                Some(places) if digits.is_integral() => 10.0_f64.powf(-places) * 0.500_001,
                _ => f64::INFINITY,
            };
            let least = (bounds.least - unit).next_down();
            let most = (bounds.most + unit).next_up();
            // rounding does not change the sign
            let least = if bounds.least >= 0.0 { least.max(0.0) } else { least };
            let most = if bounds.most <= 0.0 { most.min(0.0) } else { most };
            let may_be_int = number.types().intersects(TypeSet::INTEGRAL) || digits.types().intersects(TypeSet::NONE);
            let int = if may_be_int { TypeSet::INT } else { TypeSet::EMPTY };
            let types = int.or(number.types().and(TypeSet::FLOAT));
            ValueSet::between(types, least, most).rounded_outward().or_nan(number.may_be_nan())
        }
        (None, true) => ValueSet::EMPTY.or_nan(number.may_be_nan()),
        (_, false) => ValueSet::EMPTY,
    };
    OperationResult::ok(outcome)
        .may_raise(ErrorKind::Type, !x.is_number() || !digits.types().is_subset(accepted))
        .may_raise(ErrorKind::Overflow, x.max_abs() > 1e300 || digits.least() < -300.0 || number.may_be_infinite())
        .may_raise(ErrorKind::Value, number.may_be_nan())
        .may_raise(ErrorKind::Limit, number.may_exceed_doubles())
}

/// A function of integers that are at least 0, which then returns one of `values`.
fn natural_function(arguments: &[ValueSet], values: impl FnOnce() -> ValueSet) -> OperationResult {
    let all_whole = arguments.iter().all(|x| x.types().intersects(TypeSet::INTEGRAL));
    let negative = arguments.iter().any(|x| x.least() < 0.0);
    let always_negative = arguments.iter().any(|x| x.is_integral() && x.most() < 0.0);
    let values = if all_whole && !always_negative { values() } else { ValueSet::EMPTY };
    OperationResult::ok(values)
        .may_raise(ErrorKind::Type, !arguments.iter().all(ValueSet::is_integral))
        .may_raise(ErrorKind::Value, negative)
}

/// An upper bound of the factorial, infinite if it exceeds the largest double.
fn factorial_bound(x: f64) -> f64 {
    real_function(Function::Gamma, x.max(0.0) + 1.0).map_or(f64::INFINITY, |value| value * 1.000_001)
}

/// `factorial(x)`.
fn factorial(x: ValueSet) -> OperationResult {
    let number = x.integers();
    natural_function(&[x], || bounded(TypeSet::INT, 1.0, factorial_bound(number.most())))
        .may_raise(ErrorKind::Limit, number.most() > 169.0)
        .may_raise(ErrorKind::Overflow, number.most() > 9e18)
        .may_raise(ErrorKind::Type, x.types().intersects(TypeSet::NONE))
}

/// `isqrt(x)`.
fn isqrt(x: ValueSet) -> OperationResult {
    let number = x.integers();
    let least = number.least().max(0.0).sqrt().next_down().floor().max(0.0);
    let most = number.most().max(0.0).sqrt().next_up().ceil();
    natural_function(&[x], || bounded(TypeSet::INT, least, most).rounded_outward())
        .may_raise(ErrorKind::Limit, number.may_exceed_doubles())
}

/// `comb(n, k)` and `perm(n, k)`.
fn comb_or_perm(function: Function, n: ValueSet, k: ValueSet) -> OperationResult {
    if !k.is_integral() {
        // `perm(n, None)` is `factorial(n)`
        return OperationResult { values: bounded(TypeSet::INT, 0.0, f64::INFINITY), ..OperationResult::UNKNOWN };
    }
    let most = if function == Function::Perm { factorial_bound(n.most()) } else { 2.0_f64.powf(n.most().max(0.0)) };
    natural_function(&[n, k], || bounded(TypeSet::INT, 0.0, most.max(1.0)))
        .may_raise(ErrorKind::Limit, n.most() > 169.0)
        .may_raise(ErrorKind::Overflow, n.most() > 9e18)
}

/// `gcd` and `lcm` of any number of arguments.
fn gcd_or_lcm(function: Function, arguments: &[ValueSet]) -> OperationResult {
    let all_whole = arguments.iter().all(|x| x.types().intersects(TypeSet::INTEGRAL));
    let sizes = arguments.iter().map(|&x| x.integers().max_abs());
    let most =
        if function == Function::Gcd { sizes.fold(0.0, f64::max) } else { sizes.fold(1.0, |x, y| x * y.max(1.0)) };
    let values = if all_whole { ValueSet::between(TypeSet::INT, 0.0, most).rounded_outward() } else { ValueSet::EMPTY };
    let long = values.may_exceed_doubles() || arguments.iter().any(ValueSet::may_exceed_doubles);
    OperationResult::ok(values)
        .may_raise(ErrorKind::Type, !arguments.iter().all(ValueSet::is_integral))
        .may_raise(ErrorKind::Limit, long)
}

/// `min`, `max`, `sum`, `prod` and `fsum` of the items of one argument.
fn aggregate(function: Function, argument: &Argument) -> OperationResult {
    let Some(items) = &argument.items else {
        return unknown_items(function, argument.values);
    };
    match function {
        Function::Max | Function::Min => extreme(function, items),
        Function::Sum => fold(BinaryOperator::Add, ValueSet::between(TypeSet::INT, 0.0, 0.0), items),
        Function::Prod => fold(BinaryOperator::Multiply, ValueSet::between(TypeSet::INT, 1.0, 1.0), items),
        _ => fsum(items),
    }
}

fn unknown_items(function: Function, x: ValueSet) -> OperationResult {
    let values = if function == Function::Fsum { ValueSet::ANY_NUMBER } else { ValueSet::ANY };
    if x.types().intersects(TypeSet::SEQUENCE) {
        OperationResult { values, errors: ErrorSet::ANY }
    } else {
        sequence_function(x, ValueSet::EMPTY)
    }
}

/// `sum(items, start)`.
fn sum_from(items: &Argument, start: ValueSet) -> OperationResult {
    match &items.items {
        Some(items) => fold(BinaryOperator::Add, start, items),
        None => unknown_items(Function::Sum, items.values),
    }
}

fn fold(op: BinaryOperator, start: ValueSet, items: &[ValueSet]) -> OperationResult {
    items.iter().fold(OperationResult::ok(start), |so_far, &item| {
        let next = binary(op, so_far.values, item);
        OperationResult { values: next.values, errors: so_far.errors.or(next.errors) }
    })
}

/// `fsum`: the exact sum, rounded once.
fn fsum(items: &[ValueSet]) -> OperationResult {
    let numeric = items.iter().all(|item| item.types().intersects(TypeSet::NUMBER));
    let least: f64 = items.iter().map(ValueSet::least).sum();
    let most: f64 = items.iter().map(ValueSet::most).sum();
    let size: f64 = items.iter().map(ValueSet::max_abs).sum();
    let slack = size * f64::EPSILON * items.len() as f64;
    let infinite = items.iter().any(ValueSet::may_be_infinite) || !size.is_finite();
    let values = match (numeric, infinite) {
        (false, _) => ValueSet::EMPTY,
        (true, true) => ValueSet::between(TypeSet::FLOAT, f64::NEG_INFINITY, f64::INFINITY).or_nan(true),
        (true, false) => ValueSet::between(TypeSet::FLOAT, least - slack, most + slack),
    };
    let nan = items.iter().any(ValueSet::may_be_nan);
    let long = items.iter().any(ValueSet::may_exceed_doubles);
    OperationResult::ok(values.or_nan(nan && numeric))
        .may_raise(ErrorKind::Type, !items.iter().all(ValueSet::is_number))
        .may_raise(ErrorKind::Value, infinite)
        .may_raise(ErrorKind::Overflow, infinite || long)
}

/// `min` and `max` of several values.
fn extreme(function: Function, items: &[ValueSet]) -> OperationResult {
    let any = items.iter().fold(ValueSet::EMPTY, |any, &item| any.or(item));
    let Some(first) = items.first() else {
        return OperationResult::error(ErrorKind::Value);
    };
    if items.len() == 1 {
        return OperationResult::ok(*first);
    }
    if !any.is_number() {
        let errors = ErrorSet::from_kind(ErrorKind::Type).or(ErrorSet::from_kind(ErrorKind::Limit));
        return OperationResult { values: any, errors };
    }
    if any.may_be_nan() {
        return OperationResult::ok(any);
    }
    let is_max = function == Function::Max;
    let outermost = if is_max { f64::max } else { f64::min };
    let least = items.iter().map(ValueSet::least).fold(first.least(), outermost);
    let most = items.iter().map(ValueSet::most).fold(first.most(), outermost);
    let candidates = items.iter().filter(|item| if is_max { item.most() >= least } else { item.least() <= most });
    let types = candidates.fold(TypeSet::EMPTY, |types, item| types.or(item.types()));
    let values = ValueSet::between(types, least, most);
    OperationResult::ok(if any.may_be_zero() { values } else { values.nonzero() })
}

/// `len(x)`.
fn length(argument: &Argument) -> OperationResult {
    let most = argument.items.as_ref().map(|items| items.len() as f64);
    let values = ValueSet::between(TypeSet::INT, most.unwrap_or(0.0), most.unwrap_or(f64::MAX));
    sequence_function(argument.values, values)
}

/// `hypot` of any number of coordinates.
fn hypot(coordinates: &[ValueSet]) -> OperationResult {
    let numeric = coordinates.iter().all(|x| x.types().intersects(TypeSet::NUMBER));
    let nearest = coordinates.iter().map(|x| if x.least() <= 0.0 && 0.0 <= x.most() { 0.0 } else { x.min_abs() });
    let least = nearest.fold(0.0, f64::max);
    let most = coordinates.iter().map(ValueSet::max_abs).fold(0.0, f64::hypot);
    let slack = 4.0 * f64::EPSILON * coordinates.len() as f64;
    let values =
        if numeric { bounded(TypeSet::FLOAT, least * (1.0 - slack), most * (1.0 + slack)) } else { ValueSet::EMPTY };
    let nan = coordinates.iter().any(ValueSet::may_be_nan);
    OperationResult::ok(values.or_nan(nan && numeric))
        .may_raise(ErrorKind::Type, !coordinates.iter().all(ValueSet::is_number))
        .may_raise(ErrorKind::Overflow, coordinates.iter().any(ValueSet::may_exceed_doubles))
}

/// `dist(p, q)`.
fn distance(p: ValueSet, q: ValueSet) -> OperationResult {
    let both = p.types().intersects(TypeSet::SEQUENCE) && q.types().intersects(TypeSet::SEQUENCE);
    let values = bounded(TypeSet::FLOAT, 0.0, f64::INFINITY).or_nan(true);
    OperationResult { values: if both { values } else { ValueSet::EMPTY }, errors: ErrorSet::ANY }
}
