//! What is known of every part of a formula.

use crate::formula::lint::ranges::kinds::Errors;
use crate::formula::lint::ranges::values::Values;
use crate::formula::syntax::NodeId;
use crate::python::{Function, Value};

/// What is known of one part, for all jobs that reach it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fact {
    /// What it can be. Without values, it or a part of it fails for every job.
    pub values: Values,
    /// What its own operation can raise, its operands being given.
    pub errors: Errors,
    /// Whether any job can reach it.
    pub reached: bool,
    /// Whether it depends on the job if it is reached: it stands in a branch that not every job takes.
    pub conditional: bool,
}

impl Fact {
    pub(super) const UNREACHED: Self =
        Self { values: Values::NEVER, errors: Errors::NONE, reached: false, conditional: true };

    /// Whether its own operation fails for every job that reaches it.
    pub fn always_fails(&self) -> bool {
        self.values.is_never() && !self.errors.is_empty()
    }
}

/// What is known of every part of one formula.
#[derive(Debug, Clone)]
pub struct Facts {
    pub(super) all: Vec<Fact>,
    pub(super) constants: Vec<Option<Value>>,
}

impl Facts {
    /// What is known of one part.
    pub fn of(&self, node: NodeId) -> &Fact {
        &self.all[node.index()]
    }

    /// The value of a part that is the same for every job.
    pub fn constant(&self, node: NodeId) -> Option<&Value> {
        self.constants[node.index()].as_ref()
    }

    /// The function that a part is, if it is named there.
    pub fn function(&self, node: NodeId) -> Option<Function> {
        match self.constant(node) {
            Some(Value::Function(function)) => Some(*function),
            _ => None,
        }
    }

    /// What the whole formula can be.
    pub fn result(&self) -> Values {
        self.all.last().map_or(Values::NEVER, |fact| fact.values)
    }

    /// Every error that some part can raise.
    pub fn errors(&self) -> Errors {
        self.all.iter().fold(Errors::NONE, |errors, fact| errors.or(fact.errors))
    }
}
