//! PP-718 as the OpenPBS daemon computes it: in C `float` and `int`, so that big numbers wrap and small ones vanish.
//!
//! Found in `tests/golden/openpbs`: `trees.jsonl`, `jobs.jsonl` and every `pbsfs -g` and `-p` of `cases.jsonl`.

use crate::fairshare::{EntityShares, NodeId, Policy, ShareTree, TreeShares};

/// The daemon's own arithmetic.
///
/// - The siblings' shares are summed in 32 bits and wrap: two of 2,000,000,000 make a negative sum and percentages.
/// - A sum of -1 counts as no sum: the next sibling takes that of itself and those above it in the file.
/// - Percentage and effective usage are rounded to `float` after every step; usage itself is a `double`.
/// - The parts of a group whose own percentage is 0 are 0, as are those of siblings whose shares sum to 0.
/// - The root's children use their actual usage; the root's own is 0.
/// - The factor is `2^-q` as a `double`, q being a `float` quotient; it is 0 when the percentage is 0. Where the
///   shares of siblings wrapped it may be above 1, and infinite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SchedulerShares;

impl Policy for SchedulerShares {
    fn name(&self) -> &str {
        "pbs"
    }

    fn assess(&self, tree: &ShareTree) -> TreeShares {
        let sums = sums_of_siblings(tree);
        let whole = tree.usage(tree.root());
        let mut rows: Vec<Floats> = Vec::with_capacity(tree.len());
        for node in tree.nodes() {
            let actual = x86_nan((tree.usage(node) / whole) as f32);
            rows.push(match tree.parent(node) {
                None => Floats { perc: 1.0, tree_usage: 0.0 },
                Some(parent) => {
                    let above = rows[parent.index()];
                    let Cut { part, perc } = cut_of(shares_as_int(tree, node), sums[node.index()], above);
                    let counted = above.effective_usage(actual, part);
                    Floats { perc, tree_usage: if parent == tree.root() { actual } else { counted } }
                }
            });
        }
        rows.into_iter().map(Floats::numbers).collect()
    }
}

/// What the daemon keeps of a node.
#[derive(Debug, Clone, Copy)]
struct Floats {
    perc: f32,
    tree_usage: f32,
}

impl Floats {
    /// What a child with this actual usage and this part of the siblings' shares answers for.
    fn effective_usage(self, actual: f32, part: f32) -> f32 {
        x86_nan(actual + (self.tree_usage - actual) * part)
    }

    fn numbers(self) -> EntityShares {
        let Self { perc, tree_usage } = self;
        let factor = if perc == 0.0 { 0.0 } else { libm::pow(2.0, -f64::from(x86_nan(tree_usage / perc))) };
        EntityShares::new(perc.into(), tree_usage.into(), factor)
    }
}

fn shares_as_int(tree: &ShareTree, node: NodeId) -> i32 {
    tree.shares(node).count() as i32
}

/// What the daemon has for a sum that it has not taken yet.
const UNSPECIFIED: i32 = -1;

/// For every node the sum of the shares that its own are held against.
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
        for &child in children.iter().rev() {
            if sum == UNSPECIFIED {
                sum = sums[child.index()];
            }
            sums[child.index()] = sum;
        }
    }
    sums
}

/// What a node gets: a part of its parent's, and so a percentage of the whole.
struct Cut {
    part: f32,
    perc: f32,
}

/// Nothing at all, and not even a negative zero, where there is nothing to share out.
fn cut_of(shares: i32, sum: i32, above: Floats) -> Cut {
    if sum as f32 * above.perc == 0.0 {
        return Cut { part: 0.0, perc: 0.0 };
    }
    let part = shares as f32 / sum as f32;
    Cut { part, perc: x86_nan(part * above.perc) }
}

/// Every NaN that arises on x86 has its sign bit set, and the daemon prints it: `-nan`.
fn x86_nan(value: f32) -> f32 {
    if value.is_nan() { f32::NAN.copysign(-1.0) } else { value }
}
