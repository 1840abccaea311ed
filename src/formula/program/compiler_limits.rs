//! The depth limits of CPython's compiler, which OpenPBS therefore has too.
//!
//! Measured on CPython 3.11, with `eval` called at module level as in the scheduler: a tree deeper than [`MAX_DEPTH`]
//! raises a `RecursionError`, and a text for which the parser recurses deeper than [`MAX_FRAMES`] raises a
//! `MemoryError`, which the scheduler does not notice.

use crate::formula::syntax::{Expr, ExprId, ExprKind, Node};
use crate::python::{BinaryOperator, ErrorKind, PythonVersion, Raised};

/// The deepest tree that the compiler walks.
const MAX_DEPTH: u32 = 2997;

/// The deepest recursion of the parser.
const MAX_FRAMES: u32 = 6000;

/// The frames that the parser needs for a number: one for each level of precedence, two for left-associative levels.
const LEAF_FRAMES: u32 = 25;

/// The greatest number of frames that a node needs beyond those of its deepest child.
const MAX_FRAMES_OF_A_NODE: u32 = 30;

/// By how much a limit can differ, depending on the depth of the stack from which the compiler is called.
const TOLERANCE: i64 = 60;

/// The exception that CPython raises at compile time, if the formula exceeds a limit.
pub(super) fn check(expr: &Expr, python: PythonVersion) -> Option<Raised> {
    // fewer nodes than this cannot reach a limit, even if each is nested in the next
    if expr.nodes().len() < ((MAX_FRAMES - LEAF_FRAMES) / MAX_FRAMES_OF_A_NODE) as usize {
        return None;
    }
    let root = measure(expr)?;
    if root.frames + LEAF_FRAMES > MAX_FRAMES {
        return Some(Raised::new(ErrorKind::Memory, ""));
    }
    (root.depth > MAX_DEPTH)
        .then(|| Raised::new(ErrorKind::Recursion, "maximum recursion depth exceeded during compilation"))
}

/// Whether CPython compiles the tree; `None` near a limit, where the depth of the call decides.
pub fn compiles(expr: &Expr, python: PythonVersion) -> Option<bool> {
    let root = measure(expr)?;
    let excess_depth = i64::from(root.depth) - i64::from(MAX_DEPTH);
    let excess_frames = i64::from(root.frames + LEAF_FRAMES) - i64::from(MAX_FRAMES);
    match excess_depth.max(excess_frames) {
        excess if excess <= -TOLERANCE => Some(true),
        excess if excess <= TOLERANCE => None,
        _ => Some(false),
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
    fn new(kind: &ExprKind, ends_in_comma: impl Fn() -> bool, sizes: &[Self]) -> Self {
        let mut size = Self::default();
        // the frames that the node needs whatever its children are
        let mut min_frames = 0;
        match kind {
            ExprKind::Unary { operand, .. } => size.add_child(*operand, 1, sizes),
            ExprKind::Binary { op, left, right } => {
                size.add_child(*left, 0, sizes);
                size.add_child(*right, if *op == BinaryOperator::Power { 2 } else { 0 }, sizes);
            }
            ExprKind::Comparison { operands, .. } => size.add_children(operands, 0, 3, sizes),
            ExprKind::Boolean { operands, .. } => size.add_children(operands, 0, 2, sizes),
            ExprKind::Conditional { then, condition, otherwise } => {
                size.add_children(&[*then, *condition], 0, 0, sizes);
                size.add_child(*otherwise, 1, sizes);
            }
            ExprKind::Parenthesized(inner) => size.add_child(*inner, 28, sizes),
            ExprKind::Tuple { items, parenthesized: true } => {
                min_frames = if items.is_empty() { 28 } else { 30 };
                size.add_children(items, 28, 30, sizes);
            }
            ExprKind::Tuple { items, parenthesized: false } => {
                min_frames = 2;
                size.add_children(items, 0, 2, sizes);
            }
            ExprKind::List(items) => {
                min_frames = if ends_in_comma() { 30 } else { 29 };
                size.add_children(items, 29, 30, sizes);
            }
            ExprKind::Call { callee, positional, keywords } => {
                min_frames = if ends_in_comma() { 28 } else { 24 };
                size.add_child(*callee, 0, sizes);
                size.add_children(positional, 24, 28, sizes);
                let values: Vec<_> = keywords.iter().map(|keyword| keyword.value).collect();
                size.add_children(&values, if positional.is_empty() { 27 } else { 28 }, 28, sizes);
            }
            ExprKind::Literal { .. } | ExprKind::Name(_) | ExprKind::Unsupported { .. } => {}
        }
        size.frames = size.frames.max(min_frames);
        size.depth += u32::from(!matches!(kind, ExprKind::Parenthesized(_)));
        size
    }

    /// Adds children: the first with `first_frames`, all others with `other_frames`.
    fn add_children(&mut self, children: &[ExprId], first_frames: u32, other_frames: u32, sizes: &[Self]) {
        for (index, &child) in children.iter().enumerate() {
            self.add_child(child, if index == 0 { first_frames } else { other_frames }, sizes);
        }
    }

    fn add_child(&mut self, child: ExprId, frames: u32, sizes: &[Self]) {
        let child = sizes.get(child.index()).copied().unwrap_or_default();
        self.frames = self.frames.max(child.frames + frames);
        self.depth = self.depth.max(child.depth);
    }
}

/// Whether a comma precedes the closing bracket; with two items or more it does not matter.
fn ends_in_comma(expr: &Expr, node: &Node) -> bool {
    let inside = node.span.slice(expr.text());
    inside.get(..inside.len().saturating_sub(1)).is_some_and(|inside| inside.trim_end().ends_with(','))
}
