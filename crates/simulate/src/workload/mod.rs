//! A workload: jobs with the times at which they were submitted, the processors and the time that
//! they ask for, and how long they run.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use job_sort_formula::python::{MAX_EXACT_INT, Value};
use job_sort_formula::schema::InputType;
use jsf_words::count;

use self::builder::{Extent, MAX_SECONDS};
use crate::faults::Faults;

pub(crate) mod builder;
pub(crate) mod generate;

/// The number that a formula gets for an input of a job: a Python integer or a float. An integer
/// beyond 2^53 is kept as the nearest float.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Amount {
    /// The number.
    pub value: f64,
    /// Whether it is an integer.
    pub is_int: bool,
}

impl Amount {
    /// What a job has of a resource that it does not request.
    pub(crate) const NONE: Self = Self::whole(0);

    /// A whole number of less than 2^53.
    pub(crate) const fn whole(number: i64) -> Self {
        Self {
            value: number as f64,
            is_int: true,
        }
    }

    /// A float.
    pub(crate) const fn float(value: f64) -> Self {
        Self {
            value,
            is_int: false,
        }
    }

    fn new(value: &Value) -> Option<Self> {
        const EXACT: RangeInclusive<i64> = -MAX_EXACT_INT..=MAX_EXACT_INT;
        let is_int = matches!(value, Value::Int(int) if EXACT.contains(int));
        let value = value.to_f64()?;
        value.is_finite().then_some(Self { value, is_int })
    }
}

/// A job of a [`Workload`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkloadJob {
    /// When the job is submitted, in seconds of the log's clock.
    pub submit: i64,
    /// How long it ran according to the log, in seconds.
    pub run: i64,
    /// The time that it asks for, in seconds.
    pub walltime: i64,
    /// The processors that it asks for.
    pub processors: u32,
    /// The index of its entity in [`Workload::entities`].
    pub entity: u32,
    /// The index of its user in the users of [`Workload::names_in_log`].
    pub user: u32,
    /// The index of its group in [`Workload::groups`].
    pub group: u32,
    /// The index of its Unix group in the Unix groups of [`Workload::names_in_log`].
    pub unix_group: u32,
    /// The index of its project in the projects of [`Workload::names_in_log`].
    pub project: u32,
    /// The index of its queue in [`Workload::queues`].
    pub queue: u32,
    /// The index of its chunks in [`Workload::chunks`].
    pub chunks: u32,
    /// The index of its id and of its amounts.
    row: u32,
    /// When it started according to the log.
    pub started: Option<i64>,
    extent: Extent,
    /// Whether it may run longer than it asks for.
    may_overrun: bool,
}

impl WorkloadJob {
    /// How long the job runs: as a rule at most the time that it asks for.
    pub fn duration(&self) -> i64 {
        if self.may_overrun {
            self.run
        } else {
            self.run.min(self.walltime)
        }
    }

    /// The core seconds by which its run is cut.
    pub fn cut(&self) -> u128 {
        u128::from(self.processors) * (self.run - self.duration()).unsigned_abs() as u128
    }

    /// What happened to it, by which one of several lines with its id is chosen, whatever their
    /// order.
    fn course(&self) -> (bool, Option<i64>, i64, i64, u32) {
        (
            self.started.is_none(),
            self.started,
            self.run,
            self.walltime,
            self.processors,
        )
    }

    /// Which part of a job comes first; one whose times are not known comes last.
    fn order_of_parts(&self) -> (bool, i64, i64, u32) {
        (
            // as a number it would come first
            self.submit == UNKNOWN,
            self.submit,
            self.started.unwrap_or(i64::MAX),
            self.processors,
        )
    }

    /// Adds another part of the same job: it is submitted as its first part is, and runs as long as
    /// all of them.
    fn join(&mut self, other: &Self) {
        // the builder has bounded each part, so that times can be added without a check
        let run = (self.run + other.run).min(MAX_SECONDS);
        let walltime = self.walltime.max(other.walltime);
        let earliest = if other.order_of_parts() < self.order_of_parts() {
            *other
        } else {
            *self
        };
        *self = Self {
            run,
            walltime,
            ..earliest
        };
    }

    /// The processors times the seconds for which the job holds them.
    pub fn core_seconds(&self) -> u128 {
        u128::from(self.processors) * self.duration().unsigned_abs() as u128
    }
}

/// Stands for a submission that the log does not give.
pub(crate) const UNKNOWN: i64 = i64::MIN;

/// The names of a workload, by the indices that its jobs have.
#[derive(Debug, Clone, Default)]
pub struct NameLists {
    /// The entities.
    pub entities: Vec<Box<str>>,
    /// The users.
    pub users: Vec<Box<str>>,
    /// The groups.
    pub groups: Vec<Box<str>>,
    /// The Unix groups.
    pub unix_groups: Vec<Box<str>>,
    /// The projects.
    pub projects: Vec<Box<str>>,
    /// The queues.
    queues: Vec<Box<str>>,
    /// The `place` of jobs, a blank, and their `select`.
    chunks: Vec<Box<str>>,
}

/// The jobs of a workload in the order of their submission, jobs of the same second in the order of
/// their ids.
#[derive(Debug, Clone, Default)]
pub struct Workload {
    jobs: Vec<WorkloadJob>,
    /// The id of each job, and of those that were left out.
    ids: Vec<Box<str>>,
    /// The names that are shown.
    names: NameLists,
    /// The names in the log, if others are shown.
    hidden: Option<NameLists>,
    inputs: Vec<Input>,
    /// The inputs of each job, job by job.
    amounts: Vec<Amount>,
    /// From when on the logs are complete, in seconds of their clock, if jobs that were submitted
    /// before are left out.
    pub complete_from: Option<i64>,
    /// The number of processors of the machine that wrote the logs, where they say it; of several
    /// the most.
    pub machine_processors: Option<u32>,
    /// What the headers of the logs say of their clock, such as `UnixStartTime: 0`; of several logs
    /// the first one counts.
    pub clock: Vec<Box<str>>,
    /// By the day, what the clock of the server showed, and when.
    clock_samples: BTreeMap<i64, (i64, i64)>,
    /// What jobs get that do not say how long they ask for.
    pub assumed_walltimes: AssumedWalltimes,
    /// Remarks on the logs, one sentence each.
    pub notes: Vec<String>,
    faults: Faults,
}

/// An input that is taken from a log.
#[derive(Debug, Clone)]
struct Input {
    name: Box<str>,
    kind: Option<InputType>,
    /// Whether a job of the log has it.
    is_set: bool,
}

impl Workload {
    /// The jobs.
    pub fn jobs(&self) -> &[WorkloadJob] {
        &self.jobs
    }

    /// The id of a job.
    pub fn id(&self, job: usize) -> &str {
        match self.jobs.get(job) {
            Some(job) => id_in(&self.ids, job),
            None => "",
        }
    }

    /// The names of entities, users, groups and projects as they are shown.
    pub fn names(&self) -> &NameLists {
        &self.names
    }

    /// The names in the log, by which trees and limits know them; never shown.
    pub fn names_in_log(&self) -> &NameLists {
        self.hidden.as_ref().unwrap_or(&self.names)
    }

    /// Whether other names than those in the log are shown.
    pub fn is_anonymous(&self) -> bool {
        self.hidden.is_some()
    }

    /// The entities, as they are shown.
    pub fn entities(&self) -> &[Box<str>] {
        &self.names.entities
    }

    /// The groups, as they are shown.
    pub fn groups(&self) -> &[Box<str>] {
        &self.names.groups
    }

    /// The queues.
    pub fn queues(&self) -> &[Box<str>] {
        &self.names.queues
    }

    /// The `select` and the `place` of a job, each empty if the log does not say.
    pub fn chunks(&self, job: &WorkloadJob) -> (&str, &str) {
        let chunks = self.names.chunks.get(job.chunks as usize);
        let chunks = chunks.map(Box::as_ref).unwrap_or_default();
        let (place, select) = chunks.split_once(' ').unwrap_or_default();
        (select, place)
    }

    /// The index of an input that was taken from the logs.
    pub(crate) fn input(&self, name: &str) -> Option<usize> {
        self.inputs.iter().position(|input| &*input.name == name)
    }

    /// What a job has of each input that was taken from the logs.
    pub(crate) fn amounts(&self, job: &WorkloadJob) -> &[Amount] {
        let count = self.inputs.len();
        &self.amounts[job.row as usize * count..][..count]
    }

    /// Whether a job of the logs has an input, apart from those that every log has.
    pub fn has_input(&self, name: &str) -> bool {
        matches!(self.input(name), Some(index) if self.inputs[index].is_set)
    }

    /// What the clock of the server showed at some times in seconds of the logs.
    pub fn clock_samples(&self) -> impl Iterator<Item = (i64, i64)> {
        self.clock_samples.values().copied()
    }

    /// The most processors that jobs held at one time according to the log; `None` if it does not
    /// say when jobs started.
    pub fn most_processors_in_use(&self) -> Option<u64> {
        let mut changes = Vec::new();
        for job in &self.jobs {
            if let Some(start) = job.started
                && job.run > 0
            {
                let processors = i64::from(job.processors);
                changes.push((start, processors));
                changes.push((start.saturating_add(job.run), -processors));
            }
        }
        // what ends at a second frees its processors for what starts then
        changes.sort_unstable();
        let mut in_use = 0;
        let mut most = 0;
        for (_, change) in changes {
            in_use += change;
            most = most.max(in_use);
        }
        u64::try_from(most).ok().filter(|most| *most > 0)
    }

    /// What a job has of an input that was taken from the logs; 0 if the logs do not have it.
    pub(crate) fn amount(&self, job: &WorkloadJob, name: &str) -> Value {
        let Some(index) = self.input(name) else {
            return Value::Int(0);
        };
        match self.amounts(job).get(index) {
            Some(amount) if amount.is_int => Value::Int(amount.value as i64),
            Some(amount) => Value::Float(amount.value),
            None => Value::Int(0),
        }
    }

    /// What each job has of an input that was taken from the logs.
    pub fn amounts_of(&self, name: &str) -> Option<Vec<f64>> {
        let index = self.input(name)?;
        let amounts = self.jobs.iter().map(|job| self.amounts(job)[index].value);
        Some(amounts.collect())
    }

    /// What of the logs is left out.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// The jobs that are submitted before a time, with the names of all.
    pub fn submitted_before(&self, time: i64) -> Self {
        let mut earlier = self.clone();
        earlier.jobs.truncate(self.count_before(time));
        earlier
    }

    /// The number of jobs that are submitted before a time.
    pub fn count_before(&self, time: i64) -> usize {
        self.jobs.partition_point(|job| job.submit < time)
    }

    /// So many seconds after the first submission.
    pub fn begin(&self, warm_up: i64) -> i64 {
        let first = self.jobs.first().map_or(0, |job| job.submit);
        first.saturating_add(warm_up)
    }

    /// The jobs that are submitted at least so many seconds after the first one.
    pub fn after_warm_up(&self, warm_up: i64) -> std::ops::Range<usize> {
        self.count_before(self.begin(warm_up))..self.jobs.len()
    }

    /// Shows other names than those in the log: a letter and a number each, in the order of the first
    /// submission. An empty name stays, and so do queues and chunks.
    pub fn anonymise(&mut self) {
        self.hidden = Some(self.names.clone());
        let shown = &mut self.names;
        for (letter, names) in [
            ('u', &mut shown.entities),
            ('u', &mut shown.users),
            ('g', &mut shown.groups),
            ('g', &mut shown.unix_groups),
            ('p', &mut shown.projects),
        ] {
            // the builder has put the names in the order of their first use
            for (name, number) in names.iter_mut().zip(1_usize..) {
                if !name.is_empty() {
                    *name = format!("{letter}{number}").into();
                }
            }
        }
    }
}

/// Compares jobs by their submission, then by their ids.
fn compare_submitted(ids: &[Box<str>], one: &WorkloadJob, other: &WorkloadJob) -> Ordering {
    let by_time = one.submit.cmp(&other.submit);
    by_time.then_with(|| compare_ids(id_in(ids, one), id_in(ids, other)))
}

fn id_in<'i>(ids: &'i [Box<str>], job: &WorkloadJob) -> &'i str {
    &ids[job.row as usize]
}

/// Compares ids as people order them: numbers in them by their value, everything else by its bytes.
///
/// ```
/// use jsf_simulate::compare_ids;
///
/// let mut ids = ["10.vm", "9.vm", "9[10].vm", "9[2].vm", "b", "09.vm"];
/// ids.sort_by(|one, other| compare_ids(one, other));
/// assert_eq!(ids, ["09.vm", "9.vm", "9[2].vm", "9[10].vm", "10.vm", "b"]);
/// ```
pub fn compare_ids(one: &str, other: &str) -> Ordering {
    let (mut left, mut right) = (one.as_bytes(), other.as_bytes());
    while let (Some(first), Some(second)) = (left.first(), right.first()) {
        let ordering = if first.is_ascii_digit() && second.is_ascii_digit() {
            let (number, rest) = leading_number(left);
            let (other_number, other_rest) = leading_number(right);
            (left, right) = (rest, other_rest);
            // without leading zeros the longer number is the larger one, however long both are
            (number.len(), number).cmp(&(other_number.len(), other_number))
        } else {
            (left, right) = (&left[1..], &right[1..]);
            first.cmp(second)
        };
        if ordering.is_ne() {
            return ordering;
        }
    }
    // ids that differ in leading zeros only are not equal
    (left.len(), one).cmp(&(right.len(), other))
}

/// The digits at the start, without leading zeros, and what follows.
fn leading_number(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !byte.is_ascii_digit());
    let (mut digits, rest) = text.split_at(end.unwrap_or(text.len()));
    while let [b'0', others @ ..] = digits {
        digits = others;
    }
    (digits, rest)
}

/// How many names a job has.
const NAMES_OF_JOB: usize = 7;

impl WorkloadJob {
    /// The indices of its names.
    fn names_mut(&mut self) -> [&mut u32; NAMES_OF_JOB] {
        [
            &mut self.entity,
            &mut self.user,
            &mut self.group,
            &mut self.unix_group,
            &mut self.project,
            &mut self.queue,
            &mut self.chunks,
        ]
    }
}

/// What jobs get that do not say how long they ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AssumedWalltimes {
    /// The jobs that get the default of their queue or of the server.
    pub defaults: usize,
    /// The jobs that get their run time.
    pub run_times: usize,
}

impl AssumedWalltimes {
    /// What is assumed, in words; `None` if nothing is.
    pub fn in_words(self) -> Option<String> {
        let mut parts = Vec::new();
        if self.defaults > 0 {
            let jobs = count(self.defaults, "job");
            parts.push(format!("the default of the queue for {jobs}"));
        }
        if self.run_times > 0 {
            let jobs = count(self.run_times, "job");
            parts.push(format!(
                "the run time for {jobs}, so that backfilling sees the future"
            ));
        }
        (!parts.is_empty()).then_some(parts.join(", "))
    }
}
