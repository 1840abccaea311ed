//! Predicts the keys of objects of one kind: the key after another one is probably that of the previous object.

use std::collections::HashMap;

use crate::byte_pattern::BytePattern;
use crate::integer_run::{IntegerField, IntegerRun, MAX_FIELDS};
use crate::json_scanner::Scanner;

/// The most key prefixes that are remembered.
const MAX_PREFIXES: usize = 1024;
/// The most keys whose meaning is remembered. An object with another one is left to the reference reader.
const MAX_KEYS: usize = 4096;
/// The greatest length of a remembered prefix.
const MAX_LENGTH: usize = 256;
/// The index of an empty prefix: the start of an object.
const START: u32 = 0;

/// The bytes before a value, from the end of the previous one, with the key; or the bytes up to the end of the object.
#[derive(Debug)]
struct KeyPrefix<R> {
    pattern: BytePattern,
    meaning: Next<R>,
    /// The prefix that came next in the previous object.
    next: u32,
    /// The integers that are expected after the value.
    run: IntegerRun,
}

/// What comes next in an object: a value or the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next<R> {
    /// A value, with the meaning of its key.
    Value(R),
    End,
}

/// Predicts the keys of objects of one kind. `R` is the meaning of a key.
#[derive(Debug)]
pub(super) struct KeyPredictor<R> {
    prefixes: Vec<KeyPrefix<R>>,
    indices: HashMap<Box<[u8]>, u32>,
    meanings: HashMap<Box<str>, R>,
    /// The prefix of the value that was read last, if it is remembered.
    last: Option<u32>,
}

impl<R: Copy> KeyPredictor<R> {
    pub(super) fn new() -> Self {
        Self {
            prefixes: vec![KeyPrefix::new(b"", Next::End)],
            indices: HashMap::new(),
            meanings: HashMap::new(),
            last: None,
        }
    }

    /// Begins an object, after its `{`.
    #[inline]
    pub(super) fn start(&mut self) {
        self.last = Some(START);
    }

    /// Skips to the next value; `resolve` returns the meaning of a new key.
    #[inline]
    pub(super) fn next(&mut self, scanner: &mut Scanner<'_>, resolve: impl FnOnce(&str) -> R) -> Option<Next<R>> {
        if let Some((prefix, end, meaning)) = self.predict(self.last, scanner.bytes(), scanner.at) {
            self.last = Some(prefix);
            scanner.at = end;
            return Some(meaning);
        }
        self.read(scanner, resolve)
    }

    /// The prefix that followed `last` in the previous object, and where it ends, if the text continues with it.
    #[inline(always)]
    fn predict(&self, last: Option<u32>, bytes: &[u8], at: usize) -> Option<(u32, usize, Next<R>)> {
        let predicted = self.prefixes.get(last? as usize)?.next;
        let prefix = self.prefixes.get(predicted as usize).filter(|_| predicted != START)?;
        prefix.pattern.end_at(bytes, at).map(|end| (predicted, end, prefix.meaning))
    }

    /// Reads small integers as long as their keys are those of the previous object. `column` returns the column, if any,
    /// that the integers of a key fill; `None` if its values must not be read in this way. `put` gets the integers.
    #[inline(always)]
    pub(super) fn read_run(
        &mut self,
        scanner: &mut Scanner<'_>,
        column: impl Fn(R) -> Option<Option<usize>>,
        put: impl FnMut(usize, u32),
    ) {
        let Some(prefix) = self.last.and_then(|last| self.prefixes.get_mut(last as usize)) else { return };
        let last = prefix.run.read(scanner.bytes(), scanner.at, put);
        if prefix.run.is_stale() {
            self.predict_run(column);
        }
        if let Some((last, end)) = last {
            self.last = Some(last);
            scanner.at = end;
        }
    }

    /// Predicts the run after the last prefix from the prefixes of the previous object.
    #[cold]
    fn predict_run(&mut self, column: impl Fn(R) -> Option<Option<usize>>) {
        let Some(start) = self.last else { return };
        let mut prefix = self.prefixes[start as usize].next;
        let mut fields = Vec::new();
        while let Next::Value(meaning) = self.prefixes[prefix as usize].meaning
            && let Some(column) = column(meaning)
            && fields.len() < MAX_FIELDS
        {
            let KeyPrefix { pattern, next, .. } = &self.prefixes[prefix as usize];
            let Some(field) = IntegerField::new(&pattern.bytes(), column, prefix) else { break };
            fields.push(field);
            prefix = *next;
        }
        self.prefixes[start as usize].run.predict(fields);
    }

    /// [`KeyPredictor::next`] if the prediction was wrong.
    fn read(&mut self, scanner: &mut Scanner<'_>, resolve: impl FnOnce(&str) -> R) -> Option<Next<R>> {
        let start = scanner.at;
        scanner.space();
        let meaning = if scanner.take(b'}').is_some() {
            Next::End
        } else {
            if self.last != Some(START) {
                scanner.take(b',')?;
                scanner.space();
            }
            let key = scanner.key()?;
            Next::Value(self.meaning(key, resolve)?)
        };
        let found = self.index_or_insert(scanner.bytes().get(start..scanner.at)?, meaning);
        if let (Some(last), Some(found)) = (self.last, found) {
            self.prefixes[last as usize].next = found;
        }
        self.last = found;
        Some(meaning)
    }

    fn meaning(&mut self, key: &str, resolve: impl FnOnce(&str) -> R) -> Option<R> {
        if let Some(&known) = self.meanings.get(key) {
            return Some(known);
        }
        if self.meanings.len() >= MAX_KEYS {
            return None;
        }
        let meaning = resolve(key);
        self.meanings.insert(key.into(), meaning);
        Some(meaning)
    }

    /// Changes the meaning of a key.
    pub(super) fn redefine(&mut self, key: &str, meaning: R) {
        self.meanings.insert(key.into(), meaning);
        // The prefixes contain the meanings of their keys.
        self.prefixes = vec![KeyPrefix::new(b"", Next::End)];
        self.indices.clear();
    }

    /// The index of a prefix, which is inserted if it is new; `None` if it is too long or there are too many.
    fn index_or_insert(&mut self, bytes: &[u8], meaning: Next<R>) -> Option<u32> {
        if let Some(&index) = self.indices.get(bytes) {
            return Some(index);
        }
        if self.prefixes.len() >= MAX_PREFIXES || bytes.len() > MAX_LENGTH {
            return None;
        }
        let index = self.prefixes.len() as u32;
        self.prefixes.push(KeyPrefix::new(bytes, meaning));
        self.indices.insert(bytes.into(), index);
        Some(index)
    }
}

impl<R> KeyPrefix<R> {
    fn new(bytes: &[u8], meaning: Next<R>) -> Self {
        Self { pattern: BytePattern::new(bytes), meaning, next: START, run: IntegerRun::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lengths of the keys of an object of numbers.
    fn read(keys: &mut KeyPredictor<usize>, text: &str) -> Option<Vec<usize>> {
        let padded = [text.as_bytes(), &[0; 64]].concat();
        let mut scanner = Scanner::new(&padded, text.len());
        scanner.take(b'{')?;
        keys.start();
        let mut found = Vec::new();
        while let Next::Value(length) = keys.next(&mut scanner, str::len)? {
            scanner.number()?;
            found.push(length);
        }
        Some(found)
    }

    #[test]
    fn a_wrong_prediction_is_detected() {
        let mut keys = KeyPredictor::new();
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
