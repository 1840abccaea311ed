//! Why a question about a site has no answer.

use job_sort_formula::diagnostic::{Diagnostic, Message};
use jsf_site::{FormulaText, SiteError};

/// Why a question has no answer.
#[derive(Debug)]
pub enum AnswerError {
    /// It does not say what is asked, or asks for something that there is not.
    Question(Message),
    /// The files of the site cannot be used, or something is missing.
    Site(SiteError),
    /// The text of a formula does not parse.
    Syntax(Box<FormulaText>, Box<Diagnostic>),
    /// A formula is Python but not arithmetic, or has another error with which it cannot work, and
    /// what is found about it.
    Unusable(Box<FormulaText>, Vec<Diagnostic>),
    /// The caller wanted an end.
    Interrupted,
}

impl From<SiteError> for AnswerError {
    fn from(error: SiteError) -> Self {
        Self::Site(error)
    }
}

impl From<serde_json::Error> for AnswerError {
    fn from(error: serde_json::Error) -> Self {
        Self::question(error.to_string())
    }
}

impl AnswerError {
    /// A question that has no answer, and why.
    pub(crate) fn question(why: impl Into<Message>) -> Self {
        Self::Question(why.into())
    }
}
