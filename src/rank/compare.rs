//! Two rankings of the same jobs: which jobs move, how far the orders agree, and who gains and who
//! loses.
//!
//! In: the [`Ranking`]s, an old and a new one, and the fair-share tree. Out: a [`Comparison`].

use std::cmp::Ordering;
use std::collections::HashMap;
use std::iter;

use serde::{Serialize, Serializer};

use crate::fairshare::{AssessedTree, NodeId};
use crate::jobs::{Column, JobTable};
use crate::rank::Ranking;
use crate::rank::measures::{gini_coefficient, jain_index, tau_b};

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
    /// The number of jobs that are considered under either ranking.
    #[serde(skip)]
    considered: usize,
    /// The sum of the ranks of the jobs that are considered under both.
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
        if self.jobs == 0 {
            return None;
        }
        let jobs = self.jobs as f64;
        let OldNew { old, new } = self.rank_sum;
        Some(OldNew::new(old as f64 / jobs, new as f64 / jobs))
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

    /// A group without jobs.
    fn named(name: String) -> Self {
        Self {
            name,
            top: TOPS.map(|first| (first, OldNew::default())),
            ..Self::default()
        }
    }

    /// Adds a job that is considered under either ranking; its rank is 0 where it is not.
    fn add(&mut self, old: u32, new: u32) {
        self.considered += 1;
        if old > 0 && new > 0 {
            self.jobs += 1;
            self.rank_sum.old += u64::from(old);
            self.rank_sum.new += u64::from(new);
        }
        for (first, count) in &mut self.top {
            let first_ranks = 1..=*first;
            count.old += usize::from(first_ranks.contains(&(old as usize)));
            count.new += usize::from(first_ranks.contains(&(new as usize)));
        }
    }

    fn merge(&mut self, other: &Self) {
        self.considered += other.considered;
        self.jobs += other.jobs;
        self.rank_sum.old += other.rank_sum.old;
        self.rank_sum.new += other.rank_sum.new;
        for ((_, count), (_, more)) in self.top.iter_mut().zip(&other.top) {
            count.old += more.old;
            count.new += more.new;
        }
    }

    /// Whose jobs gain more on average comes first; else by path and name.
    fn order(&self, other: &Self) -> Ordering {
        let by_gain = other.gain().total_cmp(&self.gain());
        by_gain
            .then_with(|| self.path.cmp(&other.path))
            .then_with(|| self.name.cmp(&other.name))
    }
}

impl Comparison {
    /// Compares two rankings.
    pub fn new(old: &ComparedRanking<'_>, new: &ComparedRanking<'_>) -> Self {
        let ranks = OldNew::new(ranks(old), ranks(new));
        let mut rows: Vec<u32> = new.ranking.order().iter().map(|&row| row as u32).collect();
        for &row in old.ranking.order() {
            if ranks.new[row] == 0 {
                rows.push(row as u32);
            }
        }
        let mut comparison = Self {
            errors: OldNew::new(old.ranking.error_count(), new.ranking.error_count()),
            considered: OldNew::new(old.ranking.order().len(), new.ranking.order().len()),
            failing: Transitions::new(&failed_rows(old), &failed_rows(new)),
            // a row that passes is one that is not listed
            passing: Transitions::new(&new.under_threshold, &old.under_threshold),
            ranks,
            rows,
            ..Self::default()
        };
        comparison.count_moves();
        // after `count_moves`, which counts the jobs
        comparison.first = MIN_FIRST.max(comparison.jobs / 10);
        comparison.overlap = comparison.overlaps(new.ranking);
        comparison.tau_b = tau_b(
            &comparison.values_under_both(old.ranking),
            &comparison.values_under_both(new.ranking),
        );
        comparison.fairness = OldNew::new(comparison.fairness_of(old), comparison.fairness_of(new));
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
        JobMove {
            row,
            old: rank_of(&self.ranks.old, row),
            new: rank_of(&self.ranks.new, row),
        }
    }

    /// The number of jobs that change their place.
    pub fn moved(&self) -> usize {
        self.up + self.down
    }

    /// How many of the first `count` jobs, under either ranking, change their place or are
    /// considered only there.
    pub fn changed_among_first(&self, count: usize) -> usize {
        let is_among_first = |rank: Option<usize>| rank.is_some_and(|rank| rank <= count);
        let changed = self.moves().filter(|job| {
            job.old != job.new && (is_among_first(job.old) || is_among_first(job.new))
        });
        changed.count()
    }

    /// Every row that is considered under either ranking, ascending, with its ranks.
    fn ranked_rows(&self) -> impl Iterator<Item = (usize, u32, u32)> + '_ {
        let rows = iter::zip(&self.ranks.old, &self.ranks.new).enumerate();
        rows.filter_map(|(row, (&old, &new))| (old > 0 || new > 0).then_some((row, old, new)))
    }

    fn count_moves(&mut self) {
        let ranks = iter::zip(&self.ranks.old, &self.ranks.new);
        for (row, (&old, &new)) in ranks.enumerate() {
            match (old, new) {
                (0, 0) => {}
                (0, _) => self.being_considered.start.push(row as u32),
                (_, 0) => self.being_considered.stop.push(row as u32),
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
        // `first` may be one of the other two
        firsts.dedup();
        let mut overlaps = Vec::new();
        for first in firsts {
            let mut shared = 0;
            for &row in new.order().iter().take(first) {
                let old_rank = self.ranks.old[row] as usize;
                // from 1 on, as 0 is the rank of a job that is not considered
                shared += usize::from((1..=first).contains(&old_rank));
            }
            overlaps.push((first, shared));
        }
        overlaps
    }

    /// The values of the jobs that are considered under both rankings.
    fn values_under_both(&self, ranking: &Ranking) -> Vec<f64> {
        let values = ranking.scores().comparable_values();
        let mut under_both = Vec::with_capacity(self.jobs);
        for (row, old, new) in self.ranked_rows() {
            if old > 0 && new > 0 {
                under_both.push(values[row]);
            }
        }
        under_both
    }

    fn fairness_of(&self, side: &ComparedRanking<'_>) -> Fairness {
        let percentages = percentages(side);
        let mut has_jobs = vec![false; percentages.len()];
        for (row, ..) in self.ranked_rows() {
            has_jobs[side.table.entity_index(row)] = true;
        }
        let order = side.ranking.order();
        let first_rows = &order[..order.len().min(self.first)];
        let mut firsts = vec![0_u32; percentages.len()];
        for &row in first_rows {
            firsts[side.table.entity_index(row)] += 1;
        }
        let mut quotients = Vec::new();
        let mut without_shares = 0;
        for (entity, perc) in percentages.into_iter().enumerate() {
            match perc {
                Some(perc) if perc > 0.0 => {
                    if has_jobs[entity] {
                        // NaN without any rows, in which case both measures are `None`
                        let part = f64::from(firsts[entity]) / first_rows.len() as f64;
                        quotients.push(part / perc);
                    }
                }
                _ => without_shares += firsts[entity] as usize,
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
        let mut sizes = None;
        for name in SIZES {
            if let Some(column) = table.column(name)
                && self.ranked_rows().any(|(row, ..)| size(column, row) > 0.0)
            {
                sizes = Some(column);
                self.size_input = Some(name);
                break;
            }
        }
        let mut entities = named(table.entities());
        let mut queues = named(table.queues());
        let mut classes = size_classes(self.size_input);
        for (row, old_rank, new_rank) in self.ranked_rows() {
            entities[table.entity_index(row)].add(old_rank, new_rank);
            queues[table.queue_index(row)].add(old_rank, new_rank);
            if let Some(column) = sizes {
                // at most 6 for the seven classes, as there are five limits
                classes[size_class(size(column, row))].add(old_rank, new_rank);
            }
        }
        if let Some(tree) = new.tree {
            self.groups = groups(&entities, tree);
        }
        for (entity, perc) in entities.iter_mut().zip(percentages(new)) {
            entity.perc = perc;
        }
        for changes in [&mut entities, &mut queues, &mut classes] {
            changes.retain(|change| change.considered > 0);
        }
        for changes in [&mut entities, &mut queues] {
            changes.sort_by(GroupChange::order);
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
    let mut missing = rows.to_vec();
    missing.retain(|row| others.binary_search(row).is_err());
    missing
}

/// The rank of each row of the table, which may have other rows than were ranked.
fn ranks(side: &ComparedRanking<'_>) -> Vec<u32> {
    let mut ranks = side.ranking.ranks();
    ranks.resize(side.table.len(), 0);
    ranks
}

/// The rank of a row among [`ranks`]; `None` if it is not considered.
fn rank_of(ranks: &[u32], row: usize) -> Option<usize> {
    let rank = *ranks.get(row)? as usize;
    (rank > 0).then_some(rank)
}

fn failed_rows(side: &ComparedRanking<'_>) -> Vec<u32> {
    let errors = side.ranking.scores().errors();
    errors.map(|(row, _)| row as u32).collect()
}

/// The fraction of the machine that each entity of a table has; `None` if it is not known.
fn percentages(side: &ComparedRanking<'_>) -> Vec<Option<f64>> {
    let table = side.table;
    let entities = table.entities();
    let mut percentages = vec![None; entities.len()];
    if let Some(tree) = side.tree {
        for (perc, entity) in percentages.iter_mut().zip(entities) {
            if let Some(node) = tree.tree().resolve(entity) {
                *perc = fairshare_perc(tree, node);
            }
        }
    } else if let Some(column) = table.column("fairshare_perc") {
        for row in 0..table.len() {
            let perc = &mut percentages[table.entity_index(row)];
            if perc.is_none() && column.is_set(row) {
                *perc = Some(column.nearest_double(row));
            }
        }
    }
    percentages
}

fn fairshare_perc(tree: &AssessedTree, node: NodeId) -> Option<f64> {
    Some(tree.shares().get(node)?.fairshare_perc)
}

fn named<N: AsRef<str>>(names: &[N]) -> Vec<GroupChange> {
    let names = names.iter().map(|name| name.as_ref().to_owned());
    names.map(GroupChange::named).collect()
}

/// Sums entities by all groups above them.
fn groups(entities: &[GroupChange], assessed: &AssessedTree) -> Vec<GroupChange> {
    let tree = assessed.tree();
    let mut by_node: HashMap<NodeId, GroupChange> = HashMap::new();
    for entity in entities {
        if entity.considered == 0 {
            continue;
        }
        let Some(node) = tree.resolve(&entity.name) else {
            continue;
        };
        for above in tree.ancestors(node) {
            by_node
                .entry(above)
                .or_insert_with(|| GroupChange::named(tree.name(above).to_owned()))
                .merge(entity);
        }
    }
    // the root is no group: it has all jobs
    by_node.remove(&tree.root());
    let with_path = |(node, change)| GroupChange {
        path: tree.path(node).into_iter().map(str::to_owned).collect(),
        perc: fairshare_perc(assessed, node),
        ..change
    };
    let mut groups: Vec<_> = by_node.into_iter().map(with_path).collect();
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
        1 + SIZE_CLASSES.partition_point(|&greatest| greatest < size)
    } else {
        0
    }
}

fn size_classes(input: Option<&str>) -> Vec<GroupChange> {
    let Some(input) = input else {
        return Vec::new();
    };
    let mut names = vec![format!("no {input}"), "1".to_owned()];
    for pair in SIZE_CLASSES.windows(2) {
        // one above the class before: the inputs of `SIZES` are whole numbers
        names.push(format!("{}-{}", pair[0] + 1.0, pair[1]));
    }
    names.push(format!("over {}", SIZE_CLASSES[SIZE_CLASSES.len() - 1]));
    named(&names)
}
