//! How the scores and ranks of jobs change while all jobs wait, and when one overtakes another.

use job_sort_formula::rank::trajectory::{JobTrajectory, Overtaking, Trajectory, TrajectoryPoint};
use job_sort_formula::rank::{Crossings, Sweep, WorkBudget, crossings};
use jsf_openpbs::order::NO_THRESHOLD;

use crate::ranking::reach_rank::Race;
use crate::{RankedQueue, Site};

/// The number of points at which scores are given.
const POINTS: i64 = 60;
/// The number of seconds that are evaluated one by one.
const SHORT_RANGE: i64 = 1024;

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
    let found = budget.with_part(2, |part| {
        let competitors = race.waiting_competitors(part)?;
        Some(crossings(&job, &competitors, 0..=seconds, part))
    });
    let passings = budget.with_part(2, |part| {
        threshold_passings(&job, race.competition.threshold, seconds, part)
    });
    let known_crossings = if found.is_some() { seconds } else { 0 };
    let all = found.unwrap_or_default();
    let mut known_until = passings.known_until.min(known_crossings);
    for crossings in &all {
        known_until = known_until.min(crossings.known_until);
    }
    // the rank now is that of the ranking
    let known_until = known_until.max(0);
    let ahead = ahead_over_time(&all);
    let mut order = race.ranked.ranking.order().iter();
    let now = order.position(|&other| other == row);
    let follower = Follower {
        job: &job,
        race,
        ahead: &ahead,
        now: now.map(|place| place + 1),
    };
    let mut points = Vec::new();
    for point in 0..=POINTS {
        let wait = seconds * point / POINTS;
        points.push(follower.point(wait, known_until, &mut budget));
    }
    let mut changes = passings.waits;
    for &(wait, _) in &ahead {
        changes.push(wait);
    }
    changes.sort_unstable();
    changes.retain(|wait| *wait <= known_until);
    let (ranks, known_until) = follower.ranks(&changes, known_until, &mut budget);
    for point in &mut points {
        if point.wait > known_until {
            (point.rank, point.is_known) = (None, false);
        }
    }
    for (crossings, &(other, _)) in all.iter().zip(&race.competition.competitors) {
        for &(wait, is_ahead) in crossings.changes.iter().skip(1) {
            if wait <= known_until {
                let (winner, loser) = if is_ahead { (other, row) } else { (row, other) };
                trajectory.overtakings.push(Overtaking {
                    wait,
                    winner,
                    loser,
                });
            }
        }
    }
    trajectory.jobs.push(JobTrajectory {
        row,
        known_until,
        points,
        ranks,
    });
}

/// The scores and the ranks of a job, from the number of competitors that are ahead.
struct Follower<'f, 'a> {
    job: &'f Sweep<'a>,
    race: &'f Race<'a>,
    ahead: &'f [(i64, usize)],
    /// The rank now.
    now: Option<usize>,
}

impl Follower<'_, '_> {
    fn point(&self, wait: i64, known_until: i64, budget: &mut WorkBudget) -> TrajectoryPoint {
        let score = self.score(wait, budget).unwrap_or(f64::NAN);
        let is_known = wait <= known_until;
        TrajectoryPoint {
            wait,
            score,
            rank: if is_known {
                self.rank(wait, score)
            } else {
                None
            },
            is_known,
        }
    }

    /// The score after some seconds; `None` if the budget is spent.
    fn score(&self, wait: i64, budget: &mut WorkBudget) -> Option<f64> {
        self.job.scores(wait..=wait, budget)?.pop()
    }

    /// The rank with this score after some seconds; `None` if the job is not considered then.
    fn rank(&self, wait: i64, score: f64) -> Option<usize> {
        if wait == 0 {
            return self.now;
        }
        let index = self.ahead.partition_point(|(from, _)| *from <= wait);
        let last = self.ahead[..index].last();
        let ahead = last.map_or(0, |(_, ahead)| *ahead);
        let competition = &self.race.competition;
        if score.is_nan() || score > competition.threshold {
            competition.rank(ahead)
        } else {
            None
        }
    }

    /// The rank after each of these times at which it may change, and until when it is known.
    fn ranks(
        &self,
        changes: &[i64],
        mut known_until: i64,
        budget: &mut WorkBudget,
    ) -> (Vec<(i64, Option<usize>)>, i64) {
        let mut ranks = vec![(0, self.now)];
        let has_threshold = self.race.competition.threshold != NO_THRESHOLD;
        for &wait in changes {
            if wait <= 0 {
                continue;
            }
            let mut score = f64::NAN;
            if has_threshold {
                let Some(own) = self.score(wait, budget) else {
                    known_until = wait - 1;
                    break;
                };
                score = own;
            }
            ranks.push((wait, self.rank(wait, score)));
        }
        ranks.dedup_by_key(|(_, rank)| *rank);
        (ranks, known_until)
    }
}

/// The times at which the score of a job begins to exceed the threshold, or no longer exceeds it.
struct ThresholdPassings {
    waits: Vec<i64>,
    /// The last time up to which they are known.
    known_until: i64,
}

fn threshold_passings(
    job: &Sweep<'_>,
    threshold: f64,
    seconds: i64,
    budget: &mut WorkBudget,
) -> ThresholdPassings {
    let mut passings = ThresholdPassings {
        waits: Vec::new(),
        known_until: seconds,
    };
    if threshold == NO_THRESHOLD {
        return passings;
    }
    let mut last = None;
    let mut ranges = vec![0..=seconds];
    while let Some(range) = ranges.pop() {
        let start = *range.start();
        let end = *range.end();
        let bounds = job
            .enclosure(range.clone(), budget)
            .map(|found| found.bounds());
        let is_under = match bounds {
            Some((_, most)) if most <= threshold => vec![true],
            Some((least, _)) if least > threshold => vec![false],
            _ if end - start >= SHORT_RANGE && !budget.is_spent() => {
                let middle = start + (end - start) / 2;
                ranges.extend([middle + 1..=end, start..=middle]);
                continue;
            }
            _ => {
                let Some(scores) = job.scores(range, budget) else {
                    passings.known_until = start - 1;
                    break;
                };
                scores.into_iter().map(|score| score <= threshold).collect()
            }
        };
        for (wait, is_under) in (start..).zip(is_under) {
            if last == Some(!is_under) {
                passings.waits.push(wait);
            }
            last = Some(is_under);
        }
    }
    passings
}

/// The number of competitors that are ahead, at the time 0 and at each time at which it changes.
fn ahead_over_time(all: &[Crossings]) -> Vec<(i64, usize)> {
    let mut changes: Vec<(i64, i64)> = Vec::new();
    let mut ahead = 0;
    for crossings in all {
        for (index, &(wait, is_ahead)) in crossings.changes.iter().enumerate() {
            if index == 0 {
                ahead += i64::from(is_ahead);
            } else {
                changes.push((wait, if is_ahead { 1 } else { -1 }));
            }
        }
    }
    changes.sort_unstable();
    let mut over_time = vec![(0, ahead as usize)];
    for (wait, change) in changes {
        ahead += change;
        match over_time.last_mut() {
            Some(last) if last.0 == wait => last.1 = ahead as usize,
            _ => over_time.push((wait, ahead as usize)),
        }
    }
    over_time
}
