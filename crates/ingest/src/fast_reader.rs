//! The fast reader of JSON: parses a job in place, or leaves it to the reference reader.
//!
//! Enters: the text of a job. Leaves: a row of a [`Batch`] with the same values, bit for bit, as the reference reader's;
//! or `None`, and the reference reader parses the job. Only that reader reports problems.

use job_sort_formula::jobs::{Batch, BatchRow, InputPrecedence, JobState, is_same_name};
use job_sort_formula::python::Value;
use job_sort_formula::schema::InputType;
use jsf_json::JsonScalar;
use jsf_openpbs::entity::EntityAttributes;
use jsf_openpbs::resource_amount::AmountSource;

use crate::attribute_values::{FormulaAmount, input, integer};
use crate::job_key::JobKey;
use crate::json_scanner::{Scalar, Scanner};
use crate::key_dispatch::{DispatchedKey, Index, KeyDispatch};
use crate::object_keys::{Next, ObjectKeys};
use crate::options::ReadOptions;
use crate::table_builder::MAX_ENTRIES;

/// An object of this many bytes may have more entries than a job may have.
const LONG: usize = MAX_ENTRIES * 5;
/// The most unknown keys that are skipped once they are reported.
const MAX_SKIPPED_UNKNOWN: usize = 256;

/// Parses jobs; the meaning of a key is looked up.
#[derive(Debug)]
pub(super) struct FastReader<'a> {
    options: &'a ReadOptions<'a>,
    source: AmountSource,
    dispatch: KeyDispatch<'a>,
    top: ObjectKeys<DispatchedKey>,
    resources: ObjectKeys<Option<Index>>,
    inputs: ObjectKeys<Index>,
    /// The kinds that undeclared names look like in the current job, if they did not before.
    new_kinds: Vec<(Index, InputType)>,
    /// The unknown keys of the current job that have a value and are not skipped yet.
    unknown: Vec<Index>,
    /// How many unknown keys are skipped.
    skipped_unknown: usize,
    /// The queue of the last job, and its priority.
    queue: (String, Option<i64>),
    /// Whether a job without `euser` has been left to the reference reader, which adds a note for the first one.
    has_seen_job_without_user: bool,
}

/// The attributes of a job that are not inputs.
#[derive(Debug, Default)]
struct JobAttributes<'d> {
    id: Option<&'d [u8]>,
    entity: Option<&'d str>,
    attributes: EntityAttributes<'d>,
    state: JobState,
    queued_at: Option<i64>,
    has_resources: bool,
    /// The keys that were read, a bit for each.
    given: u16,
}

impl<'a> FastReader<'a> {
    pub(super) fn new(options: &'a ReadOptions<'a>, source: AmountSource) -> Self {
        Self {
            options,
            source,
            dispatch: KeyDispatch::new(options, source),
            top: ObjectKeys::new(),
            resources: ObjectKeys::new(),
            inputs: ObjectKeys::new(),
            new_kinds: Vec::new(),
            unknown: Vec::new(),
            skipped_unknown: 0,
            queue: (String::new(), options.queue_priorities.get("").copied()),
            has_seen_job_without_user: false,
        }
    }

    /// How many columns a batch for this reader has.
    pub(super) fn column_count(&self) -> usize {
        self.dispatch.column_count()
    }

    /// Passes on the undeclared names that were read since the last call, with each kind that their amounts looked like.
    pub(super) fn take_undeclared(&mut self, each: impl FnMut(&str, InputType)) {
        self.dispatch.take_undeclared(each);
    }

    /// Reads a line with a native job, up to its end.
    pub(super) fn read_line(&mut self, scanner: &mut Scanner<'_>, batch: &mut Batch, line: u32) -> Option<()> {
        let start = scanner.at;
        let read = self.read_job(scanner, batch, JobAttributes::default()).and_then(|job| {
            scanner.space();
            let is_complete = scanner.is_at_end() && job.id.is_some() && scanner.at - start < LONG;
            (is_complete && !self.take_unknown_keys() && self.finish(&job, batch, line)).then_some(())
        });
        self.commit_or_abandon(read, batch)
    }

    /// Reads an entry of the jobs of qstat, up to its end.
    pub(super) fn read_entry(&mut self, scanner: &mut Scanner<'_>, batch: &mut Batch) -> Option<()> {
        let read = scanner
            .key()
            .and_then(|id| {
                self.read_job(scanner, batch, JobAttributes { id: Some(id.as_bytes()), ..Default::default() })
            })
            .and_then(|job| (job.has_resources && self.finish(&job, batch, 0)).then_some(()));
        self.commit_or_abandon(read, batch)
    }

    /// Returns whether the job has unknown keys that are still to be reported, which the reference reader does when it
    /// parses the job. Makes this reader skip these keys from now on, since all its other jobs come later in the document.
    fn take_unknown_keys(&mut self) -> bool {
        for &index in &self.unknown {
            let Some(key) = self.dispatch.unknown.get(index as usize) else { continue };
            if self.skipped_unknown < MAX_SKIPPED_UNKNOWN {
                self.top.redefine(key, DispatchedKey::UNUSED);
                self.skipped_unknown += 1;
            }
        }
        !self.unknown.is_empty()
    }

    /// Records the kinds of undeclared names in a job that was read, or removes the row of a job that was not read.
    fn commit_or_abandon(&mut self, read: Option<()>, batch: &mut Batch) -> Option<()> {
        match read {
            Some(()) => self.new_kinds.iter().for_each(|&(name, kind)| self.dispatch.record_undeclared(name, kind)),
            None => batch.abandon(),
        }
        self.new_kinds.clear();
        self.unknown.clear();
        read
    }

    #[inline]
    fn read_job<'d>(
        &mut self,
        scanner: &mut Scanner<'d>,
        batch: &mut Batch,
        mut job: JobAttributes<'d>,
    ) -> Option<JobAttributes<'d>> {
        scanner.take(b'{')?;
        let mut is_first = true;
        loop {
            let dispatch = &mut self.dispatch;
            let next = self.top.next(scanner, is_first, |name| dispatch.dispatch(name))?;
            let Next::Value(key) = next else { return Some(job) };
            is_first = false;
            match key.key {
                JobKey::Unused => scanner.skip_value()?,
                JobKey::Unknown => {
                    // A key whose value is null is not reported.
                    if scanner.peek() != b'n' {
                        self.unknown.push(key.index);
                    }
                    scanner.skip_value()?;
                }
                JobKey::Resource => self.read_amount(key.index, scanner, batch)?,
                JobKey::Special(_) => self.read_special(key.index, scanner, batch)?,
                JobKey::Inputs => {
                    job.note_given(key.key)?;
                    self.read_inputs(scanner, batch)?;
                }
                JobKey::Resources => {
                    job.note_given(key.key)?;
                    job.has_resources = true;
                    self.read_resources(scanner, batch)?;
                }
                key => job.read(key, scanner)?,
            }
        }
    }

    fn read_resources(&mut self, scanner: &mut Scanner<'_>, batch: &mut Batch) -> Option<()> {
        let start = scanner.at;
        scanner.take(b'{')?;
        let mut is_first = true;
        loop {
            let dispatch = &mut self.dispatch;
            match self.resources.next(scanner, is_first, |name| dispatch.add_resource(name))? {
                Next::End => return (scanner.at - start < LONG).then_some(()),
                Next::Value(None) => scanner.skip_value()?,
                Next::Value(Some(index)) => self.read_amount(index, scanner, batch)?,
            }
            is_first = false;
        }
    }

    fn read_inputs(&mut self, scanner: &mut Scanner<'_>, batch: &mut Batch) -> Option<()> {
        scanner.take(b'{')?;
        let mut is_first = true;
        loop {
            let dispatch = &mut self.dispatch;
            match self.inputs.next(scanner, is_first, |name| dispatch.add_input(name))? {
                Next::End => return Some(()),
                Next::Value(index) => self.read_input(index, scanner, batch)?,
            }
            is_first = false;
        }
    }

    /// Reads the amount of a resource.
    fn read_amount(&mut self, index: Index, scanner: &mut Scanner<'_>, batch: &mut Batch) -> Option<()> {
        let resource = self.dispatch.resources.get(index as usize)?;
        match scanner.scalar()? {
            Scalar::Small(amount) if resource.keeps_small_integers => {
                if let Some(column) = resource.plan.column {
                    batch.put_integer(column, InputPrecedence::Job, amount);
                }
                self.note_kind(resource.undeclared, InputType::Count);
                Some(())
            }
            Scalar::Null => resource.plan.column.is_none().then_some(()),
            other => other.with_scalar(|scalar| self.convert_amount(index, scalar, batch))?,
        }
    }

    /// Converts an amount as the reference reader does; `None` if that would report or exclude the job.
    fn convert_amount(&mut self, index: Index, scalar: &JsonScalar<'_>, batch: &mut Batch) -> Option<()> {
        let resource = *self.dispatch.resources.get(index as usize)?;
        let kind = resource.plan.kind(scalar);
        self.note_kind(resource.undeclared, kind);
        let Ok(amount) = self.options.numbers.amount(scalar.text()?, Some(kind), self.source) else {
            return (!kind.is_numeric()).then_some(());
        };
        let Some(column) = resource.plan.column else { return Some(()) };
        let amount = FormulaAmount::new(amount, scalar, self.options.numbers, self.source);
        if amount.is_shortened || amount.is_truncated_to_zero || amount.is_saturated {
            return None;
        }
        batch.put(column, InputPrecedence::Job, &amount.value)
    }

    /// Notes the kind that an undeclared name looks like.
    #[inline]
    fn note_kind(&mut self, undeclared: Option<Index>, kind: InputType) {
        if let Some(name) = undeclared
            && !self.dispatch.is_known_as(name, kind)
        {
            self.new_kinds.push((name, kind));
        }
    }

    /// Reads an input that is not a resource.
    #[inline]
    fn read_special(&mut self, index: Index, scanner: &mut Scanner<'_>, batch: &mut Batch) -> Option<()> {
        let scalar = scanner.scalar()?;
        let &(special, ref columns) = self.dispatch.special.get(index as usize)?;
        for &column in columns {
            match scalar {
                Scalar::Null => {}
                Scalar::Small(integer) if !special.is_ratio() => {
                    batch.put_integer(column, InputPrecedence::Job, integer);
                }
                other => {
                    let value = other.with_scalar(|scalar| special.value(scalar, self.options.numbers).ok())??;
                    batch.put(column, InputPrecedence::Job, &value)?;
                }
            }
        }
        Some(())
    }

    /// Reads a ready-made input.
    fn read_input(&mut self, index: Index, scanner: &mut Scanner<'_>, batch: &mut Batch) -> Option<()> {
        let plan = self.dispatch.inputs.get(index as usize)?;
        let value = match scanner.scalar()? {
            Scalar::Small(integer) => Value::Int(i64::from(integer)),
            Scalar::Null => return plan.columns.is_empty().then_some(()),
            other => other.with_scalar(input)??,
        };
        for &(column, precedence) in &plan.columns {
            batch.put(column, precedence, &value)?;
        }
        let kind = if matches!(value, Value::Float(_)) { InputType::Float } else { InputType::Count };
        self.note_kind(plan.undeclared, kind);
        Some(())
    }

    /// Ends the row of a job. Returns whether its names fit a row.
    fn finish(&mut self, job: &JobAttributes<'_>, batch: &mut Batch, line: u32) -> bool {
        let queue = job.attributes.queue;
        if let Some(column) = self.dispatch.queue_priority {
            if !is_same_name(&self.queue.0, queue) {
                self.queue = (queue.to_owned(), self.options.queue_priorities.get(queue).copied());
            }
            let priority = self.queue.1.map(Value::Int);
            if priority.is_some_and(|priority| batch.put(column, InputPrecedence::Queue, &priority).is_none()) {
                return false;
            }
        }
        if job.attributes.takes_user_from_job_owner()
            && job.entity.is_none()
            && !std::mem::replace(&mut self.has_seen_job_without_user, true)
        {
            // the reference reader parses the first such job and notes it
            return false;
        }
        let derived;
        let entity = match job.entity {
            Some(entity) => entity,
            None => {
                derived = self.options.entity.entity_of(job.attributes);
                &derived
            }
        };
        batch.finish(BatchRow {
            id: job.id.unwrap_or_default(),
            entity,
            queue,
            state: job.state,
            queued_at: job.queued_at,
            line,
        })
    }
}

impl<'d> JobAttributes<'d> {
    /// Notes that a key was read; `None` if it was read before, which the reference reader reports.
    fn note_given(&mut self, key: JobKey) -> Option<()> {
        let bit = match key {
            JobKey::Id => 1,
            JobKey::Entity => 1 << 1,
            JobKey::User => 1 << 2,
            JobKey::Group => 1 << 3,
            JobKey::Account => 1 << 4,
            JobKey::Owner => 1 << 5,
            JobKey::Queue => 1 << 6,
            JobKey::State => 1 << 7,
            JobKey::QueuedAt => 1 << 8,
            JobKey::Resources => 1 << 9,
            JobKey::Inputs => 1 << 10,
            // the batch notes which columns are filled
            JobKey::Resource
            | JobKey::Special(_)
            | JobKey::Cycle(_)
            | JobKey::CycleList
            | JobKey::Unused
            | JobKey::Unknown => 0,
        };
        let is_new = self.given & bit == 0;
        self.given |= bit;
        is_new.then_some(())
    }

    /// Reads the value of an attribute.
    fn read(&mut self, key: JobKey, scanner: &mut Scanner<'d>) -> Option<()> {
        self.note_given(key)?;
        match key {
            JobKey::State => {
                let Scalar::String(letter) = scanner.scalar()? else { return None };
                self.state = JobState::from_letter(letter)?;
            }
            JobKey::QueuedAt => {
                self.queued_at = match scanner.scalar()? {
                    Scalar::Small(time) => Some(i64::from(time)),
                    Scalar::Null => return None,
                    other => other.with_scalar(integer)?,
                };
            }
            JobKey::Id => self.id = scanner.name_bytes()?.or(self.id),
            JobKey::Entity => self.entity = scanner.name()?.or(self.entity),
            JobKey::Queue => self.attributes.queue = scanner.name()?.unwrap_or(self.attributes.queue),
            JobKey::User => self.attributes.user = scanner.name()?.unwrap_or(self.attributes.user),
            JobKey::Group => self.attributes.group = scanner.name()?.unwrap_or(self.attributes.group),
            JobKey::Owner => self.attributes.submitter = scanner.name()?.unwrap_or(self.attributes.submitter),
            JobKey::Account => self.attributes.account = scanner.name()?.unwrap_or(self.attributes.account),
            _ => return None,
        }
        Some(())
    }
}
