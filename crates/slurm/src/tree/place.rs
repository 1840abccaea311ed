//! Places in documents with Slurm's associations (`sshare`, `sacctmgr`).

use std::fmt;

/// A place in a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A line, counted from 1.
    Line(usize),
    /// An entry of a JSON list, counted from 1.
    Entry(usize),
}

impl Place {
    /// A fault there that Slurm would neither write nor accept, in words that follow the name of the
    /// document.
    pub(super) fn fault(self, text: impl fmt::Display) -> String {
        format!(", {self}: {text}")
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(number) => write!(f, "line {number}"),
            Self::Entry(number) => write!(f, "entry {number}"),
        }
    }
}
