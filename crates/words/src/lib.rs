//! Counts and lists of names in the sentences of messages.
//!
//! Internal to the workspace: the crates that other programs call are `job-sort-formula` and
//! `jsf-site`.

#![forbid(unsafe_code)]

use std::borrow::Borrow;
use std::fmt::Display;

/// `1 job`, `2 jobs`.
pub fn count(number: usize, noun: &str) -> String {
    counted(number, noun, &format!("{noun}s"))
}

/// The same with words that have another plural: `1 job is`, `2 jobs are`.
pub fn counted(count: usize, one: &str, many: &str) -> String {
    if count == 1 {
        format!("1 {one}")
    } else {
        format!("{count} {many}")
    }
}

/// `a, b and c`.
pub fn and_list(words: &[impl Borrow<str>]) -> String {
    match words.split_last() {
        Some((last, others)) if !others.is_empty() => {
            format!("{} and {}", others.join(", "), last.borrow())
        }
        _ => words.concat(),
    }
}

/// `` `a`, `b`, `c` ``.
pub fn quoted_list(names: impl IntoIterator<Item = impl Display>) -> String {
    all_quoted(names).join(", ")
}

/// `` `a`, `b` and `c` ``.
pub fn quoted_and_list(names: impl IntoIterator<Item = impl Display>) -> String {
    and_list(&all_quoted(names))
}

fn all_quoted(names: impl IntoIterator<Item = impl Display>) -> Vec<String> {
    names.into_iter().map(|name| format!("`{name}`")).collect()
}

/// The first few of some names, and how many more there are: `a, b and 3 more`.
pub fn first_few(
    names: impl IntoIterator<Item = impl Display, IntoIter: ExactSizeIterator>,
    most: usize,
) -> String {
    let names = names.into_iter();
    let more = names.len().saturating_sub(most);
    let names: Vec<String> = names.take(most).map(|name| name.to_string()).collect();
    let listed = names.join(", ");
    match more {
        0 => listed,
        more => format!("{listed} and {more} more"),
    }
}

/// The same with each name in back-ticks: `` `a`, `b` and 3 more ``.
pub fn first_few_quoted(
    names: impl IntoIterator<Item = impl Display, IntoIter: ExactSizeIterator>,
    most: usize,
) -> String {
    first_few(names.into_iter().map(|name| format!("`{name}`")), most)
}

/// All names in back-ticks as [`quoted_and_list`] has them, but of more than five the first five,
/// and how many more there are.
pub fn quoted_and_list_of_five(names: impl IntoIterator<Item = impl Display>) -> String {
    const MAX_NAMES: usize = 5;
    let mut names = names.into_iter();
    let mut listed = all_quoted(names.by_ref().take(MAX_NAMES));
    let more = names.count();
    if more > 0 {
        listed.push(format!("{more} more"));
    }
    and_list(&listed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_an_and_or_name_the_first_ones() {
        let names = ["a", "b", "c", "d", "e", "f", "g"];
        let of = |some: usize| {
            let some = &names[..some];
            [
                and_list(some),
                quoted_list(some),
                quoted_and_list(some),
                first_few(some, 2),
                first_few_quoted(some, 2),
                quoted_and_list_of_five(some),
            ]
        };
        assert_eq!(of(0), [""; 6]);
        assert_eq!(of(1), ["a", "`a`", "`a`", "a", "`a`", "`a`"]);
        assert_eq!(
            of(2),
            [
                "a and b",
                "`a`, `b`",
                "`a` and `b`",
                "a, b",
                "`a`, `b`",
                "`a` and `b`"
            ]
        );
        assert_eq!(
            of(7)[3..],
            [
                "a, b and 5 more",
                "`a`, `b` and 5 more",
                "`a`, `b`, `c`, `d`, `e` and 2 more"
            ]
        );
    }
}
