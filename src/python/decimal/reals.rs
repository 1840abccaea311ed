//! Functions from numbers to a number in base ten: those that have a form of 28 digits.

use rust_decimal::{Decimal, MathematicalOps};

use crate::python::decimal::functions::missing;
use crate::python::decimal::value::{DecimalValue, held};
use crate::python::decimal::{operate, scaled};
use crate::python::{Function, Raised};

/// A function of one number.
pub(super) fn one(function: Function, x: Decimal) -> Result<DecimalValue, Raised> {
    use Function as F;
    match function {
        F::Ceil => Ok(x.ceil().into()),
        F::Floor => Ok(x.floor().into()),
        F::Fabs => Ok(x.abs().into()),
        F::Isfinite => Ok(DecimalValue::Bool(true)),
        F::Isinf | F::Isnan => Ok(DecimalValue::Bool(false)),
        F::Sqrt if x.is_sign_negative() && !x.is_zero() => Err(Raised::domain()),
        F::Sqrt => held(scaled::square_root(x)),
        F::Log | F::Log2 | F::Log10 | F::Log1p => logarithm(function, x).map(DecimalValue::Decimal),
        F::Degrees => held(x.checked_mul(Decimal::from(180)).and_then(|turn| turn.checked_div(Decimal::PI))),
        F::Radians => held(x.checked_mul(Decimal::PI).and_then(|turn| turn.checked_div(Decimal::from(180)))),
        F::Sin => held(x.checked_sin()),
        F::Cos => held(x.checked_cos()),
        F::Tan => ratio(x.checked_sin(), x.checked_cos()),
        _ => exponential(function, x),
    }
}

/// Functions made of `exp`.
fn exponential(function: Function, x: Decimal) -> Result<DecimalValue, Raised> {
    let powers = || Some((x.checked_exp()?, (-x).checked_exp()?));
    let sum = || powers().and_then(|(up, down)| up.checked_add(down));
    let difference = || powers().and_then(|(up, down)| up.checked_sub(down));
    let half = |value: Option<Decimal>| value.and_then(|value| value.checked_div(Decimal::TWO));
    match function {
        Function::Exp => held(x.checked_exp()),
        Function::Expm1 => held(x.checked_exp().and_then(|power| power.checked_sub(Decimal::ONE))),
        Function::Exp2 => operate::power(Decimal::TWO, x),
        Function::Sinh => held(half(difference())),
        Function::Cosh => held(half(sum())),
        Function::Tanh => ratio(difference(), sum()),
        _ => Err(missing(function)),
    }
}

/// A quotient that has no value where the divisor vanishes.
fn ratio(x: Option<Decimal>, y: Option<Decimal>) -> Result<DecimalValue, Raised> {
    held(x.zip(y).and_then(|(x, y)| x.checked_div(y)))
}

/// `log`, `log2`, `log10`, `log1p`.
pub(super) fn logarithm(function: Function, x: Decimal) -> Result<Decimal, Raised> {
    let x = if function == Function::Log1p { x.checked_add(Decimal::ONE).ok_or_else(scaled::too_large)? } else { x };
    if x <= Decimal::ZERO {
        return Err(Raised::domain());
    }
    let result = match function {
        Function::Log10 => x.checked_log10(),
        Function::Log2 => {
            x.checked_ln().zip(Decimal::TWO.checked_ln()).and_then(|(whole, part)| whole.checked_div(part))
        }
        _ => x.checked_ln(),
    };
    result.ok_or_else(scaled::too_large)
}

/// A function of two numbers.
pub(super) fn two(function: Function, x: Decimal, y: Decimal) -> Result<DecimalValue, Raised> {
    match function {
        Function::Pow => pow(x, y),
        Function::Copysign => Ok(if y.is_sign_negative() { -x.abs() } else { x.abs() }.into()),
        Function::Fmod | Function::Remainder if y.is_zero() => Err(Raised::domain()),
        Function::Fmod => {
            let (_, rest) = operate::divmod(x.abs(), y.abs())?;
            Ok(if x.is_sign_negative() { -rest } else { rest }.into())
        }
        Function::Remainder => {
            let (a, b, scale) = scaled::aligned(x, y.abs());
            let nearest = scaled::divide_to_nearest(&a, &b);
            operate::rounded(&(a - nearest * b), scale).map(DecimalValue::Decimal)
        }
        _ => Err(missing(function)),
    }
}

/// `math.pow`, which has no complex numbers.
fn pow(x: Decimal, y: Decimal) -> Result<DecimalValue, Raised> {
    let is_pole = x.is_zero() && y < Decimal::ZERO;
    let is_root = x < Decimal::ZERO && !y.is_integer();
    if is_pole || is_root { Err(Raised::domain()) } else { operate::power(x, y) }
}

/// `isclose(a, b, rel_tol=1e-09, abs_tol=0.0)`.
pub(super) fn isclose(
    a: &DecimalValue,
    b: &DecimalValue,
    relative: Option<&DecimalValue>,
    absolute: Option<&DecimalValue>,
) -> Result<DecimalValue, Raised> {
    let (a, b) = (a.real()?, b.real()?);
    let relative = relative.map_or(Ok(Decimal::new(1, 9)), DecimalValue::real)?;
    let absolute = absolute.map_or(Ok(Decimal::ZERO), DecimalValue::real)?;
    if relative < Decimal::ZERO || absolute < Decimal::ZERO {
        return Err(Raised::value("tolerances must be non-negative"));
    }
    let apart = b.checked_sub(a).ok_or_else(scaled::too_large)?.abs();
    let tolerance = relative.checked_mul(a.abs().max(b.abs())).ok_or_else(scaled::too_large)?;
    Ok(DecimalValue::Bool(apart <= tolerance.max(absolute)))
}
