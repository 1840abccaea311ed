//! Two schedules of one workload side by side: who waits longer under the new one, who shorter, by how much, and how sure
//! that is.
//!
//! Jobs are compared one by one, so that what differs between jobs cancels out. What remains is that jobs which wait at the
//! same time wait for the same reason: a busy day is one event, however many jobs saw it. So the interval is that of a
//! bootstrap over blocks of time, and not over jobs: a block is a day, or a tenth of the log if that is shorter, with the jobs
//! that were submitted in it.
//!
//! Source: A. C. Davison, D. V. Hinkley, "Bootstrap Methods and Their Application", 1997, sections 2.4 and 8.2.3.

use std::collections::BTreeMap;

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
/// The longest block, in seconds.
const DAY: i64 = 86_400;
/// The fewest blocks.
const MIN_BLOCKS: i64 = 10;

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
}

impl MeanChange {
    /// The change.
    pub fn difference(&self) -> f64 {
        self.new - self.old
    }

    /// Whether the interval is on one side of 0: whether chance alone would hardly show this change.
    pub fn is_significant(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

/// How the waits of some jobs change.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupDifference {
    /// The name of the entity, the group, the queue or the class.
    pub name: String,
    /// The number of jobs.
    pub jobs: usize,
    /// Their mean wait, in seconds.
    pub wait: MeanChange,
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
    /// The mean bounded slowdown.
    pub bounded_slowdown: MeanChange,
    /// By entity, from the one whose waits grow most.
    pub entities: Vec<GroupDifference>,
    /// By group.
    pub groups: Vec<GroupDifference>,
    /// By queue.
    pub queues: Vec<GroupDifference>,
    /// By number of processors.
    pub sizes: Vec<GroupDifference>,
    /// By run time.
    pub lengths: Vec<GroupDifference>,
    /// The length of a block of the bootstrap, in seconds.
    pub block_seconds: i64,
    /// The number of blocks with jobs.
    pub blocks: usize,
}

/// The sums of a quantity over the jobs of a block, under both formulas.
#[derive(Debug, Clone, Copy, Default)]
struct BlockSums {
    block: usize,
    jobs: usize,
    old: f64,
    new: f64,
}

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
        let wait = |job: &PairedJob| job.waits.map(|wait| wait as f64);
        let slowdown = |job: &PairedJob| job.waits.map(|wait| bounded_slowdown(wait, job.job.duration()));
        let all: Vec<&PairedJob> = paired.iter().collect();
        let by_name = |names: &[Box<str>], index: fn(&WorkloadJob) -> u32| {
            let mut groups = grouped(&paired, &draws, |job| index(job) as usize, |index| names[index].to_string());
            groups.sort_by(|one, other| {
                let by_change = other.wait.difference().total_cmp(&one.wait.difference());
                by_change.then_with(|| compare_ids(&one.name, &other.name))
            });
            groups
        };
        Self {
            jobs: paired.len(),
            longer: paired.iter().filter(|job| job.waits[1] > job.waits[0]).count(),
            shorter: paired.iter().filter(|job| job.waits[1] < job.waits[0]).count(),
            wait: mean_change(&all, &draws, wait),
            bounded_slowdown: mean_change(&all, &draws, slowdown),
            entities: by_name(workload.entities(), |job| job.entity),
            groups: by_name(workload.groups(), |job| job.group),
            queues: by_name(workload.queues(), |job| job.queue),
            sizes: grouped(&paired, &draws, |job| size_class(job.processors), size_class_name),
            lengths: grouped(&paired, &draws, |job| length_class(job.duration()), length_class_name),
            block_seconds,
            blocks,
        }
    }
}

/// The length of a block of a log whose jobs are submitted between these times: a day, or a tenth of a shorter log.
pub(super) fn block_length(begin: i64, end: i64) -> i64 {
    ((end - begin) / MIN_BLOCKS + 1).clamp(1, DAY)
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

fn grouped(
    jobs: &[PairedJob],
    draws: &[Vec<u32>],
    index: impl Fn(&WorkloadJob) -> usize,
    name: impl Fn(usize) -> String,
) -> Vec<GroupDifference> {
    let mut members: BTreeMap<usize, Vec<&PairedJob>> = BTreeMap::new();
    for job in jobs {
        members.entry(index(&job.job)).or_default().push(job);
    }
    let group = |(index, jobs): (usize, Vec<&PairedJob>)| GroupDifference {
        name: name(index),
        jobs: jobs.len(),
        wait: mean_change(&jobs, draws, |job| job.waits.map(|wait| wait as f64)),
    };
    members.into_iter().map(group).collect()
}

/// The change of a mean, and the percentile interval of the bootstrap. A resample without a job of the group is left out.
fn mean_change(jobs: &[&PairedJob], draws: &[Vec<u32>], quantity: impl Fn(&PairedJob) -> [f64; 2]) -> MeanChange {
    let mut blocks: Vec<BlockSums> = Vec::new();
    for job in jobs {
        if blocks.last().is_none_or(|block| block.block != job.block) {
            blocks.push(BlockSums { block: job.block, ..BlockSums::default() });
        }
        if let Some(block) = blocks.last_mut() {
            let [old, new] = quantity(job);
            block.jobs += 1;
            block.old += old;
            block.new += new;
        }
    }
    let mean = |sum: f64| if jobs.is_empty() { 0.0 } else { sum / jobs.len() as f64 };
    let old = mean(blocks.iter().map(|block| block.old).sum());
    let new = mean(blocks.iter().map(|block| block.new).sum());
    let resampled = |counts: &Vec<u32>| {
        let weighted = blocks.iter().map(|block| (f64::from(counts[block.block]), block));
        let (jobs, change) = weighted.fold((0.0, 0.0), |(jobs, change), (count, block)| {
            (jobs + count * block.jobs as f64, change + count * (block.new - block.old))
        });
        (jobs > 0.0).then(|| change / jobs)
    };
    let mut changes: Vec<f64> = draws.iter().filter_map(resampled).collect();
    changes.sort_unstable_by(f64::total_cmp);
    let quantile = |fraction: f64| {
        let index = (fraction * changes.len().saturating_sub(1) as f64).round() as usize;
        changes.get(index).copied().unwrap_or(new - old)
    };
    MeanChange { old, new, low: quantile(TAIL), high: quantile(1.0 - TAIL) }
}
