//! The known names that are nearest to an unknown one, by edit distance.

use std::cell::Cell;

/// Longer names are not compared, because the work grows with the product of the two lengths.
const MAX_LENGTH: usize = 64;
const MAX_SUGGESTIONS: usize = 3;
/// Resources that many sites declare: such a name is not a misspelled one of OpenPBS.
const COMMON_AT_SITES: [&str; 16] = [
    "disk", "gpu", "gpumem", "gpus", "jobtype", "licenses", "mic", "mics", "ngpu", "ngpus", "nic", "nmics", "nvme",
    "scratch", "switch", "tmem",
];

/// The names in `known` nearest to `typed`, nearest first, names at the same distance in alphabetical order, at most
/// three. Their distance is at most a third of the length of `typed`, but at least 1 and at most 4 are allowed. There are
/// none for a name in `COMMON_AT_SITES`.
pub fn nearest<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let Some(typed) = Misspelled::new(typed) else { return Vec::new() };
    let known = known.filter(|name| name.len() <= MAX_LENGTH).map(KnownName::new);
    nearest_first(known.filter_map(|name| Some((typed.distance(&name)?, name.name))).collect())
}

/// Many known names, for looking up many others. The work is bounded: when it is spent, nothing is near any more.
#[derive(Debug)]
pub(crate) struct KnownNames<'a> {
    /// By their length in characters.
    by_length: Vec<Vec<KnownName<'a>>>,
    left: Cell<usize>,
}

impl<'a> KnownNames<'a> {
    /// The most comparisons of two names, and of two characters of them.
    const WORK: usize = 20_000_000;

    pub(crate) fn new(known: impl Iterator<Item = &'a str>) -> Self {
        let mut by_length: Vec<Vec<KnownName<'_>>> = Vec::new();
        by_length.resize_with(MAX_LENGTH + 1, Vec::new);
        for name in known.filter(|name| name.len() <= MAX_LENGTH).map(KnownName::new) {
            if let Some(names) = by_length.get_mut(name.characters.len()) {
                names.push(name);
            }
        }
        Self { by_length, left: Cell::new(Self::WORK) }
    }

    /// As [`nearest`].
    pub(crate) fn nearest(&self, typed: &str) -> Vec<&'a str> {
        let Some(typed) = Misspelled::new(typed) else { return Vec::new() };
        let length = typed.characters.len();
        let lengths = length.saturating_sub(typed.max_distance)..=(length + typed.max_distance).min(MAX_LENGTH);
        let mut near = Vec::new();
        for known in self.by_length.get(lengths).into_iter().flatten().flatten() {
            let work = 1 + if typed.may_be_near(known) { length * known.characters.len() } else { 0 };
            let Some(left) = self.left.get().checked_sub(work) else { break };
            self.left.set(left);
            near.extend(typed.distance(known).map(|distance| (distance, known.name)));
        }
        nearest_first(near)
    }
}

fn nearest_first(mut near: Vec<(usize, &str)>) -> Vec<&str> {
    near.sort_unstable();
    near.into_iter().take(MAX_SUGGESTIONS).map(|(_, name)| name).collect()
}

/// A name that may be meant.
#[derive(Debug)]
struct KnownName<'a> {
    name: &'a str,
    characters: Vec<char>,
    /// Which characters it has, see [`set_of`].
    set: u64,
}

impl<'a> KnownName<'a> {
    fn new(name: &'a str) -> Self {
        let characters = normalized(name);
        let set = set_of(&characters);
        Self { name, characters, set }
    }
}

/// A name that is not known.
struct Misspelled {
    characters: Vec<char>,
    set: u64,
    max_distance: usize,
}

impl Misspelled {
    /// `None` if no name is looked for.
    fn new(typed: &str) -> Option<Self> {
        if COMMON_AT_SITES.iter().any(|common| common.eq_ignore_ascii_case(typed)) {
            return None;
        }
        let characters = normalized(typed);
        if characters.is_empty() || characters.len() > MAX_LENGTH {
            return None;
        }
        let max_distance = (characters.len() / 3).clamp(1, 4);
        Some(Self { set: set_of(&characters), characters, max_distance })
    }

    /// Whether the lengths and the characters allow the name to be near: an edit adds at most one character to those of a
    /// name.
    fn may_be_near(&self, known: &KnownName<'_>) -> bool {
        let most = self.max_distance;
        self.characters.len().abs_diff(known.characters.len()) <= most
            && (self.set & !known.set).count_ones() as usize <= most
            && (known.set & !self.set).count_ones() as usize <= most
    }

    /// The distance to a known name, if it is near.
    fn distance(&self, known: &KnownName<'_>) -> Option<usize> {
        let distance = self.may_be_near(known).then(|| distance(&self.characters, &known.characters));
        distance.filter(|&distance| distance <= self.max_distance)
    }
}

/// The characters of a name, each as one of 64 bits that several characters share.
fn set_of(characters: &[char]) -> u64 {
    characters.iter().fold(0, |set, &character| set | 1 << (u32::from(character) % 64))
}

/// In lower case and with one separator, so that the distance from `eligible-time` to `eligible_time` is 0.
fn normalized(name: &str) -> Vec<char> {
    name.chars().flat_map(char::to_lowercase).map(|c| if c == '-' || c == '.' { '_' } else { c }).collect()
}

/// The Damerau–Levenshtein distance (optimal string alignment): an insertion, a deletion, a substitution and a
/// transposition of adjacent characters each cost 1.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before_last: Vec<usize> = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let substituted = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = substituted.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

/// A search for similar names looks at this many at most.
pub const MAX_COMPARED: usize = 100_000;

/// `; did you mean …?` with the names that are similar.
pub fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let mut near: Vec<&str> = nearest(name, known.filter(|known| !known.is_empty()));
    near.dedup();
    match near.as_slice() {
        [] => String::new(),
        near => {
            format!("; did you mean {}?", near.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_names_are_looked_up_as_one_is() {
        let numbered: Vec<String> = (0..500).map(|number| format!("res_{:03}", number * 7 % 1000)).collect();
        let known = numbered.iter().map(String::as_str).chain(["walltime", "ncpus", "größe", ""]);
        let index = KnownNames::new(known.clone());
        for typed in ["walltme", "NCPUS", "res-014", "res_01", "grosse", "x", "", "gpus", &"x".repeat(100)] {
            assert_eq!(index.nearest(typed), nearest(typed, known.clone()), "{typed}");
        }
    }

    #[test]
    fn the_work_of_many_searches_is_bounded() {
        let known: Vec<String> = (0..2000).map(|number| format!("abcdefgh{number:04}")).collect();
        let index = KnownNames::new(known.iter().map(String::as_str));
        let found = (0..2000).filter(|number| !index.nearest(&format!("abcdefhg{number:04}")).is_empty()).count();
        assert!((10..2000).contains(&found), "{found}");
        assert!(index.left.get() < 2000, "{}", index.left.get());
    }
}
