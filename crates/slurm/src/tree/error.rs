//! The errors and warnings of the readers of Slurm's association trees (`sshare`, `sacctmgr`).

use std::fmt;

use job_sort_formula::fairshare::Shares;
use thiserror::Error;

use crate::tree::{EXPECTED, MAX_ASSOCIATIONS, MAX_BYTES, MAX_NAME};

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
#[derive(Debug, Clone, PartialEq, Error)]
#[error("`{source_name}`{fault}")]
pub struct TreeReadError {
    /// The document's name.
    pub source_name: String,
    /// What is wrong with it.
    pub fault: TreeFault,
}

/// What is wrong with a document; the text follows its name.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TreeFault {
    /// It is empty.
    #[error(" is empty, expected {EXPECTED}")]
    Empty,
    /// It is in none of the known formats; what it seems to be.
    #[error(" is {0}, expected {EXPECTED}")]
    Unrecognised(String),
    /// The JSON is malformed: what is wrong, and where.
    #[error(" is not valid JSON: {0}")]
    Json(String),
    /// A table lacks a column.
    #[error(" has no column `{column}`: {advice}")]
    NoColumn {
        /// The column.
        column: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// A line or entry that Slurm would neither write nor accept.
    #[error(", {0}: {1}")]
    Row(Place, RowFault),
    /// It has no associations.
    #[error(" contains no associations; was it cut off?")]
    NoRows,
    /// It is longer than [`MAX_BYTES`].
    #[error(" is longer than {MAX_BYTES} bytes")]
    TooLong,
    /// It has more than [`MAX_ASSOCIATIONS`].
    #[error(" has more than {MAX_ASSOCIATIONS} associations")]
    TooMany,
}

/// What is wrong with one line or entry.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RowFault {
    /// A line with more or fewer cells than the header.
    #[error("it has {found} cells, but the header has {expected}{}", cell_count_advice(*.found, *.expected))]
    CellCount {
        /// The number of cells in the line.
        found: usize,
        /// The number of cells in the header.
        expected: usize,
    },
    /// An account without a name.
    #[error("the account has no name")]
    NamelessAccount,
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
    #[error(
        "`{name}` is at the top level beside `{top}`; leading blanks give the level, were they removed?"
    )]
    SecondTop {
        /// The account.
        name: String,
        /// The first account at the top level.
        top: String,
    },
    /// A user's row that its indentation puts in another account than the one that it names.
    #[error(
        "the row is of account `{account}` but is {}; leading blanks give the level, were they removed?",
        nested_in(enclosing)
    )]
    Misplaced {
        /// The account that the row names.
        account: String,
        /// The account that the row is nested in; empty for a row at the top level.
        enclosing: String,
    },
    /// Two names that are equal after they were cut.
    #[error(
        "`{name}` was cut at the width of its column and is on {first_place} too; with `-P`, `sshare` and `sacctmgr` \
         print names in full"
    )]
    EqualWhenCut {
        /// The cut name.
        name: String,
        /// The place of the other name.
        first_place: Place,
    },
    /// A parent that no row of the document declares.
    #[error("`{name}` is in `{parent}`, which is not an account of the tree")]
    UnknownParent {
        /// The association.
        name: String,
        /// Its parent.
        parent: String,
    },
    /// A `Parent` line of an account that no line before it declares.
    #[error("`{0}` is not an account on a line above, so it cannot be a parent")]
    UndeclaredParent(String),
    /// An account nested in itself.
    #[error("account `{0}` is nested in itself")]
    Cycle(String),
    /// Shares that `sacctmgr` rejects.
    #[error(
        "the shares of `{name}` are `{text}`, which Slurm rejects; expected a whole number or `parent`"
    )]
    InvalidShares {
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
    InvalidUsage {
        /// The association.
        name: String,
        /// Its usage.
        text: String,
    },
    /// An unknown object of `sacctmgr load`.
    #[error(
        "`{0}` is not an object of `sacctmgr load`, expected `Cluster`, `Parent`, `Account`, `User` or `QOS`"
    )]
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
    /// A JSON entry that has another structure than an association of `sshare --json`.
    #[error("{0}")]
    MalformedEntry(String),
}

fn cell_count_advice(found: usize, expected: usize) -> &'static str {
    if found > expected {
        ": is there a `|` in a name?"
    } else {
        "; was it cut off?"
    }
}

fn nested_in(account: &str) -> String {
    if account.is_empty() {
        "at the top level".to_owned()
    } else {
        format!("nested in `{account}`")
    }
}

impl RowFault {
    pub(super) fn at(self, place: Place) -> TreeFault {
        TreeFault::Row(place, self)
    }
}

/// Something unusual in a document that could be read.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TreeWarning {
    /// Shares that Slurm stores as another value.
    #[error("{place}: `{name}` has shares `{text}`, which Slurm stores as {}", quoted_shares(*.stored))]
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
    #[error("{place}: `{name}` in `{parent}` is on {first_place} already; this row is ignored")]
    Duplicate {
        /// The place.
        place: Place,
        /// The association.
        name: String,
        /// Its parent.
        parent: String,
        /// The place of the first row.
        first_place: Place,
    },
    /// A further association of a user in an account, for a partition that the document does not
    /// name.
    #[error(
        "{place}: `{name}` in `{account}` is on {first_place} already: a user has one association per partition, and \
         only `sshare -m` or a column `Partition` gives the partition; this association is called `{name}:{partition}`"
    )]
    UnnamedPartition {
        /// The place.
        place: Place,
        /// The user.
        name: String,
        /// The account.
        account: String,
        /// The place of the first association.
        first_place: Place,
        /// The name given to the partition.
        partition: String,
    },
    /// Names that end in `+`.
    #[error(
        "{place}: `{name}` was cut at the width of its column{}; with `-P`, `sshare` and `sacctmgr` print names in full",
        other_cut_names(*.count)
    )]
    NameCut {
        /// The place of the first such name.
        place: Place,
        /// The first such name.
        name: String,
        /// The number of such names.
        count: usize,
    },
    /// A line without the separator `-`, which is ignored here, as `sacctmgr load` does.
    #[error("{place}: the line has no ` - `; `sacctmgr load` ignores it")]
    NoSeparator {
        /// The place.
        place: Place,
    },
    /// A line longer than the buffer of `sacctmgr load`, which is read as one line here.
    #[error(
        "{place}: the line is longer than 4095 bytes; it is read as one line, but `sacctmgr load` splits it"
    )]
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
    /// A user's name with a capital letter, which is kept here.
    #[error(
        "{place}: user `{name}` keeps its capital letters here, but slurmdbd stores the name in lower case unless it \
         has `PreserveCaseUser`"
    )]
    UpperCaseUser {
        /// The place.
        place: Place,
        /// The user.
        name: String,
    },
    /// Rows of other clusters, which are ignored.
    #[error("{place}: {}: only cluster `{read}` is read", ignored_rows(*.rows, cluster))]
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
    /// Normalised shares in the document that are less than those computed from its rows.
    #[error(
        "rows are missing: the normalised share of `{name}` in `{account}` is {printed_share:.6}, but \
         {computed_share:.6} among the rows here ({}), so the shares computed here are wrong; print all rows with \
         `sshare -a -l -P` (if `PrivateData` hides other users, run it as an operator)", differing_associations(*.count)
    )]
    MissingRows {
        /// The first association whose normalised share differs.
        name: String,
        /// The account that it is in.
        account: String,
        /// Its normalised share in the document.
        printed_share: f64,
        /// Its normalised share, computed from the rows of the document.
        computed_share: f64,
        /// The number of associations whose normalised share differs.
        count: usize,
    },
    /// A table without usage.
    #[error("there is no column `RawUsage`, so every usage is taken as 0")]
    NoUsage,
    /// A table without the parents of accounts.
    #[error(
        "the table does not give the parents of accounts, so all are put below the root: \
         use `sacctmgr -P show assoc tree`, or a format with `ParentName`"
    )]
    NoParents,
    /// An account with less usage than the sum of its members.
    #[error(
        "{place}: account `{name}` has a usage of {usage}, less than the {members_usage} of its members"
    )]
    UsageLessThanMembers {
        /// The place.
        place: Place,
        /// The account.
        name: String,
        /// Its usage.
        usage: f64,
        /// The sum of its members' usage.
        members_usage: f64,
    },
}

fn quoted_shares(shares: Shares) -> String {
    match shares {
        Shares::Count(count) => count.to_string(),
        Shares::Parent => "`parent`".to_owned(),
    }
}

fn differing_associations(count: usize) -> String {
    if count == 1 {
        "1 association differs".to_owned()
    } else {
        format!("{count} associations differ")
    }
}

fn other_cut_names(count: usize) -> String {
    match count {
        0 | 1 => String::new(),
        2 => ", as was one other".to_owned(),
        more => format!(", as were {} others", more - 1),
    }
}

fn ignored_rows(count: usize, first_cluster: &str) -> String {
    match count {
        1 => format!("1 row of cluster `{first_cluster}` is ignored"),
        count => format!(
            "{count} rows of other clusters are ignored, the first of cluster `{first_cluster}`"
        ),
    }
}
