//! Logarithms, which alone among the real functions take integers too large for a double.

use std::hint::black_box;

use crate::python::value::{Integer, Number};
use crate::python::{Function, Raised, Value, conversion, float};

/// `log`, `log2`, `log10` of a number.
#[inline]
pub(super) fn logarithm(function: Function, x: &Value) -> Result<f64, Raised> {
    match x.number() {
        Some(Number::Integer(Integer::Big(value))) => {
            if value.sign() == num_bigint::Sign::Minus {
                return Err(Raised::domain());
            }
            match conversion::big_to_float(value) {
                Ok(float) => of_float(function, float),
                Err(_) => {
                    let (mantissa, exponent) = conversion::big_fraction(value);
                    Ok(library(function, mantissa) + library(function, black_box(2.0)) * exponent)
                }
            }
        }
        _ => of_float(function, x.real()?),
    }
}

/// `log(x, base)`.
pub(super) fn to_base(x: &Value, base: &Value) -> Result<f64, Raised> {
    let numerator = logarithm(Function::Log, x)?;
    float::divide(numerator, logarithm(Function::Log, base)?)
}

/// `log`, `log2`, `log10` of a double.
#[inline]
pub(super) fn of_float(function: Function, x: f64) -> Result<f64, Raised> {
    if x <= 0.0 { Err(Raised::domain()) } else { Ok(library(function, x)) }
}

fn library(function: Function, x: f64) -> f64 {
    match function {
        Function::Log2 => x.log2(),
        Function::Log10 => x.log10(),
        _ => x.ln(),
    }
}
