//! Why a job document cannot be read.

use std::io;

use jsf_openpbs::words::counted;
use thiserror::Error;

/// A document that cannot be read, by its name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{source_name}` {kind}")]
pub struct ReadError {
    /// The name of the document.
    pub source_name: String,
    /// What is wrong with it.
    pub kind: ReadErrorKind,
}

/// What is wrong with a document.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReadErrorKind {
    /// The document is not valid JSON.
    #[error(
        "is not valid JSON at line {line}, column {column} (byte {byte}): {reason}; {} read before it{advice}",
        counted(*.jobs_before, "job was", "jobs were")
    )]
    Json {
        /// The line, from 1.
        line: usize,
        /// The column in bytes, from 1; 0 at the start of a line.
        column: usize,
        /// The byte of the document, from 0.
        byte: usize,
        /// What is wrong there.
        reason: String,
        /// The number of jobs that were read before.
        jobs_before: usize,
        /// What to do, with its punctuation.
        advice: &'static str,
    },
    /// Anything else; the text follows the name of the document.
    #[error("{0}")]
    Other(String),
}

impl From<io::Error> for ReadErrorKind {
    fn from(error: io::Error) -> Self {
        Self::Other(format!("cannot be read: {error}"))
    }
}

impl ReadErrorKind {
    pub(super) fn unexpected(found: &str, expected: &str) -> Self {
        Self::Other(format!("is {found}, expected {expected}"))
    }

    /// The error of a JSON `text`; its place is counted in lines, columns and bytes.
    pub(super) fn json(text: &str, error: &serde_json::Error, jobs_before: usize) -> Self {
        let line = error.line();
        let column = error.column();
        let lines_before = text.split_inclusive('\n').take(line.saturating_sub(1));
        let start: usize = lines_before.map(str::len).sum();
        let byte = (start + column.saturating_sub(1)).min(text.len());
        let mut reason = reason(error);
        // a value that is skipped says no more
        if reason == "key must be a string" && text.as_bytes().get(byte) == Some(&b'}') {
            reason = "trailing comma".to_owned();
        }
        let advice = match reason.as_str() {
            _ if error.is_eof() => "; the document is cut off, write it again",
            "control character (\\u0000-\\u001F) found while parsing a string" => {
                "; some versions of qstat do not escape control characters, use `qstat -f` without `-F json`"
            }
            _ => "",
        };
        Self::Json {
            line,
            column,
            byte,
            reason,
            jobs_before,
            advice,
        }
    }
}

/// The message of an error without its place.
pub fn reason(error: &serde_json::Error) -> String {
    let mut text = error.to_string();
    text.truncate(text.find(" at line ").unwrap_or(text.len()));
    text
}
