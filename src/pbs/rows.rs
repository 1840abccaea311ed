//! From the attributes of a job, wherever they were written, to its row of the table.

use std::collections::{HashMap, HashSet};

use super::entity::Owner;
use super::lax::{Token, clipped};
use super::numbers::{self, Writer};
use super::reading::{Attributes, ReadJobs, ReadOptions};
use super::slots::{Slot, Slots};
use super::tokens::{input, is_shortened, real, seconds, whole};
use crate::formula::number::Value;
use crate::jobs::{Ignored, Job, JobProblem, JobState, JobTable, Problem, Problems, ReadError};
use crate::schema::Kind;

/// How a column is filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Seconds,
    Whole,
    QueuePriority,
    Ratio,
    Resource,
}

impl Column {
    fn of(name: &str) -> Self {
        match name {
            "eligible_time" => Self::Seconds,
            "accrue_type" | "job_priority" => Self::Whole,
            "queue_priority" => Self::QueuePriority,
            _ if is_fairshare(name) => Self::Ratio,
            _ => Self::Resource,
        }
    }

    /// What the formula sees where a job does not have it.
    fn default(self) -> Value {
        if self == Self::Ratio { Value::Float(0.0) } else { Value::Int(0) }
    }
}

/// Whether a name stands for a fair-share number.
pub(crate) fn is_fairshare(name: &str) -> bool {
    matches!(name, "fairshare_perc" | "fair_share_perc" | "fairshare_tree_usage" | "fairshare_factor")
}

/// The current name for an old one.
fn current(name: &str) -> &str {
    if name == "fair_share_perc" { "fairshare_perc" } else { name }
}

/// Fills a table, one job after another.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    options: &'a ReadOptions<'a>,
    writer: Writer,
    table: JobTable,
    problems: Problems,
    columns: Vec<(&'a str, Column)>,
    places: HashMap<&'a str, usize>,
    slots: Slots,
    /// What the formula sees of a job without any attribute.
    defaults: Vec<Result<Value, Value>>,
    reported_keys: HashSet<String>,
    row: Vec<Result<Value, Value>>,
    full: bool,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(options: &'a ReadOptions<'a>, writer: Writer) -> Self {
        let mut columns = Vec::new();
        let mut places = HashMap::new();
        for &name in options.needed {
            places.entry(name).or_insert_with(|| {
                columns.push((name, Column::of(name)));
                columns.len() - 1
            });
        }
        Self {
            options,
            writer,
            table: JobTable::new(columns.iter().map(|&(name, _)| name)),
            problems: Problems::default(),
            defaults: columns.iter().map(|&(_, column)| Err(column.default())).collect(),
            columns,
            places,
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
        self.places.contains_key(name) || (name == "fairshare_perc" && self.places.contains_key("fair_share_perc"))
    }

    /// Whether this is a resource, by the schema or because the formula needs it.
    pub(crate) fn is_resource(&self, name: &str) -> bool {
        Column::of(name) == Column::Resource && (self.options.schema.entry(name).is_some() || self.needs(name))
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
        let ignored = if state.is_over() { Some(Ignored::Over(state)) } else { unreadable };
        let owner = Owner { user: &job.user, group: &job.group, account: &job.account, queue: &job.queue };
        let entity = job.entity.clone().unwrap_or_else(|| self.options.entity.of(owner).into_owned().into());
        let row = Job { id: &job.id, entity: &entity, queue: &job.queue, state, queued_at, ignored };
        if let Err(problem) = self.table.push(&row, &self.row) {
            self.full |= problem == Problem::TooMany;
            self.report(job.line, &job.id, problem);
        }
    }

    /// The table, when the document is at its end.
    pub(crate) fn finish(mut self) -> Result<ReadJobs, ReadError> {
        if self.full {
            let source_name = self.options.source_name.to_owned();
            return Err(ReadError::TooManyJobs { source_name, most: crate::jobs::MAX_JOBS });
        }
        self.table.ignore_waiting_subjobs();
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
        if let Some(&index) = self.places.get("queue_priority")
            && let Some(priority) = self.options.queues.priority(&job.queue)
        {
            self.row[index] = Ok(Value::Int(priority));
        }
        for (special, token) in &job.special {
            for index in 0..self.columns.len() {
                let (name, column) = self.columns[index];
                if current(name) == current(special) {
                    match self.special(column, token) {
                        Ok(value) => self.row[index] = Ok(value),
                        Err(expected) => self.bad(job, name, token, expected),
                    }
                }
            }
        }
    }

    /// The value of a special name, or what was expected instead.
    fn special(&self, column: Column, token: &Token<'_>) -> Result<Value, &'static str> {
        match column {
            Column::Seconds => seconds(token).map(Value::Int).ok_or("`HH:MM:SS` or seconds"),
            Column::Ratio => match real(token) {
                Some(ratio) => Ok(self.options.numbers.fairshare(ratio)),
                None => Err("a number between 0 and 1"),
            },
            _ => whole(token).map(Value::Int).ok_or("a whole number"),
        }
    }

    /// Fills in the resources, and says which one the scheduler cannot read, if any.
    fn take_resources(&mut self, job: &Attributes<'_>) -> Option<Ignored> {
        let mut unreadable = None;
        self.slots.rewind();
        for (name, token) in &job.resources {
            let slot = self.slots.of(name, || {
                let column = self.places.get(&**name).copied();
                Slot::new(name, self.options.schema, column, Column::of(name) == Column::Resource)
            });
            if slot.is_skipped {
                continue;
            }
            let text = token.text().unwrap_or("");
            let kind = slot.declared.unwrap_or_else(|| numbers::looks(text, matches!(token, Token::Number(_))));
            if slot.declared.is_none() {
                self.table.saw_undeclared(name, kind);
            }
            match self.options.numbers.amount(text, Some(kind), self.writer) {
                Ok(amount) => self.take_amount(job, (name, slot), token, amount),
                Err(_) if kind.is_numeric() && unreadable.is_none() => {
                    let found = token.text().map_or_else(|| token.found(), |text| clipped(text).into_owned());
                    unreadable = Some(Ignored::Invalid { resource: name.to_string(), found });
                }
                Err(_) => {}
            }
        }
        unreadable
    }

    fn take_amount(&mut self, job: &Attributes<'_>, (name, slot): (&str, Slot), token: &Token<'_>, amount: Value) {
        let Some(index) = slot.column else { return };
        if let (Writer::Server, Token::Number(text)) = (self.writer, token)
            && is_shortened(text)
        {
            let problem = Problem::Shortened { resource: name.to_owned(), found: (*text).to_owned() };
            self.report(job.line, &job.id, problem);
        }
        let seen = self.options.numbers.resource(amount);
        if matches!(seen, Value::Int(0))
            && let Some(written) = token.text().filter(|_| real(token).is_some_and(|amount| amount != 0.0))
        {
            self.table.saw_lost(name, &job.id, &clipped(written));
        }
        self.row[index] = Ok(seen);
    }

    fn take_inputs(&mut self, job: &Attributes<'_>) {
        for (name, token) in &job.inputs {
            let Some(value) = input(token) else {
                self.bad(job, name, token, "a number, \"inf\", \"-inf\" or \"nan\"");
                continue;
            };
            if self.options.schema.entry(name).is_none() {
                let kind = if matches!(value, Value::Float(_)) { Kind::Float } else { Kind::Count };
                self.table.saw_undeclared(name, kind);
            }
            for (index, &(column, _)) in self.columns.iter().enumerate() {
                let is_old_name = column != &**name && current(column) == current(name);
                let already = job.inputs.iter().any(|(other, _)| &**other == column);
                if column == &**name || (is_old_name && !already) {
                    self.row[index] = Ok(value.clone());
                }
            }
        }
    }
}
