//! Scores columns: the rows in equal parts, on as many threads as the caller allows.

use job_sort_formula::Program;
use job_sort_formula::rank::{ColumnError, ColumnScratch, OnError, QueueWork, ScoreError};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::column::Input;

/// Fewer rows than this are not worth a thread.
const LEAST_ROWS: usize = 1 << 16;
/// The most threads that are started.
const MAX_THREADS: usize = 256;

/// The columns of an evaluation.
pub struct Columns<'a> {
    program: &'a Program,
    inputs: &'a [(String, Input)],
    rows: usize,
}

/// What a part of the rows gives besides its scores.
#[derive(Default)]
pub struct UnscoredRows {
    /// The rows with an error, ascending.
    pub errors: Vec<(usize, ScoreError)>,
    /// The rows with a null among their inputs, ascending.
    pub null_rows: Vec<usize>,
}

impl<'a> Columns<'a> {
    /// Checks that the columns are those that the program reads, and that they have the same number
    /// of rows, which is that of the table, if there is one.
    pub fn new(
        program: &'a Program,
        inputs: &'a [(String, Input)],
        mut rows: Option<usize>,
    ) -> Result<Self, ColumnError> {
        let mut none = Vec::new();
        for (name, input) in inputs {
            none.push((name.as_str(), input.slice(0..0)));
        }
        program.score_columns(
            &none,
            OnError::ZeroLikePbs,
            &mut ColumnScratch::new(),
            &mut [0.0; 0],
            &mut Vec::new(),
        )?;
        for (name, input) in inputs {
            let Input::Column(column) = input else {
                continue;
            };
            let (found, expected) = (column.rows(), *rows.get_or_insert(column.rows()));
            if found != expected {
                return Err(ColumnError::Length {
                    name: name.clone(),
                    found,
                    expected,
                });
            }
        }
        Ok(Self {
            program,
            inputs,
            rows: rows.unwrap_or(1),
        })
    }

    /// The number of rows: 1 if there is no table and every input is the same for every job.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Writes the scores of all rows.
    pub fn score(&self, scores: &mut [f64], threads: usize) -> Result<UnscoredRows, ColumnError> {
        let threads = threads.min(MAX_THREADS).min(self.rows / LEAST_ROWS);
        // where the system does not start them, this thread does all
        if threads > 1
            && let Ok(threads) = ThreadPoolBuilder::new().num_threads(threads).build()
        {
            let work = QueueWork::default();
            let scored = self.score_in_parallel(scores, &threads, &work);
            if !work.is_beyond_the_budget() {
                return scored;
            }
        }
        self.score_part(0, scores, &QueueWork::default())
    }

    fn score_in_parallel(
        &self,
        scores: &mut [f64],
        threads: &ThreadPool,
        queue: &QueueWork,
    ) -> Result<UnscoredRows, ColumnError> {
        let rows = self.rows.div_ceil(threads.current_num_threads());
        let parts = scores.par_chunks_mut(rows).enumerate();
        let scored = parts.map(|(index, scores)| self.score_part(index * rows, scores, queue));
        let mut all = UnscoredRows::default();
        for part in threads.install(|| scored.collect::<Vec<_>>()) {
            let mut part = part?;
            all.errors.append(&mut part.errors);
            all.null_rows.append(&mut part.null_rows);
        }
        Ok(all)
    }

    /// Writes the scores of consecutive rows.
    fn score_part(
        &self,
        first: usize,
        scores: &mut [f64],
        queue: &QueueWork,
    ) -> Result<UnscoredRows, ColumnError> {
        let rows = first..first + scores.len();
        let (mut columns, mut nulls) = (Vec::new(), Vec::new());
        for (name, input) in self.inputs {
            columns.push((name.as_str(), input.slice(rows.clone())));
            if let Input::Column(column) = input {
                nulls.extend(&column.nulls);
            }
        }
        let mut outcome = UnscoredRows::default();
        self.program.score_columns_within(
            queue,
            &columns,
            OnError::ZeroLikePbs,
            &mut ColumnScratch::new(),
            scores,
            &mut outcome.errors,
        )?;
        for (row, _) in &mut outcome.errors {
            *row += first;
        }
        if !nulls.is_empty() {
            let is_null = |row: &usize| nulls.iter().any(|nulls| nulls.is_null(*row));
            outcome.errors.retain(|(row, _)| !is_null(row));
            outcome.null_rows.extend(rows.filter(is_null));
        }
        Ok(outcome)
    }
}
