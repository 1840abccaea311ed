//! A name for each row, as a dictionary of the distinct names and an index into it per row.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::jobs::kept_rows::KeptRows;

/// The least number of names of which unused ones are removed.
const MANY_NAMES: usize = 4096;

/// The names of rows.
#[derive(Debug, Clone, Default)]
pub(super) struct Dictionary {
    distinct: Vec<Arc<str>>,
    indices: HashMap<Arc<str>, u32>,
    /// The index of the name of each row.
    rows: Vec<u32>,
    /// The index of the last name that was looked up: the next row often has the same name.
    last: u32,
}

impl Dictionary {
    /// Removes all rows and names, and keeps the buffers.
    pub(super) fn clear(&mut self) {
        self.distinct.clear();
        self.indices.clear();
        self.rows.clear();
        self.last = 0;
    }

    /// Removes rows; and names too if most of them are those of removed rows.
    pub(super) fn remove_rows(&mut self, kept: &KeptRows) {
        kept.retain_in(&mut self.rows);
        if self.distinct.len() > MANY_NAMES.max(2 * self.rows.len()) {
            // names are numbered by their first rows, so the rows are entered again
            let old = std::mem::take(self);
            for row in 0..old.rows.len() {
                self.push(old.at(row));
            }
        }
    }

    #[inline]
    pub(super) fn push(&mut self, name: &str) {
        let index = self.index_or_insert(name);
        self.rows.push(index);
    }

    #[inline]
    fn index_or_insert(&mut self, name: &str) -> u32 {
        match self.distinct.get(self.last as usize) {
            Some(last) if is_same_name(last, name) => {}
            _ => self.last = self.find_or_insert(name),
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

    /// Appends rows of another dictionary. `known` caches the index in this dictionary of each name
    /// of the other one.
    pub(super) fn append(&mut self, other: &Self, rows: Range<usize>, known: &mut [Option<u32>]) {
        for row in rows {
            let index = other.index(row);
            // one look-up for each name, not for each row
            let translated = match known[index] {
                Some(translated) => translated,
                None => *known[index].insert(self.index_or_insert(&other.distinct[index])),
            };
            self.rows.push(translated);
        }
    }

    /// The index of the name of a row.
    pub(super) fn index(&self, row: usize) -> usize {
        self.rows.get(row).copied().unwrap_or_default() as usize
    }

    /// The name of a row; `""` if there is no such row.
    pub(super) fn at(&self, row: usize) -> &str {
        match self.rows.get(row) {
            Some(&index) => &self.distinct[index as usize],
            None => "",
        }
    }

    /// The distinct names. Those of removed rows stay until they are many.
    pub(super) fn distinct(&self) -> &[Arc<str>] {
        &self.distinct
    }

    /// Whether each distinct name is that of a row.
    pub(super) fn are_used(&self) -> Vec<bool> {
        let mut are_used = vec![false; self.distinct.len()];
        for &index in &self.rows {
            are_used[index as usize] = true;
        }
        are_used
    }
}

/// Whether two names are equal. Many jobs have no entity or no queue, and some C libraries compare
/// empty slices slowly: they load from the dangling address of an empty slice under a mask.
#[inline]
fn is_same_name(left: &str, right: &str) -> bool {
    left.len() == right.len() && (left.is_empty() || left == right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_has_the_index_of_its_name() {
        let mut names = Dictionary::default();
        (0..3).for_each(|_| names.push("workq"));
        assert_eq!((names.at(2), names.at(3)), ("workq", ""));
        names.push("");
        names.push("workq");
        let rows: Vec<_> = (0..6)
            .map(|row| (names.at(row), names.index(row)))
            .collect();
        assert_eq!(
            rows,
            [
                ("workq", 0),
                ("workq", 0),
                ("workq", 0),
                ("", 1),
                ("workq", 0),
                ("", 0)
            ]
        );
        assert_eq!(names.distinct().len(), 2);
    }

    #[test]
    fn appended_rows_keep_their_names() {
        let mut all = Dictionary::default();
        let mut expected = Vec::new();
        for names in [
            vec!["a", "a"],
            vec!["a"],
            vec!["b", "a", "b"],
            vec!["c", "c"],
            vec![],
        ] {
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
