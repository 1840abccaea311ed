//! Builds the table of jobs, which the readers of all formats fill.
//!
//! In: a [`ParsedJob`] from a reader, and the names that a formula needs, each of which is a column
//! of the table. A [`JobConverter`], of which there is one for each thread, makes of it, in
//! [`ConvertedJobs`] and in the order of the document, rows with the numbers that the formula gets,
//! the names that the jobs have, and what is to be reported. Out, from the [`TableBuilder`]:
//! [`ParsedJobs`].

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::iter;
use std::ops::Range;

use job_sort_formula::Value;
use job_sort_formula::jobs::{
    Batch, BatchRow, Exclusion, InputPrecedence, Job, JobProblem, JobState, JobTable, MAX_JOBS,
    Problem, Problems,
};
use job_sort_formula::schema::InputType;
use jsf_json::{JsonScalar, clipped};
use jsf_openpbs::AmountSource;
use jsf_openpbs::job_attributes::{EntityAttributes, processors_of_nodes};

use crate::attributes::{
    JobKey, KnownName, LAST_COUNTS, MAX_ENTRIES, MAX_RESOURCES, NameIndex, ParsedJob,
    RequestedColumn, SpecialInput, input, integer, is_cycle_list, is_shortened, ratio, repeated,
    wrong_attribute, wrong_input,
};
use crate::cycle_jobs::{CycleJobs, QueuedJob};
use crate::scanner::Scanner;
use crate::{ReadErrorKind, ReadOptions};

const NO_EUSER: &str = "jobs lack `euser`, which qstat shows only to administrators; \
                        their user is `Job_Owner` up to the `@`";
const OF_NODES: &str = "jobs without `ncpus` have that of `nodes`: the nodes times `ppn`";
/// It says what [`OF_NODES`] does, too.
const OF_PROCS: &str = "jobs without `ncpus` have that of `nodes` (the nodes times `ppn`) or `procs`, whichever is larger";

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
    pub cycle: Vec<QueuedJob>,
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

/// Converts job by job.
#[derive(Debug)]
pub struct JobConverter<'a> {
    pub options: &'a ReadOptions<'a>,
    pub source: AmountSource,
    columns: Vec<RequestedColumn<'a>>,
    /// The names that were read so far.
    names: Vec<KnownName>,
    indices: HashMap<Box<str>, NameIndex>,
    /// The names of which the job under construction has the first small integer: it may be skipped yet.
    names_of_job: Vec<NameIndex>,
    /// Whether a job without `ncpus` has the processors of its `nodes` and `procs`: Torque, which
    /// prints text only, has no other request; the server of OpenPBS sets both.
    pub takes_nodes: bool,
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
            names_of_job: Vec::new(),
            takes_nodes: false,
            output: ConvertedJobs::default(),
        };
        converter.clear_output();
        converter
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
        let meaning = match (self.source, JobKey::from_native(key)) {
            (AmountSource::Server, _) => JobKey::from_qstat(key),
            (AmountSource::User, JobKey::Unknown | JobKey::Unused) if self.is_resource(key) => {
                self.resource_key(key)
            }
            (AmountSource::User, meaning) => meaning,
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

    /// Whether a formula may use a resource of this name, or a column needs it.
    fn is_resource(&self, name: &str) -> bool {
        self.options.schema.entry(name).is_some() || self.column(name).is_some()
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
        if let Some(known) = self.indices.get(name) {
            return Some(*known);
        }
        if self.names.len() > MAX_RESOURCES {
            self.output.has_too_many_names = true;
            return None;
        }
        let index = self.names.len() as NameIndex;
        let known = KnownName::new(name, &self.columns, self.options);
        self.names.push(known);
        self.indices.insert(name.into(), index);
        Some(index)
    }

    fn name(&self, index: NameIndex) -> &KnownName {
        &self.names[index as usize]
    }

    /// Converts a job.
    pub fn push(&mut self, job: &mut ParsedJob<'_>) {
        let has_resources = !job.resources.is_empty() || job.get(JobKey::Resources).is_some();
        if self.source == AmountSource::Server && !has_resources {
            let what = "the job has no `Resource_List`; its resources are taken as 0";
            job.problems.push(Problem::Doubtful(what.to_owned()));
        }
        if self.takes_nodes {
            self.add_processors_of_nodes(job);
        }
        if job.resources.len().max(job.inputs.len()) > MAX_ENTRIES {
            let reason = format!("the job has more than {MAX_ENTRIES} resources or inputs");
            job.problems.push(Problem::Unreadable(reason));
        }
        let mut rejection = None;
        for problem in std::mem::take(&mut job.problems) {
            if problem.skips_the_job() {
                rejection.get_or_insert(problem);
            } else {
                self.report(job, problem);
            }
        }
        if let Some(problem) = rejection {
            return self.skip(job, problem);
        }
        // a job that is skipped says nothing of the kinds of amounts
        for name in std::mem::take(&mut self.names_of_job) {
            self.note_kind(name, InputType::Count);
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
        // of a job that is over nothing is evaluated, so that its amounts do not matter
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
        self.names_of_job.clear();
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
            let cycle_job = QueuedJob::new(job, &entity, &self.names, self.source, self.options);
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
        if let Some(processors) = nodes.and_then(processors_of_nodes).max(of_procs) {
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
                // a priority that the job itself has replaces it below
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
        // most amounts are small integers: to infer a kind for each would take a seventh of the time
        if let JsonScalar::Number(text) = scalar
            && name.keeps_small
            && let Some(integer) = Scanner::new(text).small_integer()
        {
            let column = name.column;
            self.note_kind(index, InputType::Count);
            if let Some(column) = column {
                self.report_if_repeated(job, column, InputPrecedence::Job, index);
                self.set(column, InputPrecedence::Job, Value::Int(integer.into()));
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

    /// The column of a resource in which small integers keep their value, unless an amount has already
    /// filled it.
    #[inline]
    pub fn small_column(&self, index: NameIndex) -> Option<usize> {
        let name = self.name(index);
        let column = name.column.filter(|_| name.keeps_small)?;
        let is_filled = self.output.batch.source(column) == Some(InputPrecedence::Job);
        (!is_filled).then_some(column)
    }

    /// Fills the [small column](Self::small_column) of a resource before the job is known to its end.
    #[inline]
    pub fn put_small(&mut self, index: NameIndex, column: usize, integer: u32) {
        if self.name(index).is_new(InputType::Count) {
            self.names_of_job.push(index);
        }
        self.set(column, InputPrecedence::Job, Value::Int(integer.into()));
    }

    /// Notes the kind that the amount of a name looks like, if no schema declares the name.
    #[inline]
    fn note_kind(&mut self, index: NameIndex, kind: InputType) {
        let name = &mut self.names[index as usize];
        if name.is_new(kind) {
            name.kinds |= 1 << kind as u8;
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
            losses.push(Problem::Doubtful(format!(
                "`{resource}` is {text}, which the JSON of qstat has rounded to 15 digits; use `qstat -f` without `-F json` for all digits"
            )));
        }
        if let Some(given) = beyond_64_bits
            && given != value.repr()
        {
            losses.push(Problem::Doubtful(format!(
                "`{resource}` is {}, which is beyond 64 bits: OpenPBS takes {}",
                clipped(text),
                value.repr()
            )));
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
                // a needed `null` and a wrong value that is not needed are ignored with a note
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
            self.report(job, repeated(&self.name(key).name, LAST_COUNTS));
        }
    }
}

/// The jobs of a document, and what is wrong with some of them.
#[derive(Debug, Clone, Default)]
pub struct ParsedJobs {
    /// The jobs.
    pub table: JobTable,
    /// The jobs of the table as a scheduling cycle sees them, if the options ask for them.
    pub cycle_jobs: Option<CycleJobs>,
    /// What is wrong with single jobs. The other jobs are read nevertheless.
    pub problems: Problems,
    /// Remarks on the document as a whole, one sentence each.
    pub notes: Vec<String>,
}

/// How many jobs and problems are converted before the table takes them.
const MAX_PENDING: usize = 4096;

/// The most unknown keys that are counted by name. Later ones are not reported.
const MAX_KEYS: usize = 10_000;

/// Builds a table from jobs that were converted.
#[derive(Debug)]
pub struct TableBuilder<'a> {
    options: &'a ReadOptions<'a>,
    table: JobTable,
    cycle_jobs: Vec<QueuedJob>,
    timestamp: Option<i64>,
    problems: Problems,
    /// What the formula gets from a job without any attribute.
    defaults: Vec<Value>,
    reported_keys: HashSet<String>,
    is_full: bool,
    /// Why the document is refused if the options are strict.
    refusal: Option<String>,
    has_too_many_names: bool,
    notes: BTreeSet<&'static str>,
}

impl<'a> TableBuilder<'a> {
    pub fn new(options: &'a ReadOptions<'a>) -> Self {
        let columns = RequestedColumn::all(options);
        let mut table = JobTable::new(columns.iter().map(|column| column.name));
        if options.record_origins {
            table.record_origins(columns.iter().map(RequestedColumn::own_origin).collect());
        }
        Self {
            options,
            table,
            cycle_jobs: Vec::new(),
            timestamp: None,
            problems: Problems::default(),
            defaults: columns.iter().map(RequestedColumn::default).collect(),
            reported_keys: HashSet::new(),
            is_full: false,
            refusal: None,
            has_too_many_names: false,
            notes: BTreeSet::new(),
        }
    }

    /// Takes the jobs that were converted one after the other, if they are many: what is reported
    /// of a job may take more memory than its text.
    pub fn take_many(&mut self, converter: &mut JobConverter<'_>) {
        let output = &mut converter.output;
        if output.parts.len() + output.batch.rows() >= MAX_PENDING {
            self.append(output, 0);
            converter.clear_output();
        }
    }

    /// How many jobs were read, those that were skipped included.
    pub fn jobs_read(&self) -> usize {
        self.table.len() + self.problems.skipped()
    }

    /// Appends jobs, which begin on this line of the document.
    pub fn append(&mut self, jobs: &mut ConvertedJobs, first_line: usize) {
        let mut cycle_jobs = std::mem::take(&mut jobs.cycle).into_iter();
        for part in jobs.parts.drain(..) {
            let number = self.jobs_read() + 1;
            match part {
                Part::Rows(rows) => {
                    let batch = &jobs.batch;
                    let refused = self.table.append(batch, rows.clone(), &self.defaults);
                    // as many as rows, or none
                    for (row, cycle_job) in iter::zip(rows.clone(), &mut cycle_jobs) {
                        if refused.binary_search_by_key(&row, |(row, _)| *row).is_err() {
                            self.cycle_jobs.push(cycle_job);
                        }
                    }
                    for (row, problem) in refused {
                        let line = batch.line(row).map(|line| first_line + line);
                        self.report(line, batch.id(row), number + row - rows.start, problem);
                    }
                }
                Part::Problem { line, id, problem } => {
                    self.report(line.map(|line| first_line + line), &id, number, problem)
                }
                Part::TruncatedToZero {
                    resource,
                    id,
                    amount,
                } => {
                    self.table.record_truncated(&resource, &id, &amount);
                }
            }
        }
        for (name, kind) in jobs.undeclared.drain(..) {
            if self.table.undeclared_count() <= MAX_RESOURCES {
                self.table.record_undeclared(&name, kind);
            }
        }
        if let Some(what) = jobs.ambiguity.take() {
            let refusal = format!("is ambiguous: {what}");
            self.refusal.get_or_insert(refusal);
        }
        self.timestamp = jobs.timestamp;
        self.has_too_many_names |= jobs.has_too_many_names;
        self.notes.extend(&jobs.notes);
    }

    /// Reports a problem of a job, which is called by its number in the document if it has no id.
    fn report(&mut self, line: Option<usize>, id: &str, number: usize, mut problem: Problem) {
        if let Problem::UnknownKey { key, advice } = &mut problem {
            if self.reported_keys.len() >= MAX_KEYS || !self.reported_keys.insert(key.clone()) {
                return;
            }
            // a problem that is not listed needs no advice, and to look for similar names takes
            // longer than all else
            if self.problems.listed().len() < Problems::MAX_LISTED
                && let Some(similar) = self.options.schema.suggestions(key).into_iter().next()
            {
                *advice = format!("; did you mean `{similar}`?");
            }
        }
        let job = if id.is_empty() {
            format!("#{number}")
        } else {
            clipped(id).into_owned()
        };
        self.is_full |= problem == Problem::TooMany;
        let is_refused = matches!(
            problem,
            Problem::Repeated(_) | Problem::Duplicate | Problem::NotAJob(_)
        );
        let problem = JobProblem { line, job, problem };
        if is_refused && self.refusal.is_none() {
            // behind the last semicolon is what the problem does to a document that is not refused
            let problem = problem.to_string();
            let (fault, _) = problem.rsplit_once("; ").unwrap_or((&problem, ""));
            self.refusal = Some(format!("is ambiguous or damaged: {fault}"));
        }
        self.problems.push(problem);
    }

    /// Whether there are more jobs than a table can hold, or more resources.
    pub fn is_full(&self) -> bool {
        self.is_full || self.has_too_many_resources()
    }

    fn has_too_many_resources(&self) -> bool {
        self.has_too_many_names || self.table.undeclared_count() > MAX_RESOURCES
    }

    /// Finishes the table at the end of a document, after its last jobs.
    ///
    /// # Errors
    /// There are too many jobs or resources, or the document is damaged or ambiguous and the options
    /// are strict.
    pub fn finish(mut self, mut last: ConvertedJobs) -> Result<ParsedJobs, ReadErrorKind> {
        self.append(&mut last, 0);
        let refusal = if self.is_full {
            Some(format!(
                "contains more than {MAX_JOBS} jobs, the most that can be read; split it into several files"
            ))
        } else if self.has_too_many_resources() {
            Some(format!(
                "contains more than {MAX_RESOURCES} different resources, which no server has; check what wrote it"
            ))
        } else {
            self.refusal.take().filter(|_| self.options.strict)
        };
        if let Some(reason) = refusal {
            return Err(ReadErrorKind::Other(reason));
        }
        // only now, because the array of a subjob may follow it
        self.table.exclude_waiting_subjobs();
        if self.notes.contains(OF_PROCS) {
            self.notes.remove(OF_NODES);
        }
        let mut cycle_jobs = None;
        if self.options.cycle_jobs {
            cycle_jobs = Some(CycleJobs::new(self.cycle_jobs, self.timestamp));
        }
        Ok(ParsedJobs {
            table: self.table,
            cycle_jobs,
            problems: self.problems,
            notes: self.notes.into_iter().map(str::to_owned).collect(),
        })
    }
}
