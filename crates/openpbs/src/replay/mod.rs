//! Compares the values in a scheduler's log with the values of this crate, and explains the differences.
//!
//! In: a log of `pbs_sched`, and the jobs with their scores. Out: a [`Replay`]. Every
//! `…;pbs_sched;Job;12.vm;Formula Evaluation = 0.8843` is compared with the digits that the same value would be logged
//! with. For a difference, the inputs of the job are searched one by one for a value that gives the logged digits. A
//! fair-share number is the same for all jobs of an entity in one cycle, so it must give the logged digits of all of them;
//! and a cycle has one moment. What contradicts a file of the site explains nothing. All searches share one amount of work.

mod causes;
mod log;
mod nearest;
mod search;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::rc::Rc;

use causes::Causes;
pub use causes::{Cause, CauseKind};
use log::{Cycle, broken_number, for_each_cycle};
pub use log::{LoggedValue, formulas_set, logged_values};
use search::{Found, Key, Record, Records, Search, Work};

use crate::number_format::logged;
use crate::share_tree::PbsTree;
use job_sort_formula::fairshare::Policy;
use job_sort_formula::fairshare::decay::IntervalDecay;
use job_sort_formula::formula::Formula;
use job_sort_formula::jobs::{Exclusion, JobTable};
use job_sort_formula::rank::Scores;
use job_sort_formula::schema::Schema;
pub use search::Explanation;

/// The most differences that are listed; the others are counted.
const MAX_LISTED: usize = 100_000;
/// The most differences whose explanations are kept for equal ones.
const MAX_KEPT: usize = 100_000;
/// The most explanations of one cycle that are tried for every difference of it: those of the most lines.
const MAX_SHARED: usize = 16;
/// An explanation of at least this many lines is tried before any search.
const COMMON: usize = 16;
/// The work of all searches of a replay, about a nanosecond each: some seconds.
pub const SEARCH_WORK: u64 = 1 << 32;

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
    /// Other formulas that the site is known to have or to have had.
    pub others: &'a [OtherFormula],
    /// The files that the inputs come from.
    pub sources: &'a Sources,
}

/// A formula that may be the one in the log instead, and its scores.
#[derive(Debug)]
pub struct OtherFormula {
    /// Its source, for messages.
    pub origin: String,
    /// The formula.
    pub text: String,
    /// The scores of the jobs, by the rows of the queue.
    pub scores: Scores,
}

impl OtherFormula {
    fn gives(&self, row: usize, digits: &str) -> bool {
        self.scores.get(row).is_some_and(|score| logged(score.value) == digits)
    }
}

/// The files that the inputs of a queue come from, by their names for messages.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The document of the jobs.
    pub jobs: String,
    /// The document of the queues, if there is one.
    pub queues: Option<String>,
    /// The shares of the tree, if there is one.
    pub tree: Option<String>,
    /// The usage of the tree, if it is known.
    pub usage: Option<String>,
}

/// A file that the site lacks, so that an input is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NotCaptured {
    /// The usage of the entities.
    Usage,
    /// The queues, and so `queue_priority`.
    Queues,
    /// The `eligible_time` of the job.
    EligibleTime,
}

impl fmt::Display for NotCaptured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Usage => "the site has no file `usage`",
            Self::Queues => "the site has no document of the queues",
            Self::EligibleTime => "the job has no `eligible_time`",
        })
    }
}

/// Why a change that would give a logged value is not its explanation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Objection {
    /// The input is a guess, because the file that would give it is missing.
    NotCaptured(NotCaptured),
    /// The other lines of the cycle would need another moment.
    OtherLines,
    /// This file has another value.
    ContradictedBy(String),
}

impl fmt::Display for Objection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotCaptured(missing) => write!(f, "not verified, because {missing}"),
            Self::OtherLines => write!(f, "the other lines of the cycle contradict it"),
            Self::ContradictedBy(file) => write!(f, "`{file}` contradicts it"),
        }
    }
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
    /// The number of lines with a value that cannot be read.
    pub damaged: usize,
    /// The number of unexplained values that were not searched to the end, because the work of all searches was spent.
    pub not_searched: usize,
    /// The causes of the differences, that of the most lines first. Every value that differs counts once.
    pub causes: Vec<Cause>,
}

impl Replay {
    /// Whether no value was compared, because the log has no values or the queue has none of their jobs: the replay then
    /// proves nothing.
    pub fn is_empty(&self) -> bool {
        self.unknown_jobs == self.lines
    }

    /// The number of values that differ.
    pub fn differing(&self) -> usize {
        self.different.len() + self.not_listed
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
    /// What would give the logged value but is not its explanation, and why.
    pub rejected: Vec<(Explanation, Objection)>,
    /// What is known if nothing explains the difference: the logged text is not a number, or what would explain it
    /// contradicts another line or a file.
    pub remark: Option<String>,
}

impl Difference {
    /// The first three explanations as one text; `None` if nothing explains the difference.
    pub fn why(&self) -> Option<String> {
        const MAX_SHOWN: usize = 3;
        let texts: Vec<String> = self.explanations.iter().take(MAX_SHOWN).map(ToString::to_string).collect();
        (!texts.is_empty()).then(|| texts.join(", or "))
    }
}

/// Compares every value of the log with the value of the same job in the queue. All searches together may do this much
/// `work`, see [`SEARCH_WORK`].
pub fn replay_within(log: &[u8], queue: &ReplayedQueue<'_>, work: u64) -> Replay {
    let work = Work::new(work);
    let mut comparison = Comparison {
        queue: *queue,
        search: Search::new(queue, &work),
        known: KnownExplanations::default(),
        causes: Causes::default(),
        same_moment: None,
        replay: Replay::default(),
    };
    let damaged = for_each_cycle(log, |cycle| comparison.add(cycle));
    let Comparison { replay, causes, .. } = comparison;
    Replay { damaged, causes: causes.into_sorted(), ..replay }
}

/// The comparison of a log with a queue, cycle by cycle.
struct Comparison<'a> {
    queue: ReplayedQueue<'a>,
    search: Search<'a>,
    known: KnownExplanations,
    causes: Causes,
    /// The time in the log at which `eligible_time` was that of the queue, from the latest cycle that shows it.
    same_moment: Option<i64>,
    replay: Replay,
}

/// A value of the cycle in progress that differs from ours.
struct Pending<'l> {
    line: usize,
    job: Cow<'l, str>,
    digits: Cow<'l, str>,
    row: usize,
    ours: Option<String>,
    records: Rc<Records>,
    found: Found,
    rejected: Vec<(Explanation, Objection)>,
    is_number: bool,
}

impl<'a> Comparison<'a> {
    fn add(&mut self, cycle: Cycle<'_>) {
        let records =
            if self.search.uses_fairshare() { records_by_entity(&cycle, &self.queue) } else { HashMap::new() };
        let other = self.other_formula(&cycle);
        let expected = cycle.time.zip(self.same_moment).map(|(time, same)| time.saturating_sub(same));
        let mut pending = Vec::new();
        for value in cycle.values {
            self.replay.lines += 1;
            let Some(row) = self.queue.table.row(&value.job) else {
                self.replay.unknown_jobs += 1;
                continue;
            };
            let ours = self.queue.scores.get(row).map(|score| logged(score.value));
            if ours.as_deref() == Some(&*value.digits) {
                self.replay.equal += 1;
                continue;
            }
            let records = records.get(self.queue.table.entity(row)).cloned().unwrap_or_default();
            let LoggedValue { line, job, digits } = value;
            let broken = broken_number(&digits);
            let is_number = broken.is_none();
            let found = match (&ours, broken) {
                (_, Some(broken)) => Found { remark: Some(broken), ..Found::default() },
                (Some(_), None) => match other.filter(|other| other.gives(row, &digits)) {
                    Some(OtherFormula { origin, text, .. }) => {
                        Found::explained(Explanation::Formula { origin: origin.clone(), text: text.clone() })
                    }
                    None => self.known.explain(&mut self.search, row, &digits, &records, expected),
                },
                (None, None) => {
                    let exclusion = self.queue.table.exclusion(row).and_then(explain_exclusion);
                    exclusion.map(Found::explained).unwrap_or_default()
                }
            };
            pending.push(Pending { line, job, digits, row, ours, records, found, rejected: Vec::new(), is_number });
        }
        self.known.share(&mut self.search, &mut pending);
        self.reject_contradicted(&mut pending);
        let shift = agree_on_one_moment(&mut pending);
        if let (Some(time), Some(shift)) = (cycle.time, shift) {
            self.same_moment = Some(time.saturating_sub(shift));
        }
        pending.into_iter().for_each(|one| self.finish(one, shift));
    }

    /// The other formula that gives most values of a cycle, and more than the one that is compared.
    fn other_formula(&self, cycle: &Cycle<'_>) -> Option<&'a OtherFormula> {
        if self.queue.others.is_empty() {
            return None;
        }
        let scores = &self.queue.scores;
        let values = cycle.values.iter().filter_map(|value| Some((self.queue.table.row(&value.job)?, &*value.digits)));
        let values: Vec<(usize, &str)> = values.collect();
        let scored = values.iter().filter(|(row, _)| scores.is_scored(*row)).count();
        self.queue.others.iter().find(|other| {
            let given = values.iter().filter(|(row, digits)| other.gives(*row, digits)).count();
            let ours = values
                .iter()
                .filter(|(row, digits)| scores.get(*row).is_some_and(|score| logged(score.value) == *digits));
            2 * given > scored && given > ours.count()
        })
    }

    /// Moves the explanations to which there is an objection to those that are rejected.
    fn reject_contradicted(&self, pending: &mut [Pending<'_>]) {
        for one in pending {
            let row = one.row;
            one.reject(|explanation| self.search.objection(explanation, row));
        }
    }

    /// Counts a value that differs, and lists it.
    fn finish(&mut self, one: Pending<'_>, shift: Option<i64>) {
        let Pending { line, job, digits, ours, found, rejected, is_number, .. } = one;
        let Found { mut explanations, remark, is_cut_short } = found;
        self.known.sort(&mut explanations);
        let is_cut_short = is_cut_short && explanations.is_empty();
        let kind = CauseKind::new(explanations.first(), &rejected, is_cut_short, is_number);
        self.replay.unexplained += usize::from(explanations.is_empty());
        self.replay.not_searched += usize::from(is_cut_short);
        self.causes.count(kind, shift);
        if self.replay.different.len() >= MAX_LISTED {
            self.replay.not_listed += 1;
            return;
        }
        let remark = match (remark, rejected.first()) {
            _ if !explanations.is_empty() => None,
            (Some(remark), _) => Some(remark),
            (None, Some((explanation, objection))) => Some(format!("equal only if {explanation}: {objection}")),
            (None, None) => is_cut_short.then(|| "the work granted to all searches is spent".to_owned()),
        };
        self.replay.different.push(Difference {
            line,
            job: job.into_owned(),
            logged: digits.into_owned(),
            ours,
            explanations,
            rejected,
            remark,
        });
    }
}

impl Pending<'_> {
    /// Moves the explanations with an objection to those that are rejected. What is not captured comes first there, and what
    /// a file contradicts last.
    fn reject(&mut self, objection: impl Fn(&Explanation) -> Option<Objection>) {
        for explanation in std::mem::take(&mut self.found.explanations) {
            match objection(&explanation) {
                Some(objection) => self.rejected.push((explanation, objection)),
                None => self.found.explanations.push(explanation),
            }
        }
        self.rejected.sort_by_key(|(_, objection)| match objection {
            Objection::NotCaptured(_) => 0,
            Objection::OtherLines => 1,
            Objection::ContradictedBy(_) => 2,
        });
    }

    /// The changes of `eligible_time` that would explain the value, or the numbers of decays.
    fn moments(&self, is_eligible_time: bool) -> impl Iterator<Item = i64> {
        self.found.explanations.iter().filter_map(move |explanation| match explanation {
            Explanation::EligibleTime(seconds) if is_eligible_time => Some(*seconds),
            Explanation::Decayed(times) if !is_eligible_time => Some(i64::from(*times)),
            _ => None,
        })
    }
}

/// Rejects the changes of `eligible_time` and the numbers of decays that do not belong to the moment of the cycle, which is
/// the one that explains the most lines. A job that was not eligible all the time has waited less. Returns the change of
/// `eligible_time`.
fn agree_on_one_moment(pending: &mut [Pending<'_>]) -> Option<i64> {
    let decays = moment_of_most(pending, false);
    let shift = moment_of_most(pending, true);
    for one in &mut *pending {
        one.reject(|explanation| match explanation {
            Explanation::Decayed(times) => (Some(i64::from(*times)) != decays).then_some(Objection::OtherLines),
            Explanation::EligibleTime(seconds) => {
                let is_of_the_moment = shift.is_some_and(|shift| {
                    let waited_less = seconds.signum() == shift.signum();
                    // the server computes the times of a cycle's jobs one after the other
                    waited_less && seconds.unsigned_abs() <= shift.unsigned_abs().saturating_add(1)
                });
                (!is_of_the_moment).then_some(Objection::OtherLines)
            }
            _ => None,
        });
    }
    shift
}

/// The moment that explains more than half of the lines that some moment explains; the nearest one if several do.
fn moment_of_most(pending: &[Pending<'_>], is_eligible_time: bool) -> Option<i64> {
    let mut lines: HashMap<i64, usize> = HashMap::new();
    let mut all = 0;
    for one in pending {
        let moments: HashSet<i64> = one.moments(is_eligible_time).collect();
        all += usize::from(!moments.is_empty());
        moments.into_iter().for_each(|moment| *lines.entry(moment).or_default() += 1);
    }
    let most =
        lines.into_iter().max_by_key(|&(moment, lines)| (lines, std::cmp::Reverse((moment.unsigned_abs(), moment))));
    most.filter(|&(_, lines)| 2 * lines > all).map(|(moment, _)| moment)
}

/// The values of one cycle whose jobs have the same entity, and so the same fair-share numbers.
fn records_by_entity<'q>(cycle: &Cycle<'_>, queue: &ReplayedQueue<'q>) -> HashMap<&'q str, Rc<Records>> {
    let mut by_entity: HashMap<&str, Records> = HashMap::new();
    for value in &cycle.values {
        let Some(row) = queue.table.row(&value.job).filter(|&row| queue.scores.get(row).is_some()) else { continue };
        let entity = queue.table.entity(row);
        if !entity.is_empty() && broken_number(&value.digits).is_none() {
            let record = Record { line: value.line, row, digits: value.digits.as_ref().to_owned() };
            by_entity.entry(entity).or_default().push(record);
        }
    }
    by_entity.into_iter().map(|(entity, records)| (entity, Rc::new(records))).collect()
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
    /// By the row of a job, the logged digits, and the records that an explanation must not contradict.
    by_difference: HashMap<(usize, String, u64), Found>,
    /// The number of lines that each key explains.
    lines: HashMap<Key, usize>,
    /// The first explanations that reached [`COMMON`] lines.
    common: Vec<Key>,
}

impl KnownExplanations {
    /// The explanations of a difference. `expected` is the change of `eligible_time` that the times in the log suggest.
    fn explain(
        &mut self,
        search: &mut Search<'_>,
        row: usize,
        digits: &str,
        records: &Records,
        expected: Option<i64>,
    ) -> Found {
        let difference = (row, digits.to_owned(), records.hash());
        let found = match self.by_difference.get(&difference) {
            Some(found) => found.clone(),
            None => {
                let found = match self.common(search, row, digits, records, expected) {
                    Some(common) => Found::explained(common),
                    None => search.explanations(row, digits, records),
                };
                if self.by_difference.len() < MAX_KEPT {
                    self.by_difference.insert(difference, found.clone());
                }
                found
            }
        };
        found.explanations.iter().filter_map(Explanation::key).for_each(|key| self.count(key));
        found
    }

    fn count(&mut self, key: Key) {
        let lines = self.lines.entry(key.clone()).or_default();
        *lines += 1;
        if *lines == COMMON && self.common.len() < MAX_SHARED {
            self.common.push(key);
        }
    }

    /// What the times in the log suggest, or the first of the four explanations of the most lines, at least [`COMMON`]
    /// each, that also explains this difference.
    fn common(
        &self,
        search: &mut Search<'_>,
        row: usize,
        digits: &str,
        records: &Records,
        expected: Option<i64>,
    ) -> Option<Explanation> {
        let expected = expected
            .into_iter()
            .flat_map(|seconds| [0, 1, -1].map(|more| Key::EligibleTime(seconds.saturating_add(more))));
        let mut common: Vec<&Key> = self.common.iter().collect();
        common.sort_by_key(|key| std::cmp::Reverse(self.lines.get(key)));
        let mut keys = expected.chain(common.into_iter().take(4).cloned());
        keys.find_map(|key| search.try_common(&key, row, digits, records))
    }

    /// Adds to each difference of a cycle that is explained the explanations of the others that explain it too.
    fn share(&mut self, search: &mut Search<'_>, pending: &mut [Pending<'_>]) {
        let mut lines: HashMap<Key, usize> = HashMap::new();
        for key in pending.iter().flat_map(|one| &one.found.explanations).filter_map(Explanation::key) {
            *lines.entry(key).or_default() += 1;
        }
        let mut keys: Vec<(Key, usize)> = lines.into_iter().collect();
        keys.sort_unstable_by(|(one, lines), (other, more)| more.cmp(lines).then_with(|| one.cmp(other)));
        // if the digits allow several moments, each job has the nearest one, and the farthest of them is that of all
        let shifts = keys.iter().filter(|(key, _)| matches!(key, Key::EligibleTime(_))).map(|(key, _)| key.clone());
        let farthest = shifts.clone().min().into_iter().chain(shifts.max());
        let most = keys.iter().take(MAX_SHARED).map(|(key, _)| key.clone());
        let shared: HashSet<Key> = most.chain(farthest).collect();
        let mut shared: Vec<Key> = shared.into_iter().collect();
        shared.sort_unstable();
        for key in shared {
            for one in &mut *pending {
                let is_new = one.found.explanations.iter().all(|known| known.key().as_ref() != Some(&key));
                if one.ours.is_some()
                    && is_new
                    && !one.found.explanations.is_empty()
                    && let Some(found) = search.try_common(&key, one.row, &one.digits, &one.records)
                {
                    self.count(key.clone());
                    one.found.explanations.push(found);
                }
            }
        }
    }

    /// Sorts explanations so that the one of the most lines is first, and keeps only the first number of decays and the
    /// first change of `eligible_time`.
    fn sort(&self, explanations: &mut Vec<Explanation>) {
        explanations.sort_by_key(|known| {
            let lines = known.key().and_then(|key| self.lines.get(&key).copied());
            std::cmp::Reverse(lines.unwrap_or(0))
        });
        let mut kinds = HashSet::new();
        explanations.retain(|known| match known {
            Explanation::Decayed(_) | Explanation::EligibleTime(_) => kinds.insert(std::mem::discriminant(known)),
            _ => true,
        });
    }
}
