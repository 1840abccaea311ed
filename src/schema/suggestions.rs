//! The known names that are nearest to an unknown one, by edit distance.

/// Longer names are not compared, because the work grows with the product of the two lengths.
const MAX_LENGTH: usize = 64;
const MAX_SUGGESTIONS: usize = 3;
/// A search for similar names looks at this many at most.
pub const MAX_COMPARED: usize = 100_000;
/// Resources that many sites declare: such a name is not a misspelled one of OpenPBS.
const COMMON_AT_SITES: [&str; 16] = [
    "disk", "gpu", "gpumem", "gpus", "jobtype", "licenses", "mic", "mics", "ngpu", "ngpus", "nic",
    "nmics", "nvme", "scratch", "switch", "tmem",
];

/// The names in `known` nearest to `typed`, nearest first, names at the same distance in
/// alphabetical order, at most three. Their distance is at most a third of the length of `typed`,
/// but at least 1 and at most 4 are allowed. There are none for a name in `COMMON_AT_SITES`.
///
/// An insertion, a deletion, a substitution and a transposition of adjacent characters each cost 1.
pub fn nearest<'a>(typed: &str, known: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let is_common = |common: &&str| common.eq_ignore_ascii_case(typed);
    let written = normalized(typed);
    let length = written.chars().count();
    if COMMON_AT_SITES.iter().any(is_common) || !(1..=MAX_LENGTH).contains(&length) {
        return Vec::new();
    }
    let max_distance = (length / 3).clamp(1, 4);
    let mut near = Vec::new();
    for name in known {
        if name.len() > MAX_LENGTH {
            continue;
        }
        let distance = strsim::osa_distance(&written, &normalized(name));
        if distance <= max_distance {
            near.push((distance, name));
        }
    }
    near.sort_unstable();
    near.truncate(MAX_SUGGESTIONS);
    near.into_iter().map(|(_, name)| name).collect()
}

/// In lower case and with one separator, so that the distance from `eligible-time` to
/// `eligible_time` is 0.
fn normalized(name: &str) -> String {
    name.to_lowercase().replace(['-', '.'], "_")
}

/// `; did you mean …?` with the names that are similar.
pub fn did_you_mean<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let mut near: Vec<&str> = nearest(name, known.filter(|known| !known.is_empty()));
    // equal names are neighbours, since they are at the same distance
    near.dedup();
    if near.is_empty() {
        return String::new();
    }
    format!("; did you mean `{}`?", near.join("` or `"))
}
