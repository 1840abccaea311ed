//! How a command ends: what it found, or why it cannot be carried out.

use std::io;

use job_sort_formula::diagnostic::Severity;
use jsf_site::{RankedQueue, SiteError};
use thiserror::Error;

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

    /// What a ranking says of its formula: findings if it cannot work, fails for every job, or
    /// failed under `--on-error fail`.
    pub(crate) fn of_ranking(queue: &RankedQueue) -> Self {
        let ranking = &queue.ranking;
        let mut is_fine = ranking.failure().is_none();
        for finding in &queue.findings {
            is_fine &= finding.severity != Severity::Error;
        }
        let jobs = ranking.scores().count();
        // a script would take it for a formula that works
        let all_fail = jobs > 0 && ranking.error_count() == jobs;
        Self::fine_if(is_fine && !all_fail)
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
    /// The formula cannot be used, and what is found about it is drawn: exit code 1. It is an error
    /// so that no caller has to pass on that nothing is left to do.
    #[error("the formula cannot be used")]
    Findings,
    /// The arguments cannot be parsed, and standard error says why.
    #[error("the arguments cannot be parsed")]
    Arguments,
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
