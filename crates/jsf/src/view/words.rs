//! Numbers, times and lists in words, as every answer writes them, and text from outside, made safe
//! for a terminal.

use std::borrow::Cow;
use std::fmt::{Display, Write};

use jiff::Timestamp;
use job_sort_formula::diagnostic::is_control;
use job_sort_formula::jobs::JobState;
pub(crate) use jsf_words::{and_list, count, first_few, first_few_quoted, quoted_and_list};

/// A number of things, with the digits of a long one in groups: `12,345 jobs`.
pub(crate) fn grouped_count(number: usize, noun: &str) -> String {
    grouped(&count(number, noun))
}

/// What a state means for the job.
pub(crate) fn state_words(state: JobState) -> &'static str {
    match state {
        JobState::Queued => "queued",
        JobState::Held => "held",
        JobState::Waiting => "waiting for its start time",
        JobState::Running => "running",
        JobState::Exiting => "exiting",
        JobState::Suspended => "suspended",
        JobState::Parked => "suspended because its workstation is in use",
        JobState::Begun => "an array that has begun",
        JobState::Transit => "being moved to another location",
        JobState::Moved => "moved to another server",
        JobState::Finished | JobState::Expired => "finished",
        JobState::Completed => "completed",
        JobState::Unknown => "unknown",
    }
}

/// A sentence from a clause.
pub(crate) fn capitalised(clause: &str) -> String {
    let mut characters = clause.chars();
    match characters.next() {
        Some(first) => first.to_uppercase().to_string() + characters.as_str(),
        None => String::new(),
    }
}

/// `the one job`, `all 81 jobs`, `80 of 81 jobs`.
pub(crate) fn part_of_jobs(some: usize, jobs: usize) -> String {
    match (some, jobs) {
        (1, 1) => "the one job".to_owned(),
        _ if some == jobs => format!("all {}", count(jobs, "job")),
        _ => format!("{some} of {}", count(jobs, "job")),
    }
}

/// `1st`, `2nd`, `11th`.
pub(crate) fn ordinal(number: usize) -> String {
    let suffix = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    grouped_number(number) + suffix
}

/// A length of time for people: its two largest units, rounded.
pub(crate) fn duration(seconds: f64) -> String {
    // rounded first, so that 3,599.6 s are an hour and not 59 min 60 s
    let unit = match seconds.round() as i64 {
        86_400.. => 3600,
        3600.. => 60,
        _ => 1,
    };
    waiting_time(rounded(seconds, unit))
}

/// A length of time that need not be exact, such as the end of an interval: one unit below an hour,
/// and if there are five of it, else two.
pub(crate) fn rough_duration(seconds: f64) -> String {
    let unit = match seconds {
        86_400.0.. => 86_400,
        3600.0.. => 3600,
        60.0.. => return waiting_time(rounded(seconds, 60)),
        _ => return duration(seconds),
    };
    if seconds >= 5.0 * unit as f64 {
        waiting_time(rounded(seconds, unit))
    } else {
        duration(seconds)
    }
}

/// The nearest multiple of a unit.
fn rounded(seconds: f64, unit: i64) -> i64 {
    (seconds / unit as f64).round() as i64 * unit
}

/// A change of a time in words, with its sign.
pub(crate) fn signed_duration(change: f64) -> String {
    signed(change, duration)
}

/// A change of a time that need not be exact.
pub(crate) fn signed_rough_duration(change: f64) -> String {
    signed(change, rough_duration)
}

fn signed(change: f64, words: fn(f64) -> String) -> String {
    match change {
        change if change.round() == 0.0 => "0".to_owned(),
        change if change > 0.0 => format!("+{}", words(change)),
        change => format!("-{}", words(-change)),
    }
}

/// A number without the zeros at the end of its decimals.
pub(crate) fn without_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

/// A number for people: three significant digits, but all digits before the point, in groups.
pub(crate) fn significant(number: f64) -> String {
    if number == 0.0 || !number.is_finite() {
        return number.to_string();
    }
    let exponent = number.abs().log10().floor() as i32;
    if !(-6..=15).contains(&exponent) {
        return format!("{number:.2e}");
    }
    let text = format!("{number:.*}", usize::try_from(2 - exponent).unwrap_or(0));
    grouped(without_zeros(&text))
}

/// A change for people, with its sign and three significant digits.
pub(crate) fn signed_significant(change: f64) -> String {
    if change > 0.0 {
        format!("+{}", significant(change))
    } else {
        significant(change)
    }
}

/// A change of a part of a whole for people.
pub(crate) fn signed_points(change: f64) -> String {
    format!("{} points", signed_significant(change * 100.0))
}

/// A part of a whole for people: three significant digits, at most four decimals.
pub(crate) fn percent(part: f64) -> String {
    let percent = part * 100.0;
    let decimals = match percent.abs() {
        ..0.00005 => 0,
        ..0.01 => 4,
        ..1.0 => 3,
        // what is rounded to 10 needs one decimal less
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{percent:.decimals$} %")
}

/// A waiting time in days, hours, minutes and seconds: the two largest units that it has, and above
/// a day the minutes too, so that two moments of the same hour differ.
pub fn waiting_time(seconds: i64) -> String {
    let units = [
        (seconds / 86_400, "d"),
        (seconds / 3600 % 24, "h"),
        (seconds / 60 % 60, "min"),
        (seconds % 60, "s"),
    ];
    let mut shown = Vec::new();
    let most = if seconds >= 86_400 { 3 } else { 2 };
    let first = units.iter().position(|(count, _)| *count > 0);
    for (count, unit) in units.iter().skip(first.unwrap_or(3)).take(most) {
        if *count > 0 || seconds == 0 {
            shown.push(format!("{count} {unit}"));
        }
    }
    shown.join(" ")
}

/// A time in UTC.
pub(crate) fn moment(seconds: i64) -> String {
    clock_time(seconds) + " UTC"
}

/// A time on the clock on which it is given.
pub(crate) fn clock_time(seconds: i64) -> String {
    match Timestamp::from_second(seconds) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M:%S").to_string(),
        // jiff has no time beyond the year 9999, which a walltime may reach
        Err(_) => seconds.to_string(),
    }
}

/// The numbers of a text with their digits in groups of three, if they have more than four before
/// the point. Digits that are a part of a name, such as those of `184127.server`, stay as they are.
pub(crate) fn grouped(text: &str) -> String {
    let mut grouped = String::with_capacity(text.len());
    let mut before = None;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let digits = rest
            .find(|character: char| !character.is_ascii_digit())
            .unwrap_or(rest.len());
        let end = if digits > 0 { digits } else { first.len_utf8() };
        let after = &rest[end..];
        let is_number = !before.is_some_and(is_in_a_name) && !continues_a_name(after);
        for (index, character) in rest[..end].char_indices() {
            if digits > 4 && is_number && index > 0 && (digits - index).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(character);
        }
        before = rest[..end].chars().next_back();
        rest = after;
    }
    grouped
}

/// A number with the digits of a long one in groups.
pub(crate) fn grouped_number(number: impl Display) -> String {
    grouped(&number.to_string())
}

fn is_in_a_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '.' | '_' | '/' | '@' | '#')
}

/// Whether a text goes on with the rest of a name, such as `.server`, `[7].server` or `-a`.
fn continues_a_name(text: &str) -> bool {
    let mut characters = text.chars();
    let first = characters.next();
    let second = characters.next();
    match first {
        Some('.') => second.is_some_and(|second| second.is_alphabetic() || second == '_'),
        Some('-' | ':') => second.is_some_and(char::is_alphanumeric),
        Some(first) => first.is_alphabetic() || matches!(first, '_' | '[' | '/' | '@'),
        None => false,
    }
}

/// Replaces the middle of a text.
const MARK: &str = " … ";

/// The text with every character escaped that a terminal could obey, that would reorder a line, or
/// that cannot be seen: control characters, line ends included, the controls of bidirectional text,
/// and invisible characters.
///
/// ```
/// use jsf::view::words::printable;
///
/// assert_eq!(printable("12.vm"), "12.vm");
/// assert_eq!(printable("\u{1b}[2J"), r"\x1b[2J");
/// assert_eq!(printable("ro\u{200b}ot"), r"ro\u{200b}ot");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_control) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        let _ = match character {
            '\n' => shown.write_str("\\n"),
            '\t' => shown.write_str("\\t"),
            '\r' => shown.write_str("\\r"),
            _ if !is_control(character) => shown.write_char(character),
            _ if character.is_ascii() => write!(shown, "\\x{:02x}", u32::from(character)),
            _ => write!(shown, "{}", character.escape_unicode()),
        };
    }
    Cow::Owned(shown)
}

/// A text of more than `limit` characters without its middle, which a mark replaces.
pub(crate) fn excerpt(text: &str, limit: usize) -> Cow<'_, str> {
    // a text of so many bytes has at most so many characters
    if text.len() <= limit || text.chars().nth(limit).is_none() {
        return Cow::Borrowed(text);
    }
    let kept = limit.saturating_sub(MARK.chars().count());
    let start: String = text.chars().take(kept.div_ceil(2)).collect();
    let end: Vec<char> = text.chars().rev().take(kept / 2).collect();
    Cow::Owned(start + MARK + &end.into_iter().rev().collect::<String>())
}

/// The text with every character escaped that [`printable`] escapes, except the ends of its lines
/// and tabs: a text of several lines from outside, such as a formula with its comments.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    if !text
        .chars()
        .any(|character| is_control(character) && !matches!(character, '\n' | '\t'))
    {
        return Cow::Borrowed(text);
    }
    let parts = text.split_inclusive(['\n', '\t']).map(|part| {
        let end = part.trim_end_matches(['\n', '\t']);
        format!("{}{}", printable(end), &part[end.len()..])
    });
    Cow::Owned(parts.collect())
}

/// The text with every character that [`printable`] escapes, except line feeds and tabs, replaced
/// by others of the same length in UTF-8, so that the spans of findings still fit the text.
pub(crate) fn printable_in_place(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character.len_utf8() {
            _ if matches!(character, '\n' | '\t') || !is_control(character) => {
                shown.push(character)
            }
            1 => shown.push('?'),
            2 => shown.push('\u{bf}'),
            3 => shown.push(char::REPLACEMENT_CHARACTER),
            _ => shown.extend([char::REPLACEMENT_CHARACTER, '?']),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_times_have_two_units_and_above_a_day_three() {
        let cases = [
            (0, "0 s"),
            (59, "59 s"),
            (3600, "1 h"),
            (3605, "1 h"),
            (12_000, "3 h 20 min"),
            (86_399, "23 h 59 min"),
            (86_401, "1 d"),
            (90_300, "1 d 1 h 5 min"),
            (260_880, "3 d 28 min"),
        ];
        for (seconds, text) in cases {
            assert_eq!(waiting_time(seconds), text);
        }
    }

    #[test]
    fn lengths_of_time_have_two_units() {
        let cases = [
            (0.0, "0 s", "0 s"),
            (59.4, "59 s", "59 s"),
            (106.0, "1 min 46 s", "2 min"),
            (1066.0, "17 min 46 s", "18 min"),
            (3599.6, "1 h", "1 h"),
            (6390.0, "1 h 47 min", "1 h 47 min"),
            (82_240.0, "22 h 51 min", "23 h"),
            (86_399.0, "1 d", "1 d"),
            (104_940.0, "1 d 5 h", "1 d 5 h"),
            (2_622_480.0, "30 d 8 h", "30 d"),
        ];
        for (seconds, exact, rough) in cases {
            assert_eq!(
                (&*duration(seconds), &*rough_duration(seconds)),
                (exact, rough),
                "{seconds}"
            );
        }
        assert_eq!(
            [-104_940.0, 0.2, 60.0].map(signed_duration),
            ["-1 d 5 h", "0", "+1 min"]
        );
    }

    #[test]
    fn long_numbers_are_grouped() {
        for (text, expected) in [
            ("1234 12345 1234567", "1234 12,345 1,234,567"),
            ("0.123456 21513473.625", "0.123456 21,513,473.625"),
            (
                "-60118114 a123456 7-00:00:00",
                "-60,118,114 a123456 7-00:00:00",
            ),
            (
                "184127.kestrel 184127[3].kestrel 184127_3 184127-a",
                "184127.kestrel 184127[3].kestrel 184127_3 184127-a",
            ),
            ("10000, 20000. 30000", "10,000, 20,000. 30,000"),
            ("", ""),
        ] {
            assert_eq!(grouped(text), expected);
        }
    }

    #[test]
    fn control_characters_are_escaped_and_other_text_is_kept() {
        assert_eq!(
            printable("a\nb\t\r\u{7}\u{7f}\u{9b}31m\u{202e}"),
            r"a\nb\t\r\x07\x7f\u{9b}31m\u{202e}"
        );
        assert_eq!(printable("grüße, 日本 \\n"), "grüße, 日本 \\n");
    }

    #[test]
    fn invisible_characters_are_escaped() {
        let invisible = "\u{ad}\u{34f}\u{180e}\u{200b}\u{200d}\u{2060}\u{2064}\u{3164}\u{fe0f}\u{feff}\u{fff9}\u{fffb}\u{e0001}\u{e0041}\u{e0100}";
        assert_eq!(printable(invisible), invisible.escape_unicode().to_string());
        let visible = "e\u{301} \u{a0}\u{600}\u{6dd}\u{110bd} \u{fffc}\u{fffd} \u{2800}";
        assert_eq!(printable(visible), visible);
    }

    #[test]
    fn lines_are_kept() {
        assert_eq!(
            printable_lines("a\n\tb\u{1b}[2J\r\n\u{202e}"),
            "a\n\tb\\x1b[2J\\r\n\\u{202e}"
        );
        assert_eq!(printable_lines("a\n\n\tb"), "a\n\n\tb");
    }

    #[test]
    fn the_middle_of_a_long_text_is_left_out() {
        assert_eq!(excerpt("ncpus + mem", 11), "ncpus + mem");
        assert_eq!(excerpt("ncpus + mem + größe", 10), "ncpu … öße");
        assert_eq!(excerpt("größe", 5), "größe");
    }

    #[test]
    fn places_are_kept() {
        let text = "a\u{1b}b\u{9b}c\u{202e}d\n\te\u{61c}f\u{e0041}g";
        let shown = printable_in_place(text);
        assert_eq!(
            (shown.as_str(), shown.len()),
            ("a?b\u{bf}c\u{fffd}d\n\te\u{bf}f\u{fffd}?g", text.len())
        );
    }
}
