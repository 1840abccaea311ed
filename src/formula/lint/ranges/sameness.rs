//! Which parts of a formula are written alike: they have the same value, for one and the same job.

use std::collections::HashMap;

use crate::formula::syntax::{Expr, Node, NodeId, NodeKind};

/// What tells a node from another, its children known by their classes.
#[derive(PartialEq, Eq, Hash)]
enum Shape<'e> {
    Leaf(&'e str),
    Node(u8, Vec<u8>, Vec<u32>),
    /// Like nothing else.
    Own(usize),
}

/// The class of every node; parentheses are of the class of what stands in them. No class at all in a formula
/// without a test, where nobody asks.
pub(super) fn classes(expr: &Expr) -> Vec<u32> {
    let is_test = |node: &Node| matches!(node.kind, NodeKind::Conditional { .. } | NodeKind::Boolean { .. });
    if !expr.nodes().iter().any(is_test) {
        return Vec::new();
    }
    let mut known: HashMap<Shape<'_>, u32> = HashMap::new();
    let mut classes: Vec<u32> = Vec::with_capacity(expr.nodes().len());
    for (index, node) in expr.nodes().iter().enumerate() {
        let class = match &node.kind {
            NodeKind::Parenthesised(inner) => classes[inner.index()],
            kind => {
                let next = known.len() as u32;
                *known.entry(shape(kind, index, &classes)).or_insert(next)
            }
        };
        classes.push(class);
    }
    classes
}

fn shape<'e>(kind: &'e NodeKind, index: usize, classes: &[u32]) -> Shape<'e> {
    let of = |children: &[NodeId]| children.iter().map(|child| classes[child.index()]).collect::<Vec<_>>();
    match kind {
        NodeKind::Literal { text, .. } | NodeKind::Name(text) => Shape::Leaf(text),
        NodeKind::Unary { op, operand } => Shape::Node(1, vec![*op as u8], of(&[*operand])),
        NodeKind::Binary { op, left, right } => Shape::Node(2, vec![*op as u8], of(&[*left, *right])),
        NodeKind::Comparison { operators, operands } => {
            Shape::Node(3, operators.iter().map(|&op| op as u8).collect(), of(operands))
        }
        NodeKind::Boolean { op, operands } => Shape::Node(4, vec![*op as u8], of(operands)),
        NodeKind::Conditional { then, condition, otherwise } => {
            Shape::Node(5, Vec::new(), of(&[*then, *condition, *otherwise]))
        }
        NodeKind::Call { callee, positional, keywords } if keywords.is_empty() => {
            let mut parts = of(&[*callee]);
            parts.extend(of(positional));
            Shape::Node(6, Vec::new(), parts)
        }
        _ => Shape::Own(index),
    }
}
