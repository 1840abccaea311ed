//! Errors of compilation and of evaluation, with their spans.

use crate::diagnostic::Span;
use crate::formula::syntax::Construct;
use crate::python::{ErrorKind, Raised, Value};

/// The exception of one evaluation, with its span and its operands. Displayed, it is the last line of
/// Python's traceback: the name of the exception and its [`text`](Self::text).
#[derive(Debug, Clone, thiserror::Error)]
#[error("{raised}")]
pub struct EvalError {
    pub(crate) raised: Raised,
    pub(crate) span: Span,
    pub(crate) operands: Vec<Operand>,
}

impl EvalError {
    /// An exception of a part whose operands are not told.
    pub(crate) fn new(raised: Raised, span: Span) -> Self {
        Self {
            raised,
            span,
            operands: Vec::new(),
        }
    }

    /// The kind of the exception.
    pub fn kind(&self) -> ErrorKind {
        self.raised.kind
    }

    /// The text of Python's exception, without its name.
    pub fn text(&self) -> &str {
        &self.raised.text
    }

    /// The sub-expression that raises it.
    pub fn span(&self) -> Span {
        self.span
    }

    /// The operands of the sub-expression, without large integers and long sequences.
    pub fn operands(&self) -> &[Operand] {
        &self.operands
    }
}

/// An operand of the sub-expression that raises an exception.
#[derive(Debug, Clone)]
pub struct Operand {
    /// The sub-expression of the operand.
    pub span: Span,
    /// The value.
    pub value: Value,
}

/// Why a formula cannot be compiled: it is valid Python but not arithmetic.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// A construct that is not arithmetic.
    #[error("{} is valid Python but not arithmetic", .construct.description())]
    Construct {
        /// The construct.
        construct: Construct,
        /// Its span.
        span: Span,
    },
    /// A builtin that is not arithmetic.
    #[error("`{name}` is valid Python but not arithmetic")]
    Builtin {
        /// Its name.
        name: Box<str>,
        /// Its span.
        span: Span,
    },
}

impl CompileError {
    /// The span in the formula.
    pub fn span(&self) -> Span {
        match self {
            Self::Construct { span, .. } | Self::Builtin { span, .. } => *span,
        }
    }
}
