//! How a command ends: what it found, or why it cannot be carried out.

use std::io;

use job_sort_formula::diagnostic::{Diagnostic, Severity};
use jsf_site::{FormulaText, SiteError};
use thiserror::Error;

use crate::answers::{Answer, AnswerError};
use crate::cli::messages::with_options;

/// The result of a command that could be carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// No findings: exit code 0.
    Fine,
    /// Findings: exit code 1.
    Findings,
}

impl Outcome {
    /// Findings unless all is fine.
    pub(crate) fn fine_if(is_fine: bool) -> Self {
        if is_fine { Self::Fine } else { Self::Findings }
    }

    /// What the rankings of an answer say of their formulas: findings if one cannot work, fails for
    /// every job, or failed under `--on-error fail`.
    pub(crate) fn of_answer(answer: &impl Answer) -> Self {
        let mut is_fine = true;
        for (given, queue) in answer.rankings() {
            let ranking = &queue.ranking;
            let jobs = ranking.scores().count();
            // a script would take it for a formula that works
            let all_fail = jobs > 0 && ranking.error_count() == jobs;
            let findings = given.findings_in(queue);
            let has_errors = findings
                .iter()
                .any(|found| found.severity == Severity::Error);
            is_fine &= ranking.failure().is_none() && !all_fail && !has_errors;
        }
        Self::fine_if(is_fine)
    }
}

/// Why a command cannot be carried out, which gives exit code 2 unless it is what was found.
#[derive(Debug, Error)]
pub enum CliError {
    /// A file of the site cannot be used, or something is missing.
    #[error("{}", with_options(&.0.message()))]
    Site(#[from] SiteError),
    /// The arguments are invalid, or contradict each other.
    #[error("{0}")]
    Usage(String),
    /// The result cannot be written.
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
    /// The formula cannot be used: exit code 1. What is found about it is drawn when the command ends.
    #[error("the formula cannot be used")]
    Formula(Box<FormulaText>, Vec<Diagnostic>),
    /// The arguments cannot be parsed, and standard error says why.
    #[error("the arguments cannot be parsed")]
    Arguments,
}

impl From<AnswerError> for CliError {
    fn from(error: AnswerError) -> Self {
        match error {
            AnswerError::Question(message) => Self::Usage(with_options(&message)),
            AnswerError::Site(error) => Self::Site(error),
            AnswerError::Syntax(source, finding) => Self::Formula(source, vec![*finding]),
            AnswerError::Unusable(source, findings) => Self::Formula(source, findings),
            AnswerError::Interrupted => Self::usage("interrupted"),
        }
    }
}

impl CliError {
    /// Whether the reader has closed the output, which is not an error.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Write(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    pub(crate) fn usage(message: impl ToString) -> Self {
        Self::Usage(message.to_string())
    }

    pub(crate) fn content(message: impl ToString) -> Self {
        Self::Site(SiteError::Content(message.to_string().into()))
    }
}
