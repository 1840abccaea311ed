//! The values of a queue, side by side: a job's error is its own and stops no other.

mod kept;

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use crate::formula::program::{LaneType, Outcome};
use crate::jobs::Column;
use crate::python::Value;
use crate::rank::{Exact, OnError, Score, ScoreError, ScorePrecision};

/// The scores of all jobs of a table, row by row: a double each, and aside what is none.
#[derive(Debug, Clone)]
pub struct Scores {
    exact: ExactColumn,
    /// By ascending row.
    failed: Vec<(u32, ScoreError)>,
    /// The rows that have no score: jobs that were set aside. Ascending.
    without: Vec<u32>,
    keep: ScorePrecision,
    on_error: OnError,
}

/// What the formula gave, in the number system that it was computed in. A row that failed holds anything.
#[derive(Debug, Clone)]
enum ExactColumn {
    Python(Column),
    Decimal(Vec<Decimal>),
}

/// The next rows' scores, while they are computed.
#[derive(Debug)]
pub(super) struct Part {
    exact: ExactColumn,
    failed: Vec<(u32, ScoreError)>,
    first: u32,
}

impl Part {
    /// For the rows from `first` on, in this memory as far as it reaches.
    pub(super) fn new(first: usize, keep: ScorePrecision, spare: Vec<Vec<f64>>) -> Self {
        let exact = match keep {
            ScorePrecision::Decimal => ExactColumn::Decimal(Vec::new()),
            ScorePrecision::Float32 | ScorePrecision::Double => ExactColumn::Python(Column::with_buffers(spare)),
        };
        Self { exact, failed: Vec::new(), first: first as u32 }
    }

    pub(super) fn push(&mut self, result: Result<Exact, ScoreError>) {
        let row = self.first + self.exact.len() as u32;
        let exact = result.unwrap_or_else(|error| {
            self.failed.push((row, error));
            Exact::Python(Value::Int(0))
        });
        match (&mut self.exact, exact) {
            (ExactColumn::Python(column), Exact::Python(value)) => column.push(value),
            (ExactColumn::Decimal(column), Exact::Decimal(decimal)) => column.push(decimal),
            (ExactColumn::Python(column), Exact::Decimal(_)) => column.push(Value::Int(0)),
            (ExactColumn::Decimal(column), Exact::Python(_)) => column.push(Decimal::ZERO),
        }
    }

    /// Appends a block and, by ascending lane, what single lanes give instead. A lane whose value is of another kind
    /// than the others must be pushed with the whole block, one by one.
    pub(super) fn extend(&mut self, outcome: &Outcome, instead: Vec<(usize, Result<Exact, ScoreError>)>) {
        let first = self.first + self.exact.len() as u32;
        let is_error = |(_, result): &(usize, Result<Exact, ScoreError>)| result.is_err();
        let has_bools = match outcome.lane_types() {
            Some(kinds) => kinds.contains(&(LaneType::Bool as u8)),
            None => outcome.lane_type() == Some(LaneType::Bool),
        };
        let ExactColumn::Python(column) = &mut self.exact else { return };
        if has_bools || !instead.iter().all(is_error) {
            let mut instead = instead.into_iter().peekable();
            for lane in 0..outcome.lanes().len() {
                let other = instead.next_if(|(at, _)| *at == lane).map(|(_, result)| result);
                self.push(other.unwrap_or_else(|| Ok(Exact::Python(outcome.value(lane).unwrap_or(Value::None)))));
            }
            return;
        }
        match (outcome.lane_types(), outcome.lane_type()) {
            (Some(kinds), _) => column.extend_mixed(outcome.lanes(), kinds),
            (None, kind) => column.extend_f64(outcome.lanes(), kind == Some(LaneType::Int)),
        }
        let errors = instead.into_iter().filter_map(|(lane, result)| Some((first + lane as u32, result.err()?)));
        self.failed.extend(errors);
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
    /// Puts parts together that follow each other. `without` are the rows that were set aside.
    pub(super) fn of_parts(parts: Vec<Part>, without: Vec<u32>, keep: ScorePrecision, on_error: OnError) -> Self {
        let mut whole = Part::new(0, keep, Vec::new());
        for part in parts {
            match (&mut whole.exact, part.exact) {
                (ExactColumn::Python(column), ExactColumn::Python(next)) => column.append(next),
                (ExactColumn::Decimal(column), ExactColumn::Decimal(next)) => column.extend(next),
                _ => {}
            }
            let counts = |(row, _): &(u32, ScoreError)| without.binary_search(row).is_err();
            whole.failed.extend(part.failed.into_iter().filter(counts));
        }
        Self { exact: whole.exact, failed: whole.failed, without, keep, on_error }
    }

    /// The memory of these scores, for others.
    pub(super) fn into_memory(self) -> Vec<Vec<f64>> {
        match self.exact {
            ExactColumn::Python(column) => column.into_buffers(),
            ExactColumn::Decimal(_) => Vec::new(),
        }
    }

    /// How many rows there are, those without a score included.
    pub fn len(&self) -> usize {
        self.exact.len()
    }

    /// What becomes of a job with an error.
    pub fn on_error(&self) -> OnError {
        self.on_error
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether this row has a score: it exists and was not set aside.
    pub fn has(&self, row: usize) -> bool {
        row < self.len() && self.without.binary_search(&(row as u32)).is_err()
    }

    /// The score of a row; `None` for a job that was set aside.
    pub fn get(&self, row: usize) -> Option<Score<'_>> {
        if let Some((kept, exact)) = self.float(row) {
            return Some(Score { exact: Ok(Exact::Python(Value::Float(exact))), kept });
        }
        if !self.has(row) {
            return None;
        }
        if let Some(error) = self.error(row) {
            return Some(Score { exact: Err(error), kept: self.on_error.value(error) });
        }
        let exact = match &self.exact {
            ExactColumn::Python(column) => Exact::Python(column.value(row)),
            ExactColumn::Decimal(column) => Exact::Decimal(*column.get(row)?),
        };
        let kept = self.keep.kept(exact.to_f64());
        Some(Score { exact: Ok(exact), kept })
    }

    /// What is kept of a row and the float that the formula gave, where it is one and there is no more to say of the row.
    #[inline]
    pub(crate) fn float(&self, row: usize) -> Option<(f64, f64)> {
        let ExactColumn::Python(column) = &self.exact else { return None };
        let is_plain = column.exceptions().is_empty() && self.has(row) && self.error(row).is_none();
        if !is_plain || column.is_int(row) {
            return None;
        }
        let exact = column.nearest_double(row);
        Some((self.keep.kept(exact), exact))
    }

    /// The double next to what the formula gave for a row, for whoever needs no more; NaN where there is none.
    #[inline]
    pub fn lane(&self, row: usize) -> f64 {
        match &self.exact {
            ExactColumn::Python(column) => column.nearest_double(row),
            ExactColumn::Decimal(column) => column.get(row).and_then(Decimal::to_f64).unwrap_or(f64::NAN),
        }
    }

    /// Every score with its row, by ascending row.
    pub fn iter(&self) -> impl Iterator<Item = (usize, Score<'_>)> {
        (0..self.len()).filter_map(|row| Some((row, self.get(row)?)))
    }

    /// How many rows have a score.
    pub fn count(&self) -> usize {
        self.len() - self.without.len()
    }

    /// The error of a row, if the formula raised one.
    pub fn error(&self, row: usize) -> Option<&ScoreError> {
        let at = self.failed.binary_search_by_key(&row, |(failed, _)| *failed as usize).ok()?;
        self.failed.get(at).map(|(_, error)| error)
    }

    /// Every error with its row, by ascending row.
    pub fn errors(&self) -> impl ExactSizeIterator<Item = (usize, &ScoreError)> {
        self.failed.iter().map(|(row, error)| (*row as usize, error))
    }

    /// How many jobs have an error, by kind.
    pub fn errors_by_kind(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for (_, error) in self.errors() {
            *counts.entry(error.kind()).or_default() += 1;
        }
        counts
    }

    /// The decimals, where the formula was computed in base ten.
    pub(super) fn decimals(&self) -> Option<&[Decimal]> {
        match &self.exact {
            ExactColumn::Decimal(column) => Some(column),
            ExactColumn::Python(_) => None,
        }
    }
}
