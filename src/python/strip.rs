//! Numbers side by side: the form in which a column is handed to whoever computes on many rows at once.

use crate::ahead::{ahead, lines_ahead};

/// The numbers of some rows, each as a double.
#[derive(Debug, Clone, Copy)]
pub enum LaneValues<'a> {
    /// Every row has this number.
    Same(f64),
    /// Integers of 8 bits.
    Tiny(&'a [i8]),
    /// Integers of 16 bits.
    Short(&'a [i16]),
    /// Integers of 32 bits.
    Narrow(&'a [i32]),
    /// Doubles.
    Wide(&'a [f64]),
}

/// Which rows Python sees as integers; the others are floats.
#[derive(Debug, Clone, Copy)]
pub enum Wholes<'a> {
    /// All of them.
    All,
    /// None of them.
    Nobody,
    /// Those whose bit is set, the first row in the lowest bit of the first word.
    Bits(&'a [u64]),
}

/// The numbers of some rows, and their types.
#[derive(Debug, Clone, Copy)]
pub struct Strip<'a> {
    /// The numbers.
    pub lanes: LaneValues<'a>,
    /// Their types.
    pub wholes: Wholes<'a>,
}

impl<'a> Strip<'a> {
    /// Asks the processor for some lines of the numbers, from that line on; says how many there were.
    pub(crate) fn ahead(self, line: usize, most: usize) -> usize {
        match self.lanes {
            LaneValues::Same(_) => 0,
            LaneValues::Tiny(lanes) => lines_ahead(lanes, line, most),
            LaneValues::Short(lanes) => lines_ahead(lanes, line, most),
            LaneValues::Narrow(lanes) => lines_ahead(lanes, line, most),
            LaneValues::Wide(lanes) => lines_ahead(lanes, line, most),
        }
    }

    /// Asks the processor for the number of a row.
    #[inline]
    pub(crate) fn row_ahead(self, row: usize) {
        match self.lanes {
            LaneValues::Same(_) => {}
            LaneValues::Tiny(lanes) => lanes.get(row).into_iter().for_each(ahead),
            LaneValues::Short(lanes) => lanes.get(row).into_iter().for_each(ahead),
            LaneValues::Narrow(lanes) => lanes.get(row).into_iter().for_each(ahead),
            LaneValues::Wide(lanes) => lanes.get(row).into_iter().for_each(ahead),
        }
    }

    /// The rows from `start` on, at most `rows` of them. `start` is a multiple of 64.
    pub fn window(self, start: usize, rows: usize) -> Self {
        let lanes = match self.lanes {
            LaneValues::Same(same) => LaneValues::Same(same),
            LaneValues::Tiny(lanes) => LaneValues::Tiny(part(lanes, start, rows)),
            LaneValues::Short(lanes) => LaneValues::Short(part(lanes, start, rows)),
            LaneValues::Narrow(lanes) => LaneValues::Narrow(part(lanes, start, rows)),
            LaneValues::Wide(lanes) => LaneValues::Wide(part(lanes, start, rows)),
        };
        let wholes = match self.wholes {
            Wholes::Bits(words) => Wholes::Bits(part(words, start / 64, rows.div_ceil(64))),
            uniform => uniform,
        };
        Self { lanes, wholes }
    }
}

/// What there is of these items.
fn part<T>(items: &[T], start: usize, count: usize) -> &[T] {
    let rest = items.get(start..).unwrap_or(&[]);
    rest.get(..count).unwrap_or(rest)
}

impl Wholes<'_> {
    /// Whether this row is an integer.
    #[inline]
    pub fn is_whole(&self, row: usize) -> bool {
        match self {
            Self::All => true,
            Self::Nobody => false,
            Self::Bits(words) => words.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1),
        }
    }
}
