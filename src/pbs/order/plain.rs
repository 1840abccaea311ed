//! The order of most queues: nothing decides but the value, and then the place in the table.

use crate::jobs::JobTable;
use crate::pbs::order::{Order, PassedOver, in_evaluation};
use crate::rank::{Scores, by_value};

/// The rows in their order, and those that are passed over.
type Plain = (Vec<usize>, Vec<(usize, PassedOver)>);

impl Order<'_> {
    /// The order, where these rules make a plain one of these jobs.
    pub(super) fn plain(&self, scores: &Scores, table: &JobTable) -> Option<Plain> {
        if !self.is_plain(table) {
            return None;
        }
        let kept = scores.kept();
        let waits = |&row: &usize| table.is_considered(row) && scores.has(row);
        // a job whose error the caller puts behind all values is not held against the threshold
        let is_behind = |row: usize| kept[row] == f64::NEG_INFINITY && scores.error(row).is_some();
        let is_under = |row: usize| kept[row] <= self.threshold && !is_behind(row);
        let (under, rows): (Vec<_>, Vec<_>) = (0..table.len()).filter(waits).partition(|&row| is_under(row));
        if rows.iter().any(|&row| kept[row].is_nan()) {
            return None;
        }
        let order = by_value(rows, &kept, self.most);
        let reason = |row: usize| PassedOver::UnderThreshold { value: kept[row], threshold: self.threshold };
        let passed_over =
            in_evaluation(&self.queue_groups(table), under, table).into_iter().map(|row| (row, reason(row))).collect();
        Some((order, passed_over))
    }

    fn is_plain(&self, table: &JobTable) -> bool {
        !self.chooses_queue_first()
            && self.sort_keys().is_empty()
            && self.active_tree().is_none()
            && !table.queues().iter().any(|queue| self.is_express(queue))
            && table.is_in_submit_order()
    }
}
