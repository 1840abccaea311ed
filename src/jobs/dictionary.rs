//! A name for each row, as a dictionary of the distinct names and an index into it per row.

use std::ops::Range;
use std::sync::Arc;

use std::collections::HashMap;

use crate::jobs::kept_rows::KeptRows;

/// The least number of names of which unused ones are removed.
const MANY_NAMES: usize = 4096;

/// The names of rows. While all rows have the same name, nothing is stored per row.
#[derive(Debug, Clone, Default)]
pub(super) struct Dictionary {
    distinct: Vec<Arc<str>>,
    indices: HashMap<Arc<str>, u32>,
    /// The index of the name of each row; empty while there is one name.
    rows: Vec<u32>,
    /// The same, for columns to hold, since the last change.
    shared_rows: Option<Arc<[u32]>>,
    /// The number of rows of each name since rows were removed; empty before, when every name has a row.
    counts: Vec<u32>,
    len: usize,
    /// The index of the last name that was looked up: the next row often has the same name.
    last: u32,
}

impl Dictionary {
    /// Removes all rows and names, and keeps the buffers.
    pub(super) fn clear(&mut self) {
        self.distinct.clear();
        self.indices.clear();
        self.rows.clear();
        self.shared_rows = None;
        self.counts.clear();
        (self.len, self.last) = (0, 0);
    }

    /// Removes rows; and names too if most of them are those of removed rows. Returns whether the names keep their indices.
    pub(super) fn remove_rows(&mut self, kept: &KeptRows<'_>) -> bool {
        self.count_removed(kept);
        kept.retain_in(&mut self.rows);
        self.shared_rows = None;
        self.len = kept.len();
        let keeps_names = self.distinct.len() <= MANY_NAMES.max(2 * self.len);
        if !keeps_names {
            let old = std::mem::take(self);
            (0..old.len).for_each(|row| self.push(old.at(row)));
        }
        keeps_names
    }

    /// Counts the rows of each name without the rows to be removed.
    fn count_removed(&mut self, kept: &KeptRows<'_>) {
        if self.counts.is_empty() {
            let mut counts = vec![0; self.distinct.len()];
            (0..self.len).for_each(|row| counts[self.index(row)] += 1);
            self.counts = counts;
        }
        for &row in kept.removed() {
            let index = self.index(row);
            self.counts[index] -= 1;
        }
    }

    /// Counts a row of a name, if they are counted.
    #[inline]
    fn count(&mut self, index: u32) {
        if !self.counts.is_empty() {
            self.counts.resize(self.distinct.len(), 0);
            self.counts[index as usize] += 1;
        }
    }

    #[inline]
    pub(super) fn push(&mut self, name: &str) {
        let index = self.index_or_insert(name);
        self.count(index);
        if self.distinct.len() > 1 {
            self.rows.resize(self.len, 0);
            self.rows.push(index);
            self.shared_rows = None;
        }
        self.len += 1;
    }

    #[inline]
    fn index_or_insert(&mut self, name: &str) -> u32 {
        if self.distinct.get(self.last as usize).is_none_or(|last| !is_same_name(last, name)) {
            self.last = self.find_or_insert(name);
        }
        self.last
    }

    fn find_or_insert(&mut self, name: &str) -> u32 {
        if let Some(&index) = self.indices.get(name) {
            return index;
        }
        let index = self.distinct.len() as u32;
        let name: Arc<str> = name.into();
        self.distinct.push(name.clone());
        self.indices.insert(name, index);
        index
    }

    /// Appends rows of another dictionary. `known` caches the index in this dictionary of each name of the other one.
    pub(super) fn append(&mut self, other: &Self, rows: Range<usize>, known: &mut [Option<u32>]) {
        let indices: Vec<u32> = match other.rows.get(rows.clone()) {
            _ if rows.is_empty() => return,
            Some(indices) => indices.iter().map(|&index| self.translated(index, other, known)).collect(),
            None => vec![self.translated(0, other, known); rows.len()],
        };
        if !self.counts.is_empty() {
            indices.iter().for_each(|&index| self.count(index));
        }
        if self.distinct.len() > 1 {
            self.rows.resize(self.len, 0);
            self.rows.extend(indices);
            self.shared_rows = None;
        }
        self.len += rows.len();
    }

    /// The index in this dictionary of a name of another one.
    #[inline]
    fn translated(&mut self, index: u32, other: &Self, known: &mut [Option<u32>]) -> u32 {
        match &mut known[index as usize] {
            Some(known) => *known,
            unknown => *unknown.insert(self.index_or_insert(&other.distinct[index as usize])),
        }
    }

    /// The index of the name of each row; empty if all rows have the first name.
    pub(super) fn indices(&self) -> &[u32] {
        &self.rows
    }

    /// The [indices](Self::indices), for a column to hold.
    pub(super) fn shared_indices(&mut self) -> Arc<[u32]> {
        self.shared_rows.get_or_insert_with(|| self.rows.as_slice().into()).clone()
    }

    /// The index of the name of a row.
    pub(super) fn index(&self, row: usize) -> usize {
        self.rows.get(row).map_or(0, |&index| index as usize)
    }

    /// The name of a row; `""` if there is no such row.
    pub(super) fn at(&self, row: usize) -> &str {
        if row >= self.len {
            return "";
        }
        self.distinct.get(self.index(row)).map_or("", |name| name)
    }

    /// The distinct names. Those of removed rows stay until they are many.
    pub(super) fn distinct(&self) -> &[Arc<str>] {
        &self.distinct
    }

    /// Whether a row has the name of this index.
    pub(super) fn is_used(&self, index: usize) -> bool {
        self.counts.is_empty() || self.counts.get(index).is_some_and(|&count| count > 0)
    }
}

/// Whether two names are equal. Many jobs have no entity or no queue, and some C libraries compare empty slices slowly:
/// they load from the dangling address of an empty slice under a mask.
#[inline]
pub fn is_same_name(left: &str, right: &str) -> bool {
    left.len() == right.len() && (left.is_empty() || left == right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_takes_no_space_per_row() {
        let mut names = Dictionary::default();
        (0..3).for_each(|_| names.push("workq"));
        assert!(names.rows.is_empty());
        assert_eq!((names.at(2), names.at(3)), ("workq", ""));
        names.push("");
        names.push("workq");
        let rows: Vec<_> = (0..6).map(|row| (names.at(row), names.index(row))).collect();
        assert_eq!(rows, [("workq", 0), ("workq", 0), ("workq", 0), ("", 1), ("workq", 0), ("", 0)]);
        assert_eq!(names.distinct().len(), 2);
    }

    #[test]
    fn appended_rows_keep_their_names() {
        let mut all = Dictionary::default();
        let mut expected = Vec::new();
        for names in [vec!["a", "a"], vec!["a"], vec!["b", "a", "b"], vec!["c", "c"], vec![]] {
            let mut batch = Dictionary::default();
            names.iter().for_each(|name| batch.push(name));
            let mut known = vec![None; batch.distinct().len()];
            for row in 0..names.len() {
                all.append(&batch, row..row + 1, &mut known);
            }
            expected.extend(names);
        }
        let rows: Vec<_> = (0..expected.len()).map(|row| all.at(row)).collect();
        assert_eq!((rows, all.distinct().len()), (expected, 3));
    }
}
