//! One line of `sched_config`: its parts, and its value as the type of the setting.

use crate::c_text::{leading_int, whole_double, whole_int};
use crate::files::sched_config::{NodeAmount, NodeSortKey, SortFirst, SortKey, Times};

/// The daemon's value for a number that it cannot read.
const UNSPECIFIED: i32 = -1;

/// A line, split into its parts.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    pub name: &'a str,
    /// The value, without its quotes.
    pub value: &'a str,
    pub times: Times,
}

impl Line<'_> {
    pub fn bad_value(&self, expected: &str) -> String {
        let Self { name, value, .. } = self;
        format!("`{name}` cannot be `{value}`: {expected}")
    }

    /// `true` or `false` in any case, or a whole number, of which only 0 is false.
    pub fn boolean(&self) -> Result<bool, String> {
        match boolean(self.value) {
            Some(boolean) => Ok(boolean),
            None => match whole_int(self.value.as_bytes()) {
                Some(number) => Ok(number != 0),
                None => Err(self.bad_value("it is `true` or `false`")),
            },
        }
    }

    /// A whole number.
    pub fn number(&self) -> Result<i32, String> {
        whole_int(self.value.as_bytes()).ok_or_else(|| self.bad_value("it is a whole number"))
    }

    /// `HH:MM:SS`, `MM:SS` or seconds; more than 0. In seconds.
    pub fn duration(&self) -> Result<u64, String> {
        match self.seconds() {
            None | Some(0) => {
                Err(self.bad_value("it is a time, `HH:MM:SS`, of more than 0 seconds"))
            }
            Some(seconds) => Ok(seconds),
        }
    }

    /// `HH:MM:SS`, `MM:SS` or seconds, in seconds.
    pub fn duration_or_none(&self) -> Result<u64, String> {
        let seconds = self.seconds();
        seconds.ok_or_else(|| self.bad_value("it is a time, `HH:MM:SS`"))
    }

    fn seconds(&self) -> Option<u64> {
        if self.value.matches(':').count() > 2 {
            return None;
        }
        let mut seconds: u64 = 0;
        for part in self.value.split(':') {
            seconds = seconds.checked_mul(60)?.checked_add(part.parse().ok()?)?;
        }
        Some(seconds)
    }

    /// A number between 0 and 1, exclusive, as a C `float`; or NaN, which the daemon's comparisons
    /// let through.
    pub fn decay_factor(&self) -> Result<f32, String> {
        if let Some(factor) = whole_double(self.value.as_bytes()) {
            let factor = factor as f32;
            if factor.is_nan() || (factor > 0.0 && factor < 1.0) {
                return Ok(factor);
            }
        }
        Err(self.bad_value("it is a number between 0 and 1, neither included"))
    }

    /// `"name HIGH"` or `"name LOW"`. The daemon reads two words and ignores the rest.
    pub fn sort_key(&self) -> Result<SortKey, String> {
        let words: Vec<&str> = self.value.split_ascii_whitespace().collect();
        let first = match words[..] {
            [_, "HIGH" | "High" | "high", ..] => SortFirst::High,
            [_, "LOW" | "Low" | "low", ..] => SortFirst::Low,
            _ => return Err(self.bad_value("it is a name and `HIGH` or `LOW`, in double quotes")),
        };
        Ok(SortKey {
            name: words[0].to_owned(),
            first,
        })
    }

    /// The same for nodes, with `total`, `assigned` or `unused` as a third word.
    pub fn node_sort_key(&self) -> Result<NodeSortKey, String> {
        let amount = self.value.split_ascii_whitespace().nth(2);
        Ok(NodeSortKey {
            key: self.sort_key()?,
            amount: match amount {
                Some("unused") => NodeAmount::Unused,
                Some("assigned") => NodeAmount::Assigned,
                _ => NodeAmount::Total,
            },
        })
    }
}

/// The leading digits as a number, 1 for `true`, 0 for `false`, and -1 for any other value: `2.9`
/// is 2, `-5` is -1.
pub fn number_or_unspecified(value: &str) -> i32 {
    match boolean(value) {
        Some(boolean) => i32::from(boolean),
        None => leading_int(value.as_bytes()).unwrap_or(UNSPECIFIED),
    }
}

fn boolean(value: &str) -> Option<bool> {
    if value.eq_ignore_ascii_case("true") {
        Some(true)
    } else if value.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

/// Splits a line `name: value [time]`; a quoted value may contain blanks. An unknown time is
/// returned as a fault, and the setting then applies at all times. `None` for a line without a
/// colon, a name or a value.
pub fn split_line(text: &str) -> Option<(Line<'_>, Option<String>)> {
    let (name, value_and_time) = text.split_once(':')?;
    let (value, time) = split_value(value_and_time.trim_start())?;
    let (times, unknown_time) = parse_times(time);
    let name = name.trim();
    if name.is_empty() {
        return None;
    }
    Some((Line { name, value, times }, unknown_time))
}

/// Splits off the value, which may be quoted.
fn split_value(text: &str) -> Option<(&str, &str)> {
    for quote in ['"', '\''] {
        if let Some(quoted) = text.strip_prefix(quote) {
            return Some(quoted.split_once(quote).unwrap_or((quoted, "")));
        }
    }
    match text.find(|char: char| char.is_ascii_whitespace()) {
        Some(0) => None,
        Some(end) => Some(text.split_at(end)),
        None if text.is_empty() => None,
        None => Some((text, "")),
    }
}

/// The times at which a setting applies, and the fault if they are unknown.
fn parse_times(text: &str) -> (Times, Option<String>) {
    let word = text.split_ascii_whitespace().next().unwrap_or_default();
    let mut unknown = None;
    let (prime, non_prime) = match word {
        "" | "all" | "ALL" => (true, true),
        "prime" | "PRIME" => (true, false),
        "non_prime" | "NON_PRIME" => (false, true),
        "none" | "NONE" => (false, false),
        _ => {
            if !word.starts_with('#') {
                unknown = Some(format!("`{word}` is not `PRIME`, `NON_PRIME` or `ALL`"));
            }
            (true, true)
        }
    };
    (Times { prime, non_prime }, unknown)
}
