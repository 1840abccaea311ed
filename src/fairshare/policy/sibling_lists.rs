//! The lists in which siblings compete, and the orders in which Slurm's daemons visit a tree.

use crate::fairshare::policy::Release;
use crate::fairshare::{NodeId, NodeKind, ShareTree};

/// The owner of a node that is in no list.
pub(super) const NO_LIST: u32 = u32::MAX;

/// The list of every node: the associations that have it as their fair-share parent, in the daemon's order.
pub(super) struct SiblingLists {
    first: Vec<u32>,
    members: Vec<u32>,
}

impl SiblingLists {
    /// The lists, from the owner of the list that each node is in, or [`NO_LIST`].
    pub(super) fn new(tree: &ShareTree, release: Release, above: &[u32]) -> Self {
        let mut first = vec![0u32; above.len() + 1];
        for &list in above[1..].iter().filter(|&&list| list != NO_LIST) {
            first[list as usize + 1] += 1;
        }
        for i in 1..first.len() {
            first[i] += first[i - 1];
        }
        let mut free = first.clone();
        let mut members = vec![0u32; first[above.len()] as usize];
        let is_member = |&node: &u32| node != 0 && above[node as usize] != NO_LIST;
        for node in daemon_order(tree, release).into_iter().filter(is_member) {
            let slot = &mut free[above[node as usize] as usize];
            members[*slot as usize] = node;
            *slot += 1;
        }
        Self { first, members }
    }

    pub(super) fn members(&self, node: usize) -> &[u32] {
        &self.members[self.first[node] as usize..self.first[node + 1] as usize]
    }
}

/// Every node in the order of the daemon's list of associations.
pub(super) fn daemon_order(tree: &ShareTree, release: Release) -> Vec<u32> {
    depth_first(tree, |_, accounts| {
        if release == Release::V26_11 {
            accounts.sort_by(|&a, &b| lineage(tree, a).cmp(lineage(tree, b)));
        }
    })
}

/// Every node in the order in which `sshare -a` requests it, which is the order of its rows.
pub(super) fn request_order(tree: &ShareTree, release: Release) -> Vec<u32> {
    depth_first(tree, |users, accounts| {
        users.sort_by_key(|&user| tree.base_name(user));
        match release {
            Release::V22_05 => accounts.sort_by_key(|&account| tree.name(account)),
            Release::V26_11 => accounts.sort_by(|&a, &b| lineage(tree, a).cmp(lineage(tree, b))),
        }
    })
}

/// Every node: an account, its users, then its accounts one by one with all nodes below them. Siblings are in the
/// order of the tree, or as `arrange` sorts them.
fn depth_first(tree: &ShareTree, arrange: impl Fn(&mut [NodeId], &mut [NodeId])) -> Vec<u32> {
    let mut order = Vec::with_capacity(tree.len());
    let mut stack = vec![tree.root()];
    let (mut users, mut accounts) = (Vec::new(), Vec::new());
    while let Some(node) = stack.pop() {
        order.push(node.0);
        for &child in tree.children(node) {
            if tree.kind(child) == NodeKind::Entity { users.push(child) } else { accounts.push(child) }
        }
        arrange(&mut users, &mut accounts);
        order.extend(users.drain(..).map(|user| user.0));
        stack.extend(accounts.drain(..).rev());
    }
    order
}

/// The account's part of the lineage of the nodes below it.
fn lineage(tree: &ShareTree, account: NodeId) -> impl Iterator<Item = u8> + '_ {
    tree.name(account).bytes().chain(*b"/")
}
