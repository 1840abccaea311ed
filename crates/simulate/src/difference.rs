//! Two schedules of one workload side by side: who waits longer under the new one, who shorter, by how much, and how sure
//! that is.
//!
//! Jobs are compared one by one, so that what differs between jobs cancels out. What remains is that jobs which wait at the
//! same time wait for the same reason: a busy day is one event, however many jobs saw it. So the interval is that of a
//! bootstrap over blocks of time, and not over jobs: a block is a day, or a tenth of the log if that is shorter, with the jobs
//! that were submitted in it.
//!
//! Of many groups some would change by more than chance by chance alone. So the level at which a change counts is that of the
//! procedure that bounds the rate of false discoveries among all groups of a comparison.
//!
//! Sources: A. C. Davison, D. V. Hinkley, "Bootstrap Methods and Their Application", 1997, sections 2.4 and 8.2.3;
//! Y. Benjamini, Y. Hochberg, "Controlling the False Discovery Rate", 1995.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::f64::consts::FRAC_1_SQRT_2;

use super::generate::Random;
use super::schedule::Schedule;
use super::statistics::{bounded_slowdown, length_class, length_class_name, size_class, size_class_name, wait_of};
use super::workload::{Workload, WorkloadJob, compare_ids};

/// How often the blocks are drawn.
const RESAMPLES: usize = 1000;
/// The seed of the draws, which are the same in every run.
const SEED: u64 = 20_030_611;
/// The fraction of the draws that the interval leaves out at either end.
const TAIL: f64 = 0.025;
/// The quantile of the normal distribution above which that fraction lies.
const NORMAL_QUANTILE: f64 = 1.959_963_984_540_054;
/// The rate of false discoveries, and the level of a change that is tested alone.
const LEVEL: f64 = 0.05;
/// The longest block, in seconds.
const DAY: i64 = 86_400;
/// The fewest blocks that a log is divided into.
const LOG_BLOCKS: i64 = 10;
/// An interval of fewer jobs, or of jobs from fewer blocks, says nothing.
const MIN_JOBS: usize = 20;
const MIN_BLOCKS: usize = 6;

/// How much a mean changes, with an interval that contains the change with a confidence of 95 %.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MeanChange {
    /// The mean under the old formula.
    pub old: f64,
    /// The mean under the new formula.
    pub new: f64,
    /// The lower end of the interval of `new - old`.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The number of jobs.
    pub jobs: usize,
    /// The number of blocks in which they are submitted.
    pub blocks: usize,
    /// The greatest p-value of a change that is more than chance: less than 0.05 if it is one of several that are tested.
    pub level: f64,
}

impl MeanChange {
    /// The change.
    pub fn difference(&self) -> f64 {
        self.new - self.old
    }

    /// The interval; `None` for too few jobs, or if they are submitted in too few blocks.
    pub fn interval(&self) -> Option<[f64; 2]> {
        (self.jobs >= MIN_JOBS && self.blocks >= MIN_BLOCKS).then_some([self.low, self.high])
    }

    /// The probability that chance alone shows such a change or a greater one, if the change is distributed normally with the
    /// interval's end on the side of 0; `None` without an interval.
    pub fn p_value(&self) -> Option<f64> {
        let [low, high] = self.interval()?;
        let change = self.difference();
        let half = if change > 0.0 { change - low } else { high - change };
        let deviations = match change {
            0.0 => 0.0,
            _ if half <= 0.0 => f64::INFINITY,
            _ => NORMAL_QUANTILE * change.abs() / half,
        };
        Some(libm::erfc(deviations * FRAC_1_SQRT_2))
    }

    /// Whether chance alone would hardly show this change, also as one of several that are tested.
    pub fn is_significant(&self) -> bool {
        self.is_increase() || self.is_decrease()
    }

    /// Whether the mean grows by more than chance would explain.
    pub fn is_increase(&self) -> bool {
        self.interval().is_some_and(|[low, _]| low > 0.0) && self.is_below_level()
    }

    /// Whether the mean falls by more than chance would explain.
    pub fn is_decrease(&self) -> bool {
        self.interval().is_some_and(|[_, high]| high < 0.0) && self.is_below_level()
    }

    fn is_below_level(&self) -> bool {
        self.p_value().is_some_and(|p_value| p_value <= self.level)
    }
}

/// How the waits of some jobs change.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupDifference {
    /// The name of the entity, the group, the queue or the class; empty for several of them.
    pub name: String,
    /// The number of jobs.
    pub jobs: usize,
    /// The processors times seconds that they hold.
    pub core_seconds: u128,
    /// Their mean wait, in seconds.
    pub wait: MeanChange,
}

/// All jobs, by one of their properties.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Classes {
    /// The classes.
    pub groups: Vec<GroupDifference>,
    /// The classes whose jobs wait less by more than chance would explain, of all classes of a comparison.
    pub winners: Option<ClassesTogether>,
    /// Those whose jobs wait longer.
    pub losers: Option<ClassesTogether>,
}

/// Some classes taken together, and all others.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassesTogether {
    /// Their places in the list of classes.
    pub places: Vec<usize>,
    /// Their jobs.
    pub together: GroupDifference,
    /// The jobs of all other classes.
    pub others: GroupDifference,
}

/// Two schedules of one workload, compared job by job.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Difference {
    /// The number of jobs that start in both.
    pub jobs: usize,
    /// How many of them wait longer under the new formula.
    pub longer: usize,
    /// How many wait shorter.
    pub shorter: usize,
    /// The mean wait, in seconds.
    pub wait: MeanChange,
    /// The processors times seconds that the jobs hold.
    pub core_seconds: u128,
    /// The mean wait of a core hour, in seconds.
    pub wait_per_core_hour: MeanChange,
    /// The mean bounded slowdown.
    pub bounded_slowdown: MeanChange,
    /// By entity, from the one whose waits grow most.
    pub entities: Classes,
    /// By group.
    pub groups: Classes,
    /// By queue.
    pub queues: Classes,
    /// By number of processors.
    pub sizes: Classes,
    /// By run time.
    pub lengths: Classes,
    /// The length of a block of the bootstrap, in seconds.
    pub block_seconds: i64,
    /// The number of blocks with jobs.
    pub blocks: usize,
}

/// A quantity of a job under both formulas, and how much it counts.
#[derive(Debug, Clone, Copy)]
struct Weighted {
    weight: f64,
    old: f64,
    new: f64,
}

/// The sums of a quantity over the jobs of a block.
#[derive(Debug, Clone, Copy)]
struct BlockSums {
    block: usize,
    weight: f64,
    old: f64,
    new: f64,
}

/// The index of the class that a job belongs to.
type IndexOf = fn(&WorkloadJob) -> usize;

/// A job that starts in both.
#[derive(Debug, Clone, Copy)]
struct PairedJob {
    job: WorkloadJob,
    /// The block of its submission, among those with jobs.
    block: usize,
    waits: [i64; 2],
}

impl Difference {
    /// Compares two schedules of a workload. Left out are jobs that do not start in both, and those that are submitted less
    /// than `warm_up` seconds after the first one.
    pub fn new(workload: &Workload, old: &Schedule, new: &Schedule, warm_up: i64) -> Self {
        let jobs = workload.jobs();
        let begin = jobs.first().map_or(0, |job| job.submit).saturating_add(warm_up);
        let end = jobs.last().map_or(begin, |job| job.submit);
        let block_seconds = block_length(begin, end);
        let paired = jobs.iter().enumerate().filter(|(_, job)| job.submit >= begin);
        let mut paired: Vec<PairedJob> = paired
            .filter_map(|(index, job)| {
                let waits = [wait_of(workload, old, index)?, wait_of(workload, new, index)?];
                Some(PairedJob { job: *job, block: ((job.submit - begin) / block_seconds) as usize, waits })
            })
            .collect();
        // blocks without jobs are not counted, however long they are
        let (mut blocks, mut last) = (0, None);
        for job in &mut paired {
            blocks += usize::from(last.replace(job.block) != Some(job.block));
            job.block = blocks - 1;
        }
        let draws = draws(blocks);
        let by_name = |index: IndexOf, names: &[Box<str>]| {
            let mut groups = grouped(&paired, &draws, index, |index| names[index].to_string());
            groups.sort_by(|(_, one), (_, other)| by_change(one, other));
            (index, groups)
        };
        let by_class = |index: IndexOf, name: fn(usize) -> String| (index, grouped(&paired, &draws, index, name));
        let mut entities = by_name(|job| job.entity as usize, workload.entities());
        // jobs whose entity the log does not say are not one entity
        entities.1.retain(|(_, entity)| !entity.name.is_empty());
        let kinds = [
            entities,
            by_name(|job| job.group as usize, workload.groups()),
            by_name(|job| job.queue as usize, workload.queues()),
            by_class(|job| size_class(job.processors), size_class_name),
            by_class(|job| length_class(job.duration()), length_class_name),
        ];
        let level = level_of_all(kinds.iter().flat_map(|(_, groups)| groups).map(|(_, group)| &group.wait));
        let [entities, groups, queues, sizes, lengths] =
            kinds.map(|(index, groups)| classes(&paired, &draws, index, groups, level));
        Self {
            jobs: paired.len(),
            longer: paired.iter().filter(|job| job.waits[1] > job.waits[0]).count(),
            shorter: paired.iter().filter(|job| job.waits[1] < job.waits[0]).count(),
            wait: mean_change(&paired, &draws, PairedJob::wait),
            core_seconds: paired.iter().map(|job| job.job.core_seconds()).sum(),
            wait_per_core_hour: mean_change(&paired, &draws, PairedJob::wait_of_core_hours),
            bounded_slowdown: mean_change(&paired, &draws, PairedJob::slowdown),
            entities,
            groups,
            queues,
            sizes,
            lengths,
            block_seconds,
            blocks,
        }
    }
}

/// The length of a block of a log whose jobs are submitted between these times: a day, or a tenth of a shorter log.
pub(super) fn block_length(begin: i64, end: i64) -> i64 {
    ((end - begin) / LOG_BLOCKS + 1).clamp(1, DAY)
}

/// How often each block is drawn, in each resample.
fn draws(blocks: usize) -> Vec<Vec<u32>> {
    let mut random = Random(SEED);
    let resample = |_| {
        let mut counts = vec![0; blocks];
        (0..blocks).for_each(|_| counts[random.below(blocks)] += 1);
        counts
    };
    (0..RESAMPLES).map(resample).collect()
}

/// The greatest p-value that is more than chance where all these changes are tested, so that of those that are called so at most
/// 5 % are chance.
fn level_of_all<'c>(changes: impl Iterator<Item = &'c MeanChange>) -> f64 {
    let mut p_values: Vec<f64> = changes.filter_map(MeanChange::p_value).collect();
    p_values.sort_unstable_by(f64::total_cmp);
    let tested = p_values.len().max(1) as f64;
    let levels = (1_u32..).map(|place| LEVEL * (f64::from(place) / tested));
    let significant = levels.zip(p_values).filter(|(level, p_value)| p_value <= level);
    significant.last().map_or(LEVEL / tested, |(level, _)| level)
}

/// The jobs of each class, with its index, in the order of the indices.
fn grouped(
    jobs: &[PairedJob],
    draws: &[Vec<u32>],
    index: IndexOf,
    name: impl Fn(usize) -> String,
) -> Vec<(usize, GroupDifference)> {
    let mut members: BTreeMap<usize, Vec<&PairedJob>> = BTreeMap::new();
    for job in jobs {
        members.entry(index(&job.job)).or_default().push(job);
    }
    members.into_iter().map(|(index, jobs)| (index, group_difference(name(index), &jobs, draws))).collect()
}

/// The group whose waits grow most comes first.
fn by_change(one: &GroupDifference, other: &GroupDifference) -> Ordering {
    let by_change = other.wait.difference().total_cmp(&one.wait.difference());
    by_change.then_with(|| compare_ids(&one.name, &other.name))
}

fn group_difference(name: String, jobs: &[&PairedJob], draws: &[Vec<u32>]) -> GroupDifference {
    GroupDifference {
        name,
        jobs: jobs.len(),
        core_seconds: jobs.iter().map(|job| job.job.core_seconds()).sum(),
        wait: mean_change(jobs.iter().copied(), draws, PairedJob::wait),
    }
}

/// The classes, and those that win and those that lose taken together.
fn classes(
    jobs: &[PairedJob],
    draws: &[Vec<u32>],
    index: IndexOf,
    mut groups: Vec<(usize, GroupDifference)>,
    level: f64,
) -> Classes {
    groups.iter_mut().for_each(|(_, group)| group.wait.level = level);
    let sum = |jobs: &[&PairedJob]| {
        let mut together = group_difference(String::new(), jobs, draws);
        together.wait.level = level;
        together
    };
    let together = |is_one: fn(&MeanChange) -> bool| {
        let places: Vec<usize> = (0..groups.len()).filter(|&place| is_one(&groups[place].1.wait)).collect();
        let indices: BTreeSet<usize> = places.iter().map(|&place| groups[place].0).collect();
        let (own, others): (Vec<&PairedJob>, Vec<&PairedJob>) =
            jobs.iter().partition(|job| indices.contains(&index(&job.job)));
        (!places.is_empty()).then(|| ClassesTogether { places, together: sum(&own), others: sum(&others) })
    };
    Classes {
        winners: together(MeanChange::is_decrease),
        losers: together(MeanChange::is_increase),
        groups: groups.into_iter().map(|(_, group)| group).collect(),
    }
}

impl PairedJob {
    fn wait(&self) -> Weighted {
        self.weighted(1.0, self.waits.map(|wait| wait as f64))
    }

    fn wait_of_core_hours(&self) -> Weighted {
        self.weighted(self.job.core_seconds() as f64, self.waits.map(|wait| wait as f64))
    }

    fn slowdown(&self) -> Weighted {
        self.weighted(1.0, self.waits.map(|wait| bounded_slowdown(wait, self.job.duration())))
    }

    fn weighted(&self, weight: f64, [old, new]: [f64; 2]) -> Weighted {
        Weighted { weight, old: weight * old, new: weight * new }
    }
}

/// The change of a mean, and the percentile interval of the bootstrap. A resample without a job of the group is left out.
fn mean_change<'j>(
    jobs: impl IntoIterator<Item = &'j PairedJob>,
    draws: &[Vec<u32>],
    quantity: fn(&PairedJob) -> Weighted,
) -> MeanChange {
    let mut blocks: Vec<BlockSums> = Vec::new();
    let mut count = 0;
    for job in jobs {
        count += 1;
        if blocks.last().is_none_or(|block| block.block != job.block) {
            blocks.push(BlockSums { block: job.block, weight: 0.0, old: 0.0, new: 0.0 });
        }
        if let Some(block) = blocks.last_mut() {
            let Weighted { weight, old, new } = quantity(job);
            block.weight += weight;
            block.old += old;
            block.new += new;
        }
    }
    let weight: f64 = blocks.iter().map(|block| block.weight).sum();
    let mean = |sum: f64| if weight > 0.0 { sum / weight } else { 0.0 };
    let old = mean(blocks.iter().map(|block| block.old).sum());
    let new = mean(blocks.iter().map(|block| block.new).sum());
    let resampled = |counts: &Vec<u32>| {
        let drawn = blocks.iter().map(|block| (f64::from(counts[block.block]), block));
        let (weight, change) = drawn.fold((0.0, 0.0), |(weight, change), (count, block)| {
            (weight + count * block.weight, change + count * (block.new - block.old))
        });
        (weight > 0.0).then(|| change / weight)
    };
    let mut changes: Vec<f64> = draws.iter().filter_map(resampled).collect();
    changes.sort_unstable_by(f64::total_cmp);
    let quantile = |fraction: f64| {
        let index = (fraction * changes.len().saturating_sub(1) as f64).round() as usize;
        changes.get(index).copied().unwrap_or(new - old)
    };
    let [low, high] = [TAIL, 1.0 - TAIL].map(quantile);
    MeanChange { old, new, low, high, jobs: count, blocks: blocks.len(), level: LEVEL }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A change of 1 that may differ by so much.
    fn change(within: f64) -> MeanChange {
        MeanChange { old: 1.0, new: 2.0, low: 1.0 - within, high: 1.0 + within, jobs: 20, blocks: 6, level: LEVEL }
    }

    #[test]
    fn p_values_are_those_of_the_normal_distribution() {
        let cases = [(1.0, 0.05), (0.5, 8.857e-5), (2.0, 0.3271), (0.0, 0.0)];
        for (within, expected) in cases {
            let p_value = change(within).p_value().expect("an interval");
            assert!((p_value - expected).abs() <= 1e-3 * expected, "{within}: {p_value}");
        }
        assert_eq!(MeanChange { new: 1.0, ..change(1.0) }.p_value(), Some(1.0));
        assert_eq!(MeanChange { jobs: 19, ..change(1.0) }.p_value(), None);
    }

    #[test]
    fn a_change_that_is_barely_significant_alone_is_not_so_among_others() {
        let barely = change(0.99);
        assert!(barely.is_significant());
        let level = |others: &[MeanChange]| level_of_all(others.iter().chain([&barely]));
        assert_eq!(level(&[]), 0.05);
        assert_eq!(level(&[change(9.0)]), 0.025);
        assert!(!MeanChange { level: level(&[change(9.0)]), ..barely }.is_significant());
        // with others that are significant it is
        assert_eq!(level(&[change(0.1), change(0.2)]), 0.05);
        assert_eq!(level(&[change(0.1), change(9.0), change(9.0)]), 0.0125);
    }
}
