//! Builds the table: converts the attributes of a job, whichever format they come from, into its row.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use job_sort_formula::jobs::{
    Batch, Exclusion, InputPrecedence, Job, JobProblem, JobState, JobTable, Problem, Problems,
};
use job_sort_formula::python::Value;
use job_sort_formula::schema::InputType;
use jsf_json::{JsonScalar, clipped};
use jsf_openpbs::entity::EntityAttributes;
use jsf_openpbs::requested_processors::of_nodes;
use jsf_openpbs::resource_amount::AmountSource;

use crate::attribute_values::{FormulaAmount, input, integer};
use crate::cycle_jobs::{CycleJobsBuilder, CycleKey};
use crate::error::ReadErrorKind;
use crate::job_key::{JobKey, SpecialInput};
use crate::options::{ParsedJobs, ReadOptions};
use crate::requested_columns::{RequestedColumns, ResourcePlan};

/// The most resources and the most inputs of a job.
pub(super) const MAX_ENTRIES: usize = 10_000;
/// The most problems of a job that are reported.
pub(super) const MAX_PROBLEMS: usize = 1000;
/// The most unknown keys that are told apart. Later ones are not reported.
const MAX_KEYS: usize = 10_000;
/// The most resources that the jobs may have together.
const MAX_RESOURCES: usize = 100_000;
const LAST_COUNTS: &str = "the last one counts";
const NO_EUSER: &str = "jobs lack `euser`, which qstat shows only to administrators; \
                        their user is `Job_Owner` up to the `@`";

const OF_NODES: &str = "jobs without `ncpus` have that of `nodes`: the nodes times `ppn`";
const OF_PROCS: &str =
    "jobs without `ncpus` have that of `nodes` (the nodes times `ppn`) or `procs`, whichever is larger";

/// The attributes of one job as its document has them.
#[derive(Debug, Default)]
pub(super) struct ParsedJob<'d> {
    pub id: Option<Cow<'d, str>>,
    /// The line of the document, if it has a job per line.
    pub line: Option<usize>,
    /// The entity, if the document names it; otherwise it is derived from the following attributes.
    pub entity: Option<Cow<'d, str>>,
    pub user: Cow<'d, str>,
    pub group: Cow<'d, str>,
    pub account: Cow<'d, str>,
    /// `Job_Owner`: the user and the host of the submission.
    pub owner: Cow<'d, str>,
    pub queue: Cow<'d, str>,
    pub state: Option<JsonScalar<'d>>,
    pub queued_at: Option<JsonScalar<'d>>,
    pub special: Vec<(SpecialInput, JsonScalar<'d>)>,
    /// Whether the job has a list of resources.
    pub has_resources: bool,
    pub resources: Vec<(Cow<'d, str>, JsonScalar<'d>)>,
    /// Ready-made inputs, which are passed on unchanged.
    pub inputs: Vec<(Cow<'d, str>, JsonScalar<'d>)>,
    /// What only a scheduling cycle needs, if it is read.
    pub cycle: Vec<(CycleKey, JsonScalar<'d>)>,
    pub problems: Vec<Problem>,
    pub is_rejected: bool,
    /// The keys that were given, and those that were given more than once.
    pub given: Vec<JobKey>,
    pub repeated: Vec<JobKey>,
}

impl<'d> ParsedJob<'d> {
    /// Notes that the document gives a key, other than that of a resource, and reports one that is given again.
    pub(super) fn note_given(&mut self, key: JobKey, name: &str) {
        if !self.given.contains(&key) {
            self.given.push(key);
        } else if !self.repeated.contains(&key) {
            self.repeated.push(key);
            let is_list = matches!(key, JobKey::Resources | JobKey::Inputs);
            let consequence = if is_list { "the lists are joined" } else { LAST_COUNTS };
            self.push_problem(Problem::Repeated { key: clipped(name).into_owned(), consequence });
        }
    }

    /// Sets the attribute `key`, which the document calls `name`.
    pub(super) fn set(&mut self, key: JobKey, name: Cow<'d, str>, scalar: JsonScalar<'d>) {
        if !matches!(key, JobKey::Resource | JobKey::Unused | JobKey::Unknown) {
            self.note_given(key, &name);
        }
        match key {
            JobKey::State => self.state = Some(scalar),
            JobKey::QueuedAt => self.queued_at = Some(scalar),
            JobKey::Special(special) => match self.special.iter_mut().find(|(given, _)| *given == special) {
                Some((_, given)) => *given = scalar,
                None => self.special.push((special, scalar)),
            },
            JobKey::Resource => push_entry(&mut self.resources, name, scalar),
            JobKey::Id
            | JobKey::Entity
            | JobKey::User
            | JobKey::Group
            | JobKey::Account
            | JobKey::Owner
            | JobKey::Queue => {
                self.set_name(key, &name, scalar);
            }
            JobKey::Cycle(key) => self.cycle.push((key, scalar)),
            JobKey::Resources | JobKey::Inputs | JobKey::CycleList | JobKey::Unused | JobKey::Unknown => {}
        }
    }

    fn set_name(&mut self, key: JobKey, attribute: &str, scalar: JsonScalar<'d>) {
        let text = match scalar {
            JsonScalar::String(text) => text,
            JsonScalar::Number(digits) => Cow::Borrowed(digits),
            JsonScalar::Other(found) => return self.report(attribute, found, "a string"),
        };
        if text.contains(char::REPLACEMENT_CHARACTER) {
            let what = format!("`{attribute}` contains bytes that are not UTF-8, which are replaced");
            self.push_problem(Problem::Repaired { what });
        }
        match key {
            JobKey::Id => self.id = Some(text),
            JobKey::Entity => self.entity = Some(text),
            JobKey::User => self.user = text,
            JobKey::Group => self.group = text,
            JobKey::Account => self.account = text,
            JobKey::Owner => self.owner = text,
            _ => self.queue = text,
        }
    }

    /// Reports an attribute that is not what it should be.
    pub(super) fn report(&mut self, attribute: &str, found: &str, expected: &'static str) {
        let attribute = attribute.to_owned();
        self.push_problem(Problem::Attribute { attribute, found: found.to_owned(), expected });
    }

    /// Adds a problem that does not reject the job, unless it has very many.
    pub(super) fn push_problem(&mut self, problem: Problem) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(problem);
        }
    }

    /// Reports an unknown key, unless the job has it again.
    pub(super) fn push_unknown_key(&mut self, key: &str, builder: &TableBuilder<'_>) {
        if self.problems.len() >= MAX_PROBLEMS {
            return;
        }
        for problem in &self.problems {
            if matches!(problem, Problem::UnknownKey { key: known, .. } if *known == clipped(key)) {
                return;
            }
        }
        self.problems.extend(builder.unknown_key(key));
    }

    /// Reports an attribute without which the job cannot be evaluated.
    pub(super) fn reject(&mut self, attribute: &str, found: &str, expected: &'static str) {
        if !std::mem::replace(&mut self.is_rejected, true) {
            let attribute = attribute.to_owned();
            self.problems.push(Problem::WrongInput { attribute, found: found.to_owned(), expected });
        }
    }
}

/// Adds an amount or an input of a job, unless there are already more than a job may have.
pub(super) fn push_entry<'d>(
    entries: &mut Vec<(Cow<'d, str>, JsonScalar<'d>)>,
    name: Cow<'d, str>,
    scalar: JsonScalar<'d>,
) {
    if entries.len() <= MAX_ENTRIES {
        entries.push((name, scalar));
    }
}

/// Builds a table job by job.
#[derive(Debug)]
pub(super) struct TableBuilder<'a> {
    options: &'a ReadOptions<'a>,
    source: AmountSource,
    table: JobTable,
    cycle_jobs: Option<CycleJobsBuilder>,
    problems: Problems,
    columns: RequestedColumns<'a>,
    resource_plans: HashMap<Box<str>, ResourcePlan>,
    /// What the formula gets from a job without any attribute.
    defaults: Vec<Value>,
    reported_keys: HashSet<String>,
    /// The row of the current job; `Err` has the default of a column that the job does not fill.
    row: Vec<Result<Value, Value>>,
    /// The sources of the values in `row`.
    sources: Vec<Option<InputPrecedence>>,
    is_full: bool,
    /// Why the document is refused if the options are strict.
    refusal: Option<ReadErrorKind>,
    /// Whether the user of any job was taken from its `Job_Owner`, because it has no `euser`.
    has_jobs_without_user: bool,
    /// Whether a job without `ncpus` has the processors of its `nodes`.
    takes_nodes: bool,
    has_jobs_with_nodes: bool,
    /// Whether one of these has `procs`.
    has_jobs_with_procs: bool,
}

impl<'a> TableBuilder<'a> {
    pub(super) fn new(options: &'a ReadOptions<'a>, source: AmountSource) -> Self {
        let columns = RequestedColumns::new(options);
        let mut table = JobTable::new(columns.names());
        if options.record_origins {
            table.record_origins(columns.own_origins());
        }
        Self {
            options,
            source,
            table,
            cycle_jobs: options.cycle_jobs.then(CycleJobsBuilder::default),
            problems: Problems::default(),
            defaults: columns.defaults(),
            columns,
            resource_plans: HashMap::new(),
            reported_keys: HashSet::new(),
            row: Vec::new(),
            sources: Vec::new(),
            is_full: false,
            refusal: None,
            has_jobs_without_user: false,
            takes_nodes: false,
            has_jobs_with_nodes: false,
            has_jobs_with_procs: false,
        }
    }

    /// Takes the processors of `nodes` and `procs` for those of a job without `ncpus`: Torque, which prints text only, has no
    /// other request; the server of OpenPBS sets both.
    #[must_use]
    pub(super) fn of_torque(mut self) -> Self {
        self.takes_nodes = true;
        self
    }

    /// How many jobs were read, those that were skipped included.
    pub(super) fn jobs_read(&self) -> usize {
        self.table.len() + self.problems.skipped()
    }

    /// What a key at the top of a job means. A special input that no column needs is unused.
    pub(super) fn job_key(&self, key: &str) -> JobKey {
        let is_cycle = self.cycle_jobs.is_some();
        match self.columns.job_key(key, self.source) {
            meaning @ JobKey::Special(SpecialInput::EligibleTime | SpecialInput::AccrueType) if is_cycle => meaning,
            JobKey::Special(special) if self.columns.filled_by(special).next().is_none() => JobKey::Unused,
            meaning if is_cycle => meaning.for_cycle(key),
            meaning => meaning,
        }
    }

    /// What a key in a list of a job means, other than in the list of resources.
    pub(super) fn listed_key(&self, list: &str, key: &str) -> JobKey {
        match &self.cycle_jobs {
            Some(_) if CycleKey::is_list(list) => JobKey::Unused.for_cycle(&format!("{list}.{key}")),
            _ => JobKey::Unused,
        }
    }

    /// Keeps the time at which the document was written.
    pub(super) fn set_timestamp(&mut self, scalar: Option<JsonScalar<'_>>) {
        if let Some(cycle_jobs) = &mut self.cycle_jobs {
            cycle_jobs.timestamp = scalar.as_ref().and_then(integer);
        }
    }

    /// The names of the columns.
    pub(super) fn column_names(&self) -> impl Iterator<Item = &'a str> {
        self.columns.names()
    }

    /// Whether a column gets the amounts of this resource.
    pub(super) fn needs_resource(&self, name: &str) -> bool {
        self.columns.index(name).is_some()
    }

    /// The problem of an unknown key, unless it was reported before: to look for similar names takes longer than all
    /// else about a job.
    pub(super) fn unknown_key(&self, key: &str) -> Option<Problem> {
        let clipped = clipped(key);
        if self.reported_keys.len() >= MAX_KEYS || self.reported_keys.contains(&*clipped) {
            return None;
        }
        // a problem that is not listed needs no advice
        let is_listed = self.problems.listed().len() < Problems::MAX_LISTED;
        let schema = Some(self.options.schema).filter(|_| is_listed);
        let advice = match schema.and_then(|schema| schema.suggestions(key).into_iter().next()) {
            Some(similar) => format!("; did you mean `{similar}`?"),
            None => String::new(),
        };
        Some(Problem::UnknownKey { key: clipped.into_owned(), advice })
    }

    /// Reports a problem of a job.
    pub(super) fn report(&mut self, line: Option<usize>, id: &str, problem: Problem) {
        if let Problem::UnknownKey { key, .. } = &problem
            && !self.reported_keys.insert(key.clone())
        {
            return;
        }
        let job = if id.is_empty() { format!("#{}", self.jobs_read() + 1) } else { clipped(id).into_owned() };
        match &problem {
            Problem::Repeated { key, .. } => self.note_ambiguity(|| format!("job `{job}` has `{key}` more than once")),
            Problem::Duplicate => self.note_ambiguity(|| format!("it has job `{job}` more than once")),
            Problem::NotAJob { found, .. } => {
                self.refusal.get_or_insert_with(|| {
                    let place = line.map_or_else(String::new, |line| format!("line {line}, "));
                    ReadErrorKind::Damaged { what: format!("{place}job `{job}`: {found}") }
                });
            }
            _ => {}
        }
        self.problems.push(JobProblem { line, job, problem });
    }

    /// Notes what is given more than once, which is an error if the options are strict.
    pub(super) fn note_ambiguity(&mut self, what: impl FnOnce() -> String) {
        self.refusal.get_or_insert_with(|| ReadErrorKind::Ambiguous { what: what() });
    }

    /// Adds a job.
    pub(super) fn push(&mut self, mut job: ParsedJob<'_>) {
        let id = job.id.take().unwrap_or_default();
        if self.source == AmountSource::Server && !job.has_resources {
            job.problems.push(Problem::NoResources);
        }
        if self.takes_nodes {
            self.add_processors_of_nodes(&mut job);
        }
        if job.resources.len().max(job.inputs.len()) > MAX_ENTRIES {
            let reason = format!("the job has more than {MAX_ENTRIES} resources or inputs");
            job.problems.push(Problem::Unreadable { reason });
        }
        let (rejections, problems): (Vec<_>, Vec<_>) =
            std::mem::take(&mut job.problems).into_iter().partition(Problem::skips_the_job);
        problems.into_iter().for_each(|problem| self.report(job.line, &id, problem));
        if let Some(problem) = rejections.into_iter().next() {
            return self.report(job.line, &id, problem);
        }
        let mut row = RowBuilder { builder: self, job: &job, id: &id };
        let state = row.state();
        let queued_at = job.queued_at.as_ref().and_then(integer);
        row.clear();
        let wrong_special = row.fill_special();
        let unreadable = row.fill_resources();
        let wrong_input = row.fill_inputs();
        if let Some(problem) = wrong_special.or(wrong_input) {
            return self.report(job.line, &id, problem);
        }
        let exclusion = if state.is_over() { Some(Exclusion::Over(state)) } else { unreadable };
        let attributes = EntityAttributes {
            user: &job.user,
            group: &job.group,
            account: &job.account,
            submitter: &job.owner,
            queue: &job.queue,
        };
        self.has_jobs_without_user |=
            attributes.takes_user_from_job_owner() && job.entity.is_none() && self.options.entity.uses_user();
        let entity =
            job.entity.clone().unwrap_or_else(|| self.options.entity.entity_of(attributes).into_owned().into());
        let parsed = Job { id: &id, entity: &entity, queue: &job.queue, state, queued_at, exclusion };
        match self.table.push(&parsed, &self.row) {
            Ok(()) => {
                self.table.push_origins(&self.sources);
                if let Some(cycle_jobs) = &mut self.cycle_jobs {
                    cycle_jobs.push(&job, &id, &entity, self.source, self.options);
                }
            }
            Err(problem) => {
                self.is_full |= problem == Problem::TooMany;
                self.report(job.line, &id, problem);
            }
        }
    }

    /// Appends these rows of a batch. `line` is the line of the document on which the batch begins, if lines are
    /// counted.
    pub(super) fn append(&mut self, batch: &Batch, rows: Range<usize>, line: Option<usize>) {
        for (row, problem) in self.table.append(batch, rows, &self.defaults) {
            self.is_full |= problem == Problem::TooMany;
            self.report(line.map(|line| line + batch.line(row)), batch.id(row), problem);
        }
    }

    /// Whether there are more jobs than a table can hold, or more resources.
    pub(super) fn is_full(&self) -> bool {
        self.is_full || self.has_too_many_resources()
    }

    fn has_too_many_resources(&self) -> bool {
        self.table.undeclared_count() > MAX_RESOURCES
    }

    /// Records a name that no schema declares, with the kind that its amounts look like.
    pub(super) fn record_undeclared(&mut self, name: &str, kind: InputType) {
        if self.table.undeclared_count() <= MAX_RESOURCES {
            self.table.record_undeclared(name, kind);
        }
    }

    /// Finishes the table at the end of the document.
    ///
    /// # Errors
    /// [`ReadErrorKind::TooManyJobs`]; [`ReadErrorKind::Ambiguous`] or [`ReadErrorKind::Damaged`] if the options
    /// are strict.
    pub(super) fn finish(mut self) -> Result<ParsedJobs, ReadErrorKind> {
        if self.is_full {
            return Err(ReadErrorKind::TooManyJobs);
        }
        if self.has_too_many_resources() {
            return Err(ReadErrorKind::TooManyResources { most: MAX_RESOURCES });
        }
        if let Some(refusal) = self.refusal.filter(|_| self.options.strict) {
            return Err(refusal);
        }
        self.table.exclude_waiting_subjobs();
        let mut notes = Vec::new();
        if self.has_jobs_without_user {
            notes.push(NO_EUSER.to_owned());
        }
        if self.has_jobs_with_procs {
            notes.push(OF_PROCS.to_owned());
        } else if self.has_jobs_with_nodes {
            notes.push(OF_NODES.to_owned());
        }
        let cycle_jobs = self.cycle_jobs.map(CycleJobsBuilder::finish);
        Ok(ParsedJobs { table: self.table, cycle_jobs, problems: self.problems, notes })
    }

    fn add_processors_of_nodes(&mut self, job: &mut ParsedJob<'_>) {
        if job.resources.iter().any(|(resource, _)| resource == "ncpus") {
            return;
        }
        let of_procs =
            requested_text(job, "procs").and_then(|procs| procs.parse::<i64>().ok()).filter(|procs| *procs > 0);
        if let Some(processors) = requested_text(job, "nodes").and_then(of_nodes).max(of_procs) {
            let is_needed = self.needs_resource("ncpus") || self.cycle_jobs.is_some();
            self.has_jobs_with_nodes |= is_needed;
            self.has_jobs_with_procs |= is_needed && of_procs.is_some();
            job.resources.push((Cow::Borrowed("ncpus"), JsonScalar::String(Cow::Owned(processors.to_string()))));
        }
    }

    fn resource_plan(&mut self, name: &str) -> ResourcePlan {
        if let Some(&plan) = self.resource_plans.get(name) {
            return plan;
        }
        let plan = self.columns.resource_plan(name);
        if self.resource_plans.len() < MAX_RESOURCES {
            self.resource_plans.insert(name.into(), plan);
        }
        plan
    }
}

/// Fills the row of one job.
struct RowBuilder<'b, 'a, 'j> {
    builder: &'b mut TableBuilder<'a>,
    job: &'j ParsedJob<'j>,
    id: &'j str,
}

impl RowBuilder<'_, '_, '_> {
    /// Fills every column with its default.
    fn clear(&mut self) {
        self.builder.row.clear();
        self.builder.row.extend(self.builder.defaults.iter().cloned().map(Err));
        self.builder.sources.clear();
        self.builder.sources.resize(self.builder.defaults.len(), None);
    }

    fn set(&mut self, column: usize, source: InputPrecedence, value: Value) {
        self.builder.row[column] = Ok(value);
        self.builder.sources[column] = Some(source);
    }

    fn state(&mut self) -> JobState {
        let job = self.job;
        let Some(scalar) = &job.state else { return JobState::default() };
        scalar.text().and_then(JobState::from_letter).unwrap_or_else(|| {
            self.report("job_state", scalar, "a letter such as `Q`, `H` or `R`");
            JobState::Unknown
        })
    }

    fn report(&mut self, attribute: &str, scalar: &JsonScalar<'_>, expected: &'static str) {
        let attribute = attribute.to_owned();
        self.builder.report(self.job.line, self.id, Problem::Attribute { attribute, found: scalar.found(), expected });
    }

    /// Fills the columns of the inputs that are not resources; returns the first one that has no value.
    fn fill_special(&mut self) -> Option<Problem> {
        if let Some(index) = self.builder.columns.index("queue_priority")
            && let Some(&priority) = self.builder.options.queue_priorities.get(&*self.job.queue)
        {
            self.set(index, InputPrecedence::Queue, Value::Int(priority));
        }
        let mut wrong = None;
        for &(special, ref scalar) in &self.job.special {
            let columns: Vec<_> = self.builder.columns.filled_by(special).collect();
            for (index, name) in columns {
                match special.value(scalar, self.builder.options.numbers) {
                    Ok(value) => self.set(index, InputPrecedence::Job, value),
                    Err(expected) if wrong.is_none() => wrong = Some(wrong_input(name, scalar, expected)),
                    Err(_) => {}
                }
            }
        }
        wrong
    }

    /// Fills the columns of the resources; returns the first amount that the scheduler cannot read.
    fn fill_resources(&mut self) -> Option<Exclusion> {
        let mut unreadable = None;
        for (name, scalar) in &self.job.resources {
            let plan = self.builder.resource_plan(name);
            if plan.is_skipped {
                continue;
            }
            if scalar.is_null() {
                if plan.column.is_some() {
                    self.report(name, scalar, "an amount");
                }
                continue;
            }
            let text = scalar.text().unwrap_or("");
            let kind = plan.kind(scalar);
            if plan.declared.is_none() {
                self.builder.record_undeclared(name, kind);
            }
            match self.builder.options.numbers.amount(text, Some(kind), self.builder.source) {
                Ok(amount) => self.fill_amount(name, plan.column, scalar, amount),
                Err(_) if kind.is_numeric() && unreadable.is_none() => {
                    let found = scalar.text().map_or_else(|| scalar.found(), |text| clipped(text).into_owned());
                    unreadable = Some(Exclusion::Invalid { resource: name.to_string(), found });
                }
                Err(_) => {}
            }
        }
        unreadable
    }

    fn fill_amount(&mut self, name: &str, column: Option<usize>, scalar: &JsonScalar<'_>, amount: Value) {
        let Some(index) = column else { return };
        self.report_if_repeated(index, InputPrecedence::Job, name);
        let amount = FormulaAmount::new(amount, scalar, self.builder.options.numbers, self.builder.source);
        let found = scalar.text().unwrap_or("");
        if amount.is_shortened {
            let problem = Problem::Shortened { resource: name.to_owned(), found: found.to_owned() };
            self.builder.report(self.job.line, self.id, problem);
        }
        if amount.is_saturated {
            let taken = amount.value.repr();
            let problem = Problem::Saturated { resource: name.to_owned(), found: clipped(found).into_owned(), taken };
            self.builder.report(self.job.line, self.id, problem);
        }
        if amount.is_truncated_to_zero {
            self.builder.table.record_truncated(name, self.id, &clipped(found));
        }
        self.set(index, InputPrecedence::Job, amount.value);
    }

    /// Fills the columns of the ready-made inputs; returns the first one that is needed and has no value.
    fn fill_inputs(&mut self) -> Option<Problem> {
        let mut wrong = None;
        for (name, scalar) in &self.job.inputs {
            let Some(value) = input(scalar) else {
                let expected = "a number, \"inf\", \"-inf\" or \"nan\"";
                let is_needed = self.builder.columns.filled_by_input(name).next().is_some();
                match scalar.is_null() {
                    true if !is_needed => {}
                    false if is_needed => wrong = wrong.or_else(|| Some(wrong_input(name, scalar, expected))),
                    _ => self.report(name, scalar, expected),
                }
                continue;
            };
            if self.builder.options.schema.entry(name).is_none() {
                let kind = if matches!(value, Value::Float(_)) { InputType::Float } else { InputType::Count };
                self.builder.record_undeclared(name, kind);
            }
            let columns: Vec<_> = self.builder.columns.filled_by_input(name).collect();
            for (index, precedence) in columns {
                self.report_if_repeated(index, precedence, name);
                if self.builder.sources[index].is_none_or(|source| source <= precedence) {
                    self.set(index, precedence, value.clone());
                }
            }
        }
        wrong
    }

    /// Reports a key whose column an earlier one of the same precedence has filled.
    fn report_if_repeated(&mut self, column: usize, precedence: InputPrecedence, key: &str) {
        if self.builder.sources[column] == Some(precedence) {
            let problem = Problem::Repeated { key: clipped(key).into_owned(), consequence: LAST_COUNTS };
            self.builder.report(self.job.line, self.id, problem);
        }
    }
}

/// The problem of an input that a column needs and whose value cannot be read.
fn wrong_input(name: &str, scalar: &JsonScalar<'_>, expected: &'static str) -> Problem {
    Problem::WrongInput { attribute: name.to_owned(), found: scalar.found(), expected }
}

/// What a job requests of a resource, as text.
fn requested_text<'j>(job: &'j ParsedJob<'_>, name: &str) -> Option<&'j str> {
    job.resources.iter().find(|(resource, _)| resource == name)?.1.text()
}
