//! What `pbsfs` prints and writes, byte for byte, without root and without a server.
//!
//! In: the arguments ([`Request::parse`]), the three files of `sched_priv` ([`SchedPriv`]), and the time. Out: what
//! goes to standard output, and an [`Answer`]: what goes to standard error, the exit code, and, where the request is
//! one that writes, the new usage file. Nothing is written here. Recorded in `tests/golden/openpbs/pbsfs`; the
//! messages that no case shows are as OpenPBS's published sources and tests have them.

mod comparison;
mod entity;
mod getopt;
mod outline;
mod request;
mod rewritten;
mod table;
mod vertex;

use std::io::{self, Write};

use thiserror::Error;

use crate::fairshare::NodeId;
use crate::pbs::c_string::{name_bytes, name_text};
use crate::pbs::files::resource_group::{LineFault, ResourceGroup};
use crate::pbs::files::sched_config::SchedConfig;
use crate::pbs::files::usage::UsageFile;
use crate::pbs::share_tree::{PbsTree, PbsTreeBuilder, PbsTreeError};

pub use request::{Arguments, Refusal, Request};

/// The exit code of a request that failed.
const FAILED: u8 = 1;

/// The usage file as it was met.
#[derive(Debug, Clone, PartialEq)]
pub enum UsageOnDisk {
    /// There is none.
    Missing,
    /// There is one that cannot be opened. To `pbsfs` it looks as if there were none.
    Unreadable,
    /// It was read, if perhaps [not in full](UsageFile::faults).
    Read(UsageFile),
}

impl UsageOnDisk {
    /// Whether the file has something that a file written from what was read would not have.
    pub fn is_lossy(&self) -> bool {
        match self {
            Self::Missing => false,
            Self::Unreadable => true,
            Self::Read(file) => !file.faults.is_empty(),
        }
    }
}

/// The files of the scheduler's folder.
#[derive(Debug, Clone)]
pub struct SchedPriv {
    /// `resource_group`
    pub lines: ResourceGroup,
    /// `sched_config`; the defaults where there is none.
    pub config: SchedConfig,
    /// `usage`
    pub usage: UsageOnDisk,
}

/// What `pbsfs` answers, next to its standard output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// What goes to standard error.
    pub stderr: Vec<u8>,
    /// The exit code.
    pub code: u8,
    /// The new usage file, where one is to be written. The old one becomes `usage.bak`.
    pub usage: Option<Vec<u8>>,
}

impl Answer {
    fn fail(&mut self, message: &[u8]) {
        self.stderr.extend_from_slice(message);
        self.code = FAILED;
    }
}

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum PbsfsError {
    /// The files make no tree: there is too much of it.
    #[error(transparent)]
    Tree(#[from] PbsTreeError),
    /// Standard output takes no more.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// Answers a request at the time `now`, in Unix seconds, which `-d` and `-e` write as that of the last decay.
///
/// ```
/// use job_sort_formula::pbs::pbsfs::{Request, SchedPriv, UsageOnDisk, answer};
/// use job_sort_formula::pbs::files::resource_group::ResourceGroup;
/// use job_sort_formula::pbs::files::sched_config::SchedConfig;
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
/// # Ok::<(), job_sort_formula::pbs::pbsfs::PbsfsError>(())
/// ```
///
/// # Errors
/// [`PbsfsError`]; not for what `pbsfs` itself calls an error.
pub fn answer(request: &Request, files: &SchedPriv, now: i64, stdout: &mut dyn Write) -> Result<Answer, PbsfsError> {
    let mut answer = Answer { stderr: complaints(files), ..Answer::default() };
    let trimmed = matches!(request, Request::Trim).then(|| rewritten::trimmed(files)).flatten();
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
        Request::Table => table::write(&tree, &units, stdout)?,
        Request::Outline => outline::write(&tree, stdout)?,
        Request::Entity(name) => {
            if let Some(node) = found(&tree, name, &mut answer) {
                entity::write(&tree, node, &units, stdout)?;
            }
        }
        Request::Compare(left, right) => {
            if let Some(left) = found(&tree, left, &mut answer)
                && let Some(right) = found(&tree, right, &mut answer)
            {
                comparison::write(&tree, left, right, stdout)?;
            }
        }
        Request::Set { entity, usage } => {
            if let Some(node) = found(&tree, entity, &mut answer) {
                answer.usage = Some(rewritten::set(&tree, last_decay, node, usage));
            }
        }
        Request::Decay => answer.usage = Some(rewritten::decayed(&tree, now, files.config.fairshare_decay_factor)),
        Request::Trim => answer.usage = Some(rewritten::copied(&tree, now)),
    }
    if answer.usage.is_some() && files.usage == UsageOnDisk::Missing {
        answer.stderr.extend_from_slice(b"Could not backup usage database.: No such file or directory\n");
    }
    Ok(answer)
}

/// What `pbsfs` says of the files before it does anything.
fn complaints(files: &SchedPriv) -> Vec<u8> {
    let mut told = Vec::new();
    for line in &files.lines.rejected {
        match &line.fault {
            LineFault::DuplicateName(name) => {
                told.extend([b"entity ", &*name_bytes(name), b" is not unique\n"].concat())
            }
            LineFault::UnknownParent { name, .. } => {
                told.extend([b"Parent ginfo of ", &*name_bytes(name), b" doesnt exist.\n"].concat());
            }
            LineFault::MissingField(_) | LineFault::NotANumber { .. } => {}
        }
        told.extend(format!("resgroup: error on line {}.\n", line.daemon_line).into_bytes());
    }
    if !matches!(files.usage, UsageOnDisk::Read(_)) {
        told.extend_from_slice(b"Creating usage database for fairshare.\n");
    }
    told
}

/// The node of that name; a failure if there is none.
fn found(tree: &PbsTree, name: &[u8], answer: &mut Answer) -> Option<NodeId> {
    let node = tree.tree().find(&name_text(name));
    if node.is_none() {
        answer.fail(&[b"Fairshare Entity ", name, b" does not exist.\n"].concat());
    }
    node
}
