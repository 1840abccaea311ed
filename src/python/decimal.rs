//! Decimal arithmetic: numbers of 28 significant digits instead of Python's.
//!
//! Literals keep the digits of their text, so that `0.1 + 0.2` is `0.3`. Operators and functions
//! mean what they mean for Python's numbers, with these differences: integers and fractions have
//! one type, there are no infinities and no nans, and results have at most 28 decimals, so that one
//! of less than half of `1e-28` is zero.
//!
//! Operators are exact where 28 digits hold the result. The functions of integers are Python's own;
//! the others have an implementation with 28 digits where there is one. Exact intermediate results
//! are scaled integers, `digits * 10^-scale`, which are rounded once.

use std::borrow::Cow;
use std::fmt;

use num_bigint::BigInt;
use num_integer::Integer as _;
use num_traits::{ToPrimitive, Zero};
use rust_decimal::{Decimal, MathematicalOps, RoundingStrategy};

use crate::python::functions::{
    self, accumulate, coordinates, extreme, missing_method, not_callable,
};
use crate::python::integer::{self, DIVISION_BY_ZERO, divide_to_nearest};
use crate::python::{
    BinaryOperator, ErrorKind, Function, Python, Raised, UnaryOperator, Value, operators,
    signatures,
};

/// `callee(positional…, keyword=…)`.
pub(super) fn call(
    callee: &Value,
    positional: &[Value],
    keywords: &[(&str, Value)],
    python: &Python,
) -> Result<Value, Raised> {
    use Function as F;
    let &Value::Function(function) = callee else {
        return Err(not_callable(callee));
    };
    let arguments = signatures::bind(function, python.version, positional, keywords)?;
    let in_python = |positional: &[Value], keywords: &[(&str, Value)]| {
        from_python(&python.call_of_python(callee, positional, keywords)?)
    };
    match (function, arguments.slots) {
        (F::Fma | F::Sumprod | F::Nextafter, _) => Err(unsupported(function)),
        (F::Max | F::Min, [key, default, ..]) => {
            extreme(function, arguments.values, [key, default], python)
        }
        // a number with a fraction is Python's `TypeError`
        (F::Comb | F::Factorial | F::Gcd | F::Isqrt | F::Lcm | F::Perm, _) => {
            let values: Vec<_> = arguments.values.iter().map(to_python).collect();
            in_python(&values, &[])
        }
        (F::Hypot, [x, second, ..]) => {
            let lengths = arguments.values.iter().map(Value::decimal_argument);
            let lengths: Vec<Decimal> = lengths.collect::<Result<_, _>>()?;
            match (x.and_then(Value::decimal), second) {
                (Some(x), None) => Ok(x.abs().into()),
                _ => norm(&lengths),
            }
        }
        (F::Sum | F::Fsum, [Some(items), start, ..]) => {
            let start = start.cloned().unwrap_or(Decimal::ZERO.into());
            accumulate(items, start, BinaryOperator::Add, python)
        }
        (F::Prod, [Some(items), start, ..]) => {
            let start = start.cloned().unwrap_or(Decimal::ONE.into());
            accumulate(items, start, BinaryOperator::Multiply, python)
        }
        (F::Bool, [x, ..]) => Ok(Value::Bool(x.is_some_and(Value::truth))),
        (F::Float | F::Int, [None, None, ..]) => Ok(Decimal::ZERO.into()),
        (F::Float | F::Int, [x, base, ..]) => match (x.and_then(Value::decimal), base) {
            (Some(number), None) if function == F::Int => Ok(number.trunc().into()),
            (Some(number), None) => Ok(number.into()),
            // a base needs a string, so that Python always raises here, with its own texts
            _ => {
                let positional = Vec::from_iter(x.map(to_python));
                let keywords = Vec::from_iter(base.map(|base| ("base", to_python(base))));
                in_python(&positional, &keywords)
            }
        },
        (F::Round, [Some(x), digits, ..]) => round(x, digits),
        (F::Isclose, [Some(a), Some(b), relative, absolute]) => isclose(a, b, relative, absolute),
        (F::Divmod, [Some(x), Some(y), ..]) => match (x.decimal(), y.decimal()) {
            (Some(a), Some(b)) => {
                let (quotient, remainder) = divmod(a, b)?;
                Ok(pair(quotient, remainder))
            }
            _ => Err(operators::unsupported("divmod()", x, y)),
        },
        (F::Dist, [Some(p), Some(q), ..]) => dist(p, q),
        // The first argument is checked before the second.
        (F::Log, [Some(x), Some(base), ..]) => divide(
            logarithm(function, x.decimal_argument()?)?,
            logarithm(function, base.decimal_argument()?)?,
        ),
        (_, [Some(x), Some(y), ..]) => {
            binary_real_function(function, x.decimal_argument()?, y.decimal_argument()?)
        }
        (F::All | F::Any | F::Len, _) => {
            from_python(&functions::call_bound(function, arguments, python)?)
        }
        (_, [x, ..]) => match x.and_then(Value::decimal) {
            Some(number) => real_function(function, number),
            // of what is no number Python knows the error
            None => from_python(&functions::call_bound(function, arguments, python)?),
        },
    }
}

/// `op x`.
pub(super) fn unary(op: UnaryOperator, x: &Value) -> Result<Value, Raised> {
    match (op, x.decimal()) {
        (UnaryOperator::Not, _) => Ok(Value::Bool(!x.truth())),
        (UnaryOperator::Plus, Some(value)) => Ok(value.into()),
        (UnaryOperator::Minus, Some(value)) => Ok((-value).into()),
        _ => from_python(&operators::unary(op, &to_python(x))?),
    }
}

/// `x op y`.
pub(super) fn binary(
    op: BinaryOperator,
    x: &Value,
    y: &Value,
    python: &Python,
) -> Result<Value, Raised> {
    use BinaryOperator as Op;
    if let (Some(a), Some(b)) = (x.decimal(), y.decimal()) {
        return match op {
            Op::Add => checked(a.checked_add(b)),
            Op::Subtract => checked(a.checked_sub(b)),
            Op::Multiply => checked(a.checked_mul(b)),
            Op::Divide => divide(a, b),
            Op::FloorDivide => Ok(divmod(a, b)?.0.into()),
            Op::Modulo => Ok(divmod(a, b)?.1.into()),
            Op::Power => power(a, b),
            // Bitwise operators are Python's: defined on integers, a TypeError for a number with a
            // fraction.
            _ => from_python(&python.binary_of_python(op, &to_python(x), &to_python(y))?),
        };
    }
    if matches!(op, Op::Add | Op::Multiply) && (x.items().is_some() || y.items().is_some()) {
        return Err(not_decimal(
            "`+` and `*` of tuples and lists, which decimal arithmetic does not have",
        ));
    }
    Err(operators::unsupported(operators::spelling(op), x, y))
}

/// The decimal as a value, or the error that the number is too large.
fn checked(value: Option<Decimal>) -> Result<Value, Raised> {
    value.map(Value::Decimal).ok_or_else(too_large)
}

/// Converts Python's value: an integer exactly, a float as its shortest `repr` reads.
///
/// # Errors
/// [`ErrorKind::Decimal`] for infinities, nans, numbers that are too large, and floats too near to
/// zero.
pub(super) fn from_python(value: &Value) -> Result<Value, Raised> {
    match value {
        Value::Int(value) => Ok(Decimal::from(*value).into()),
        Value::Big(value) => checked(to_decimal(value.digits(), 0)),
        Value::Float(float) if !float.is_finite() => Err(not_had(value)),
        Value::Float(_) => parse(&value.repr()).map(Value::Decimal),
        Value::Tuple(items) => Ok(Value::tuple(all_from_python(items)?)),
        Value::List(items) => Ok(Value::list(all_from_python(items)?)),
        other => Ok(other.clone()),
    }
}

fn all_from_python(items: &[Value]) -> Result<Vec<Value>, Raised> {
    items.iter().map(from_python).collect()
}

/// Converts to Python's value: an `int` where there is no fraction, else the nearest `float`.
pub(super) fn to_python(value: &Value) -> Value {
    match value {
        Value::Decimal(value) if value.is_integer() => {
            // `trunc` also makes the scale 0, so that the mantissa is the number
            Value::int(BigInt::from(value.trunc().mantissa()))
        }
        Value::Decimal(_) => Value::Float(value.to_f64().unwrap_or(f64::NAN)),
        Value::Tuple(items) => Value::tuple(items.iter().map(to_python).collect()),
        Value::List(items) => Value::list(items.iter().map(to_python).collect()),
        other => other.clone(),
    }
}

/// `x / y`.
fn divide(x: Decimal, y: Decimal) -> Result<Value, Raised> {
    if y.is_zero() {
        return Err(Raised::zero_division(DIVISION_BY_ZERO));
    }
    checked(x.checked_div(y))
}

/// `divmod(x, y)`: the quotient rounded towards minus infinity, and the remainder, which has the
/// sign of `y`.
fn divmod(x: Decimal, y: Decimal) -> Result<(Decimal, Decimal), Raised> {
    if y.is_zero() {
        return Err(Raised::zero_division(DIVISION_BY_ZERO));
    }
    let (a, b, scale) = aligned(x, y);
    let (quotient, remainder) = a.div_mod_floor(&b);
    Ok((rounded(&quotient, 0)?, rounded(&remainder, scale)?))
}

/// `digits * 10^-scale`, rounded to a decimal.
fn rounded(digits: &BigInt, scale: i64) -> Result<Decimal, Raised> {
    to_decimal(digits, scale).ok_or_else(too_large)
}

/// `x ** y`.
///
/// # Errors
/// `ZeroDivisionError` for zero to a negative power; [`ErrorKind::Complex`] for a fractional power
/// of a negative number; [`ErrorKind::Decimal`] for a result beyond the largest decimal.
fn power(x: Decimal, y: Decimal) -> Result<Value, Raised> {
    // a zero of `rust_decimal` may be negative
    if x.is_zero() && y.is_sign_negative() && !y.is_zero() {
        return Err(Raised::zero_to_negative_power());
    }
    if y.is_integer() {
        return integer_power(x, y);
    }
    if x.is_zero() {
        return Ok(Decimal::ZERO.into());
    }
    if x.is_sign_negative() {
        return Err(Raised::complex_power());
    }
    // a root is rounded once, unlike `exp(ln(x) / 2)`
    if y == Decimal::new(5, 1) {
        return checked(square_root(x));
    }
    let logarithm = x.checked_ln().and_then(|ln| ln.checked_mul(y));
    checked(logarithm.and_then(|product| product.checked_exp()))
}

/// `x ** y` for an integer `y`.
fn integer_power(x: Decimal, y: Decimal) -> Result<Value, Raised> {
    // `trunc` also removes zeros after the point, which are digits of the mantissa
    let is_even = (y.trunc().mantissa() & 1) == 0;
    // exact for any exponent, where `checked_powd` refuses one of more than 32 bits
    if x.abs() == Decimal::ONE {
        return Ok(if is_even { Decimal::ONE } else { x }.into());
    }
    if x.is_zero() {
        return Ok(Decimal::from(u8::from(y.is_zero())).into());
    }
    if y.is_sign_negative() && x.abs() < Decimal::ONE {
        // The positive power would be rounded to few digits before the division.
        let inverse = Decimal::ONE.checked_div(x).ok_or_else(too_large)?;
        return checked(inverse.checked_powd(-y));
    }
    checked(x.checked_powd(y))
}

/// The error for a function that decimal arithmetic does not have.
fn unsupported(function: Function) -> Raised {
    not_had(function.name())
}

fn not_had(what: impl fmt::Display) -> Raised {
    not_decimal(format!("`{what}`, which decimal arithmetic does not have"))
}

fn not_decimal(text: impl Into<Cow<'static, str>>) -> Raised {
    Raised::new(ErrorKind::Decimal, text)
}

fn pair(first: Decimal, second: Decimal) -> Value {
    Value::Tuple([first.into(), second.into()].into())
}

/// `dist(p, q)`.
fn dist(p: &Value, q: &Value) -> Result<Value, Raised> {
    let mut lengths = Vec::new();
    for (a, b) in coordinates(p, q)? {
        let length = a.decimal_argument()?.checked_sub(b.decimal_argument()?);
        lengths.push(length.ok_or_else(too_large)?);
    }
    norm(&lengths)
}

/// Functions of one number; an error for those without an implementation with 28 digits.
fn real_function(function: Function, x: Decimal) -> Result<Value, Raised> {
    use Function as F;
    match function {
        F::Ceil => Ok(x.ceil().into()),
        F::Floor => Ok(x.floor().into()),
        F::Trunc => Ok(x.trunc().into()),
        F::Modf => Ok(pair(x.fract(), x.trunc())),
        F::Abs | F::Fabs => Ok(x.abs().into()),
        F::Isfinite => Ok(Value::Bool(true)),
        F::Isinf | F::Isnan => Ok(Value::Bool(false)),
        // a zero of `rust_decimal` may be negative
        F::Sqrt if x.is_sign_negative() && !x.is_zero() => Err(Raised::domain()),
        F::Sqrt => checked(square_root(x)),
        F::Log | F::Log2 | F::Log10 | F::Log1p => logarithm(function, x).map(Value::Decimal),
        F::Degrees => ratio(x.checked_mul(Decimal::from(180)), Some(Decimal::PI)),
        F::Radians => ratio(x.checked_mul(Decimal::PI), Some(Decimal::from(180))),
        F::Sin => checked(x.checked_sin()),
        F::Cos => checked(x.checked_cos()),
        // `checked_tan` of rust_decimal 1.43 is a short series, right to about 8 digits
        F::Tan => ratio(x.checked_sin(), x.checked_cos()),
        F::Exp => checked(x.checked_exp()),
        F::Expm1 => {
            let power = x.checked_exp().ok_or_else(too_large)?;
            checked(power.checked_sub(Decimal::ONE))
        }
        F::Exp2 => power(Decimal::TWO, x),
        // `rust_decimal` has no hyperbolic functions
        F::Sinh => ratio(difference_of_powers(x), Some(Decimal::TWO)),
        F::Cosh => ratio(sum_of_powers(x), Some(Decimal::TWO)),
        F::Tanh => ratio(difference_of_powers(x), sum_of_powers(x)),
        _ => Err(unsupported(function)),
    }
}

/// `exp(x) + exp(-x)`.
fn sum_of_powers(x: Decimal) -> Option<Decimal> {
    x.checked_exp()?.checked_add((-x).checked_exp()?)
}

/// `exp(x) - exp(-x)`.
fn difference_of_powers(x: Decimal) -> Option<Decimal> {
    x.checked_exp()?.checked_sub((-x).checked_exp()?)
}

/// A quotient; the error of a number that is too large if an operand is `None` or the divisor is
/// zero.
fn ratio(x: Option<Decimal>, y: Option<Decimal>) -> Result<Value, Raised> {
    checked(quotient(x, y))
}

/// A quotient; `None` if an operand is `None`, or the divisor is zero.
fn quotient(x: Option<Decimal>, y: Option<Decimal>) -> Option<Decimal> {
    x?.checked_div(y?)
}

/// `log`, `log2`, `log10`, `log1p`.
fn logarithm(function: Function, x: Decimal) -> Result<Decimal, Raised> {
    let x = if function == Function::Log1p {
        x.checked_add(Decimal::ONE).ok_or_else(too_large)?
    } else {
        x
    };
    if x <= Decimal::ZERO {
        return Err(Raised::domain());
    }
    let result = match function {
        Function::Log10 => x.checked_log10(),
        // `rust_decimal` has no logarithm to the base 2
        Function::Log2 => quotient(x.checked_ln(), Decimal::TWO.checked_ln()),
        _ => x.checked_ln(),
    };
    result.ok_or_else(too_large)
}

/// Functions of two numbers; an error for those without an implementation with 28 digits.
fn binary_real_function(function: Function, x: Decimal, y: Decimal) -> Result<Value, Raised> {
    match function {
        Function::Pow => pow(x, y),
        Function::Copysign if y.is_sign_negative() => Ok((-x.abs()).into()),
        Function::Copysign => Ok(x.abs().into()),
        Function::Fmod | Function::Remainder if y.is_zero() => Err(Raised::domain()),
        Function::Fmod => {
            // C's `fmod` has the sign of the first operand, unlike Python's `%`
            let (_, rest) = divmod(x.abs(), y.abs())?;
            Ok(if x.is_sign_negative() { -rest } else { rest }.into())
        }
        Function::Remainder => {
            let (a, b, scale) = aligned(x, y.abs());
            let nearest = integer::divide_to_nearest(&a, &b);
            rounded(&(a - nearest * b), scale).map(Value::Decimal)
        }
        _ => Err(unsupported(function)),
    }
}

/// `math.pow`, which has no complex results.
fn pow(x: Decimal, y: Decimal) -> Result<Value, Raised> {
    let is_pole = x.is_zero() && y < Decimal::ZERO;
    let is_root = x < Decimal::ZERO && !y.is_integer();
    if is_pole || is_root {
        Err(Raised::domain())
    } else {
        power(x, y)
    }
}

/// `isclose(a, b, rel_tol=1e-09, abs_tol=0.0)`.
fn isclose(
    a: &Value,
    b: &Value,
    relative: Option<&Value>,
    absolute: Option<&Value>,
) -> Result<Value, Raised> {
    let a = a.decimal_argument()?;
    let b = b.decimal_argument()?;
    let relative = relative.map_or(Ok(Decimal::new(1, 9)), Value::decimal_argument)?;
    let absolute = absolute.map_or(Ok(Decimal::ZERO), Value::decimal_argument)?;
    if relative < Decimal::ZERO || absolute < Decimal::ZERO {
        return Err(Raised::value("tolerances must be non-negative"));
    }
    let distance = b.checked_sub(a).ok_or_else(too_large)?.abs();
    let tolerance = relative
        .checked_mul(a.abs().max(b.abs()))
        .ok_or_else(too_large)?;
    Ok(Value::Bool(distance <= tolerance.max(absolute)))
}

/// More integer digits than any decimal has.
const MAX_PLACES: u32 = 30;

/// `round(number, ndigits=None)`, half to even.
fn round(x: &Value, digits: Option<&Value>) -> Result<Value, Raised> {
    let Some(value) = x.decimal() else {
        return Err(missing_method(x.type_name(), "__round__"));
    };
    let digits = match digits {
        None | Some(Value::None) => Decimal::ZERO,
        Some(digits) => match digits.decimal() {
            Some(whole) if whole.is_integer() => whole,
            _ => {
                let name = digits.type_name();
                return Err(Raised::type_error(format!(
                    "'{name}' object cannot be interpreted as an integer"
                )));
            }
        },
    };
    match i64::try_from(digits) {
        // left of the point, where `rust_decimal` does not round
        Ok(places @ ..0) => round_to_tens(value, places.unsigned_abs()).map(Value::Decimal),
        // no decimal has more than 28 decimals
        Ok(decimals @ 0..=28) => Ok(value
            .round_dp_with_strategy(decimals as u32, RoundingStrategy::MidpointNearestEven)
            .into()),
        Err(_) if digits.is_sign_negative() => Ok(Decimal::ZERO.into()),
        Ok(_) | Err(_) => Ok(value.into()),
    }
}

/// The nearest multiple of `10^places`, ties to even.
fn round_to_tens(value: Decimal, places: u64) -> Result<Decimal, Raised> {
    let places = match u32::try_from(places) {
        Ok(places @ ..=MAX_PLACES) => places,
        _ => return Ok(Decimal::ZERO),
    };
    let unit = power_of_ten(places + value.scale());
    let multiple = integer::divide_to_nearest(&BigInt::from(value.mantissa()), &unit);
    rounded(&multiple, -i64::from(places))
}

/// The largest scale of a decimal.
const MAX_SCALE: i64 = 28;

/// The largest length of a decimal's digits, in bits.
const DIGIT_BITS: u64 = 96;

/// The largest number of zeros at the end of a decimal.
// the largest decimal, 2^96 - 1, has 29 digits
const MAX_TRAILING_ZEROS: i64 = 29;

/// `10^exponent`
fn power_of_ten(exponent: u32) -> BigInt {
    BigInt::from(10).pow(exponent)
}

/// The decimal nearest to `digits * 10^-scale`; zero when that is too small, `None` when it is too
/// large.
fn to_decimal(digits: &BigInt, scale: i64) -> Option<Decimal> {
    // n bits are at most n decimal digits, so the number rounds to 0 without a division
    if digits.is_zero() || scale > MAX_SCALE + 3 + digits.bits() as i64 {
        return Some(Decimal::ZERO);
    }
    if scale < 0 {
        if -scale > MAX_TRAILING_ZEROS {
            return None;
        }
        return to_decimal(&(digits * power_of_ten(-scale as u32)), 0);
    }
    // A bit is worth more than 0.3 digits, so at least this many digits must be dropped; the loop
    // drops the rest.
    let excess = (digits.bits().saturating_sub(DIGIT_BITS) * 3 / 10) as i64;
    let mut dropped = excess.max(scale - MAX_SCALE).max(0);
    while dropped <= scale {
        // it fits, since the check above bounds the scale
        let kept = divide_to_nearest(digits, &power_of_ten(dropped as u32));
        if kept.bits() <= DIGIT_BITS {
            // at most `MAX_SCALE`, since so many digits were dropped before
            return Decimal::try_from_i128_with_scale(kept.to_i128()?, (scale - dropped) as u32)
                .ok();
        }
        dropped += 1;
    }
    None
}

/// The digits of two decimals at the same scale, and that scale.
fn aligned(x: Decimal, y: Decimal) -> (BigInt, BigInt, i64) {
    let scale = x.scale().max(y.scale());
    (digits_at(scale, x), digits_at(scale, y), i64::from(scale))
}

/// The digits of a decimal at a scale of at least its own.
fn digits_at(scale: u32, value: Decimal) -> BigInt {
    BigInt::from(value.mantissa()) * power_of_ten(scale - value.scale())
}

/// Parses a decimal literal; the nearest decimal.
///
/// # Errors
/// [`ErrorKind::Decimal`] for a number that is too large, for one that rounds to zero and is not
/// zero, and for any other text.
pub(super) fn parse(text: &str) -> Result<Decimal, Raised> {
    let (digits, scale) = split_literal(text)
        .ok_or_else(|| not_decimal(format!("`{text}`, which is not a decimal number")))?;
    let decimal = rounded(&digits, scale)?;
    if decimal.is_zero() && !digits.is_zero() {
        return Err(not_decimal(
            "a number that is less than 1e-28, but not zero",
        ));
    }
    Ok(decimal)
}

/// The digits and the scale of a literal; `None` if the text is not a decimal literal.
fn split_literal(text: &str) -> Option<(BigInt, i64)> {
    let text = text.replace('_', "");
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
        None => (text.as_str(), 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}").parse().ok()?;
    Some((digits, (fraction.len() as i64).saturating_sub(exponent)))
}

/// The error for a number beyond the largest decimal.
fn too_large() -> Raised {
    not_decimal("a number of more than 28 digits before the point")
}

/// Parses an exponent, whose magnitude saturates at [`u32::MAX`].
fn parse_exponent(exponent: &str) -> Option<i64> {
    let digits = exponent.trim_start_matches(['+', '-']);
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let size = i64::from(digits.parse().unwrap_or(u32::MAX));
    Some(if exponent.starts_with('-') {
        -size
    } else {
        size
    })
}

/// The square root of a decimal that is not negative, rounded once.
fn square_root(x: Decimal) -> Option<Decimal> {
    root(&BigInt::from(x.mantissa()), x.scale())
}

/// The square root of the sum of squares, rounded once.
fn norm(lengths: &[Decimal]) -> Result<Value, Raised> {
    let scale = lengths.iter().map(Decimal::scale).max().unwrap_or(0);
    let squares = lengths
        .iter()
        .map(|&length| digits_at(scale, length).pow(2))
        .sum();
    checked(root(&squares, 2 * scale))
}

/// The square root of `digits * 10^-scale`.
fn root(digits: &BigInt, scale: u32) -> Option<Decimal> {
    // An even scale, with enough digits for 29 in the root, and a sticky digit after them.
    let shift = 60 + scale % 2;
    let digits = digits * power_of_ten(shift);
    let root = digits.sqrt();
    let is_exact = &root * &root == digits;
    let sticky = root * 10_u32 + u32::from(!is_exact);
    to_decimal(&sticky, i64::from((scale + shift) / 2 + 1))
}

#[cfg(test)]
mod tests;
