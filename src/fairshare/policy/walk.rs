//! Ranking users by walking a tree depth first, the best sibling first.

use std::cmp::Ordering;

/// What the walk must know of a policy.
pub(super) trait Siblings {
    /// The list below a node, in the order that decides what nothing else does.
    fn members(&self, node: u32) -> &[u32];

    fn is_user(&self, node: u32) -> bool;

    /// Which comes first: a total order.
    fn order(&self, one: u32, other: u32) -> Ordering;

    /// Whether neighbours in that order are tied.
    fn tied(&self, one: u32, other: u32) -> bool;

    /// Whether the first of the whole list is tied with whatever came before the list.
    fn first_is_tied(&self, first: u32) -> bool;

    /// Whether the lists of tied accounts are merged.
    fn merges(&self) -> bool;

    /// Whether the first below an account is tied with what the account is tied with.
    fn ties_reach_below(&self) -> bool;
}

/// A sorted list on the way.
struct Frame {
    members: Vec<u32>,
    next: usize,
    is_tied: bool,
}

/// The rank of every user, by node: the best has `users`, each further one rank less, and who is tied the same.
/// Whom the walk does not meet has 0.
pub(super) fn ranks(siblings: &impl Siblings, nodes: usize, users: u32) -> Vec<u32> {
    let mut ranks = vec![0; nodes];
    let (mut rank, mut next_rank) = (users, users);
    let mut way = vec![frame(siblings, siblings.members(0).to_vec(), false)];
    while let Some(frame_here) = way.last_mut() {
        let Some(&node) = frame_here.members.get(frame_here.next) else {
            way.pop();
            continue;
        };
        let is_tied = frame_here.tie(siblings, node);
        if siblings.is_user(node) {
            frame_here.next += 1;
            rank = if is_tied { rank } else { next_rank };
            ranks[node as usize] = rank;
            next_rank = next_rank.saturating_sub(1);
        } else {
            let below = frame_here.take_accounts(siblings, node);
            way.push(frame(siblings, below, is_tied && siblings.ties_reach_below()));
        }
    }
    ranks
}

fn frame(siblings: &impl Siblings, mut members: Vec<u32>, is_tied: bool) -> Frame {
    members.sort_by(|&one, &other| siblings.order(one, other));
    for run in members.chunk_by_mut(|&one, &other| siblings.tied(one, other)) {
        run.sort_by_key(|&node| !siblings.is_user(node));
    }
    Frame { members, next: 0, is_tied }
}

impl Frame {
    fn tie(&self, siblings: &impl Siblings, node: u32) -> bool {
        match self.next.checked_sub(1) {
            Some(before) => siblings.tied(self.members[before], node),
            None => self.is_tied || siblings.first_is_tied(node),
        }
    }

    /// Everything below the account, and below those tied with it if such are merged; they count as visited.
    fn take_accounts(&mut self, siblings: &impl Siblings, first: u32) -> Vec<u32> {
        let mut below = siblings.members(first).to_vec();
        self.next += 1;
        while let Some(&account) = self.members.get(self.next) {
            let joins = siblings.merges() && !siblings.is_user(account);
            if !joins || !siblings.tied(self.members[self.next - 1], account) {
                break;
            }
            below.extend(siblings.members(account));
            self.next += 1;
        }
        below
    }
}
