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
    let part = |start, end| Span { start, end }.slice(text).trim();
    let condition = part(expression.start, operator.start);
    let otherwise = part(operator.end, expression.end);
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
    let length = text[start..]
        .find(|c: char| !is_token_char(c))
        .unwrap_or(text.len() - start);
    let token = &text[start..start + length];
    let span = Span::new(start, start + length);
    if let Some(seconds) = clock_time(token) {
        return Some(unit_error(Unit::Duration, seconds, true, span, text));
    }
    let (number, unit) = token.split_at(token.find(|c: char| c.is_ascii_alphabetic())?);
    size_or_duration(number, unit, span, text)
}

/// `4 gb`
fn separate_unit(text: &str, position: usize) -> Option<SyntaxError> {
    let before = text.get(..position)?.trim_end();
    let length = text[position..]
        .find(|c: char| !is_token_char(c))
        .unwrap_or(text.len() - position);
    let number = last_token(before);
    let end = position + length;
    size_or_duration(
        number,
        &text[position..end],
        Span::new(before.len() - number.len(), end),
        text,
    )
}

fn size_or_duration(number: &str, unit: &str, span: Span, text: &str) -> Option<SyntaxError> {
    let amount = amount(number)?;
    let unit = unit.to_ascii_lowercase();
    if let Some(bytes) = bytes(&unit) {
        return Some(unit_error(
            Unit::Size,
            // OpenPBS rounds sizes up to whole kb
            (amount * bytes / 1024.0).ceil(),
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
            let prefix = unit
                .strip_suffix(['b', 'w'])
                .filter(|prefix| prefix.len() == 1)?;
            binary_prefix(prefix).map(|factor| {
                if unit.ends_with('w') {
                    factor * 8.0
                } else {
                    factor
                }
            })
        }
    }
}

fn binary_prefix(prefix: &str) -> Option<f64> {
    "kmgtp"
        .find(prefix)
        .map(|power| 1024f64.powi(power as i32 + 1))
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
    let fits = matches!(parts.len(), 2 | 3)
        && parts.iter().all(|part| {
            (1..=6).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
        });
    fits.then(|| {
        parts
            .iter()
            .filter_map(|part| part.parse::<f64>().ok())
            .fold(0.0, |sum, part| sum * 60.0 + part)
    })
}

fn amount(number: &str) -> Option<f64> {
    let is_number = number.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && number
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'_'));
    number
        .replace('_', "")
        .parse()
        .ok()
        // a double holds 15 digits exactly
        .filter(|_| is_number && number.len() <= 15)
}

fn is_token_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | ':')
}

fn last_token(text: &str) -> &str {
    text.rsplit(|c: char| !is_token_char(c))
        .next()
        .unwrap_or("")
}
