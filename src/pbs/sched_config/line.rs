//! One line of `sched_config`, in its parts.

use super::{ConfigFault, Times};

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

/// The parts of a line `name: value [time]`; a value in double quotes may have blanks in it.
pub(super) fn split_line(text: &str) -> Result<Line<'_>, ConfigFault> {
    let not_a_setting = || ConfigFault::NotASetting(text.trim().to_owned());
    let (name, rest) = text.split_once(':').ok_or_else(not_a_setting)?;
    let (value, rest) = split_value(rest.trim_start()).ok_or_else(not_a_setting)?;
    let name = name.trim();
    if name.is_empty() {
        return Err(not_a_setting());
    }
    Ok(Line { name, value, times: split_time(rest)? })
}

fn split_value(text: &str) -> Option<(&str, &str)> {
    if let Some(quoted) = text.strip_prefix('"') {
        return Some(quoted.split_once('"').unwrap_or((quoted, "")));
    }
    let end = text.find(|char: char| char.is_ascii_whitespace()).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

fn split_time(rest: &str) -> Result<Times, ConfigFault> {
    let word = rest.split_ascii_whitespace().next().filter(|word| !word.starts_with('#'));
    let (prime, non_prime) = match word.map(str::to_ascii_lowercase).as_deref() {
        None | Some("all") => (true, true),
        Some("prime") => (true, false),
        Some("non_prime") => (false, true),
        Some(_) => return Err(ConfigFault::UnknownTime(word.unwrap_or_default().to_owned())),
    };
    Ok(Times { prime, non_prime })
}
