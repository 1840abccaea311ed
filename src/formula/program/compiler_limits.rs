//! What is too deep for CPython's compiler, and so for OpenPBS, although it is short enough to be a formula.
//!
//! Measured on CPython 3.11, with `eval` called at module level as the scheduler does: a tree deeper than
//! [`MAX_DEPTH`] is a `RecursionError`, and a text that needs more than [`MAX_FRAMES`] levels of the parser's
//! own recursion is a `MemoryError` (which the scheduler does not even notice).

use crate::formula::number::{ErrorKind, Raised};
use crate::formula::operator::BinaryOperator;
use crate::formula::syntax::{Expr, NodeId, NodeKind};

/// The deepest tree that the compiler walks.
const MAX_DEPTH: u32 = 2997;

/// The deepest recursion of the parser.
const MAX_FRAMES: u32 = 6000;

/// What the parser needs for a formula that is one number.
const LEAF_FRAMES: u32 = 25;

/// What CPython raises before it evaluates anything; `None` for any formula that a person would write.
pub(super) fn check(expr: &Expr) -> Option<Raised> {
    let mut sizes: Vec<(u32, u32)> = Vec::with_capacity(expr.nodes().len());
    for node in expr.nodes() {
        let children = node.kind.children();
        let sizes_below = || children.iter().filter_map(|child| sizes.get(child.index()));
        let depth = sizes_below().map(|size| size.0).max().unwrap_or(0);
        let frames = sizes_below().map(|size| size.1).max().unwrap_or(LEAF_FRAMES);
        sizes.push((depth + own_depth(&node.kind), frames.max(own_frames(&node.kind, &sizes))));
    }
    let &(depth, frames) = sizes.last()?;
    if frames > MAX_FRAMES {
        return Some(Raised::new(ErrorKind::Memory, ""));
    }
    let too_deep = || Raised::new(ErrorKind::Recursion, "maximum recursion depth exceeded during compilation");
    (depth > MAX_DEPTH).then(too_deep)
}

/// Parentheses leave no trace in CPython's tree.
fn own_depth(kind: &NodeKind) -> u32 {
    u32::from(!matches!(kind, NodeKind::Parenthesised(_)))
}

/// The frames of this node, by its child that adds to its own.
fn own_frames(kind: &NodeKind, sizes: &[(u32, u32)]) -> u32 {
    let of = |child: &NodeId| sizes.get(child.index()).map_or(0, |size| size.1);
    let most = |children: &[NodeId]| children.iter().map(of).max().unwrap_or(0);
    match kind {
        NodeKind::Unary { operand, .. } => of(operand) + 1,
        NodeKind::Binary { op: BinaryOperator::Power, right, .. } => of(right) + 2,
        NodeKind::Conditional { otherwise, .. } => of(otherwise) + 1,
        NodeKind::Parenthesised(inner) => of(inner) + 28,
        NodeKind::Tuple { items, parenthesised: true } => most(items) + 28,
        NodeKind::List(items) => most(items) + 29,
        NodeKind::Call { positional, keywords, .. } => {
            let values: Vec<_> = keywords.iter().map(|keyword| keyword.value).collect();
            most(positional).max(most(&values)) + 24
        }
        _ => 0,
    }
}
