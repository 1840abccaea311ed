//! Names that must differ: the second of a kind gets a number.

use std::collections::{HashMap, HashSet};

/// The names that are taken.
#[derive(Debug)]
pub(crate) struct UniqueNames {
    taken: HashSet<String>,
    /// The latest number that a name was given, so that many of a kind need no long search.
    latest: HashMap<String, u64>,
    /// What of a name counts.
    key: fn(&str) -> String,
    longest: usize,
}

impl UniqueNames {
    /// No names yet. Two names are the same if their keys are; none is longer than `longest` bytes.
    pub(crate) fn new(key: fn(&str) -> String, longest: usize) -> Self {
        Self { taken: HashSet::new(), latest: HashMap::new(), key, longest }
    }

    /// Takes the name if it is free in its scope.
    pub(crate) fn take(&mut self, scope: &str, name: &str) -> bool {
        self.taken.insert(scoped(scope, &(self.key)(name)))
    }

    /// The name, or the name with a number behind it if it is taken.
    pub(crate) fn claim(&mut self, scope: &str, name: &str) -> String {
        if self.take(scope, name) {
            return name.to_owned();
        }
        let base = scoped(scope, &(self.key)(name));
        let mut number = self.latest.get(&base).copied().unwrap_or(1);
        loop {
            number += 1;
            let tail = format!("_{number}");
            let candidate = cut(name, self.longest.saturating_sub(tail.len())).to_owned() + &tail;
            if self.take(scope, &candidate) {
                self.latest.insert(base, number);
                return candidate;
            }
        }
    }
}

fn scoped(scope: &str, key: &str) -> String {
    format!("{scope}\0{key}")
}

/// As much of the text as fits.
pub(crate) fn cut(text: &str, longest: usize) -> &str {
    let end = (0..=longest.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_of_a_kind_gets_a_number() {
        let mut names = UniqueNames::new(str::to_lowercase, 4);
        let mut claim = |scope: &str, name: &str| names.claim(scope, name);
        assert_eq!(
            [claim("", "ab"), claim("", "AB"), claim("x", "AB"), claim("", "ab_2")],
            ["ab", "AB_2", "AB", "ab_3"]
        );
        assert_eq!([claim("", "abcd"), claim("", "abcd")], ["abcd", "ab_4"]);
        assert_eq!(cut("é", 1), "");
    }

    #[test]
    fn a_hundred_thousand_of_a_kind_are_quick() {
        let mut names = UniqueNames::new(str::to_owned, 255);
        let latest = (0..100_000).map(|_| names.claim("", "a")).last();
        assert_eq!(latest.as_deref(), Some("a_100000"));
    }
}
