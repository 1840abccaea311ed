//! The columnar executor: each instruction runs over a block of lanes before the next instruction runs.
//!
//! A [`Program`] enters, with the inputs of up to [`LANES`] rows as [`ColumnView`]s. An [`Outcome`] leaves: a number for every
//! lane that could be computed, bit for bit that of the interpreter, and a list of the lanes that fall back to the
//! interpreter: those that would raise an error, an integer that reaches 2^53, a value that is not a number, NaN. A lane
//! that falls back without need costs time and nothing else.
//!
//! If the lanes differ in a condition, both branches run under a guard: an error counts only in the lanes of its branch,
//! and a branch without lanes does not run.

mod arithmetic;
mod calls;
mod control_flow;
mod inputs;
mod kernels;
mod outcome;
mod vector;

pub use outcome::Outcome;
pub use vector::{LANES, LaneType};

use crate::formula::program::Program;
use crate::formula::program::instruction::Instruction;
use crate::python::{Arithmetic, ColumnView, Python, Value};
use vector::{Entry, Scratch};

/// Runs one program on block after block and reuses its memory.
///
/// ```
/// use job_sort_formula::python::{ColumnValues, ColumnView, IntMask};
/// use job_sort_formula::{Formula, Schema};
///
/// let program = Formula::parse("ncpus / queue_priority")?.compile(&Schema::openpbs())?;
/// let ncpus = ColumnView { values: ColumnValues::I32(&[4, 8, 64]), ints: IntMask::All };
/// let priority = ColumnView { values: ColumnValues::I32(&[2, 0, 1]), ints: IntMask::All };
/// let mut columnar = program.columnar();
/// let outcome = columnar.evaluate(&[ncpus, priority], 3, &[]);
/// assert_eq!((outcome.lanes()[0], outcome.lanes()[2]), (2.0, 64.0));
/// assert_eq!(outcome.fallback(), [0, 1, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ColumnarExecutor<'p, 'i> {
    program: &'p Program,
    python: Python,
    views: Vec<ColumnView<'i>>,
    rows: usize,
    stack: Vec<Entry<'i>>,
    frames: Vec<Frame<'i>>,
    /// The lanes of the present branch, if not all.
    guard: Option<Vec<u8>>,
    outcome: Outcome,
    scratch: Scratch,
}

/// A branch that runs while the lanes of the other branch are deferred.
#[derive(Debug)]
enum Frame<'i> {
    /// The first branch of a conditional, in the lanes of `taken`, or in all lanes without a mask.
    Then { taken: Option<Vec<u8>>, outer: Option<Vec<u8>> },
    /// The lanes of `kept` have their value and are deferred until the others reach `end`.
    Rest { end: u32, kept: Vec<u8>, value: Entry<'i>, outer: Option<Vec<u8>> },
}

impl Frame<'_> {
    fn recycle(self, scratch: &mut Scratch) {
        let (mask, outer) = match self {
            Self::Then { taken, outer } => (taken, outer),
            Self::Rest { kept, value, outer, .. } => {
                value.recycle(scratch);
                (Some(kept), outer)
            }
        };
        [mask, outer].into_iter().flatten().for_each(|mask| scratch.recycle_bytes(mask));
    }
}

/// The instruction that follows.
enum Next {
    Following,
    Jump(u32),
}

/// Every lane falls back, so the rest of the program need not run.
struct AllFallBack;

impl Program {
    /// An executor of the program for many rows at a time, in Python's arithmetic.
    pub fn columnar<'i>(&self) -> ColumnarExecutor<'_, 'i> {
        ColumnarExecutor {
            program: self,
            python: Python::new(),
            views: Vec::new(),
            rows: 0,
            stack: Vec::new(),
            frames: Vec::new(),
            guard: None,
            outcome: Outcome::default(),
            scratch: Scratch::default(),
        }
    }
}

impl<'i> ColumnarExecutor<'_, 'i> {
    /// Evaluates a block of at most [`LANES`] rows; further rows are ignored. `inputs` are in the order of
    /// [`Program::inputs`], `inexact` lists the rows in which an input is not exact.
    pub fn evaluate(&mut self, inputs: &[ColumnView<'i>], rows: usize, inexact: &[usize]) -> &Outcome {
        self.rows = rows.min(LANES);
        self.outcome.reset(self.rows, inexact);
        self.views.clear();
        self.views.extend_from_slice(inputs);
        self.python.begin();
        let result = if self.program.refused.is_some() { Err(AllFallBack) } else { self.run() };
        match result {
            Ok(entry) => self.outcome.store(entry, &mut self.scratch),
            Err(AllFallBack) => self.outcome.fall_back_all(),
        }
        self.clear();
        &self.outcome
    }

    fn run(&mut self) -> Result<Entry<'i>, AllFallBack> {
        let program = self.program;
        let mut at = 0;
        loop {
            self.join(at)?;
            let Some(instruction) = program.code.get(at as usize) else { break };
            at = match self.step(instruction)? {
                Next::Following => at + 1,
                Next::Jump(exit) => exit,
            };
        }
        self.pop()
    }

    fn step(&mut self, instruction: &Instruction) -> Result<Next, AllFallBack> {
        match instruction {
            Instruction::Constant(index) => {
                let constant = self.program.constants.get(*index as usize);
                self.stack.push(Entry::Scalar(constant.map_or(Value::None, |constant| constant.value.clone())));
            }
            Instruction::Input(slot) => self.input(*slot as usize)?,
            Instruction::Undefined(_) => self.fail()?,
            Instruction::Unary(op) => self.unary(*op)?,
            Instruction::Binary(op) => self.binary(*op)?,
            Instruction::Compare(op) => self.compare(*op)?,
            Instruction::CompareLink { op, exit } => return self.compare_link(*op, *exit),
            Instruction::ShortCircuit { op, exit } => return self.short_circuit(*op, *exit),
            Instruction::BranchIfFalse { exit } => return self.branch(*exit),
            Instruction::Jump { exit } => return self.jump(*exit),
            Instruction::Call { positional, keywords } => self.call(*positional as usize, keywords)?,
            Instruction::Tuple(count) => self.sequence(*count as usize, false)?,
            Instruction::List(count) => self.sequence(*count as usize, true)?,
        }
        Ok(Next::Following)
    }

    /// A program never pops an empty stack; if it did, the interpreter would report it.
    fn pop(&mut self) -> Result<Entry<'i>, AllFallBack> {
        self.stack.pop().ok_or(AllFallBack)
    }

    /// Every lane of the present branch raises an error or exceeds what a lane can hold.
    fn fail(&mut self) -> Result<(), AllFallBack> {
        let Some(guard) = &self.guard else { return Err(AllFallBack) };
        self.outcome.fall_back(guard);
        self.stack.push(Entry::Scalar(Value::Int(0)));
        Ok(())
    }

    /// Pushes a value that is the same in all lanes.
    fn push_scalar<E>(&mut self, value: Result<Value, E>) -> Result<(), AllFallBack> {
        match value {
            Ok(value) => self.stack.push(Entry::Scalar(value)),
            Err(_) => self.fail()?,
        }
        Ok(())
    }

    fn sequence(&mut self, count: usize, is_list: bool) -> Result<(), AllFallBack> {
        let base = self.stack.len().checked_sub(count).ok_or(AllFallBack)?;
        let items = self.stack.split_off(base);
        self.stack.push(Entry::Sequence { items, is_list });
        Ok(())
    }

    /// Returns all memory to the pool, wherever the block ended.
    fn clear(&mut self) {
        while let Some(entry) = self.stack.pop() {
            entry.recycle(&mut self.scratch);
        }
        while let Some(frame) = self.frames.pop() {
            frame.recycle(&mut self.scratch);
        }
        if let Some(guard) = self.guard.take() {
            self.scratch.recycle_bytes(guard);
        }
    }
}
