//! Scores columns: in parts where all columns lie together in memory, on as many threads as the caller allows.

use std::sync::{Mutex, PoisonError};
use std::thread;

use arrow_buffer::NullBuffer;
use job_sort_formula::rank::{ColumnError, ColumnScratch, InputColumn, OnError, QueueWork, ScoreError};
use job_sort_formula::{Program, Value};

use crate::column::{Chunk, Input, Values};

/// The rows that are looked at together where some are null.
const BLOCK: usize = 4096;
/// Fewer rows than this are not worth a thread.
const LEAST_ROWS: usize = 1 << 16;
/// The most threads that are started.
const MAX_THREADS: usize = 256;

/// The memory of earlier evaluations.
#[derive(Default)]
pub struct ScratchPool(Mutex<Vec<ColumnScratch>>);

impl ScratchPool {
    fn take(&self) -> ColumnScratch {
        locked(&self.0).pop().unwrap_or_default()
    }

    fn put_back(&self, scratch: ColumnScratch) {
        locked(&self.0).push(scratch);
    }
}

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
    /// Checks that the columns are those that the program reads, and that they have the same number of rows, which is that
    /// of the table, if there is one.
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
            let Input::Chunks(chunks) = input else { continue };
            let (found, expected) = (chunks.rows(), *rows.get_or_insert(chunks.rows()));
            if found != expected {
                return Err(ColumnError::Length { name: name.clone(), found, expected });
            }
        }
        Ok(Self { program, inputs, rows: rows.unwrap_or(1) })
    }

    /// The number of rows: 1 if there is no table and every input is the same for every job.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Writes the scores of all rows.
    pub fn score(&self, scores: &mut [f64], threads: usize, pool: &ScratchPool) -> Result<UnscoredRows, ColumnError> {
        let threads = threads.min(MAX_THREADS).min(self.rows / LEAST_ROWS).max(1);
        let work = QueueWork::default();
        let scored = self.score_in_parallel(scores, threads, pool, &work);
        if threads > 1 && work.is_beyond_the_budget() {
            return self.score_in_parallel(scores, 1, pool, &QueueWork::default());
        }
        scored
    }

    fn score_in_parallel(
        &self,
        scores: &mut [f64],
        threads: usize,
        pool: &ScratchPool,
        queue: &QueueWork,
    ) -> Result<UnscoredRows, ColumnError> {
        let rows = self.rows.div_ceil(threads).max(1);
        let parts = Mutex::new(scores.chunks_mut(rows).enumerate());
        let outcomes = Mutex::new(Vec::with_capacity(threads));
        let work = || {
            let mut scratch = pool.take();
            while let Some((index, scores)) = take_next(&parts) {
                let outcome = self.score_part(index * rows, scores, &mut scratch, queue);
                locked(&outcomes).push((index, outcome));
            }
            pool.put_back(scratch);
        };
        thread::scope(|scope| {
            // where the system does not start a thread, the others do its part
            (1..threads).for_each(|_| _ = thread::Builder::new().spawn_scoped(scope, work));
            work();
        });
        let mut outcomes = outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
        outcomes.sort_unstable_by_key(|&(index, _)| index);
        let mut all = UnscoredRows::default();
        for (_, outcome) in outcomes {
            let mut outcome = outcome?;
            all.errors.append(&mut outcome.errors);
            all.null_rows.append(&mut outcome.null_rows);
        }
        Ok(all)
    }

    /// Writes the scores of consecutive rows.
    fn score_part(
        &self,
        first: usize,
        scores: &mut [f64],
        scratch: &mut ColumnScratch,
        queue: &QueueWork,
    ) -> Result<UnscoredRows, ColumnError> {
        let (mut outcome, mut errors, mut done) = (UnscoredRows::default(), Vec::new(), 0);
        while done < scores.len() {
            let run = self.run_at(first + done, scores.len() - done);
            let scores = &mut scores[done..done + run.rows];
            let mut valid = Vec::new();
            if let Some(nulls) = &run.nulls {
                valid = nulls.valid_indices().collect();
                outcome.null_rows.extend((0..run.rows).filter(|&row| nulls.is_null(row)).map(|row| first + done + row));
            }
            if run.nulls.is_none() {
                self.program.score_columns_within(
                    queue,
                    &run.columns(None),
                    OnError::ZeroLikePbs,
                    scratch,
                    scores,
                    &mut errors,
                )?;
                outcome.errors.extend(errors.drain(..).map(|(row, error)| (first + done + row, error)));
            } else if !valid.is_empty() {
                let taken: Vec<Option<Values>> = run.taken(&valid);
                let mut valid_scores = vec![0.0; valid.len()];
                self.program.score_columns_within(
                    queue,
                    &run.columns(Some(&taken)),
                    OnError::ZeroLikePbs,
                    scratch,
                    &mut valid_scores,
                    &mut errors,
                )?;
                valid.iter().zip(&valid_scores).for_each(|(&row, &score)| scores[row] = score);
                outcome.errors.extend(errors.drain(..).map(|(row, error)| (first + done + valid[row], error)));
            }
            done += run.rows;
        }
        Ok(outcome)
    }

    /// The rows from `row` on, at most `most`, whose values lie together in every column.
    fn run_at(&self, row: usize, most: usize) -> Run<'_> {
        let part = |(name, input): &'a (String, Input)| match input {
            Input::Same(value) => (name.as_str(), Part::Same(value)),
            Input::Chunks(chunks) => {
                let (chunk, start, _) = chunks.at(row);
                (name.as_str(), Part::Rows { chunk, start })
            }
        };
        let parts: Vec<(&str, Part<'_>)> = self.inputs.iter().map(part).collect();
        let left = self.inputs.iter().filter_map(|(_, input)| match input {
            Input::Chunks(chunks) => Some(chunks.at(row).2),
            Input::Same(_) => None,
        });
        let mut rows = left.fold(most, usize::min);
        let of_chunk = |part: &Part<'a>| match *part {
            Part::Rows { chunk, start } => chunk.nulls.as_ref().map(|nulls| (nulls, start)),
            Part::Same(_) => None,
        };
        if parts.iter().any(|(_, part)| of_chunk(part).is_some()) {
            rows = rows.min(BLOCK);
        }
        let nulls = parts
            .iter()
            .filter_map(|(_, part)| of_chunk(part))
            .fold(None, |all: Option<NullBuffer>, (nulls, start)| {
                NullBuffer::union(all.as_ref(), Some(&nulls.slice(start, rows)))
            });
        Run { parts, rows, nulls: nulls.filter(|nulls| nulls.null_count() > 0) }
    }
}

/// Rows that lie together in every column.
struct Run<'a> {
    parts: Vec<(&'a str, Part<'a>)>,
    rows: usize,
    /// The rows that are null in some column; `None` if there are none.
    nulls: Option<NullBuffer>,
}

enum Part<'a> {
    Same(&'a Value),
    Rows { chunk: &'a Chunk, start: usize },
}

impl Run<'_> {
    /// The columns for the library, or those of the values that were taken from them.
    fn columns<'v>(&'v self, taken: Option<&'v [Option<Values>]>) -> Vec<(&'v str, InputColumn<'v>)> {
        let column = |(index, (name, part)): (usize, &'v (&'v str, Part<'v>))| {
            let column = match (part, taken.and_then(|taken| taken[index].as_ref())) {
                (_, Some(values)) => values.slice(0, values.len()),
                (Part::Same(value), _) => InputColumn::Same((*value).clone()),
                (Part::Rows { chunk, start }, _) => chunk.values.slice(*start, self.rows),
            };
            (*name, column)
        };
        self.parts.iter().enumerate().map(column).collect()
    }

    /// The values of these rows in each column that has a value for each row.
    fn taken(&self, rows: &[usize]) -> Vec<Option<Values>> {
        let taken = |(_, part): &(&str, Part<'_>)| match part {
            Part::Rows { chunk, start } => Some(chunk.values.take(*start, rows)),
            Part::Same(_) => None,
        };
        self.parts.iter().map(taken).collect()
    }
}

/// The next item. A lock that is taken in the condition of a `while let` is held until the end of its body; this one is
/// released before the item is worked on.
fn take_next<I: Iterator>(items: &Mutex<I>) -> Option<I::Item> {
    locked(items).next()
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
