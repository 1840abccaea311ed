//! For which jobs a formula fails in a simulation, in a sentence.

use std::collections::BTreeMap;

use job_sort_formula::Formula;
use job_sort_formula::rank::{Consequence, OnError};
use job_sort_formula::schema::FairshareInput;
use jsf_simulate::{ErrorKind, EvaluationErrors, Workload};

use crate::view::words::{part_of_jobs, quoted};

/// The most entities that a sentence names.
const MAX_NAMES: usize = 3;

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
        let first = errors.kinds().max_by_key(|(_, error)| error.jobs)?;
        let are_all = errors.jobs() == workload.jobs().len();
        let reads_shares = formula
            .names()
            .iter()
            .any(|name| FairshareInput::from_name(name).is_some());
        let jobs = failing_jobs(workload, errors, shares.filter(|_| reads_shares));
        let (verb, error) = match first {
            ("division by zero", _) if errors.kinds().count() == 1 => {
                ("divides by zero", String::new())
            }
            (_, ErrorKind { message, job, .. }) => (
                "fails",
                format!(" ({message}, first for `{}`)", workload.id(*job)),
            ),
        };
        let they = if errors.jobs() == 1 { "it" } else { "they" };
        let then = consequence(errors, on_error, are_all);
        Some(Self {
            predicate: format!("{verb} for {jobs}{error}; {they} {then}"),
            are_all,
        })
    }

    /// A clause about `subject`, such as `the new formula`.
    pub fn clause(&self, subject: &str) -> String {
        format!("{subject} {}", self.predicate)
    }
}

/// The failing and all jobs of an entity.
#[derive(Debug, Clone, Copy, Default)]
struct OfEntity {
    failing: usize,
    jobs: usize,
}

/// Which jobs fail, by the entities that they belong to if those are few.
fn failing_jobs(
    workload: &Workload,
    errors: &EvaluationErrors,
    shares: Option<&[Option<f64>]>,
) -> String {
    let mut entities: BTreeMap<u32, OfEntity> = BTreeMap::new();
    for (index, job) in workload.jobs().iter().enumerate() {
        let entity = entities.entry(job.entity).or_default();
        entity.jobs += 1;
        entity.failing += usize::from(errors.has_failed(index));
    }
    let says_nothing = entities.len() == 1 || errors.jobs() == workload.jobs().len();
    entities.retain(|_, entity| entity.failing > 0);
    let failing = errors.jobs();
    let of_these: usize = entities.values().map(|entity| entity.jobs).sum();
    let names: Vec<&str> = entities
        .keys()
        .map(|&entity| &*workload.entities()[entity as usize])
        .collect();
    if says_nothing || names.len() > MAX_NAMES || names.iter().any(|name| name.is_empty()) {
        return part_of_jobs(failing, workload.jobs().len());
    }
    let has_no_share = |entity: &u32| {
        shares.is_some_and(|shares| {
            shares
                .get(*entity as usize)
                .is_some_and(|share| share.unwrap_or(0.0) <= 0.0)
        })
    };
    let why = if failing == of_these && entities.keys().all(has_no_share) {
        " (no shares)"
    } else {
        ""
    };
    format!(
        "{} of {}{why}",
        part_of_jobs(failing, of_these),
        quoted(names)
    )
}

/// What becomes of the jobs for which a formula fails.
fn consequence(errors: &EvaluationErrors, on_error: OnError, are_all: bool) -> String {
    let counts = if errors.jobs() == 1 {
        "counts"
    } else {
        "count"
    };
    let has = |consequence: Consequence| {
        errors
            .kinds()
            .any(|(_, error)| error.consequence == consequence)
    };
    match on_error {
        OnError::Null if errors.jobs() == 1 => "comes last".to_owned(),
        OnError::Null => "come last".to_owned(),
        _ if has(Consequence::Crash) => {
            format!("{counts} 0 here, and would crash OpenPBS's scheduler")
        }
        _ if has(Consequence::Unknown) => {
            format!("{counts} 0 here, and jsf cannot tell what OpenPBS's scheduler makes of it")
        }
        _ if are_all => {
            format!("{counts} 0, and OpenPBS's scheduler would crash at its next start")
        }
        _ => format!("{counts} 0"),
    }
}
