//! From when on a log is complete.
//!
//! A log in which a job is recorded when it ends, such as the accounting files of some days, begins
//! with jobs that were submitted before, some of them long ago, and lacks all others of that time:
//! those that ended before its first file. It is complete for the jobs that are submitted from its
//! first end on. A log of all jobs that were submitted from some time on has a first end too; but
//! nothing is missing before it, and so
//!
//! - about as many jobs are submitted in that time as in any other, and
//! - it was to be expected that no job ended in it: the sum of the hazards up to the first end,
//!   `-ln` of the fraction of runs that last as long as each job had run by then, has an
//!   exponential distribution with a mean of 1.
//!
//! A log is not complete if hardly any job is there in comparison with the rest of the log, or half
//! as many as expected, and the sum of the hazards is improbable: jobs of one user are alike, so
//! that this alone says little.
//!
//! Source: E. L. Kaplan, P. Meier, "Nonparametric Estimation from Incomplete Observations", 1958
//! (left truncation, survival).

use crate::workload::WorkloadJob;

/// A time in which so many jobs were to be expected, and less than a tenth of them are there, is
/// not complete.
const EXPECTED_JOBS: f64 = 30.0;
const HARDLY_ANY: f64 = 0.1;
/// Nor is one with less than half of them and a sum of hazards that is greater by chance in one of
/// 10,000 logs.
const FEW: f64 = 0.5;
const GREATEST_HAZARD: f64 = 9.21;

/// From when on the log of these jobs, which are in the order of their submission, is complete;
/// `None` if it is complete from its first submission on.
pub fn complete_from(jobs: &[WorkloadJob]) -> Option<i64> {
    let [first, .., last] = jobs else { return None };
    let mut runs = Vec::new();
    let mut first_end = i64::MAX;
    for job in jobs {
        if let Some(start) = job.started()
            && job.run > 0
        {
            let seconds = job.run;
            runs.push(Run { start, seconds });
            first_end = first_end.min(start.saturating_add(seconds));
        }
    }
    if runs.is_empty() {
        return None;
    }
    let before = jobs.partition_point(|job| job.submit < first_end);
    if before == 0 || last.submit <= first_end {
        return None;
    }
    let rate = (jobs.len() - before) as f64 / (last.submit - first_end) as f64;
    let expected = rate * (first_end - first.submit) as f64;
    let part = before as f64 / expected;
    let is_empty = expected >= EXPECTED_JOBS && part < HARDLY_ANY;
    let is_complete =
        !is_empty && (part >= FEW || sum_of_hazards(&runs, first_end) <= GREATEST_HAZARD);
    (!is_complete).then_some(first_end)
}

/// When a job ran.
struct Run {
    start: i64,
    seconds: i64,
}

/// The sum of the hazards of the runs up to the first end.
fn sum_of_hazards(runs: &[Run], first_end: i64) -> f64 {
    let mut lengths: Vec<i64> = runs.iter().map(|run| run.seconds).collect();
    lengths.sort_unstable();
    let mut sum = 0.0;
    for run in runs {
        let until_end = first_end - run.start;
        if until_end > 0 {
            let as_long = lengths.len() - lengths.partition_point(|length| *length < until_end);
            sum += libm::log(lengths.len() as f64 / as_long as f64);
        }
    }
    sum
}
