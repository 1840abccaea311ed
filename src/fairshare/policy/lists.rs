//! Who stands in whose list, and in which order the daemons go through a tree.

use crate::fairshare::policy::Release;
use crate::fairshare::policy::levels::NO_VAL;
use crate::fairshare::{Kind, NodeId, ShareTree};

/// The list of every node: the associations that have it as their fair-share parent, in the daemon's order.
pub(super) struct Lists {
    first: Vec<u32>,
    members: Vec<u32>,
}

impl Lists {
    /// The lists, given whose list each node stands in: [`NO_VAL`] for nobody's.
    pub(super) fn gather(tree: &ShareTree, release: Release, above: &[u32]) -> Self {
        let mut first = vec![0u32; above.len() + 1];
        for &list in above[1..].iter().filter(|&&list| list != NO_VAL) {
            first[list as usize + 1] += 1;
        }
        for i in 1..first.len() {
            first[i] += first[i - 1];
        }
        let mut free = first.clone();
        let mut members = vec![0u32; first[above.len()] as usize];
        let stands = |&node: &u32| node != 0 && above[node as usize] != NO_VAL;
        for node in daemon_order(tree, release).into_iter().filter(stands) {
            let slot = &mut free[above[node as usize] as usize];
            members[*slot as usize] = node;
            *slot += 1;
        }
        Self { first, members }
    }

    pub(super) fn of(&self, node: usize) -> &[u32] {
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

/// Every node in the order in which `sshare -a` asks for it, which is that of its rows.
pub(super) fn asking_order(tree: &ShareTree, release: Release) -> Vec<u32> {
    depth_first(tree, |users, accounts| {
        users.sort_by_key(|&user| tree.name_alone(user));
        match release {
            Release::V22_05 => accounts.sort_by_key(|&account| tree.name(account)),
            Release::V26_11 => accounts.sort_by(|&a, &b| lineage(tree, a).cmp(lineage(tree, b))),
        }
    })
}

/// Every node: an account, then its users, then its accounts one by one with all below them; users and accounts as
/// they were added, or as `arrange` puts them.
fn depth_first(tree: &ShareTree, arrange: impl Fn(&mut [NodeId], &mut [NodeId])) -> Vec<u32> {
    let mut order = Vec::with_capacity(tree.len());
    let mut waiting = vec![tree.root()];
    let (mut users, mut accounts) = (Vec::new(), Vec::new());
    while let Some(node) = waiting.pop() {
        order.push(node.0);
        for &child in tree.children(node) {
            if tree.kind(child) == Kind::Entity { users.push(child) } else { accounts.push(child) }
        }
        arrange(&mut users, &mut accounts);
        order.extend(users.drain(..).map(|user| user.0));
        waiting.extend(accounts.drain(..).rev());
    }
    order
}

/// What an account adds to the lineage of those below it.
fn lineage(tree: &ShareTree, account: NodeId) -> impl Iterator<Item = u8> + '_ {
    tree.name(account).bytes().chain(*b"/")
}
