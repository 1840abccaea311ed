//! The columnar executor: each instruction runs over a block of lanes before the next instruction
//! runs.
//!
//! A [`Program`] enters, with the inputs of up to [`LANES`] rows as [`InputColumn`]s.
//! [`LaneResults`] leave: a double for every lane that could be computed, bit for bit that of the
//! interpreter, and the lanes that fall back to the interpreter: those that would raise an error,
//! an integer that reaches 2^53, a value that is not a number, NaN. A lane that falls back without
//! need costs time and nothing else.
//!
//! If the lanes differ in a condition, both branches run, each with a mask of its *active* lanes:
//! an error counts only in an active lane, and a branch without active lanes does not run.

mod lanes;

use std::convert::identity;
use std::mem;
use std::ops::Range;

use crate::formula::program::{Instruction, Program};
use crate::python::limits::FREE_WORK;
use crate::python::vector_math::VectorMath;
use crate::python::{
    BooleanOperator, ComparisonOperator, Function, InputColumn, Python, Raised, Value,
};
use lanes::{
    Entry, FLOATS, LaneTypes, Lanes, Mask, Operand, is_exact, is_inexact, is_not_finite, lane_of,
    never,
};

pub use lanes::{LANES, LaneResults, LaneType};

/// Runs programs on block after block and reuses its memory.
///
/// ```
/// use job_sort_formula::formula::program::ColumnarExecutor;
/// use job_sort_formula::rank::InputColumn;
/// use job_sort_formula::{Formula, Schema};
///
/// let program = Formula::parse("ncpus / queue_priority")?.compile(&Schema::openpbs())?;
/// let columns = [[4, 8, 64], [2, 0, 1]];
/// let input = |index: usize| Some(InputColumn::I32(columns.get(index)?));
/// let mut executor = ColumnarExecutor::default();
/// let results = executor.evaluate(&program, &input, 3);
/// assert_eq!((results.lanes()[0], results.lanes()[2]), (2.0, 64.0));
/// assert_eq!(results.fallback_lanes().collect::<Vec<_>>(), [1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct ColumnarExecutor {
    stack: Vec<Entry>,
    /// The lanes of each entry of the stack, and one more.
    lanes: Vec<Lanes>,
    fallback: Vec<bool>,
}

impl ColumnarExecutor {
    /// Evaluates a block of at most [`LANES`] rows; further rows are ignored. `input` gives the
    /// columns in the order of [`Program::inputs`].
    pub fn evaluate<'i>(
        &mut self,
        program: &Program,
        input: &dyn Fn(usize) -> Option<InputColumn<'i>>,
        rows: usize,
    ) -> LaneResults<'_> {
        let rows = rows.min(LANES);
        self.stack.clear();
        // the results borrow the first lanes, even of an evaluation that computes none
        if self.lanes.is_empty() {
            self.lanes.push(Lanes::default());
        }
        self.fallback.clear();
        self.fallback.resize(rows, false);
        let mut run = Run {
            program,
            input,
            // more work is left to the interpreter, whose caller counts it
            python: Python::with_work_limit(LANES as u64 * FREE_WORK).of_version(program.python),
            lane_python: Python::with_work_limit(FREE_WORK).of_version(program.python),
            rows,
            stack: &mut self.stack,
            lanes: &mut self.lanes,
            fallback: &mut self.fallback,
            active: None,
            depth: 0,
        };
        let types = run.evaluate().unwrap_or_else(|| {
            self.fallback.fill(true);
            FLOATS
        });
        LaneResults {
            lanes: &self.lanes[0],
            types,
            fallback: &self.fallback,
        }
    }
}

/// One evaluation. Where a function returns `None`, all lanes fall back.
struct Run<'r, 'i> {
    program: &'r Program,
    input: &'r dyn Fn(usize) -> Option<InputColumn<'i>>,
    /// Computes what is the same in all lanes.
    python: Python,
    /// Computes single lanes.
    lane_python: Python,
    rows: usize,
    stack: &'r mut Vec<Entry>,
    lanes: &'r mut Vec<Lanes>,
    fallback: &'r mut Vec<bool>,
    /// The lanes of the present branch; `None` if all lanes are active.
    active: Option<Mask>,
    /// The number of conditions inside which the present instruction is.
    depth: usize,
}

impl Run<'_, '_> {
    /// Evaluates the program; the lanes of the result are the first. Lanes whose result is NaN fall
    /// back, because the sign of a NaN that is computed here may differ from Python's.
    fn evaluate(&mut self) -> Option<LaneTypes> {
        if self.program.refused.is_some() {
            return None;
        }
        self.python.begin();
        self.run(0..self.program.code.len())?;
        let types = self.spread(0)?;
        self.fall_back_where(0, f64::is_nan);
        Some(types)
    }

    fn run(&mut self, code: Range<usize>) -> Option<()> {
        let mut at = code.start;
        while at < code.end {
            at = self.step(at)?;
        }
        Some(())
    }

    /// Executes an instruction; returns the address of the next one.
    fn step(&mut self, at: usize) -> Option<usize> {
        let program = self.program;
        match program.code.get(at)? {
            Instruction::Constant(index) => {
                let constant = program.constants.get(*index as usize)?;
                self.push(Entry::Scalar(constant.value.clone()));
            }
            Instruction::Input(slot) => self.load(*slot as usize)?,
            Instruction::Undefined(_) => self.fail()?,
            Instruction::Unary(op) => self.unary(*op)?,
            Instruction::Binary(op) => self.binary(*op)?,
            Instruction::Compare(op) => {
                let x = self.index_of_top(2)?;
                self.compare(*op, x)?;
                self.stack.truncate(x + 1);
            }
            Instruction::CompareLink { op, exit } => {
                return self.compare_link(*op, at, *exit as usize);
            }
            Instruction::ShortCircuit { op, exit } => {
                return self.short_circuit(*op, at, *exit as usize);
            }
            Instruction::BranchIfFalse { exit } => return self.branch(at, *exit as usize),
            Instruction::Jump { exit } => return Some(*exit as usize),
            Instruction::Call {
                positional,
                keywords,
            } => self.call(*positional as usize, keywords)?,
            Instruction::Tuple(count) => self.sequence(*count as usize, Value::tuple)?,
            Instruction::List(count) => self.sequence(*count as usize, Value::list)?,
        }
        Some(at + 1)
    }

    /// The index of the first of the `count` topmost entries of the stack.
    fn index_of_top(&self, count: usize) -> Option<usize> {
        self.stack.len().checked_sub(count)
    }

    fn push(&mut self, entry: Entry) {
        self.stack.push(entry);
        // one more than entries, into which `compute` writes
        while self.lanes.len() <= self.stack.len() {
            self.lanes.push(Lanes::default());
        }
    }

    /// Replaces all entries from `index` on by another one; without it, all active lanes fall back.
    fn replace(&mut self, index: usize, entry: Option<Entry>) -> Option<()> {
        self.stack.truncate(index);
        match entry {
            Some(entry) => self.push(entry),
            None => self.fail()?,
        }
        Some(())
    }

    /// Marks all active lanes as falling back, and pushes a 0 in place of their value.
    fn fail(&mut self) -> Option<()> {
        self.fail_active()?;
        self.push(Entry::Scalar(Value::Int(0)));
        Some(())
    }

    /// Marks all active lanes as falling back.
    fn fail_active(&mut self) -> Option<()> {
        // without a branch, all lanes fall back, which ends the evaluation
        let active = self.active.as_ref()?;
        for (fallback, active) in self.fallback.iter_mut().zip(active) {
            *fallback |= active;
        }
        Some(())
    }

    /// Marks the active lanes as falling back whose number in an entry `fails`.
    fn fall_back_where(&mut self, index: usize, fails: impl Fn(f64) -> bool + Copy) {
        let numbers = &self.lanes[index].numbers[..self.rows];
        // vectorized, and false for most blocks
        if !lanes::any(numbers, fails) {
            return;
        }
        for lane in 0..self.rows {
            if fails(self.lanes[index].numbers[lane]) {
                self.fall_back(lane);
            }
        }
    }

    /// Marks a lane as falling back if it is active.
    fn fall_back(&mut self, lane: usize) {
        self.fallback[lane] |= self.is_active(lane);
    }

    fn is_active(&self, lane: usize) -> bool {
        self.active.as_ref().is_none_or(|active| active[lane])
    }

    /// The values of the entries from `first` on, if each is the same in all lanes.
    fn scalars(&self, first: usize) -> Option<Vec<Value>> {
        let entries = &self.stack[first..];
        // a call whose arguments differ between lanes allocates nothing
        for entry in entries {
            entry.scalar()?;
        }
        Some(entries.iter().filter_map(Entry::scalar).cloned().collect())
    }

    /// A tuple or a list of what is the same in all lanes; others are left to the interpreter.
    fn sequence(&mut self, count: usize, new: fn(Vec<Value>) -> Value) -> Option<()> {
        let first = self.index_of_top(count)?;
        let items = self.scalars(first);
        self.replace(first, items.map(|items| Entry::Scalar(new(items))))
    }

    /// Pushes an input; a missing one is a `NameError`.
    fn load(&mut self, slot: usize) -> Option<()> {
        match (self.input)(slot) {
            None => self.fail()?,
            Some(InputColumn::Same(value)) if lane_of(&value).is_some() => {
                self.push(Entry::Scalar(value));
            }
            Some(InputColumn::F64(floats)) if floats.len() >= self.rows => {
                self.push(Entry::Input(slot, LaneType::Float));
            }
            Some(InputColumn::Whole(integers)) if integers.len() >= self.rows => {
                self.push(Entry::Input(slot, LaneType::Int));
            }
            Some(column) => self.load_lanes(&column)?,
        }
        Some(())
    }

    fn load_lanes(&mut self, column: &InputColumn<'_>) -> Option<()> {
        const INTEGERS: LaneTypes = LaneTypes::All(LaneType::Int);
        let index = self.stack.len();
        // pushed first, so that there are lanes to fill
        self.push(Entry::Lanes(LaneTypes::Each));
        let Lanes { numbers, types } = &mut self.lanes[index];
        let numbers = &mut numbers[..self.rows];
        let (loaded, types) = match column {
            InputColumn::I32(integers) => (lanes::load(integers, numbers, f64::from), INTEGERS),
            InputColumn::I64(integers) => (
                // inexact from 2^53 on, where `check_integers` makes the lane fall back
                lanes::load(integers, numbers, |integer| integer as f64),
                INTEGERS,
            ),
            InputColumn::ByEntity { index, values } => {
                // `Program::score_columns` refuses an entity without a value
                let value = |entity: u32| values.get(entity as usize).copied().unwrap_or_default();
                (lanes::load(index, numbers, value), FLOATS)
            }
            InputColumn::Mixed { values, is_int } => {
                for (kind, &is_int) in types.iter_mut().zip(*is_int) {
                    // 1 is `LaneType::Int`, 0 is `Float`
                    *kind = u8::from(is_int);
                }
                let loaded = lanes::load(values, numbers, identity);
                (loaded.min(is_int.len()), LaneTypes::Each)
            }
            // too short, amounts that are not read yet, or what no lane holds
            _ => (0, FLOATS),
        };
        if loaded < self.rows {
            return self.replace(index, None);
        }
        self.check_integers(index, types);
        self.replace(index, Some(Entry::Lanes(types)))
    }

    /// The types of an entry; `None` if lanes do not hold it.
    fn types(&self, index: usize) -> Option<LaneTypes> {
        match self.stack.get(index)? {
            Entry::Lanes(types) => Some(*types),
            Entry::Input(_, kind) => Some(LaneTypes::All(*kind)),
            Entry::Scalar(value) => Some(LaneTypes::All(lane_of(value)?.1)),
        }
    }

    /// The numbers of an entry that has [types](Self::types).
    fn operand(&self, index: usize) -> Operand<'_> {
        match &self.stack[index] {
            Entry::Lanes(_) => Operand::Each(&self.lanes[index].numbers[..self.rows]),
            Entry::Input(slot, _) => Operand::Each(self.input_numbers(*slot)),
            Entry::Scalar(value) => match lane_of(value) {
                Some((number, _)) => Operand::Same(number),
                // not reached: such an entry has no types
                None => Operand::Same(f64::NAN),
            },
        }
    }

    fn input_numbers(&self, slot: usize) -> &[f64] {
        match (self.input)(slot) {
            Some(InputColumn::F64(numbers) | InputColumn::Whole(numbers)) => {
                // never shorter: `load` compares the length before it makes such an entry
                numbers.get(..self.rows).unwrap_or_default()
            }
            _ => &[],
        }
    }

    /// Gives an entry lanes of its own. `None` if lanes do not hold it.
    fn spread(&mut self, index: usize) -> Option<LaneTypes> {
        let types = self.types(index)?;
        if !matches!(self.stack[index], Entry::Lanes(_)) {
            self.compute(index, |run, numbers| match run.operand(index) {
                Operand::Same(number) => numbers.fill(number),
                Operand::Each(input) => numbers.copy_from_slice(input),
            })?;
            self.stack[index] = Entry::Lanes(types);
        }
        Some(types)
    }

    /// Computes new lanes at `index` from the entries of the stack, whose lanes are as before until
    /// then.
    fn compute<R>(&mut self, index: usize, f: impl FnOnce(&Self, &mut [f64]) -> R) -> Option<R> {
        // the last lanes are those of no entry
        let mut new = self.lanes.pop()?;
        let result = f(self, &mut new.numbers[..self.rows]);
        mem::swap(&mut self.lanes.get_mut(index)?.numbers, &mut new.numbers);
        self.lanes.push(new);
        Some(result)
    }

    /// `out = f(x, y)` in every lane; returns whether `fails(x, y, out)` is true in any.
    fn zip(
        &mut self,
        out: usize,
        x: usize,
        y: usize,
        f: impl Fn(f64, f64) -> f64 + Copy,
        fails: impl Fn(f64, f64, f64) -> bool + Copy,
    ) -> Option<bool> {
        self.compute(out, |run, numbers| {
            lanes::zip(numbers, run.operand(x), run.operand(y), f, fails)
        })
    }

    /// `out = f(x)` in every lane.
    fn map(&mut self, out: usize, x: usize, f: impl Fn(f64) -> f64 + Copy) -> Option<bool> {
        self.zip(out, x, x, move |x, _| f(x), lanes::never)
    }

    /// Makes the zeros of integers positive; lanes whose integer reaches 2^53 or is NaN fall back.
    fn check_integers(&mut self, index: usize, types: LaneTypes) {
        let rows = self.rows;
        if types == FLOATS {
            return;
        }
        self.lanes[index].set_each(types);
        let Lanes { numbers, types } = &mut self.lanes[index];
        if lanes::check_integers(&mut numbers[..rows], types) {
            for lane in 0..rows {
                let lanes = &self.lanes[index];
                if lanes.types[lane] != LaneType::Float as u8 && !is_exact(lanes.numbers[lane]) {
                    self.fall_back(lane);
                }
            }
        }
    }

    /// The value of one lane of an entry.
    fn value(&self, index: usize, lane: usize) -> Value {
        match &self.stack[index] {
            Entry::Scalar(value) => value.clone(),
            Entry::Lanes(types) => self.lanes[index].value(*types, lane),
            Entry::Input(slot, kind) => kind.value(self.input_numbers(*slot)[lane]),
        }
    }

    /// Evaluates each active lane in Python, into the lanes at `index`; errors and values that no
    /// lane can hold fall back.
    fn each_lane(
        &mut self,
        index: usize,
        evaluate: impl Fn(&Self, usize) -> Result<Value, Raised>,
    ) -> LaneTypes {
        for lane in 0..self.rows {
            let is_active = self.is_active(lane);
            let mut found = None;
            if is_active {
                self.lane_python.begin();
                found = evaluate(self, lane).ok().as_ref().and_then(lane_of);
            }
            self.fallback[lane] |= is_active && found.is_none();
            // the lane falls back or is not active, so its value is not used
            let (number, kind) = found.unwrap_or((0.0, LaneType::Float));
            self.lanes[index].numbers[lane] = number;
            self.lanes[index].types[lane] = kind as u8;
        }
        LaneTypes::Each
    }
}

/// Conditions that are nested deeper are left to the interpreter, because each takes some kilobytes
/// of the stack.
const MAX_DEPTH: usize = 32;

const NO_LANES: [Mask; 2] = [[false; LANES]; 2];

impl Run<'_, '_> {
    /// `then if condition else otherwise`: the condition is on the stack, `then` follows and ends
    /// with a jump, `otherwise` begins at `exit`.
    fn branch(&mut self, at: usize, exit: usize) -> Option<usize> {
        let condition = self.index_of_top(1)?;
        let mut masks = NO_LANES;
        let truth = self.truth(condition, &mut masks);
        self.stack.truncate(condition);
        match truth {
            Some(true) => Some(at + 1),
            Some(false) => Some(exit),
            None => {
                let [is_true, is_false] = masks;
                // `lower` puts the jump of the first branch just before the second
                let jump = exit.checked_sub(1)?;
                let Some(Instruction::Jump { exit: end }) = self.program.code.get(jump) else {
                    return None;
                };
                let end = *end as usize;
                self.run_in(is_true, at + 1..jump)?;
                self.run_in(is_false, exit..end)?;
                // the upper entry is that of `otherwise`
                self.join(condition, &is_false)?;
                Some(end)
            }
        }
    }

    /// `left and right`, `left or right`: `left` is on the stack, `right` follows and ends at
    /// `exit`.
    fn short_circuit(&mut self, op: BooleanOperator, at: usize, exit: usize) -> Option<usize> {
        let left = self.index_of_top(1)?;
        let decides = op == BooleanOperator::Or;
        let mut masks = NO_LANES;
        match self.truth(left, &mut masks) {
            Some(truth) if truth == decides => Some(exit),
            Some(_) => {
                self.stack.truncate(left);
                Some(at + 1)
            }
            None => {
                let [is_true, is_false] = masks;
                let undecided = if decides { is_false } else { is_true };
                self.run_in(undecided, at + 1..exit)?;
                self.join(left, &undecided)?;
                Some(exit)
            }
        }
    }

    /// A comparison of a chain, not the last: both operands are on the stack. Where it is true, the
    /// chain continues with the right operand; it ends at `exit`.
    fn compare_link(&mut self, op: ComparisonOperator, at: usize, exit: usize) -> Option<usize> {
        let left = self.index_of_top(2)?;
        self.compare(op, left)?;
        let mut masks = NO_LANES;
        let truth = self.truth(left, &mut masks);
        // the right operand takes the place of the comparison
        self.lanes.swap(left, left + 1);
        self.stack.swap_remove(left);
        match truth {
            Some(true) => Some(at + 1),
            Some(false) => {
                self.stack.truncate(left);
                self.push(Entry::Scalar(Value::Bool(false)));
                Some(exit)
            }
            None => {
                let [is_true, is_false] = masks;
                self.run_in(is_true, at + 1..exit)?;
                self.push(Entry::Scalar(Value::Bool(false)));
                self.join(left, &is_false)?;
                Some(exit)
            }
        }
    }

    fn run_in(&mut self, active: Mask, code: Range<usize>) -> Option<()> {
        if self.depth == MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let outer = self.active.replace(active);
        // `None` ends the evaluation, so the mask need not be restored
        self.run(code)?;
        self.active = outer;
        self.depth -= 1;
        Some(())
    }

    /// The truth of an entry, if it is the same in all active lanes; else the masks of those in
    /// which it is true and false.
    fn truth(&self, index: usize, [is_true, is_false]: &mut [Mask; 2]) -> Option<bool> {
        if let Some(value) = self.stack[index].scalar() {
            return Some(value.truth());
        }
        let Operand::Each(numbers) = self.operand(index) else {
            // not reached: an entry that is no scalar has a number for each lane
            return Some(false);
        };
        let active = self.active.as_ref().unwrap_or(&[true; LANES]);
        // both tests, because inactive lanes are neither; a nan is true, as in Python
        lanes::test(numbers, active, is_true, |number| number != 0.0);
        lanes::test(numbers, active, is_false, |number| number == 0.0);
        match (is_true.contains(&true), is_false.contains(&true)) {
            (true, true) => None,
            (any_true, _) => Some(any_true),
        }
    }

    /// Replaces the two topmost entries by the upper one in the lanes of the mask, by the lower one
    /// in the others.
    fn join(&mut self, index: usize, mask: &Mask) -> Option<()> {
        let (Some(mut types), Some(upper_types)) = (self.spread(index), self.spread(index + 1))
        else {
            // a branch gives what no lane holds, such as a function
            return self.replace(index, None);
        };
        if types != upper_types || types == LaneTypes::Each {
            self.lanes[index].set_each(types);
            self.lanes[index + 1].set_each(upper_types);
            types = LaneTypes::Each;
        }
        let rows = self.rows;
        let (lower, upper) = self.lanes.split_at_mut(index + 1);
        lanes::select(
            mask,
            &mut lower[index].numbers[..rows],
            &upper[0].numbers[..rows],
        );
        lanes::select_types(mask, &mut lower[index].types, &upper[0].types);
        self.replace(index, Some(Entry::Lanes(types)))
    }

    /// `callee(positional…, keyword=…)`; the callee and the arguments are on the stack, the callee
    /// first. The result takes the place of the callee.
    fn call(&mut self, positional: usize, keywords: &[Box<str>]) -> Option<()> {
        let callee = self.index_of_top(1 + positional + keywords.len())?;
        let Some(function) = self.stack[callee].scalar().cloned() else {
            // lanes hold numbers, which cannot be called
            return self.replace(callee, None);
        };
        if let Some(values) = self.scalars(callee + 1) {
            let result = call(&self.python, &function, &values, keywords);
            return self.replace(callee, result.ok().map(Entry::Scalar));
        }
        let mut types = None;
        if let Value::Function(function) = function
            && keywords.is_empty()
        {
            types = self.call_kernel(function, callee);
        }
        // a kernel that returns `None` has left the lanes of the arguments as they were
        if types.is_none() {
            types = Some(self.each_lane(callee, |run, lane| {
                let arguments = callee + 1..run.stack.len();
                let values: Vec<_> = arguments.map(|index| run.value(index, lane)).collect();
                call(&run.lane_python, &function, &values, keywords)
            }));
        }
        self.replace(callee, types.map(Entry::Lanes))
    }

    /// Calls the kernel of a function; `None` if the function has no kernel for these arguments.
    fn call_kernel(&mut self, function: Function, callee: usize) -> Option<LaneTypes> {
        let x = callee + 1;
        match (function, self.stack.len() - x) {
            // with one argument, `max` and `min` take the items of a sequence, which no lane holds
            (Function::Max, 2..) => self.extremum(callee, f64::gt),
            (Function::Min, 2..) => self.extremum(callee, f64::lt),
            (Function::Pow, 2) => self.float_power(callee, x, x + 1),
            (_, 1) => self.call_unary(function, callee, x),
            _ => None,
        }
    }

    fn call_unary(&mut self, function: Function, out: usize, x: usize) -> Option<LaneTypes> {
        match function {
            // `x` is both operands, so that the type is that of arithmetic: an int for a bool
            Function::Abs => self.arithmetic(out, x, x, |x, _| x.abs()),
            Function::Fabs => self.finite_map(out, x, f64::abs),
            Function::Float => self.finite_map(out, x, identity),
            Function::Sqrt => self.finite_map(out, x, f64::sqrt),
            Function::Exp => self.finite_function(out, x, VectorMath::exp),
            Function::Log => self.finite_function(out, x, VectorMath::ln),
            Function::Exp2 => self.finite_map(out, x, f64::exp2),
            Function::Log2 => self.finite_map(out, x, f64::log2),
            Function::Log10 => self.finite_map(out, x, f64::log10),
            Function::Floor => self.rounding(out, x, f64::floor),
            Function::Ceil => self.rounding(out, x, f64::ceil),
            Function::Trunc | Function::Int => self.rounding(out, x, f64::trunc),
            Function::Round => self.rounding(out, x, f64::round_ties_even),
            _ => None,
        }
    }

    /// A function whose errors all give infinities or NaN.
    fn finite_map(
        &mut self,
        out: usize,
        x: usize,
        f: impl Fn(f64) -> f64 + Copy,
    ) -> Option<LaneTypes> {
        self.map(out, x, f)?;
        self.fall_back_where(out, is_not_finite);
        Some(FLOATS)
    }

    /// A function of the C library whose errors all give infinities or NaN, of all lanes at once.
    fn finite_function(
        &mut self,
        out: usize,
        x: usize,
        f: impl FnOnce(VectorMath, &[f64], &mut [f64]),
    ) -> Option<LaneTypes> {
        self.compute(out, |run, numbers| {
            // always: a call with nothing but scalars is computed before
            if let Operand::Each(x) = run.operand(x) {
                f(VectorMath::new(), x, numbers);
            }
        })?;
        self.fall_back_where(out, is_not_finite);
        Some(FLOATS)
    }

    /// A rounding to an integer; lanes without a result below 2^53 fall back.
    fn rounding(
        &mut self,
        out: usize,
        x: usize,
        round: impl Fn(f64) -> f64 + Copy,
    ) -> Option<LaneTypes> {
        // an integer has no negative zero
        self.map(out, x, move |x| round(x) + 0.0)?;
        self.fall_back_where(out, is_inexact);
        Some(LaneTypes::All(LaneType::Int))
    }

    /// `max` and `min`: the first item to which no later item is preferred.
    fn extremum(
        &mut self,
        callee: usize,
        is_better: impl Fn(&f64, &f64) -> bool + Copy,
    ) -> Option<LaneTypes> {
        let first = callee + 1;
        // nothing changes unless lanes hold all items
        for item in first..self.stack.len() {
            self.types(item)?;
        }
        let mut types = self.types(first)?;
        let mut best = first;
        for next in first + 1..self.stack.len() {
            let next_types = self.types(next)?;
            if types != next_types || types == LaneTypes::Each {
                // before `zip`, which overwrites the numbers of the best from the third item on
                types = self.select_types(callee, (best, types), (next, next_types), is_better)?;
            }
            let choose = move |best, item| if is_better(&item, &best) { item } else { best };
            self.zip(callee, best, next, choose, never)?;
            self.stack[callee] = Entry::Lanes(types);
            best = callee;
        }
        Some(types)
    }

    /// The types of the item where it is better, of the best in the other lanes, as those of the
    /// lanes at `out`.
    fn select_types(
        &mut self,
        out: usize,
        (best, types): (usize, LaneTypes),
        (item, item_types): (usize, LaneTypes),
        is_better: impl Fn(&f64, &f64) -> bool + Copy,
    ) -> Option<LaneTypes> {
        let mut mask = [false; LANES];
        lanes::compare(
            &mut mask[..self.rows],
            self.operand(item),
            self.operand(best),
            is_better,
        );
        self.lanes[best].set_each(types);
        self.lanes[item].set_each(item_types);
        let mut types = self.lanes[best].types;
        lanes::select_types(&mask, &mut types, &self.lanes[item].types);
        self.lanes[out].types = types;
        Some(LaneTypes::Each)
    }
}

/// Calls a function; the last values are those of the keywords.
fn call(
    python: &Python,
    function: &Value,
    values: &[Value],
    keywords: &[Box<str>],
) -> Result<Value, Raised> {
    let (positional, named) = values.split_at(values.len() - keywords.len());
    let named = named.iter().cloned();
    let keywords: Vec<_> = keywords.iter().map(|name| &**name).zip(named).collect();
    python.call(function, positional, &keywords)
}
