//! What a simulated workload says of waits, of the use of the machine and of goals; how far simulated
//! waits are from those that a log records, and so whether to believe what the simulation says of another
//! formula ([`Validation`]); and what entities use against what their shares promise ([`Fairness`]).
//!
//! In each block of time, a day or a tenth of a shorter schedule, the processor time that all jobs
//! hold is divided as the shares promise it: in proportion to the shares, but no entity gets more
//! than its jobs ask for while they wait or run, and what it leaves goes to the others. That is
//! weighted max-min fairness. An entity that waits is promised time that others use, so that its
//! jobs use less than promised. Entities without shares are promised what all others leave.
//!
//! Two measures of the whole: Jain's index of what each entity uses of what it is promised, and the
//! Hoover index, the part of the processor time that other entities use than those to which it is
//! promised.
//!
//! Sources: D. Bertsekas, R. Gallager, "Data Networks", 1992, section 6.5.2 (max-min fairness); R.
//! Jain, D. Chiu, W. Hawe, "A Quantitative Measure of Fairness and Discrimination for Resource
//! Allocation in Shared Computer Systems", 1984; E. M. Hoover, "The Measurement of Industrial
//! Localization", 1936.

use goals::{Goals, JudgedGoal, JudgedRun};
use job_sort_formula::rank::measures::{jain_index, tau_b};
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use statistics::{Distribution, Statistics, wait_of, without_fraction};

use crate::schedule::{Schedule, StartedJob};
use crate::workload::Workload;

pub(crate) mod difference;
pub(crate) mod goals;
pub(crate) mod statistics;

/// The statistics and the fairness of a simulated workload.
#[derive(Debug, Clone)]
pub struct Results {
    /// Waits, slowdowns and the use of the machine.
    pub statistics: Statistics,
    /// How the use compares with the shares, where there are any.
    pub fairness: Option<Fairness>,
}

impl Results {
    /// The results of a schedule on this many processors. `shares` are those of the entities of the
    /// workload, by index.
    pub fn new(
        workload: &Workload,
        schedule: &Schedule,
        processors: u32,
        shares: Option<&[Option<f64>]>,
        warm_up: i64,
    ) -> Self {
        let mut statistics = Statistics::new(workload, schedule, processors, warm_up);
        let mut fairness = None;
        if let Some(shares) = shares
            && shares.iter().flatten().any(|share| *share > 0.0)
        {
            let of_shares = Fairness::new(workload, schedule, shares, warm_up);
            // both are in the order of the first submission
            let mut uses = of_shares.entities.iter();
            for entity in &mut statistics.classes.entities {
                entity.used = uses.find(|used| used.name == entity.name).cloned();
            }
            fairness = Some(of_shares);
        }
        Self {
            statistics,
            fairness,
        }
    }

    /// The run as goals and objectives judge it.
    pub fn run<'a>(&'a self, workload: &'a Workload, schedule: &'a Schedule) -> JudgedRun<'a> {
        JudgedRun {
            workload,
            schedule,
            results: self,
        }
    }

    /// Judges the schedule by goals; without goals, by none. `old` are the values of the old side
    /// of a comparison.
    pub fn judge(
        &self,
        goals: Option<&Goals>,
        workload: &Workload,
        schedule: &Schedule,
        old: Option<&[JudgedGoal]>,
    ) -> Vec<JudgedGoal> {
        match goals {
            Some(goals) => goals.judge(&self.run(workload, schedule), old),
            None => Vec::new(),
        }
    }
}

/// Which of the first jobs of a simulation do not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarmUp {
    /// All jobs count.
    None,
    /// Usage starts fresh, and the jobs of the time until it decays first, in seconds, do not
    /// count.
    UntilDecay(i64),
    /// Usage starts fresh, but that time, in seconds, is more than half of the log, so that all
    /// jobs count.
    LogTooShort(i64),
}

impl WarmUp {
    /// How long after the first submission the jobs begin that count, in seconds.
    pub fn seconds(self) -> i64 {
        match self {
            Self::None | Self::LogTooShort(_) => 0,
            Self::UntilDecay(seconds) => seconds,
        }
    }
}

/// How much of intervals of time lies in each of some periods.
pub(crate) struct TimeShares {
    origin: i64,
    length: i64,
    /// What lies in a part of the period.
    parts: Vec<f64>,
    /// By how much the amount of whole periods changes from the period before.
    changes: Vec<f64>,
}

impl TimeShares {
    pub fn new(origin: i64, length: i64, count: usize) -> Self {
        Self {
            origin,
            length,
            parts: vec![0.0; count],
            changes: vec![0.0; count + 1],
        }
    }

    pub fn add(&mut self, from: i64, to: i64, weight: f64) {
        let period = |time: i64| ((time - self.origin) / self.length) as usize;
        let (first, last) = (period(from), period(to));
        if first == last {
            self.parts[first] += (to - from) as f64 * weight;
            return;
        }
        let start_of = |period: usize| self.origin + period as i64 * self.length;
        self.parts[first] += (start_of(first + 1) - from) as f64 * weight;
        self.parts[last] += (to - start_of(last)) as f64 * weight;
        self.changes[first + 1] += weight;
        self.changes[last] -= weight;
    }

    pub fn finish(mut self) -> Vec<f64> {
        let mut weight = 0.0;
        for (part, change) in self.parts.iter_mut().zip(&self.changes) {
            weight += change;
            *part += weight * self.length as f64;
        }
        self.parts
    }
}

/// Simulated waits against recorded ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Validation {
    /// The number of jobs with a recorded start that also start in the simulation.
    pub jobs: usize,
    /// How many of them start at the recorded second.
    pub equal: usize,
    /// The mean recorded wait, in seconds.
    #[serde(rename = "recorded_mean_wait")]
    pub recorded_mean: f64,
    /// The mean simulated wait, in seconds.
    #[serde(rename = "simulated_mean_wait")]
    pub simulated_mean: f64,
    /// The median of the differences without their signs, in seconds.
    #[serde(serialize_with = "without_fraction")]
    pub median_error: f64,
    /// The difference, without its sign, that 95 % of the jobs do not exceed, in seconds.
    #[serde(serialize_with = "without_fraction")]
    pub p95_error: f64,
    /// The mean simulated wait as a multiple of the recorded one; `None` if no job waited in the
    /// log.
    pub ratio_of_means: Option<f64>,
    /// Kendall's tau-b of the waits: 1 if both order the jobs alike; `None` if all waits are equal.
    pub rank_correlation: Option<f64>,
    /// How many other jobs have a recorded start before their submission, which is no wait.
    pub started_before_submission: usize,
}

/// Below this rank correlation, the simulation orders the waits otherwise than the log does.
const MIN_CORRELATION: f64 = 0.5;
/// Means of which one is more times the other differ by more than the order of some jobs explains.
const MAX_RATIO: f64 = 4.0;
/// Means that are closer, in seconds, are alike: on an idle machine a job waits for a cycle, and
/// the longest time between two is OpenPBS's `scheduler_iteration`.
const MAX_IDLE_WAIT: f64 = 600.0;

impl Validation {
    /// Whether the model does not explain the waits in the log: it orders them otherwise, or one of
    /// the means is several times the other.
    pub fn is_doubtful(&self) -> bool {
        let shorter = self.recorded_mean.min(self.simulated_mean);
        let longer = self.recorded_mean.max(self.simulated_mean);
        let differ = longer > shorter * MAX_RATIO && longer - shorter > MAX_IDLE_WAIT;
        differ || matches!(self.rank_correlation, Some(tau) if tau < MIN_CORRELATION)
    }

    /// Compares the waits of a schedule with those in the log, leaving out the jobs of the first
    /// `warm_up` seconds; `None` if the log records no wait.
    pub fn new(workload: &Workload, schedule: &Schedule, warm_up: i64) -> Option<Self> {
        let (mut recorded, mut simulated) = (Vec::new(), Vec::new());
        let mut started_before_submission = 0;
        for index in workload.after_warm_up(warm_up) {
            let job = &workload.jobs()[index];
            if let (Some(started), Some(wait)) = (job.started(), wait_of(workload, schedule, index))
            {
                if started < job.submit {
                    started_before_submission += 1;
                    continue;
                }
                recorded.push((started - job.submit) as f64);
                simulated.push(wait as f64);
            }
        }
        let jobs = recorded.len();
        if jobs == 0 {
            return None;
        }
        let mut errors = Vec::new();
        let mut equal = 0;
        for (recorded, simulated) in recorded.iter().zip(&simulated) {
            errors.push((recorded - simulated).abs());
            equal += usize::from(recorded == simulated);
        }
        let distribution = Distribution::new(&mut errors);
        let recorded_mean = recorded.iter().sum::<f64>() / jobs as f64;
        let simulated_mean = simulated.iter().sum::<f64>() / jobs as f64;
        Some(Self {
            jobs,
            equal,
            recorded_mean,
            simulated_mean,
            median_error: distribution.median,
            p95_error: distribution.p95,
            ratio_of_means: (recorded_mean > 0.0).then_some(simulated_mean / recorded_mean),
            rank_correlation: tau_b(&recorded, &simulated),
            started_before_submission,
        })
    }
}

/// The longest block of a short schedule, in seconds, and the fewest blocks that one is divided
/// into.
const DAY: i64 = 86_400;
const LEAST_BLOCKS: i64 = 10;
/// The most blocks.
const MAX_BLOCKS: i64 = 4000;

/// The use of a machine against shares.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fairness {
    /// Jain's index over the entities with shares that are promised something: 1 if all use the
    /// same part of what they are promised, `1/n` if one of `n` uses everything. `None` if there is
    /// no such entity.
    pub jain: Option<f64>,
    /// The part of the processor time that other entities use than those to which it is promised: 0
    /// if all use what they are promised.
    pub hoover: f64,
    /// The length of a block, in seconds.
    pub block_seconds: i64,
    /// The entities with jobs, in the order of their first submission.
    #[serde(skip)]
    pub entities: Vec<EntityUse>,
}

/// What an entity uses.
#[derive(Debug, Clone, PartialEq)]
pub struct EntityUse {
    /// The name of the entity.
    pub name: String,
    /// Its share of the machine, 0..=1; `None` if the tree does not have it.
    pub perc: Option<f64>,
    /// The processors times seconds that its share promises.
    pub promised: f64,
    /// The processors times seconds that its jobs hold.
    pub used: f64,
}

impl EntityUse {
    /// What the entity uses of what it is promised; `None` if it is promised nothing.
    pub fn ratio(&self) -> Option<f64> {
        (self.promised > 0.0).then_some(self.used / self.promised)
    }
}

impl Serialize for EntityUse {
    /// What an entity is promised and uses of it, without its name: a member beside other numbers
    /// of the entity.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_struct("EntityUse", 3)?;
        members.serialize_field("perc", &self.perc)?;
        members.serialize_field("promised_core_seconds", &self.promised)?;
        members.serialize_field("used_of_promised", &self.ratio())?;
        members.end()
    }
}

/// What an entity uses in a block, and what its jobs ask for.
#[derive(Debug, Clone, Copy)]
struct BlockUse {
    entity: usize,
    used: f64,
    demand: f64,
}

impl Fairness {
    /// Compares use with the share of each entity of the workload, by its index. Jobs that are
    /// submitted less than `warm_up` seconds after the first one are left out.
    pub fn new(
        workload: &Workload,
        schedule: &Schedule,
        percs: &[Option<f64>],
        warm_up: i64,
    ) -> Self {
        let begin = workload.begin(warm_up);
        let mut has_jobs = vec![false; workload.entities().len()];
        let mut of_entity: Vec<Vec<StartedJob<'_>>> = vec![Vec::new(); workload.entities().len()];
        let mut last_end = begin;
        for index in workload.after_warm_up(warm_up) {
            let job = &workload.jobs()[index];
            has_jobs[job.entity as usize] = true;
            let Some(started) = schedule.started(workload, index) else {
                continue;
            };
            last_end = last_end.max(started.end());
            of_entity[job.entity as usize].push(started);
        }
        let block_seconds = block_length(begin, last_end).max((last_end - begin) / MAX_BLOCKS + 1);
        let blocks = blocks(
            &of_entity,
            begin,
            block_seconds,
            ((last_end - begin) / block_seconds + 1) as usize,
        );
        let mut entities = Vec::new();
        for (name, perc) in workload.entities().iter().zip(percs) {
            entities.push(EntityUse {
                name: name.to_string(),
                perc: *perc,
                promised: 0.0,
                used: 0.0,
            });
        }
        let (mut misplaced, mut all) = (0.0, 0.0);
        for block in &blocks {
            for (of_block, promised) in block.iter().zip(promised(block, percs)) {
                let entity = &mut entities[of_block.entity];
                entity.promised += promised;
                entity.used += of_block.used;
                misplaced += (of_block.used - promised).abs() / 2.0;
                all += of_block.used;
            }
        }
        let mut ratios = Vec::new();
        for entity in &entities {
            if entity.perc > Some(0.0) {
                ratios.extend(entity.ratio());
            }
        }
        let mut has_jobs = has_jobs.into_iter();
        entities.retain(|entity| has_jobs.next() == Some(true) && !entity.name.is_empty());
        let hoover = if all > 0.0 { misplaced / all } else { 0.0 };
        Self {
            jain: jain_index(&ratios),
            hoover,
            block_seconds,
            entities,
        }
    }
}

/// The length of a block of a schedule between these times: a day, or a tenth of a shorter one.
fn block_length(begin: i64, end: i64) -> i64 {
    ((end - begin) / LEAST_BLOCKS + 1).clamp(1, DAY)
}

/// What every entity uses and asks for, in each block.
fn blocks(
    of_entity: &[Vec<StartedJob<'_>>],
    begin: i64,
    length: i64,
    count: usize,
) -> Vec<Vec<BlockUse>> {
    let mut blocks = vec![Vec::new(); count];
    for (entity, jobs) in of_entity.iter().enumerate() {
        if jobs.is_empty() {
            continue;
        }
        let mut used = TimeShares::new(begin, length, count);
        let mut demand = TimeShares::new(begin, length, count);
        for started in jobs {
            let processors = started.job.processors.into();
            for (from, to) in started.runs() {
                used.add(from, to, processors);
            }
            demand.add(started.job.submit, started.end(), processors);
        }
        let (used, demand) = (used.finish(), demand.finish());
        for (index, block) in blocks.iter_mut().enumerate() {
            if demand[index] > 0.0 {
                block.push(BlockUse {
                    entity,
                    used: used[index],
                    demand: demand[index],
                });
            }
        }
    }
    blocks
}

/// Divides the processor time that is used in a block as the shares promise it.
fn promised(block: &[BlockUse], percs: &[Option<f64>]) -> Vec<f64> {
    let mut left = 0.0;
    let (mut with_shares, mut without) = (Vec::new(), Vec::new());
    for (index, of_block) in block.iter().enumerate() {
        left += of_block.used;
        let demand = of_block.demand;
        let (claims, weight) = match percs[of_block.entity] {
            Some(share) if share > 0.0 => (&mut with_shares, share),
            _ => (&mut without, 1.0),
        };
        claims.push(Claim {
            index,
            demand,
            weight,
        });
    }
    let mut promised = vec![0.0; block.len()];
    divide(&mut left, with_shares, &mut promised);
    divide(&mut left, without, &mut promised);
    promised
}

/// What the entity at a place of a block asks for, and its weight.
struct Claim {
    index: usize,
    demand: f64,
    weight: f64,
}

impl Claim {
    fn level(&self) -> f64 {
        self.demand / self.weight
    }
}

/// Divides an amount in proportion to the weights, to nobody more than its demand.
fn divide(left: &mut f64, mut claims: Vec<Claim>, promised: &mut [f64]) {
    claims.sort_by(|one, other| one.level().total_cmp(&other.level()));
    let mut weights: f64 = claims.iter().map(|claim| claim.weight).sum();
    let last = claims.len().saturating_sub(1);
    for (place, claim) in claims.into_iter().enumerate() {
        // the last one gets all that is left, whatever rounding has made of the weights
        let part = if place == last {
            1.0
        } else {
            (claim.weight / weights).min(1.0)
        };
        let amount = claim.demand.min(*left * part);
        promised[claim.index] = amount;
        *left -= amount;
        weights -= claim.weight;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_block(entity: usize, used: f64, demand: f64) -> BlockUse {
        BlockUse {
            entity,
            used,
            demand,
        }
    }

    #[test]
    fn what_is_not_asked_for_goes_to_the_others() {
        let percs = [Some(0.5), Some(0.25), Some(0.25), None, Some(0.0)];
        let block = [
            of_block(0, 10.0, 10.0),
            of_block(1, 80.0, 200.0),
            of_block(2, 10.0, 300.0),
        ];
        assert_eq!(promised(&block, &percs), [10.0, 45.0, 45.0]);
        let block = [of_block(0, 60.0, 100.0), of_block(1, 40.0, 100.0)];
        let third = 100.0 / 3.0;
        assert!(
            promised(&block, &percs)
                .iter()
                .zip([2.0 * third, third])
                .all(|(one, other)| (one - other).abs() < 1e-9)
        );
        // without shares: what others leave, in equal parts
        let block = [
            of_block(3, 50.0, 50.0),
            of_block(4, 50.0, 50.0),
            of_block(1, 0.0, 60.0),
        ];
        assert_eq!(promised(&block, &percs), [20.0, 20.0, 60.0]);
        assert_eq!(promised(&[], &percs), [0.0; 0]);
    }
}
