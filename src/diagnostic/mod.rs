//! Findings as data: what is wrong, where, how bad, and what to write instead. Prose comes last.

mod code;
mod fix;
mod levels;
mod span;

pub use code::Code;
pub use fix::with_safe_fixes;
pub use levels::{Levels, LevelsError};

use serde::Serialize;

pub use span::Span;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// The formula works, but hardly does what was meant.
    Warning,
    /// The formula does not work, for every job or for some.
    Error,
}

/// Whether a fix may be applied without looking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Applicability {
    /// The fixed formula means what was meant; `--fix` applies it.
    Safe,
    /// Probably what was meant; a person decides.
    Unsafe,
    /// A pattern to follow, not a text to paste.
    DisplayOnly,
}

/// A replacement for a part of the formula.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fix {
    /// What is replaced.
    pub span: Span,
    /// By what.
    pub replacement: String,
    /// Whether it may be applied without looking.
    pub applicability: Applicability,
}

/// Another place that belongs to a finding, and what stands there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What about it.
    pub text: String,
}

/// One finding on a formula.
///
/// The message is in the house voice: lower case, no full stop, back-ticks round the user's text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// The stable code, `JSF` and three digits.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// What was found.
    pub message: String,
    /// The place, in bytes of the formula.
    pub span: Span,
    /// What to say at the place itself; empty where the message says it all.
    pub label: String,
    /// Other places that belong to it.
    pub labels: Vec<Label>,
    /// What to do.
    pub help: Option<String>,
    /// What to write instead.
    pub fix: Option<Fix>,
}

/// Orders findings by their place, and at one place by their code.
pub fn sort_by_place(findings: &mut [Diagnostic]) {
    findings.sort_by(|left, right| (left.span, left.code).cmp(&(right.span, right.code)));
}

impl Diagnostic {
    /// An error with this code, message and place.
    pub fn error(code: &'static str, message: impl Into<String>, span: Span) -> Self {
        Self::new(Severity::Error, code, message, span)
    }

    /// A warning with this code, message and place.
    pub fn warning(code: &'static str, message: impl Into<String>, span: Span) -> Self {
        Self::new(Severity::Warning, code, message, span)
    }

    /// A note with this code, message and place.
    pub fn note(code: &'static str, message: impl Into<String>, span: Span) -> Self {
        Self::new(Severity::Note, code, message, span)
    }

    fn new(severity: Severity, code: &'static str, message: impl Into<String>, span: Span) -> Self {
        let (label, labels) = (String::new(), Vec::new());
        Self { code, severity, message: message.into(), span, label, labels, help: None, fix: None }
    }

    /// The same with these words at the place itself.
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// The same with another place.
    pub fn with_place(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// The same with advice.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same with a replacement for its own place.
    pub fn replaced_by(self, replacement: impl Into<String>, applicability: Applicability) -> Self {
        let fix = Fix { span: self.span, replacement: replacement.into(), applicability };
        self.with_fix(fix)
    }

    /// The same with a fix.
    pub fn with_fix(mut self, fix: Fix) -> Self {
        self.fix = Some(fix);
        self
    }
}
