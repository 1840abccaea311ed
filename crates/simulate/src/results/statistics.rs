//! The numbers of a simulated workload: waits, slowdown and utilisation, for all jobs, by class
//! and over time.

use super::fairness::{EntityUse, Fairness};
use super::job_classes::{
    ByKind, Class, KINDS, length_class, length_class_name, size_class, size_class_name,
};
use crate::schedule::{Schedule, StartedJob};
use crate::workload::Workload;
use jsf_json::object;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// A day, in seconds.
pub const DAY: i64 = 86_400;

/// How much of intervals of time lies in each of some periods.
pub struct TimeShares {
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
        // a time that ends with a period adds 0 to the next one, which callers make room for
        for period in period(from)..=period(to) {
            let start = self.origin + period * self.length;
            let seconds = to.min(start + self.length) - from.max(start);
            self.amounts[period as usize] += seconds as f64 * weight;
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
    /// How the use compares with the shares, where there are any.
    #[serde(skip)]
    pub fairness: Option<Fairness>,
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
        // the jobs of a workload are in the order of their submission
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
            fairness: None,
        }
    }

    /// Adds how the use compares with the shares of the entities of the workload, by index.
    pub fn add_fairness(
        &mut self,
        workload: &Workload,
        schedule: &Schedule,
        shares: &[Option<f64>],
    ) {
        if !shares.iter().flatten().any(|share| *share > 0.0) {
            return;
        }
        let fairness = Fairness::new(workload, schedule, shares, self.warm_up);
        // both are in the order of the first submission
        let mut uses = fairness.entities.iter();
        for entity in &mut self.classes.entities {
            entity.used = uses.find(|used| used.name == entity.name).cloned();
        }
        self.fairness = Some(fairness);
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
    // jobs of the warm-up hold processors and wait in the time of the others too
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
    // the seconds of a log times a billion processors are beyond 64 bits
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
    // for one period less: the first one may begin before the first submission
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
        // the last period is empty if the last end is its beginning, unless jobs without a run are
        // in it
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
pub fn percentile(values: &[f64], percentage: usize) -> f64 {
    values[(values.len() * percentage).div_ceil(100) - 1]
}

/// The value in the middle of some sorted ones, or the mean of the two there.
fn median(values: &[f64]) -> f64 {
    (values[(values.len() - 1) / 2] + values[values.len() / 2]) / 2.0
}

/// Serialises a number, without a fraction if it is whole.
pub fn without_fraction<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    Whole(*value).serialize(serializer)
}

/// A number that is serialised without a fraction if it is whole: most waits are.
#[derive(Debug, Clone, Copy)]
pub struct Whole(pub f64);

impl Serialize for Whole {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(value) = *self;
        // below 2^53 every digit of the integer is one of the float
        if value.fract() == 0.0 && value.abs() < 1e15 {
            serializer.serialize_i64(value as i64)
        } else {
            serializer.serialize_f64(value)
        }
    }
}
