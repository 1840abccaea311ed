//! The table of jobs.

mod join;
mod submission;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::jobs::batch::UNKNOWN;
use crate::jobs::ids::Ids;
use crate::jobs::names::Names;
use crate::jobs::{Column, Exclusion, JobState, Problem};
use crate::python::Value;
use crate::schema::InputType;

/// The most jobs that a table takes.
pub const MAX_JOBS: usize = 10_000_000;
/// The longest id, entity or queue name, in bytes.
pub const MAX_NAME: usize = 4096;

/// What is known of a job besides its inputs.
#[derive(Debug, Clone, Default)]
pub struct Job<'a> {
    /// The id, such as `12.vm` or `50[].vm`.
    pub id: &'a str,
    /// The fair-share entity that the job is charged to; empty when the job names none.
    pub entity: &'a str,
    /// The queue; empty when the job names none.
    pub queue: &'a str,
    /// The state.
    pub state: JobState,
    /// When the job was queued, on any scale that grows with time (`queue_rank`, microseconds).
    pub queued_at: Option<i64>,
    /// Why the job is left out, if it is.
    pub exclusion: Option<Exclusion>,
}

/// The jobs of a queue with the inputs that a formula needs: one row per job, in the order of the document.
#[derive(Debug, Clone, Default)]
pub struct JobTable {
    ids: Ids,
    entities: Names,
    queues: Names,
    states: Vec<JobState>,
    /// When each job was queued; shorter than the table while no more is known.
    queued_at: Vec<i64>,
    exclusions: BTreeMap<u32, Exclusion>,
    columns: Vec<(Box<str>, Column)>,
    undeclared: BTreeMap<Box<str>, InputType>,
    lost: BTreeMap<Box<str>, TruncatedToZero>,
}

/// Amounts of a resource that are not 0 but reach the formula as 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TruncatedToZero {
    /// How many jobs have one.
    pub jobs: usize,
    /// The first of them.
    pub job: String,
    /// Its amount, as it was written.
    pub amount: String,
}

impl JobTable {
    /// A table without jobs, with a column for each of these names.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut columns: Vec<(Box<str>, Column)> = Vec::new();
        for name in names {
            if columns.iter().all(|(known, _)| **known != *name) {
                columns.push((name.into(), Column::new()));
            }
        }
        Self { columns, ..Self::default() }
    }

    /// Appends a job. `inputs` has one entry per column, in their order: `Ok` for what the job has itself,
    /// `Err` for the default that the formula sees otherwise; what is missing at its end is integer 0.
    ///
    /// # Errors
    /// The id is already there, a name is longer than [`MAX_NAME`], or there are [`MAX_JOBS`] jobs; the table
    /// is then unchanged.
    pub fn push(&mut self, job: &Job<'_>, inputs: &[Result<Value, Value>]) -> Result<(), Problem> {
        let row = self.ids.len();
        self.admit(job)?;
        self.entities.push(job.entity);
        self.queues.push(job.queue);
        self.states.push(job.state);
        self.queue_at(row, job.queued_at.unwrap_or(UNKNOWN));
        if let Some(reason) = &job.exclusion {
            self.exclusions.insert(row as u32, reason.clone());
        }
        for (index, (_, column)) in self.columns.iter_mut().enumerate() {
            match inputs.get(index) {
                Some(Ok(value)) => column.push(value.clone()),
                Some(Err(default)) => column.push_default(default.clone()),
                None => column.push_default(Value::Int(0)),
            }
        }
        Ok(())
    }

    fn admit(&mut self, job: &Job<'_>) -> Result<(), Problem> {
        if let Some(long) = [job.id, job.entity, job.queue].into_iter().find(|name| name.len() > MAX_NAME)
            && self.ids.len() < MAX_JOBS
        {
            return Err(Problem::LongName { bytes: long.len() });
        }
        self.admit_id(job.id)
    }

    fn admit_id(&mut self, id: &str) -> Result<(), Problem> {
        match self.ids.len() {
            MAX_JOBS.. => Err(Problem::TooMany),
            _ if self.ids.push(id) => Ok(()),
            _ => Err(Problem::Duplicate),
        }
    }

    /// Leaves out the subjobs that have not begun and whose array is here too: the scheduler sees the array.
    pub fn exclude_waiting_subjobs(&mut self) {
        for row in self.ids.bracketed() {
            let stands_for_itself = !matches!(self.states[row], JobState::Queued | JobState::Held | JobState::Waiting);
            if stands_for_itself || self.exclusions.contains_key(&(row as u32)) {
                continue;
            }
            if self.ids.at(row).and_then(array_of).is_some_and(|array| self.ids.row(&array).is_some()) {
                self.exclusions.insert(row as u32, Exclusion::Subjob);
            }
        }
    }

    /// Records a name that no schema declares, with the kind that its amounts look like. Looks that disagree
    /// make it a text.
    pub fn record_undeclared(&mut self, name: &str, kind: InputType) {
        match self.undeclared.get_mut(name) {
            None => {
                self.undeclared.insert(name.into(), kind);
            }
            Some(known) if *known == kind => {}
            Some(known) => {
                let numbers = [InputType::Count, InputType::Float];
                *known =
                    if numbers.contains(known) && numbers.contains(&kind) { InputType::Float } else { InputType::Text };
            }
        }
    }

    /// Names that jobs carry though no schema declares them, with the kind that they look like.
    pub fn undeclared(&self) -> impl Iterator<Item = (&str, InputType)> {
        self.undeclared.iter().map(|(name, &kind)| (&**name, kind))
    }

    /// Records that a job's amount of a resource is not 0 but reaches the formula as 0.
    pub fn record_truncated(&mut self, resource: &str, job: &str, amount: &str) {
        match self.lost.get_mut(resource) {
            Some(lost) => lost.jobs += 1,
            None => {
                let lost = TruncatedToZero { jobs: 1, job: job.to_owned(), amount: amount.to_owned() };
                self.lost.insert(resource.into(), lost);
            }
        }
    }

    /// The resources of which some amount was [lost](JobTable::record_truncated).
    pub fn truncated_amounts(&self) -> impl Iterator<Item = (&str, &TruncatedToZero)> {
        self.lost.iter().map(|(name, lost)| (&**name, lost))
    }

    /// Gives the rows that lack this input what `of` says for their entity (by its number among
    /// [`JobTable::entities`]). Without a column of this name nothing happens.
    pub fn fill(&mut self, name: &str, of: impl Fn(usize) -> Option<Value>) {
        let Some((_, column)) = self.columns.iter_mut().find(|(known, _)| **known == *name) else { return };
        let entities = &self.entities;
        *column = (0..column.len())
            .map(|row| match of(entities.index(row)) {
                Some(value) if !column.is_set(row) => Ok(value),
                _ if column.is_set(row) => Ok(column.value(row)),
                _ => Err(column.value(row)),
            })
            .collect();
    }

    /// How many jobs there are, those left out included.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there is no job.
    pub fn is_empty(&self) -> bool {
        self.ids.len() == 0
    }

    /// The id of a row, `""` if there is no such row.
    pub fn id(&self, row: usize) -> &str {
        self.ids.at(row).unwrap_or("")
    }

    /// Asks for the id, entity and queue of a row that will be needed soon.
    #[inline]
    pub(crate) fn names_ahead(&self, row: usize) {
        self.ids.ahead(row);
        self.entities.ahead(row);
        self.queues.ahead(row);
    }

    /// The least byte in all ids, entities and queues: found once, what sorts before it need not be looked for in each.
    pub fn least_byte_in_names(&self) -> Option<u8> {
        let names = self.entities().iter().chain(self.queues());
        names.flat_map(|name| name.bytes()).chain(self.ids.least_byte()).min()
    }

    /// The row of a job.
    pub fn row(&self, id: &str) -> Option<usize> {
        self.ids.row(id)
    }

    /// The fair-share entity of a row, `""` if it has none.
    pub fn entity(&self, row: usize) -> &str {
        self.entities.at(row)
    }

    /// The number of a row's entity among [`JobTable::entities`].
    pub fn entity_index(&self, row: usize) -> usize {
        self.entities.index(row)
    }

    /// Every entity once, in the order of its first job.
    pub fn entities(&self) -> &[Arc<str>] {
        self.entities.distinct()
    }

    /// The queue of a row, `""` if it has none.
    pub fn queue(&self, row: usize) -> &str {
        self.queues.at(row)
    }

    /// The number of a row's queue among [`JobTable::queues`].
    pub fn queue_index(&self, row: usize) -> usize {
        self.queues.index(row)
    }

    /// Every queue once, in the order of its first job.
    pub fn queues(&self) -> &[Arc<str>] {
        self.queues.distinct()
    }

    /// The state of a row.
    pub fn state(&self, row: usize) -> JobState {
        self.states.get(row).copied().unwrap_or_default()
    }

    /// Why a row is left out of the evaluation, if it is.
    pub fn exclusion(&self, row: usize) -> Option<&Exclusion> {
        self.exclusions.get(&u32::try_from(row).ok()?)
    }

    /// The rows that are left out of the evaluation, ascending.
    pub fn excluded_rows(&self) -> impl Iterator<Item = u32> {
        self.exclusions.keys().copied()
    }

    /// Whether the scheduler looks for a place to run the job: it is not left out and its state waits for that.
    pub fn is_considered(&self, row: usize) -> bool {
        row < self.len() && self.exclusion(row).is_none() && self.state(row).is_considered()
    }

    /// The column of a name, if the reader was asked for it.
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|(known, _)| **known == *name).map(|(_, column)| column)
    }

    /// Every column with its name, in the order in which they were asked for.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &Column)> {
        self.columns.iter().map(|(name, column)| (&**name, column))
    }
}

/// The array that a subjob belongs to: `50[].vm` for `50[3].vm`.
fn array_of(id: &str) -> Option<String> {
    let (sequence, rest) = id.split_once('[')?;
    let (index, server) = rest.split_once(']')?;
    (!index.is_empty()).then(|| format!("{sequence}[]{server}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> JobTable {
        let mut table = JobTable::new(["ncpus", "mem", "ncpus"]);
        for (id, entity, state) in [
            ("50[].vm", "Dana", JobState::Begun),
            ("50[0].vm", "Dana", JobState::Running),
            ("50[1].vm", "Bob", JobState::Queued),
        ] {
            let job = Job { id, entity, queue: "workq", state, ..Job::default() };
            table.push(&job, &[Ok(Value::Int(4))]).unwrap();
        }
        table
    }

    #[test]
    fn a_waiting_subjob_is_left_to_its_array() {
        let mut table = table();
        table.exclude_waiting_subjobs();
        assert_eq!(table.exclusion(2), Some(&Exclusion::Subjob));
        assert!(table.exclusion(1).is_none() && !table.is_considered(1) && table.is_considered(0));
        assert!(!table.is_considered(2) && !table.is_considered(99));
    }

    #[test]
    fn names_are_held_once_and_ids_are_unique() {
        let mut table = table();
        assert_eq!(table.entities().len(), 2);
        assert_eq!((table.entity(2), table.queue(2), table.entity(7)), ("Bob", "workq", ""));
        assert_eq!(table.push(&Job { id: "50[].vm", ..Job::default() }, &[]), Err(Problem::Duplicate));
        assert_eq!(table.columns().count(), 2);
        assert_eq!((table.len(), table.row("50[1].vm")), (3, Some(2)));
        let long = "x".repeat(MAX_NAME + 1);
        assert_eq!(table.push(&Job { id: &long, ..Job::default() }, &[]), Err(Problem::LongName { bytes: 4097 }));
    }

    #[test]
    fn looks_that_disagree_are_a_text() {
        let mut table = table();
        table.record_undeclared("a", InputType::Count);
        table.record_undeclared("a", InputType::Float);
        table.record_undeclared("b", InputType::Count);
        table.record_undeclared("b", InputType::Size);
        assert_eq!(table.undeclared().collect::<Vec<_>>(), [("a", InputType::Float), ("b", InputType::Text)]);
    }
}
