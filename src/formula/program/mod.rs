//! Compiled formulas: a syntax tree enters, a [`Program`] for a stack machine leaves.
//!
//! A program can only be made by [`Formula::compile`](crate::Formula::compile), so its jumps and
//! operands are valid. An interpreter evaluates it for one row of inputs at a time, in Python's
//! arithmetic or in decimals; a columnar executor evaluates it for a block of rows.

mod columnar;
mod compiler_limits;
mod error;
mod instruction;
mod interpreter;
mod lowering;
mod trace;

use std::sync::Arc;

pub use columnar::{ColumnarExecutor, LANES, LaneResults, LaneType};
pub use error::{CompileError, EvalError, Operand};
pub use interpreter::{Interpreter, InterpreterBuffers};
pub(crate) use lowering::literal_value;
pub use trace::Summand;
pub(super) use trace::sum_under_limits;
pub use trace::{Term, Trace};

use crate::diagnostic::Span;
use crate::formula::syntax::{Expr, ExprId};
use crate::python::{Arithmetic, Python, PythonVersion, Raised, Value};
use instruction::Instruction;

/// A compiled formula. Compile once, evaluate for every job; it is `Send` and `Sync`.
#[derive(Debug, Clone)]
pub struct Program {
    /// The Python that evaluates it.
    python: PythonVersion,
    expr: Arc<Expr>,
    code: Vec<Instruction>,
    /// The node of each instruction.
    nodes: Vec<ExprId>,
    constants: Vec<Constant>,
    inputs: Vec<Box<str>>,
    undefined: Vec<(Box<str>, Span)>,
    /// The exception of every evaluation, whatever the inputs are.
    refused: Option<(Raised, Span)>,
}

/// A literal or a constant of `math`.
#[derive(Debug, Clone)]
pub(super) struct Constant {
    value: Value,
    /// The text of a literal, whose digits decimal arithmetic keeps.
    text: Option<Box<str>>,
}

impl Program {
    /// The names of the inputs, in the order in which they are passed to an evaluation.
    pub fn inputs(&self) -> &[Box<str>] {
        &self.inputs
    }

    /// The undefined names, with the span of their first use.
    pub fn undefined(&self) -> &[(Box<str>, Span)] {
        &self.undefined
    }

    /// The version of Python that the program was compiled for.
    pub fn python(&self) -> PythonVersion {
        self.python
    }

    /// The tree that was compiled.
    pub fn expr(&self) -> &Expr {
        &self.expr
    }

    /// The exception of every evaluation: a literal that exceeds CPython's limits, or a nesting
    /// that may.
    pub fn refused(&self) -> Option<&Raised> {
        self.refused.as_ref().map(|(raised, _)| raised)
    }

    /// The number of instructions.
    pub(crate) fn instruction_count(&self) -> usize {
        self.code.len()
    }

    /// The work of an evaluation in columns for each row, in simple operations.
    pub(crate) fn lane_work(&self) -> u64 {
        self.code.iter().map(Instruction::lane_work).sum()
    }

    /// Evaluates the program once in Python's arithmetic. To score many jobs, use
    /// [`Program::score_columns`] or [`Program::score_row`].
    ///
    /// The result is what Python's `eval` returns, which need not be a number. A score is a double;
    /// for any other result, scoring has an error of its own, a
    /// [`ScoreError`](crate::rank::ScoreError) that is not `Raised`: `NotANumber` for `None`, a
    /// tuple, a list, a function or a complex number, and `TooLarge` for an integer beyond the
    /// doubles. `True` and `False` score 1 and 0.
    ///
    /// ```
    /// use job_sort_formula::rank::ColumnScratch;
    /// use job_sort_formula::{Formula, Schema};
    ///
    /// for (text, value, score) in [
    ///     ("1 < 2", "True", "1"),
    ///     ("sqrt", "<built-in function sqrt>", "the result has type `builtin_function_or_method`, expected a real number"),
    /// ] {
    ///     let program = Formula::parse(text)?.compile(&Schema::openpbs())?;
    ///     assert_eq!(program.evaluate(&[])?.repr(), value);
    ///     let scored = program.score_row(&[], &mut ColumnScratch::new());
    ///     assert_eq!(scored.map_or_else(|error| error.to_string(), |score| score.to_string()), score);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The exception that Python raises, with its span in the formula. Another number of inputs
    /// than [`Program::inputs`] is a `TypeError`.
    pub fn evaluate(&self, inputs: &[Value]) -> Result<Value, EvalError> {
        self.interpreter(Python::new()).evaluate(inputs)
    }

    /// An interpreter of the program in the given arithmetic.
    pub fn interpreter<A: Arithmetic>(&self, arithmetic: A) -> Interpreter<'_, A> {
        Interpreter::new(self, arithmetic)
    }

    /// An interpreter in Python's arithmetic that reuses the memory of another one, of any program.
    pub fn interpreter_with(&self, buffers: InterpreterBuffers) -> Interpreter<'_, Python> {
        Interpreter::with_buffers(self, buffers)
    }
}
