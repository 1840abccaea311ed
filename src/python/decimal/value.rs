//! The values of decimal arithmetic, and their conversion from and to Python's.

use std::sync::Arc;

use num_bigint::BigInt;
use rust_decimal::Decimal;

use crate::python::decimal::scaled;
use crate::python::generic::Operand;
use crate::python::{ErrorKind, Function, Raised, Value};

/// A value of decimal arithmetic. Integers and fractions have one type.
#[derive(Debug, Clone)]
pub enum DecimalValue {
    /// `None`
    None,
    /// `True` or `False`; a number, 1 or 0, to arithmetic.
    Bool(bool),
    /// A number of at most 28 significant digits.
    Decimal(Decimal),
    /// A tuple.
    Tuple(Arc<[DecimalValue]>),
    /// A list.
    List(Arc<[DecimalValue]>),
    /// A function, named and not called.
    Function(Function),
}

/// The decimal as a value, or the error that the number is too large.
pub(super) fn checked(value: Option<Decimal>) -> Result<DecimalValue, Raised> {
    value
        .map(DecimalValue::Decimal)
        .ok_or_else(scaled::too_large)
}

impl DecimalValue {
    /// The number, for a number or a bool.
    #[inline]
    pub fn decimal(&self) -> Option<Decimal> {
        match self {
            Self::Decimal(value) => Some(*value),
            Self::Bool(value) => Some(Decimal::from(u8::from(*value))),
            _ => None,
        }
    }

    /// The name of the Python type that error messages show. A number without a fraction is an
    /// `int`.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Decimal(value) if value.is_integer() => "int",
            Self::Decimal(_) => "float",
            Self::Tuple(_) => "tuple",
            Self::List(_) => "list",
            Self::None => Value::None.type_name(),
            Self::Bool(value) => Value::Bool(*value).type_name(),
            Self::Function(function) => Value::Function(*function).type_name(),
        }
    }

    /// The number that a function of the `math` module takes for this argument.
    pub(super) fn math_argument(&self) -> Result<Decimal, Raised> {
        self.decimal().ok_or_else(|| {
            Raised::type_error(format!("must be real number, not {}", self.type_name()))
        })
    }

    /// Python's truth value.
    pub fn truth(&self) -> bool {
        match self {
            Self::None => false,
            Self::Bool(value) => *value,
            Self::Decimal(value) => !value.is_zero(),
            Self::Tuple(items) | Self::List(items) => !items.is_empty(),
            Self::Function(_) => true,
        }
    }

    /// Converts Python's value: an integer exactly, a float as its shortest `repr` reads.
    ///
    /// # Errors
    /// [`ErrorKind::Decimal`] for infinities, nans, numbers that are too large, and floats too near
    /// to zero.
    pub fn from_python(value: &Value) -> Result<Self, Raised> {
        match value {
            Value::None => Ok(Self::None),
            Value::Bool(value) => Ok(Self::Bool(*value)),
            Value::Int(value) => Ok(Self::Decimal(Decimal::from(*value))),
            Value::Big(value) => checked(scaled::to_decimal(value.digits(), 0)),
            Value::Float(value) if !value.is_finite() => Err(Raised::new(
                ErrorKind::Decimal,
                format!(
                    "`{}`, which decimal arithmetic does not have",
                    Value::Float(*value)
                ),
            )),
            Value::Float(_) => scaled::parse(&value.repr()).map(Self::Decimal),
            Value::Tuple(items) => items
                .iter()
                .map(Self::from_python)
                .collect::<Result<_, _>>()
                .map(Self::Tuple),
            Value::List(items) => items
                .iter()
                .map(Self::from_python)
                .collect::<Result<_, _>>()
                .map(Self::List),
            Value::Function(function) => Ok(Self::Function(*function)),
        }
    }

    /// Converts to Python's value: an `int` where there is no fraction, else the nearest `float`.
    pub fn to_python(&self) -> Value {
        match self {
            Self::None => Value::None,
            Self::Bool(value) => Value::Bool(*value),
            Self::Decimal(value) if value.is_integer() => {
                Value::int(BigInt::from(value.trunc().mantissa()))
            }
            Self::Decimal(value) => Value::Float(value.to_string().parse().unwrap_or(f64::NAN)),
            Self::Tuple(items) => Value::tuple(items.iter().map(Self::to_python).collect()),
            Self::List(items) => Value::list(items.iter().map(Self::to_python).collect()),
            Self::Function(function) => Value::Function(*function),
        }
    }
}

impl Operand for DecimalValue {
    fn type_name(&self) -> &'static str {
        self.type_name()
    }

    fn items(&self) -> Option<&[Self]> {
        match self {
            Self::Tuple(items) | Self::List(items) => Some(items),
            _ => None,
        }
    }

    fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }
}

impl From<Decimal> for DecimalValue {
    fn from(value: Decimal) -> Self {
        Self::Decimal(value)
    }
}
