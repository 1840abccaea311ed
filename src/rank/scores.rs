//! The scores of all jobs of a table. An error concerns one job and does not stop the others.
//!
//! In: the results that the interpreter or the columnar executor computes, by row of the table. Out: [`Scores`]. Each
//! thread collects the results of consecutive rows in a [`Partition`].

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use crate::formula::program::{LaneResults, LaneType};
use crate::jobs::{BLOCK_ROWS, Column};
use crate::python::{ColumnValues, ErrorKind, Value};
use crate::rank::{FormulaResult, OnError, Score, ScoreError, ScorePrecision};

/// The scores of all jobs of a table, by row.
#[derive(Debug, Clone)]
pub struct Scores {
    results: ResultColumn,
    /// The rows that failed, ascending.
    errors: Vec<(u32, ScoreError)>,
    /// The rows of the excluded jobs, ascending.
    excluded: Vec<u32>,
    precision: ScorePrecision,
    on_error: OnError,
}

/// The unrounded results of consecutive rows, as Python's numbers or in base ten. The result of a row that failed is
/// unspecified.
#[derive(Debug, Clone)]
enum ResultColumn {
    Python(Column),
    Decimal(Vec<Decimal>),
}

/// The scores of consecutive rows, which one thread computes.
#[derive(Debug)]
pub(super) struct Partition {
    results: ResultColumn,
    /// The rows that failed, ascending.
    errors: Vec<(u32, ScoreError)>,
    /// The rows whose work counts towards the budget of the queue, ascending, and that work.
    costly: Vec<(u32, u64)>,
    first_row: u32,
}

impl Partition {
    /// Creates an empty partition for the rows from `first_row` on, which reuses `buffers`.
    pub(super) fn new(first_row: usize, precision: ScorePrecision, buffers: Vec<Vec<f64>>) -> Self {
        let results = match precision {
            ScorePrecision::Decimal => ResultColumn::Decimal(Vec::new()),
            ScorePrecision::Float32 | ScorePrecision::Double => ResultColumn::Python(Column::with_buffers(buffers)),
        };
        Self { results, errors: Vec::new(), costly: Vec::new(), first_row: first_row as u32 }
    }

    /// The rows whose work counts towards the budget of the queue, ascending, and that work.
    pub(super) fn costly_rows(&self) -> &[(u32, u64)] {
        &self.costly
    }

    pub(super) fn set_costly_rows(&mut self, rows: Vec<(u32, u64)>) {
        self.costly = rows;
    }

    /// Replaces the results of rows by errors; the rows are ascending.
    pub(super) fn fail(&mut self, errors: Vec<(u32, ScoreError)>) {
        if !errors.is_empty() {
            self.errors.retain(|(row, _)| errors.binary_search_by_key(row, |(row, _)| *row).is_err());
            self.errors.extend(errors);
            self.errors.sort_by_key(|(row, _)| *row);
        }
    }

    /// Appends the result of the next row.
    pub(super) fn push(&mut self, result: Result<FormulaResult, ScoreError>) {
        let row = self.next_row();
        let result = result.unwrap_or_else(|error| {
            self.errors.push((row, error));
            FormulaResult::Python(Value::Int(0))
        });
        match (&mut self.results, result) {
            (ResultColumn::Python(column), FormulaResult::Python(value)) => column.push(value),
            (ResultColumn::Decimal(column), FormulaResult::Decimal(decimal)) => column.push(decimal),
            (ResultColumn::Python(column), FormulaResult::Decimal(_)) => column.push(Value::Int(0)),
            (ResultColumn::Decimal(column), FormulaResult::Python(_)) => column.push(Decimal::ZERO),
        }
    }

    /// Appends the results of the next rows from the columnar executor, whose lanes are these rows. `interpreted` are the
    /// results of the lanes that it left to the interpreter, ascending.
    ///
    /// The lanes are appended all at once only if each holds a `float` or an `int` that is a double, or failed.
    pub(super) fn extend(
        &mut self,
        results: &LaneResults,
        interpreted: Vec<(usize, Result<FormulaResult, ScoreError>)>,
    ) {
        let first_row = self.next_row();
        let has_bools = match results.lane_types() {
            Some(types) => types.contains(&(LaneType::Bool as u8)),
            None => results.lane_type() == Some(LaneType::Bool),
        };
        let ResultColumn::Python(column) = &mut self.results else { return };
        if has_bools || results.has_large_integers() || interpreted.iter().any(|(_, result)| result.is_ok()) {
            let mut interpreted = interpreted.into_iter().peekable();
            for lane in 0..results.lanes().len() {
                self.push(match interpreted.next_if(|(next_lane, _)| *next_lane == lane) {
                    Some((_, result)) => result,
                    None => Ok(FormulaResult::Python(results.value(lane).unwrap_or(Value::None))),
                });
            }
            return;
        }
        match (results.lane_types(), results.lane_type()) {
            (Some(types), _) => column.extend_mixed(results.lanes(), types),
            (None, lane_type) => column.extend_f64(results.lanes(), lane_type == Some(LaneType::Int)),
        }
        let errors =
            interpreted.into_iter().filter_map(|(lane, result)| Some((first_row + lane as u32, result.err()?)));
        self.errors.extend(errors);
    }

    fn next_row(&self) -> u32 {
        self.first_row + self.results.len() as u32
    }
}

impl ResultColumn {
    fn len(&self) -> usize {
        match self {
            Self::Python(column) => column.len(),
            Self::Decimal(column) => column.len(),
        }
    }
}

impl Scores {
    /// Concatenates the partitions of a table. `excluded` are the rows of the excluded jobs, ascending.
    pub(super) fn concat(
        partitions: Vec<Partition>,
        excluded: Vec<u32>,
        precision: ScorePrecision,
        on_error: OnError,
    ) -> Self {
        let mut table = Partition::new(0, precision, Vec::new());
        for partition in partitions {
            match (&mut table.results, partition.results) {
                (ResultColumn::Python(column), ResultColumn::Python(next)) => column.append(next),
                (ResultColumn::Decimal(column), ResultColumn::Decimal(next)) => column.extend(next),
                _ => {}
            }
            let errors = partition.errors.into_iter();
            table.errors.extend(errors.filter(|(row, _)| excluded.binary_search(row).is_err()));
        }
        Self { results: table.results, errors: table.errors, excluded, precision, on_error }
    }

    /// Returns the buffers of the results, which [`Partition::new`] can reuse.
    pub(super) fn into_buffers(self) -> Vec<Vec<f64>> {
        match self.results {
            ResultColumn::Python(column) => column.into_buffers(),
            ResultColumn::Decimal(_) => Vec::new(),
        }
    }

    /// The number of rows, including those of excluded jobs.
    pub fn len(&self) -> usize {
        self.results.len()
    }

    /// The value of a job whose formula raises an error.
    pub fn on_error(&self) -> OnError {
        self.on_error
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the row has a score: it exists, and its job is not excluded.
    pub fn is_scored(&self, row: usize) -> bool {
        row < self.len() && self.excluded.binary_search(&(row as u32)).is_err()
    }

    /// The score of a row; `None` if its job is excluded.
    pub fn get(&self, row: usize) -> Option<Score<'_>> {
        if let Some((value, unrounded)) = self.float_score(row) {
            return Some(Score { unrounded: Ok(FormulaResult::Python(Value::Float(unrounded))), value });
        }
        if !self.is_scored(row) {
            return None;
        }
        if let Some(error) = self.error(row) {
            return Some(Score { unrounded: Err(error), value: self.on_error.value(error) });
        }
        let result = match &self.results {
            ResultColumn::Python(column) => FormulaResult::Python(column.value(row)),
            ResultColumn::Decimal(column) => FormulaResult::Decimal(*column.get(row)?),
        };
        let value = self.precision.round(result.to_f64());
        Some(Score { unrounded: Ok(result), value })
    }

    /// The value of a row and its unrounded result, if that is a float and the column has no exceptions: a faster
    /// [`Scores::get`] for nearly all rows.
    #[inline]
    fn float_score(&self, row: usize) -> Option<(f64, f64)> {
        let ResultColumn::Python(column) = &self.results else { return None };
        self.has_float(column, row).then(|| self.rounded(column.nearest_double(row)))
    }

    /// The [float scores](Scores::float_score) of some rows, which may be far apart.
    #[doc(hidden)]
    pub fn float_scores(&self, rows: impl Iterator<Item = usize> + Clone) -> Vec<Option<(f64, f64)>> {
        let ResultColumn::Python(column) = &self.results else { return rows.map(|_| None).collect() };
        let unrounded = column.nearest_doubles(rows.clone());
        rows.zip(unrounded)
            .map(|(row, unrounded)| self.has_float(column, row).then(|| self.rounded(unrounded)))
            .collect()
    }

    #[inline]
    fn has_float(&self, column: &Column, row: usize) -> bool {
        column.exceptions().is_empty() && self.is_scored(row) && self.error(row).is_none() && !column.is_int(row)
    }

    #[inline]
    fn rounded(&self, unrounded: f64) -> (f64, f64) {
        (self.precision.round(unrounded), unrounded)
    }

    /// Every score with its row, by ascending row.
    pub fn iter(&self) -> impl Iterator<Item = (usize, Score<'_>)> {
        (0..self.len()).filter_map(|row| Some((row, self.get(row)?)))
    }

    /// The number of rows that have a score.
    pub fn count(&self) -> usize {
        self.len() - self.excluded.len()
    }

    /// The error of a row, if the formula raised one.
    pub fn error(&self, row: usize) -> Option<&ScoreError> {
        let index = self.errors.binary_search_by_key(&row, |(failed_row, _)| *failed_row as usize).ok()?;
        self.errors.get(index).map(|(_, error)| error)
    }

    /// Every error with its row, by ascending row.
    pub fn errors(&self) -> impl ExactSizeIterator<Item = (usize, &ScoreError)> {
        self.errors.iter().map(|(row, error)| (*row as usize, error))
    }

    /// The number of jobs with an error, by the kind of the error.
    pub fn errors_by_kind(&self) -> BTreeMap<ErrorKind, usize> {
        let mut counts = BTreeMap::new();
        for (_, error) in self.errors() {
            *counts.entry(error.kind()).or_default() += 1;
        }
        counts
    }

    /// The unrounded results, if the formula was evaluated in base ten.
    pub(super) fn decimals(&self) -> Option<&[Decimal]> {
        match &self.results {
            ResultColumn::Decimal(column) => Some(column),
            ResultColumn::Python(_) => None,
        }
    }

    /// The values that jobs are compared by, in the order of the rows; 0 for an excluded job.
    pub fn values(&self) -> Vec<f64> {
        let mut values = match &self.results {
            ResultColumn::Decimal(column) => {
                column.iter().map(|decimal| decimal.to_f64().unwrap_or(f64::NAN)).collect()
            }
            ResultColumn::Python(column) => self.round_column(column),
        };
        for (row, error) in &self.errors {
            values[*row as usize] = self.on_error.value(error);
        }
        for &row in &self.excluded {
            values[row as usize] = 0.0;
        }
        values
    }

    fn round_column(&self, column: &Column) -> Vec<f64> {
        let mut rounded = Vec::with_capacity(column.len());
        let blocks = (0..column.block_count()).filter_map(|index| column.block(index));
        for (block, start) in blocks.zip((0..).step_by(BLOCK_ROWS)) {
            let rows = BLOCK_ROWS.min(column.len() - start);
            match block.values {
                ColumnValues::Constant(constant) => {
                    rounded.extend(std::iter::repeat_n(self.precision.round(constant), rows));
                }
                ColumnValues::I8(values) => self.extend_rounded(&mut rounded, values, f64::from),
                ColumnValues::I16(values) => self.extend_rounded(&mut rounded, values, f64::from),
                ColumnValues::I32(values) => self.extend_rounded(&mut rounded, values, f64::from),
                ColumnValues::I64(values) => self.extend_rounded(&mut rounded, values, |value| value as f64),
                ColumnValues::F64(values) => self.extend_rounded(&mut rounded, values, f64::from),
                ColumnValues::ByEntity { index, values } => {
                    self.extend_rounded(&mut rounded, index, |entity| values[entity as usize]);
                }
            }
        }
        for (row, value) in column.exceptions() {
            rounded[*row as usize] = self.precision.round(value.to_f64().unwrap_or(f64::NAN));
        }
        rounded
    }

    fn extend_rounded<T: Copy>(&self, rounded: &mut Vec<f64>, values: &[T], to_f64: impl Fn(T) -> f64) {
        rounded.extend(values.iter().map(|&value| self.precision.round(to_f64(value))));
    }
}
