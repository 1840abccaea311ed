//! Compares the values in a scheduler's log with the values of this crate, and explains the differences.
//!
//! In: a log of `pbs_sched`, and the jobs with their scores. Out: a [`Replay`]. Every
//! `…;pbs_sched;Job;12.vm;Formula Evaluation = 0.8843` is compared with the digits that the same value would be logged
//! with. For a difference, the inputs of the job are searched one by one for a value that gives the logged digits.

mod search;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::fairshare::Policy;
use crate::fairshare::decay::IntervalDecay;
use crate::formula::Formula;
use crate::jobs::{Exclusion, JobTable};
use crate::pbs::number_format::logged;
use crate::pbs::share_tree::PbsTree;
use crate::rank::Scores;
use crate::schema::Schema;
pub use search::Explanation;
use search::{Key, Search};

/// The most differences that are listed; the others are counted.
const MAX_LISTED: usize = 100_000;
/// The most differences whose inputs are searched.
const MAX_SEARCHES: usize = 10_000;
/// The most explanations that are tried for every difference after the searches: those of the most lines.
const MAX_SHARED: usize = 16;
/// An explanation of at least this many lines is tried before any search.
const COMMON: usize = 16;

/// A value in a scheduler's log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedValue<'l> {
    /// The line, counted from 1.
    pub line: usize,
    /// The id of the job.
    pub job: Cow<'l, str>,
    /// The value, as it is printed in the log.
    pub digits: Cow<'l, str>,
}

/// The values in a log of `pbs_sched`, in its order. Lines may have a date and other fields before `Job`; other lines
/// are skipped.
///
/// ```
/// use job_sort_formula::pbs::replay::logged_values;
///
/// let log = b"11/22/2026 04:17:59;0400;pbs_sched;Job;12.vm;Formula Evaluation = 0.8843\nanother line\n";
/// let values: Vec<_> = logged_values(log).collect();
/// assert_eq!((values.len(), &*values[0].job, &*values[0].digits), (1, "12.vm", "0.8843"));
/// ```
pub fn logged_values(log: &[u8]) -> impl Iterator<Item = LoggedValue<'_>> {
    log.split(|&byte| byte == b'\n').zip(1..).filter_map(|(text, line)| {
        let (before, digits) = split_at(text, b";Formula Evaluation = ")?;
        let job = before.rsplit(|&byte| byte == b';').next().filter(|job| !job.is_empty())?;
        let is_job_line = before[..before.len() - job.len()].ends_with(b"Job;");
        let digits = digits.trim_ascii();
        (is_job_line && !digits.is_empty()).then(|| LoggedValue {
            line,
            job: String::from_utf8_lossy(job),
            digits: String::from_utf8_lossy(digits),
        })
    })
}

fn split_at<'t>(text: &'t [u8], separator: &[u8]) -> Option<(&'t [u8], &'t [u8])> {
    let at = text.windows(separator.len()).position(|window| window == separator)?;
    Some((&text[..at], &text[at + separator.len()..]))
}

/// Builds the tree again after the given function has changed every usage; `None` if it cannot be built.
pub type Reread<'a> = dyn Fn(&dyn Fn(f64) -> f64) -> Option<PbsTree> + 'a;

/// The queue whose values are compared with a log.
#[derive(Clone, Copy)]
pub struct ReplayedQueue<'a> {
    /// The formula.
    pub formula: &'a Formula,
    /// The names that a formula may use.
    pub schema: &'a Schema,
    /// The jobs, with their fair-share numbers filled in.
    pub table: &'a JobTable,
    /// The scores of the jobs, kept as OpenPBS keeps them.
    pub scores: &'a Scores,
    /// The fair-share tree, if the formula needs it.
    pub tree: Option<&'a PbsTree>,
    /// The policy that computes the shares of the tree.
    pub policy: &'a dyn Policy,
    /// How usage decays.
    pub decay: IntervalDecay,
    /// Builds the tree that the scheduler would read if a function had changed every usage in its files.
    pub reread: &'a Reread<'a>,
}

/// The result of comparing a log with a queue.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Replay {
    /// The number of values in the log.
    pub lines: usize,
    /// The number of values that are equal to ours, digit by digit.
    pub equal: usize,
    /// The values that differ, in the order of the log, at most the first 100,000.
    pub different: Vec<Difference>,
    /// The number of values that differ and are not listed.
    pub not_listed: usize,
    /// The number of values that differ and that nothing explains.
    pub unexplained: usize,
    /// The number of values whose job is not in the queue.
    pub unknown_jobs: usize,
}

impl Replay {
    /// Whether no value was compared, because the log has no values or the queue has none of their jobs: the replay then
    /// proves nothing.
    pub fn is_empty(&self) -> bool {
        self.unknown_jobs == self.lines
    }
}

/// A value in the log that differs from ours.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The line in the log, counted from 1.
    pub line: usize,
    /// The id of the job.
    pub job: String,
    /// The digits in the log.
    pub logged: String,
    /// Our digits; `None` if the job is excluded from the evaluation.
    pub ours: Option<String>,
    /// What would explain the difference, the most plausible first.
    pub explanations: Vec<Explanation>,
}

impl Difference {
    /// The first three explanations as one text; `None` if nothing explains the difference.
    pub fn why(&self) -> Option<String> {
        const MAX_SHOWN: usize = 3;
        let texts: Vec<String> = self.explanations.iter().take(MAX_SHOWN).map(ToString::to_string).collect();
        (!texts.is_empty()).then(|| texts.join(", or "))
    }
}

/// Compares every value of the log with the value of the same job in the queue.
pub fn replay(log: &[u8], queue: &ReplayedQueue<'_>) -> Replay {
    let mut search = Search::new(queue);
    let mut replay = Replay::default();
    let mut known = KnownExplanations::default();
    for value in logged_values(log) {
        replay.lines += 1;
        let Some(row) = queue.table.row(&value.job) else {
            replay.unknown_jobs += 1;
            continue;
        };
        let ours = queue.scores.get(row).map(|score| logged(score.value));
        if ours.as_deref() == Some(&*value.digits) {
            replay.equal += 1;
            continue;
        }
        let explanations = match &ours {
            Some(_) => known.explain(&mut search, row, &value.digits),
            None => queue.table.exclusion(row).and_then(explain_exclusion).into_iter().collect(),
        };
        replay.unexplained += usize::from(explanations.is_empty());
        if replay.different.len() < MAX_LISTED {
            replay.different.push(Difference {
                line: value.line,
                job: value.job.into_owned(),
                logged: value.digits.into_owned(),
                ours,
                explanations,
            });
        } else {
            replay.not_listed += 1;
        }
    }
    known.share(&mut search, queue.table, &mut replay.different);
    replay
}

/// Explains why a job that the scheduler evaluated is excluded now: it is over, or considered through its array. Other
/// exclusions explain nothing, because they held then too.
fn explain_exclusion(exclusion: &Exclusion) -> Option<Explanation> {
    match exclusion {
        Exclusion::Over(_) | Exclusion::Subjob => Some(Explanation::NotWaiting(exclusion.to_string())),
        _ => None,
    }
}

/// The explanations found so far.
#[derive(Default)]
struct KnownExplanations {
    /// By the row of a job and the logged digits.
    by_difference: HashMap<(usize, String), Vec<Explanation>>,
    /// The number of lines that an explanation explains.
    lines: HashMap<Key, usize>,
}

impl KnownExplanations {
    fn explain(&mut self, search: &mut Search<'_>, row: usize, digits: &str) -> Vec<Explanation> {
        let difference = (row, digits.to_owned());
        let found = match self.by_difference.get(&difference) {
            Some(found) => found.clone(),
            None => {
                let found = match self.common(search, row, digits) {
                    Some(common) => vec![common],
                    None if self.by_difference.len() < MAX_SEARCHES => search.explanations(row, digits),
                    None => Vec::new(),
                };
                self.by_difference.insert(difference, found.clone());
                found
            }
        };
        for explanation in &found {
            *self.lines.entry(explanation.key()).or_default() += 1;
        }
        found
    }

    /// The first of the four explanations of the most lines, at least [`COMMON`] each, that also explains this difference.
    fn common(&self, search: &mut Search<'_>, row: usize, digits: &str) -> Option<Explanation> {
        let mut keys: Vec<(&Key, usize)> = self.lines.iter().map(|(key, &lines)| (key, lines)).collect();
        keys.retain(|&(_, lines)| lines >= COMMON);
        keys.sort_by_key(|&(_, lines)| std::cmp::Reverse(lines));
        keys.into_iter().take(4).find_map(|(key, _)| search.try_common(key, row, digits))
    }

    /// Adds to each difference that is explained the explanations of other differences that explain it too, sorts its
    /// explanations so that the one of the most lines is first, and keeps only the first number of decays and the first
    /// change of `eligible_time`.
    fn share(&mut self, search: &mut Search<'_>, table: &JobTable, different: &mut [Difference]) {
        let mut keys: Vec<(Key, usize)> = self.lines.iter().map(|(key, &lines)| (key.clone(), lines)).collect();
        keys.retain(|(key, _)| !matches!(key, Key::Other(_)));
        keys.sort_unstable_by(|(one, lines), (other, more)| more.cmp(lines).then_with(|| one.cmp(other)));
        for (key, _) in keys.iter().take(MAX_SHARED) {
            for difference in different.iter_mut().filter(|difference| difference.ours.is_some()) {
                let is_new = difference.explanations.iter().all(|known| known.key() != *key);
                let row = table.row(&difference.job).filter(|_| is_new && !difference.explanations.is_empty());
                if let Some(found) = row.and_then(|row| search.try_common(key, row, &difference.logged)) {
                    *self.lines.entry(found.key()).or_default() += 1;
                    difference.explanations.push(found);
                }
            }
        }
        for difference in different {
            let lines = |known: &Explanation| self.lines.get(&known.key()).copied().unwrap_or(0);
            difference.explanations.sort_by_key(|known| std::cmp::Reverse(lines(known)));
            let mut kinds = HashSet::new();
            difference.explanations.retain(|known| match known {
                Explanation::Decayed(_) | Explanation::EligibleTime(_) => kinds.insert(std::mem::discriminant(known)),
                _ => true,
            });
        }
    }
}
