//! What an operation makes of what goes in.

use crate::formula::lint::ranges::kinds::Errors;
use crate::formula::lint::ranges::values::Values;
use crate::python::ErrorKind;

/// The values that an operation can give and the errors that it can raise. Without values it always fails.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Outcome {
    pub(super) values: Values,
    pub(super) errors: Errors,
}

impl Outcome {
    /// Anything may happen.
    pub(super) const UNKNOWN: Self = Self { values: Values::ANY, errors: Errors::ANY };
    /// Nothing happens: an operand has no value.
    pub(super) const NEVER: Self = Self { values: Values::NEVER, errors: Errors::NONE };

    /// These values, and no error.
    pub(super) fn fine(values: Values) -> Self {
        Self { values, errors: Errors::NONE }
    }

    /// This error, and no value.
    pub(super) fn fails(kind: ErrorKind) -> Self {
        Self { values: Values::NEVER, errors: Errors::just(kind) }
    }

    /// One or the other.
    pub(super) fn or(self, other: Self) -> Self {
        Self { values: self.values.or(other.values), errors: self.errors.or(other.errors) }
    }

    /// The same, with this error if it is so.
    pub(super) fn may_raise(self, kind: ErrorKind, holds: bool) -> Self {
        Self { errors: self.errors.or(Errors::when(holds, kind)), ..self }
    }

    /// The same without values if none are there to begin with: an operand never gets so far.
    pub(super) fn unless_never(self, operands: &[Values]) -> Self {
        if operands.iter().any(Values::is_never) { Self::NEVER } else { self }
    }
}
