//! Why a site cannot be opened, or a formula cannot be ranked on it.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A file of the site cannot be used, or something that the request needs is missing.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SiteError {
    /// A file cannot be read.
    #[error("cannot read `{path}`: {error}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        error: io::Error,
    },
    /// A file is larger than the limit for files of its kind.
    #[error("`{path}` is larger than {limit} bytes, the limit for such a file")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// A file does not contain what it should.
    #[error("{0}")]
    Content(String),
    /// The request needs something that the site does not have.
    #[error("{0}")]
    Missing(String),
    /// The formula is valid Python but not arithmetic, so it cannot be ranked.
    #[error("the formula is valid Python but not arithmetic: it cannot be ranked")]
    NotArithmetic,
    /// A job failed under [`OnError::Fail`](crate::rank::OnError::Fail).
    #[error("the formula fails for {count} of the jobs, first for `{job}`: {error}")]
    JobFailed {
        /// The first such job in the order of the document.
        job: String,
        /// Its error.
        error: String,
        /// How many jobs failed.
        count: usize,
    },
}

impl SiteError {
    pub(super) fn read(path: &Path, error: io::Error) -> Self {
        Self::Read { path: path.to_owned(), error }
    }

    pub(super) fn content(message: impl ToString) -> Self {
        Self::Content(message.to_string())
    }
}
