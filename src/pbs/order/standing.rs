//! What decides between two jobs.

use std::cmp::Ordering;

use crate::jobs::JobTable;
use crate::pbs::fairshare_comparison::Path;
use crate::pbs::files::sched_config::{SortFirst, SortKey};
use crate::pbs::order::{Order, PassedOver};
use crate::pbs::share_tree::PbsTree;
use crate::rank::{Scores, by_value, higher_first, merge_sort};

/// All that jobs are compared by.
pub(super) struct Standings<'t> {
    table: &'t JobTable,
    threshold: f64,
    /// By row.
    values: Vec<f64>,
    /// By row: whether the scheduler looks for a place to run the job and does not pass it over.
    runnable: Vec<bool>,
    /// The rows whose error the caller puts behind all values: not OpenPBS's way, so no threshold holds for them.
    valueless: Vec<usize>,
    /// By queue, by their number in the table.
    express: Vec<bool>,
    /// By entity, by their number in the table.
    without_shares: Vec<bool>,
    /// The ways to the entities, by their number in the table; none where fair share does not count.
    paths: Vec<Path>,
    /// The values of each `job_sort_key`, turned so that the higher comes first.
    keys: Vec<Vec<f64>>,
}

impl<'t> Standings<'t> {
    pub(super) fn new(rules: &Order<'_>, scores: &Scores, table: &'t JobTable) -> Self {
        let values = scores.kept();
        let is_behind = |row: &usize| values[*row] == f64::NEG_INFINITY;
        let mut standings = Self {
            table,
            threshold: rules.threshold,
            valueless: scores.errors().map(|(row, _)| row).filter(is_behind).collect(),
            values,
            runnable: Vec::new(),
            express: table.queues().iter().map(|queue| rules.is_express(queue)).collect(),
            without_shares: table.entities().iter().map(|entity| has_no_shares(rules, entity)).collect(),
            paths: paths(rules, table),
            keys: Vec::new(),
        };
        let is_runnable = |row| table.is_considered(row) && standings.passed_over(row).is_none();
        standings.runnable = (0..table.len()).map(is_runnable).collect();
        standings.keys = rules.sort_keys().iter().map(|key| standings.key_values(key, rules.tree)).collect();
        standings
    }

    pub(super) fn is_runnable(&self, row: usize) -> bool {
        self.runnable.get(row) == Some(&true)
    }

    /// Why the scheduler does not look for a place to run a job that waits for one.
    pub(super) fn passed_over(&self, row: usize) -> Option<PassedOver> {
        if !self.table.is_considered(row) {
            return None;
        }
        if self.without_shares.get(self.table.entity_index(row)) == Some(&true) {
            return Some(PassedOver::NoShares);
        }
        let (value, threshold) = (*self.values.get(row)?, self.threshold);
        let counts = self.valueless.binary_search(&row).is_err();
        (counts && value <= threshold).then_some(PassedOver::UnderThreshold { value, threshold })
    }

    /// The rows that can run, best first, at most so many. `rows` stand in the order in which they were evaluated.
    pub(super) fn sorted(&self, mut rows: Vec<usize>, most: usize) -> Vec<usize> {
        let value_decides = self.paths.is_empty() && self.keys.is_empty();
        if value_decides && !rows.iter().any(|&row| self.values[row].is_nan()) {
            rows.retain(|&row| self.is_runnable(row));
            self.table.sort_by_submit_order(&mut rows);
            let (express, others) = match self.express.contains(&true) {
                true => rows.into_iter().partition(|&row| self.is_express(row)),
                false => (Vec::new(), rows),
            };
            let mut sorted = by_value(express, &self.values, most);
            sorted.extend(by_value(others, &self.values, most - sorted.len()));
            return sorted;
        }
        merge_sort(&mut rows, &mut |left: usize, right: usize| self.compare(left, right));
        rows.retain(|&row| self.is_runnable(row));
        rows.truncate(most);
        rows
    }

    fn is_express(&self, row: usize) -> bool {
        self.express.get(self.table.queue_index(row)) == Some(&true)
    }

    /// `Less` comes first.
    fn compare(&self, left: usize, right: usize) -> Ordering {
        let (a, b) = (self.table.entity_index(left), self.table.entity_index(right));
        self.is_runnable(right)
            .cmp(&self.is_runnable(left))
            .then_with(|| self.is_express(right).cmp(&self.is_express(left)))
            .then_with(|| higher_first(self.values[left], self.values[right]))
            .then_with(|| self.fair_share(a, b))
            .then_with(|| self.sort_keys(left, right))
            .then_with(|| self.table.submit_order(left).cmp(&self.table.submit_order(right)))
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

    /// The values of a key, turned so that the higher comes first.
    fn key_values(&self, key: &SortKey, tree: Option<&PbsTree>) -> Vec<f64> {
        let table = self.table;
        let column = column_of(key).and_then(|name| table.column(name));
        let percs: Vec<f64> = match (key.name.as_str(), tree) {
            ("fair_share_perc", Some(tree)) => {
                table.entities().iter().map(|entity| perc(tree, entity).unwrap_or(0.0)).collect()
            }
            _ => Vec::new(),
        };
        let value = |row: usize| match key.name.as_str() {
            "fair_share_perc" => percs.get(table.entity_index(row)).copied().unwrap_or(0.0),
            "preempt_priority" => f64::from(u8::from(self.is_express(row))),
            _ => column.map_or(0.0, |column| column.lane(row)),
        };
        let turned = |value: f64| if key.first == SortFirst::High { value } else { -value };
        (0..table.len()).map(|row| turned(value(row))).collect()
    }
}

fn has_no_shares(rules: &Order<'_>, entity: &str) -> bool {
    rules.active_tree().is_some_and(|tree| perc(tree, entity) == Some(0.0))
}

fn perc(tree: &PbsTree, entity: &str) -> Option<f64> {
    let node = tree.tree().find(entity)?;
    tree.shares().get(node).map(|shares| shares.fairshare_perc)
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
