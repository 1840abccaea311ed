//! Trees from random sketches.

use job_sort_formula::fairshare::{Member, ShareTree, TreeBuilder};

/// A node as its name, the name of its parent and what it is.
pub type Node = (String, String, Member);

pub fn build(nodes: &[Node]) -> ShareTree {
    let mut builder = TreeBuilder::new("root");
    for (_, parent, member) in nodes {
        builder
            .add_under(parent, member.clone())
            .expect("a parent that is in the tree");
    }
    builder.finish()
}

/// The same nodes with siblings in another order: sorted by level first, so that parents still come
/// first.
pub fn permute(nodes: &[Node], keys: &[u32]) -> Vec<Node> {
    let tree = build(nodes);
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    let level = |i: usize| {
        tree.path(tree.find(&nodes[i].0).expect("in the tree"))
            .len()
    };
    order.sort_by_key(|&i| (level(i), keys[i % keys.len()], i));
    order.into_iter().map(|i| nodes[i].clone()).collect()
}
