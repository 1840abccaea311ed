//! How the scores and ranks of jobs change while all jobs wait, and who overtakes whom when.

use std::cell::Cell;

use super::reach_rank::Race;
use super::{RankedQueue, Site};
use crate::pbs::order::NO_THRESHOLD;
use crate::python::limits::QUEUE_FUEL;
use crate::rank::trajectory::{JobTrajectory, Overtaking, Trajectory, TrajectoryPoint};
use crate::rank::{Crossings, Sweep, crossings};
use crate::schema::Schema;

/// The number of points at which scores are given.
const POINTS: i64 = 60;
/// The most ranges of time over which a job is compared with its competitors: some seconds of work.
const MAX_RANGES: usize = 200_000;
/// The number of seconds that are evaluated at once.
const BLOCK_SECONDS: usize = 1 << 16;

impl Site {
    /// The scores and ranks of some waiting jobs over the next `seconds`. The times at which jobs overtake each other are
    /// exact. A job that does not wait is left out; so are all if the site computes with decimals.
    pub fn trajectory(&self, ranked: &RankedQueue, schema: &Schema, rows: &[usize], seconds: i64) -> Trajectory {
        let mut trajectory = Trajectory { seconds, jobs: Vec::new(), overtakings: Vec::new() };
        for &row in rows {
            if let Some(race) = self.race(ranked, schema, row) {
                add(&mut trajectory, &race, ranked, row);
            }
        }
        trajectory.overtakings.sort_unstable();
        trajectory.overtakings.dedup();
        trajectory
    }
}

/// Adds a job to a trajectory.
fn add(trajectory: &mut Trajectory, race: &Race<'_>, ranked: &RankedQueue, row: usize) {
    let (job, competitors) = (race.waiting(ranked, row), race.waiting_competitors(ranked));
    let limit = MAX_RANGES / competitors.len().max(1);
    let all = crossings(&job, &competitors, 0..=trajectory.seconds, limit);
    let known_until = all.iter().map(|crossings| crossings.known_until).min().unwrap_or(trajectory.seconds);
    for (crossings, &(other, _)) in all.iter().zip(&race.competition.competitors) {
        let known = crossings.changes.iter().skip(1).filter(|(wait, _)| *wait <= known_until);
        trajectory.overtakings.extend(known.map(|&(wait, is_ahead)| {
            let (winner, loser) = if is_ahead { (other, row) } else { (row, other) };
            Overtaking { wait, winner, loser }
        }));
    }
    let ahead = ahead_over_time(&all);
    let left = Cell::new(QUEUE_FUEL);
    let score = |wait: i64| {
        let mut work = left.get();
        let scores = job.scores_within(wait..=wait, &mut work);
        left.set(work);
        scores.and_then(|mut scores| scores.pop()).unwrap_or(f64::NAN)
    };
    let rank = |wait: i64| {
        let index = ahead.partition_point(|(from, _)| *from <= wait);
        let ahead = ahead[..index].last().map_or(0, |(_, ahead)| *ahead);
        let score = score(wait);
        race.competition.rank(ahead).filter(|_| score.is_nan() || score > race.competition.threshold)
    };
    let waits = (0..=POINTS).map(|point| trajectory.seconds * point / POINTS).filter(|wait| *wait <= known_until);
    let point = |wait: i64| TrajectoryPoint { wait, score: score(wait), rank: rank(wait) };
    let points: Vec<_> = waits.map(point).collect();
    let mut changes: Vec<i64> = ahead.iter().map(|&(wait, _)| wait).collect();
    changes.extend(threshold_passings(&job, race.competition.threshold, known_until));
    changes.sort_unstable();
    changes.retain(|wait| *wait <= known_until);
    let mut ranks: Vec<_> = changes.into_iter().map(|wait| (wait, rank(wait))).collect();
    ranks.dedup_by_key(|(_, rank)| *rank);
    trajectory.jobs.push(JobTrajectory { row, known_until, points, ranks });
}

/// The times at which the score of a job begins to exceed the threshold, or no longer exceeds it.
fn threshold_passings(job: &Sweep<'_>, threshold: f64, seconds: i64) -> Vec<i64> {
    let mut passings = Vec::new();
    if threshold == NO_THRESHOLD {
        return passings;
    }
    let mut last = None;
    let mut work = QUEUE_FUEL;
    for start in (0..=seconds).step_by(BLOCK_SECONDS) {
        let end = seconds.min(start + BLOCK_SECONDS as i64 - 1);
        let Some(scores) = job.scores_within(start..=end, &mut work) else { break };
        for (wait, score) in (start..).zip(scores) {
            let is_under = score <= threshold;
            if last.is_some_and(|last| last != is_under) {
                passings.push(wait);
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
        let (first, later) =
            crossings.changes.split_first().map_or((None, &[][..]), |(first, later)| (Some(first), later));
        ahead += i64::from(first.is_some_and(|(_, is_ahead)| *is_ahead));
        changes.extend(later.iter().map(|&(wait, is_ahead)| (wait, if is_ahead { 1 } else { -1 })));
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
