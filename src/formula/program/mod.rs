//! Compiled formulas: a syntax tree enters, a [`Program`] for a stack machine leaves.
//!
//! A program can only be made by [`Formula::compile`](crate::Formula::compile), so its jumps and
//! operands are valid. An interpreter evaluates a program for one row of inputs at a time, in Python's arithmetic or in
//! decimals; a columnar executor evaluates it for a block of rows.

mod columnar;
mod compiler;
mod interpreter;
mod trace;

use std::sync::Arc;

use crate::diagnostic::Span;
use crate::formula::syntax::{Construct, Expr, ExprId};
use crate::python::{
    BinaryOperator, BooleanOperator, ComparisonOperator, ErrorKind, Python, PythonVersion, Raised,
    UnaryOperator, Value,
};

pub use columnar::{ColumnarExecutor, LANES, LaneResults, LaneType};
pub use compiler::literal_value;
pub use interpreter::{Interpreter, InterpreterBuffers};
pub(super) use trace::sum_under_limits;
pub use trace::{Summand, Term, Trace};

/// A compiled formula. Compile once, evaluate for every job; it is `Send` and `Sync`.
#[derive(Debug, Clone)]
pub struct Program {
    /// The Python that evaluates it.
    python: PythonVersion,
    // shared, because each summand is compiled as a program of the same tree
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
struct Constant {
    value: Value,
    /// The text of a literal, whose digits decimal arithmetic keeps.
    text: Option<Box<str>>,
}

impl Program {
    /// The names of the inputs, in the order in which they are passed to an evaluation.
    pub fn inputs(&self) -> &[Box<str>] {
        &self.inputs
    }

    /// The place of a name among the [`inputs`](Self::inputs); `None` if the formula does not read
    /// it.
    pub fn slot(&self, name: &str) -> Option<usize> {
        let mut inputs = self.inputs().iter();
        inputs.position(|input| **input == *name)
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
    pub fn lane_work(&self) -> u64 {
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

    /// An interpreter of the program in the given arithmetic, of the program's version of Python.
    pub fn interpreter(&self, arithmetic: Python) -> Interpreter<'_> {
        Interpreter::new(self, arithmetic, InterpreterBuffers::default())
    }

    /// An interpreter in Python's arithmetic that reuses the memory of another one, of any program.
    pub fn interpreter_with(&self, buffers: InterpreterBuffers) -> Interpreter<'_> {
        Interpreter::new(self, Python::new(), buffers)
    }
}

/// One instruction. `exit` is the address of a later instruction, or one past the last.
#[derive(Debug, Clone, PartialEq)]
enum Instruction {
    /// Pushes a constant.
    Constant(u32),
    /// Pushes an input of the row.
    Input(u32),
    /// Raises `NameError` for an undefined name.
    Undefined(u32),
    /// Replaces the top.
    Unary(UnaryOperator),
    /// Replaces the two top entries.
    Binary(BinaryOperator),
    /// Replaces the two top entries by a truth value.
    Compare(ComparisonOperator),
    /// A comparison of a chain, not the last: if false, leaves `False` and exits; else leaves the
    /// right operand.
    CompareLink {
        /// The comparison.
        op: ComparisonOperator,
        /// The end of the chain.
        exit: u32,
    },
    /// Exits with the top entry if it decides the result; else drops it.
    ShortCircuit {
        /// `and` exits on false, `or` on true.
        op: BooleanOperator,
        /// The end of the operands.
        exit: u32,
    },
    /// Drops the top entry and jumps if it is false.
    BranchIfFalse {
        /// The start of the other branch.
        exit: u32,
    },
    /// Jumps.
    Jump {
        /// The end of both branches.
        exit: u32,
    },
    /// Replaces the callee and its arguments by the result.
    Call {
        /// The number of positional arguments.
        positional: u32,
        /// The names of the keyword arguments, in the order of their values on the stack.
        keywords: Box<[Box<str>]>,
    },
    /// Replaces the last items by a tuple.
    Tuple(u32),
    /// Replaces the last items by a list.
    List(u32),
}

impl Instruction {
    /// Whether the top entry is the value of the instruction's node after it was executed; `jumped`
    /// tells whether it jumped.
    fn completes_node(&self, jumped: bool) -> bool {
        match self {
            // the value of `and`, `or` and `if` is that of a part, which `value_of_child` finds
            Self::ShortCircuit { .. }
            | Self::BranchIfFalse { .. }
            | Self::Jump { .. }
            | Self::Undefined(_) => false,
            Self::CompareLink { .. } => jumped,
            _ => true,
        }
    }

    /// About how many simple operations on a double it takes for a row of a column.
    fn lane_work(&self) -> u64 {
        use BinaryOperator as Op;
        match self {
            Self::Binary(Op::Power | Op::FloorDivide | Op::Modulo) | Self::Call { .. } => 24,
            _ => 1,
        }
    }

    /// The address to which this instruction can jump.
    fn exit_mut(&mut self) -> Option<&mut u32> {
        match self {
            Self::CompareLink { exit, .. }
            | Self::ShortCircuit { exit, .. }
            | Self::BranchIfFalse { exit }
            | Self::Jump { exit } => Some(exit),
            _ => None,
        }
    }
}

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
