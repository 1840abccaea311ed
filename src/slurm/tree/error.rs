//! The errors and warnings of the readers.

use std::fmt;

use thiserror::Error;

use crate::fairshare::Shares;
use crate::slurm::tree::{MAX_ASSOCIATIONS, MAX_BYTES, MAX_NAME};

/// A place in a document.
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

/// A document that cannot be read as a tree.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TreeReadError {
    /// It is empty.
    #[error("`{source_name}` is empty, expected {expected}")]
    Empty {
        /// The document's name.
        source_name: String,
        /// The formats that are read.
        expected: &'static str,
    },
    /// It is in none of the known formats.
    #[error("`{source_name}` is {found}, expected {expected}")]
    Unrecognised {
        /// The document's name.
        source_name: String,
        /// What it seems to be.
        found: String,
        /// The formats that are read.
        expected: &'static str,
    },
    /// The JSON is malformed.
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
    /// A line or entry that Slurm does not write, or rejects.
    #[error("`{source_name}`, {place}: {fault}")]
    Row {
        /// The document's name.
        source_name: String,
        /// The place.
        place: Place,
        /// What is wrong.
        fault: RowFault,
    },
    /// It has no associations.
    #[error("`{source_name}` has a header but no associations; was it cut off?")]
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
    #[error("it has {found} columns, expected {expected}; was it cut off?")]
    Cells {
        /// The number of columns in the line.
        found: usize,
        /// The number of columns in the header.
        expected: usize,
    },
    /// An account without a name.
    #[error("the account has no name")]
    NoName,
    /// An object of `sacctmgr load` without a name.
    #[error("there is no name in `{found}`, expected `{object} - 'name':key=value`")]
    NamelessObject {
        /// The object.
        object: String,
        /// The text after the object.
        found: String,
    },
    /// A name longer than [`MAX_NAME`].
    #[error("a name is longer than {MAX_NAME} bytes")]
    LongName,
    /// A second row without a parent.
    #[error("`{name}` is at the top level beside `{top}`; leading blanks give the level, were they removed?")]
    SecondTop {
        /// The account.
        name: String,
        /// The first account at the top level.
        top: String,
    },
    /// A user's row below another account.
    #[error(
        "the row is of account `{account}` but is {}; leading blanks give the level, were they removed?",
        below(above)
    )]
    Misplaced {
        /// The account that the row names.
        account: String,
        /// The account that the row is below.
        above: String,
    },
    /// Two names that are equal after they were cut.
    #[error("`{name}` was cut at the width of its column and is on {first} too; `-P` prints names in full")]
    EqualWhenCut {
        /// The cut name.
        name: String,
        /// The place of the other name.
        first: Place,
    },
    /// A parent that is not in the tree.
    #[error("`{name}` is in `{parent}`, which is not an account of the tree")]
    UnknownParent {
        /// The association.
        name: String,
        /// Its parent.
        parent: String,
    },
    /// A `Parent` line before the account's own.
    #[error("`{0}` is not an account on a line above, so it cannot be a parent")]
    UndeclaredParent(String),
    /// An account below itself.
    #[error("account `{0}` is below itself")]
    Cycle(String),
    /// Shares that `sacctmgr` rejects.
    #[error("the shares of `{name}` are `{text}`, which Slurm refuses; expected a whole number or `parent`")]
    Shares {
        /// The association.
        name: String,
        /// Its shares.
        text: String,
    },
    /// An association without shares.
    #[error("`{0}` has no shares; was the line cut off?")]
    NoShares(String),
    /// A usage that is not a number of at least 0.
    #[error("the usage of `{name}` is `{text}`, expected a number of at least 0")]
    Usage {
        /// The association.
        name: String,
        /// Its usage.
        text: String,
    },
    /// An unknown object of `sacctmgr load`.
    #[error("`{0}` is not an object of `sacctmgr load`, expected `Cluster`, `Parent`, `Account`, `User` or `QOS`")]
    UnknownObject(String),
    /// A quotation mark that is not closed.
    #[error("a quotation mark is not closed")]
    OpenQuote,
    /// A part of a line that is not an option.
    #[error("`{0}` is not an option, expected `key=value`")]
    NotAnOption(String),
    /// A second cluster.
    #[error("`{second}` is a second cluster after `{first}`; `sacctmgr load` takes one at a time")]
    SecondCluster {
        /// The first cluster.
        first: String,
        /// The second cluster.
        second: String,
    },
    /// An entry of another structure.
    #[error("{0}")]
    Entry(String),
}

fn below(account: &str) -> String {
    if account.is_empty() { "at the top level".to_owned() } else { format!("below `{account}`") }
}

/// The document's name, for errors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source<'a>(pub(super) &'a str);

impl Source<'_> {
    pub(super) fn name(self) -> String {
        self.0.to_owned()
    }

    pub(super) fn row_error(self, place: Place, fault: RowFault) -> TreeReadError {
        TreeReadError::Row { source_name: self.name(), place, fault }
    }
}

/// Something unusual in a document that could be read.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TreeWarning {
    /// Shares that Slurm stores as another number.
    #[error("{place}: `{name}` has shares `{text}`, which Slurm stores as {}", shown(*.stored))]
    ChangedShares {
        /// The place.
        place: Place,
        /// The association.
        name: String,
        /// The shares in the document.
        text: String,
        /// The shares that Slurm stores.
        stored: Shares,
    },
    /// A second row of an association, which is ignored.
    #[error("{place}: `{name}` in `{parent}` is on {first} already; this row is ignored")]
    Duplicate {
        /// The place.
        place: Place,
        /// The association.
        name: String,
        /// Its parent.
        parent: String,
        /// The place of the first row.
        first: Place,
    },
    /// A further association of a user in an account, for a partition that the document does not name.
    #[error(
        "{place}: `{name}` in `{account}` is on {first} already: a user has one association per partition, which only \
         `sshare -m` or a column `Partition` names; this one is called `{name}:{partition}`"
    )]
    UnnamedPartition {
        /// The place.
        place: Place,
        /// The user.
        name: String,
        /// The account.
        account: String,
        /// The place of the first association.
        first: Place,
        /// The name given to the partition.
        partition: String,
    },
    /// Names that end in `+`.
    #[error("{place}: `{name}` was cut at the width of its column{}; `-P` prints names in full", others(*.count))]
    NameCut {
        /// The place of the first such name.
        place: Place,
        /// The first such name.
        name: String,
        /// The number of such names.
        count: usize,
    },
    /// A line that `sacctmgr load` ignores.
    #[error("{place}: the line has no ` - `; `sacctmgr load` ignores it")]
    Ignored {
        /// The place.
        place: Place,
    },
    /// A line longer than the buffer of `sacctmgr load`.
    #[error("{place}: the line is longer than 4095 bytes; `sacctmgr load` splits it")]
    LongLine {
        /// The place.
        place: Place,
    },
    /// A last line without a line end.
    #[error("{place}: the last line has no line end; was the document cut off?")]
    NoLineEnd {
        /// The place.
        place: Place,
    },
    /// A name that may be stored in lower case.
    #[error("{place}: user `{name}` is stored in lower case unless slurmdbd has PreserveCaseUser")]
    UserCase {
        /// The place.
        place: Place,
        /// The user.
        name: String,
    },
    /// Rows of other clusters, which are ignored.
    #[error("{place}: cluster `{cluster}` is not read: {} not of cluster `{read}`", rows_are(*.rows))]
    OtherCluster {
        /// The place of the first such row.
        place: Place,
        /// Its cluster.
        cluster: String,
        /// The number of such rows.
        rows: usize,
        /// The cluster that is read.
        read: String,
    },
    /// The top account is not `root`.
    #[error("{place}: the top account is `{name}`, expected `root`; was the output filtered?")]
    TopIsNotRoot {
        /// The place.
        place: Place,
        /// The top account.
        name: String,
    },
    /// Normalised shares that differ from those of the rows.
    #[error(
        "rows are missing: the share of `{name}` in `{account}` is {printed:.6}, but {ours:.6} among the rows here \
         ({}), and the numbers of these are wrong; print all rows with `sshare -a -l -P`, as an operator where \
         `PrivateData` hides other users", differs(*.count)
    )]
    MissingRows {
        /// The first association whose shares differ.
        name: String,
        /// The account that it is in.
        account: String,
        /// The shares in the document.
        printed: f64,
        /// The shares among the rows of the document.
        ours: f64,
        /// The number of associations whose shares differ.
        count: usize,
    },
    /// A table without usage.
    #[error("there is no column `RawUsage`: every usage is 0")]
    NoUsage,
    /// A table without the parents of accounts.
    #[error(
        "the table does not give the parents of accounts, so all are put below the root: \
         use `sacctmgr -P show assoc tree`, or a format with `ParentName`"
    )]
    NoParents,
    /// An account with less usage than the sum of its members.
    #[error("{place}: account `{name}` has a usage of {usage}, less than the {below} of its members")]
    UsageBelowMembers {
        /// The place.
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

fn differs(count: usize) -> String {
    if count == 1 { "1 association differs".to_owned() } else { format!("{count} associations differ") }
}

fn others(count: usize) -> String {
    match count {
        0 | 1 => String::new(),
        2 => ", as was one other".to_owned(),
        more => format!(", as were {} others", more - 1),
    }
}

fn rows_are(count: usize) -> String {
    if count == 1 { "1 row is".to_owned() } else { format!("{count} rows are") }
}
