//! A Python value, as far as a formula can meet one.

use std::sync::Arc;

use num_bigint::BigInt;
use num_traits::ToPrimitive;

use crate::python::Function;

/// A value that a formula computes with. Integers that fit in 64 bits are always [`Value::Int`].
#[derive(Debug, Clone)]
pub enum Value {
    /// `None`
    None,
    /// `True` or `False`; counts as 1 or 0.
    Bool(bool),
    /// An integer of at most 64 bits.
    Int(i64),
    /// An integer of more than 64 bits.
    Big(Arc<BigInt>),
    /// A double.
    Float(f64),
    /// A tuple.
    Tuple(Arc<[Value]>),
    /// A list.
    List(Arc<[Value]>),
    /// A function that is named without being called.
    Function(Function),
}

/// An integer operand, wherever it is kept.
#[derive(Debug, Clone, Copy)]
pub(super) enum Integer<'a> {
    Small(i64),
    Big(&'a BigInt),
}

/// A numeric operand: what arithmetic is defined on. A bool is its integer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Number<'a> {
    Integer(Integer<'a>),
    Float(f64),
}

impl Value {
    /// The integer, kept in 64 bits where it fits.
    pub fn int(value: BigInt) -> Self {
        match value.to_i64() {
            Some(small) => Self::Int(small),
            None => Self::Big(Arc::new(value)),
        }
    }

    /// The tuple of these items.
    pub fn tuple(items: Vec<Self>) -> Self {
        Self::Tuple(items.into())
    }

    /// The list of these items.
    pub fn list(items: Vec<Self>) -> Self {
        Self::List(items.into())
    }

    /// The name of its Python type: `int`, `NoneType`, `builtin_function_or_method`.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::None => "NoneType",
            Self::Bool(_) => "bool",
            Self::Int(_) | Self::Big(_) => "int",
            Self::Float(_) => "float",
            Self::Tuple(_) => "tuple",
            Self::List(_) => "list",
            Self::Function(function) if function.is_type() => "type",
            Self::Function(_) => "builtin_function_or_method",
        }
    }

    /// The same value of the same type, bit by bit: `1`, `1.0` and `True` differ, a `nan` is itself.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Bool(x), Self::Bool(y)) => x == y,
            (Self::Int(x), Self::Int(y)) => x == y,
            (Self::Big(x), Self::Big(y)) => x == y,
            (Self::Float(x), Self::Float(y)) => x.to_bits() == y.to_bits(),
            (Self::Tuple(x), Self::Tuple(y)) | (Self::List(x), Self::List(y)) => {
                x.len() == y.len() && x.iter().zip(y.iter()).all(|(a, b)| a.is_same(b))
            }
            (Self::Function(x), Self::Function(y)) => x == y,
            _ => false,
        }
    }

    /// Its items, where it is a tuple or a list.
    pub(super) fn items(&self) -> Option<&Arc<[Self]>> {
        match self {
            Self::Tuple(items) | Self::List(items) => Some(items),
            _ => None,
        }
    }

    /// The integer it is or counts as.
    #[inline]
    pub(super) fn integer(&self) -> Option<Integer<'_>> {
        match self {
            Self::Int(value) => Some(Integer::Small(*value)),
            Self::Bool(value) => Some(Integer::Small(i64::from(*value))),
            Self::Big(value) => Some(Integer::Big(value)),
            _ => None,
        }
    }

    /// The number it is or counts as.
    #[inline]
    pub(super) fn number(&self) -> Option<Number<'_>> {
        match self {
            Self::Float(value) => Some(Number::Float(*value)),
            other => other.integer().map(Number::Integer),
        }
    }

    /// Python's truth of the value: false is zero, empty, `None`.
    #[inline]
    pub fn truth(&self) -> bool {
        match self {
            Self::None => false,
            Self::Bool(value) => *value,
            Self::Int(value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::Tuple(items) | Self::List(items) => !items.is_empty(),
            Self::Big(_) | Self::Function(_) => true,
        }
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Self {
        Self::Float(value)
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<BigInt> for Value {
    fn from(value: BigInt) -> Self {
        Self::int(value)
    }
}
