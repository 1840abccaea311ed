//! What becomes of a formula on a queue, in one word.

use job_sort_formula::diagnostic::{Code, Diagnostic, Severity};
use job_sort_formula::rank::{Consequence, Ranking};

/// What becomes of a formula, the worst that happens. A verdict is greater than those that are less
/// bad.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It works for every job, and orders at least some of them.
    Works,
    /// All jobs that the scheduler considers have the same value.
    Ties {
        /// The number of jobs.
        jobs: usize,
    },
    /// It fails for some jobs.
    Fails {
        /// The number of jobs with an error.
        failing: usize,
        /// The number of jobs that are evaluated.
        evaluated: usize,
        /// The kind of the first error, as Python names it.
        kind: &'static str,
        /// The value that these jobs get.
        consequence: &'static str,
        /// Whether the scheduler crashes if one of them is evaluated first after a start.
        can_crash: bool,
    },
    /// It fails for every job, so the scheduler crashes when it is next started.
    CrashesAtStart {
        /// The number of jobs.
        jobs: usize,
        /// The kind of the first error, as Python names it.
        kind: &'static str,
    },
    /// The scheduler crashes as soon as it evaluates the formula.
    Crashes,
    /// The server or qmgr refuses it.
    Refused,
}

impl Verdict {
    /// The verdict on a formula with these findings, and on its ranking of a queue, if there is
    /// one.
    pub(super) fn new(
        is_refused: bool,
        crashes: bool,
        findings: &[Diagnostic],
        ranking: Option<&Ranking>,
    ) -> Self {
        // nothing of the rest can happen with a formula that the server does not take
        if is_refused {
            return Self::Refused;
        }
        if crashes {
            return Self::Crashes;
        }
        let Some(ranking) = ranking else {
            return Self::Works;
        };
        let (failing, evaluated) = (ranking.error_count(), ranking.scores().count());
        let Some((_, error)) = ranking.scores().errors().next() else {
            let jobs = ranking.order().len();
            let is_constant = jobs > 1 && ranking.ties() + 1 == jobs;
            return if is_constant {
                Self::Ties { jobs }
            } else {
                Self::Works
            };
        };
        let kind = error.kind().description();
        let mut findings = findings.iter();
        let at_start = findings.find(|found| found.code == Code::FirstEvaluation);
        match at_start.map(|found| found.severity) {
            Some(Severity::Error) => Self::CrashesAtStart {
                jobs: evaluated,
                kind,
            },
            severity => Self::Fails {
                failing,
                evaluated,
                can_crash: severity == Some(Severity::Warning),
                kind,
                consequence: match error.consequence() {
                    Consequence::Unknown => "whose value jsf cannot tell",
                    Consequence::Zero | Consequence::Crash => "which counts 0",
                },
            },
        }
    }

    /// Whether the formula has a value for some job, be it the same for all: without one, there is
    /// no effect to speak of.
    pub fn has_effect(&self) -> bool {
        match self {
            Self::Works | Self::Ties { .. } => true,
            Self::Fails {
                failing, evaluated, ..
            } => failing < evaluated,
            Self::CrashesAtStart { .. } | Self::Crashes | Self::Refused => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_ordered_by_how_bad_they_are() {
        let fails = Verdict::Fails {
            failing: 1,
            evaluated: 2,
            kind: "division by zero",
            consequence: "which counts 0",
            can_crash: true,
        };
        let at_start = Verdict::CrashesAtStart {
            jobs: 2,
            kind: "division by zero",
        };
        let verdicts = [
            Verdict::Works,
            Verdict::Ties { jobs: 2 },
            fails,
            at_start,
            Verdict::Crashes,
            Verdict::Refused,
        ];
        assert!(verdicts.is_sorted());
        assert_eq!(
            verdicts.map(|verdict| verdict.has_effect()),
            [true, true, true, false, false, false]
        );
    }
}
