//! A workload: jobs with the times at which they were submitted, the processors and the time that they ask for, and how
//! long they run.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};
use job_sort_formula::python::{MAX_EXACT_INT, Value};
use job_sort_formula::rank::double_key;
use job_sort_formula::schema::InputType;
use jsf_openpbs::entity::FairshareEntity;
use jsf_openpbs::resource_amount::{AmountSource, NumberMode, number};

/// The most jobs in a workload.
pub const MAX_JOBS: usize = 50_000_000;
/// The longest id or name, in bytes.
pub const MAX_NAME: usize = 4096;
/// The latest time and the longest duration, in seconds: about 3000 years.
pub const MAX_SECONDS: i64 = 100_000_000_000;
/// The most processors that a job may ask for.
pub const MAX_PROCESSORS: i64 = 1_000_000_000;
/// The most lines of one kind that are named; the others are counted.
const MAX_NAMED: usize = 10;
/// The most kinds of faults that are told apart.
const MAX_KINDS: usize = 50;

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
}

/// The priority of the job's queue, which the queues give where the log does not.
const QUEUE_PRIORITY: &str = "queue_priority";

/// What a log says of an input of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedAmount<'a> {
    /// The name of the input.
    pub name: &'a str,
    /// The amount, such as `4gb`.
    pub text: &'a str,
    /// Who wrote the amount; `None` for a number that reaches the formula as it is.
    pub source: Option<AmountSource>,
}

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
    /// When the job was submitted, in seconds of the log's clock.
    pub submit: i64,
    /// How long it ran, in seconds.
    pub run: i64,
    /// The time that it asks for, in seconds.
    pub walltime: i64,
    /// The processors that it asks for.
    pub processors: i64,
    /// When it started according to the log.
    pub started: Option<i64>,
    /// Whether the line describes only a part of the job's execution: another line with the same id replaces it.
    pub is_partial: bool,
    /// Its other inputs; of several with the same name the last one counts.
    pub amounts: &'a [LoggedAmount<'a>],
}

/// The number that a formula gets for an input of a job: a Python integer or a float. An integer beyond 2^53 is kept as the
/// nearest float.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Amount {
    /// The number.
    pub value: f64,
    /// Whether it is an integer.
    pub is_int: bool,
}

impl Amount {
    /// What a job has of a resource that it does not request.
    const NONE: Self = Self { value: 0.0, is_int: true };

    fn new(value: &Value) -> Option<Self> {
        let is_exact = |int: i64| int.unsigned_abs() <= MAX_EXACT_INT.unsigned_abs();
        let is_int = matches!(value, Value::Int(int) if is_exact(*int));
        Some(Self { value: value.to_f64()?, is_int }).filter(|amount| amount.value.is_finite())
    }
}

/// A job of a [`Workload`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkloadJob {
    /// When the job is submitted, in seconds of the log's clock.
    pub submit: i64,
    /// How long it would run without a limit, in seconds.
    pub run: i64,
    /// The time that it asks for, in seconds: it is ended after this time.
    pub walltime: i64,
    /// The processors that it asks for.
    pub processors: u32,
    /// The index of its entity in [`Workload::entities`].
    pub entity: u32,
    /// The index of its user in [`Workload::users`].
    pub user: u32,
    /// The index of its group in [`Workload::groups`].
    pub group: u32,
    /// The index of its Unix group in [`Workload::unix_groups`].
    pub unix_group: u32,
    /// The index of its project in [`Workload::projects`].
    pub project: u32,
    /// The index of its queue in [`Workload::queues`].
    pub queue: u32,
    id_start: u32,
    id_length: u32,
    /// The index of its amounts.
    row: u32,
    started: i64,
    is_partial: bool,
}

impl WorkloadJob {
    /// How long the job runs: at most the time that it asks for.
    pub fn duration(&self) -> i64 {
        self.run.min(self.walltime)
    }

    /// When it started according to the log.
    pub fn started(&self) -> Option<i64> {
        (self.started != UNKNOWN).then_some(self.started)
    }

    /// The processors times the seconds for which the job holds them.
    pub fn core_seconds(&self) -> u128 {
        u128::from(self.processors) * self.duration().unsigned_abs() as u128
    }
}

/// Stands for a start that the log does not give.
const UNKNOWN: i64 = i64::MIN;

/// Distinct names in the order in which they were added.
#[derive(Debug, Clone, Default)]
struct Names {
    names: Vec<Box<str>>,
    indices: HashMap<Box<str>, u32>,
}

impl Names {
    fn index(&mut self, name: &str) -> u32 {
        if let Some(&index) = self.indices.get(name) {
            return index;
        }
        let index = self.names.len() as u32;
        self.names.push(name.into());
        self.indices.insert(name.into(), index);
        index
    }
}

/// The jobs of a workload in the order of their submission, jobs of the same second in the order of their ids.
#[derive(Debug, Clone, Default)]
pub struct Workload {
    jobs: Vec<WorkloadJob>,
    ids: String,
    entities: Vec<Box<str>>,
    users: Vec<Box<str>>,
    groups: Vec<Box<str>>,
    unix_groups: Vec<Box<str>>,
    projects: Vec<Box<str>>,
    queues: Vec<Box<str>>,
    inputs: Vec<Input>,
    /// The inputs of each job, job by job.
    amounts: Vec<Amount>,
    machine_processors: Option<u32>,
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
        self.jobs.get(job).map_or("", |job| id_in(&self.ids, job))
    }

    /// The entities.
    pub fn entities(&self) -> &[Box<str>] {
        &self.entities
    }

    /// The users.
    pub fn users(&self) -> &[Box<str>] {
        &self.users
    }

    /// The Unix groups.
    pub fn unix_groups(&self) -> &[Box<str>] {
        &self.unix_groups
    }

    /// The projects.
    pub fn projects(&self) -> &[Box<str>] {
        &self.projects
    }

    /// The groups.
    pub fn groups(&self) -> &[Box<str>] {
        &self.groups
    }

    /// The queues.
    pub fn queues(&self) -> &[Box<str>] {
        &self.queues
    }

    /// The index of an input that was taken from the logs.
    pub(super) fn input(&self, name: &str) -> Option<usize> {
        self.inputs.iter().position(|input| &*input.name == name)
    }

    /// What a job has of each input that was taken from the logs.
    pub(super) fn amounts(&self, job: &WorkloadJob) -> &[Amount] {
        let count = self.inputs.len();
        self.amounts.get(job.row as usize * count..(job.row as usize + 1) * count).unwrap_or(&[])
    }

    /// Whether a job of the logs has an input, apart from those that every log has.
    pub fn has_input(&self, name: &str) -> bool {
        self.inputs.iter().any(|input| &*input.name == name && input.is_set)
    }

    /// The number of processors of the machine that wrote the logs, where they say it; of several the most.
    pub fn machine_processors(&self) -> Option<u32> {
        self.machine_processors
    }

    /// What a job has of an input that was taken from the logs; 0 if the logs do not have it.
    pub(super) fn amount(&self, job: &WorkloadJob, name: &str) -> Value {
        match self.input(name).and_then(|index| self.amounts(job).get(index)) {
            Some(amount) if amount.is_int => Value::Int(amount.value as i64),
            Some(amount) => Value::Float(amount.value),
            None => Value::Int(0),
        }
    }

    /// What each job has of an input that was taken from the logs.
    pub fn amounts_of(&self, name: &str) -> Option<Vec<f64>> {
        let index = self.input(name)?;
        Some(self.jobs.iter().map(|job| self.amounts(job)[index].value).collect())
    }

    /// What of the logs could not be read.
    pub fn faults(&self) -> &Faults {
        &self.faults
    }

    /// Replaces every name of an entity and of a group by a letter and a number, in the order of their first submission.
    pub fn anonymise(&mut self) {
        let rename = |names: &mut [Box<str>], letter: char, index: fn(&WorkloadJob) -> u32| {
            let mut numbers = vec![0_usize; names.len()];
            let mut next = 0;
            for job in &self.jobs {
                let number = &mut numbers[index(job) as usize];
                if *number == 0 {
                    next += 1;
                    *number = next;
                }
            }
            for (name, number) in names.iter_mut().zip(numbers).filter(|(name, _)| !name.is_empty()) {
                *name = format!("{letter}{number}").into();
            }
        };
        rename(&mut self.entities, 'u', |job| job.entity);
        rename(&mut self.users, 'u', |job| job.user);
        rename(&mut self.groups, 'g', |job| job.group);
        rename(&mut self.unix_groups, 'g', |job| job.unix_group);
        rename(&mut self.projects, 'p', |job| job.project);
    }
}

fn id_in<'i>(ids: &'i str, job: &WorkloadJob) -> &'i str {
    let start = job.id_start as usize;
    ids.get(start..start + job.id_length as usize).unwrap_or("")
}

/// Lines of logs that are left out, and why: of each kind the first ones are named and all are counted.
#[derive(Debug, Clone, Default)]
pub struct Faults {
    kinds: BTreeMap<&'static str, Kind>,
}

#[derive(Debug, Clone, Default)]
struct Kind {
    count: usize,
    named: Vec<String>,
}

impl Faults {
    /// Adds a line. `kind` says what is wrong with lines of its kind, and `line` names it.
    pub fn add(&mut self, kind: &'static str, line: impl FnOnce() -> String) {
        if self.kinds.len() == MAX_KINDS && !self.kinds.contains_key(kind) {
            return;
        }
        let entry = self.kinds.entry(kind).or_default();
        entry.count += 1;
        if entry.named.len() < MAX_NAMED {
            entry.named.push(line());
        }
    }

    /// The number of lines that are left out.
    pub fn count(&self) -> usize {
        self.kinds.values().map(|kind| kind.count).sum()
    }

    /// The number of lines of each kind.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, usize)> + '_ {
        self.kinds.iter().map(|(name, kind)| (*name, kind.count))
    }

    /// A sentence for each of the named lines and, where a kind has more, one with their number.
    pub fn messages(&self) -> Vec<String> {
        let mut messages = Vec::new();
        for (name, kind) in &self.kinds {
            messages.extend(kind.named.iter().map(|line| format!("{line}: {name}")));
            if kind.count > kind.named.len() {
                messages.push(format!("and {} more lines: {name}", kind.count - kind.named.len()));
            }
        }
        messages
    }
}

/// What a log says of a job without saying when it ended. If it says several of these, the last one counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mention {
    Queued,
    Deleted,
    Started,
}

impl Mention {
    /// Why the job is left out.
    fn fault(self) -> &'static str {
        match self {
            Self::Queued => "the job still waits at the end of the log",
            Self::Deleted => "the job was deleted before it started",
            Self::Started => "the job still runs at the end of the log",
        }
    }
}

/// Collects the jobs of one or more logs.
#[derive(Debug, Default)]
pub struct WorkloadBuilder {
    /// The jobs that are mentioned without an end, with the place of the mention that counts.
    mentioned: BTreeMap<Box<str>, (Mention, String)>,
    jobs: Vec<WorkloadJob>,
    ids: String,
    entities: Names,
    users: Names,
    groups: Names,
    unix_groups: Names,
    projects: Names,
    queues: Names,
    numbers: NumberMode,
    inputs: Vec<Input>,
    amounts: Vec<Amount>,
    /// Which attribute names the fair-share entity.
    pub(super) entity: FairshareEntity,
    queue_priorities: BTreeMap<String, i64>,
    machine_processors: Option<u32>,
    faults: Faults,
}

impl WorkloadBuilder {
    /// A builder without jobs.
    pub fn new() -> Self {
        Self::default()
    }

    /// A builder without jobs, which also takes these inputs from the logs.
    pub fn with_inputs(inputs: LogInputs) -> Self {
        let LogInputs { numbers, names, entity, queue_priorities } = inputs;
        let inputs = names.into_iter().map(|(name, kind)| Input { name, kind, is_set: false }).collect();
        Self { numbers, inputs, entity, queue_priorities, ..Self::default() }
    }

    /// Whether an input is taken from the logs.
    pub(super) fn takes(&self, name: &str) -> bool {
        self.inputs.iter().any(|input| &*input.name == name)
    }

    /// The number of jobs.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Whether there is no job.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// What of the logs could not be read.
    pub fn faults(&mut self) -> &mut Faults {
        &mut self.faults
    }

    /// Notes the number of processors of the machine that wrote the log.
    pub(super) fn note_machine(&mut self, processors: u32) {
        self.machine_processors = self.machine_processors.max(Some(processors));
    }

    /// Notes a job of which a line says something else than its end.
    pub(super) fn mention(&mut self, id: &str, mention: Mention, place: &str) {
        match self.mentioned.get_mut(id) {
            Some((known, _)) if *known >= mention => {}
            Some(known) => *known = (mention, place.to_owned()),
            None => _ = self.mentioned.insert(id.into(), (mention, place.to_owned())),
        }
    }

    /// Adds a job.
    ///
    /// # Errors
    /// Why the job cannot be simulated.
    pub fn push(&mut self, job: &LoggedJob<'_>) -> Result<(), &'static str> {
        let is_time = |seconds: i64| (0..=MAX_SECONDS).contains(&seconds);
        if !(-MAX_SECONDS..=MAX_SECONDS).contains(&job.submit) {
            return Err("the time of submission is out of range");
        }
        if !is_time(job.run) || !is_time(job.walltime) {
            return Err("a duration is out of range");
        }
        if !(1..=MAX_PROCESSORS).contains(&job.processors) {
            return Err("the number of processors is out of range");
        }
        if [job.id, job.entity, job.user, job.group, job.unix_group, job.project, job.queue]
            .iter()
            .any(|name| name.len() > MAX_NAME)
        {
            return Err("a name is too long");
        }
        let id_start = u32::try_from(self.ids.len()).ok().filter(|_| self.jobs.len() < MAX_JOBS);
        let id_start = id_start.ok_or("the workload has too many jobs")?;
        self.push_amounts(job)?;
        self.mentioned.remove(job.id);
        self.ids.push_str(job.id);
        self.jobs.push(WorkloadJob {
            submit: job.submit,
            run: job.run,
            walltime: job.walltime,
            processors: job.processors as u32,
            entity: self.entities.index(job.entity),
            user: self.users.index(job.user),
            group: self.groups.index(job.group),
            unix_group: self.unix_groups.index(job.unix_group),
            project: self.projects.index(job.project),
            queue: self.queues.index(job.queue),
            id_start,
            id_length: job.id.len() as u32,
            row: self.jobs.len() as u32,
            started: job.started.unwrap_or(UNKNOWN),
            is_partial: job.is_partial,
        });
        Ok(())
    }

    /// Adds what a job has of each input.
    fn push_amounts(&mut self, job: &LoggedJob<'_>) -> Result<(), &'static str> {
        let before = self.amounts.len();
        for index in 0..self.inputs.len() {
            match self.amount(index, job) {
                Ok(amount) => {
                    self.inputs[index].is_set |= amount.is_some();
                    self.amounts.push(amount.unwrap_or(Amount::NONE));
                }
                Err(reason) => {
                    self.amounts.truncate(before);
                    return Err(reason);
                }
            }
        }
        Ok(())
    }

    /// What a job has of an input; `None` if neither the log nor the job's queue says.
    fn amount(&self, index: usize, job: &LoggedJob<'_>) -> Result<Option<Amount>, &'static str> {
        const UNREADABLE: &str = "an amount that the formula needs cannot be read";
        let Input { name, kind, .. } = &self.inputs[index];
        let Some(logged) = job.amounts.iter().rfind(|amount| *amount.name == **name) else {
            let priority = self.queue_priorities.get(job.queue).filter(|_| **name == *QUEUE_PRIORITY);
            return Ok(priority.and_then(|priority| Amount::new(&Value::Int(*priority))));
        };
        let value = match logged.source {
            Some(source) => {
                let amount = self.numbers.amount(logged.text, *kind, source).map_err(|_| UNREADABLE)?;
                self.numbers.resource(amount)
            }
            None => number(logged.text).ok_or(UNREADABLE)?,
        };
        Amount::new(&value).ok_or(UNREADABLE).map(Some)
    }

    /// The workload. Its names are in the order of their first submission, so that it does not depend on the order in which
    /// the jobs were added. Of several jobs with the same id one is kept: a whole execution before a part of one, then the
    /// job that was submitted first.
    pub fn finish(mut self) -> Workload {
        let ids = std::mem::take(&mut self.ids);
        let count = self.inputs.len();
        let all = [
            &mut self.entities,
            &mut self.users,
            &mut self.groups,
            &mut self.unix_groups,
            &mut self.projects,
            &mut self.queues,
        ];
        let [entities, users, groups, unix_groups, projects, queues] =
            all.map(|names| std::mem::take(&mut names.names));
        let name = |names: &[Box<str>], index: u32| names[index as usize].clone();
        let by_submission = |one: &WorkloadJob, other: &WorkloadJob| {
            one.submit.cmp(&other.submit).then_with(|| compare_ids(id_in(&ids, one), id_in(&ids, other)))
        };
        // equal jobs are compared by all they have, so that the lines' order does not decide which one is kept
        let by_content = |one: &WorkloadJob, other: &WorkloadJob| {
            let numbers = |job: &WorkloadJob| (job.run, job.walltime, job.processors, job.started);
            let names = |job: &WorkloadJob| {
                [
                    name(&entities, job.entity),
                    name(&groups, job.group),
                    name(&queues, job.queue),
                    name(&users, job.user),
                    name(&unix_groups, job.unix_group),
                    name(&projects, job.project),
                ]
            };
            let inputs = |job: &WorkloadJob| {
                let row = job.row as usize;
                let amounts = self.amounts.get(row * count..(row + 1) * count).unwrap_or(&[]);
                amounts.iter().map(|amount| (double_key(amount.value), amount.is_int)).collect::<Vec<_>>()
            };
            let order = numbers(one).cmp(&numbers(other)).then_with(|| names(one).cmp(&names(other)));
            order.then_with(|| inputs(one).cmp(&inputs(other)))
        };
        let mut jobs = std::mem::take(&mut self.jobs);
        jobs.sort_by(|one, other| by_submission(one, other).then_with(|| by_content(one, other)));
        remove_duplicates(&mut jobs, &ids, &mut self.faults);
        if !self.mentioned.is_empty() {
            let ended: HashSet<&str> = jobs.iter().map(|job| id_in(&ids, job)).collect();
            let unfinished = self.mentioned.iter().filter(|(id, _)| !ended.contains(&***id));
            for (id, (mention, place)) in unfinished {
                self.faults.add(mention.fault(), || format!("{place}: job `{id}`"));
            }
        }
        let mut order =
            [&entities, &users, &groups, &unix_groups, &projects, &queues].map(|names| FirstUse::new(names.len()));
        for job in &mut jobs {
            job.entity = order[0].renumber(job.entity);
            job.user = order[1].renumber(job.user);
            job.group = order[2].renumber(job.group);
            job.unix_group = order[3].renumber(job.unix_group);
            job.project = order[4].renumber(job.project);
            job.queue = order[5].renumber(job.queue);
        }
        let [of_entities, of_users, of_groups, of_unix_groups, of_projects, of_queues] = order;
        Workload {
            jobs,
            ids,
            entities: of_entities.names(&entities),
            users: of_users.names(&users),
            groups: of_groups.names(&groups),
            unix_groups: of_unix_groups.names(&unix_groups),
            projects: of_projects.names(&projects),
            queues: of_queues.names(&queues),
            inputs: self.inputs,
            amounts: self.amounts,
            machine_processors: self.machine_processors,
            faults: self.faults,
        }
    }
}

/// Numbers names in the order of their first use.
struct FirstUse {
    /// The new number of each name, 0 for none, else one more than it.
    numbers: Vec<u32>,
    used: Vec<u32>,
}

impl FirstUse {
    fn new(names: usize) -> Self {
        Self { numbers: vec![0; names], used: Vec::new() }
    }

    fn renumber(&mut self, name: u32) -> u32 {
        let number = &mut self.numbers[name as usize];
        if *number == 0 {
            self.used.push(name);
            *number = self.used.len() as u32;
        }
        *number - 1
    }

    fn names(self, names: &[Box<str>]) -> Vec<Box<str>> {
        self.used.iter().map(|&name| names[name as usize].clone()).collect()
    }
}

/// Keeps one of the jobs with the same id.
fn remove_duplicates(jobs: &mut Vec<WorkloadJob>, ids: &str, faults: &mut Faults) {
    if jobs.is_sorted_by(|one, other| compare_ids(id_in(ids, one), id_in(ids, other)).is_lt()) {
        return;
    }
    let mut kept: HashMap<&str, usize> = HashMap::with_capacity(jobs.len());
    let mut is_dropped = vec![false; jobs.len()];
    for (index, job) in jobs.iter().enumerate() {
        let id = id_in(ids, job);
        let other = *kept.entry(id).or_insert(index);
        if other == index {
            continue;
        }
        let dropped = if jobs[other].is_partial && !job.is_partial { kept.insert(id, index) } else { Some(index) };
        if let Some(dropped) = dropped {
            is_dropped[dropped] = true;
            faults.add("another line has the same id", || format!("job `{id}`"));
        }
    }
    let mut dropped = is_dropped.into_iter();
    jobs.retain(|_| !dropped.next().unwrap_or(false));
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
            number.len().cmp(&other_number.len()).then_with(|| number.cmp(other_number))
        } else {
            (left, right) = (&left[1..], &right[1..]);
            first.cmp(second)
        };
        if ordering.is_ne() {
            return ordering;
        }
    }
    left.len().cmp(&right.len()).then_with(|| one.cmp(other))
}

/// The digits at the start, without leading zeros, and what follows.
fn leading_number(text: &[u8]) -> (&[u8], &[u8]) {
    let end = text.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let zeros = digits.iter().position(|&digit| digit != b'0').unwrap_or(digits.len());
    (&digits[zeros..], rest)
}
