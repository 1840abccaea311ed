//! Which jobs of a ranking are shown.

use std::collections::HashSet;

use crate::fairshare::{NodeId, ShareTree};
use crate::jobs::JobTable;
use crate::report::RankedRow;
use crate::schema::suggestions::{MAX_COMPARED, did_you_mean};

/// The jobs to show; an empty list does not restrict them.
#[derive(Debug, Clone, Copy, Default)]
pub struct JobFilter<'a> {
    /// The ids, with or without the server: `12` or `12.vm`.
    pub jobs: &'a [String],
    /// The fair-share entities, or groups, which mean all entities in them.
    pub entities: &'a [String],
    /// The queues.
    pub queues: &'a [String],
}

/// The rows that a filter leaves.
#[derive(Debug, Clone)]
pub struct Filtered {
    /// The rows, in their order.
    pub rows: Vec<RankedRow>,
    /// What matches no job, and which names are similar, one sentence each.
    pub unmatched: Vec<String>,
    /// Whether a job, an entity or a queue of the filter exists, in the table or in the tree.
    pub has_known: bool,
}

impl JobFilter<'_> {
    /// Whether all jobs are shown.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.entities.is_empty() && self.queues.is_empty()
    }

    /// Keeps the rows of the jobs to show; `tree` contains the groups.
    pub fn select(&self, mut rows: Vec<RankedRow>, table: &JobTable, tree: Option<&ShareTree>) -> Filtered {
        let found: Vec<Result<Vec<usize>, String>> = self.jobs.iter().map(|wanted| table.find_jobs(wanted)).collect();
        let mut unmatched: Vec<String> = found.iter().filter_map(|found| found.as_ref().err().cloned()).collect();
        let mut has_known = unmatched.len() < self.jobs.len();
        if !self.entities.is_empty() {
            let mut wanted = vec![false; table.entities().len()];
            for name in self.entities {
                let named = matching_entities(name, table, tree);
                has_known |= named.contains(&true) || tree.is_some_and(|tree| !tree.candidates(name).is_empty());
                if !rows.iter().any(|ranked| named[table.entity_index(ranked.row())]) {
                    unmatched.push(unmatched_entity(name, table, tree));
                }
                wanted.iter_mut().zip(named).for_each(|(wanted, named)| *wanted |= named);
            }
            rows.retain(|ranked| wanted[table.entity_index(ranked.row())]);
        }
        if !self.queues.is_empty() {
            for name in self.queues {
                let is_known = table.queues().iter().any(|queue| **queue == **name);
                has_known |= is_known;
                if !is_known {
                    let similar = did_you_mean(name, table.queues().iter().map(|queue| &**queue));
                    unmatched.push(format!("no job is in queue `{name}`{similar}"));
                }
            }
            rows.retain(|ranked| self.queues.iter().any(|queue| table.queue(ranked.row()) == queue));
        }
        if !self.jobs.is_empty() {
            let found: HashSet<usize> = found.into_iter().flatten().flatten().collect();
            rows.retain(|ranked| found.contains(&ranked.row()));
        }
        if rows.is_empty() && unmatched.is_empty() && !self.is_empty() && !table.is_empty() {
            unmatched.push("no job matches all of the filters".to_owned());
        }
        Filtered { rows, unmatched, has_known }
    }
}

/// For each entity of the table, whether it has this name or is in a group of this name.
fn matching_entities(name: &str, table: &JobTable, tree: Option<&ShareTree>) -> Vec<bool> {
    let groups: Vec<NodeId> = tree.map(|tree| tree.candidates(name)).unwrap_or_default();
    let is_below = |entity: &str| {
        let Some(tree) = tree.filter(|_| !groups.is_empty()) else { return false };
        let mut nodes = tree.candidates(entity).into_iter();
        nodes.any(|node| groups.contains(&node) || tree.ancestors(node).any(|above| groups.contains(&above)))
    };
    table.entities().iter().map(|entity| **entity == *name || is_below(entity)).collect()
}

/// Says that no job belongs to the entity or group of this name, and which names are similar.
fn unmatched_entity(name: &str, table: &JobTable, tree: Option<&ShareTree>) -> String {
    if tree.is_some_and(|tree| !tree.candidates(name).is_empty()) {
        return format!("no job belongs to `{name}`, which is in the fair-share tree");
    }
    let in_tree = tree.into_iter().flat_map(|tree| tree.nodes().map(|node| tree.name(node)));
    let names = table.entities().iter().map(|entity| &**entity).chain(in_tree).take(MAX_COMPARED);
    format!("no job belongs to an entity or a group `{name}`{}", did_you_mean(name, names))
}
