//! The crate's own limits, so that no formula makes an evaluation hang or run out of memory.
//!
//! Python has none of them. An operation beyond a limit raises [`ErrorKind::Limit`] before it does
//! the work.

use std::cell::Cell;

use crate::python::{ErrorKind, Raised};

/// The largest length of an integer, in bits; about 39 000 decimal digits.
pub const INTEGER_BITS: u64 = 131_072;

/// The largest number of items in a tuple or a list that an operator makes, items of nested ones
/// included.
pub const SEQUENCE_ITEMS: usize = 100_000;

/// The most work of one evaluation, in operations on 64-bit words; about a quarter of a second.
pub const EVALUATION_WORK: u64 = 1 << 28;

/// The work of one evaluation that does not count towards [`QUEUE_WORK`]: about a microsecond.
pub const FREE_WORK: u64 = 1 << 10;

/// The most work of the evaluations for all jobs of a queue, beyond [`FREE_WORK`] for each; about a
/// second. It is spent in the order of the jobs: an evaluation that exceeds what the earlier ones
/// have left fails, and so do all later ones that need more than [`FREE_WORK`].
pub const QUEUE_WORK: u64 = 1 << 30;

/// The cost of one item of a new sequence, in words.
pub(super) const ITEM: u64 = 16;

/// The text of the error for an evaluation that needs more work than it was granted.
const TOO_MANY_STEPS: &str = "a computation of too many steps";
/// The text if it was granted only [`FREE_WORK`].
const AFTER_OTHER_JOBS: &str = "a computation of too many steps, after those of the jobs before it";

/// The error for an integer longer than [`INTEGER_BITS`].
pub(super) fn integer_too_long() -> Raised {
    Raised::new(
        ErrorKind::Limit,
        format!("an integer of more than {INTEGER_BITS} bits"),
    )
}

/// The error for a sequence longer than [`SEQUENCE_ITEMS`].
pub(super) fn sequence_too_long() -> Raised {
    Raised::new(
        ErrorKind::Limit,
        format!("a sequence of more than {SEQUENCE_ITEMS} items"),
    )
}

/// Refuses an integer result of at least this many bits.
pub(crate) fn check_bits(bits: u64) -> Result<(), Raised> {
    if bits > INTEGER_BITS {
        Err(integer_too_long())
    } else {
        Ok(())
    }
}

/// The work that one evaluation may still do.
#[derive(Debug, Clone)]
pub(super) struct WorkLimit {
    limit: u64,
    // cells, because operations take the arithmetic by shared reference
    left: Cell<u64>,
    is_spent: Cell<bool>,
}

impl WorkLimit {
    /// Starts with this many word operations left, at most [`EVALUATION_WORK`].
    pub(super) fn new(limit: u64) -> Self {
        let limit = limit.min(EVALUATION_WORK);
        Self {
            limit,
            left: Cell::new(limit),
            is_spent: Cell::new(false),
        }
    }

    /// Starts another evaluation, with all of it left.
    pub(super) fn restart(&self) {
        self.left.set(self.limit);
        self.is_spent.set(false);
    }

    /// Grants the next evaluations another amount, at most [`EVALUATION_WORK`].
    pub(super) fn set_limit(&mut self, limit: u64) {
        self.limit = limit.min(EVALUATION_WORK);
    }

    /// How many word operations the evaluation has done.
    pub(super) fn done(&self) -> u64 {
        self.limit.saturating_sub(self.left.get())
    }

    /// Whether the evaluation needed more word operations than it had.
    pub(super) fn is_spent(&self) -> bool {
        self.is_spent.get()
    }

    #[cfg(test)]
    pub(super) fn left(&self) -> u64 {
        self.left.get()
    }

    /// Takes this many word operations. Fails, and takes nothing, when fewer are left.
    pub(super) fn take(&self, words: u64) -> Result<(), Raised> {
        match self.left.get().checked_sub(words) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                self.is_spent.set(true);
                // `QueueWork` grants exactly this once the jobs before have spent the budget
                let text = if self.limit == FREE_WORK {
                    AFTER_OTHER_JOBS
                } else {
                    TOO_MANY_STEPS
                };
                Err(Raised::new(ErrorKind::Limit, text))
            }
        }
    }
}
