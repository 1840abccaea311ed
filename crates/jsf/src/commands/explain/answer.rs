//! Why jobs have their places in the queue, for people and as JSON.

use job_sort_formula::jobs::JobTable;
use job_sort_formula::rank::SummandAgreement;
use jsf_openpbs::check::Checked;
use jsf_site::{Explanation, Explanations, PolicyName, PolicyShares, RankedQueue};

use crate::answer::Answer;
use crate::commands::explain::view::{DrawError, explain_document};
use crate::commands::rank::answer::excluded;
use crate::commands::shares::answer::PolicyView;
use crate::view::document::Document;

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
    /// The unit of fair-share usage.
    pub usage_unit: &'a str,
    /// Draws the error of a job under the formula.
    pub draw_error: DrawError<'a>,
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
pub(crate) fn path_view<'a>(shares: Option<&'a PolicyShares>, job: &'a Explanation) -> Option<PolicyView<'a>> {
    let shares = shares.filter(|_| !job.path.is_empty())?;
    Some(PolicyView {
        name: shares.policy.as_str(),
        tree: shares.assessed.tree(),
        shares: shares.assessed.shares(),
        is_pbs: shares.policy == PolicyName::Pbs,
        has_factors: shares.has_factors,
        nodes: &job.path,
        settings: None,
        assumed: None,
    })
}
