//! The depth limits of CPython's compiler, which OpenPBS therefore has too.
//!
//! Measured with `eval` called at module level as in the scheduler: a tree deeper than [`Limits::depth`] raises a
//! `RecursionError`, and a text for which the parser goes deeper than [`Limits::frames`] raises a `MemoryError`, which
//! the scheduler does not notice. In the parser up to 3.8 it is a `SyntaxError` if the last token of the text goes too deep.

use crate::formula::program::constant_folding;
use crate::formula::syntax::{Expr, ExprId, ExprKind, Node};
use crate::python::{BinaryOperator, ComparisonOperator, ErrorKind, PythonVersion, Raised, UnaryOperator};

/// The limits of one version of CPython.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// The deepest tree that the compiler walks.
    depth: u32,
    /// Whether what is constant is computed before the compiler walks the tree, without a limit.
    folds_first: bool,
    /// The deepest recursion of the parser, or the entries of its stack.
    frames: u32,
    /// What the parser needs for a name.
    leaf_frames: u32,
    /// What it needs beyond that for a number, and for an item that is not there.
    number_frames: u32,
    /// What the parser needs beyond that in each construct.
    parser: &'static ParserFrames,
}

/// What a parser needs in brackets and behind operators, beyond what the operand itself needs.
#[derive(Debug)]
struct ParserFrames {
    first_operand: u32,
    power: u32,
    next_of_comparison: u32,
    next_of_boolean: u32,
    parentheses: u32,
    first_of_list: u32,
    next_item: u32,
    empty_tuple: u32,
    empty_list: u32,
    bare_tuple: u32,
    empty_call: u32,
    first_argument: u32,
    first_keyword: u32,
    next_argument: u32,
}

/// The parser since 3.9 tries to read an item after every comma and between empty brackets.
const PEG: ParserFrames = ParserFrames {
    first_operand: 0,
    power: 2,
    next_of_comparison: 3,
    next_of_boolean: 2,
    parentheses: 28,
    first_of_list: 29,
    next_item: 30,
    empty_tuple: 28,
    empty_list: 29,
    bare_tuple: 2,
    empty_call: 24,
    first_argument: 24,
    first_keyword: 27,
    next_argument: 28,
};

/// The parser up to 3.7: an entry for each rule of the grammar from `testlist_comp` or `trailer` to `atom`.
const LL1: ParserFrames = ParserFrames {
    first_operand: 0,
    power: 2,
    next_of_comparison: 0,
    next_of_boolean: 0,
    parentheses: 16,
    first_of_list: 16,
    next_item: 16,
    empty_tuple: 0,
    empty_list: 0,
    bare_tuple: 0,
    empty_call: 0,
    first_argument: 17,
    first_keyword: 17,
    next_argument: 17,
};

/// The parser of 3.8, with the rule of `:=` in brackets.
const LL1_WITH_NAMED: ParserFrames = ParserFrames { parentheses: 17, first_of_list: 17, next_item: 17, ..LL1 };

/// The greatest number of frames that a node needs beyond those of its deepest child, in any version.
const MAX_FRAMES_OF_A_NODE: u32 = 30;

/// By how much a limit can differ, depending on the depth of the stack from which the compiler is called.
const TOLERANCE: i64 = 60;

/// What the parser up to 3.8 needs for the value of an assignment beyond what it needs in `eval`: six rules from `file_input`
/// to `testlist_star_expr` in the place of two.
const ENTRIES_OF_AN_ASSIGNMENT: i64 = 4;

impl Limits {
    /// Measured on each version with `eval`; 3.14 as 3.13. "What's New in Python 3.9" has the new parser.
    fn of(python: PythonVersion) -> Self {
        let peg =
            Self { depth: 2994, folds_first: false, frames: 6000, leaf_frames: 25, number_frames: 0, parser: &PEG };
        let ll1 = Self { frames: 1500, leaf_frames: 17, parser: &LL1, ..peg };
        match python.minor() {
            ..=6 => Self { depth: 2997, ..ll1 },
            7 => Self { folds_first: true, ..ll1 },
            8 => Self { folds_first: true, frames: 1700, parser: &LL1_WITH_NAMED, ..ll1 },
            9 => Self { folds_first: true, ..peg },
            10 | 11 => peg,
            12 => Self { number_frames: 1, ..peg },
            _ => Self { depth: 9997, number_frames: 1, ..peg },
        }
    }
}

/// The exception that CPython raises at compile time, if the formula exceeds a limit.
pub(super) fn check(expr: &Expr, python: PythonVersion) -> Option<Raised> {
    let limits = Limits::of(python);
    // fewer nodes than this cannot reach a limit, even if each is nested in the next
    if expr.nodes().len() < ((limits.frames - limits.leaf_frames) / MAX_FRAMES_OF_A_NODE) as usize {
        return None;
    }
    let root = measure(expr, limits, python)?;
    if root.frames + limits.leaf_frames > limits.frames {
        return Some(too_deep_for_the_parser(expr, &root, limits, python));
    }
    (root.depth > limits.depth)
        .then(|| Raised::new(ErrorKind::Recursion, "maximum recursion depth exceeded during compilation"))
}

/// Whether CPython compiles the tree as the value of an assignment; `None` near a limit, where the depth of the call decides.
/// The parser up to 3.8 has a stack of its own, so its limit is told exactly.
pub fn compiles(expr: &Expr, python: PythonVersion) -> Option<bool> {
    let limits = Limits::of(python);
    let root = measure(expr, limits, python)?;
    let excess_depth = i64::from(root.depth) - i64::from(limits.depth);
    let excess_frames = i64::from(root.frames + limits.leaf_frames) - i64::from(limits.frames);
    let is_measured = !expr.nodes().iter().any(|node| matches!(node.kind, ExprKind::Unsupported { .. }));
    let is_exact = python < PythonVersion::V3_9 && is_measured;
    if is_exact && excess_frames + ENTRIES_OF_AN_ASSIGNMENT > 0 {
        return Some(false);
    }
    let excess = if is_exact { excess_depth } else { excess_depth.max(excess_frames) };
    match excess {
        excess if excess <= -TOLERANCE => Some(true),
        excess if excess <= TOLERANCE => None,
        _ => Some(false),
    }
}

fn too_deep_for_the_parser(expr: &Expr, root: &Size, limits: Limits, python: PythonVersion) -> Raised {
    let is_at_end = expr.node(expr.root()).span.end as usize == expr.text().len();
    let fits_before_end = root.frames_before_end + limits.leaf_frames as i32 <= limits.frames as i32;
    match python {
        _ if python < PythonVersion::V3_9 && is_at_end && fits_before_end => {
            Raised::new(ErrorKind::Syntax, "unexpected EOF while parsing (<string>, line 1)")
        }
        _ if python < PythonVersion::V3_12 => Raised::new(ErrorKind::Memory, ""),
        _ => Raised::new(ErrorKind::Memory, "Parser stack overflowed - Python source too complex to parse"),
    }
}

/// The size of the whole tree.
fn measure(expr: &Expr, limits: Limits, python: PythonVersion) -> Option<Size> {
    let mut sizes: Vec<Size> = Vec::with_capacity(expr.nodes().len());
    let mut constants = Vec::new();
    for node in expr.nodes() {
        let mut size = Size::new(&node.kind, || ends_in_comma(expr, node), &sizes, limits);
        if limits.folds_first {
            let constant = constant_folding::constant(&node.kind, &constants, python);
            if constant.is_some() {
                size.depth = 1;
            } else if size.is_membership && matches!(node.kind, ExprKind::Unary { .. }) {
                // `not x in y` becomes `x not in y`
                size.depth -= 1;
            }
            constants.push(constant);
        }
        sizes.push(size);
    }
    sizes.last().copied()
}

/// The depths that CPython reaches in a node.
#[derive(Clone, Copy, Default)]
struct Size {
    /// The height of the tree. Parentheses do not count.
    depth: u32,
    /// The frames that the parser needs beyond those of a name.
    frames: u32,
    /// The same without the last token. An operator before an operand needs less than a name.
    frames_before_end: i32,
    /// Whether it is one `in` or `not in`, or a `not` before one.
    is_membership: bool,
}

impl Size {
    /// The size of a node from the sizes of its children. The parser tries to read an item after every comma and
    /// between empty brackets.
    fn new(kind: &ExprKind, ends_in_comma: impl Fn() -> bool, sizes: &[Self], limits: Limits) -> Self {
        let parser = limits.parser;
        let missing = limits.number_frames;
        let mut size = Self { frames_before_end: i32::MIN / 2, ..Self::default() };
        // the frames that the node needs whatever its children are
        let mut min_frames = 0;
        match kind {
            ExprKind::Unary { op, operand } => {
                size.frames_before_end = if *op == UnaryOperator::Not { NOT } else { SIGN };
                size.is_membership = *op == UnaryOperator::Not && is_membership(*operand, sizes);
                size.add_child(*operand, 1, sizes);
            }
            ExprKind::Binary { op, left, right } => {
                size.add_child(*left, parser.first_operand, sizes);
                size.add_child(*right, if *op == BinaryOperator::Power { parser.power } else { 0 }, sizes);
            }
            ExprKind::Comparison { operators, operands } => {
                size.is_membership = matches!(**operators, [ComparisonOperator::In | ComparisonOperator::NotIn]);
                size.add_children(operands, 0, parser.next_of_comparison, sizes);
            }
            ExprKind::Boolean { operands, .. } => size.add_children(operands, 0, parser.next_of_boolean, sizes),
            ExprKind::Conditional { then, condition, otherwise } => {
                size.add_children(&[*then, *condition], 0, 0, sizes);
                size.add_child(*otherwise, 1, sizes);
            }
            ExprKind::Parenthesized(inner) => {
                size.is_membership = is_membership(*inner, sizes);
                size.add_child(*inner, parser.parentheses, sizes);
            }
            ExprKind::Tuple { items, parenthesized: true } => {
                min_frames = match items.is_empty() {
                    true => parser.empty_tuple + missing,
                    false if ends_in_comma() => parser.next_item + missing,
                    false => parser.next_item,
                };
                size.add_children(items, parser.parentheses, parser.next_item, sizes);
            }
            ExprKind::Tuple { items, parenthesized: false } => {
                min_frames = parser.bare_tuple;
                size.add_children(items, 0, parser.bare_tuple, sizes);
            }
            ExprKind::List(items) => {
                min_frames = match items.is_empty() {
                    true => parser.empty_list + missing,
                    false if ends_in_comma() => parser.next_item + missing,
                    false => parser.empty_list,
                };
                size.add_children(items, parser.first_of_list, parser.next_item, sizes);
            }
            ExprKind::Call { callee, positional, keywords } => {
                min_frames = match positional.is_empty() && keywords.is_empty() {
                    true => parser.empty_call + missing,
                    false if ends_in_comma() => parser.next_argument + missing,
                    false => parser.empty_call,
                };
                size.add_child(*callee, 0, sizes);
                size.add_children(positional, parser.first_argument, parser.next_argument, sizes);
                let values: Vec<_> = keywords.iter().map(|keyword| keyword.value).collect();
                let first = if positional.is_empty() { parser.first_keyword } else { parser.next_argument };
                size.add_children(&values, first, parser.next_argument, sizes);
            }
            ExprKind::Literal { .. } => min_frames = limits.number_frames,
            ExprKind::Name(_) | ExprKind::Unsupported { .. } => {}
        }
        size.frames = size.frames.max(min_frames);
        if ends_in_bracket(kind) {
            size.frames_before_end = size.frames as i32;
        }
        if !matches!(kind, ExprKind::Parenthesized(_)) {
            size.depth += 1;
        }
        size
    }

    /// Adds children: the first with `first_frames`, all others with `other_frames`.
    fn add_children(&mut self, children: &[ExprId], first_frames: u32, other_frames: u32, sizes: &[Self]) {
        for (index, &child) in children.iter().enumerate() {
            self.add_child(child, if index == 0 { first_frames } else { other_frames }, sizes);
        }
    }

    /// Adds the next child in the order of the text.
    fn add_child(&mut self, child: ExprId, frames: u32, sizes: &[Self]) {
        let child = sizes.get(child.index()).copied().unwrap_or_default();
        let before = if self.depth > 0 { self.frames as i32 } else { self.frames_before_end };
        self.frames_before_end = before.max(child.frames_before_end + frames as i32);
        self.frames = self.frames.max(child.frames + frames);
        self.depth = self.depth.max(child.depth);
    }
}

/// Where the parser up to 3.8 reads the sign of an operand, relative to a name.
const SIGN: i32 = -3;

/// Where it reads `not`.
const NOT: i32 = -11;

fn is_membership(id: ExprId, sizes: &[Size]) -> bool {
    sizes.get(id.index()).is_some_and(|size| size.is_membership)
}

fn ends_in_bracket(kind: &ExprKind) -> bool {
    match kind {
        ExprKind::Tuple { parenthesized, .. } => *parenthesized,
        ExprKind::Parenthesized(_) | ExprKind::List(_) | ExprKind::Call { .. } => true,
        _ => false,
    }
}

/// Whether a comma precedes the closing bracket; with two items or more it does not matter.
fn ends_in_comma(expr: &Expr, node: &Node) -> bool {
    let inside = node.span.slice(expr.text());
    inside.get(..inside.len().saturating_sub(1)).is_some_and(|inside| inside.trim_end().ends_with(','))
}
