//! Which criterion decides the order of two jobs.

use std::cmp::Ordering;
use std::fmt;

use job_sort_formula::jobs::JobTable;
use job_sort_formula::rank::Scores;

use crate::order::Order;
use crate::order::sort_keys::SortKeys;

/// A criterion by which jobs are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Criterion {
    /// The queue, if `by_queue` or `round_robin` is on: by its priority, then in the server's
    /// order.
    Queue,
    /// The turn of the queue, if `round_robin` is on.
    RoundRobin,
    /// Whether the scheduler considers the job.
    Considered,
    /// Whether the queue of the job is an express queue.
    ExpressQueue,
    /// The value of the formula.
    Value,
    /// Fair share, if `fair_share` is on.
    FairShare,
    /// A `job_sort_key`, counted from 1.
    SortKey(usize),
    /// The order of submission.
    Submission,
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Queue => "queue",
            Self::RoundRobin => "round robin",
            Self::Considered => "considered",
            Self::ExpressQueue => "express queue",
            Self::Value => "value",
            Self::FairShare => "fair share",
            Self::SortKey(number) => return write!(f, "sort key {number}"),
            Self::Submission => "submission",
        })
    }
}

/// Compares the jobs of a table as they are sorted.
pub struct JobComparison<'t> {
    table: &'t JobTable,
    sort_keys: SortKeys<'t>,
    /// By queue of the table: the index of its group and its index in the group.
    queues: Vec<(u32, u32)>,
    takes_turns: bool,
    chooses_queue_first: bool,
}

impl<'t> JobComparison<'t> {
    pub(super) fn new(order: &Order<'_>, scores: &Scores, table: &'t JobTable) -> Self {
        Self {
            table,
            sort_keys: SortKeys::new(order, scores, table),
            queues: order.queue_places(table),
            takes_turns: order.config.round_robin.prime,
            chooses_queue_first: order.chooses_queue_first(),
        }
    }

    /// The criterion that decides the order of two jobs, and the order that it gives: `Less` if the
    /// left one is first. It is `Equal` for queues that take turns: their order depends on the
    /// other jobs in them.
    pub fn decide(&self, left: usize, right: usize) -> (Criterion, Ordering) {
        let of_left = self.queues[self.table.queue_index(left)];
        let of_right = self.queues[self.table.queue_index(right)];
        if !self.chooses_queue_first || of_left == of_right {
            self.sort_keys.decide(left, right)
        } else if self.takes_turns && of_left.0 == of_right.0 {
            (Criterion::RoundRobin, Ordering::Equal)
        } else {
            (Criterion::Queue, of_left.cmp(&of_right))
        }
    }
}
