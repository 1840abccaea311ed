//! The state of a job, and why a job is excluded from the evaluation.

use std::fmt;

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
