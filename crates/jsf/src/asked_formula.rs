//! The formula that a question is about: what Python reads of its text, what is found about it, and
//! the errors of one that cannot be ranked.

use std::collections::HashSet;

use job_sort_formula::diagnostic::Severity;
use job_sort_formula::{Diagnostic, Formula, Schema};
use jsf_lint::lint;
use jsf_openpbs::{FormulaSubmission, NumberMode};
use jsf_site::{FormulaText, JobsToRank, RankedQueue, Site, SiteError};

use crate::answers::{AnswerError, Warnings};

/// A formula that was given, or that is in force.
#[derive(Debug, Clone)]
pub struct AskedFormula {
    /// The text, and where it comes from.
    pub source: FormulaText,
    /// What Python reads.
    pub submitted: FormulaSubmission,
}

impl AskedFormula {
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
        self.submitted.formula().map_err(|refusal| {
            AnswerError::Syntax(Box::new(self.source.clone()), refusal.finding.clone())
        })
    }

    /// The findings about the text of the formula and its names.
    pub(crate) fn lint(&self, schema: &Schema) -> Vec<Diagnostic> {
        match self.submitted.formula() {
            Ok(formula) => lint(formula.expr(), schema),
            Err(_) => Vec::new(),
        }
    }

    /// The same findings in the submitted text, for the names of a ranked queue.
    pub(crate) fn findings_in(&self, queue: &RankedQueue) -> Vec<Diagnostic> {
        self.submitted.in_source(self.lint(&queue.schema))
    }

    /// The error of a site, with all findings about a formula that is not arithmetic there.
    pub(crate) fn refused(&self, error: SiteError, site: &Site) -> AnswerError {
        match error {
            SiteError::NotArithmetic => self.unusable(self.lint(site.schema())),
            error => error.into(),
        }
    }

    /// Keeps the findings that may be why the formula cannot be ranked, such as a misspelled name.
    pub(crate) fn suspect(&self, mut findings: Vec<Diagnostic>, warnings: &mut Warnings) {
        // a name that is misspelled in several places is said once
        let mut said = HashSet::new();
        findings.retain(|found| {
            found.severity != Severity::Note && said.insert((found.code, found.message.clone()))
        });
        let findings = self.submitted.in_source(findings);
        warnings.suspected = Some((self.source.clone(), findings));
    }

    pub(crate) fn unusable(&self, findings: Vec<Diagnostic>) -> AnswerError {
        let findings = self.submitted.in_source(findings);
        AnswerError::Unusable(Box::new(self.source.clone()), findings)
    }

    /// Refuses a formula that is not arithmetic for the jobs that it is to rank.
    pub(crate) fn require_arithmetic(&self, read: &JobsToRank) -> Result<(), AnswerError> {
        match read.program {
            Some(_) => Ok(()),
            None => Err(self.unusable(self.lint(&read.jobs.schema))),
        }
    }
}
