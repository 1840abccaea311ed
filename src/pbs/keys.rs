//! The keys of an object that comes again and again: which one comes next is guessed from the last time.

use std::collections::HashMap;

use super::scan::Scanner;

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
    /// The bytes in groups of sixteen, and which of the last ones count.
    groups: Vec<(u128, u128)>,
    len: usize,
    means: Next<R>,
    /// What came next the last time.
    next: u32,
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
        let start = Lead { groups: Vec::new(), len: 0, means: Next::End, next: START };
        Self { leads: vec![start], places: HashMap::new(), meanings: HashMap::new(), last: None }
    }

    /// Begins with an object, behind its `{`.
    #[inline]
    pub(super) fn start(&mut self) {
        self.last = Some(START);
    }

    /// Passes over what stands before the next value; `decide` says what a new key means.
    #[inline]
    pub(super) fn next(&mut self, scan: &mut Scanner<'_>, decide: impl FnOnce(&str) -> R) -> Option<Next<R>> {
        if let Some(last) = self.last {
            let guess = self.leads[last as usize].next;
            let lead = &self.leads[guess as usize];
            if guess != START && lead.stands_at(scan) {
                scan.at += lead.len;
                self.last = Some(guess);
                return Some(lead.means);
            }
        }
        self.read(scan, decide)
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
        self.leads.truncate(1);
        self.leads[START as usize].next = START;
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
        self.leads.push(Lead { groups: groups(bytes), len: bytes.len(), means, next: START });
        self.places.insert(bytes.into(), place);
        Some(place)
    }
}

impl<R> Lead<R> {
    #[inline]
    fn stands_at(&self, scan: &Scanner<'_>) -> bool {
        let Some(mut rest) = scan.bytes().get(scan.at..) else { return false };
        for (group, mask) in &self.groups {
            let Some((bytes, more)) = rest.split_first_chunk() else { return false };
            if u128::from_le_bytes(*bytes) & mask != *group {
                return false;
            }
            rest = more;
        }
        true
    }
}

fn groups(bytes: &[u8]) -> Vec<(u128, u128)> {
    let group = |bytes: &[u8]| {
        let (mut group, mut mask) = ([0; 16], [0; 16]);
        group[..bytes.len()].copy_from_slice(bytes);
        mask[..bytes.len()].fill(0xff);
        (u128::from_le_bytes(group), u128::from_le_bytes(mask))
    };
    bytes.chunks(16).map(group).collect()
}
