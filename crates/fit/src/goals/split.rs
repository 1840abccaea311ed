//! The parts of a log: the one that is searched, a gap, and the one that judges what was found.
//!
//! The searched part is simulated with its own jobs only, so that nothing of the later ones is
//! known. The held-out part is simulated as the end of the whole log under each formula: it begins
//! with the queue and the usage that the formula itself would have left, as it would be had it been
//! in force. Between them no job counts for the time that the longest job may run, so that what the
//! last searched jobs leave behind is hardly seen: a formula that was fitted to them has no
//! advantage by it. Equal formulas give equal results on the held-out part, whatever was searched.

use jsf_simulate::Workload;

use super::FitError;

const DAY: f64 = 86_400.0;
const DAYS_OF_WEEK: f64 = 7.0;
/// The least of a log that is fitted without force: less says nothing of other weeks.
pub const MIN_WEEKS: f64 = 8.0;
pub const MIN_JOBS: usize = 2000;
/// The largest part of what follows the searched part that a gap takes, where a job asks for more
/// time than that.
const MAX_GAP: f64 = 0.5;

/// The parts of a log, by times of submission in seconds of its clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    /// The first submission.
    pub begin: i64,
    /// From here on, after the warm-up, jobs of the searched part count.
    pub counted_from: i64,
    /// The end of the searched part.
    pub searched_until: i64,
    /// The beginning of the held-out part.
    pub held_out_from: i64,
    /// The last submission.
    pub end: i64,
}

impl Split {
    /// Holds out this fraction of the time of a log. A log that is too short is refused unless
    /// `force` is set.
    pub(super) fn new(
        workload: &Workload,
        held_out: f64,
        warm_up: i64,
        force: bool,
    ) -> Result<Self, FitError> {
        if !(0.0..1.0).contains(&held_out) {
            return Err(FitError::HeldOut(held_out));
        }
        let jobs = workload.jobs();
        let [Some(first), Some(last)] = [jobs.first(), jobs.last()] else {
            return Err(FitError::NothingToSearch);
        };
        let [begin, end] = [first.submit, last.submit];
        let weeks = (end - begin) as f64 / DAY / DAYS_OF_WEEK;
        if !force && (weeks < MIN_WEEKS || jobs.len() < MIN_JOBS) {
            return Err(FitError::TooShort {
                jobs: jobs.len(),
                weeks,
            });
        }
        let searched_until = end - ((end - begin) as f64 * held_out) as i64;
        let longest = jobs.iter().map(|job| job.walltime).max().unwrap_or(0);
        let gap = longest.min(((end - searched_until) as f64 * MAX_GAP) as i64);
        let counted_from = begin.saturating_add(warm_up).min(end);
        let split = Self {
            begin,
            counted_from,
            searched_until,
            held_out_from: searched_until + gap,
            end,
        };
        if split.counted_from >= searched_until {
            return Err(FitError::NothingToSearch);
        }
        Ok(split)
    }

    /// How many days are searched.
    pub fn searched_days(&self) -> f64 {
        (self.searched_until - self.counted_from) as f64 / DAY
    }

    /// How many days are held out.
    pub fn held_out_days(&self) -> f64 {
        (self.end - self.held_out_from) as f64 / DAY
    }
}
