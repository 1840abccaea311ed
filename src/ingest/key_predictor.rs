//! The keys of an object that comes again and again: which one comes next is guessed from the last time.

use std::collections::HashMap;

use crate::ingest::byte_pattern::Literal;
use crate::ingest::integer_run as course;
use crate::ingest::integer_run::{Course, Step};
use crate::ingest::json_scanner::Scanner;

/// The most keys that are remembered with the bytes before and behind them.
const MOST_LEADS: usize = 1024;
/// The most keys that have a meaning; an object with another one is not read here.
const MOST_KEYS: usize = 4096;
/// The longest bytes of a key that are remembered.
const LONGEST: usize = 256;
/// The lead of all objects, before their first key.
const START: u32 = 0;

/// What stands between two values, with the key of the second in it; or before the end of the object.
#[derive(Debug)]
struct Lead<R> {
    literal: Literal,
    means: Next<R>,
    /// What came next the last time.
    next: u32,
    /// The numbers that come from here on.
    course: Course,
}

/// What comes next in an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next<R> {
    /// A value, and what its key means.
    Value(R),
    End,
}

/// The keys of all objects of a kind.
#[derive(Debug)]
pub(super) struct Keys<R> {
    leads: Vec<Lead<R>>,
    places: HashMap<Box<[u8]>, u32>,
    meanings: HashMap<Box<str>, R>,
    /// The lead before the value that was read last, if it is a known one.
    last: Option<u32>,
}

impl<R: Copy> Keys<R> {
    pub(super) fn new() -> Self {
        Self { leads: vec![Lead::new(b"", Next::End)], places: HashMap::new(), meanings: HashMap::new(), last: None }
    }

    /// Begins with an object, behind its `{`.
    #[inline]
    pub(super) fn start(&mut self) {
        self.last = Some(START);
    }

    /// Passes over what stands before the next value; `decide` says what a new key means.
    #[inline]
    pub(super) fn next(&mut self, scan: &mut Scanner<'_>, decide: impl FnOnce(&str) -> R) -> Option<Next<R>> {
        if let Some((guess, end, means)) = self.guess(self.last, scan.bytes(), scan.at) {
            (self.last, scan.at) = (Some(guess), end);
            return Some(means);
        }
        self.read(scan, decide)
    }

    /// The lead that stands there if it is the one that came after `last` the last time, and where it ends.
    #[inline(always)]
    fn guess(&self, last: Option<u32>, bytes: &[u8], at: usize) -> Option<(u32, usize, Next<R>)> {
        let guess = self.leads.get(last? as usize)?.next;
        let lead = self.leads.get(guess as usize).filter(|_| guess != START)?;
        lead.literal.end_at(bytes, at).map(|end| (guess, end, lead.means))
    }

    /// Passes over small whole numbers as long as they come as the last time. `column` says which column a key's
    /// numbers fill, if any; or nothing if its values are not to be read in this way. `put` gets the numbers.
    #[inline(always)]
    pub(super) fn run(
        &mut self,
        scan: &mut Scanner<'_>,
        column: impl Fn(R) -> Option<Option<usize>>,
        put: impl FnMut(usize, u32),
    ) {
        let Some(lead) = self.last.and_then(|last| self.leads.get_mut(last as usize)) else { return };
        let last = lead.course.run(scan.bytes(), scan.at, put);
        if lead.course.is_stale() {
            self.lay_course(column);
        }
        if let Some((last, end)) = last {
            (self.last, scan.at) = (Some(last), end);
        }
    }

    /// Lays the course of the last lead by what came after it the last time.
    #[cold]
    fn lay_course(&mut self, column: impl Fn(R) -> Option<Option<usize>>) {
        let Some(start) = self.last else { return };
        let (mut lead, mut steps) = (self.leads[start as usize].next, Vec::new());
        while let Next::Value(means) = self.leads[lead as usize].means
            && let Some(column) = column(means)
            && steps.len() < course::MOST_STEPS
        {
            let Lead { literal, next, .. } = &self.leads[lead as usize];
            let Some(step) = Step::new(&literal.bytes(), column, lead) else { break };
            steps.push(step);
            lead = *next;
        }
        self.leads[start as usize].course.lay(steps);
    }

    /// [`Keys::next`] where the guess was wrong.
    fn read(&mut self, scan: &mut Scanner<'_>, decide: impl FnOnce(&str) -> R) -> Option<Next<R>> {
        let (start, is_first) = (scan.at, self.last == Some(START));
        scan.space();
        let means = if scan.take(b'}').is_some() {
            Next::End
        } else {
            if !is_first {
                scan.take(b',')?;
                scan.space();
            }
            let key = scan.key()?;
            Next::Value(self.meaning(key, decide)?)
        };
        let found = self.lead(scan.bytes().get(start..scan.at)?, means);
        if let (Some(last), Some(found)) = (self.last, found) {
            self.leads[last as usize].next = found;
        }
        self.last = found;
        Some(means)
    }

    fn meaning(&mut self, key: &str, decide: impl FnOnce(&str) -> R) -> Option<R> {
        if let Some(&known) = self.meanings.get(key) {
            return Some(known);
        }
        if self.meanings.len() >= MOST_KEYS {
            return None;
        }
        let meaning = decide(key);
        self.meanings.insert(key.into(), meaning);
        Some(meaning)
    }

    /// Gives a key another meaning.
    pub(super) fn redefine(&mut self, key: &str, meaning: R) {
        self.meanings.insert(key.into(), meaning);
        // The leads know what their keys meant.
        self.leads = vec![Lead::new(b"", Next::End)];
        self.places.clear();
    }

    /// The place of a lead, a new one if there is room.
    fn lead(&mut self, bytes: &[u8], means: Next<R>) -> Option<u32> {
        if let Some(&place) = self.places.get(bytes) {
            return Some(place);
        }
        if self.leads.len() >= MOST_LEADS || bytes.len() > LONGEST {
            return None;
        }
        let place = self.leads.len() as u32;
        self.leads.push(Lead::new(bytes, means));
        self.places.insert(bytes.into(), place);
        Some(place)
    }
}

impl<R> Lead<R> {
    fn new(bytes: &[u8], means: Next<R>) -> Self {
        Self { literal: Literal::new(bytes), means, next: START, course: Course::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of an object of numbers, by their keys' lengths.
    fn read(keys: &mut Keys<usize>, text: &str) -> Option<Vec<usize>> {
        let padded = [text.as_bytes(), &[0; 64]].concat();
        let mut scan = Scanner::new(&padded, text.len());
        scan.take(b'{')?;
        keys.start();
        let mut found = Vec::new();
        while let Next::Value(length) = keys.next(&mut scan, str::len)? {
            scan.number()?;
            found.push(length);
        }
        Some(found)
    }

    #[test]
    fn a_wrong_guess_is_noticed() {
        let mut keys = Keys::new();
        let long = "x".repeat(70);
        let texts = [
            (r#"{"a":1,"bb":2}"#.to_owned(), Some(vec![1, 2])),
            (r#"{"bb":2,"a":1}"#.to_owned(), Some(vec![2, 1])),
            (r#"{"a":1}"#.to_owned(), Some(vec![1])),
            (r#"{"a":1,"bb" : 2, "a":3 }"#.to_owned(), Some(vec![1, 2, 1])),
            (format!(r#"{{"a":1,"{long}":2}}"#), Some(vec![1, 70])),
            (format!(r#"{{"a":1,"{}y{}":2}}"#, &long[..35], &long[36..]), Some(vec![1, 70])),
            ("{}".to_owned(), Some(vec![])),
            (r#"{"a":1,}"#.to_owned(), None),
            (r#"{,"a":1}"#.to_owned(), None),
            (r#"{"a":1"bb":2}"#.to_owned(), None),
        ];
        for _ in 0..3 {
            for (text, expected) in &texts {
                assert_eq!(read(&mut keys, text), *expected, "{text}");
            }
        }
        keys.redefine("a", 9);
        assert_eq!(read(&mut keys, &texts[0].0), Some(vec![9, 2]));
    }
}
