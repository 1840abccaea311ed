//! Rows that are read aside, by any thread, to be joined to a table when their turn comes.

use std::collections::HashMap;
use std::ops::Range;

use super::ids::compare;
use super::names::same;
use super::{Column, JobState, MAX_NAME};
use crate::formula::number::Value;

/// Integers up to this magnitude are the same as a double: 2^53.
const EXACT: i64 = 1 << 53;
/// By how many rows a column grows.
const GROWTH: usize = 1024;
/// Stands for a time of queueing that is not known: later than any other.
pub(super) const UNKNOWN: i64 = i64::MAX;

/// Whose word counts where a job says the same input twice: the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Authority {
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

/// One input: doubles, and a mark on each. Beyond the last row there are defaults.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    values: Vec<f64>,
    /// 0 for the default, else twice the [`Authority`], plus 1 where the number is an integer.
    marks: Vec<u8>,
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
        self.columns.iter_mut().for_each(|lanes| lanes.marks.fill(0));
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Gives the row that is being built an input, unless a greater authority has. `None` if no double holds it.
    #[inline]
    pub(crate) fn put(&mut self, column: usize, by: Authority, value: &Value) -> Option<()> {
        match value {
            Value::Int(whole) if (-EXACT..=EXACT).contains(whole) => self.put_lane(column, by, *whole as f64, true),
            Value::Float(x) => self.put_lane(column, by, *x, false),
            _ => return None,
        }
        Some(())
    }

    /// [`Batch::put`] of an integer that a double holds.
    #[inline]
    pub(crate) fn put_whole(&mut self, column: usize, by: Authority, whole: u32) {
        self.put_lane(column, by, f64::from(whole), true);
    }

    #[inline]
    fn put_lane(&mut self, column: usize, by: Authority, value: f64, is_whole: bool) {
        let row = self.ends.len();
        let Some(lanes) = self.columns.get_mut(column) else { return };
        if row >= lanes.marks.len() {
            lanes.grow(row);
        }
        // A look at the mark costs as much as all else here, and mostly there is nothing to see.
        if (by == Authority::Job && !self.has_inputs) || lanes.marks[row] >> 1 <= by as u8 {
            lanes.marks[row] = (by as u8) << 1 | u8::from(is_whole);
            lanes.values[row] = value;
            self.has_inputs |= by > Authority::Job;
        }
    }

    /// Takes back what the row that is being built was given.
    pub(crate) fn abandon(&mut self) {
        self.has_inputs = false;
        let row = self.ends.len();
        for lanes in &mut self.columns {
            if let Some(mark) = lanes.marks.get_mut(row) {
                *mark = 0;
            }
        }
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

impl Lanes {
    /// Makes room for a row, and for more behind it.
    #[cold]
    fn grow(&mut self, row: usize) {
        self.values.resize(row + GROWTH, 0.0);
        self.marks.resize(row + GROWTH, 0);
    }

    /// Appends rows to a column: at once, if all of them have a value and the values one type, or none has one.
    pub(super) fn append_to(&self, column: &mut Column, rows: Range<usize>, default: &Value) {
        let marks = self.marks.get(rows.clone()).unwrap_or_default();
        if let (Some(&first), Some(values)) = (marks.first(), self.values.get(rows.clone())) {
            let fits = |mark: u8| (mark > 0) & ((mark ^ first) & 1 == 0);
            // Without an early end, many marks are looked at together.
            if marks.iter().fold(true, |all, &mark| all & fits(mark)) {
                return column.extend_lanes(values, first & 1 == 1);
            }
        }
        let rest = self.marks.get(rows.start..).unwrap_or_default();
        if rest.iter().take(rows.len()).all(|&mark| mark == 0) {
            return column.extend_default(default, rows.len());
        }
        for row in rows {
            match self.value(row) {
                Some(value) => column.push(value),
                None => column.push_default(default.clone()),
            }
        }
    }

    /// The value of a row, if the job has one.
    #[inline]
    pub(super) fn value(&self, row: usize) -> Option<Value> {
        match self.marks.get(row) {
            None | Some(0) => None,
            Some(mark) if mark & 1 == 1 => Some(Value::Int(self.values[row] as i64)),
            Some(_) => Some(Value::Float(self.values[row])),
        }
    }
}

/// The distinct names of a batch, and the number of each row's.
#[derive(Debug, Default)]
pub(super) struct Locals {
    distinct: Vec<Box<str>>,
    known: HashMap<Box<str>, u32>,
    /// Empty while there is one name.
    rows: Vec<u32>,
    len: usize,
    last: u32,
}

impl Locals {
    fn clear(&mut self) {
        self.distinct.clear();
        self.known.clear();
        self.rows.clear();
        (self.len, self.last) = (0, 0);
    }

    #[inline]
    fn push(&mut self, name: &str) {
        if self.distinct.get(self.last as usize).is_none_or(|last| !same(last, name)) {
            self.change_to(name);
        }
        if self.distinct.len() > 1 {
            self.rows.push(self.last);
        }
        self.len += 1;
    }

    fn change_to(&mut self, name: &str) {
        self.last = self.known.get(name).copied().unwrap_or_else(|| {
            self.distinct.push(name.into());
            self.known.insert(name.into(), self.distinct.len() as u32 - 1);
            self.distinct.len() as u32 - 1
        });
        if self.distinct.len() > 1 {
            self.rows.resize(self.len, 0);
        }
    }

    /// How many distinct names there are.
    pub(super) fn len(&self) -> usize {
        self.distinct.len()
    }

    /// The numbers of the names of these rows; nothing where there is one name.
    pub(super) fn numbers(&self, rows: Range<usize>) -> Option<&[u32]> {
        self.rows.get(rows)
    }

    /// The name of that number.
    pub(super) fn name(&self, number: usize) -> &str {
        self.distinct.get(number).map_or("", |name| name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        batch.put(0, Authority::Input, &Value::Int(3)).unwrap();
        batch.put(0, Authority::Job, &Value::Int(2)).unwrap();
        assert!(batch.finish(row(b"1")));
        batch.put(0, Authority::Job, &Value::Float(2.5)).unwrap();
        batch.abandon();
        assert!(batch.finish(row(b"0")) && !batch.climbs(1));
        assert!(!batch.finish(row("é".as_bytes())) && !batch.finish(row(b"")));
        assert!(batch.put(0, Authority::Job, &Value::Int(EXACT + 1)).is_none());
        assert!(matches!(batch.columns[0].value(0), Some(Value::Int(3))) && batch.columns[0].value(1).is_none());
        batch.clear(1);
        assert!(batch.len() == 0 && batch.columns[0].value(0).is_none());
    }
    #[test]
    fn an_input_may_come_late() {
        let mut batch = Batch::default();
        batch.clear(1);
        let row = BatchRow { id: b"1", entity: "", queue: "", state: JobState::Queued, queued_at: None, line: 0 };
        (0..5 * GROWTH).for_each(|_| assert!(batch.finish(row)));
        batch.put_whole(0, Authority::Job, 7);
        assert!(batch.finish(row));
        assert!(
            matches!(batch.columns[0].value(5 * GROWTH), Some(Value::Int(7))) && batch.columns[0].value(9).is_none()
        );
    }
}
