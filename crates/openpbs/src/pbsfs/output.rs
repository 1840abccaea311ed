//! Writes the output of `pbsfs -p`, `-t`, `-g` and `-c`, with numbers as C's `printf` formats them.

use std::cmp::Ordering;
use std::io::{self, Write};

use job_sort_formula::fairshare::NodeId;

use crate::c_text::name_bytes;
use crate::number_format::fixed;
use crate::share_tree::PbsTree;

/// What `pbsfs` prints for a number that is not set.
const UNSPECIFIED: i64 = -1;
/// The indentation of a child relative to its parent in `pbsfs -t`, in blanks.
const INDENT: usize = 5;

/// The numbers of a node that `pbsfs` prints.
struct NodeView {
    name: Vec<u8>,
    /// The parent's `cgroup`.
    resgroup: i64,
    cgroup: i32,
    shares: i64,
    usage: f64,
    perc: f32,
    tree_usage: f64,
}

impl NodeView {
    fn new(tree: &PbsTree, node: NodeId) -> Self {
        let mut view = Self {
            name: name_bytes(tree.tree().name(node)),
            resgroup: UNSPECIFIED,
            cgroup: tree.cgroup(node),
            shares: UNSPECIFIED,
            usage: tree.tree().usage(node),
            perc: 0.0,
            tree_usage: 0.0,
        };
        if let Some(shares) = tree.shares().get(node) {
            view.perc = shares.fairshare_perc as f32;
            view.tree_usage = shares.fairshare_tree_usage;
        }
        if let Some(parent) = tree.tree().parent(node) {
            view.resgroup = tree.cgroup(parent).into();
            view.shares = tree.tree().shares(node).count();
        }
        view
    }

    /// The quotient of usage and percentage, by which nodes are compared; -1 if the percentage is
    /// 0.
    fn usage_over_perc(&self) -> f64 {
        if self.perc == 0.0 {
            return -1.0;
        }
        let quotient = self.usage / f64::from(self.perc);
        // every NaN that arises on x86 has its sign bit set
        if quotient.is_nan() {
            f64::NAN.copysign(-1.0)
        } else {
            quotient
        }
    }

    /// `fairshare_perc` in percent, computed as a C `float`.
    fn percent(&self) -> f64 {
        f64::from(self.perc * 100.0)
    }
}

/// `pbsfs -p`: one line per node, groups before their children, siblings in reverse file order.
pub fn write_table(tree: &PbsTree, units: &[u8], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&[b"Fairshare usage units are in: ", units, b"\n"].concat())?;
    for node in tree.daemon_order() {
        let view = NodeView::new(tree, node);
        out.write_all(&padded(&view.name))?;
        let (resgroup, cgroup, shares) = (view.resgroup, view.cgroup, view.shares);
        let usage = fixed(view.usage, 0);
        let percent = fixed(view.percent(), 3);
        writeln!(
            out,
            ": Grp: {resgroup:<5}  cgrp: {cgroup:<5}Shares: {shares:<6} Usage: {usage:<6} Perc: {percent:>6}%"
        )?;
    }
    Ok(())
}

/// `pbsfs -t`: one line per node, groups before their children, siblings in reverse file order. The
/// root is indented by one blank.
pub fn write_outline(tree: &PbsTree, out: &mut dyn Write) -> io::Result<()> {
    let mut depths = vec![0usize; tree.tree().len()];
    for node in tree.tree().nodes() {
        if let Some(parent) = tree.tree().parent(node) {
            depths[node.index()] = depths[parent.index()] + 1;
        }
    }
    for node in tree.daemon_order() {
        let indent = (depths[node.index()] * INDENT).max(1) as u64;
        io::copy(&mut io::Read::take(io::repeat(b' '), indent), out)?;
        out.write_all(&name_bytes(tree.tree().name(node)))?;
        writeln!(out, "({})", tree.cgroup(node))?;
    }
    Ok(())
}

/// `pbsfs -g`: the numbers of the node, then one line per node on the path from the root to it. The
/// root has no path.
pub fn write_entity(
    tree: &PbsTree,
    node: NodeId,
    units: &[u8],
    out: &mut dyn Write,
) -> io::Result<()> {
    let view = NodeView::new(tree, node);
    let fields: [(&str, Vec<u8>); 8] = [
        ("fairshare entity: ", view.name.clone()),
        ("Resgroup\t\t: ", view.resgroup.to_string().into()),
        ("cresgroup\t\t: ", view.cgroup.to_string().into()),
        ("Shares\t\t\t: ", view.shares.to_string().into()),
        ("Percentage\t\t: ", (fixed(view.percent(), 6) + "%").into()),
        ("fairshare_tree_usage\t: ", fixed(view.tree_usage, 6).into()),
        (
            "usage\t\t\t: ",
            [fixed(view.usage, 0).as_bytes(), b" (", units, b")"].concat(),
        ),
        ("usage/perc\t\t: ", fixed(view.usage_over_perc(), 0).into()),
    ];
    for (label, value) in fields {
        out.write_all(&[label.as_bytes(), &value, b"\n"].concat())?;
    }
    out.write_all(b"Path from root: \n")?;
    let mut path: Vec<NodeId> = tree.tree().ancestors(node).collect();
    if !path.is_empty() {
        path.insert(0, node);
    }
    for node in path.into_iter().rev() {
        let view = NodeView::new(tree, node);
        out.write_all(&padded(&view.name))?;
        let usage = fixed(view.usage, 0);
        let perc = fixed(view.perc.into(), 3);
        let over_perc = fixed(view.usage_over_perc(), 0);
        writeln!(
            out,
            ": {:5} {usage:>10} / {perc:>5} = {over_perc}",
            view.cgroup
        )?;
    }
    Ok(())
}

/// `pbsfs -c`: the name of the node with the higher fair-share priority, or both names if they tie.
pub fn write_comparison(
    tree: &PbsTree,
    left: NodeId,
    right: NodeId,
    out: &mut dyn Write,
) -> io::Result<()> {
    let names = [left, right].map(|node| name_bytes(tree.tree().name(node)));
    let line = match tree.compare(left, right) {
        Ordering::Less => names[0].clone(),
        Ordering::Greater => names[1].clone(),
        Ordering::Equal => names.join(&b" == "[..]),
    };
    out.write_all(&[&line[..], b"\n"].concat())
}

/// `%-10s`, which counts bytes.
fn padded(name: &[u8]) -> Vec<u8> {
    let mut padded = name.to_vec();
    padded.resize(name.len().max(10), b' ');
    padded
}
