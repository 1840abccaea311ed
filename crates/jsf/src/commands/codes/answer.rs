//! The kinds of findings.

use job_sort_formula::diagnostic::{Code, Severity};
use serde::Serialize;

use crate::answer::Answer;
use crate::view::document::Document;

/// All kinds of findings.
#[derive(Serialize)]
pub struct Codes {
    pub(super) codes: Vec<FindingKind>,
}

/// A kind of findings.
#[derive(Serialize)]
pub(super) struct FindingKind {
    pub(super) code: Code,
    pub(super) severity: Severity,
    /// The severity where it is worst.
    pub(super) most_severe: Severity,
    pub(super) title: &'static str,
}

impl Codes {
    /// Every kind of findings that `jsf` knows.
    pub fn all() -> Self {
        let kind = |code: &Code| FindingKind {
            code: *code,
            severity: code.severity(),
            most_severe: code.most_severe(),
            title: code.title(),
        };
        Self {
            codes: Code::ALL.iter().map(kind).collect(),
        }
    }
}

impl Answer for Codes {
    fn document(&self) -> Document<'_> {
        self.codes_document()
    }
}
