//! The keys of objects of one kind, each of whose meanings is looked up once.

use std::collections::HashMap;

use crate::json_scanner::Scanner;

/// The most keys whose meaning is remembered. An object with another one is left to the reference reader.
const MAX_KEYS: usize = 4096;

/// What comes next in an object: a value or the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next<R> {
    /// A value, with the meaning of its key.
    Value(R),
    End,
}

/// The meanings of the keys that were read so far, in the order of their first objects.
#[derive(Debug)]
pub(super) struct ObjectKeys<R> {
    /// The keys in their quotes.
    keys: Vec<(Box<[u8]>, R)>,
    indices: HashMap<Box<str>, usize>,
    /// The key that follows the last one in most objects: a server prints those of each job in the same order.
    expected: usize,
}

impl<R: Copy> ObjectKeys<R> {
    pub(super) fn new() -> Self {
        Self { keys: Vec::new(), indices: HashMap::new(), expected: 0 }
    }

    /// Skips to the next value of an object, of which `is_first` says whether it is the first; `resolve` returns the meaning
    /// of a new key. `None` if the text is not valid JSON.
    #[inline]
    pub(super) fn next(
        &mut self,
        scanner: &mut Scanner<'_>,
        is_first: bool,
        resolve: impl FnOnce(&str) -> R,
    ) -> Option<Next<R>> {
        scanner.space();
        if scanner.take(b'}').is_some() {
            return Some(Next::End);
        }
        if is_first {
            self.expected = 0;
        } else {
            scanner.take(b',')?;
            scanner.space();
        }
        // looking a key up takes longer than reading its value
        let index = match self.keys.get(self.expected) {
            Some((expected, _)) if scanner.literal(expected).is_some() => {
                scanner.colon()?;
                self.expected
            }
            _ => self.index(scanner.key()?, resolve)?,
        };
        self.expected = index + 1;
        Some(Next::Value(self.keys.get(index)?.1))
    }

    /// The index of a key, which is added if it is new and there are not too many.
    fn index(&mut self, key: &str, resolve: impl FnOnce(&str) -> R) -> Option<usize> {
        if let Some(&known) = self.indices.get(key) {
            return Some(known);
        }
        if self.keys.len() >= MAX_KEYS {
            return None;
        }
        self.keys.push((format!("\"{key}\"").into_bytes().into(), resolve(key)));
        self.indices.insert(key.into(), self.keys.len() - 1);
        Some(self.keys.len() - 1)
    }

    /// Changes the meaning of a known key.
    pub(super) fn redefine(&mut self, key: &str, meaning: R) {
        if let Some(&index) = self.indices.get(key) {
            self.keys[index].1 = meaning;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lengths of the keys of an object of numbers.
    fn read(keys: &mut ObjectKeys<usize>, text: &str) -> Option<Vec<usize>> {
        let mut scanner = Scanner::new(text.as_bytes());
        scanner.take(b'{')?;
        let mut found = Vec::new();
        while let Next::Value(length) = keys.next(&mut scanner, found.is_empty(), str::len)? {
            scanner.number()?;
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
            ("{}", Some(vec![])),
            (r#"{"a":1,}"#, None),
            (r#"{,"a":1}"#, None),
            (r#"{"a":1"bb":2}"#, None),
        ] {
            assert_eq!(read(&mut keys, text), expected, "{text}");
        }
        keys.redefine("a", 9);
        assert_eq!(read(&mut keys, r#"{"a":1,"bb":2}"#), Some(vec![9, 2]));
    }
}
