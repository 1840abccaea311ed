//! The functions, by family. What enters has the right number of arguments; their types are looked at here.

mod aggregates;
mod builtins;
mod doubles;
mod error_function;
mod gamma;
mod hyperbolic;
mod logarithms;
mod reals;
mod root;
mod rounding;
mod theory;

use crate::python::argument::Arguments;
use crate::python::limits::Fuel;
use crate::python::{Function, Raised, Value, argument};

pub use crate::python::functions::reals::real;

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
    match argument::bind(*function, positional, keywords)? {
        Arguments::Positional([x]) => one(*function, x, fuel),
        Arguments::Positional([x, y]) => two(*function, x, y, fuel),
        Arguments::Positional(values) => many(*function, values, fuel),
        Arguments::Named(slots) => named(*function, slots, fuel),
        Arguments::Extreme { values, key, default } => aggregates::extreme(*function, values, key, default, fuel),
    }
}

/// Functions of one argument, and those of any number given one.
#[inline]
fn one(function: Function, x: &Value, fuel: &Fuel) -> Result<Value, Raised> {
    use Function as F;
    match function {
        F::Abs => builtins::abs(x),
        F::All => Ok(Value::Bool(x.iterate()?.iter().all(Value::truth))),
        F::Any => Ok(Value::Bool(x.iterate()?.iter().any(Value::truth))),
        F::Bool => Ok(Value::Bool(x.truth())),
        F::Float => builtins::float(x).map(Value::Float),
        F::Len => builtins::len(x),
        F::Ceil => rounding::to_integer(x, f64::ceil),
        F::Floor => rounding::to_integer(x, f64::floor),
        F::Trunc => rounding::trunc(x),
        F::Factorial => theory::factorial(x, fuel),
        F::Isqrt => theory::isqrt(x, fuel),
        F::Perm => theory::factorial_of(x.index()?, fuel),
        F::Isfinite => Ok(Value::Bool(x.real()?.is_finite())),
        F::Isinf => Ok(Value::Bool(x.real()?.is_infinite())),
        F::Isnan => Ok(Value::Bool(x.real()?.is_nan())),
        F::Frexp => x.real().map(doubles::frexp),
        F::Modf => x.real().map(doubles::modf),
        F::Fsum => aggregates::fsum(x),
        F::Log | F::Log2 | F::Log10 => logarithms::logarithm(function, x).map(Value::Float),
        F::Gcd | F::Hypot | F::Lcm => many(function, std::slice::from_ref(x), fuel),
        _ => reals::real(function, x.real()?).map(Value::Float),
    }
}

/// Functions of two arguments, and those of any number given two.
#[inline]
fn two(function: Function, x: &Value, y: &Value, fuel: &Fuel) -> Result<Value, Raised> {
    use Function as F;
    match function {
        F::Comb => theory::comb(x, y, fuel),
        F::Dist => aggregates::dist(x, y),
        F::Divmod => builtins::divmod(x, y, fuel),
        F::Ldexp => doubles::ldexp(x, y).map(Value::Float),
        F::Log => logarithms::to_base(x, y).map(Value::Float),
        F::Perm => theory::perm(x, y, fuel),
        F::Gcd => theory::gcd(x.index()?, y.index()?, fuel),
        F::Lcm => theory::lcm(x.index()?, y.index()?, fuel),
        F::Hypot => aggregates::hypot([x, y].into_iter()).map(Value::Float),
        _ => reals::real_of_two(function, x.real()?, y.real()?).map(Value::Float),
    }
}

/// Functions of any number of arguments, and `int()` and the like, given none.
fn many(function: Function, values: &[Value], fuel: &Fuel) -> Result<Value, Raised> {
    match function {
        Function::Gcd => theory::fold(values, Value::Int(0), theory::gcd, fuel),
        Function::Lcm => theory::fold(values, Value::Int(1), theory::lcm, fuel),
        Function::Hypot => aggregates::hypot(values.iter()).map(Value::Float),
        Function::Float => Ok(Value::Float(0.0)),
        _ => Ok(Value::Bool(false)),
    }
}

/// Functions whose parameters have names.
fn named(function: Function, slots: [Option<&Value>; 4], fuel: &Fuel) -> Result<Value, Raised> {
    match (function, slots) {
        (Function::Int, [x, base, ..]) => builtins::int(x, base),
        (Function::Round, [Some(x), digits, ..]) => rounding::round(x, digits, fuel),
        (Function::Sum, [Some(items), start, ..]) => aggregates::sum(items, start, fuel),
        (Function::Prod, [Some(items), start, ..]) => aggregates::prod(items, start, fuel),
        (Function::Isclose, [Some(a), Some(b), relative, absolute]) => doubles::isclose(a, b, relative, absolute),
        _ => Ok(Value::None),
    }
}
