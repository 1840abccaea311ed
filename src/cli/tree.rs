//! The fair-share tree, from whichever files hold it, for whichever policy is to judge it.

use std::path::Path;

use job_sort_formula::fairshare::tree_document::{TreeDocument, read_tree};
use job_sort_formula::fairshare::{Kind, NodeId, Release, ShareTree};
use job_sort_formula::jobs::JobState;
use job_sort_formula::pbs::files::resource_group::ResourceGroup;
use job_sort_formula::pbs::files::sched_config::SchedConfig;
use job_sort_formula::pbs::files::usage::UsageFile;
use job_sort_formula::pbs::share_tree::{PbsTree, PbsTreeBuilder, Rules};
use job_sort_formula::slurm::tree::TreeReadError;
use job_sort_formula::{JobTable, slurm};

use super::args::SiteArgs;
use super::formula::{MOST_OF_A_FILE, read_bytes};
use super::site::{in_sched_priv, name_of};
use super::{CliError, remark};

/// A tree as it was read.
pub(super) enum Tree {
    /// OpenPBS's files.
    Pbs { lines: ResourceGroup, usage: UsageFile, unknown_shares: i32 },
    /// Own JSON, or Slurm's, with the document's name.
    Document(String, TreeDocument),
}

impl Tree {
    /// Reads the tree that the arguments name, if they name one.
    pub(super) fn read(arguments: &SiteArgs, config: &SchedConfig) -> Result<Option<Self>, CliError> {
        if let Some(path) = &arguments.tree {
            return document(path).map(|document| Some(Self::Document(name_of(path), document)));
        }
        let Some(path) = in_sched_priv(arguments.resource_group.as_ref(), arguments, "resource_group") else {
            return Ok(None);
        };
        let lines = ResourceGroup::parse(&read_bytes(&path, MOST_OF_A_FILE)?);
        for line in &lines.rejected {
            remark("warning", format_args!("`{}`: {line}", path.display()));
        }
        let usage = match in_sched_priv(arguments.usage.as_ref(), arguments, "usage") {
            Some(path) => usage(&path)?,
            None => UsageFile::default(),
        };
        Ok(Some(Self::Pbs { lines, usage, unknown_shares: config.unknown_shares }))
    }

    /// The tree as OpenPBS holds it, with these entities of jobs.
    pub(super) fn pbs(&self, rules: Rules, entities: impl IntoIterator<Item = String>) -> Result<PbsTree, CliError> {
        match self {
            Self::Pbs { lines, usage, unknown_shares } => {
                let builder = PbsTreeBuilder::new(lines).usage(usage).unknown_shares(*unknown_shares).rules(rules);
                builder.with_entities(entities).build().map_err(CliError::content)
            }
            Self::Document(name, document) => document.plant(rules, entities).map_err(|error| fault_of(name, &error)),
        }
    }

    /// The release of Slurm that wrote the tree, where its document says.
    pub(super) fn release(&self) -> Option<Release> {
        match self {
            Self::Pbs { .. } => None,
            Self::Document(_, document) => document.release,
        }
    }

    /// The tree as it stands, for any policy.
    pub(super) fn share_tree(&self) -> Result<ShareTree, CliError> {
        match self {
            Self::Pbs { .. } => Ok(self.pbs(Rules::Documented, [])?.tree().clone()),
            Self::Document(name, document) => document.share_tree().map_err(|error| fault_of(name, &error)),
        }
    }
}

fn document(path: &Path) -> Result<TreeDocument, CliError> {
    let bytes = read_bytes(path, MOST_OF_A_FILE)?;
    let name = name_of(path);
    if is_own_json(&bytes) {
        let document = read_tree(&name, &bytes).map_err(CliError::content)?;
        for key in &document.unknown_keys {
            remark("warning", format_args!("`{name}`: the key `{key}` means nothing here"));
        }
        return Ok(document);
    }
    let associations = slurm::read_tree(&name, &bytes).map_err(with_own_json)?;
    for warning in &associations.warnings {
        remark("warning", format_args!("`{name}`: {warning}"));
    }
    let tree = associations.share_tree().map_err(|error| fault_of(&name, &error))?;
    Ok(TreeDocument { release: associations.release, ..TreeDocument::of(&tree) })
}

fn fault_of(name: &str, error: &dyn std::fmt::Display) -> CliError {
    CliError::content(format!("`{name}`: {error}"))
}

/// Where none of Slurm's formats was found, own JSON was not either.
fn with_own_json(error: TreeReadError) -> CliError {
    match error {
        TreeReadError::Empty { .. } | TreeReadError::Unrecognised { .. } => {
            CliError::content(format!("{error}, or own JSON, {{\"children\":[{{\"name\":…,\"shares\":…}}]}}"))
        }
        other => CliError::content(other),
    }
}

/// Own JSON is an object with `children`; `sshare --json` is one with `shares` at its top.
fn is_own_json(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}').trim_start();
    text.starts_with('{') && (text.contains("\"children\"") || !text.contains("\"shares\""))
}

fn usage(path: &Path) -> Result<UsageFile, CliError> {
    let usage = UsageFile::parse(&read_bytes(path, MOST_OF_A_FILE)?).map_err(CliError::content)?;
    for fault in &usage.faults {
        remark("warning", format_args!("`{}`: {fault}", path.display()));
    }
    Ok(usage)
}

/// The node that a user means, see [`ShareTree::meant_by`].
pub(super) fn find(tree: &ShareTree, name: &str) -> Result<NodeId, CliError> {
    tree.meant_by(name).ok_or_else(|| CliError::usage(why_not(tree, name)))
}

/// Why a name means no node, and what to write instead.
pub(super) fn why_not(tree: &ShareTree, name: &str) -> String {
    let several = tree.fitting(name);
    if !several.is_empty() {
        return format!("the tree has several `{name}`, write one of {}", listed(tree, &several));
    }
    let (above, user) = name.rfind('/').map_or(("", name), |at| name.split_at(at + 1));
    let in_full = |node: NodeId| format!("{above}{}", tree.name(node));
    let is_bound = |node: &NodeId| tree.name_alone(*node) == user && tree.fitting(&in_full(*node)).contains(node);
    let bound: Vec<NodeId> = tree.bound_to_partitions().into_iter().filter(is_bound).collect();
    if bound.is_empty() {
        format!("the tree has no `{name}`")
    } else {
        format!("the tree has `{name}` in single partitions only, write one of {}", listed(tree, &bound))
    }
}

/// The full names of a few nodes.
fn listed(tree: &ShareTree, nodes: &[NodeId]) -> String {
    const MOST: usize = 4;
    let mut nodes = nodes.to_vec();
    nodes.sort_unstable();
    let names: Vec<String> = nodes.iter().take(MOST).map(|&node| format!("`{}`", path_of(tree, node))).collect();
    let more = if nodes.len() > MOST { format!(" and {} more", nodes.len() - MOST) } else { String::new() };
    names.join(", ") + &more
}

/// `ACCOUNT/USER`, which tells one user from all others; an account by its path.
fn path_of(tree: &ShareTree, node: NodeId) -> String {
    match (tree.kind(node), tree.parent(node)) {
        (Kind::Entity, Some(account)) => format!("{}/{}", tree.name(account), tree.name(node)),
        _ => tree.path(node).join("/"),
    }
}

/// Whether a job waits to be run: these count for ticket-based fair share.
pub(super) fn waits(table: &JobTable, row: usize) -> bool {
    matches!(table.state(row), JobState::Queued | JobState::Held | JobState::Waiting)
}

/// The nodes whose jobs wait.
pub(super) fn waiting_nodes(table: &JobTable, tree: &ShareTree) -> Vec<NodeId> {
    let mut entities: Vec<usize> =
        (0..table.len()).filter(|&row| waits(table, row)).map(|row| table.entity_index(row)).collect();
    entities.sort_unstable();
    entities.dedup();
    entities.into_iter().filter_map(|entity| find(tree, &table.entities()[entity]).ok()).collect()
}
