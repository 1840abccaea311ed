//! For each account, the nodes whose shares are compared with one another, and the orders in which
//! Slurm's daemons visit a tree.

use crate::fairshare::policy::Release;
use crate::fairshare::{NodeId, NodeKind, ShareTree};

/// The owner of a node that is a member of no list.
pub(super) const NO_LIST: u32 = u32::MAX;

/// For every node, the associations whose fair-share parent it is, in the daemon's order: the node
/// owns the list, the associations are its members. The fair-share parent is the parent in the
/// tree, or an account above it if that has the shares `parent`.
pub(super) struct SiblingLists {
    /// The list of node `i` is `members[starts[i]..starts[i + 1]]`.
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl SiblingLists {
    /// Makes the lists. `owners` has, for each node, the owner of the list that the node is a
    /// member of, or [`NO_LIST`].
    pub(super) fn new(tree: &ShareTree, release: Release, owners: &[u32]) -> Self {
        let mut starts = vec![0u32; owners.len() + 1];
        // the root, node 0, is a member of no list
        for &owner in &owners[1..] {
            if owner != NO_LIST {
                starts[owner as usize + 1] += 1;
            }
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next_free = starts.clone();
        let mut members = vec![0u32; starts[owners.len()] as usize];
        for node in daemon_order(tree, release) {
            let owner = owners[node as usize];
            if node != 0 && owner != NO_LIST {
                let slot = &mut next_free[owner as usize];
                members[*slot as usize] = node;
                *slot += 1;
            }
        }
        Self { starts, members }
    }

    pub(super) fn members(&self, owner: usize) -> &[u32] {
        &self.members[self.starts[owner] as usize..self.starts[owner + 1] as usize]
    }
}

/// Every node in the order of the daemon's list of associations, see [`Release`].
pub(super) fn daemon_order(tree: &ShareTree, release: Release) -> Vec<u32> {
    depth_first(tree, |_, accounts| {
        if release == Release::V26_11 {
            accounts.sort_by(|&a, &b| lineage_component(tree, a).cmp(lineage_component(tree, b)));
        }
    })
}

/// Every node in the order of the rows of `sshare -a`.
pub(super) fn request_order(tree: &ShareTree, release: Release) -> Vec<u32> {
    depth_first(tree, |users, accounts| {
        users.sort_by_key(|&user| tree.base_name(user));
        // 22.05 compares the names by `strcmp`, 26.11 the lineages
        match release {
            Release::V22_05 => accounts.sort_by_key(|&account| tree.name(account)),
            Release::V26_11 => accounts
                .sort_by(|&a, &b| lineage_component(tree, a).cmp(lineage_component(tree, b))),
        }
    })
}

/// Every node in depth-first order: an account, its users, then each of its accounts with all nodes
/// below. `sort` may reorder the users and the accounts of one account, which else are in the order
/// of the tree. An entity is a user here.
fn depth_first(tree: &ShareTree, sort: impl Fn(&mut [NodeId], &mut [NodeId])) -> Vec<u32> {
    let mut order = Vec::with_capacity(tree.len());
    let mut stack = vec![tree.root()];
    let mut users = Vec::new();
    let mut accounts = Vec::new();
    while let Some(node) = stack.pop() {
        order.push(node.0);
        for &child in tree.children(node) {
            if tree.kind(child) == NodeKind::Entity {
                users.push(child)
            } else {
                accounts.push(child)
            }
        }
        sort(&mut users, &mut accounts);
        order.extend(users.drain(..).map(|user| user.0));
        // reversed, because the last is popped first
        stack.extend(accounts.drain(..).rev());
    }
    order
}

/// The component of the account in the `lineage` that Slurm stores for the associations below it,
/// such as `physics/`.
fn lineage_component(tree: &ShareTree, account: NodeId) -> impl Iterator<Item = u8> + '_ {
    tree.name(account).bytes().chain(*b"/")
}
