//! When slurmctld computed the priorities, which decides the ages of the jobs.

use std::collections::HashMap;

use jsf_slurm::conf::SlurmConf;
use jsf_slurm::jobs::SlurmJob;
use jsf_slurm::sprio::Sprio;

use crate::SiteFiles;

/// When the priorities are computed.
pub struct Clock {
    pub now: i64,
    pub is_guessed: bool,
    /// Whether the ages in `sprio` are not those by `PriorityMaxAge`.
    pub ages_are_of_others: bool,
    /// The times of single jobs that the daemon computed at another time.
    of_jobs: HashMap<String, i64>,
}

impl Clock {
    pub fn known(now: i64) -> Self {
        Self {
            now,
            is_guessed: false,
            ages_are_of_others: false,
            of_jobs: HashMap::new(),
        }
    }

    /// The time that was asked for; else that of the daemon's calculation, which follows from the
    /// ages in `sprio`; else that of the collected files; else the latest one of the jobs.
    pub fn new(
        at: Option<i64>,
        jobs: &[SlurmJob],
        conf: &SlurmConf,
        sprio: &Sprio,
        files: &SiteFiles,
    ) -> Self {
        if let Some(at) = at {
            return Self::known(at);
        }
        let mut clock = Self::known(0);
        let mut ages: Vec<(&SlurmJob, (i64, i64))> = Vec::new();
        for job in jobs {
            if job.is_pending()
                && let Some(from) = job.accrues_from
                && let Some(between) = sprio.calculated_between(&job.id, from, &conf.priority)
            {
                ages.push((job, between));
            }
        }
        let common = most_common(&ages);
        let (mut agreeing, mut differing) = (0, 0);
        for (job, (first, last)) in ages {
            let agrees = matches!(common, Some(now) if (first..=last).contains(&now));
            if !agrees {
                clock.of_jobs.insert(job.id.clone(), middle(first, last));
            }
            // what is open at one end says little
            if first > i64::MIN && last < i64::MAX {
                agreeing += usize::from(agrees);
                differing += usize::from(!agrees);
            }
        }
        // under another PriorityMaxAge nearly each job has a time of its own
        clock.ages_are_of_others = differing > 1 && differing > agreeing;
        if clock.ages_are_of_others {
            clock.of_jobs.clear();
        }
        if let Some(now) = common
            && !clock.ages_are_of_others
        {
            clock.now = now;
        } else if let Some(now) = files.jobs_taken_at() {
            clock.now = now;
        } else {
            let mut latest = None;
            for job in jobs {
                latest = latest.max(job.submitted).max(job.accrues_from);
            }
            clock.now = latest.unwrap_or(0);
            clock.is_guessed = true;
        }
        clock
    }

    pub fn of(&self, job: &SlurmJob) -> i64 {
        self.of_jobs.get(&job.id).copied().unwrap_or(self.now)
    }
}

/// The middle of the times that most intervals contain.
fn most_common(intervals: &[(&SlurmJob, (i64, i64))]) -> Option<i64> {
    let mut ends: Vec<(i64, i32)> = Vec::new();
    for &(_, (first, last)) in intervals {
        ends.extend([(first, -1), (last, 1)]);
    }
    // of equal times, beginnings come first
    ends.sort_unstable();
    let (mut count, mut most, mut best) = (0, 0, None);
    for pair in 0..ends.len() {
        let (time, end) = ends[pair];
        count -= end;
        if count > most {
            let until = match ends.get(pair + 1) {
                Some((next, _)) => *next,
                None => time,
            };
            (most, best) = (count, Some(middle(time, until)));
        }
    }
    best
}

/// A time of an interval that may be open at one end.
fn middle(first: i64, last: i64) -> i64 {
    match (first, last) {
        (i64::MIN, last) => last,
        (first, i64::MAX) => first,
        (first, last) => first + (last - first) / 2,
    }
}
