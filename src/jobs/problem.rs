//! What is said of a single job: a problem with it, its state, and why it is excluded from the
//! evaluation.

use std::fmt;

use thiserror::Error;

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
    #[error("{found}, expected {expected}; the job is skipped")]
    NotAJob {
        /// What was found.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// An attribute does not have the expected type.
    #[error("`{attribute}` is {found}, expected {expected}; the attribute is ignored")]
    Attribute {
        /// The attribute.
        attribute: String,
        /// What was found.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// An input that the formula, the order or fair share needs does not have the expected type.
    #[error("`{attribute}` is needed, and is {found}, expected {expected}; the job is skipped")]
    WrongInput {
        /// The input.
        attribute: String,
        /// What was found.
        found: String,
        /// What was expected.
        expected: &'static str,
    },
    /// The job has no `Resource_List`.
    #[error("the job has no `Resource_List`; its resources are taken as 0")]
    NoResources,
    /// qstat has removed digits of a number.
    #[error(
        "`{resource}` is {found}, which the JSON of qstat has rounded to 15 digits; use `qstat -f` without `-F json` for all digits"
    )]
    Shortened {
        /// The resource.
        resource: String,
        /// The number, as found.
        found: String,
    },
    /// An integer has more than 64 bits.
    #[error("`{resource}` is {found}, which is beyond 64 bits: OpenPBS takes {taken}")]
    Saturated {
        /// The resource.
        resource: String,
        /// The number, as found.
        found: String,
        /// The number that the formula gets.
        taken: String,
    },
    /// An attribute, a resource or an input occurs more than once in the job.
    #[error("`{key}` is given more than once; {consequence}")]
    Repeated {
        /// The key.
        key: String,
        /// Which of its values counts.
        consequence: &'static str,
    },
    /// The document is damaged, and was repaired without loss.
    #[error("{what}")]
    Repaired {
        /// What was found, and what it is taken for.
        what: String,
    },
    /// An attribute that is not needed is damaged.
    #[error("`{attribute}` is not valid JSON ({reason}); the attribute is ignored")]
    DroppedAttribute {
        /// The attribute.
        attribute: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An attribute that the formula, the order or fair share needs is damaged.
    #[error("`{attribute}` is needed, and is not valid JSON ({reason}); the job is skipped")]
    DamagedInput {
        /// The attribute.
        attribute: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The job cannot be read from a damaged document.
    #[error("{reason}; the job is skipped")]
    Unreadable {
        /// What is wrong.
        reason: String,
    },
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
                | Self::NotAJob { .. }
                | Self::WrongInput { .. }
                | Self::DamagedInput { .. }
                | Self::Unreadable { .. }
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

/// The state of a job (`job_state`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum JobState {
    /// `Q`: queued.
    #[default]
    Queued,
    /// `H`: held.
    Held,
    /// `W`: waiting for its start time.
    Waiting,
    /// `R`: running.
    Running,
    /// `E`: exiting.
    Exiting,
    /// `S`: suspended by the server; may be resumed.
    Suspended,
    /// `U`: suspended because its workstation is in use.
    Parked,
    /// `B`: an array with a subjob that has begun; the others are queued.
    Begun,
    /// `T`: being moved to another location.
    Transit,
    /// `M`: moved to another server.
    Moved,
    /// `F`: finished.
    Finished,
    /// `X`: a subjob that has finished.
    Expired,
    /// `C`: completed, in Torque.
    Completed,
    /// `?`: a letter that no scheduler is known to use.
    Unknown,
}

/// The letters of the states in `job_state`.
const LETTERS: [(JobState, &str); 13] = [
    (JobState::Queued, "Q"),
    (JobState::Held, "H"),
    (JobState::Waiting, "W"),
    (JobState::Running, "R"),
    (JobState::Exiting, "E"),
    (JobState::Suspended, "S"),
    (JobState::Parked, "U"),
    (JobState::Begun, "B"),
    (JobState::Transit, "T"),
    (JobState::Moved, "M"),
    (JobState::Finished, "F"),
    (JobState::Expired, "X"),
    (JobState::Completed, "C"),
];

impl JobState {
    /// The state with this letter.
    pub fn from_letter(letter: &str) -> Option<Self> {
        let (state, _) = LETTERS.iter().find(|(_, known)| *known == letter)?;
        Some(*state)
    }

    /// The letter of `job_state`; `?` if it is unknown.
    pub fn letter(self) -> &'static str {
        match LETTERS.iter().find(|(state, _)| *state == self) {
            Some((_, letter)) => letter,
            None => "?",
        }
    }

    /// Whether the scheduler tries to run such a job. A held, waiting or running job is evaluated,
    /// but is not ranked.
    pub fn is_considered(self) -> bool {
        matches!(self, Self::Queued | Self::Suspended | Self::Begun)
    }

    /// Whether the job has finished or was moved to another server: the scheduler does not get it.
    pub fn is_over(self) -> bool {
        matches!(
            self,
            Self::Moved | Self::Finished | Self::Expired | Self::Completed
        )
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
