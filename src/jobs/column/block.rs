//! Up to [`BLOCK_ROWS`] rows of a column, in the narrowest encoding that represents them exactly.

use std::ops::Range;

use crate::jobs::column::bitset::{BLOCK_ROWS, Bitset};
use crate::jobs::column::encoding::{Encoding, Number, NumberStats, SmallInt, extend_converted};
use crate::python::{ColumnValues, ColumnView, IntMask};

/// The numbers of a block, and for each whether it is an integer and whether the job has it.
#[derive(Debug, Clone, Default)]
pub(super) struct Block {
    numbers: Encoded,
    len: usize,
    pub(super) ints: Bitset,
    pub(super) set: Bitset,
}

/// Encoded numbers: a constant for all rows, or integers of 8, 16 or 32 bits, or doubles.
#[derive(Debug, Clone)]
enum Encoded {
    Constant(f64),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    F64(Vec<f64>),
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

    /// Appends rows of another block. They must fit the block.
    pub(super) fn extend_from(&mut self, other: &Self, rows: Range<usize>) {
        match (&mut self.numbers, &other.numbers) {
            (Encoded::I8(numbers), Encoded::I8(others)) => numbers.extend_from_slice(&others[rows.clone()]),
            (Encoded::I16(numbers), Encoded::I16(others)) => numbers.extend_from_slice(&others[rows.clone()]),
            (Encoded::I32(numbers), Encoded::I32(others)) => numbers.extend_from_slice(&others[rows.clone()]),
            (Encoded::F64(numbers), Encoded::F64(others)) => numbers.extend_from_slice(&others[rows.clone()]),
            (numbers @ Encoded::Constant(_), others) if self.len == 0 => *numbers = others.slice(rows.clone()),
            (_, others) => {
                let others: Vec<f64> = rows.clone().map(|row| others.get(row)).collect();
                self.encode(&others);
            }
        }
        self.len += rows.len();
        self.ints.extend_from(&other.ints, rows.clone());
        self.set.extend_from(&other.set, rows);
    }

    /// Changes a row.
    pub(super) fn set(&mut self, row: usize, number: f64, is_int: bool, is_set: bool) {
        if row >= self.len {
            return;
        }
        if self.numbers.get(row).to_bits() != number.to_bits() {
            self.widen(NumberStats::new(&[number]).encoding(), 0);
            match &mut self.numbers {
                Encoded::Constant(_) => {}
                Encoded::I8(numbers) => numbers[row] = number as i8,
                Encoded::I16(numbers) => numbers[row] = number as i16,
                Encoded::I32(numbers) => numbers[row] = number as i32,
                Encoded::F64(numbers) => numbers[row] = number,
            }
        }
        self.ints.set(row, is_int);
        self.set.set(row, is_set);
    }

    /// Replaces the numbers of all rows by floats that the job has.
    pub(super) fn fill(&mut self, floats: impl Iterator<Item = f64>) {
        let mut buffer = match std::mem::take(&mut self.numbers) {
            Encoded::F64(buffer) => buffer,
            _ => Vec::with_capacity(self.len),
        };
        buffer.clear();
        buffer.extend(floats.take(self.len));
        self.numbers = Encoded::F64(buffer);
        (self.ints, self.set) = (Bitset::repeated(false, self.len), Bitset::repeated(true, self.len));
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
            Encoded::Constant(_) => {}
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
        if self.encoding() == Some(encoding) && !matches!(self.numbers, Encoded::Constant(_)) {
            return;
        }
        let old = std::mem::take(&mut self.numbers);
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
            Encoded::F64(_) => Some(Encoding::F64),
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
    /// Some rows, with the capacity for a whole block if they have an encoding of their own.
    fn slice(&self, rows: Range<usize>) -> Self {
        fn copied<T: Copy>(numbers: &[T]) -> Vec<T> {
            collect_with_capacity(numbers.iter().copied(), BLOCK_ROWS - numbers.len())
        }
        match self {
            Self::Constant(constant) => Self::Constant(*constant),
            Self::I8(numbers) => Self::I8(copied(&numbers[rows])),
            Self::I16(numbers) => Self::I16(copied(&numbers[rows])),
            Self::I32(numbers) => Self::I32(copied(&numbers[rows])),
            Self::F64(numbers) => Self::F64(copied(&numbers[rows])),
        }
    }

    /// The number of a row; NaN if there is no such row.
    #[inline]
    fn get(&self, row: usize) -> f64 {
        let number = match self {
            Self::Constant(constant) => Some(*constant),
            Self::I8(numbers) => numbers.get(row).map(|&number| f64::from(number)),
            Self::I16(numbers) => numbers.get(row).map(|&number| f64::from(number)),
            Self::I32(numbers) => numbers.get(row).map(|&number| f64::from(number)),
            Self::F64(numbers) => numbers.get(row).copied(),
        };
        number.unwrap_or(f64::NAN)
    }
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
