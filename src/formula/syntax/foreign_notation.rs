//! Recognises operators of other languages, and numbers with a unit or a percent sign, to suggest a
//! fix.

use crate::diagnostic::Span;
use crate::formula::syntax::error::Unit;
use crate::formula::syntax::{SyntaxError, SyntaxErrorKind};

/// The error for an operator of another language, with what to write instead. `expression` is the
/// expression around the operator, `then` the operand between `?` and `:`.
pub(super) fn foreign_operator(
    text: &str,
    expression: Span,
    operator: Span,
    then: &str,
) -> SyntaxError {
    let written = operator.slice(text);
    let (instead, help) = match written {
        "!" => ("not ".to_owned(), "`not` negates a condition"),
        "&&" => (
            spaced("and", text, operator),
            "`and` is true if both conditions are true",
        ),
        "||" => (
            spaced("or", text, operator),
            "`or` is true if one of the conditions is true",
        ),
        "<>" => ("!=".to_owned(), "`!=` is true if the values differ"),
        "===" | "!==" => (
            written[..2].to_owned(),
            "Python's comparison operators have two characters",
        ),
        _ => match written.strip_prefix('\\') {
            Some(instead) => (
                instead.to_owned(),
                "remove the backslash, which escapes the operator elsewhere",
            ),
            None => return conditional_operator(text, expression, operator, then),
        },
    };
    SyntaxError::new(
        SyntaxErrorKind::ForeignOperator {
            written: written.to_owned(),
            instead,
            help,
        },
        operator,
    )
}

/// The error for `condition ? then : otherwise`.
fn conditional_operator(text: &str, expression: Span, operator: Span, then: &str) -> SyntaxError {
    let condition = Span {
        end: operator.start,
        ..expression
    };
    let otherwise = Span {
        start: operator.end,
        ..expression
    };
    let (condition, otherwise) = (condition.slice(text).trim(), otherwise.slice(text).trim());
    let kind = SyntaxErrorKind::ForeignOperator {
        written: "? :".to_owned(),
        instead: format!("{} if {condition} else {otherwise}", then.trim()),
        help: "Python writes the condition in the middle",
    };
    SyntaxError::new(kind, expression)
}

/// The error for a word where an operator is expected, if it is one in another notation.
pub(super) fn word_operator(word: &str) -> Option<SyntaxErrorKind> {
    let (instead, help) = match word {
        "AND" | "And" => ("and", "`and` is true if both conditions are true"),
        "OR" | "Or" => ("or", "`or` is true if one of the conditions is true"),
        "x" | "X" => ("*", "`*` multiplies"),
        _ => return None,
    };
    Some(SyntaxErrorKind::ForeignOperator {
        written: word.to_owned(),
        instead: instead.to_owned(),
        help,
    })
}

/// The word that replaces an operator, with a blank on each side where the text has none.
fn spaced(word: &str, text: &str, operator: Span) -> String {
    let has_before = text[..operator.start as usize].ends_with(' ');
    let has_after = text[operator.end as usize..].starts_with(' ');
    let before = if has_before { "" } else { " " };
    let after = if has_after { "" } else { " " };
    format!("{before}{word}{after}")
}

/// The error for a number with a unit at the position where the parser fails; `None` if there is no
/// such number.
pub(super) fn number_with_unit(text: &str, position: usize) -> Option<SyntaxError> {
    percentage(text, position)
        .or_else(|| adjacent_unit(text, position))
        .or_else(|| separate_unit(text, position))
}

/// `10%` before an operator, a bracket or the end.
fn percentage(text: &str, position: usize) -> Option<SyntaxError> {
    let before = text.get(..position)?.trim_end().strip_suffix('%')?;
    let number = last_token(before.trim_end());
    let start = before.trim_end().len() - number.len();
    let value = amount(number)? / 100.0;
    Some(unit_error(
        Unit::Percent,
        value,
        false,
        Span::new(start, before.len() + 1),
        text,
    ))
}

/// `4gb`, `24h`, `01:00:00`.
fn adjacent_unit(text: &str, position: usize) -> Option<SyntaxError> {
    let start = position - last_token(text.get(..position)?).len();
    let token = first_token(&text[start..]);
    let span = Span::new(start, start + token.len());
    if let Some(seconds) = clock_time(token) {
        return Some(unit_error(Unit::Duration, seconds, true, span, text));
    }
    let (number, unit) = token.split_at(token.find(|c: char| c.is_ascii_alphabetic())?);
    size_or_duration(number, unit, span, text)
}

/// `4 gb`
fn separate_unit(text: &str, position: usize) -> Option<SyntaxError> {
    let before = text.get(..position)?.trim_end();
    let unit = first_token(&text[position..]);
    let number = last_token(before);
    let span = Span::new(before.len() - number.len(), position + unit.len());
    size_or_duration(number, unit, span, text)
}

fn size_or_duration(number: &str, unit: &str, span: Span, text: &str) -> Option<SyntaxError> {
    let amount = amount(number)?;
    let unit = unit.to_ascii_lowercase();
    if let Some(bytes) = bytes(&unit) {
        return Some(unit_error(
            Unit::Size,
            // OpenPBS rounds sizes up to whole kb
            (amount * bytes / 1024.0).ceil(),
            // a letter alone may be meant otherwise
            unit.len() == 2,
            span,
            text,
        ));
    }
    let seconds = seconds(&unit)?;
    Some(unit_error(
        Unit::Duration,
        amount * seconds,
        // a letter alone may be meant otherwise: `m` is a minute or a megabyte
        unit.len() > 1,
        span,
        text,
    ))
}

fn unit_error(unit: Unit, value: f64, is_unambiguous: bool, span: Span, text: &str) -> SyntaxError {
    let written = span.slice(text).to_owned();
    let number = value.to_string();
    SyntaxError::new(
        SyntaxErrorKind::Unit {
            unit,
            written,
            number,
            is_unambiguous,
        },
        span,
    )
}

/// The number of bytes of a PBS size unit; a word (`w`) has 8 bytes.
fn bytes(unit: &str) -> Option<f64> {
    match unit {
        "b" => Some(1.0),
        "w" => Some(8.0),
        // not `m`, which is taken for minutes
        "k" | "g" | "t" | "p" => binary_prefix(unit),
        _ => {
            let prefix = unit.strip_suffix(['b', 'w'])?;
            if prefix.len() != 1 {
                return None;
            }
            let size = if unit.ends_with('w') { 8.0 } else { 1.0 };
            Some(binary_prefix(prefix)? * size)
        }
    }
}

fn binary_prefix(prefix: &str) -> Option<f64> {
    let power = "kmgtp".find(prefix)?;
    Some(1024f64.powi(power as i32 + 1))
}

fn seconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "s" | "sec" | "secs" => 1.0,
        "m" | "min" | "mins" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    })
}

/// The seconds of `HH:MM:SS` or `MM:SS`.
fn clock_time(token: &str) -> Option<f64> {
    let parts: Vec<&str> = token.split(':').collect();
    if !matches!(parts.len(), 2 | 3) {
        return None;
    }
    let mut seconds = 0.0;
    for part in parts {
        if part.len() > 6 || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        seconds = seconds * 60.0 + part.parse::<f64>().ok()?;
    }
    Some(seconds)
}

fn amount(number: &str) -> Option<f64> {
    let is_written = number
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'_'));
    // a double holds 15 digits exactly
    if !is_written || number.starts_with('_') || number.len() > 15 {
        return None;
    }
    number.replace('_', "").parse().ok()
}

fn is_token_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | ':')
}

fn last_token(text: &str) -> &str {
    &text[text.trim_end_matches(is_token_char).len()..]
}

fn first_token(text: &str) -> &str {
    &text[..text.len() - text.trim_start_matches(is_token_char).len()]
}
