//! The functions, by family. [`call`] checks the number of arguments first, then their types.

mod aggregates;
mod builtins;
mod elementary;
mod number_theory;
mod special;

use crate::python::function::Arguments;
use crate::python::generic::{extreme, not_callable};
use crate::python::{
    Function, Python, PythonVersion, Raised, Value, float_parts, function, operators,
};

pub use crate::python::functions::elementary::real_function;

/// `callee(positional…, keyword=…)`.
#[inline]
pub(super) fn call(
    callee: &Value,
    positional: &[Value],
    keywords: &[(&str, Value)],
    python: &Python,
) -> Result<Value, Raised> {
    let Value::Function(function) = callee else {
        return Err(not_callable(callee));
    };
    let arguments = function::bind(*function, python.version, positional, keywords);
    match arguments
        .map_err(|error| wrong_call(*function, positional, keywords, python.version, error))?
    {
        Arguments::Positional([x]) => call_with_one(*function, x, python),
        Arguments::Positional([x, y]) => call_with_two(*function, x, y, python),
        Arguments::Positional([x, y, z]) if *function == Function::Fma => {
            elementary::fma(x, y, z).map(Value::Float)
        }
        Arguments::Positional(values) => call_with_many(*function, values, python),
        Arguments::Named(slots) => call_with_keywords(*function, slots, python),
        Arguments::Extreme {
            values,
            key,
            default,
        } => extreme(
            *function,
            values,
            [key, default],
            python.version,
            |key, value| call(key, std::slice::from_ref(value), &[], python),
            |op, x, y| operators::compare(op, x, y, &python.fuel),
        ),
    }
}

/// The error of a wrong call, or that of an argument which is converted before the call is found to
/// be wrong.
#[cold]
fn wrong_call(
    function: Function,
    positional: &[Value],
    keywords: &[(&str, Value)],
    python: PythonVersion,
    error: Raised,
) -> Raised {
    if function != Function::Isclose || !python.converts_while_binding() {
        return error;
    }
    let mut converted = function::converted_before_error(python, positional, keywords).into_iter();
    converted
        .find_map(|argument| argument.math_argument().err())
        .unwrap_or(error)
}

/// Functions of one argument, and functions of any number of arguments called with one.
#[inline]
pub(super) fn call_with_one(
    function: Function,
    x: &Value,
    python: &Python,
) -> Result<Value, Raised> {
    use Function as F;
    match function {
        F::Abs => builtins::abs(x),
        F::Sum => aggregates::sum(x, None, python),
        F::All => Ok(Value::Bool(x.iterable_argument()?.iter().all(Value::truth))),
        F::Any => Ok(Value::Bool(x.iterable_argument()?.iter().any(Value::truth))),
        F::Bool => Ok(Value::Bool(x.truth())),
        F::Float => builtins::to_float(x).map(Value::Float),
        F::Len => Ok(Value::Int(x.length()? as i64)),
        F::Ceil => builtins::to_integer(x, f64::ceil),
        F::Floor => builtins::to_integer(x, f64::floor),
        F::Trunc => builtins::trunc(x),
        F::Factorial => number_theory::factorial(x, python),
        F::Isqrt => number_theory::isqrt(x, &python.fuel),
        // `perm(n)` is `n!`
        F::Perm => number_theory::factorial(x, python),
        F::Isfinite => Ok(Value::Bool(x.math_argument()?.is_finite())),
        F::Isinf => Ok(Value::Bool(x.math_argument()?.is_infinite())),
        F::Isnan => Ok(Value::Bool(x.math_argument()?.is_nan())),
        F::Frexp => x.math_argument().map(float_parts::frexp),
        F::Modf => x.math_argument().map(float_parts::modf),
        F::Fsum => aggregates::fsum(x),
        F::Log | F::Log2 | F::Log10 => elementary::logarithm(function, x).map(Value::Float),
        F::Erf | F::Erfc if !python.version.has_library_erf() => {
            special::own_error_function(function, x.math_argument()?).map(Value::Float)
        }
        F::Gcd | F::Hypot | F::Lcm => call_with_many(function, std::slice::from_ref(x), python),
        _ => elementary::real_function(function, x.math_argument()?).map(Value::Float),
    }
}

/// Functions of two arguments, and functions of any number of arguments called with two.
#[inline]
fn call_with_two(
    function: Function,
    x: &Value,
    y: &Value,
    python: &Python,
) -> Result<Value, Raised> {
    use Function as F;
    match function {
        F::Sum => aggregates::sum(x, Some(y), python),
        F::Comb => number_theory::comb(x, y, &python.fuel),
        F::Dist => aggregates::dist(x, y, python.version),
        F::Divmod => builtins::divmod(x, y, &python.fuel),
        F::Ldexp => float_parts::ldexp(x, y).map(Value::Float),
        F::Log => elementary::logarithm_to_base(x, y).map(Value::Float),
        F::Perm => number_theory::perm(x, y, python),
        F::Gcd => number_theory::gcd(x.integer_argument()?, y.integer_argument()?, &python.fuel),
        F::Lcm => number_theory::lcm(x.integer_argument()?, y.integer_argument()?, &python.fuel),
        F::Hypot => aggregates::hypot([x, y].into_iter(), python.version).map(Value::Float),
        F::Sumprod => aggregates::sumprod(x, y, &python.fuel),
        // `remainder` is of Python 3.7, where the first error counts
        _ if python.version.raises_the_second_error() && function != F::Remainder => {
            let (x, y) = (x.math_argument(), y.math_argument());
            let y = y?;
            elementary::binary_real_function(function, x?, y, python.version).map(Value::Float)
        }
        _ => {
            let (x, y) = (x.math_argument()?, y.math_argument()?);
            elementary::binary_real_function(function, x, y, python.version).map(Value::Float)
        }
    }
}

/// Functions of any number of arguments, and types called without arguments, such as `float()`.
fn call_with_many(function: Function, values: &[Value], python: &Python) -> Result<Value, Raised> {
    match function {
        Function::Gcd => {
            number_theory::fold(values, Value::Int(0), number_theory::gcd, &python.fuel)
        }
        Function::Lcm => {
            number_theory::fold(values, Value::Int(1), number_theory::lcm, &python.fuel)
        }
        Function::Hypot => aggregates::hypot(values.iter(), python.version).map(Value::Float),
        Function::Float => Ok(Value::Float(0.0)),
        // `bool()`, the only other call without arguments
        _ => Ok(Value::Bool(false)),
    }
}

/// Functions that take keywords.
fn call_with_keywords(
    function: Function,
    slots: [Option<&Value>; 4],
    python: &Python,
) -> Result<Value, Raised> {
    match (function, slots) {
        (Function::Int, [x, base, ..]) => builtins::int(x, base),
        (Function::Bool, [x, ..]) => Ok(Value::Bool(x.is_some_and(Value::truth))),
        (Function::Float, [x, ..]) => x.map_or(Ok(0.0), builtins::to_float).map(Value::Float),
        (Function::Nextafter, [Some(x), Some(y), steps, ..]) => {
            float_parts::nextafter_by(x.math_argument()?, y.math_argument()?, steps)
                .map(Value::Float)
        }
        (Function::Round, [Some(x), digits, ..]) => builtins::round(x, digits, &python.fuel),
        (Function::Sum, [Some(items), start, ..]) => aggregates::sum(items, start, python),
        (Function::Prod, [Some(items), start, ..]) => aggregates::prod(items, start, &python.fuel),
        (Function::Isclose, [Some(a), Some(b), relative, absolute]) => {
            float_parts::isclose(a, b, relative, absolute)
        }
        // not reachable: `bind` has filled all required parameters
        _ => Ok(Value::None),
    }
}
