//! The functions, by family. [`call`] checks the number of arguments first, then their types.
//!
//! Here are those that do not depend on how a number is represented, which decimal arithmetic has
//! too, and number theory on integers of any size: `factorial`, `comb`, `perm`, `gcd`, `lcm`,
//! `isqrt`.

mod aggregates;
mod real;

use std::borrow::Cow;

use num_bigint::BigInt;
use num_integer::Integer as _;
use num_traits::{One, ToPrimitive};

use crate::python::function::{self, Arguments};
use crate::python::limits::{self, WorkLimit};
use crate::python::value::Integer;
use crate::python::{
    BinaryOperator, ComparisonOperator, ErrorKind, Function, Python, PythonVersion, Raised, Value,
    float, integer,
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
    match function::bind(*function, python.version, positional, keywords) {
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
    let mut converted = function::converted_before_error(python, positional, keywords).into_iter();
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
        // what Python returns without arguments: the neutral elements
        (F::Gcd, _) => return fold(values, Value::Int(0), gcd, work),
        (F::Lcm, _) => return fold(values, Value::Int(1), lcm, work),
        (F::Hypot, _) => aggregates::hypot(values, version),
        // types are called without arguments, too
        (F::Bool, [x, ..]) => return boolean(x.is_some_and(Value::truth)),
        (F::Float, [x, ..]) => x.map_or(Ok(0.0), aggregates::to_float),
        (F::Int, [x, base, ..]) => return aggregates::int(x, base),
        (F::Abs, [Some(x), ..]) => return aggregates::abs(x),
        (F::Round, [Some(x), digits, ..]) => return aggregates::round(x, digits, work),
        (F::Sum, [Some(items), start, ..]) => return aggregates::sum(items, start, python),
        (F::Prod, [Some(items), start, ..]) => {
            let start = start.cloned().unwrap_or(Value::Int(1));
            return accumulate(items, start, BinaryOperator::Multiply, python);
        }
        (F::All, [Some(x), ..]) => return boolean(x.iterable_argument()?.iter().all(Value::truth)),
        (F::Any, [Some(x), ..]) => return boolean(x.iterable_argument()?.iter().any(Value::truth)),
        // no overflow: a `Vec` has at most `isize::MAX` items
        (F::Len, [Some(x), ..]) => return Ok(Value::Int(x.length()? as i64)),
        (F::Ceil, [Some(x), ..]) => return aggregates::to_integer(x, f64::ceil),
        (F::Floor, [Some(x), ..]) => return aggregates::to_integer(x, f64::floor),
        (F::Trunc, [Some(x), ..]) => return aggregates::trunc(x),
        (F::Perm, [Some(n), Some(k), ..]) => return perm(n, k, python),
        // `perm(n)` is `n!`
        (F::Factorial | F::Perm, [Some(x), ..]) => return factorial(x, python),
        (F::Comb, [Some(n), Some(k), ..]) => return comb(n, k, work),
        (F::Isqrt, [Some(x), ..]) => return isqrt(x, work),
        (F::Divmod, [Some(x), Some(y), ..]) => return aggregates::divmod(x, y, work),
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

const NEGATIVE_N: &str = "n must be a non-negative integer";
const NEGATIVE_K: &str = "k must be a non-negative integer";

/// `factorial(x)`.
fn factorial(x: &Value, python: &Python) -> Result<Value, Raised> {
    match x {
        Value::Float(float) if python.version.has_factorials_of_floats() => {
            if !float.is_finite() || float.fract() != 0.0 {
                return Err(Raised::value("factorial() only accepts integral values"));
            }
            factorial_of(
                integer::float_to_int(*float)?.integer_argument()?,
                &python.work,
            )
        }
        _ => factorial_of(x.integer_argument()?, &python.work),
    }
}

/// `n!`
fn factorial_of(n: Integer, work: &WorkLimit) -> Result<Value, Raised> {
    if n.is_negative() {
        return Err(Raised::value("factorial() not defined for negative values"));
    }
    match n {
        Integer::Small(n) => falling_product(&BigInt::from(n), n.unsigned_abs(), work),
        Integer::Big(_) => Err(Raised::overflow(
            // the largest C `long` of 64-bit Linux, which CPython inserts as `LONG_MAX`
            "factorial() argument should not exceed 9223372036854775807",
        )),
    }
}

/// `n (n - 1) … (n - k + 1)` for `k <= n`.
fn falling_product(n: &BigInt, k: u64, work: &WorkLimit) -> Result<Value, Raised> {
    // The product is at least `k!`, which has more than `k` bits from `k` = 4 on.
    limits::check_bits(if k < 4 { 0 } else { k })?;
    let mut product = BigInt::one();
    for step in 0..k {
        product = multiply_within_limits(product, n - step, work)?;
    }
    Ok(Value::int(product))
}

/// `product * factor`, within the limits.
fn multiply_within_limits(
    product: BigInt,
    factor: BigInt,
    work: &WorkLimit,
) -> Result<BigInt, Raised> {
    work.take((product.bits() / 64 + 1) * (factor.bits() / 64 + 1))?;
    let product = product * factor;
    limits::check_bits(product.bits())?;
    Ok(product)
}

/// The arguments of `comb` and `perm`; `None` where `k` exceeds `n` and the result is 0.
fn n_and_k(n: &Value, k: &Value) -> Result<Option<(BigInt, BigInt)>, Raised> {
    let n = n.integer_argument()?;
    let k = k.integer_argument()?;
    // in CPython's order: the types of both, then the sign of `n`, then that of `k`
    if n.is_negative() {
        return Err(Raised::value(NEGATIVE_N));
    }
    if k.is_negative() {
        return Err(Raised::value(NEGATIVE_K));
    }
    Ok(Some((n.to_big(), k.to_big())).filter(|(n, k)| k <= n))
}

/// `perm(n, k)`.
fn perm(n: &Value, k: &Value, python: &Python) -> Result<Value, Raised> {
    // CPython's default of `k`, which may be given too
    if matches!(k, Value::None) {
        return factorial(n, python);
    }
    let Some((n, k)) = n_and_k(n, k)? else {
        return Ok(Value::Int(0));
    };
    match k.to_i64() {
        Some(k) => falling_product(&n, k.unsigned_abs(), &python.work),
        None => Err(Raised::overflow("k must not exceed 9223372036854775807")),
    }
}

/// `comb(n, k)`.
fn comb(n: &Value, k: &Value, work: &WorkLimit) -> Result<Value, Raised> {
    let Some((n, k)) = n_and_k(n, k)? else {
        return Ok(Value::Int(0));
    };
    // `comb(n, k)` is `comb(n, n - k)`: the smaller one takes fewer factors
    let other = &n - &k;
    let Some(k) = k.min(other).to_i64() else {
        return Err(Raised::overflow(
            "min(n - k, k) must not exceed 9223372036854775807",
        ));
    };
    // With `k <= n / 2` the result is at least `2^k`.
    let k = k.unsigned_abs();
    limits::check_bits(k)?;
    match n.to_u64() {
        Some(n) => choose(n, k, work),
        None => choose_from_big(&n, k, work),
    }
}

/// The cost of a division relative to a multiplication.
const DIVISION_COST: u64 = 5;

/// `comb(n, k)`, taking as many factors at a time as fit in 64 bits.
fn choose(n: u64, k: u64, work: &WorkLimit) -> Result<Value, Raised> {
    let mut result = BigInt::one();
    let mut numerator = 1_u64;
    let mut denominator = 1_u64;
    for step in 0..k {
        match (
            numerator.checked_mul(n - step),
            denominator.checked_mul(step + 1),
        ) {
            (Some(longer), Some(divisor)) => (numerator, denominator) = (longer, divisor),
            _ => {
                result = multiply_and_divide(result, numerator.into(), denominator, work)?;
                (numerator, denominator) = (n - step, step + 1);
            }
        }
    }
    multiply_and_divide(result, numerator.into(), denominator, work).map(Value::int)
}

/// `comb(n, k)` for an `n` of more than 64 bits.
fn choose_from_big(n: &BigInt, k: u64, work: &WorkLimit) -> Result<Value, Raised> {
    let mut result = BigInt::one();
    for step in 0..k {
        result = multiply_and_divide(result, n - step, step + 1, work)?;
    }
    Ok(Value::int(result))
}

/// `value * numerator / denominator`, which has no remainder.
fn multiply_and_divide(
    value: BigInt,
    numerator: BigInt,
    denominator: u64,
    work: &WorkLimit,
) -> Result<BigInt, Raised> {
    work.take((value.bits() / 64 + 1) * (numerator.bits() / 64 + 1 + DIVISION_COST))?;
    // after each step it is the binomial of the factors so far, an integer
    let result = value * numerator / denominator;
    limits::check_bits(result.bits())?;
    Ok(result)
}

/// Folds a function of two integers over any number of arguments, from the left.
fn fold(
    values: &[Value],
    empty: Value,
    function: fn(Integer, Integer, &WorkLimit) -> Result<Value, Raised>,
    work: &WorkLimit,
) -> Result<Value, Raised> {
    let Some((first, rest)) = values.split_first() else {
        return Ok(empty);
    };
    // `gcd(-4)` is 4, though there is nothing to combine it with
    let mut result = integer::magnitude(first.integer_argument()?);
    for value in rest {
        result = function(result.integer_argument()?, value.integer_argument()?, work)?;
    }
    Ok(result)
}

/// `gcd(x, y)`.
fn gcd(x: Integer, y: Integer, work: &WorkLimit) -> Result<Value, Raised> {
    if let (Integer::Small(a), Integer::Small(b)) = (x, y) {
        return Ok(Value::int(BigInt::from(
            a.unsigned_abs().gcd(&b.unsigned_abs()),
        )));
    }
    // Each step removes a bit and passes over all words.
    work.take(
        x.bits()
            .min(y.bits())
            .saturating_mul(x.word_count().max(y.word_count()))
            / 2,
    )?;
    Ok(Value::int(x.to_big().gcd(&y.to_big())))
}

/// `lcm(x, y)`.
fn lcm(x: Integer, y: Integer, work: &WorkLimit) -> Result<Value, Raised> {
    if x.is_zero() || y.is_zero() {
        return Ok(Value::Int(0));
    }
    // divided first, so that the product is no longer than the result
    let divisor = gcd(x, y, work)?;
    let (quotient, _) = integer::floor_divide(x, divisor.integer_argument()?, work)?;
    let multiple = integer::multiply(Integer::Big(&quotient), y, work)?;
    Ok(integer::magnitude(multiple.integer_argument()?))
}

/// `isqrt(x)`.
fn isqrt(x: &Value, work: &WorkLimit) -> Result<Value, Raised> {
    let n = x.integer_argument()?;
    if n.is_negative() {
        return Err(Raised::value("isqrt() argument must be nonnegative"));
    }
    match n {
        Integer::Small(value) => Ok(Value::Int(value.isqrt())),
        Integer::Big(value) => {
            // num-bigint uses Newton's method: some divisions of the whole length
            work.take(16 * n.word_count() * n.word_count())?;
            Ok(Value::int(value.sqrt()))
        }
    }
}
