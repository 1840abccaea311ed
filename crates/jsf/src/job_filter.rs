//! Which jobs of a ranking are shown.

use std::collections::{HashMap, HashSet};
use std::iter;

use job_sort_formula::Ranking;
use job_sort_formula::fairshare::{NodeId, ShareTree};
use job_sort_formula::jobs::{FoundJobs, JobTable};
use job_sort_formula::schema::suggestions::{MAX_COMPARED, did_you_mean};

/// Every row of a ranking: the ranked ones first, then the others.
pub fn all_rows(ranking: &Ranking) -> Vec<usize> {
    let mut rows = ranking.order().to_vec();
    let mut is_ranked = vec![false; ranking.scores().len()];
    for &row in &rows {
        is_ranked[row] = true;
    }
    for (row, is_ranked) in is_ranked.into_iter().enumerate() {
        if !is_ranked {
            rows.push(row);
        }
    }
    rows
}

/// What is said if each filter by itself matches a job, and no job matches them all.
pub const NO_MATCH: &str = "no job matches all of the filters";

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
    pub rows: Vec<usize>,
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
    pub fn select(
        &self,
        mut rows: Vec<usize>,
        table: &JobTable,
        tree: Option<&ShareTree>,
    ) -> Filtered {
        let FoundJobs {
            rows: found,
            mut unmatched,
        } = table.find_all_jobs(self.jobs);
        let mut has_known = !found.is_empty();
        if !self.entities.is_empty() {
            let (wanted, is_known) =
                select_entities(self.entities, &rows, table, tree, &mut unmatched);
            has_known |= is_known;
            rows.retain(|&row| wanted[table.entity_index(row)]);
        }
        if !self.queues.is_empty() {
            let queues = table.queues().iter().map(|queue| &**queue);
            let known: HashSet<&str> = queues.clone().collect();
            let wanted: HashSet<&str> = self.queues.iter().map(String::as_str).collect();
            let mut unknown = 0;
            for name in self.queues {
                if known.contains(name.as_str()) {
                    has_known = true;
                } else {
                    let similar = did_you_mean(name, known_names(unknown, queues.clone()));
                    unmatched.push(format!("no job is in queue `{name}`{similar}"));
                    unknown += 1;
                }
            }
            rows.retain(|&row| wanted.contains(table.queue(row)));
        }
        if !self.jobs.is_empty() {
            let found = HashSet::<usize>::from_iter(found);
            rows.retain(|row| found.contains(row));
        }
        if rows.is_empty() && unmatched.is_empty() && !self.is_empty() && !table.is_empty() {
            unmatched.push(NO_MATCH.to_owned());
        }
        Filtered {
            rows,
            unmatched,
            has_known,
        }
    }
}

/// Whether each entity of the table has one of the names, or is in a group of such a name; and
/// whether any of the names exists. Names that match no row are added to `unmatched`.
fn select_entities(
    names: &[String],
    rows: &[usize],
    table: &JobTable,
    tree: Option<&ShareTree>,
    unmatched: &mut Vec<String>,
) -> (Vec<bool>, bool) {
    let entities = table.entities();
    let mut has_rows = vec![false; entities.len()];
    for &row in rows {
        has_rows[table.entity_index(row)] = true;
    }
    let mut paths = Vec::new();
    let mut nodes_with_rows: HashSet<NodeId> = HashSet::new();
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    for (index, name) in entities.iter().enumerate() {
        let path = paths_of(name, tree);
        if has_rows[index] {
            nodes_with_rows.extend(&path);
        }
        paths.push(path);
        by_name.insert(name, index);
    }
    let mut is_wanted = vec![false; entities.len()];
    let mut wanted_nodes: HashSet<NodeId> = HashSet::new();
    let mut has_known = false;
    let mut unknown = 0;
    let mut seen = HashSet::new();
    for name in names.iter().filter(|name| seen.insert(name.as_str())) {
        let mut is_matched = false;
        let entity = by_name.get(name.as_str());
        if let Some(&entity) = entity {
            is_wanted[entity] = true;
            is_matched = has_rows[entity];
        }
        let named = match tree {
            Some(tree) => tree.candidates(name),
            None => Vec::new(),
        };
        is_matched |= named.iter().any(|node| nodes_with_rows.contains(node));
        wanted_nodes.extend(&named);
        has_known |= entity.is_some() || !named.is_empty();
        if is_matched {
            continue;
        }
        if !named.is_empty() {
            unmatched.push(format!(
                "no job belongs to `{name}`, which is in the fair-share tree"
            ));
            continue;
        }
        let nodes = tree.into_iter().flat_map(node_names);
        let known = entities.iter().map(AsRef::as_ref).chain(nodes);
        let similar = did_you_mean(name, known_names(unknown, known));
        unmatched.push(format!(
            "no job belongs to an entity or a group `{name}`{similar}"
        ));
        unknown += 1;
    }
    for (is_wanted, path) in iter::zip(&mut is_wanted, &paths) {
        *is_wanted |= path.iter().any(|node| wanted_nodes.contains(node));
    }
    (is_wanted, has_known)
}

fn node_names(tree: &ShareTree) -> impl Iterator<Item = &str> {
    tree.nodes().map(|node| tree.name(node))
}

/// The nodes that an entity may be, and those above them.
fn paths_of(entity: &str, tree: Option<&ShareTree>) -> Vec<NodeId> {
    let mut nodes = Vec::new();
    if let Some(tree) = tree {
        for node in tree.candidates(entity) {
            nodes.push(node);
            nodes.extend(tree.ancestors(node));
        }
    }
    nodes
}

/// The most unknown names for which similar ones are searched: each search compares all names.
const MAX_SUGGESTED: usize = 3;

/// The names that are compared with an unknown one, before which `number` others were unknown.
fn known_names<'a>(
    number: usize,
    names: impl Iterator<Item = &'a str>,
) -> impl Iterator<Item = &'a str> {
    let is_compared = number < MAX_SUGGESTED;
    let most = if is_compared { MAX_COMPARED } else { 0 };
    names.take(most)
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;
    use job_sort_formula::fairshare::{Member, Naming, TreeBuilder};
    use job_sort_formula::jobs::Job;

    /// Whether an entity has the name or is in a group of it, found by comparing it with every
    /// group.
    fn is_named(entity: &str, name: &str, tree: &ShareTree) -> bool {
        let groups = tree.candidates(name);
        let nodes = tree
            .candidates(entity)
            .into_iter()
            .flat_map(|node| iter::once(node).chain(tree.ancestors(node)));
        entity == name || nodes.into_iter().any(|node| groups.contains(&node))
    }

    struct Random(u64);

    impl Random {
        fn below(&mut self, below: usize) -> usize {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % below
        }

        fn names(&mut self, count: usize) -> Vec<String> {
            let names = (0..count).map(|_| match self.below(4) {
                0 => format!("n{}/n{}", self.below(8), self.below(8)),
                _ => format!("n{}", self.below(10)),
            });
            names.collect()
        }
    }

    fn table(entities: &[String]) -> (JobTable, Vec<usize>) {
        let mut table = JobTable::new([""; 0]);
        for (row, entity) in entities.iter().enumerate() {
            table
                .push(
                    &Job {
                        id: &format!("{row}.vm"),
                        entity,
                        ..Job::default()
                    },
                    &[],
                )
                .expect("a new id");
        }
        (table, (0..entities.len()).collect())
    }

    #[test]
    fn many_names_select_as_each_by_itself() {
        let mut random = Random(1);
        for _ in 0..200 {
            let mut builder = TreeBuilder::new("root").naming(Naming::PerGroup);
            let mut groups = vec![builder.root()];
            for _ in 0..15 {
                let parent = groups[random.below(groups.len())];
                let name = format!("n{}", random.below(8));
                if random.below(2) == 0 {
                    groups.extend(builder.add(parent, Member::group(name)));
                } else {
                    // a group may have the name already
                    let _ = builder.add(parent, Member::entity(name));
                }
            }
            let tree = builder.finish();
            let entities = random.names(6);
            let names = random.names(4);
            let (table, mut rows) = table(&entities);
            rows.retain(|_| random.below(4) > 0);
            let filter = JobFilter {
                entities: &names,
                ..JobFilter::default()
            };
            let Filtered {
                rows: found,
                unmatched,
                has_known,
            } = filter.select(rows.clone(), &table, Some(&tree));
            let wanted = rows.iter().copied().filter(|row| {
                names
                    .iter()
                    .any(|name| is_named(table.entity(*row), name, &tree))
            });
            assert_eq!(found, wanted.collect::<Vec<_>>(), "{names:?}");
            let without_jobs: HashSet<&String> = names
                .iter()
                .filter(|name| {
                    rows.iter()
                        .all(|row| !is_named(table.entity(*row), name, &tree))
                })
                .collect();
            assert_eq!(unmatched.len(), without_jobs.len(), "{unmatched:?}");
            let exist = names
                .iter()
                .any(|name| entities.contains(name) || !tree.candidates(name).is_empty());
            assert_eq!(has_known, exist, "{names:?}");
            for name in without_jobs {
                assert!(
                    unmatched
                        .iter()
                        .any(|one| one.contains(&format!("`{name}`"))),
                    "{name}: {unmatched:?}"
                );
            }
        }
    }

    #[test]
    fn tens_of_thousands_of_names_are_not_compared_with_every_entity() {
        let names: Vec<String> = (0..80_000).map(|number| format!("u{number}")).collect();
        let mut builder = TreeBuilder::new("root");
        for name in &names[..60_000] {
            builder
                .add(builder.root(), Member::entity(name.clone()))
                .expect("sound");
        }
        let tree = builder.finish();
        let (table, rows) = table(&names[..50_000]);
        let filter = JobFilter {
            entities: &names[40_000..],
            ..JobFilter::default()
        };
        let Filtered {
            rows, unmatched, ..
        } = filter.select(rows, &table, Some(&tree));
        assert_eq!((rows.len(), unmatched.len()), (10_000, 30_000));
        assert!(
            unmatched[0].ends_with("which is in the fair-share tree"),
            "{}",
            unmatched[0]
        );
    }
}
