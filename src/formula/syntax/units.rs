//! Sizes, durations and per cent signs, as people write them elsewhere: recognised so as to be answered.

use crate::diagnostic::Span;
use crate::formula::syntax::{SyntaxError, SyntaxErrorKind};

/// What was written with a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// `4gb`
    Size,
    /// `24h`, `01:00:00`
    Duration,
    /// `10%`
    PerCent,
}

impl Unit {
    /// What stands in a formula instead.
    pub(super) fn advice(self) -> &'static str {
        match self {
            Self::Size => "sizes reach the formula as numbers of kb",
            Self::Duration => "durations reach the formula as numbers of seconds",
            Self::PerCent => "`%` is the remainder of a division; write the number itself",
        }
    }
}

/// The number with a unit that stands where the parser gave up, if that is what it gave up on.
pub(super) fn at(text: &str, at: usize) -> Option<SyntaxError> {
    per_cent(text, at).or_else(|| glued(text, at)).or_else(|| apart(text, at))
}

/// `10%` before an operator, a bracket or the end.
fn per_cent(text: &str, at: usize) -> Option<SyntaxError> {
    let before = text.get(..at)?.trim_end().strip_suffix('%')?;
    let number = last_token(before.trim_end());
    let start = before.trim_end().len() - number.len();
    let value = amount(number)? / 100.0;
    Some(error(Unit::PerCent, value, false, Span::new(start, before.len() + 1), text))
}

/// `4gb`, `24h`, `01:00:00`.
fn glued(text: &str, at: usize) -> Option<SyntaxError> {
    let start = at - last_token(text.get(..at)?).len();
    let length = text[start..].find(|c: char| !is_of_token(c)).unwrap_or(text.len() - start);
    let token = &text[start..start + length];
    let span = Span::new(start, start + length);
    if let Some(seconds) = clock(token) {
        return Some(error(Unit::Duration, seconds, true, span, text));
    }
    let (number, word) = token.split_at(token.find(|c: char| c.is_ascii_alphabetic())?);
    measured(number, word, span, text)
}

/// `4 gb`
fn apart(text: &str, at: usize) -> Option<SyntaxError> {
    let before = text.get(..at)?.trim_end();
    let length = text[at..].find(|c: char| !is_of_token(c)).unwrap_or(text.len() - at);
    let number = last_token(before);
    measured(number, &text[at..at + length], Span::new(before.len() - number.len(), at + length), text)
}

fn measured(number: &str, word: &str, span: Span, text: &str) -> Option<SyntaxError> {
    let (amount, word) = (amount(number)?, word.to_ascii_lowercase());
    if let Some(bytes) = bytes(&word) {
        return Some(error(Unit::Size, (amount * bytes / 1024.0).ceil(), word.len() == 2, span, text));
    }
    let seconds = seconds(&word)?;
    Some(error(Unit::Duration, amount * seconds, word.len() > 1, span, text))
}

fn error(unit: Unit, value: f64, is_plain: bool, span: Span, text: &str) -> SyntaxError {
    let (written, number) = (span.of(text).to_owned(), value.to_string());
    SyntaxError::new(SyntaxErrorKind::Unit { unit, written, number, is_plain }, span)
}

/// The bytes behind the letters that PBS takes; a word has 8.
fn bytes(word: &str) -> Option<f64> {
    let factor = |prefix: &str| "kmgtp".find(prefix).map(|power| 1024f64.powi(power as i32 + 1));
    match word {
        "b" => Some(1.0),
        "w" => Some(8.0),
        "k" | "g" | "t" | "p" => factor(word),
        _ => {
            let prefix = word.strip_suffix(['b', 'w']).filter(|prefix| prefix.len() == 1)?;
            factor(prefix).map(|factor| if word.ends_with('w') { factor * 8.0 } else { factor })
        }
    }
}

fn seconds(word: &str) -> Option<f64> {
    Some(match word {
        "s" | "sec" | "secs" => 1.0,
        "m" | "min" | "mins" => 60.0,
        "h" | "hr" | "hrs" | "hour" | "hours" => 3600.0,
        "d" | "day" | "days" => 86_400.0,
        _ => return None,
    })
}

/// The seconds of `HH:MM:SS` or `MM:SS`.
fn clock(token: &str) -> Option<f64> {
    let parts: Vec<&str> = token.split(':').collect();
    let is_part = |part: &&str| !part.is_empty() && part.len() <= 6 && part.bytes().all(|byte| byte.is_ascii_digit());
    let fits = matches!(parts.len(), 2 | 3) && parts.iter().all(is_part);
    fits.then(|| parts.iter().filter_map(|part| part.parse::<f64>().ok()).fold(0.0, |sum, part| sum * 60.0 + part))
}

fn amount(number: &str) -> Option<f64> {
    let is_number = number.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        && number.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'_'));
    number.replace('_', "").parse().ok().filter(|_| is_number && number.len() <= 15)
}

fn is_of_token(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | ':')
}

fn last_token(text: &str) -> &str {
    text.rsplit(|c: char| !is_of_token(c)).next().unwrap_or("")
}
