//! What is odd in a document, and does not keep the tree from being read.

use thiserror::Error;

use crate::fairshare::Shares;
use crate::slurm::tree::Place;

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
    /// One more association of a user in an account, and nothing that says for which partition.
    #[error(
        "{place}: `{name}` in `{account}` stands on {first} already, so there is one for each of several partitions, \
         which only `sshare -m` or a column `Partition` tells apart: this one is called `{name}:{partition}`"
    )]
    UnnamedPartition {
        /// Where.
        place: Place,
        /// The user.
        name: String,
        /// The account.
        account: String,
        /// Where the first is.
        first: Place,
        /// What the partition is called for want of its name.
        partition: String,
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
    /// A last line without its end.
    #[error("{place}: the last line does not end, was the document cut off?")]
    NoLineEnd {
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
