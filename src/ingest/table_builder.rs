//! From the attributes of a job, wherever they were written, to its row of the table.

use std::collections::HashSet;
use std::ops::Range;

use crate::ingest::attribute_values::{input, whole};
use crate::ingest::options::{Attributes, ReadJobs, ReadOptions};
use crate::ingest::requested_columns::{Column, Seen, Wanted};
use crate::ingest::resource_plan::{Slot, Slots};
use crate::jobs::{Batch, Exclusion, Job, JobProblem, JobState, JobTable, Problem, Problems, ReadError};
use crate::json_visitor::{Token, clipped};
use crate::pbs::entity::Owner;
use crate::pbs::resource_amount::AmountSource;
use crate::python::Value;
use crate::schema::{InputType, current_name};

/// Fills a table, one job after another.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    options: &'a ReadOptions<'a>,
    source: AmountSource,
    table: JobTable,
    problems: Problems,
    wanted: Wanted<'a>,
    slots: Slots,
    /// What the formula sees of a job without any attribute.
    defaults: Vec<Result<Value, Value>>,
    reported_keys: HashSet<String>,
    row: Vec<Result<Value, Value>>,
    full: bool,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(options: &'a ReadOptions<'a>, source: AmountSource) -> Self {
        let wanted = Wanted::new(options);
        Self {
            options,
            source,
            table: JobTable::new(wanted.columns.iter().map(|&(name, _)| name)),
            problems: Problems::default(),
            defaults: wanted.columns.iter().map(|&(_, column)| Err(column.default())).collect(),
            wanted,
            slots: Slots::default(),
            reported_keys: HashSet::new(),
            row: Vec::new(),
            full: false,
        }
    }

    /// How many jobs were read, those with problems included.
    pub(crate) fn jobs_read(&self) -> usize {
        self.table.len() + self.problems.skipped()
    }

    /// Whether the formula needs this name.
    pub(crate) fn needs(&self, name: &str) -> bool {
        self.wanted.needs(name)
    }

    /// Whether this is a resource, by the schema or because the formula needs it.
    pub(crate) fn is_resource(&self, name: &str) -> bool {
        self.wanted.is_resource(name, self.options)
    }

    /// Reports a problem of a job that never became one.
    pub(crate) fn report(&mut self, line: Option<usize>, job: &str, problem: Problem) {
        if let Problem::UnknownKey { key, .. } = &problem
            && !self.reported_keys.insert(key.clone())
        {
            return;
        }
        let job = if job.is_empty() { format!("#{}", self.jobs_read() + 1) } else { clipped(job).into_owned() };
        self.problems.push(JobProblem { line, job, problem });
    }

    /// Adds a job.
    pub(crate) fn push(&mut self, mut job: Attributes<'_>) {
        for problem in std::mem::take(&mut job.problems) {
            self.report(job.line, &job.id, problem);
        }
        let state = self.state(&job);
        let queued_at = job.queued_at.as_ref().and_then(whole);
        self.row.clone_from(&self.defaults);
        self.take_special(&job);
        let unreadable = self.take_resources(&job);
        self.take_inputs(&job);
        let exclusion = if state.is_over() { Some(Exclusion::Over(state)) } else { unreadable };
        let owner = Owner { user: &job.user, group: &job.group, account: &job.account, queue: &job.queue };
        let entity = job.entity.clone().unwrap_or_else(|| self.options.entity.of(owner).into_owned().into());
        let row = Job { id: &job.id, entity: &entity, queue: &job.queue, state, queued_at, exclusion };
        if let Err(problem) = self.table.push(&row, &self.row) {
            self.full |= problem == Problem::TooMany;
            self.report(job.line, &job.id, problem);
        }
    }

    /// Adds the jobs of a batch that stand in these rows of it; `line` is the line of the document that it begins
    /// with, if that matters.
    pub(crate) fn join(&mut self, batch: &Batch, rows: Range<usize>, line: Option<usize>) {
        let defaults: Vec<_> = self.wanted.columns.iter().map(|&(_, column)| column.default()).collect();
        for (row, problem) in self.table.join(batch, rows, &defaults) {
            self.full |= problem == Problem::TooMany;
            self.report(line.map(|line| line + batch.line(row)), batch.id(row), problem);
        }
    }

    /// Whether this unknown key was reported; no other job's is.
    pub(crate) fn has_reported(&self, key: &str) -> bool {
        self.reported_keys.contains(key)
    }

    /// Whether there are more jobs than a table takes.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    /// Records a name that no schema declares, with the kind that its amounts look like.
    pub(crate) fn record_undeclared(&mut self, name: &str, kind: InputType) {
        self.table.record_undeclared(name, kind);
    }

    /// The table, when the document is at its end.
    pub(crate) fn finish(mut self) -> Result<ReadJobs, ReadError> {
        if self.full {
            let source_name = self.options.source_name.to_owned();
            return Err(ReadError::TooManyJobs { source_name, most: crate::jobs::MAX_JOBS });
        }
        self.table.exclude_waiting_subjobs();
        Ok(ReadJobs { table: self.table, problems: self.problems })
    }

    fn state(&mut self, job: &Attributes<'_>) -> JobState {
        let Some(token) = &job.state else { return JobState::default() };
        token.text().and_then(JobState::from_letter).unwrap_or_else(|| {
            self.bad(job, "job_state", token, "a letter such as `Q`, `H` or `R`");
            JobState::default()
        })
    }

    fn bad(&mut self, job: &Attributes<'_>, attribute: &str, token: &Token<'_>, expected: &'static str) {
        let attribute = attribute.to_owned();
        self.report(job.line, &job.id, Problem::Attribute { attribute, found: token.found(), expected });
    }

    fn take_special(&mut self, job: &Attributes<'_>) {
        if let Some(index) = self.wanted.place("queue_priority")
            && let Some(priority) = self.options.queues.priority(&job.queue)
        {
            self.row[index] = Ok(Value::Int(priority));
        }
        for (special, token) in &job.special {
            let columns: Vec<_> = self.wanted.special(special).collect();
            for (index, name, column) in columns {
                match column.value(token, self.options.numbers) {
                    Ok(value) => self.row[index] = Ok(value),
                    Err(expected) => self.bad(job, name, token, expected),
                }
            }
        }
    }

    /// Fills in the resources, and says which one the scheduler cannot read, if any.
    fn take_resources(&mut self, job: &Attributes<'_>) -> Option<Exclusion> {
        let mut unreadable = None;
        self.slots.rewind();
        for (name, token) in &job.resources {
            let slot = self.slots.of(name, || {
                Slot::new(name, self.options.schema, self.wanted.place(name), Column::of(name) == Column::Resource)
            });
            if slot.is_skipped {
                continue;
            }
            let (text, kind) = (token.text().unwrap_or(""), slot.kind(token));
            if slot.declared.is_none() {
                self.table.record_undeclared(name, kind);
            }
            match self.options.numbers.amount(text, Some(kind), self.source) {
                Ok(amount) => self.take_amount(job, (name, slot), token, amount),
                Err(_) if kind.is_numeric() && unreadable.is_none() => {
                    let found = token.text().map_or_else(|| token.found(), |text| clipped(text).into_owned());
                    unreadable = Some(Exclusion::Invalid { resource: name.to_string(), found });
                }
                Err(_) => {}
            }
        }
        unreadable
    }

    fn take_amount(&mut self, job: &Attributes<'_>, (name, slot): (&str, Slot), token: &Token<'_>, amount: Value) {
        let Some(index) = slot.column else { return };
        let seen = Seen::of(amount, token, self.options.numbers, self.source);
        let written = clipped(token.text().unwrap_or(""));
        if seen.is_shortened {
            let problem =
                Problem::Shortened { resource: name.to_owned(), found: token.text().unwrap_or("").to_owned() };
            self.report(job.line, &job.id, problem);
        }
        if seen.is_lost {
            self.table.record_truncated(name, &job.id, &written);
        }
        self.row[index] = Ok(seen.value);
    }

    fn take_inputs(&mut self, job: &Attributes<'_>) {
        for (name, token) in &job.inputs {
            let Some(value) = input(token) else {
                self.bad(job, name, token, "a number, \"inf\", \"-inf\" or \"nan\"");
                continue;
            };
            if self.options.schema.entry(name).is_none() {
                let kind = if matches!(value, Value::Float(_)) { InputType::Float } else { InputType::Count };
                self.table.record_undeclared(name, kind);
            }
            for (index, &(column, _)) in self.wanted.columns.iter().enumerate() {
                let is_old_name = column != &**name && current_name(column) == current_name(name);
                let already = job.inputs.iter().any(|(other, _)| &**other == column);
                if column == &**name || (is_old_name && !already) {
                    self.row[index] = Ok(value.clone());
                }
            }
        }
    }
}
