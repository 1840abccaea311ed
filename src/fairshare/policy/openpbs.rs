//! PP-718 as OpenPBS's scheduler computes it: in C `float` and `int`, so that large sums wrap and
//! small values underflow. The document's rules in double precision are in
//! [`documented_openpbs`](super::documented_openpbs).
//!
//! Source: `tests/golden/openpbs`: `trees.jsonl`, `jobs.jsonl` and every `pbsfs -g` and `-p` of
//! `cases.jsonl`.

use crate::fairshare::decay::IntervalDecay;
use crate::fairshare::{EntityShares, NodeId, Policy, ShareTable, ShareTree};

/// PP-718 in the arithmetic of OpenPBS's scheduler.
/// [`DocumentedOpenPbs`](crate::fairshare::DocumentedOpenPbs) is what its document says, in double
/// precision and without a least usage: the numbers differ, the more the smaller the usage is.
///
/// Three things give the numbers of a real scheduler for a tree that a program builds: usage that
/// starts at 1 ([`start_usage`](Self::start_usage)), this policy, and six decimals
/// ([`EntityShares::printed`]), as which a formula gets them.
///
/// ```
/// use job_sort_formula::fairshare::{AssessedTree, FairShare, Member, OpenPbs, DocumentedOpenPbs, TreeBuilder};
///
/// let mut builder = TreeBuilder::new("root");
/// for (group, shares) in [("group1", 40), ("group2", 60)] {
///     builder.add_under("root", Member::group(group).shares(shares))?;
/// }
/// builder.add_under("group1", Member::entity("Bob").shares(50).usage(100.0))?;
/// builder.add_under("group1", Member::entity("Cathy").shares(50).usage(100.0))?;
/// builder.add_under("group2", Member::entity("Suzy").shares(60))?;
/// builder.add_under("group2", Member::entity("Scott").shares(40).usage(1000.0))?;
/// let mut tree = builder.finish();
/// let documented = AssessedTree::new(tree.clone(), &DocumentedOpenPbs);
/// assert_eq!(documented.shares_of("Bob").map(|bob| bob.printed().fairshare_factor), Some(0.64842));
///
/// OpenPbs::start_usage(&mut tree);
/// let scheduler = AssessedTree::new(tree, &OpenPbs);
/// assert_eq!(scheduler.shares_of("Bob").map(|bob| bob.printed().fairshare_factor), Some(0.647718));
/// # Ok::<(), job_sort_formula::fairshare::TreeError>(())
/// ```
///
/// - The siblings' shares are summed in 32 bits and wrap: two of 2,000,000,000 make a negative sum
///   and percentages.
/// - A sum of -1 counts as unset: the next sibling uses the sum of itself and of those before it in
///   the file.
/// - Percentage and effective usage are rounded to `float` after every step; usage itself is a
///   `double`.
/// - The children of a group with percentage 0, and siblings whose shares sum to 0, have percentage
///   0.
/// - The effective usage of the root's children is their actual usage; that of the root is 0.
/// - The factor is `2^-q` as a `double`, where q is a `float` quotient; it is 0 if the percentage
///   is 0. If the shares of siblings wrap, it may exceed 1 and be infinite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenPbs;

impl OpenPbs {
    /// Gives the nodes of a tree the usage that they have after the scheduler has read its files.
    /// Every node starts at 1. The usage of an entity, if it has any, replaces its 1 and is added
    /// to the groups above it, in the order of the nodes. The own usage of a group, which the
    /// scheduler's files cannot hold, is ignored.
    pub fn start_usage(tree: &mut ShareTree) {
        let mut charged = Vec::new();
        for node in tree.nodes() {
            if tree.children(node).is_empty() && tree.own_usage(node) > 0.0 {
                charged.push(node);
            }
            tree.set_usage(node, IntervalDecay::FLOOR);
        }
        for node in charged {
            let usage = tree.own_usage(node);
            tree.set_usage(node, usage);
            tree.add_above(node, usage);
        }
    }
}

impl Policy for OpenPbs {
    fn assess(&self, tree: &ShareTree) -> ShareTable {
        let sums = sums_of_siblings(tree);
        let whole = tree.usage(tree.root());
        let mut rows: Vec<Floats> = Vec::with_capacity(tree.len());
        for node in tree.nodes() {
            // 0 / 0 if the root has no usage
            let actual = x86_nan((tree.usage(node) / whole) as f32);
            rows.push(match tree.parent(node) {
                None => Floats {
                    perc: 1.0,
                    tree_usage: 0.0,
                },
                Some(parent) => {
                    let above = rows[parent.index()];
                    let sum = sums[node.index()] as f32;
                    // as in `calc_fair_share_perc`, which tests the product and not its factors
                    let has_part = sum * above.perc != 0.0;
                    let (fraction, perc) = if has_part {
                        let fraction = shares_as_int(tree, node) as f32 / sum;
                        (fraction, x86_nan(fraction * above.perc))
                    } else {
                        (0.0, 0.0)
                    };
                    let effective = above.effective_usage(actual, fraction);
                    Floats {
                        perc,
                        tree_usage: if parent == tree.root() {
                            actual
                        } else {
                            effective
                        },
                    }
                }
            });
        }
        rows.into_iter()
            .map(Floats::into_shares)
            .collect::<ShareTable>()
            .with_jobs_of_groups()
    }
}

/// The numbers that the daemon keeps for a node.
#[derive(Debug, Clone, Copy)]
struct Floats {
    perc: f32,
    tree_usage: f32,
}

impl Floats {
    /// The effective usage of a child with the given actual usage and fraction of the siblings'
    /// shares.
    fn effective_usage(self, actual: f32, fraction: f32) -> f32 {
        x86_nan(actual + (self.tree_usage - actual) * fraction)
    }

    fn into_shares(self) -> EntityShares {
        let Self { perc, tree_usage } = self;
        let factor = if perc == 0.0 {
            0.0
        } else {
            // `pow`, as the scheduler has it; libm's is the same on every platform
            libm::pow(2.0, -f64::from(x86_nan(tree_usage / perc)))
        };
        EntityShares::from_policy(perc.into(), tree_usage.into(), factor)
    }
}

fn shares_as_int(tree: &ShareTree, node: NodeId) -> i32 {
    // the daemon reads a `long` and keeps an `int`: 4294967297 shares are 1
    tree.shares(node).count() as i32
}

/// The daemon's value for a sum that is not computed yet.
const UNSPECIFIED: i32 = -1;

/// For every node, the sum of shares that its own shares are divided by.
fn sums_of_siblings(tree: &ShareTree) -> Vec<i32> {
    let mut sums = vec![0i32; tree.len()];
    for parent in tree.nodes() {
        let children = tree.children(parent);
        let mut so_far = 0i32;
        for &child in children {
            so_far = so_far.wrapping_add(shares_as_int(tree, child));
            sums[child.index()] = so_far;
        }
        let mut sum = UNSPECIFIED;
        // the daemon prepends a child to its siblings, so it visits the last of the file first
        for &child in children.iter().rev() {
            if sum == UNSPECIFIED {
                sum = sums[child.index()];
            }
            sums[child.index()] = sum;
        }
    }
    sums
}

/// Every NaN that x86 arithmetic produces has its sign bit set, so the daemon prints `-nan`.
fn x86_nan(value: f32) -> f32 {
    if value.is_nan() {
        f32::NAN.copysign(-1.0)
    } else {
        value
    }
}
