//! `pbsfs -c`: which of two nodes deserves more.

use std::cmp::Ordering;
use std::io::{self, Write};

use crate::fairshare::NodeId;
use crate::pbs::c_string::name_bytes;
use crate::pbs::share_tree::PbsTree;

/// Writes the name of the one that deserves more, or both names.
pub(super) fn write(tree: &PbsTree, left: NodeId, right: NodeId, out: &mut dyn Write) -> io::Result<()> {
    let name = |node| name_bytes(tree.tree().name(node));
    let line = match tree.compare(left, right) {
        Ordering::Less => name(left),
        Ordering::Greater => name(right),
        Ordering::Equal => [name(left), name(right)].join(&b" == "[..]),
    };
    out.write_all(&[&line[..], b"\n"].concat())
}
