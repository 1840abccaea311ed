//! The scores of all jobs of a table. An error concerns one job and does not stop the others.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use crate::formula::program::{LaneType, Outcome};
use crate::jobs::{BLOCK_ROWS, Column};
use crate::python::{ColumnValues, Value};
use crate::rank::score::to_double;
use crate::rank::{Exact, OnError, Score, ScoreError, ScorePrecision};

/// The scores of all jobs of a table, by row.
#[derive(Debug, Clone)]
pub struct Scores {
    exact: ExactColumn,
    /// The rows that failed, ascending.
    errors: Vec<(u32, ScoreError)>,
    /// The rows of the excluded jobs, ascending.
    excluded: Vec<u32>,
    precision: ScorePrecision,
    on_error: OnError,
}

/// The results of the formula in the number system of the evaluation. The result of a row that failed is unspecified.
#[derive(Debug, Clone)]
enum ExactColumn {
    Python(Column),
    Decimal(Vec<Decimal>),
}

/// The scores of consecutive rows, which one thread computes.
#[derive(Debug)]
pub(super) struct Partition {
    exact: ExactColumn,
    errors: Vec<(u32, ScoreError)>,
    first_row: u32,
}

impl Partition {
    /// An empty partition for the rows from `first_row` on. It reuses `buffers`.
    pub(super) fn new(first_row: usize, precision: ScorePrecision, buffers: Vec<Vec<f64>>) -> Self {
        let exact = match precision {
            ScorePrecision::Decimal => ExactColumn::Decimal(Vec::new()),
            ScorePrecision::Float32 | ScorePrecision::Double => ExactColumn::Python(Column::with_buffers(buffers)),
        };
        Self { exact, errors: Vec::new(), first_row: first_row as u32 }
    }

    pub(super) fn push(&mut self, result: Result<Exact, ScoreError>) {
        let row = self.first_row + self.exact.len() as u32;
        let exact = result.unwrap_or_else(|error| {
            self.errors.push((row, error));
            Exact::Python(Value::Int(0))
        });
        match (&mut self.exact, exact) {
            (ExactColumn::Python(column), Exact::Python(value)) => column.push(value),
            (ExactColumn::Decimal(column), Exact::Decimal(decimal)) => column.push(decimal),
            (ExactColumn::Python(column), Exact::Decimal(_)) => column.push(Value::Int(0)),
            (ExactColumn::Decimal(column), Exact::Python(_)) => column.push(Decimal::ZERO),
        }
    }

    /// Appends the results of the columnar executor. `replacements` are the results of the lanes that it could not
    /// compute, by ascending lane.
    ///
    /// The lanes are appended all at once only if each holds an `int` or a `float`, or failed.
    pub(super) fn extend(&mut self, outcome: &Outcome, replacements: Vec<(usize, Result<Exact, ScoreError>)>) {
        let first_row = self.first_row + self.exact.len() as u32;
        let is_error = |(_, result): &(usize, Result<Exact, ScoreError>)| result.is_err();
        let has_bools = match outcome.lane_types() {
            Some(types) => types.contains(&(LaneType::Bool as u8)),
            None => outcome.lane_type() == Some(LaneType::Bool),
        };
        let ExactColumn::Python(column) = &mut self.exact else { return };
        if has_bools || !replacements.iter().all(is_error) {
            let mut replacements = replacements.into_iter().peekable();
            for lane in 0..outcome.lanes().len() {
                let replacement = replacements.next_if(|(replaced, _)| *replaced == lane).map(|(_, result)| result);
                self.push(replacement.unwrap_or_else(|| Ok(Exact::Python(outcome.value(lane).unwrap_or(Value::None)))));
            }
            return;
        }
        match (outcome.lane_types(), outcome.lane_type()) {
            (Some(types), _) => column.extend_mixed(outcome.lanes(), types),
            (None, lane_type) => column.extend_f64(outcome.lanes(), lane_type == Some(LaneType::Int)),
        }
        let errors =
            replacements.into_iter().filter_map(|(lane, result)| Some((first_row + lane as u32, result.err()?)));
        self.errors.extend(errors);
    }
}

impl ExactColumn {
    fn len(&self) -> usize {
        match self {
            Self::Python(column) => column.len(),
            Self::Decimal(column) => column.len(),
        }
    }
}

impl Scores {
    /// Concatenates partitions. `excluded` are the rows of the excluded jobs, ascending.
    pub(super) fn concat(
        partitions: Vec<Partition>,
        excluded: Vec<u32>,
        precision: ScorePrecision,
        on_error: OnError,
    ) -> Self {
        let mut whole = Partition::new(0, precision, Vec::new());
        for partition in partitions {
            match (&mut whole.exact, partition.exact) {
                (ExactColumn::Python(column), ExactColumn::Python(next)) => column.append(next),
                (ExactColumn::Decimal(column), ExactColumn::Decimal(next)) => column.extend(next),
                _ => {}
            }
            let is_scored = |(row, _): &(u32, ScoreError)| excluded.binary_search(row).is_err();
            whole.errors.extend(partition.errors.into_iter().filter(is_scored));
        }
        Self { exact: whole.exact, errors: whole.errors, excluded, precision, on_error }
    }

    /// The buffers of the scores, to be reused.
    pub(super) fn into_buffers(self) -> Vec<Vec<f64>> {
        match self.exact {
            ExactColumn::Python(column) => column.into_buffers(),
            ExactColumn::Decimal(_) => Vec::new(),
        }
    }

    /// The number of rows, including those of excluded jobs.
    pub fn len(&self) -> usize {
        self.exact.len()
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
        if let Some((value, exact)) = self.float_score(row) {
            return Some(Score { exact: Ok(Exact::Python(Value::Float(exact))), value });
        }
        if !self.is_scored(row) {
            return None;
        }
        if let Some(error) = self.error(row) {
            return Some(Score { exact: Err(error), value: self.on_error.value(error) });
        }
        let exact = match &self.exact {
            ExactColumn::Python(column) => Exact::Python(column.value(row)),
            ExactColumn::Decimal(column) => Exact::Decimal(*column.get(row)?),
        };
        let value = self.precision.round(exact.to_f64());
        Some(Score { exact: Ok(exact), value })
    }

    /// The value of a row and the unrounded result, if that is a float. `None` for some floats: [`Scores::get`] decides.
    #[inline]
    pub(crate) fn float_score(&self, row: usize) -> Option<(f64, f64)> {
        let ExactColumn::Python(column) = &self.exact else { return None };
        let is_number = column.exceptions().is_empty() && self.is_scored(row) && self.error(row).is_none();
        if !is_number || column.is_int(row) {
            return None;
        }
        let exact = column.nearest_double(row);
        Some((self.precision.round(exact), exact))
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
        let index = self.errors.binary_search_by_key(&row, |(failed, _)| *failed as usize).ok()?;
        self.errors.get(index).map(|(_, error)| error)
    }

    /// Every error with its row, by ascending row.
    pub fn errors(&self) -> impl ExactSizeIterator<Item = (usize, &ScoreError)> {
        self.errors.iter().map(|(row, error)| (*row as usize, error))
    }

    /// The number of jobs with an error, by the kind of the error.
    pub fn errors_by_kind(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for (_, error) in self.errors() {
            *counts.entry(error.kind()).or_default() += 1;
        }
        counts
    }

    /// The results, if the formula was evaluated in base ten.
    pub(super) fn decimals(&self) -> Option<&[Decimal]> {
        match &self.exact {
            ExactColumn::Decimal(column) => Some(column),
            ExactColumn::Python(_) => None,
        }
    }

    /// The values that jobs are compared by, in the order of the rows; 0 for an excluded job.
    pub fn values(&self) -> Vec<f64> {
        let mut values = match &self.exact {
            ExactColumn::Decimal(column) => column.iter().map(|decimal| decimal.to_f64().unwrap_or(f64::NAN)).collect(),
            ExactColumn::Python(column) => self.round_column(column),
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
        let mut rounded = vec![0.0; column.len()];
        let blocks = (0..column.block_count()).filter_map(|index| column.block(index));
        for (rounded, block) in rounded.chunks_mut(BLOCK_ROWS).zip(blocks) {
            match block.values {
                ColumnValues::Constant(constant) => rounded.fill(self.precision.round(constant)),
                ColumnValues::I8(values) => self.round_slice(values, rounded),
                ColumnValues::I16(values) => self.round_slice(values, rounded),
                ColumnValues::I32(values) => self.round_slice(values, rounded),
                ColumnValues::F64(values) => self.round_slice(values, rounded),
            }
        }
        for (row, value) in column.exceptions() {
            rounded[*row as usize] = self.precision.round(to_double(value).ok().flatten().unwrap_or(f64::NAN));
        }
        rounded
    }

    fn round_slice<T: Into<f64> + Copy>(&self, values: &[T], rounded: &mut [f64]) {
        rounded.iter_mut().zip(values).for_each(|(rounded, &value)| *rounded = self.precision.round(value.into()));
    }
}
