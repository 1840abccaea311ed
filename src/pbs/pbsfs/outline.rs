//! `pbsfs -t`: the tree, indented.

use std::io::{self, Write};

use crate::pbs::c_string::name_bytes;
use crate::pbs::share_tree::PbsTree;

/// By how much a child stands further in than its parent.
const STEP: usize = 5;

/// Writes a line for every node, groups before their children, siblings in reverse file order. The root stands one
/// blank in.
pub(super) fn write(tree: &PbsTree, out: &mut dyn Write) -> io::Result<()> {
    let mut depths = vec![0usize; tree.tree().len()];
    for node in tree.tree().nodes() {
        if let Some(parent) = tree.tree().parent(node) {
            depths[node.index()] = depths[parent.index()] + 1;
        }
    }
    for node in tree.daemon_order() {
        io::copy(&mut io::Read::take(io::repeat(b' '), (depths[node.index()] * STEP).max(1) as u64), out)?;
        out.write_all(&name_bytes(tree.tree().name(node)))?;
        writeln!(out, "({})", tree.cgroup(node))?;
    }
    Ok(())
}
