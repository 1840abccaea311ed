//! The depth up to which every release of a version of CPython parses and compiles a formula.
//!
//! Beyond it, the parser raises a `MemoryError`, which the scheduler does not notice, the compiler
//! a `RecursionError`, and the parser up to 3.8 sometimes a `SyntaxError`. Where each begins
//! depends on the release and on the stack of the caller, so nothing is said of a formula that is
//! deeper. Measured with `eval` on each version.

use crate::formula::syntax::{Expr, ExprId, ExprKind};
use crate::python::{BinaryOperator, PythonVersion};

/// The deepest tree of operators and calls. The compiler up to 3.12 reaches 2994, later ones 9997.
const MAX_HEIGHT: u32 = 2900;

/// What the parser needs.
struct Parser {
    /// Its recursion, or the entries of its stack, without those of the innermost name.
    frames: u32,
    brackets: u32,
    list: u32,
}

/// The parser since 3.9 has 6000 frames.
const PEG: Parser = Parser {
    frames: 5900,
    brackets: 28,
    list: 30,
};
/// The parser up to 3.7 has 1500 entries.
const LL1: Parser = Parser {
    frames: 1450,
    brackets: 17,
    list: 17,
};

/// What each parser needs at most for an operator before its right operand.
const OPERATOR: u32 = 3;

/// Whether CPython may give up on a sub-expression as a formula.
pub(super) fn is_too_deep(expr: &Expr, root: ExprId, python: PythonVersion) -> bool {
    let parser = if python < PythonVersion::V3_9 {
        LL1
    } else {
        PEG
    };
    // fewer nodes cannot reach a limit, even if each is nested in the next
    if expr.nodes().len() < (parser.frames / parser.list) as usize {
        return false;
    }
    let mut sizes: Vec<(u32, u32)> = Vec::with_capacity(expr.nodes().len());
    for node in expr.nodes() {
        let (level, own_frames) = match &node.kind {
            // CPython's parser reads brackets, but its tree, which the compiler walks, has none
            ExprKind::Parenthesized(_) => (0, parser.brackets),
            ExprKind::Call { .. } => (1, parser.brackets),
            ExprKind::Tuple { .. } | ExprKind::List(_) => (1, parser.list),
            // all operands but those of a power are read one after the other
            ExprKind::Binary { op, .. } if *op != BinaryOperator::Power => (1, 0),
            _ => (1, OPERATOR),
        };
        let children = node
            .kind
            .children()
            .into_iter()
            .map(|child| sizes[child.index()]);
        let (height, frames) = children.fold((0, 0), |(height, frames), child| {
            (height.max(child.0), frames.max(child.1))
        });
        sizes.push((height + level, frames + own_frames));
    }
    sizes
        .get(root.index())
        .is_some_and(|(height, frames)| *height > MAX_HEIGHT || *frames > parser.frames)
}
