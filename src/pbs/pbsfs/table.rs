//! `pbsfs -p`: the tree as a table.

use std::io::{self, Write};

use crate::pbs::pbsfs::vertex::{Vertex, fixed, padded};
use crate::pbs::share_tree::PbsTree;

/// Writes a line for every node, groups before their children, siblings in reverse file order.
pub(super) fn write(tree: &PbsTree, units: &[u8], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&[b"Fairshare usage units are in: ", units, b"\n"].concat())?;
    for vertex in tree.daemon_order().map(|node| Vertex::of(tree, node)) {
        out.write_all(&padded(&vertex.name))?;
        let Vertex { resgroup, cgroup, shares, .. } = vertex;
        let (usage, percent) = (fixed(vertex.usage, 0), fixed(vertex.percent(), 3));
        writeln!(
            out,
            ": Grp: {resgroup:<5}  cgrp: {cgroup:<5}Shares: {shares:<6} Usage: {usage:<6} Perc: {percent:>6}%"
        )?;
    }
    Ok(())
}
