//! What became of a block.

use crate::formula::program::columnar::loops::Arm;
use crate::formula::program::columnar::vector::{Entry, Kind, KindArm, Lent, Operand, Vector};
use crate::formula::program::columnar::{Scratch, loops};
use crate::python::Value;

/// The results of a block, lane by lane.
#[derive(Debug, Default)]
pub struct Outcome {
    lanes: Vec<f64>,
    kind: Option<Kind>,
    /// A kind for each lane, where they differ.
    kinds: Vec<u8>,
    marked: Vec<u8>,
}

impl Outcome {
    /// The numbers; in a marked lane it means nothing.
    pub fn lanes(&self) -> &[f64] {
        &self.lanes
    }

    /// 1 for every lane that is left to the scalar executor, else 0.
    pub fn fallback(&self) -> &[u8] {
        &self.marked
    }

    /// The lanes that are left to the scalar executor.
    pub fn fallback_lanes(&self) -> impl Iterator<Item = usize> {
        let has_marks = loops::any_byte(&self.marked);
        let marked = if has_marks { self.marked.as_slice() } else { &[] };
        marked.iter().enumerate().filter(|(_, mark)| **mark != 0).map(|(lane, _)| lane)
    }

    /// The kind of all lanes, if they have the same.
    pub fn kind(&self) -> Option<Kind> {
        self.kind
    }

    /// The kind of each lane as a number, if they differ.
    pub fn kinds(&self) -> Option<&[u8]> {
        self.kind.is_none().then_some(&self.kinds)
    }

    /// The Python value of a lane; `None` of one that is marked or does not exist.
    pub fn value(&self, lane: usize) -> Option<Value> {
        let kind = match self.kind {
            Some(kind) => kind,
            None => Kind::of(*self.kinds.get(lane)?),
        };
        (*self.marked.get(lane)? == 0).then_some(kind.value(*self.lanes.get(lane)?))
    }

    pub(super) fn begin(&mut self, rows: usize, inexact: &[usize]) {
        self.lanes.resize(rows, 0.0);
        self.kind = Some(Kind::Float);
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

    /// Takes the result over. NaN is marked: its sign, which Python keeps, may be another here.
    pub(super) fn take(&mut self, mut result: Entry<'_>, scratch: &mut Scratch) {
        match result.operand() {
            None => self.mark_all(),
            Some(Operand { arm, kinds, .. }) => {
                self.take_kinds(kinds);
                if let Arm::Same(number) = arm {
                    self.lanes.fill(number);
                }
            }
        }
        match &mut result {
            Entry::Vector(Vector { lanes: Lent::Own(lanes), .. }) => std::mem::swap(&mut self.lanes, lanes),
            Entry::Vector(Vector { lanes: Lent::Given(lanes), .. }) => self.lanes.copy_from_slice(lanes),
            Entry::Scalar(_) | Entry::Sequence { .. } => {}
        }
        if loops::any(&self.lanes, f64::is_nan) {
            let mut mask = scratch.bytes(self.lanes.len());
            loops::test(Arm::Each(&self.lanes), Arm::Same(0.0), &mut mask, |x, _| x.is_nan());
            self.mark(&mask);
            scratch.give_bytes(mask);
        }
        result.recycle(scratch);
    }

    fn take_kinds(&mut self, kinds: KindArm<'_>) {
        self.kinds.clear();
        self.kind = match kinds {
            KindArm::All(kind) => Some(kind),
            KindArm::Each(kinds) => {
                self.kinds.extend_from_slice(kinds);
                None
            }
        };
    }
}
