//! Jobs that a thread has parsed, column by column, until they are appended to the table in the
//! order of the document.

use std::ops::Range;

use crate::jobs::dictionary::Dictionary;
use crate::jobs::table::UNKNOWN_TIME;
use crate::jobs::{Column, JobState, MAX_NAME};
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

/// The attributes of a job that are not inputs.
#[derive(Debug, Clone, Copy)]
pub struct BatchRow<'a> {
    /// ASCII; another id is refused.
    pub id: &'a [u8],
    /// As in [`Job`](super::Job).
    pub entity: &'a str,
    /// As in [`Job`](super::Job).
    pub queue: &'a str,
    /// As in [`Job`](super::Job).
    pub state: JobState,
    /// When the job was queued, in seconds since 1970, where the document says so.
    pub queued_at: Option<i64>,
    /// The line within the batch, from 0.
    pub line: u32,
}

/// Some jobs, column by column. The row after the last one is under construction.
#[derive(Debug, Default)]
pub struct Batch {
    ids: Vec<u8>,
    ends: Vec<u32>,
    pub(super) entities: Dictionary,
    pub(super) queues: Dictionary,
    pub(super) states: Vec<JobState>,
    /// Empty while no time is known.
    queued_at: Vec<i64>,
    lines: Vec<u32>,
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

    /// Sets an input of the row under construction. `None` if a double cannot hold the value.
    #[inline]
    pub fn put(&mut self, column: usize, by: InputPrecedence, value: &Value) -> Option<()> {
        self.columns
            .get_mut(column)?
            .put(self.ends.len(), value, by)
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

    /// Ends the row under construction. Returns `false`, without a row, if a name is too long, or
    /// the id is empty or not ASCII: messages call a job without id by its number, which is not
    /// known here.
    pub fn finish(&mut self, row: BatchRow<'_>) -> bool {
        let is_id = !row.id.is_empty() && row.id.len() <= MAX_NAME && row.id.is_ascii();
        if !is_id || row.entity.len() > MAX_NAME || row.queue.len() > MAX_NAME {
            return false;
        }
        self.ids.extend_from_slice(row.id);
        self.entities.push(row.entity);
        self.queues.push(row.queue);
        self.states.push(row.state);
        if row.queued_at.is_some() || !self.queued_at.is_empty() {
            self.queued_at.resize(self.ends.len(), UNKNOWN_TIME);
            self.queued_at.push(row.queued_at.unwrap_or(UNKNOWN_TIME));
        }
        self.lines.push(row.line);
        // last, since it ends the row that the setters above write
        self.ends.push(self.ids.len() as u32);
        true
    }

    /// The line of a row within the batch, from 0.
    pub fn line(&self, row: usize) -> usize {
        match self.lines.get(row) {
            Some(&line) => line as usize,
            None => 0,
        }
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
        // `finish` has refused what is not ASCII
        str::from_utf8(&self.ids[start..self.ends[row] as usize]).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::python::MAX_EXACT_INT;

    fn row(id: &[u8]) -> BatchRow<'_> {
        BatchRow {
            id,
            entity: "",
            queue: "",
            state: JobState::Queued,
            queued_at: None,
            line: 0,
        }
    }

    #[test]
    fn a_row_may_be_abandoned() {
        let mut batch = Batch::default();
        batch.clear(1);
        batch.put(0, InputPrecedence::Job, &Value::Int(3)).unwrap();
        assert!(batch.finish(row(b"1")));
        batch
            .put(0, InputPrecedence::Job, &Value::Float(2.5))
            .unwrap();
        batch.abandon();
        assert!(batch.finish(row(b"0")));
        assert!(!batch.finish(row("é".as_bytes())) && !batch.finish(row(b"")));
        assert!(
            batch
                .put(0, InputPrecedence::Job, &Value::Int(MAX_EXACT_INT + 1))
                .is_none()
        );
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
        (0..6000).for_each(|_| assert!(batch.finish(row(b"1"))));
        batch.put(0, InputPrecedence::Job, &Value::Int(7)).unwrap();
        assert!(batch.finish(row(b"1")));
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
                    batch
                        .put(column, InputPrecedence::Job, &Value::Int(number))
                        .unwrap();
                }
                if at > 600 {
                    batch
                        .put(6, InputPrecedence::Job, &Value::Float(at as f64 / 8.0))
                        .unwrap();
                }
                assert!(batch.finish(row(b"1")));
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
