//! Why jobs have their places in the queue, for people and as JSON.

use std::borrow::Cow;

use job_sort_formula::diagnostic::Span;
use job_sort_formula::formula::program::Term;
use job_sort_formula::jobs::JobTable;
use job_sort_formula::python::Value;
use job_sort_formula::rank::SummandAgreement;
use job_sort_formula::rank::explain::{Influence, NodeValue, TermDifference};
use jsf_openpbs::check::Checked;
use jsf_openpbs::exchange_rates::ExchangeRate;
use jsf_site::{
    Cause, ExplainedInput, Explanation, Explanations, Neighbour, PolicyShares, RankReached,
    RankedQueue, Reached, Rounding, SmallestChange, Wait,
};
use serde::{Serialize, Serializer};

use crate::answer::Answer;
use crate::commands::explain::place_in_words::place_in_words;
use crate::commands::explain::view::{MAX_CODE, explain_document, part};
use crate::commands::rank::answer::{Error, excluded, logged};
use crate::commands::shares::answer::{NodeNumbers, PolicyView};
use crate::view::document::Document;
use crate::view::printable::excerpt;

/// The most jobs with the same error whose ids are listed.
const MAX_LISTED: usize = 10;

/// Explanations of jobs, ready to be written.
#[derive(Clone, Copy)]
pub struct ExplainReport<'a> {
    /// The formula's text.
    pub formula: &'a str,
    /// The ranked queue.
    pub queue: &'a RankedQueue,
    /// The explanations.
    pub explanations: &'a Explanations,
    /// The rules that the ranking follows: a heading and a text each.
    pub rules: &'a [(&'static str, String)],
    /// The result of checking the formula, for people.
    pub checked: Option<&'a Checked>,
    /// What each summand decides of the order.
    pub decides: &'a [SummandAgreement],
    /// Which running jobs would give way to the jobs, and to which jobs they would themselves.
    pub preemption: &'a [String],
}

impl Answer for ExplainReport<'_> {
    fn document(&self) -> Document<'_> {
        explain_document(*self)
    }
}

impl<'a> ExplainReport<'a> {
    pub(crate) fn table(&self) -> &'a JobTable {
        &self.queue.table
    }

    /// The number of jobs that the scheduler considers.
    pub(crate) fn considered(&self) -> usize {
        self.queue.ranking.order().len()
    }

    /// The value of a job; `None` if it is not evaluated.
    pub(crate) fn value(&self, row: usize) -> Option<f64> {
        self.queue.ranking.score(row).map(|score| score.value)
    }

    /// Why the scheduler does not consider a job: a keyword, and words.
    pub(crate) fn excluded(&self, job: &Explanation) -> Option<(&'static str, String)> {
        excluded(self.table(), job.row, job.rank, job.not_considered)
    }

    /// The ids of jobs.
    fn ids(&self, rows: impl Iterator<Item = usize>) -> Vec<&'a str> {
        rows.map(|row| self.table().id(row)).collect()
    }
}

/// The view of the path of a job in the fair-share tree.
pub(crate) fn path_view<'a>(
    shares: Option<&'a PolicyShares>,
    job: &'a Explanation,
) -> Option<PolicyView<'a>> {
    let shares = shares.filter(|_| !job.path.is_empty())?;
    Some(PolicyView::new(shares, &job.path))
}

impl Serialize for ExplainReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let jobs = self
            .explanations
            .jobs
            .iter()
            .map(|job| ExplainedJob::new(self, job))
            .collect();
        ExplainJson {
            formula: self.formula,
            jobs,
            decides: self.decides,
        }
        .serialize(serializer)
    }
}

#[derive(Serialize)]
struct ExplainJson<'a> {
    formula: &'a str,
    jobs: Vec<ExplainedJob<'a>>,
    decides: &'a [SummandAgreement],
}

/// An explanation with the names of jobs instead of their rows. A number that is not finite is
/// null.
#[derive(Serialize)]
struct ExplainedJob<'a> {
    id: &'a str,
    entity: &'a str,
    queue: &'a str,
    state: &'static str,
    rank: Option<usize>,
    considered: usize,
    excluded: Option<&'static str>,
    reason: Option<String>,
    score: Option<f64>,
    exact: Option<String>,
    logged: Option<String>,
    error: Option<Error>,
    same_error: Option<SameError<'a>>,
    sentence: String,
    inputs: &'a [ExplainedInput],
    nodes: Vec<Part<'a>>,
    terms: &'a [Term],
    influences: &'a [Influence],
    causes: &'a [Cause],
    shares: Vec<NodeNumbers<'a>>,
    above: Vec<NearJob<'a>>,
    below: Vec<NearJob<'a>>,
    changes: &'a [SmallestChange],
    exchange_rates: &'a [ExchangeRate],
    changes_unknown: &'a [Box<str>],
    is_complete: bool,
    /// Only if a rank is asked for.
    #[serde(flatten)]
    reached: Option<ReachedRank>,
}

#[derive(Serialize)]
struct SameError<'a> {
    count: usize,
    jobs: Vec<&'a str>,
}

/// A part of the formula.
#[derive(Serialize)]
struct Part<'a> {
    span: Span,
    text: Cow<'a, str>,
    value: &'a Value,
}

#[derive(Serialize)]
struct NearJob<'a> {
    id: &'a str,
    entity: &'a str,
    rank: usize,
    score: Option<f64>,
    exact: Option<String>,
    error: Option<Error>,
    terms: &'a [TermDifference],
    decided_by: Option<String>,
    reason: &'a str,
    rounding: Option<Rounding>,
}

#[derive(Serialize)]
struct ReachedRank {
    /// Null if waiting does not give the rank, or if nobody knows.
    to: Option<RankAt>,
    to_is_known: bool,
}

#[derive(Serialize)]
struct RankAt {
    rank: usize,
    #[serde(flatten)]
    at: Reached,
}

impl<'a> ExplainedJob<'a> {
    fn new(report: &ExplainReport<'a>, job: &'a Explanation) -> Self {
        let table = report.table();
        let (excluded, reason) = report.excluded(job).unzip();
        let exact = job.result.as_ref().and_then(|result| result.as_ref().ok());
        let error = job.result.as_ref().and_then(|result| result.as_ref().err());
        let listed = job.same_error.iter().copied().take(MAX_LISTED);
        let path = path_view(report.explanations.shares.as_ref(), job);
        let shares = path.map(|view| {
            view.nodes
                .iter()
                .map(|&node| NodeNumbers::new(&view, node, None))
                .collect()
        });
        Self {
            id: table.id(job.row),
            entity: table.entity(job.row),
            queue: table.queue(job.row),
            state: table.state(job.row).letter(),
            rank: job.rank,
            considered: report.considered(),
            excluded,
            reason,
            score: job.score,
            exact: exact.map(ToString::to_string),
            logged: job
                .score
                .map(|score| logged(score, report.queue.is_slurm_priority)),
            error: error.map(Error::new),
            same_error: error.map(|_| SameError {
                count: job.same_error.len(),
                jobs: report.ids(listed),
            }),
            sentence: place_in_words(report, job),
            inputs: &job.inputs,
            nodes: parts(report, job),
            terms: &job.terms,
            influences: &job.influences,
            causes: &job.causes,
            shares: shares.unwrap_or_default(),
            above: job
                .above
                .iter()
                .map(|near| NearJob::new(report, near))
                .collect(),
            below: job
                .below
                .iter()
                .map(|near| NearJob::new(report, near))
                .collect(),
            changes: &job.changes.found,
            exchange_rates: &job.rates,
            changes_unknown: &job.changes.unknown,
            is_complete: job.is_complete,
            reached: job.reached.map(ReachedRank::from),
        }
    }
}

/// The parts of the formula with their values.
fn parts<'a>(report: &ExplainReport<'a>, job: &'a Explanation) -> Vec<Part<'a>> {
    let part = |node: &'a NodeValue| Part {
        span: node.span,
        text: excerpt(part(report, node), MAX_CODE),
        value: &node.value,
    };
    job.nodes.iter().map(part).collect()
}

impl<'a> NearJob<'a> {
    fn new(report: &ExplainReport<'a>, near: &'a Neighbour) -> Self {
        let score = report.queue.ranking.score(near.row);
        let (exact, error) = match score.as_ref().map(|score| &score.unrounded) {
            Some(Ok(value)) => (Some(value.to_string()), None),
            Some(Err(error)) => (None, Some(Error::new(error))),
            None => (None, None),
        };
        Self {
            id: report.table().id(near.row),
            entity: report.table().entity(near.row),
            rank: near.rank,
            score: score.as_ref().map(|score| score.value),
            exact,
            error,
            terms: &near.differences,
            decided_by: near.decided_by.map(|criterion| criterion.to_string()),
            reason: &near.reason,
            rounding: near.rounding,
        }
    }
}

impl From<RankReached> for ReachedRank {
    fn from(RankReached { rank, wait, .. }: RankReached) -> Self {
        let to = match wait {
            Wait::Until(at) => Some(RankAt { rank, at }),
            Wait::Never | Wait::Unknown => None,
        };
        Self {
            to,
            to_is_known: wait != Wait::Unknown,
        }
    }
}
