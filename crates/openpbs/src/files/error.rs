//! Why a document of OpenPBS cannot be read.

use thiserror::Error;

/// A document that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{source_name}`{fault}")]
pub struct DocumentError {
    /// Its name.
    pub source_name: String,
    /// What is wrong with it; the text follows its name.
    pub fault: String,
}

impl DocumentError {
    pub(super) fn new(source_name: &str, fault: String) -> Self {
        Self {
            source_name: source_name.to_owned(),
            fault,
        }
    }

    /// A document that is invalid JSON: what is wrong, and where.
    pub(super) fn json(source_name: &str, reason: &str) -> Self {
        Self::new(source_name, format!(" is not valid JSON: {reason}"))
    }
}
