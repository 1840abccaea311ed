//! One item for each row of a table.

use std::ops::Range;

use crate::jobs::kept_rows::KeptRows;

/// An item of which every bit counts.
pub(super) trait Item: Copy {
    fn is_same(self, other: Self) -> bool;
}

impl Item for f64 {
    fn is_same(self, other: Self) -> bool {
        self.to_bits() == other.to_bits()
    }
}

impl Item for bool {
    fn is_same(self, other: Self) -> bool {
        self == other
    }
}

impl Item for u32 {
    fn is_same(self, other: Self) -> bool {
        self == other
    }
}

/// One item for each row. While all are the same, only one is stored: of the inputs that a formula
/// reads, many are set by no job.
#[derive(Debug, Clone)]
pub(super) struct Rows<T> {
    /// One item, or one for each row.
    items: Vec<T>,
    len: usize,
}

impl<T> Default for Rows<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            len: 0,
        }
    }
}

impl<T: Item> From<Vec<T>> for Rows<T> {
    fn from(mut items: Vec<T>) -> Self {
        let len = items.len();
        if let Some(&first) = items.first()
            && items.iter().all(|item| item.is_same(first))
        {
            items.truncate(1);
        }
        Self { items, len }
    }
}

impl<T: Item> Rows<T> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The item of all rows, if only one is stored.
    pub(super) fn same(&self) -> Option<T> {
        if self.items.len() == 1 {
            self.items.first().copied()
        } else {
            None
        }
    }

    /// The item of a row; `None` if there is no such row.
    #[inline]
    pub(super) fn get(&self, row: usize) -> Option<T> {
        if row >= self.len {
            return None;
        }
        // a row beyond the only item has that item
        self.items.get(row).or(self.items.first()).copied()
    }

    /// The items of some rows, if one is stored for each.
    pub(super) fn slice(&self, rows: Range<usize>) -> Option<&[T]> {
        if self.same().is_some() {
            None
        } else {
            self.items.get(rows)
        }
    }

    pub(super) fn into_items(self) -> Vec<T> {
        self.items
    }

    #[inline]
    pub(super) fn push(&mut self, item: T) {
        self.push_repeated(item, 1);
    }

    /// Appends the same item `count` times.
    #[inline]
    pub(super) fn push_repeated(&mut self, item: T, count: usize) {
        if count == 0 {
            return;
        }
        // a single item stands for all rows until one differs
        if self.items.is_empty() {
            self.items.push(item);
        } else if !self.stays_same(item) {
            self.store_each();
            self.items.resize(self.len + count, item);
        }
        self.len += count;
    }

    pub(super) fn extend(&mut self, items: &[T]) {
        let Some(&first) = items.first() else { return };
        if self.stays_same(first) && items.iter().all(|item| item.is_same(first)) {
            return self.push_repeated(first, items.len());
        }
        self.store_each();
        self.items.extend_from_slice(items);
        self.len += items.len();
    }

    pub(super) fn append(&mut self, other: &Self) {
        match other.same() {
            Some(item) => self.push_repeated(item, other.len),
            None => self.extend(&other.items),
        }
    }

    /// Changes the item of a row, which exists.
    pub(super) fn set(&mut self, row: usize, item: T) {
        // an equal item does not make the rows be stored one by one
        if self.get(row).is_some_and(|old| !old.is_same(item)) {
            self.store_each();
            self.items[row] = item;
        }
    }

    pub(super) fn remove_rows(&mut self, kept: &KeptRows<'_>) {
        if self.same().is_none() {
            kept.retain_in(&mut self.items);
        }
        self.len = kept.len();
        // a single item stays only if a row is left
        self.items.truncate(self.len);
    }

    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.len = 0;
    }

    /// Whether one item is enough for all rows with this one.
    fn stays_same(&self, item: T) -> bool {
        self.items.len() < 2 && self.items.first().is_none_or(|first| first.is_same(item))
    }

    fn store_each(&mut self) {
        if let Some(item) = self.same() {
            self.items.resize(self.len, item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(rows: &Rows<u32>) -> Vec<u32> {
        (0..rows.len()).filter_map(|row| rows.get(row)).collect()
    }

    #[test]
    fn rows_contain_what_was_appended() {
        for appended in [
            vec![],
            vec![7],
            vec![7, 7, 7],
            vec![7, 8],
            vec![7, 7, 8, 7],
            vec![1, 2, 2, 2],
        ] {
            for split in 0..=appended.len() {
                let (one_by_one, together) = appended.split_at(split);
                let mut rows = Rows::default();
                one_by_one.iter().for_each(|&item| rows.push(item));
                rows.extend(together);
                assert_eq!(items(&rows), appended);
                let mut twice = rows.clone();
                twice.append(&rows);
                twice.push_repeated(7, 0);
                assert_eq!(items(&twice), appended.repeat(2));
                let removed: Vec<usize> = (0..appended.len()).step_by(2).collect();
                rows.remove_rows(&KeptRows::new(&removed, appended.len()));
                let kept: Vec<u32> = appended.iter().copied().skip(1).step_by(2).collect();
                assert_eq!(items(&rows), kept);
                rows.push(7);
                rows.set(0, 9);
                assert_eq!(
                    (rows.len(), rows.get(0), rows.get(kept.len() + 1)),
                    (kept.len() + 1, Some(9), None)
                );
            }
        }
    }

    #[test]
    fn equal_items_are_stored_once_and_zeros_of_two_signs_are_not_equal() {
        let mut rows = Rows::default();
        rows.push_repeated(0.0, 5);
        rows.extend(&[0.0; 3]);
        assert_eq!((rows.same(), rows.slice(0..2)), (Some(0.0), None));
        rows.push(-0.0);
        assert!(rows.same().is_none() && rows.get(8).is_some_and(f64::is_sign_negative));
    }
}
