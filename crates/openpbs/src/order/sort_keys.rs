//! The keys that jobs are sorted by, computed once for all rows, and which of them decides the order
//! of two jobs.

use std::cmp::Ordering;
use std::fmt;

use job_sort_formula::jobs::JobTable;
use job_sort_formula::rank::{Scores, higher_first, merge_sort, sort_listed_by_value};
use job_sort_formula::schema::is_scheduler_input;

use crate::cycle::{JobOrder, SortedCandidates, UrgentJobs};
use crate::files::sched_config::{SortFirst, SortKey};
use crate::order::{NotConsidered, Order};
use crate::share_tree::{PbsTree, SharePaths};

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
    sort_keys: SortKeys<'t>,
    /// By queue of the table: the index of its group and its index in the group.
    queues: Vec<(u32, u32)>,
    takes_turns: bool,
    chooses_queue_first: bool,
}

impl<'t> JobComparison<'t> {
    /// The criterion that decides the order of two jobs, and the order that it gives: `Less` if the
    /// left one is first. It is `Equal` for queues that take turns: their order depends on the
    /// other jobs in them.
    pub fn decide(&self, left: usize, right: usize) -> (Criterion, Ordering) {
        let table = self.sort_keys.table;
        let of_left = self.queues[table.queue_index(left)];
        let of_right = self.queues[table.queue_index(right)];
        if !self.chooses_queue_first || of_left == of_right {
            self.sort_keys.decide(left, right)
        } else if self.takes_turns && of_left.0 == of_right.0 {
            (Criterion::RoundRobin, Ordering::Equal)
        } else {
            (Criterion::Queue, of_left.cmp(&of_right))
        }
    }
}

/// The sort keys of every row.
pub struct SortKeys<'t> {
    table: &'t JobTable,
    threshold: f64,
    /// The value of each row.
    values: Vec<f64>,
    /// Whether the scheduler considers the job of each row.
    runnable: Vec<bool>,
    /// The rows with an error, ascending.
    with_error: Vec<usize>,
    /// Whether each queue of the table is an express queue.
    express: Vec<bool>,
    /// Whether each entity of the table has no shares.
    without_shares: Vec<bool>,
    /// The path of each entity of the table; empty if fair share does not order jobs.
    pub paths: SharePaths,
    /// The values of each `job_sort_key` by row, negated for `LOW`, so that the higher value comes
    /// first.
    keys: Vec<Vec<f64>>,
}

impl<'t> SortKeys<'t> {
    pub fn new(rules: &Order<'_>, scores: &Scores, table: &'t JobTable) -> Self {
        let mut sort_keys = Self {
            table,
            threshold: rules.threshold,
            values: scores.values(),
            with_error: scores.errors().map(|(row, _)| row).collect(),
            runnable: Vec::with_capacity(table.len()),
            express: Vec::new(),
            without_shares: Vec::new(),
            paths: SharePaths::default(),
            keys: Vec::new(),
        };
        for queue in table.queues() {
            sort_keys.express.push(rules.is_express(queue));
        }
        if let Some(tree) = rules.active_tree() {
            for entity in table.entities() {
                let has_none = perc(tree, entity) == Some(0.0);
                sort_keys.without_shares.push(has_none);
                let node = tree.tree().find(entity);
                let path = node.map(|node| tree.path(node));
                sort_keys.paths.0.push(path.unwrap_or_default());
            }
        }
        for row in 0..table.len() {
            let is_runnable = table.is_considered(row) && sort_keys.not_considered(row).is_none();
            sort_keys.runnable.push(is_runnable);
        }
        for key in rules.job_sort_keys() {
            let values = sort_keys.key_values(key, rules.tree);
            sort_keys.keys.push(values);
        }
        sort_keys
    }

    pub fn is_runnable(&self, row: usize) -> bool {
        self.runnable.get(row) == Some(&true)
    }

    /// Why the scheduler does not consider a waiting job; `None` if it does, or if the job does not
    /// wait.
    pub fn not_considered(&self, row: usize) -> Option<NotConsidered> {
        if !self.table.is_considered(row) {
            return None;
        }
        if self.without_shares.get(self.table.entity_index(row)) == Some(&true) {
            return Some(NotConsidered::NoShares);
        }
        let value = *self.values.get(row)?;
        let has_error = self.with_error.binary_search(&row).is_ok();
        NotConsidered::by_threshold(value, self.threshold, has_error)
    }

    /// The first `limit` considered rows, best first. `rows` are in evaluation order.
    pub fn sorted(&self, mut rows: Vec<usize>, limit: usize) -> Vec<usize> {
        let value_decides = self.paths.0.is_empty() && self.keys.is_empty();
        if value_decides && !rows.iter().any(|&row| self.values[row].is_nan()) {
            rows.retain(|&row| self.is_runnable(row));
            self.table.sort_by_submit_order(&mut rows);
            let (express, others): (Vec<usize>, Vec<usize>) =
                rows.into_iter().partition(|&row| self.is_express(row));
            let mut sorted = sort_listed_by_value(&express, &self.values, limit);
            let left = limit - sorted.len();
            sorted.extend(sort_listed_by_value(&others, &self.values, left));
            return sorted;
        }
        merge_sort(&mut rows, &mut |left: usize, right: usize| {
            self.compare(left, right)
        });
        rows.retain(|&row| self.is_runnable(row));
        rows.truncate(limit);
        rows
    }

    pub fn is_express(&self, row: usize) -> bool {
        self.express.get(self.table.queue_index(row)) == Some(&true)
    }

    /// `Less` sorts first.
    pub fn compare(&self, left: usize, right: usize) -> Ordering {
        self.decide(left, right).1
    }

    /// The first criterion by which the rows differ, and the order that it gives; `Less` sorts
    /// first.
    pub fn decide(&self, left: usize, right: usize) -> (Criterion, Ordering) {
        let considered = self.is_runnable(right).cmp(&self.is_runnable(left));
        let express = self.is_express(right).cmp(&self.is_express(left));
        if considered.is_ne() {
            return (Criterion::Considered, considered);
        }
        if express.is_ne() {
            return (Criterion::ExpressQueue, express);
        }
        match higher_first(self.values[left], self.values[right]) {
            Ordering::Equal => self.decide_equal_values(left, right),
            by_value => (Criterion::Value, by_value),
        }
    }

    /// Compares two jobs of the same level in preemption, whether they wait or run.
    pub fn compare_within_level(&self, left: usize, right: usize) -> Ordering {
        higher_first(self.values[left], self.values[right])
            .then_with(|| self.compare_equal_values(left, right))
    }

    /// Compares two jobs whose values are equal.
    pub fn compare_equal_values(&self, left: usize, right: usize) -> Ordering {
        self.decide_equal_values(left, right).1
    }

    fn decide_equal_values(&self, left: usize, right: usize) -> (Criterion, Ordering) {
        let table = self.table;
        let by_share = self
            .paths
            .compare(table.entity_index(left), table.entity_index(right));
        if by_share.is_ne() {
            return (Criterion::FairShare, by_share);
        }
        for (values, number) in self.keys.iter().zip(1..) {
            let by_key = higher_first(values[left], values[right]);
            if by_key.is_ne() {
                return (Criterion::SortKey(number), by_key);
            }
        }
        let by_submission = table.submit_order(left).cmp(&table.submit_order(right));
        (Criterion::Submission, by_submission)
    }

    /// The values of a `job_sort_key` by row, negated for `LOW`.
    fn key_values(&self, key: &SortKey, tree: Option<&PbsTree>) -> Vec<f64> {
        let table = self.table;
        let column = column_of(key).and_then(|name| table.column(name));
        let rows = 0..table.len();
        let mut values: Vec<f64> = match (key.name.as_str(), tree, column) {
            ("fair_share_perc", Some(tree), _) => {
                let mut percs = Vec::new();
                for entity in table.entities() {
                    percs.push(perc(tree, entity).unwrap_or(0.0));
                }
                rows.map(|row| percs[table.entity_index(row)]).collect()
            }
            ("preempt_priority", ..) => rows.map(|row| f64::from(self.is_express(row))).collect(),
            (_, _, Some(column)) => rows.map(|row| column.nearest_double(row)).collect(),
            _ => vec![0.0; table.len()],
        };
        if key.first == SortFirst::Low {
            for value in &mut values {
                *value = -*value;
            }
        }
        values
    }
}

fn perc(tree: &PbsTree, entity: &str) -> Option<f64> {
    let node = tree.tree().find(entity)?;
    tree.shares().get(node).map(|shares| shares.fairshare_perc)
}

/// The column that a `job_sort_key` reads; `None` if it reads no input of the job. The other
/// numbers that the scheduler computes for a formula are not keys.
pub fn column_of(key: &SortKey) -> Option<&str> {
    match key.name.as_str() {
        "fair_share_perc" | "preempt_priority" => None,
        "sort_priority" | "job_priority" => Some("job_priority"),
        name if is_scheduler_input(name) => None,
        name => Some(name),
    }
}

/// The order of the rows of a table within a queue, which changes in a cycle where fair share is
/// on.
pub struct CycleOrder<'t> {
    sort_keys: SortKeys<'t>,
    /// What each row is charged when it starts or is promised a start: its amount of
    /// `fairshare_usage_res`.
    charges: Vec<f64>,
    /// How often each row can start.
    subjobs: &'t mut [u32],
}

impl Order<'_> {
    /// Compares jobs by the criteria.
    pub fn comparison<'t>(&self, scores: &Scores, table: &'t JobTable) -> JobComparison<'t> {
        JobComparison {
            sort_keys: SortKeys::new(self, scores, table),
            queues: self.queue_places(table),
            takes_turns: self.config.round_robin.prime,
            chooses_queue_first: self.chooses_queue_first(),
        }
    }

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
        self.sort_keys.table.queue_index(job as usize)
    }

    fn charge(&mut self, job: u32) -> bool {
        let row = job as usize;
        let charge = self.charges.get(row).copied().unwrap_or(0.0);
        let entity = self.sort_keys.table.entity_index(row);
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
