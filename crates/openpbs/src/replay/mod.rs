//! Compares the values in a scheduler's log with the values of this crate, and explains the
//! differences.
//!
//! In: a log of `pbs_sched`, and the jobs with their scores. Out: a [`Replay`]. Every
//! `…;pbs_sched;Job;12.vm;Formula Evaluation = 0.8843` is compared with the digits that the same
//! value would be logged with. For the differences of a cycle, three hypotheses are tried: another
//! formula, `eligible_time` of another moment, and usage of another moment. Each must give more
//! than half of them.

mod hypotheses;
mod log;

use std::collections::HashMap;
use std::fmt;

use hypotheses::{Digits, Hypotheses, Hypothesis};
use log::{Cycle, for_each_cycle, is_value};
pub use log::{LoggedValue, formulas_set, logged_values};

use crate::number_format::logged;
use crate::share_tree::PbsTree;
use job_sort_formula::fairshare::Policy;
use job_sort_formula::fairshare::decay::IntervalDecay;
use job_sort_formula::formula::program::Program;
use job_sort_formula::jobs::{Exclusion, JobTable};
use job_sort_formula::rank::Scores;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// The most differences that are listed; the others are counted.
const MAX_LISTED: usize = 100_000;

/// Builds the tree again after the given function has changed every usage; `None` if it cannot be
/// built.
pub type Reread<'a> = dyn Fn(&dyn Fn(f64) -> f64) -> Option<PbsTree> + 'a;

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

impl OtherFormula {
    fn gives(&self, row: usize, digits: &str) -> bool {
        let score = self.scores.get(row);
        score.is_some_and(|score| logged(score.value) == digits)
    }
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
pub enum Explanation {
    /// `eligible_time` differs by this number of seconds.
    EligibleTime(i64),
    /// All usage has decayed this many times more, or less if the number is negative.
    Decayed(i32),
    /// The job has finished since, or is considered through its array.
    NotWaiting(String),
    /// Another formula gives the logged value.
    Formula {
        /// The source of the formula.
        origin: String,
        /// The formula.
        text: String,
    },
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EligibleTime(seconds) => {
                let direction = if *seconds > 0 { "later" } else { "earlier" };
                write!(
                    f,
                    "eligible_time is {} s {direction}",
                    seconds.unsigned_abs()
                )
            }
            Self::Decayed(1) => write!(f, "all usage has decayed once more"),
            Self::Decayed(times @ 2..) => write!(f, "all usage has decayed {times} times more"),
            Self::Decayed(-1) => write!(f, "all usage has decayed once less"),
            Self::Decayed(times) => write!(
                f,
                "all usage has decayed {} times less",
                times.unsigned_abs()
            ),
            Self::NotWaiting(reason) => write!(f, "the job is not evaluated now: {reason}"),
            Self::Formula { origin, .. } => write!(f, "the formula of {origin} gives it"),
        }
    }
}

impl Serialize for Explanation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(None)?;
        members.serialize_entry("kind", CauseKind::from(self).name())?;
        match self {
            Self::EligibleTime(seconds) => {
                members.serialize_entry("input", "eligible_time")?;
                members.serialize_entry("seconds", seconds)?;
            }
            Self::Decayed(times) => members.serialize_entry("times", times)?,
            Self::NotWaiting(_) => {}
            Self::Formula { origin, text } => {
                members.serialize_entry("origin", origin)?;
                members.serialize_entry("formula", text)?;
            }
        }
        members.serialize_entry("why", &self.to_string())?;
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

impl From<&Explanation> for CauseKind {
    fn from(explanation: &Explanation) -> Self {
        match explanation {
            Explanation::Formula { origin, text } => Self::Formula {
                origin: origin.clone(),
                text: text.clone(),
            },
            Explanation::EligibleTime(_) => Self::EligibleTime,
            Explanation::Decayed(times) => Self::Decayed(*times),
            Explanation::NotWaiting(_) => Self::NotWaiting,
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

/// The causes of the values that differ, as they are counted.
#[derive(Default)]
struct Causes(HashMap<CauseKind, Cause>);

impl Causes {
    /// Counts a value; `shift` is the change of `eligible_time` in its cycle.
    fn count(&mut self, kind: CauseKind, shift: Option<i64>) {
        let is_of_time = kind == CauseKind::EligibleTime;
        let cause = self.0.entry(kind.clone()).or_insert(Cause {
            kind,
            lines: 0,
            seconds: None,
        });
        cause.lines += 1;
        if let Some(shift) = shift
            && is_of_time
        {
            let (least, most) = cause.seconds.unwrap_or((shift, shift));
            cause.seconds = Some((least.min(shift), most.max(shift)));
        }
    }

    /// The causes, that of the most lines first.
    fn into_sorted(self) -> Vec<Cause> {
        let mut causes: Vec<Cause> = self.0.into_values().collect();
        causes.sort_by(|one, other| {
            let by_lines = other.lines.cmp(&one.lines);
            by_lines.then_with(|| one.kind.cmp(&other.kind))
        });
        causes
    }
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
    /// What explains the difference, the most plausible first.
    #[serde(flatten, serialize_with = "serialize_explanations")]
    pub explanations: Vec<Explanation>,
    /// What is known if nothing explains the difference: the logged text is not a number, or a file
    /// is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
}

impl Difference {
    /// The explanations as one text; `None` if nothing explains the difference.
    pub fn why(&self) -> Option<String> {
        in_words(&self.explanations)
    }
}

fn in_words(explanations: &[Explanation]) -> Option<String> {
    if explanations.is_empty() {
        return None;
    }
    let texts: Vec<String> = explanations.iter().map(ToString::to_string).collect();
    Some(texts.join(", or "))
}

/// Serialises explanations one by one, and as one text.
fn serialize_explanations<S: Serializer>(
    explanations: &[Explanation],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut members = serializer.serialize_map(None)?;
    members.serialize_entry("why", &in_words(explanations))?;
    members.serialize_entry("explanations", explanations)?;
    members.end()
}

/// Compares every value of the log with the value of the same job in the queue.
pub fn replay(log: &[u8], queue: &ReplayedQueue<'_>) -> Replay {
    let mut comparison = Comparison {
        queue: *queue,
        hypotheses: Hypotheses::new(queue),
        causes: Causes::default(),
        replay: Replay::default(),
    };
    let damaged = for_each_cycle(log, |cycle| comparison.add(&cycle));
    Replay {
        damaged,
        causes: comparison.causes.into_sorted(),
        ..comparison.replay
    }
}

/// The comparison of a log with a queue, cycle by cycle.
struct Comparison<'a> {
    queue: ReplayedQueue<'a>,
    hypotheses: Hypotheses<'a>,
    causes: Causes,
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
        let found = self.hypotheses.of_cycle(cycle.time, &all, &compared);
        for (value, row) in different {
            self.add_difference(value, row, &found);
        }
    }

    fn digits(&self, row: usize) -> Option<String> {
        self.queue.scores.get(row).map(|score| logged(score.value))
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
                explanations.extend(self.hypotheses.explain(*one, (row, digits)));
            }
        }
        if ours.is_none() && is_value {
            let exclusion = self.queue.table.exclusion(row);
            explanations.extend(exclusion.and_then(explain_exclusion));
        }
        let kind = if let Some(first) = explanations.first() {
            first.into()
        } else {
            self.replay.unexplained += 1;
            match self.hypotheses.not_captured(row) {
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
        self.causes.count(kind, shift);
        if self.replay.different.len() >= MAX_LISTED {
            self.replay.not_listed += 1;
            return;
        }
        self.replay.different.push(Difference {
            line: value.line,
            job: value.job.to_string(),
            logged: digits.to_string(),
            ours,
            explanations,
            remark,
        });
    }
}

/// Explains why a job that the scheduler evaluated is excluded now: it is over, or considered
/// through its array. Other exclusions explain nothing, because they held then too.
fn explain_exclusion(exclusion: &Exclusion) -> Option<Explanation> {
    match exclusion {
        Exclusion::Over(_) | Exclusion::Subjob => {
            Some(Explanation::NotWaiting(exclusion.to_string()))
        }
        _ => None,
    }
}
