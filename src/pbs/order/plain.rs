//! The order of most queues: nothing decides but the value, and then the place in the table.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use crate::jobs::JobTable;
use crate::pbs::order::{Order, PassedOver, in_evaluation};
use crate::rank::{Scores, by_kept};

/// The rows in their order, and those that are passed over.
type Plain = (Vec<usize>, Vec<(usize, PassedOver)>);

impl Order<'_> {
    /// The order, where these rules make a plain one of these jobs.
    pub(super) fn plain(&self, scores: &Scores, table: &JobTable) -> Option<Plain> {
        if !self.is_plain(table) {
            return None;
        }
        let waits = |row: usize| table.is_considered(row) && scores.has(row);
        // a job whose error the caller puts behind all values is not held against the threshold
        let is_behind = |row: usize, value: f64| value == f64::NEG_INFINITY && scores.error(row).is_some();
        let is_under = |row: usize, value: f64| value <= self.threshold && !is_behind(row, value);
        let is_some_under = AtomicBool::new(false);
        let order = by_kept(scores, self.most, |row, value| {
            let is_under = is_under(row, value);
            if is_under {
                is_some_under.store(true, Relaxed);
            }
            !is_under && waits(row)
        })?;
        let under = |row: usize| {
            let value = scores.get(row)?.kept;
            is_under(row, value).then_some((row, PassedOver::UnderThreshold { value, threshold: self.threshold }))
        };
        let mut passed_over = Vec::new();
        if is_some_under.into_inner() {
            let waiting = (0..table.len()).filter(|&row| waits(row)).collect();
            passed_over =
                in_evaluation(&self.queue_groups(table), waiting, table).into_iter().filter_map(under).collect();
        }
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
