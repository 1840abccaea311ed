//! Findings as data: code, severity, message, places in the formula, help and fix. Nothing here
//! renders them.

mod code;
mod message;

use std::ops::Range;

use serde::Serialize;

pub use code::Code;
pub use message::{Message, Need, limit_each_kind};

/// A half-open range of bytes, `start..end`, in the text that a value was parsed from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize)]
pub struct Span {
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span `start..end`, of a text of at most 64 KiB.
    pub fn new(start: usize, end: usize) -> Self {
        Self {
            start: start as u32,
            end: end as u32,
        }
    }

    /// The smallest span that covers both.
    pub fn to(self, other: Self) -> Self {
        Self {
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }

    /// Whether the other span lies within this one.
    pub fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The span as a range, for slicing.
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The part of `text` that the span covers; `""` if the span is outside `text` or splits a
    /// character.
    pub fn slice(self, text: &str) -> &str {
        text.get(self.range()).unwrap_or("")
    }

    /// The span in `text`, moved to the boundaries of its characters and not beyond its end.
    pub fn range_in(self, text: &str) -> Range<usize> {
        let start = floor_char_boundary(text, self.start as usize);
        start..floor_char_boundary(text, self.end as usize).max(start)
    }

    /// The line and the column, in characters, at which the span starts in `text`, both from 1.
    /// Lines end as in Python, with `\n`, `\r\n` or `\r`.
    ///
    /// ```
    /// use job_sort_formula::diagnostic::Span;
    ///
    /// let text = "(ncpus +\n  µs)";
    /// assert_eq!(Span::new(13, 14).line_and_column(text), (2, 4));
    /// ```
    pub fn line_and_column(self, text: &str) -> (usize, usize) {
        let before = &text[..self.range_in(text).start];
        let line = before.trim_end_matches(|character| !matches!(character, '\n' | '\r'));
        // the two characters are one line end
        let lines = before.replace("\r\n", "\n").matches(['\n', '\r']).count();
        (lines + 1, before[line.len()..].chars().count() + 1)
    }
}

/// The last boundary of characters of `text` up to `at`. The method of that name of the standard
/// library needs Rust 1.91.
pub(crate) fn floor_char_boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Whether a terminal could obey the character, would show a line in another order, or would show
/// nothing, so that two texts that look alike differ: C0, DEL, C1, the controls of bidirectional
/// text, and the invisible characters of Unicode. Wherever people read a text from outside, such
/// characters are escaped.
pub fn is_control(character: char) -> bool {
    character.is_control() || (!character.is_ascii() && is_invisible(character))
}

/// The ends of lines and paragraphs, and what Unicode 17 calls a format character (Cf) or default
/// ignorable, without the format characters that are seen, such as the signs that precede Arabic
/// numbers.
fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{70f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The formula works; this is worth knowing.
    Note,
    /// The formula works, but probably not as intended.
    Warning,
    /// The formula does not work, for all or some jobs.
    Error,
}

/// Whether a fix can be applied automatically.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Applicability {
    /// The fixed formula is what was intended; `--fix` applies it.
    Safe,
    /// The fixed formula is probably what was intended; a person decides.
    Unsafe,
    /// An example to follow, not a text to insert.
    DisplayOnly,
}

/// A replacement of a part of the formula.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fix {
    /// The part that is replaced.
    pub span: Span,
    /// The new text.
    pub replacement: String,
    /// Whether the fix can be applied automatically.
    pub applicability: Applicability,
}

/// Another place that a finding refers to, with a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The text to show there.
    pub text: String,
}

/// A finding on a formula.
///
/// Messages are in lower case, without a full stop, with back-ticks around text of the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The stable code.
    pub code: Code,
    /// The severity.
    pub severity: Severity,
    /// What is wrong.
    pub message: String,
    /// The place in the formula.
    pub span: Span,
    /// The text to show at the place itself; can be empty.
    pub label: String,
    /// Other places that the finding refers to.
    pub labels: Vec<Label>,
    /// What to do about it.
    pub help: Option<Message>,
    /// A replacement that fixes it.
    pub fix: Option<Fix>,
}

/// Sorts findings by place, and findings at the same place by code.
pub fn sort_by_span(findings: &mut [Diagnostic]) {
    findings.sort_by_key(|found| (found.span, found.code));
}

impl Diagnostic {
    /// A finding of the least severity of its code.
    pub fn new(code: Code, message: impl Into<String>, span: Span) -> Self {
        Self {
            code,
            severity: code.severity(),
            message: message.into(),
            span,
            label: String::new(),
            labels: Vec::new(),
            help: None,
            fix: None,
        }
    }

    /// Sets the severity.
    pub fn with_severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Sets the text to show at the place itself.
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// Adds a text to show at another place.
    pub fn with_secondary_label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label {
            span,
            text: text.into(),
        });
        self
    }

    /// Sets the help.
    pub fn with_help(mut self, help: impl Into<Message>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The finding with what its help asks for in the words of a caller.
    #[must_use]
    pub fn worded(self, words: impl Fn(Need) -> String) -> Self {
        Self {
            help: self.help.map(|help| help.worded(words).into()),
            ..self
        }
    }

    /// Sets a fix that replaces the place itself.
    pub fn replaced_by(self, replacement: impl Into<String>, applicability: Applicability) -> Self {
        let span = self.span;
        self.with_fix(span, replacement, applicability)
    }

    /// Sets the fix.
    pub fn with_fix(
        mut self,
        span: Span,
        replacement: impl Into<String>,
        applicability: Applicability,
    ) -> Self {
        self.fix = Some(Fix {
            span,
            replacement: replacement.into(),
            applicability,
        });
        self
    }
}

/// A text in which fixes were applied.
#[derive(Debug, Clone)]
pub struct FixedText<'f> {
    /// The text with the fixes.
    pub text: String,
    /// The findings whose fixes were applied, in the order of their places.
    pub applied: Vec<&'f Diagnostic>,
}

impl<'f> FixedText<'f> {
    /// Applies every [safe](Applicability::Safe) fix and, if `unsafe_too`, every
    /// [unsafe](Applicability::Unsafe) one; of two fixes that overlap, only the first is applied.
    /// `None` if there is no fix.
    ///
    /// ```
    /// use job_sort_formula::diagnostic::{Applicability, Code, Diagnostic, FixedText, Span};
    ///
    /// let found = Diagnostic::new(Code::WrongCase, "the name is `ncpus`", Span::new(0, 5));
    /// let found = found.replaced_by("ncpus", Applicability::Safe);
    /// assert_eq!(FixedText::new("NCPUS * 2", &[found], false).unwrap().text, "ncpus * 2");
    /// ```
    pub fn new(text: &str, findings: &'f [Diagnostic], unsafe_too: bool) -> Option<Self> {
        let mut fixes: Vec<(&Fix, &Diagnostic)> = Vec::new();
        for found in findings {
            if let Some(fix) = &found.fix
                && match fix.applicability {
                    Applicability::Safe => true,
                    Applicability::Unsafe => unsafe_too,
                    Applicability::DisplayOnly => false,
                }
            {
                fixes.push((fix, found));
            }
        }
        // a finding may be of another text
        fixes.retain(|(fix, _)| text.get(fix.span.range()).is_some());
        // stable: of two fixes at one place, that of the first finding is applied
        fixes.sort_by_key(|(fix, _)| fix.span);
        let mut free_from = 0;
        fixes.retain(|(fix, _)| {
            let fits = fix.span.start >= free_from;
            if fits {
                // an insertion takes its place as well, so that no second one is made there
                free_from = fix.span.end.max(fix.span.start + 1);
            }
            fits
        });
        if fixes.is_empty() {
            return None;
        }
        let mut fixed = text.to_owned();
        // from the end, so that the spans before it stay valid
        for (fix, _) in fixes.iter().rev() {
            fixed.replace_range(fix.span.range(), &fix.replacement);
        }
        Some(Self {
            text: fixed,
            applied: fixes.into_iter().map(|(_, found)| found).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(
        start: usize,
        end: usize,
        replacement: &str,
        applicability: Applicability,
    ) -> Diagnostic {
        let span = Span::new(start, end);
        let found = Diagnostic::new(Code::UnknownName, "", span);
        found.with_fix(span, replacement, applicability)
    }

    #[test]
    fn only_safe_fixes_that_do_not_overlap_are_applied() {
        let safe = Applicability::Safe;
        let findings = [
            found(4, 5, "dd", safe),
            found(0, 1, "aa", safe),
            found(0, 3, "never", safe),
            found(2, 3, "x", Applicability::Unsafe),
            found(90, 99, "outside", safe),
            Diagnostic::new(Code::InvalidSyntax, "", Span::new(0, 1)),
        ];
        assert_eq!(
            FixedText::new("a+b+d", &findings, false).unwrap().text,
            "aa+b+dd"
        );
        assert_eq!(
            FixedText::new("a+b+d", &findings, true).unwrap().text,
            "aa+x+dd"
        );
        assert!(FixedText::new("a+b", &findings[3..], false).is_none());
        let applied = FixedText::new("a+b+d", &findings, true).map(|fixed| fixed.applied);
        assert_eq!(
            applied,
            Some(vec![&findings[1], &findings[3], &findings[0]])
        );
    }
}
