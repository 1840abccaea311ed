//! Compares the values in a scheduler's log with the values of this crate, and explains the differences.
//!
//! In: a log of `pbs_sched`, and the jobs with their scores. Out: a [`Replay`]. Every
//! `…;pbs_sched;Job;12.vm;Formula Evaluation = 0.8843` is compared with the digits that the same value would be logged
//! with. For a difference, the inputs of the job are searched one by one for a value that gives the logged digits. A
//! fair-share number is the same for all jobs of an entity in one cycle, so it must give the logged digits of all of them.

mod search;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use crate::fairshare::Policy;
use crate::fairshare::decay::IntervalDecay;
use crate::formula::Formula;
use crate::jobs::{Exclusion, JobTable};
use crate::pbs::number_format::logged;
use crate::pbs::share_tree::PbsTree;
use crate::rank::Scores;
use crate::schema::Schema;
pub use search::Explanation;
use search::{Key, Record, Records, Search};

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
    lines(log).filter_map(|(text, line)| value_in(text, line))
}

fn lines(log: &[u8]) -> impl Iterator<Item = (&[u8], usize)> {
    log.split(|&byte| byte == b'\n').zip(1..)
}

fn value_in(text: &[u8], line: usize) -> Option<LoggedValue<'_>> {
    let (before, digits) = split_at(text, b";Formula Evaluation = ")?;
    let job = before.rsplit(|&byte| byte == b';').next().filter(|job| !job.is_empty())?;
    let is_job_line = before[..before.len() - job.len()].ends_with(b"Job;");
    let digits = digits.trim_ascii();
    (is_job_line && !digits.is_empty()).then(|| LoggedValue {
        line,
        job: String::from_utf8_lossy(job),
        digits: String::from_utf8_lossy(digits),
    })
}

/// Visits the values of one cycle after the other: all that follow a line `Starting Scheduling Cycle`, or, in a log without
/// such lines, those of one second. A job is evaluated once in a cycle, so its next value begins another one.
fn for_each_cycle<'l>(log: &'l [u8], mut visit: impl FnMut(Vec<LoggedValue<'l>>)) {
    const START: &[u8] = b";Starting Scheduling Cycle";
    let has_starts = lines(log).any(|(text, _)| split_at(text, START).is_some());
    let (mut values, mut jobs, mut second) = (Vec::new(), HashSet::new(), &log[..0]);
    for (text, line) in lines(log) {
        let value = value_in(text, line);
        let begins = match &value {
            Some(value) => jobs.contains(&value.job) || (!has_starts && second_of(text) != second),
            None => has_starts && split_at(text, START).is_some(),
        };
        if begins {
            visit(std::mem::take(&mut values));
            jobs.clear();
        }
        if let Some(value) = value {
            second = second_of(text);
            jobs.insert(value.job.clone());
            values.push(value);
        }
    }
    visit(values);
}

/// The date and time of a line, without fractions of a second.
fn second_of(line: &[u8]) -> &[u8] {
    line.split(|byte| matches!(byte, b';' | b'.')).next().unwrap_or_default()
}

/// What is wrong with a text that the scheduler cannot have printed as a value; `None` for a number, `inf` and `nan`.
fn broken_number(text: &str) -> Option<String> {
    const EXPECTED: &str = "expected a decimal number such as 0.8843";
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    if matches!(unsigned, "inf" | "nan") {
        return None;
    }
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, decimals) = unsigned.split_once('.').unwrap_or((unsigned, "0"));
    if is_number(whole) && is_number(decimals) {
        return None;
    }
    let mut has_point = false;
    let end = unsigned.find(|character: char| match character {
        '.' => std::mem::replace(&mut has_point, true),
        other => !other.is_ascii_digit(),
    });
    let (read, rest) = text.split_at(end.map_or(text.len(), |end| end + text.len() - unsigned.len()));
    Some(match (read, rest) {
        (read, "") => format!("{EXPECTED}, found `{read}`, which lacks digits"),
        ("", rest) => format!("{EXPECTED}, found `{rest}`"),
        (read, rest) => format!("{EXPECTED}, found `{rest}` after `{read}`"),
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
    /// If nothing explains the difference, what is known all the same: the logged text is not a number, or what would
    /// explain it contradicts another line.
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

/// Compares every value of the log with the value of the same job in the queue.
pub fn replay(log: &[u8], queue: &ReplayedQueue<'_>) -> Replay {
    let mut search = Search::new(queue);
    let mut replay = Replay::default();
    let mut known = KnownExplanations::default();
    let mut records_of_different = Vec::new();
    for_each_cycle(log, |cycle| {
        let records = if search.uses_fairshare() { records_by_entity(&cycle, queue) } else { HashMap::new() };
        for value in cycle {
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
            let records = records.get(queue.table.entity(row)).cloned().unwrap_or_default();
            let (explanations, remark) = match (&ours, broken_number(&value.digits)) {
                (_, Some(broken)) => (Vec::new(), Some(broken)),
                (Some(_), None) => known.explain(&mut search, row, &value.digits, &records),
                (None, None) => (queue.table.exclusion(row).and_then(explain_exclusion).into_iter().collect(), None),
            };
            replay.unexplained += usize::from(explanations.is_empty());
            if replay.different.len() < MAX_LISTED {
                records_of_different.push(records);
                replay.different.push(Difference {
                    line: value.line,
                    job: value.job.into_owned(),
                    logged: value.digits.into_owned(),
                    ours,
                    remark: remark.filter(|_| explanations.is_empty()),
                    explanations,
                });
            } else {
                replay.not_listed += 1;
            }
        }
    });
    known.share(&mut search, queue.table, &mut replay.different, &records_of_different);
    replay
}

/// The values of one cycle whose jobs have the same entity, and so the same fair-share numbers.
fn records_by_entity<'q>(cycle: &[LoggedValue<'_>], queue: &ReplayedQueue<'q>) -> HashMap<&'q str, Rc<Records>> {
    let mut by_entity: HashMap<&str, Records> = HashMap::new();
    for value in cycle {
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

/// The explanations of a difference, and a remark if there are none.
type Explained = (Vec<Explanation>, Option<String>);

/// The explanations found so far.
#[derive(Default)]
struct KnownExplanations {
    /// By the row of a job, the logged digits, and the records that an explanation must not contradict.
    by_difference: HashMap<(usize, String, u64), Explained>,
    /// The number of lines that an explanation explains.
    lines: HashMap<Key, usize>,
}

impl KnownExplanations {
    fn explain(&mut self, search: &mut Search<'_>, row: usize, digits: &str, records: &Records) -> Explained {
        let difference = (row, digits.to_owned(), hash_of(records));
        let explained = match self.by_difference.get(&difference) {
            Some(explained) => explained.clone(),
            None => {
                let explained = match self.common(search, row, digits, records) {
                    Some(common) => (vec![common], None),
                    None if self.by_difference.len() < MAX_SEARCHES => search.explanations(row, digits, records),
                    None => (Vec::new(), None),
                };
                self.by_difference.insert(difference, explained.clone());
                explained
            }
        };
        for explanation in &explained.0 {
            *self.lines.entry(explanation.key()).or_default() += 1;
        }
        explained
    }

    /// The first of the four explanations of the most lines, at least [`COMMON`] each, that also explains this difference.
    fn common(&self, search: &mut Search<'_>, row: usize, digits: &str, records: &Records) -> Option<Explanation> {
        let mut keys: Vec<(&Key, usize)> = self.lines.iter().map(|(key, &lines)| (key, lines)).collect();
        keys.retain(|&(_, lines)| lines >= COMMON);
        keys.sort_by_key(|&(_, lines)| std::cmp::Reverse(lines));
        keys.into_iter().take(4).find_map(|(key, _)| search.try_common(key, row, digits, records))
    }

    /// Adds to each difference that is explained the explanations of other differences that explain it too, sorts its
    /// explanations so that the one of the most lines is first, and keeps only the first number of decays and the first
    /// change of `eligible_time`.
    fn share(
        &mut self,
        search: &mut Search<'_>,
        table: &JobTable,
        different: &mut [Difference],
        records: &[Rc<Records>],
    ) {
        let mut keys: Vec<(Key, usize)> = self.lines.iter().map(|(key, &lines)| (key.clone(), lines)).collect();
        keys.retain(|(key, _)| !matches!(key, Key::Other(_)));
        keys.sort_unstable_by(|(one, lines), (other, more)| more.cmp(lines).then_with(|| one.cmp(other)));
        for (key, _) in keys.iter().take(MAX_SHARED) {
            for (difference, records) in different.iter_mut().zip(records) {
                let is_new = difference.explanations.iter().all(|known| known.key() != *key);
                let is_explained = difference.ours.is_some() && !difference.explanations.is_empty();
                let row = table.row(&difference.job).filter(|_| is_new && is_explained);
                if let Some(found) = row.and_then(|row| search.try_common(key, row, &difference.logged, records)) {
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

fn hash_of(records: &Records) -> u64 {
    let mut hasher = DefaultHasher::new();
    records.iter().for_each(|record| (record.row, &record.digits).hash(&mut hasher));
    hasher.finish()
}
