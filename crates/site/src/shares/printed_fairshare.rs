//! Compares the column `FairShare` that `sshare` printed with the factors that the policy in force
//! computes, and looks for the release or the policy that computes the column.

use std::collections::HashMap;

use job_sort_formula::diagnostic::{Message, Need};
use job_sort_formula::fairshare::{AssociationShares, NodeId, PolicyRules, Release, ShareTree};

use crate::PolicyName;
use crate::shares::policy_selection::PolicySelection;
use crate::shares::site_tree::{SiteTree, TreeOrigin, full_name};

/// The largest error of a number that the daemon sent and `sshare` printed with six decimals.
const PRINTED_PRECISION: f64 = 1.5e-6;
/// The usage by which the total and an association's own may differ from the printed ones, which
/// have no decimals.
const USAGE_PRECISION: f64 = 4.0;

/// The policies of the daemons that print the column.
const POLICIES: [PolicyName; 3] = [
    PolicyName::FairTree,
    PolicyName::Classic,
    PolicyName::DepthOblivious,
];

/// A factor that differs from the printed one.
struct Difference {
    node: NodeId,
    printed: f64,
    computed: f64,
}

/// The differences of a policy, and the number of factors that were compared.
#[derive(Default)]
struct Compared {
    count: usize,
    differences: Vec<Difference>,
}

/// Compares the printed factors with those of the policy in force, and returns a warning if they
/// differ, with the release or the policy that computes the printed ones, if there is one. Nothing
/// is compared under documented rules, under a policy that prints no such column, or if the
/// document was printed under fair tree and the policy is another, or the reverse.
pub fn compare_with_printed(tree: &SiteTree, policy: &PolicySelection) -> Option<Message> {
    let (source_name, printed) = tree.printed_fairshare()?;
    let is_fair_tree = policy.name == PolicyName::FairTree;
    let is_of_its_kind = match tree.origin? {
        TreeOrigin::Slurm {
            is_fair_tree: under,
        } => under != Some(!is_fair_tree),
        TreeOrigin::FluxAccounting => false,
    };
    if policy.rules == PolicyRules::Documented
        || !POLICIES.contains(&policy.name)
        || !is_of_its_kind
    {
        return None;
    }
    let shares = tree.share_tree().ok()?;
    let compared = compare(&shares, printed, policy, (policy.name, policy.release));
    let first = compared.differences.first()?;
    let count = compared.differences.len();
    let all = compared.count;
    let name = full_name(&shares, first.node);
    let advice = match find_reproducing(&shares, printed, policy) {
        Some((policy, release)) => Message::asking("", [Need::PolicyOfRelease(policy.as_str(), release.as_str())]),
        None => {
            "usage is printed without decimals, and other settings of Slurm, such as `FairShareDampeningFactor`, may \
                 have been in force"
                .into()
        }
    };
    let difference = format!(
        "`{source_name}`: the column FairShare differs from what {} of Slurm {} computes for {count} of {all} \
         associations, such as `{name}`: printed {:.6}, computed {:.6}; ",
        policy.name.as_str(),
        policy.release.as_str(),
        first.printed,
        first.computed
    );
    Some(advice.after(difference))
}

/// Whether the printed factors are those of the first cycle of slurmctld under `depth-oblivious`, in
/// which they depend on the order of the pending jobs; `users` are those of these jobs. The policy
/// then follows them.
pub fn follow_first_cycle(tree: &SiteTree, policy: &mut PolicySelection, users: &[String]) {
    if policy.name != PolicyName::DepthOblivious || policy.rules != PolicyRules::Scheduler {
        return;
    }
    let Some((_, printed)) = tree.printed_fairshare() else {
        return;
    };
    let Ok(shares) = tree.share_tree() else {
        return;
    };
    let in_force = (policy.name, policy.release);
    let settled = compare(&shares, printed, policy, in_force).differences;
    if settled.is_empty() {
        return;
    }
    let mut nodes = HashMap::new();
    for node in shares.nodes() {
        nodes.insert(full_name(&shares, node), node);
    }
    let mut requested = Vec::new();
    for user in users {
        requested.extend(nodes.get(user));
    }
    policy.first_cycle = Some(requested);
    let first_cycle = compare(&shares, printed, policy, in_force).differences;
    if first_cycle.len() >= settled.len() {
        policy.first_cycle = None;
    }
}

/// Searches the release or the policy under which every factor is as printed, and returns both.
fn find_reproducing(
    tree: &ShareTree,
    printed: &[Option<f64>],
    policy: &PolicySelection,
) -> Option<(PolicyName, Release)> {
    let mut candidates = Vec::new();
    for name in POLICIES {
        candidates.push((name, Release::V22_05));
        candidates.push((name, Release::V26_11));
    }
    // another release is likelier than another policy
    candidates.sort_by_key(|&(name, release)| (name != policy.name, release != policy.release));
    for &candidate in &candidates[1..] {
        let compared = compare(tree, printed, policy, candidate);
        if compared.differences.is_empty() && compared.count > 0 {
            return Some(candidate);
        }
    }
    None
}

fn compare(
    tree: &ShareTree,
    printed: &[Option<f64>],
    policy: &PolicySelection,
    (name, release): (PolicyName, Release),
) -> Compared {
    let shares = policy.build_policy_for(name, release, &[]).assess(tree);
    let total = tree.usage(tree.root());
    let mut compared = Compared::default();
    for (node, printed) in tree.nodes().skip(1).zip(printed) {
        let (Some(printed), Some(association)) = (*printed, shares.association(node)) else {
            continue;
        };
        let Some(computed) = association.fairshare else {
            continue;
        };
        compared.count += 1;
        if (computed - printed).abs() > tolerance(&association, computed, total, name) {
            compared.differences.push(Difference {
                node,
                printed,
                computed,
            });
        }
    }
    compared
}

/// The largest difference that printing explains: that of the factor's six decimals, and, for a
/// factor of the form `2^-(usage/shares)`, that of a usage without decimals. The ranks of fair tree
/// are whole numbers.
fn tolerance(association: &AssociationShares, factor: f64, total: f64, name: PolicyName) -> f64 {
    let shares = association.norm_shares.unwrap_or(0.0);
    if name == PolicyName::FairTree || total <= 0.0 || shares <= 0.0 {
        return PRINTED_PRECISION;
    }
    PRINTED_PRECISION + factor * std::f64::consts::LN_2 * USAGE_PRECISION / (total * shares)
}
