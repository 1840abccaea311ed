//! What became of a block.

use super::Scratch;
use super::loops::{self, Arm};
use super::vector::{Kind, KindArm, Kinds, Operand};
use crate::formula::number::Value;

/// The results of a block, lane by lane.
#[derive(Debug)]
pub struct Outcome {
    lanes: Vec<f64>,
    kinds: Kinds,
    marked: Vec<u8>,
}

impl Default for Outcome {
    fn default() -> Self {
        Self { lanes: Vec::new(), kinds: Kinds::All(Kind::Float), marked: Vec::new() }
    }
}

impl Outcome {
    /// The numbers; in a marked lane it means nothing.
    pub fn lanes(&self) -> &[f64] {
        &self.lanes
    }

    /// 1 for every lane that is left to the scalar executor, else 0.
    pub fn marked(&self) -> &[u8] {
        &self.marked
    }

    /// Whether any lane is left to the scalar executor.
    pub fn has_marks(&self) -> bool {
        loops::any_byte(&self.marked)
    }

    /// The kind of all lanes, if they have the same.
    pub fn kind(&self) -> Option<Kind> {
        match &self.kinds {
            Kinds::All(kind) => Some(*kind),
            Kinds::Each(_) => None,
        }
    }

    /// The Python value of a lane; `None` of one that is marked or does not exist.
    pub fn value(&self, lane: usize) -> Option<Value> {
        let kind = match &self.kinds {
            Kinds::All(kind) => *kind,
            Kinds::Each(kinds) => Kind::of(*kinds.get(lane)?),
        };
        (*self.marked.get(lane)? == 0).then_some(kind.value(*self.lanes.get(lane)?))
    }

    pub(super) fn begin(&mut self, rows: usize, inexact: &[usize]) {
        self.lanes.clear();
        self.lanes.resize(rows, 0.0);
        self.kinds = Kinds::All(Kind::Float);
        self.marked.clear();
        self.marked.resize(rows, 0);
        inexact.iter().filter(|&&row| row < rows).for_each(|&row| self.marked[row] = 1);
    }

    pub(super) fn mark_all(&mut self) {
        self.marked.fill(1);
    }

    /// Marks the lanes of a mask.
    pub(super) fn mark(&mut self, mask: &[u8]) {
        loops::zip_into(&mut self.marked, mask, |marked, mask| marked | mask);
    }

    /// Takes the numbers over. NaN is marked: its sign, which Python keeps, may be another here.
    pub(super) fn take(&mut self, result: Operand<'_>, scratch: &mut Scratch) {
        let zero = Arm::Same(0.0);
        if loops::zip(result.arm, zero, &mut self.lanes, |x, _| x, |x, _, _| x.is_nan()) {
            let mut mask = scratch.bytes(self.lanes.len());
            loops::test(result.arm, zero, &mut mask, |x, _| x.is_nan());
            self.mark(&mask);
            scratch.give_bytes(mask);
        }
        self.kinds = match result.kinds {
            KindArm::All(kind) => Kinds::All(kind),
            KindArm::Each(kinds) => Kinds::Each(kinds.to_vec()),
        };
    }
}
