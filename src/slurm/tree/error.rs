//! What can be wrong with a document.

use std::fmt;

use thiserror::Error;

use crate::slurm::tree::{MAX_ASSOCIATIONS, MAX_BYTES, MAX_NAME};

/// Where in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A line, from 1.
    Line(usize),
    /// An entry of a JSON list, from 1.
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

/// A document that no tree can be read from.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TreeReadError {
    /// There is nothing in it.
    #[error("`{source_name}` is empty, expected {expected}")]
    Empty {
        /// The document's name.
        source_name: String,
        /// The formats that are read.
        expected: &'static str,
    },
    /// It has none of the formats.
    #[error("`{source_name}` is {found}, expected {expected}")]
    Unrecognised {
        /// The document's name.
        source_name: String,
        /// What it looks like.
        found: String,
        /// The formats that are read.
        expected: &'static str,
    },
    /// It is broken JSON.
    #[error("`{source_name}` is not valid JSON: {reason}")]
    Json {
        /// The document's name.
        source_name: String,
        /// What is wrong, and where.
        reason: String,
    },
    /// A table lacks a column.
    #[error("`{source_name}` has no column `{column}`: {advice}")]
    NoColumn {
        /// The document's name.
        source_name: String,
        /// The column.
        column: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// A line or entry that Slurm could not have written, or would stop at.
    #[error("`{source_name}`, {place}: {fault}")]
    Row {
        /// The document's name.
        source_name: String,
        /// Where.
        place: Place,
        /// What is wrong.
        fault: RowFault,
    },
    /// It has no association.
    #[error("`{source_name}` has a header but no association, was it cut off?")]
    NoRows {
        /// The document's name.
        source_name: String,
    },
    /// It is longer than [`MAX_BYTES`].
    #[error("`{source_name}` is longer than {MAX_BYTES} bytes")]
    TooLong {
        /// The document's name.
        source_name: String,
    },
    /// It has more than [`MAX_ASSOCIATIONS`].
    #[error("`{source_name}` has more than {MAX_ASSOCIATIONS} associations")]
    TooMany {
        /// The document's name.
        source_name: String,
    },
}

/// What is wrong with one line or entry.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RowFault {
    /// Too few or too many cells.
    #[error("it has {found} of {expected} columns, was it cut off?")]
    Cells {
        /// How many it has.
        found: usize,
        /// How many the header has.
        expected: usize,
    },
    /// No account's name.
    #[error("the account has no name")]
    NoName,
    /// No name behind an object of `sacctmgr load`.
    #[error("there is no name in `{found}`, expected `{object} - 'name':key=value`")]
    NamelessObject {
        /// The object.
        object: String,
        /// What stands behind it.
        found: String,
    },
    /// A name longer than [`MAX_NAME`].
    #[error("a name is longer than {MAX_NAME} bytes")]
    LongName,
    /// A second row without a parent.
    #[error("`{name}` stands at the top beside `{top}`; leading blanks say what is below what, were they lost?")]
    SecondTop {
        /// The account.
        name: String,
        /// The account that is the top already.
        top: String,
    },
    /// A user's row below another account's.
    #[error(
        "the row is of account `{account}` but stands {}; leading blanks say what is below what, were they lost?",
        below(above)
    )]
    Misplaced {
        /// The account that the row names.
        account: String,
        /// The account whose rows it is among.
        above: String,
    },
    /// Two names that were cut to the same.
    #[error("`{name}` was cut at the width of its column and stands on {first} too; `-P` prints names in full")]
    CutAlike {
        /// What is left of the name.
        name: String,
        /// Where it is too.
        first: Place,
    },
    /// A parent that is nowhere.
    #[error("`{name}` is in `{parent}`, which is no account of the tree")]
    UnknownParent {
        /// The association.
        name: String,
        /// Its parent.
        parent: String,
    },
    /// A `Parent` line before the account's own.
    #[error("`{0}` must be an account on a line above before it can be a parent")]
    ParentNotYet(String),
    /// An account below itself.
    #[error("account `{0}` is below itself")]
    Cycle(String),
    /// Shares that `sacctmgr` refuses.
    #[error("the shares of `{name}` are `{text}`, which Slurm refuses; they are a whole number or `parent`")]
    Shares {
        /// The association.
        name: String,
        /// Its shares.
        text: String,
    },
    /// No shares at all.
    #[error("`{0}` has no shares, was the line cut off?")]
    NoShares(String),
    /// A usage that is none.
    #[error("the usage of `{name}` is `{text}`, expected a number of at least 0")]
    Usage {
        /// The association.
        name: String,
        /// Its usage.
        text: String,
    },
    /// An object that `sacctmgr load` does not know.
    #[error("`{0}` is not an object of `sacctmgr load`: `Cluster`, `Parent`, `Account`, `User` or `QOS`")]
    UnknownObject(String),
    /// A quotation mark without its other half.
    #[error("a quotation mark is not closed")]
    OpenQuote,
    /// An option that is none.
    #[error("`{0}` is not an option, expected `key=value`")]
    NotAnOption(String),
    /// A second cluster.
    #[error("`{second}` is a second cluster beside `{first}`, `sacctmgr load` takes one at a time")]
    SecondCluster {
        /// The first.
        first: String,
        /// The second.
        second: String,
    },
    /// An entry of another form.
    #[error("{0}")]
    Entry(String),
}

fn below(account: &str) -> String {
    if account.is_empty() { "at the top".to_owned() } else { format!("below `{account}`") }
}

/// The document's name, from which errors are made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a>(pub(super) &'a str);

impl Source<'_> {
    pub(super) fn name(self) -> String {
        self.0.to_owned()
    }

    pub(super) fn at(self, place: Place, fault: RowFault) -> TreeReadError {
        TreeReadError::Row { source_name: self.name(), place, fault }
    }
}
