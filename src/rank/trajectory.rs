//! The scores and ranks of jobs over the time that they wait, as data.

use serde::Serialize;

/// Jobs over the waiting time. All considered jobs age alike, and nothing else changes.
#[derive(Debug, Clone)]
pub struct Trajectory {
    /// The waiting time that is covered, from now on, in seconds.
    pub seconds: i64,
    /// The jobs that were asked for.
    pub jobs: Vec<JobTrajectory>,
    /// Which job overtakes which other one, in the order of time.
    pub overtakings: Vec<Overtaking>,
}

/// One job over the waiting time.
#[derive(Debug, Clone)]
pub struct JobTrajectory {
    /// Its row in the table.
    pub row: usize,
    /// The time up to which it is followed, in seconds: less than asked for if finding out more
    /// takes too long. After it its ranks are not known.
    pub known_until: i64,
    /// Its scores at times that are equally far apart.
    pub points: Vec<TrajectoryPoint>,
    /// Its rank at the time 0, and at each time at which it changes, as long as it is followed;
    /// `None` while the scheduler does not consider it.
    pub ranks: Vec<(i64, Option<usize>)>,
}

/// The score and the rank of a job at one time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TrajectoryPoint {
    /// The time from now, in seconds.
    pub wait: i64,
    /// The score.
    pub score: f64,
    /// The rank, from 1; `None` if the scheduler does not consider the job, or if the rank is not
    /// known.
    pub rank: Option<usize>,
    /// Whether the rank is known.
    #[serde(rename = "known")]
    pub is_known: bool,
}

/// A job overtakes another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Overtaking {
    /// The time from now, in seconds: the first second at which the job is ahead.
    pub wait: i64,
    /// The row of the job that is ahead from then on.
    pub winner: usize,
    /// The row of the other one.
    pub loser: usize,
}
