//! The names that the jobs of a batch have.

use std::collections::HashMap;
use std::ops::Range;

use crate::jobs::names::same;

/// The distinct names of a batch, and the number of each row's.
#[derive(Debug, Default)]
pub(in crate::jobs) struct Locals {
    distinct: Vec<Box<str>>,
    known: HashMap<Box<str>, u32>,
    /// Empty while there is one name.
    rows: Vec<u32>,
    len: usize,
    last: u32,
}

impl Locals {
    pub(super) fn clear(&mut self) {
        self.distinct.clear();
        self.known.clear();
        self.rows.clear();
        (self.len, self.last) = (0, 0);
    }

    #[inline]
    pub(super) fn push(&mut self, name: &str) {
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
    pub(in crate::jobs) fn len(&self) -> usize {
        self.distinct.len()
    }

    /// The numbers of the names of these rows; nothing where there is one name.
    pub(in crate::jobs) fn numbers(&self, rows: Range<usize>) -> Option<&[u32]> {
        self.rows.get(rows)
    }

    /// The name of that number.
    pub(in crate::jobs) fn name(&self, number: usize) -> &str {
        self.distinct.get(number).map_or("", |name| name)
    }
}
