//! Why a job document cannot be read.

use job_sort_formula::jobs::{MAX_COLUMNS, MAX_JOBS};
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
    /// The file or stream cannot be read.
    #[error("cannot be read: {reason}")]
    Io {
        /// The operating system's message.
        reason: String,
    },
    /// The document is empty.
    #[error("is empty, expected {expected}; check whether the command that wrote it failed")]
    Empty {
        /// What was expected.
        expected: &'static str,
    },
    /// The document has another format.
    #[error("is {found}, expected {expected}")]
    Unrecognised {
        /// What it looks like.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// The document is not valid JSON.
    #[error(
        "is not valid JSON at line {line}, column {column} (byte {byte}): {reason}; {} read before it{advice}",
        jobs_were(*.jobs_before)
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
    /// A text of qstat ends in the middle of a job.
    #[error(
        "ends in the middle of job `{job}`: it is cut off, write it again; if it is complete, add the line end that its last \
         line lacks"
    )]
    CutOff {
        /// The id of the job.
        job: String,
    },
    /// A line or an entry is not valid JSON, or not a job, and the options are strict.
    #[error("is damaged: {what}")]
    Damaged {
        /// The job, and what is wrong with it.
        what: String,
    },
    /// A job, or a key that counts, is given more than once, and the options are strict.
    #[error("is ambiguous: {what}")]
    Ambiguous {
        /// What is given more than once.
        what: String,
    },
    /// The document has more jobs than a table can hold.
    #[error(
        "contains more than {MAX_JOBS} jobs, the most that can be read; split it into several files"
    )]
    TooManyJobs,
    /// The jobs have more different resources than can be told apart.
    #[error(
        "contains more than {most} different resources, which no server has; check what wrote it"
    )]
    TooManyResources {
        /// The most that are read.
        most: usize,
    },
    /// More columns are needed than a table can have.
    #[error(
        "is not read: the formula and the order of the jobs need {names} names, more than the {MAX_COLUMNS} that a table can have"
    )]
    TooManyNames {
        /// How many are needed.
        names: usize,
    },
}

impl ReadErrorKind {
    /// The error of a JSON `text`; its place is counted in lines, columns and bytes.
    pub(super) fn json(text: &str, error: &serde_json::Error, jobs_before: usize) -> Self {
        let line = error.line();
        let column = error.column();
        let start: usize = text
            .split_inclusive('\n')
            .take(line.saturating_sub(1))
            .map(str::len)
            .sum();
        let full = error.to_string();
        let reason = full.split(" at line ").next().unwrap_or(&full).to_owned();
        let advice = match reason.as_str() {
            _ if error.is_eof() => "; the document is cut off, write it again",
            "control character (\\u0000-\\u001F) found while parsing a string" => {
                "; some versions of qstat do not escape control characters, use `qstat -f` without `-F json`"
            }
            _ => "",
        };
        let byte = (start + column.saturating_sub(1)).min(text.len());
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

/// `1 job was`, `2 jobs were`.
fn jobs_were(count: usize) -> String {
    if count == 1 {
        "1 job was".to_owned()
    } else {
        format!("{count} jobs were")
    }
}
