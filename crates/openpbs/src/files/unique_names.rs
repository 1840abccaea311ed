//! Makes names unique by a number at the end: `ann`, `ann_2`.

use std::collections::{HashMap, HashSet};

/// The names that are taken.
#[derive(Debug)]
pub(super) struct UniqueNames {
    taken: HashSet<String>,
    /// The last number given to each name, so that the search for a free one stays short.
    latest: HashMap<String, u64>,
    longest: usize,
}

impl UniqueNames {
    /// No name becomes longer than `longest` bytes.
    pub(super) fn new(longest: usize) -> Self {
        Self { taken: HashSet::new(), latest: HashMap::new(), longest }
    }

    /// Takes the name if it is free.
    pub(super) fn take(&mut self, name: &str) -> bool {
        self.taken.insert(name.to_owned())
    }

    /// The name, or the name with a number at its end if it is taken.
    pub(super) fn claim(&mut self, name: &str) -> String {
        if self.take(name) {
            return name.to_owned();
        }
        let mut number = self.latest.get(name).copied().unwrap_or(1);
        loop {
            number += 1;
            let tail = format!("_{number}");
            let candidate = truncated(name, self.longest.saturating_sub(tail.len())).to_owned() + &tail;
            if self.take(&candidate) {
                self.latest.insert(name.to_owned(), number);
                return candidate;
            }
        }
    }
}

/// The longest prefix of the text of at most `longest` bytes.
pub(super) fn truncated(text: &str, longest: usize) -> &str {
    let end = (0..=longest.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_of_equal_names_gets_a_number() {
        let mut names = UniqueNames::new(4);
        for (name, claimed) in
            [("ab", "ab"), ("AB", "AB"), ("ab", "ab_2"), ("ab_2", "ab_3"), ("abcd", "abcd"), ("abcd", "ab_4")]
        {
            assert_eq!(names.claim(name), claimed);
        }
        assert_eq!(truncated("é", 1), "");
    }

    #[test]
    fn a_hundred_thousand_equal_names_are_quick() {
        let mut names = UniqueNames::new(255);
        let latest = (0..100_000).map(|_| names.claim("a")).last();
        assert_eq!(latest.as_deref(), Some("a_100000"));
    }
}
