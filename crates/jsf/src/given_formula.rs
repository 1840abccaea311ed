//! The formula of a question: its text with the source, and as Python reads it.

use job_sort_formula::Formula;
use job_sort_formula::diagnostic::Diagnostic;
use jsf_lint::lint;
use jsf_openpbs::amounts::NumberMode;
use jsf_openpbs::submission::FormulaSubmission;
use jsf_site::{FormulaText, JobsToRank, Site, SiteError};

use crate::answer_error::AnswerError;

/// A formula that was given, or that is in force.
#[derive(Debug, Clone)]
pub struct GivenFormula {
    /// The text, and where it comes from.
    pub source: FormulaText,
    /// What Python reads.
    pub submitted: FormulaSubmission,
}

impl GivenFormula {
    /// The formula of a source.
    pub fn new(source: FormulaText, numbers: NumberMode) -> Self {
        Self {
            submitted: source.submitted(numbers),
            source,
        }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.source.text
    }

    /// The formula.
    ///
    /// # Errors
    /// The text does not parse.
    pub fn parsed(&self) -> Result<&Formula, AnswerError> {
        let refused = |finding| AnswerError::Syntax(Box::new(self.source.clone()), finding);
        let parsed = self.submitted.formula();
        parsed.map_err(|refusal| refused(refusal.finding.clone()))
    }

    /// The error of a site, with all findings about a formula that is not arithmetic there.
    pub(crate) fn refused(&self, error: SiteError, site: &Site) -> AnswerError {
        match (error, self.submitted.formula()) {
            (SiteError::NotArithmetic, Ok(formula)) => {
                self.unusable(lint(formula.expr(), site.schema()))
            }
            (error, _) => error.into(),
        }
    }

    pub(crate) fn unusable(&self, findings: Vec<Diagnostic>) -> AnswerError {
        AnswerError::Unusable(Box::new(self.source.clone()), self.in_source(findings))
    }

    /// Refuses a formula that is not arithmetic for the jobs that it is to rank.
    pub(crate) fn require_arithmetic(&self, read: &JobsToRank) -> Result<(), AnswerError> {
        if read.program.is_some() {
            return Ok(());
        }
        Err(self.unusable(read.findings.clone()))
    }

    /// Findings on the parsed formula as findings on the submitted text.
    pub fn in_source(&self, findings: impl IntoIterator<Item = Diagnostic>) -> Vec<Diagnostic> {
        let mut placed = Vec::new();
        for found in findings {
            placed.push(self.submitted.in_source(found));
        }
        placed
    }
}
