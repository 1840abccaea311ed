//! Exceptions: what an operation raises in Python, and the errors of this crate's own limits.

use std::borrow::Cow;

/// Why there is no number: one of Python's exceptions, a result that the scheduler of OpenPBS
/// cannot use, or what this crate does not compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ErrorKind {
    /// `ZeroDivisionError`
    ZeroDivision,
    /// `ValueError`
    Value,
    /// `OverflowError`
    Overflow,
    /// `TypeError`
    Type,
    /// `NameError`
    Name,
    /// `SyntaxError`, where CPython's parser accepts the text and only its compiler rejects it
    Syntax,
    /// Python raises nothing, and the result is a complex number
    ComplexResult,
    /// Python raises nothing, and the result is no number, such as `None` or a function
    NotANumber,
    /// Python raises nothing, and the result is an integer too large for a double
    TooLarge,
    /// a complex number on the way to the result, which is not computed: Python may have a value
    Complex,
    /// an integer or a computation beyond the documented limits: Python may have a value
    Limit,
    /// a value or a function that decimal arithmetic does not have
    Decimal,
}

/// The exception that one operation raises, with Python's text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {text}", .kind.exception())]
pub struct Raised {
    /// The exception's type.
    pub kind: ErrorKind,
    /// The text: `str(exception)` in Python.
    pub text: Cow<'static, str>,
}

impl Raised {
    /// An exception of this kind with this text.
    pub fn new(kind: ErrorKind, text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            kind,
            text: text.into(),
        }
    }

    /// A `TypeError`.
    pub(super) fn type_error(text: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorKind::Type, text)
    }

    /// A `ValueError`.
    pub(super) fn value(text: &'static str) -> Self {
        Self::new(ErrorKind::Value, text)
    }

    /// An `OverflowError`.
    pub(super) fn overflow(text: &'static str) -> Self {
        Self::new(ErrorKind::Overflow, text)
    }

    /// A `ZeroDivisionError`.
    pub(super) fn zero_division(text: &'static str) -> Self {
        Self::new(ErrorKind::ZeroDivision, text)
    }

    /// The `ZeroDivisionError` of zero to a negative power.
    pub(super) fn zero_to_negative_power() -> Self {
        Self::zero_division("0.0 cannot be raised to a negative power")
    }

    /// The error of a fractional power of a negative number, and of what is computed from one.
    pub(super) fn complex_power() -> Self {
        let text =
            "a fractional power of a negative number is complex; jsf computes real numbers only";
        Self::new(ErrorKind::Complex, text)
    }

    /// The `ValueError` of a `math` function whose argument is outside its domain.
    pub(super) fn domain() -> Self {
        Self::value("math domain error")
    }

    /// The `OverflowError` of a `math` function whose result exceeds the largest double.
    pub(super) fn range() -> Self {
        Self::overflow("math range error")
    }
}

impl ErrorKind {
    /// Python's name of the exception; a short name for the crate's own kinds.
    pub fn exception(self) -> &'static str {
        match self {
            Self::ZeroDivision => "ZeroDivisionError",
            Self::Value => "ValueError",
            Self::Overflow => "OverflowError",
            Self::Type => "TypeError",
            Self::Name => "NameError",
            Self::Syntax => "SyntaxError",
            Self::ComplexResult | Self::Complex => "complex number",
            Self::NotANumber => "not a number",
            Self::TooLarge => "too large",
            Self::Limit => "limit",
            Self::Decimal => "decimal",
        }
    }

    /// Whether CPython raises this exception, and the scheduler notices it. It does not notice a
    /// `MemoryError`.
    pub fn is_raised_by_python(self) -> bool {
        use ErrorKind::{Name, Overflow, Syntax, Type, Value, ZeroDivision};
        matches!(self, ZeroDivision | Value | Overflow | Type | Name | Syntax)
    }

    /// The name of the kind in reports and summaries.
    pub fn description(self) -> &'static str {
        match self {
            Self::ZeroDivision => "division by zero",
            Self::Value => "domain error",
            Self::Overflow => "overflow",
            Self::Type => "type error",
            Self::Name => "unknown name",
            Self::Syntax => "syntax error",
            Self::ComplexResult => "complex number",
            Self::NotANumber => "not a number",
            Self::TooLarge => "too large",
            Self::Complex => "complex intermediate value",
            Self::Limit => "beyond the limits",
            Self::Decimal => "not decimal",
        }
    }
}
