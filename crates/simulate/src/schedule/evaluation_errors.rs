//! The jobs of a simulation for which the formula raised an error.

use std::collections::BTreeMap;

use job_sort_formula::diagnostic::Span;
use job_sort_formula::python::ErrorKind as PythonError;
use job_sort_formula::rank::{Consequence, ScoreError};

/// The jobs for which the formula raised an error, at whatever time.
#[derive(Debug, Clone, Default)]
pub struct EvaluationErrors {
    failed: Vec<bool>,
    jobs: usize,
    kinds: BTreeMap<&'static str, ErrorKind>,
    has_reached_limit: bool,
}

/// Errors of one kind.
#[derive(Debug, Clone)]
pub struct ErrorKind {
    /// The number of jobs whose first error is of this kind.
    pub jobs: usize,
    /// The first of these jobs.
    pub job: usize,
    /// Its error.
    pub message: String,
    /// What the scheduler of OpenPBS makes of it.
    pub consequence: Consequence,
    /// The part of the formula that failed; `None` where that cannot be told.
    pub span: Option<Span>,
}

impl EvaluationErrors {
    /// The number of jobs with an error.
    pub fn jobs(&self) -> usize {
        self.jobs
    }

    /// Whether the formula raised an error for a job.
    pub fn has_failed(&self, job: usize) -> bool {
        self.failed.get(job).copied().unwrap_or(false)
    }

    /// The errors by kind.
    pub fn kinds(&self) -> impl Iterator<Item = (&'static str, &ErrorKind)> + '_ {
        self.kinds.iter().map(|(name, kind)| (*name, kind))
    }

    /// Whether a limit of the evaluation was reached: other jobs, or fewer together, may not reach
    /// it.
    pub(crate) fn has_reached_limit(&self) -> bool {
        self.has_reached_limit
    }

    pub(crate) fn add(&mut self, job: u32, error: &ScoreError) {
        self.has_reached_limit |= error.kind() == PythonError::Limit;
        // the text of an error is made for the first job of its kind
        self.note(job, error.kind().description(), || ErrorKind {
            jobs: 0,
            job: job as usize,
            message: error.to_string(),
            consequence: error.consequence(),
            span: Some(error.span()),
        });
    }

    pub(crate) fn add_nan(&mut self, job: u32) {
        self.note(job, "not a number", || ErrorKind {
            jobs: 0,
            job: job as usize,
            message: "the value is not a number (nan)".to_owned(),
            consequence: Consequence::Zero,
            span: None,
        });
    }

    /// Notes an error of a job if it is its first one.
    fn note(&mut self, job: u32, kind: &'static str, first: impl FnOnce() -> ErrorKind) {
        let job = job as usize;
        if self.failed.len() <= job {
            self.failed.resize(job + 1, false);
        }
        if !std::mem::replace(&mut self.failed[job], true) {
            self.jobs += 1;
            self.kinds.entry(kind).or_insert_with(first).jobs += 1;
        }
    }
}
