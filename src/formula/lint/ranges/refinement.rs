//! Refinement: narrows the values of the expressions that a condition tests.
//!
//! In `a / b if b > 0 else 0` the divisor is positive. The refinement applies to every expression with the same value
//! number, that is, with the same operation on operands with the same value numbers.

use std::collections::HashMap;

use crate::formula::lint::ranges::type_set::TypeSet;
use crate::formula::lint::ranges::value_set::ValueSet;
use crate::formula::syntax::{Expr, ExprKind};
use crate::python::{ComparisonOperator, MAX_EXACT_FLOAT};

/// The values of `a` for which `a op b` is true, or false without `holds`. For those of `b`, swap the operands and the
/// operator.
pub(super) fn refined(op: ComparisonOperator, a: ValueSet, b: ValueSet, holds: bool) -> ValueSet {
    use ComparisonOperator as Op;
    if !a.is_number() || !b.is_number() || b.bounds().is_none() {
        return a;
    }
    // a comparison with NaN is false, so that a false comparison implies nothing
    if !holds && b.may_be_nan() {
        return a;
    }
    let narrowed = match (op, holds) {
        (Op::Less, true) | (Op::GreaterOrEqual, false) => a.clipped(f64::NEG_INFINITY, below(a, b.most())),
        (Op::LessOrEqual, true) | (Op::Greater, false) => a.clipped(f64::NEG_INFINITY, b.most()),
        (Op::Greater, true) | (Op::LessOrEqual, false) => a.clipped(-below(a, -b.least()), f64::INFINITY),
        (Op::GreaterOrEqual, true) | (Op::Less, false) => a.clipped(b.least(), f64::INFINITY),
        (Op::Equal, true) | (Op::NotEqual, false) => {
            let values = a.clipped(b.least(), b.most());
            return if b.may_be_zero() { values } else { values.nonzero() };
        }
        (Op::Equal, false) | (Op::NotEqual, true) if b.single() == Some(0.0) => return a.nonzero(),
        _ => return a,
    };
    narrowed.or_nan(!holds && a.may_be_nan())
}

/// The greatest number below a bound; the bound itself where an integer can be between two doubles.
fn below(a: ValueSet, bound: f64) -> f64 {
    let may_be_between_doubles = a.types().intersects(TypeSet::INT) && bound.abs() > MAX_EXACT_FLOAT;
    if may_be_between_doubles { bound } else { bound.next_down() }
}

/// The operator for swapped operands.
pub(super) fn swapped(op: ComparisonOperator) -> ComparisonOperator {
    use ComparisonOperator as Op;
    match op {
        Op::Less => Op::Greater,
        Op::LessOrEqual => Op::GreaterOrEqual,
        Op::Greater => Op::Less,
        Op::GreaterOrEqual => Op::LessOrEqual,
        symmetric => symmetric,
    }
}

/// Identifies a value number: nodes with equal keys have the same operation on operands with the same value numbers.
#[derive(PartialEq, Eq, Hash)]
enum Key<'e> {
    /// The text of a name or a number.
    Leaf(&'e str),
    /// A tag for the kind of node, its operators, and the value numbers of its operands.
    Node(u8, Vec<u8>, Vec<u32>),
    /// The index of a node whose value no other node is known to have.
    Unique(usize),
}

/// The value number of every node: nodes with the same number have the same value for the same job. Empty for a formula
/// without conditions, which needs none.
pub(super) fn value_numbers(expr: &Expr) -> Vec<u32> {
    let mut kinds = expr.nodes().iter().map(|node| &node.kind);
    if !kinds.any(|kind| matches!(kind, ExprKind::Conditional { .. } | ExprKind::Boolean { .. })) {
        return Vec::new();
    }
    let mut known: HashMap<Key<'_>, u32> = HashMap::new();
    let mut numbers: Vec<u32> = Vec::with_capacity(expr.nodes().len());
    for (index, node) in expr.nodes().iter().enumerate() {
        let number = match &node.kind {
            ExprKind::Parenthesized(inner) => numbers[inner.index()],
            kind => {
                let next = known.len() as u32;
                *known.entry(key(kind, index, &numbers)).or_insert(next)
            }
        };
        numbers.push(number);
    }
    numbers
}

fn key<'e>(kind: &'e ExprKind, index: usize, numbers: &[u32]) -> Key<'e> {
    let (tag, operators) = match kind {
        ExprKind::Literal { text, .. } | ExprKind::Name(text) => return Key::Leaf(text),
        ExprKind::Unary { op, .. } => (1, vec![*op as u8]),
        ExprKind::Binary { op, .. } => (2, vec![*op as u8]),
        ExprKind::Comparison { operators, .. } => (3, operators.iter().map(|&op| op as u8).collect()),
        ExprKind::Boolean { op, .. } => (4, vec![*op as u8]),
        ExprKind::Conditional { .. } => (5, Vec::new()),
        ExprKind::Call { keywords, .. } if keywords.is_empty() => (6, Vec::new()),
        _ => return Key::Unique(index),
    };
    Key::Node(tag, operators, kind.children().iter().map(|child| numbers[child.index()]).collect())
}
