//! The file `sched_priv/resource_group`: one line `name cgroup parent shares` per group or entity.
//!
//! [`ResourceGroup::parse`] reads the file; [`write_groups`] writes a share tree as such a file, so that a site can move
//! to OpenPBS. The daemon reads the file in chunks of 255 bytes and counts each chunk as a line, requires parents before
//! children, and skips an invalid line. Recorded in `tests/golden/openpbs/pbsfs`, cases 13 and 30 to 51.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use job_sort_formula::diagnostic::is_control;
use job_sort_formula::fairshare::{NodeId, NodeKind, ShareTree, Shares};

use crate::c_number::{whole_int, whole_long};
use crate::c_string::{LineChunk, fgets_chunks, is_blank_or_comment, name_text};
use crate::files::unique_names::{UniqueNames, truncated};

/// The name of the root. As a parent, `root` in the file also means the root.
pub const TREE_ROOT: &str = "TREEROOT";
/// The name of the group of the entities that are not in the file. It exists before any line is read.
pub const UNKNOWN_GROUP: &str = "unknown";
/// The most skipped lines that are listed.
const MAX_REJECTED: usize = 100_000;
/// The most bytes that the daemon reads at once.
const CHUNK: usize = 255;
/// The longest name that is written, in bytes: two of them fit on a line that the daemon reads in one chunk.
const MAX_NAME: usize = 100;
/// The first cgroup that is written; the daemon reserves the numbers below.
const FIRST_CGROUP: i64 = 10;

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
    /// The valid lines with other shares than the file says, in file order.
    pub wrapped: Vec<WrappedShares>,
}

/// Shares beyond the 32 bits of a C `int`, in which the daemon keeps them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: the shares are beyond 32 bits, and the daemon takes {taken}")]
pub struct WrappedShares {
    /// The line in the file, from 1.
    pub line: usize,
    /// The shares that the daemon takes.
    pub taken: i32,
}

impl ResourceGroup {
    /// Reads the file. No file is invalid as a whole; the invalid lines are in [`rejected`](Self::rejected).
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
                        groups.wrapped.push(WrappedShares { line: line.line, taken: line.shares });
                    }
                    names.insert(line.name.clone());
                    groups.lines.push(line);
                }
                Err(_) if groups.rejected.len() == MAX_REJECTED => groups.not_listed += 1,
                Err(fault) => {
                    let LineChunk { offset, line, .. } = chunk;
                    groups.rejected.push(RejectedLine { line, daemon_line: index + 1, offset, fault });
                }
            }
        }
        groups
    }
}

/// The line, and the number of shares that it gives.
fn parse_line(chunk: LineChunk<'_>, names: &HashSet<String>) -> Result<(GroupLine, i64), LineFault> {
    let fields = chunk.text.split(|byte| matches!(byte, b' ' | b'\t')).filter(|field| !field.is_empty());
    let fields: Vec<&[u8]> = fields.take(4).collect();
    let [name, cgroup, parent, shares] = fields[..] else {
        return Err(LineFault::MissingField(["name", "cgroup", "parent", "shares"][fields.len()]));
    };
    let name = name_text(name);
    let parent = if parent == b"root" { TREE_ROOT.to_owned() } else { name_text(parent) };
    if names.contains(&name) {
        return Err(LineFault::DuplicateName(name));
    }
    if !names.contains(&parent) {
        return Err(LineFault::UnknownParent { name, parent });
    }
    let given = number("shares", shares, whole_long)?;
    let cgroup = number("cgroup", cgroup, whole_int)?;
    Ok((GroupLine { name, cgroup, parent, shares: given as i32, line: chunk.line }, given))
}

fn number<T>(field: &'static str, text: &[u8], read: fn(&[u8]) -> Option<T>) -> Result<T, LineFault> {
    read(text).ok_or_else(|| LineFault::NotANumber { field, text: name_text(text) })
}

/// A written file, and what it does not preserve.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WrittenGroups {
    /// The file.
    pub text: String,
    /// What is lost or changed.
    pub losses: Vec<GroupLoss>,
}

/// Something that a `resource_group` file does not preserve.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GroupLoss {
    /// `FairShare=parent`, which OpenPBS does not have.
    #[error(
        "`{name}` has the shares of its parent `{parent}`, which OpenPBS does not support: it gets 1 share, which changes \
         the fair share below `{parent}`; set the number that you want"
    )]
    SharesOfParent {
        /// The node.
        name: String,
        /// Its parent.
        parent: String,
    },
    /// A name that the file cannot contain, or already contains.
    #[error("`{name}` in `{parent}` is written as `{written}`, which is not the entity of any job")]
    Renamed {
        /// The name.
        name: String,
        /// The name of its parent.
        parent: String,
        /// What is written.
        written: String,
    },
    /// Shares beyond 32 bits.
    #[error("`{name}` has {shares} shares, of which the file can hold {written}")]
    Shares {
        /// The node.
        name: String,
        /// Its shares.
        shares: i64,
        /// What is written.
        written: i32,
    },
    /// Siblings whose shares overflow the daemon's sum.
    #[error("the children of `{0}` have more than 2147483647 shares in total, which overflows OpenPBS's sum")]
    SharesOverflow(String),
    /// The predefined group of the daemon.
    #[error("`unknown` is predefined in OpenPBS: set its {0} shares as `unknown_shares` in sched_config")]
    UnknownGroup(i64),
    /// The usage, which belongs in a file of its own.
    #[error("the usage of {} is not written: it belongs in the file `usage`", nodes(*.0))]
    Usage(usize),
}

fn nodes(count: usize) -> String {
    if count == 1 { "one node".to_owned() } else { format!("{count} nodes") }
}

/// Writes one line per node below the root, parents first.
///
/// ```
/// use job_sort_formula::fairshare::{Member, TreeBuilder};
/// use jsf_openpbs::files::resource_group::write_groups;
///
/// let mut builder = TreeBuilder::new("root");
/// let group = builder.add(builder.root(), Member::group("group1").shares(40))?;
/// builder.add(group, Member::entity("Bob").shares(50))?;
/// let written = write_groups(&builder.finish());
/// assert_eq!(written.text, "group1\t10\troot\t40\nBob\t11\tgroup1\t50\n");
/// # Ok::<(), job_sort_formula::fairshare::TreeError>(())
/// ```
pub fn write_groups(tree: &ShareTree) -> WrittenGroups {
    write_groups_with_cgroups(tree, |_| None)
}

/// Writes the file as [`write_groups`] does, with the given cgroups; the nodes without one get the next free numbers.
pub fn write_groups_with_cgroups(tree: &ShareTree, cgroup: impl Fn(NodeId) -> Option<i32>) -> WrittenGroups {
    let highest = tree.nodes().skip(1).filter_map(&cgroup).max().map_or(FIRST_CGROUP - 1, i64::from);
    let mut free_cgroups = (highest + 1).max(FIRST_CGROUP)..;
    let mut file = WrittenGroups::default();
    let names = names(tree, &mut file.losses);
    for node in tree.nodes().skip(1) {
        let cgroup = cgroup(node).map(i64::from).or_else(|| free_cgroups.next()).unwrap_or(FIRST_CGROUP);
        let parent = tree.parent(node).unwrap_or(tree.root());
        let shares = shares(tree, node, parent, &mut file.losses);
        if is_unknown_group(tree, node) {
            file.losses.push(GroupLoss::UnknownGroup(i64::from(shares)));
            continue;
        }
        // writing to a string cannot fail
        let _ = writeln!(file.text, "{}\t{cgroup}\t{}\t{shares}", names[&node], names[&parent]);
    }
    for node in tree.nodes() {
        let sum = tree.children(node).iter().map(|&child| i128::from(tree.shares(child).count())).sum::<i128>();
        if sum > i128::from(i32::MAX) {
            file.losses.push(GroupLoss::SharesOverflow(tree.name(node).to_owned()));
        }
    }
    let used = tree.nodes().filter(|&node| tree.own_usage(node) != 0.0).count();
    if used > 0 {
        file.losses.push(GroupLoss::Usage(used));
    }
    file
}

fn shares(tree: &ShareTree, node: NodeId, parent: NodeId, losses: &mut Vec<GroupLoss>) -> i32 {
    let name = tree.name(node).to_owned();
    match tree.shares(node) {
        Shares::Parent => {
            losses.push(GroupLoss::SharesOfParent { name, parent: tree.name(parent).to_owned() });
            1
        }
        Shares::Count(shares) => i32::try_from(shares).unwrap_or_else(|_| {
            let written = if shares < 0 { i32::MIN } else { i32::MAX };
            losses.push(GroupLoss::Shares { name, shares, written });
            written
        }),
    }
}

/// A unique name for every node.
fn names(tree: &ShareTree, losses: &mut Vec<GroupLoss>) -> HashMap<NodeId, String> {
    let mut taken = UniqueNames::new(MAX_NAME);
    for reserved in [TREE_ROOT, UNKNOWN_GROUP, "root"] {
        taken.take(reserved);
    }
    let mut has_root = false;
    let mut names = HashMap::from([(tree.root(), "root".to_owned())]);
    for node in tree.nodes().skip(1) {
        let given = tree.name(node);
        let parent = tree.parent(node).map_or(tree.name(tree.root()), |parent| tree.name(parent));
        // `root` means the root of the tree only as a parent
        let is_root = given == "root" && tree.children(node).is_empty() && !has_root;
        has_root |= is_root;
        let valid = valid_name(given);
        let is_free = is_root || is_unknown_group(tree, node) || taken.take(&valid);
        let name = if is_free { valid } else { taken.claim(&valid_name(&format!("{parent}/{given}"))) };
        if name != given {
            let parent = parent.to_owned();
            losses.push(GroupLoss::Renamed { name: given.to_owned(), parent, written: name.clone() });
        }
        names.insert(node, name);
    }
    names
}

/// The name with `_` for each character that would end it or make the line a comment.
fn valid_name(name: &str) -> String {
    let mut name = name.replace(|c: char| c.is_whitespace() || is_control(c), "_");
    if name.is_empty() || name.starts_with(['#', '*']) {
        name.replace_range(..name.len().min(1), "_");
    }
    truncated(&name, MAX_NAME).to_owned()
}

fn is_unknown_group(tree: &ShareTree, node: NodeId) -> bool {
    let is_top_level = tree.parent(node) == Some(tree.root());
    is_top_level && tree.kind(node) == NodeKind::Group && tree.name(node) == UNKNOWN_GROUP
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_sort_formula::fairshare::{Member, Naming, TreeBuilder};

    fn faults(text: &str) -> Vec<String> {
        ResourceGroup::parse(text.as_bytes()).rejected.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_invalid_line_is_reported_and_skipped() {
        let read = ResourceGroup::parse(b"# top\n\na 10 root 5\na 11 root 6\nb 12\nc x root 5\nd 13 a 2 extra\n");
        assert_eq!(read.lines.iter().map(|line| line.name.as_str()).collect::<Vec<_>>(), ["a", "d"]);
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
        let read = ResourceGroup::parse(b"a 10 root 4294967297\nb 11 root -1\nc 12 root 99999999999999999999\n");
        assert_eq!(read.lines.iter().map(|line| line.shares).collect::<Vec<_>>(), [1, -1, -1]);
        let wrapped: Vec<_> = read.wrapped.iter().map(ToString::to_string).collect();
        assert_eq!(
            wrapped,
            [
                "line 1: the shares are beyond 32 bits, and the daemon takes 1",
                "line 3: the shares are beyond 32 bits, and the daemon takes -1",
            ]
        );
    }

    #[test]
    fn a_parent_must_precede_its_children() {
        assert_eq!(faults("a 1 b 5\nb 2 a 5\n").len(), 2);
        assert_eq!(faults("a 1 a 5\n"), ["line 1: `a` has a parent `a` that no line above declares"]);
        assert_eq!(faults("x 13 Root 3\n").len(), 1);
        assert_eq!(faults("x 13 TREEROOT 3\ny 14 unknown 1\n").len(), 0);
    }

    #[test]
    fn faults_are_found_in_the_daemons_order() {
        assert_eq!(faults("a x nobody 5\n"), ["line 1: `a` has a parent `nobody` that no line above declares"]);
        assert_eq!(faults("unknown x nobody 5\n"), ["line 1: `unknown` is already in the tree"]);
        assert_eq!(faults("a x root y\n"), ["line 1: the shares `y` is not a whole number"]);
    }

    #[test]
    fn a_long_line_is_read_in_chunks() {
        let long = format!("{}b 10 root 5\nc 1 root q\n", "a".repeat(255));
        let read = ResourceGroup::parse(long.as_bytes());
        assert_eq!(read.lines[0].name, "b");
        assert_eq!(read.rejected.iter().map(|bad| (bad.line, bad.daemon_line)).collect::<Vec<_>>(), [(1, 1), (2, 3)]);
    }

    #[test]
    fn what_the_file_cannot_represent_is_changed_and_reported() {
        let mut builder = TreeBuilder::new("root").naming(Naming::PerGroup);
        let top = builder.root();
        let a = builder.add(top, Member::group("a").shares(3_000_000_000)).expect("a valid node");
        let b = builder.add(top, Member::group("#b b")).expect("a valid node");
        builder.add(top, Member::group("unknown").shares(9)).expect("a valid node");
        builder.add(top, Member::entity("root")).expect("a valid node");
        builder.add(a, Member::entity("ann").usage(5.0)).expect("a valid node");
        builder.add(b, Member::entity("ann").shares_of_parent()).expect("a valid node");
        let written = write_groups(&builder.finish());
        assert_eq!(
            written.text,
            "a\t10\troot\t2147483647\n_b_b\t11\troot\t1\nroot\t13\troot\t1\nann\t14\ta\t1\n#b_b/ann\t15\t_b_b\t1\n"
                .replace("#b_b", "_b_b")
        );
        let losses: Vec<String> = written.losses.iter().map(ToString::to_string).collect();
        assert_eq!(
            losses,
            [
                "`#b b` in `root` is written as `_b_b`, which is not the entity of any job",
                "`ann` in `#b b` is written as `_b_b/ann`, which is not the entity of any job",
                "`a` has 3000000000 shares, of which the file can hold 2147483647",
                "`unknown` is predefined in OpenPBS: set its 9 shares as `unknown_shares` in sched_config",
                "`ann` has the shares of its parent `#b b`, which OpenPBS does not support: it gets 1 share, which changes \
                 the fair share below `#b b`; set the number that you want",
                "the children of `root` have more than 2147483647 shares in total, which overflows OpenPBS's sum",
                "the usage of one node is not written: it belongs in the file `usage`",
            ]
        );
        let read = ResourceGroup::parse(written.text.as_bytes());
        assert_eq!((read.lines.len(), read.rejected), (5, Vec::new()));
    }
}
