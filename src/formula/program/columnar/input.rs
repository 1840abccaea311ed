//! From a column's strip to lanes.

use crate::formula::program::columnar::vector::{Entry, Kind, Kinds, Lent, Vector};
use crate::formula::program::columnar::{AllMarked, Columnar, loops};
use crate::python::MAX_EXACT_FLOAT;
use crate::python::{ColumnValues, IntMask};

impl Columnar<'_, '_> {
    /// Pushes an input. One that the caller did not give is a `NameError`.
    pub(super) fn input(&mut self, slot: usize) -> Result<(), AllMarked> {
        let Some(&strip) = self.strips.get(slot) else { return self.fail() };
        let (lanes, most) = match strip.values {
            ColumnValues::Constant(lane) => match strip.ints {
                IntMask::All => return self.push_scalar(Ok::<_, ()>(Kind::Int.value(lane))),
                IntMask::None => return self.push_scalar(Ok::<_, ()>(Kind::Float.value(lane))),
                IntMask::Bits(_) => (Lent::Own(self.filled(lane)), lane.abs()),
            },
            ColumnValues::I8(small) => (self.widened(small), magnitude(i8::MIN)),
            ColumnValues::I16(small) => (self.widened(small), magnitude(i16::MIN)),
            ColumnValues::I32(small) => (self.widened(small), magnitude(i32::MIN)),
            ColumnValues::F64(lanes) => (Lent::Given(lanes.get(..self.rows).unwrap_or(lanes)), MAX_EXACT_FLOAT),
        };
        let kinds = match strip.ints {
            IntMask::All => Kinds::All(Kind::Int),
            IntMask::None => Kinds::All(Kind::Float),
            IntMask::Bits(words) => Kinds::Each(self.spread(words)),
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
        let eights = words.iter().flat_map(|word| word.to_le_bytes());
        for (bytes, bits) in bytes.chunks_mut(8).zip(eights) {
            bytes.copy_from_slice(&spread_eight(bits)[..bytes.len()]);
        }
        bytes
    }
}

/// Eight bits as bytes of 0 or 1: a copy of all in every byte, of which each keeps its own and moves it down.
#[inline]
fn spread_eight(bits: u8) -> [u8; 8] {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let own = (u64::from(bits) * EACH) & 0x8040_2010_0804_0201;
    (((own + 0x7f * EACH) >> 7) & EACH).to_le_bytes()
}

/// No integer of the type is larger in magnitude than its least.
fn magnitude(least: impl Into<f64>) -> f64 {
    least.into().abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_has_its_byte() {
        for bits in 0..=u8::MAX {
            assert_eq!(spread_eight(bits), std::array::from_fn(|bit| bits >> bit & 1));
        }
    }
}
