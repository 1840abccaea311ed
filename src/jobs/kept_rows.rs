//! The rows that a table keeps when others are removed, as runs.

use std::ops::Range;

use crate::jobs::BLOCK_ROWS;

/// The rows to keep.
pub(super) struct KeptRows<'r> {
    /// The removed rows, ascending and distinct.
    removed: &'r [usize],
    /// The runs of consecutive rows that are kept, ascending.
    runs: Vec<Range<usize>>,
    /// The same, divided where a block begins before or after the removal, and counted from the start of the block before.
    pieces: Vec<Range<usize>>,
    moves: Vec<Move>,
    len: usize,
}

/// Rows of one block of [`BLOCK_ROWS`] rows that belong to one block after the removal, too.
struct Move {
    /// The block before the removal.
    block: usize,
    pieces: Range<usize>,
}

impl<'r> KeptRows<'r> {
    /// All of `len` rows but `removed`, which are ascending, distinct and less than `len`.
    pub(super) fn new(removed: &'r [usize], len: usize) -> Self {
        let starts = std::iter::once(0).chain(removed.iter().map(|&row| row + 1));
        let ends = removed.iter().copied().chain([len]);
        let mut runs = Vec::with_capacity(removed.len() + 1);
        runs.extend(starts.zip(ends).map(|(start, end)| start..end).filter(|run| !run.is_empty()));
        let mut kept = Self { removed, runs, pieces: Vec::new(), moves: Vec::new(), len: len - removed.len() };
        kept.divide();
        kept
    }

    /// Divides the runs where a block begins before or after the removal.
    fn divide(&mut self) {
        self.pieces.reserve(self.runs.len() + 2 * (self.len / BLOCK_ROWS + 1));
        let mut new_row = 0;
        for run in &self.runs {
            let mut start = run.start;
            while start < run.end {
                let block = start / BLOCK_ROWS;
                let block_start = block * BLOCK_ROWS;
                let room = BLOCK_ROWS - new_row % BLOCK_ROWS;
                let end = run.end.min(block_start + BLOCK_ROWS).min(start + room);
                self.pieces.push(start - block_start..end - block_start);
                match self.moves.last_mut().filter(|last| last.block == block && room < BLOCK_ROWS) {
                    Some(last) => last.pieces.end += 1,
                    None => self.moves.push(Move { block, pieces: self.pieces.len() - 1..self.pieces.len() }),
                }
                new_row += end - start;
                start = end;
            }
        }
    }

    /// The rows that are kept, as blocks before the removal and runs of consecutive rows of them, counted from the start of
    /// the block: all rows that belong to one block before the removal and to one block after it.
    pub(super) fn moves(&self) -> impl Iterator<Item = (usize, &[Range<usize>])> {
        self.moves.iter().map(|of| (of.block, &self.pieces[of.pieces.clone()]))
    }

    /// The removed rows, ascending and distinct.
    pub(super) fn removed(&self) -> &'r [usize] {
        self.removed
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
        self.len
    }

    /// Removes the items of the removed rows. There may be fewer items than rows.
    pub(super) fn retain_in<T: Copy>(&self, items: &mut Vec<T>) {
        retain_runs(items, &self.runs);
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

/// Keeps the items of ascending runs, which may end beyond the last item.
pub(super) fn retain_runs<T: Copy>(items: &mut Vec<T>, runs: &[Range<usize>]) {
    let mut end = 0;
    for run in runs {
        let run = run.start.min(items.len())..run.end.min(items.len());
        let kept = run.len();
        items.copy_within(run, end);
        end += kept;
    }
    items.truncate(end);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(kept: &KeptRows<'_>) -> Vec<usize> {
        let moves = kept.moves();
        moves
            .flat_map(|(block, runs)| runs.iter().cloned().flatten().map(move |row| block * BLOCK_ROWS + row))
            .collect()
    }

    #[test]
    fn kept_rows_close_up() {
        for removed in [vec![], vec![0], vec![9], vec![0, 1, 2], vec![3, 5, 6, 9], (0..10).collect()] {
            let kept = KeptRows::new(&removed, 10);
            let expected: Vec<usize> = (0..10).filter(|row| !removed.contains(row)).collect();
            assert_eq!(rows(&kept), expected);
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

    #[test]
    fn a_move_begins_and_ends_with_the_block_before_and_after() {
        let kept = KeptRows::new(&[5], 2 * BLOCK_ROWS + 2);
        let moves: Vec<_> =
            kept.moves().map(|(block, runs)| (block, runs[0].start, runs.last().unwrap().end)).collect();
        let expected = [(0, 0, BLOCK_ROWS), (1, 0, 1), (1, 1, BLOCK_ROWS), (2, 0, 1), (2, 1, 2)];
        assert_eq!(moves, expected);
    }
}
