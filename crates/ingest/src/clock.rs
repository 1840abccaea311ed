//! The clock of qstat's host, on which qstat prints times: its distance from UTC, by the jobs that have
//! both a time on it and one in UTC.

use jsf_openpbs::Time;

use crate::cycle_jobs::QueuedJob;

/// The distance of the clock of qstat's host from UTC, which changes with daylight saving time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Clock {
    /// Times on the clock, each with its distance from UTC at that time in seconds, in ascending
    /// order.
    samples: Vec<(i64, i64)>,
}

/// Time zones are multiples of this from UTC, in seconds.
const QUARTER: i64 = 15 * 60;

/// No time zone is further from UTC, in seconds.
const MAX_DISTANCE: i64 = 14 * 3600;

impl Clock {
    pub fn new(jobs: &[QueuedJob], timestamp: Option<i64>) -> Self {
        let mut samples = Vec::new();
        for job in jobs {
            // the server takes both when the job enters its queue
            if let (Some(Time::Wall(queued)), Some(rank)) = (job.qtime, job.queue_rank) {
                let distance = queued - rank / 1_000_000;
                let nearest = nearest_zone(distance);
                if nearest.abs() <= MAX_DISTANCE && (distance - nearest).abs() <= 2 {
                    samples.push((queued, nearest));
                }
            }
        }
        samples.sort_unstable();
        if samples.is_empty()
            && let Some(timestamp) = timestamp
        {
            samples.extend(sample_of_running(jobs, timestamp));
        }
        Self { samples }
    }

    /// The clock by times on it, each with the time in seconds since 1970 when it showed about that.
    pub fn from_samples(samples: impl IntoIterator<Item = (i64, i64)>) -> Self {
        let mut known = Vec::new();
        for (wall, utc) in samples {
            let distance = nearest_zone(wall - utc);
            if distance.abs() <= MAX_DISTANCE {
                known.push((wall, distance));
            }
        }
        known.sort_unstable();
        Self { samples: known }
    }

    /// Whether the distance is known; else it is taken to be 0.
    pub fn is_known(&self) -> bool {
        !self.samples.is_empty()
    }

    /// A time in seconds since 1970.
    pub fn utc(&self, time: Time) -> i64 {
        match time {
            Time::Utc(seconds) => seconds,
            Time::Wall(wall) => self.utc_of_wall(wall),
        }
    }

    /// A time on the clock in seconds since 1970, by the distance from UTC that is known for the
    /// nearest time.
    pub fn utc_of_wall(&self, wall: i64) -> i64 {
        wall.saturating_sub(self.distance(wall))
    }

    /// What the clock shows at a time in seconds since 1970.
    pub fn wall_of_utc(&self, utc: i64) -> i64 {
        let wall = utc.saturating_add(self.distance(utc));
        utc.saturating_add(self.distance(wall))
    }

    fn distance(&self, wall: i64) -> i64 {
        let after = self.samples.partition_point(|&(sample, _)| sample < wall);
        let nearest = self.samples[after.saturating_sub(1)..].iter().take(2);
        match nearest.min_by_key(|(sample, _)| sample.abs_diff(wall)) {
            Some((_, distance)) => *distance,
            None => 0,
        }
    }
}

fn nearest_zone(distance: i64) -> i64 {
    (distance + QUARTER / 2).div_euclid(QUARTER) * QUARTER
}

/// The distance from UTC by the running jobs: what they have used is up to a few minutes old.
fn sample_of_running(jobs: &[QueuedJob], timestamp: i64) -> Option<(i64, i64)> {
    let mut latest = None;
    for job in jobs {
        if let (Some(Time::Wall(started)), Some(used)) = (job.stime, job.used_walltime) {
            latest = latest.max(started.checked_add(used));
        }
    }
    let latest = latest?;
    // a host reports what a job has used before the document is written: the clock is further ahead
    // than this shows, and its distance is the next one above
    let ahead = latest.checked_sub(timestamp)?.checked_add(QUARTER - 1)?;
    let distance = ahead.div_euclid(QUARTER) * QUARTER;
    if distance.abs() > MAX_DISTANCE {
        return None;
    }
    Some((latest, distance))
}
