//! What a simulated workload says of waits, of the use of the machine and of goals: waits, slowdown and
//! utilisation, for all jobs, by class (entity, group, queue, size or length) and over time
//! ([`Statistics`]); how far simulated
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

use std::collections::BTreeMap;

use goals::{Goals, JudgedGoal, JudgedRun};
use job_sort_formula::rank::measures::{jain_index, tau_b};
use jsf_json::object;
use serde::{Serialize, Serializer};

use crate::schedule::{Schedule, StartedJob};
use crate::workload::{Workload, WorkloadJob};

pub(crate) mod difference;
pub(crate) mod goals;

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
            let shares_used = Fairness::new(workload, schedule, shares, warm_up);
            // both are in the order of the first submission
            let mut uses = shares_used.entities.iter();
            for entity in &mut statistics.classes.entities {
                entity.used = uses.find(|used| used.name == entity.name).cloned();
            }
            fairness = Some(shares_used);
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
    pub amounts: Vec<f64>,
}

impl TimeShares {
    pub fn new(origin: i64, length: i64, count: usize) -> Self {
        Self {
            origin,
            length,
            amounts: vec![0.0; count],
        }
    }

    pub fn add(&mut self, from: i64, to: i64, weight: f64) {
        let period = |time: i64| (time - self.origin) / self.length;
        for period in period(from)..=period(to) {
            let start = self.origin + period * self.length;
            let seconds = to.min(start + self.length) - from.max(start);
            self.amounts[period as usize] += seconds as f64 * weight;
        }
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
        let members = object! {
            perc: self.perc,
            promised_core_seconds: self.promised,
            used_of_promised: self.ratio(),
        };
        members.serialize(serializer)
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
        let mut jobs_by_entity: Vec<Vec<StartedJob<'_>>> =
            vec![Vec::new(); workload.entities().len()];
        let mut last_end = begin;
        for index in workload.after_warm_up(warm_up) {
            let job = &workload.jobs()[index];
            has_jobs[job.entity as usize] = true;
            let Some(started) = schedule.started(workload, index) else {
                continue;
            };
            last_end = last_end.max(started.end());
            jobs_by_entity[job.entity as usize].push(started);
        }
        let block_seconds = block_length(begin, last_end).max((last_end - begin) / MAX_BLOCKS + 1);
        let blocks = blocks(
            &jobs_by_entity,
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
        let (used, demand) = (used.amounts, demand.amounts);
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

/// The lengths that a period of the course of time may have, in seconds.
const PERIODS: [i64; 8] = [
    60,
    600,
    3600,
    6 * 3600,
    86_400,
    7 * 86_400,
    30 * 86_400,
    365 * 86_400,
];
/// The most periods, and the most of the coarse ones.
const MAX_PERIODS: i64 = 200;
const MAX_COARSE_PERIODS: i64 = 16;

/// The waits that jobs are counted by, in seconds.
const MINUTE: i64 = 60;
const HOUR: i64 = 3600;
const WEEK: i64 = 7 * DAY;

/// The numbers of all jobs.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Summary {
    /// The number of jobs that started.
    pub jobs: usize,
    /// The time from the first submission to the last end, in seconds.
    pub makespan: i64,
    /// The processors times seconds that the jobs held.
    pub core_seconds: u128,
    /// The fraction of the machine that the jobs held during the makespan.
    pub utilisation: f64,
    /// The waits, in seconds.
    pub wait: Distribution,
    /// The mean wait of a core hour, in seconds: that of the jobs, each weighted by the processors
    /// times seconds that it held.
    pub wait_per_core_hour: f64,
    /// The number of jobs that start within a minute of their submission.
    pub started_within_minute: usize,
    /// The number of jobs that start within an hour.
    pub started_within_hour: usize,
    /// The number of jobs that wait for more than a day.
    pub waited_over_day: usize,
    /// The number of jobs that wait for more than seven days.
    pub waited_over_week: usize,
    /// The bounded slowdowns: `max(1, (wait + run) / max(run, 10 s))`.
    pub bounded_slowdown: Distribution,
    /// The number of waiting jobs, averaged over the makespan.
    pub mean_queue: f64,
}

impl Summary {
    /// A number that jobs have, such as a mean; `None` without a job.
    pub fn if_any<T>(&self, number: T) -> Option<T> {
        (self.jobs > 0).then_some(number)
    }

    /// The numbers of a distribution; without a job not numbers, which are null in JSON.
    pub fn distribution_if_any(&self, distribution: Distribution) -> Distribution {
        self.if_any(distribution)
            .unwrap_or(Distribution::NOT_NUMBERS)
    }
}

impl Serialize for Summary {
    /// Without a job, what is a mean or a part of them is null.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let numbers = object! {
            jobs: self.jobs,
            core_seconds: self.core_seconds,
            mean_wait_per_core_hour: self.if_any(self.wait_per_core_hour),
            started_within_a_minute: self.started_within_minute,
            started_within_an_hour: self.started_within_hour,
            waited_over_1_d: self.waited_over_day,
            waited_over_7_d: self.waited_over_week,
            makespan: self.if_any(self.makespan),
            utilisation: self.if_any(self.utilisation),
            mean_queue: self.if_any(self.mean_queue),
            wait: self.distribution_if_any(self.wait),
            bounded_slowdown: self.distribution_if_any(self.bounded_slowdown),
        };
        numbers.serialize(serializer)
    }
}

/// The numbers of the jobs of an entity, a group, a queue or a class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupStatistics {
    /// The name of the entity, the group, the queue or the class.
    pub name: String,
    /// The number of jobs that started.
    pub jobs: usize,
    /// The processors times seconds that they held.
    pub core_seconds: u128,
    /// Their waits, in seconds.
    #[serde(flatten, serialize_with = "serialize_waits")]
    pub wait: Distribution,
    /// The fraction of them that start within an hour of their submission.
    pub within_hour: f64,
    /// Their mean bounded slowdown.
    pub mean_bounded_slowdown: f64,
    /// Of an entity, what it uses of its share.
    #[serde(flatten)]
    pub used: Option<EntityUse>,
}

/// Serialises the waits of a group; JSON has three of the numbers beside the distribution too.
fn serialize_waits<S: Serializer>(wait: &Distribution, serializer: S) -> Result<S::Ok, S::Error> {
    let numbers = object! {
        mean_wait: wait.mean,
        median_wait: Whole(wait.median),
        p95_wait: Whole(wait.p95),
        wait,
    };
    numbers.serialize(serializer)
}

/// The numbers of a period.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Period {
    /// When the period begins, in seconds of the log's clock.
    pub start: i64,
    /// How long it lasts, in seconds: the last one until the last end.
    pub seconds: i64,
    /// The number of jobs that were submitted in it and started.
    pub submitted: usize,
    /// Their mean wait, in seconds; `None` without jobs.
    pub mean_wait: Option<f64>,
    /// Their mean bounded slowdown; `None` without jobs.
    pub mean_bounded_slowdown: Option<f64>,
    /// The fraction of the machine that jobs held.
    pub utilisation: f64,
    /// The number of waiting jobs, averaged over the period.
    pub mean_queue: f64,
}

/// The numbers of a simulated workload.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Statistics {
    /// How long after the first submission the jobs begin that are counted, in seconds.
    pub warm_up: i64,
    /// How many jobs are submitted before.
    pub warm_up_jobs: usize,
    /// All jobs.
    pub summary: Summary,
    /// The classes of jobs. Entities, groups and queues are in the order of their first submission:
    /// nothing depends on names.
    #[serde(flatten)]
    pub classes: ByKind<Vec<GroupStatistics>>,
    /// The values with which jobs start, by size and walltime.
    pub values_at_start: Vec<StartValues>,
    /// Over time.
    #[serde(rename = "over_time")]
    pub periods: Vec<Period>,
    /// Over time, in few periods.
    #[serde(skip)]
    pub coarse_periods: Vec<Period>,
}

/// The wait of a job, in seconds; `None` if it did not start.
pub fn wait_of(workload: &Workload, schedule: &Schedule, job: usize) -> Option<i64> {
    Some(schedule.start(job)? - workload.jobs().get(job)?.submit)
}

impl Statistics {
    /// The numbers of the jobs that were submitted at least `warm_up` seconds after the first one
    /// and that started. The use of the machine and the length of the queue are those of all jobs
    /// in the time of these.
    pub fn new(workload: &Workload, schedule: &Schedule, processors: u32, warm_up: i64) -> Self {
        let begin = workload.begin(warm_up);
        let mut started = Vec::new();
        for job in 0..workload.jobs().len() {
            started.extend(schedule.started(workload, job));
        }
        let jobs = &started[started.partition_point(|started| started.job.submit < begin)..];
        let classes = KINDS.map(|kind| {
            let classes = kind.classes(workload, jobs, |job| &job.job);
            classes.into_iter().map(group).collect()
        });
        let first = jobs.first().map_or(0, |job| job.job.submit);
        Self {
            warm_up,
            warm_up_jobs: workload.count_before(begin),
            summary: summary(jobs, &started, processors),
            classes: classes.into(),
            values_at_start: StartValues::of_classes(workload, schedule, warm_up),
            periods: periods(jobs, &started, processors, MAX_PERIODS, 0),
            coarse_periods: periods(jobs, &started, processors, MAX_COARSE_PERIODS, first),
        }
    }
}

/// The first submission and the last end.
fn span(jobs: &[StartedJob<'_>]) -> Option<(i64, i64)> {
    let last_end = jobs.iter().map(StartedJob::end).max()?;
    Some((jobs[0].job.submit, last_end))
}

/// The numbers of some of the jobs that started.
fn summary(jobs: &[StartedJob<'_>], started: &[StartedJob<'_>], processors: u32) -> Summary {
    let Some((first, last)) = span(jobs) else {
        return Summary::default();
    };
    let makespan = last - first;
    let (mut held, mut waited) = (0, 0);
    for job in started {
        for (from, to) in job.runs() {
            held += i128::from(job.job.processors) * overlap((first, last), (from, to));
        }
        waited += overlap((first, last), (job.job.submit, job.start));
    }
    let mut core_seconds = 0;
    let mut weighted = 0.0;
    let mut waits = Vec::new();
    let mut slowdowns = Vec::new();
    for job in jobs {
        let wait = job.wait() as f64;
        waits.push(wait);
        slowdowns.push(job.slowdown());
        weighted += wait * job.job.core_seconds() as f64;
        core_seconds += job.job.core_seconds();
    }
    Summary {
        jobs: jobs.len(),
        makespan,
        core_seconds,
        utilisation: quotient(held as f64, makespan as f64) / f64::from(processors),
        mean_queue: quotient(waited as f64, makespan as f64),
        wait_per_core_hour: quotient(weighted, core_seconds as f64),
        started_within_minute: started_within(jobs, MINUTE),
        started_within_hour: started_within(jobs, HOUR),
        waited_over_day: jobs.len() - started_within(jobs, DAY),
        waited_over_week: jobs.len() - started_within(jobs, WEEK),
        wait: Distribution::new(&mut waits),
        bounded_slowdown: Distribution::new(&mut slowdowns),
    }
}

/// The seconds that two times have in common.
fn overlap(one: (i64, i64), other: (i64, i64)) -> i128 {
    i128::from((one.1.min(other.1) - one.0.max(other.0)).max(0))
}

/// The mean of so many numbers with this sum; `None` without any.
fn mean(sum: f64, count: usize) -> Option<f64> {
    (count > 0).then_some(sum / count as f64)
}

/// A quotient; 0 where nothing is divided by.
fn quotient(amount: f64, divisor: f64) -> f64 {
    if divisor > 0.0 { amount / divisor } else { 0.0 }
}

/// The number of jobs that wait for at most so many seconds.
fn started_within(jobs: &[StartedJob<'_>], seconds: i64) -> usize {
    jobs.iter().filter(|job| job.wait() <= seconds).count()
}

/// The numbers of a class.
fn group(Class { name, jobs }: Class<'_, StartedJob<'_>>) -> GroupStatistics {
    let mut core_seconds = 0;
    let mut within_hour = 0;
    let mut slowdowns = 0.0;
    let mut waits = Vec::new();
    for job in &jobs {
        core_seconds += job.job.core_seconds();
        within_hour += usize::from(job.wait() <= HOUR);
        slowdowns += job.slowdown();
        waits.push(job.wait() as f64);
    }
    let count = jobs.len() as f64;
    GroupStatistics {
        name,
        jobs: jobs.len(),
        core_seconds,
        within_hour: within_hour as f64 / count,
        wait: Distribution::new(&mut waits),
        mean_bounded_slowdown: slowdowns / count,
        used: None,
    }
}

/// The course of time in at most so many periods of equal length, which begin at multiples of it
/// after a time.
fn periods(
    jobs: &[StartedJob<'_>],
    started: &[StartedJob<'_>],
    processors: u32,
    most: i64,
    zero: i64,
) -> Vec<Period> {
    let Some((first, last)) = span(jobs) else {
        return Vec::new();
    };
    let (first, last) = (first - zero, last - zero);
    let mut length = (last - first) / (most - 1) + 1;
    for period in PERIODS {
        if last.div_euclid(period) - first.div_euclid(period) < most {
            length = period;
            break;
        }
    }
    let origin = first.div_euclid(length);
    let count = (last.div_euclid(length) - origin + 1) as usize;
    let mut submitted = vec![(0_usize, 0.0, 0.0); count];
    let mut held = TimeShares::new(origin * length, length, count);
    let mut waited = TimeShares::new(origin * length, length, count);
    for job in jobs {
        let (jobs, waits, slowdowns) =
            &mut submitted[((job.job.submit - zero).div_euclid(length) - origin) as usize];
        *jobs += 1;
        *waits += job.wait() as f64;
        *slowdowns += job.slowdown();
    }
    for job in started {
        let within = |time: i64| (time - zero).clamp(first, last);
        for (from, to) in job.runs() {
            held.add(within(from), within(to), job.job.processors.into());
        }
        waited.add(within(job.job.submit), within(job.start), 1.0);
    }
    let (held, waited) = (held.amounts, waited.amounts);
    let mut periods = Vec::new();
    for (index, (submitted, waits, slowdowns)) in submitted.into_iter().enumerate() {
        let start = ((origin + index as i64) * length).max(first);
        let seconds = ((origin + index as i64 + 1) * length).min(last) - start;
        if seconds <= 0 && submitted == 0 {
            continue;
        }
        periods.push(Period {
            start: start + zero,
            seconds,
            submitted,
            mean_wait: mean(waits, submitted),
            mean_bounded_slowdown: mean(slowdowns, submitted),
            utilisation: quotient(held[index], seconds as f64) / f64::from(processors),
            mean_queue: quotient(waited[index], seconds as f64),
        });
    }
    periods
}

/// The values of the jobs of a class at their starts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StartValues {
    /// The processors that they ask for.
    #[serde(rename = "processors")]
    pub size: String,
    /// The time that they ask for.
    pub walltime: String,
    /// The number of jobs that start with a value.
    pub jobs: usize,
    /// The least value that is not below a tenth of all.
    pub p10: f64,
    /// The median; of an even number of values the mean of the two in the middle.
    pub median: f64,
}

impl StartValues {
    /// The values of the jobs that were submitted at least `warm_up` seconds after the first one,
    /// for each class that has some.
    pub fn of_classes(workload: &Workload, schedule: &Schedule, warm_up: i64) -> Vec<Self> {
        let mut classes: BTreeMap<(usize, usize), Vec<f64>> = BTreeMap::new();
        for index in workload.after_warm_up(warm_up) {
            let job = &workload.jobs()[index];
            if let Some(value) = schedule.start_value(index) {
                let class = (size_class(job.processors), length_class(job.walltime));
                classes.entry(class).or_default().push(value);
            }
        }
        classes
            .into_iter()
            .map(|((size, walltime), values)| Self::new(size, walltime, values))
            .collect()
    }

    fn new(size: usize, walltime: usize, mut values: Vec<f64>) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        Self {
            size: size_class_name(size),
            walltime: length_class_name(walltime),
            jobs: values.len(),
            p10: percentile(&values, 10),
            median: median(&values),
        }
    }
}

/// The distribution of a quantity over jobs.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Distribution {
    /// The mean.
    pub mean: f64,
    /// The least value that is not below a quarter of all.
    #[serde(serialize_with = "without_fraction")]
    pub p25: f64,
    /// The median; of an even number of values the mean of the two in the middle.
    #[serde(serialize_with = "without_fraction")]
    pub median: f64,
    /// The least value that is not below three quarters of all.
    #[serde(serialize_with = "without_fraction")]
    pub p75: f64,
    /// The least value that is not below 95 % of all.
    #[serde(serialize_with = "without_fraction")]
    pub p95: f64,
    /// The greatest value.
    #[serde(serialize_with = "without_fraction")]
    pub max: f64,
}

impl Distribution {
    /// The distribution of no values.
    const NOT_NUMBERS: Self = Self {
        mean: f64::NAN,
        p25: f64::NAN,
        median: f64::NAN,
        p75: f64::NAN,
        p95: f64::NAN,
        max: f64::NAN,
    };

    /// The distribution of these values, which are sorted; all zeros for none.
    pub fn new(values: &mut [f64]) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let Some(&max) = values.last() else {
            return Self::default();
        };
        Self {
            mean: values.iter().sum::<f64>() / values.len() as f64,
            p25: percentile(values, 25),
            median: median(values),
            p75: percentile(values, 75),
            p95: percentile(values, 95),
            max,
        }
    }
}

/// The least of some sorted values that is not below this percentage of all: from 1 % of at least
/// one value.
pub(crate) fn percentile(values: &[f64], percentage: usize) -> f64 {
    values[(values.len() * percentage).div_ceil(100) - 1]
}

/// The value in the middle of some sorted ones, or the mean of the two there.
fn median(values: &[f64]) -> f64 {
    (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0
}

/// Serialises a number, without a fraction if it is whole.
fn without_fraction<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    Whole(*value).serialize(serializer)
}

/// A number that is serialised without a fraction if it is whole: most waits are.
#[derive(Debug, Clone, Copy)]
pub struct Whole(pub f64);

impl Serialize for Whole {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(value) = *self;
        if value.fract() == 0.0 && value.abs() < 1e15 {
            serializer.serialize_i64(value as i64)
        } else {
            serializer.serialize_f64(value)
        }
    }
}

/// The largest number of processors of each class of sizes but the last.
const SIZE_CLASSES: [u32; 7] = [1, 4, 16, 64, 256, 1024, 4096];
/// The longest run time of each class of lengths, in seconds, and its name.
const LENGTH_CLASSES: [(i64, &str); 6] = [
    (60, "up to 1 min"),
    (600, "up to 10 min"),
    (3600, "up to 1 h"),
    (6 * 3600, "up to 6 h"),
    (86_400, "up to 1 d"),
    (i64::MAX, "longer"),
];
/// Something for each way in which jobs are divided into classes.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct ByKind<T> {
    /// By entity.
    pub entities: T,
    /// By the group or account that the log names.
    pub groups: T,
    /// By queue.
    pub queues: T,
    /// By number of processors.
    pub sizes: T,
    /// By run time.
    pub lengths: T,
}

impl<T> ByKind<T> {
    /// All of them, in this order.
    pub fn each_ref(&self) -> [&T; 5] {
        [
            &self.entities,
            &self.groups,
            &self.queues,
            &self.sizes,
            &self.lengths,
        ]
    }
}

impl<T> From<[T; 5]> for ByKind<T> {
    fn from([entities, groups, queues, sizes, lengths]: [T; 5]) -> Self {
        Self {
            entities,
            groups,
            queues,
            sizes,
            lengths,
        }
    }
}

/// A way in which jobs are divided into classes.
pub(crate) struct Kind {
    /// The index of the class of a job.
    index: fn(&WorkloadJob) -> usize,
    /// The name of a class; `None` for jobs that are in no class.
    name: fn(&Workload, usize) -> Option<String>,
    /// Whether the indices order the classes.
    pub is_ordered: bool,
}

/// A class with its jobs.
pub(crate) struct Class<'j, J> {
    pub name: String,
    pub jobs: Vec<&'j J>,
}

/// In the order of [`ByKind`].
pub(crate) const KINDS: [Kind; 5] = [
    Kind {
        index: |job| job.entity as usize,
        // jobs whose entity the log does not say are not one entity
        name: |workload, index| {
            let name = workload.entities()[index].to_string();
            (!name.is_empty()).then_some(name)
        },
        is_ordered: false,
    },
    Kind {
        index: |job| job.group as usize,
        name: |workload, index| Some(workload.groups()[index].to_string()),
        is_ordered: false,
    },
    Kind {
        index: |job| job.queue as usize,
        name: |workload, index| Some(workload.queues()[index].to_string()),
        is_ordered: false,
    },
    Kind {
        index: |job| size_class(job.processors),
        name: |_, class| Some(size_class_name(class)),
        is_ordered: true,
    },
    Kind {
        index: |job| length_class(job.duration()),
        name: |_, class| Some(length_class_name(class)),
        is_ordered: true,
    },
];

impl Kind {
    /// The classes of some jobs, in the order of their indices.
    pub fn classes<'j, J>(
        &self,
        workload: &Workload,
        jobs: &'j [J],
        job_of: fn(&J) -> &WorkloadJob,
    ) -> Vec<Class<'j, J>> {
        let mut members: BTreeMap<usize, Vec<&J>> = BTreeMap::new();
        for job in jobs {
            let index = (self.index)(job_of(job));
            members.entry(index).or_default().push(job);
        }
        let mut classes = Vec::new();
        for (index, jobs) in members {
            if let Some(name) = (self.name)(workload, index) {
                classes.push(Class { name, jobs });
            }
        }
        classes
    }
}

/// The class of sizes that a number of processors belongs to.
pub(crate) fn size_class(processors: u32) -> usize {
    SIZE_CLASSES.partition_point(|&most| most < processors)
}

fn size_class_name(class: usize) -> String {
    let first = if class == 0 {
        1
    } else {
        SIZE_CLASSES[class - 1] + 1
    };
    match SIZE_CLASSES.get(class) {
        Some(&most) if most == first => most.to_string(),
        Some(most) => format!("{first}-{most}"),
        None => format!("{first} and more"),
    }
}

fn length_class(seconds: i64) -> usize {
    LENGTH_CLASSES.partition_point(|(most, _)| *most < seconds)
}

fn length_class_name(class: usize) -> String {
    LENGTH_CLASSES[class].1.to_owned()
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
