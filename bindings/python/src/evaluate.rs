//! Scores columns: in parts where all columns lie together in memory, on as many threads as the
//! caller allows.

use arrow_buffer::NullBuffer;
use job_sort_formula::Program;
use job_sort_formula::rank::{
    ColumnError, ColumnScratch, InputColumn, OnError, QueueWork, ScoreError,
};
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
        let none: Vec<(&str, InputColumn<'_>)> = inputs
            .iter()
            .map(|(name, input)| match input {
                Input::Same(value) => (name.as_str(), InputColumn::Same(value.clone())),
                Input::Chunks(_) => (name.as_str(), InputColumn::F64(&[])),
            })
            .collect();
        program.score_columns(
            &none,
            OnError::ZeroLikePbs,
            &mut ColumnScratch::new(),
            &mut [0.0; 0],
            &mut Vec::new(),
        )?;
        for (name, input) in inputs {
            let Input::Chunks(chunks) = input else {
                continue;
            };
            let (found, expected) = (chunks.rows(), *rows.get_or_insert(chunks.rows()));
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
        if let Some(threads) = Some(threads)
            .filter(|&threads| threads > 1)
            .and_then(pool_of)
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
        let (mut outcome, mut errors, mut done) = (UnscoredRows::default(), Vec::new(), 0);
        let mut scratch = ColumnScratch::new();
        while done < scores.len() {
            let Run {
                columns,
                nulls,
                rows,
            } = self.run_at(first + done, scores.len() - done);
            let scores = &mut scores[done..done + rows];
            self.program.score_columns_within(
                queue,
                &columns,
                OnError::ZeroLikePbs,
                &mut scratch,
                scores,
                &mut errors,
            )?;
            let is_null = |row: usize| {
                nulls
                    .iter()
                    .any(|(nulls, start)| nulls.is_null(start + row))
            };
            if !nulls.is_empty() {
                outcome.null_rows.extend(
                    (0..rows)
                        .filter(|&row| is_null(row))
                        .map(|row| first + done + row),
                );
            }
            let found = errors.drain(..).filter(|(row, _)| !is_null(*row));
            outcome
                .errors
                .extend(found.map(|(row, error)| (first + done + row, error)));
            done += rows;
        }
        Ok(outcome)
    }

    /// The rows from `row` on, at most `most`, whose values lie together in every column.
    fn run_at(&self, row: usize, most: usize) -> Run<'_> {
        let left = self.inputs.iter().filter_map(|(_, input)| match input {
            Input::Chunks(chunks) => Some(chunks.at(row).2),
            Input::Same(_) => None,
        });
        let rows = left.fold(most, usize::min);
        let mut nulls = Vec::new();
        let columns = self.inputs.iter().map(|(name, input)| match input {
            Input::Same(value) => (name.as_str(), InputColumn::Same(value.clone())),
            Input::Chunks(chunks) => {
                let (chunk, start, _) = chunks.at(row);
                nulls.extend(chunk.nulls().map(|nulls| (nulls, start)));
                (name.as_str(), chunk.values().slice(start, rows))
            }
        });
        Run {
            columns: columns.collect(),
            nulls,
            rows,
        }
    }
}

/// Rows that lie together in every column.
struct Run<'a> {
    columns: Vec<(&'a str, InputColumn<'a>)>,
    /// The columns that have nulls, and where the rows begin in them.
    nulls: Vec<(&'a NullBuffer, usize)>,
    rows: usize,
}

fn pool_of(threads: usize) -> Option<ThreadPool> {
    ThreadPoolBuilder::new().num_threads(threads).build().ok()
}
