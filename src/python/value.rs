//! Python values: the types that a formula can produce.

use std::fmt;
use std::sync::Arc;

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use rust_decimal::Decimal;

use crate::python::{Function, Raised, conversion};

/// A Python value. An integer that fits in 64 bits is always [`Value::Int`]. It has no `==`, since
/// Python's, in which `1`, `1.0` and `True` are equal, is not that of Rust's `PartialEq`; compare
/// with [`Value::is_identical`].
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Value {
    /// `None`
    None,
    /// `True` or `False`; a number, 1 or 0, to arithmetic.
    Bool(bool),
    /// An integer that fits in 64 bits.
    Int(i64),
    /// An integer that does not fit in 64 bits.
    Big(BigInteger),
    /// A double.
    Float(f64),
    /// A number of at most 28 significant digits, whole or not: in decimal arithmetic alone, which
    /// has no other numbers.
    Decimal(Decimal),
    /// A tuple.
    Tuple(Arc<[Value]>),
    /// A list.
    // shared like a tuple, because no formula can change a list
    List(Arc<[Value]>),
    /// A function, named and not called.
    Function(Function),
}

/// An integer that does not fit in 64 bits. It displays its decimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BigInteger(Arc<BigInt>);

impl BigInteger {
    /// Its digits.
    pub fn digits(&self) -> &BigInt {
        &self.0
    }

    /// Whether it is below 0.
    pub fn is_negative(&self) -> bool {
        self.0.is_negative()
    }
}

impl fmt::Display for BigInteger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::LowerHex for BigInteger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(&*self.0, f)
    }
}

/// An integer operand of either representation.
#[derive(Debug, Clone, Copy)]
pub(super) enum Integer<'a> {
    Small(i64),
    Big(&'a BigInt),
}

/// A numeric operand. A bool is an integer.
#[derive(Debug, Clone, Copy)]
pub(super) enum Number<'a> {
    Integer(Integer<'a>),
    Float(f64),
}

impl Value {
    /// The nearest double, as Python's `float` returns it; `None` if the value is not a number, or
    /// is an integer too large for a double.
    ///
    /// ```
    /// use job_sort_formula::Value;
    ///
    /// assert_eq!((Value::Int(3).to_f64(), Value::Bool(true).to_f64()), (Some(3.0), Some(1.0)));
    /// assert_eq!(Value::None.to_f64(), None);
    /// let decimal: rust_decimal::Decimal = "60689149076815.7726".parse()?;
    /// assert_eq!(Value::Decimal(decimal).to_f64(), Some(60689149076815.7726));
    /// let zero = Value::Decimal("-0.0".parse()?).to_f64();
    /// assert!(zero.is_some_and(f64::is_sign_positive));
    /// # Ok::<(), rust_decimal::Error>(())
    /// ```
    pub fn to_f64(&self) -> Option<f64> {
        match self {
            Self::Float(double) => Some(*double),
            Self::Int(integer) => Some(*integer as f64),
            Self::Bool(truth) => Some(f64::from(u8::from(*truth))),
            Self::Big(integer) => conversion::big_to_float(integer.digits()).ok(),
            Self::Decimal(decimal) => {
                // the method of `Decimal` rounds more than once
                let double: f64 = decimal.to_string().parse().ok()?;
                // a decimal zero may have a sign, which says nothing
                Some(double + 0.0)
            }
            _ => None,
        }
    }

    /// Makes an integer, in 64 bits if it fits.
    pub fn int(value: BigInt) -> Self {
        match value.to_i64() {
            Some(small) => Self::Int(small),
            None => Self::Big(BigInteger(Arc::new(value))),
        }
    }

    /// Makes a tuple of these items.
    pub fn tuple(items: Vec<Self>) -> Self {
        Self::Tuple(items.into())
    }

    /// Makes a list of these items.
    pub fn list(items: Vec<Self>) -> Self {
        Self::List(items.into())
    }

    /// The name of its Python type, such as `int`, `NoneType` or `builtin_function_or_method`.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::None => "NoneType",
            Self::Bool(_) => "bool",
            Self::Int(_) | Self::Big(_) => "int",
            // decimals have one type; Python's error texts name one of two
            Self::Decimal(value) if value.is_integer() => "int",
            Self::Float(_) | Self::Decimal(_) => "float",
            Self::Tuple(_) => "tuple",
            Self::List(_) => "list",
            Self::Function(function) if function.is_type() => "type",
            Self::Function(_) => "builtin_function_or_method",
        }
    }

    /// Whether both have the same type and the same bits: `1`, `1.0` and `True` differ, and a NaN
    /// is identical to itself.
    pub fn is_identical(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Bool(x), Self::Bool(y)) => x == y,
            (Self::Int(x), Self::Int(y)) => x == y,
            (Self::Big(x), Self::Big(y)) => x == y,
            (Self::Float(x), Self::Float(y)) => x.to_bits() == y.to_bits(),
            (Self::Decimal(x), Self::Decimal(y)) => x == y,
            (Self::Tuple(x), Self::Tuple(y)) | (Self::List(x), Self::List(y)) => {
                x.len() == y.len() && x.iter().zip(y.iter()).all(|(a, b)| a.is_identical(b))
            }
            (Self::Function(x), Self::Function(y)) => x == y,
            _ => false,
        }
    }

    /// Whether the value takes little memory: it is a number of at most 4,096 bits, or has at most
    /// 16 items, all of them numbers of that kind.
    pub(crate) fn is_small(&self) -> bool {
        match self {
            // an error keeps the operands that are small, and each job of a queue may have an error
            Self::Big(big) => big.digits().bits() <= 4096,
            Self::Tuple(items) | Self::List(items) => {
                items.len() <= 16
                    && items
                        .iter()
                        .all(|item| item.items().is_none() && item.is_small())
            }
            _ => true,
        }
    }

    /// Returns the integer that an int or a bool holds.
    #[inline]
    pub(super) fn integer(&self) -> Option<Integer<'_>> {
        match self {
            Self::Int(value) => Some(Integer::Small(*value)),
            Self::Bool(value) => Some(Integer::Small(i64::from(*value))),
            Self::Big(value) => Some(Integer::Big(value.digits())),
            _ => None,
        }
    }

    /// Returns the number that an int, a bool or a float holds.
    #[inline]
    pub(super) fn number(&self) -> Option<Number<'_>> {
        match self {
            Self::Float(value) => Some(Number::Float(*value)),
            other => other.integer().map(Number::Integer),
        }
    }

    /// Python's truth value: zero, an empty sequence and `None` are false.
    #[inline]
    pub fn truth(&self) -> bool {
        match self {
            Self::None => false,
            Self::Bool(value) => *value,
            Self::Int(value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::Decimal(value) => !value.is_zero(),
            Self::Tuple(items) | Self::List(items) => !items.is_empty(),
            // no `Big` is 0
            Self::Big(_) | Self::Function(_) => true,
        }
    }

    /// Converts an argument of a function of the `math` module to a double.
    ///
    /// # Errors
    /// `TypeError` for a value that is not a number, `OverflowError` for an integer beyond the
    /// largest double.
    #[inline]
    pub(super) fn math_argument(&self) -> Result<f64, Raised> {
        match self.number() {
            Some(number) => number.to_float(),
            None => Err(self.not_real()),
        }
    }

    /// The error of a function of the `math` module for what is no number.
    fn not_real(&self) -> Raised {
        Raised::type_error(format!("must be real number, not {}", self.type_name()))
    }

    /// Returns the argument of a function that takes only integers.
    ///
    /// # Errors
    /// `TypeError` for any other value.
    pub(super) fn integer_argument(&self) -> Result<Integer<'_>, Raised> {
        self.integer().ok_or_else(|| {
            Raised::type_error(format!(
                "'{}' object cannot be interpreted as an integer",
                self.type_name()
            ))
        })
    }
}

/// Sequences.
impl Value {
    /// The items of a tuple or a list.
    pub(super) fn items(&self) -> Option<&[Self]> {
        match self {
            Self::Tuple(items) | Self::List(items) => Some(items),
            _ => None,
        }
    }

    /// The items of the argument of a function that iterates over it.
    pub(super) fn iterable_argument(&self) -> Result<&[Self], Raised> {
        self.items().ok_or_else(|| {
            Raised::type_error(format!("'{}' object is not iterable", self.type_name()))
        })
    }

    /// `len(x)`.
    pub(super) fn length(&self) -> Result<usize, Raised> {
        self.items().map(<[Self]>::len).ok_or_else(|| {
            Raised::type_error(format!(
                "object of type '{}' has no len()",
                self.type_name()
            ))
        })
    }
}

/// Decimal arithmetic.
impl Value {
    /// The number, for a decimal or a bool.
    #[inline]
    pub(crate) fn decimal(&self) -> Option<Decimal> {
        match self {
            Self::Decimal(value) => Some(*value),
            Self::Bool(value) => Some(Decimal::from(u8::from(*value))),
            _ => None,
        }
    }

    /// The number that a function of the `math` module takes for this argument.
    pub(super) fn decimal_argument(&self) -> Result<Decimal, Raised> {
        self.decimal().ok_or_else(|| self.not_real())
    }
}

impl From<Decimal> for Value {
    fn from(value: Decimal) -> Self {
        Self::Decimal(value)
    }
}

impl Integer<'_> {
    /// Converts the integer to a `BigInt`.
    pub(super) fn to_big(self) -> BigInt {
        match self {
            Integer::Small(value) => BigInt::from(value),
            Integer::Big(value) => value.clone(),
        }
    }

    /// Converts the integer to a value.
    pub(super) fn to_value(self) -> Value {
        match self {
            Integer::Small(value) => Value::Int(value),
            Integer::Big(value) => Value::int(value.clone()),
        }
    }

    pub(super) fn is_zero(self) -> bool {
        // no `Big` fits in 64 bits, so none is 0
        matches!(self, Integer::Small(0))
    }

    pub(super) fn is_negative(self) -> bool {
        match self {
            Integer::Small(value) => value < 0,
            Integer::Big(value) => value.is_negative(),
        }
    }

    /// The number of bits of the magnitude.
    pub(super) fn bits(self) -> u64 {
        match self {
            Integer::Small(value) => u64::from(u64::BITS - value.unsigned_abs().leading_zeros()),
            Integer::Big(value) => value.bits(),
        }
    }

    /// The number of 64-bit words that hold the magnitude, rounded up to at least one: the fuel
    /// that one pass over them consumes.
    pub(super) fn word_count(self) -> u64 {
        self.bits() / 64 + 1
    }

    /// Converts the number to the nearest double.
    ///
    /// # Errors
    /// `OverflowError` for an integer beyond the largest double.
    #[inline]
    pub(super) fn to_float(self) -> Result<f64, Raised> {
        match self {
            Integer::Small(value) => Ok(value as f64),
            Integer::Big(value) => conversion::big_to_float(value),
        }
    }
}

impl Number<'_> {
    /// Converts the number to the nearest double.
    ///
    /// # Errors
    /// `OverflowError` for an integer beyond the largest double.
    #[inline]
    pub(super) fn to_float(self) -> Result<f64, Raised> {
        match self {
            Number::Integer(value) => value.to_float(),
            Number::Float(value) => Ok(value),
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
