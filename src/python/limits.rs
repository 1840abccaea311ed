//! How much a formula may compute: the crate's own bounds, so that no text makes an evaluation hang.
//!
//! Python has none of them. Every bound answers with [`ErrorKind::Limit`], before the work is done.

use std::borrow::Cow;
use std::cell::Cell;

use crate::python::{ErrorKind, Raised};

/// The most bits of an integer, about 39 000 decimal digits.
pub const INTEGER_BITS: u64 = 131_072;

/// The most items of a tuple or a list that an operator makes, those of nested ones counted too.
pub const SEQUENCE_ITEMS: usize = 100_000;

/// The work of one evaluation, in operations on 64-bit words; about a quarter of a second.
pub const FUEL: u64 = 1 << 28;

/// What one item of a new sequence costs, in words.
pub(super) const ITEM: u64 = 16;

/// The error of an integer beyond [`INTEGER_BITS`].
pub(super) fn integer_too_long() -> Raised {
    Raised::new(ErrorKind::Limit, format!("an integer of more than {INTEGER_BITS} bits"))
}

/// The error of a sequence beyond [`SEQUENCE_ITEMS`].
pub(super) fn sequence_too_long() -> Raised {
    Raised::new(ErrorKind::Limit, format!("a sequence of more than {SEQUENCE_ITEMS} items"))
}

/// Refuses an integer result of at least this many bits, before it is computed.
pub(super) fn check_bits(bits: u64) -> Result<(), Raised> {
    if bits > INTEGER_BITS { Err(integer_too_long()) } else { Ok(()) }
}

/// What is left of the work of one evaluation.
#[derive(Debug, Clone)]
pub(super) struct Fuel {
    whole: u64,
    left: Cell<u64>,
}

impl Fuel {
    /// So many operations, at most [`FUEL`].
    pub(super) fn new(whole: u64) -> Self {
        let whole = whole.min(FUEL);
        Self { whole, left: Cell::new(whole) }
    }

    /// Gives back all that was spent.
    pub(super) fn reset(&self) {
        self.left.set(self.whole);
    }

    /// Spends this many word operations; an error when they are not left.
    pub(super) fn consume(&self, words: u64) -> Result<(), Raised> {
        match self.left.get().checked_sub(words) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => Err(Raised { kind: ErrorKind::Limit, text: Cow::Borrowed("a computation of too many steps") }),
        }
    }
}
