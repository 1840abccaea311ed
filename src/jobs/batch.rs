//! A batch: the jobs that a thread has read from a part of a document, column by column. Its rows are
//! appended to those of the table in the order of the document.

use std::ops::Range;

use crate::jobs::table_names::Dictionary;
use crate::jobs::{Column, Exclusion, Job, JobState, UNKNOWN_TIME};
use crate::python::Value;

/// Which value counts if a job has the same input more than once: that of the greatest precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum InputPrecedence {
    /// The priority of the job's queue.
    Queue,
    /// A resource or an attribute of the job.
    Job,
    /// A ready-made input under the other name of `fairshare_perc`.
    AliasedInput,
    /// A ready-made input.
    Input,
}

/// A job of a batch without its inputs.
#[derive(Debug, Clone)]
pub struct BatchRow<'a> {
    /// The job.
    pub job: Job<'a>,
    /// The line within the batch, from 0, if the document has a job per line.
    pub line: Option<usize>,
}

/// Some jobs, column by column. The row after the last one is under construction.
#[derive(Debug, Default)]
pub struct Batch {
    ids: String,
    ends: Vec<u32>,
    pub(super) entities: Dictionary,
    pub(super) queues: Dictionary,
    pub(super) states: Vec<JobState>,
    /// Empty while no time is known.
    queued_at: Vec<i64>,
    /// Why rows are excluded, in their order.
    pub(super) exclusions: Vec<(usize, Exclusion)>,
    lines: Vec<Option<u32>>,
    pub(super) columns: Vec<Column>,
}

impl Batch {
    /// Removes all rows, and keeps the buffers; the next rows have this number of columns.
    pub fn clear(&mut self, columns: usize) {
        self.ids.clear();
        self.ends.clear();
        self.entities.clear();
        self.queues.clear();
        self.states.clear();
        self.queued_at.clear();
        self.exclusions.clear();
        self.lines.clear();
        self.columns.resize_with(columns, Column::new);
        for input in &mut self.columns {
            input.clear();
        }
    }

    /// The number of finished rows.
    pub fn rows(&self) -> usize {
        self.ends.len()
    }

    /// Sets an input of the row under construction, if there is such a column.
    #[inline]
    pub fn put(&mut self, column: usize, by: InputPrecedence, value: &Value) {
        if let Some(column) = self.columns.get_mut(column) {
            column.put(self.ends.len(), value, by);
        }
    }

    /// An input of the row under construction, if it was set.
    pub fn input(&self, column: usize) -> Option<Value> {
        let (value, _) = self.columns.get(column)?.own(self.ends.len())?;
        Some(value)
    }

    /// The source of an input of the row under construction, if it was set.
    #[inline]
    pub fn source(&self, column: usize) -> Option<InputPrecedence> {
        self.columns.get(column)?.precedence(self.ends.len())
    }

    /// Clears the row under construction.
    pub fn abandon(&mut self) {
        for input in &mut self.columns {
            input.remove(self.ends.len());
        }
    }

    /// Ends the row under construction.
    pub fn finish(&mut self, BatchRow { job, line }: BatchRow<'_>) {
        self.ids.push_str(job.id);
        self.entities.push(job.entity);
        self.queues.push(job.queue);
        self.states.push(job.state);
        if job.queued_at.is_some() || !self.queued_at.is_empty() {
            self.queued_at.resize(self.ends.len(), UNKNOWN_TIME);
            self.queued_at.push(job.queued_at.unwrap_or(UNKNOWN_TIME));
        }
        let row = self.rows();
        self.exclusions
            .extend(job.exclusion.map(|reason| (row, reason)));
        self.lines.push(line.map(|line| line as u32));
        // last, since it ends the row that the setters above write
        self.ends.push(self.ids.len() as u32);
    }

    /// The line of a row within the batch, from 0, if the document has a job per line.
    pub fn line(&self, row: usize) -> Option<usize> {
        Some((*self.lines.get(row)?)? as usize)
    }

    /// The times of queueing of these rows, if any of them is known.
    pub(super) fn queued_at(&self, rows: Range<usize>) -> Option<&[i64]> {
        let times = self.queued_at.get(rows)?;
        let is_known = times.iter().any(|&time| time != UNKNOWN_TIME);
        is_known.then_some(times)
    }

    /// The id of a row.
    pub fn id(&self, row: usize) -> &str {
        let start = if row == 0 {
            0
        } else {
            self.ends[row - 1] as usize
        };
        &self.ids[start..self.ends[row] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::python::MAX_EXACT_INT;

    fn row(id: &str) -> BatchRow<'_> {
        BatchRow {
            job: Job {
                id,
                ..Job::default()
            },
            line: None,
        }
    }

    #[test]
    fn a_row_may_be_abandoned() {
        let mut batch = Batch::default();
        batch.clear(1);
        batch.put(0, InputPrecedence::Job, &Value::Int(3));
        batch.finish(row("1"));
        batch.put(0, InputPrecedence::Job, &Value::Float(2.5));
        batch.abandon();
        batch.finish(row("0"));
        let large = Value::Int(MAX_EXACT_INT + 1);
        batch.put(0, InputPrecedence::Job, &large);
        batch.abandon();
        batch.put(0, InputPrecedence::Job, &large);
        batch.finish(row(""));
        let mut column = Column::new();
        column.extend(&batch.columns[0], 0..3, &Value::Int(0));
        assert!(column.value(2).is_identical(&large) && column.exceptions().len() == 1);
        assert!(
            matches!(batch.columns[0].own(0), Some((Value::Int(3), _)))
                && batch.columns[0].own(1).is_none()
        );
        batch.clear(1);
        assert!(batch.rows() == 0 && batch.columns[0].own(0).is_none());
    }

    #[test]
    fn an_input_may_come_late() {
        let mut batch = Batch::default();
        batch.clear(1);
        (0..6000).for_each(|_| batch.finish(row("1")));
        batch.put(0, InputPrecedence::Job, &Value::Int(7));
        batch.finish(row("1"));
        assert!(
            matches!(batch.columns[0].own(6000), Some((Value::Int(7), _)))
                && batch.columns[0].own(9).is_none()
        );
    }

    fn small_and_large(row: i64) -> [i64; 6] {
        [
            row,
            row << 30,
            if row % 3 == 0 { row } else { row << 40 },
            7,
            0,
            (row % 2) << 50,
        ]
    }

    #[test]
    fn small_and_large_numbers_are_returned_unchanged() {
        let mut batch = Batch::default();
        let mut columns = vec![Column::new(); 7];
        for _ in 0..3 {
            batch.clear(7);
            for at in 0..700 {
                for (column, number) in small_and_large(at)
                    .into_iter()
                    .enumerate()
                    .filter(|(column, _)| *column != 4)
                {
                    batch.put(column, InputPrecedence::Job, &Value::Int(number));
                }
                if at > 600 {
                    batch.put(6, InputPrecedence::Job, &Value::Float(at as f64 / 8.0));
                }
                batch.finish(row("1"));
            }
            for (input, column) in batch.columns.iter().zip(&mut columns) {
                let parts = [0..100, 100..650, 650..700, 700..700].into_iter();
                parts.for_each(|rows| column.extend(input, rows, &Value::Int(0)));
            }
        }
        for (index, column) in columns.iter().enumerate().take(6) {
            (0..2100).for_each(|row| {
                assert!(
                    column
                        .value(row)
                        .is_identical(&Value::Int(small_and_large(row as i64 % 700)[index])),
                    "{index}, {row}"
                );
                assert_eq!(column.is_set(row), index != 4);
            });
        }
        assert!(
            columns[6].value(2000).is_identical(&Value::Int(0))
                && columns[6].value(2002).is_identical(&Value::Float(75.25))
        );
    }
}
