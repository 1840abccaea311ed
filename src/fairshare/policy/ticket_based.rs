//! Slurm's ticket-based policy (`PriorityFlags=TICKET_BASED`, up to 14.11): its document
//! "Ticket-Based Multifactor Priority Plugin", and what the last daemon with it does.

use crate::fairshare::policy::normalization::Normalized;
use crate::fairshare::policy::slurm_associations::SlurmModel;
use crate::fairshare::policy::{Policy, PolicyRules, Release, ShareTable};
use crate::fairshare::x87::Extended;
use crate::fairshare::{NodeId, NodeKind, ShareTree, Shares};

/// The least usage, as a fraction of the shares: a factor is at most 100.
const MIN_USAGE: f64 = 0.01;

/// The tickets that the root distributes: those of the daemon, under the document's rules too,
/// where only proportions matter.
const ALL_TICKETS: f64 = u32::MAX as f64;

/// Tickets are distributed from the root down to the users with pending jobs; the user with the
/// most gets 1.
///
/// **Documented.** `F = S / U_eff` with `U_eff = max(U, 0.01 * S)`; tickets
/// `T = T_parent * S * F / SUM(S * F)` over the active siblings; a job's factor is `T / T_max` over
/// the active users. The document does not say, and this implementation decides: without shares `F`
/// is 0; a node with `FairShare=parent` has the parent's `S`, `U_eff` and tickets and is not in the
/// sum; a node that is not active has no tickets and the factor 0.
///
/// **Scheduler** (14.11). 4294967295 tickets, truncated to an integer at every level. Below the
/// first level usage is at least a hundredth of the *level's* share ratio, and then at least a
/// hundredth of the normalised shares. A node with `FairShare=parent` is in the sum with the
/// parent's numbers, and its jobs get the parent's tickets, which may be more than any user's, so
/// that **the factor can exceed 1**.
///
/// ```
/// use job_sort_formula::fairshare::TicketBased;
/// use job_sort_formula::fairshare::{AssessedTree, FairShare, Member, PolicyRules, TreeBuilder};
///
/// let mut builder = TreeBuilder::new("root");
/// let ann = builder.add(builder.root(), Member::entity("ann").usage(100.0))?;
/// let bob = builder.add(builder.root(), Member::entity("bob").usage(300.0))?;
/// builder.add(builder.root(), Member::entity("idle"))?;
///
/// let fairshare = AssessedTree::new(builder.finish(), &TicketBased::new(PolicyRules::Documented, [ann, bob]));
/// for (name, factor) in [("ann", 1.0), ("bob", 1.0 / 3.0), ("idle", 0.0)] {
///     assert_eq!(fairshare.shares_of(name).map(|shares| shares.fairshare_factor), Some(factor));
/// }
/// # Ok::<(), job_sort_formula::fairshare::TreeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TicketBased {
    rules: PolicyRules,
    pending: Vec<NodeId>,
}

impl TicketBased {
    /// The policy. `pending` are the associations with a pending job, held jobs included; the nodes
    /// above them are active too.
    pub fn new(rules: PolicyRules, pending: impl IntoIterator<Item = NodeId>) -> Self {
        Self {
            rules,
            pending: pending.into_iter().collect(),
        }
    }

    /// Which nodes have a pending job, or a node below with one.
    fn active(&self, tree: &ShareTree) -> Vec<bool> {
        let mut active = vec![false; tree.len()];
        // an id may belong to another tree, and `assess` cannot fail
        for &node in &self.pending {
            let mut next = Some(node);
            // above an active node all are active, so each node is visited once
            while let Some(node) = next
                && node.index() < tree.len()
                && !active[node.index()]
            {
                active[node.index()] = true;
                next = tree.parent(node);
            }
        }
        active
    }

    fn documented(&self, tree: &ShareTree) -> ShareTable {
        let normalized = Normalized::table(tree);
        let active = self.active(tree);
        let mut effective: Vec<f64> = Vec::with_capacity(tree.len());
        let mut weights = Vec::with_capacity(tree.len());
        for (node, own) in tree.nodes().zip(&normalized) {
            let usage = match tree.parent(node) {
                Some(parent) if tree.shares(node) == Shares::Parent => effective[parent.index()],
                _ => own.norm_usage.max(MIN_USAGE * own.norm_shares),
            };
            effective.push(usage);
            weights.push(weight(own.norm_shares, usage));
        }
        let tickets = self.distribute_documented(tree, &active, &weights);
        let most = most_tickets(tree, &active, &tickets);
        let mut table = ShareTable::with_capacity(tree.len());
        for node in tree.nodes() {
            let i = node.index();
            let factor = if active[i] && most > 0.0 {
                tickets[i] / most
            } else {
                0.0
            };
            let (entity, mut association) = normalized[i].row(tree, node, effective[i], factor);
            if active[i] {
                association.tickets = Some(tickets[i]);
            }
            table.push((entity, association));
        }
        table
    }

    fn distribute_documented(
        &self,
        tree: &ShareTree,
        active: &[bool],
        weights: &[f64],
    ) -> Vec<f64> {
        let mut sums = vec![0.0; tree.len()];
        for node in tree.nodes() {
            if let Some(parent) = tree.parent(node)
                && active[node.index()]
                && tree.shares(node) != Shares::Parent
            {
                sums[parent.index()] += weights[node.index()];
            }
        }
        let mut tickets: Vec<f64> = Vec::with_capacity(tree.len());
        for node in tree.nodes() {
            tickets.push(match tree.parent(node) {
                _ if !active[node.index()] => 0.0,
                None => ALL_TICKETS,
                Some(parent) if tree.shares(node) == Shares::Parent => tickets[parent.index()],
                Some(parent) if sums[parent.index()] > 0.0 => {
                    tickets[parent.index()] * weights[node.index()] / sums[parent.index()]
                }
                Some(_) => 0.0,
            });
        }
        tickets
    }

    fn scheduler(&self, tree: &ShareTree) -> ShareTable {
        let model = SlurmModel::new(tree);
        let active = self.active(tree);
        let norm_shares = model.norm_shares();
        let usages = (0..tree.len()).map(|node| effective_usage(&model, node));
        let usages: Vec<Extended> = usages.collect();
        let factors = norm_shares.iter().zip(&usages);
        let factors: Vec<f64> = factors
            .map(|(&shares, &usage)| factor(shares, usage))
            .collect();
        let tickets = distribute(&model, &active, &norm_shares, &factors);
        let most = most_tickets(tree, &active, &tickets);
        let mut table = ShareTable::with_capacity(tree.len());
        for node in 0..tree.len() {
            let source = model.job_node(node);
            let factor = if active[source] && most > 0.0 {
                tickets[source] / most
            } else {
                0.0
            };
            let usage = usages[node].to_f64();
            let (entity, mut association) = model.row(node, norm_shares[node], usage, factor);
            if active[node] {
                association.tickets = Some(tickets[node]);
            }
            // the daemon overwrites the numbers of such a node by those of its fair-share
            // parent
            if model.uses_parent(node) && model.above(node) != 0 {
                association.norm_usage = Some(model.norm_usage(model.above(node)).to_f64());
            }
            table.push((entity, association.as_received()));
        }
        table
    }
}

impl Policy for TicketBased {
    fn assess(&self, tree: &ShareTree) -> ShareTable {
        match self.rules {
            PolicyRules::Documented => self.documented(tree),
            PolicyRules::Scheduler => self.scheduler(tree),
        }
    }
}

/// The document's `S * F`.
fn weight(norm_shares: f64, effective_usage: f64) -> f64 {
    if norm_shares == 0.0 {
        0.0
    } else {
        norm_shares * (norm_shares / effective_usage)
    }
}

/// The tickets of the active user with the most.
fn most_tickets(tree: &ShareTree, active: &[bool], tickets: &[f64]) -> f64 {
    let mut most = 0.0_f64;
    for node in tree.nodes() {
        if active[node.index()] && tree.kind(node) == NodeKind::Entity {
            most = most.max(tickets[node.index()]);
        }
    }
    most
}

/// The daemon's `U_eff`: at least a hundredth of the share ratio within the level, where the
/// document has the normalised shares.
fn effective_usage(model: &SlurmModel, node: usize) -> Extended {
    match (node, model.above(node)) {
        (0, _) => Extended::one(),
        (_, 0) => model.norm_usage(node),
        _ => {
            // the daemon has overwritten the numbers of a `FairShare=parent` node by those of its
            // parent
            let node = model.job_node(node);
            let sum = model.level_shares(node);
            if sum == 0 {
                return model.norm_usage(node);
            }
            // in the daemon's order: `0.01 * (shares / sum)` may differ in the last bit, and the
            // tickets by one
            let floor = MIN_USAGE * f64::from(model.shares(node)) / f64::from(sum);
            model.norm_usage(node).max(Extended::from(floor))
        }
    }
}

fn factor(norm_shares: f64, usage: Extended) -> f64 {
    if norm_shares <= 0.0 {
        return 0.0;
    }
    let shares = Extended::from(norm_shares);
    (shares / usage.max(Extended::from(MIN_USAGE) * shares)).to_f64()
}

/// Distributes the tickets from the root down. The siblings are summed in the daemon's order, which
/// decides the last bit.
fn distribute(model: &SlurmModel, active: &[bool], shares: &[f64], factors: &[f64]) -> Vec<f64> {
    // 14.11 has no lineage yet
    let lists = model.lists(Release::V22_05);
    let mut tickets = vec![0.0; active.len()];
    if active[0] {
        tickets[0] = ALL_TICKETS;
    }
    // the owner of a list precedes its members, so it has its tickets before they are divided
    for node in 0..active.len() {
        let mut members = lists[node].clone();
        members.retain(|member| active[member.index()]);
        let mut sum = 0.0;
        for member in &members {
            sum += shares[member.index()] * factors[member.index()];
        }
        for member in members {
            let member = member.index();
            // 0 / 0, where no sibling has a weight, becomes 0
            let part = tickets[node] * shares[member] * factors[member] / sum;
            tickets[member] = f64::from(part as u32);
        }
    }
    tickets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fairshare::policy::{shares_of_node, worked_example};
    use crate::fairshare::{AssessedTree, FairShare, Member, TreeBuilder};

    fn assessed(rules: PolicyRules, pending: &[&str]) -> AssessedTree {
        let tree = worked_example();
        let pending: Vec<NodeId> = pending.iter().filter_map(|name| tree.find(name)).collect();
        AssessedTree::new(tree, &TicketBased::new(rules, pending))
    }

    fn tickets(assessed: &AssessedTree, name: &str) -> Option<f64> {
        let node = assessed.tree().find(name).expect("in the tree");
        assessed
            .shares()
            .association(node)
            .expect("an association")
            .tickets
    }

    /// The document's example: only users 2 and 5 have pending jobs, and there are 1000 tickets.
    #[test]
    fn the_worked_example() {
        let assessed = assessed(PolicyRules::Documented, &["User2", "User5"]);
        for (names, given) in [(["A", "C", "User2"], "198"), (["D", "F", "User5"], "802")] {
            for name in names {
                assert_eq!(
                    tickets(&assessed, name)
                        .map(|tickets| format!("{:.0}", tickets / ALL_TICKETS * 1000.0)),
                    Some(given.into()),
                    "{name}"
                );
            }
        }
        let [user1, user2, user5] = ["User1", "User2", "User5"].map(|name| {
            assessed
                .shares_of(name)
                .expect("in the tree")
                .fairshare_factor
        });
        assert_eq!((format!("{user2:.2}"), user5), ("0.25".into(), 1.0));
        assert_eq!((user1, tickets(&assessed, "User1")), (0.0, None));
    }

    #[test]
    fn the_worked_examples_usages_and_factors() {
        let assessed = assessed(PolicyRules::Documented, &[]);
        for (name, usage, factor) in [
            ("A", "0.4500", "0.89"),
            ("B", "0.2000", "1.50"),
            ("C", "0.2500", "0.40"),
            ("D", "0.2500", "2.40"),
            ("E", "0.2500", "1.00"),
            ("F", "0.0035", "100.00"),
            ("User1", "0.2000", "1.50"),
            ("User2", "0.2500", "0.20"),
            ("User3", "0.0005", "100.00"),
            ("User4", "0.2500", "1.00"),
            ("User5", "0.0035", "100.00"),
        ] {
            let row = shares_of_node(&assessed, name);
            assert_eq!(format!("{:.4}", row.fairshare_tree_usage), usage, "{name}");
            let ours = weight(row.fairshare_perc, row.fairshare_tree_usage) / row.fairshare_perc;
            assert_eq!(format!("{ours:.2}"), factor, "{name}");
        }
    }

    /// The order of the two operations in the floor decides the last ticket: `0.01 * (1/3)` would
    /// give 461824440.
    #[test]
    fn the_floor_is_a_hundredth_of_the_shares_divided_by_the_level() {
        let mut builder = TreeBuilder::new("root");
        for (parent, member) in [
            ("root", Member::group("a").shares(10)),
            ("root", Member::entity("other").shares(21)),
            ("a", Member::entity("one").shares(1)),
            ("a", Member::entity("two").shares(2)),
        ] {
            builder.add_under(parent, member).expect("sound");
        }
        let tree = builder.finish();
        let pending: Vec<NodeId> = tree
            .nodes()
            .filter(|&node| tree.kind(node) == NodeKind::Entity)
            .collect();
        let assessed = AssessedTree::new(tree, &TicketBased::new(PolicyRules::Scheduler, pending));
        let given = ["a", "one", "two"].map(|name| tickets(&assessed, name));
        assert_eq!(
            given,
            [1_385_473_320.0, 461_824_439.0, 923_648_879.0].map(Some)
        );
    }

    #[test]
    fn without_pending_jobs_no_tickets_are_distributed() {
        for rules in [PolicyRules::Documented, PolicyRules::Scheduler] {
            let assessed = assessed(rules, &[]);
            assert_eq!(
                assessed
                    .shares_of("User5")
                    .map(|shares| shares.fairshare_factor),
                Some(0.0)
            );
            assert_eq!(tickets(&assessed, "root"), None);
        }
    }
}
