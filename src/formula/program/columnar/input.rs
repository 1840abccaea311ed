//! From a column's strip to lanes.

use super::loops;
use super::vector::{Entry, Kind, Kinds, Lent, Vector};
use super::{AllMarked, Columnar, EXACT};
use crate::formula::number::{LaneValues, Wholes};

impl Columnar<'_, '_> {
    /// Pushes an input. One that the caller did not give is a `NameError`.
    pub(super) fn input(&mut self, slot: usize) -> Result<(), AllMarked> {
        let Some(&strip) = self.strips.get(slot) else { return self.fail() };
        let (lanes, most) = match strip.lanes {
            LaneValues::Same(lane) => match strip.wholes {
                Wholes::All => return self.push_scalar(Ok::<_, ()>(Kind::Int.value(lane))),
                Wholes::Nobody => return self.push_scalar(Ok::<_, ()>(Kind::Float.value(lane))),
                Wholes::Bits(_) => (Lent::Own(self.filled(lane)), lane.abs()),
            },
            LaneValues::Tiny(small) => (self.widened(small), magnitude(i8::MIN)),
            LaneValues::Short(small) => (self.widened(small), magnitude(i16::MIN)),
            LaneValues::Narrow(small) => (self.widened(small), magnitude(i32::MIN)),
            LaneValues::Wide(lanes) => (Lent::Given(lanes.get(..self.rows).unwrap_or(lanes)), EXACT),
        };
        let kinds = match strip.wholes {
            Wholes::All => Kinds::All(Kind::Int),
            Wholes::Nobody => Kinds::All(Kind::Float),
            Wholes::Bits(words) => Kinds::Each(self.spread(words)),
        };
        if lanes.as_slice().len() < self.rows {
            return self.fail();
        }
        self.stack.push(Entry::Vector(Vector { lanes, kinds, most }));
        Ok(())
    }

    fn widened<T: Copy + Into<f64>>(&mut self, small: &[T]) -> Lent<'static> {
        let mut lanes = self.scratch.lanes(self.rows.min(small.len()));
        loops::widen(small, &mut lanes);
        Lent::Own(lanes)
    }

    fn filled(&mut self, lane: f64) -> Vec<f64> {
        let mut lanes = self.scratch.lanes(self.rows);
        lanes.fill(lane);
        lanes
    }

    /// A byte per bit.
    fn spread(&mut self, words: &[u64]) -> Vec<u8> {
        let mut bytes = self.scratch.bytes(self.rows);
        for (bytes, word) in bytes.chunks_mut(64).zip(words) {
            bytes.iter_mut().enumerate().for_each(|(bit, byte)| *byte = (word >> bit & 1) as u8);
        }
        bytes
    }
}

/// No integer of the type is larger in magnitude than its least.
fn magnitude(least: impl Into<f64>) -> f64 {
    least.into().abs()
}
