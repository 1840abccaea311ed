//! The rows that a table keeps when others are removed, as runs.

use std::ops::Range;

/// The rows to keep.
pub(super) struct KeptRows<'r> {
    /// The removed rows, ascending and distinct.
    removed: &'r [usize],
    /// The number of rows before the removal.
    len: usize,
}

impl<'r> KeptRows<'r> {
    /// All of `len` rows but `removed`, which are ascending, distinct and less than `len`.
    pub(super) fn new(removed: &'r [usize], len: usize) -> Self {
        Self { removed, len }
    }

    /// The runs of consecutive rows that are kept, ascending.
    pub(super) fn runs(&self) -> impl Iterator<Item = Range<usize>> {
        let starts = std::iter::once(0).chain(self.removed.iter().map(|&row| row + 1));
        let ends = self.removed.iter().copied().chain([self.len]);
        starts.zip(ends).map(|(start, end)| start..end).filter(|run| !run.is_empty())
    }

    /// The runs, divided where a block of so many rows ends.
    pub(super) fn runs_in_blocks(&self, block_rows: usize) -> impl Iterator<Item = Range<usize>> {
        self.runs().flat_map(move |run| {
            let blocks = run.start / block_rows..run.end.div_ceil(block_rows);
            blocks.map(move |block| run.start.max(block * block_rows)..run.end.min((block + 1) * block_rows))
        })
    }

    /// The row after the removal; `None` if it is removed.
    pub(super) fn new_row(&self, row: usize) -> Option<usize> {
        match self.removed.binary_search(&row) {
            Ok(_) => None,
            Err(before) => Some(row - before),
        }
    }

    /// The number of removed rows before `row`.
    pub(super) fn removed_before(&self, row: usize) -> usize {
        self.removed.partition_point(|&removed| removed < row)
    }

    /// The number of rows after the removal.
    pub(super) fn len(&self) -> usize {
        self.len - self.removed.len()
    }

    /// Removes the items of the removed rows. There may be fewer items than rows.
    pub(super) fn retain_in<T: Copy>(&self, items: &mut Vec<T>) {
        let mut end = 0;
        for run in self.runs() {
            let run = run.start.min(items.len())..run.end.min(items.len());
            let kept = run.len();
            items.copy_within(run, end);
            end += kept;
        }
        items.truncate(end);
    }

    /// Removes the removed rows from an ascending list of rows, and gives the others their new numbers.
    pub(super) fn renumber<T>(&self, rows: &mut Vec<(u32, T)>) {
        rows.retain_mut(|(row, _)| match self.new_row(*row as usize) {
            Some(new_row) => {
                *row = new_row as u32;
                true
            }
            None => false,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_rows_close_up() {
        for removed in [vec![], vec![0], vec![9], vec![0, 1, 2], vec![3, 5, 6, 9], (0..10).collect()] {
            let kept = KeptRows::new(&removed, 10);
            let expected: Vec<usize> = (0..10).filter(|row| !removed.contains(row)).collect();
            assert_eq!(kept.runs().flatten().collect::<Vec<_>>(), expected);
            assert_eq!(kept.runs_in_blocks(4).flatten().collect::<Vec<_>>(), expected);
            assert!(kept.runs_in_blocks(4).all(|run| run.start / 4 == (run.end - 1) / 4));
            assert_eq!(kept.len(), expected.len());
            for len in [10, 7, 0] {
                let mut items: Vec<usize> = (0..len).collect();
                kept.retain_in(&mut items);
                assert_eq!(items, expected.iter().copied().filter(|&row| row < len).collect::<Vec<_>>());
            }
            let mut rows: Vec<(u32, ())> = (0..10).map(|row| (row, ())).collect();
            kept.renumber(&mut rows);
            assert_eq!(
                rows.iter().map(|(row, ())| *row as usize).collect::<Vec<_>>(),
                (0..expected.len()).collect::<Vec<_>>()
            );
        }
    }
}
