//! An error with its place in the formula.

use std::fmt;

use crate::diagnostic::Span;
use crate::formula::syntax::Construct;
use crate::python::{Raised, Value};

/// What one evaluation raised, where, and on which values.
#[derive(Debug, Clone)]
pub struct EvalError {
    /// Python's exception.
    pub raised: Raised,
    /// The sub-expression that raised it.
    pub span: Span,
    /// What it worked on.
    pub operands: Vec<Operand>,
}

/// A value that took part in an error.
#[derive(Debug, Clone)]
pub struct Operand {
    /// The sub-expression that gave it.
    pub span: Span,
    /// The value.
    pub value: Value,
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raised.fmt(f)
    }
}

impl std::error::Error for EvalError {}

/// A formula that is valid Python but no arithmetic.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// A construct that computes no number.
    #[error("{} is valid Python, but no arithmetic", .construct.description())]
    Construct {
        /// Which.
        construct: Construct,
        /// Where.
        span: Span,
    },
    /// A builtin that computes no number.
    #[error("`{name}` is valid Python, but no arithmetic")]
    Builtin {
        /// Its name.
        name: Box<str>,
        /// Where.
        span: Span,
    },
}

impl CompileError {
    /// The place in the formula.
    pub fn span(&self) -> Span {
        match self {
            Self::Construct { span, .. } | Self::Builtin { span, .. } => *span,
        }
    }
}
