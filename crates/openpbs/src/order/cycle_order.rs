//! The considered jobs of a table as the candidates of a scheduling cycle.

use std::cmp::Ordering;

use job_sort_formula::jobs::JobTable;
use job_sort_formula::rank::Scores;

use crate::cycle::{JobOrder, SortedCandidates, UrgentJobs};
use crate::order::Order;
use crate::order::sort_keys::SortKeys;

/// The order of the rows of a table within a queue, which changes in a cycle where fair share is
/// on.
pub struct CycleOrder<'t> {
    table: &'t JobTable,
    sort_keys: SortKeys<'t>,
    /// What each row is charged when it starts or is promised a start: its amount of
    /// `fairshare_usage_res`.
    charges: Vec<f64>,
    /// How often each row can start.
    subjobs: &'t mut [u32],
}

impl Order<'_> {
    /// The rows as candidates of a cycle, in the order of the scheduler. `charges` are the amounts
    /// of `fairshare_usage_res` that the rows ask for, and `subjobs` how often each can start; all
    /// three by row.
    pub fn candidates<'t>(
        &self,
        scores: &Scores,
        table: &'t JobTable,
        rows: impl Iterator<Item = usize>,
        charges: Vec<f64>,
        subjobs: &'t mut [u32],
    ) -> SortedCandidates<CycleOrder<'t>> {
        let places = if self.chooses_queue_first() {
            self.queue_places(table)
        } else {
            vec![(0, 0); table.queues().len()]
        };
        let order = CycleOrder {
            table,
            sort_keys: SortKeys::new(self, scores, table),
            charges,
            subjobs,
        };
        let config = self.config;
        let urgent = match (config.round_robin.prime, config.by_queue.prime) {
            (false, true) if config.fair_share.prime => UrgentJobs::QueueByQueue,
            (false, true) => UrgentJobs::OfAll,
            _ => UrgentJobs::None,
        };
        let rows = rows.map(|row| row as u32);
        SortedCandidates::new(order, &places, rows, config.round_robin.prime, urgent)
    }
}

impl Order<'_> {
    /// The place of each row in the order in which running jobs give way that started in the same
    /// second: queue by queue, in a queue by the order of the scheduler, which sorts them only where
    /// it chooses the queue first.
    pub fn places_of_running(&self, scores: &Scores, table: &JobTable) -> Vec<u32> {
        let sort_keys = SortKeys::new(self, scores, table);
        let queue_places = self.queue_places(table);
        let mut rows: Vec<usize> = (0..table.len()).collect();
        rows.sort_by(|&left, &right| {
            let of_left = queue_places[table.queue_index(left)];
            let by_queue = of_left.cmp(&queue_places[table.queue_index(right)]);
            if by_queue.is_ne() {
                by_queue
            } else if self.chooses_queue_first() {
                sort_keys.compare_within_level(left, right)
            } else {
                table.submit_order(left).cmp(&table.submit_order(right))
            }
        });
        let mut places = vec![0; rows.len()];
        for (row, place) in rows.into_iter().zip(0..) {
            places[row] = place;
        }
        places
    }
}

impl JobOrder for CycleOrder<'_> {
    fn compare(&mut self, left: u32, right: u32) -> Ordering {
        self.sort_keys
            .compare_within_level(left as usize, right as usize)
    }

    fn queue(&self, job: u32) -> usize {
        self.table.queue_index(job as usize)
    }

    fn charge(&mut self, job: u32) -> bool {
        let row = job as usize;
        let charge = self.charges.get(row).copied().unwrap_or(0.0);
        let entity = self.table.entity_index(row);
        self.sort_keys.paths.charge(entity, charge)
    }

    fn add(&mut self, job: u32) {
        self.subjobs[job as usize] = 1;
    }

    fn start(&mut self, job: u32) -> bool {
        let left = &mut self.subjobs[job as usize];
        *left -= 1;
        *left > 0
    }
}
