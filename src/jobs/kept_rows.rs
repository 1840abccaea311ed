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
            *row = self.new_row(*row).unwrap_or(*row);
        }
    }
}
