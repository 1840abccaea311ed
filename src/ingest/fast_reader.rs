//! The quick road: a job that is as plain as the others is read in place, any other is left to the general one.
//!
//! Enters: the text of a job. Leaves: a row of a [`Batch`] that is the same, bit for bit, as the general road's, or
//! `None`, whereupon the general road reads the job: it alone reports problems.

mod attributes;

use crate::ingest::attribute_values::input;
use crate::ingest::fast_reader::attributes::{Job, attribute};
use crate::ingest::json_scanner::{Scalar, Scanner};
use crate::ingest::key_dispatch::{Meaning, Meanings, Place};
use crate::ingest::key_predictor::{Keys, Next};
use crate::ingest::options::ReadOptions;
use crate::ingest::requested_columns::{Column, Seen};
use crate::ingest::skipped_objects::Idle;
use crate::jobs::{Batch, BatchRow, InputPrecedence, same};
use crate::json_visitor::Token;
use crate::pbs::resource_amount::AmountSource;
use crate::python::Value;
use crate::schema::InputType;

/// The most keys without a meaning that it is learnt to pass over.
const MOST_UNKNOWN: usize = 256;

/// Reads jobs, and remembers how they look.
#[derive(Debug)]
pub(crate) struct Quick<'a> {
    options: &'a ReadOptions<'a>,
    source: AmountSource,
    meanings: Meanings<'a>,
    top: Keys<Meaning>,
    resources: Keys<Option<Place>>,
    inputs: Keys<Place>,
    idle: Idle,
    /// What undeclared names look like in the job that is being read, if they did not before.
    fresh: Vec<(Place, InputType)>,
    /// The keys of the job that is being read that have a value and no meaning, and are not passed over.
    unknown: Vec<Place>,
    /// How many are passed over.
    passed_over: usize,
    /// The last queue, and its priority.
    queue: (String, Option<i64>),
}

impl<'a> Quick<'a> {
    pub(crate) fn new(options: &'a ReadOptions<'a>, source: AmountSource) -> Self {
        Self {
            options,
            source,
            meanings: Meanings::new(options, source),
            top: Keys::new(),
            resources: Keys::new(),
            inputs: Keys::new(),
            idle: Idle::default(),
            fresh: Vec::new(),
            unknown: Vec::new(),
            passed_over: 0,
            queue: (String::new(), options.queues.priority("")),
        }
    }

    /// How many columns a batch for this reader has.
    pub(crate) fn columns(&self) -> usize {
        self.meanings.columns()
    }

    /// Gives the undeclared names that were met since the last time, with each of the kinds that they looked like.
    pub(crate) fn take_undeclared(&mut self, each: impl FnMut(&str, InputType)) {
        self.meanings.take_undeclared(each);
    }

    /// Reads a line that holds a job of one's own writing, up to its end.
    pub(crate) fn read_line(&mut self, scan: &mut Scanner<'_>, batch: &mut Batch, line: u32) -> Option<()> {
        let read = self.job(scan, batch, Job::default()).and_then(|job| {
            scan.space();
            let is_whole = scan.is_at_end() && job.id.is_some();
            (is_whole && !self.has_unknown() && self.finish(&job, batch, line)).then_some(())
        });
        self.settle(read, batch)
    }

    /// Reads an entry of the jobs of qstat, up to its end.
    pub(crate) fn read_entry(&mut self, scan: &mut Scanner<'_>, batch: &mut Batch) -> Option<()> {
        let read = scan
            .key()
            .and_then(|id| self.job(scan, batch, Job { id: Some(id.as_bytes()), ..Job::default() }))
            .and_then(|job| (job.is_listed && self.finish(&job, batch, 0)).then_some(()));
        self.settle(read, batch)
    }

    /// Whether a whole job has keys without a meaning that are yet to be reported. The general road will read the job
    /// and report them; from now on they are passed over, since all that this reader is given comes later in the
    /// document.
    fn has_unknown(&mut self) -> bool {
        for &place in &self.unknown {
            let Some(key) = self.meanings.unknown.get(place as usize) else { continue };
            if self.passed_over < MOST_UNKNOWN {
                self.top.redefine(key, Meaning::Skip);
                self.passed_over += 1;
            }
        }
        !self.unknown.is_empty()
    }

    /// Keeps what a job has shown, or forgets it if the job is not taken.
    fn settle(&mut self, read: Option<()>, batch: &mut Batch) -> Option<()> {
        match read {
            Some(()) => self.fresh.iter().for_each(|&(name, kind)| self.meanings.saw(name, kind)),
            None => batch.abandon(),
        }
        self.fresh.clear();
        self.unknown.clear();
        read
    }

    #[inline]
    fn job<'d>(&mut self, scan: &mut Scanner<'d>, batch: &mut Batch, mut job: Job<'d>) -> Option<Job<'d>> {
        scan.take(b'{')?;
        self.top.start();
        self.idle.start();
        loop {
            let meanings = &mut self.meanings;
            match self.top.next(scan, |key| meanings.of(key))? {
                Next::End => return Some(job),
                Next::Value(Meaning::Skip) => {
                    self.idle.pass(scan)?;
                    // What nobody needs stands together, and no numbers between.
                    continue;
                }
                Next::Value(Meaning::Unknown(place)) => {
                    // without a value nothing is reported
                    if scan.peek() != b'n' {
                        self.unknown.push(place);
                    }
                    self.idle.pass(scan)?;
                    continue;
                }
                Next::Value(Meaning::Amount(place)) => self.amount(place, scan, batch)?,
                Next::Value(Meaning::Special(place)) => self.special(place, scan, batch)?,
                Next::Value(Meaning::Inputs) => self.inputs(scan, batch)?,
                Next::Value(Meaning::Resources) => {
                    job.is_listed = true;
                    self.resources(scan, batch)?;
                }
                Next::Value(meaning) => attribute(meaning, scan, &mut job)?,
            }
            let meanings = &self.meanings;
            let put = |column, amount| batch.put_whole(column, InputPrecedence::Job, amount);
            self.top.run(scan, |meaning| meanings.plain(meaning), put);
        }
    }

    fn resources(&mut self, scan: &mut Scanner<'_>, batch: &mut Batch) -> Option<()> {
        scan.take(b'{')?;
        self.resources.start();
        loop {
            let meanings = &mut self.meanings;
            let column = |place: Option<Place>| meanings.plain_amount(place?);
            self.resources.run(scan, column, |column, amount| batch.put_whole(column, InputPrecedence::Job, amount));
            match self.resources.next(scan, |key| meanings.resource(key))? {
                Next::End => return Some(()),
                Next::Value(None) => scan.skip_value()?,
                Next::Value(Some(place)) => self.amount(place, scan, batch)?,
            }
        }
    }

    fn inputs(&mut self, scan: &mut Scanner<'_>, batch: &mut Batch) -> Option<()> {
        scan.take(b'{')?;
        self.inputs.start();
        loop {
            let meanings = &mut self.meanings;
            match self.inputs.next(scan, |key| meanings.input(key))? {
                Next::End => return Some(()),
                Next::Value(place) => self.input(place, scan, batch)?,
            }
        }
    }

    /// Reads the amount of a resource.
    fn amount(&mut self, place: Place, scan: &mut Scanner<'_>, batch: &mut Batch) -> Option<()> {
        let resource = self.meanings.resources.get(place as usize)?;
        match scan.scalar()? {
            Scalar::Small(amount) if resource.is_plain => {
                if let Some(column) = resource.slot.column {
                    batch.put_whole(column, InputPrecedence::Job, amount);
                }
                self.look(resource.undeclared, InputType::Count);
                Some(())
            }
            Scalar::Null => Some(()),
            other => other.with_token(|token| self.unplain(place, token, batch))?,
        }
    }

    /// Takes an amount as the general road does, unless that road would report it.
    fn unplain(&mut self, place: Place, token: &Token<'_>, batch: &mut Batch) -> Option<()> {
        let resource = *self.meanings.resources.get(place as usize)?;
        let kind = resource.slot.kind(token);
        self.look(resource.undeclared, kind);
        let Ok(amount) = self.options.numbers.amount(token.text()?, Some(kind), self.source) else {
            return (!kind.is_numeric()).then_some(());
        };
        let Some(column) = resource.slot.column else { return Some(()) };
        let seen = Seen::of(amount, token, self.options.numbers, self.source);
        if seen.is_shortened || seen.is_lost {
            return None;
        }
        batch.put(column, InputPrecedence::Job, &seen.value)
    }

    /// Notes what an undeclared name looks like.
    #[inline]
    fn look(&mut self, undeclared: Option<Place>, kind: InputType) {
        if let Some(name) = undeclared
            && !self.meanings.is_known_as(name, kind)
        {
            self.fresh.push((name, kind));
        }
    }

    /// Reads a special name of the formula.
    #[inline]
    fn special(&mut self, place: Place, scan: &mut Scanner<'_>, batch: &mut Batch) -> Option<()> {
        let scalar = scan.scalar()?;
        for &(index, column) in self.meanings.specials.get(place as usize)? {
            match scalar {
                Scalar::Null => {}
                Scalar::Small(whole) if column != Column::Ratio => batch.put_whole(index, InputPrecedence::Job, whole),
                other => {
                    let value = other.with_token(|token| column.value(token, self.options.numbers).ok())??;
                    batch.put(index, InputPrecedence::Job, &value)?;
                }
            }
        }
        Some(())
    }

    /// Reads a ready-made input.
    fn input(&mut self, place: Place, scan: &mut Scanner<'_>, batch: &mut Batch) -> Option<()> {
        let value = match scan.scalar()? {
            Scalar::Small(whole) => Value::Int(i64::from(whole)),
            Scalar::Null => return Some(()),
            other => other.with_token(input)??,
        };
        let plan = self.meanings.inputs.get(place as usize)?;
        for &(index, authority) in &plan.columns {
            batch.put(index, authority, &value)?;
        }
        let kind = if matches!(value, Value::Float(_)) { InputType::Float } else { InputType::Count };
        self.look(plan.undeclared, kind);
        Some(())
    }

    /// Ends the row of a job; says whether it could be taken.
    fn finish(&mut self, job: &Job<'_>, batch: &mut Batch, line: u32) -> bool {
        let queue = job.owner.queue;
        if let Some(column) = self.meanings.queue_priority {
            if !same(&self.queue.0, queue) {
                self.queue = (queue.to_owned(), self.options.queues.priority(queue));
            }
            let priority = self.queue.1.map(Value::Int);
            if priority.is_some_and(|priority| batch.put(column, InputPrecedence::Queue, &priority).is_none()) {
                return false;
            }
        }
        let charged = self.options.entity.of(job.owner);
        let entity = job.entity.unwrap_or(&charged);
        let (state, queued_at) = (job.state, job.queued_at);
        batch.finish(BatchRow { id: job.id.unwrap_or_default(), entity, queue, state, queued_at, line })
    }
}
