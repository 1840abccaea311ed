//! The rows that a table keeps when others are removed, as runs.

use std::ops::Range;

/// The rows to keep.
pub(super) struct KeptRows<'r> {
    /// The removed rows, ascending and distinct.
    removed: &'r [usize],
    /// The runs of consecutive rows that are kept, ascending.
    runs: Vec<Range<usize>>,
    len: usize,
}

impl<'r> KeptRows<'r> {
    /// All of `len` rows but `removed`, which are ascending, distinct and less than `len`.
    pub(super) fn new(removed: &'r [usize], len: usize) -> Self {
        let mut runs = Vec::with_capacity(removed.len() + 1);
        let mut start = 0;
        // the end counts as removed, which ends the last run
        for &row in removed.iter().chain([&len]) {
            if start < row {
                runs.push(start..row);
            }
            start = row + 1;
        }
        Self {
            removed,
            runs,
            len: len - removed.len(),
        }
    }

    /// The runs of consecutive rows that are kept, ascending.
    pub(super) fn runs(&self) -> &[Range<usize>] {
        &self.runs
    }

    /// The row after the removal; `None` if it is removed.
    pub(super) fn new_row(&self, row: usize) -> Option<usize> {
        self.removed
            .binary_search(&row)
            .err()
            .map(|removed_before| row - removed_before)
    }

    /// The number of rows after the removal.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Removes the items of the removed rows. There may be fewer items than rows.
    pub(super) fn retain_in<T: Copy>(&self, items: &mut Vec<T>) {
        let mut end = 0;
        for run in &self.runs {
            // some columns end with the last row that has a value
            let run = run.start.min(items.len())..run.end.min(items.len());
            let kept = run.len();
            // the target is never behind the source, so no kept item is overwritten
            items.copy_within(run, end);
            end += kept;
        }
        items.truncate(end);
    }

    /// Removes the removed rows from an ascending list of rows, and gives the others their new
    /// numbers.
    pub(super) fn renumber<T>(&self, rows: &mut Vec<(u32, T)>) {
        rows.retain_mut(|(row, _)| {
            let new_row = self.new_row(*row as usize);
            *row = new_row.unwrap_or_default() as u32;
            new_row.is_some()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_rows_close_up() {
        for removed in [
            vec![],
            vec![0],
            vec![9],
            vec![0, 1, 2],
            vec![3, 5, 6, 9],
            (0..10).collect(),
        ] {
            let kept = KeptRows::new(&removed, 10);
            let expected: Vec<usize> = (0..10).filter(|row| !removed.contains(row)).collect();
            assert_eq!(
                kept.runs().iter().cloned().flatten().collect::<Vec<_>>(),
                expected
            );
            assert_eq!(kept.len(), expected.len());
            for len in [10, 7, 0] {
                let mut items: Vec<usize> = (0..len).collect();
                kept.retain_in(&mut items);
                assert_eq!(
                    items,
                    expected
                        .iter()
                        .copied()
                        .filter(|&row| row < len)
                        .collect::<Vec<_>>()
                );
            }
            let mut rows: Vec<(u32, ())> = (0..10).map(|row| (row, ())).collect();
            kept.renumber(&mut rows);
            assert_eq!(
                rows.iter()
                    .map(|(row, ())| *row as usize)
                    .collect::<Vec<_>>(),
                (0..expected.len()).collect::<Vec<_>>()
            );
        }
    }
}
