//! When jobs were submitted.

use crate::jobs::batch::UNKNOWN;
use crate::jobs::table::JobTable;

impl JobTable {
    pub(super) fn queue_at(&mut self, row: usize, time: i64) {
        if time != UNKNOWN {
            self.queued_at.resize(row, UNKNOWN);
            self.queued_at.push(time);
        }
    }

    /// What decides between jobs of equal value: the time of queueing where it is known, then the place in the
    /// document. Smaller comes first.
    pub fn submit_order(&self, row: usize) -> (i64, usize) {
        (self.queued_at.get(row).copied().unwrap_or(UNKNOWN), row)
    }

    /// Whether the jobs stand in the order of their [submission](JobTable::submit_order).
    pub fn is_in_submit_order(&self) -> bool {
        self.queued_at.is_sorted()
    }

    /// Puts rows into the order of their [submission](JobTable::submit_order).
    pub fn sort_by_submit_order(&self, rows: &mut [usize]) {
        if self.queued_at.is_empty() { rows.sort_unstable() } else { rows.sort_by_key(|&row| self.submit_order(row)) }
    }
}
