//! For which jobs a formula fails in a simulation, in a sentence.

use std::collections::{BTreeMap, BTreeSet};

use job_sort_formula::Formula;
use job_sort_formula::rank::{Consequence, OnError};
use job_sort_formula::schema::FairshareInput;
use jsf_openpbs::check::{Checked, Verdict};
use jsf_simulate::{EvaluationErrors, Workload};

use crate::view::words::{part_of_jobs, quoted};

/// The most entities that a sentence names.
const MAX_NAMES: usize = 3;

/// Whether the scheduler cannot work with a formula, so that no waits are shown.
pub(crate) fn is_fatal(checked: &Checked) -> bool {
    matches!(
        checked.verdict,
        Verdict::Refused | Verdict::Crashes | Verdict::CrashesAtStart { .. }
    )
}

/// The jobs for which a formula fails.
#[derive(Debug, Clone)]
pub struct FailingJobs {
    /// What follows the name of the formula, such as ``divides by zero for all 81 jobs of `Bob`;
    /// they count 0``.
    predicate: String,
    /// Whether the formula fails for every job.
    pub are_all: bool,
}

impl FailingJobs {
    /// The jobs for which a formula fails; `None` if there are none. `shares` are those of the
    /// entities, by index.
    pub fn new(
        formula: &Formula,
        workload: &Workload,
        errors: &EvaluationErrors,
        shares: Option<&[Option<f64>]>,
        on_error: OnError,
    ) -> Option<Self> {
        let (kind, first) = errors.kinds().max_by_key(|(_, error)| error.jobs)?;
        let are_all = errors.jobs() == workload.jobs().len();
        let names = formula.names();
        let mut names = names.iter();
        let jobs = match shares {
            Some(shares) if names.any(|name| FairshareInput::from_name(name).is_some()) => {
                failing_jobs(workload, errors, shares)
            }
            _ => failing_jobs(workload, errors, &[]),
        };
        let fails = if kind == "division by zero" && errors.kinds().count() == 1 {
            format!("divides by zero for {jobs}")
        } else {
            let id = workload.id(first.job);
            format!("fails for {jobs} ({}, first for `{id}`)", first.message)
        };
        let then = consequence(errors, on_error, are_all);
        Some(Self {
            predicate: format!("{fails}; they {then}"),
            are_all,
        })
    }

    /// A clause about `subject`, such as `the new formula`.
    pub fn clause(&self, subject: &str) -> String {
        format!("{subject} {}", self.predicate)
    }
}

/// Which jobs fail, by the entities that they belong to if those are few.
fn failing_jobs(workload: &Workload, errors: &EvaluationErrors, shares: &[Option<f64>]) -> String {
    let all = workload.jobs().len();
    let mut jobs_of: BTreeMap<u32, usize> = BTreeMap::new();
    let mut failing: BTreeSet<u32> = BTreeSet::new();
    for (index, job) in workload.jobs().iter().enumerate() {
        *jobs_of.entry(job.entity).or_default() += 1;
        if errors.has_failed(index) {
            failing.insert(job.entity);
        }
    }
    let mut names: Vec<&str> = Vec::new();
    let mut of_these = 0;
    let mut have_no_shares = true;
    for entity in failing {
        let index = entity as usize;
        names.push(&workload.entities()[index]);
        of_these += jobs_of[&entity];
        have_no_shares &= matches!(shares.get(index), Some(share) if share.unwrap_or(0.0) <= 0.0);
    }
    let says_nothing = jobs_of.len() == 1 || errors.jobs() == all;
    if says_nothing || names.len() > MAX_NAMES || names.contains(&"") {
        return part_of_jobs(errors.jobs(), all);
    }
    let why = if errors.jobs() == of_these && have_no_shares {
        " (no shares)"
    } else {
        ""
    };
    let part = part_of_jobs(errors.jobs(), of_these);
    format!("{part} of {}{why}", quoted(names))
}

/// What becomes of the jobs for which a formula fails.
fn consequence(errors: &EvaluationErrors, on_error: OnError, are_all: bool) -> &'static str {
    let (mut crashes, mut is_unknown) = (false, false);
    for (_, error) in errors.kinds() {
        crashes |= error.consequence == Consequence::Crash;
        is_unknown |= error.consequence == Consequence::Unknown;
    }
    if on_error == OnError::Null {
        "come last"
    } else if crashes {
        "count 0 here, and would crash OpenPBS's scheduler"
    } else if is_unknown {
        "count 0 here, and jsf cannot tell what OpenPBS's scheduler makes of it"
    } else if are_all {
        "count 0, and OpenPBS's scheduler would crash at its next start"
    } else {
        "count 0"
    }
}
