//! The considered jobs of a table as the candidates of a scheduling cycle.

use std::cmp::Ordering;

use job_sort_formula::jobs::JobTable;
use job_sort_formula::rank::Scores;

use crate::cycle::{JobOrder, SortedCandidates};
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
        let mut lists = vec![Vec::new(); table.queues().len()];
        rows.for_each(|row| lists[table.queue_index(row)].push(row as u32));
        let groups = if self.chooses_queue_first() {
            self.queue_groups(table)
                .iter()
                .map(|group| taken(&mut lists, group))
                .collect()
        } else {
            vec![vec![lists.concat()]]
        };
        let order = CycleOrder {
            table,
            sort_keys: SortKeys::new(self, scores, table),
            charges,
            subjobs,
        };
        SortedCandidates::new(order, groups, self.config.round_robin.prime)
    }
}

/// The lists of these queues.
fn taken(lists: &mut [Vec<u32>], queues: &[usize]) -> Vec<Vec<u32>> {
    queues
        .iter()
        .map(|&queue| std::mem::take(&mut lists[queue]))
        .collect()
}

impl JobOrder for CycleOrder<'_> {
    fn compare(&mut self, left: u32, right: u32) -> Ordering {
        self.sort_keys.compare(left as usize, right as usize)
    }

    fn charge(&mut self, job: u32) -> bool {
        let row = job as usize;
        let charge = self.charges.get(row).copied().unwrap_or(0.0);
        charge != 0.0 && self.sort_keys.charge(self.table.entity_index(row), charge)
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
