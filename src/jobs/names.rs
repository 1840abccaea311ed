//! A name per row, each distinct name held once.

use std::collections::HashMap;
use std::sync::Arc;

use crate::ahead::ahead;

/// The names of rows. While all rows have the same name nothing is held per row.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    distinct: Vec<Arc<str>>,
    known: HashMap<Arc<str>, u32>,
    /// The number of each row's name; empty while there is one name.
    rows: Vec<u32>,
    len: usize,
}

impl Names {
    pub(super) fn push(&mut self, name: &str) {
        let number = self.number(name);
        self.push_numbers(std::iter::once(number));
    }

    /// The number of a name, a new one if the name is new.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        if let Some(last) = self.rows.last().or_else(|| (self.len > 0).then_some(&0))
            && self.distinct.get(*last as usize).is_some_and(|known| same(known, name))
        {
            return *last;
        }
        self.known.get(name).copied().unwrap_or_else(|| {
            let number = self.distinct.len() as u32;
            let name: Arc<str> = name.into();
            self.distinct.push(name.clone());
            self.known.insert(name, number);
            number
        })
    }

    /// Gives the next rows their names by number.
    pub(super) fn push_numbers(&mut self, numbers: impl ExactSizeIterator<Item = u32>) {
        let count = numbers.len();
        if self.distinct.len() > 1 {
            self.rows.resize(self.len, 0);
            self.rows.extend(numbers);
        }
        self.len += count;
    }

    pub(super) fn index(&self, row: usize) -> usize {
        self.rows.get(row).map_or(0, |&index| index as usize)
    }

    /// Asks for the name of a row that will be needed soon.
    #[inline]
    pub(super) fn ahead(&self, row: usize) {
        self.rows.get(row).into_iter().for_each(ahead);
    }

    pub(super) fn at(&self, row: usize) -> &str {
        if row >= self.len {
            return "";
        }
        self.distinct.get(self.index(row)).map_or("", |name| name)
    }

    pub(super) fn distinct(&self) -> &[Arc<str>] {
        &self.distinct
    }
}

/// Whether two names are the same. Many jobs have no entity or no queue, and to compare nothing with nothing is slow
/// where the C library does it with masked loads from an address that is none.
#[inline]
pub(crate) fn same(left: &str, right: &str) -> bool {
    left.len() == right.len() && (left.is_empty() || left == right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_takes_no_room_per_row() {
        let mut names = Names::default();
        (0..3).for_each(|_| names.push("workq"));
        assert!(names.rows.is_empty());
        assert_eq!((names.at(2), names.at(3)), ("workq", ""));
        names.push("");
        names.push("workq");
        let rows: Vec<_> = (0..6).map(|row| (names.at(row), names.index(row))).collect();
        assert_eq!(rows, [("workq", 0), ("workq", 0), ("workq", 0), ("", 1), ("workq", 0), ("", 0)]);
        assert_eq!(names.distinct().len(), 2);
    }
}
