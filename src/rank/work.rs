//! The work that evaluations and searches may do together, so that no queue and no formula makes a
//! command hang. The limits of a single evaluation are in [`limits`](crate::python::limits).
//!
//! A unit is an operation on a 64-bit word, about a nanosecond. The evaluations for the jobs of a
//! queue count the operations on the words of long integers ([`QueueWork`]). The searches of an
//! explanation count every kind of step: the instructions of the formula that are evaluated, the
//! operations on long integers, the parts of the formula whose ranges are analysed, and the results
//! that are kept ([`WorkBudget`]). The counts do not depend on the machine, so that the same jobs fail
//! and the same search ends at the same place everywhere.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::formula::program::{EvalError, Interpreter, Program};
use crate::python::Value;
use crate::python::limits::{EVALUATION_WORK, FREE_WORK, QUEUE_WORK};

/// The work that the evaluations for the jobs of a queue have done beyond [`FREE_WORK`] for each,
/// in words. Calls that score parts of a queue share it.
#[derive(Debug, Default)]
pub struct QueueWork(AtomicU64);

impl QueueWork {
    /// Whether it is more than [`QUEUE_WORK`]. If calls on several threads did it, they are then to
    /// be made again one after the other, because it depends on the threads which jobs failed.
    pub fn is_beyond_the_budget(&self) -> bool {
        // relaxed: the sum is all that the threads share, and no other memory depends on it
        self.0.load(Ordering::Relaxed) > QUEUE_WORK
    }

    /// That of a queue whose evaluations may do this much.
    pub(super) fn of_budget(words: u64) -> Self {
        // a smaller budget is the whole one of which the rest is spent
        Self(AtomicU64::new(QUEUE_WORK - words))
    }

    /// Evaluates a job with what the jobs before it have left.
    pub(super) fn evaluate(
        &self,
        interpreter: &mut Interpreter<'_>,
        inputs: &[Value],
    ) -> Result<Value, EvalError> {
        interpreter.grant(if self.is_beyond_the_budget() {
            FREE_WORK
        } else {
            EVALUATION_WORK
        });
        let result = interpreter.evaluate(inputs);
        if !self.add(interpreter.arithmetic().work()) {
            return result;
        }
        // evaluated again for its error, which names the jobs before as the cause
        interpreter.grant(FREE_WORK);
        interpreter.evaluate(inputs)
    }

    /// Adds the work of an evaluation. Returns whether its job fails, because it exceeds what the
    /// jobs before it have left.
    pub fn add(&self, words: u64) -> bool {
        let excess = words.saturating_sub(FREE_WORK);
        // without excess a job never fails, whatever the jobs before it have needed
        excess > 0 && self.0.fetch_add(excess, Ordering::Relaxed) + excess > QUEUE_WORK
    }
}

/// The most work of all searches for one job: about two seconds.
pub const SEARCH_WORK: u64 = 1 << 31;
/// The work of an instruction that is interpreted for one job.
const INTERPRETED_INSTRUCTION: u64 = 32;

/// The work that some searches may still do.
#[derive(Debug, Clone)]
pub struct WorkBudget {
    left: u64,
    is_spent: bool,
}

impl Default for WorkBudget {
    /// The work that one explanation may do.
    fn default() -> Self {
        Self::new(SEARCH_WORK)
    }
}

impl WorkBudget {
    /// A budget of this many units.
    pub fn new(units: u64) -> Self {
        Self {
            left: units,
            is_spent: false,
        }
    }

    /// Whether a search needed more than was left.
    pub fn is_spent(&self) -> bool {
        self.is_spent
    }

    /// The units that are left.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Takes units for work that is to be done next; `None` if fewer are left, after which nothing
    /// can be taken.
    pub fn take(&mut self, units: u64) -> Option<()> {
        match self.left.checked_sub(units) {
            Some(left) if !self.is_spent => {
                self.left = left;
                Some(())
            }
            _ => {
                self.is_spent = true;
                None
            }
        }
    }

    /// Takes units for work that was done already, where it cannot be known before.
    pub fn charge(&mut self, units: u64) {
        self.left = self.left.saturating_sub(units);
    }

    /// Does a search with an equal part of what is left, one of `parts`, and takes what it needed.
    pub fn with_part<T>(&mut self, parts: u64, search: impl FnOnce(&mut Self) -> T) -> T {
        let mut part = Self {
            left: self.left / parts.max(1),
            is_spent: self.is_spent,
        };
        let granted = part.left;
        let found = search(&mut part);
        // that a part is spent is not passed on: what is left is for the others
        self.left -= granted - part.left;
        found
    }
}

/// The work of an evaluation for one job, without that on long integers.
pub fn row_work(program: &Program) -> u64 {
    (program.instruction_count() as u64 + 1) * INTERPRETED_INSTRUCTION
}
