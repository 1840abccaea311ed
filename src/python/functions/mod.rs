//! The functions, by family. [`call`] checks the number of arguments first, then their types.
//!
//! Here are those that do not depend on how a number is represented, which decimal arithmetic has
//! too.

mod aggregates;
mod conversions;
mod number_theory;
mod real;

use std::borrow::Cow;

use crate::python::signatures::{self, Arguments};
use crate::python::{
    BinaryOperator, ComparisonOperator, ErrorKind, Function, Python, PythonVersion, Raised, Value,
    float,
};

pub use crate::python::functions::real::real_function;

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
    match signatures::bind(*function, python.version, positional, keywords) {
        Ok(arguments) => call_bound(*function, arguments, python),
        Err(error) => Err(wrong_call(
            *function,
            positional,
            keywords,
            python.version,
            error,
        )),
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
    // the other functions with named parameters take any object, which binding does not convert
    if function != Function::Isclose || !python.converts_while_binding() {
        return error;
    }
    let mut converted =
        signatures::converted_before_error(python, positional, keywords).into_iter();
    converted
        .find_map(|argument| argument.math_argument().err())
        .unwrap_or(error)
}

/// Calls a function with arguments that it takes.
#[inline]
pub(super) fn call_bound(
    function: Function,
    Arguments { values, slots }: Arguments<'_, Value>,
    python: &Python,
) -> Result<Value, Raised> {
    use Function as F;
    let (version, work) = (python.version, &python.work);
    let float = match (function, slots) {
        (F::Max | F::Min, [key, default, ..]) => {
            return extreme(function, values, [key, default], python);
        }
        (F::Gcd, _) => return number_theory::gcd(values, work),
        (F::Lcm, _) => return number_theory::lcm(values, work),
        (F::Hypot, _) => aggregates::hypot(values, version),
        // types are called without arguments, too
        (F::Bool, [x, ..]) => return boolean(x.is_some_and(Value::truth)),
        (F::Float, [x, ..]) => x.map_or(Ok(0.0), conversions::to_float),
        (F::Int, [x, base, ..]) => return conversions::int(x, base),
        (F::Abs, [Some(x), ..]) => return conversions::abs(x),
        (F::Round, [Some(x), digits, ..]) => return conversions::round(x, digits, work),
        (F::Sum, [Some(items), start, ..]) => return aggregates::sum(items, start, python),
        (F::Prod, [Some(items), start, ..]) => {
            let start = start.cloned().unwrap_or(Value::Int(1));
            return accumulate(items, start, BinaryOperator::Multiply, python);
        }
        (F::All, [Some(x), ..]) => return boolean(x.iterable_argument()?.iter().all(Value::truth)),
        (F::Any, [Some(x), ..]) => return boolean(x.iterable_argument()?.iter().any(Value::truth)),
        // no overflow: a `Vec` has at most `isize::MAX` items
        (F::Len, [Some(x), ..]) => return Ok(Value::Int(x.length()? as i64)),
        (F::Ceil, [Some(x), ..]) => return conversions::to_integer(x, f64::ceil),
        (F::Floor, [Some(x), ..]) => return conversions::to_integer(x, f64::floor),
        (F::Trunc, [Some(x), ..]) => return conversions::trunc(x),
        (F::Perm, [Some(n), Some(k), ..]) => return number_theory::perm(n, k, python),
        // `perm(n)` is `n!`
        (F::Factorial | F::Perm, [Some(x), ..]) => return number_theory::factorial(x, python),
        (F::Comb, [Some(n), Some(k), ..]) => return number_theory::comb(n, k, work),
        (F::Isqrt, [Some(x), ..]) => return number_theory::isqrt(x, work),
        (F::Divmod, [Some(x), Some(y), ..]) => return conversions::divmod(x, y, work),
        (F::Sumprod, [Some(x), Some(y), ..]) => return aggregates::sumprod(x, y, work),
        (F::Isfinite, [Some(x), ..]) => return boolean(x.math_argument()?.is_finite()),
        (F::Isinf, [Some(x), ..]) => return boolean(x.math_argument()?.is_infinite()),
        (F::Isnan, [Some(x), ..]) => return boolean(x.math_argument()?.is_nan()),
        (F::Isclose, [Some(a), Some(b), relative, absolute]) => {
            return float::isclose(a, b, relative, absolute);
        }
        (F::Frexp, [Some(x), ..]) => return x.math_argument().map(float::frexp),
        (F::Modf, [Some(x), ..]) => return x.math_argument().map(float::modf),
        (F::Fsum, [Some(x), ..]) => return aggregates::fsum(x),
        (F::Dist, [Some(p), Some(q), ..]) => return aggregates::dist(p, q, version),
        (F::Log, [Some(x), Some(base), ..]) => real::logarithm_to_base(x, base),
        (F::Log | F::Log2 | F::Log10, [Some(x), ..]) => real::logarithm(function, x),
        (F::Erf | F::Erfc, [Some(x), ..]) if !version.has_library_erf() => {
            real::own_error_function(function, x.math_argument()?)
        }
        (F::Ldexp, [Some(x), Some(exponent), ..]) => float::ldexp(x, exponent),
        (F::Nextafter, [Some(x), Some(y), steps, ..]) => {
            float::nextafter_by(x.math_argument()?, y.math_argument()?, steps)
        }
        (F::Fma, [Some(x), Some(y), Some(z), _]) => real::fma(x, y, z),
        (_, [Some(x), Some(y), ..]) => {
            let (x, mut y) = (x.math_argument(), y.math_argument());
            // `remainder` is of Python 3.7, where the first error counts
            if version.raises_the_second_error() && function != F::Remainder {
                y = Ok(y?);
            }
            real::binary_real_function(function, x?, y?, version)
        }
        (_, [Some(x), ..]) => real::real_function(function, x.math_argument()?),
        // not reachable: `bind` has filled all required parameters
        _ => Err(Raised::new(ErrorKind::Limit, "no arguments")),
    };
    float.map(Value::Float)
}

fn boolean(holds: bool) -> Result<Value, Raised> {
    Ok(Value::Bool(holds))
}

/// The error of `trunc` or `round` for what is no number.
pub(super) fn missing_method(type_name: &str, method: &str) -> Raised {
    Raised::type_error(format!("type {type_name} doesn't define {method} method"))
}

/// The error of a call of what is no function.
pub(super) fn not_callable(callee: &Value) -> Raised {
    Raised::type_error(format!("'{}' object is not callable", callee.type_name()))
}

/// `min` and `max`. Of equal values, the first is returned.
pub(super) fn extreme(
    function: Function,
    values: &[Value],
    [key, default]: [Option<&Value>; 2],
    python: &Python,
) -> Result<Value, Raised> {
    let op = if function == Function::Max {
        ComparisonOperator::Greater
    } else {
        ComparisonOperator::Less
    };
    let values = match values {
        [single] => single.iterable_argument()?,
        several => several,
    };
    // before 3.8, `None` is called as any key is, which is the `TypeError`
    let key = key.filter(|key| !python.version.has_none_as_a_key() || !matches!(key, Value::None));
    let mut best: Option<(Cow<'_, Value>, &Value)> = None;
    for value in values {
        let value_key = match key {
            Some(key) => Cow::Owned(python.call(key, std::slice::from_ref(value), &[])?),
            None => Cow::Borrowed(value),
        };
        let is_better = match &best {
            None => true,
            // the item on the left, as in CPython's `min_max`: with a nan the side decides
            Some((best_key, _)) => python.compare(op, &value_key, best_key)?,
        };
        if is_better {
            best = Some((value_key, value));
        }
    }
    let best = best.map(|(_, value)| value).or(default);
    best.cloned().ok_or_else(|| {
        Raised::new(
            ErrorKind::Value,
            format!("{}() arg is an empty sequence", function.name()),
        )
    })
}

/// Folds an operator over the items, from the left.
pub(super) fn accumulate(
    items: &Value,
    start: Value,
    op: BinaryOperator,
    python: &Python,
) -> Result<Value, Raised> {
    let mut result = start;
    for item in items.iterable_argument()? {
        // by `python`, since these may be decimals
        result = python.binary(op, &result, item)?;
    }
    Ok(result)
}

/// The pairs of coordinates of two points.
pub(super) fn coordinates<'v>(
    p: &'v Value,
    q: &'v Value,
) -> Result<impl Iterator<Item = (&'v Value, &'v Value)>, Raised> {
    let (p, q) = (p.iterable_argument()?, q.iterable_argument()?);
    if p.len() != q.len() {
        return Err(Raised::value(
            "both points must have the same number of dimensions",
        ));
    }
    Ok(p.iter().zip(q))
}
