//! Ranks users by a depth-first walk of a tree, the best sibling first: fair tree and the weighted
//! walk.

use std::cmp::Ordering;

/// The siblings of a tree, and how a policy orders them.
pub(super) trait Siblings {
    /// The list below a node, in the order that breaks ties.
    fn members(&self, node: u32) -> &[u32];

    fn is_user(&self, node: u32) -> bool;

    /// A total order, the first sibling first.
    fn order(&self, one: u32, other: u32) -> Ordering;

    /// Whether two adjacent siblings in that order are tied.
    fn tied(&self, one: u32, other: u32) -> bool;

    /// Whether the first of a list is tied with what came before the list.
    fn first_is_tied(&self, first: u32) -> bool;

    /// Whether the lists of tied accounts are merged.
    fn merges_tied_accounts(&self) -> bool;

    /// Whether the first sibling below a tied account is tied too.
    fn extends_ties_below(&self) -> bool;
}

/// A sorted list that the walk is in.
struct Frame {
    members: Vec<u32>,
    next: usize,
    /// Whether the first member is tied with what came before the list.
    is_first_tied: bool,
}

/// The rank of every user, by node: `users` for the best, one less for each further user, the same
/// for tied users. A node that the walk does not reach has 0.
pub(super) fn ranks(siblings: &impl Siblings, nodes: usize, users: u32) -> Vec<u32> {
    let mut ranks = vec![0; nodes];
    let mut rank = users;
    let mut next_rank = users;
    let mut stack = vec![Frame::new(siblings, siblings.members(0).to_vec(), false)];
    while let Some(frame) = stack.last_mut() {
        let Some(&node) = frame.members.get(frame.next) else {
            stack.pop();
            continue;
        };
        let is_tied = frame.is_tied(siblings, node);
        if siblings.is_user(node) {
            frame.next += 1;
            rank = if is_tied { rank } else { next_rank };
            ranks[node as usize] = rank;
            // 0 only after the last user, since each user takes one rank
            next_rank = next_rank.saturating_sub(1);
        } else {
            let below = frame.take_accounts(siblings, node);
            stack.push(Frame::new(
                siblings,
                below,
                is_tied && siblings.extends_ties_below(),
            ));
        }
    }
    ranks
}

impl Frame {
    fn new(siblings: &impl Siblings, mut members: Vec<u32>, is_first_tied: bool) -> Self {
        // stable, so that ties keep the order of the list
        members.sort_by(|&one, &other| siblings.order(one, other));
        // not in the comparison, because a tie within a tolerance is not transitive
        for run in members.chunk_by_mut(|&one, &other| siblings.tied(one, other)) {
            run.sort_by_key(|&node| !siblings.is_user(node));
        }
        Self {
            members,
            next: 0,
            is_first_tied,
        }
    }

    /// Whether the next member is tied with the one before it.
    fn is_tied(&self, siblings: &impl Siblings, node: u32) -> bool {
        match self.next.checked_sub(1) {
            Some(before) => siblings.tied(self.members[before], node),
            None => self.is_first_tied || siblings.first_is_tied(node),
        }
    }

    /// The members below the account, and below the accounts tied with it if those are merged; all
    /// count as visited.
    fn take_accounts(&mut self, siblings: &impl Siblings, first: u32) -> Vec<u32> {
        let mut below = siblings.members(first).to_vec();
        self.next += 1;
        while let Some(&account) = self.members.get(self.next) {
            let joins = siblings.merges_tied_accounts() && !siblings.is_user(account);
            if !joins || !siblings.tied(self.members[self.next - 1], account) {
                break;
            }
            below.extend(siblings.members(account));
            self.next += 1;
        }
        below
    }
}
