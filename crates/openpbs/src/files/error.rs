//! Why a document of OpenPBS cannot be read.

use thiserror::Error;

/// A document that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{source_name}`{fault}")]
pub struct DocumentError {
    /// Its name.
    pub source_name: String,
    /// What is wrong with it.
    pub fault: DocumentFault,
}

/// What is wrong with a document; the text follows its name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DocumentFault {
    /// It is invalid JSON: what is wrong, and where.
    #[error(" is not valid JSON: {0}")]
    Json(String),
    /// It is invalid JSON, and an attribute that counts is damaged.
    #[error(" is not valid JSON, and line {line} cannot be read: `{text}`")]
    DamagedLine {
        /// The line, from 1.
        line: usize,
        /// What it contains.
        text: String,
    },
    /// It contains no node.
    #[error(
        " contains no node, expected `pbsnodes -av` as text or JSON, or `qmgr -c 'print node @default'`"
    )]
    NoNode,
    /// An amount of a node is not a number.
    #[error(": the node `{node}` has the amount `{found}` of {resource}, expected a whole number")]
    Amount {
        /// The node.
        node: String,
        /// The resource.
        resource: String,
        /// What was found.
        found: String,
    },
    /// The priority of a queue is not a whole number.
    #[error(": the `Priority` of queue `{queue}` is {found}, expected a whole number")]
    Priority {
        /// The queue.
        queue: String,
        /// What was found.
        found: String,
    },
    /// A reservation with nodes does not say when it starts and ends.
    #[error(": the reservation `{id}` has no `{attribute}` that is a time")]
    Time {
        /// The reservation.
        id: String,
        /// `reserve_start` or `reserve_end`.
        attribute: &'static str,
    },
}

impl DocumentFault {
    /// The error of the document of this name.
    pub(super) fn of(self, source_name: &str) -> DocumentError {
        DocumentError {
            source_name: source_name.to_owned(),
            fault: self,
        }
    }
}
