//! One input of the jobs of a batch.

use std::ops::Range;

use crate::jobs::Column;
use crate::python::Value;

/// By how many rows a column grows.
const GROWTH: usize = 1024;

/// The mark of an integer.
pub(super) const WHOLE: u8 = 1;
/// The mark of one that is small.
const SMALL: u8 = 0x80;

/// Numbers, and a mark on each. Beyond the last row there are defaults.
#[derive(Debug, Default)]
pub(in crate::jobs) struct Lanes {
    /// The numbers that are small integers.
    small: Vec<u32>,
    /// The others; without rows as long as there is none.
    wide: Vec<f64>,
    /// 0 for the default, else twice the [`InputPrecedence`](crate::jobs::batch::InputPrecedence), plus [`WHOLE`] and [`SMALL`].
    marks: Vec<u8>,
}

impl Lanes {
    /// Drops all rows and keeps the room.
    pub(super) fn clear(&mut self) {
        self.marks.fill(0);
    }

    /// Whose word the number of a row is; 0 for none.
    #[inline]
    pub(super) fn authority(&self, row: usize) -> u8 {
        self.marks.get(row).map_or(0, |mark| (mark & !SMALL) >> 1)
    }

    /// Sets a row to a small integer.
    #[inline(always)]
    pub(super) fn put_small(&mut self, row: usize, whole: u32, mark: u8) {
        if row >= self.marks.len() {
            self.grow(row);
        }
        self.marks[row] = mark | WHOLE | SMALL;
        self.small[row] = whole;
    }

    /// Sets a row to any number.
    pub(super) fn put(&mut self, row: usize, number: f64, mark: u8) {
        if row >= self.marks.len() {
            self.grow(row);
        }
        if row >= self.wide.len() {
            self.wide.resize(self.marks.len(), 0.0);
        }
        self.marks[row] = mark;
        self.wide[row] = number;
    }

    /// Leaves a row without a number.
    pub(super) fn forget(&mut self, row: usize) {
        if let Some(mark) = self.marks.get_mut(row) {
            *mark = 0;
        }
    }

    /// Makes room for a row, and for more behind it.
    #[cold]
    fn grow(&mut self, row: usize) {
        self.small.resize(row + GROWTH, 0);
        self.marks.resize(row + GROWTH, 0);
    }

    /// Appends rows to a column: at once, if all of them have a value and the values one type, or none has one.
    pub(in crate::jobs) fn append_to(&self, column: &mut Column, rows: Range<usize>, default: &Value) {
        let marks = self.marks.get(rows.start..).unwrap_or_default();
        let marks = marks.get(..rows.len()).unwrap_or(marks);
        // Without an early end, many marks are looked at together.
        let look = |(any, all, least): (u8, u8, u8), &mark: &u8| (any | mark, all & mark, least.min(mark));
        let (any, all, least) = marks.iter().fold((0, u8::MAX, u8::MAX), look);
        let is_set = least > 0 && marks.len() == rows.len();
        match () {
            () if any == 0 => column.extend_default(default, rows.len()),
            () if is_set && all & SMALL > 0 => column.extend_small(&self.small[rows]),
            () if is_set && any & SMALL == 0 && (any ^ all) & WHOLE == 0 => {
                column.extend_lanes(&self.wide[rows], all & WHOLE > 0);
            }
            () if is_set && all & WHOLE > 0 => {
                let lanes: Vec<_> = rows.map(|row| self.lane(row)).collect();
                column.extend_lanes(&lanes, true);
            }
            () => rows.for_each(|row| match self.value(row) {
                Some(value) => column.push(value),
                None => column.push_default(default.clone()),
            }),
        }
    }

    /// The value of a row, if the job has one.
    #[inline]
    pub(in crate::jobs) fn value(&self, row: usize) -> Option<Value> {
        match self.marks.get(row) {
            None | Some(0) => None,
            Some(mark) if mark & WHOLE > 0 => Some(Value::Int(self.lane(row) as i64)),
            Some(_) => Some(Value::Float(self.lane(row))),
        }
    }

    fn lane(&self, row: usize) -> f64 {
        if self.marks[row] & SMALL > 0 { self.small[row].into() } else { self.wide[row] }
    }
}
