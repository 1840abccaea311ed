//! OpenPBS's order of jobs: which one the scheduler looks at first once all have their values.
//!
//! First the queue, where `by_queue` or `round_robin` says so; then what can run before what cannot, the jobs of an
//! express queue, the value of the formula, fair share where it is on, `job_sort_key`, and the time of submission.
//! Found in `tests/golden/openpbs/evaluate/orders.jsonl`.

mod plain;
mod standing;

use std::fmt;

use crate::jobs::JobTable;
use crate::pbs::files::queues::Queues;
use crate::pbs::files::sched_config::{ByTime, SchedConfig, SortKey};
use crate::pbs::number_format as digits;
use crate::pbs::share_tree::PbsTree;
use crate::rank::{Ranking, Scores};
use standing::Standings;

/// The value that a job must exceed where `job_sort_formula_threshold` is not set: C's smallest `int`. So a job
/// whose formula gives minus infinity does not run.
pub const NO_THRESHOLD: f64 = -2_147_483_648.0;

/// A part of the week, for the settings that differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Period {
    /// Prime time; without a file of holidays it is always.
    #[default]
    Prime,
    /// The rest of the week.
    NonPrime,
}

/// The rules of one scheduler for the order of jobs.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    config: &'a SchedConfig,
    queues: &'a Queues,
    tree: Option<&'a PbsTree>,
    threshold: f64,
    period: Period,
    most: usize,
}

/// The jobs in their order, and those that the scheduler passes over.
#[derive(Debug, Clone)]
pub struct Ordered {
    /// The scores, and the rows that the scheduler considers.
    pub ranking: Ranking,
    /// The rows that wait to be run and are not considered, in the order in which they were evaluated.
    pub passed_over: Vec<(usize, PassedOver)>,
}

/// Why the scheduler does not consider a job that waits to be run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PassedOver {
    /// `fair_share` is on and the entity's percentage is 0.
    NoShares,
    /// The value does not exceed the threshold.
    UnderThreshold {
        /// The job's value, as it is kept.
        value: f64,
        /// `job_sort_formula_threshold`.
        threshold: f64,
    },
}

impl fmt::Display for PassedOver {
    /// As OpenPBS logs it, where it is known what it logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoShares => f.write_str("the job's fair-share entity has no shares"),
            Self::UnderThreshold { value, threshold } => {
                let (value, threshold) = (digits::logged(value), digits::printed(threshold));
                write!(f, "Job's formula value {value} is under threshold {threshold}")
            }
        }
    }
}

impl<'a> Order<'a> {
    /// The order under these settings and queues: in prime time, without a tree and without a threshold.
    pub fn new(config: &'a SchedConfig, queues: &'a Queues) -> Self {
        Self { config, queues, tree: None, threshold: NO_THRESHOLD, period: Period::Prime, most: usize::MAX }
    }

    /// Orders by this tree where `fair_share` is on. The tree must have been told of the jobs' entities.
    #[must_use]
    pub fn tree(self, tree: &'a PbsTree) -> Self {
        Self { tree: Some(tree), ..self }
    }

    /// Sets `job_sort_formula_threshold`, which the server keeps in a C `float`.
    #[must_use]
    pub fn threshold(self, threshold: f64) -> Self {
        Self { threshold: digits::server_float(threshold), ..self }
    }

    /// Chooses the part of the week whose settings hold.
    #[must_use]
    pub fn period(self, period: Period) -> Self {
        Self { period, ..self }
    }

    /// Gives only the first so many rows of the order, which is quicker than all of it.
    #[must_use]
    pub fn most(self, most: usize) -> Self {
        Self { most, ..self }
    }

    /// The columns that a table must have for `job_sort_key`, besides those of the formula.
    pub fn columns(&self) -> Vec<&'a str> {
        self.sort_keys().iter().filter_map(standing::column_of).collect()
    }

    /// Orders scored jobs.
    pub fn rank(&self, scores: Scores, table: &JobTable) -> Ordered {
        if let Some((order, passed_over)) = self.plain(&scores, table) {
            return Ordered { ranking: Ranking::from_order(scores, order), passed_over };
        }
        let standings = Standings::new(self, &scores, table);
        let rows: Vec<_> = (0..table.len()).filter(|&row| scores.has(row)).collect();
        let queues = self.queue_groups(table);
        let rows = in_evaluation(&queues, rows, table);
        let passed_over = rows.iter().filter_map(|&row| Some((row, standings.passed_over(row)?))).collect();
        let order = self.arrange(&queues, rows, table, &standings);
        Ordered { ranking: Ranking::from_order(scores, order), passed_over }
    }

    /// The rows that can run in their order; `rows` stand in the order in which they were evaluated.
    fn arrange(
        &self,
        groups: &[Vec<usize>],
        rows: Vec<usize>,
        table: &JobTable,
        standings: &Standings<'_>,
    ) -> Vec<usize> {
        if !self.chooses_queue_first() {
            return standings.sorted(rows, self.most);
        }
        let mut lists = vec![Vec::new(); table.queues().len()];
        rows.iter().for_each(|&row| lists[table.queue_index(row)].push(row));
        let mut order = Vec::with_capacity(rows.len());
        for group in groups {
            let lists: Vec<_> =
                group.iter().map(|&queue| standings.sorted(std::mem::take(&mut lists[queue]), self.most)).collect();
            if self.at(&self.config.round_robin) {
                take_turns(&lists, &mut order)
            } else {
                order.extend(lists.concat())
            }
        }
        order.truncate(self.most);
        order
    }

    /// The queues of the table, by their number there. Where the queue is chosen first: the higher priority first,
    /// one group per priority. Else one group in the server's order.
    fn queue_groups(&self, table: &JobTable) -> Vec<Vec<usize>> {
        let priority = |&queue: &usize| self.queues.priority(&table.queues()[queue]).unwrap_or(0);
        let mut queues: Vec<usize> = (0..table.queues().len()).collect();
        queues.sort_by_key(|&queue| self.queues.place(&table.queues()[queue]).unwrap_or(usize::MAX));
        if !self.chooses_queue_first() {
            return vec![queues];
        }
        queues.sort_by_key(|queue| std::cmp::Reverse(priority(queue)));
        queues.chunk_by(|left, right| priority(left) == priority(right)).map(<[usize]>::to_vec).collect()
    }

    fn chooses_queue_first(&self) -> bool {
        self.at(&self.config.by_queue) || self.at(&self.config.round_robin)
    }

    fn sort_keys(&self) -> &'a [SortKey] {
        match self.period {
            Period::Prime => &self.config.job_sort_key.prime,
            Period::NonPrime => &self.config.job_sort_key.non_prime,
        }
    }

    fn at<T: Copy>(&self, setting: &ByTime<T>) -> T {
        match self.period {
            Period::Prime => setting.prime,
            Period::NonPrime => setting.non_prime,
        }
    }

    /// The tree, where jobs are ordered by it.
    fn active_tree(&self) -> Option<&'a PbsTree> {
        self.tree.filter(|_| self.at(&self.config.fair_share))
    }

    fn is_express(&self, queue: &str) -> bool {
        let priority = self.queues.priority(queue).unwrap_or(0);
        self.at(&self.config.preemptive_sched) && priority >= i64::from(self.config.preempt_queue_prio)
    }
}

/// The rows in the order in which they are evaluated: queue by queue, and in a queue as they were submitted.
fn in_evaluation(groups: &[Vec<usize>], mut rows: Vec<usize>, table: &JobTable) -> Vec<usize> {
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

/// A job of each list in turn, as long as any list has one.
fn take_turns(lists: &[Vec<usize>], order: &mut Vec<usize>) {
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    for turn in 0..longest {
        order.extend(lists.iter().filter_map(|list| list.get(turn)));
    }
}

#[cfg(test)]
mod tests;
