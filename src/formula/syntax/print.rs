//! Writes a syntax tree as text, without recursion.

use std::fmt::{self, Display, Formatter};

use crate::formula::syntax::grammar::is_reserved;
use crate::formula::syntax::{Expr, NodeId, NodeKind};
use crate::python::{BinaryOperator, UnaryOperator};

/// A part of the text that is still to be written. The parts are on a stack, the next one on top.
enum Step<'e> {
    Node(NodeId),
    Text(&'e str),
}

impl Display for Expr {
    /// The formula with normalised spaces: one around binary operators (none around `**`) and one after a comma.
    /// Literals, names and parentheses are unchanged.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut steps = vec![Step::Node(self.root())];
        while let Some(step) = steps.pop() {
            match step {
                Step::Text(text) => f.write_str(text)?,
                Step::Node(id) => {
                    let first = steps.len();
                    push_parts(self, id, &mut steps);
                    steps[first..].reverse();
                }
            }
        }
        Ok(())
    }
}

fn push_parts<'e>(expr: &'e Expr, id: NodeId, steps: &mut Vec<Step<'e>>) {
    let node = expr.node(id);
    match &node.kind {
        // Python reads `aſ` as the name `as`, which cannot be written like that
        NodeKind::Name(text) if is_reserved(text) => steps.push(Step::Text(node.span.slice(expr.text()))),
        NodeKind::Literal { text, .. } | NodeKind::Name(text) => steps.push(Step::Text(text)),
        NodeKind::Unsupported { .. } => steps.push(Step::Text(node.span.slice(expr.text()))),
        NodeKind::Unary { op, operand } => {
            steps.push(Step::Text(op.symbol()));
            if *op == UnaryOperator::Not {
                steps.push(Step::Text(" "));
            }
            steps.push(Step::Node(*operand));
        }
        NodeKind::Binary { op: BinaryOperator::Power, left, right } => {
            steps.extend([Step::Node(*left), Step::Text("**"), Step::Node(*right)]);
        }
        NodeKind::Binary { op, left, right } => {
            steps.push(Step::Node(*left));
            push_spaced(op.symbol(), steps);
            steps.push(Step::Node(*right));
        }
        NodeKind::Comparison { operators, operands } => {
            let symbols = operators.iter().map(|op| op.symbol());
            push_chain(operands, symbols, steps);
        }
        NodeKind::Boolean { op, operands } => push_chain(operands, std::iter::repeat(op.symbol()), steps),
        NodeKind::Conditional { then, condition, otherwise } => {
            push_chain(&[*then, *condition, *otherwise], ["if", "else"].into_iter(), steps);
        }
        NodeKind::Call { callee, positional, keywords } => {
            steps.extend([Step::Node(*callee), Step::Text("(")]);
            push_list(positional, steps);
            for (index, keyword) in keywords.iter().enumerate() {
                if index > 0 || !positional.is_empty() {
                    steps.push(Step::Text(", "));
                }
                steps.extend([Step::Text(&keyword.name), Step::Text("="), Step::Node(keyword.value)]);
            }
            steps.push(Step::Text(")"));
        }
        NodeKind::Parenthesized(inner) => steps.extend([Step::Text("("), Step::Node(*inner), Step::Text(")")]),
        NodeKind::Tuple { items, parenthesized } => {
            let (open, close) = if *parenthesized { ("(", ")") } else { ("", "") };
            steps.push(Step::Text(open));
            push_list(items, steps);
            steps.push(Step::Text(if items.len() == 1 { "," } else { "" }));
            steps.push(Step::Text(close));
        }
        NodeKind::List(items) => {
            steps.push(Step::Text("["));
            push_list(items, steps);
            steps.push(Step::Text("]"));
        }
    }
}

fn push_spaced<'e>(symbol: &'e str, steps: &mut Vec<Step<'e>>) {
    steps.extend([Step::Text(" "), Step::Text(symbol), Step::Text(" ")]);
}

fn push_chain<'e>(operands: &[NodeId], symbols: impl Iterator<Item = &'e str>, steps: &mut Vec<Step<'e>>) {
    let Some((&first, others)) = operands.split_first() else { return };
    steps.push(Step::Node(first));
    for (&operand, symbol) in others.iter().zip(symbols) {
        push_spaced(symbol, steps);
        steps.push(Step::Node(operand));
    }
}

fn push_list<'e>(items: &[NodeId], steps: &mut Vec<Step<'e>>) {
    for (index, &item) in items.iter().enumerate() {
        if index > 0 {
            steps.push(Step::Text(", "));
        }
        steps.push(Step::Node(item));
    }
}
