//! One input of every job.

mod block;
mod form;
mod marks;

use num_traits::ToPrimitive;

use crate::python::{ColumnView, MAX_EXACT_INT, Value};
use block::Block;
use form::Lane;

/// How many rows stand together. All blocks of a column but the last are full.
pub const BLOCK_ROWS: usize = 4096;

/// One input of every job, by row: a double each, with a mark on those that Python sees as integers.
///
/// An integer beyond 2^53, and anything that is not a number, stands aside; its lane then holds the nearest
/// double, or NaN. A row that was never given holds its default and is not [set](Column::is_set).
///
/// The rows lie in blocks of [`BLOCK_ROWS`], each in the least memory that holds it: a block whose rows are all equal
/// keeps one number, and one of small integers four bytes per row.
#[derive(Debug, Clone, Default)]
pub struct Column {
    blocks: Vec<Block>,
    aside: Vec<(u32, Value)>,
    /// Memory for blocks to come.
    spare: Vec<Vec<f64>>,
}

impl Column {
    /// A column without rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// A column without rows that takes its memory from here as long as there is some.
    pub fn in_memory_of(spare: Vec<Vec<f64>>) -> Self {
        Self { spare, ..Self::default() }
    }

    /// The memory of the column's doubles, for another one.
    pub fn into_memory(self) -> Vec<Vec<f64>> {
        self.blocks.into_iter().filter_map(Block::into_memory).collect()
    }

    /// Appends the input of the next job.
    #[inline]
    pub fn push(&mut self, value: Value) {
        self.append_value(value, true);
    }

    /// Appends what the formula sees of a job that does not have this input.
    #[inline]
    pub fn push_default(&mut self, value: Value) {
        self.append_value(value, false);
    }

    #[inline]
    fn append_value(&mut self, value: Value, set: bool) {
        let (lane, whole, exact) = match &value {
            Value::Int(i) => (*i as f64, true, (-MAX_EXACT_INT..=MAX_EXACT_INT).contains(i)),
            Value::Float(x) => (*x, false, true),
            Value::Big(big) => (big.to_f64().unwrap_or(f64::NAN), true, false),
            Value::Bool(truth) => (f64::from(u8::from(*truth)), false, false),
            _ => (f64::NAN, false, false),
        };
        if !exact {
            self.aside.push((self.len() as u32, value));
        }
        self.open_block().push(lane, whole, set);
    }

    /// The block that takes the next row.
    #[inline]
    fn open_block(&mut self) -> &mut Block {
        if self.blocks.last().is_none_or(Block::is_full) {
            self.blocks.push(self.spare.pop().map_or_else(Block::default, Block::in_memory_of));
        }
        let last = self.blocks.len() - 1;
        &mut self.blocks[last]
    }

    /// Appends numbers that the jobs have, all of them integers of at most 2^53 or all of them floats.
    pub fn extend_lanes(&mut self, lanes: &[f64], whole: bool) {
        self.extend(lanes, whole, true);
    }

    /// Appends integers that the jobs have.
    pub(crate) fn extend_small(&mut self, lanes: &[u32]) {
        self.extend(lanes, true, true);
    }

    /// Appends what the formula sees of so many jobs that do not have this input.
    pub fn extend_default(&mut self, value: &Value, count: usize) {
        let (lane, whole) = match value {
            Value::Int(i) if (-MAX_EXACT_INT..=MAX_EXACT_INT).contains(i) => (*i as f64, true),
            Value::Float(x) => (*x, false),
            _ => return (0..count).for_each(|_| self.push_default(value.clone())),
        };
        let lanes = [lane; 64];
        for start in (0..count).step_by(lanes.len()) {
            self.extend(&lanes[..lanes.len().min(count - start)], whole, false);
        }
    }

    fn extend<L: Lane>(&mut self, mut lanes: &[L], whole: bool, set: bool) {
        while !lanes.is_empty() {
            let block = self.open_block();
            let (now, later) = lanes.split_at(lanes.len().min(BLOCK_ROWS - block.len()));
            block.extend(now, whole, set);
            lanes = later;
        }
    }

    /// Appends numbers that the jobs have; `wholes` has a byte for each, which is not 0 for an integer. Integers are of
    /// at most 2^53.
    pub fn extend_mixed(&mut self, lanes: &[f64], wholes: &[u8]) {
        for (&lane, &whole) in lanes.iter().zip(wholes) {
            self.open_block().push(lane, whole != 0, true);
        }
    }

    /// Appends the rows of another column.
    pub fn append(&mut self, other: Self) {
        let before = self.len();
        self.aside.extend(other.aside.into_iter().map(|(row, value)| (row + before as u32, value)));
        if self.blocks.last().is_none_or(Block::is_full) {
            self.blocks.extend(other.blocks);
            return;
        }
        for block in &other.blocks {
            for row in 0..block.len() {
                let lane = block.lane(row).unwrap_or(f64::NAN);
                self.open_block().push(lane, block.whole.at(row), block.set.at(row));
            }
        }
    }

    /// What the formula sees of the job in this row. A row that does not exist is `None`, as Python's.
    #[inline]
    pub fn value(&self, row: usize) -> Value {
        let Some((block, at)) = self.place(row) else { return Value::None };
        if !self.aside.is_empty()
            && let Ok(at) = self.aside.binary_search_by_key(&row, |&(aside, _)| aside as usize)
        {
            return self.aside[at].1.clone();
        }
        match block.lane(at) {
            None => Value::None,
            Some(lane) if block.whole.at(at) => Value::Int(lane as i64),
            Some(lane) => Value::Float(lane),
        }
    }

    #[inline]
    fn place(&self, row: usize) -> Option<(&Block, usize)> {
        Some((self.blocks.get(row / BLOCK_ROWS)?, row % BLOCK_ROWS))
    }

    /// The nearest double of this row; NaN where there is none.
    #[inline]
    pub fn lane(&self, row: usize) -> f64 {
        self.place(row).and_then(|(block, at)| block.lane(at)).unwrap_or(f64::NAN)
    }

    /// Whether the job itself has this input; false where it only has the default.
    pub fn is_set(&self, row: usize) -> bool {
        self.place(row).is_some_and(|(block, at)| block.set.at(at))
    }

    /// Whether this row is an integer in Python.
    pub fn is_whole(&self, row: usize) -> bool {
        self.place(row).is_some_and(|(block, at)| block.whole.at(at))
    }

    /// How many blocks there are.
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// The rows of a block, side by side. Where [`Column::aside`] has an entry the lane is not the exact value.
    pub fn strip(&self, block: usize) -> Option<ColumnView<'_>> {
        self.blocks.get(block).map(Block::strip)
    }

    /// The values that no double holds, each with its row, by ascending row.
    pub fn aside(&self) -> &[(u32, Value)] {
        &self.aside
    }

    /// How many rows there are.
    #[inline]
    pub fn len(&self) -> usize {
        match self.blocks.split_last() {
            Some((last, full)) => full.len() * BLOCK_ROWS + last.len(),
            None => 0,
        }
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }
}

/// In the order of the rows: `Ok` for what the job has, `Err` for its default.
impl FromIterator<Result<Value, Value>> for Column {
    fn from_iter<I: IntoIterator<Item = Result<Value, Value>>>(rows: I) -> Self {
        let mut column = Self::new();
        for row in rows {
            match row {
                Ok(value) => column.push(value),
                Err(default) => column.push_default(default),
            }
        }
        column
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use num_bigint::BigInt;

    use super::*;
    use crate::python::ColumnValues;

    #[test]
    fn keeps_every_value_as_it_came() {
        let big = BigInt::from(1u64 << 63) * BigInt::from(4);
        let mut column = Column::new();
        column.push(Value::Int(MAX_EXACT_INT));
        column.push(Value::Int(MAX_EXACT_INT + 1));
        column.push(Value::Float(2.0));
        column.push(Value::Big(Arc::new(big.clone())));
        column.push_default(Value::Int(0));
        assert!(matches!(column.value(0), Value::Int(MAX_EXACT_INT)));
        assert!(matches!(column.value(1), Value::Int(i) if i == MAX_EXACT_INT + 1));
        assert!(matches!(column.value(2), Value::Float(2.0)));
        assert!(matches!(column.value(3), Value::Big(x) if *x == big));
        assert!(matches!(column.value(4), Value::Int(0)) && !column.is_set(4) && column.is_set(3));
        assert!(matches!(column.value(5), Value::None));
        assert_eq!(column.aside().len(), 2);
        assert_eq!(column.lane(3), 4.0 * 9_223_372_036_854_775_808.0);
        assert!(column.lane(5).is_nan() && column.is_whole(3) && !column.is_whole(2));
    }

    /// Every form of a block, and every change from one to another.
    #[test]
    fn blocks_hold_what_was_pushed() {
        let number = |block: usize, row: usize| match (block, row % BLOCK_ROWS) {
            (0, _) | (_, 0..700) => Value::Int(7),
            (1, at) => Value::Int(at as i64 % 255 - 128),
            (2, at) | (_, at @ 700..1400) => Value::Int(at as i64 * 16 - 32_768),
            (3, _) | (_, 1400..2100) => Value::Int(row as i64 - 2_147_483_648),
            (_, at) if at.is_multiple_of(3) => Value::Float(-0.0),
            (_, at) => Value::Float(at as f64 / 7.0),
        };
        let values = |row: usize| number(row / BLOCK_ROWS, row);
        let (mut column, mut tail) = (Column::new(), Column::new());
        let rows = 5 * BLOCK_ROWS + 1000;
        for row in 0..rows {
            let target = if row < 19_000 { &mut column } else { &mut tail };
            if row % 5 == 0 { target.push_default(values(row)) } else { target.push(values(row)) }
        }
        column.append(tail);
        assert_eq!((column.len(), column.blocks()), (rows, rows.div_ceil(BLOCK_ROWS)));
        for row in 0..rows {
            assert!(column.value(row).is_same(&values(row)), "row {row}");
            assert_eq!(column.is_set(row), row % 5 != 0, "row {row}");
        }
        let lanes = |block| column.strip(block).unwrap().values;
        assert!(matches!(lanes(0), ColumnValues::Constant(7.0)));
        assert!(matches!(lanes(1), ColumnValues::I8(_)));
        assert!(matches!(lanes(2), ColumnValues::I16(_)));
        assert!(matches!(lanes(3), ColumnValues::I32(_)));
        assert!(matches!(lanes(4), ColumnValues::F64(_)));
    }

    #[test]
    fn lanes_are_rows() {
        let lanes: Vec<f64> = (0..10_000).map(f64::from).collect();
        let mut column = Column::new();
        column.push_default(Value::Float(0.5));
        column.extend_lanes(&lanes, true);
        column.extend_lanes(&lanes, false);
        column.extend_default(&Value::Int(3), 5000);
        column.extend_default(&Value::Int(MAX_EXACT_INT + 1), 2);
        assert_eq!((column.len(), column.aside().len()), (25_003, 2));
        assert!(column.value(10_000).is_same(&Value::Int(9999)) && column.value(10_001).is_same(&Value::Float(0.0)));
        assert!(column.value(20_001).is_same(&Value::Int(3)) && column.value(25_000).is_same(&Value::Int(3)));
        assert!(!column.is_set(0) && column.is_set(1) && column.is_set(20_000) && !column.is_set(20_001));
    }
}
