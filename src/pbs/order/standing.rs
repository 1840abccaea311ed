//! What decides between two jobs.

use std::cmp::Ordering;

use super::{Order, PassedOver};
use crate::jobs::JobTable;
use crate::pbs::deserving::Path;
use crate::pbs::sched_config::{SortFirst, SortKey};
use crate::pbs::share_tree::PbsTree;
use crate::rank::{Score, higher_first};

/// All that jobs are compared by, by row of the table.
pub(super) struct Standings {
    jobs: Vec<Standing>,
    /// The ways to the entities, by their number in the table; none where fair share does not count.
    paths: Vec<Path>,
    /// The values of each `job_sort_key`, turned so that the higher comes first.
    keys: Vec<Vec<f64>>,
}

#[derive(Clone, Copy)]
struct Standing {
    /// Whether the scheduler looks for a place to run the job.
    waits: bool,
    passed_over: Option<PassedOver>,
    is_express: bool,
    value: f64,
    entity: usize,
    submission: (i64, usize),
}

impl Standings {
    pub(super) fn new(rules: &Order<'_>, scores: &[Option<Score>], table: &JobTable) -> Self {
        let express: Vec<bool> = table.queues().iter().map(|queue| rules.is_express(queue)).collect();
        let has_no_shares: Vec<bool> = table.entities().iter().map(|entity| has_no_shares(rules, entity)).collect();
        let standing = |row: usize| {
            let score = scores.get(row).and_then(Option::as_ref);
            let value = score.map_or(0.0, |score| score.kept);
            // an error that the caller puts behind all values is not OpenPBS's way, and no threshold holds for it
            let has_value = value != f64::NEG_INFINITY || score.is_some_and(|score| score.exact.is_ok());
            let (waits, entity) = (table.is_considered(row), table.entity_index(row));
            let passed_over = if has_no_shares.get(entity) == Some(&true) {
                Some(PassedOver::NoShares)
            } else {
                let threshold = rules.threshold;
                (has_value && value <= threshold).then_some(PassedOver::UnderThreshold { value, threshold })
            };
            let passed_over = passed_over.filter(|_| waits);
            let is_express = express.get(table.queue_index(row)) == Some(&true);
            Standing { waits, passed_over, is_express, value, entity, submission: table.submission(row) }
        };
        let jobs: Vec<_> = (0..table.len()).map(standing).collect();
        let keys = rules.sort_keys().iter().map(|key| key_values(key, rules.tree, table, &jobs)).collect();
        Self { jobs, paths: paths(rules, table), keys }
    }

    pub(super) fn is_runnable(&self, row: usize) -> bool {
        self.jobs.get(row).is_some_and(|job| job.waits && job.passed_over.is_none())
    }

    pub(super) fn passed_over(&self, row: usize) -> Option<PassedOver> {
        self.jobs.get(row)?.passed_over
    }

    /// `Less` comes first.
    pub(super) fn compare(&self, left: usize, right: usize) -> Ordering {
        let (Some(a), Some(b)) = (self.jobs.get(left), self.jobs.get(right)) else { return Ordering::Equal };
        self.is_runnable(right)
            .cmp(&self.is_runnable(left))
            .then_with(|| b.is_express.cmp(&a.is_express))
            .then_with(|| higher_first(a.value, b.value))
            .then_with(|| self.fair_share(a.entity, b.entity))
            .then_with(|| self.sort_keys(left, right))
            .then_with(|| a.submission.cmp(&b.submission))
    }

    fn fair_share(&self, left: usize, right: usize) -> Ordering {
        match (self.paths.get(left), self.paths.get(right)) {
            (Some(left), Some(right)) => left.compare(right),
            _ => Ordering::Equal,
        }
    }

    fn sort_keys(&self, left: usize, right: usize) -> Ordering {
        let orders = self.keys.iter().map(|values| higher_first(values[left], values[right]));
        orders.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }
}

fn has_no_shares(rules: &Order<'_>, entity: &str) -> bool {
    rules.active_tree().is_some_and(|tree| perc(tree, entity) == Some(0.0))
}

fn perc(tree: &PbsTree, entity: &str) -> Option<f64> {
    let node = tree.tree().find(entity)?;
    tree.shares().of(node).map(|shares| shares.fairshare_perc)
}

fn paths(rules: &Order<'_>, table: &JobTable) -> Vec<Path> {
    let Some(tree) = rules.active_tree() else { return Vec::new() };
    let path = |entity: &str| tree.tree().find(entity).map_or_else(Path::default, |node| Path::to(tree, node));
    table.entities().iter().map(|entity| path(entity)).collect()
}

/// The column that a key reads; `None` for one that reads no input of the job.
pub(super) fn column_of(key: &SortKey) -> Option<&str> {
    match key.name.as_str() {
        "fair_share_perc" | "preempt_priority" => None,
        "sort_priority" => Some("job_priority"),
        name => Some(name),
    }
}

fn key_values(key: &SortKey, tree: Option<&PbsTree>, table: &JobTable, jobs: &[Standing]) -> Vec<f64> {
    let column = column_of(key).and_then(|name| table.column(name));
    let percs: Vec<f64> = match (key.name.as_str(), tree) {
        ("fair_share_perc", Some(tree)) => {
            table.entities().iter().map(|entity| perc(tree, entity).unwrap_or(0.0)).collect()
        }
        _ => Vec::new(),
    };
    let value = |row: usize| match key.name.as_str() {
        "fair_share_perc" => percs.get(table.entity_index(row)).copied().unwrap_or(0.0),
        "preempt_priority" => f64::from(u8::from(jobs[row].is_express)),
        _ => column.map_or(0.0, |column| column.lane(row)),
    };
    let turned = |value: f64| if key.first == SortFirst::High { value } else { -value };
    (0..table.len()).map(|row| turned(value(row))).collect()
}
