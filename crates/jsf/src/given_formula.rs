//! The formula of a question: its text with the source, and as Python reads it.

use job_sort_formula::Formula;
use job_sort_formula::diagnostic::Diagnostic;
#[cfg(feature = "command")]
use job_sort_formula::diagnostic::Severity;
use jsf_lint::lint;
use jsf_openpbs::amounts::NumberMode;
use jsf_openpbs::submission::FormulaSubmission;
use jsf_site::{FormulaText, JobsToRank, Site, SiteError};

use crate::found::AnswerError;
#[cfg(feature = "command")]
use crate::view::document::DRAWING_WIDTH;
#[cfg(feature = "command")]
use crate::view::findings::{draw_finding, limit_each_code, more_findings};

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
                let findings = lint(formula.expr(), site.schema());
                AnswerError::NotArithmetic(Box::new(self.clone()), findings)
            }
            (error, _) => error.into(),
        }
    }

    /// Refuses a formula that is not arithmetic for the jobs that it is to rank.
    pub(crate) fn require_arithmetic(&self, read: &JobsToRank) -> Result<(), AnswerError> {
        if read.program.is_some() {
            return Ok(());
        }
        let findings = read.findings.clone();
        Err(AnswerError::NotArithmetic(Box::new(self.clone()), findings))
    }

    /// Findings on the parsed formula as findings on the submitted text.
    pub fn in_source(&self, findings: impl IntoIterator<Item = Diagnostic>) -> Vec<Diagnostic> {
        let mut placed = Vec::new();
        for found in findings {
            placed.push(self.submitted.in_source(found));
        }
        placed
    }

    /// Draws findings on the submitted text as a page shows them, without notes: of each code the
    /// first ten, then how many more there are.
    #[cfg(feature = "command")]
    pub(crate) fn drawn_on_page(&self, findings: &[Diagnostic]) -> Vec<String> {
        let findings = findings.iter();
        let (shown, others) = limit_each_code(findings.filter(|it| it.severity != Severity::Note));
        let width = Some(DRAWING_WIDTH);
        let mut drawn = Vec::new();
        for found in shown {
            drawn.push(draw_finding(&self.source, found, false, width));
        }
        for (code, count) in others {
            drawn.push(more_findings(count, code));
        }
        drawn
    }
}
