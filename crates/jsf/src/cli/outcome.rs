//! How a command ends: its exit code, or why it cannot be carried out.

use std::io;
use std::process::ExitCode;

use job_sort_formula::diagnostic::{Diagnostic, Severity};
use job_sort_formula::rank::Ranking;
use jsf_site::SiteError;
use thiserror::Error;

use crate::cli::with_options;

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

    /// What a ranking says of its formula: findings if it cannot work, fails for every job, or
    /// failed under `--on-error fail`.
    pub(crate) fn of_ranking(findings: &[Diagnostic], ranking: &Ranking) -> Self {
        let mut is_fine = ranking.failure().is_none();
        for finding in findings {
            is_fine &= finding.severity != Severity::Error;
        }
        let jobs = ranking.scores().count();
        let all_fail = jobs > 0 && ranking.error_count() == jobs;
        Self::fine_if(is_fine && !all_fail)
    }
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Fine => Self::SUCCESS,
            Outcome::Findings => Self::from(1),
        }
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
    /// The formula cannot be used, and what is found about it is drawn: exit code 1.
    #[error("the formula cannot be used")]
    Findings,
}

impl CliError {
    /// Whether the reader has closed the output, which is not an error.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Write(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    pub(crate) fn content(message: impl ToString) -> Self {
        Self::Site(SiteError::Content(message.to_string().into()))
    }
}
