//! What the values of `sched_config` mean.

use crate::pbs::c_string::{leading_int, whole_int};
use crate::pbs::files::sched_config::line::Line;
use crate::pbs::files::sched_config::{ConfigFault, SortFirst, SortKey};
use crate::pbs::strtod::whole_double;

/// What the daemon has for a number that it could not find.
const UNSPECIFIED: i32 = -1;

/// `true` or `false` in any case, or a number, of which only 0 is false.
pub(super) fn truth(line: &Line<'_>) -> Result<bool, ConfigFault> {
    match line.value {
        value if value.eq_ignore_ascii_case("true") => Ok(true),
        value if value.eq_ignore_ascii_case("false") => Ok(false),
        value => whole_int(value.as_bytes())
            .map(|number| number != 0)
            .ok_or_else(|| line.bad_value("it is `true` or `false`")),
    }
}

/// A whole number.
pub(super) fn number(line: &Line<'_>) -> Result<i32, ConfigFault> {
    whole_int(line.value.as_bytes()).ok_or_else(|| line.bad_value("it is a whole number"))
}

/// The digits that the value starts with, 1 and 0 for `true` and `false`, else -1: `2.9` is 2, `-5` is -1.
pub(super) fn number_or_unspecified(value: &str) -> i32 {
    match value {
        _ if value.eq_ignore_ascii_case("true") => 1,
        _ if value.eq_ignore_ascii_case("false") => 0,
        _ => leading_int(value.as_bytes()).unwrap_or(UNSPECIFIED),
    }
}

/// `HH:MM:SS`, `MM:SS` or seconds, more than 0.
pub(super) fn duration(line: &Line<'_>) -> Result<u64, ConfigFault> {
    let parts: Option<Vec<u64>> = line.value.split(':').map(|part| part.parse().ok()).collect();
    parts
        .filter(|parts| parts.len() <= 3)
        .and_then(|parts| parts.iter().try_fold(0u64, |total, &part| total.checked_mul(60)?.checked_add(part)))
        .filter(|&seconds| seconds > 0)
        .ok_or_else(|| line.bad_value("it is a time, `HH:MM:SS`, of more than 0 seconds"))
}

/// A number between 0 and 1, neither included, as a C `float`; or NaN, to which no bound applies.
pub(super) fn decay_factor(line: &Line<'_>) -> Result<f32, ConfigFault> {
    let factor = whole_double(line.value.as_bytes()).map(|factor| factor as f32);
    factor
        .filter(|&factor| factor.is_nan() || (factor > 0.0 && factor < 1.0))
        .ok_or_else(|| line.bad_value("it is a number between 0 and 1, neither included"))
}

/// `"name HIGH"` or `"name LOW"`.
pub(super) fn sort_key(line: &Line<'_>) -> Result<SortKey, ConfigFault> {
    let words: Vec<&str> = line.value.split_ascii_whitespace().collect();
    let (name, first) = match words[..] {
        [name, "HIGH" | "high"] => (name, SortFirst::High),
        [name, "LOW" | "low"] => (name, SortFirst::Low),
        _ => return Err(line.bad_value("it is a name and `HIGH` or `LOW`, in double quotes")),
    };
    Ok(SortKey { name: name.to_owned(), first })
}
