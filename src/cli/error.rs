//! What ends a command with exit code 2: wrong usage, or a file that cannot be read.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The command cannot be done.
#[derive(Debug, Error)]
pub enum CliError {
    /// A file cannot be read.
    #[error("cannot read `{path}`: {error}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file is larger than is read.
    #[error("`{path}` is larger than {most} bytes, the most that is read of such a file")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bound.
        most: u64,
    },
    /// A file has not what was expected.
    #[error("{0}")]
    Content(String),
    /// The arguments do not fit together.
    #[error("{0}")]
    Usage(String),
    /// The result cannot be written.
    #[error("cannot write: {0}")]
    Write(#[from] io::Error),
}

impl CliError {
    /// Whether nobody reads any more what is written, which is no error.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Write(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    pub(super) fn read(path: &Path, error: io::Error) -> Self {
        Self::Read { path: path.to_owned(), error }
    }

    pub(super) fn usage(words: impl Into<String>) -> Self {
        Self::Usage(words.into())
    }

    pub(super) fn content(words: impl ToString) -> Self {
        Self::Content(words.to_string())
    }
}
