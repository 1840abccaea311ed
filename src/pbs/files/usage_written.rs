//! The usage file as the daemon and `pbsfs` write it.

use crate::fairshare::NodeId;
use crate::pbs::c_string::name_bytes;
use crate::pbs::files::usage::{MIN_USAGE, TAG};
use crate::pbs::share_tree::PbsTree;

/// The bytes of a usage file of version 2 for the tree, every usage passed through `keep` first:
/// [`decayed`](crate::pbs::files::usage::decayed) for a step of decay, the identity for a copy.
///
/// Only nodes without children are written, only those whose usage is not 1, and all of a group's children before
/// any grandchildren, the grandchildren of the last child first. The group `unknown` is not written even where it is
/// empty. A name is cut after 49 bytes.
pub fn usage_written(tree: &PbsTree, last_decay: i64, keep: impl Fn(f64) -> f64) -> Vec<u8> {
    usage_written_of(tree, last_decay, |node| keep(tree.tree().usage(node)))
}

/// The same for usages that the tree does not have (yet).
pub(crate) fn usage_written_of(tree: &PbsTree, last_decay: i64, usage_of: impl Fn(NodeId) -> f64) -> Vec<u8> {
    let mut file = [&TAG[..], &[0; 7], &2f64.to_le_bytes(), &last_decay.to_le_bytes()].concat();
    for node in written_order(tree).filter(|&node| node != tree.unknown()) {
        let usage = usage_of(node);
        if usage != MIN_USAGE {
            file.extend_from_slice(&record(tree.tree().name(node), usage));
        }
    }
    file
}

/// The nodes without children, in the order in which they are written.
fn written_order(tree: &PbsTree) -> impl Iterator<Item = NodeId> + '_ {
    let mut groups = vec![tree.tree().root()];
    let leaves = std::iter::from_fn(move || {
        let children = tree.tree().children(groups.pop()?);
        let is_group = |node: &NodeId| !tree.tree().children(*node).is_empty();
        groups.extend(children.iter().rev().copied().filter(is_group));
        Some(children.iter().rev().copied().filter(move |node| !is_group(node)))
    });
    leaves.flatten()
}

fn record(name: &str, usage: f64) -> [u8; 64] {
    let mut record = [0; 64];
    for (field, byte) in record[..49].iter_mut().zip(name_bytes(name)) {
        *field = byte;
    }
    record[56..].copy_from_slice(&usage.to_le_bytes());
    record
}
