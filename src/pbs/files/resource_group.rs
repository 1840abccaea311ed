//! The file `sched_priv/resource_group`: one line `name cgroup parent shares` per group or entity.
//!
//! The daemon reads it in pieces of 255 bytes and counts each piece as a line, wants parents before children, skips
//! a line that it cannot use, and goes on. Recorded in `tests/golden/openpbs/pbsfs`, cases 13 and 30 to 51.

use std::collections::HashSet;

use crate::pbs::c_string::{Piece, is_blank_or_comment, name_text, pieces, whole_int};

/// The name of the tree's top. In the file, `root` means it too, as a parent.
pub const TREE_ROOT: &str = "TREEROOT";
/// The name of the group that takes the entities that no line speaks of. It is there before any line is read.
pub const UNKNOWN_GROUP: &str = "unknown";
/// The most bytes that the daemon reads at once.
const PIECE: usize = 255;

/// A line in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupLine {
    /// The name of the group or entity, unique in the file.
    pub name: String,
    /// The group's number: shown, and otherwise without meaning. It need not be unique.
    pub cgroup: i32,
    /// The parent's name; [`TREE_ROOT`] for the top.
    pub parent: String,
    /// The shares among the siblings. The daemon takes negative ones.
    pub shares: i32,
    /// The line in the file, from 1.
    pub line: usize,
}

/// A line that the daemon reports and skips.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct RejectedLine {
    /// The line in the file, from 1.
    pub line: usize,
    /// The line as the daemon counts, from 1: every 255 bytes of a longer line count as one.
    pub daemon_line: usize,
    /// Where the line (or piece of one) starts in the file, in bytes.
    pub offset: usize,
    /// What is wrong with it.
    pub fault: LineFault,
}

/// Why a line is of no use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineFault {
    /// Fewer than four fields.
    #[error("the {0} is missing: a line is `name cgroup parent shares`")]
    MissingField(&'static str),
    /// The cgroup or the shares are not a whole decimal number.
    #[error("the {field} `{text}` is not a whole number")]
    NotANumber {
        /// Which field.
        field: &'static str,
        /// What stands there.
        text: String,
    },
    /// The parent is on no line above.
    #[error("`{name}` has a parent `{parent}` that no line above names")]
    UnknownParent {
        /// The name on the line.
        name: String,
        /// The parent on the line.
        parent: String,
    },
    /// The name is on a line above, or is one of the two that are always there.
    #[error("`{0}` is in the tree already")]
    DuplicateName(String),
}

/// A `resource_group` file: the lines in force and the lines skipped.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResourceGroup {
    /// The lines in force, in file order: parents before children, every name once.
    pub lines: Vec<GroupLine>,
    /// The lines skipped, in file order.
    pub rejected: Vec<RejectedLine>,
}

impl ResourceGroup {
    /// Reads the file. No file is wrong as a whole; what could not be used is in [`rejected`](Self::rejected).
    pub fn parse(file: &[u8]) -> Self {
        let mut read = Self::default();
        let mut names = HashSet::from([TREE_ROOT.to_owned(), UNKNOWN_GROUP.to_owned()]);
        for (index, piece) in pieces(file, PIECE).enumerate() {
            if is_blank_or_comment(piece.text) {
                continue;
            }
            match parse_line(piece, &names) {
                Ok(line) => {
                    names.insert(line.name.clone());
                    read.lines.push(line);
                }
                Err(fault) => {
                    let Piece { offset, line, .. } = piece;
                    read.rejected.push(RejectedLine { line, daemon_line: index + 1, offset, fault });
                }
            }
        }
        read
    }
}

fn parse_line(piece: Piece<'_>, names: &HashSet<String>) -> Result<GroupLine, LineFault> {
    let mut fields = piece.text.split(|byte| matches!(byte, b' ' | b'\t')).filter(|field| !field.is_empty());
    let mut field = |what| fields.next().ok_or(LineFault::MissingField(what));
    let name = name_text(field("name")?);
    let (cgroup, parent, shares) = (field("cgroup")?, field("parent")?, field("shares")?);
    let parent = if parent == b"root" { TREE_ROOT.to_owned() } else { name_text(parent) };
    if names.contains(&name) {
        return Err(LineFault::DuplicateName(name));
    }
    if !names.contains(&parent) {
        return Err(LineFault::UnknownParent { name, parent });
    }
    let (shares, cgroup) = (number("shares", shares)?, number("cgroup", cgroup)?);
    Ok(GroupLine { name, cgroup, parent, shares, line: piece.line })
}

fn number(field: &'static str, text: &[u8]) -> Result<i32, LineFault> {
    whole_int(text).ok_or_else(|| LineFault::NotANumber { field, text: name_text(text) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<String> {
        ResourceGroup::parse(text.as_bytes()).rejected.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_bad_line_is_named_and_skipped() {
        let read = ResourceGroup::parse(b"# top\n\na 10 root 5\na 11 root 6\nb 12\nc x root 5\nd 13 a 2 extra\n");
        assert_eq!(read.lines.iter().map(|line| line.name.as_str()).collect::<Vec<_>>(), ["a", "d"]);
        let told: Vec<_> = read.rejected.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "line 4: `a` is in the tree already",
                "line 5: the parent is missing: a line is `name cgroup parent shares`",
                "line 6: the cgroup `x` is not a whole number",
            ]
        );
    }

    #[test]
    fn parents_come_first_so_a_cycle_cannot_be_written() {
        assert_eq!(faults("a 1 b 5\nb 2 a 5\n").len(), 2);
        assert_eq!(faults("a 1 a 5\n"), ["line 1: `a` has a parent `a` that no line above names"]);
        assert_eq!(faults("x 13 Root 3\n").len(), 1);
        assert_eq!(faults("x 13 TREEROOT 3\ny 14 unknown 1\n").len(), 0);
    }

    #[test]
    fn a_line_has_the_fault_that_the_daemon_meets_first() {
        assert_eq!(faults("a x nobody 5\n"), ["line 1: `a` has a parent `nobody` that no line above names"]);
        assert_eq!(faults("unknown x nobody 5\n"), ["line 1: `unknown` is in the tree already"]);
        assert_eq!(faults("a x root y\n"), ["line 1: the shares `y` is not a whole number"]);
    }

    #[test]
    fn a_long_line_is_read_in_pieces() {
        let long = format!("{}b 10 root 5\nc 1 root q\n", "a".repeat(255));
        let read = ResourceGroup::parse(long.as_bytes());
        assert_eq!(read.lines[0].name, "b");
        assert_eq!(read.rejected.iter().map(|bad| (bad.line, bad.daemon_line)).collect::<Vec<_>>(), [(1, 1), (2, 3)]);
    }
}
