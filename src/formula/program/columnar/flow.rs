//! Conditions: which lanes go which way, and where the ways meet again.

use crate::formula::program::columnar::loops::Arm;
use crate::formula::program::columnar::vector::{Entry, KindArm, Kinds, Lent, Vector};
use crate::formula::program::columnar::{AllMarked, Columnar, Next, Scratch, loops};
use crate::python::{BooleanOperator, ComparisonOperator, Value};

/// A way that is being gone while another waits.
#[derive(Debug)]
pub(super) enum Frame<'i> {
    /// The first branch of a conditional, in the lanes of `taken`; in all lanes if there is no mask.
    Then { taken: Option<Vec<u8>>, outer: Option<Vec<u8>> },
    /// The lanes of `kept` have their value already and wait at `end` for the others.
    Rest { end: u32, kept: Vec<u8>, value: Entry<'i>, outer: Option<Vec<u8>> },
}

impl Frame<'_> {
    pub(super) fn recycle(self, scratch: &mut Scratch) {
        let (mask, outer) = match self {
            Self::Then { taken, outer } => (taken, outer),
            Self::Rest { kept, value, outer, .. } => {
                value.recycle(scratch);
                (Some(kept), outer)
            }
        };
        [mask, outer].into_iter().flatten().for_each(|mask| scratch.give_bytes(mask));
    }
}

/// The truth of a value.
enum Truth {
    /// It is the same in every lane that counts.
    All(bool),
    /// 1 where it is true.
    Mask(Vec<u8>),
}

impl<'i> Columnar<'_, 'i> {
    /// `then if condition else otherwise`: the condition lies on the stack, the first branch comes next.
    pub(super) fn branch(&mut self, otherwise: u32) -> Result<Next, AllMarked> {
        let condition = self.pop()?;
        let truth = self.truth(&condition);
        condition.recycle(&mut self.scratch);
        match truth {
            Truth::All(false) => return Ok(Next::At(otherwise)),
            Truth::All(true) => self.frames.push(Frame::Then { taken: None, outer: None }),
            Truth::Mask(taken) => {
                let inner = self.within_guard(&taken, |mask| mask);
                let outer = self.guard.replace(inner);
                self.frames.push(Frame::Then { taken: Some(taken), outer });
            }
        }
        Ok(Next::Instruction)
    }

    /// The end of the first branch; the second comes next.
    pub(super) fn jump(&mut self, end: u32) -> Result<Next, AllMarked> {
        let Some(Frame::Then { taken, outer }) = self.frames.pop() else { return Err(AllMarked) };
        let Some(kept) = taken else { return Ok(Next::At(end)) };
        self.restore(outer);
        let value = self.pop()?;
        self.wait(end, kept, value);
        Ok(Next::Instruction)
    }

    /// `left and right`, `left or right`: the left operand lies on the stack, the right one comes next.
    pub(super) fn short_circuit(&mut self, op: BooleanOperator, end: u32) -> Result<Next, AllMarked> {
        let left = self.pop()?;
        let decides = op == BooleanOperator::Or;
        match self.truth(&left) {
            Truth::All(truth) if truth == decides => {
                self.stack.push(left);
                return Ok(Next::At(end));
            }
            Truth::All(_) => left.recycle(&mut self.scratch),
            Truth::Mask(mut decided) => {
                if !decides {
                    loops::map_bytes(&mut decided, |byte| byte ^ 1);
                }
                self.wait(end, decided, left);
            }
        }
        Ok(Next::Instruction)
    }

    /// A link of a comparison chain that goes on with the right operand.
    pub(super) fn link(&mut self, op: ComparisonOperator, end: u32) -> Result<Next, AllMarked> {
        let right = self.pop()?;
        let left = self.pop()?;
        let holds = self.compared(op, &left, &right);
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
                return Ok(Next::At(end));
            }
            Truth::All(true) => {}
            Truth::Mask(mut mask) => {
                loops::map_bytes(&mut mask, |byte| byte ^ 1);
                self.wait(end, mask, Entry::Scalar(Value::Bool(false)));
            }
        }
        self.stack.push(right);
        Ok(Next::Instruction)
    }

    /// Brings together all ways that meet here.
    pub(super) fn join(&mut self, at: u32) -> Result<(), AllMarked> {
        while matches!(self.frames.last(), Some(Frame::Rest { end, .. }) if *end == at) {
            let Some(Frame::Rest { kept, value, outer, .. }) = self.frames.pop() else { return Err(AllMarked) };
            self.restore(outer);
            let other = self.pop()?;
            match self.chosen(&kept, &value, &other) {
                Some(vector) => self.stack.push(Entry::Vector(vector)),
                None => self.fail()?,
            }
            self.scratch.give_bytes(kept);
            value.recycle(&mut self.scratch);
            other.recycle(&mut self.scratch);
        }
        Ok(())
    }

    /// Lets the lanes of `kept` wait with their value; the others go on.
    fn wait(&mut self, end: u32, kept: Vec<u8>, value: Entry<'i>) {
        let inner = self.within_guard(&kept, |mask| mask ^ 1);
        let outer = self.guard.replace(inner);
        self.frames.push(Frame::Rest { end, kept, value, outer });
    }

    fn restore(&mut self, outer: Option<Vec<u8>>) {
        if let Some(inner) = std::mem::replace(&mut self.guard, outer) {
            self.scratch.give_bytes(inner);
        }
    }

    /// The lanes of the guard that are also in the mask, or in what `turn` makes of it.
    fn within_guard(&mut self, mask: &[u8], turn: impl Fn(u8) -> u8 + Copy) -> Vec<u8> {
        let mut inner = self.scratch.bytes(self.rows);
        match &self.guard {
            Some(guard) => loops::zip_bytes(guard, mask, &mut inner, move |guard, mask| guard & turn(mask)),
            None => loops::zip_bytes(mask, mask, &mut inner, move |mask, _| turn(mask)),
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
        loops::test(Arm::Each(lanes), Arm::Same(0.0), &mut mask, |x, zero| x != zero);
        let inside = self.within_guard(&mask, |mask| mask);
        let outside = self.within_guard(&mask, |mask| mask ^ 1);
        let (is_true, is_false) = (loops::any_byte(&inside), loops::any_byte(&outside));
        self.scratch.give_bytes(inside);
        self.scratch.give_bytes(outside);
        if is_true && is_false {
            return Truth::Mask(mask);
        }
        self.scratch.give_bytes(mask);
        Truth::All(is_true)
    }

    /// `x` in the lanes of the mask, `y` in the others; `None` when one of them is no number.
    fn chosen(&mut self, mask: &[u8], x: &Entry<'i>, y: &Entry<'i>) -> Option<Vector<'i>> {
        let (x, y) = (x.operand()?, y.operand()?);
        let kinds = self.chosen_kinds(x.kinds, y.kinds, |chosen| chosen.copy_from_slice(mask));
        let mut lanes = self.scratch.lanes(self.rows);
        loops::select(mask, x.arm, y.arm, &mut lanes);
        Some(Vector { lanes: Lent::Own(lanes), kinds, most: x.most.max(y.most) })
    }

    /// The kinds of `x` in the lanes of a mask, of `y` in the others. Nobody asks for the mask where all are the same.
    pub(super) fn chosen_kinds(&mut self, x: KindArm<'_>, y: KindArm<'_>, mask: impl FnOnce(&mut [u8])) -> Kinds {
        if let (KindArm::All(x), KindArm::All(y)) = (x, y)
            && x == y
        {
            return Kinds::All(x);
        }
        let (x, y) = (self.kind_bytes(x), self.kind_bytes(y));
        let (mut kinds, mut chosen) = (self.scratch.bytes(self.rows), self.scratch.bytes(self.rows));
        mask(&mut chosen);
        loops::select_bytes(&chosen, &x, &y, &mut kinds);
        [x, y, chosen].into_iter().for_each(|bytes| self.scratch.give_bytes(bytes));
        Kinds::Each(kinds)
    }

    /// A kind for each lane.
    pub(super) fn kind_bytes(&mut self, kinds: KindArm<'_>) -> Vec<u8> {
        let mut bytes = self.scratch.bytes(self.rows);
        match kinds {
            KindArm::All(kind) => bytes.fill(kind as u8),
            KindArm::Each(kinds) => bytes.copy_from_slice(kinds),
        }
        bytes
    }
}
