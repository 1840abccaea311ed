//! When each job of a table was queued.

use crate::jobs::batch::UNKNOWN;
use crate::jobs::kept_rows::KeptRows;

/// The time of each row; ends with the last job whose time is known.
#[derive(Debug, Clone, Default)]
pub(super) struct QueueTimes {
    times: Vec<i64>,
    /// Whether some time is less than the one before it.
    descend: bool,
}

impl QueueTimes {
    /// Appends the times of the rows from `row` on. Those of rows before it that have none are not
    /// known.
    #[inline]
    pub(super) fn extend_from(&mut self, row: usize, times: &[i64]) {
        // from the last time on, to compare it with the first new one
        let last = self.times.len().saturating_sub(1);
        self.times.resize(row, UNKNOWN);
        self.times.extend_from_slice(times);
        // only the new times are compared: a queue may be appended to job by job
        self.descend = self.descend || !self.times[last..].is_sorted();
    }

    pub(super) fn remove_rows(&mut self, kept: &KeptRows<'_>) {
        kept.retain_in(&mut self.times);
        // a removal can only make times ascending
        self.descend = self.descend && !self.times.is_sorted();
    }

    pub(super) fn as_slice(&self) -> &[i64] {
        &self.times
    }

    /// The time of a row; [`UNKNOWN`] is the greatest.
    pub(super) fn get(&self, row: usize) -> i64 {
        self.times.get(row).copied().unwrap_or(UNKNOWN)
    }

    /// Whether no time is less than the one before it.
    pub(super) fn are_ascending(&self) -> bool {
        !self.descend
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_known_after_every_change() {
        let mut times = QueueTimes::default();
        times.extend_from(0, &[10, 20]);
        times.extend_from(2, &[20]);
        assert!(times.are_ascending());
        times.extend_from(4, &[30]);
        assert!(!times.are_ascending() && times.as_slice() == [10, 20, 20, UNKNOWN, 30]);
        times.remove_rows(&KeptRows::new(&[3], 5));
        assert!(times.are_ascending());
        times.extend_from(4, &[29]);
        assert!(!times.are_ascending() && times.get(5) == UNKNOWN);
    }
}
