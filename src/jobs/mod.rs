//! The jobs of a queue as a table: one row per job, one column per input that a formula needs.
//!
//! Enters: one [`Job`] after another, with its inputs, or [`Batch`]es of them that threads have
//! read. Leaves: a [`JobTable`] whose [`Column`]s hold these inputs, with the ids, entities, queues
//! and states of the jobs, and what is said of single ones: problems, and why a job is excluded
//! from the evaluation. The jobs of a table may come, change and go. The crate `jsf-ingest` reads
//! them from documents.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use table_names::{Dictionary, Ids};

use crate::python::Value;
use crate::schema::InputType;

mod batch;
mod column;
mod problems;
mod table_names;

pub use batch::{Batch, BatchRow, InputPrecedence};
pub use column::{Column, InputOrigin};
pub use problems::{Exclusion, JobProblem, Problem, Problems};
pub use table_names::{FoundJobs, UnknownJob};

/// The most jobs in a table.
// row numbers are kept in 32 bits
pub const MAX_JOBS: usize = 10_000_000;
/// The most columns that a reader fills: the time for a job that has few of them grows with their
/// number.
pub const MAX_COLUMNS: usize = 2000;
/// The longest id, entity or queue name, in bytes.
pub const MAX_NAME: usize = 4096;
/// An unknown time of queueing: later than any other.
const UNKNOWN_TIME: i64 = i64::MAX;

/// A job without its inputs.
#[derive(Debug, Clone, Default)]
pub struct Job<'a> {
    /// The id, such as `12.vm` or `50[].vm`.
    pub id: &'a str,
    /// The fair-share entity that the job is charged to; empty if it has none.
    pub entity: &'a str,
    /// The queue; empty if it has none.
    pub queue: &'a str,
    /// The state.
    pub state: JobState,
    /// When the job was queued, in any unit that increases with time (`queue_rank`: microseconds).
    pub queued_at: Option<i64>,
    /// Why the job is not evaluated, if it is not.
    pub exclusion: Option<Exclusion>,
}

/// The jobs of a queue with the inputs that a formula needs: one row per job, in the order of the
/// document.
#[derive(Debug, Clone, Default)]
pub struct JobTable {
    ids: Ids,
    entities: Dictionary,
    queues: Dictionary,
    states: Vec<JobState>,
    /// Ends with the last job whose time is known.
    queued_at: Vec<i64>,
    // in the order of the rows, on which binary searches of `excluded_rows` rely
    exclusions: BTreeMap<u32, Exclusion>,
    columns: Vec<(Box<str>, Column)>,
    /// The index of each column.
    column_indices: HashMap<Box<str>, usize>,
    // sorted by name, the order in which they are reported
    undeclared: BTreeMap<Box<str>, InputType>,
    truncated: BTreeMap<Box<str>, TruncatedToZero>,
    /// By column: the origin of what the job itself has. `None` unless
    /// [`record_origins`](JobTable::record_origins) was called.
    own_origins: Option<Vec<InputOrigin>>,
}

/// Amounts of a resource that are not 0, but that the formula gets as 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TruncatedToZero {
    /// The number of jobs with such an amount.
    pub jobs: usize,
    /// The first of them.
    pub job: String,
    /// Its amount, as the document has it.
    pub amount: String,
}

impl JobTable {
    /// A table without jobs, with a column for each of these names.
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut table = Self::default();
        for name in names {
            if !table.column_indices.contains_key(name) {
                table
                    .column_indices
                    .insert(name.into(), table.columns.len());
                table.columns.push((name.into(), Column::new()));
            }
        }
        table
    }

    /// Appends a job. `inputs` has one entry per column, in their order: `Ok` for a value of the
    /// job, `Err` for the default that the formula gets otherwise. If there are fewer inputs than
    /// columns, the missing ones are the default integer
    /// 0. Infinities and NaN are taken as Python floats.
    ///
    /// # Errors
    /// Another job has the id, a name is longer than [`MAX_NAME`], there are more inputs than
    /// columns, or there are [`MAX_JOBS`] jobs. The table is then unchanged.
    pub fn push(&mut self, job: &Job<'_>, inputs: &[Result<Value, Value>]) -> Result<(), Problem> {
        if inputs.len() > self.columns.len() {
            return Err(Problem::SurplusInputs {
                found: inputs.len(),
                columns: self.columns.len(),
            });
        }
        let row = self.ids.len();
        // first, because the id decides whether the job is added at all
        self.admit([job.id, job.entity, job.queue])?;
        self.entities.push(job.entity);
        self.queues.push(job.queue);
        self.states.push(job.state);
        if let Some(time) = job.queued_at {
            self.queued_at.resize(row, UNKNOWN_TIME);
            self.queued_at.push(time);
        }
        if let Some(reason) = &job.exclusion {
            // it fits, since there are at most `MAX_JOBS`
            self.exclusions.insert(row as u32, reason.clone());
        }
        for (index, (_, column)) in self.columns.iter_mut().enumerate() {
            match inputs.get(index) {
                Some(input) => column.push(input.as_ref()),
                None => column.push(Err(&Value::Int(0))),
            }
        }
        Ok(())
    }

    /// Adds the id of a job with these names, the id, the entity and the queue, if the job can be
    /// added.
    fn admit(&mut self, names: [&str; 3]) -> Result<(), Problem> {
        for name in names {
            // a full table says that it is full, whatever the name is
            if name.len() > MAX_NAME && self.ids.len() < MAX_JOBS {
                return Err(Problem::LongName { bytes: name.len() });
            }
        }
        match self.ids.len() {
            MAX_JOBS.. => Err(Problem::TooMany),
            _ if self.ids.push(names[0]) => Ok(()),
            _ => Err(Problem::Duplicate),
        }
    }

    /// Appends rows of a batch; `defaults` has one entry per column. Returns the rows of the batch
    /// that are refused, and why.
    pub fn append(
        &mut self,
        batch: &Batch,
        rows: Range<usize>,
        defaults: &[Value],
    ) -> Vec<(usize, Problem)> {
        let mut refused = Vec::new();
        for row in rows.clone() {
            let names = [batch.id(row), batch.entities.at(row), batch.queues.at(row)];
            if let Err(problem) = self.admit(names) {
                refused.push((row, problem));
            }
        }
        // by the index of the batch: each name is looked up once
        let mut entities = vec![None; batch.entities.distinct().len()];
        let mut queues = vec![None; batch.queues.distinct().len()];
        let mut ends: Vec<usize> = refused.iter().map(|&(row, _)| row).collect();
        ends.push(rows.end);
        let mut start = rows.start;
        // runs between refused rows are appended at once
        for end in ends {
            self.entities
                .append(&batch.entities, start..end, &mut entities);
            self.queues.append(&batch.queues, start..end, &mut queues);
            self.append_states(batch, start..end);
            for (((_, column), input), default) in
                self.columns.iter_mut().zip(&batch.columns).zip(defaults)
            {
                column.extend(input, start..end, default);
            }
            start = end + 1;
        }
        refused
    }

    fn append_states(&mut self, batch: &Batch, rows: Range<usize>) {
        let states = &batch.states[rows.clone()];
        let first = self.states.len();
        self.states.extend_from_slice(states);
        if let Some(times) = batch.queued_at(rows.clone()) {
            self.queued_at.resize(first, UNKNOWN_TIME);
            self.queued_at.extend_from_slice(times);
        }
        // a batch may be appended in as many parts as it has rows
        let excluded = &batch.exclusions;
        let skipped = excluded.partition_point(|(row, _)| *row < rows.start);
        for (row, reason) in &excluded[skipped..] {
            if *row >= rows.end {
                break;
            }
            let row = first + row - rows.start;
            self.exclusions.insert(row as u32, reason.clone());
        }
    }

    /// Excludes the subjobs that have not begun and whose array is in the table: the scheduler
    /// considers the array.
    pub fn exclude_waiting_subjobs(&mut self) {
        for row in self.ids.bracketed() {
            let is_waiting = matches!(
                self.states[row],
                JobState::Queued | JobState::Held | JobState::Waiting
            );
            if is_waiting
                && let Some(array) = array_of(self.id(row))
                && self.row(&array).is_some()
            {
                self.exclude(row, Exclusion::Subjob);
            }
        }
    }

    /// Records where the inputs of the jobs that follow come from. `own` has, for each column, the
    /// origin of what the job itself has.
    pub fn record_origins(&mut self, own: Vec<InputOrigin>) {
        self.own_origins = Some(own);
    }

    /// Records the sources of the inputs of the row that was pushed last.
    pub fn push_origins(&mut self, sources: &[Option<InputPrecedence>]) {
        for ((_, column), source) in self.columns.iter_mut().zip(sources) {
            if let Some(source) = source {
                column.set_last_precedence(*source);
            }
        }
    }

    /// Where an input of a row comes from; `None` if that was not recorded.
    pub fn origin(&self, name: &str, row: usize) -> Option<InputOrigin> {
        let index = *self.column_indices.get(name)?;
        let own = *self.own_origins.as_ref()?.get(index)?;
        let column = &self.columns[index].1;
        if row >= self.len() {
            return None;
        }
        Some(InputOrigin::new(column.precedence(row), own))
    }

    /// Records a name that no schema declares, with the kind that its amounts look like. Different
    /// kinds make it a text.
    pub fn record_undeclared(&mut self, name: &str, kind: InputType) {
        let numbers = [InputType::Count, InputType::Float];
        match self.undeclared.get_mut(name) {
            None => _ = self.undeclared.insert(name.into(), kind),
            Some(known) if *known == kind => {}
            // whole amounts fit a float resource too
            Some(known) if numbers.contains(known) && numbers.contains(&kind) => {
                *known = InputType::Float;
            }
            Some(known) => *known = InputType::Text,
        }
    }

    /// How many names [`undeclared`](Self::undeclared) returns.
    pub fn undeclared_count(&self) -> usize {
        self.undeclared.len()
    }

    /// The resources of jobs that no schema declares, with the kind that their amounts look like.
    pub fn undeclared(&self) -> impl Iterator<Item = (&str, InputType)> {
        self.undeclared.iter().map(|(name, &kind)| (&**name, kind))
    }

    /// Records that a job's amount of a resource is not 0, but that the formula gets 0.
    pub fn record_truncated(&mut self, resource: &str, job: &str, amount: &str) {
        match self.truncated.get_mut(resource) {
            Some(truncated) => truncated.jobs += 1,
            None => {
                let truncated = TruncatedToZero {
                    jobs: 1,
                    job: job.to_owned(),
                    amount: amount.to_owned(),
                };
                self.truncated.insert(resource.into(), truncated);
            }
        }
    }

    /// The resources with amounts that were [truncated to 0](JobTable::record_truncated).
    pub fn truncated_amounts(&self) -> impl Iterator<Item = (&str, &TruncatedToZero)> {
        self.truncated
            .iter()
            .map(|(name, truncated)| (&**name, truncated))
    }

    /// Sets an input of every job that does not have it to the value of its entity: `values` has
    /// one for each of [`JobTable::entities`]. A job whose entity has none gets 0. A later call
    /// replaces what an earlier one has set. Does nothing without a column of this name.
    pub fn fill(&mut self, name: &str, values: &[Option<Value>]) {
        if let Some(&index) = self.column_indices.get(name) {
            self.columns[index].1.fill(&self.entities, values);
        }
    }

    /// The number of jobs, including the excluded ones.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are no jobs.
    pub fn is_empty(&self) -> bool {
        self.ids.len() == 0
    }

    /// The id of a row; `""` if there is no such row.
    pub fn id(&self, row: usize) -> &str {
        self.ids.id_at(row).unwrap_or("")
    }

    /// The row of a job.
    pub fn row(&self, id: &str) -> Option<usize> {
        self.ids.row_of(id)
    }

    /// The fair-share entity of a row; `""` if it has none.
    pub fn entity(&self, row: usize) -> &str {
        self.entities.at(row)
    }

    /// The index of a row's entity in [`JobTable::entities`].
    pub fn entity_index(&self, row: usize) -> usize {
        self.entities.index(row)
    }

    /// The distinct entities, in the order of their first jobs. An entity whose jobs have all been
    /// removed stays, so that the indices of the others do not change, until there are more than
    /// 4,096 entities and more than twice as many as jobs.
    pub fn entities(&self) -> &[Arc<str>] {
        self.entities.distinct()
    }

    /// Whether a job has each of [`JobTable::entities`].
    pub(crate) fn entities_have_jobs(&self) -> Vec<bool> {
        self.entities.are_used()
    }

    /// The queue of a row; `""` if it has none.
    pub fn queue(&self, row: usize) -> &str {
        self.queues.at(row)
    }

    /// The index of a row's queue in [`JobTable::queues`].
    pub fn queue_index(&self, row: usize) -> usize {
        self.queues.index(row)
    }

    /// The distinct queues, in the order of their first jobs.
    pub fn queues(&self) -> &[Arc<str>] {
        self.queues.distinct()
    }

    /// The state of a row.
    pub fn state(&self, row: usize) -> JobState {
        self.states.get(row).copied().unwrap_or_default()
    }

    /// Why a row is excluded from the evaluation, if it is.
    pub fn exclusion(&self, row: usize) -> Option<&Exclusion> {
        self.exclusions.get(&u32::try_from(row).ok()?)
    }

    /// Excludes a row from the evaluation, unless it is excluded already or the table has no such
    /// row.
    pub fn exclude(&mut self, row: usize, reason: Exclusion) {
        if row < self.len() {
            self.exclusions.entry(row as u32).or_insert(reason);
        }
    }

    /// The rows that are excluded from the evaluation, ascending.
    pub fn excluded_rows(&self) -> impl Iterator<Item = u32> {
        self.exclusions.keys().copied()
    }

    /// Whether the scheduler tries to run the job: it is not excluded, and its state allows it.
    pub fn is_considered(&self, row: usize) -> bool {
        row < self.len() && self.state(row).is_considered() && self.exclusion(row).is_none()
    }

    /// The rows of the jobs that [`JobTable::is_considered`], ascending.
    pub fn considered_rows(&self) -> impl Iterator<Item = usize> {
        (0..self.len()).filter(|&row| self.is_considered(row))
    }

    /// The key by which jobs of equal value are ordered, ascending: the time of queueing, if it is
    /// known, then the row.
    pub fn submit_order(&self, row: usize) -> (i64, usize) {
        let time = self.queued_at.get(row).copied();
        (time.unwrap_or(UNKNOWN_TIME), row)
    }

    /// When each job was queued, by row, in the unit of [`Job::queued_at`]. Ends with the last job
    /// whose time is known; the time of an earlier job that is not known is `i64::MAX`: it comes
    /// last among jobs of equal value.
    pub fn queue_times(&self) -> &[i64] {
        &self.queued_at
    }

    /// Sorts rows by [submit order](JobTable::submit_order).
    pub fn sort_by_submit_order(&self, rows: &mut [usize]) {
        rows.sort_by_key(|&row| self.submit_order(row))
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&Column> {
        let &index = self.column_indices.get(name)?;
        Some(&self.columns[index].1)
    }

    /// The columns with their names, in the order in which they were requested.
    pub fn columns(&self) -> impl Iterator<Item = (&str, &Column)> {
        self.columns.iter().map(|(name, column)| (&**name, column))
    }
}

/// The array that a subjob belongs to: `50[].vm` for `50[3].vm`.
fn array_of(id: &str) -> Option<String> {
    let (sequence, index_and_server) = id.split_once('[')?;
    let (index, server) = index_and_server.split_once(']')?;
    // `50[].vm` is the array itself
    if index.is_empty() {
        return None;
    }
    Some(format!("{sequence}[]{server}"))
}

/// Why a table was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TableError(String);

/// A queue that lives: jobs are [pushed](JobTable::push) when they arrive, and removed when they
/// leave. The rows stay in the order in which the jobs arrived; a removal closes the gaps, so that
/// later rows get new numbers. A removal takes time in proportion to the table, therefore remove
/// the jobs of one cycle together.
///
/// ```
/// use job_sort_formula::jobs::{Job, JobTable};
/// use job_sort_formula::Value;
///
/// let mut table = JobTable::new(["ncpus", "eligible_time"]);
/// for (id, ncpus) in [("1.vm", 4), ("2.vm", 8), ("3.vm", 16)] {
///     table.push(&Job { id, ..Job::default() }, &[Ok(Value::Int(ncpus))])?;
/// }
/// table.set(1, "ncpus", Value::Int(2))?;
/// table.remove(["1.vm"])?;
/// table.set_integers("eligible_time", &[60, 30])?;
/// assert_eq!((table.len(), table.id(0), table.row("3.vm")), (2, "2.vm", Some(1)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl JobTable {
    /// Sets an input of a job.
    ///
    /// # Errors
    /// There is no such row or column.
    pub fn set(&mut self, row: usize, name: &str, value: Value) -> Result<(), TableError> {
        self.check_row(row)?;
        self.column_mut(name)?.set(row, Ok(value));
        Ok(())
    }

    /// Sets an input of every job to Python integers, in the order of the rows.
    ///
    /// # Errors
    /// There is no such column, or not one integer for each job.
    pub fn set_integers(&mut self, name: &str, integers: &[i64]) -> Result<(), TableError> {
        let expected = self.len();
        let column = self.column_mut(name)?;
        if integers.len() != expected {
            return Err(TableError(format!(
                "{} values are given for the column `{name}`, expected {expected}, one for each job",
                integers.len()
            )));
        }
        column.clear();
        for &integer in integers {
            column.push(Ok(&Value::Int(integer)));
        }
        Ok(())
    }

    /// Sets the state of a job. An exclusion of the job stays.
    ///
    /// # Errors
    /// There is no such row.
    pub fn set_state(&mut self, row: usize, state: JobState) -> Result<(), TableError> {
        self.check_row(row)?;
        self.states[row] = state;
        Ok(())
    }

    /// Removes jobs.
    ///
    /// # Errors
    /// No job has one of the ids; no job is removed then.
    pub fn remove<'i>(&mut self, ids: impl IntoIterator<Item = &'i str>) -> Result<(), TableError> {
        // all ids are looked up before any row is removed
        let mut rows = Vec::new();
        for id in ids {
            let Some(row) = self.row(id) else {
                return Err(TableError(format!("no job of the table has the id `{id}`")));
            };
            rows.push(row);
        }
        self.remove_rows(rows)
    }

    /// Removes the jobs of these rows, such as those that [`Ranking::order`](crate::Ranking::order)
    /// lists first and that have been started. This is faster than by their ids.
    ///
    /// # Errors
    /// There is no such row; no job is removed then.
    pub fn remove_rows(&mut self, rows: impl IntoIterator<Item = usize>) -> Result<(), TableError> {
        let removed: Vec<usize> = rows.into_iter().collect();
        if let Some(&greatest) = removed.iter().max() {
            // if it exists, all do
            self.check_row(greatest)?;
            self.close_gaps(&removed);
        }
        Ok(())
    }

    /// Keeps the jobs in whose rows `is_kept` returns `true`.
    pub fn retain(&mut self, mut is_kept: impl FnMut(usize) -> bool) {
        let mut removed: Vec<usize> = (0..self.len()).collect();
        removed.retain(|&row| !is_kept(row));
        self.close_gaps(&removed);
    }

    /// Removes all jobs, and keeps the columns.
    pub fn clear(&mut self) {
        let columns = std::mem::take(&mut self.columns);
        // with all that was recorded of the jobs, such as undeclared resources
        *self = Self::new(columns.iter().map(|(name, _)| &**name));
    }

    fn close_gaps(&mut self, removed: &[usize]) {
        if removed.is_empty() {
            return;
        }
        let kept = KeptRows::new(removed, self.len());
        for (row, exclusion) in std::mem::take(&mut self.exclusions) {
            if let Some(new_row) = kept.new_row(row) {
                self.exclusions.insert(new_row, exclusion);
            }
        }
        self.ids.remove_rows(&kept);
        self.entities.remove_rows(&kept);
        self.queues.remove_rows(&kept);
        kept.retain_in(&mut self.states);
        kept.retain_in(&mut self.queued_at);
        for (_, column) in &mut self.columns {
            column.remove_rows(&kept);
        }
    }

    fn check_row(&self, row: usize) -> Result<(), TableError> {
        if row < self.len() {
            Ok(())
        } else {
            Err(TableError(format!(
                "the table has {} jobs, so that there is no row {row}",
                self.len()
            )))
        }
    }

    fn column_mut(&mut self, name: &str) -> Result<&mut Column, TableError> {
        if let Some(&index) = self.column_indices.get(name) {
            return Ok(&mut self.columns[index].1);
        }
        let mut columns = String::new();
        for (known, _) in &self.columns {
            columns += if columns.is_empty() { "`" } else { ", `" };
            columns += known;
            columns += "`";
        }
        if columns.is_empty() {
            columns += "none";
        }
        Err(TableError(format!(
            "the table has no column `{name}`; it has {columns}"
        )))
    }
}

/// The rows that a table keeps when others are removed.
struct KeptRows {
    /// The row of each old row after the removal; `None` if it is removed.
    new_rows: Vec<Option<u32>>,
}

impl KeptRows {
    /// All of `len` rows but `removed`.
    fn new(removed: &[usize], len: usize) -> Self {
        let mut is_kept = vec![true; len];
        for &row in removed {
            is_kept[row] = false;
        }
        let mut new_rows = Vec::with_capacity(len);
        let mut kept = 0;
        for is_kept in is_kept {
            new_rows.push(is_kept.then_some(kept));
            kept += u32::from(is_kept);
        }
        Self { new_rows }
    }

    /// The row after the removal; `None` if it is removed.
    fn new_row(&self, row: u32) -> Option<u32> {
        self.new_rows[row as usize]
    }

    /// Removes the items of the removed rows. There may be fewer items than rows.
    fn retain_in<T>(&self, items: &mut Vec<T>) {
        let mut new_rows = self.new_rows.iter();
        items.retain(|_| matches!(new_rows.next(), Some(Some(_))));
    }

    /// Removes the removed rows from a list of rows, and gives the others their new numbers.
    fn renumber<T>(&self, rows: &mut Vec<(u32, T)>) {
        rows.retain(|(row, _)| self.new_row(*row).is_some());
        for (row, _) in rows {
            // all rows that are left have a new number
            *row = self.new_row(*row).unwrap_or(*row);
        }
    }
}

/// The state of a job (`job_state`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum JobState {
    /// `Q`: queued.
    #[default]
    Queued,
    /// `H`: held.
    Held,
    /// `W`: waiting for its start time.
    Waiting,
    /// `R`: running.
    Running,
    /// `E`: exiting.
    Exiting,
    /// `S`: suspended by the server; may be resumed.
    Suspended,
    /// `U`: suspended because its workstation is in use.
    Parked,
    /// `B`: an array with a subjob that has begun; the others are queued.
    Begun,
    /// `T`: being moved to another location.
    Transit,
    /// `M`: moved to another server.
    Moved,
    /// `F`: finished.
    Finished,
    /// `X`: a subjob that has finished.
    Expired,
    /// `C`: completed, in Torque.
    Completed,
    /// `?`: a letter that no scheduler is known to use.
    Unknown,
}

/// The letters of the states in `job_state`.
const LETTERS: [(JobState, &str); 13] = [
    (JobState::Queued, "Q"),
    (JobState::Held, "H"),
    (JobState::Waiting, "W"),
    (JobState::Running, "R"),
    (JobState::Exiting, "E"),
    (JobState::Suspended, "S"),
    (JobState::Parked, "U"),
    (JobState::Begun, "B"),
    (JobState::Transit, "T"),
    (JobState::Moved, "M"),
    (JobState::Finished, "F"),
    (JobState::Expired, "X"),
    (JobState::Completed, "C"),
];

impl JobState {
    /// The state with this letter.
    pub fn from_letter(letter: &str) -> Option<Self> {
        let (state, _) = LETTERS.iter().find(|(_, known)| *known == letter)?;
        Some(*state)
    }

    /// The letter of `job_state`; `?` if it is unknown.
    pub fn letter(self) -> &'static str {
        match LETTERS.iter().find(|(state, _)| *state == self) {
            Some((_, letter)) => letter,
            None => "?",
        }
    }

    /// Whether the scheduler tries to run such a job. A held, waiting or running job is evaluated,
    /// but is not ranked.
    pub fn is_considered(self) -> bool {
        matches!(self, Self::Queued | Self::Suspended | Self::Begun)
    }

    /// Whether the job has finished or was moved to another server: the scheduler does not get it.
    pub fn is_over(self) -> bool {
        matches!(
            self,
            Self::Moved | Self::Finished | Self::Expired | Self::Completed
        )
    }
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
            let job = Job {
                id,
                entity,
                queue: "workq",
                state,
                ..Job::default()
            };
            table.push(&job, &[Ok(Value::Int(4))]).unwrap();
        }
        table
    }

    #[test]
    fn a_waiting_subjob_is_excluded_for_its_array() {
        let mut table = table();
        table.exclude_waiting_subjobs();
        assert_eq!(table.exclusion(2), Some(&Exclusion::Subjob));
        assert!(table.exclusion(1).is_none() && !table.is_considered(1) && table.is_considered(0));
        assert!(!table.is_considered(2) && !table.is_considered(99));
    }

    #[test]
    fn names_are_stored_once_and_ids_are_unique() {
        let mut table = table();
        assert_eq!(table.entities().len(), 2);
        assert_eq!(
            (table.entity(2), table.queue(2), table.entity(7)),
            ("Bob", "workq", "")
        );
        assert_eq!(
            table.push(
                &Job {
                    id: "50[].vm",
                    ..Job::default()
                },
                &[]
            ),
            Err(Problem::Duplicate)
        );
        assert_eq!(table.columns().count(), 2);
        assert_eq!((table.len(), table.row("50[1].vm")), (3, Some(2)));
        let long = "x".repeat(MAX_NAME + 1);
        assert_eq!(
            table.push(
                &Job {
                    id: &long,
                    ..Job::default()
                },
                &[]
            ),
            Err(Problem::LongName { bytes: 4097 })
        );
        let surplus = [const { Ok(Value::Int(1)) }; 3];
        let refused = table
            .push(
                &Job {
                    id: "51.vm",
                    ..Job::default()
                },
                &surplus,
            )
            .unwrap_err();
        assert_eq!(
            refused.to_string(),
            "3 inputs are given, but the table has 2 columns; the job is skipped"
        );
        assert_eq!((table.len(), table.row("51.vm")), (3, None));
    }

    #[test]
    fn different_kinds_make_a_text() {
        let mut table = table();
        table.record_undeclared("a", InputType::Count);
        table.record_undeclared("a", InputType::Float);
        table.record_undeclared("b", InputType::Count);
        table.record_undeclared("b", InputType::Size);
        assert_eq!(
            table.undeclared().collect::<Vec<_>>(),
            [("a", InputType::Float), ("b", InputType::Text)]
        );
    }

    #[test]
    fn kept_rows_close_up() {
        let removed_rows: [&[usize]; 5] = [&[0], &[9], &[2, 1, 0], &[3, 5, 6, 9], &[4, 4]];
        for removed in removed_rows {
            let kept = KeptRows::new(removed, 10);
            for len in [10, 7, 0] {
                let mut items: Vec<usize> = (0..len).collect();
                let mut expected = items.clone();
                expected.retain(|row| !removed.contains(row));
                kept.retain_in(&mut items);
                assert_eq!(items, expected, "{removed:?}");
            }
            let mut rows: Vec<(u32, u32)> = (0..10).map(|row| (row, row)).collect();
            kept.renumber(&mut rows);
            for (new_row, (renumbered, row)) in (0..).zip(rows) {
                assert_eq!((renumbered, kept.new_row(row)), (new_row, Some(new_row)));
            }
        }
    }
}
