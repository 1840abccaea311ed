//! What can be wrong with a document, and what is merely odd.

use std::fmt;

use thiserror::Error;

use crate::fairshare::Shares;

use super::{MAX_ASSOCIATIONS, MAX_BYTES, MAX_NAME};

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
    #[error("`{source_name}` has a header but no association")]
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
    #[error("the row is of account `{account}` but stands below `{above}`; leading blanks say what is below what")]
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

/// Something odd that the tree could be read in spite of.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TreeWarning {
    /// Shares that Slurm takes as others.
    #[error("{place}: `{name}` has shares `{text}`, which Slurm takes as {}", shown(*.taken))]
    OddShares {
        /// Where.
        place: Place,
        /// The association.
        name: String,
        /// What is written.
        text: String,
        /// What Slurm makes of it.
        taken: Shares,
    },
    /// An association that is there already; this one is passed over.
    #[error("{place}: `{name}` in `{parent}` stands on {first} already, this one is passed over")]
    Duplicate {
        /// Where.
        place: Place,
        /// The association.
        name: String,
        /// Its parent.
        parent: String,
        /// Where it was first.
        first: Place,
    },
    /// Names that end in `+`.
    #[error("{place}: `{name}` was cut at the width of its column{}; `-P` prints names in full", others(*.count))]
    NameCut {
        /// Where the first is.
        place: Place,
        /// The first.
        name: String,
        /// How many there are.
        count: usize,
    },
    /// A line that `sacctmgr load` passes over.
    #[error("{place}: there is no ` - ` on the line, `sacctmgr load` passes over it")]
    Ignored {
        /// Where.
        place: Place,
    },
    /// A line longer than the buffer of `sacctmgr load`.
    #[error("{place}: the line is longer than 4095 bytes, `sacctmgr load` does not read it in one piece")]
    LongLine {
        /// Where.
        place: Place,
    },
    /// A name that may be stored in lower case.
    #[error("{place}: user `{name}` is stored in lower case unless slurmdbd has PreserveCaseUser")]
    UserCase {
        /// Where.
        place: Place,
        /// The user.
        name: String,
    },
    /// Rows of other clusters.
    #[error("{place}: cluster `{cluster}` is passed over, as {rows} rows are that are not of cluster `{read}`")]
    OtherCluster {
        /// Where the first such row is.
        place: Place,
        /// Its cluster.
        cluster: String,
        /// How many rows are passed over.
        rows: usize,
        /// The cluster that is read.
        read: String,
    },
    /// The top is not `root`.
    #[error("{place}: the top is `{name}`, not `root`; was the output filtered?")]
    TopIsNotRoot {
        /// Where.
        place: Place,
        /// The top.
        name: String,
    },
    /// No usage.
    #[error("there is no column `RawUsage`: all usage is 0")]
    NoUsage,
    /// No parents.
    #[error(
        "nothing says which account is in which, so all are put below the root: \
         use `sacctmgr -P show assoc tree`, or a format with `ParentName`"
    )]
    NoParents,
    /// An account with less usage than its members.
    #[error("{place}: account `{name}` has a usage of {usage}, less than the {below} of its members")]
    UsageBelowMembers {
        /// Where.
        place: Place,
        /// The account.
        name: String,
        /// Its usage.
        usage: f64,
        /// Its members'.
        below: f64,
    },
}

fn shown(shares: Shares) -> String {
    match shares {
        Shares::Count(count) => count.to_string(),
        Shares::Parent => "`parent`".to_owned(),
    }
}

fn others(count: usize) -> String {
    match count {
        0 | 1 => String::new(),
        2 => ", as was one other".to_owned(),
        more => format!(", as were {} others", more - 1),
    }
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
