//! What the arithmetic raises.

use std::borrow::Cow;
use std::fmt;

/// The kind of an error: Python's exception, or one of the three that only this crate has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
    /// `RecursionError`
    Recursion,
    /// `MemoryError`
    Memory,
    /// `SyntaxError`, where CPython raises it only when it compiles the text
    Syntax,
    /// the formula met a complex number
    Complex,
    /// an integer or a computation beyond the documented limits
    Limit,
    /// something base ten cannot hold or do
    Decimal,
}

/// An error of one operation: Python's kind and, word for word, Python's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raised {
    /// Which exception.
    pub kind: ErrorKind,
    /// What `str(exception)` gives.
    pub text: Cow<'static, str>,
}

impl Raised {
    /// An error of this kind with this text.
    pub fn new(kind: ErrorKind, text: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, text: text.into() }
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

    /// What the `math` functions say of an argument outside their domain.
    pub(super) fn domain() -> Self {
        Self::value("math domain error")
    }

    /// What the `math` functions say of a result beyond the doubles.
    pub(super) fn range() -> Self {
        Self::overflow("math range error")
    }
}

impl ErrorKind {
    /// Python's name of the exception; for the crate's own kinds, words in the same style.
    pub fn exception(self) -> &'static str {
        match self {
            Self::ZeroDivision => "ZeroDivisionError",
            Self::Value => "ValueError",
            Self::Overflow => "OverflowError",
            Self::Type => "TypeError",
            Self::Name => "NameError",
            Self::Recursion => "RecursionError",
            Self::Memory => "MemoryError",
            Self::Syntax => "SyntaxError",
            Self::Complex => "complex number",
            Self::Limit => "limit",
            Self::Decimal => "decimal",
        }
    }
}

impl ErrorKind {
    /// The kind in plain words, under which errors are counted.
    pub fn words(self) -> &'static str {
        match self {
            Self::ZeroDivision => "division by zero",
            Self::Value => "domain error",
            Self::Overflow => "overflow",
            Self::Type => "type error",
            Self::Name => "unknown name",
            Self::Recursion => "too deep",
            Self::Memory => "out of memory",
            Self::Syntax => "syntax error",
            Self::Complex => "complex number",
            Self::Limit => "beyond the limits",
            Self::Decimal => "not decimal",
        }
    }
}

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.exception(), self.text)
    }
}

impl std::error::Error for Raised {}
