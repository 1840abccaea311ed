//! Jobs that a thread has parsed, column by column, until they are appended to the table in the
//! order of the document.

use std::ops::Range;

use crate::jobs::dictionary::Dictionary;
use crate::jobs::{Column, JobState, MAX_NAME};
use crate::python::{MAX_EXACT_INT, Value};

/// An unknown time of queueing: later than any other.
pub(super) const UNKNOWN: i64 = i64::MAX;

/// Which value counts if a job has the same input more than once: that of the greatest precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum InputPrecedence {
    /// The priority of the job's queue.
    Queue = 1,
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
    pub(super) columns: Vec<BatchColumn>,
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
        self.columns.resize_with(columns, BatchColumn::default);
        self.columns.iter_mut().for_each(BatchColumn::clear);
    }

    /// The number of finished rows.
    pub fn rows(&self) -> usize {
        self.ends.len()
    }

    /// Sets an input of the row under construction. `None` if a double cannot hold the value.
    #[inline]
    pub fn put(&mut self, column: usize, by: InputPrecedence, value: &Value) -> Option<()> {
        let row = self.ends.len();
        let input = self.columns.get_mut(column)?;
        let flags = (by as u8) << 1;
        match value {
            Value::Int(integer) if (-MAX_EXACT_INT..=MAX_EXACT_INT).contains(integer) => {
                input.put(row, *integer as f64, flags | INTEGER);
            }
            Value::Float(x) => input.put(row, *x, flags),
            _ => return None,
        }
        Some(())
    }

    /// An input of the row under construction, if it was set.
    pub fn input(&self, column: usize) -> Option<Value> {
        self.columns.get(column)?.value(self.ends.len())
    }

    /// The source of an input of the row under construction, if it was set.
    #[inline]
    pub fn source(&self, column: usize) -> Option<InputPrecedence> {
        self.columns.get(column)?.source(self.ends.len())
    }

    /// Clears the row under construction.
    pub fn abandon(&mut self) {
        let row = self.ends.len();
        self.columns.iter_mut().for_each(|input| input.remove(row));
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
            self.queued_at.resize(self.ends.len(), UNKNOWN);
            self.queued_at.push(row.queued_at.unwrap_or(UNKNOWN));
        }
        self.lines.push(row.line);
        // last, since it ends the row that the setters above write
        self.ends.push(self.ids.len() as u32);
        true
    }

    /// The line of a row within the batch, from 0.
    pub fn line(&self, row: usize) -> usize {
        self.lines.get(row).map_or(0, |&line| line as usize)
    }

    /// The times of queueing of these rows, if any of them is known.
    pub(super) fn queued_at(&self, rows: Range<usize>) -> Option<&[i64]> {
        self.queued_at
            .get(rows)
            .filter(|times| times.iter().any(|&time| time != UNKNOWN))
    }

    /// The id of a row.
    pub fn id(&self, row: usize) -> &str {
        let start = row
            .checked_sub(1)
            .map_or(0, |before| self.ends[before] as usize);
        // `finish` has refused what is not ASCII
        str::from_utf8(&self.ids[start..self.ends[row] as usize]).unwrap_or_default()
    }
}

/// The flag of an integer.
const INTEGER: u8 = 1;

/// One input of the jobs of a batch. Rows beyond the last have the default.
#[derive(Debug, Default)]
pub(super) struct BatchColumn {
    numbers: Vec<f64>,
    /// 0 for the default, else twice the [`InputPrecedence`], plus [`INTEGER`].
    flags: Vec<u8>,
}

impl BatchColumn {
    /// Removes all rows, and keeps the buffers.
    fn clear(&mut self) {
        self.numbers.clear();
        self.flags.clear();
    }

    /// The precedence of the number of a row; 0 if it has none.
    #[inline]
    fn precedence(&self, row: usize) -> u8 {
        self.flags.get(row).map_or(0, |flag| flag >> 1)
    }

    /// The source of the number of a row; `None` if it has none.
    #[inline]
    pub(super) fn source(&self, row: usize) -> Option<InputPrecedence> {
        use InputPrecedence::{AliasedInput, Input, Job, Queue};
        match self.precedence(row) {
            0 => None,
            1 => Some(Queue),
            2 => Some(Job),
            3 => Some(AliasedInput),
            _ => Some(Input),
        }
    }

    #[inline]
    fn put(&mut self, row: usize, number: f64, flag: u8) {
        if row < self.flags.len() {
            self.numbers[row] = number;
            self.flags[row] = flag;
            return;
        }
        // rows without a number are rare
        if row > self.flags.len() {
            self.numbers.resize(row, 0.0);
            self.flags.resize(row, 0);
        }
        self.numbers.push(number);
        self.flags.push(flag);
    }

    /// Removes the number of a row.
    fn remove(&mut self, row: usize) {
        if let Some(flag) = self.flags.get_mut(row) {
            *flag = 0;
        }
    }

    /// Appends rows to a column; all at once if they are all of one type and source.
    pub(super) fn append_to(&self, column: &mut Column, rows: Range<usize>, default: &Value) {
        let flag = self.flags.get(rows.start).copied().unwrap_or(0);
        let flags = self
            .flags
            .get(rows.start..rows.end.min(self.flags.len()))
            .unwrap_or_default();
        // without a branch, so that it is vectorized
        let are_same = flags
            .iter()
            .fold(true, |are_same, &other| are_same & (other == flag));
        if flag == 0 && are_same {
            return column.extend_default(default, rows.len());
        }
        if are_same && flags.len() == rows.len() {
            return column.extend_f64(&self.numbers[rows], flag & INTEGER > 0);
        }
        for row in rows {
            match self.value(row) {
                Some(value) => column.push_copy(&value, true),
                None => column.push_copy(default, false),
            }
        }
    }

    /// The value of a row, if it is set.
    #[inline]
    fn value(&self, row: usize) -> Option<Value> {
        match self.flags.get(row) {
            None | Some(0) => None,
            Some(flag) if flag & INTEGER > 0 => Some(Value::Int(self.numbers[row] as i64)),
            Some(_) => Some(Value::Float(self.numbers[row])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            matches!(batch.columns[0].value(0), Some(Value::Int(3)))
                && batch.columns[0].value(1).is_none()
        );
        batch.clear(1);
        assert!(batch.rows() == 0 && batch.columns[0].value(0).is_none());
    }

    #[test]
    fn an_input_may_come_late() {
        let mut batch = Batch::default();
        batch.clear(1);
        (0..6000).for_each(|_| assert!(batch.finish(row(b"1"))));
        batch.put(0, InputPrecedence::Job, &Value::Int(7)).unwrap();
        assert!(batch.finish(row(b"1")));
        assert!(
            matches!(batch.columns[0].value(6000), Some(Value::Int(7)))
                && batch.columns[0].value(9).is_none()
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
                let parts = [0..100, 100..650, 650..700].into_iter();
                parts.for_each(|rows| input.append_to(column, rows, &Value::Int(0)));
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
