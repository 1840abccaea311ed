//! The state of a job, and why a scheduler leaves one out.

use std::fmt;

/// The state of a job, as the letter of `job_state` says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum JobState {
    /// `Q`: waits to be run.
    #[default]
    Queued,
    /// `H`: held.
    Held,
    /// `W`: waits for its start time.
    Waiting,
    /// `R`: runs.
    Running,
    /// `E`: ends.
    Exiting,
    /// `S`: suspended by the server; waits to be resumed.
    Suspended,
    /// `U`: suspended because its workstation is in use.
    Parked,
    /// `B`: an array of which some subjob has begun; the rest waits to be run.
    Begun,
    /// `T`: on its way to another place.
    Transit,
    /// `M`: moved to another server.
    Moved,
    /// `F`: finished.
    Finished,
    /// `X`: a subjob that is over.
    Expired,
}

impl JobState {
    const LETTERS: [(&'static str, Self); 12] = [
        ("Q", Self::Queued),
        ("H", Self::Held),
        ("W", Self::Waiting),
        ("R", Self::Running),
        ("E", Self::Exiting),
        ("S", Self::Suspended),
        ("U", Self::Parked),
        ("B", Self::Begun),
        ("T", Self::Transit),
        ("M", Self::Moved),
        ("F", Self::Finished),
        ("X", Self::Expired),
    ];

    /// The state behind a letter, if there is one.
    pub fn from_letter(letter: &str) -> Option<Self> {
        Self::LETTERS.iter().find(|(known, _)| *known == letter).map(|&(_, state)| state)
    }

    /// The letter of `job_state`.
    pub fn letter(self) -> &'static str {
        Self::LETTERS.iter().find(|(_, state)| *state == self).map_or("", |&(letter, _)| letter)
    }

    /// Whether the scheduler looks for a place to run such a job. A held, waiting or running job is evaluated
    /// but has no place in the order.
    pub fn is_considered(self) -> bool {
        matches!(self, Self::Queued | Self::Suspended | Self::Begun)
    }

    /// Whether the job is over, or gone to another server: the scheduler is not told of it at all.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Moved | Self::Finished | Self::Expired)
    }
}

/// Why a job is left out of the evaluation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Exclusion {
    /// The scheduler cannot read one of the job's resources and ignores the job: `Job is invalid - ignoring
    /// for this cycle`.
    Invalid {
        /// The resource.
        resource: String,
        /// Its amount, as found.
        found: String,
    },
    /// A subjob that has not begun: its array stands for it.
    Subjob,
    /// The job is over or moved.
    Over(JobState),
}

impl fmt::Display for Exclusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid { resource, found } => {
                write!(f, "the scheduler ignores the job as invalid: it cannot read `{found}` of `{resource}`")
            }
            Self::Subjob => f.write_str("a subjob that has not begun: its array stands for it"),
            Self::Over(state) => write!(f, "the job is over or moved (state `{}`)", state.letter()),
        }
    }
}
