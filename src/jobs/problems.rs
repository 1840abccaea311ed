//! What is said of single jobs of a document: problems of reading them, and why a job is excluded from
//! the evaluation.

use std::fmt;

use thiserror::Error;

use crate::jobs::JobState;

/// A problem of a job.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Problem {
    /// An earlier job has the same id.
    #[error("an earlier job has the same id; this job is skipped")]
    Duplicate,
    /// The table is full.
    #[error("the table already contains {most} jobs, the most that it can hold", most = crate::jobs::MAX_JOBS)]
    TooMany,
    /// A name is too long.
    #[error(
        "the id, entity or queue has {bytes} bytes, expected at most {most}; the job is skipped",
        most = crate::jobs::MAX_NAME
    )]
    LongName {
        /// Its length.
        bytes: usize,
    },
    /// There are more inputs than columns.
    #[error("{found} inputs are given, but the table has {columns} columns; the job is skipped")]
    SurplusInputs {
        /// The number of inputs.
        found: usize,
        /// The number of columns.
        columns: usize,
    },
    /// The line or entry is not valid JSON, or not a job.
    #[error("{0}; the job is skipped")]
    NotAJob(String),
    /// The job cannot be read, or not an attribute of it that is needed.
    #[error("{0}; the job is skipped")]
    Unreadable(String),
    /// An attribute, a resource or an input occurs more than once in the job.
    #[error("{0}")]
    Repeated(String),
    /// Something of the job is not what it should be, and was repaired, replaced or left out.
    #[error("{0}")]
    Doubtful(String),
    /// The key is not one of a job.
    #[error("the key `{key}` is unknown and is ignored{advice}")]
    UnknownKey {
        /// The key.
        key: String,
        /// What may have been meant, with its punctuation.
        advice: String,
    },
}

impl Problem {
    /// Whether the job is not in the table because of the problem.
    pub fn skips_the_job(&self) -> bool {
        matches!(
            self,
            Self::Duplicate
                | Self::TooMany
                | Self::LongName { .. }
                | Self::SurplusInputs { .. }
                | Self::NotAJob(_)
                | Self::Unreadable(_)
        )
    }
}

/// A problem and its job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobProblem {
    /// The line of the document, from 1, if the document has a job per line.
    pub line: Option<usize>,
    /// The id of the job, or its number in the document (`#3`) if it has none.
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

/// The problems of a document. All are counted, and the first ones are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems {
    listed: Vec<JobProblem>,
    total: usize,
    skipped: usize,
}

impl Problems {
    /// The most problems that are listed.
    pub const MAX_LISTED: usize = 1000;

    /// Adds a problem.
    pub fn push(&mut self, problem: JobProblem) {
        self.total += 1;
        self.skipped += usize::from(problem.problem.skips_the_job());
        if self.listed.len() < Self::MAX_LISTED {
            self.listed.push(problem);
        }
    }

    /// The first problems, at most [`Problems::MAX_LISTED`].
    pub fn listed(&self) -> &[JobProblem] {
        &self.listed
    }

    /// The number of problems, listed or not.
    pub fn total(&self) -> usize {
        self.total
    }

    /// The number of jobs that are not in the table because of a problem.
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// Whether there are no problems.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }
}

/// Why a job is excluded from the evaluation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exclusion {
    /// The scheduler cannot read the amount of a resource:
    /// `Job is invalid - ignoring for this cycle`.
    Invalid {
        /// The resource.
        resource: String,
        /// Its amount, as found.
        found: String,
    },
    /// A subjob that has not begun: the scheduler considers its array instead.
    Subjob,
    /// The job has finished or was moved.
    Over(JobState),
    /// The job belongs to another scheduler, because of the partition of its queue.
    Partition {
        /// The partition; `None` if the queue has none, so that the job belongs to the default
        /// scheduler.
        partition: Option<String>,
    },
    /// The job is in a routing queue: the scheduler gets the jobs of queues of type Execution
    /// alone.
    RoutingQueue,
}

impl Exclusion {
    /// Whether the scheduler does not get the job, because of its queue.
    pub fn is_of_queue(&self) -> bool {
        matches!(self, Self::Partition { .. } | Self::RoutingQueue)
    }
}

impl fmt::Display for Exclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid { resource, found } => {
                write!(
                    f,
                    "the scheduler ignores the job as invalid: it cannot read the amount `{found}` of `{resource}`"
                )
            }
            Self::Subjob => {
                f.write_str("the subjob has not begun: the scheduler considers its array instead")
            }
            Self::Partition {
                partition: Some(partition),
            } => {
                write!(
                    f,
                    "the job belongs to another scheduler: its queue has the partition `{partition}`"
                )
            }
            Self::Partition { partition: None } => {
                f.write_str("the job belongs to the default scheduler: its queue has no partition")
            }
            Self::RoutingQueue => f.write_str(
                "the job is in a routing queue: the server moves it when a destination accepts it",
            ),
            Self::Over(state) => write!(
                f,
                "the job has finished or was moved (state `{}`)",
                state.letter()
            ),
        }
    }
}
