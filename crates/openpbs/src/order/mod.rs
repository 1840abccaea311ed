//! OpenPBS's order of jobs: the order in which the scheduler considers them once all have their
//! values.
//!
//! The criteria, first to last: the queue, if `by_queue` or `round_robin` is on; whether the job
//! can run; whether its queue is an express queue; the value of the formula; fair share, if it is
//! on; `job_sort_key`; the submission order. Source: the recorded orders in
//! `tests/golden/openpbs/evaluate/orders.jsonl`.

mod sort_keys;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use job_sort_formula::jobs::JobTable;
use job_sort_formula::rank::{Ranking, Scores};

use crate::files::queues::Queues;
use crate::files::sched_config::{SchedConfig, SortFirst, SortKey};
use crate::number_format;
use crate::share_tree::PbsTree;
use sort_keys::SortKeys;

pub use sort_keys::{Criterion, CycleOrder, JobComparison};

/// The threshold if `job_sort_formula_threshold` is not set: C's smallest `int`. A job whose value
/// is minus infinity therefore does not run.
pub const NO_THRESHOLD: f64 = -2_147_483_648.0;

/// The settings of one scheduler that determine the order of jobs.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    config: &'a SchedConfig,
    queues: &'a Queues,
    tree: Option<&'a PbsTree>,
    threshold: f64,
    limit: usize,
}

/// The jobs in their order, and the waiting jobs that the scheduler does not consider.
#[derive(Debug, Clone)]
pub struct Ordered {
    /// The scores, and the rows that the scheduler considers.
    pub ranking: Ranking,
    /// The waiting rows that the scheduler does not consider, in evaluation order.
    pub not_considered: Vec<(usize, NotConsidered)>,
}

/// Why the scheduler does not consider a waiting job.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NotConsidered {
    /// `fair_share` is on and the entity's percentage is 0.
    NoShares,
    /// The value does not exceed the threshold.
    UnderThreshold {
        /// The job's value, as the scheduler keeps it.
        value: f64,
        /// `job_sort_formula_threshold`.
        threshold: f64,
    },
}

impl NotConsidered {
    /// That a value does not exceed the threshold, if so. The threshold does not apply to a job
    /// whose error the caller ranks below every value
    /// ([`OnError::Null`](job_sort_formula::rank::OnError::Null)): OpenPBS gives it a value.
    pub fn by_threshold(value: f64, threshold: f64, has_error: bool) -> Option<Self> {
        let is_under = value <= threshold && !(value == f64::NEG_INFINITY && has_error);
        is_under.then_some(Self::UnderThreshold { value, threshold })
    }
}

impl fmt::Display for NotConsidered {
    /// OpenPBS's log message, where it is recorded.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoShares => f.write_str("the job's fair-share entity has no shares"),
            Self::UnderThreshold { value, threshold } => {
                let value = number_format::logged(value);
                let threshold = number_format::printed(threshold);
                write!(
                    f,
                    "Job's formula value {value} is under threshold {threshold}"
                )
            }
        }
    }
}

impl<'a> Order<'a> {
    /// The order in prime time, which is always if there is no `holidays` file, without a
    /// fair-share tree and without a threshold.
    pub fn new(config: &'a SchedConfig, queues: &'a Queues) -> Self {
        Self {
            config,
            queues,
            tree: None,
            threshold: NO_THRESHOLD,
            limit: usize::MAX,
        }
    }

    /// Sets the tree that orders jobs if `fair_share` is on. It must contain the entities of the
    /// jobs.
    #[must_use]
    pub fn tree(self, tree: impl Into<Option<&'a PbsTree>>) -> Self {
        let tree = tree.into();
        Self { tree, ..self }
    }

    /// Sets `job_sort_formula_threshold`, if there is one, which the server stores in a C `float`.
    #[must_use]
    pub fn threshold(self, threshold: impl Into<Option<f64>>) -> Self {
        let threshold = threshold.into().map(number_format::server_float);
        Self {
            threshold: threshold.unwrap_or(NO_THRESHOLD),
            ..self
        }
    }

    /// Determines only the first `limit` rows of the order, which is faster than the whole order.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// The columns that the table needs for `job_sort_key`, in addition to those of the formula.
    pub fn columns(&self) -> Vec<&'a str> {
        let keys = self.job_sort_keys().iter();
        keys.filter_map(sort_keys::column_of).collect()
    }

    /// The criteria by which jobs are ordered, the first one first, in a few words each.
    pub fn criteria(&self) -> Vec<(Criterion, String)> {
        let mut criteria = Vec::new();
        if self.chooses_queue_first() {
            criteria.push((Criterion::Queue, "priority of the queue".to_owned()));
        }
        if self.config.round_robin.prime {
            criteria.push((
                Criterion::RoundRobin,
                "queues in turn (round_robin)".to_owned(),
            ));
        }
        if self.config.preemptive_sched.prime {
            let priority = self.config.preempt_queue_prio;
            criteria.push((
                Criterion::ExpressQueue,
                format!("express queues (priority {priority} or higher)"),
            ));
        }
        criteria.push((Criterion::Value, "value of the formula".to_owned()));
        if self.active_tree().is_some() {
            criteria.push((Criterion::FairShare, "fair share (fair_share)".to_owned()));
        }
        for (key, number) in self.job_sort_keys().iter().zip(1..) {
            let first = match key.first {
                SortFirst::High => "HIGH",
                SortFirst::Low => "LOW",
            };
            let words = format!("job_sort_key {} {first}", key.name);
            criteria.push((Criterion::SortKey(number), words));
        }
        criteria.push((Criterion::Submission, "order of submission".to_owned()));
        criteria
    }

    /// Orders scored jobs.
    pub fn order(&self, scores: Scores, table: &JobTable) -> Ordered {
        let sort_keys = SortKeys::new(self, &scores, table);
        let mut rows: Vec<_> = (0..table.len()).collect();
        rows.retain(|&row| scores.is_scored(row));
        let queues = self.queue_groups(table);
        let rows = evaluation_order(&queues, rows, table);
        let mut not_considered = Vec::new();
        for &row in &rows {
            if let Some(reason) = sort_keys.not_considered(row) {
                not_considered.push((row, reason));
            }
        }
        let order = self.arrange(&queues, rows, table, &sort_keys);
        Ordered {
            ranking: Ranking::from_order(scores, order),
            not_considered,
        }
    }

    /// The considered rows in their order; `rows` are in evaluation order.
    fn arrange(
        &self,
        groups: &[Vec<usize>],
        rows: Vec<usize>,
        table: &JobTable,
        sort_keys: &SortKeys<'_>,
    ) -> Vec<usize> {
        if !self.chooses_queue_first() {
            return sort_keys.sorted(rows, self.limit);
        }
        let mut lists = vec![Vec::new(); table.queues().len()];
        for row in rows {
            lists[table.queue_index(row)].push(row);
        }
        for list in &mut lists {
            *list = sort_keys.sorted(std::mem::take(list), self.limit);
        }
        let mut order = self.merge(groups, lists);
        order.truncate(self.limit);
        order
    }

    /// Merges the sorted rows of each queue into one order.
    fn merge(&self, groups: &[Vec<usize>], mut lists: Vec<Vec<usize>>) -> Vec<usize> {
        let mut order = Vec::with_capacity(lists.iter().map(Vec::len).sum());
        for group in groups {
            let mut of_group = Vec::with_capacity(group.len());
            for &queue in group {
                of_group.push(std::mem::take(&mut lists[queue]));
            }
            if self.config.round_robin.prime {
                round_robin(&of_group, &mut order)
            } else {
                order.extend(of_group.concat())
            }
        }
        order
    }

    /// The queue indices of the table. If the queue is chosen first: one group per priority, the
    /// higher priority first. Otherwise one group in the server's order.
    fn queue_groups(&self, table: &JobTable) -> Vec<Vec<usize>> {
        let mut queues: Vec<usize> = (0..table.queues().len()).collect();
        queues.sort_by_key(|&queue| {
            let position = self.queues.position(&table.queues()[queue]);
            position.unwrap_or(usize::MAX)
        });
        if !self.chooses_queue_first() {
            return vec![queues];
        }
        let mut groups: BTreeMap<Reverse<i64>, Vec<usize>> = BTreeMap::new();
        for queue in queues {
            let priority = self.priority(&table.queues()[queue]);
            groups.entry(Reverse(priority)).or_default().push(queue);
        }
        groups.into_values().collect()
    }

    /// By queue of the table: the index of its group and its index there.
    fn queue_places(&self, table: &JobTable) -> Vec<(u32, u32)> {
        let mut places = vec![(0, 0); table.queues().len()];
        for (queues, group) in self.queue_groups(table).iter().zip(0..) {
            for (&queue, place) in queues.iter().zip(0..) {
                places[queue] = (group, place);
            }
        }
        places
    }

    fn chooses_queue_first(&self) -> bool {
        self.config.by_queue.prime || self.config.round_robin.prime
    }

    /// The keys of `job_sort_key`, the first one first.
    pub fn job_sort_keys(&self) -> &'a [SortKey] {
        &self.config.job_sort_key.prime
    }

    /// The tree, if fair share orders jobs.
    fn active_tree(&self) -> Option<&'a PbsTree> {
        self.tree.filter(|_| self.config.fair_share.prime)
    }

    fn is_express(&self, queue: &str) -> bool {
        self.config.preemptive_sched.prime
            && self.priority(queue) >= i64::from(self.config.preempt_queue_prio)
    }

    fn priority(&self, queue: &str) -> i64 {
        self.queues.priority(queue).unwrap_or(0)
    }
}

/// The rows in evaluation order: queue by queue, and within a queue in submission order.
fn evaluation_order(groups: &[Vec<usize>], mut rows: Vec<usize>, table: &JobTable) -> Vec<usize> {
    table.sort_by_submit_order(&mut rows);
    let mut place = vec![0; table.queues().len()];
    for (index, &queue) in groups.iter().flatten().enumerate() {
        place[queue] = index;
    }
    if place.len() > 1 {
        rows.sort_by_key(|&row| place.get(table.queue_index(row)).copied());
    }
    rows
}

/// Takes one row of each list in turn until all lists are exhausted.
fn round_robin(lists: &[Vec<usize>], order: &mut Vec<usize>) {
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    for turn in 0..longest {
        for list in lists {
            order.extend(list.get(turn));
        }
    }
}

/// The jobs that one job competes with. If the queue is chosen first, these are the jobs of its
/// queue.
#[derive(Debug, Clone)]
pub struct Competition {
    /// The number of jobs that come before it whatever its value is, because their queue is an
    /// express queue.
    pub always_ahead: usize,
    /// The rows of the jobs that come before it or after it because of their value, best first,
    /// each with whether it comes before the job if the values are equal.
    pub competitors: Vec<(usize, bool)>,
    /// A job whose value does not exceed this is not considered.
    pub threshold: f64,
    /// The rank of each place among these jobs, from the first place on.
    ranks: Vec<usize>,
}

impl Competition {
    /// The number of places of at most this rank: the job has at most the rank if fewer competitors
    /// than this number are ahead of it. `None` if no value gives it this rank.
    pub fn places(&self, rank: usize) -> Option<usize> {
        // the ranks ascend
        let places = self.ranks.partition_point(|&of_place| of_place <= rank);
        if places <= self.always_ahead {
            return None;
        }
        Some(places - self.always_ahead)
    }

    /// The rank of the job if this number of competitors is ahead of it.
    pub fn rank(&self, ahead: usize) -> Option<usize> {
        self.ranks.get(self.always_ahead + ahead).copied()
    }
}

impl Order<'_> {
    /// The jobs that a job competes with. The job itself need not be considered.
    pub fn competition(&self, ranking: &Ranking, table: &JobTable, row: usize) -> Competition {
        let sort_keys = SortKeys::new(self, ranking.scores(), table);
        let is_express = sort_keys.is_express(row);
        let mut others = ranking.order().to_vec();
        others.retain(|&other| other != row);
        if self.chooses_queue_first() {
            others.retain(|&other| table.queue_index(other) == table.queue_index(row));
        }
        let mut competition = Competition {
            always_ahead: 0,
            competitors: Vec::new(),
            threshold: self.threshold,
            ranks: self.ranks_of_places(ranking, table, row, others.len() + 1),
        };
        for other in others {
            if sort_keys.is_express(other) == is_express {
                let is_before = sort_keys.compare_equal_values(other, row).is_lt();
                competition.competitors.push((other, is_before));
            } else if !is_express {
                competition.always_ahead += 1;
            }
        }
        competition
    }

    fn ranks_of_places(
        &self,
        ranking: &Ranking,
        table: &JobTable,
        row: usize,
        places: usize,
    ) -> Vec<usize> {
        if !self.chooses_queue_first() {
            return (1..=places).collect();
        }
        let mut lists = vec![Vec::new(); table.queues().len()];
        for &other in ranking.order() {
            if other != row {
                lists[table.queue_index(other)].push(other);
            }
        }
        let queue = table.queue_index(row);
        lists[queue].push(row);
        let mut ranks = Vec::new();
        for (index, other) in self
            .merge(&self.queue_groups(table), lists)
            .into_iter()
            .enumerate()
        {
            if table.queue_index(other) == queue {
                ranks.push(index + 1);
            }
        }
        ranks
    }
}

#[cfg(test)]
mod tests;
