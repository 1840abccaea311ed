//! The known names that are nearest to an unknown one, by edit distance.

use std::cell::Cell;

/// Longer names are not compared, because the work grows with the product of the two lengths.
const MAX_LENGTH: usize = 64;
const MAX_SUGGESTIONS: usize = 3;
/// Resources that many sites declare: such a name is not a misspelled one of OpenPBS.
const COMMON_AT_SITES: [&str; 16] = [
    "disk", "gpu", "gpumem", "gpus", "jobtype", "licenses", "mic", "mics", "ngpu", "ngpus", "nic",
    "nmics", "nvme", "scratch", "switch", "tmem",
];

/// The names in `known` nearest to `typed`, nearest first, names at the same distance in
/// alphabetical order, at most three. Their distance is at most a third of the length of `typed`,
/// but at least 1 and at most 4 are allowed. There are none for a name in `COMMON_AT_SITES`.
pub fn nearest<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    KnownNames::within(usize::MAX, known).nearest(typed)
}

/// Many known names, for looking up many others. The work is bounded: when it is spent, nothing is
/// near any more.
#[derive(Debug)]
pub(crate) struct KnownNames<'a> {
    names: Vec<ComparedName<'a>>,
    left: Cell<usize>,
}

impl<'a> KnownNames<'a> {
    /// The most comparisons of two names, and of two characters of them.
    const WORK: usize = 20_000_000;

    pub(crate) fn new(known: impl Iterator<Item = &'a str>) -> Self {
        Self::within(Self::WORK, known)
    }

    fn within(work: usize, known: impl Iterator<Item = &'a str>) -> Self {
        let known = known.filter(|name| name.len() <= MAX_LENGTH);
        Self {
            names: known.map(ComparedName::new).collect(),
            left: Cell::new(work),
        }
    }

    /// As [`nearest`].
    pub(crate) fn nearest(&self, typed: &str) -> Vec<&'a str> {
        let Some(typed) = Misspelled::new(typed) else {
            return Vec::new();
        };
        let mut near = Vec::new();
        for known in &self.names {
            let work = if typed.may_be_near(known) {
                typed.name.length * known.length
            } else {
                1
            };
            let Some(left) = self.left.get().checked_sub(work) else {
                break;
            };
            self.left.set(left);
            near.extend(typed.distance(known).map(|distance| (distance, known.name)));
        }
        near.sort_unstable();
        near.truncate(MAX_SUGGESTIONS);
        near.into_iter().map(|(_, name)| name).collect()
    }
}

/// A name that is compared.
#[derive(Debug)]
struct ComparedName<'a> {
    name: &'a str,
    /// In lower case and with one separator.
    normalized: String,
    length: usize,
    /// Which characters it has, see [`set_of`].
    set: u64,
}

impl<'a> ComparedName<'a> {
    fn new(name: &'a str) -> Self {
        let normalized = normalized(name);
        Self {
            name,
            length: normalized.chars().count(),
            set: set_of(&normalized),
            normalized,
        }
    }
}

/// A name that is not known.
struct Misspelled<'a> {
    name: ComparedName<'a>,
    max_distance: usize,
}

impl<'a> Misspelled<'a> {
    /// `None` if no name is looked for.
    fn new(typed: &'a str) -> Option<Self> {
        if COMMON_AT_SITES
            .iter()
            .any(|common| common.eq_ignore_ascii_case(typed))
        {
            return None;
        }
        let name = ComparedName::new(typed);
        let max_distance = (name.length / 3).clamp(1, 4);
        (1..=MAX_LENGTH)
            .contains(&name.length)
            .then_some(Self { name, max_distance })
    }

    /// Whether the lengths and the characters allow the name to be near: an edit adds at most one
    /// character to those of a name.
    fn may_be_near(&self, known: &ComparedName<'_>) -> bool {
        let most = self.max_distance;
        self.name.length.abs_diff(known.length) <= most
            && (self.name.set & !known.set).count_ones() as usize <= most
            && (known.set & !self.name.set).count_ones() as usize <= most
    }

    /// The distance to a known name, if it is near: an insertion, a deletion, a substitution and a
    /// transposition of adjacent characters each cost 1.
    fn distance(&self, known: &ComparedName<'_>) -> Option<usize> {
        if !self.may_be_near(known) {
            return None;
        }
        let distance = strsim::osa_distance(&self.name.normalized, &known.normalized);
        (distance <= self.max_distance).then_some(distance)
    }
}

/// The characters of a name, each as one of 64 bits that several characters share.
fn set_of(name: &str) -> u64 {
    name.chars()
        .fold(0, |set, character| set | 1 << (u32::from(character) % 64))
}

/// In lower case and with one separator, so that the distance from `eligible-time` to
/// `eligible_time` is 0.
fn normalized(name: &str) -> String {
    name.chars()
        .flat_map(char::to_lowercase)
        .map(|c| if c == '-' || c == '.' { '_' } else { c })
        .collect()
}

/// A search for similar names looks at this many at most.
pub const MAX_COMPARED: usize = 100_000;

/// `; did you mean …?` with the names that are similar.
pub fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let mut near: Vec<&str> = nearest(name, known.filter(|known| !known.is_empty()));
    // equal names are neighbours, since they are at the same distance
    near.dedup();
    match near.as_slice() {
        [] => String::new(),
        near => {
            format!(
                "; did you mean {}?",
                near.iter()
                    .map(|name| format!("`{name}`"))
                    .collect::<Vec<_>>()
                    .join(" or ")
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_names_are_looked_up_as_one_is() {
        let numbered: Vec<String> = (0..500)
            .map(|number| format!("res_{:03}", number * 7 % 1000))
            .collect();
        let known = numbered
            .iter()
            .map(String::as_str)
            .chain(["walltime", "ncpus", "größe", ""]);
        let index = KnownNames::new(known.clone());
        for typed in [
            "walltme",
            "NCPUS",
            "res-014",
            "res_01",
            "grosse",
            "x",
            "",
            "gpus",
            &"x".repeat(100),
        ] {
            assert_eq!(
                index.nearest(typed),
                nearest(typed, known.clone()),
                "{typed}"
            );
        }
    }

    #[test]
    fn the_work_of_many_searches_is_bounded() {
        let known: Vec<String> = (0..2000)
            .map(|number| format!("abcdefgh{number:04}"))
            .collect();
        let index = KnownNames::new(known.iter().map(String::as_str));
        let found = (0..2000)
            .filter(|number| !index.nearest(&format!("abcdefhg{number:04}")).is_empty())
            .count();
        assert!((10..2000).contains(&found), "{found}");
        assert!(index.left.get() < 2000, "{}", index.left.get());
    }
}
