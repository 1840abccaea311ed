//! Conditionals, `and`, `or` and chained comparisons: which lanes each branch is evaluated in, and
//! how the values of the branches are joined.

use std::ops::Range;

use crate::formula::program::Instruction;
use crate::formula::program::columnar::kernels::Operand;
use crate::formula::program::columnar::lanes::{Entry, LANES, LaneTypes, Mask};
use crate::formula::program::columnar::{Run, kernels};
use crate::python::{BooleanOperator, ComparisonOperator, Value};

/// Conditions that are nested deeper are left to the interpreter, because each takes some kilobytes
/// of the stack.
const MAX_DEPTH: usize = 32;

const NO_LANES: [Mask; 2] = [[false; LANES]; 2];

impl Run<'_, '_> {
    /// `then if condition else otherwise`: the condition is on the stack, `then` follows and ends
    /// with a jump, `otherwise` begins at `exit`.
    pub(super) fn branch(&mut self, at: usize, exit: usize) -> Option<usize> {
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
                self.join(condition, &is_false)?;
                Some(end)
            }
        }
    }

    /// `left and right`, `left or right`: `left` is on the stack, `right` follows and ends at
    /// `exit`.
    pub(super) fn short_circuit(
        &mut self,
        op: BooleanOperator,
        at: usize,
        exit: usize,
    ) -> Option<usize> {
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
    pub(super) fn compare_link(
        &mut self,
        op: ComparisonOperator,
        at: usize,
        exit: usize,
    ) -> Option<usize> {
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
        kernels::test(numbers, active, is_true, |number| number != 0.0);
        kernels::test(numbers, active, is_false, |number| number == 0.0);
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
            return self.replace_by_lanes(index, None);
        };
        if types != upper_types || types == LaneTypes::Each {
            self.lanes[index].set_each(types);
            self.lanes[index + 1].set_each(upper_types);
            types = LaneTypes::Each;
        }
        let rows = self.rows;
        let (lower, upper) = self.lanes.split_at_mut(index + 1);
        kernels::select(
            mask,
            &mut lower[index].numbers[..rows],
            &upper[0].numbers[..rows],
        );
        kernels::select_types(mask, &mut lower[index].types, &upper[0].types);
        self.replace_by_lanes(index, Some(types))
    }
}
