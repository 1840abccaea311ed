//! Loads the inputs of a block: columns in any encoding become lanes of doubles with their types.

use crate::formula::program::columnar::double_double::{DoubleDouble, LEAST_LARGE_BOUND};
use crate::formula::program::columnar::vector::{Entry, LaneBuffer, LaneType, LaneTypes, Vector};
use crate::formula::program::columnar::{AllLanesFallBack, ColumnarExecutor, kernels};
use crate::python::{ColumnValues, IntMask, MAX_EXACT_FLOAT, Value};

impl ColumnarExecutor<'_, '_> {
    /// Pushes an input; a missing one is a `NameError`.
    pub(super) fn input(&mut self, slot: usize) -> Result<(), AllLanesFallBack> {
        let Some(&view) = self.views.get(slot) else { return self.fail_active_lanes() };
        let (lanes, bound) = match view.values {
            ColumnValues::Constant(lane) => match view.ints {
                IntMask::All => return self.push_scalar(Ok::<_, ()>(Value::Int(lane as i64))),
                IntMask::None => return self.push_scalar(Ok::<_, ()>(Value::Float(lane))),
                IntMask::Bits(_) => (LaneBuffer::Owned(self.filled_lanes(lane)), lane.abs().min(MAX_EXACT_FLOAT)),
            },
            ColumnValues::I8(small) => (self.widened_lanes(small), magnitude(i8::MIN)),
            ColumnValues::I16(small) => (self.widened_lanes(small), magnitude(i16::MIN)),
            ColumnValues::I32(small) => (self.widened_lanes(small), magnitude(i32::MIN)),
            ColumnValues::I64(integers) => {
                if integers.len() < self.rows {
                    return self.fail_active_lanes();
                }
                let (lanes, bound) = self.lanes_of_integers(integers);
                if bound >= LEAST_LARGE_BOUND && !matches!(view.ints, IntMask::All) {
                    return self.fail_active_lanes();
                }
                (lanes, bound)
            }
            ColumnValues::F64(lanes) => {
                (LaneBuffer::Borrowed(lanes.get(..self.rows).unwrap_or(lanes)), MAX_EXACT_FLOAT)
            }
            ColumnValues::ByEntity { index, values } => (self.gathered_lanes(index, values), MAX_EXACT_FLOAT),
        };
        let types = match view.ints {
            IntMask::All => LaneTypes::All(LaneType::Int),
            IntMask::None => LaneTypes::All(LaneType::Float),
            IntMask::Bits(words) => LaneTypes::Each(self.bit_bytes(words)),
        };
        if lanes.as_slice().len() < self.rows {
            return self.fail_active_lanes();
        }
        self.stack.push(Entry::Vector(Vector { lanes, types, bound }));
        Ok(())
    }

    fn widened_lanes<T: Copy + Into<f64>>(&mut self, small: &[T]) -> LaneBuffer<'static> {
        let mut lanes = self.scratch.lanes(self.rows.min(small.len()));
        kernels::widen(small, &mut lanes);
        LaneBuffer::Owned(lanes)
    }

    fn gathered_lanes(&mut self, index: &[u32], values: &[f64]) -> LaneBuffer<'static> {
        let mut lanes = self.scratch.lanes(self.rows.min(index.len()));
        for (lane, &entity) in lanes.iter_mut().zip(index) {
            *lane = values.get(entity as usize).copied().unwrap_or_default();
        }
        LaneBuffer::Owned(lanes)
    }

    /// The integers as the nearest doubles, followed by what these lack if one of them is not exact, and the magnitude that
    /// none of them exceeds.
    fn lanes_of_integers(&mut self, integers: &[i64]) -> (LaneBuffer<'static>, f64) {
        let integers = integers.get(..self.rows).unwrap_or(integers);
        let mut lanes = self.scratch.lanes(integers.len());
        let bound = kernels::convert_integers(integers, &mut lanes);
        if bound >= LEAST_LARGE_BOUND {
            let numbers = integers.iter().map(|integer| DoubleDouble::from_value(&Value::Int(*integer)));
            lanes.extend(numbers.map(|number| number.map_or(0.0, |number| number.low)));
        }
        (LaneBuffer::Owned(lanes), bound)
    }

    fn filled_lanes(&mut self, lane: f64) -> Vec<f64> {
        let mut lanes = self.scratch.lanes(self.rows);
        lanes.fill(lane);
        lanes
    }

    /// One byte for each bit.
    fn bit_bytes(&mut self, words: &[u64]) -> Vec<u8> {
        let mut bytes = self.scratch.bytes(self.rows);
        let packed = words.iter().flat_map(|word| word.to_le_bytes());
        for (bytes, bits) in bytes.chunks_mut(8).zip(packed) {
            bytes.copy_from_slice(&expand_bits(bits)[..bytes.len()]);
        }
        bytes
    }
}

/// Expands eight bits to bytes of 0 or 1: copies all bits to every byte, clears all but one in each, and moves that one
/// to the lowest place.
#[inline]
fn expand_bits(bits: u8) -> [u8; 8] {
    const ONE_IN_EACH: u64 = 0x0101_0101_0101_0101;
    let one_bit_in_each = (u64::from(bits) * ONE_IN_EACH) & 0x8040_2010_0804_0201;
    (((one_bit_in_each + 0x7f * ONE_IN_EACH) >> 7) & ONE_IN_EACH).to_le_bytes()
}

/// The greatest magnitude in a type of integers, which is that of its least integer.
fn magnitude(least: impl Into<f64>) -> f64 {
    least.into().abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_becomes_a_byte() {
        for bits in 0..=u8::MAX {
            assert_eq!(expand_bits(bits), std::array::from_fn(|bit| bits >> bit & 1));
        }
    }
}
