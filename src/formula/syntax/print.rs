//! Writes a syntax tree as text, without recursion.

use std::fmt::{self, Display, Formatter, Write};

use crate::formula::syntax::comments::{Piece, pieces};
use crate::formula::syntax::grammar::is_reserved;
use crate::formula::syntax::{Expr, ExprId, ExprKind, Keyword};
use crate::python::{BinaryOperator, UnaryOperator};

/// A part of the text that is still to be written. The parts are on a stack, the next one on top.
enum Step<'e> {
    Node(ExprId),
    Text(&'e str),
    /// A part of the source, with its own spaces.
    Source(&'e str),
}

impl Display for Expr {
    /// The formula with normalised spaces: one around binary operators (none around `**`) and one
    /// after a comma. Literals, names and parentheses are unchanged. What is not arithmetic keeps
    /// its spaces, but never more than one.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut steps = vec![Step::Node(self.root())];
        while let Some(step) = steps.pop() {
            match step {
                Step::Text(text) => f.write_str(text)?,
                Step::Source(text) => write_source(text, f)?,
                Step::Node(id) => {
                    let first = steps.len();
                    push_parts(self, id, &mut steps);
                    // the part that comes next belongs on top
                    steps[first..].reverse();
                }
            }
        }
        Ok(())
    }
}

/// Writes one space for the blanks and comments between two tokens.
fn write_source(text: &str, f: &mut Formatter<'_>) -> fmt::Result {
    let mut follows_space = false;
    for piece in pieces(text) {
        match piece {
            Piece::Code(code) | Piece::String(code) => f.write_str(code)?,
            Piece::Blank(_) | Piece::Comment(_) if follows_space => {}
            Piece::Blank(_) | Piece::Comment(_) => f.write_char(' ')?,
        }
        follows_space = matches!(piece, Piece::Blank(_) | Piece::Comment(_));
    }
    Ok(())
}

fn push_parts<'e>(expr: &'e Expr, id: ExprId, steps: &mut Vec<Step<'e>>) {
    let node = expr.node(id);
    match &node.kind {
        // Python reads `aſ` as the name `as`, which cannot be written like that
        ExprKind::Name(text) if is_reserved(text) => {
            steps.push(Step::Text(node.span.slice(expr.text())))
        }
        ExprKind::Literal { text, .. } | ExprKind::Name(text) => steps.push(Step::Text(text)),
        ExprKind::Unsupported { .. } => steps.push(Step::Source(node.span.slice(expr.text()))),
        ExprKind::Unary { op, operand } => {
            steps.push(Step::Text(op.symbol()));
            if *op == UnaryOperator::Not {
                steps.push(Step::Text(" "));
            }
            steps.push(Step::Node(*operand));
        }
        ExprKind::Binary {
            op: BinaryOperator::Power,
            left,
            right,
        } => {
            steps.extend([Step::Node(*left), Step::Text("**"), Step::Node(*right)]);
        }
        ExprKind::Binary { op, left, right } => {
            steps.push(Step::Node(*left));
            push_spaced(op.symbol(), steps);
            steps.push(Step::Node(*right));
        }
        ExprKind::Comparison {
            operators,
            operands,
        } => {
            let symbols = operators.iter().map(|op| op.symbol());
            push_chain(operands, symbols, steps);
        }
        ExprKind::Boolean { op, operands } => {
            push_chain(operands, std::iter::repeat(op.symbol()), steps)
        }
        ExprKind::Conditional {
            then,
            condition,
            otherwise,
        } => {
            push_chain(
                &[*then, *condition, *otherwise],
                ["if", "else"].into_iter(),
                steps,
            );
        }
        ExprKind::Call {
            callee,
            positional,
            keywords,
        } => {
            steps.extend([Step::Node(*callee), Step::Text("(")]);
            push_arguments(expr, positional, keywords, steps);
            steps.push(Step::Text(")"));
        }
        ExprKind::Parenthesized(inner) => {
            steps.extend([Step::Text("("), Step::Node(*inner), Step::Text(")")])
        }
        ExprKind::Tuple {
            items,
            parenthesized,
        } => {
            let (open, close) = if *parenthesized { ("(", ")") } else { ("", "") };
            steps.push(Step::Text(open));
            push_list(items, steps);
            // without its comma, a tuple of one item is the item
            steps.push(Step::Text(if items.len() == 1 { "," } else { "" }));
            steps.push(Step::Text(close));
        }
        ExprKind::List(items) => {
            steps.push(Step::Text("["));
            push_list(items, steps);
            steps.push(Step::Text("]"));
        }
    }
}

fn push_spaced<'e>(symbol: &'e str, steps: &mut Vec<Step<'e>>) {
    steps.extend([Step::Text(" "), Step::Text(symbol), Step::Text(" ")]);
}

fn push_chain<'e>(
    operands: &[ExprId],
    symbols: impl Iterator<Item = &'e str>,
    steps: &mut Vec<Step<'e>>,
) {
    let Some((&first, others)) = operands.split_first() else {
        return;
    };
    steps.push(Step::Node(first));
    for (&operand, symbol) in others.iter().zip(symbols) {
        push_spaced(symbol, steps);
        steps.push(Step::Node(operand));
    }
}

/// The arguments in their order: `*x` and `**x` can follow named arguments.
fn push_arguments<'e>(
    expr: &Expr,
    positional: &[ExprId],
    keywords: &'e [Keyword],
    steps: &mut Vec<Step<'e>>,
) {
    let mut arguments = Vec::with_capacity(positional.len() + keywords.len());
    for &value in positional {
        arguments.push((expr.node(value).span.start, None, value));
    }
    for keyword in keywords {
        arguments.push((keyword.span.start, Some(&*keyword.name), keyword.value));
    }
    arguments.sort_by_key(|(start, ..)| *start);
    for (index, (_, name, value)) in arguments.into_iter().enumerate() {
        if index > 0 {
            steps.push(Step::Text(", "));
        }
        if let Some(name) = name {
            steps.extend([Step::Text(name), Step::Text("=")]);
        }
        steps.push(Step::Node(value));
    }
}

fn push_list<'e>(items: &[ExprId], steps: &mut Vec<Step<'e>>) {
    for (index, &item) in items.iter().enumerate() {
        if index > 0 {
            steps.push(Step::Text(", "));
        }
        steps.push(Step::Node(item));
    }
}
