//! Numbers and names in the sentences of messages.

use std::fmt::Display;

/// The most names in a warning.
const MAX_NAMES: usize = 5;

/// `1 job`, `2 jobs`.
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// The same with words that have another plural: `1 job is`, `2 jobs are`.
pub fn counted(count: usize, one: &str, many: &str) -> String {
    if count == 1 {
        format!("1 {one}")
    } else {
        format!("{count} {many}")
    }
}

/// Names in a sentence: `` `a`, `b` ``.
pub fn quoted(names: impl IntoIterator<Item = impl Display>) -> String {
    let names: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// The first three names, and how many more there are.
pub(crate) fn first_three(names: &[impl Display]) -> String {
    match names.split_at_checked(3) {
        Some((first, [_, ..])) => format!("{} and {} more", quoted(first), names.len() - 3),
        _ => quoted(names),
    }
}

/// The first few names, and how many more there are.
pub fn first_names<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let mut listed = Vec::new();
    let mut more = 0;
    for name in names {
        if listed.len() < MAX_NAMES {
            listed.push(format!("`{name}`"));
        } else {
            more += 1;
        }
    }
    if more > 0 {
        listed.push(format!("{more} more"));
    }
    match listed.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => listed.concat(),
    }
}
