//! The ids of jobs, concatenated, and the look-up of an id's row.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;

use crate::jobs::kept_rows::KeptRows;

/// A growing list of distinct ids.
///
/// While every id is greater than the previous one ([`compare`]), which is the order in which a
/// server assigns them, an id is found by binary search. [`push`](Ids::push) builds a hash index at
/// the first id that is out of order or repeated.
#[derive(Debug, Clone, Default)]
pub(super) struct Ids {
    text: String,
    /// Where each id ends in the text.
    ends: Vec<usize>,
    index: Option<HashMap<Box<str>, u32>>,
}

impl Ids {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The id of a row; `None` beyond the last row.
    pub(super) fn id_at(&self, row: usize) -> Option<&str> {
        self.text.get(self.range(row)?)
    }

    /// The place of an id in the text.
    fn range(&self, row: usize) -> Option<Range<usize>> {
        Some(self.start(row)..*self.ends.get(row)?)
    }

    /// Where the id of a row starts in the text.
    fn start(&self, row: usize) -> usize {
        if row == 0 { 0 } else { self.ends[row - 1] }
    }

    /// The row of an id; `None` if the list does not contain it.
    pub(super) fn row_of(&self, id: &str) -> Option<usize> {
        match &self.index {
            Some(index) => Some(*index.get(id)? as usize),
            None => self.binary_search(id),
        }
    }

    fn binary_search(&self, id: &str) -> Option<usize> {
        let mut rows = 0..self.len();
        while !rows.is_empty() {
            let middle = rows.start + rows.len() / 2;
            match compare(self.id_at(middle)?, id) {
                Ordering::Less => rows.start = middle + 1,
                Ordering::Equal => return Some(middle),
                Ordering::Greater => rows.end = middle,
            }
        }
        None
    }

    /// Appends an id unless the list contains it; returns whether it was appended.
    pub(super) fn push(&mut self, id: &str) -> bool {
        if self.index.is_none() && self.is_next(id) {
            self.append(id);
            return true;
        }
        // taken out, because `append` borrows the whole list
        let mut index = self.index.take().unwrap_or_else(|| self.indexed());
        let row = self.len() as u32;
        // a known id keeps its earlier row
        let is_new = *index.entry(id.into()).or_insert(row) == row;
        if is_new {
            self.append(id);
        }
        self.index = Some(index);
        is_new
    }

    /// Whether the ids stay in order if this one follows.
    fn is_next(&self, id: &str) -> bool {
        match self.len() {
            0 => true,
            len => compare(self.id_at(len - 1).unwrap_or_default(), id).is_lt(),
        }
    }

    /// The rows by their ids.
    fn indexed(&self) -> HashMap<Box<str>, u32> {
        let mut index = HashMap::with_capacity(self.len() + 1);
        for row in 0..self.len() {
            index.insert(self.id_at(row).unwrap_or_default().into(), row as u32);
        }
        index
    }

    /// Appends an id that the list does not contain, without entering it in the index.
    fn append(&mut self, id: &str) {
        self.text.push_str(id);
        self.ends.push(self.text.len());
    }

    /// Removes rows.
    pub(super) fn remove_rows(&mut self, kept: &KeptRows) {
        let old = std::mem::take(self);
        self.text.reserve(old.text.len());
        self.ends.reserve(old.len());
        for row in 0..old.len() {
            if kept.new_row(row as u32).is_some() {
                self.append(old.id_at(row).unwrap_or_default());
            }
        }
        if let Some(mut index) = old.index {
            index.retain(|_, row| match kept.new_row(*row) {
                Some(new_row) => {
                    *row = new_row;
                    true
                }
                None => false,
            });
            self.index = Some(index);
        }
    }

    /// The rows whose id contains a `[`: arrays and subjobs.
    pub(super) fn bracketed(&self) -> Vec<usize> {
        let mut rows = Vec::new();
        // one search of all ids spares one in each of them
        if self.text.contains('[') {
            for row in 0..self.len() {
                if self.id_at(row).unwrap_or_default().contains('[') {
                    rows.push(row);
                }
            }
        }
        rows
    }
}

/// Compares ids by the number at their start, then byte by byte. Only identical ids are equal.
fn compare(left: &str, right: &str) -> Ordering {
    let left_number = leading_number(left);
    let right_number = leading_number(right);
    // without leading zeros the longer number is the greater; it may exceed any integer
    let by_number = left_number
        .len()
        .cmp(&right_number.len())
        .then_with(|| left_number.cmp(right_number));
    // `07` and `7` are equal as numbers, but are two ids
    by_number.then_with(|| left.cmp(right))
}

/// The digits at the start, without leading zeros.
fn leading_number(id: &str) -> &str {
    let digits = id.trim_start_matches('0');
    let rest = digits.trim_start_matches(|character: char| character.is_ascii_digit());
    &digits[..digits.len() - rest.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_compared_by_number_first() {
        for pair in [
            ["9.vm", "10.vm"],
            ["1.vm", "01.vm2"],
            ["1.a", "1.b"],
            ["7", "7.vm"],
            ["", "1"],
            ["0", "00"],
            ["1234567.vm", "1234568.vm"],
            ["1234567.vm", "1234567.vn"],
            ["12345678.a", "12345679.a"],
            ["1.vm.xyzw", "01.vm.xyz"],
            ["[]abcdefg", "[]abcdefh"],
            ["99999.xyz", "100000.xyz"],
        ] {
            assert_ne!(compare(pair[0], pair[1]), Ordering::Equal);
            assert_eq!(
                compare(pair[0], pair[1]),
                compare(pair[1], pair[0]).reverse(),
                "{pair:?}"
            );
        }
        assert_eq!(compare("9.vm", "10.vm"), Ordering::Less);
        assert_eq!(
            compare("18446744073709551616", "18446744073709551617"),
            Ordering::Less
        );
    }

    #[test]
    fn every_id_is_found_by_binary_search_and_by_index() {
        let mut ids = Ids::default();
        for number in 0..10_000 {
            assert!(ids.push(&format!("{number}.vm")));
        }
        assert!(
            ids.index.is_none() && ids.row_of("77.vm") == Some(77) && ids.row_of("77").is_none()
        );
        assert!(!ids.push("5000.vm") && ids.push("3[].vm") && !ids.push("3[].vm"));
        assert!(ids.index.is_some());
        assert_eq!(
            (ids.row_of("9999.vm"), ids.row_of("3[].vm"), ids.len()),
            (Some(9999), Some(10_000), 10_001)
        );
        assert_eq!(ids.bracketed(), [10_000]);
        assert_eq!(
            (ids.id_at(4095), ids.id_at(4096), ids.id_at(10_001)),
            (Some("4095.vm"), Some("4096.vm"), None)
        );
    }
}
