//! Builtins on single values: `abs`, `float`, `int`, `len`, `divmod`.

use crate::python::limits::Fuel;
use crate::python::value::{Integer, Number};
use crate::python::{Raised, Value, conversion, float as floats, integer, operate};

/// `abs(x)`.
pub(super) fn abs(x: &Value) -> Result<Value, Raised> {
    match x.number() {
        Some(Number::Integer(value)) => Ok(integer::magnitude(value)),
        Some(Number::Float(value)) => Ok(Value::Float(value.abs())),
        None => Err(Raised::type_error(format!("bad operand type for abs(): '{}'", x.type_name()))),
    }
}

/// `float(x)`.
pub(super) fn float(x: &Value) -> Result<f64, Raised> {
    match x.number() {
        Some(number) => number.to_float(),
        None => Err(Raised::type_error(format!(
            "float() argument must be a string or a real number, not '{}'",
            x.type_name()
        ))),
    }
}

/// `int()`, `int(x)`, `int(x, base)`.
pub(super) fn int(x: Option<&Value>, base: Option<&Value>) -> Result<Value, Raised> {
    match (x, base) {
        (None, None) => Ok(Value::Int(0)),
        (None, Some(_)) => Err(Raised::type_error("int() missing string argument")),
        (Some(_), Some(base)) => Err(with_base(base)),
        (Some(x), None) => match x.number() {
            Some(Number::Integer(value)) => Ok(value.to_value()),
            Some(Number::Float(value)) => conversion::float_to_int(value.trunc()),
            None => Err(Raised::type_error(format!(
                "int() argument must be a string, a bytes-like object or a real number, not '{}'",
                x.type_name()
            ))),
        },
    }
}

/// A base asks for a string, and there are none: only the error is left to find.
fn with_base(base: &Value) -> Raised {
    match base.index() {
        Err(error) => error,
        Ok(Integer::Small(0 | 2..=36)) => Raised::type_error("int() can't convert non-string with explicit base"),
        Ok(_) => Raised::value("int() base must be >= 2 and <= 36, or 0"),
    }
}

/// `len(x)`.
pub(super) fn len(x: &Value) -> Result<Value, Raised> {
    match x.items() {
        Some(items) => Ok(Value::Int(items.len() as i64)),
        None => Err(Raised::type_error(format!("object of type '{}' has no len()", x.type_name()))),
    }
}

/// `divmod(x, y)`.
pub(super) fn divmod(x: &Value, y: &Value, fuel: &Fuel) -> Result<Value, Raised> {
    let pair = match (x.number(), y.number()) {
        (Some(Number::Integer(_)), Some(Number::Integer(b))) if b.is_zero() => {
            return Err(Raised::zero_division(integer::FLOOR_DIVISION_BY_ZERO));
        }
        (Some(Number::Integer(a)), Some(Number::Integer(b))) => {
            let (quotient, remainder) = integer::floor_divide(a, b, fuel)?;
            [Value::int(quotient), Value::int(remainder)]
        }
        (Some(a), Some(b)) => {
            let (quotient, remainder) = floats::divmod(a.to_float()?, b.to_float()?)?;
            [Value::Float(quotient), Value::Float(remainder)]
        }
        _ => return Err(operate::unsupported("divmod()", x, y)),
    };
    Ok(Value::Tuple(pair.into()))
}
