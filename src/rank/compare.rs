//! Two rankings of the same jobs: which jobs move, how far the orders agree, and who gains and who
//! loses.
//!
//! In: the [`Ranking`]s, an old and a new one, and the fair-share tree. Out: a [`Comparison`].

use std::cmp::Ordering;
use std::collections::HashMap;

use serde::{Serialize, Serializer};

use super::Ranking;
use super::measures::{gini_coefficient, jain_index, tau_b};
use crate::fairshare::{AssessedTree, NodeId};
use crate::jobs::{Column, JobTable};

/// The numbers of first jobs that are compared.
const TOPS: [usize; 2] = [10, 100];
/// Fairness is measured on the first tenth of the queue, but on at least this many jobs.
const MIN_FIRST: usize = 10;
/// The greatest sizes of the size classes; larger jobs have a class of their own.
const SIZE_CLASSES: [f64; 5] = [1.0, 8.0, 64.0, 512.0, 4096.0];
/// The inputs that may give the size of a job; the first one that some job has is used.
pub const SIZES: [&str; 2] = ["ncpus", "nodect"];

/// A value under the old and under the new ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct OldNew<T> {
    /// Under the old ranking.
    pub old: T,
    /// Under the new ranking.
    pub new: T,
}

impl<T> OldNew<T> {
    /// What belongs to the old and to the new ranking.
    pub fn new(old: T, new: T) -> Self {
        Self { old, new }
    }

    /// The same as references.
    pub fn as_ref(&self) -> OldNew<&T> {
        OldNew::new(&self.old, &self.new)
    }

    /// Applies a function to both.
    pub fn map<U>(self, f: impl Fn(T) -> U) -> OldNew<U> {
        OldNew::new(f(self.old), f(self.new))
    }
}

/// One of the two rankings.
#[derive(Debug, Clone)]
pub struct ComparedRanking<'a> {
    /// The jobs. Both rankings must have the same jobs in the same rows; the entities may differ.
    pub table: &'a JobTable,
    /// The scores and the order.
    pub ranking: &'a Ranking,
    /// The rows whose values do not exceed the threshold, ascending.
    pub under_threshold: Vec<u32>,
    /// The fair-share tree with the shares of the entities; without one, the jobs may have them as
    /// `fairshare_perc`.
    pub tree: Option<&'a AssessedTree>,
}

/// What changes between two rankings of the same jobs.
///
/// Ranks count from 1 among all jobs that are considered under a ranking. What compares two ranks
/// of a job is about the jobs that are considered under both. Serialised are the numbers that
/// concern the whole queue.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Comparison {
    /// By row; 0 for a job that is not considered.
    #[serde(skip)]
    ranks: OldNew<Vec<u32>>,
    #[serde(skip)]
    rows: Vec<u32>,
    /// The number of jobs that are considered under both.
    pub jobs: usize,
    /// How many of them gain places.
    pub up: usize,
    /// How many of them lose places.
    pub down: usize,
    /// Kendall's tau-b of the scores, see [`tau_b`].
    pub tau_b: Option<f64>,
    /// Spearman's footrule: the sum of the places that jobs move.
    pub footrule: u64,
    /// The most places that a job moves.
    pub largest: u64,
    /// For several N: how many jobs are among the first N under both.
    #[serde(serialize_with = "as_map")]
    pub overlap: Vec<(usize, usize)>,
    /// The number of jobs whose evaluation fails.
    pub errors: OldNew<usize>,
    /// The number of jobs that are considered.
    pub considered: OldNew<usize>,
    /// The jobs whose evaluation starts or stops failing.
    #[serde(skip)]
    pub failing: Transitions,
    /// The jobs that start or stop passing the threshold.
    #[serde(skip)]
    pub passing: Transitions,
    /// The jobs that start or stop being considered.
    #[serde(skip)]
    pub being_considered: Transitions,
    /// The entities; whose jobs gain the most places on average come first.
    #[serde(skip)]
    pub entities: Vec<GroupChange>,
    /// The groups of the tree with the jobs of all entities below them, in the same order.
    #[serde(skip)]
    pub groups: Vec<GroupChange>,
    /// The queues, in the same order.
    #[serde(skip)]
    pub queues: Vec<GroupChange>,
    /// The size classes, the smallest first.
    #[serde(skip)]
    pub sizes: Vec<GroupChange>,
    /// The input that gives the size of a job; `None` if no job has one.
    #[serde(rename = "size")]
    pub size_input: Option<&'static str>,
    /// The number of first jobs that [`fairness`](Self::fairness) looks at: a tenth of the jobs, at
    /// least 10.
    #[serde(skip)]
    pub first: usize,
    /// How evenly the first jobs are distributed over the entities with shares.
    #[serde(skip)]
    pub fairness: OldNew<Fairness>,
}

/// Pairs of a key and a value as one map.
fn as_map<V: Serialize, S: Serializer>(
    pairs: &[(usize, V)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().map(|(key, value)| (key, value)))
}

/// Rows, ascending.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Transitions {
    /// The rows that do something only under the new ranking.
    pub start: Vec<u32>,
    /// The rows that do it only under the old ranking.
    pub stop: Vec<u32>,
}

/// The change of a group of jobs.
#[derive(Debug, Clone, Default, Serialize)]
pub struct GroupChange {
    /// The name of the entity, the group, the queue or the size class.
    pub name: String,
    /// The names of the groups from the root down to a group of the tree; else empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub path: Vec<String>,
    /// The fraction of the machine that the shares give, 0 to 1.
    pub perc: Option<f64>,
    /// The number of jobs that are considered under both.
    pub jobs: usize,
    /// The sum of their ranks.
    #[serde(skip)]
    rank_sum: OldNew<u64>,
    /// For 10 and 100: how many jobs are among the first so many.
    #[serde(serialize_with = "as_map")]
    pub top: [(usize, OldNew<usize>); 2],
}

/// How evenly the first jobs are distributed: over all entities with shares and jobs that are
/// considered under either ranking, the fraction of the first jobs that an entity has, divided by
/// the fraction of the machine that is its share.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Fairness {
    /// Jain's index of these quotients: 1 is even.
    pub jain: Option<f64>,
    /// Their Gini coefficient: 0 is even.
    pub gini: Option<f64>,
    /// The number of these entities.
    pub entities: usize,
    /// How many of the first jobs are left out, because their entities have no shares.
    pub without_shares: usize,
}

/// The ranks of one job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JobMove {
    /// The row in the table.
    pub row: usize,
    /// The rank under the old ranking, from 1; `None` if the job is not considered there.
    pub old: Option<usize>,
    /// The rank under the new ranking.
    pub new: Option<usize>,
}

impl JobMove {
    /// The number of places that the job gains; negative if it loses some, `None` if it is not
    /// considered under both.
    pub fn moved(&self) -> Option<i64> {
        Some(self.old? as i64 - self.new? as i64)
    }
}

impl GroupChange {
    /// The mean rank of the jobs that are considered under both; `None` if there are none.
    pub fn mean_rank(&self) -> Option<OldNew<f64>> {
        (self.jobs > 0).then(|| self.rank_sum.map(|sum| sum as f64 / self.jobs as f64))
    }

    /// How many places a job gains on average; negative if they lose, 0 without jobs.
    pub fn gain(&self) -> f64 {
        if self.jobs > 0 {
            self.won() as f64 / self.jobs as f64
        } else {
            0.0
        }
    }

    /// The sum of the places that the jobs gain; negative if they lose.
    pub fn won(&self) -> i64 {
        self.rank_sum.old as i64 - self.rank_sum.new as i64
    }

    fn add(&mut self, old: u32, new: u32) {
        if old > 0 && new > 0 {
            self.jobs += 1;
            self.rank_sum.old += u64::from(old);
            self.rank_sum.new += u64::from(new);
        }
        for ((top, count), first) in self.top.iter_mut().zip(TOPS) {
            *top = first;
            count.old += usize::from(old > 0 && old as usize <= first);
            count.new += usize::from(new > 0 && new as usize <= first);
        }
    }

    fn merge(&mut self, other: &Self) {
        self.jobs += other.jobs;
        self.rank_sum.old += other.rank_sum.old;
        self.rank_sum.new += other.rank_sum.new;
        for ((top, count), (first, more)) in self.top.iter_mut().zip(other.top) {
            *top = first;
            count.old += more.old;
            count.new += more.new;
        }
    }

    /// Whose jobs gain more on average comes first; else by path and name.
    fn order(&self, other: &Self) -> Ordering {
        let by_gain = other.gain().total_cmp(&self.gain());
        by_gain.then_with(|| (&self.path, &self.name).cmp(&(&other.path, &other.name)))
    }

    /// Whether a job of the group is considered under either ranking.
    fn is_empty(&self) -> bool {
        // the first numbers are set with the first job
        self.top[0].0 == 0
    }
}

impl Comparison {
    /// Compares two rankings.
    pub fn new(old: &ComparedRanking<'_>, new: &ComparedRanking<'_>) -> Self {
        let sides = OldNew::new(old, new);
        let ranks = sides.map(ranks);
        let mut rows = Vec::new();
        for &row in new.ranking.order() {
            rows.push(row as u32);
        }
        for &row in old.ranking.order() {
            if ranks.new[row] == 0 {
                rows.push(row as u32);
            }
        }
        let mut comparison = Self {
            errors: sides.map(|side| side.ranking.error_count()),
            considered: sides.map(|side| side.ranking.order().len()),
            failing: Transitions::new(&failed_rows(old), &failed_rows(new)),
            // a row that passes is one that is not listed
            passing: Transitions::new(&new.under_threshold, &old.under_threshold),
            ranks,
            rows,
            ..Self::default()
        };
        comparison.count_moves();
        comparison.first = MIN_FIRST.max(comparison.jobs / 10);
        comparison.overlap = comparison.overlaps(new.ranking);
        comparison.tau_b = tau_b(
            &comparison.values_under_both(old.ranking),
            &comparison.values_under_both(new.ranking),
        );
        comparison.fairness = sides.map(|side| comparison.fairness_of(side));
        comparison.group(new);
        comparison
    }

    /// The jobs that are considered under either ranking: in the new order, then those that are not
    /// considered there.
    pub fn moves(&self) -> impl ExactSizeIterator<Item = JobMove> + '_ {
        self.rows.iter().map(|&row| self.job(row as usize))
    }

    /// The ranks of the job in a row.
    pub fn job(&self, row: usize) -> JobMove {
        let OldNew { old, new } = self.ranks.as_ref().map(|ranks| {
            ranks
                .get(row)
                .map(|&rank| rank as usize)
                .filter(|&rank| rank > 0)
        });
        JobMove { row, old, new }
    }

    /// The number of jobs that change their place.
    pub fn moved(&self) -> usize {
        self.up + self.down
    }

    /// How many of the first `count` jobs, under either ranking, change their place or are
    /// considered only there.
    pub fn changed_among_first(&self, count: usize) -> usize {
        let is_first = |rank: Option<usize>| rank.is_some_and(|rank| rank <= count);
        self.moves()
            .filter(|job| job.old != job.new && (is_first(job.old) || is_first(job.new)))
            .count()
    }

    /// Every row that is considered under either ranking, ascending, with its ranks.
    fn ranked_rows(&self) -> impl Iterator<Item = (usize, u32, u32)> + '_ {
        let ranks = self.ranks.old.iter().zip(&self.ranks.new).enumerate();
        ranks
            .map(|(row, (&old, &new))| (row, old, new))
            .filter(|(_, old, new)| *old > 0 || *new > 0)
    }

    fn count_moves(&mut self) {
        for (row, (&old, &new)) in (0..).zip(self.ranks.old.iter().zip(&self.ranks.new)) {
            match (old, new) {
                (0, 0) => {}
                (0, _) => self.being_considered.start.push(row),
                (_, 0) => self.being_considered.stop.push(row),
                _ => {
                    let distance = u64::from(old.abs_diff(new));
                    self.jobs += 1;
                    self.up += usize::from(new < old);
                    self.down += usize::from(new > old);
                    self.footrule += distance;
                    self.largest = self.largest.max(distance);
                }
            }
        }
    }

    fn overlaps(&self, new: &Ranking) -> Vec<(usize, usize)> {
        let mut firsts = vec![TOPS[0], TOPS[1], self.first];
        firsts.sort_unstable();
        firsts.dedup();
        let mut overlaps = Vec::new();
        for first in firsts {
            let mut shared = 0;
            for &row in new.order().iter().take(first) {
                let old_rank = self.ranks.old[row] as usize;
                shared += usize::from((1..=first).contains(&old_rank));
            }
            overlaps.push((first, shared));
        }
        overlaps
    }

    /// The values of the jobs that are considered under both rankings.
    fn values_under_both(&self, ranking: &Ranking) -> Vec<f64> {
        let mut values = ranking.comparable_values();
        let mut ranks = self.ranks.old.iter().zip(&self.ranks.new);
        // `retain` visits the values in order, at the same pace as the ranks
        values.retain(|_| ranks.next().is_some_and(|(&old, &new)| old > 0 && new > 0));
        values
    }

    fn fairness_of(&self, side: &ComparedRanking<'_>) -> Fairness {
        let percentages = percentages(side);
        let mut has_jobs = vec![false; percentages.len()];
        self.ranked_rows()
            .for_each(|(row, ..)| has_jobs[side.table.entity_index(row)] = true);
        let first_rows = side.ranking.order().iter().take(self.first);
        let count = first_rows.len() as f64;
        let mut firsts = vec![0_u32; percentages.len()];
        first_rows.for_each(|&row| firsts[side.table.entity_index(row)] += 1);
        let mut quotients = Vec::new();
        let mut without_shares = 0;
        for ((perc, has_jobs), first) in percentages.into_iter().zip(has_jobs).zip(firsts) {
            match perc.filter(|&perc| perc > 0.0) {
                Some(perc) if has_jobs => quotients.push(f64::from(first) / count / perc),
                Some(_) => {}
                None => without_shares += first as usize,
            }
        }
        Fairness {
            jain: jain_index(&quotients),
            gini: gini_coefficient(&quotients),
            entities: quotients.len(),
            without_shares,
        }
    }

    /// Sums the changes by entity, group, queue and size.
    fn group(&mut self, new: &ComparedRanking<'_>) {
        let table = new.table;
        let sizes = SIZES.into_iter().find_map(|name| {
            let column = table.column(name)?;
            self.ranked_rows()
                .any(|(row, ..)| size(column, row) > 0.0)
                .then_some((name, column))
        });
        self.size_input = sizes.map(|(name, _)| name);
        let mut entities = named(table.entities().iter().map(|name| &**name));
        let mut queues = named(table.queues().iter().map(|name| &**name));
        let mut classes = size_classes(self.size_input);
        for (row, old_rank, new_rank) in self.ranked_rows() {
            entities[table.entity_index(row)].add(old_rank, new_rank);
            queues[table.queue_index(row)].add(old_rank, new_rank);
            if let Some((_, column)) = sizes {
                // at most 6 for the seven classes, as there are five limits
                classes[size_class(size(column, row))].add(old_rank, new_rank);
            }
        }
        self.groups = new
            .tree
            .map(|tree| groups(&entities, tree))
            .unwrap_or_default();
        entities
            .iter_mut()
            .zip(percentages(new))
            .for_each(|(entity, perc)| entity.perc = perc);
        for changes in [&mut entities, &mut queues, &mut classes] {
            changes.retain(|change| !change.is_empty());
        }
        for changes in [&mut entities, &mut queues] {
            changes.sort_by(|left, right| left.order(right));
        }
        self.entities = entities;
        self.queues = queues;
        self.sizes = classes;
    }
}

impl Transitions {
    /// Compares two ascending lists of rows.
    fn new(old: &[u32], new: &[u32]) -> Self {
        Self {
            start: rows_not_in(new, old),
            stop: rows_not_in(old, new),
        }
    }

    /// Whether no row changes.
    pub fn is_empty(&self) -> bool {
        self.start.is_empty() && self.stop.is_empty()
    }
}

fn rows_not_in(rows: &[u32], others: &[u32]) -> Vec<u32> {
    rows.iter()
        .copied()
        .filter(|row| others.binary_search(row).is_err())
        .collect()
}

/// The rank of each row, from 1; 0 for a row that is not considered.
fn ranks(side: &ComparedRanking<'_>) -> Vec<u32> {
    let mut ranks = vec![0; side.table.len()];
    side.ranking
        .order()
        .iter()
        .zip(1..)
        .for_each(|(&row, rank)| ranks[row] = rank);
    ranks
}

fn failed_rows(side: &ComparedRanking<'_>) -> Vec<u32> {
    side.ranking
        .scores()
        .errors()
        .map(|(row, _)| row as u32)
        .collect()
}

/// The fraction of the machine that each entity of a table has; `None` if it is not known.
fn percentages(side: &ComparedRanking<'_>) -> Vec<Option<f64>> {
    let table = side.table;
    let entities = table.entities();
    if let Some(tree) = side.tree {
        let nodes = entities.iter().map(|entity| tree.tree().resolve(entity));
        return nodes
            .map(|node| Some(tree.shares().get(node?)?.fairshare_perc))
            .collect();
    }
    let mut percentages = vec![None; entities.len()];
    if let Some(column) = table.column("fairshare_perc") {
        for row in (0..table.len()).filter(|&row| column.is_set(row)) {
            percentages[table.entity_index(row)].get_or_insert_with(|| column.nearest_double(row));
        }
    }
    percentages
}

fn named(names: impl IntoIterator<Item = impl Into<String>>) -> Vec<GroupChange> {
    let changes = names.into_iter().map(|name| GroupChange {
        name: name.into(),
        ..GroupChange::default()
    });
    changes.collect()
}

/// Sums entities by all groups above them.
fn groups(entities: &[GroupChange], assessed: &AssessedTree) -> Vec<GroupChange> {
    let tree = assessed.tree();
    let mut groups: HashMap<NodeId, GroupChange> = HashMap::new();
    for entity in entities.iter().filter(|entity| !entity.is_empty()) {
        let Some(node) = tree.resolve(&entity.name) else {
            continue;
        };
        for above in tree.ancestors(node).filter(|&above| above != tree.root()) {
            groups.entry(above).or_default().merge(entity);
        }
    }
    let groups = groups.into_iter().map(|(node, change)| GroupChange {
        name: tree.name(node).to_owned(),
        path: tree.path(node).into_iter().map(str::to_owned).collect(),
        perc: assessed
            .shares()
            .get(node)
            .map(|shares| shares.fairshare_perc),
        ..change
    });
    let mut groups: Vec<GroupChange> = groups.collect();
    // by path where the gain is equal, because a hash map has no order of its own
    groups.sort_by(GroupChange::order);
    groups
}

/// The size of a job; 0 if it has none.
fn size(column: &Column, row: usize) -> f64 {
    if column.is_set(row) {
        column.nearest_double(row)
    } else {
        0.0
    }
}

/// The index of a size in [`size_classes`].
fn size_class(size: f64) -> usize {
    if size > 0.0 {
        1 + SIZE_CLASSES
            .iter()
            .take_while(|&&greatest| size > greatest)
            .count()
    } else {
        0
    }
}

fn size_classes(input: Option<&str>) -> Vec<GroupChange> {
    let Some(input) = input else {
        return Vec::new();
    };
    let mut names = vec![format!("no {input}"), "1".to_owned()];
    names.extend(
        SIZE_CLASSES
            .windows(2)
            .map(|pair| format!("{}-{}", pair[0] + 1.0, pair[1])),
    );
    names.push(format!("over {}", SIZE_CLASSES[SIZE_CLASSES.len() - 1]));
    named(names)
}
