//! Why the values of a log differ: what many of them have in common.

use std::collections::HashMap;

use super::{Explanation, NotCaptured};

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
pub(super) struct Causes(HashMap<CauseKind, Cause>);

impl Causes {
    /// Counts a value; `shift` is the change of `eligible_time` in its cycle.
    pub(super) fn count(&mut self, kind: CauseKind, shift: Option<i64>) {
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
    pub(super) fn into_sorted(self) -> Vec<Cause> {
        let mut causes: Vec<Cause> = self.0.into_values().collect();
        causes.sort_by(|one, other| {
            let by_lines = other.lines.cmp(&one.lines);
            by_lines.then_with(|| one.kind.cmp(&other.kind))
        });
        causes
    }
}
