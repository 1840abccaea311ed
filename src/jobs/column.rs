//! One input of every job.

mod bitset;
mod block;
mod encoding;

use std::sync::Arc;

use num_traits::ToPrimitive;

use crate::jobs::kept_rows::KeptRows;
use crate::python::{ColumnView, MAX_EXACT_INT, Value};
pub use bitset::BLOCK_ROWS;
use block::Block;
use encoding::Number;

/// One input of every job: a double per row, and whether it is an integer in Python.
///
/// A value that a double does not represent exactly, such as an integer beyond 2^53, is an
/// [exception](Column::exceptions); the row then holds the nearest double, or NaN. A row whose job does not have the
/// input holds a default and is not [set](Column::is_set).
///
/// Each block of 4,096 rows has the narrowest encoding that represents its numbers: one number if all rows are
/// equal, integers of 8, 16 or 32 bits, or doubles.
#[derive(Debug, Clone, Default)]
pub struct Column {
    blocks: Vec<Block>,
    exceptions: Vec<(u32, Value)>,
    filled: Filled,
    /// Buffers for the next blocks.
    spare: Vec<Vec<f64>>,
}

impl Column {
    /// An empty column.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty column that reuses the buffers of another one; see [`Column::into_buffers`].
    pub fn with_buffers(buffers: Vec<Vec<f64>>) -> Self {
        Self { spare: buffers, ..Self::default() }
    }

    /// The buffers of the column's doubles, to be reused.
    pub fn into_buffers(self) -> Vec<Vec<f64>> {
        self.blocks.into_iter().filter_map(Block::into_buffer).collect()
    }

    /// Appends an input of the next job.
    #[inline]
    pub fn push(&mut self, value: Value) {
        self.push_copy(&value, true);
    }

    /// Appends the default that the formula gets for a job without this input.
    #[inline]
    pub fn push_default(&mut self, value: Value) {
        self.push_copy(&value, false);
    }

    /// Appends a row with a copy of the value.
    #[inline]
    pub(super) fn push_copy(&mut self, value: &Value, is_set: bool) {
        let (number, is_int, is_exact) = number_of(value);
        if !is_exact {
            self.exceptions.push((self.len() as u32, value.clone()));
        }
        self.open_block().push(number, is_int, is_set);
    }

    /// The block to which the next row is appended.
    #[inline]
    fn open_block(&mut self) -> &mut Block {
        if self.blocks.last().is_none_or(Block::is_full) {
            self.blocks.push(self.spare.pop().map_or_else(Block::default, Block::with_buffer));
        }
        let last = self.blocks.len() - 1;
        &mut self.blocks[last]
    }

    /// Appends inputs of jobs: all of them integers of at most 2^53, or all of them floats.
    pub fn extend_f64(&mut self, numbers: &[f64], are_ints: bool) {
        self.extend(numbers, are_ints, true);
    }

    /// Appends integer inputs of jobs.
    pub(crate) fn extend_u32(&mut self, integers: &[u32]) {
        self.extend(integers, true, true);
    }

    /// Appends the default that the formula gets for `count` jobs without this input.
    pub fn extend_default(&mut self, value: &Value, count: usize) {
        let (number, is_int) = match value {
            Value::Int(i) if is_exact(*i) => (*i as f64, true),
            Value::Float(x) => (*x, false),
            _ => return (0..count).for_each(|_| self.push_default(value.clone())),
        };
        let numbers = [number; 64];
        for start in (0..count).step_by(numbers.len()) {
            self.extend(&numbers[..numbers.len().min(count - start)], is_int, false);
        }
    }

    fn extend<N: Number>(&mut self, mut numbers: &[N], are_ints: bool, are_set: bool) {
        while !numbers.is_empty() {
            let block = self.open_block();
            let (fitting, rest) = numbers.split_at(numbers.len().min(BLOCK_ROWS - block.len()));
            block.extend(fitting, are_ints, are_set);
            numbers = rest;
        }
    }

    /// Appends inputs of jobs. `int_flags` has a byte for each, other than 0 for an integer. An integer is at most 2^53.
    pub fn extend_mixed(&mut self, numbers: &[f64], int_flags: &[u8]) {
        for (&number, &flag) in numbers.iter().zip(int_flags) {
            self.open_block().push(number, flag != 0, true);
        }
    }

    /// Appends the rows of another column.
    pub fn append(&mut self, other: Self) {
        let before = self.len();
        self.exceptions.extend(other.exceptions.into_iter().map(|(row, value)| (row + before as u32, value)));
        if self.blocks.last().is_none_or(Block::is_full) {
            self.blocks.extend(other.blocks);
            return;
        }
        for block in &other.blocks {
            for row in 0..block.len() {
                let number = block.number(row).unwrap_or(f64::NAN);
                self.open_block().push(number, block.ints.get(row), block.set.get(row));
            }
        }
    }

    /// Changes a row: `Ok` for an input of the job, `Err` for a default. Does nothing if there is no such row.
    pub fn set(&mut self, row: usize, input: Result<Value, Value>) {
        let Some(block) = self.blocks.get_mut(row / BLOCK_ROWS) else { return };
        if self.filled.contains(row) {
            self.filled.remove(row);
        }
        let is_set = input.is_ok();
        let value = input.unwrap_or_else(|default| default);
        let (number, is_int, is_exact) = number_of(&value);
        block.set(row % BLOCK_ROWS, number, is_int, is_set);
        match self.exceptions.binary_search_by_key(&row, |&(exception, _)| exception as usize) {
            Ok(index) if is_exact => _ = self.exceptions.remove(index),
            Ok(index) => self.exceptions[index].1 = value,
            Err(index) if !is_exact => self.exceptions.insert(index, (row as u32, value)),
            Err(_) => {}
        }
    }

    /// Removes rows. `indices` has the entity of each row that is kept, if entities have the same numbers as before.
    pub(super) fn remove_rows(&mut self, kept: &KeptRows<'_>, indices: Option<&Arc<[u32]>>) {
        if let (Some(indices), Some(floats)) = (indices, self.entity_values().cloned()) {
            return self.fill_by_entity(indices, &floats, kept.len());
        }
        let mut old = std::mem::take(&mut self.blocks);
        for (index, runs) in kept.moves() {
            match self.blocks.last_mut().filter(|open| !open.is_full()) {
                Some(open) => open.extend_from(&old[index], runs),
                None => {
                    let mut block = std::mem::take(&mut old[index]);
                    block.retain(runs);
                    self.blocks.push(block);
                }
            }
        }
        kept.renumber(&mut self.exceptions);
        self.filled = match std::mem::take(&mut self.filled) {
            Filled::First(rows) => Filled::First(rows - kept.removed_before(rows)),
            Filled::Rows(mut filled) => {
                kept.retain_in(&mut filled);
                Filled::Rows(filled)
            }
        };
    }

    /// Sets every row that is not the job's own to the value of its entity, or to a default of 0 if that is `None`.
    /// `indices` has the entity of each row, and is empty if all rows have the first. A later call replaces what an earlier
    /// one has set.
    pub(super) fn fill(&mut self, indices: &Arc<[u32]>, values: &[Option<Value>]) {
        let floats: Option<Arc<[f64]>> = values.iter().map(|value| value.as_ref().and_then(float_of)).collect();
        match floats {
            Some(floats) if !self.has_own_input() => self.fill_by_entity(indices, &floats, self.len()),
            _ => {
                let is_own: Vec<bool> = (0..self.len()).map(|row| self.is_own(row)).collect();
                let rows = is_own.iter().enumerate().map(|(row, is_own)| match is_own {
                    true => Ok(self.value(row)),
                    false => {
                        let index = indices.get(row).map_or(0, |&index| index as usize);
                        values.get(index).cloned().flatten().ok_or(Value::Int(0))
                    }
                });
                let mut column: Self = rows.collect();
                column.filled = Filled::Rows(is_own.iter().map(|is_own| !is_own).collect());
                *self = column;
            }
        }
    }

    /// Replaces all rows by the floats of their entities.
    fn fill_by_entity(&mut self, indices: &Arc<[u32]>, floats: &Arc<[f64]>, len: usize) {
        self.clear();
        let starts = (0..len).step_by(BLOCK_ROWS);
        self.blocks.extend(starts.map(|start| Block::by_entity(indices, start, BLOCK_ROWS.min(len - start), floats)));
        self.filled = Filled::First(len);
    }

    /// The float of each entity, if all rows were [filled](Self::fill) with them at once and are stored so.
    pub(crate) fn entity_values(&self) -> Option<&Arc<[f64]>> {
        let values = self.blocks.first()?.entity_values()?;
        let is_same = |block: &Block| block.entity_values().is_some_and(|own| Arc::ptr_eq(own, values));
        self.blocks.iter().all(is_same).then_some(values)
    }

    /// Whether the job of this row has the input itself.
    fn is_own(&self, row: usize) -> bool {
        self.is_set(row) && !self.filled.contains(row)
    }

    fn has_own_input(&self) -> bool {
        let mut blocks = (0..).step_by(BLOCK_ROWS).zip(&self.blocks);
        blocks.any(|(start, block)| {
            let rows = start..start + block.len();
            let is_filled = matches!(self.filled, Filled::First(filled) if filled >= rows.end);
            !is_filled && !block.set.is_all_zeros() && rows.into_iter().any(|row| self.is_own(row))
        })
    }

    /// Replaces all rows by inputs of the jobs.
    pub(super) fn replace(&mut self, values: &InputValues<'_>) {
        self.clear();
        match values {
            InputValues::Integers(integers) => {
                let inexact = integers.iter().zip(0..).filter(|(integer, _)| !is_exact(**integer));
                self.exceptions.extend(inexact.map(|(&integer, row)| (row, Value::Int(integer))));
                self.extend(integers, true, true);
            }
            InputValues::Floats(floats) => self.extend_f64(floats, false),
        }
    }

    /// Removes all rows.
    pub(super) fn clear(&mut self) {
        self.blocks.clear();
        self.exceptions.clear();
        self.filled = Filled::default();
    }

    /// The value that the formula gets for the job in this row; Python's `None` if there is no such row.
    #[inline]
    pub fn value(&self, row: usize) -> Value {
        let Some((block, offset)) = self.locate(row) else { return Value::None };
        if !self.exceptions.is_empty()
            && let Ok(index) = self.exceptions.binary_search_by_key(&row, |&(exception, _)| exception as usize)
        {
            return self.exceptions[index].1.clone();
        }
        match block.number(offset) {
            None => Value::None,
            Some(number) if block.ints.get(offset) => Value::Int(number as i64),
            Some(number) => Value::Float(number),
        }
    }

    /// The block of a row, and the row within the block.
    #[inline]
    fn locate(&self, row: usize) -> Option<(&Block, usize)> {
        Some((self.blocks.get(row / BLOCK_ROWS)?, row % BLOCK_ROWS))
    }

    /// The double nearest to the value of this row; NaN if it is not a number or there is no such row.
    #[inline]
    pub fn nearest_double(&self, row: usize) -> f64 {
        self.locate(row).and_then(|(block, offset)| block.number(offset)).unwrap_or(f64::NAN)
    }

    /// The [nearest double](Column::nearest_double) of each of these rows. The loop only reads, so that the cache misses of
    /// rows that are far apart overlap.
    pub(crate) fn nearest_doubles(&self, rows: impl Iterator<Item = usize>) -> Vec<f64> {
        let blocks: Option<Vec<&[f64]>> = self.blocks.iter().map(Block::doubles).collect();
        let Some(blocks) = blocks else { return rows.map(|row| self.nearest_double(row)).collect() };
        let doubles = rows.map(|row| blocks.get(row / BLOCK_ROWS)?.get(row % BLOCK_ROWS).copied());
        doubles.map(|double| double.unwrap_or(f64::NAN)).collect()
    }

    /// Whether the job has this input; `false` if the row holds a default.
    pub fn is_set(&self, row: usize) -> bool {
        self.locate(row).is_some_and(|(block, offset)| block.set.get(offset))
    }

    /// Whether every job has this input.
    #[doc(hidden)]
    pub fn are_all_set(&self) -> bool {
        self.blocks.iter().all(|block| block.set.is_all_ones())
    }

    /// Whether the value of this row is an integer in Python.
    pub fn is_int(&self, row: usize) -> bool {
        self.locate(row).is_some_and(|(block, offset)| block.ints.get(offset))
    }

    /// The number of blocks.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// The numbers of a block. In the rows of [`Column::exceptions`] they are not the exact values.
    #[doc(hidden)]
    pub fn block(&self, index: usize) -> Option<ColumnView<'_>> {
        self.blocks.get(index).map(Block::view)
    }

    /// The values that a double does not represent exactly, each with its row, by ascending row.
    pub fn exceptions(&self) -> &[(u32, Value)] {
        &self.exceptions
    }

    /// The number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        match self.blocks.split_last() {
            Some((last, full)) => full.len() * BLOCK_ROWS + last.len(),
            None => 0,
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }
}

/// Rows that [`Column::fill`] has set.
#[derive(Debug, Clone)]
enum Filled {
    /// The first rows, of this number.
    First(usize),
    /// Whether each row was set; rows beyond the last were not.
    Rows(Vec<bool>),
}

impl Default for Filled {
    fn default() -> Self {
        Self::First(0)
    }
}

impl Filled {
    fn contains(&self, row: usize) -> bool {
        match self {
            Self::First(rows) => row < *rows,
            Self::Rows(rows) => rows.get(row).is_some_and(|&is_filled| is_filled),
        }
    }

    fn remove(&mut self, row: usize) {
        if let Self::First(rows) = self {
            *self = Self::Rows(vec![true; *rows]);
        }
        if let Self::Rows(rows) = self
            && let Some(is_filled) = rows.get_mut(row)
        {
            *is_filled = false;
        }
    }
}

/// An input of every job of a table.
#[derive(Debug, Clone, Copy)]
pub(super) enum InputValues<'a> {
    Integers(&'a [i64]),
    Floats(&'a [f64]),
}

impl InputValues<'_> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Integers(integers) => integers.len(),
            Self::Floats(floats) => floats.len(),
        }
    }
}

fn float_of(value: &Value) -> Option<f64> {
    if let Value::Float(float) = value { Some(*float) } else { None }
}

/// Whether a double represents the integer exactly.
fn is_exact(integer: i64) -> bool {
    (-MAX_EXACT_INT..=MAX_EXACT_INT).contains(&integer)
}

/// The double nearest to a value, whether the value is an integer, and whether the two determine it.
#[inline]
fn number_of(value: &Value) -> (f64, bool, bool) {
    match value {
        Value::Int(i) => (*i as f64, true, is_exact(*i)),
        Value::Float(x) => (*x, false, true),
        Value::Big(big) => (big.digits().to_f64().unwrap_or(f64::NAN), true, false),
        Value::Bool(truth) => (f64::from(u8::from(*truth)), false, false),
        _ => (f64::NAN, false, false),
    }
}

/// Collects the rows in order: `Ok` for an input of a job, `Err` for a default.
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

    use num_bigint::BigInt;

    use super::*;
    use crate::python::ColumnValues;

    #[test]
    fn values_are_returned_unchanged() {
        let big = BigInt::from(1u64 << 63) * BigInt::from(4);
        let mut column = Column::new();
        column.push(Value::Int(MAX_EXACT_INT));
        column.push(Value::Int(MAX_EXACT_INT + 1));
        column.push(Value::Float(2.0));
        column.push(Value::int(big.clone()));
        column.push_default(Value::Int(0));
        assert!(matches!(column.value(0), Value::Int(MAX_EXACT_INT)));
        assert!(matches!(column.value(1), Value::Int(i) if i == MAX_EXACT_INT + 1));
        assert!(matches!(column.value(2), Value::Float(2.0)));
        assert!(matches!(column.value(3), Value::Big(x) if *x.digits() == big));
        assert!(matches!(column.value(4), Value::Int(0)) && !column.is_set(4) && column.is_set(3));
        assert!(matches!(column.value(5), Value::None));
        assert_eq!(column.exceptions().len(), 2);
        assert_eq!(column.nearest_double(3), 4.0 * 9_223_372_036_854_775_808.0);
        assert!(column.nearest_double(5).is_nan() && column.is_int(3) && !column.is_int(2));
    }

    fn encodable(row: usize) -> Value {
        match (row / BLOCK_ROWS, row % BLOCK_ROWS) {
            (0, _) | (_, 0..700) => Value::Int(7),
            (1, at) => Value::Int(at as i64 % 255 - 128),
            (2, at) | (_, at @ 700..1400) => Value::Int(at as i64 * 16 - 32_768),
            (3, _) | (_, 1400..2100) => Value::Int(row as i64 - 2_147_483_648),
            (_, at) if at.is_multiple_of(3) => Value::Float(-0.0),
            (_, at) => Value::Float(at as f64 / 7.0),
        }
    }

    /// Every encoding of a block, and every change from one to another.
    #[test]
    fn blocks_contain_what_was_pushed() {
        let mut column = Column::new();
        let mut tail = Column::new();
        let rows = 5 * BLOCK_ROWS + 1000;
        for row in 0..rows {
            let target = if row < 19_000 { &mut column } else { &mut tail };
            if row % 5 == 0 { target.push_default(encodable(row)) } else { target.push(encodable(row)) }
        }
        column.append(tail);
        assert_eq!((column.len(), column.block_count()), (rows, rows.div_ceil(BLOCK_ROWS)));
        for row in 0..rows {
            assert!(column.value(row).is_identical(&encodable(row)), "row {row}");
            assert_eq!(column.is_set(row), row % 5 != 0, "row {row}");
        }
        let [first, second, third, fourth, fifth] = [0, 1, 2, 3, 4].map(|index| column.block(index).unwrap().values);
        assert!(matches!(first, ColumnValues::Constant(7.0)));
        assert!(matches!(second, ColumnValues::I8(_)));
        assert!(matches!(third, ColumnValues::I16(_)));
        assert!(matches!(fourth, ColumnValues::I32(_)));
        assert!(matches!(fifth, ColumnValues::F64(_)));
    }

    #[test]
    fn slices_are_appended_row_by_row() {
        let numbers: Vec<f64> = (0..10_000).map(f64::from).collect();
        let mut column = Column::new();
        column.push_default(Value::Float(0.5));
        column.extend_f64(&numbers, true);
        column.extend_f64(&numbers, false);
        column.extend_default(&Value::Int(3), 5000);
        column.extend_default(&Value::Int(MAX_EXACT_INT + 1), 2);
        assert_eq!((column.len(), column.exceptions().len()), (25_003, 2));
        assert!(
            column.value(10_000).is_identical(&Value::Int(9999))
                && column.value(10_001).is_identical(&Value::Float(0.0))
        );
        assert!(column.value(20_001).is_identical(&Value::Int(3)) && column.value(25_000).is_identical(&Value::Int(3)));
        assert!(!column.is_set(0) && column.is_set(1) && column.is_set(20_000) && !column.is_set(20_001));
    }
}
