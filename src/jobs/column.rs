//! One input of every job.

use num_traits::ToPrimitive;

use crate::jobs::kept_rows::KeptRows;
use crate::python::{ColumnValues, ColumnView, IntMask, MAX_EXACT_INT, Value};

/// One input of every job: a double per row, and whether it is an integer in Python.
///
/// A value that a double does not represent exactly, such as an integer beyond 2^53, is an
/// [exception](Column::exceptions); the row then holds the nearest double, or NaN. A row whose job
/// does not have the input holds a default and is not [set](Column::is_set).
#[derive(Debug, Clone, Default)]
pub struct Column {
    numbers: Vec<f64>,
    is_int: Vec<bool>,
    sources: Vec<Source>,
    exceptions: Vec<(u32, Value)>,
}

/// Where the value of a row comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Default,
    Job,
    /// [`Column::fill`].
    Entity,
}

impl Column {
    /// An empty column.
    pub fn new() -> Self {
        Self::default()
    }

    /// A column of inputs of jobs. In the rows of `exceptions`, which are ascending, the numbers
    /// are not exact.
    pub(crate) fn from_rows(
        numbers: Vec<f64>,
        is_int: Vec<bool>,
        exceptions: Vec<(u32, Value)>,
    ) -> Self {
        Self {
            sources: vec![Source::Job; numbers.len()],
            numbers,
            is_int,
            exceptions,
        }
    }

    /// The memory of the rows, for [`Column::from_rows`].
    pub(crate) fn into_rows(self) -> (Vec<f64>, Vec<bool>) {
        (self.numbers, self.is_int)
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
        self.push_from(value, if is_set { Source::Job } else { Source::Default });
    }

    #[inline]
    fn push_from(&mut self, value: &Value, source: Source) {
        let (number, is_int, is_exact) = Self::number_of(value);
        if !is_exact {
            // rows are appended in order, so the exceptions stay sorted
            self.exceptions.push((self.len() as u32, value.clone()));
        }
        self.numbers.push(number);
        self.is_int.push(is_int);
        self.sources.push(source);
    }

    /// Appends inputs of jobs: all of them integers of at most 2^53, or all of them floats.
    pub fn extend_f64(&mut self, numbers: &[f64], are_ints: bool) {
        self.numbers.extend_from_slice(numbers);
        self.is_int.resize(self.numbers.len(), are_ints);
        self.sources.resize(self.numbers.len(), Source::Job);
    }

    /// Appends the default that the formula gets for `count` jobs without this input.
    pub fn extend_default(&mut self, value: &Value, count: usize) {
        let (number, is_int, is_exact) = Self::number_of(value);
        if !is_exact {
            // each row needs an exception of its own
            return (0..count).for_each(|_| self.push_copy(value, false));
        }
        self.numbers.resize(self.len() + count, number);
        self.is_int.resize(self.len(), is_int);
        self.sources.resize(self.len(), Source::Default);
    }

    /// Appends the rows of another column.
    pub fn append(&mut self, other: Self) {
        let before = self.len() as u32;
        self.exceptions.extend(
            other
                .exceptions
                .into_iter()
                .map(|(row, value)| (row + before, value)),
        );
        self.numbers.extend(other.numbers);
        self.is_int.extend(other.is_int);
        self.sources.extend(other.sources);
    }

    /// Changes a row: `Ok` for an input of the job, `Err` for a default. Does nothing if there is
    /// no such row.
    pub fn set(&mut self, row: usize, input: Result<Value, Value>) {
        if row >= self.len() {
            return;
        }
        self.sources[row] = if input.is_ok() {
            Source::Job
        } else {
            Source::Default
        };
        let value = input.unwrap_or_else(|default| default);
        let (number, is_int, is_exact) = Self::number_of(&value);
        self.numbers[row] = number;
        self.is_int[row] = is_int;
        match self
            .exceptions
            .binary_search_by_key(&row, |&(exception, _)| exception as usize)
        {
            Ok(index) if is_exact => _ = self.exceptions.remove(index),
            Ok(index) => self.exceptions[index].1 = value,
            Err(index) if !is_exact => self.exceptions.insert(index, (row as u32, value)),
            Err(_) => {}
        }
    }

    pub(super) fn remove_rows(&mut self, kept: &KeptRows<'_>) {
        kept.retain_in(&mut self.numbers);
        kept.retain_in(&mut self.is_int);
        kept.retain_in(&mut self.sources);
        kept.renumber(&mut self.exceptions);
    }

    /// Sets every row that is not the job's own to the value of its entity, or to a default of 0 if
    /// that is `None`. A later call replaces what an earlier one has set.
    pub(super) fn fill(&mut self, entity_of: impl Fn(usize) -> usize, values: &[Option<Value>]) {
        // the whole column is built again: a row that changes its kind would move all exceptions behind it
        let mut filled = Self::new();
        for row in 0..self.len() {
            if self.sources[row] == Source::Job {
                filled.push_from(&self.value(row), Source::Job);
                continue;
            }
            match values.get(entity_of(row)) {
                Some(Some(value)) => filled.push_from(value, Source::Entity),
                _ => filled.push_from(&Value::Int(0), Source::Default),
            }
        }
        *self = filled;
    }

    /// The value that the formula gets for the job in this row; Python's `None` if there is no such
    /// row.
    #[inline]
    pub fn value(&self, row: usize) -> Value {
        if !self.exceptions.is_empty()
            && let Ok(index) = self
                .exceptions
                .binary_search_by_key(&row, |&(exception, _)| exception as usize)
        {
            return self.exceptions[index].1.clone();
        }
        match self.numbers.get(row) {
            None => Value::None,
            Some(&number) if self.is_int(row) => Value::Int(number as i64),
            Some(&number) => Value::Float(number),
        }
    }

    /// The double nearest to the value of this row; NaN if it is not a number or there is no such
    /// row.
    #[inline]
    pub fn nearest_double(&self, row: usize) -> f64 {
        self.numbers.get(row).copied().unwrap_or(f64::NAN)
    }

    /// Whether the job has this input; `false` if the row holds a default.
    pub fn is_set(&self, row: usize) -> bool {
        self.sources
            .get(row)
            .is_some_and(|source| *source != Source::Default)
    }

    /// Whether every job has this input.
    pub fn are_all_set(&self) -> bool {
        (0..self.len()).all(|row| self.is_set(row))
    }

    /// Whether the value of this row is an integer in Python.
    #[inline]
    pub fn is_int(&self, row: usize) -> bool {
        self.is_int.get(row).copied().unwrap_or(false)
    }

    /// The numbers of `count` rows from `start` on. In the rows of [`Column::exceptions`] they are
    /// not the exact values, and integers from 2^53 on.
    pub fn view(&self, start: usize, count: usize) -> ColumnView<'_> {
        let rows = start..start + count;
        let is_int = self.is_int.get(rows.clone()).unwrap_or_default();
        let ints = if !is_int.contains(&true) {
            IntMask::None
        } else if is_int.contains(&false) {
            IntMask::Each(is_int)
        } else if self.exceptions.is_empty() {
            // without exceptions no integer is beyond 2^53
            IntMask::Exact
        } else {
            IntMask::All
        };
        let values = ColumnValues::F64(self.numbers.get(rows).unwrap_or_default());
        ColumnView { values, ints }
    }

    /// The double nearest to a value, whether the value is an integer, and whether the two
    /// determine it. What they do not determine is an integer from 2^53 on or not a number, so that
    /// nobody computes with the double.
    #[inline]
    pub(crate) fn number_of(value: &Value) -> (f64, bool, bool) {
        match value {
            Value::Int(i) => (
                *i as f64,
                true,
                (-MAX_EXACT_INT..=MAX_EXACT_INT).contains(i),
            ),
            Value::Float(x) => (*x, false, true),
            Value::Big(big) => (big.digits().to_f64().unwrap_or(f64::NAN), true, false),
            _ => (f64::NAN, true, false),
        }
    }

    /// The values that a double does not represent exactly, each with its row, by ascending row.
    pub fn exceptions(&self) -> &[(u32, Value)] {
        &self.exceptions
    }

    /// The number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
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
        assert!(
            column.value(20_001).is_identical(&Value::Int(3))
                && column.value(25_000).is_identical(&Value::Int(3))
        );
        assert!(
            !column.is_set(0)
                && column.is_set(1)
                && column.is_set(20_000)
                && !column.is_set(20_001)
        );
    }
}
