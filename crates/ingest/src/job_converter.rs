//! The attributes of a job, whichever format its document has, and their conversion into its row.
//!
//! In: a [`ParsedJob`] from a reader, and the names that a formula needs, each of which is a column
//! of the table. Out, in [`ConvertedJobs`] and in the order of the document: rows with the numbers
//! that the formula gets, the names that the jobs have, and what is to be reported. What each key
//! of a job means is in one table, [`JobKey`], which the readers of all formats share.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use job_sort_formula::jobs::{
    Batch, BatchRow, Exclusion, InputOrigin, InputPrecedence, Job, JobState, Problem,
};
use job_sort_formula::python::Value;
use job_sort_formula::schema::{FairshareInput, InputType};
use jsf_json::{JsonScalar, clipped};
use jsf_openpbs::amounts::{
    self, AmountSource, EntityAttributes, NumberMode, inferred_type, number, of_nodes,
};

use crate::cycle_jobs::CycleJob;
use crate::reader::ReadOptions;

const NO_EUSER: &str = "jobs lack `euser`, which qstat shows only to administrators; \
                        their user is `Job_Owner` up to the `@`";
pub const OF_NODES: &str = "jobs without `ncpus` have that of `nodes`: the nodes times `ppn`";
/// It says what [`OF_NODES`] does, too.
pub const OF_PROCS: &str = "jobs without `ncpus` have that of `nodes` (the nodes times `ppn`) or `procs`, whichever is larger";

/// Jobs that were converted, until the table takes them.
#[derive(Debug, Default)]
pub struct ConvertedJobs {
    pub batch: Batch,
    /// Rows and reports in the order of the document.
    pub parts: Vec<Part>,
    /// The names that no schema declares, with each kind that their amounts look like, once for all
    /// jobs of a converter.
    pub undeclared: Vec<(Box<str>, InputType)>,
    /// One for each row of the batch, if the options ask for them.
    pub cycle: Vec<CycleJob>,
    /// Whether the jobs have more resources than are counted by name.
    pub has_too_many_names: bool,
    /// When the document was written, in seconds since 1970, if it says so.
    pub timestamp: Option<i64>,
    /// What the document gives more than once.
    pub ambiguity: Option<String>,
    /// What is true of any job of the document, one sentence each.
    pub notes: BTreeSet<&'static str>,
}

/// A part of [`ConvertedJobs`].
#[derive(Debug)]
pub enum Part {
    /// Rows of the batch.
    Rows(Range<usize>),
    /// A problem of the job of this id.
    Problem {
        line: Option<usize>,
        id: String,
        problem: Problem,
    },
    /// An amount other than 0 that has become 0.
    TruncatedToZero {
        resource: Box<str>,
        id: String,
        amount: String,
    },
}

impl ConvertedJobs {
    pub fn report(&mut self, line: Option<usize>, id: &str, problem: Problem) {
        self.parts.push(Part::Problem {
            line,
            id: id.to_owned(),
            problem,
        });
    }

    /// Adds the last row of the batch as the next job.
    fn push_row(&mut self) {
        let end = self.batch.rows();
        match self.parts.last_mut() {
            Some(Part::Rows(rows)) => rows.end = end,
            _ => self.parts.push(Part::Rows(end.saturating_sub(1)..end)),
        }
    }

    /// Removes all jobs, and keeps the memory.
    pub fn clear(&mut self, columns: usize) {
        self.batch.clear(columns);
        self.cycle.clear();
        self.parts.clear();
        self.undeclared.clear();
    }
}

/// The most unknown keys that are counted by name. Later ones are not reported.
pub const MAX_KEYS: usize = 10_000;

/// Converts job by job.
#[derive(Debug)]
pub struct JobConverter<'a> {
    pub options: &'a ReadOptions<'a>,
    pub source: AmountSource,
    columns: Vec<RequestedColumn<'a>>,
    /// The names that were read so far.
    names: Vec<KnownName>,
    indices: HashMap<Box<str>, NameIndex>,
    /// Whether a job without `ncpus` has the processors of its `nodes` and `procs`: Torque, which
    /// prints text only, has no other request; the server of OpenPBS sets both.
    pub takes_nodes: bool,
    /// The unknown keys that were reported: each job of a large document may have the same.
    reported_keys: HashSet<String>,
    pub output: ConvertedJobs,
}

impl<'a> JobConverter<'a> {
    pub fn new(options: &'a ReadOptions<'a>, source: AmountSource) -> Self {
        let mut converter = Self {
            options,
            source,
            columns: RequestedColumn::all(options),
            names: Vec::new(),
            indices: HashMap::new(),
            takes_nodes: false,
            reported_keys: HashSet::new(),
            output: ConvertedJobs::default(),
        };
        converter.clear_output();
        converter
    }

    /// Whether an unknown key needs no report, because there is one, or are too many.
    pub fn has_reported(&self, key: &str) -> bool {
        self.reported_keys.len() >= MAX_KEYS || self.reported_keys.contains(key)
    }

    /// Removes the jobs that were converted.
    pub fn clear_output(&mut self) {
        self.output.clear(self.columns.len());
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// What a key at the top of a job means. A special input that no column needs is unused.
    pub fn job_key(&mut self, key: &str) -> JobKey {
        let is_cycle = self.options.cycle_jobs;
        let meaning = match self.source {
            AmountSource::Server => JobKey::from_qstat(key),
            AmountSource::User => JobKey::from_native(key, |name| {
                if self.options.schema.entry(name).is_none() && self.column(name).is_none() {
                    return None;
                }
                Some(self.resource_key(name))
            }),
        };
        let mut columns = self.columns.iter();
        match meaning {
            JobKey::Special(SpecialInput::EligibleTime | SpecialInput::AccrueType) if is_cycle => {
                meaning
            }
            JobKey::Special(special) if !columns.any(|one| one.special == Some(special)) => {
                JobKey::Unused
            }
            _ if is_cycle => meaning.for_cycle(key),
            _ => meaning,
        }
    }

    /// What a key in a list of a job means, other than in the list of resources.
    pub fn listed_key(&self, list: &str, key: &str) -> JobKey {
        if self.options.cycle_jobs && is_cycle_list(list) {
            JobKey::Unused.for_cycle(&format!("{list}.{key}"))
        } else {
            JobKey::Unused
        }
    }

    /// What a key in the list of resources means.
    pub fn resource_key(&mut self, name: &str) -> JobKey {
        match self.name_index(name) {
            Some(index) => JobKey::Resource(index),
            None => JobKey::Unused,
        }
    }

    /// The index of a resource or an input, which is added if it is new; `None` if there are too
    /// many.
    pub fn name_index(&mut self, name: &str) -> Option<NameIndex> {
        if let Some(known) = self.known_name(name) {
            return Some(known);
        }
        if self.names.len() > MAX_RESOURCES {
            self.output.has_too_many_names = true;
            return None;
        }
        let index = self.names.len() as NameIndex;
        let known = KnownName::new(name, &self.columns, self.options, self.source);
        self.names.push(known);
        self.indices.insert(name.into(), index);
        Some(index)
    }

    /// The index of a name that was read before.
    pub fn known_name(&self, name: &str) -> Option<NameIndex> {
        self.indices.get(name).copied()
    }

    pub fn name(&self, index: NameIndex) -> &KnownName {
        &self.names[index as usize]
    }

    /// Converts a job.
    pub fn push(&mut self, job: &mut ParsedJob<'_>) {
        let has_resources = !job.resources.is_empty() || job.get(JobKey::Resources).is_some();
        if self.source == AmountSource::Server && !has_resources {
            job.problems.push(Problem::NoResources);
        }
        if self.takes_nodes {
            self.add_processors_of_nodes(job);
        }
        if job.resources.len().max(job.inputs.len()) > MAX_ENTRIES {
            let reason = format!("the job has more than {MAX_ENTRIES} resources or inputs");
            job.problems.push(Problem::Unreadable { reason });
        }
        let mut rejection = None;
        for problem in std::mem::take(&mut job.problems) {
            if let Problem::UnknownKey { key, .. } = &problem {
                self.reported_keys.insert(key.clone());
            }
            if problem.skips_the_job() {
                rejection.get_or_insert(problem);
            } else {
                self.report(job, problem);
            }
        }
        if let Some(problem) = rejection {
            return self.skip(job, problem);
        }
        let state = self.state(job);
        let wrong_special = self.fill_special(job);
        let mut unreadable = None;
        for (name, scalar) in &job.resources {
            let reason = self.convert_amount(job, *name, scalar);
            unreadable = unreadable.or(reason);
        }
        let wrong_input = self.fill_inputs(job);
        if let Some(problem) = wrong_special.or(wrong_input) {
            return self.skip(job, problem);
        }
        let exclusion = if state.is_over() {
            Some(Exclusion::Over(state))
        } else {
            unreadable
        };
        self.finish_row(job, state, exclusion);
    }

    /// Reports a problem of a job that is not added, and discards its inputs.
    pub fn skip(&mut self, job: &ParsedJob<'_>, problem: Problem) {
        self.report(job, problem);
        self.abandon();
    }

    fn report(&mut self, job: &ParsedJob<'_>, problem: Problem) {
        self.output.report(job.line, job.id(), problem);
    }

    /// Discards the inputs of the current job.
    pub fn abandon(&mut self) {
        self.output.batch.abandon();
    }

    /// Adds a job whose inputs were set.
    fn finish_row(&mut self, job: &ParsedJob<'_>, state: JobState, exclusion: Option<Exclusion>) {
        let attributes = EntityAttributes {
            user: job.text(JobKey::User),
            group: job.text(JobKey::Group),
            account: job.text(JobKey::Account),
            submitter: job.text(JobKey::Owner),
            queue: job.text(JobKey::Queue),
        };
        let entity = match job.get(JobKey::Entity).and_then(JsonScalar::text) {
            Some(entity) => Cow::Borrowed(entity),
            None => {
                if attributes.takes_user_from_job_owner() && self.options.entity.uses_user() {
                    self.output.notes.insert(NO_EUSER);
                }
                self.options.entity.entity_of(attributes)
            }
        };
        if self.options.cycle_jobs {
            let cycle_job = CycleJob::new(job, self, &entity);
            self.output.cycle.push(cycle_job);
        }
        self.output.batch.finish(BatchRow {
            job: Job {
                id: job.id(),
                entity: &entity,
                queue: attributes.queue,
                state,
                queued_at: job.get(JobKey::QueuedAt).and_then(integer),
                exclusion,
            },
            line: job.line,
        });
        self.output.push_row();
    }

    fn add_processors_of_nodes(&mut self, job: &mut ParsedJob<'_>) {
        let Some(ncpus) = self.name_index("ncpus") else {
            return;
        };
        let mut nodes = None;
        let mut procs = None;
        for (resource, scalar) in &job.resources {
            match &*self.name(*resource).name {
                "ncpus" => return,
                "nodes" => nodes = nodes.or(scalar.text()),
                "procs" => procs = procs.or(scalar.text()),
                _ => {}
            }
        }
        let procs: i64 = procs.unwrap_or_default().parse().unwrap_or(0);
        let of_procs = Some(procs).filter(|procs| *procs > 0);
        if let Some(processors) = nodes.and_then(of_nodes).max(of_procs) {
            if self.column("ncpus").is_some() || self.options.cycle_jobs {
                let note = if of_procs.is_some() {
                    OF_PROCS
                } else {
                    OF_NODES
                };
                self.output.notes.insert(note);
            }
            let processors = JsonScalar::String(Cow::Owned(processors.to_string()));
            job.resources.push((ncpus, processors));
        }
    }
}

/// Fills the row of the current job.
impl JobConverter<'_> {
    #[inline]
    fn set(&mut self, column: usize, source: InputPrecedence, value: Value) {
        self.output.batch.put(column, source, &value);
    }

    fn state(&mut self, job: &ParsedJob<'_>) -> JobState {
        let Some(scalar) = job.get(JobKey::State) else {
            return JobState::default();
        };
        if let Some(state) = scalar.text().and_then(JobState::from_letter) {
            return state;
        }
        let expected = "a letter such as `Q`, `H` or `R`";
        let problem = wrong_attribute("job_state", scalar, expected);
        self.report(job, problem);
        JobState::Unknown
    }

    /// Fills the columns of the inputs that are not resources; returns the first one that has no
    /// value.
    fn fill_special(&mut self, job: &ParsedJob<'_>) -> Option<Problem> {
        let queue_priority = self.options.queue_priorities.get(job.text(JobKey::Queue));
        let mut wrong = None;
        for index in 0..self.columns.len() {
            let RequestedColumn { name, special } = self.columns[index];
            let Some(special) = special else { continue };
            if let (SpecialInput::QueuePriority, Some(&priority)) = (special, queue_priority) {
                self.set(index, InputPrecedence::Queue, Value::Int(priority));
            }
            let Some(scalar) = job.get(JobKey::Special(special)) else {
                continue;
            };
            match special.value(scalar, self.options.numbers) {
                Ok(value) => self.set(index, InputPrecedence::Job, value),
                Err(expected) => {
                    wrong.get_or_insert_with(|| wrong_input(name, scalar, expected));
                }
            }
        }
        wrong
    }

    /// Fills the column of a resource; returns why the scheduler ignores the job if it cannot read
    /// the amount.
    fn convert_amount(
        &mut self,
        job: &ParsedJob<'_>,
        index: NameIndex,
        scalar: &JsonScalar<'_>,
    ) -> Option<Exclusion> {
        let name = self.name(index);
        if name.is_skipped {
            return None;
        }
        if scalar.is_null() {
            if name.column.is_some() {
                let problem = wrong_attribute(&name.name, scalar, "an amount");
                self.report(job, problem);
            }
            return None;
        }
        // most amounts are small integers
        if name.keeps_small_integers
            && let JsonScalar::Number(text) = scalar
            && let Some(small) = small_integer(text)
        {
            let column = name.column;
            self.note_kind(index, InputType::Count);
            if let Some(column) = column {
                self.report_if_repeated(job, column, InputPrecedence::Job, index);
                self.set(column, InputPrecedence::Job, Value::Int(small));
            }
            return None;
        }
        let kind = name.kind(scalar);
        self.note_kind(index, kind);
        let text = scalar.text().unwrap_or("");
        match self.options.numbers.amount(text, Some(kind), self.source) {
            Some(amount) => self.fill_amount(job, index, scalar, amount),
            None if kind.is_numeric() => {
                let found = match scalar.text() {
                    Some(text) => clipped(text).into_owned(),
                    None => scalar.found(),
                };
                let resource = self.name(index).name.to_string();
                return Some(Exclusion::Invalid { resource, found });
            }
            None => {}
        }
        None
    }

    /// Notes the kind that the amount of a name looks like, if no schema declares the name.
    #[inline]
    fn note_kind(&mut self, index: NameIndex, kind: InputType) {
        let name = &mut self.names[index as usize];
        if name.note_kind(kind) {
            self.output.undeclared.push((name.name.clone(), kind));
        }
    }

    fn fill_amount(
        &mut self,
        job: &ParsedJob<'_>,
        name: NameIndex,
        scalar: &JsonScalar<'_>,
        amount: Value,
    ) {
        let Some(column) = self.name(name).column else {
            return;
        };
        self.report_if_repeated(job, column, InputPrecedence::Job, name);
        let text = scalar.text().unwrap_or("");
        let mut beyond_64_bits = None;
        if matches!(amount, Value::Big(_)) {
            beyond_64_bits = Some(amount.repr());
        }
        let value = self.options.numbers.resource(amount);
        let is_number = matches!(scalar, JsonScalar::Number(_));
        let resource = &self.name(name).name;
        let mut losses = Vec::new();
        // the JSON of qstat has a double for a large integer, `9.0072e+15`; its text has all digits
        if self.source == AmountSource::Server && is_number && is_shortened(text) {
            losses.push(Problem::Shortened {
                resource: resource.to_string(),
                found: text.to_owned(),
            });
        }
        if let Some(given) = beyond_64_bits
            && given != value.repr()
        {
            losses.push(Problem::Saturated {
                resource: resource.to_string(),
                found: clipped(text).into_owned(),
                taken: value.repr(),
            });
        }
        if matches!(value, Value::Int(0)) && !matches!(ratio(scalar), None | Some(0.0)) {
            let part = Part::TruncatedToZero {
                resource: resource.clone(),
                id: job.id().to_owned(),
                amount: clipped(text).into_owned(),
            };
            self.output.parts.push(part);
        }
        for problem in losses {
            self.report(job, problem);
        }
        self.set(column, InputPrecedence::Job, value);
    }

    /// Fills the columns of the ready-made inputs; returns the first one that is needed and has no
    /// value.
    fn fill_inputs(&mut self, job: &ParsedJob<'_>) -> Option<Problem> {
        let mut wrong = None;
        for &(index, ref scalar) in &job.inputs {
            let Some(value) = input(scalar) else {
                let expected = "a number, \"inf\", \"-inf\" or \"nan\"";
                let name = self.name(index);
                let is_needed = !name.input_columns.is_empty();
                if scalar.is_null() == is_needed {
                    let problem = wrong_attribute(&name.name, scalar, expected);
                    self.report(job, problem);
                } else if is_needed && wrong.is_none() {
                    wrong = Some(wrong_input(&name.name, scalar, expected));
                }
                continue;
            };
            let kind = if matches!(value, Value::Float(_)) {
                InputType::Float
            } else {
                InputType::Count
            };
            self.note_kind(index, kind);
            let mut next = 0;
            while let Some(&(column, precedence)) = self.name(index).input_columns.get(next) {
                next += 1;
                self.report_if_repeated(job, column, precedence, index);
                // a default has no source
                if self.output.batch.source(column) <= Some(precedence) {
                    self.set(column, precedence, value.clone());
                }
            }
        }
        wrong
    }

    /// Reports a key whose column an earlier one of the same precedence has filled.
    #[inline]
    fn report_if_repeated(
        &mut self,
        job: &ParsedJob<'_>,
        column: usize,
        precedence: InputPrecedence,
        key: NameIndex,
    ) {
        if self.output.batch.source(column) == Some(precedence) {
            let problem = Problem::Repeated {
                key: clipped(&self.name(key).name).into_owned(),
                consequence: LAST_COUNTS,
            };
            self.report(job, problem);
        }
    }
}

/// An integer of at most seven digits without sign.
fn small_integer(text: &str) -> Option<i64> {
    let is_small = text.len() <= 7 && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_small { text.parse().ok() } else { None }
}

/// The most resources and the most inputs of a job.
pub const MAX_ENTRIES: usize = 10_000;
/// The most problems of a job that are reported.
pub const MAX_PROBLEMS: usize = 1000;
/// What follows from a key that is given more than once.
pub const LAST_COUNTS: &str = "the last one counts";

/// The attributes of one job as its document has them.
#[derive(Debug, Default)]
pub struct ParsedJob<'d> {
    /// The line, if the document has a job per line.
    pub line: Option<usize>,
    /// All but amounts, each once.
    pub attributes: Vec<Attribute<'d>>,
    pub resources: Vec<Amount<'d>>,
    /// Ready-made inputs, which are passed on unchanged.
    pub inputs: Vec<Amount<'d>>,
    pub problems: Vec<Problem>,
}

/// A resource or an input of a job.
pub type Amount<'d> = (NameIndex, JsonScalar<'d>);

#[derive(Debug)]
pub struct Attribute<'d> {
    pub key: JobKey,
    pub value: JsonScalar<'d>,
    is_repeated: bool,
}

impl<'d> ParsedJob<'d> {
    /// Removes all attributes, and keeps the memory.
    pub fn clear(&mut self) {
        self.line = None;
        self.attributes.clear();
        self.resources.clear();
        self.inputs.clear();
        self.problems.clear();
    }

    /// Gives the job the id that precedes its attributes.
    pub fn set_id(&mut self, id: Cow<'d, str>) {
        self.attributes.push(Attribute {
            key: JobKey::Id,
            value: JsonScalar::String(id),
            is_repeated: false,
        });
    }

    /// The value of an attribute.
    pub fn get(&self, key: JobKey) -> Option<&JsonScalar<'d>> {
        for attribute in &self.attributes {
            if attribute.key == key {
                return Some(&attribute.value);
            }
        }
        None
    }

    /// The text of an attribute; empty if the job has none.
    pub fn text(&self, key: JobKey) -> &str {
        self.get(key).and_then(JsonScalar::text).unwrap_or_default()
    }

    /// The id; empty if the job has none.
    pub fn id(&self) -> &str {
        self.text(JobKey::Id)
    }

    /// Sets the attribute `key`, which the document calls `name`; one that is given again is
    /// reported.
    pub fn set(&mut self, key: JobKey, name: &str, mut value: JsonScalar<'d>) {
        match key {
            JobKey::Resource(resource) => {
                return push_entry(&mut self.resources, resource, value);
            }
            JobKey::CycleList | JobKey::Unused | JobKey::Unknown => return,
            _ => {}
        }
        let mut known = None;
        for (index, attribute) in self.attributes.iter_mut().enumerate() {
            if attribute.key == key {
                known = Some(index);
                if !std::mem::replace(&mut attribute.is_repeated, true) {
                    self.push_problem(Problem::Repeated {
                        key: clipped(name).into_owned(),
                        consequence: match key {
                            JobKey::Resources | JobKey::Inputs => "the lists are joined",
                            _ => LAST_COUNTS,
                        },
                    });
                }
                break;
            }
        }
        if key.is_name() {
            match &value {
                JsonScalar::Other(_) => {
                    self.push_problem(wrong_attribute(name, &value, "a string"));
                    if known.is_some() {
                        return;
                    }
                    value = JsonScalar::NULL;
                }
                JsonScalar::String(text) if text.contains(char::REPLACEMENT_CHARACTER) => {
                    let what =
                        format!("`{name}` contains bytes that are not UTF-8, which are replaced");
                    self.push_problem(Problem::Repaired { what });
                }
                _ => {}
            }
        }
        match known {
            Some(index) => self.attributes[index].value = value,
            None => self.attributes.push(Attribute {
                key,
                value,
                is_repeated: false,
            }),
        }
    }

    /// Adds a problem that does not reject the job, unless it has very many.
    pub fn push_problem(&mut self, problem: Problem) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }
}

/// The problem of an attribute whose value is not what it should be.
pub fn wrong_attribute(name: &str, scalar: &JsonScalar<'_>, expected: &'static str) -> Problem {
    Problem::Attribute {
        attribute: name.to_owned(),
        found: scalar.found(),
        expected,
    }
}

/// The problem of an input that a column needs and whose value cannot be read.
pub fn wrong_input(name: &str, scalar: &JsonScalar<'_>, expected: &'static str) -> Problem {
    Problem::WrongInput {
        attribute: name.to_owned(),
        found: scalar.found(),
        expected,
    }
}

/// Adds an amount or an input of a job, unless there are already more than a job may have.
#[inline]
pub fn push_entry<'d>(entries: &mut Vec<Amount<'d>>, name: NameIndex, scalar: JsonScalar<'d>) {
    if entries.len() <= MAX_ENTRIES {
        entries.push((name, scalar));
    }
}

/// What a key at the top of a job means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobKey {
    Id,
    Entity,
    User,
    Group,
    Account,
    /// `Job_Owner`, for documents without `euser`.
    Owner,
    Queue,
    State,
    QueuedAt,
    /// An object of resource amounts.
    Resources,
    /// An object of ready-made inputs of the formula.
    Inputs,
    /// The amount of a resource.
    Resource(NameIndex),
    /// An input of the formula that is not a resource.
    Special(SpecialInput),
    /// An attribute that only a scheduling cycle needs, see [`cycle_key`].
    Cycle(&'static str),
    /// An object with attributes that only a scheduling cycle needs.
    CycleList,
    /// Nothing that a formula or a fair-share tree needs.
    Unused,
    /// Not a key of a job: the user is told.
    Unknown,
}

/// The attributes of `qstat -f` that a formula, the order or a fair-share tree needs.
pub const QSTAT_KEYS: [(&str, JobKey); 11] = [
    ("Resource_List", JobKey::Resources),
    ("euser", JobKey::User),
    ("egroup", JobKey::Group),
    ("Account_Name", JobKey::Account),
    ("Job_Owner", JobKey::Owner),
    ("queue", JobKey::Queue),
    ("job_state", JobKey::State),
    ("queue_rank", JobKey::QueuedAt),
    ("eligible_time", JobKey::Special(SpecialInput::EligibleTime)),
    ("accrue_type", JobKey::Special(SpecialInput::AccrueType)),
    ("Priority", JobKey::Special(SpecialInput::JobPriority)),
];

impl JobKey {
    /// The meaning of an attribute of `qstat -f`.
    pub fn from_qstat(attribute: &str) -> Self {
        for (name, key) in QSTAT_KEYS {
            if name == attribute {
                return key;
            }
        }
        Self::Unused
    }

    /// The meaning of a key for a scheduling cycle, if it has one for nothing else.
    pub fn for_cycle(self, key: &str) -> Self {
        match self {
            Self::Unused if is_cycle_list(key) => Self::CycleList,
            Self::Unused => match cycle_key(key) {
                Some(key) => Self::Cycle(key),
                None => self,
            },
            _ => self,
        }
    }

    /// Whether the value is a name, which qstat may print without quotes.
    pub fn is_name(self) -> bool {
        matches!(
            self,
            Self::Id
                | Self::Entity
                | Self::User
                | Self::Group
                | Self::Account
                | Self::Owner
                | Self::Queue
        )
    }

    /// The meaning of a key of native JSON; `resource` answers for one that is a resource's.
    pub fn from_native(key: &str, resource: impl FnOnce(&str) -> Option<Self>) -> Self {
        match key {
            "id" => Self::Id,
            "entity" => Self::Entity,
            "queue" => Self::Queue,
            "state" | "job_state" => Self::State,
            "queued_at" | "queue_rank" => Self::QueuedAt,
            "resources" => Self::Resources,
            "inputs" => Self::Inputs,
            _ => match SpecialInput::from_name(key) {
                Some(special) => Self::Special(special),
                None => resource(key).unwrap_or_else(|| match cycle_key(key) {
                    Some(_) => Self::Unused,
                    None => Self::Unknown,
                }),
            },
        }
    }
}

/// The attributes that only a scheduling cycle needs, in `qstat -f` or native JSON; of `Hold_Types`
/// the state of the job says enough.
const CYCLE_KEYS: [&str; 19] = [
    "user",
    "group",
    "project",
    "stime",
    "qtime",
    "etime",
    "Hold_Types",
    "topjob_ineligible",
    "array_state_count",
    "array_indices_remaining",
    "array_indices_submitted",
    "max_run_subjobs",
    "Rerunable",
    "run_count",
    "estimated_start",
    "place",
    "select",
    "schedselect",
    "exec_vnode",
];

/// The name by which such an attribute is found; that of a list has the name of the list before it.
fn cycle_key(name: &str) -> Option<&'static str> {
    match name {
        "euser" => Some("user"),
        "egroup" => Some("group"),
        "resources_used.walltime" => Some("used_walltime"),
        "estimated.start_time" => Some("estimated_start"),
        _ => CYCLE_KEYS.into_iter().find(|key| *key == name),
    }
}

/// Whether the attribute of this name is an object with attributes of a cycle.
pub fn is_cycle_list(name: &str) -> bool {
    matches!(name, "estimated" | "resources_used")
}

/// An input of a formula that is not a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpecialInput {
    EligibleTime,
    AccrueType,
    JobPriority,
    QueuePriority,
    Fairshare(FairshareInput),
}

impl SpecialInput {
    /// The input of this name in a formula.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "eligible_time" => Self::EligibleTime,
            "accrue_type" => Self::AccrueType,
            "job_priority" => Self::JobPriority,
            "queue_priority" => Self::QueuePriority,
            _ => Self::Fairshare(FairshareInput::from_name(name)?),
        })
    }

    /// The value that the formula gets for `scalar`.
    ///
    /// # Errors
    /// What was expected instead of `scalar`, in words for a message.
    pub fn value(
        self,
        scalar: &JsonScalar<'_>,
        numbers: NumberMode,
    ) -> Result<Value, &'static str> {
        match self {
            Self::EligibleTime => seconds(scalar)
                .map(Value::Int)
                .ok_or("`HH:MM:SS` or seconds"),
            Self::Fairshare(_) => match ratio(scalar) {
                Some(ratio) => Ok(numbers.fairshare(ratio)),
                None => Err("a number between 0 and 1"),
            },
            _ => integer(scalar).map(Value::Int).ok_or("a whole number"),
        }
    }
}

/// A column that a formula needs.
#[derive(Debug, Clone, Copy)]
pub struct RequestedColumn<'a> {
    pub name: &'a str,
    /// The input, unless it is a resource.
    pub special: Option<SpecialInput>,
}

impl<'a> RequestedColumn<'a> {
    /// The columns, each name once.
    pub fn all(options: &ReadOptions<'a>) -> Vec<Self> {
        let mut columns: Vec<Self> = Vec::new();
        for &name in options.needed {
            if columns.iter().all(|column| column.name != name) {
                let special = SpecialInput::from_name(name);
                columns.push(Self { name, special });
            }
        }
        columns
    }

    /// What the formula gets from a job without any attribute.
    pub fn default(&self) -> Value {
        match self.special {
            Some(SpecialInput::Fairshare(_)) => Value::Float(0.0),
            _ => Value::Int(0),
        }
    }

    /// The origin of what the job itself has.
    pub fn own_origin(&self) -> InputOrigin {
        match self.special {
            Some(_) => InputOrigin::Job,
            None => InputOrigin::ResourceList,
        }
    }
}

/// The most resources that the jobs may have together.
pub const MAX_RESOURCES: usize = 100_000;

/// An index into the names that the jobs have.
pub type NameIndex = u32;

/// The name of a resource or an input that jobs have.
#[derive(Debug)]
pub struct KnownName {
    pub name: Box<str>,
    /// Its kind, if a schema declares it.
    pub declared: Option<InputType>,
    /// The column that gets the amounts.
    pub column: Option<usize>,
    /// The columns that get a ready-made input of this name. `fairshare_perc` has two names: an
    /// input fills the column of its own name with the higher precedence.
    pub input_columns: Vec<(usize, InputPrecedence)>,
    /// Whether the amounts are not numbers, or the name is not that of a resource.
    pub is_skipped: bool,
    /// Whether the formula gets a small integer unchanged.
    pub keeps_small_integers: bool,
    /// The kinds that the amounts looked like, a bit for each.
    kinds: u8,
}

impl KnownName {
    pub fn new(
        name: &str,
        columns: &[RequestedColumn<'_>],
        options: &ReadOptions<'_>,
        source: AmountSource,
    ) -> Self {
        let declared = options.schema.input_type(name);
        let special = SpecialInput::from_name(name);
        let is_skipped = special.is_some() || declared.is_some_and(|kind| !kind.is_numeric());
        let keeps_small_integers = match declared {
            None | Some(InputType::Count | InputType::Duration) => true,
            Some(InputType::Float) => {
                source == AmountSource::Server || options.numbers != NumberMode::OpenPbs
            }
            Some(_) => false,
        };
        let mut own_column = None;
        let mut input_columns = Vec::new();
        for (index, column) in columns.iter().enumerate() {
            if column.name == name {
                own_column = Some(index);
                input_columns.push((index, InputPrecedence::Input));
            } else if special.is_some() && column.special == special {
                input_columns.push((index, InputPrecedence::AliasedInput));
            }
        }
        Self {
            name: name.into(),
            declared,
            column: own_column,
            input_columns,
            is_skipped,
            keeps_small_integers: keeps_small_integers && !is_skipped,
            kinds: 0,
        }
    }

    /// The kind of an amount: the declared one, else the one that it looks like.
    pub fn kind(&self, scalar: &JsonScalar<'_>) -> InputType {
        let is_number = matches!(scalar, JsonScalar::Number(_));
        self.declared
            .unwrap_or_else(|| inferred_type(scalar.text().unwrap_or(""), is_number))
    }

    /// Notes the kind that an undeclared name looks like. Returns whether it is new.
    #[inline]
    pub fn note_kind(&mut self, kind: InputType) -> bool {
        let is_new = self.declared.is_none() && self.kinds & (1 << kind as u8) == 0;
        self.kinds |= 1 << kind as u8;
        is_new
    }
}

/// The value of an input that the document gives as it is: a number, or one of the strings `inf`,
/// `-inf` and `nan`, which JSON cannot express as numbers.
pub fn input(scalar: &JsonScalar<'_>) -> Option<Value> {
    match scalar {
        JsonScalar::Number(text) => number(text),
        JsonScalar::String(text) => match &**text {
            "inf" => Some(Value::Float(f64::INFINITY)),
            "-inf" => Some(Value::Float(f64::NEG_INFINITY)),
            "nan" => Some(Value::Float(f64::NAN)),
            _ => None,
        },
        JsonScalar::Other(_) => None,
    }
}

/// The value of a whole number of at most 64 bits, as a number or a string.
pub fn integer(scalar: &JsonScalar<'_>) -> Option<i64> {
    match number(scalar.text()?.trim())? {
        Value::Int(integer) => Some(integer),
        // The JSON of qstat prints integers from 1e15 on with an exponent.
        Value::Float(x) if x.fract() == 0.0 && x.abs() < 9.0e18 => Some(x as i64),
        _ => None,
    }
}

/// The value of any finite number of at most 64 bits or with a fraction, as a number or a string.
pub fn ratio(scalar: &JsonScalar<'_>) -> Option<f64> {
    match number(scalar.text()?.trim())? {
        Value::Int(integer) => Some(integer as f64),
        Value::Float(x) => Some(x),
        _ => None,
    }
}

/// The seconds in a duration in the syntax of PBS, or a whole number of seconds, which may be
/// negative.
pub fn seconds(scalar: &JsonScalar<'_>) -> Option<i64> {
    let text = scalar.text()?.trim();
    // digits alone are the most frequent, and a duration takes several times as long to read
    let seconds = text.parse().ok().or_else(|| amounts::seconds(text));
    seconds.or_else(|| integer(scalar))
}

/// Whether qstat may have removed digits of an integer. Its JSON has only 15 digits if these are
/// within one part in 2^52 of the amount, so that from 2^52 on two different integers may be
/// printed alike.
pub fn is_shortened(text: &str) -> bool {
    let Some((mantissa, _)) = text.split_once(['e', 'E']) else {
        return false;
    };
    mantissa.bytes().filter(u8::is_ascii_digit).count() <= 15
        && text.parse().unwrap_or(0.0_f64).abs() >= 4_503_599_627_370_496.0
}
