//! The rows that a table keeps when others are removed.

/// The rows to keep.
pub(super) struct KeptRows {
    /// The row of each old row after the removal; `None` if it is removed.
    new_rows: Vec<Option<u32>>,
}

impl KeptRows {
    /// All of `len` rows but `removed`.
    pub(super) fn new(removed: &[usize], len: usize) -> Self {
        let mut is_kept = vec![true; len];
        for &row in removed {
            is_kept[row] = false;
        }
        let mut new_rows = Vec::with_capacity(len);
        let mut kept = 0;
        for is_kept in is_kept {
            new_rows.push(is_kept.then_some(kept));
            kept += u32::from(is_kept);
        }
        Self { new_rows }
    }

    /// The row after the removal; `None` if it is removed.
    pub(super) fn new_row(&self, row: u32) -> Option<u32> {
        self.new_rows[row as usize]
    }

    /// Removes the items of the removed rows. There may be fewer items than rows.
    pub(super) fn retain_in<T>(&self, items: &mut Vec<T>) {
        let mut new_rows = self.new_rows.iter();
        items.retain(|_| matches!(new_rows.next(), Some(Some(_))));
    }

    /// Removes the removed rows from a list of rows, and gives the others their new numbers.
    pub(super) fn renumber<T>(&self, rows: &mut Vec<(u32, T)>) {
        rows.retain(|(row, _)| self.new_row(*row).is_some());
        for (row, _) in rows {
            // all rows that are left have a new number
            *row = self.new_row(*row).unwrap_or(*row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_rows_close_up() {
        let removed_rows: [&[usize]; 5] = [&[0], &[9], &[2, 1, 0], &[3, 5, 6, 9], &[4, 4]];
        for removed in removed_rows {
            let kept = KeptRows::new(removed, 10);
            for len in [10, 7, 0] {
                let mut items: Vec<usize> = (0..len).collect();
                let mut expected = items.clone();
                expected.retain(|row| !removed.contains(row));
                kept.retain_in(&mut items);
                assert_eq!(items, expected, "{removed:?}");
            }
            let mut rows: Vec<(u32, u32)> = (0..10).map(|row| (row, row)).collect();
            kept.renumber(&mut rows);
            for (new_row, (renumbered, row)) in (0..).zip(rows) {
                assert_eq!((renumbered, kept.new_row(row)), (new_row, Some(new_row)));
            }
        }
    }
}
