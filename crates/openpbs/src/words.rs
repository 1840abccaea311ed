//! Numbers and names in the sentences of messages.

use std::fmt::Display;

/// `1 job`, `2 jobs`.
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
