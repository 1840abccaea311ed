//! The depth limits of CPython's compiler, and so of OpenPBS.
//!
//! Measured on CPython 3.11, with `eval` called at module level as the scheduler does: a tree deeper than
//! [`MAX_DEPTH`] is a `RecursionError`, and a text that needs more than [`MAX_FRAMES`] levels of the parser's
//! own recursion is a `MemoryError` (which the scheduler does not even notice).

use crate::formula::syntax::{Expr, Node, NodeId, NodeKind};
use crate::python::{BinaryOperator, ErrorKind, Raised};

/// The deepest tree that the compiler walks.
const MAX_DEPTH: u32 = 2997;

/// The deepest recursion of the parser.
const MAX_FRAMES: u32 = 6000;

/// The frames that the parser needs for a number: one for each level of precedence, two for left-associative levels.
const LEAF_FRAMES: u32 = 25;

/// The greatest number of frames that a node needs beyond those of its deepest child.
const MAX_FRAMES_OF_A_NODE: u32 = 30;

/// How much a limit varies with the depth from which the compiler is called.
const TOLERANCE: i64 = 60;

/// The exception that CPython raises at compile time, if the formula exceeds a limit.
pub(super) fn check(expr: &Expr) -> Option<Raised> {
    // so few nodes cannot reach a limit, even if each is nested in the next
    if expr.nodes().len() < ((MAX_FRAMES - LEAF_FRAMES) / MAX_FRAMES_OF_A_NODE) as usize {
        return None;
    }
    let root = measure(expr)?;
    if root.frames + LEAF_FRAMES > MAX_FRAMES {
        return Some(Raised::new(ErrorKind::Memory, ""));
    }
    let too_deep = || Raised::new(ErrorKind::Recursion, "maximum recursion depth exceeded during compilation");
    (root.depth > MAX_DEPTH).then(too_deep)
}

/// Whether CPython compiles the tree; `None` near a limit, where the depth of the call decides.
pub fn compiles(expr: &Expr) -> Option<bool> {
    let root = measure(expr)?;
    let above = |tolerance: i64| {
        i64::from(root.depth) > i64::from(MAX_DEPTH) + tolerance
            || i64::from(root.frames + LEAF_FRAMES) > i64::from(MAX_FRAMES) + tolerance
    };
    match (above(-TOLERANCE), above(TOLERANCE)) {
        (false, _) => Some(true),
        (true, true) => Some(false),
        (true, false) => None,
    }
}

/// The size of the whole tree.
fn measure(expr: &Expr) -> Option<Size> {
    let mut sizes: Vec<Size> = Vec::with_capacity(expr.nodes().len());
    for node in expr.nodes() {
        sizes.push(Size::new(&node.kind, || ends_in_comma(expr, node), &sizes));
    }
    sizes.last().copied()
}

/// The depths that CPython reaches in a node.
#[derive(Clone, Copy, Default)]
struct Size {
    /// The height of the tree. Parentheses do not count.
    depth: u32,
    /// The frames that the parser needs beyond those of a number.
    frames: u32,
}

impl Size {
    /// The size of a node from the sizes of its children. The parser tries to read an item after every comma and
    /// between empty brackets.
    fn new(kind: &NodeKind, ends_in_comma: impl Fn() -> bool, sizes: &[Self]) -> Self {
        let own = u32::from(!matches!(kind, NodeKind::Parenthesized(_)));
        let mut size = Self { depth: own, frames: 0 };
        let mut beyond = |child: &NodeId, frames: u32| {
            let below = sizes.get(child.index()).copied().unwrap_or_default();
            size.frames = size.frames.max(below.frames + frames);
            size.depth = size.depth.max(below.depth + own);
        };
        let mut least = 0;
        match kind {
            NodeKind::Unary { operand, .. } => beyond(operand, 1),
            NodeKind::Binary { op, left, right } => {
                beyond(left, 0);
                beyond(right, if *op == BinaryOperator::Power { 2 } else { 0 });
            }
            NodeKind::Comparison { operands, .. } => sequence(operands, 0, 3, &mut beyond),
            NodeKind::Boolean { operands, .. } => sequence(operands, 0, 2, &mut beyond),
            NodeKind::Conditional { then, condition, otherwise } => {
                sequence(&[*then, *condition], 0, 0, &mut beyond);
                beyond(otherwise, 1);
            }
            NodeKind::Parenthesized(inner) => beyond(inner, 28),
            NodeKind::Tuple { items, parenthesized: true } => {
                least = if items.is_empty() { 28 } else { 30 };
                sequence(items, 28, 30, &mut beyond);
            }
            NodeKind::Tuple { items, parenthesized: false } => {
                least = 2;
                sequence(items, 0, 2, &mut beyond);
            }
            NodeKind::List(items) => {
                least = if ends_in_comma() { 30 } else { 29 };
                sequence(items, 29, 30, &mut beyond);
            }
            NodeKind::Call { callee, positional, keywords } => {
                least = if ends_in_comma() { 28 } else { 24 };
                beyond(callee, 0);
                sequence(positional, 24, 28, &mut beyond);
                let values: Vec<_> = keywords.iter().map(|keyword| keyword.value).collect();
                sequence(&values, if positional.is_empty() { 27 } else { 28 }, 28, &mut beyond);
            }
            NodeKind::Literal { .. } | NodeKind::Name(_) | NodeKind::Unsupported { .. } => {}
        }
        size.frames = size.frames.max(least);
        size
    }
}

/// Adds items, of which the first needs fewer frames than the rest.
fn sequence(items: &[NodeId], first: u32, rest: u32, beyond: &mut impl FnMut(&NodeId, u32)) {
    for (index, item) in items.iter().enumerate() {
        beyond(item, if index == 0 { first } else { rest });
    }
}

/// Whether a comma precedes the closing bracket; with two items or more it does not matter.
fn ends_in_comma(expr: &Expr, node: &Node) -> bool {
    let inside = node.span.slice(expr.text());
    inside.get(..inside.len().saturating_sub(1)).is_some_and(|inside| inside.trim_end().ends_with(','))
}
