//! The jobs that a question is about, by their ids, entities and queues, and what is said of names
//! that none has.

use std::collections::HashSet;

use job_sort_formula::JobTable;
use job_sort_formula::fairshare::{NodeId, ShareTree};
use job_sort_formula::jobs::{FoundJobs, UnknownJob};
use job_sort_formula::schema::suggestions::{MAX_COMPARED, did_you_mean};
use jsf_site::{Site, SiteError};
use serde::Deserialize;

use crate::answers::Warnings;
use crate::questions::values::listed_name;
use crate::view::words::count;

/// The most names that an error repeats, and for which similar ones are looked for.
pub(crate) const MAX_UNKNOWN: usize = 10;

/// The jobs that a question is about.
#[derive(Debug, Clone, Default, Deserialize, clap::Args)]
#[serde(default)]
pub struct NamedJobs {
    /// The job, such as 12 or 12.vm
    ///
    /// With or without the server's name: 12 or 12.vm; an array is 12[], and a subjob has its index
    /// in the brackets; separate several by commas, or repeat the option
    #[serde(rename = "jobs")]
    #[arg(long, value_name = "ID", value_delimiter = ',', value_parser = listed_name)]
    pub job: Vec<String>,
}

/// Whose jobs a question is about; those of all if nothing is given.
#[derive(Debug, Clone, Default, Deserialize, clap::Args)]
#[serde(default)]
pub struct NamedEntities {
    /// Show only jobs of this entity
    ///
    /// The jobs of this fair-share entity, or of all entities below this group, with their places
    /// in the whole queue; separate several by commas, or repeat the option
    // users know their own name, and not what an entity is
    #[serde(rename = "entities")]
    #[arg(long, visible_alias = "user", value_name = "NAME", value_delimiter = ',', value_parser = listed_name)]
    pub entity: Vec<String>,
}

/// The queues whose jobs a question is about; all of them if nothing is given.
#[derive(Debug, Clone, Default, Deserialize, clap::Args)]
#[serde(default)]
pub struct NamedQueues {
    /// Show only the jobs of this queue
    ///
    /// Separate several by commas, or repeat the option
    #[serde(rename = "queues")]
    #[arg(long, value_name = "NAME", value_delimiter = ',', value_parser = listed_name)]
    pub queue_name: Vec<String>,
}

/// The rows of jobs, each once, in the order in which they are named; none if none is. Warns of
/// those that do not exist.
///
/// # Errors
/// None of them exists.
pub(crate) fn named_rows(
    named: &NamedJobs,
    site: &Site,
    table: &JobTable,
    warnings: &mut Warnings,
) -> Result<Vec<usize>, SiteError> {
    let ids = job_ids(&named.job, site);
    let FoundJobs { rows, unmatched } = table.find_all_jobs(&ids);
    let is_one = unmatched.len() == 1;
    let unmatched = unknown_job_sentences(&unmatched, is_one, site, table);
    if rows.is_empty() && !ids.is_empty() {
        return Err(unknown_jobs_error(unmatched));
    }
    warnings.add(unmatched);
    Ok(rows)
}

/// The rows of the jobs to show, in their order. Warns of what matches no job.
///
/// # Errors
/// None of the jobs, entities and queues of the filter exists.
pub(crate) fn selected_rows(
    filter: JobFilter<'_>,
    rows: Vec<usize>,
    site: &Site,
    table: &JobTable,
    warnings: &mut Warnings,
) -> Result<Vec<usize>, SiteError> {
    if filter.is_empty() {
        return Ok(rows);
    }
    let tree = match filter.entities {
        [] => None,
        _ => site.tree_of_jobs(table)?,
    };
    let jobs = job_ids(filter.jobs, site);
    let filter = JobFilter {
        jobs: &jobs,
        ..filter
    };
    let filtered = filter.select(rows, table, tree.as_ref());
    let is_one = filtered.unknown_jobs.len() + filtered.unmatched.len() == 1;
    let mut unmatched = unknown_job_sentences(&filtered.unknown_jobs, is_one, site, table);
    unmatched.extend(filtered.unmatched);
    if !filtered.has_known && !filter.queues.iter().any(|name| site.has_queue(name)) {
        return Err(unknown_jobs_error(unmatched));
    }
    warnings.add(unmatched);
    Ok(filtered.rows)
}

/// The ids as the jobs of the site have them.
fn job_ids(given: &[String], site: &Site) -> Vec<String> {
    given.iter().map(|id| site.job_id(id).to_owned()).collect()
}

/// What is said of ids that no job has: that the job has ended, or how jobs are called. `is_one`:
/// nothing else that was asked for is missing.
fn unknown_job_sentences(
    unknown: &[UnknownJob],
    is_one: bool,
    site: &Site,
    table: &JobTable,
) -> Vec<String> {
    let mut sentences = Vec::new();
    for job in unknown {
        let mut sentence = job.to_string();
        if let Some(ended) = site.ended_job(&job.id) {
            sentence = ended;
        } else if is_one && job.similar.is_empty() && !table.is_empty() {
            let jobs = count(table.len(), "job");
            sentence += &format!("; there are {jobs}, such as `{}`", table.id(0));
        }
        sentences.push(sentence);
    }
    sentences
}

/// The error if nothing that is asked for exists.
pub(crate) fn unknown_jobs_error(mut unknown: Vec<String>) -> SiteError {
    let more = unknown.len().saturating_sub(MAX_UNKNOWN);
    unknown.truncate(MAX_UNKNOWN);
    if more > 0 {
        unknown.push(format!("and {}", count(more, "more name")));
    }
    SiteError::Missing(unknown.join("; ").into())
}

/// What is said if each filter by itself matches a job, and no job matches them all.
pub(crate) const NO_MATCH: &str = "no job matches all of the filters";

/// The jobs to show; an empty list does not restrict them.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct JobFilter<'a> {
    /// The ids, with or without the server: `12` or `12.vm`.
    pub(crate) jobs: &'a [String],
    /// The fair-share entities, or groups, which mean all entities in them.
    pub(crate) entities: &'a [String],
    /// The queues.
    pub(crate) queues: &'a [String],
}

/// The rows that a filter leaves.
#[derive(Debug, Clone)]
struct Filtered {
    /// The rows, in their order.
    rows: Vec<usize>,
    /// The ids that no job has.
    unknown_jobs: Vec<UnknownJob>,
    /// What else matches no job, and which names are similar, one sentence each.
    unmatched: Vec<String>,
    /// Whether a job, an entity or a queue of the filter exists, in the table or in the tree.
    has_known: bool,
}

impl JobFilter<'_> {
    /// Whether all jobs are shown.
    pub(crate) fn is_empty(&self) -> bool {
        self.jobs.is_empty() && self.entities.is_empty() && self.queues.is_empty()
    }

    /// Keeps the rows of the jobs to show; `tree` contains the groups.
    fn select(&self, mut rows: Vec<usize>, table: &JobTable, tree: Option<&ShareTree>) -> Filtered {
        let FoundJobs {
            rows: found,
            unmatched: unknown_jobs,
        } = table.find_all_jobs(self.jobs);
        let mut unmatched = Vec::new();
        let mut has_known = !found.is_empty();
        if !self.entities.is_empty() {
            let (wanted, is_known) =
                select_entities(self.entities, &rows, table, tree, &mut unmatched);
            has_known |= is_known;
            rows.retain(|&row| wanted[table.entity_index(row)]);
        }
        if !self.queues.is_empty() {
            let queues = table.queues().iter().map(|queue| &**queue);
            // sets, as a filter and a queue may have tens of thousands of names
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
        // otherwise it is said already why no job is shown
        let all_match = unknown_jobs.is_empty() && unmatched.is_empty();
        if rows.is_empty() && all_match && !self.is_empty() && !table.is_empty() {
            unmatched.push(NO_MATCH.to_owned());
        }
        Filtered {
            rows,
            unknown_jobs,
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
    let known: HashSet<&str> = entities.iter().map(AsRef::as_ref).collect();
    // the entities that have rows, and the nodes that these are or are below, collected once: to
    // compare each name with each entity takes the product of their numbers
    let mut with_rows: HashSet<&str> = HashSet::new();
    with_rows.extend(rows.iter().map(|&row| table.entity(row)));
    let mut nodes_with_rows: HashSet<NodeId> = HashSet::new();
    for entity in &with_rows {
        nodes_with_rows.extend(paths_of(entity, tree));
    }
    let mut wanted: HashSet<&str> = HashSet::new();
    let mut wanted_nodes: HashSet<NodeId> = HashSet::new();
    let mut has_known = false;
    let mut unknown = 0;
    for name in names {
        if !wanted.insert(name) {
            continue;
        }
        let named = match tree {
            Some(tree) => tree.candidates(name),
            None => Vec::new(),
        };
        wanted_nodes.extend(&named);
        has_known |= known.contains(&**name) || !named.is_empty();
        if with_rows.contains(&**name) || named.iter().any(|node| nodes_with_rows.contains(node)) {
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
    let mut is_wanted = Vec::new();
    for entity in entities {
        let mut path = paths_of(entity, tree).into_iter();
        let is_below = path.any(|node| wanted_nodes.contains(&node));
        is_wanted.push(is_below || wanted.contains(&**entity));
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

    use job_sort_formula::fairshare::{Member, Naming, TreeBuilder};
    use job_sort_formula::jobs::Job;

    use super::*;

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
                ..
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
