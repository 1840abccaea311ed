//! What `pbsfs` prints, byte for byte, without root privileges and without a server.
//!
//! In: the arguments ([`Request::parse`]) and the three files of `sched_priv` ([`SchedPriv`]). Out:
//! the bytes for standard output, and an [`Answer`]: the bytes for standard error and the exit
//! code. The requests that change the usage file are refused. Recorded in
//! `tests/golden/openpbs/pbsfs`; messages that no recorded case shows follow OpenPBS's published
//! sources and tests.

mod output;
mod request;

use std::io::{self, Write};

use job_sort_formula::fairshare::NodeId;
use thiserror::Error;

use crate::c_string::{name_bytes, name_text};
use crate::files::resource_group::{LineFault, ResourceGroup};
use crate::files::sched_config::SchedConfig;
use crate::files::usage::UsageFile;
use crate::share_tree::{PbsTree, PbsTreeBuilder, PbsTreeError};

pub use request::{Arguments, InvalidArguments, Request};

/// The exit code of a request that failed.
const FAILED: u8 = 1;

/// The files of the scheduler's directory, `sched_priv`.
#[derive(Debug, Clone)]
pub struct SchedPriv {
    /// `resource_group`
    pub lines: ResourceGroup,
    /// `sched_config`; the defaults if the file does not exist.
    pub config: SchedConfig,
    /// `usage`; `None` if the file does not exist.
    pub usage: Option<UsageFile>,
}

/// The result of a call, besides its standard output.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answer {
    /// The bytes for standard error.
    pub stderr: Vec<u8>,
    /// The exit code.
    pub code: u8,
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

/// Answers a request.
///
/// ```
/// use jsf_openpbs::pbsfs::{Request, SchedPriv, answer};
/// use jsf_openpbs::files::resource_group::ResourceGroup;
/// use jsf_openpbs::files::sched_config::SchedConfig;
///
/// let files = SchedPriv {
///     lines: ResourceGroup::parse(b"Bob 10 root 5\n"),
///     config: SchedConfig::default(),
///     usage: None,
/// };
/// let mut stdout = Vec::new();
/// let answer = answer(&Request::Outline, &files, &mut stdout)?;
/// assert_eq!(stdout, b" TREEROOT(0)\n     Bob(10)\n     unknown(1)\n");
/// assert_eq!(answer.stderr, b"Creating usage database for fairshare.\n");
/// # Ok::<(), jsf_openpbs::pbsfs::PbsfsError>(())
/// ```
///
/// # Errors
/// [`PbsfsError`]. What `pbsfs` itself reports as an error is part of the [`Answer`].
pub fn answer(
    request: &Request,
    files: &SchedPriv,
    stdout: &mut dyn Write,
) -> Result<Answer, PbsfsError> {
    let mut answer = Answer {
        stderr: file_messages(files),
        ..Answer::default()
    };
    let mut builder = PbsTreeBuilder::new(&files.lines).unknown_shares(files.config.unknown_shares);
    if let Some(usage) = &files.usage {
        builder = builder.usage(usage);
    }
    let tree = builder.build()?;
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
                messages.extend(
                    [b"Parent ginfo of ", &*name_bytes(name), b" doesnt exist.\n"].concat(),
                );
            }
            LineFault::MissingField(_) | LineFault::NotANumber { .. } => {}
        }
        messages.extend(format!("resgroup: error on line {}.\n", line.daemon_line).into_bytes());
    }
    if files.usage.is_none() {
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
