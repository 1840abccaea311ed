//! What goes wrong while jobs are read.

use std::fmt;

use thiserror::Error;

/// A document that cannot be read any further.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReadError {
    /// The document cannot be got at.
    #[error("cannot read `{source_name}`: {reason}")]
    Source {
        /// The document's name.
        source_name: String,
        /// Why.
        reason: String,
    },
    /// There is nothing in the document.
    #[error("`{source_name}` is empty, expected {expected}; was the command that wrote it refused?")]
    Empty {
        /// The document's name.
        source_name: String,
        /// What was expected.
        expected: &'static str,
    },
    /// The document is something else.
    #[error("`{source_name}` is {found}, expected {expected}")]
    Unrecognised {
        /// The document's name.
        source_name: String,
        /// What it looks like.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// The text breaks off or breaks the rules of JSON.
    #[error(
        "`{source_name}` is not valid JSON at line {line}, column {column} (byte {byte}): {reason}; {} read before it{advice}",
        jobs_were(*.jobs_before)
    )]
    Json {
        /// The document's name.
        source_name: String,
        /// The line, from 1.
        line: usize,
        /// The column in bytes, from 1; 0 at the start of a line.
        column: usize,
        /// The byte of the document, from 0.
        byte: usize,
        /// What is wrong there.
        reason: String,
        /// How many jobs were read before.
        jobs_before: usize,
        /// What to do, with its punctuation.
        advice: &'static str,
    },
    /// There are more jobs than a table takes.
    #[error("`{source_name}` holds more than {most} jobs, the most that are read; split it")]
    TooManyJobs {
        /// The document's name.
        source_name: String,
        /// The most jobs.
        most: usize,
    },
}

/// `1 job was`, `2 jobs were`.
fn jobs_were(count: usize) -> String {
    if count == 1 { "1 job was".to_owned() } else { format!("{count} jobs were") }
}

/// What is wrong with one job, or worth knowing of it.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum Problem {
    /// The job has an id that an earlier one has.
    #[error("the id is already taken by an earlier job; this one is skipped")]
    Duplicate,
    /// The table is full.
    #[error("there are too many jobs")]
    TooMany,
    /// A name is too long.
    #[error("a name of {bytes} bytes is longer than {most}; the job is skipped", most = crate::jobs::MAX_NAME)]
    LongName {
        /// Its length.
        bytes: usize,
    },
    /// The line or entry is not JSON, or not a job.
    #[error("{found}, expected {expected}; the job is skipped")]
    NotAJob {
        /// What was found.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// An attribute has another shape than the formula needs; it counts as not given.
    #[error("`{attribute}` is {found}, expected {expected}; it counts as not given")]
    Attribute {
        /// The attribute.
        attribute: String,
        /// What was found.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// The job has no `Resource_List`.
    #[error("there is no `Resource_List`; every resource counts as 0")]
    NoResources,
    /// A number was shortened before it came here.
    #[error(
        "`{resource}` is printed as {found}, which qstat's JSON cut to 15 digits; `qstat -f` without `-F json` prints it in full"
    )]
    Shortened {
        /// The resource.
        resource: String,
        /// The number, as found.
        found: String,
    },
    /// A key that means nothing here.
    #[error("the key `{key}` means nothing here and is not read{advice}")]
    UnknownKey {
        /// The key.
        key: String,
        /// What may have been meant, with its punctuation.
        advice: String,
    },
}

impl Problem {
    /// Whether the job is missing from the table because of it.
    pub fn skips_the_job(&self) -> bool {
        matches!(self, Self::Duplicate | Self::TooMany | Self::LongName { .. } | Self::NotAJob { .. })
    }
}

/// A problem, and the job that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobProblem {
    /// The line of the document, from 1, where the document has a job per line.
    pub line: Option<usize>,
    /// The job's id, or its number in the document (`#3`) when it has none.
    pub job: String,
    /// What is wrong.
    pub problem: Problem,
}

impl fmt::Display for JobProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}, ")?;
        }
        write!(f, "job `{}`: {}", self.job, self.problem)
    }
}

/// The problems of a document: the first ones in full, the rest counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems {
    kept: Vec<JobProblem>,
    total: usize,
    skipped: usize,
}

impl Problems {
    /// How many are kept in full.
    pub const MAX_LISTED: usize = 1000;

    /// Adds one.
    pub fn push(&mut self, problem: JobProblem) {
        self.total += 1;
        self.skipped += usize::from(problem.problem.skips_the_job());
        if self.kept.len() < Self::MAX_LISTED {
            self.kept.push(problem);
        }
    }

    /// Those kept in full, at most [`Problems::MAX_LISTED`].
    pub fn listed(&self) -> &[JobProblem] {
        &self.kept
    }

    /// How many there are, kept or not.
    pub fn total(&self) -> usize {
        self.total
    }

    /// How many jobs are missing from the table.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }
}
