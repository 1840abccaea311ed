//! Why jobs have their places in the queue, for people and as JSON.

use job_sort_formula::jobs::JobTable;
use jsf_openpbs::check::Checked;
use jsf_site::{
    Explanation, Explanations, Neighbour, PolicyShares, RankReached, RankedQueue, Wait,
};
use serde::{Serialize, Serializer};

use crate::answer::{Answer, object};
use crate::commands::explain::place_in_words::place_in_words;
use crate::commands::explain::view::{MAX_CODE, explain_document, part};
use crate::commands::rank::answer::{error_numbers, exact_or_error, excluded, logged};
use crate::commands::shares::answer::{PolicyView, node_numbers};
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
    /// Whether the last job is only described.
    pub is_last_described: bool,
    /// The result of checking the formula, for people.
    pub checked: Option<&'a Checked>,
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
}

/// The view of the path of a job in the fair-share tree.
pub(crate) fn path_view<'a>(
    shares: Option<&'a PolicyShares>,
    job: &'a Explanation,
) -> Option<PolicyView<'a>> {
    if job.path.is_empty() {
        return None;
    }
    Some(PolicyView::new(shares?, job.path.clone()))
}

impl Serialize for ExplainReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut jobs = Vec::new();
        for job in &self.explanations.jobs {
            jobs.push(explained_job(self, job));
        }
        object! { formula: self.formula, jobs, decides: self.queue.decides() }.serialize(serializer)
    }
}

/// An explanation with the names of jobs instead of their rows. A number that is not finite is
/// null.
fn explained_job<'a>(report: &'a ExplainReport<'a>, job: &'a Explanation) -> impl Serialize {
    let table = report.table();
    let (excluded, reason) = report.excluded(job).unzip();
    let (exact, error) = exact_or_error(job.result.as_ref().map(Result::as_ref));
    let mut same_error = Vec::new();
    for &row in job.same_error.iter().take(MAX_LISTED) {
        same_error.push(table.id(row));
    }
    let mut nodes = Vec::new();
    for node in &job.nodes {
        let text = excerpt(part(report, node), MAX_CODE);
        nodes.push(object! { span: node.span, text, value: &node.value });
    }
    let mut shares = Vec::new();
    if let Some(view) = path_view(report.explanations.shares.as_ref(), job) {
        for &node in &view.nodes {
            shares.push(node_numbers(&view, node));
        }
    }
    let is_slurm_priority = report.queue.is_slurm_priority;
    let [mut above, mut below] = [Vec::new(), Vec::new()];
    for near in &job.above {
        above.push(neighbour(report, near));
    }
    for near in &job.below {
        below.push(neighbour(report, near));
    }
    object! {
        id: table.id(job.row),
        entity: table.entity(job.row),
        queue: table.queue(job.row),
        state: table.state(job.row).letter(),
        rank: job.rank,
        considered: report.considered(),
        excluded,
        reason,
        score: job.score,
        exact,
        logged: job.score.map(|score| logged(score, is_slurm_priority)),
        error: error.map(error_numbers),
        same_error: error.map(|_| object! { count: job.same_error.len(), jobs: same_error }),
        sentence: place_in_words(report, job),
        inputs: &job.inputs,
        nodes,
        terms: &job.terms,
        influences: &job.influences,
        causes: &job.causes,
        shares,
        above,
        below,
        changes: &job.changes.found,
        exchange_rates: &job.rates,
        changes_unknown: &job.changes.unknown,
        is_complete: job.is_complete,
        #[serde(flatten)]
        reached: job.reached.map(reached),
    }
}

fn neighbour<'a>(report: &'a ExplainReport<'a>, near: &'a Neighbour) -> impl Serialize {
    let score = report.queue.ranking.score(near.row);
    let value = score.as_ref().map(|score| score.value);
    let (exact, error) = exact_or_error(score.map(|score| score.unrounded));
    object! {
        id: report.table().id(near.row),
        entity: report.table().entity(near.row),
        rank: near.rank,
        score: value,
        exact,
        error: error.map(error_numbers),
        terms: &near.differences,
        decided_by: near.decided_by.map(|criterion| criterion.to_string()),
        reason: &near.reason,
        rounding: near.rounding,
    }
}

/// When a job reaches a rank: null if waiting does not give the rank, or if nobody knows.
fn reached(RankReached { rank, wait, .. }: RankReached) -> impl Serialize {
    let to = match wait {
        Wait::Until(at) => Some(object! { rank, #[serde(flatten)] at }),
        Wait::Never | Wait::Unknown => None,
    };
    object! { to, to_is_known: wait != Wait::Unknown }
}
