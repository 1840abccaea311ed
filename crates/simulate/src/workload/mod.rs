//! A workload: jobs with the times at which they were submitted, the processors and the time that
//! they ask for, and how long they run; made of the jobs of logs by a [`WorkloadBuilder`], which finds
//! from when on a log is complete.
//!
//! A log in which a job is recorded when it ends, such as the accounting files of some days, begins
//! with jobs that were submitted before, some of them long ago, and lacks all others of that time:
//! those that ended before its first file. It is complete for the jobs that are submitted from its
//! first end on. A log of all jobs that were submitted from some time on has a first end too; but
//! nothing is missing before it, and so
//!
//! - about as many jobs are submitted in that time as in any other, and
//! - it was to be expected that no job ended in it: the sum of the hazards up to the first end,
//!   `-ln` of the fraction of runs that last as long as each job had run by then, has an
//!   exponential distribution with a mean of 1.
//!
//! A log is not complete if hardly any job is there in comparison with the rest of the log, or half
//! as many as expected, and the sum of the hazards is improbable: jobs of one user are alike, so
//! that this alone says little.
//!
//! Source: E. L. Kaplan, P. Meier, "Nonparametric Estimation from Incomplete Observations", 1958
//! (left truncation, survival).

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::RangeInclusive;

use job_sort_formula::python::{MAX_EXACT_INT, Value};
use job_sort_formula::schema::InputType;
use jsf_openpbs::amounts::{AmountSource, NumberMode, number};
use jsf_openpbs::job_attributes::FairshareEntity;
use jsf_slurm::cluster::Cluster;

use crate::log_rules::{
    AssumedWalltimes, Cancelled, Fault, Faults, LeftOutReason, LogRules, Mentions, Overrun,
    ProcessorsOf,
};

pub(crate) mod generate;

/// The most jobs in a workload.
pub const MAX_JOBS: usize = 50_000_000;
/// The longest id or name, in bytes.
pub const MAX_NAME: usize = 4096;
/// The latest time and the longest duration, in seconds: about 3000 years.
const MAX_SECONDS: i64 = 100_000_000_000;
const SUBMIT_OUT_OF_RANGE: &str =
    "the time of submission is out of range (milliseconds in place of seconds?)";
/// The most processors that a job may ask for.
const MAX_PROCESSORS: i64 = 1_000_000_000;

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
            self.submit == UNKNOWN,
            self.submit,
            self.started.unwrap_or(i64::MAX),
            self.processors,
        )
    }

    /// Adds another part of the same job: it is submitted as its first part is, and runs as long as
    /// all of them.
    fn join(&mut self, other: &Self) {
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

/// Distinct names in the order in which they were added.
#[derive(Debug, Clone, Default)]
pub struct Names {
    names: Vec<Box<str>>,
    indices: HashMap<Box<str>, u32>,
}

impl Names {
    /// The names, by their indices.
    pub fn names(&self) -> &[Box<str>] {
        &self.names
    }

    /// The index of a name, which is added if it is not there.
    pub fn index(&mut self, name: &str) -> u32 {
        if let Some(&index) = self.indices.get(name) {
            return index;
        }
        let index = self.names.len() as u32;
        self.names.push(name.into());
        self.indices.insert(name.into(), index);
        index
    }
}

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
            (number.len(), number).cmp(&(other_number.len(), other_number))
        } else {
            (left, right) = (&left[1..], &right[1..]);
            first.cmp(second)
        };
        if ordering.is_ne() {
            return ordering;
        }
    }
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

/// What a log says of an input of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedAmount<'a> {
    /// The name of the input.
    pub name: Cow<'a, str>,
    /// The amount, such as `4gb`.
    pub text: Cow<'a, str>,
    /// Who wrote the amount; `None` for a number that reaches the formula as it is.
    pub source: Option<AmountSource>,
}

/// How much of a job a line of a log describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Extent {
    /// All of it.
    #[default]
    Whole,
    /// A part of its execution: if no line describes all of it, its parts are joined.
    Part,
    /// That it was queued; it is simulated if it was then cancelled.
    Queued,
}

/// The input of a subjob that says how many of its array may run at a time.
pub const MAX_RUN_SUBJOBS: &str = "max_run_subjobs";

/// A job as a log describes it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoggedJob<'a> {
    /// The id, such as `12` or `12.vm`.
    pub id: &'a str,
    /// The fair-share entity; empty if the log does not say.
    pub entity: &'a str,
    /// The user; empty if the log does not say.
    pub user: &'a str,
    /// The group or account; empty if the log does not say.
    pub group: &'a str,
    /// The Unix group; empty if the log does not say.
    pub unix_group: &'a str,
    /// The project; empty if the log does not say.
    pub project: &'a str,
    /// The queue; empty if the log does not say.
    pub queue: &'a str,
    /// When the job was submitted, in seconds of the log's clock. The smallest number for a later
    /// part of an execution.
    pub submit: i64,
    /// How long it ran, in seconds.
    pub run: i64,
    /// The time that it asks for, in seconds; `None` if the log does not say.
    pub walltime: Option<i64>,
    /// The processors that it asks for, or gets.
    pub processors: i64,
    /// The chunks that it asks for (`select`); empty if the log does not say.
    pub select: &'a str,
    /// How they are placed (`place`); empty if the log does not say.
    pub place: &'a str,
    /// When it started according to the log.
    pub started: Option<i64>,
    /// What the line says of the job.
    pub extent: Extent,
    /// Its other inputs; of several with the same name the last one counts.
    pub amounts: &'a [LoggedAmount<'a>],
}

/// The inputs of formulas that are taken from a log, besides those that every log has.
#[derive(Debug, Clone, Default)]
pub struct LogInputs {
    /// How amounts become numbers.
    pub numbers: NumberMode,
    /// The names of the inputs, and their types as far as they are known.
    pub names: Vec<(Box<str>, Option<InputType>)>,
    /// Which attribute of a job names its fair-share entity, in logs that have several.
    pub entity: FairshareEntity,
    /// The priority of each queue, for logs that do not give `queue_priority`.
    pub queue_priorities: BTreeMap<String, i64>,
    /// The time that a job of a queue gets if it asks for none, in seconds; that of an empty name
    /// is for all other queues.
    pub default_walltimes: BTreeMap<String, i64>,
    /// What the numbers of Slurm's priority follow from beside the jobs, if they are to be computed.
    pub slurm: Option<Cluster>,
    /// Whether the entity of a job of Slurm is its association, `ACCOUNT/USER`, and not its user.
    pub by_association: bool,
    /// Whether it is kept which chunks jobs ask for, and where.
    pub takes_chunks: bool,
    /// Whether it is kept what the clock of the server shows.
    pub takes_clock: bool,
    /// What is made of a log.
    pub rules: LogRules,
}

/// The priority of the job's queue, which the queues give where the log does not.
const QUEUE_PRIORITY: &str = "queue_priority";

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

/// Collects the jobs of one or more logs.
#[derive(Debug, Default)]
pub struct WorkloadBuilder {
    /// What was read. Its jobs are in the order of their lines, and it has no names yet.
    pub(crate) read: Workload,
    /// What the logs say of jobs besides their ends.
    pub(crate) mentions: Mentions,
    /// The names of all kinds.
    names: Names,
    /// What is taken from the logs, and what they do not have.
    pub(crate) given: LogInputs,
}

impl WorkloadBuilder {
    /// A builder without jobs.
    pub fn new() -> Self {
        Self::default()
    }

    /// A builder without jobs, which also takes these inputs from the logs.
    pub fn with_inputs(given: LogInputs) -> Self {
        let mut builder = Self {
            given,
            ..Self::default()
        };
        for (name, kind) in &builder.given.names {
            builder.read.inputs.push(Input {
                name: name.clone(),
                kind: *kind,
                is_set: false,
            });
        }
        builder.read.faults.hides_texts = builder.given.rules.anonymise;
        builder
    }

    /// The number of processors that counts of those that a job asks for and gets.
    ///
    /// # Errors
    /// The log has none, or it is not a number.
    pub(crate) fn processors(
        &self,
        requested: Result<Option<i64>, Fault>,
        allocated: Result<Option<i64>, Fault>,
    ) -> Result<i64, Fault> {
        let processors_of = self.given.rules.processors_of;
        let chosen = processors_of.choose(requested, allocated)?;
        chosen.ok_or(Fault::NO_PROCESSORS)
    }

    /// Whether an input is taken from the logs.
    pub(crate) fn takes(&self, name: &str) -> bool {
        self.read.input(name).is_some()
    }

    /// Whether jobs that were cancelled before they ran are left out.
    pub(crate) fn leaves_out_cancelled(&self) -> bool {
        self.given.rules.cancelled == Cancelled::LeaveOut
    }

    /// The inputs that are taken from the logs.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &str> {
        self.read.inputs.iter().map(|input| &*input.name)
    }

    /// What of the logs could not be read.
    pub fn faults(&mut self) -> &mut Faults {
        &mut self.read.faults
    }

    /// Notes what the header of the log says of its clock: a key and a value.
    pub(crate) fn note_clock(&mut self, key: &str, value: &str) {
        let clock = &mut self.read.clock;
        for line in &*clock {
            if line.split(':').next() == Some(key) {
                return;
            }
        }
        clock.push(format!("{key}: {value}").into());
    }

    /// Notes what the clock of the server shows at a time, if that is of use: one time of a day is.
    pub(crate) fn note_wall_time(&mut self, time: i64, wall: impl FnOnce() -> Option<i64>) {
        let samples = self.read.clock_samples.entry(time.div_euclid(86400));
        if self.given.takes_clock
            && let Entry::Vacant(sample) = samples
            && let Some(wall) = wall()
        {
            sample.insert((wall, time));
        }
    }

    /// Adds a job.
    ///
    /// # Errors
    /// Why the job cannot be simulated.
    pub fn push(&mut self, job: &LoggedJob<'_>) -> Result<(), Fault> {
        let is_later_part = job.extent == Extent::Part && job.submit == UNKNOWN;
        let submit = if is_later_part { 0 } else { job.submit };
        let walltime = job.walltime.unwrap_or(0);
        let processors = job.processors;
        for (number, range, fault) in [
            (submit, -MAX_SECONDS..=MAX_SECONDS, SUBMIT_OUT_OF_RANGE),
            // beyond it a run of floats would be rounded to 0
            (
                job.started.unwrap_or(submit),
                -MAX_SECONDS..=2 * MAX_SECONDS,
                "the start is out of range",
            ),
            (job.run, 0..=MAX_SECONDS, "a duration is out of range"),
            (walltime, 0..=MAX_SECONDS, "a duration is out of range"),
            (
                processors,
                1..=MAX_PROCESSORS,
                "the number of processors is out of range",
            ),
        ] {
            if !range.contains(&number) {
                return Err(Fault::from(fault).found(&number.to_string()));
            }
        }
        let rules = &self.given.rules;
        let takes_chunks =
            self.given.takes_chunks && rules.processors_of == ProcessorsOf::Requested;
        let may_overrun = rules.overrun == Overrun::Keep;
        let chunks = if takes_chunks && !(job.select.is_empty() && job.place.is_empty()) {
            format!("{} {}", job.place, job.select)
        } else {
            String::new()
        };
        let names = [
            job.entity,
            job.user,
            job.group,
            job.unix_group,
            job.project,
            job.queue,
            &chunks,
        ];
        if job.id.len() > MAX_NAME || names.iter().any(|name| name.len() > MAX_NAME) {
            return Err("a name is too long".into());
        }
        if self.read.jobs.len() >= MAX_JOBS {
            return Err("the workload has too many jobs".into());
        }
        let mut amounts = Vec::with_capacity(self.read.inputs.len());
        for input in &self.read.inputs {
            amounts.push(self.amount(input, job)?);
        }
        for (input, amount) in self.read.inputs.iter_mut().zip(amounts) {
            input.is_set |= amount.is_some();
            self.read.amounts.push(amount.unwrap_or(Amount::NONE));
        }
        if job.extent != Extent::Queued {
            self.mentions.end(job.id);
        }
        let [entity, user, group, unix_group, project, queue, chunks] =
            names.map(|name| self.names.index(name));
        let row = self.read.jobs.len() as u32;
        self.read.ids.push(job.id.into());
        self.read.jobs.push(WorkloadJob {
            submit: job.submit,
            run: job.run,
            walltime: job.walltime.unwrap_or(UNKNOWN),
            processors: job.processors as u32,
            entity,
            user,
            group,
            unix_group,
            project,
            queue,
            chunks,
            row,
            started: job.started,
            extent: job.extent,
            may_overrun,
        });
        Ok(())
    }

    /// What a job has of an input; `None` if neither the log nor the job's queue says.
    fn amount(&self, input: &Input, job: &LoggedJob<'_>) -> Result<Option<Amount>, Fault> {
        let Input { name, kind, .. } = input;
        let Some(logged) = job.amounts.iter().rfind(|amount| amount.name == **name) else {
            let priority = self.given.queue_priorities.get(job.queue);
            return Ok(match priority {
                Some(priority) if **name == *QUEUE_PRIORITY => Amount::new(&Value::Int(*priority)),
                _ => None,
            });
        };
        let numbers = &self.given.numbers;
        let value = match logged.source {
            Some(source) => {
                let amount = numbers.amount(&logged.text, *kind, source);
                amount.map(|amount| numbers.resource(amount))
            }
            None => number(&logged.text),
        };
        match value.and_then(|value| Amount::new(&value)) {
            Some(amount) => Ok(Some(amount)),
            None => {
                let found = format!("{name}={}", logged.text);
                Err(Fault::from("an amount that the formula needs cannot be read").found(&found))
            }
        }
    }

    /// The workload. Its names are in the order of their first submission, so that it does not
    /// depend on the order in which the jobs were added. Of several jobs with the same id the one
    /// that was submitted first is kept, and of those the one that started first.
    pub fn finish(self) -> Workload {
        let Self {
            mut read,
            mentions,
            names,
            given,
        } = self;
        let names = names.names;
        read.complete(&mentions);
        let walltimes = &given.default_walltimes;
        for job in &mut read.jobs {
            if job.walltime == UNKNOWN {
                let queue_default = walltimes.get(&*names[job.queue as usize]);
                // that of the queue, unless the job ran longer
                job.walltime = match queue_default.or(walltimes.get("")) {
                    Some(&default) if default >= job.run => {
                        read.assumed_walltimes.defaults += 1;
                        default
                    }
                    _ => {
                        read.assumed_walltimes.run_times += 1;
                        job.run
                    }
                };
            }
        }
        let ids = &read.ids;
        read.jobs.sort_by(|one, other| {
            let order = compare_submitted(ids, one, other);
            order.then_with(|| one.course().cmp(&other.course()))
        });
        read.remove_duplicates();
        if !mentions.is_empty() {
            let ids = read.jobs.iter().map(|job| id_in(&read.ids, job));
            let ended: HashSet<&str> = ids.collect();
            for (id, fate) in mentions.fates() {
                if !ended.contains(id) {
                    read.faults.add(fate, format_args!("job `{id}`"));
                }
            }
        }
        let LogRules {
            from,
            to,
            anonymise,
            ..
        } = given.rules;
        if from.is_none() {
            read.complete_from = complete_from(&read.jobs);
            read.keep_submitted(read.complete_from, None, LeftOutReason::Incomplete);
        }
        read.keep_submitted(from, to, LeftOutReason::Outside);
        let [
            entities,
            users,
            groups,
            unix_groups,
            projects,
            queues,
            chunks,
        ] = numbered_by_first_use(&mut read.jobs, &names);
        read.names = NameLists {
            entities,
            users,
            groups,
            unix_groups,
            projects,
            queues,
            chunks,
        };
        if anonymise {
            read.anonymise();
        }
        read
    }
}

/// Numbers the names of jobs in the order of their first use, and returns those that are used.
fn numbered_by_first_use(
    jobs: &mut [WorkloadJob],
    names: &[Box<str>],
) -> [Vec<Box<str>>; NAMES_OF_JOB] {
    const UNUSED: u32 = u32::MAX;
    let mut numbers = vec![[UNUSED; NAMES_OF_JOB]; names.len()];
    let mut used = [const { Vec::new() }; NAMES_OF_JOB];
    for job in jobs {
        for (kind, index) in job.names_mut().into_iter().enumerate() {
            let name = *index as usize;
            let number = &mut numbers[name][kind];
            if *number == UNUSED {
                *number = used[kind].len() as u32;
                used[kind].push(names[name].clone());
            }
            *index = *number;
        }
    }
    used
}

impl Workload {
    /// Leaves out the jobs that are not submitted in this time.
    fn keep_submitted(&mut self, from: Option<i64>, to: Option<i64>, reason: LeftOutReason) {
        let all = self.jobs.len();
        let from = from.unwrap_or(i64::MIN);
        let to = to.unwrap_or(i64::MAX);
        self.jobs.retain(|job| (from..to).contains(&job.submit));
        let left_out = all - self.jobs.len();
        if left_out > 0 {
            self.faults.add(Fault::from(reason).of_jobs(left_out), "");
        }
    }

    /// Makes whole jobs of parts and of jobs that were queued: a part is joined to the others of
    /// its job, or dropped if a line describes all of it; a job that was only queued stays if it
    /// was cancelled.
    fn complete(&mut self, mentions: &Mentions) {
        let ids = &self.ids;
        let mut whole = HashSet::new();
        for job in &mut self.jobs {
            if mentions.is_rerun(id_in(ids, job)) {
                // its wait contains its earlier executions
                job.started = None;
            }
            if job.extent == Extent::Whole {
                whole.insert(id_in(ids, job));
            }
        }
        let mut joined: HashMap<&str, WorkloadJob> = HashMap::new();
        let mut kept = Vec::with_capacity(self.jobs.len());
        for job in self.jobs.drain(..) {
            let id = id_in(ids, &job);
            match job.extent {
                Extent::Whole => kept.push(job),
                _ if whole.contains(id) => {}
                Extent::Queued if mentions.is_cancelled(id) => kept.push(job),
                Extent::Queued => {}
                Extent::Part => match joined.get_mut(id) {
                    Some(parts) => parts.join(&job),
                    None => _ = joined.insert(id, job),
                },
            }
        }
        for (id, job) in joined {
            if job.submit == UNKNOWN {
                let job = format_args!("job `{id}`");
                self.faults.add("no time of submission", job);
            } else {
                kept.push(job);
            }
        }
        self.jobs = kept;
    }

    /// Keeps the first one of the jobs with the same id.
    fn remove_duplicates(&mut self) {
        let ids = &self.ids;
        let mut kept: HashSet<&str> = HashSet::with_capacity(self.jobs.len());
        self.jobs.retain(|job| {
            let id = id_in(ids, job);
            let is_new = kept.insert(id);
            if !is_new {
                let repeated = Fault::new(LeftOutReason::Repeated, "another line has the same id");
                self.faults.add(repeated, format_args!("job `{id}`"));
            }
            is_new
        });
    }
}

/// A time in which so many jobs were to be expected, and less than a tenth of them are there, is
/// not complete.
const EXPECTED_JOBS: f64 = 30.0;
const HARDLY_ANY: f64 = 0.1;
/// Nor is one with less than half of them and a sum of hazards that is greater by chance in one of
/// 10,000 logs.
const FEW: f64 = 0.5;
const GREATEST_HAZARD: f64 = 9.21;

/// From when on the log of these jobs, which are in the order of their submission, is complete;
/// `None` if it is complete from its first submission on.
fn complete_from(jobs: &[WorkloadJob]) -> Option<i64> {
    let [first, .., last] = jobs else { return None };
    let mut runs = Vec::new();
    let mut first_end = i64::MAX;
    for job in jobs {
        if let Some(start) = job.started
            && job.run > 0
        {
            runs.push((start, job.run));
            first_end = first_end.min(start.saturating_add(job.run));
        }
    }
    if runs.is_empty() {
        return None;
    }
    let before = jobs.partition_point(|job| job.submit < first_end);
    if before == 0 || last.submit <= first_end {
        return None;
    }
    let rate = (jobs.len() - before) as f64 / (last.submit - first_end) as f64;
    let expected = rate * (first_end - first.submit) as f64;
    let part = before as f64 / expected;
    let is_empty = expected >= EXPECTED_JOBS && part < HARDLY_ANY;
    let is_complete =
        !is_empty && (part >= FEW || sum_of_hazards(&runs, first_end) <= GREATEST_HAZARD);
    (!is_complete).then_some(first_end)
}

/// The sum of the hazards of the runs, each with its start and its seconds, up to the first end.
fn sum_of_hazards(runs: &[(i64, i64)], first_end: i64) -> f64 {
    let mut lengths: Vec<i64> = runs.iter().map(|&(_, seconds)| seconds).collect();
    lengths.sort_unstable();
    let mut sum = 0.0;
    for (start, _) in runs {
        let until_end = first_end - start;
        if until_end > 0 {
            let as_long = lengths.len() - lengths.partition_point(|length| *length < until_end);
            sum += libm::log(lengths.len() as f64 / as_long as f64);
        }
    }
    sum
}
