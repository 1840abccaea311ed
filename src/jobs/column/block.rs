//! Up to [`BLOCK_ROWS`] rows of a column, in the narrowest encoding that represents them exactly.

use std::ops::Range;
use std::sync::Arc;

use crate::jobs::column::bitset::{BLOCK_ROWS, Bitset};
use crate::jobs::column::encoding::{Encoding, Number, NumberStats, SmallInt, extend_converted};
use crate::jobs::kept_rows::retain_runs;
use crate::python::{ColumnValues, ColumnView, IntMask};

/// The numbers of a block, and for each whether it is an integer and whether the job has it.
#[derive(Debug, Clone, Default)]
pub(super) struct Block {
    numbers: Encoded,
    len: usize,
    pub(super) ints: Bitset,
    pub(super) set: Bitset,
}

/// Encoded numbers: a constant for all rows, integers of 8, 16 or 32 bits, doubles, or a double for each entity.
#[derive(Debug, Clone)]
enum Encoded {
    Constant(f64),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    F64(Vec<f64>),
    /// The first row of the block is the row `start` of the index.
    ByEntity {
        index: Arc<[u32]>,
        start: usize,
        values: Arc<[f64]>,
    },
}

impl Default for Encoded {
    fn default() -> Self {
        Self::Constant(0.0)
    }
}

impl Block {
    /// An empty block of doubles that reuses a buffer.
    pub(super) fn with_buffer(mut buffer: Vec<f64>) -> Self {
        buffer.clear();
        Self { numbers: Encoded::F64(buffer), ..Self::default() }
    }

    /// A block of floats that jobs have by their entity, which `index` has for each row from `start` on.
    pub(super) fn by_entity(index: &Arc<[u32]>, start: usize, len: usize, values: &Arc<[f64]>) -> Self {
        let numbers = match index.is_empty() {
            true => Encoded::Constant(values.first().copied().unwrap_or_default()),
            false => Encoded::ByEntity { index: index.clone(), start, values: values.clone() },
        };
        Self { numbers, len, ints: Bitset::repeated(false, len), set: Bitset::repeated(true, len) }
    }

    /// The double of each entity, if they are stored so.
    pub(super) fn entity_values(&self) -> Option<&Arc<[f64]>> {
        match &self.numbers {
            Encoded::ByEntity { values, .. } => Some(values),
            _ => None,
        }
    }

    /// The buffer of a block of doubles.
    pub(super) fn into_buffer(self) -> Option<Vec<f64>> {
        match self.numbers {
            Encoded::F64(numbers) => Some(numbers),
            _ => None,
        }
    }

    /// The numbers, if they are stored as doubles.
    pub(super) fn doubles(&self) -> Option<&[f64]> {
        match &self.numbers {
            Encoded::F64(numbers) => Some(numbers),
            _ => None,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn is_full(&self) -> bool {
        self.len == BLOCK_ROWS
    }

    /// Appends a row. The block must not be full.
    #[inline]
    pub(super) fn push(&mut self, number: f64, is_int: bool, is_set: bool) {
        match &mut self.numbers {
            Encoded::Constant(constant) if constant.to_bits() == number.to_bits() && self.len > 0 => {}
            Encoded::I8(numbers) if i8::from_f64_exact(number).is_some() => {
                numbers.extend(i8::from_f64_exact(number));
            }
            Encoded::I16(numbers) if i16::from_f64_exact(number).is_some() => {
                numbers.extend(i16::from_f64_exact(number));
            }
            Encoded::I32(numbers) if i32::from_f64_exact(number).is_some() => {
                numbers.extend(i32::from_f64_exact(number));
            }
            Encoded::F64(numbers) => numbers.push(number),
            _ => self.encode(&[number]),
        }
        self.len += 1;
        self.ints.push(is_int);
        self.set.push(is_set);
    }

    /// Appends rows that are all integers or all floats. They must fit the block.
    pub(super) fn extend<N: Number>(&mut self, numbers: &[N], are_ints: bool, are_set: bool) {
        self.encode(numbers);
        self.len += numbers.len();
        self.ints.push_repeated(are_ints, numbers.len());
        self.set.push_repeated(are_set, numbers.len());
    }

    /// Appends runs of rows of another block. They must fit the block, which is not empty.
    pub(super) fn extend_from(&mut self, other: &Self, runs: &[Range<usize>]) {
        match (&mut self.numbers, &other.numbers) {
            (Encoded::Constant(constant), Encoded::Constant(others)) if constant.to_bits() == others.to_bits() => {}
            (Encoded::I8(numbers), Encoded::I8(others)) => extend_by_runs(numbers, others, runs),
            (Encoded::I16(numbers), Encoded::I16(others)) => extend_by_runs(numbers, others, runs),
            (Encoded::I32(numbers), Encoded::I32(others)) => extend_by_runs(numbers, others, runs),
            (Encoded::F64(numbers), Encoded::F64(others)) => extend_by_runs(numbers, others, runs),
            (_, others) => {
                let others: Vec<f64> = runs.iter().cloned().flatten().map(|row| others.get(row)).collect();
                self.encode(&others);
            }
        }
        self.len += runs.iter().map(Range::len).sum::<usize>();
        self.ints.extend_from(&other.ints, runs);
        self.set.extend_from(&other.set, runs);
    }

    /// Keeps ascending runs of rows.
    pub(super) fn retain(&mut self, runs: &[Range<usize>]) {
        if matches!(self.numbers, Encoded::ByEntity { .. }) {
            self.widen(Encoding::F64, 0);
        }
        match &mut self.numbers {
            Encoded::Constant(_) | Encoded::ByEntity { .. } => {}
            Encoded::I8(numbers) => retain_runs(numbers, runs),
            Encoded::I16(numbers) => retain_runs(numbers, runs),
            Encoded::I32(numbers) => retain_runs(numbers, runs),
            Encoded::F64(numbers) => retain_runs(numbers, runs),
        }
        self.len = runs.iter().map(Range::len).sum();
        self.ints = self.ints.retained(runs);
        self.set = self.set.retained(runs);
    }

    /// Changes a row.
    pub(super) fn set(&mut self, row: usize, number: f64, is_int: bool, is_set: bool) {
        if row >= self.len {
            return;
        }
        if self.numbers.get(row).to_bits() != number.to_bits() {
            self.widen(NumberStats::new(&[number]).encoding(), 0);
            match &mut self.numbers {
                Encoded::Constant(_) | Encoded::ByEntity { .. } => {}
                Encoded::I8(numbers) => numbers[row] = number as i8,
                Encoded::I16(numbers) => numbers[row] = number as i16,
                Encoded::I32(numbers) => numbers[row] = number as i32,
                Encoded::F64(numbers) => numbers[row] = number,
            }
        }
        self.ints.set(row, is_int);
        self.set.set(row, is_set);
    }

    /// Appends numbers, after a change to a wider encoding if the current one cannot represent them.
    fn encode<N: Number>(&mut self, numbers: &[N]) {
        let Some(first) = numbers.first().map(|first| first.to_f64()) else { return };
        if let Encoded::F64(encoded) = &mut self.numbers {
            return encoded.extend(numbers.iter().map(|number| number.to_f64()));
        }
        let stats = NumberStats::new(numbers);
        if stats.are_equal
            && let Encoded::Constant(constant) = self.numbers
            && (self.len == 0 || constant.to_bits() == first.to_bits())
        {
            self.numbers = Encoded::Constant(first);
            return;
        }
        self.widen(stats.encoding(), numbers.len());
        match &mut self.numbers {
            Encoded::Constant(_) | Encoded::ByEntity { .. } => {}
            Encoded::I8(encoded) => extend_converted(encoded, numbers, |number| number.to_i32() as i8),
            Encoded::I16(encoded) => extend_converted(encoded, numbers, |number| number.to_i32() as i16),
            Encoded::I32(encoded) => extend_converted(encoded, numbers, N::to_i32),
            Encoded::F64(encoded) => encoded.extend(numbers.iter().map(|number| number.to_f64())),
        }
    }

    /// Changes to an encoding that represents both the rows and all numbers of `encoding`, with capacity for
    /// `additional` rows.
    fn widen(&mut self, encoding: Encoding, additional: usize) {
        let encoding = self.encoding().map_or(encoding, |current| current.max(encoding));
        let is_stored_by_row = !matches!(self.numbers, Encoded::Constant(_) | Encoded::ByEntity { .. });
        if is_stored_by_row && self.encoding() == Some(encoding) {
            return;
        }
        let old = std::mem::take(&mut self.numbers);
        if let Encoded::ByEntity { index, start, values } = &old {
            let entities = index[*start..*start + self.len].iter();
            let floats = entities.map(|&entity| values.get(entity as usize).copied().unwrap_or_default());
            self.numbers = Encoded::F64(collect_with_capacity(floats, additional));
            return;
        }
        let rows = (0..self.len).map(|row| old.get(row));
        self.numbers = match encoding {
            Encoding::I8 => Encoded::I8(collect_with_capacity(rows.map(|number| number as i8), additional)),
            Encoding::I16 => Encoded::I16(collect_with_capacity(rows.map(|number| number as i16), additional)),
            Encoding::I32 => Encoded::I32(collect_with_capacity(rows.map(|number| number as i32), additional)),
            Encoding::F64 => Encoded::F64(collect_with_capacity(rows, additional)),
        };
    }

    /// The narrowest encoding of the rows; `None` if there are none.
    fn encoding(&self) -> Option<Encoding> {
        match &self.numbers {
            Encoded::Constant(constant) => (self.len > 0).then(|| NumberStats::new(&[*constant]).encoding()),
            Encoded::I8(_) => Some(Encoding::I8),
            Encoded::I16(_) => Some(Encoding::I16),
            Encoded::I32(_) => Some(Encoding::I32),
            Encoded::F64(_) | Encoded::ByEntity { .. } => Some(Encoding::F64),
        }
    }

    /// The number of a row.
    #[inline]
    pub(super) fn number(&self, row: usize) -> Option<f64> {
        (row < self.len).then(|| self.numbers.get(row))
    }

    pub(super) fn view(&self) -> ColumnView<'_> {
        let values = match &self.numbers {
            Encoded::Constant(constant) => ColumnValues::Constant(*constant),
            Encoded::I8(numbers) => ColumnValues::I8(numbers),
            Encoded::I16(numbers) => ColumnValues::I16(numbers),
            Encoded::I32(numbers) => ColumnValues::I32(numbers),
            Encoded::F64(numbers) => ColumnValues::F64(numbers),
            Encoded::ByEntity { index, start, values } => {
                ColumnValues::ByEntity { index: &index[*start..*start + self.len], values }
            }
        };
        let ints = match self.ints.words() {
            _ if self.ints.is_all_ones() => IntMask::All,
            Some(words) if !self.ints.is_all_zeros() => IntMask::Bits(words),
            _ => IntMask::None,
        };
        ColumnView { values, ints }
    }
}

impl Encoded {
    /// The number of a row; NaN if there is no such row.
    #[inline]
    fn get(&self, row: usize) -> f64 {
        let number = match self {
            Self::Constant(constant) => Some(*constant),
            Self::I8(numbers) => numbers.get(row).map(|&number| f64::from(number)),
            Self::I16(numbers) => numbers.get(row).map(|&number| f64::from(number)),
            Self::I32(numbers) => numbers.get(row).map(|&number| f64::from(number)),
            Self::F64(numbers) => numbers.get(row).copied(),
            Self::ByEntity { index, start, values } => {
                index.get(start + row).map(|&entity| values.get(entity as usize).copied().unwrap_or_default())
            }
        };
        number.unwrap_or(f64::NAN)
    }
}

fn extend_by_runs<T: Copy>(numbers: &mut Vec<T>, others: &[T], runs: &[Range<usize>]) {
    runs.iter().for_each(|run| numbers.extend_from_slice(&others[run.clone()]));
}

/// Collects rows into a vector with capacity for `additional` more. A long vector gets the capacity of a whole block, so
/// that it is allocated once; a short queue does not need a whole block.
fn collect_with_capacity<T>(rows: impl ExactSizeIterator<Item = T>, additional: usize) -> Vec<T> {
    let capacity = match rows.len() + additional {
        0..64 => 64,
        count @ 64..512 => count.next_power_of_two(),
        _ => BLOCK_ROWS,
    };
    let mut all = Vec::with_capacity(capacity);
    all.extend(rows);
    all
}
