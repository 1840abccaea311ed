//! One line of `sched_config`, in its parts.

use crate::pbs::files::sched_config::{ConfigFault, Times};

/// The parts of a line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) name: &'a str,
    /// What stands after the colon, without its quotes.
    pub(super) value: &'a str,
    pub(super) times: Times,
}

impl Line<'_> {
    pub(super) fn bad_value(&self, expected: &'static str) -> ConfigFault {
        ConfigFault::BadValue { name: self.name.to_owned(), value: self.value.to_owned(), expected }
    }
}

/// The parts of a line `name: value [time]`; a value in quotes may have blanks in it. A time that does not exist is
/// reported, and the setting is in force at all times.
pub(super) fn split_line(text: &str) -> Result<(Line<'_>, Option<ConfigFault>), ConfigFault> {
    let not_a_setting = || ConfigFault::NotASetting(text.trim().to_owned());
    let (name, rest) = text.split_once(':').ok_or_else(not_a_setting)?;
    let (value, rest) = split_value(rest.trim_start()).ok_or_else(not_a_setting)?;
    let name = name.trim();
    if name.is_empty() {
        return Err(not_a_setting());
    }
    let (times, unknown) = split_time(rest);
    Ok((Line { name, value, times }, unknown))
}

fn split_value(text: &str) -> Option<(&str, &str)> {
    if let Some(quote) = text.chars().next().filter(|first| matches!(first, '"' | '\'')) {
        let quoted = &text[1..];
        return Some(quoted.split_once(quote).unwrap_or((quoted, "")));
    }
    let end = text.find(|char: char| char.is_ascii_whitespace()).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

fn split_time(rest: &str) -> (Times, Option<ConfigFault>) {
    let always = Times { prime: true, non_prime: true };
    match rest.split_ascii_whitespace().next().filter(|word| !word.starts_with('#')) {
        None | Some("all" | "ALL") => (always, None),
        Some("prime" | "PRIME") => (Times { non_prime: false, ..always }, None),
        Some("non_prime" | "NON_PRIME") => (Times { prime: false, ..always }, None),
        Some("none" | "NONE") => (Times { prime: false, non_prime: false }, None),
        Some(word) => (always, Some(ConfigFault::UnknownTime(word.to_owned()))),
    }
}
