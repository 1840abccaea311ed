//! Ranks users by a depth-first walk of a tree, the best sibling first: fair tree and the weighted
//! walk.

use std::cmp::Ordering;

use crate::fairshare::policy::sibling_lists::SiblingLists;
use crate::fairshare::{NodeId, NodeKind, ShareTree};

/// The siblings of a tree, and how a policy orders them.
pub(super) struct RankWalk<'a, N> {
    pub(super) tree: &'a ShareTree,
    /// The list below each node, in the order that breaks ties.
    pub(super) lists: &'a SiblingLists,
    /// What nodes are ordered by, the greatest first.
    pub(super) values: &'a [N],
    pub(super) rules: WalkRules<N>,
}

/// How a policy orders and ties siblings.
pub(super) struct WalkRules<N> {
    /// A total order of values.
    pub(super) compare: fn(&N, &N) -> Ordering,
    /// Whether two adjacent siblings are tied.
    pub(super) are_tied: fn(&N, &N) -> bool,
    /// With this value, the first sibling of a list is tied with what came before the list.
    pub(super) before_all: Option<N>,
    /// Whether the lists of tied accounts are merged.
    pub(super) merges_tied_accounts: bool,
    /// Whether the first sibling below a tied account is tied too.
    pub(super) extends_ties_below: bool,
}

/// A sorted list that the walk is in.
struct Frame {
    members: Vec<u32>,
    next: usize,
    /// Whether the first member is tied with what came before the list.
    is_first_tied: bool,
}

impl<N: PartialEq> RankWalk<'_, N> {
    /// The rank of every user, by node: `users` for the best, one less for each further user, the
    /// same for tied users. A node that the walk does not reach has 0.
    pub(super) fn ranks(&self, users: u32) -> Vec<u32> {
        let mut ranks = vec![0; self.tree.len()];
        let mut rank = users;
        let mut next_rank = users;
        // not by recursion: a tree may be 100,000 levels deep
        let mut stack = vec![Frame::new(self, self.members(0).to_vec(), false)];
        while let Some(frame) = stack.last_mut() {
            let Some(&node) = frame.members.get(frame.next) else {
                stack.pop();
                continue;
            };
            let is_tied = frame.is_tied(self, node);
            if self.is_user(node) {
                frame.next += 1;
                rank = if is_tied { rank } else { next_rank };
                ranks[node as usize] = rank;
                // 0 only after the last user, since each user takes one rank
                next_rank = next_rank.saturating_sub(1);
            } else {
                let below = frame.take_accounts(self, node);
                let is_first_tied = is_tied && self.rules.extends_ties_below;
                stack.push(Frame::new(self, below, is_first_tied));
            }
        }
        ranks
    }

    fn members(&self, node: u32) -> &[u32] {
        self.lists.members(node as usize)
    }

    fn is_user(&self, node: u32) -> bool {
        self.tree.kind(NodeId(node)) == NodeKind::Entity
    }

    fn value(&self, node: u32) -> &N {
        &self.values[node as usize]
    }

    fn are_tied(&self, one: u32, other: u32) -> bool {
        (self.rules.are_tied)(self.value(one), self.value(other))
    }
}

impl Frame {
    fn new<N: PartialEq>(
        walk: &RankWalk<'_, N>,
        mut members: Vec<u32>,
        is_first_tied: bool,
    ) -> Self {
        // stable, so that ties keep the order of the list
        members.sort_by(|&one, &other| (walk.rules.compare)(walk.value(other), walk.value(one)));
        // not in the comparison, because a tie within a tolerance is not transitive
        for run in members.chunk_by_mut(|&one, &other| walk.are_tied(one, other)) {
            run.sort_by_key(|&node| !walk.is_user(node));
        }
        Self {
            members,
            next: 0,
            is_first_tied,
        }
    }

    /// Whether the next member is tied with the one before it.
    fn is_tied<N: PartialEq>(&self, walk: &RankWalk<'_, N>, node: u32) -> bool {
        match self.next.checked_sub(1) {
            Some(before) => walk.are_tied(self.members[before], node),
            None => self.is_first_tied || walk.rules.before_all.as_ref() == Some(walk.value(node)),
        }
    }

    /// The members below the account, and below the accounts tied with it if those are merged; all
    /// count as visited.
    fn take_accounts<N: PartialEq>(&mut self, walk: &RankWalk<'_, N>, first: u32) -> Vec<u32> {
        let mut below = walk.members(first).to_vec();
        self.next += 1;
        while let Some(&account) = self.members.get(self.next) {
            let joins = walk.rules.merges_tied_accounts && !walk.is_user(account);
            if !joins || !walk.are_tied(self.members[self.next - 1], account) {
                break;
            }
            below.extend(walk.members(account));
            self.next += 1;
        }
        below
    }
}
