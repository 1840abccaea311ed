//! What ends a command with exit code 2: wrong usage, a file that cannot be used, or output that cannot be written.

use std::io;

use job_sort_formula::site::SiteError;
use thiserror::Error;

/// The command cannot be carried out.
#[derive(Debug, Error)]
pub enum CliError {
    /// A file of the site cannot be used, or something is missing.
    #[error(transparent)]
    Site(#[from] SiteError),
    /// The arguments do not fit together.
    #[error("{0}")]
    Usage(String),
    /// The result cannot be written.
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
}

impl CliError {
    /// Whether the reader of the output has closed it, which is not an error.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Write(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    pub(super) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    pub(super) fn content(message: impl ToString) -> Self {
        Self::Site(SiteError::Content(message.to_string()))
    }
}
