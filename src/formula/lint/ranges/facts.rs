//! The result of range analysis: what is known about each expression, and the outcome of one operation.

use crate::formula::lint::ranges::type_set::ErrorSet;
use crate::formula::lint::ranges::value_set::ValueSet;
use crate::formula::syntax::ExprId;
use crate::python::{ErrorKind, Function, Value};

/// What is known about one expression, over all jobs for which it is evaluated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fact {
    /// The values that it can have. If empty, it or an operand of it fails for every job.
    pub values: ValueSet,
    /// The errors that the operation can raise; those of its operands are in their facts.
    pub errors: ErrorSet,
    /// Whether it is evaluated for any job.
    pub reachable: bool,
    /// Whether it is in a branch that not every job takes.
    pub conditional: bool,
}

impl Fact {
    pub(super) const UNREACHABLE: Self =
        Self { values: ValueSet::EMPTY, errors: ErrorSet::EMPTY, reachable: false, conditional: true };

    /// Whether the operation fails for every job for which it is evaluated.
    pub fn always_fails(&self) -> bool {
        self.values.is_empty() && !self.errors.is_empty()
    }
}

/// What is known about every expression of a formula.
#[derive(Debug, Clone)]
pub struct Facts {
    pub(super) all: Vec<Fact>,
    pub(super) constants: Vec<Option<Value>>,
    /// See [`steps`](Self::steps).
    pub(super) steps: usize,
}

impl Facts {
    /// What is known about one expression.
    pub fn at(&self, node: ExprId) -> &Fact {
        &self.all[node.index()]
    }

    /// The value of an expression that has the same value for every job.
    pub fn constant(&self, node: ExprId) -> Option<&Value> {
        self.constants[node.index()].as_ref()
    }

    /// The function that an expression names.
    pub fn function(&self, node: ExprId) -> Option<Function> {
        match self.constant(node) {
            Some(Value::Function(function)) => Some(*function),
            _ => None,
        }
    }

    /// The work that it took to find them: the parts of the formula and the conditions of its branches that were looked at.
    #[doc(hidden)]
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// The values that the formula can have.
    pub fn result(&self) -> ValueSet {
        self.all.last().map_or(ValueSet::EMPTY, |fact| fact.values)
    }

    /// The errors that the formula can raise.
    pub fn errors(&self) -> ErrorSet {
        self.all.iter().fold(ErrorSet::EMPTY, |errors, fact| errors.or(fact.errors))
    }
}

/// The values that an operation can return and the errors that it can raise. If there are no values, it always fails.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct OperationResult {
    pub(super) values: ValueSet,
    pub(super) errors: ErrorSet,
}

impl OperationResult {
    /// Anything may happen.
    pub(super) const UNKNOWN: Self = Self { values: ValueSet::ANY, errors: ErrorSet::ANY };
    /// The operation is never executed, because an operand has no value.
    pub(super) const EMPTY: Self = Self { values: ValueSet::EMPTY, errors: ErrorSet::EMPTY };

    /// One of these values, and no error.
    pub(super) fn ok(values: ValueSet) -> Self {
        Self { values, errors: ErrorSet::EMPTY }
    }

    /// This error, and no value.
    pub(super) fn error(kind: ErrorKind) -> Self {
        Self { values: ValueSet::EMPTY, errors: ErrorSet::from_kind(kind) }
    }

    /// The union.
    pub(super) fn or(self, other: Self) -> Self {
        Self { values: self.values.or(other.values), errors: self.errors.or(other.errors) }
    }

    /// Adds an error if `condition` is true.
    pub(super) fn may_raise(self, kind: ErrorKind, condition: bool) -> Self {
        Self { errors: self.errors.or(ErrorSet::when(condition, kind)), ..self }
    }

    /// [`EMPTY`](Self::EMPTY) if an operand has no value, because the operation is then never executed.
    pub(super) fn unless_empty(self, operands: &[ValueSet]) -> Self {
        if operands.iter().any(ValueSet::is_empty) { Self::EMPTY } else { self }
    }
}
