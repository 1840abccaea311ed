//! The values in a scheduler's log against those that are computed for a queue.

use job_sort_formula::PythonVersion;
use jsf_openpbs::replay::{Cause, CauseKind, Replay};
use serde::Serialize;

use crate::answer::Answer;
use crate::commands::replay::view::{advice, headline, replay_document, sentence};
use crate::view::document::Document;

/// The values in a log against those of a formula.
#[derive(Debug, Serialize)]
pub struct ReplayReport<'a> {
    formula: &'a str,
    /// The version of Python that computes it.
    python: PythonVersion,
    /// The same with what says so.
    #[serde(skip)]
    python_in_words: &'a str,
    #[serde(flatten)]
    replay: &'a Replay,
    summary: String,
    causes: Vec<CauseInWords<'a>>,
}

/// A cause of differences.
#[derive(Debug, Serialize)]
struct CauseInWords<'a> {
    kind: &'static str,
    lines: usize,
    explains: bool,
    why: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds: Option<(i64, i64)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    formula: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    advice: Option<String>,
}

impl<'a> ReplayReport<'a> {
    /// The answer about a formula that a version of Python computes; `python_in_words` also says
    /// why it is this one.
    pub fn new(
        formula: &'a str,
        python: PythonVersion,
        python_in_words: &'a str,
        replay: &'a Replay,
    ) -> Self {
        let causes = replay
            .causes
            .iter()
            .map(|cause| CauseInWords::new(cause, replay))
            .collect();
        Self {
            formula,
            python,
            python_in_words,
            replay,
            summary: headline(replay),
            causes,
        }
    }
}

impl<'a> CauseInWords<'a> {
    fn new(cause: &'a Cause, replay: &Replay) -> Self {
        let formula = match &cause.kind {
            CauseKind::Formula { text, .. } => Some(&**text),
            _ => None,
        };
        Self {
            kind: cause.kind.name(),
            lines: cause.lines,
            explains: cause.kind.explains(),
            why: sentence(cause),
            seconds: cause.seconds,
            formula,
            advice: advice(cause, replay),
        }
    }
}

impl Answer for ReplayReport<'_> {
    fn document(&self) -> Document<'_> {
        replay_document(self.replay, self.formula, self.python_in_words)
    }
}
