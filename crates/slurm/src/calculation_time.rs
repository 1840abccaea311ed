//! When slurmctld computed the priorities of the jobs, which decides their ages.

use std::collections::HashMap;

use crate::priority::PrioritySettings;
use crate::slurm_jobs::SlurmJob;
use crate::sprio::Sprio;

/// When the priorities are computed, in seconds since 1970 on the clock of the jobs.
#[derive(Debug, Clone, Default)]
pub struct CalculationTime {
    pub now: i64,
    /// Whether nothing says it but the jobs, of which it is the latest time.
    pub is_guessed: bool,
    /// Whether the ages in `sprio` are not those by `PriorityMaxAge`.
    pub ages_are_of_others: bool,
    /// The times of single jobs that the daemon computed at another time.
    of_jobs: HashMap<String, i64>,
}

impl CalculationTime {
    pub fn known(now: i64) -> Self {
        Self {
            now,
            ..Self::default()
        }
    }

    /// The time of the daemon's calculation, which follows from the ages in `sprio`; else that at
    /// which the files were collected; else the latest one of the jobs.
    pub fn find(
        jobs: &[SlurmJob],
        settings: &PrioritySettings,
        sprio: &Sprio,
        collected: Option<i64>,
    ) -> Self {
        let mut ages: Vec<(&SlurmJob, (i64, i64))> = Vec::new();
        for job in jobs {
            if job.is_pending()
                && let Some(from) = job.accrues_from
                && let Some(between) = sprio.calculated_between(&job.id, from, settings)
            {
                ages.push((job, between));
            }
        }
        let common = most_common(&ages);
        let mut of_jobs = HashMap::new();
        let (mut agreeing, mut differing) = (0, 0);
        for (job, (first, last)) in ages {
            let agrees = common.is_some_and(|now| (first..=last).contains(&now));
            if !agrees {
                of_jobs.insert(job.id.clone(), middle(first, last));
            }
            // what is open at one end says little
            if first > i64::MIN && last < i64::MAX {
                agreeing += usize::from(agrees);
                differing += usize::from(!agrees);
            }
        }
        // under another PriorityMaxAge nearly each job has a time of its own
        let ages_are_of_others = differing > 1 && differing > agreeing;
        if let Some(now) = common
            && !ages_are_of_others
        {
            return Self {
                of_jobs,
                ..Self::known(now)
            };
        }
        let mut latest = None;
        for job in jobs {
            latest = latest.max(job.submitted).max(job.accrues_from);
        }
        Self {
            now: collected.or(latest).unwrap_or(0),
            is_guessed: collected.is_none(),
            ages_are_of_others,
            of_jobs: HashMap::new(),
        }
    }

    /// The time for a job.
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
            let until = ends.get(pair + 1).map_or(time, |(next, _)| *next);
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
