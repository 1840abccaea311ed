//! The daemon's fair-share tree: the shares and usage of its nodes, their order, and the comparison
//! of two entities, which `pbsfs -c` prints and the scheduler orders jobs by; and the files of
//! which the daemon makes it.
//!
//! In: a [`TreeDocument`], which [`ResourceGroup::document`] makes of the files of `sched_priv`, and
//! the entities of the jobs. Out: a [`PbsTree`]. The comparison is held to recordings in
//! `tests/golden/openpbs`: every `pbsfs -c` of `pbsfs/cases.jsonl`, and the orders under
//! `fair_share` of `evaluate/orders.jsonl`.
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

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use crate::c_text::{
    LineChunk, c_string, fgets_chunks, is_blank_or_comment, name_text, whole_int, whole_long,
};
use job_sort_formula::fairshare::decay::IntervalDecay;
use job_sort_formula::fairshare::policy::PolicyRules;
use job_sort_formula::fairshare::policy::documented_openpbs::DocumentedOpenPbs;
use job_sort_formula::fairshare::policy::openpbs::OpenPbs;
use job_sort_formula::fairshare::tree_document::{TreeDocument, TreeNode, UsageRecord};
use job_sort_formula::fairshare::{
    AssessedTree, EntityShares, FairShare, Member, NodeId, NodeKind, Policy, ShareTable, ShareTree,
    Shares, TreeBuilder, TreeError,
};

/// The daemon's tree and the shares of its nodes.
#[derive(Debug, Clone)]
pub struct PbsTree {
    /// The tree with its shares.
    pub assessed: AssessedTree,
    cgroups: Vec<i32>,
    /// The group of the entities that are not in `resource_group`.
    pub unknown: NodeId,
}

impl PbsTree {
    /// The tree. Children are in the order of `resource_group`; the daemon keeps and shows them in
    /// reverse.
    pub fn tree(&self) -> &ShareTree {
        self.assessed.tree()
    }

    /// Whether nothing has run yet: the usage of every node is 1, as without a file `usage`.
    pub fn is_unused(&self) -> bool {
        let tree = self.tree();
        tree.nodes().all(|node| tree.usage(node) == 1.0)
    }

    /// The shares of every node at full precision; the formula gets them
    /// [printed with six decimals](crate::amounts::printed_fairshare).
    pub fn shares(&self) -> &ShareTable {
        self.assessed.shares()
    }

    /// The tree without the shares of its nodes.
    pub fn into_tree(self) -> ShareTree {
        self.assessed.into_tree()
    }

    /// Replaces the usage by that of `tree`, which must have the same nodes, and computes the
    /// shares again by `policy`.
    pub fn with_usage_of(self, tree: ShareTree, policy: &dyn Policy) -> Self {
        Self {
            assessed: AssessedTree::new(tree, policy),
            ..self
        }
    }

    /// The id that `pbsfs` shows for a node (OpenPBS's `cgroup`, not a control group of the
    /// kernel): that of its line in `resource_group`, or 0 for the root, 1 for `unknown` and -1 for
    /// an entity that only the jobs or the usage name.
    pub fn cgroup(&self, node: NodeId) -> i32 {
        self.cgroups[node.index()]
    }

    /// Every node in the daemon's order: a group before its children, siblings in reverse order of
    /// `resource_group`.
    pub fn daemon_order(&self) -> impl Iterator<Item = NodeId> + '_ {
        let mut waiting = vec![self.tree().root()];
        std::iter::from_fn(move || {
            let node = waiting.pop()?;
            waiting.extend_from_slice(self.tree().children(node));
            Some(node)
        })
    }

    /// Compares two nodes as `pbsfs -c` does. `Less` means that `left` has the higher priority,
    /// that is, less usage for its percentage.
    pub fn compare(&self, left: NodeId, right: NodeId) -> Ordering {
        self.path(left).compare(&self.path(right))
    }

    /// The path to a node.
    pub(super) fn path(&self, node: NodeId) -> SharePath {
        SharePath::from_root(self.tree(), node, |node| {
            let shares = self.shares().get(node);
            let perc = shares.map_or(0.0, |shares| shares.fairshare_perc);
            (perc, self.tree().usage(node))
        })
    }
}

impl FairShare for PbsTree {
    fn shares_of(&self, entity: &str) -> Option<EntityShares> {
        self.shares().get(self.tree().find(entity)?)
    }
}

/// The paths of entities, by their indices; those beyond the list are equal to all others.
#[derive(Debug, Clone, Default)]
pub struct SharePaths(pub Vec<SharePath>);

impl SharePaths {
    /// Compares two entities: `Less` sorts first.
    pub fn compare(&self, left: usize, right: usize) -> Ordering {
        match (self.0.get(left), self.0.get(right)) {
            (Some(left), Some(right)) => left.compare(right),
            _ => Ordering::Equal,
        }
    }

    /// Charges usage to an entity and the groups above it. Returns whether that can change the
    /// order.
    pub fn charge(&mut self, entity: usize, usage: f64) -> bool {
        if usage == 0.0 {
            return false;
        }
        let Some(charged) = self.0.get(entity).cloned() else {
            return false;
        };
        for path in &mut self.0 {
            path.charge(&charged, usage);
        }
        true
    }
}

/// The nodes from just below the root down to an entity, each with its percentage and its usage.
#[derive(Debug, Clone, Default)]
pub struct SharePath(Vec<Step>);

#[derive(Debug, Clone, Copy)]
struct Step {
    node: NodeId,
    perc: f64,
    usage: f64,
}

impl SharePath {
    /// The path to a node of a tree. `numbers` are the percentage and the usage of a node.
    pub fn from_root(
        tree: &ShareTree,
        node: NodeId,
        numbers: impl Fn(NodeId) -> (f64, f64),
    ) -> Self {
        let mut steps = Vec::new();
        let mut next = Some(node);
        while let Some(node) = next
            && node != tree.root()
        {
            let (perc, usage) = numbers(node);
            steps.push(Step { node, perc, usage });
            next = tree.parent(node);
        }
        steps.reverse();
        Self(steps)
    }

    /// Adds usage to the nodes that this path has in common with another one.
    fn charge(&mut self, other: &Self, usage: f64) {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            if own.node != other.node {
                break;
            }
            own.usage += usage;
        }
    }

    /// `Less` sorts first. From the root downwards, the first pair of different nodes that does not
    /// tie decides. A pair whose percentages are both 0 or less ends the comparison as a tie. If no
    /// pair decides before the shorter path ends, the paths are equal, so a group ties with all its
    /// descendants.
    fn compare(&self, other: &Self) -> Ordering {
        for (left, right) in self.0.iter().zip(&other.0) {
            if left.node == right.node {
                continue;
            }
            let order = match (left.perc <= 0.0, right.perc <= 0.0) {
                (true, true) => return Ordering::Equal,
                // the guards let a percentage of NaN through to the last arm, where it ties
                (true, false) if right.perc > 0.0 => Some(Ordering::Greater),
                (false, true) if left.perc > 0.0 => Some(Ordering::Less),
                _ => (left.usage / left.perc).partial_cmp(&(right.usage / right.perc)),
            };
            if let Some(decided) = order
                && decided.is_ne()
            {
                return decided;
            }
        }
        Ordering::Equal
    }
}

/// The cgroup of the group `unknown`.
const UNKNOWN_CGROUP: i32 = 1;
/// The cgroup of an entity that is not in the document, and so is added to the group `unknown`.
const NO_CGROUP: i32 = -1;
/// The cgroup of the first node of a document without cgroups.
const FIRST_CGROUP: i32 = 10;

impl PbsTree {
    /// The tree that OpenPBS would have if its files expressed this document: charges the usage and
    /// computes the shares. The daemon's rules are [`OpenPbs`] and a usage of 1 for an entity
    /// without usage, the documented ones [`DocumentedOpenPbs`] and usage as it was recorded.
    ///
    /// `entities` are those of jobs. One that is not in the tree joins the group `unknown`, with
    /// one share. A job without an entity counts as one of the entity `""`, as in the daemon.
    ///
    /// # Errors
    /// OpenPBS's files cannot express the document, or it has more nodes than a tree can have.
    pub fn build(
        document: &TreeDocument,
        rules: PolicyRules,
        entities: impl IntoIterator<Item = impl AsRef<str>>,
    ) -> Result<Self, TreeError> {
        let mut assembler = PbsTreeAssembler::new(document)?;
        let mut charges = Vec::new();
        for (node, &id) in document.nodes.iter().zip(&assembler.ids) {
            if let Some(usage) = node.usage
                && !assembler.has_children[id.index()]
            {
                charges.push(assembler.charge(id, usage));
            }
        }
        for record in &document.records {
            let node = assembler.find_or_add(&record.entity)?;
            charges.push(assembler.charge(node, record.usage));
        }
        for entity in entities {
            assembler.find_or_add(entity.as_ref())?;
        }
        let (ids, has_children) = (assembler.ids, assembler.has_children);
        let mut tree = assembler.builder.finish();
        match rules {
            PolicyRules::Scheduler => charge_as_the_daemon(&mut tree, &charges),
            PolicyRules::Documented => charge_as_documented(&mut tree, &charges),
        }
        for (node, &id) in document.nodes.iter().zip(&ids) {
            if let Some(usage) = node.usage
                && has_children[id.index()]
            {
                tree.add_usage(id, usage);
            }
        }
        if document.usage != 0.0 {
            tree.add_usage(tree.root(), document.usage);
        }
        let assessed = match rules {
            PolicyRules::Scheduler => AssessedTree::new(tree, &OpenPbs),
            PolicyRules::Documented => AssessedTree::new(tree, &DocumentedOpenPbs),
        };
        Ok(Self {
            assessed,
            cgroups: assembler.cgroups,
            unknown: assembler.unknown,
        })
    }
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

/// A usage and the node that it is charged to.
#[derive(Debug, Clone, Copy)]
struct Charge {
    node: NodeId,
    usage: f64,
    /// Whether the node had no children when the record was read: only then is the usage added to
    /// the nodes above.
    is_leaf: bool,
}

/// A tree under construction.
struct PbsTreeAssembler {
    builder: TreeBuilder,
    cgroups: Vec<i32>,
    unknown: NodeId,
    /// The node of every node of the document.
    ids: Vec<NodeId>,
    /// By [`NodeId::index`], for the nodes of the document, the root and `unknown`.
    has_children: Vec<bool>,
}

impl PbsTreeAssembler {
    /// Adds the group `unknown` first, then the nodes of the document.
    fn new(document: &TreeDocument) -> Result<Self, TreeError> {
        let unknown_shares = document.unknown_shares.unwrap_or(0);
        let unknown_shares = shares_in_32_bits("unknown_shares", unknown_shares)?;
        let mut builder = TreeBuilder::new(TREE_ROOT).lenient();
        let unknown = builder.add(
            builder.root(),
            Member::group(UNKNOWN_GROUP).shares(unknown_shares.into()),
        )?;
        let nodes = document.nodes.iter();
        let parents: HashSet<usize> = nodes.filter_map(|node| node.parent).collect();
        let mut ids = Vec::with_capacity(document.nodes.len());
        let mut cgroups = vec![0, UNKNOWN_CGROUP];
        let mut has_children = vec![true, false];
        for (index, node) in document.nodes.iter().enumerate() {
            let is_parent = parents.contains(&index);
            if node.parent.is_none()
                && node.name == UNKNOWN_GROUP
                && node.cgroup == Some(UNKNOWN_CGROUP)
            {
                has_children[unknown.index()] = is_parent;
                ids.push(unknown);
                continue;
            }
            let name = node.full_name();
            // the daemon takes any number from a line of `resource_group`, which has a cgroup;
            // other documents are checked
            if node.cgroup.is_none() {
                node.shares.check(&name)?;
            }
            let shares = match node.shares {
                Shares::Count(shares) => shares_in_32_bits(&name, shares)?,
                Shares::Parent => {
                    return Err(TreeError::Invalid(format!(
                        "`{name}` has the shares of its parent, which OpenPBS's policy does not support: give it a number of \
                         shares"
                    )));
                }
            };
            let member = if is_parent {
                Member::group(name)
            } else {
                Member::entity(name)
            };
            let parent = node.parent.and_then(|parent| ids.get(parent));
            let parent = parent.copied().unwrap_or(builder.root());
            let added = builder.add(parent, member.shares(shares.into()));
            ids.push(added.map_err(explain_duplicate)?);
            let numbered = FIRST_CGROUP.saturating_add(index as i32);
            cgroups.push(node.cgroup.unwrap_or(numbered));
            has_children.push(is_parent);
        }
        Ok(Self {
            builder,
            cgroups,
            unknown,
            ids,
            has_children,
        })
    }

    /// Finds the node of that name, or adds it to the group `unknown` with one share.
    fn find_or_add(&mut self, entity: &str) -> Result<NodeId, TreeError> {
        if let Some(node) = self.builder.find(entity) {
            return Ok(node);
        }
        self.has_children[self.unknown.index()] = true;
        self.has_children.push(false);
        self.cgroups.push(NO_CGROUP);
        self.builder
            .add(self.unknown, Member::entity(entity).shares(1))
    }

    fn charge(&self, node: NodeId, usage: f64) -> Charge {
        Charge {
            node,
            usage,
            is_leaf: !self.has_children[node.index()],
        }
    }
}

/// A line of `resource_group` has 32 bits for a number of shares.
fn shares_in_32_bits(name: &str, shares: i64) -> Result<i32, TreeError> {
    let fault =
        format!("`{name}` has {shares} shares, expected a number from -2147483648 to 2147483647");
    i32::try_from(shares).map_err(|_| TreeError::Invalid(fault))
}

fn explain_duplicate(error: TreeError) -> TreeError {
    match error {
        TreeError::DuplicateName { name, .. } if name != UNKNOWN_GROUP => {
            TreeError::Invalid(format!(
                "`{name}` is in the tree twice, where OpenPBS's policy identifies a node by its name alone: rename one, or \
                 choose another policy"
            ))
        }
        other => other,
    }
}

/// Every node starts at [`MIN_USAGE`]. A record sets the usage of its own node and, for a leaf, is
/// added to the nodes above: so a second record of an entity replaces the first there, and adds to
/// it above. Every sum is computed in the order of the records, as in the daemon, which decides its
/// last bit. The cost is records times depth: 16 s for 100,000 records in a chain of 100,000
/// groups, 1 s for a million records in a thousand groups.
fn charge_as_the_daemon(tree: &mut ShareTree, charges: &[Charge]) {
    for node in tree.nodes() {
        tree.set_usage(node, MIN_USAGE);
    }
    for charge in charges {
        tree.set_usage(charge.node, charge.usage);
        if charge.is_leaf {
            tree.add_above(charge.node, charge.usage);
        }
    }
}

/// Charges the last record of every entity; earlier records of the same entity are ignored. A group
/// gets the usage of its entities.
fn charge_as_documented(tree: &mut ShareTree, charges: &[Charge]) {
    let mut seen = HashSet::new();
    for charge in charges.iter().rev() {
        if tree.children(charge.node).is_empty() && seen.insert(charge.node) {
            tree.add_usage(charge.node, charge.usage);
        }
    }
}

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
            match parse_line(chunk, &indices) {
                Ok((node, given)) => {
                    groups.remarks.extend(remark(chunk.line, &node, given));
                    if let Some(parent) = node.parent {
                        groups.nodes[parent].kind = NodeKind::Group;
                    }
                    indices.insert(node.name.clone(), Some(groups.nodes.len()));
                    groups.nodes.push(node);
                }
                Err(_) if groups.rejected.len() == MAX_REJECTED => groups.not_listed += 1,
                Err(fault) => groups.rejected.push(RejectedLine {
                    line: chunk.line,
                    daemon_line: index + 1,
                    fault,
                }),
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
    indices: &HashMap<String, Option<usize>>,
) -> Result<(TreeNode, i64), LineFault> {
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
    if indices.contains_key(&name) {
        return Err(LineFault::DuplicateName(name));
    }
    let Some(&parent) = indices.get(&parent) else {
        return Err(LineFault::UnknownParent { name, parent });
    };
    let given = number("shares", shares, whole_long)?;
    let cgroup = number("cgroup", cgroup, whole_int)?;
    Ok((entity(&name, cgroup, parent, given as i32), given))
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

/// The daemon ignores a file whose last decay is at this time or earlier, except at 0: 1 January
/// 2000 in Los Angeles, in Unix seconds.
const EARLIEST_DECAY: i64 = 946_713_600;

/// The usage of an entity that has used nothing, and the least usage that decay leaves.
pub const MIN_USAGE: f64 = IntervalDecay::FLOOR;

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

#[cfg(test)]
mod tests {
    use job_sort_formula::fairshare::FairShare;
    use jsf_ingest::native_tree::read_tree;

    use super::*;

    const PP718: &str = r#"{"children":[{"name":"group1","shares":40,"children":[{"name":"Bob","shares":50,"usage":100},
        {"name":"Cathy","shares":50,"usage":100}]},{"name":"group2","shares":60,"children":[{"name":"Suzy","shares":60},
        {"name":"Scott","shares":40,"usage":1000}]}]}"#;

    #[test]
    fn the_documents_example_under_both_rules() {
        for (rules, expected) in [
            (PolicyRules::Documented, ["0.648420", "0.381859"]),
            (PolicyRules::Scheduler, ["0.647718", "0.381553"]),
        ] {
            let tree = read_tree("tree.json", PP718.as_bytes()).unwrap();
            let tree = PbsTree::build(&tree, rules, ["Bob"]).unwrap();
            let factors =
                ["Bob", "Suzy"].map(|entity| tree.shares_of(entity).unwrap().fairshare_factor);
            assert_eq!(factors.map(|factor| format!("{factor:.6}")), expected);
        }
    }

    #[test]
    fn what_the_files_cannot_express_is_an_error() {
        for (text, expected) in [
            (
                r#"{"children":[{"name":"a","shares":1},{"name":"a","shares":1}]}"#,
                "`a` is in the tree twice, where OpenPBS's policy identifies a node by its name alone: rename one, \
                 or choose another policy",
            ),
            (
                r#"{"children":[{"name":"a","shares":"parent"}]}"#,
                "`a` has the shares of its parent, which OpenPBS's policy does not support: give it a number of \
                 shares",
            ),
            (
                r#"{"children":[{"name":"g","children":[{"name":"a","shares":-2}]}]}"#,
                "`a` has negative shares, -2",
            ),
        ] {
            let document = read_tree("t", text.as_bytes()).unwrap();
            let refused = PbsTree::build(&document, PolicyRules::Scheduler, ["x"]).unwrap_err();
            assert_eq!(refused.to_string(), expected);
        }
    }

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
