//! What is done with each resource name that jobs carry, looked up once per name.

use std::collections::HashMap;

use crate::json_visitor::Token;
use crate::pbs::resource_amount as numbers;
use crate::schema::{InputType, Schema};

/// What is done with a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot {
    /// Its kind, if a schema declares it.
    pub declared: Option<InputType>,
    /// The column that it fills.
    pub column: Option<usize>,
    /// Whether it is a text or a truth value, or not a resource at all.
    pub is_skipped: bool,
}

/// The slots of all names met so far. Jobs mostly carry the same names in the same order, so the name after the
/// last one is tried before the map is asked.
#[derive(Debug, Default)]
pub(super) struct Slots {
    known: Vec<(Box<str>, Slot)>,
    places: HashMap<Box<str>, usize>,
    next: usize,
}

impl Slots {
    /// Begins with the first name again: a new job.
    pub(super) fn rewind(&mut self) {
        self.next = 0;
    }

    /// The slot of a name; a name that is new gets the slot that `decide` says.
    pub(super) fn of(&mut self, name: &str, decide: impl FnOnce() -> Slot) -> Slot {
        if let Some((known, slot)) = self.known.get(self.next)
            && **known == *name
        {
            self.next += 1;
            return *slot;
        }
        let place = self.places.get(name).copied().unwrap_or_else(|| {
            self.known.push((name.into(), decide()));
            self.places.insert(name.into(), self.known.len() - 1);
            self.known.len() - 1
        });
        self.next = place + 1;
        self.known[place].1
    }
}

impl Slot {
    /// The slot of a resource that fills `column`.
    pub(super) fn new(name: &str, schema: &Schema, column: Option<usize>, is_resource: bool) -> Self {
        let declared = schema.entry(name).map(|entry| entry.input_type);
        let is_skipped = !is_resource || declared.is_some_and(|kind| !kind.is_numeric());
        Self { declared, column, is_skipped }
    }

    /// The kind of an amount: what is declared, else what it looks like.
    pub(super) fn kind(&self, token: &Token<'_>) -> InputType {
        self.declared.unwrap_or_else(|| numbers::looks(token.text().unwrap_or(""), matches!(token, Token::Number(_))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_keeps_its_slot_in_any_order() {
        let mut slots = Slots::default();
        let slot = |column| Slot { declared: None, column: Some(column), is_skipped: false };
        for names in [["a", "b", "c"], ["a", "c", "b"], ["c", "b", "a"], ["a", "b", "c"]] {
            slots.rewind();
            for name in names {
                let column = (name.as_bytes()[0] - b'a') as usize;
                assert_eq!(slots.of(name, || slot(column)), slot(column));
            }
        }
    }
}
