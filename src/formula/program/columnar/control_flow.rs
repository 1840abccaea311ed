//! Conditions: the lanes of each branch, and where the branches join.

use crate::formula::program::columnar::kernels::Broadcast;
use crate::formula::program::columnar::vector::{Entry, LaneBuffer, LaneTypes, LaneTypesRef, Vector};
use crate::formula::program::columnar::{AllFallBack, ColumnarExecutor, Frame, Next, kernels};
use crate::python::{BooleanOperator, ComparisonOperator, Value};

/// The truth of a value.
enum Truth {
    /// It is the same in every lane of the present branch.
    All(bool),
    /// 1 where it is true.
    Mask(Vec<u8>),
}

impl<'i> ColumnarExecutor<'_, 'i> {
    /// `then if condition else otherwise`: the condition is on the stack, the first branch follows.
    pub(super) fn branch(&mut self, otherwise: u32) -> Result<Next, AllFallBack> {
        let condition = self.pop()?;
        let truth = self.truth(&condition);
        condition.recycle(&mut self.scratch);
        match truth {
            Truth::All(false) => return Ok(Next::Jump(otherwise)),
            Truth::All(true) => self.frames.push(Frame::Then { taken: None, outer: None }),
            Truth::Mask(taken) => {
                let inner = self.within_guard(&taken, |mask| mask);
                let outer = self.guard.replace(inner);
                self.frames.push(Frame::Then { taken: Some(taken), outer });
            }
        }
        Ok(Next::Following)
    }

    /// The end of the first branch; the second follows.
    pub(super) fn jump(&mut self, end: u32) -> Result<Next, AllFallBack> {
        let Some(Frame::Then { taken, outer }) = self.frames.pop() else { return Err(AllFallBack) };
        let Some(kept) = taken else { return Ok(Next::Jump(end)) };
        self.restore(outer);
        let value = self.pop()?;
        self.defer(end, kept, value);
        Ok(Next::Following)
    }

    /// `left and right`, `left or right`: the left operand is on the stack, the right one follows.
    pub(super) fn short_circuit(&mut self, op: BooleanOperator, end: u32) -> Result<Next, AllFallBack> {
        let left = self.pop()?;
        let decides = op == BooleanOperator::Or;
        match self.truth(&left) {
            Truth::All(truth) if truth == decides => {
                self.stack.push(left);
                return Ok(Next::Jump(end));
            }
            Truth::All(_) => left.recycle(&mut self.scratch),
            Truth::Mask(mut decided) => {
                if !decides {
                    kernels::map_bytes(&mut decided, |byte| byte ^ 1);
                }
                self.defer(end, decided, left);
            }
        }
        Ok(Next::Following)
    }

    /// A comparison of a chain, not the last; the chain continues with the right operand.
    pub(super) fn compare_link(&mut self, op: ComparisonOperator, end: u32) -> Result<Next, AllFallBack> {
        let right = self.pop()?;
        let left = self.pop()?;
        let holds = self.compare_entries(op, &left, &right);
        left.recycle(&mut self.scratch);
        let holds = match holds {
            Some(holds) => holds,
            None => {
                self.fail()?;
                self.pop()?
            }
        };
        let truth = self.truth(&holds);
        holds.recycle(&mut self.scratch);
        match truth {
            Truth::All(false) => {
                right.recycle(&mut self.scratch);
                self.stack.push(Entry::Scalar(Value::Bool(false)));
                return Ok(Next::Jump(end));
            }
            Truth::All(true) => {}
            Truth::Mask(mut mask) => {
                kernels::map_bytes(&mut mask, |byte| byte ^ 1);
                self.defer(end, mask, Entry::Scalar(Value::Bool(false)));
            }
        }
        self.stack.push(right);
        Ok(Next::Following)
    }

    /// Joins all branches that end here.
    pub(super) fn join(&mut self, at: u32) -> Result<(), AllFallBack> {
        while matches!(self.frames.last(), Some(Frame::Rest { end, .. }) if *end == at) {
            let Some(Frame::Rest { kept, value, outer, .. }) = self.frames.pop() else { return Err(AllFallBack) };
            self.restore(outer);
            let other = self.pop()?;
            match self.select(&kept, &value, &other) {
                Some(vector) => self.stack.push(Entry::Vector(vector)),
                None => self.fail()?,
            }
            self.scratch.recycle_bytes(kept);
            value.recycle(&mut self.scratch);
            other.recycle(&mut self.scratch);
        }
        Ok(())
    }

    /// Defers the lanes of `kept` with their value; the others continue.
    fn defer(&mut self, end: u32, kept: Vec<u8>, value: Entry<'i>) {
        let inner = self.within_guard(&kept, |mask| mask ^ 1);
        let outer = self.guard.replace(inner);
        self.frames.push(Frame::Rest { end, kept, value, outer });
    }

    fn restore(&mut self, outer: Option<Vec<u8>>) {
        if let Some(inner) = std::mem::replace(&mut self.guard, outer) {
            self.scratch.recycle_bytes(inner);
        }
    }

    /// The lanes of the guard that are in the mask after `transform` is applied to it.
    fn within_guard(&mut self, mask: &[u8], transform: impl Fn(u8) -> u8 + Copy) -> Vec<u8> {
        let mut inner = self.scratch.bytes(self.rows);
        match &self.guard {
            Some(guard) => kernels::zip_bytes(guard, mask, &mut inner, move |guard, mask| guard & transform(mask)),
            None => kernels::zip_bytes(mask, mask, &mut inner, move |mask, _| transform(mask)),
        }
        inner
    }

    fn truth(&mut self, entry: &Entry<'i>) -> Truth {
        let lanes = match entry {
            Entry::Scalar(value) => return Truth::All(value.truth()),
            Entry::Sequence { items, .. } => return Truth::All(!items.is_empty()),
            Entry::Vector(vector) => vector.lanes.as_slice(),
        };
        let mut mask = self.scratch.bytes(self.rows);
        kernels::test(Broadcast::Each(lanes), Broadcast::Same(0.0), &mut mask, |x, zero| x != zero);
        let inside = self.within_guard(&mask, |mask| mask);
        let outside = self.within_guard(&mask, |mask| mask ^ 1);
        let (is_true, is_false) = (kernels::any_byte(&inside), kernels::any_byte(&outside));
        self.scratch.recycle_bytes(inside);
        self.scratch.recycle_bytes(outside);
        if is_true && is_false {
            return Truth::Mask(mask);
        }
        self.scratch.recycle_bytes(mask);
        Truth::All(is_true)
    }

    /// `x` in the lanes of the mask, `y` in the others; `None` if one of them is not a number.
    fn select(&mut self, mask: &[u8], x: &Entry<'i>, y: &Entry<'i>) -> Option<Vector<'i>> {
        let (x, y) = (x.operand()?, y.operand()?);
        let types = self.select_types(x.types, y.types, |select| select.copy_from_slice(mask));
        let mut lanes = self.scratch.lanes(self.rows);
        kernels::select(mask, x.lanes, y.lanes, &mut lanes);
        Some(Vector { lanes: LaneBuffer::Owned(lanes), types, bound: x.bound.max(y.bound) })
    }

    /// The types of `x` in the lanes of a mask, of `y` in the others. The mask is not computed if all are the same.
    pub(super) fn select_types(
        &mut self,
        x: LaneTypesRef<'_>,
        y: LaneTypesRef<'_>,
        mask: impl FnOnce(&mut [u8]),
    ) -> LaneTypes {
        if let (LaneTypesRef::All(x), LaneTypesRef::All(y)) = (x, y)
            && x == y
        {
            return LaneTypes::All(x);
        }
        let (x, y) = (self.type_bytes(x), self.type_bytes(y));
        let (mut types, mut select) = (self.scratch.bytes(self.rows), self.scratch.bytes(self.rows));
        mask(&mut select);
        kernels::select_bytes(&select, &x, &y, &mut types);
        [x, y, select].into_iter().for_each(|bytes| self.scratch.recycle_bytes(bytes));
        LaneTypes::Each(types)
    }

    /// The type of each lane.
    pub(super) fn type_bytes(&mut self, types: LaneTypesRef<'_>) -> Vec<u8> {
        let mut bytes = self.scratch.bytes(self.rows);
        match types {
            LaneTypesRef::All(kind) => bytes.fill(kind as u8),
            LaneTypesRef::Each(types) => bytes.copy_from_slice(types),
        }
        bytes
    }
}
