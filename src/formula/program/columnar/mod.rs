//! The executor for many rows: each instruction runs over a block of lanes before the next one does.
//!
//! Enters: a [`Program`], and the inputs of up to [`LANES`] rows as [`ColumnView`]s. Leaves: an [`Outcome`], which has a
//! number for every lane that the block could compute, bit for bit what the scalar executor gives, and a mark on
//! every other: a lane that would raise an error, an integer that reaches 2^53, a value that is no number, NaN. What
//! those lanes give, the scalar executor says; a mark too many costs time and nothing else.
//!
//! Where rows part at a condition, both ways run under a guard: an error counts only in the lanes that go that way,
//! and a way that no lane goes is not run.

mod arithmetic;
mod calls;
mod coming;
mod flow;
mod input;
mod loops;
mod outcome;
mod power;
mod scratch;
mod vector;

pub use outcome::Outcome;
pub use vector::Kind;

use crate::formula::program::Program;
use crate::formula::program::instruction::Instruction;
use crate::python::{Arithmetic, ColumnView, Python, Value};
use coming::Coming;
use flow::Frame;
use scratch::Scratch;
use vector::Entry;

/// The most rows that are computed side by side: what they need stays in the processor's nearest cache.
pub const LANES: usize = 1024;

/// Runs one program on block after block; all memory that it needs goes round.
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
pub struct Columnar<'p, 'i> {
    program: &'p Program,
    python: Python,
    strips: Vec<ColumnView<'i>>,
    coming: Coming<'i>,
    rows: usize,
    stack: Vec<Entry<'i>>,
    frames: Vec<Frame<'i>>,
    /// The lanes that the present instruction concerns, where not all.
    guard: Option<Vec<u8>>,
    outcome: Outcome,
    scratch: Scratch,
}

/// Where the program goes on.
enum Next {
    Instruction,
    At(u32),
}

/// No lane is left to compute.
struct AllMarked;

impl Program {
    /// Something to run the program with on many rows at once, in Python's arithmetic.
    pub fn columnar<'i>(&self) -> Columnar<'_, 'i> {
        Columnar {
            program: self,
            python: Python::new(),
            strips: Vec::new(),
            coming: Coming::default(),
            rows: 0,
            stack: Vec::new(),
            frames: Vec::new(),
            guard: None,
            outcome: Outcome::default(),
            scratch: Scratch::default(),
        }
    }
}

impl<'i> Columnar<'_, 'i> {
    /// Computes a block of at most [`LANES`] rows; more are left out. `inputs` are in the order of
    /// [`Program::inputs`], `inexact` names the rows of which some strip does not hold the true value.
    pub fn evaluate(&mut self, inputs: &[ColumnView<'i>], rows: usize, inexact: &[usize]) -> &Outcome {
        self.rows = rows.min(LANES);
        self.outcome.begin(self.rows, inexact);
        self.strips.clear();
        self.strips.extend_from_slice(inputs);
        self.python.begin();
        let result = if self.program.refused.is_some() { Err(AllMarked) } else { self.run() };
        match result {
            Ok(entry) => self.outcome.take(entry, &mut self.scratch),
            Err(AllMarked) => self.outcome.mark_all(),
        }
        self.clear();
        &self.outcome
    }

    /// Says what the inputs of the next block will be, so that they are on their way while this one is computed.
    pub fn announce(&mut self, inputs: &[ColumnView<'i>]) {
        self.coming.set(inputs, self.program.code.len());
    }

    fn run(&mut self) -> Result<Entry<'i>, AllMarked> {
        let program = self.program;
        let mut at = 0;
        loop {
            self.join(at)?;
            let Some(instruction) = program.code.get(at as usize) else { break };
            self.coming.ask();
            at = match self.step(instruction)? {
                Next::Instruction => at + 1,
                Next::At(exit) => exit,
            };
        }
        self.pop()
    }

    fn step(&mut self, instruction: &Instruction) -> Result<Next, AllMarked> {
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
            Instruction::CompareLink { op, exit } => return self.link(*op, *exit),
            Instruction::ShortCircuit { op, exit } => return self.short_circuit(*op, *exit),
            Instruction::BranchIfFalse { exit } => return self.branch(*exit),
            Instruction::Jump { exit } => return self.jump(*exit),
            Instruction::Call { positional, keywords } => self.call(*positional as usize, keywords)?,
            Instruction::Tuple(count) => self.sequence(*count as usize, false)?,
            Instruction::List(count) => self.sequence(*count as usize, true)?,
        }
        Ok(Next::Instruction)
    }

    /// Programs are built so that there is always an entry; if not, the scalar executor shall say so.
    fn pop(&mut self) -> Result<Entry<'i>, AllMarked> {
        self.stack.pop().ok_or(AllMarked)
    }

    /// Every lane that goes this way raises an error, or is beyond what a lane holds.
    fn fail(&mut self) -> Result<(), AllMarked> {
        let Some(guard) = &self.guard else { return Err(AllMarked) };
        self.outcome.mark(guard);
        self.stack.push(Entry::Scalar(Value::Int(0)));
        Ok(())
    }

    /// Pushes what all lanes have in common, if Python made something of it.
    fn push_scalar<E>(&mut self, value: Result<Value, E>) -> Result<(), AllMarked> {
        match value {
            Ok(value) => self.stack.push(Entry::Scalar(value)),
            Err(_) => self.fail()?,
        }
        Ok(())
    }

    fn sequence(&mut self, count: usize, is_list: bool) -> Result<(), AllMarked> {
        let base = self.stack.len().checked_sub(count).ok_or(AllMarked)?;
        let items = self.stack.split_off(base);
        self.stack.push(Entry::Sequence { items, is_list });
        Ok(())
    }

    /// Leaves nothing behind, wherever the block ended.
    fn clear(&mut self) {
        while let Some(entry) = self.stack.pop() {
            entry.recycle(&mut self.scratch);
        }
        while let Some(frame) = self.frames.pop() {
            frame.recycle(&mut self.scratch);
        }
        if let Some(guard) = self.guard.take() {
            self.scratch.give_bytes(guard);
        }
    }
}
