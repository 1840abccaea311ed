//! The columnar executor: each instruction runs over a block of lanes before the next instruction runs.
//!
//! A [`Program`] enters, with the inputs of up to [`LANES`] rows as [`ColumnView`]s. An [`LaneResults`] leaves: a
//! number for every lane that could be computed, bit for bit that of the interpreter, and a list of the lanes that fall
//! back to the interpreter: those that would raise an error, an integer that reaches 2^104, a value that is not a
//! number, NaN. A lane that falls back without need costs time and nothing else.
//!
//! If the lanes differ in a condition, both branches run, each with a mask of its *active* lanes: an error counts only in
//! an active lane, and a branch without active lanes does not run. A mask has a byte for each lane: 1 if the lane
//! belongs to it, else 0.

mod arithmetic;
mod calls;
mod control_flow;
mod double_double;
mod inputs;
mod kernels;
mod lane_results;
mod terms;
mod vector;

pub use lane_results::LaneResults;
pub use terms::Terms;
pub use vector::{LANES, LaneType};

use std::ops::Range;

use crate::formula::program::Program;
use crate::formula::program::instruction::Instruction;
use crate::python::limits::FREE_FUEL;
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
/// let results = columnar.evaluate(&[ncpus, priority], 3, &[]);
/// assert_eq!((results.lanes()[0], results.lanes()[2]), (2.0, 64.0));
/// assert_eq!(results.fallback(), [0, 1, 0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ColumnarExecutor<'p, 'i> {
    program: &'p Program,
    /// Computes what is the same in all lanes.
    python: Python,
    /// Computes single lanes.
    lane_python: Python,
    views: Vec<ColumnView<'i>>,
    rows: usize,
    stack: Vec<Entry<'i>>,
    frames: Vec<Frame<'i>>,
    /// The mask of the lanes of the present branch; `None` if all lanes are active.
    active: Option<Vec<u8>>,
    results: LaneResults,
    scratch: Scratch,
}

/// The memory of a [`ColumnarExecutor`], for the next one.
#[derive(Debug, Default)]
pub struct ColumnarBuffers {
    views: Vec<ColumnView<'static>>,
    stack: Vec<Entry<'static>>,
    frames: Vec<Frame<'static>>,
    results: LaneResults,
    scratch: Scratch,
}

/// An expression whose branches are being evaluated. `outer` are the active lanes outside of it.
#[derive(Debug)]
enum Frame<'i> {
    /// The first branch of a conditional is evaluated, in the lanes of `taken`; in all active lanes if that is `None`.
    Then { taken: Option<Vec<u8>>, outer: Option<Vec<u8>> },
    /// The lanes of `decided` have the value of the expression; the other lanes are evaluated up to `exit`, where the
    /// lanes are joined.
    Join { exit: u32, decided: Vec<u8>, value: Entry<'i>, outer: Option<Vec<u8>> },
}

impl Frame<'_> {
    fn recycle(self, scratch: &mut Scratch) {
        let (mask, outer) = match self {
            Self::Then { taken, outer } => (taken, outer),
            Self::Join { decided, value, outer, .. } => {
                value.recycle(scratch);
                (Some(decided), outer)
            }
        };
        [mask, outer].into_iter().flatten().for_each(|mask| scratch.recycle_bytes(mask));
    }
}

/// The instruction that is executed next.
enum Next {
    /// The following one.
    Following,
    /// The one at this index.
    Jump(u32),
}

/// Every lane falls back, so the rest of the program need not run.
struct AllLanesFallBack;

impl Program {
    /// An executor of the program for many rows at a time, in Python's arithmetic.
    #[doc(hidden)]
    pub fn columnar<'i>(&self) -> ColumnarExecutor<'_, 'i> {
        self.columnar_with(ColumnarBuffers::default())
    }

    /// An executor that reuses the memory of another one, of any program.
    #[doc(hidden)]
    pub fn columnar_with<'i>(&self, buffers: ColumnarBuffers) -> ColumnarExecutor<'_, 'i> {
        let ColumnarBuffers { views, stack, frames, results, scratch } = buffers;
        ColumnarExecutor {
            program: self,
            // more work is left to the interpreter, whose caller counts it
            python: Python::with_fuel(LANES as u64 * FREE_FUEL).of_version(self.python),
            lane_python: Python::with_fuel(FREE_FUEL).of_version(self.python),
            views,
            rows: 0,
            stack,
            frames,
            active: None,
            results,
            scratch,
        }
    }
}

impl<'i> ColumnarExecutor<'_, 'i> {
    /// Evaluates a block of at most [`LANES`] rows; further rows are ignored. `inputs` are in the order of
    /// [`Program::inputs`], `inexact` lists the rows in which an input is not exact.
    pub fn evaluate(&mut self, inputs: &[ColumnView<'i>], rows: usize, inexact: &[usize]) -> &LaneResults {
        let code = self.program.code_range();
        self.evaluate_views(inputs.iter().copied(), code, &[], std::iter::empty(), rows, inexact)
    }

    /// Evaluates the instructions of a range as [`evaluate`](Self::evaluate) does all of them. The values of the terms in
    /// it are given beside the inputs.
    pub fn evaluate_views(
        &mut self,
        inputs: impl Iterator<Item = ColumnView<'i>>,
        code: Range<usize>,
        terms: &[Range<usize>],
        values: impl Iterator<Item = ColumnView<'i>>,
        rows: usize,
        inexact: &[usize],
    ) -> &LaneResults {
        self.rows = rows.min(LANES);
        self.results.reset(self.rows, inexact);
        self.views.clear();
        self.views.extend(inputs);
        self.views.extend(values);
        self.python.begin();
        let result = if self.program.refused.is_some() { Err(AllLanesFallBack) } else { self.run(code, terms) };
        match result {
            Ok(entry) => self.results.store(entry, &mut self.scratch),
            Err(AllLanesFallBack) => self.results.fall_back_all(),
        }
        self.clear();
        &self.results
    }

    /// The memory of the executor, for [`Program::columnar_with`], and the results of the last block in it.
    pub fn into_buffers(self) -> ColumnarBuffers {
        let Self { views, stack, frames, results, scratch, .. } = self;
        ColumnarBuffers { views: emptied(views), stack: emptied(stack), frames: emptied(frames), results, scratch }
    }

    fn run(&mut self, code: Range<usize>, terms: &[Range<usize>]) -> Result<Entry<'i>, AllLanesFallBack> {
        let program = self.program;
        let mut at = code.start;
        loop {
            self.join(at as u32)?;
            let Some(instruction) = program.code.get(at).filter(|_| at < code.end) else { break };
            if let Some(term) = terms.iter().position(|term| term.start == at) {
                self.input(program.inputs.len() + term)?;
                at = terms[term].end;
                continue;
            }
            at = match self.step(instruction)? {
                Next::Following => at + 1,
                Next::Jump(index) => index as usize,
            };
        }
        self.pop()
    }

    fn step(&mut self, instruction: &Instruction) -> Result<Next, AllLanesFallBack> {
        match instruction {
            Instruction::Constant(index) => {
                let constant = self.program.constants.get(*index as usize);
                self.stack.push(Entry::Scalar(constant.map_or(Value::None, |constant| constant.value.clone())));
            }
            Instruction::Input(slot) => self.input(*slot as usize)?,
            Instruction::Undefined(_) => self.fail_active_lanes()?,
            Instruction::Unary(op) => self.unary(*op)?,
            Instruction::Binary(op) => self.binary(*op)?,
            Instruction::Compare(op) => self.compare(*op)?,
            Instruction::CompareLink { op, exit } => return self.compare_link(*op, *exit),
            Instruction::ShortCircuit { op, exit } => return self.short_circuit(*op, *exit),
            Instruction::BranchIfFalse { exit } => return self.branch_if_false(*exit),
            Instruction::Jump { exit } => return self.jump(*exit),
            Instruction::Call { positional, keywords } => self.call(*positional as usize, keywords)?,
            Instruction::Tuple(count) => self.sequence(*count as usize, false)?,
            Instruction::List(count) => self.sequence(*count as usize, true)?,
        }
        Ok(Next::Following)
    }

    /// A program never pops an empty stack; if it did, the interpreter would report it.
    fn pop(&mut self) -> Result<Entry<'i>, AllLanesFallBack> {
        self.stack.pop().ok_or(AllLanesFallBack)
    }

    /// Marks all active lanes as falling back, and pushes a 0 in place of their value.
    fn fail_active_lanes(&mut self) -> Result<(), AllLanesFallBack> {
        let Some(active) = &self.active else { return Err(AllLanesFallBack) };
        self.results.fall_back(active);
        self.stack.push(Entry::Scalar(Value::Int(0)));
        Ok(())
    }

    /// Pushes a value that is the same in all lanes.
    fn push_scalar<E>(&mut self, value: Result<Value, E>) -> Result<(), AllLanesFallBack> {
        match value {
            Ok(value) => self.stack.push(Entry::Scalar(value)),
            Err(_) => self.fail_active_lanes()?,
        }
        Ok(())
    }

    fn sequence(&mut self, count: usize, is_list: bool) -> Result<(), AllLanesFallBack> {
        let base = self.stack.len().checked_sub(count).ok_or(AllLanesFallBack)?;
        let items = self.stack.split_off(base);
        self.stack.push(Entry::Sequence { items, is_list });
        Ok(())
    }

    /// Returns all memory to the pool, also if the evaluation stopped early.
    fn clear(&mut self) {
        while let Some(entry) = self.stack.pop() {
            entry.recycle(&mut self.scratch);
        }
        while let Some(frame) = self.frames.pop() {
            frame.recycle(&mut self.scratch);
        }
        if let Some(active) = self.active.take() {
            self.scratch.recycle_bytes(active);
        }
    }
}

impl ColumnarBuffers {
    /// The results of the last block.
    pub fn results(&self) -> &LaneResults {
        &self.results
    }
}

/// An empty vector in the memory of another one, whose items may borrow for less long.
fn emptied<T, U>(mut items: Vec<T>) -> Vec<U> {
    items.clear();
    // a vector that is collected from another one of the same layout takes over its memory
    items.into_iter().filter_map(|_| None).collect()
}
