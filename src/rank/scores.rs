//! The scores of all jobs of a table. An error concerns one job and does not stop the others.
//!
//! In: the results that the interpreter or the columnar executor computes, by row of the table.
//! Out: [`Scores`].

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use crate::jobs::Column;
use crate::python::ErrorKind;
use crate::rank::{OnError, Score, ScoreError, ScorePrecision};

/// The scores of all jobs of a table, by row.
#[derive(Debug, Clone)]
pub struct Scores {
    /// The unrounded results, as Python's numbers or in base ten. The result of a row that failed is
    /// unspecified.
    results: Column,
    /// The rows that failed, ascending.
    errors: Vec<(u32, ScoreError)>,
    /// The rows of the excluded jobs, ascending.
    excluded: Vec<u32>,
    precision: ScorePrecision,
    on_error: OnError,
}

impl Scores {
    /// The scores of a table. `errors` and `excluded` are ascending, and no excluded job has an
    /// error.
    pub(super) fn new(
        results: Column,
        errors: Vec<(u32, ScoreError)>,
        excluded: Vec<u32>,
        precision: ScorePrecision,
        on_error: OnError,
    ) -> Self {
        Self {
            results,
            errors,
            excluded,
            precision,
            on_error,
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
        if !self.is_scored(row) {
            return None;
        }
        if let Some(error) = self.error(row) {
            return Some(Score {
                unrounded: Err(error),
                value: self.on_error.value(error),
            });
        }
        let result = self.results.value(row);
        // never NaN for want of a number: `python_result` has refused such a result
        let value = self.precision.round(result.to_f64().unwrap_or(f64::NAN));
        Some(Score {
            unrounded: Ok(result),
            value,
        })
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
        let index = self
            .errors
            .binary_search_by_key(&row, |(failed_row, _)| *failed_row as usize)
            .ok()?;
        Some(&self.errors[index].1)
    }

    /// Every error with its row, by ascending row.
    pub fn errors(&self) -> impl ExactSizeIterator<Item = (usize, &ScoreError)> {
        self.errors
            .iter()
            .map(|(row, error)| (*row as usize, error))
    }

    /// The number of jobs with an error, by the kind of the error.
    pub fn errors_by_kind(&self) -> BTreeMap<ErrorKind, usize> {
        let mut counts = BTreeMap::new();
        for (_, error) in self.errors() {
            *counts.entry(error.kind()).or_default() += 1;
        }
        counts
    }

    /// Whether the formula was evaluated in base ten.
    pub(super) fn are_decimals(&self) -> bool {
        self.precision == ScorePrecision::Decimal
    }

    /// The unrounded results, if the formula was evaluated in base ten.
    pub(super) fn decimals(&self) -> Option<Vec<Decimal>> {
        if !self.are_decimals() {
            return None;
        }
        let mut decimals = Vec::with_capacity(self.len());
        // a double holds none of them
        for (_, result) in self.results.exceptions() {
            decimals.extend(result.decimal());
        }
        Some(decimals)
    }

    /// The values that jobs are compared by, in the order of the rows; 0 for an excluded job.
    pub fn values(&self) -> Vec<f64> {
        let mut values = Vec::with_capacity(self.len());
        for row in 0..self.len() {
            values.push(self.precision.round(self.results.nearest_double(row)));
        }
        for (row, value) in self.results.exceptions() {
            values[*row as usize] = self.precision.round(value.to_f64().unwrap_or(f64::NAN));
        }
        for (row, error) in &self.errors {
            values[*row as usize] = self.on_error.value(error);
        }
        for &row in &self.excluded {
            values[row as usize] = 0.0;
        }
        values
    }
}
