//! Compares the column `FairShare` that `sshare` printed with the factors that the policy in force computes, and looks for
//! the release or the policy that computes the column.

use super::PolicyName;
use super::policy::PolicySelection;
use super::tree::{SiteTree, full_name};
use crate::fairshare::{AssociationShares, NodeId, Release, Rules, ShareTree};

/// The error of a number with six decimals, and of its way over the daemon's wire.
const PRINTED_PRECISION: f64 = 1.5e-6;
/// The usage by which the total and an association's own may differ from the printed ones, which have no decimals.
const USAGE_PRECISION: f64 = 4.0;

/// The policies of the daemons that print the column.
const POLICIES: [PolicyName; 3] = [PolicyName::FairTree, PolicyName::Classic, PolicyName::DepthOblivious];

/// A factor that differs from the printed one.
struct Difference {
    node: NodeId,
    printed: f64,
    ours: f64,
}

/// The differences of a policy, and the number of factors that were compared.
struct Compared {
    count: usize,
    differences: Vec<Difference>,
}

/// A warning if the printed factors are not those of the policy in force, with the release or the policy that computes
/// them, if there is one. The policy that was chosen against the kind of the document is not compared.
pub(super) fn differs_from_printed(tree: &SiteTree, policy: &PolicySelection) -> Option<String> {
    let (source_name, printed) = tree.printed_fairshare()?;
    let is_fair_tree = policy.name == PolicyName::FairTree;
    let is_of_its_kind = tree.slurm_origin()?.is_fair_tree.is_none_or(|printed| printed == is_fair_tree);
    if policy.rules == Rules::Documented || !POLICIES.contains(&policy.name) || !is_of_its_kind {
        return None;
    }
    let shares = tree.share_tree().ok()?;
    let compared = compare(&shares, printed, policy, (policy.name, policy.release));
    let first = compared.differences.first()?;
    let (count, all) = (compared.differences.len(), compared.count);
    let name = full_name(&shares, first.node);
    let advice = match reproduces(&shares, printed, policy) {
        Some(options) => format!("{options} gives the printed numbers"),
        None => {
            "usage is printed without decimals, and other settings of Slurm, such as `FairShareDampeningFactor`, may \
                 have been in force"
                .to_owned()
        }
    };
    Some(format!(
        "`{source_name}`: the column FairShare differs from what {} of Slurm {} computes for {count} of {all} \
         associations, such as `{name}`: printed {:.6}, computed {:.6}; {advice}",
        policy.name.as_str(),
        policy.release.as_str(),
        first.printed,
        first.ours
    ))
}

/// The options under which every factor is as printed.
fn reproduces(tree: &ShareTree, printed: &[Option<f64>], policy: &PolicySelection) -> Option<String> {
    let releases = [Release::V22_05, Release::V26_11];
    let mut candidates: Vec<_> = POLICIES.iter().flat_map(|&name| releases.map(|release| (name, release))).collect();
    // another release is likelier than another policy
    candidates.sort_by_key(|&(name, release)| (name != policy.name, release != policy.release));
    let found = candidates.into_iter().skip(1).find(|&candidate| {
        let compared = compare(tree, printed, policy, candidate);
        compared.differences.is_empty() && compared.count > 0
    });
    let (name, release) = found?;
    let mut options = Vec::new();
    if name != policy.name {
        options.push(format!("--policy {}", name.as_str()));
    }
    if release != policy.release {
        options.push(format!("--slurm-release {}", release.as_str()));
    }
    Some(format!("`{}`", options.join(" ")))
}

fn compare(
    tree: &ShareTree,
    printed: &[Option<f64>],
    policy: &PolicySelection,
    (name, release): (PolicyName, Release),
) -> Compared {
    let shares = policy.policy_of(name, release, &[]).assess(tree);
    let total = tree.usage(tree.root());
    let mut compared = Compared { count: 0, differences: Vec::new() };
    for (node, printed) in tree.nodes().skip(1).zip(printed) {
        let (Some(printed), Some(association)) = (*printed, shares.association(node)) else { continue };
        let Some(ours) = association.fairshare else { continue };
        compared.count += 1;
        if (ours - printed).abs() > tolerance(&association, ours, total, name) {
            compared.differences.push(Difference { node, printed, ours });
        }
    }
    compared
}

/// The largest difference that printing explains: that of the factor's six decimals, and, for a factor of the form
/// `2^-(usage/shares)`, that of a usage without decimals. The ranks of fair tree are whole numbers.
fn tolerance(association: &AssociationShares, factor: f64, total: f64, name: PolicyName) -> f64 {
    let shares = association.norm_shares.unwrap_or(0.0);
    if name == PolicyName::FairTree || total <= 0.0 || shares <= 0.0 {
        return PRINTED_PRECISION;
    }
    PRINTED_PRECISION + factor * std::f64::consts::LN_2 * USAGE_PRECISION / (total * shares)
}
