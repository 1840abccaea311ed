//! A column: one input of every job, and where it comes from.

use std::fmt;
use std::ops::Range;

use num_traits::ToPrimitive;
use serde::{Serialize, Serializer};

use crate::jobs::table_names::Dictionary;
use crate::jobs::{InputPrecedence, KeptRows};
use crate::python::{InputColumn, MAX_EXACT_INT, Value};

/// One input of every job: a double per row, and whether it is an integer in Python.
///
/// A value that a double does not represent exactly, such as an integer beyond 2^53, is an
/// [exception](Column::exceptions); the row then holds the nearest double, or NaN. A row whose job
/// does not have the input holds a default and is not [set](Column::is_set).
#[derive(Debug, Clone, Default)]
pub struct Column {
    // these two are vectors of their own, because `view` lends them as they are
    numbers: Vec<f64>,
    is_int: Vec<bool>,
    /// The number of rows that are integers. Most columns are of one type, and `view` then needs to
    /// read no types: of a million jobs with 14 inputs, reading them takes a third of the time.
    int_rows: usize,
    sources: Vec<Source>,
    exceptions: Vec<(u32, Value)>,
}

/// Where the value of a row comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Default,
    /// [`Column::fill`].
    Entity,
    Own(InputPrecedence),
}

const OF_JOB: Source = Source::Own(InputPrecedence::Job);

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
            sources: vec![OF_JOB; numbers.len()],
            numbers,
            int_rows: count_true(&is_int),
            is_int,
            exceptions,
        }
    }

    /// Appends an input of the next job: `Ok` for its own, `Err` for the default that the formula
    /// gets for a job without it.
    #[inline]
    pub(crate) fn push(&mut self, input: Result<&Value, &Value>) {
        match input {
            Ok(value) => self.push_from(value, OF_JOB),
            Err(default) => self.push_from(default, Source::Default),
        }
    }

    // always: of most values the kind is known where they are put
    #[inline(always)]
    fn push_from(&mut self, value: &Value, source: Source) {
        let (number, is_int, is_exact) = Self::number_of(value);
        if !is_exact {
            // rows are appended in order, so the exceptions stay sorted
            self.exceptions.push((self.len() as u32, value.clone()));
        }
        self.numbers.push(number);
        self.is_int.push(is_int);
        self.int_rows += usize::from(is_int);
        self.sources.push(source);
    }

    /// Sets the own input of a job; rows before it that have none are defaults.
    #[inline]
    pub(super) fn put(&mut self, row: usize, value: &Value, by: InputPrecedence) {
        while self.len() < row {
            self.push_from(&Value::Int(0), Source::Default);
        }
        if row == self.len() {
            self.push_from(value, Source::Own(by));
        } else {
            self.replace(row, value, Source::Own(by));
        }
    }

    /// What the job itself has in a row, and where it has it from.
    #[inline]
    pub(super) fn own(&self, row: usize) -> Option<(Value, InputPrecedence)> {
        Some((self.value(row), self.precedence(row)?))
    }

    /// Where the job itself has the value of a row from; `None` if the value is not its own.
    #[inline]
    pub(super) fn precedence(&self, row: usize) -> Option<InputPrecedence> {
        match self.sources.get(row) {
            Some(Source::Own(by)) => Some(*by),
            _ => None,
        }
    }

    /// Sets where the job itself has the value of the last row from.
    pub(super) fn set_last_precedence(&mut self, by: InputPrecedence) {
        if let Some(last) = self.sources.last_mut() {
            *last = Source::Own(by);
        }
    }

    /// Makes a row, if it exists, one of a job without the input.
    pub(super) fn remove(&mut self, row: usize) {
        if row < self.len() {
            self.replace(row, &Value::Int(0), Source::Default);
        }
    }

    /// Removes all rows, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.numbers.clear();
        self.is_int.clear();
        self.int_rows = 0;
        self.sources.clear();
        self.exceptions.clear();
    }

    /// Appends rows of a column in which defaults are left to be filled in, and which ends with the
    /// last job that has the input.
    pub(super) fn extend(&mut self, other: &Self, rows: Range<usize>, default: &Value) {
        // a default of a batch is not that of the table, and an exception gets another row: both
        // are appended one by one
        if let Some(sources) = other.sources.get(rows.clone())
            && other.exceptions.is_empty()
            && !sources.contains(&Source::Default)
        {
            self.numbers.extend_from_slice(&other.numbers[rows.clone()]);
            self.is_int.extend_from_slice(&other.is_int[rows.clone()]);
            self.int_rows += count_true(&other.is_int[rows]);
            self.sources.extend_from_slice(sources);
            return;
        }
        for row in rows {
            match other.own(row) {
                Some((value, by)) => self.push_from(&value, Source::Own(by)),
                None => self.push_from(default, Source::Default),
            }
        }
    }

    /// Changes a row: `Ok` for an input of the job, `Err` for a default. Does nothing if there is
    /// no such row.
    pub fn set(&mut self, row: usize, input: Result<Value, Value>) {
        if row >= self.len() {
            return;
        }
        match input {
            Ok(value) => self.replace(row, &value, OF_JOB),
            Err(default) => self.replace(row, &default, Source::Default),
        }
    }

    /// Changes a row that exists.
    fn replace(&mut self, row: usize, value: &Value, source: Source) {
        self.sources[row] = source;
        let (number, is_int, is_exact) = Self::number_of(value);
        self.numbers[row] = number;
        self.int_rows -= usize::from(self.is_int[row]);
        self.int_rows += usize::from(is_int);
        self.is_int[row] = is_int;
        match self.exception_index(row) {
            Ok(index) if is_exact => _ = self.exceptions.remove(index),
            Ok(index) => self.exceptions[index].1 = value.clone(),
            Err(index) if !is_exact => self.exceptions.insert(index, (row as u32, value.clone())),
            Err(_) => {}
        }
    }

    /// Where a row is among the exceptions, or where it would be.
    fn exception_index(&self, row: usize) -> Result<usize, usize> {
        self.exceptions
            .binary_search_by_key(&row, |&(exception, _)| exception as usize)
    }

    pub(super) fn remove_rows(&mut self, kept: &KeptRows) {
        kept.retain_in(&mut self.numbers);
        kept.retain_in(&mut self.is_int);
        self.int_rows = count_true(&self.is_int);
        kept.retain_in(&mut self.sources);
        kept.renumber(&mut self.exceptions);
    }

    /// Sets every row that is not the job's own to the value of its entity, or to a default of 0 if
    /// that is `None`. A later call replaces what an earlier one has set.
    pub(super) fn fill(&mut self, entities: &Dictionary, values: &[Option<Value>]) {
        // the whole column is built again: a row that changes its kind would move all exceptions behind it
        let mut filled = Self::new();
        for row in 0..self.len() {
            match values.get(entities.index(row)) {
                _ if self.precedence(row).is_some() => {
                    filled.push_from(&self.value(row), self.sources[row]);
                }
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
            && let Ok(index) = self.exception_index(row)
        {
            return self.exceptions[index].1.clone();
        }
        match self.numbers.get(row) {
            None => Value::None,
            // exact: an integer beyond 2^53 is an exception
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
        !matches!(self.sources.get(row), None | Some(Source::Default))
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
    pub fn view(&self, start: usize, count: usize) -> InputColumn<'_> {
        let rows = start..start + count;
        let values = self.numbers.get(rows.clone()).unwrap_or_default();
        let is_int = self.is_int.get(rows).unwrap_or_default();
        if self.int_rows == 0 {
            InputColumn::F64(values)
        } else if self.int_rows == self.len() && self.exceptions.is_empty() {
            // without exceptions no integer is beyond 2^53
            InputColumn::Whole(values)
        } else {
            InputColumn::Mixed { values, is_int }
        }
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
            // as an integer, because the executor leaves integers that are NaN to the interpreter
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

fn count_true(flags: &[bool]) -> usize {
    flags.iter().map(|&flag| usize::from(flag)).sum()
}

/// Collects the rows in order: `Ok` for an input of a job, `Err` for a default.
impl FromIterator<Result<Value, Value>> for Column {
    fn from_iter<I: IntoIterator<Item = Result<Value, Value>>>(rows: I) -> Self {
        let mut column = Self::new();
        for row in rows {
            column.push(row.as_ref());
        }
        column
    }
}

/// Where an input of a job comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum InputOrigin {
    /// The resources that the job requests.
    ResourceList,
    /// Another attribute of the job.
    Job,
    /// The priority of the job's queue.
    Queue,
    /// The fair-share tree.
    FairShareTree,
    /// A ready-made input of a native document.
    Inputs,
    /// The job does not have it, so the formula gets 0.
    Unset,
}

impl InputOrigin {
    /// Its name in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ResourceList => "Resource_List",
            Self::Job => "job",
            Self::Queue => "queue",
            Self::FairShareTree => "fair-share tree",
            Self::Inputs => "inputs",
            Self::Unset => "unset",
        }
    }
}

impl Serialize for InputOrigin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl fmt::Display for InputOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl InputOrigin {
    /// The origin of an input that the job itself has by `by`; `own` is that of what it requests
    /// or says itself.
    pub(super) fn new(by: Option<InputPrecedence>, own: Self) -> Self {
        match by {
            None => Self::Unset,
            Some(InputPrecedence::Queue) => Self::Queue,
            Some(InputPrecedence::Job) => own,
            Some(InputPrecedence::AliasedInput | InputPrecedence::Input) => Self::Inputs,
        }
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;

    use super::*;
    use crate::python::MAX_EXACT_INT;

    #[test]
    fn values_are_returned_unchanged() {
        let big = BigInt::from(1u64 << 63) * BigInt::from(4);
        let column: Column = [
            Ok(Value::Int(MAX_EXACT_INT)),
            Ok(Value::Int(MAX_EXACT_INT + 1)),
            Ok(Value::Float(2.0)),
            Ok(Value::int(big.clone())),
            Err(Value::Int(0)),
        ]
        .into_iter()
        .collect();
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
    fn a_column_is_lent_by_the_type_of_its_rows() {
        let [one, half] = [Value::Int(1), Value::Float(0.5)];
        let mut column = Column::new();
        assert!(matches!(column.view(0, 0), InputColumn::F64([])));
        column.push(Ok(&one));
        column.push(Err(&one));
        assert!(matches!(column.view(0, 2), InputColumn::Whole([1.0, 1.0])));
        column.set(1, Ok(half.clone()));
        assert!(matches!(column.view(0, 2), InputColumn::Mixed { .. }));
        column.set(0, Ok(half));
        assert!(matches!(column.view(0, 2), InputColumn::F64([0.5, 0.5])));
        column.set(0, Ok(one.clone()));
        let mut copy = Column::new();
        copy.extend(&column, 0..1, &one);
        assert!(matches!(copy.view(0, 1), InputColumn::Whole([1.0])));
        copy.clear();
        copy.extend(&column, 1..2, &one);
        assert!(matches!(copy.view(0, 1), InputColumn::F64([0.5])));
        // the double of an integer beyond 2^53 is not its value
        column.set(1, Ok(Value::Int(MAX_EXACT_INT + 1)));
        assert!(matches!(column.view(0, 2), InputColumn::Mixed { .. }));
    }
}
