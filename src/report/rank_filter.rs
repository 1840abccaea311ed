//! Which jobs of a ranking are shown.

use crate::fairshare::{NodeId, ShareTree};
use crate::jobs::JobTable;
use crate::report::RankedRow;
use crate::schema::suggestions::nearest;

/// A search for similar names looks at this many at most.
const MAX_COMPARED: usize = 100_000;

/// The jobs to show; an empty list or `None` does not restrict them.
#[derive(Debug, Clone, Copy, Default)]
pub struct JobFilter<'a> {
    /// The ids, with or without the server: `12` or `12.vm`.
    pub jobs: &'a [String],
    /// The fair-share entities, or groups, which mean all entities below them.
    pub entities: &'a [String],
    /// The queue.
    pub queue: Option<&'a str>,
}

/// The rows that a filter leaves.
#[derive(Debug, Clone)]
pub struct Filtered {
    /// The rows, in their order.
    pub rows: Vec<RankedRow>,
    /// What matches no job, and which names are similar, one sentence each.
    pub unmatched: Vec<String>,
}

impl JobFilter<'_> {
    /// Whether all jobs are shown.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.entities.is_empty() && self.queue.is_none()
    }

    /// Keeps the rows of the jobs to show; `tree` contains the groups.
    pub fn select(&self, mut rows: Vec<RankedRow>, table: &JobTable, tree: Option<&ShareTree>) -> Filtered {
        let mut unmatched = self.unmatched_jobs(table);
        if !self.entities.is_empty() {
            let mut wanted = vec![false; table.entities().len()];
            for name in self.entities {
                let named = entities(name, table, tree);
                if !rows.iter().any(|ranked| named[table.entity_index(ranked.row())]) {
                    unmatched.push(no_entity(name, table, tree));
                }
                wanted.iter_mut().zip(named).for_each(|(wanted, named)| *wanted |= named);
            }
            rows.retain(|ranked| wanted[table.entity_index(ranked.row())]);
        }
        if let Some(name) = self.queue {
            let is_known = table.queues().iter().any(|queue| **queue == *name);
            if !is_known {
                let similar = similar(name, table.queues().iter().map(|queue| &**queue));
                unmatched.push(format!("no job is in queue `{name}`{similar}"));
            }
            rows.retain(|ranked| table.queue(ranked.row()) == name);
        }
        if !self.jobs.is_empty() {
            rows.retain(|ranked| self.jobs.iter().any(|wanted| is_job(table.id(ranked.row()), wanted)));
        }
        if rows.is_empty() && unmatched.is_empty() && !self.is_empty() && !table.is_empty() {
            unmatched.push("no job matches all of the filters".to_owned());
        }
        Filtered { rows, unmatched }
    }

    fn unmatched_jobs(&self, table: &JobTable) -> Vec<String> {
        let is_missing = |wanted: &&String| !(0..table.len()).any(|row| is_job(table.id(row), wanted));
        let message = |wanted: &String| {
            let ids = (0..table.len().min(MAX_COMPARED)).map(|row| table.id(row));
            let arrays: Vec<String> =
                ids.clone().filter(|id| is_array(id, wanted)).take(3).map(|id| format!("`{id}`")).collect();
            match arrays.as_slice() {
                [] => format!("no job is called `{wanted}`{}", similar(wanted, ids)),
                arrays => format!("no job is called `{wanted}`; did you mean the array {}?", arrays.join(" or ")),
            }
        };
        self.jobs.iter().filter(is_missing).map(message).collect()
    }
}

/// Whether a job has this id, given with or without the server or with a shorter name of it.
fn is_job(id: &str, wanted: &str) -> bool {
    let (number, server) = id.split_once('.').unwrap_or((id, ""));
    let (wanted_number, wanted_server) = wanted.split_once('.').unwrap_or((wanted, ""));
    let host = |server: &str| server.split('.').next().map(str::to_owned);
    let is_short = !server.contains('.') || !wanted_server.contains('.');
    let same_server = server == wanted_server
        || server.is_empty()
        || wanted_server.is_empty()
        || is_short && host(server) == host(wanted_server);
    number == wanted_number && same_server
}

/// Whether the id is that of an array or a subjob with this number, given without its brackets.
fn is_array(id: &str, wanted: &str) -> bool {
    let (number, server) = wanted.split_once('.').unwrap_or((wanted, ""));
    let Some((before, rest)) = id.split_once('[') else { return false };
    let Some((index, _)) = rest.split_once(']') else { return false };
    let dot = if server.is_empty() { "" } else { "." };
    before == number && is_job(id, &format!("{number}[{index}]{dot}{server}"))
}

/// By index of the table: whether the entity has this name or is below the group of this name.
fn entities(name: &str, table: &JobTable, tree: Option<&ShareTree>) -> Vec<bool> {
    let groups: Vec<NodeId> = tree.map(|tree| tree.candidates(name)).unwrap_or_default();
    let is_below = |entity: &str| {
        let Some(tree) = tree.filter(|_| !groups.is_empty()) else { return false };
        let mut nodes = tree.candidates(entity).into_iter();
        nodes.any(|node| groups.contains(&node) || tree.ancestors(node).any(|above| groups.contains(&above)))
    };
    table.entities().iter().map(|entity| **entity == *name || is_below(entity)).collect()
}

fn no_entity(name: &str, table: &JobTable, tree: Option<&ShareTree>) -> String {
    if tree.is_some_and(|tree| !tree.candidates(name).is_empty()) {
        return format!("no job belongs to `{name}`, which is in the fair-share tree");
    }
    let in_tree = tree.into_iter().flat_map(|tree| tree.nodes().map(|node| tree.name(node)));
    let names = table.entities().iter().map(|entity| &**entity).chain(in_tree).take(MAX_COMPARED);
    format!("no job belongs to an entity or a group `{name}`{}", similar(name, names))
}

/// `; did you mean …?` with the names that are similar.
fn similar<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let mut near: Vec<&str> = nearest(name, known.filter(|known| !known.is_empty()));
    near.dedup();
    match near.as_slice() {
        [] => String::new(),
        near => {
            format!("; did you mean {}?", near.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_matches_with_and_without_its_server() {
        for (id, wanted, expected) in [
            ("12.vm", "12", true),
            ("12.vm", "12.vm", true),
            ("12.vm.example.org", "12.vm", true),
            ("12.vm", "12.vm.example.org", true),
            ("12", "12.vm", true),
            ("12[3].vm", "12[3]", true),
            ("12[3].vm", "12", false),
            ("12.vm", "1", false),
            ("12.vm", "12.other", false),
            ("12.vm.a.org", "12.vm.b.org", false),
        ] {
            assert_eq!(is_job(id, wanted), expected, "{id} {wanted}");
        }
    }
}
