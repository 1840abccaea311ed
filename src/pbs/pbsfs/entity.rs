//! `pbsfs -g`: one node, and the way to it.

use std::io::{self, Write};

use crate::fairshare::NodeId;
use crate::pbs::pbsfs::vertex::{Vertex, fixed, padded};
use crate::pbs::share_tree::PbsTree;

/// Writes the numbers of the node, then a line for every node from the root down to it; there is no way to the root.
pub(super) fn write(tree: &PbsTree, node: NodeId, units: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let vertex = Vertex::of(tree, node);
    let fields: [(&str, Vec<u8>); 8] = [
        ("fairshare entity: ", vertex.name.clone()),
        ("Resgroup\t\t: ", vertex.resgroup.to_string().into()),
        ("cresgroup\t\t: ", vertex.cgroup.to_string().into()),
        ("Shares\t\t\t: ", vertex.shares.to_string().into()),
        ("Percentage\t\t: ", (fixed(vertex.percent(), 6) + "%").into()),
        ("fairshare_tree_usage\t: ", fixed(vertex.tree_usage, 6).into()),
        ("usage\t\t\t: ", [fixed(vertex.usage, 0).as_bytes(), b" (", units, b")"].concat()),
        ("usage/perc\t\t: ", fixed(vertex.usage_over_perc(), 0).into()),
    ];
    for (label, value) in fields {
        out.write_all(&[label.as_bytes(), &value, b"\n"].concat())?;
    }
    out.write_all(b"Path from root: \n")?;
    let mut path: Vec<NodeId> = tree.tree().ancestors(node).collect();
    if !path.is_empty() {
        path.insert(0, node);
    }
    for vertex in path.into_iter().rev().map(|node| Vertex::of(tree, node)) {
        write_step(&vertex, out)?;
    }
    Ok(())
}

fn write_step(vertex: &Vertex, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&padded(&vertex.name))?;
    let (usage, perc) = (fixed(vertex.usage, 0), fixed(vertex.perc.into(), 3));
    let over_perc = fixed(vertex.usage_over_perc(), 0);
    writeln!(out, ": {:5} {usage:>10} / {perc:>5} = {over_perc}", vertex.cgroup)
}
