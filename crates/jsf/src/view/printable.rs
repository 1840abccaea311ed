//! Text from outside, made safe for a terminal.

use std::borrow::Cow;
use std::fmt::Write;

use job_sort_formula::diagnostic::is_control;

/// Replaces the middle of a text.
const MARK: &str = " … ";

/// The text with every character escaped that a terminal could obey, that would reorder a line, or
/// that cannot be seen: control characters, line ends included, the controls of bidirectional text,
/// and invisible characters.
///
/// ```
/// use jsf::view::printable::printable;
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
