//! Makes names unique by a number at the end: `ann`, `ann_2`.

use std::collections::{HashMap, HashSet};

/// The names that are taken.
#[derive(Debug)]
pub struct UniqueNames {
    taken: HashSet<String>,
    /// The last number given to each name, so that the search for a free one stays short.
    latest: HashMap<String, u64>,
    /// The part of a name that must be unique.
    key: fn(&str) -> String,
    longest: usize,
}

impl UniqueNames {
    /// Names are equal if their keys are; none becomes longer than `longest` bytes.
    pub fn new(key: fn(&str) -> String, longest: usize) -> Self {
        Self { taken: HashSet::new(), latest: HashMap::new(), key, longest }
    }

    /// Takes the name if it is free in its scope.
    pub fn take(&mut self, scope: &str, name: &str) -> bool {
        self.taken.insert(scoped(scope, &(self.key)(name)))
    }

    /// The name, or the name with a number at its end if it is taken.
    pub fn claim(&mut self, scope: &str, name: &str) -> String {
        if self.take(scope, name) {
            return name.to_owned();
        }
        let base = scoped(scope, &(self.key)(name));
        let mut number = self.latest.get(&base).copied().unwrap_or(1);
        loop {
            number += 1;
            let tail = format!("_{number}");
            let candidate = truncated(name, self.longest.saturating_sub(tail.len())).to_owned() + &tail;
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

/// The longest prefix of the text of at most `longest` bytes.
pub fn truncated(text: &str, longest: usize) -> &str {
    let end = (0..=longest.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_of_equal_names_gets_a_number() {
        let mut names = UniqueNames::new(str::to_lowercase, 4);
        for (scope, name, claimed) in [
            ("", "ab", "ab"),
            ("", "AB", "AB_2"),
            ("x", "AB", "AB"),
            ("", "ab_2", "ab_3"),
            ("", "abcd", "abcd"),
            ("", "abcd", "ab_4"),
        ] {
            assert_eq!(names.claim(scope, name), claimed);
        }
        assert_eq!(truncated("é", 1), "");
    }

    #[test]
    fn a_hundred_thousand_equal_names_are_quick() {
        let mut names = UniqueNames::new(str::to_owned, 255);
        let latest = (0..100_000).map(|_| names.claim("", "a")).last();
        assert_eq!(latest.as_deref(), Some("a_100000"));
    }
}
