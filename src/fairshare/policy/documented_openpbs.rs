//! PP-718, the design document of `fairshare_perc`, `fairshare_tree_usage` and `fairshare_factor`,
//! in double precision. What the OpenPBS daemon computes is in [`openpbs`](super::openpbs).

use crate::fairshare::ShareTree;
use crate::fairshare::policy::normalization::Normalized;
use crate::fairshare::policy::{EntityShares, Policy, ShareTable};

/// The rules of PP-718, "Add fairshare usage values to the job_sort_formula", in double precision.
/// A real scheduler's numbers are those of [`OpenPbs`](crate::fairshare::OpenPbs), which the policy
/// `pbs` of the command, of C and of Python computes.
///
/// - `fairshare_perc` is the node's fraction of its siblings' shares times its parent's
///   `fairshare_perc`; the root's is 1.
/// - `fairshare_tree_usage` is `actual + (parent's - actual) * fraction`, where actual usage is a
///   fraction of all usage; the root's children use their actual usage.
/// - `fairshare_factor` is `2^-(fairshare_tree_usage / fairshare_perc)`, and 0 when
///   `fairshare_perc` is 0.
///
/// The document does not say, and this implementation decides: in a tree without usage every actual
/// usage is 0; where the siblings' shares sum to 0 each fraction is 0; a node with
/// [`Shares::Parent`](crate::fairshare::Shares::Parent) has its parent's numbers (its own actual
/// usage when the parent is the root); the root uses its actual usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DocumentedOpenPbs;

impl Policy for DocumentedOpenPbs {
    fn assess(&self, tree: &ShareTree) -> ShareTable {
        let mut rows: Vec<EntityShares> = Vec::with_capacity(tree.len());
        for (node, own) in tree.nodes().zip(Normalized::table(tree)) {
            let actual = own.norm_usage;
            let effective = match tree.parent(node) {
                Some(parent) if parent != tree.root() => {
                    let above = rows[parent.index()].fairshare_tree_usage;
                    actual + (above - actual) * own.fraction
                }
                _ => actual,
            };
            rows.push(entity_shares(own.norm_shares, effective));
        }
        rows.into_iter().collect()
    }
}

fn entity_shares(perc: f64, tree_usage: f64) -> EntityShares {
    let factor = if perc == 0.0 {
        0.0
    } else {
        // libm's, not the C library's: the same on every platform
        libm::exp2(-(tree_usage / perc))
    };
    EntityShares::from_policy(perc, tree_usage, factor)
}
