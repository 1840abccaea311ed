//! Conditionals, `and`, `or` and chained comparisons: which lanes each branch is evaluated in, and how the values of the
//! branches are joined.

use crate::formula::program::columnar::kernels::Broadcast;
use crate::formula::program::columnar::vector::{Entry, LaneTypes, LaneTypesRef, Operand, Vector};
use crate::formula::program::columnar::{AllLanesFallBack, ColumnarExecutor, Frame, Next, kernels};
use crate::python::{BooleanOperator, ComparisonOperator, Value};

/// The truth of a value in the active lanes.
enum Truth {
    /// The same in all active lanes.
    Same(bool),
    /// True in the lanes of this mask, false in the others.
    Mixed(Vec<u8>),
}

impl<'i> ColumnarExecutor<'_, 'i> {
    /// `then if condition else otherwise`: the condition is on the stack, `then` follows, `otherwise` begins at `exit`.
    pub(super) fn branch_if_false(&mut self, exit: u32) -> Result<Next, AllLanesFallBack> {
        let condition = self.pop()?;
        let truth = self.truth(&condition);
        condition.recycle(&mut self.scratch);
        match truth {
            Truth::Same(false) => return Ok(Next::Jump(exit)),
            Truth::Same(true) => self.frames.push(Frame::Then { taken: None, outer: None }),
            Truth::Mixed(taken) => {
                let inner = self.active_lanes_in(&taken, |mask| mask);
                let outer = self.active.replace(inner);
                self.frames.push(Frame::Then { taken: Some(taken), outer });
            }
        }
        Ok(Next::Following)
    }

    /// The value of `then` is on the stack, `otherwise` follows and ends at `exit`.
    pub(super) fn jump(&mut self, exit: u32) -> Result<Next, AllLanesFallBack> {
        let Some(Frame::Then { taken, outer }) = self.frames.pop() else { return Err(AllLanesFallBack) };
        let Some(taken) = taken else { return Ok(Next::Jump(exit)) };
        self.restore_active(outer);
        let value = self.pop()?;
        self.join_later(exit, taken, value);
        Ok(Next::Following)
    }

    /// `left and right`, `left or right`: `left` is on the stack, `right` follows and ends at `exit`.
    pub(super) fn short_circuit(&mut self, op: BooleanOperator, exit: u32) -> Result<Next, AllLanesFallBack> {
        let left = self.pop()?;
        let deciding_truth = op == BooleanOperator::Or;
        match self.truth(&left) {
            Truth::Same(truth) if truth == deciding_truth => {
                self.stack.push(left);
                return Ok(Next::Jump(exit));
            }
            Truth::Same(_) => left.recycle(&mut self.scratch),
            Truth::Mixed(mut decided) => {
                if !deciding_truth {
                    kernels::map_bytes(&mut decided, |byte| byte ^ 1);
                }
                self.join_later(exit, decided, left);
            }
        }
        Ok(Next::Following)
    }

    /// A comparison of a chain, not the last: both operands are on the stack. Where it is true, the chain continues with
    /// the right operand; it ends at `exit`.
    pub(super) fn compare_link(&mut self, op: ComparisonOperator, exit: u32) -> Result<Next, AllLanesFallBack> {
        let right = self.pop()?;
        let left = self.pop()?;
        let comparison = self.compare_entries(op, &left, &right);
        left.recycle(&mut self.scratch);
        let comparison = match comparison {
            Some(comparison) => comparison,
            None => {
                self.fail_active_lanes()?;
                self.pop()?
            }
        };
        let truth = self.truth(&comparison);
        comparison.recycle(&mut self.scratch);
        match truth {
            Truth::Same(false) => {
                right.recycle(&mut self.scratch);
                self.stack.push(Entry::Scalar(Value::Bool(false)));
                return Ok(Next::Jump(exit));
            }
            Truth::Same(true) => {}
            Truth::Mixed(mut decided) => {
                kernels::map_bytes(&mut decided, |byte| byte ^ 1);
                self.join_later(exit, decided, Entry::Scalar(Value::Bool(false)));
            }
        }
        self.stack.push(right);
        Ok(Next::Following)
    }

    /// Joins the lanes of all expressions that end before the instruction at `index`.
    pub(super) fn join(&mut self, index: u32) -> Result<(), AllLanesFallBack> {
        while matches!(self.frames.last(), Some(Frame::Join { exit, .. }) if *exit == index) {
            let Some(Frame::Join { decided, value, outer, .. }) = self.frames.pop() else {
                return Err(AllLanesFallBack);
            };
            self.restore_active(outer);
            let other = self.pop()?;
            match self.select(&decided, &value, &other) {
                Some(vector) => self.stack.push(Entry::Vector(vector)),
                None => self.fail_active_lanes()?,
            }
            self.scratch.recycle_bytes(decided);
            value.recycle(&mut self.scratch);
            other.recycle(&mut self.scratch);
        }
        Ok(())
    }

    /// Deactivates the lanes of `decided`, whose value is known, until the other lanes reach `exit`.
    fn join_later(&mut self, exit: u32, decided: Vec<u8>, value: Entry<'i>) {
        let inner = self.active_lanes_in(&decided, |mask| mask ^ 1);
        let outer = self.active.replace(inner);
        self.frames.push(Frame::Join { exit, decided, value, outer });
    }

    fn restore_active(&mut self, outer: Option<Vec<u8>>) {
        if let Some(inner) = std::mem::replace(&mut self.active, outer) {
            self.scratch.recycle_bytes(inner);
        }
    }

    /// The active lanes that are in the mask after `transform` is applied to it.
    fn active_lanes_in(&mut self, mask: &[u8], transform: impl Fn(u8) -> u8 + Copy) -> Vec<u8> {
        let mut inner = self.scratch.bytes(self.rows);
        match &self.active {
            Some(active) => kernels::zip_bytes(active, mask, &mut inner, move |active, mask| active & transform(mask)),
            None => kernels::zip_bytes(mask, mask, &mut inner, move |mask, _| transform(mask)),
        }
        inner
    }

    fn truth(&mut self, entry: &Entry<'i>) -> Truth {
        let lanes = match entry {
            Entry::Scalar(value) => return Truth::Same(value.truth()),
            Entry::Sequence { items, .. } => return Truth::Same(!items.is_empty()),
            Entry::Vector(vector) => vector.operand().lanes,
        };
        let mut mask = self.scratch.bytes(self.rows);
        kernels::test(lanes, Broadcast::Same(0.0), &mut mask, |x, zero| x != zero);
        let true_lanes = self.active_lanes_in(&mask, |mask| mask);
        let false_lanes = self.active_lanes_in(&mask, |mask| mask ^ 1);
        let any_true = kernels::any_byte(&true_lanes);
        let any_false = kernels::any_byte(&false_lanes);
        self.scratch.recycle_bytes(true_lanes);
        self.scratch.recycle_bytes(false_lanes);
        if any_true && any_false {
            return Truth::Mixed(mask);
        }
        self.scratch.recycle_bytes(mask);
        Truth::Same(any_true)
    }

    /// `x` in the lanes of the mask, `y` in the others; `None` if one of them is not a number.
    fn select(&mut self, mask: &[u8], x: &Entry<'i>, y: &Entry<'i>) -> Option<Vector<'i>> {
        Some(self.select_lanes(mask, x.operand()?, y.operand()?))
    }

    pub(super) fn select_lanes(&mut self, mask: &[u8], x: Operand<'_>, y: Operand<'_>) -> Vector<'i> {
        let types = self.select_types(x.types, y.types, |copy| copy.copy_from_slice(mask));
        let is_large = x.is_large() || y.is_large();
        let mut lanes = self.scratch.lanes(if is_large { 2 * self.rows } else { self.rows });
        let (high, low) = lanes.split_at_mut(self.rows);
        kernels::select(mask, x.lanes, y.lanes, high);
        if is_large {
            kernels::select(mask, x.low, y.low, low);
        }
        Vector::new(lanes, types, x.bound.max(y.bound))
    }

    /// The types of `x` in the lanes of a mask, of `y` in the others. `fill_mask` is not called if all lanes have one
    /// type.
    pub(super) fn select_types(
        &mut self,
        x: LaneTypesRef<'_>,
        y: LaneTypesRef<'_>,
        fill_mask: impl FnOnce(&mut [u8]),
    ) -> LaneTypes {
        if let (LaneTypesRef::All(x), LaneTypesRef::All(y)) = (x, y)
            && x == y
        {
            return LaneTypes::All(x);
        }
        let x = self.type_bytes(x);
        let y = self.type_bytes(y);
        let mut types = self.scratch.bytes(self.rows);
        let mut mask = self.scratch.bytes(self.rows);
        fill_mask(&mut mask);
        kernels::select_bytes(&mask, &x, &y, &mut types);
        [x, y, mask].into_iter().for_each(|bytes| self.scratch.recycle_bytes(bytes));
        LaneTypes::Each(types)
    }

    /// The [`LaneType`](super::LaneType) of each lane as a byte.
    pub(super) fn type_bytes(&mut self, types: LaneTypesRef<'_>) -> Vec<u8> {
        let mut bytes = self.scratch.bytes(self.rows);
        match types {
            LaneTypesRef::All(lane_type) => bytes.fill(lane_type as u8),
            LaneTypesRef::Each(types) => bytes.copy_from_slice(types),
        }
        bytes
    }
}
