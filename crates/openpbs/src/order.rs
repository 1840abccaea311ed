//! OpenPBS's order of jobs: the order in which the scheduler considers them once all have their
//! values.
//!
//! The criteria, first to last: the queue, if `by_queue` or `round_robin` is on; whether the job
//! can run; whether its queue is an express queue; the value of the formula; fair share, if it is
//! on; `job_sort_key`; the submission order. Source: the recorded orders in
//! `tests/golden/openpbs/evaluate/orders.jsonl`.

use std::cmp::Ordering;

use job_sort_formula::JobTable;
use job_sort_formula::rank::{Ranking, Scores, higher_first, merge_sort, sort_listed_by_value};
use job_sort_formula::schema::is_scheduler_input;

use crate::cycle::{CycleJob, QueueOrder};
use crate::files::queues::Queues;
use crate::files::sched_config::{SchedConfig, SortFirst, SortKey};
use crate::pbs_tree::{PbsTree, SharePaths};

/// The threshold if `job_sort_formula_threshold` is not set: C's smallest `int`. A job whose value
/// is minus infinity therefore does not run.
pub const NO_THRESHOLD: f64 = -2_147_483_648.0;

/// The settings of one scheduler that determine the order of jobs.
#[derive(Debug, Clone, Copy)]
pub struct Order<'a> {
    /// Its settings.
    pub config: &'a SchedConfig,
    /// The queues.
    pub queues: &'a Queues,
    /// The tree that orders jobs if `fair_share` is on. It must contain the entities of the jobs.
    pub tree: Option<&'a PbsTree>,
    /// `job_sort_formula_threshold`, which the server stores in a C `float`; else [`NO_THRESHOLD`].
    pub threshold: f64,
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
    /// `fair_share` and `fairshare_enforce_no_shares` are on and the entity's percentage is 0.
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
        // a value that equals the threshold is under it, as recorded
        let is_under = value <= threshold && !(value == f64::NEG_INFINITY && has_error);
        is_under.then_some(Self::UnderThreshold { value, threshold })
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
        }
    }

    /// The columns that the table needs for `job_sort_key`, in addition to those of the formula.
    pub fn columns(&self) -> Vec<&'a str> {
        let keys = self.config.job_sort_key.prime.iter();
        keys.filter_map(column_of).collect()
    }

    /// Orders scored jobs.
    pub fn order(&self, scores: Scores, table: &JobTable) -> Ordered {
        let comparison = self.comparison(&scores, table);
        let mut rows: Vec<_> = (0..table.len()).collect();
        rows.retain(|&row| scores.is_scored(row));
        // they are evaluated queue by queue, and within a queue in the order of submission
        table.sort_by_submit_order(&mut rows);
        rows.sort_by_key(|&row| comparison.queues.place(table.queue_index(row)));
        let mut not_considered = Vec::new();
        for &row in &rows {
            if let Some(reason) = comparison.not_considered[row] {
                not_considered.push((row, reason));
            }
        }
        let order = comparison.arranged(rows);
        Ordered {
            ranking: Ranking::from_order(scores, order),
            not_considered,
        }
    }

    /// The order of the queues of a table.
    pub fn queues(&self, table: &JobTable) -> QueueOrder {
        QueueOrder::new(self.config, self.queues, table.queues(), true)
    }

    /// The tree, if fair share orders jobs.
    pub(crate) fn active_tree(&self) -> Option<&'a PbsTree> {
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

/// The jobs that one job competes with. If the queue is chosen first, these are the jobs of its
/// queue.
#[derive(Debug, Clone)]
pub struct Competition {
    /// The number of jobs that come before it whatever its value is, because their queue is an
    /// express queue.
    always_ahead: usize,
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
        let comparison = self.comparison(ranking.scores(), table);
        let is_express = comparison.is_express(row);
        let mut others = ranking.order().to_vec();
        others.retain(|&other| other != row);
        let ranks = comparison.ranks_of_places(&others, row);
        if comparison.queues.chooses_queue_first {
            others.retain(|&other| table.queue_index(other) == table.queue_index(row));
        }
        let mut competition = Competition {
            always_ahead: 0,
            competitors: Vec::new(),
            threshold: self.threshold,
            ranks,
        };
        for other in others {
            if comparison.is_express(other) == is_express {
                let (_, by_other) = comparison.decide_equal_values(other, row);
                competition.competitors.push((other, by_other.is_lt()));
            } else if !is_express {
                competition.always_ahead += 1;
            }
        }
        competition
    }
}

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

impl<'t> JobComparison<'t> {
    /// The criterion that decides the order of two jobs, and the order that it gives: `Less` if the
    /// left one is first. It is `Equal` for queues that take turns: their order depends on the
    /// other jobs in them.
    pub fn decide(&self, left: usize, right: usize) -> (Criterion, Ordering) {
        let [left_place, right_place] =
            [left, right].map(|row| self.queues.chosen_place(self.table.queue_index(row)));
        if left_place == right_place {
            self.decide_in_queue(left, right)
        } else if self.queues.takes_turns && left_place.0 == right_place.0 {
            (Criterion::RoundRobin, Ordering::Equal)
        } else {
            (Criterion::Queue, left_place.cmp(&right_place))
        }
    }

    /// The considered rows in their order; `rows` are in evaluation order.
    fn arranged(&self, rows: Vec<usize>) -> Vec<usize> {
        if !self.queues.chooses_queue_first {
            return self.sorted(rows);
        }
        let mut lists = self.by_queue(rows);
        for list in &mut lists {
            *list = self.sorted(std::mem::take(list));
        }
        self.queues.merged(&lists)
    }

    /// The rows of each queue.
    fn by_queue(&self, rows: impl IntoIterator<Item = usize>) -> Vec<Vec<usize>> {
        let mut lists = vec![Vec::new(); self.table.queues().len()];
        for row in rows {
            lists[self.table.queue_index(row)].push(row);
        }
        lists
    }

    /// The rank of each place that the job of a row may have beside others.
    fn ranks_of_places(&self, others: &[usize], row: usize) -> Vec<usize> {
        if !self.queues.chooses_queue_first {
            return (1..=others.len() + 1).collect();
        }
        let queue = self.table.queue_index(row);
        let lists = self.by_queue(others.iter().copied().chain([row]));
        let mut ranks = Vec::new();
        for (other, rank) in self.queues.merged(&lists).into_iter().zip(1..) {
            if self.table.queue_index(other) == queue {
                ranks.push(rank);
            }
        }
        ranks
    }
}

/// Compares the jobs of a table as they are sorted.
pub struct JobComparison<'t> {
    table: &'t JobTable,
    /// The value of each row.
    values: Vec<f64>,
    /// The order of the queues of the table.
    queues: QueueOrder,
    /// Why the scheduler does not consider the job of each row; `None` if it does, or if the job
    /// does not wait.
    not_considered: Vec<Option<NotConsidered>>,
    /// Whether each queue of the table is an express queue.
    express: Vec<bool>,
    /// The path of each entity of the table; empty if fair share does not order jobs.
    paths: SharePaths,
    /// The values of each `job_sort_key` by row, negated for `LOW`, so that the higher value comes
    /// first.
    keys: Vec<Vec<f64>>,
}

impl<'t> JobComparison<'t> {
    fn is_runnable(&self, row: usize) -> bool {
        self.table.is_considered(row) && self.not_considered[row].is_none()
    }

    /// The considered rows, best first. `rows` are in evaluation order.
    fn sorted(&self, mut rows: Vec<usize>) -> Vec<usize> {
        // nan equals every value: then the result depends on which rows a sort compares, and only
        // that of the scheduler gives its order
        let value_decides = self.paths.0.is_empty() && self.keys.is_empty();
        if value_decides && !rows.iter().any(|&row| self.values[row].is_nan()) {
            rows.retain(|&row| self.is_runnable(row));
            self.table.sort_by_submit_order(&mut rows);
            let (express, others): (Vec<usize>, Vec<usize>) =
                rows.into_iter().partition(|&row| self.is_express(row));
            let mut sorted = sort_listed_by_value(&express, &self.values, usize::MAX);
            sorted.extend(sort_listed_by_value(&others, &self.values, usize::MAX));
            return sorted;
        }
        merge_sort(&mut rows, &mut |left: usize, right: usize| {
            self.decide_in_queue(left, right).1
        });
        rows.retain(|&row| self.is_runnable(row));
        rows
    }

    fn is_express(&self, row: usize) -> bool {
        self.express.get(self.table.queue_index(row)) == Some(&true)
    }

    /// The first criterion by which the rows differ, and the order that it gives; `Less` sorts
    /// first.
    fn decide_in_queue(&self, left: usize, right: usize) -> (Criterion, Ordering) {
        let considered = self.is_runnable(right).cmp(&self.is_runnable(left));
        let express = self.is_express(right).cmp(&self.is_express(left));
        // all are sorted, as the scheduler does: of a nan, the jobs beside it decide where it comes
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

    /// The same of two jobs whose values are equal.
    fn decide_equal_values(&self, left: usize, right: usize) -> (Criterion, Ordering) {
        let table = self.table;
        let by_share = self
            .paths
            .compare(table.entity_index(left), table.entity_index(right));
        if by_share.is_ne() {
            return (Criterion::FairShare, by_share);
        }
        self.decide_equal_shares(left, right)
    }

    fn decide_equal_shares(&self, left: usize, right: usize) -> (Criterion, Ordering) {
        let table = self.table;
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
fn column_of(key: &SortKey) -> Option<&str> {
    match key.name.as_str() {
        "fair_share_perc" | "preempt_priority" => None,
        "sort_priority" | "job_priority" => Some("job_priority"),
        name if is_scheduler_input(name) => None,
        name => Some(name),
    }
}

impl Order<'_> {
    /// Compares jobs by the criteria.
    pub fn comparison<'t>(&self, scores: &Scores, table: &'t JobTable) -> JobComparison<'t> {
        let mut comparison = JobComparison {
            table,
            values: scores.values(),
            queues: self.queues(table),
            not_considered: vec![None; table.len()],
            express: Vec::new(),
            paths: SharePaths::default(),
            keys: Vec::new(),
        };
        for queue in table.queues() {
            comparison.express.push(self.is_express(queue));
        }
        let mut without_shares = Vec::new();
        if let Some(tree) = self.active_tree() {
            for entity in table.entities() {
                let has_none = perc(tree, entity) == Some(0.0);
                without_shares.push(has_none && self.config.fairshare_enforce_no_shares);
                let node = tree.tree().find(entity);
                let path = node.map(|node| tree.path(node));
                comparison.paths.0.push(path.unwrap_or_default());
            }
        }
        for row in table.considered_rows() {
            let has_no_shares = without_shares.get(table.entity_index(row)) == Some(&true);
            comparison.not_considered[row] = if has_no_shares {
                Some(NotConsidered::NoShares)
            } else {
                let has_error = scores.error(row).is_some();
                NotConsidered::by_threshold(comparison.values[row], self.threshold, has_error)
            };
        }
        for key in &self.config.job_sort_key.prime {
            let values = comparison.key_values(key, self.tree);
            comparison.keys.push(values);
        }
        comparison
    }

    /// Gives the jobs of the rows of a table what orders them in a cycle: their entities, their values
    /// and their places among equal ones. Returns the paths of the entities.
    pub fn set_order(
        &self,
        jobs: &mut [CycleJob],
        scores: &Scores,
        table: &JobTable,
    ) -> SharePaths {
        let comparison = self.comparison(scores, table);
        let mut rows: Vec<usize> = (0..table.len()).collect();
        merge_sort(&mut rows, &mut |left: usize, right: usize| {
            // without fair share, whose numbers change as jobs start in the cycle
            comparison.decide_equal_shares(left, right).1
        });
        for (row, place) in rows.into_iter().zip(0..) {
            let job = &mut jobs[row];
            job.entity = table.entity_index(row) as u32;
            job.value = comparison.values[row];
            job.place_among_equals = place;
        }
        comparison.paths
    }
}

#[cfg(test)]
mod tests {
    use job_sort_formula::fairshare::PolicyRules;
    use job_sort_formula::formula::Formula;
    use job_sort_formula::jobs::{Job, JobState};
    use job_sort_formula::python::Value;
    use job_sort_formula::rank::{OnError, ScorePrecision, score};
    use job_sort_formula::schema::Schema;

    use crate::files::fairshare_files::ResourceGroup;
    use crate::files::objects::Objects;
    use crate::order::*;

    /// Jobs by id, queue and cpus; `h` holds one.
    fn jobs(waiting: &[(&str, &str, i64)]) -> JobTable {
        let mut table = JobTable::new(["ncpus"]);
        for &(id, queue, ncpus) in waiting {
            let state = if id == "h" {
                JobState::Held
            } else {
                JobState::Queued
            };
            table
                .push(
                    &Job {
                        id,
                        queue,
                        state,
                        ..Job::default()
                    },
                    &[Ok(Value::Int(ncpus))],
                )
                .unwrap();
        }
        table
    }

    fn ranked(order: Order<'_>, formula: &str, table: &JobTable, on_error: OnError) -> Ordered {
        let program = Formula::parse(formula)
            .unwrap()
            .compile(&Schema::openpbs())
            .unwrap();
        order.order(
            score(&program, table, ScorePrecision::Float32, on_error),
            table,
        )
    }

    fn ids(ordered: &Ordered, table: &JobTable) -> String {
        ordered
            .ranking
            .order()
            .iter()
            .map(|&row| table.id(row))
            .collect()
    }

    const QUEUES: &str =
        "Queue a\n    Priority = 5\nQueue b\n    Priority = 5\nQueue low\n    Priority = -1\n";

    #[test]
    fn queues_of_one_priority_take_turns() {
        let table = jobs(&[
            ("1", "low", 9),
            ("2", "b", 1),
            ("3", "b", 2),
            ("4", "b", 3),
            ("5", "a", 1),
            ("h", "a", 99),
        ]);
        let queues = Queues::read("queues", &Objects::read(QUEUES)).unwrap();
        for (config, order) in [
            ("round_robin: true all\n", "54321"),
            ("by_queue: true\n", "54321"),
            ("by_queue: false\n", "14325"),
        ] {
            let config = SchedConfig::parse(config.as_bytes());
            let ordered = ranked(
                Order::new(&config, &queues),
                "ncpus",
                &table,
                OnError::ZeroLikePbs,
            );
            assert_eq!(ids(&ordered, &table), order);
        }
        let turns = jobs(&[
            ("1", "a", 1),
            ("2", "a", 2),
            ("3", "b", 3),
            ("4", "b", 4),
            ("5", "low", 5),
        ]);
        let config = SchedConfig::parse(b"round_robin: true\n");
        let ordered = ranked(
            Order::new(&config, &queues),
            "ncpus",
            &turns,
            OnError::ZeroLikePbs,
        );
        assert_eq!(ids(&ordered, &turns), "24135");
    }

    #[test]
    fn the_settings_of_prime_time_count() {
        let table = jobs(&[("1", "low", 9), ("2", "a", 1)]);
        let queues = Queues::read("queues", &Objects::read(QUEUES)).unwrap();
        let config = SchedConfig::parse(b"by_queue: false non_prime\nby_queue: true prime\n");
        let order = Order::new(&config, &queues);
        assert_eq!(
            ids(
                &ranked(order, "ncpus", &table, OnError::ZeroLikePbs),
                &table
            ),
            "21"
        );
    }

    #[test]
    fn a_job_that_does_not_exceed_the_threshold_is_not_considered() {
        let config = SchedConfig::default();
        let queues = Queues::default();
        let table = jobs(&[("1", "", 1), ("2", "", 2), ("3", "", 3), ("h", "", 1)]);
        let ordered = ranked(
            Order {
                threshold: 2.0,
                ..Order::new(&config, &queues)
            },
            "ncpus",
            &table,
            OnError::ZeroLikePbs,
        );
        assert_eq!(ids(&ordered, &table), "3");
        let texts: Vec<_> = ordered
            .not_considered
            .iter()
            .map(|(row, reason)| format!("{}: {reason}", table.id(*row)))
            .collect();
        assert_eq!(
            texts,
            [
                "1: Job's formula value 1 is under threshold 2",
                "2: Job's formula value 2 is under threshold 2"
            ]
        );
        let none = ranked(
            Order::new(&config, &queues),
            "-inf",
            &table,
            OnError::ZeroLikePbs,
        );
        assert_eq!(
            (none.ranking.order().len(), none.not_considered.len()),
            (0, 3)
        );
    }

    #[test]
    fn without_fairshare_enforce_no_shares_a_job_without_shares_is_the_last() {
        let groups = ResourceGroup::parse(b"a 10 root 0\nb 11 root 1\n");
        let document = groups.document(None, 0);
        let tree = PbsTree::build(&document, PolicyRules::Scheduler, [""; 0]).unwrap();
        let mut table = JobTable::new(["ncpus"]);
        for (id, entity) in [("1", "a"), ("2", "b")] {
            let job = Job {
                id,
                entity,
                ..Job::default()
            };
            table.push(&job, &[Ok(Value::Int(1))]).unwrap();
        }
        let queues = Queues::default();
        for (text, considered) in [
            ("fair_share: true\n", "2"),
            (
                "fair_share: true\nfairshare_enforce_no_shares: false\n",
                "21",
            ),
        ] {
            let config = SchedConfig::parse(text.as_bytes());
            let order = Order {
                tree: Some(&tree),
                ..Order::new(&config, &queues)
            };
            let ordered = ranked(order, "ncpus", &table, OnError::ZeroLikePbs);
            assert_eq!(ids(&ordered, &table), considered, "{text}");
        }
    }

    #[test]
    fn a_null_error_sorts_last() {
        let config = SchedConfig::default();
        let queues = Queues::default();
        let table = jobs(&[("1", "", 1), ("2", "", 2), ("3", "", 3)]);
        let ordered = ranked(
            Order::new(&config, &queues),
            "-5/(ncpus-1)",
            &table,
            OnError::Null,
        );
        assert_eq!(ids(&ordered, &table), "321");
        let ordered = ranked(
            Order::new(&config, &queues),
            "-5/(ncpus-1)",
            &table,
            OnError::ZeroLikePbs,
        );
        assert_eq!(ids(&ordered, &table), "132");
    }

    /// A key with the same value for all jobs decides nothing, but disables the fast path.
    #[test]
    fn the_fast_path_gives_the_same_order() {
        let mut table = JobTable::new(["ncpus"]);
        for number in 0..20_000i64 {
            let id = format!("{number}.vm");
            let queue = ["a", "b", "low"][number as usize % 3];
            let state = if number % 11 == 0 {
                JobState::Held
            } else {
                JobState::Queued
            };
            let job = Job {
                id: &id,
                queue,
                state,
                ..Job::default()
            };
            table
                .push(&job, &[Ok(Value::Int(number * 7919 % 1009 - 500))])
                .unwrap();
        }
        let queues = Queues::read("queues", &Objects::read(QUEUES)).unwrap();
        let configs = ["", "job_sort_key: \"preempt_priority HIGH\"\n"].map(|key| {
            SchedConfig::parse(
                format!("by_queue: false\npreemptive_sched: false\n{key}").as_bytes(),
            )
        });
        for formula in ["ncpus/8", "1/ncpus", "ncpus*inf", "5"] {
            for threshold in [NO_THRESHOLD, 0.0, -3.5] {
                for on_error in [OnError::ZeroLikePbs, OnError::Null] {
                    let [value_only, general] = configs.each_ref().map(|config| {
                        let order = Order {
                            threshold,
                            ..Order::new(config, &queues)
                        };
                        ranked(order, formula, &table, on_error)
                    });
                    assert_eq!(
                        value_only.ranking.order(),
                        general.ranking.order(),
                        "{formula} {threshold}"
                    );
                    assert_eq!(
                        value_only.not_considered, general.not_considered,
                        "{formula} {threshold}"
                    );
                }
            }
        }
    }
}
