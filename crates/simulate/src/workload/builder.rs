//! Makes a workload of the jobs of logs ([`WorkloadBuilder`]): what is taken from a log and what is made
//! of it ([`LogRules`]), what became of jobs whose ends it does not have, and from when on it is
//! complete.
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
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::RangeInclusive;

use job_sort_formula::Value;
use job_sort_formula::schema::InputType;
use jsf_openpbs::FairshareEntity;
use jsf_openpbs::amounts::{AmountSource, NumberMode, number};
use jsf_slurm::Cluster;
use jsf_words::counted;
use serde::Deserialize;

use super::{
    Amount, Input, NAMES_OF_JOB, NameLists, UNKNOWN, Workload, WorkloadJob, compare_submitted,
    id_in,
};
use crate::faults::{Fault, Faults, LeftOutReason};

/// What is made of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogRules {
    /// Jobs that were cancelled before they ran.
    pub cancelled: Cancelled,
    /// Runs beyond the requested time.
    pub overrun: Overrun,
    /// Whose number of processors counts.
    pub processors_of: ProcessorsOf,
    /// The first time of submission of the jobs that are simulated; without one, the log is
    /// simulated from when on it is complete.
    pub from: Option<i64>,
    /// The time of submission before which they are submitted.
    pub to: Option<i64>,
    /// Whether other names than those in the log are shown, and no text of a line that cannot be
    /// read.
    pub anonymise: bool,
}

/// What is made of jobs that were cancelled before they ran. Each text is the help of its option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Cancelled {
    /// They are left out and counted
    ///
    /// Nobody knows for how long they would have run.
    #[default]
    LeaveOut,
    /// They wait for their turn, and end as they start
    Keep,
}

/// What is made of jobs that run longer than they ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Overrun {
    /// They end after the requested time, and are counted
    #[default]
    Cut,
    /// They run as long as in the log
    Keep,
}

/// Whose number of processors a job holds, where a log has both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum ProcessorsOf {
    /// What the job asks for
    #[default]
    Requested,
    /// What the job was given, such as whole nodes
    Allocated,
}

impl ProcessorsOf {
    /// The number that counts, else the other one. One that cannot be read is not replaced by the
    /// other.
    pub(crate) fn choose(
        self,
        requested: Result<Option<i64>, Fault>,
        allocated: Result<Option<i64>, Fault>,
    ) -> Result<Option<i64>, Fault> {
        let [first, second] = match self {
            Self::Requested => [requested, allocated],
            Self::Allocated => [allocated, requested],
        };
        match first? {
            Some(number) => Ok(Some(number)),
            None => second,
        }
    }
}

/// The most jobs in a workload.
pub const MAX_JOBS: usize = 50_000_000;

/// The longest id or name, in bytes.
pub const MAX_NAME: usize = 4096;

/// The latest time and the longest duration, in seconds: about 3000 years.
pub(super) const MAX_SECONDS: i64 = 100_000_000_000;

/// The times at which a job may start.
pub(crate) const STARTS: RangeInclusive<i64> = -MAX_SECONDS..=2 * MAX_SECONDS;
const SUBMIT_OUT_OF_RANGE: &str =
    "the time of submission is out of range (milliseconds in place of seconds?)";

/// The most processors that a job may ask for.
const MAX_PROCESSORS: i64 = 1_000_000_000;

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
    /// The jobs whose start is out of range.
    unused_starts: usize,
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
        if !clock.iter().any(|line| line.split(':').next() == Some(key)) {
            clock.push(format!("{key}: {value}").into());
        }
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
        // chunks are what a job asks for, and not the whole nodes that it was given
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
        // all are read before one is kept, since a job that is left out must not leave some of its
        // own
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
        // without it, nothing but the wait in the log is unknown
        let started = job.started.filter(|start| STARTS.contains(start));
        self.unused_starts += usize::from(started != job.started);
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
            started,
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
            unused_starts,
        } = self;
        if unused_starts > 0 {
            let lines = counted(unused_starts, "line has", "lines have");
            let note = format!("{lines} a start that is out of range, which is not used");
            read.notes.push(note);
        }
        let names = names.names;
        read.complete(&mentions);
        let walltimes = &given.default_walltimes;
        // before the jobs are sorted, because the requested time is one of the keys
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
        // in the order of the log, in which they are named if they cannot be used
        let mut joined: Vec<WorkloadJob> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        let mut kept = Vec::with_capacity(self.jobs.len());
        for job in self.jobs.drain(..) {
            let id = id_in(ids, &job);
            match job.extent {
                Extent::Whole => kept.push(job),
                _ if whole.contains(id) => {}
                Extent::Queued if mentions.is_cancelled(id) => kept.push(job),
                Extent::Queued => {}
                Extent::Part => match places.get(id) {
                    Some(&place) => joined[place].join(&job),
                    None => {
                        places.insert(id, joined.len());
                        joined.push(job);
                    }
                },
            }
        }
        for job in joined {
            if job.submit == UNKNOWN {
                let id = id_in(ids, &job);
                let line = format_args!("job `{id}`");
                self.faults.add("no time of submission", line);
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

/// The lines about jobs, in whatever order they come.
#[derive(Debug, Default)]
pub(crate) struct Mentions {
    courses: HashMap<Box<str>, Course>,
}

/// The course of a job: when it last started and was queued again, 0 for never.
#[derive(Debug, Clone, Copy, Default)]
struct Course {
    started: u64,
    requeued: u64,
    is_deleted: bool,
    is_moved: bool,
    /// Whether a line about its end was left out, and counted.
    is_left_out: bool,
}

impl Course {
    /// What became of a job that did not end.
    fn fate(&self) -> LeftOutReason {
        if self.started > 0 && self.started >= self.requeued {
            LeftOutReason::Running
        } else if self.is_deleted {
            LeftOutReason::Cancelled
        } else if self.is_moved {
            LeftOutReason::Moved
        } else {
            LeftOutReason::Waiting
        }
    }
}

impl Mentions {
    /// Adds what an accounting record of a kind says. `time` orders the records; it is not 0.
    pub fn add(&mut self, id: &str, kind: &str, time: u64) {
        let course = self.courses.entry(id.into()).or_default();
        match kind {
            "S" | "T" => course.started = course.started.max(time),
            // an execution ended, and the job waits again
            "R" | "C" => course.requeued = course.requeued.max(time),
            // it was deleted, or aborted by the server
            "D" | "A" => course.is_deleted = true,
            "M" => course.is_moved = true,
            _ => {}
        }
    }

    /// Forgets a job that ended, unless more than its end matters.
    pub fn end(&mut self, id: &str) {
        if let Some(course) = self.courses.get(id)
            && course.requeued == 0
        {
            self.courses.remove(id);
        }
    }

    /// Notes that a line about a job's end is left out: the job is not counted again for what the
    /// other lines say.
    pub fn leave_out(&mut self, id: &str) {
        self.courses.entry(id.into()).or_default().is_left_out = true;
    }

    pub fn is_empty(&self) -> bool {
        self.courses.is_empty()
    }

    /// Whether a job, which did not end, was cancelled while it waited.
    pub fn is_cancelled(&self, id: &str) -> bool {
        let fate = self.courses.get(id).map(Course::fate);
        fate == Some(LeftOutReason::Cancelled)
    }

    /// Whether a job was queued again after an execution.
    pub fn is_rerun(&self, id: &str) -> bool {
        matches!(self.courses.get(id), Some(course) if course.requeued > 0)
    }

    /// What became of each job whose end was not read.
    pub fn fates(&self) -> Vec<(&str, LeftOutReason)> {
        let mut fates = Vec::new();
        for (id, course) in &self.courses {
            if !course.is_left_out {
                fates.push((&**id, course.fate()));
            }
        }
        fates
    }
}

/// A time in which so many jobs were to be expected, and less than a tenth of them are there, is
/// not complete.
const EXPECTED_JOBS: f64 = 30.0;

const HARDLY_ANY: f64 = 0.1;

/// Nor is one with less than half of them and a sum of hazards that is greater by chance in one of
/// 10,000 logs.
const FEW: f64 = 0.5;

// `ln(10,000)`, as the sum has an exponential distribution with a mean of 1
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
