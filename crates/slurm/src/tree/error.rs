//! The errors and warnings of the readers of Slurm's association trees (`sshare`, `sacctmgr`).

use std::fmt;

use thiserror::Error;

use crate::tree::EXPECTED;

/// A place in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A line, counted from 1.
    Line(usize),
    /// An entry of a JSON list, counted from 1.
    Entry(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(number) => write!(f, "line {number}"),
            Self::Entry(number) => write!(f, "entry {number}"),
        }
    }
}

/// A document that cannot be read as a tree.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{source_name}`{fault}")]
pub struct TreeReadError {
    /// The document's name.
    pub source_name: String,
    /// What is wrong with it.
    pub fault: TreeFault,
}

/// What is wrong with a document.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text}")]
pub struct TreeFault {
    /// What follows the document's name.
    text: String,
    /// Whether the document is empty or in none of the known formats.
    pub is_unrecognised: bool,
}

impl TreeFault {
    /// A fault of the whole document, in words that follow its name.
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            is_unrecognised: false,
        }
    }

    /// A fault of a line or an entry that Slurm would neither write nor accept.
    pub(super) fn at(place: Place, text: impl fmt::Display) -> Self {
        Self::new(format!(", {place}: {text}"))
    }

    /// The document seems to be something else.
    pub(super) fn unrecognised(found: impl fmt::Display) -> Self {
        Self {
            text: format!(" is {found}, expected {EXPECTED}"),
            is_unrecognised: true,
        }
    }
}

/// Something unusual in a document that could be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text}")]
pub struct TreeWarning {
    /// What it is about.
    pub kind: TreeWarningKind,
    text: String,
}

/// What a warning about a document is about, as far as callers treat warnings differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeWarningKind {
    /// A second row of an association, which is ignored.
    Duplicate,
    /// Normalised shares in the document are less than those computed from its rows.
    MissingRows,
    /// Anything else.
    Other,
}

impl TreeWarning {
    pub(super) fn new(kind: TreeWarningKind, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
        }
    }
}

impl From<String> for TreeWarning {
    fn from(text: String) -> Self {
        Self::new(TreeWarningKind::Other, text)
    }
}
