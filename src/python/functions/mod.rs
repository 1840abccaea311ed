//! The functions, by family. [`call`] checks the number of arguments first, then their types.

mod aggregates;
mod builtins;
mod elementary;
mod number_theory;
mod special;

use crate::python::function::Arguments;
use crate::python::limits::Fuel;
use crate::python::{Function, Raised, Value, float_parts, function};

pub use crate::python::functions::elementary::real_function;

/// `callee(positional…, keyword=…)`.
#[inline]
pub(super) fn call(
    callee: &Value,
    positional: &[Value],
    keywords: &[(&str, Value)],
    fuel: &Fuel,
) -> Result<Value, Raised> {
    let Value::Function(function) = callee else {
        return Err(Raised::type_error(format!("'{}' object is not callable", callee.type_name())));
    };
    match function::bind(*function, positional, keywords)? {
        Arguments::Positional([x]) => call_with_one(*function, x, fuel),
        Arguments::Positional([x, y]) => call_with_two(*function, x, y, fuel),
        Arguments::Positional(values) => call_with_many(*function, values, fuel),
        Arguments::Named(slots) => call_with_keywords(*function, slots, fuel),
        Arguments::Extreme { values, key, default } => aggregates::extreme(
            *function,
            values,
            key,
            default,
            |key, value| call(key, std::slice::from_ref(value), &[], fuel),
            fuel,
        ),
    }
}

/// Functions of one argument, and functions of any number of arguments called with one.
#[inline]
fn call_with_one(function: Function, x: &Value, fuel: &Fuel) -> Result<Value, Raised> {
    use Function as F;
    match function {
        F::Abs => builtins::abs(x),
        F::All => Ok(Value::Bool(x.iterable_argument()?.iter().all(Value::truth))),
        F::Any => Ok(Value::Bool(x.iterable_argument()?.iter().any(Value::truth))),
        F::Bool => Ok(Value::Bool(x.truth())),
        F::Float => builtins::to_float(x).map(Value::Float),
        F::Len => builtins::len(x),
        F::Ceil => builtins::to_integer(x, f64::ceil),
        F::Floor => builtins::to_integer(x, f64::floor),
        F::Trunc => builtins::trunc(x),
        F::Factorial => number_theory::factorial(x, fuel),
        F::Isqrt => number_theory::isqrt(x, fuel),
        F::Perm => number_theory::factorial_of(x.integer_argument()?, fuel),
        F::Isfinite => Ok(Value::Bool(x.math_argument()?.is_finite())),
        F::Isinf => Ok(Value::Bool(x.math_argument()?.is_infinite())),
        F::Isnan => Ok(Value::Bool(x.math_argument()?.is_nan())),
        F::Frexp => x.math_argument().map(float_parts::frexp),
        F::Modf => x.math_argument().map(float_parts::modf),
        F::Fsum => aggregates::fsum(x),
        F::Log | F::Log2 | F::Log10 => elementary::logarithm(function, x).map(Value::Float),
        F::Gcd | F::Hypot | F::Lcm => call_with_many(function, std::slice::from_ref(x), fuel),
        _ => elementary::real_function(function, x.math_argument()?).map(Value::Float),
    }
}

/// Functions of two arguments, and functions of any number of arguments called with two.
#[inline]
fn call_with_two(function: Function, x: &Value, y: &Value, fuel: &Fuel) -> Result<Value, Raised> {
    use Function as F;
    match function {
        F::Comb => number_theory::comb(x, y, fuel),
        F::Dist => aggregates::dist(x, y),
        F::Divmod => builtins::divmod(x, y, fuel),
        F::Ldexp => float_parts::ldexp(x, y).map(Value::Float),
        F::Log => elementary::logarithm_to_base(x, y).map(Value::Float),
        F::Perm => number_theory::perm(x, y, fuel),
        F::Gcd => number_theory::gcd(x.integer_argument()?, y.integer_argument()?, fuel),
        F::Lcm => number_theory::lcm(x.integer_argument()?, y.integer_argument()?, fuel),
        F::Hypot => aggregates::hypot([x, y].into_iter()).map(Value::Float),
        _ => elementary::binary_real_function(function, x.math_argument()?, y.math_argument()?).map(Value::Float),
    }
}

/// Functions of any number of arguments, and types called without arguments, such as `float()`.
fn call_with_many(function: Function, values: &[Value], fuel: &Fuel) -> Result<Value, Raised> {
    match function {
        Function::Gcd => number_theory::fold(values, Value::Int(0), number_theory::gcd, fuel),
        Function::Lcm => number_theory::fold(values, Value::Int(1), number_theory::lcm, fuel),
        Function::Hypot => aggregates::hypot(values.iter()).map(Value::Float),
        Function::Float => Ok(Value::Float(0.0)),
        _ => Ok(Value::Bool(false)),
    }
}

/// Functions that take keywords.
fn call_with_keywords(function: Function, slots: [Option<&Value>; 4], fuel: &Fuel) -> Result<Value, Raised> {
    match (function, slots) {
        (Function::Int, [x, base, ..]) => builtins::int(x, base),
        (Function::Round, [Some(x), digits, ..]) => builtins::round(x, digits, fuel),
        (Function::Sum, [Some(items), start, ..]) => aggregates::sum(items, start, fuel),
        (Function::Prod, [Some(items), start, ..]) => aggregates::prod(items, start, fuel),
        (Function::Isclose, [Some(a), Some(b), relative, absolute]) => float_parts::isclose(a, b, relative, absolute),
        _ => Ok(Value::None),
    }
}
