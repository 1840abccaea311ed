//! Rows that are read aside, by any thread, to be joined to a table when their turn comes.

mod lanes;
mod locals;

use std::ops::Range;

use crate::jobs::ids::compare;
use crate::jobs::{JobState, MAX_NAME};
use crate::python::{MAX_EXACT_INT, Value};
use lanes::{Lanes, WHOLE};
pub(super) use locals::Locals;

/// Stands for a time of queueing that is not known: later than any other.
pub(super) const UNKNOWN: i64 = i64::MAX;

/// Whose word counts where a job says the same input twice: the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum InputPrecedence {
    /// The job's queue.
    Queue = 1,
    /// A resource or an attribute of the job.
    Job,
    /// A ready-made input under an old name.
    OldInput,
    /// A ready-made input.
    Input,
}

/// What is known of a job besides its inputs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchRow<'a> {
    /// ASCII; any other id is not taken.
    pub id: &'a [u8],
    pub entity: &'a str,
    pub queue: &'a str,
    pub state: JobState,
    pub queued_at: Option<i64>,
    /// The line within the batch, from 0.
    pub line: u32,
}

/// Some jobs, column by column. The row that is being built is the one after the last.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    ids: Vec<u8>,
    ends: Vec<u32>,
    /// Whether each id is greater than the one before it.
    climbs: Vec<bool>,
    pub(super) entities: Locals,
    pub(super) queues: Locals,
    pub(super) states: Vec<JobState>,
    /// Empty as long as no time is known.
    queued_at: Vec<i64>,
    lines: Vec<u32>,
    pub(super) columns: Vec<Lanes>,
    /// Whether the row that is being built has ready-made inputs.
    has_inputs: bool,
}

impl Batch {
    /// Drops all rows and keeps the room; the next ones have so many columns.
    pub(crate) fn clear(&mut self, columns: usize) {
        self.ids.clear();
        self.ends.clear();
        self.climbs.clear();
        self.entities.clear();
        self.queues.clear();
        self.states.clear();
        self.queued_at.clear();
        self.lines.clear();
        self.columns.resize_with(columns, Lanes::default);
        self.columns.iter_mut().for_each(Lanes::clear);
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Gives the row that is being built an input, unless a greater authority has. `None` if no double holds it.
    #[inline]
    pub(crate) fn put(&mut self, column: usize, by: InputPrecedence, value: &Value) -> Option<()> {
        match value {
            Value::Int(whole) if (-MAX_EXACT_INT..=MAX_EXACT_INT).contains(whole) => {
                self.put_number(column, by, |lanes, row, mark| lanes.put(row, *whole as f64, mark | WHOLE));
            }
            Value::Float(x) => self.put_number(column, by, |lanes, row, mark| lanes.put(row, *x, mark)),
            _ => return None,
        }
        Some(())
    }

    /// [`Batch::put`] of an integer that is small.
    #[inline]
    pub(crate) fn put_whole(&mut self, column: usize, by: InputPrecedence, whole: u32) {
        self.put_number(column, by, |lanes, row, mark| lanes.put_small(row, whole, mark));
    }

    #[inline(always)]
    fn put_number(&mut self, column: usize, by: InputPrecedence, put: impl FnOnce(&mut Lanes, usize, u8)) {
        let row = self.ends.len();
        let Some(lanes) = self.columns.get_mut(column) else { return };
        // A look at the mark costs as much as all else here, and mostly there is nothing to see.
        if (by == InputPrecedence::Job && !self.has_inputs) || lanes.authority(row) <= by as u8 {
            put(lanes, row, (by as u8) << 1);
            self.has_inputs |= by > InputPrecedence::Job;
        }
    }

    /// Takes back what the row that is being built was given.
    pub(crate) fn abandon(&mut self) {
        self.has_inputs = false;
        let row = self.ends.len();
        self.columns.iter_mut().for_each(|lanes| lanes.forget(row));
    }

    /// Ends the row that was being built; says whether its names can be those of one. A job with an empty id is called
    /// by its number in messages, which is not known here.
    pub(crate) fn finish(&mut self, row: BatchRow<'_>) -> bool {
        let is_id = !row.id.is_empty() && row.id.len() <= MAX_NAME && row.id.is_ascii();
        if !is_id || row.entity.len() > MAX_NAME || row.queue.len() > MAX_NAME {
            return false;
        }
        let climbs = self.ends.len().checked_sub(1).is_none_or(|last| compare(self.id_bytes(last), row.id).is_lt());
        self.climbs.push(climbs);
        self.ids.extend_from_slice(row.id);
        self.entities.push(row.entity);
        self.queues.push(row.queue);
        self.states.push(row.state);
        if row.queued_at.is_some() || !self.queued_at.is_empty() {
            self.queued_at.resize(self.ends.len(), UNKNOWN);
            self.queued_at.push(row.queued_at.unwrap_or(UNKNOWN));
        }
        self.lines.push(row.line);
        self.ends.push(self.ids.len() as u32);
        self.has_inputs = false;
        true
    }

    /// The line of a row within the batch, from 0.
    pub(crate) fn line(&self, row: usize) -> usize {
        self.lines.get(row).map_or(0, |&line| line as usize)
    }

    /// The times of queueing of these rows, if any of them is known.
    pub(super) fn queued_at(&self, rows: Range<usize>) -> Option<&[i64]> {
        self.queued_at.get(rows).filter(|times| times.iter().any(|&time| time != UNKNOWN))
    }

    pub(super) fn climbs(&self, row: usize) -> bool {
        self.climbs.get(row).is_some_and(|&climbs| climbs)
    }

    /// The id of a row.
    pub(crate) fn id(&self, row: usize) -> &str {
        str::from_utf8(self.id_bytes(row)).unwrap_or_default()
    }

    fn id_bytes(&self, row: usize) -> &[u8] {
        &self.ids[self.start(row)..self.ends[row] as usize]
    }

    /// The ids of these rows, one behind the other, and where each of them ends.
    pub(super) fn ids(&self, rows: Range<usize>) -> (&str, impl ExactSizeIterator<Item = usize>) {
        let start = self.start(rows.start);
        let ends = &self.ends[rows.clone()];
        let text = &self.ids[start..ends.last().map_or(start, |&end| end as usize)];
        // to look at many at once is quicker than at each when it comes
        (str::from_utf8(text).unwrap_or_default(), ends.iter().map(move |&end| end as usize - start))
    }

    /// Where the id of a row begins.
    fn start(&self, row: usize) -> usize {
        if row == 0 { 0 } else { self.ends[row - 1] as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::Column;

    #[test]
    fn the_greater_authority_has_the_word() {
        let mut batch = Batch::default();
        batch.clear(1);
        let row = |id: &'static [u8]| BatchRow {
            id,
            entity: "",
            queue: "",
            state: JobState::Queued,
            queued_at: None,
            line: 0,
        };
        batch.put(0, InputPrecedence::Input, &Value::Int(3)).unwrap();
        batch.put(0, InputPrecedence::Job, &Value::Int(2)).unwrap();
        assert!(batch.finish(row(b"1")));
        batch.put(0, InputPrecedence::Job, &Value::Float(2.5)).unwrap();
        batch.abandon();
        assert!(batch.finish(row(b"0")) && !batch.climbs(1));
        assert!(!batch.finish(row("é".as_bytes())) && !batch.finish(row(b"")));
        assert!(batch.put(0, InputPrecedence::Job, &Value::Int(MAX_EXACT_INT + 1)).is_none());
        assert!(matches!(batch.columns[0].value(0), Some(Value::Int(3))) && batch.columns[0].value(1).is_none());
        batch.clear(1);
        assert!(batch.len() == 0 && batch.columns[0].value(0).is_none());
    }
    #[test]
    fn an_input_may_come_late() {
        let mut batch = Batch::default();
        batch.clear(1);
        let row = BatchRow { id: b"1", entity: "", queue: "", state: JobState::Queued, queued_at: None, line: 0 };
        (0..6000).for_each(|_| assert!(batch.finish(row)));
        batch.put_whole(0, InputPrecedence::Job, 7);
        assert!(batch.finish(row));
        assert!(matches!(batch.columns[0].value(6000), Some(Value::Int(7))) && batch.columns[0].value(9).is_none());
    }

    #[test]
    fn small_and_large_numbers_come_as_they_were_put() {
        let row = BatchRow { id: b"1", entity: "", queue: "", state: JobState::Queued, queued_at: None, line: 0 };
        let numbers = |row: i64| [row, row << 30, if row % 3 == 0 { row } else { row << 40 }, 7, 0, (row % 2) << 50];
        let (mut batch, mut columns) = (Batch::default(), vec![Column::new(); 7]);
        for _ in 0..3 {
            batch.clear(7);
            for at in 0..700 {
                for (column, number) in numbers(at).into_iter().enumerate().filter(|(column, _)| *column != 4) {
                    match u32::try_from(number) {
                        Ok(small) => batch.put_whole(column, InputPrecedence::Job, small),
                        Err(_) => batch.put(column, InputPrecedence::Job, &Value::Int(number)).unwrap(),
                    }
                }
                if at > 600 {
                    batch.put(6, InputPrecedence::Job, &Value::Float(at as f64 / 8.0)).unwrap();
                }
                assert!(batch.finish(row));
            }
            for (lanes, column) in batch.columns.iter().zip(&mut columns) {
                let parts = [0..100, 100..650, 650..700].into_iter();
                parts.for_each(|rows| lanes.append_to(column, rows, &Value::Int(0)));
            }
        }
        for (column, lanes) in columns.iter().enumerate().take(6) {
            (0..2100).for_each(|row| {
                assert!(lanes.value(row).is_same(&Value::Int(numbers(row as i64 % 700)[column])), "{column}, {row}");
                assert_eq!(lanes.is_set(row), column != 4);
            });
        }
        assert!(columns[6].value(2000).is_same(&Value::Int(0)) && columns[6].value(2002).is_same(&Value::Float(75.25)));
    }
}
