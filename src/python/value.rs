//! Python values: the types that a formula can produce, and their texts, Python's `repr`.

use std::fmt::{self, Write};
use std::sync::Arc;

use num_bigint::BigInt;
use num_traits::{Signed, ToPrimitive};
use rust_decimal::Decimal;
use serde::{Serialize, Serializer};

use crate::python::{Function, Raised, integer};

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
    /// A value of which nothing but the name of its type is known: a complex number, or a sequence
    /// that contains one.
    OfType(&'static str),
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
            Self::Big(integer) => integer::big_to_float(integer.digits()).ok(),
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
        if items.iter().any(Self::is_unknown) {
            return Self::OfType("tuple");
        }
        Self::Tuple(items.into())
    }

    /// Makes a list of these items.
    pub fn list(items: Vec<Self>) -> Self {
        if items.iter().any(Self::is_unknown) {
            return Self::OfType("list");
        }
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
            Self::OfType(name) => name,
        }
    }

    /// Whether nothing but the type is known.
    pub(super) fn is_unknown(&self) -> bool {
        matches!(self, Self::OfType(_))
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
            (Self::OfType(x), Self::OfType(y)) => x == y,
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
                // without this bound, 10,000 jobs with a list of 99,999 items each took 2.3 GB
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
            Self::Big(_) | Self::Function(_) | Self::OfType(_) => true,
        }
    }

    /// The truth value, of a value of which more than the type is known.
    ///
    /// # Errors
    /// [`ErrorKind::Complex`](crate::python::ErrorKind::Complex) for any other.
    #[inline]
    pub(crate) fn known_truth(&self) -> Result<bool, Raised> {
        if self.is_unknown() {
            Err(Raised::complex_power())
        } else {
            Ok(self.truth())
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

    /// The number of 64-bit words that hold the magnitude, rounded up to at least one: the work
    /// that one pass over them takes.
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
            Integer::Big(value) => integer::big_to_float(value),
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

const LOG10_2: f64 = std::f64::consts::LOG10_2;
/// The most characters of a serialised value: as many as the digits of the longest integer that
/// Python writes.
const MAX_SERIALISED: usize = 4300;

/// As a text: JSON has neither infinities nor integers of any length.
impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.repr_within(MAX_SERIALISED))
    }
}

impl Value {
    /// Python's `repr`: `1e+22`, `-0.0`, `(1,)`, `<built-in function sqrt>`.
    ///
    /// Python refuses to convert an integer of more than 4300 digits to text; this does not.
    pub fn repr(&self) -> String {
        self.repr_within(usize::MAX)
    }

    /// Python's `repr` up to about so many characters: an integer of more digits is rounded,
    /// `about 1.234e+24082`, and a longer sequence is cut.
    pub fn repr_within(&self, limit: usize) -> String {
        let mut text = String::new();
        self.write_repr(limit, &mut text);
        text
    }

    fn write_repr(&self, limit: usize, text: &mut String) {
        match self {
            Self::None => text.push_str("None"),
            Self::Bool(true) => text.push_str("True"),
            Self::Bool(false) => text.push_str("False"),
            // writing to a `String` cannot fail
            Self::Int(value) => _ = write!(text, "{value}"),
            // the digits are not counted, because converting them takes quadratic time
            Self::Big(value) if value.digits().bits() as f64 * LOG10_2 > limit as f64 => {
                write_rounded(value.digits(), text);
            }
            Self::Big(value) => _ = write!(text, "{value}"),
            Self::Float(value) => write_float(*value, text),
            Self::Decimal(value) => _ = write!(text, "{value}"),
            Self::Tuple(items) => {
                text.push('(');
                write_items(limit, items, text);
                text.push_str(if items.len() == 1 { ",)" } else { ")" });
            }
            Self::List(items) => {
                text.push('[');
                write_items(limit, items, text);
                text.push(']');
            }
            Self::Function(function) if function.is_type() => {
                _ = write!(text, "<class '{}'>", function.name());
            }
            Self::Function(function) => _ = write!(text, "<built-in function {}>", function.name()),
            Self::OfType(name) => _ = write!(text, "<{name}>"),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.repr())
    }
}

fn write_items(limit: usize, items: &[Value], text: &mut String) {
    for (index, item) in items.iter().enumerate() {
        text.push_str(if index > 0 { ", " } else { "" });
        if text.len() > limit {
            return text.push('…');
        }
        item.write_repr(limit, text);
    }
}

/// The four leading digits of a long integer, and its magnitude.
fn write_rounded(value: &BigInt, text: &mut String) {
    let shift = value.bits().saturating_sub(64);
    // never `None`: at most 64 bits are left
    let leading = (value.magnitude() >> shift).to_f64().unwrap_or_default();
    let magnitude = leading.log10() + shift as f64 * LOG10_2;
    // the digits may round up to 10.000
    let thousandths = (10_f64.powf(magnitude.fract()) * 1e3).round();
    let (thousandths, exponent) = if thousandths < 1e4 {
        (thousandths, 0.0)
    } else {
        (1e3, 1.0)
    };
    let sign = if value.is_negative() { "-" } else { "" };
    let _ = write!(
        text,
        "about {sign}{:.3}e+{}",
        thousandths / 1e3,
        magnitude.trunc() + exponent
    );
}

/// Appends the shortest digits that read back as the same double, with an exponent below 1e-4 and
/// from 1e16 on.
///
/// Of two shortest digit strings that are equally near to the double, CPython and zmij both take
/// the one that ends in an even digit. The standard library's `{:e}` does not.
fn write_float(value: f64, text: &mut String) {
    if value.is_nan() {
        return text.push_str("nan");
    }
    if value.is_infinite() {
        return text.push_str(if value > 0.0 { "inf" } else { "-inf" });
    }
    let mut buffer = zmij::Buffer::new();
    let digits = buffer.format_finite(value);
    // in this range zmij writes no exponent either
    if value == 0.0 || (1e-4..1e16).contains(&value.abs()) {
        text.push_str(digits);
    } else {
        write_scientific(digits, text);
    }
}

/// Appends a finite nonzero number in Python's form `d.ddde±XX`, from digits with or without an
/// exponent.
fn write_scientific(digits: &str, text: &mut String) {
    let (mantissa, exponent) = digits.split_once('e').unwrap_or((digits, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (negative, mantissa) = mantissa
        .strip_prefix('-')
        .map_or((false, mantissa), |rest| (true, rest));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let significant = all.trim_start_matches('0');
    // the first significant digit may be in either part
    let exponent = exponent + whole.len() as i32 - 1 - (all.len() - significant.len()) as i32;
    // never empty: a zero is written without an exponent
    let (first, rest) = significant.trim_end_matches('0').split_at(1);
    _ = write!(text, "{}{first}", if negative { "-" } else { "" });
    if !rest.is_empty() {
        _ = write!(text, ".{rest}");
    }
    _ = write!(
        text,
        "e{}{:02}",
        if exponent < 0 { '-' } else { '+' },
        exponent.abs()
    );
}
