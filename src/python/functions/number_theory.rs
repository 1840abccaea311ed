//! Number theory on integers of any size: `factorial`, `comb`, `perm`, `gcd`, `lcm`, `isqrt`.

use num_bigint::BigInt;
use num_integer::Integer as _;
use num_traits::{One, ToPrimitive};

use crate::python::limits::{self, WorkLimit};
use crate::python::value::Integer;
use crate::python::{Python, Raised, Value, integer};

const NEGATIVE_N: &str = "n must be a non-negative integer";
const NEGATIVE_K: &str = "k must be a non-negative integer";

/// `factorial(x)`.
pub(super) fn factorial(x: &Value, python: &Python) -> Result<Value, Raised> {
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
pub(super) fn perm(n: &Value, k: &Value, python: &Python) -> Result<Value, Raised> {
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
pub(super) fn comb(n: &Value, k: &Value, work: &WorkLimit) -> Result<Value, Raised> {
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

/// `gcd(*integers)`.
pub(super) fn gcd(values: &[Value], work: &WorkLimit) -> Result<Value, Raised> {
    fold(values, 0, gcd_of_two, work)
}

/// `lcm(*integers)`.
pub(super) fn lcm(values: &[Value], work: &WorkLimit) -> Result<Value, Raised> {
    fold(values, 1, lcm_of_two, work)
}

/// Folds a function of two integers over any number of arguments, from the left; `neutral` is what
/// Python returns without arguments.
fn fold(
    values: &[Value],
    neutral: i64,
    function: fn(Integer, Integer, &WorkLimit) -> Result<Value, Raised>,
    work: &WorkLimit,
) -> Result<Value, Raised> {
    let Some((first, rest)) = values.split_first() else {
        return Ok(neutral.into());
    };
    // `gcd(-4)` is 4, though there is nothing to combine it with
    let mut result = integer::magnitude(first.integer_argument()?);
    for value in rest {
        result = function(result.integer_argument()?, value.integer_argument()?, work)?;
    }
    Ok(result)
}

fn gcd_of_two(x: Integer, y: Integer, work: &WorkLimit) -> Result<Value, Raised> {
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

fn lcm_of_two(x: Integer, y: Integer, work: &WorkLimit) -> Result<Value, Raised> {
    if x.is_zero() || y.is_zero() {
        return Ok(Value::Int(0));
    }
    // divided first, so that the product is no longer than the result
    let divisor = gcd_of_two(x, y, work)?;
    let (quotient, _) = integer::floor_divide(x, divisor.integer_argument()?, work)?;
    let multiple = integer::multiply(Integer::Big(&quotient), y, work)?;
    Ok(integer::magnitude(multiple.integer_argument()?))
}

/// `isqrt(x)`.
pub(super) fn isqrt(x: &Value, work: &WorkLimit) -> Result<Value, Raised> {
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
