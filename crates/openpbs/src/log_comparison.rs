//! Compares the values in a scheduler's log with the values of this crate, and explains the
//! differences.
//!
//! In: a log of `pbs_sched`, and the jobs with their scores. Out: a [`Replay`]. Every
//! `…;pbs_sched;Job;12.vm;Formula Evaluation = 0.8843` is compared with the digits that the same
//! value would be logged with. For the differences of a cycle, three hypotheses are tried: another
//! formula, `eligible_time` of another moment, and usage of another moment. Each must give more
//! than half of them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;

use job_sort_formula::fairshare::decay::IntervalDecay;
use job_sort_formula::fairshare::{EntityShares, NodeId, Policy, ShareTree};
use job_sort_formula::jobs::Exclusion;
use job_sort_formula::rank::{
    OnError, RowScorer, ScorePrecision, Scores, explain, fairshare_number,
};
use job_sort_formula::schema::FairshareInput;
use job_sort_formula::{JobTable, Program, Value};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::amounts::{NumberMode, logged};
use crate::files::holidays;
use crate::pbs_tree::PbsTree;

/// The most differences that are listed; the others are counted.
const MAX_DIFFERENCES: usize = 100_000;

/// Builds the tree again after the given function has changed every usage; `None` if it cannot be
/// built.
type Reread<'a> = dyn Fn(&dyn Fn(f64) -> f64) -> Option<PbsTree> + 'a;

/// The queue whose values are compared with a log.
#[derive(Clone, Copy)]
pub struct ReplayedQueue<'a> {
    /// The formula.
    pub program: &'a Program,
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
    /// Builds the tree that the scheduler would read if a function had changed every usage in its
    /// files.
    pub reread: &'a Reread<'a>,
    /// Other formulas that the site is known to have or to have had.
    pub others: &'a [OtherFormula],
    /// Whether the usage of the entities is known.
    pub has_usage: bool,
    /// Whether the queues are known.
    pub has_queues: bool,
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

/// What explains a difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// What it has in common with those of other differences.
    pub kind: CauseKind,
    /// By how many seconds `eligible_time` differs, if that explains it.
    pub seconds: Option<i64>,
    /// The same in words.
    pub why: String,
}

impl Serialize for Explanation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(None)?;
        members.serialize_entry("kind", self.kind.name())?;
        match &self.kind {
            CauseKind::EligibleTime => {
                members.serialize_entry("input", "eligible_time")?;
                members.serialize_entry("seconds", &self.seconds)?;
            }
            CauseKind::Decayed(times) => members.serialize_entry("times", times)?,
            CauseKind::Formula { origin, text } => {
                members.serialize_entry("origin", origin)?;
                members.serialize_entry("formula", text)?;
            }
            _ => {}
        }
        members.serialize_entry("why", &self.why)?;
        members.end()
    }
}

/// Why a value differs, as far as it has that in common with others.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CauseKind {
    /// The formula in the log is another one that the site has or had.
    Formula {
        /// The source of the formula.
        origin: String,
        /// The formula.
        text: String,
    },
    /// `eligible_time` is of another moment.
    EligibleTime,
    /// All usage has decayed this many times more.
    Decayed(i32),
    /// The job is no longer waiting.
    NotWaiting,
    /// The file that would give an input is missing.
    NotCaptured(NotCaptured),
    /// The logged text is not a number.
    NotANumber,
    /// No other formula and no other moment gives the value.
    Nothing,
}

impl CauseKind {
    /// Its name in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Formula { .. } => "formula",
            Self::EligibleTime => "eligible_time",
            Self::Decayed(_) => "decay",
            Self::NotWaiting => "state",
            Self::NotCaptured(_) => "not captured",
            Self::NotANumber => "not a number",
            Self::Nothing => "unknown",
        }
    }

    /// Whether a value that differs for this reason is explained.
    pub fn explains(&self) -> bool {
        match self {
            Self::Formula { .. } | Self::EligibleTime | Self::Decayed(_) | Self::NotWaiting => true,
            Self::NotCaptured(_) | Self::NotANumber | Self::Nothing => false,
        }
    }
}

/// Why values differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// What they have in common.
    pub kind: CauseKind,
    /// The number of values.
    pub lines: usize,
    /// For [`CauseKind::EligibleTime`]: by how many seconds the `eligible_time` of the cycles is
    /// later than that of the queue, the least and the greatest.
    pub seconds: Option<(i64, i64)>,
}

/// The result of comparing a log with a queue.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
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
    /// The causes of the differences, that of the most lines first. Every value that differs counts
    /// once.
    #[serde(skip)]
    pub causes: Vec<Cause>,
}

impl Replay {
    /// Whether no value was compared, because the log has no values or the queue has none of their
    /// jobs: the replay then proves nothing.
    pub fn is_empty(&self) -> bool {
        self.unknown_jobs == self.lines
    }

    /// The number of values that differ.
    pub fn differing(&self) -> usize {
        self.different.len() + self.not_listed
    }
}

/// A value in the log that differs from ours.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The line in the log, counted from 1.
    pub line: usize,
    /// The id of the job.
    pub job: String,
    /// The digits in the log.
    pub logged: String,
    /// Our digits; `None` if the job is excluded from the evaluation.
    pub ours: Option<String>,
    /// The explanations as one text; `None` if nothing explains the difference.
    pub why: Option<String>,
    /// What explains the difference, the most plausible first.
    pub explanations: Vec<Explanation>,
    /// What is known if nothing explains the difference: the logged text is not a number, or a file
    /// is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
}

/// Compares every value of the log with the value of the same job in the queue.
pub fn replay(log: &[u8], queue: &ReplayedQueue<'_>) -> Replay {
    let (precision, on_error) = (ScorePrecision::Float32, OnError::ZeroLikePbs);
    let mut comparison = Comparison {
        queue: *queue,
        scorer: RowScorer::with_work(queue.program, precision, on_error, WORK),
        decayed: Vec::new(),
        same_moment: None,
        unexplained_cycles: 0,
        replay: Replay::default(),
    };
    let damaged = for_each_cycle(log, |cycle| comparison.add(&cycle));
    let mut replay = comparison.replay;
    replay.damaged = damaged;
    replay.causes.sort_by(|one, other| {
        let by_lines = other.lines.cmp(&one.lines);
        by_lines.then_with(|| one.kind.cmp(&other.kind))
    });
    replay
}

/// The comparison of a log with a queue, cycle by cycle, and what may explain the differences.
struct Comparison<'a> {
    queue: ReplayedQueue<'a>,
    scorer: RowScorer<'a>,
    /// The number of decays, and the shares of the entities after them; filled when first needed.
    decayed: Vec<(i32, HashMap<NodeId, EntityShares>)>,
    /// The time in the log at which `eligible_time` was that of the queue, from the latest cycle
    /// that shows it.
    same_moment: Option<i64>,
    unexplained_cycles: usize,
    replay: Replay,
}

impl<'a> Comparison<'a> {
    fn add(&mut self, cycle: &Cycle<'_>) {
        let mut all: Vec<Digits<'_>> = Vec::new();
        let mut compared: Vec<Digits<'_>> = Vec::new();
        let mut different: Vec<(&LoggedValue<'_>, usize)> = Vec::new();
        for value in &cycle.values {
            self.replay.lines += 1;
            let Some(row) = self.queue.table.row(&value.job) else {
                self.replay.unknown_jobs += 1;
                continue;
            };
            let ours = self.digits(row);
            if ours.is_some() {
                all.push((row, &value.digits));
            }
            if ours.as_deref() == Some(&*value.digits) {
                self.replay.equal += 1;
                continue;
            }
            if ours.is_some() && is_value(&value.digits) {
                compared.push((row, &value.digits));
            }
            different.push((value, row));
        }
        let found = self.of_cycle(cycle.time, &all, &compared);
        for (value, row) in different {
            self.add_difference(value, row, &found);
        }
    }

    fn digits(&self, row: usize) -> Option<String> {
        let score = self.queue.scores.get(row)?;
        Some(logged(score.value))
    }

    /// Counts a value that differs, and lists it.
    fn add_difference(&mut self, value: &LoggedValue<'_>, row: usize, found: &[Hypothesis<'a>]) {
        let digits = &value.digits;
        let ours = self.digits(row);
        let is_value = is_value(digits);
        let mut explanations = Vec::new();
        let mut shift = None;
        for one in found {
            if let Hypothesis::EligibleTime(seconds) = one {
                shift = shift.or(Some(*seconds));
            }
            if ours.is_some() && is_value {
                let exact = self.exactly(*one, (row, digits));
                explanations.extend(exact.map(|one| self.explanation(one)));
            }
        }
        if ours.is_none() && is_value {
            let exclusion = self.queue.table.exclusion(row);
            explanations.extend(exclusion.and_then(explain_exclusion));
        }
        let kind = if let Some(first) = explanations.first() {
            first.kind.clone()
        } else {
            self.replay.unexplained += 1;
            match self.not_captured(row) {
                _ if !is_value => CauseKind::NotANumber,
                Some(missing) => CauseKind::NotCaptured(missing),
                None => CauseKind::Nothing,
            }
        };
        let remark = match &kind {
            CauseKind::NotANumber => Some(format!(
                "expected a decimal number such as 0.8843, found `{digits}`"
            )),
            CauseKind::NotCaptured(missing) => Some(format!("not verified, because {missing}")),
            _ => None,
        };
        self.count_cause(kind, shift);
        if self.replay.different.len() >= MAX_DIFFERENCES {
            self.replay.not_listed += 1;
            return;
        }
        let reasons: Vec<&str> = explanations.iter().map(|one| &*one.why).collect();
        self.replay.different.push(Difference {
            line: value.line,
            job: value.job.to_string(),
            logged: digits.to_string(),
            ours,
            why: (!reasons.is_empty()).then(|| reasons.join(", or ")),
            explanations,
            remark,
        });
    }

    /// Counts a value that differs; `shift` is the change of `eligible_time` in its cycle.
    fn count_cause(&mut self, kind: CauseKind, shift: Option<i64>) {
        let shift = shift.filter(|_| kind == CauseKind::EligibleTime);
        let causes = &mut self.replay.causes;
        let Some(cause) = causes.iter_mut().find(|cause| cause.kind == kind) else {
            causes.push(Cause {
                kind,
                lines: 1,
                seconds: shift.map(|shift| (shift, shift)),
            });
            return;
        };
        cause.lines += 1;
        if let (Some(shift), Some((least, most))) = (shift, cause.seconds) {
            cause.seconds = Some((least.min(shift), most.max(shift)));
        }
    }
}

/// Explains why a job that the scheduler evaluated is excluded now: it is over, or considered
/// through its array. Other exclusions explain nothing, because they held then too.
fn explain_exclusion(exclusion: &Exclusion) -> Option<Explanation> {
    match exclusion {
        Exclusion::Over(_) | Exclusion::Subjob => Some(Explanation {
            kind: CauseKind::NotWaiting,
            seconds: None,
            why: format!("the job is not evaluated now: {exclusion}"),
        }),
        _ => None,
    }
}

/// The most formulas that are taken from a log.
const MAX_FORMULAS: usize = 8;

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

/// The values in a log of `pbs_sched`, in its order. Lines may have a date and other fields before
/// `Job`; other lines are skipped.
///
/// ```
/// use jsf_openpbs::log_comparison::logged_values;
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
    let job = before.rsplit(|&byte| byte == b';').next()?;
    let digits = digits.trim_ascii();
    if job.is_empty() || digits.is_empty() || !before[..before.len() - job.len()].ends_with(b"Job;")
    {
        return None;
    }
    Some(LoggedValue {
        line,
        job: String::from_utf8_lossy(job),
        digits: String::from_utf8_lossy(digits),
    })
}

/// The values of one cycle.
#[derive(Default)]
struct Cycle<'l> {
    values: Vec<LoggedValue<'l>>,
    /// The time of the first value in seconds, if its line has one; only differences of such times
    /// mean anything.
    time: Option<i64>,
}

/// Visits the values of one cycle after the other: all that follow a line
/// `Starting Scheduling Cycle`, or, in a log without such lines, those of one second. A job is
/// evaluated once in a cycle, so its next value begins another one. Returns the number of lines
/// with a value that cannot be read.
fn for_each_cycle<'l>(log: &'l [u8], mut visit: impl FnMut(Cycle<'l>)) -> usize {
    const START: &[u8] = b";Starting Scheduling Cycle";
    let has_starts = lines(log).any(|(text, _)| split_at(text, START).is_some());
    let mut cycle = Cycle::default();
    let mut jobs = HashSet::new();
    let mut second = &log[..0];
    let mut damaged = 0;
    for (text, line) in lines(log) {
        let value = value_in(text, line);
        let begins = match &value {
            Some(value) => jobs.contains(&value.job) || (!has_starts && second_of(text) != second),
            None => has_starts && split_at(text, START).is_some(),
        };
        if begins {
            visit(std::mem::take(&mut cycle));
            jobs.clear();
        }
        match value {
            Some(value) => {
                second = second_of(text);
                if cycle.values.is_empty() {
                    cycle.time = time_of(second);
                }
                jobs.insert(value.job.clone());
                cycle.values.push(value);
            }
            None => damaged += usize::from(split_at(text, b";Formula Evaluation").is_some()),
        }
    }
    visit(cycle);
    damaged
}

/// The date and time of a line, without fractions of a second.
fn second_of(line: &[u8]) -> &[u8] {
    let end = line.iter().position(|byte| matches!(byte, b';' | b'.'));
    &line[..end.unwrap_or(line.len())]
}

/// The seconds of `MM/DD/YYYY HH:MM:SS` since 1970, on the clock of the log.
fn time_of(second: &[u8]) -> Option<i64> {
    let text = str::from_utf8(second).ok()?;
    let (date, time) = text.split_once(' ').filter(|_| text.len() == 19)?;
    let (minute, seconds) = time.rsplit_once(':')?;
    let seconds: u8 = seconds.parse().ok().filter(|seconds| *seconds <= 60)?;
    Some(holidays::time_of(date, minute)? + i64::from(seconds))
}

/// The formulas that lines of a server's log say were set, each once, the latest first. A
/// scheduler's log has no such lines.
pub fn formulas_set(log: &[u8]) -> Vec<String> {
    let mut formulas: Vec<String> = Vec::new();
    for (text, _) in lines(log) {
        let Some((_, formula)) = split_at(text, b";attributes set: job_sort_formula = ") else {
            continue;
        };
        let formula = String::from_utf8_lossy(formula.trim_ascii());
        formulas.retain(|known| *known != formula);
        formulas.insert(0, formula.into_owned());
        formulas.truncate(MAX_FORMULAS);
    }
    formulas
}

/// Whether the scheduler can have printed a text as a value: a number, `inf` or `nan`.
fn is_value(text: &str) -> bool {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    // C's `printf` writes a digit on either side of the point
    let mut parts = unsigned.splitn(2, '.');
    matches!(unsigned, "inf" | "nan")
        || parts.all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
}

fn split_at<'t>(text: &'t [u8], separator: &[u8]) -> Option<(&'t [u8], &'t [u8])> {
    let mut windows = text.windows(separator.len());
    let at = windows.position(|window| window == separator)?;
    Some((&text[..at], &text[at + separator.len()..]))
}

/// The most additional decays that are tried.
const MAX_MORE_DECAYS: i32 = 32;
/// The most missing decays that are tried.
const MAX_FEWER_DECAYS: i32 = 8;
/// The most lines of a cycle to which a hypothesis is fitted; it is then tried for all of them.
const SAMPLE: usize = 16;
/// The longest change of `eligible_time`, in seconds.
const MAX_SHIFT: i64 = 1 << 31;
/// After so many cycles that nothing explains, only the formulas are tried: the log is of something
/// else.
const MAX_UNEXPLAINED: usize = 4096;
/// The work of all evaluations beyond that which is free, in words: some seconds.
const WORK: u64 = 1 << 30;
const ELIGIBLE_TIME: &str = "eligible_time";
const QUEUE_PRIORITY: &str = "queue_priority";

/// What may explain the lines of a cycle.
#[derive(Debug, Clone, Copy)]
enum Hypothesis<'a> {
    /// The formula is this one.
    Formula(&'a OtherFormula),
    /// `eligible_time` is that of so many seconds later.
    EligibleTime(i64),
    /// The usage is that of one of the trees that [`Comparison::decayed`] has.
    Decayed(usize),
}

/// A logged value that is compared: the row of its job, and its digits.
type Digits<'l> = (usize, &'l str);

impl<'a> Comparison<'a> {
    /// What explains more than half of the lines of a cycle that differ, the best first. `time` is
    /// that of the cycle; all lines are those of jobs with a score.
    fn of_cycle(
        &mut self,
        time: Option<i64>,
        all: &[Digits<'_>],
        different: &[Digits<'_>],
    ) -> Vec<Hypothesis<'a>> {
        if different.is_empty() {
            return Vec::new();
        }
        // another formula has to give more than the one that is compared
        let other = self.best_of(self.queue.others, all, Hypothesis::Formula);
        if let Some((given, other)) = other
            && given > all.len() - different.len()
        {
            return vec![Hypothesis::Formula(other)];
        }
        if self.unexplained_cycles >= MAX_UNEXPLAINED {
            return Vec::new();
        }
        let sample = &different[..different.len().min(SAMPLE)];
        let mut found = Vec::new();
        if let Some((given, seconds)) = self.shift(time, different) {
            self.same_moment = time.map(|time| time.saturating_sub(seconds));
            found.push((given, Hypothesis::EligibleTime(seconds)));
        }
        self.fill_decayed();
        let decayed = self.best_of(0..self.decayed.len(), sample, Hypothesis::Decayed);
        if let Some((given, index)) = decayed {
            found.push((given, Hypothesis::Decayed(index)));
        }
        self.unexplained_cycles += usize::from(found.is_empty());
        found.sort_by_key(|(given, _)| std::cmp::Reverse(*given));
        found.into_iter().map(|(_, found)| found).collect()
    }

    /// The hypothesis, if it gives the digits of a job. For `eligible_time`, with the exact number of
    /// seconds with which it does, as the server computes the times of a cycle's jobs one after the
    /// other.
    fn exactly(
        &mut self,
        hypothesis: Hypothesis<'a>,
        (row, digits): Digits<'_>,
    ) -> Option<Hypothesis<'a>> {
        let value = match hypothesis {
            Hypothesis::Formula(other) => other.scores.get(row)?.value,
            Hypothesis::EligibleTime(seconds) => {
                for more in [0, 1, -1] {
                    let seconds = seconds.saturating_add(more);
                    if let Some(value) = self.value_after(row, seconds)
                        && logged(value) == digits
                    {
                        return Some(Hypothesis::EligibleTime(seconds));
                    }
                }
                return None;
            }
            Hypothesis::Decayed(index) => {
                let entity = self.queue.tree?.tree().find(self.queue.table.entity(row))?;
                let shares = *self.decayed[index].1.get(&entity)?;
                self.value_with(row, |name| {
                    let input = FairshareInput::from_name(name)?;
                    Some(NumberMode::OpenPbs.fairshare(fairshare_number(input, &shares)))
                })?
            }
        };
        (logged(value) == digits).then_some(hypothesis)
    }

    fn explanation(&self, hypothesis: Hypothesis<'a>) -> Explanation {
        let mut exact_seconds = None;
        let (kind, why) = match hypothesis {
            Hypothesis::Formula(OtherFormula { origin, text, .. }) => (
                CauseKind::Formula {
                    origin: origin.clone(),
                    text: text.clone(),
                },
                format!("the formula of {origin} gives it"),
            ),
            Hypothesis::EligibleTime(seconds) => {
                exact_seconds = Some(seconds);
                let direction = if seconds > 0 { "later" } else { "earlier" };
                let by = seconds.unsigned_abs();
                let why = format!("eligible_time is {by} s {direction}");
                (CauseKind::EligibleTime, why)
            }
            Hypothesis::Decayed(index) => {
                let (times, _) = self.decayed[index];
                let direction = if times > 0 { "more" } else { "less" };
                let often = match times.unsigned_abs() {
                    1 => "once".to_owned(),
                    times => format!("{times} times"),
                };
                let why = format!("all usage has decayed {often} {direction}");
                (CauseKind::Decayed(times), why)
            }
        };
        Explanation {
            kind,
            seconds: exact_seconds,
            why,
        }
    }

    /// A file that the site lacks, so that an input of this job is not known.
    fn not_captured(&self, row: usize) -> Option<NotCaptured> {
        if self.queue.tree.is_some() && !self.queue.has_usage && self.uses_fairshare() {
            Some(NotCaptured::Usage)
        } else if !self.queue.has_queues && self.lacks(QUEUE_PRIORITY, row) {
            Some(NotCaptured::Queues)
        } else if self.lacks(ELIGIBLE_TIME, row) {
            Some(NotCaptured::EligibleTime)
        } else {
            None
        }
    }

    /// Whether the formula reads an input that a job does not have.
    fn lacks(&self, name: &str, row: usize) -> bool {
        let column = self.queue.table.column(name);
        self.queue.program.slot(name).is_some() && !column.is_some_and(|column| column.is_set(row))
    }

    /// The change of `eligible_time` of a cycle, and how many of some lines it gives.
    fn shift(&mut self, time: Option<i64>, different: &[Digits<'_>]) -> Option<(usize, i64)> {
        self.queue.program.slot(ELIGIBLE_TIME)?;
        let mut counted = different[..different.len().min(SAMPLE)].to_vec();
        let mut found = None;
        // a moment that explained a cycle explains the others by their times, without a search
        if let (Some(time), Some(same)) = (time, self.same_moment) {
            found = self.best_shift(vec![time.saturating_sub(same)], &counted);
        }
        if found.is_none() {
            let mut nearest = Vec::new();
            for line in &counted {
                nearest.extend(self.nearest_shift(*line));
            }
            found = self.best_shift(nearest, &counted);
        }
        // where digits allow several moments, a line has the nearest one, and the farthest of them
        // is that of all
        let (_, seconds) = found?;
        let mut candidates = vec![seconds];
        let hypothesis = Hypothesis::EligibleTime(seconds);
        for &line in different {
            if candidates.len() <= SAMPLE && self.exactly(hypothesis, line).is_none() {
                counted.push(line);
                candidates.extend(self.nearest_shift(line));
            }
        }
        self.best_shift(candidates, &counted).or(found)
    }

    fn best_shift(
        &mut self,
        mut candidates: Vec<i64>,
        lines: &[Digits<'_>],
    ) -> Option<(usize, i64)> {
        // of equally good candidates the first one is taken: the smallest change
        candidates.sort_unstable_by_key(|seconds| (seconds.unsigned_abs(), *seconds));
        candidates.dedup();
        self.best_of(candidates, lines, Hypothesis::EligibleTime)
    }

    /// The first candidate whose hypothesis gives the most lines, if those are more than half, and
    /// their number.
    fn best_of<T: Copy>(
        &mut self,
        candidates: impl IntoIterator<Item = T>,
        lines: &[Digits<'_>],
        hypothesis: fn(T) -> Hypothesis<'a>,
    ) -> Option<(usize, T)> {
        let mut best: Option<(usize, T)> = None;
        for candidate in candidates {
            let mut given = 0;
            for line in lines {
                given += usize::from(self.exactly(hypothesis(candidate), *line).is_some());
            }
            if 2 * given > lines.len() && best.is_none_or(|(most, _)| given > most) {
                best = Some((given, candidate));
            }
        }
        best
    }

    /// The smallest change of `eligible_time` that gives the digits of a job, at distances that
    /// double and then halve: values rise or fall with the time.
    fn nearest_shift(&mut self, (row, digits): Digits<'_>) -> Option<i64> {
        let target: f64 = digits.parse().ok()?;
        let is_below = self.value_after(row, 0)? < target;
        let mut found: Vec<i64> = Vec::new();
        for direction in [1, -1] {
            let mut is_reached = |seconds: i64| match self.value_after(row, direction * seconds) {
                Some(value) => (value < target) != is_below || logged(value) == digits,
                // a time that cannot be is beyond the one that is looked for
                None => true,
            };
            let (mut near, mut far) = (0, 1);
            while far < MAX_SHIFT && !is_reached(far) {
                (near, far) = (far, 2 * far);
            }
            while far - near > 1 {
                let middle = i64::midpoint(near, far);
                if is_reached(middle) {
                    far = middle
                } else {
                    near = middle
                }
            }
            if let Some(value) = self.value_after(row, direction * far)
                && logged(value) == digits
            {
                found.push(direction * far);
            }
        }
        let found = found.into_iter();
        found.min_by_key(|seconds| seconds.unsigned_abs())
    }

    /// The value of a job so many seconds later; `None` if its `eligible_time` is not known, or
    /// would be negative.
    fn value_after(&mut self, row: usize, seconds: i64) -> Option<f64> {
        let column = self.queue.table.column(ELIGIBLE_TIME)?;
        let Value::Int(now) = column.value(row) else {
            return None;
        };
        if !column.is_set(row) {
            return None;
        }
        let then = now.checked_add(seconds)?;
        if then < 0 {
            return None;
        }
        self.value_with(row, |name| match name {
            ELIGIBLE_TIME => Some(Value::Int(then)),
            _ => None,
        })
    }

    /// The value of a job of which some inputs are replaced; `None` if the work is spent.
    fn value_with(&mut self, row: usize, replaced: impl Fn(&str) -> Option<Value>) -> Option<f64> {
        let program = self.queue.program;
        let mut inputs = explain::inputs(program, self.queue.table, row)?;
        for (name, input) in program.inputs().iter().zip(&mut inputs) {
            if let Some(value) = replaced(name) {
                *input = value;
            }
        }
        self.scorer.score(&inputs)
    }

    fn uses_fairshare(&self) -> bool {
        let mut inputs = self.queue.program.inputs().iter();
        inputs.any(|name| FairshareInput::from_name(name).is_some())
    }

    /// Computes the shares of the entities of jobs after each number of decays: in a daemon that
    /// has read the decayed usage of the entities from its file and summed it up, and in one that
    /// has decayed the usage of every node itself.
    fn fill_decayed(&mut self) {
        let Some(tree) = self.queue.tree else { return };
        if !self.uses_fairshare() || !self.queue.has_usage || !self.decayed.is_empty() {
            return;
        }
        // of equally good candidates the first one is taken: the one of the fewest decays
        for times in (1..=MAX_MORE_DECAYS).chain((-MAX_FEWER_DECAYS..0).rev()) {
            let decayed = |usage| after_decays(&self.queue.decay, usage, times);
            let mut trees = Vec::new();
            trees.extend((self.queue.reread)(&decayed).map(PbsTree::into_tree));
            if times > 0 {
                let mut every_node = tree.tree().clone();
                every_node.decay_with(decayed);
                trees.push(every_node);
            }
            for changed in &trees {
                let shares = shares_of_entities(&self.queue, tree, changed);
                self.decayed.push((times, shares));
            }
        }
    }
}

/// The shares that a changed tree gives to the entities of the jobs, by their nodes in the tree of
/// the queue.
fn shares_of_entities(
    queue: &ReplayedQueue<'_>,
    tree: &PbsTree,
    changed: &ShareTree,
) -> HashMap<NodeId, EntityShares> {
    let shares = queue.policy.assess(changed);
    let mut changed_nodes = HashMap::new();
    for entity in queue.table.entities() {
        if let Some(node) = tree.tree().find(entity)
            // by its name: a tree that was built again may number its nodes otherwise
            && let Some(same) = changed.find(tree.tree().name(node))
            && let Some(shares) = shares.get(same)
        {
            changed_nodes.insert(node, shares);
        }
    }
    changed_nodes
}

fn after_decays(decay: &IntervalDecay, usage: f64, times: i32) -> f64 {
    match times {
        0.. => (0..times).fold(usage, |usage, _| decay.step(usage)),
        // decay ends at this usage, so that nothing says what it was before
        _ if usage <= IntervalDecay::FLOOR => usage,
        // the factor as it is applied, from a usage that stays far above the least one
        _ => usage / (decay.step(1e15) / 1e15).powi(-times),
    }
}
