//! The known names that are nearest to an unknown one, by edit distance.

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
/// none for a name in [`COMMON_AT_SITES`].
pub(crate) fn nearest<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    if COMMON_AT_SITES.iter().any(|common| common.eq_ignore_ascii_case(typed)) {
        return Vec::new();
    }
    let typed = normalized(typed);
    if typed.is_empty() || typed.len() > MAX_LENGTH {
        return Vec::new();
    }
    let max_distance = (typed.len() / 3).clamp(1, 4);
    let mut near: Vec<(usize, &str)> = known
        .filter(|name| name.len() <= MAX_LENGTH)
        .map(|name| (distance(&typed, &normalized(name)), name))
        .filter(|&(distance, _)| distance <= max_distance)
        .collect();
    near.sort_unstable();
    near.into_iter().take(MAX_SUGGESTIONS).map(|(_, name)| name).collect()
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
pub(crate) const MAX_COMPARED: usize = 100_000;

/// `; did you mean …?` with the names that are similar.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let mut near: Vec<&str> = nearest(name, known.filter(|known| !known.is_empty()));
    near.dedup();
    match near.as_slice() {
        [] => String::new(),
        near => {
            format!("; did you mean {}?", near.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or "))
        }
    }
}
