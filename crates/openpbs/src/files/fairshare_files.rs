//! The files of which the daemon makes its fair-share tree.
//!
//! The files are `sched_priv/resource_group`, one line `name cgroup parent shares` per group or
//! entity, and `sched_priv/usage`, what every entity has used, binary and little-endian. The daemon
//! reads `resource_group` in chunks of 255 bytes and counts each chunk as a line, requires parents
//! before children, and skips an invalid line. Recorded in `tests/golden/openpbs/pbsfs`, cases 13
//! and 30 to 51.
//!
//! Version 2 of `usage` is a header (`char tag[9]` = `PBS_MAG!`, 7 bytes of padding, `double` 2.0),
//! the `int64` time of the last decay, and records of 64 bytes (`char name[50]`, 6 of padding,
//! `double`). Version 1 has no header and records of 24 bytes (`char name[9]`, 7 of padding,
//! `double`). The daemon reads a file without the tag as version 1. It silently ignores a file of
//! another version, a file whose last decay is too old, an invalid record and a truncated last
//! record; here each of these is a [`UsageFault`]. Recorded there, cases 20 and 60 to 89; what no
//! case shows (old decay times, the characters of a name, long names in version 1, an infinite
//! usage) follows OpenPBS's published sources: a usage counts if it is at least 0, which an
//! infinite one is and NaN is not.

use std::collections::HashMap;

use job_sort_formula::fairshare::tree_document::{TreeDocument, TreeNode, UsageRecord};
use job_sort_formula::fairshare::{NodeKind, Shares};

use crate::c_text::{
    LineChunk, c_string, fgets_chunks, is_blank_or_comment, name_text, whole_int, whole_long,
};

/// The cgroup of the group `unknown`.
pub(crate) const UNKNOWN_CGROUP: i32 = 1;
/// The name of the root. As a parent, `root` in the file also means the root.
pub const TREE_ROOT: &str = "TREEROOT";
/// The name of the group of the entities that are not in the file. It exists before any line is
/// read.
pub const UNKNOWN_GROUP: &str = "unknown";
/// The most skipped lines that are listed.
const MAX_REJECTED: usize = 100_000;
/// The most bytes that the daemon reads at once.
const CHUNK: usize = 255;

/// A line that the daemon reports and skips.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {fault}")]
pub struct RejectedLine {
    /// The line in the file, from 1.
    pub line: usize,
    /// The line as the daemon counts, from 1: every 255 bytes of a longer line count as one.
    pub daemon_line: usize,
    fault: String,
    /// Whether a line above declares the name, or it is one of the two predefined names.
    pub is_repeated: bool,
    /// What `pbsfs` prints of it beside the number of the line.
    pub printed: Vec<u8>,
}

/// A `resource_group` file: the nodes of its valid lines, and the skipped lines.
#[derive(Debug, Clone, PartialEq)]
pub struct ResourceGroup {
    /// The group `unknown`, which may be a parent, then the nodes of the valid lines, in file order:
    /// parents before children, names unique. Those that a later line names as parents are groups.
    /// The daemon accepts negative shares.
    pub nodes: Vec<TreeNode>,
    /// The skipped lines, in file order, at most the first 100,000.
    pub rejected: Vec<RejectedLine>,
    /// The number of the other skipped lines.
    pub not_listed: usize,
    /// What is said of the valid lines with shares that are negative or beyond the 32 bits of a C
    /// `int`, in which the daemon keeps them, in file order.
    pub remarks: Vec<String>,
}

impl ResourceGroup {
    /// Reads the file. No file is invalid as a whole; the invalid lines are in
    /// [`rejected`](Self::rejected).
    pub fn parse(file: &[u8]) -> Self {
        let unknown = TreeNode {
            kind: NodeKind::Group,
            ..entity(UNKNOWN_GROUP, UNKNOWN_CGROUP, None, 0)
        };
        let mut groups = Self {
            nodes: vec![unknown],
            rejected: Vec::new(),
            not_listed: 0,
            remarks: Vec::new(),
        };
        let root = (TREE_ROOT.to_owned(), None);
        let mut indices = HashMap::from([root, (UNKNOWN_GROUP.to_owned(), Some(0))]);
        for (index, chunk) in fgets_chunks(file, CHUNK).enumerate() {
            if is_blank_or_comment(chunk.text) {
                continue;
            }
            match parse_line(chunk, index + 1, &indices) {
                Ok((node, given)) => {
                    groups.remarks.extend(remark(chunk.line, &node, given));
                    if let Some(parent) = node.parent {
                        groups.nodes[parent].kind = NodeKind::Group;
                    }
                    indices.insert(node.name.clone(), Some(groups.nodes.len()));
                    groups.nodes.push(node);
                }
                Err(_) if groups.rejected.len() == MAX_REJECTED => groups.not_listed += 1,
                Err(rejected) => groups.rejected.push(rejected),
            }
        }
        groups
    }
}

/// What is said of a number of shares.
fn remark(line: usize, node: &TreeNode, given: i64) -> Option<String> {
    let (name, shares) = (&node.name, node.shares.count());
    if shares != given {
        Some(format!(
            "line {line}: the shares are beyond 32 bits, and the daemon takes {shares}"
        ))
    } else if shares < 0 {
        Some(format!(
            "line {line}: `{name}` has {shares} shares: the daemon accepts that, and the shares of its siblings change with it"
        ))
    } else {
        None
    }
}

/// The node of a line, and the number of shares that it gives. `indices` are those of the nodes by
/// their names; the root has none.
fn parse_line(
    chunk: LineChunk<'_>,
    daemon_line: usize,
    indices: &HashMap<String, Option<usize>>,
) -> Result<(TreeNode, i64), RejectedLine> {
    let rejected = |fault| RejectedLine {
        line: chunk.line,
        daemon_line,
        fault,
        is_repeated: false,
        // of these faults the daemon prints two, beside the number of the line
        printed: Vec::new(),
    };
    let mut fields: Vec<&[u8]> = Vec::new();
    for field in chunk.text.split(|byte| matches!(byte, b' ' | b'\t')) {
        // the daemon calls `strtok` four times, so that it ignores what follows
        if !field.is_empty() && fields.len() < 4 {
            fields.push(field);
        }
    }
    let [own_name, cgroup, parent, shares] = fields[..] else {
        let missing = ["name", "cgroup", "parent", "shares"][fields.len()];
        return Err(rejected(format!(
            "the {missing} is missing: a line is `name cgroup parent shares`"
        )));
    };
    let name = name_text(own_name);
    let parent = if parent == b"root" {
        TREE_ROOT.to_owned()
    } else {
        name_text(parent)
    };
    if indices.contains_key(&name) {
        return Err(RejectedLine {
            is_repeated: true,
            printed: [b"entity ", own_name, b" is not unique\n"].concat(),
            ..rejected(format!("`{name}` is already in the tree"))
        });
    }
    let Some(&parent) = indices.get(&parent) else {
        let fault = format!("`{name}` has a parent `{parent}` that no line above declares");
        return Err(RejectedLine {
            printed: [b"Parent ginfo of ", own_name, b" doesnt exist.\n"].concat(),
            ..rejected(fault)
        });
    };
    let given = whole_long(shares).ok_or_else(|| rejected(not_whole("shares", shares)))?;
    let cgroup = whole_int(cgroup).ok_or_else(|| rejected(not_whole("cgroup", cgroup)))?;
    // the daemon stores the `long` of `strtol` in an `int`
    Ok((entity(&name, cgroup, parent, given as i32), given))
}

fn not_whole(field: &str, text: &[u8]) -> String {
    format!("the {field} `{}` is not a whole number", name_text(text))
}

/// The daemon ignores a file whose last decay is at this time or earlier, except at 0: 1 January
/// 2000 in Los Angeles, in Unix seconds.
const EARLIEST_DECAY: i64 = 946_713_600;

const TAG: &[u8; 9] = b"PBS_MAG!\0";
const HEADER: usize = 24;
const FIRST_RECORD: usize = HEADER + 8;

/// The bytes of a record in version 1, with names of at most 8 bytes, though longer ones extend into
/// the padding.
const RECORD_V1: usize = 24;
/// The bytes of a record in version 2.
const RECORD_V2: usize = 64;
/// The bytes of a name in version 2, with the NUL that ends it.
const NAME_V2: usize = 50;

/// Something in the file that the daemon silently ignores.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{text}")]
pub struct UsageFault {
    text: String,
    /// Whether it is a record with a usage that is negative or not a number.
    pub is_of_usage: bool,
}

impl From<String> for UsageFault {
    fn from(text: String) -> Self {
        Self {
            text,
            is_of_usage: false,
        }
    }
}

/// A usage file: the valid records, and what is ignored.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UsageFile {
    /// The valid records, in file order: a usage is in units of `fairshare_usage_res`, at least 0,
    /// possibly infinite. If an entity has several, the last one counts, but its groups sum all.
    pub records: Vec<UsageRecord>,
    /// What is said of the records with a usage that no job can have caused, but with which the
    /// daemon computes, in file order.
    pub implausible: Vec<String>,
    /// What is ignored, in file order.
    pub faults: Vec<UsageFault>,
}

impl UsageFile {
    /// Parses a whole file, as far as the daemon reads it.
    pub fn parse(file: &[u8]) -> Self {
        let mut read = Self::default();
        if let Err(fault) = read.read(file) {
            read.faults.push(fault);
        }
        read
    }

    /// Reads the records, unless the daemon ignores the whole file.
    fn read(&mut self, file: &[u8]) -> Result<(), UsageFault> {
        let length = file.len();
        let too_short = format!("the file ends at byte {length}, before its first record");
        let Some((header, rest)) = file.split_first_chunk::<HEADER>() else {
            return Err(too_short.into());
        };
        if !header.starts_with(TAG) {
            self.read_records(file, 0, RECORD_V1);
            return Ok(());
        }
        let version = last_double(header).unwrap_or_default();
        if version != 2.0 {
            let fault = format!("byte 16: version {version} is not known, nothing was read");
            return Err(fault.into());
        }
        let Some(time) = rest.first_chunk::<8>() else {
            return Err(too_short.into());
        };
        let time = i64::from_le_bytes(*time);
        if time != 0 && time <= EARLIEST_DECAY {
            let fault =
                format!("byte 24: the time {time} of the last decay is too old, nothing was read");
            return Err(fault.into());
        }
        self.read_records(file, FIRST_RECORD, RECORD_V2);
        Ok(())
    }

    fn read_records(&mut self, file: &[u8], first: usize, size: usize) {
        let mut sum = 0.0;
        for (index, record) in file[first..].chunks(size).enumerate() {
            let offset = first + index * size;
            match parse_record(record, offset, size) {
                Ok(record) => {
                    if let Some(what) = implausible(&record, sum) {
                        self.implausible.push(format!("byte {offset}: {what}"));
                    }
                    sum += record.usage;
                    self.records.push(record);
                }
                Err(fault) => self.faults.push(fault),
            }
        }
    }
}

/// What is said of a usage that no job can have caused, but with which the daemon computes; `sum` is
/// that of the records before.
fn implausible(UsageRecord { entity, usage }: &UsageRecord, sum: f64) -> Option<String> {
    if usage.is_infinite() || sum.is_finite() && (sum + usage).is_infinite() {
        Some(format!(
            "with the usage {usage:e} of `{entity}` the sum of all usage is infinite, and the scheduler computes with it: \
             fair-share numbers become 0 or not a number"
        ))
    } else if usage.is_subnormal() {
        Some(format!(
            "the usage {usage:e} of `{entity}` is smaller than any that a job causes, as in a damaged file or one of \
             another byte order; the scheduler computes with it"
        ))
    } else {
        None
    }
}

fn parse_record(record: &[u8], offset: usize, size: usize) -> Result<UsageRecord, UsageFault> {
    let Some(usage) = last_double(record).filter(|_| record.len() == size) else {
        let bytes = record.len();
        let fault = format!("byte {offset}: the last record has only {bytes} bytes and is ignored");
        return Err(fault.into());
    };
    // in version 1 the daemon searches for the NUL beyond the field, through the padding and the
    // number
    let field = &record[..if size == RECORD_V2 { NAME_V2 } else { size }];
    let name = c_string(field);
    let entity = name_text(name);
    // `is_valid_pbs_name` refuses a name without a NUL
    if name.len() == field.len() || !name.iter().all(|&byte| is_name_byte(byte)) {
        let fault = format!("byte {offset}: `{entity}` is not a name, the record is ignored");
        return Err(fault.into());
    }
    if usage >= 0.0 {
        return Ok(UsageRecord { entity, usage });
    }
    let at = offset + size - 8;
    Err(UsageFault {
        text: format!(
            "byte {at}: the usage {usage} of `{entity}` is not a number of at least 0, the record is ignored"
        ),
        is_of_usage: true,
    })
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b".-_ :".contains(&byte)
}

fn last_double(bytes: &[u8]) -> Option<f64> {
    Some(f64::from_le_bytes(*bytes.last_chunk::<8>()?))
}

impl ResourceGroup {
    /// The tree, with the records of the usage file and the shares of the group `unknown`, see
    /// `SchedConfig::unknown_shares`.
    pub fn document(&self, usage: Option<&UsageFile>, unknown_shares: i32) -> TreeDocument {
        TreeDocument {
            root: TREE_ROOT.to_owned(),
            unknown_shares: Some(unknown_shares.into()),
            nodes: self.nodes.clone(),
            records: usage.map_or_else(Vec::new, |usage| usage.records.clone()),
            ..TreeDocument::default()
        }
    }
}

fn entity(name: &str, cgroup: i32, parent: Option<usize>, shares: i32) -> TreeNode {
    TreeNode {
        kind: NodeKind::Entity,
        name: name.to_owned(),
        parent,
        partition: None,
        shares: Shares::Count(shares.into()),
        usage: None,
        cgroup: Some(cgroup),
    }
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
            read.nodes
                .iter()
                .map(|node| node.name.as_str())
                .collect::<Vec<_>>(),
            ["unknown", "a", "d"]
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
            read.nodes
                .iter()
                .map(|node| node.shares.count())
                .collect::<Vec<_>>(),
            [0, 1, -1, -1]
        );
        assert_eq!(
            read.remarks,
            [
                "line 1: the shares are beyond 32 bits, and the daemon takes 1",
                "line 2: `b` has -1 shares: the daemon accepts that, and the shares of its siblings change with it",
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
        assert_eq!(read.nodes[1].name, "b");
        assert_eq!(
            read.rejected
                .iter()
                .map(|bad| (bad.line, bad.daemon_line))
                .collect::<Vec<_>>(),
            [(1, 1), (2, 3)]
        );
    }

    fn v2(records: &[(&[u8], f64)]) -> Vec<u8> {
        let mut file = [
            &TAG[..],
            &[0; 7],
            &2f64.to_le_bytes(),
            &1_700_000_000i64.to_le_bytes(),
        ]
        .concat();
        for (name, usage) in records {
            let mut field = name.to_vec();
            field.resize(56, 0);
            file.extend([&field[..], &usage.to_le_bytes()].concat());
        }
        file
    }

    fn usage_faults(file: &[u8]) -> Vec<String> {
        UsageFile::parse(file)
            .faults
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn a_fault_names_its_byte() {
        let long = [b'n'; 50];
        let mut file = v2(&[
            (b"Bob", 1.5),
            (b"Cathy", f64::NAN),
            (&long, 2.0),
            (b"\xff", 3.0),
            (b"Suzy", -1.0),
            (b"Tom", f64::INFINITY),
        ]);
        file.extend(b"Scott");
        let read = UsageFile::parse(&file);
        assert_eq!(
            read.records,
            [record("Bob", 1.5), record("Tom", f64::INFINITY)]
        );
        assert_eq!(
            usage_faults(&file),
            [
                "byte 152: the usage NaN of `Cathy` is not a number of at least 0, the record is ignored".to_owned(),
                format!("byte 160: `{}` is not a name, the record is ignored", "n".repeat(50)),
                "byte 224: `\\xff` is not a name, the record is ignored".to_owned(),
                "byte 344: the usage -1 of `Suzy` is not a number of at least 0, the record is ignored".to_owned(),
                "byte 416: the last record has only 5 bytes and is ignored".to_owned(),
            ]
        );
    }

    fn record(entity: &str, usage: f64) -> UsageRecord {
        UsageRecord {
            entity: entity.into(),
            usage,
        }
    }

    fn implausible(usages: &[(&[u8], f64)]) -> Vec<String> {
        let read = UsageFile::parse(&v2(usages));
        assert_eq!((read.records.len(), &*read.faults), (usages.len(), &[][..]));
        read.implausible
    }

    #[test]
    fn a_usage_that_no_job_causes_is_named() {
        assert!(implausible(&[(b"a", 0.0), (b"b", 1e308), (b"c", f64::MIN_POSITIVE)]).is_empty());
        let named = implausible(&[
            (b"a", f64::INFINITY),
            (b"b", f64::MAX),
            (b"c", 5e-324),
            (b"d", f64::INFINITY),
        ]);
        let starts = [
            "byte 32: with the usage inf of `a`",
            "byte 160: the usage 5e-324 of `c`",
            "byte 224: with the usage inf of `d`",
        ];
        assert_eq!(named.len(), starts.len());
        assert!(
            named
                .iter()
                .zip(starts)
                .all(|(message, start)| message.starts_with(start)),
            "{named:?}"
        );
        let sum = implausible(&[(b"a", 1e308), (b"b", 1e308), (b"c", 1e308)]);
        assert!(
            matches!(&*sum, [only] if only.starts_with("byte 96: with the usage 1e308 of `b` the sum")),
            "{sum:?}"
        );
    }

    #[test]
    fn a_file_without_the_tag_has_version_1() {
        let mut file = v2(&[]);
        file[..9].copy_from_slice(b"alice.b-c");
        let read = UsageFile::parse(&file);
        assert_eq!(read.records, [record("alice.b-c", 2.0)]);
        assert_eq!(
            usage_faults(&file),
            ["byte 24: the last record has only 8 bytes and is ignored"]
        );
        file[8] = b'!';
        assert_eq!(
            usage_faults(&file)[0],
            "byte 0: `alice.b-!` is not a name, the record is ignored"
        );
        assert_eq!(
            usage_faults(&[b'n'; 24]),
            [format!(
                "byte 0: `{}` is not a name, the record is ignored",
                "n".repeat(24)
            )]
        );
    }

    #[test]
    fn invalid_headers() {
        assert_eq!(
            usage_faults(b"PBS_MAG!\0\0"),
            ["the file ends at byte 10, before its first record"]
        );
        assert_eq!(
            usage_faults(&v2(&[])[..24]),
            ["the file ends at byte 24, before its first record"]
        );
        let mut file = v2(&[(b"Bob", 5.0)]);
        file[16..24].copy_from_slice(&3f64.to_le_bytes());
        assert_eq!(
            usage_faults(&file),
            ["byte 16: version 3 is not known, nothing was read"]
        );
    }

    #[test]
    fn an_old_decay() {
        let mut file = v2(&[(b"Bob", 5.0)]);
        for (time, records) in [
            (0, 1),
            (EARLIEST_DECAY + 1, 1),
            (i64::MAX, 1),
            (EARLIEST_DECAY, 0),
            (1, 0),
            (-1, 0),
        ] {
            file[24..32].copy_from_slice(&i64::to_le_bytes(time));
            let read = UsageFile::parse(&file);
            assert_eq!(
                (read.records.len(), read.faults.len()),
                (records, 1 - records),
                "{time}"
            );
        }
        assert_eq!(
            usage_faults(&file),
            ["byte 24: the time -1 of the last decay is too old, nothing was read"]
        );
    }
}
