//! The output of `pbsfs`, byte for byte, without root privileges and without a server.
//!
//! In: the arguments ([`Request::parse`]), the three files of `sched_priv` ([`SchedPriv`]), and the time. Out: the
//! bytes for standard output, and an [`Answer`]: the bytes for standard error, the exit code, and the new usage file if
//! the request writes one. This module writes no file itself. Recorded in `tests/golden/openpbs/pbsfs`; messages that
//! no recorded case shows follow OpenPBS's published sources and tests.

mod output;
mod request;

use std::collections::HashSet;
use std::io::{self, Write};

use job_sort_formula::fairshare::NodeId;
use thiserror::Error;

use crate::c_number::whole_double;
use crate::c_string::{name_bytes, name_text};
use crate::files::resource_group::{LineFault, ResourceGroup, TREE_ROOT, UNKNOWN_GROUP};
use crate::files::sched_config::SchedConfig;
use crate::files::usage::{UsageFile, UsageVersion, decayed};
use crate::share_tree::{PbsTree, PbsTreeBuilder, PbsTreeError, encode_usage, encode_usage_of_nodes};

pub use request::{Arguments, InvalidArguments, Request};

/// The exit code of a request that failed.
const FAILED: u8 = 1;

/// The usage file as it was found on disk.
#[derive(Debug, Clone, PartialEq)]
pub enum UsageOnDisk {
    /// It does not exist.
    Missing,
    /// It was read, possibly [not in full](UsageFile::faults).
    Read(UsageFile),
}

impl UsageOnDisk {
    /// Whether writing the file from what was read would lose something that it contains.
    pub fn is_lossy(&self) -> bool {
        match self {
            Self::Missing => false,
            Self::Read(file) => !file.faults.is_empty(),
        }
    }
}

/// The files of the scheduler's directory, `sched_priv`.
#[derive(Debug, Clone)]
pub struct SchedPriv {
    /// `resource_group`
    pub lines: ResourceGroup,
    /// `sched_config`; the defaults if the file does not exist.
    pub config: SchedConfig,
    /// `usage`
    pub usage: UsageOnDisk,
}

/// The result of a call, besides its standard output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// The bytes for standard error.
    pub stderr: Vec<u8>,
    /// The exit code.
    pub code: u8,
    /// The new usage file, if the request writes one. `pbsfs` renames the old one to `usage.bak`.
    pub usage: Option<Vec<u8>>,
    /// Why the usage that was set has no effect, which `pbsfs` does not report.
    pub remark: Option<String>,
}

impl Answer {
    fn fail(&mut self, message: &[u8]) {
        self.stderr.extend_from_slice(message);
        self.code = FAILED;
    }
}

/// Why a request has no [`Answer`].
#[derive(Debug, Error)]
pub enum PbsfsError {
    /// The tree of the files is too large.
    #[error(transparent)]
    Tree(#[from] PbsTreeError),
    /// Standard output cannot be written.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// Answers a request. `-d` and `-e` write `now`, in Unix seconds, as the time of the last decay.
///
/// ```
/// use jsf_openpbs::pbsfs::{Request, SchedPriv, UsageOnDisk, answer};
/// use jsf_openpbs::files::resource_group::ResourceGroup;
/// use jsf_openpbs::files::sched_config::SchedConfig;
///
/// let files = SchedPriv {
///     lines: ResourceGroup::parse(b"Bob 10 root 5\n"),
///     config: SchedConfig::default(),
///     usage: UsageOnDisk::Missing,
/// };
/// let mut stdout = Vec::new();
/// let answer = answer(&Request::Outline, &files, 1_700_000_000, &mut stdout)?;
/// assert_eq!(stdout, b" TREEROOT(0)\n     Bob(10)\n     unknown(1)\n");
/// assert_eq!(answer.stderr, b"Creating usage database for fairshare.\n");
/// # Ok::<(), jsf_openpbs::pbsfs::PbsfsError>(())
/// ```
///
/// # Errors
/// [`PbsfsError`]. What `pbsfs` itself reports as an error is part of the [`Answer`].
pub fn answer(request: &Request, files: &SchedPriv, now: i64, stdout: &mut dyn Write) -> Result<Answer, PbsfsError> {
    let mut answer = Answer { stderr: file_messages(files), ..Answer::default() };
    let trimmed = matches!(request, Request::Trim).then(|| trimmed(files)).flatten();
    let read = match &files.usage {
        UsageOnDisk::Read(usage) => Some(trimmed.as_ref().unwrap_or(usage)),
        _ => None,
    };
    let mut builder = PbsTreeBuilder::new(&files.lines).unknown_shares(files.config.unknown_shares);
    if let Some(usage) = read {
        builder = builder.usage(usage);
    }
    let tree = builder.build()?;
    let last_decay = read.and_then(|usage| usage.last_decay).unwrap_or(0);
    let units = name_bytes(&files.config.fairshare_usage_res);
    match request {
        Request::Table => output::write_table(&tree, &units, stdout)?,
        Request::Outline => output::write_outline(&tree, stdout)?,
        Request::Entity(name) => {
            if let Some(node) = find_node(&tree, name, &mut answer) {
                output::write_entity(&tree, node, &units, stdout)?;
            }
        }
        Request::Compare(left, right) => {
            if let Some(left) = find_node(&tree, left, &mut answer)
                && let Some(right) = find_node(&tree, right, &mut answer)
            {
                output::write_comparison(&tree, left, right, stdout)?;
            }
        }
        Request::Set { entity, usage } => {
            if let Some(node) = find_node(&tree, entity, &mut answer) {
                answer.remark = remark_on_set(&tree, node, usage);
                answer.usage = Some(usage_after_set(&tree, last_decay, node, usage));
            }
        }
        Request::Decay => {
            let factor = files.config.fairshare_decay_factor;
            answer.usage = Some(encode_usage(&tree, now, |usage| decayed(usage, factor)));
        }
        Request::Trim => answer.usage = Some(encode_usage(&tree, now, |usage| usage)),
    }
    if answer.usage.is_some() && files.usage == UsageOnDisk::Missing {
        answer.stderr.extend_from_slice(b"Could not backup usage database.: No such file or directory\n");
    }
    Ok(answer)
}

/// The messages about the files, which `pbsfs` prints first.
fn file_messages(files: &SchedPriv) -> Vec<u8> {
    let mut messages = Vec::new();
    for line in &files.lines.rejected {
        match &line.fault {
            LineFault::DuplicateName(name) => {
                messages.extend([b"entity ", &*name_bytes(name), b" is not unique\n"].concat())
            }
            LineFault::UnknownParent { name, .. } => {
                messages.extend([b"Parent ginfo of ", &*name_bytes(name), b" doesnt exist.\n"].concat());
            }
            LineFault::MissingField(_) | LineFault::NotANumber { .. } => {}
        }
        messages.extend(format!("resgroup: error on line {}.\n", line.daemon_line).into_bytes());
    }
    if !matches!(files.usage, UsageOnDisk::Read(_)) {
        messages.extend_from_slice(b"Creating usage database for fairshare.\n");
    }
    messages
}

/// The node with the given name; if the tree has no such node, `answer` becomes a failure.
fn find_node(tree: &PbsTree, name: &[u8], answer: &mut Answer) -> Option<NodeId> {
    let node = tree.tree().find(&name_text(name));
    if node.is_none() {
        answer.fail(&[b"Fairshare Entity ", name, b" does not exist.\n"].concat());
    }
    node
}

/// The usage file after `-s`, which keeps the time of the last decay.
fn usage_after_set(tree: &PbsTree, last_decay: i64, entity: NodeId, usage: &[u8]) -> Vec<u8> {
    let new_usage = whole_double(usage);
    encode_usage_of_nodes(tree, last_decay, |node| {
        let old_usage = tree.tree().usage(node);
        if node == entity { new_usage.unwrap_or(old_usage) } else { old_usage }
    })
}

fn remark_on_set(tree: &PbsTree, node: NodeId, usage: &[u8]) -> Option<String> {
    let name = tree.tree().name(node);
    let text = name_text(usage);
    match whole_double(usage) {
        _ if node == tree.unknown() || !tree.tree().children(node).is_empty() => {
            Some(format!("`{name}` is a group, which has no record in the usage file: nothing is changed"))
        }
        None => Some(format!("`{text}` is not a number: the usage of `{name}` is not changed")),
        Some(f64::INFINITY) => Some(format!(
            "`{text}` is infinite: it is written, as `pbsfs` does, and the scheduler computes with it, so fair-share numbers \
             become 0 or not a number"
        )),
        Some(usage) if usage >= 0.0 => None,
        Some(_) => Some(format!(
            "`{text}` is not a number of at least 0: it is written, as `pbsfs` does, but such a record is ignored when the \
             file is read, and `{name}` then has the usage 1"
        )),
    }
}

/// The usage file without the entities that are not in `resource_group`; `None` if it stays unchanged, as a file of
/// version 1 always does.
fn trimmed(files: &SchedPriv) -> Option<UsageFile> {
    let UsageOnDisk::Read(read) = &files.usage else { return None };
    if read.version != Some(UsageVersion::V2) {
        return None;
    }
    let mut known: HashSet<&str> = files.lines.lines.iter().map(|line| line.name.as_str()).collect();
    known.extend([TREE_ROOT, UNKNOWN_GROUP]);
    let mut trimmed = read.clone();
    trimmed.records.retain(|record| known.contains(record.entity.as_str()));
    Some(trimmed)
}
