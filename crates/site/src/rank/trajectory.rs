//! How values and ranks change while all jobs wait: when a job reaches a rank, and which jobs overtake
//! which.

use job_sort_formula::rank::WorkBudget;
use serde::Serialize;

use crate::rank::race::{Change, Contest, Course, FirstStep, Race};
use crate::{RankedQueue, Site};

/// The time after which a job counts as never having reached a rank: 68 years.
const LIFETIME: i64 = i32::MAX as i64;

/// Whether and when a job reaches a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// It does.
    Until(Reached),
    /// It does not in the time that was considered.
    Never {
        /// Whether it never does because all jobs gain the same in the same time.
        gain_alike: bool,
    },
    /// Finding it out takes too long: the formula changes the order too irregularly.
    Unknown,
}

/// When a job reaches a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Reached {
    /// The `eligible_time` of the job then, in seconds.
    pub eligible_time: i64,
    /// The time until then, in seconds.
    pub wait: i64,
}

impl Race<'_> {
    /// When the job first has at most this rank, in whole seconds from now up to `within`, if it
    /// and all other considered jobs age alike.
    ///
    /// Exact for every formula: a time at which bounds of the values leave the order open is
    /// evaluated. Unknown where the budget is spent.
    pub(crate) fn reached(&self, rank: usize, within: i64, budget: &mut WorkBudget) -> Wait {
        let Some(places) = self.competition.places(rank) else {
            return Wait::Never { gain_alike: false };
        };
        let Some(competitors) = self.waiting_competitors(budget) else {
            return Wait::Unknown;
        };
        let job = self.waiting(self.row);
        let contest = self.contest(&job, &competitors);
        let waited = self.ranked.table.column("eligible_time");
        let now = waited.map_or(0, |column| column.nearest_double(self.row) as i64);
        match contest.first_step(places, 0..=within, budget) {
            FirstStep::At(wait) => Wait::Until(Reached {
                eligible_time: now.saturating_add(wait),
                wait,
            }),
            FirstStep::Never => Wait::Never {
                gain_alike: gain_alike(contest, places, budget),
            },
            FirstStep::Unknown => Wait::Unknown,
        }
    }
}

/// Whether a job never reaches a goal because the value of every considered job grows by the same
/// in the same time.
fn gain_alike(contest: Contest<'_, '_>, places: usize, budget: &mut WorkBudget) -> bool {
    let gain = contest.job.constant_slope(0..=LIFETIME, budget);
    let mut others = contest.competitors.iter();
    gain.is_some()
        && others.all(|other| other.sweep.constant_slope(0..=LIFETIME, budget) == gain)
        && contest.first_step(places, 0..=LIFETIME, budget) == FirstStep::Never
}

/// The number of points at which scores are given.
const POINTS: i64 = 60;

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

impl Site {
    /// The scores and ranks of some waiting jobs over the next `seconds`. The times at which jobs
    /// overtake each other are exact. `work` is the most work for one job, in units of a
    /// [`WorkBudget`]; a job is followed as far as it goes. A job that does not wait is left out;
    /// so are all if the site computes with decimals.
    pub fn trajectory(
        &self,
        ranked: &RankedQueue,
        rows: &[usize],
        seconds: i64,
        work: u64,
    ) -> Trajectory {
        let mut trajectory = Trajectory {
            seconds,
            jobs: Vec::new(),
            overtakings: Vec::new(),
        };
        for &row in rows {
            if let Some(race) = self.race(ranked, row) {
                add(&mut trajectory, &race, WorkBudget::new(work));
            }
        }
        trajectory.overtakings.sort_unstable();
        trajectory.overtakings.dedup();
        trajectory
    }
}

/// Adds a job to a trajectory.
fn add(trajectory: &mut Trajectory, race: &Race<'_>, mut budget: WorkBudget) {
    let row = race.row;
    let job = race.waiting(row);
    let seconds = trajectory.seconds;
    // the rank now is that of the ranking
    let mut course = Course {
        changes: Vec::new(),
        known_until: 0,
    };
    budget.with_part(2, |part| {
        if let Some(competitors) = race.waiting_competitors(part) {
            course = race.contest(&job, &competitors).course(0..=seconds, part);
        }
    });
    let known_until = course.known_until.max(0);
    let ranks = race.ranks_over_time(&course.changes);
    let mut points = Vec::new();
    for point in 0..=POINTS {
        let wait = seconds * point / POINTS;
        let score = job
            .scores(wait..=wait, &mut budget)
            .and_then(|mut scores| scores.pop());
        let is_known = wait <= known_until;
        let so_far = ranks.partition_point(|(from, _)| *from <= wait);
        points.push(TrajectoryPoint {
            wait,
            score: score.unwrap_or(f64::NAN),
            // the first rank is of the time 0, so that there is one at any time
            rank: ranks[so_far - 1].1.filter(|_| is_known),
            is_known,
        });
    }
    for change in &course.changes {
        if change.step > 0
            && let Some(index) = change.competitor
        {
            let (other, _) = race.competition.competitors[index];
            let (winner, loser) = if change.is_ahead {
                (other, row)
            } else {
                (row, other)
            };
            trajectory.overtakings.push(Overtaking {
                wait: change.step,
                winner,
                loser,
            });
        }
    }
    trajectory.jobs.push(JobTrajectory {
        row,
        known_until,
        points,
        ranks,
    });
}

impl Race<'_> {
    /// The rank of the job now, and at each time at which it changes; `None` while its value does not
    /// exceed the threshold.
    fn ranks_over_time(&self, changes: &[Change]) -> Vec<(i64, Option<usize>)> {
        let mut order = self.ranked.ranking.order().iter();
        let now = order.position(|&other| other == self.row);
        let mut ranks = vec![(0, now.map(|place| place + 1))];
        let mut ahead = 0;
        let mut is_held_back = false;
        for at_once in changes.chunk_by(|one, other| one.step == other.step) {
            let wait = at_once[0].step;
            for change in at_once {
                match change.competitor {
                    None => is_held_back = change.is_ahead,
                    Some(_) if change.is_ahead => ahead += 1,
                    // at first it is said of each whether it is ahead
                    Some(_) => ahead -= usize::from(wait > 0),
                }
            }
            if wait > 0 {
                let rank = self.competition.rank(ahead);
                ranks.push((wait, rank.filter(|_| !is_held_back)));
            }
        }
        ranks.dedup_by_key(|(_, rank)| *rank);
        ranks
    }
}
