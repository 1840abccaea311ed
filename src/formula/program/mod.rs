//! What a formula means, lowered: instructions for a stack, constants, and the inputs it needs.
//!
//! A [`Program`] comes out of [`Program::compile`] and nowhere else, so that every jump in it lands and every
//! operand is there. It knows no jobs: an [`Interpreter`] runs it on one row of input values at a time, in any
//! [`Arithmetic`].

mod columnar;
mod compiler_limits;
mod error;
mod instruction;
pub(super) mod literal;
mod lower;
mod scalar;

use std::sync::Arc;

pub use columnar::{Columnar, Kind, LANES, Outcome};
pub use compiler_limits::compiles;
pub use error::{CompileError, EvalError, Operand};
pub use scalar::Interpreter;

use crate::diagnostic::Span;
use crate::formula::name_resolution::Resolution;
use crate::formula::syntax::{Expr, NodeId};
use crate::python::{Arithmetic, Python, Raised, Value};
use crate::schema::Schema;
use instruction::Instruction;
use lower::NonArithmetic;

/// A formula, ready to run. Compile once, run for every job; it is `Send` and `Sync`.
#[derive(Debug, Clone)]
pub struct Program {
    expr: Arc<Expr>,
    code: Vec<Instruction>,
    /// The node that each instruction came from.
    nodes: Vec<NodeId>,
    constants: Vec<Constant>,
    inputs: Vec<Box<str>>,
    undefined: Vec<(Box<str>, Span)>,
    /// What CPython's compiler raises, for every job, before anything runs.
    refused: Option<(Raised, Span)>,
}

/// A value that the text fixes.
#[derive(Debug, Clone)]
pub(super) struct Constant {
    value: Value,
    /// How a literal is written; base ten keeps its digits.
    text: Option<Box<str>>,
}

impl Program {
    /// Lowers a tree. Names mean what they mean to OpenPBS: Python's `math` first, then the numeric names of
    /// `schema`, then Python's builtins. Any other name raises `NameError` where it is reached.
    ///
    /// # Errors
    /// [`CompileError`] when the formula is valid Python but no arithmetic.
    pub fn compile(expr: Arc<Expr>, schema: &Schema) -> Result<Self, CompileError> {
        lower::lower(expr, &|name| Resolution::from_schema(name, schema), NonArithmetic::Refuse)
    }

    /// Lowers any expression: what is no arithmetic becomes an input of an unknown value, and is called where Python
    /// may raise an exception. `resolve` gives the meaning of a name. CPython's limits are not checked.
    pub(crate) fn compile_python(expr: Arc<Expr>, resolve: &dyn Fn(&str) -> Resolution) -> Result<Self, CompileError> {
        lower::lower(expr, resolve, NonArithmetic::Input)
    }

    /// The inputs that the formula reads, in the order in which an evaluator takes them.
    pub fn inputs(&self) -> &[Box<str>] {
        &self.inputs
    }

    /// The names that mean nothing, with the place of each first use.
    pub fn undefined(&self) -> &[(Box<str>, Span)] {
        &self.undefined
    }

    /// The tree that was compiled.
    pub fn expr(&self) -> &Expr {
        &self.expr
    }

    /// What CPython's compiler refuses, for every job: a nesting or a literal that is too large for it.
    pub fn refused(&self) -> Option<&Raised> {
        self.refused.as_ref().map(|(raised, _)| raised)
    }

    /// Runs the program once on Python's numbers. To run it often, keep an [`Program::interpreter`].
    ///
    /// # Errors
    /// What Python raises, with its place in the formula.
    pub fn evaluate(&self, inputs: &[Value]) -> Result<Value, EvalError> {
        self.interpreter(Python::new()).evaluate(inputs)
    }

    /// Something to run the program with, often, in the given arithmetic.
    pub fn interpreter<A: Arithmetic>(&self, arithmetic: A) -> Interpreter<'_, A> {
        Interpreter::new(self, arithmetic)
    }
}
