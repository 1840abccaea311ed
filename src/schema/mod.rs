//! Which names a formula may use, and what each one measures.
//!
//! Enters: the names that OpenPBS brings ([`Schema::openpbs`]) and those of a site ([`Schema::add`]). Leaves:
//! an [`Entry`] per name, and the nearest names to one that is unknown ([`Schema::suggestions`]). Nothing here
//! knows of formulas, files or jobs.

mod kind;
mod standard;
mod suggest;

use std::collections::BTreeMap;

pub use kind::{Kind, Range};

/// Where a name comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Origin {
    /// One of the eight names that the scheduler itself computes, such as `eligible_time`.
    Special,
    /// A resource that every OpenPBS server knows.
    Standard,
    /// A resource that the site declared (`resourcedef`, `qmgr`).
    Site,
    /// A resource that nobody declared but that a job or a queue carries; its kind is read off its looks.
    Seen,
}

/// A name with what is known of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// What the name measures, and in which unit it reaches the formula.
    pub kind: Kind,
    /// Where the name comes from.
    pub origin: Origin,
    /// The values that it can have.
    pub range: Range,
    /// For an old name that is still accepted: the name to use instead.
    pub replaced_by: Option<&'static str>,
}

/// The names that a formula may use. Names are told apart by case, as in Python.
///
/// ```
/// use job_sort_formula::schema::{Kind, Schema};
///
/// let mut schema = Schema::openpbs();
/// schema.add("base_score", Kind::Count);
/// assert!(schema.is_numeric("base_score"));
/// assert_eq!(schema.entry("place").unwrap().kind, Kind::Text);
/// assert_eq!(schema.suggestions("walltme"), ["walltime"]);
/// ```
#[derive(Debug, Clone, Default)]
pub struct Schema {
    entries: BTreeMap<Box<str>, Entry>,
}

impl Schema {
    /// A schema without names.
    pub fn empty() -> Self {
        Self::default()
    }

    /// The eight special names and the resources of an OpenPBS server on which no site has added any.
    ///
    /// Source: the names that a 23.06.06 scheduler hands to Python, and its server's verdicts on the others.
    pub fn openpbs() -> Self {
        let mut schema = Self::empty();
        for &(name, kind, range) in standard::SPECIAL {
            schema.insert(name, kind, Origin::Special, range);
        }
        for &(name, kind) in standard::RESOURCES {
            schema.insert(name, kind, Origin::Standard, kind.range());
        }
        if let Some(entry) = schema.entries.get_mut(standard::DEPRECATED.0) {
            entry.replaced_by = Some(standard::DEPRECATED.1);
        }
        schema
    }

    /// Adds a site's own resource. A name that OpenPBS owns keeps its meaning, as on the server, which refuses
    /// to redefine it; the answer says whether the name was taken.
    pub fn add(&mut self, name: &str, kind: Kind) -> bool {
        self.add_from(name, kind, Origin::Site)
    }

    /// Adds a resource that nobody declared but that stands in a queue or on a job. A name that is already
    /// known keeps its meaning; the answer says whether the name was taken.
    pub fn add_seen(&mut self, name: &str, kind: Kind) -> bool {
        !self.entries.contains_key(name) && self.add_from(name, kind, Origin::Seen)
    }

    fn add_from(&mut self, name: &str, kind: Kind, origin: Origin) -> bool {
        if self.entries.get(name).is_some_and(|known| matches!(known.origin, Origin::Special | Origin::Standard)) {
            return false;
        }
        self.insert(name, kind, origin, Range::ANY);
        true
    }

    fn insert(&mut self, name: &str, kind: Kind, origin: Origin, range: Range) {
        self.entries.insert(name.into(), Entry { kind, origin, range, replaced_by: None });
    }

    /// What is known of `name`.
    pub fn entry(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    /// Whether a formula may compute with `name`. False for unknown names too.
    pub fn is_numeric(&self, name: &str) -> bool {
        self.entry(name).is_some_and(|entry| entry.kind.is_numeric())
    }

    /// Every name with its entry, in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries.iter().map(|(name, entry)| (&**name, entry))
    }

    /// How many names there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no name at all.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The numeric names that `name` may be a slip for, nearest first, at most three.
    pub fn suggestions(&self, name: &str) -> Vec<&str> {
        suggest::nearest(name, self.iter().filter(|(_, entry)| entry.kind.is_numeric()).map(|(known, _)| known))
    }
}

#[cfg(test)]
mod tests;
