//! The usage file after `pbsfs -s`, `-d` and `-e`.

use std::collections::HashSet;

use crate::fairshare::NodeId;
use crate::pbs::files::resource_group::{TREE_ROOT, UNKNOWN_GROUP};
use crate::pbs::files::usage;
use crate::pbs::files::usage::{Layout, UsageFile};
use crate::pbs::files::usage_written::{usage_written, usage_written_of};
use crate::pbs::pbsfs::{SchedPriv, UsageOnDisk};
use crate::pbs::share_tree::PbsTree;
use crate::pbs::strtod::whole_double;

/// After `-s`: the time of the last decay stays.
pub(super) fn set(tree: &PbsTree, last_decay: i64, entity: NodeId, usage: &[u8]) -> Vec<u8> {
    let set = whole_double(usage);
    usage_written_of(tree, last_decay, |node| {
        let read = tree.tree().usage(node);
        if node == entity { set.unwrap_or(read) } else { read }
    })
}

/// After `-d`.
pub(super) fn decayed(tree: &PbsTree, now: i64, factor: f32) -> Vec<u8> {
    usage_written(tree, now, |usage| usage::decayed(usage, factor))
}

/// After `-e`, of a tree of the [`trimmed`] file.
pub(super) fn copied(tree: &PbsTree, now: i64) -> Vec<u8> {
    usage_written(tree, now, |usage| usage)
}

/// The usage file without the entities that no line speaks of; `None` where it stays as it is, which a file of
/// version 1 always does.
pub(super) fn trimmed(files: &SchedPriv) -> Option<UsageFile> {
    let UsageOnDisk::Read(read) = &files.usage else { return None };
    if read.layout != Some(Layout::V2) {
        return None;
    }
    let mut known: HashSet<&str> = files.lines.lines.iter().map(|line| line.name.as_str()).collect();
    known.extend([TREE_ROOT, UNKNOWN_GROUP]);
    let mut trimmed = read.clone();
    trimmed.records.retain(|record| known.contains(record.entity.as_str()));
    Some(trimmed)
}
