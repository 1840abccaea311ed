//! The keys of objects of one kind, each of whose meanings is looked up once.

use std::collections::HashMap;

use crate::json_scanner::Scanner;

/// The most keys whose meaning is remembered.
const MAX_KEYS: usize = 4096;

/// What comes next in an object: a value or the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next<R> {
    /// A value, with the meaning of its key, and the index of the key.
    Value(R, usize),
    End,
}

/// The meanings of the keys that were read so far, in the order of their first objects.
#[derive(Debug)]
pub struct ObjectKeys<R> {
    keys: Vec<KnownKey<R>>,
    indices: HashMap<Box<str>, usize>,
    /// The key that follows the last one in most objects: a server prints those of each job in the
    /// same order.
    expected: usize,
    /// Whether the object has just begun.
    is_first: bool,
}

#[derive(Debug)]
struct KnownKey<R> {
    /// The key in its quotes, as documents have it.
    quoted: Box<[u8]>,
    /// The key without escapes.
    name: Box<str>,
    meaning: R,
}

impl<R: Copy> ObjectKeys<R> {
    pub fn new() -> Self {
        Self {
            keys: Vec::new(),
            indices: HashMap::new(),
            expected: 0,
            is_first: true,
        }
    }

    /// Begins another object.
    pub fn begin(&mut self) {
        self.is_first = true;
    }

    /// Skips to the next value of an object; `resolve` returns the meaning of a new key. `None` if
    /// the text is not valid JSON.
    #[inline]
    pub fn next(
        &mut self,
        scanner: &mut Scanner<'_>,
        resolve: impl FnOnce(&str) -> R,
    ) -> Option<Next<R>> {
        scanner.space();
        if std::mem::take(&mut self.is_first) {
            self.expected = 0;
            if scanner.take(b'}').is_some() {
                return Some(Next::End);
            }
        } else if scanner.take(b',').is_some() {
            scanner.space();
        } else {
            scanner.take(b'}')?;
            return Some(Next::End);
        }
        // looking a key up takes longer than reading its value
        let index = match self.keys.get(self.expected) {
            Some(expected) if scanner.literal(&expected.quoted).is_some() => self.expected,
            _ => self.read(scanner, resolve)?,
        };
        scanner.colon()?;
        self.expected = index + 1;
        Some(Next::Value(self.keys.get(index)?.meaning, index))
    }

    /// Reads a key, and returns its index.
    #[inline(never)]
    fn read(
        &mut self,
        scanner: &mut Scanner<'_>,
        resolve: impl FnOnce(&str) -> R,
    ) -> Option<usize> {
        let quoted = scanner.quoted()?;
        if let Some(&known) = self.indices.get(quoted) {
            return Some(known);
        }
        let name = Scanner::unquoted(quoted)?;
        if self.keys.len() >= MAX_KEYS {
            self.keys.clear();
            self.indices.clear();
        }
        let index = self.keys.len();
        self.keys.push(KnownKey {
            quoted: quoted.as_bytes().into(),
            meaning: resolve(&name),
            name: name.into(),
        });
        self.indices.insert(quoted.into(), index);
        Some(index)
    }

    /// The key of this index.
    pub fn name(&self, index: usize) -> &str {
        self.keys.get(index).map_or("", |key| &key.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lengths of the keys of an object of numbers.
    fn read(keys: &mut ObjectKeys<usize>, text: &str) -> Option<Vec<usize>> {
        let mut scanner = Scanner::new(text);
        scanner.take(b'{')?;
        let mut found = Vec::new();
        keys.begin();
        while let Next::Value(length, _) = keys.next(&mut scanner, str::len)? {
            scanner.skip_value()?;
            found.push(length);
        }
        Some(found)
    }

    #[test]
    fn keys_are_separated_by_commas() {
        let mut keys = ObjectKeys::new();
        for (text, expected) in [
            (r#"{"a":1,"bb":2}"#, Some(vec![1, 2])),
            (r#"{"bb":2,"a":1}"#, Some(vec![2, 1])),
            (r#"{"a":1,"bb" : 2, "a":3 }"#, Some(vec![1, 2, 1])),
            (r#"{"\u0061":1,"bb":2}"#, Some(vec![1, 2])),
            ("{}", Some(vec![])),
            (r#"{"a":1,}"#, None),
            (r#"{,"a":1}"#, None),
            (r#"{"a":1"bb":2}"#, None),
            (r#"{"\ud800":1}"#, None),
        ] {
            assert_eq!(read(&mut keys, text), expected, "{text}");
        }
    }

    #[test]
    fn more_keys_than_are_remembered_are_read() {
        let mut keys = ObjectKeys::new();
        let entries: Vec<_> = (0..MAX_KEYS + 10)
            .map(|number| format!("\"{number:05}\":1"))
            .collect();
        let text = format!("{{{}}}", entries.join(","));
        assert_eq!(read(&mut keys, &text), Some(vec![5; MAX_KEYS + 10]));
    }
}
