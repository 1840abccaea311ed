//! From a column's strip to lanes.

use super::loops;
use super::vector::{Entry, Kind, Kinds, Lent, Vector};
use super::{AllMarked, Columnar, EXACT};
use crate::formula::number::{LaneValues, Wholes};

/// No `i32` is larger in magnitude.
const MOST_NARROW: f64 = 2_147_483_648.0;

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
            LaneValues::Narrow(small) => {
                let mut lanes = self.scratch.lanes(self.rows);
                loops::widen(small, &mut lanes);
                (Lent::Own(lanes), MOST_NARROW)
            }
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
