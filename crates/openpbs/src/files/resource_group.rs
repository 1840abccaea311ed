//! The file `sched_priv/resource_group`: one line `name cgroup parent shares` per group or entity.
//!
//! The daemon reads the file in chunks of 255 bytes and counts each chunk as a line, requires
//! parents before children, and skips an invalid line. Recorded in `tests/golden/openpbs/pbsfs`,
//! cases 13 and 30 to 51.

use std::collections::HashSet;

use crate::c_text::{
    LineChunk, fgets_chunks, is_blank_or_comment, name_text, whole_int, whole_long,
};

/// The name of the root. As a parent, `root` in the file also means the root.
pub const TREE_ROOT: &str = "TREEROOT";
/// The name of the group of the entities that are not in the file. It exists before any line is
/// read.
pub const UNKNOWN_GROUP: &str = "unknown";
/// The most skipped lines that are listed.
const MAX_REJECTED: usize = 100_000;
/// The most bytes that the daemon reads at once.
const CHUNK: usize = 255;

/// A valid line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupLine {
    /// The name of the group or entity, unique in the file.
    pub name: String,
    /// The number of the group, which is only displayed. It need not be unique.
    pub cgroup: i32,
    /// The name of the parent; [`TREE_ROOT`] for the root.
    pub parent: String,
    /// The shares among the siblings. The daemon accepts negative ones.
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
    /// The offset of the line, or the chunk of one, in the file, in bytes.
    pub offset: usize,
    /// What is wrong with the line.
    pub fault: LineFault,
}

/// Why a line is invalid.
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
        /// Its text.
        text: String,
    },
    /// No line above declares the parent.
    #[error("`{name}` has a parent `{parent}` that no line above declares")]
    UnknownParent {
        /// The name on the line.
        name: String,
        /// The parent on the line.
        parent: String,
    },
    /// A line above declares the name, or it is one of the two predefined names.
    #[error("`{0}` is already in the tree")]
    DuplicateName(String),
}

/// A `resource_group` file: the valid lines and the skipped lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResourceGroup {
    /// The valid lines, in file order: parents before children, names unique.
    pub lines: Vec<GroupLine>,
    /// The skipped lines, in file order, at most the first 100,000.
    pub rejected: Vec<RejectedLine>,
    /// The number of the other skipped lines.
    pub not_listed: usize,
    /// What is said of the valid lines with shares beyond the 32 bits of a C `int`, in which the
    /// daemon keeps them, in file order.
    pub wrapped: Vec<String>,
}

impl ResourceGroup {
    /// Reads the file. No file is invalid as a whole; the invalid lines are in
    /// [`rejected`](Self::rejected).
    pub fn parse(file: &[u8]) -> Self {
        let mut groups = Self::default();
        let mut names = HashSet::from([TREE_ROOT.to_owned(), UNKNOWN_GROUP.to_owned()]);
        for (index, chunk) in fgets_chunks(file, CHUNK).enumerate() {
            if is_blank_or_comment(chunk.text) {
                continue;
            }
            match parse_line(chunk, &names) {
                Ok((line, given)) => {
                    if i64::from(line.shares) != given {
                        groups.wrapped.push(format!(
                            "line {}: the shares are beyond 32 bits, and the daemon takes {}",
                            line.line, line.shares
                        ));
                    }
                    names.insert(line.name.clone());
                    groups.lines.push(line);
                }
                Err(_) if groups.rejected.len() == MAX_REJECTED => groups.not_listed += 1,
                Err(fault) => groups.rejected.push(RejectedLine {
                    line: chunk.line,
                    daemon_line: index + 1,
                    offset: chunk.offset,
                    fault,
                }),
            }
        }
        groups
    }
}

/// The line, and the number of shares that it gives.
fn parse_line(
    chunk: LineChunk<'_>,
    names: &HashSet<String>,
) -> Result<(GroupLine, i64), LineFault> {
    let mut fields: Vec<&[u8]> = Vec::new();
    for field in chunk.text.split(|byte| matches!(byte, b' ' | b'\t')) {
        if !field.is_empty() && fields.len() < 4 {
            fields.push(field);
        }
    }
    let [name, cgroup, parent, shares] = fields[..] else {
        return Err(LineFault::MissingField(
            ["name", "cgroup", "parent", "shares"][fields.len()],
        ));
    };
    let name = name_text(name);
    let parent = if parent == b"root" {
        TREE_ROOT.to_owned()
    } else {
        name_text(parent)
    };
    if names.contains(&name) {
        return Err(LineFault::DuplicateName(name));
    }
    if !names.contains(&parent) {
        return Err(LineFault::UnknownParent { name, parent });
    }
    let given = number("shares", shares, whole_long)?;
    let cgroup = number("cgroup", cgroup, whole_int)?;
    Ok((
        GroupLine {
            name,
            cgroup,
            parent,
            shares: given as i32,
            line: chunk.line,
        },
        given,
    ))
}

fn number<T>(
    field: &'static str,
    text: &[u8],
    read: fn(&[u8]) -> Option<T>,
) -> Result<T, LineFault> {
    read(text).ok_or_else(|| LineFault::NotANumber {
        field,
        text: name_text(text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(text: &str) -> Vec<String> {
        ResourceGroup::parse(text.as_bytes())
            .rejected
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn an_invalid_line_is_reported_and_skipped() {
        let read = ResourceGroup::parse(
            b"# top\n\na 10 root 5\na 11 root 6\nb 12\nc x root 5\nd 13 a 2 extra\n",
        );
        assert_eq!(
            read.lines
                .iter()
                .map(|line| line.name.as_str())
                .collect::<Vec<_>>(),
            ["a", "d"]
        );
        let faults: Vec<_> = read.rejected.iter().map(ToString::to_string).collect();
        assert_eq!(
            faults,
            [
                "line 4: `a` is already in the tree",
                "line 5: the parent is missing: a line is `name cgroup parent shares`",
                "line 6: the cgroup `x` is not a whole number",
            ]
        );
    }

    #[test]
    fn shares_beyond_32_bits_wrap_as_in_the_daemon() {
        let read = ResourceGroup::parse(
            b"a 10 root 4294967297\nb 11 root -1\nc 12 root 99999999999999999999\n",
        );
        assert_eq!(
            read.lines
                .iter()
                .map(|line| line.shares)
                .collect::<Vec<_>>(),
            [1, -1, -1]
        );
        assert_eq!(
            read.wrapped,
            [
                "line 1: the shares are beyond 32 bits, and the daemon takes 1",
                "line 3: the shares are beyond 32 bits, and the daemon takes -1",
            ]
        );
    }

    #[test]
    fn a_parent_must_precede_its_children() {
        assert_eq!(faults("a 1 b 5\nb 2 a 5\n").len(), 2);
        assert_eq!(
            faults("a 1 a 5\n"),
            ["line 1: `a` has a parent `a` that no line above declares"]
        );
        assert_eq!(faults("x 13 Root 3\n").len(), 1);
        assert_eq!(faults("x 13 TREEROOT 3\ny 14 unknown 1\n").len(), 0);
    }

    #[test]
    fn faults_are_found_in_the_daemons_order() {
        assert_eq!(
            faults("a x nobody 5\n"),
            ["line 1: `a` has a parent `nobody` that no line above declares"]
        );
        assert_eq!(
            faults("unknown x nobody 5\n"),
            ["line 1: `unknown` is already in the tree"]
        );
        assert_eq!(
            faults("a x root y\n"),
            ["line 1: the shares `y` is not a whole number"]
        );
    }

    #[test]
    fn a_long_line_is_read_in_chunks() {
        let long = format!("{}b 10 root 5\nc 1 root q\n", "a".repeat(255));
        let read = ResourceGroup::parse(long.as_bytes());
        assert_eq!(read.lines[0].name, "b");
        assert_eq!(
            read.rejected
                .iter()
                .map(|bad| (bad.line, bad.daemon_line))
                .collect::<Vec<_>>(),
            [(1, 1), (2, 3)]
        );
    }
}
