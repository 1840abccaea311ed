//! Signs that mean something else outside Python: `,` and `%`.

use crate::diagnostic::{Applicability, Diagnostic, Fix, Span};
use crate::formula::lint::roles::Roles;
use crate::formula::syntax::{Expr, Node, NodeId, NodeKind};
use crate::python::{BinaryOperator, UnaryOperator};

/// Findings on commas that were meant as decimal points and on per cent signs.
pub(super) fn separators(expr: &Expr, roles: &Roles<'_>) -> Vec<Diagnostic> {
    let commas = expr.iter().flat_map(|(id, node)| decimal_commas(expr, id, node, roles));
    commas.chain(expr.nodes().iter().filter_map(|node| per_cent(expr, node))).collect()
}

/// `0,5`: digits on both sides of the comma and no blank, in a tuple that nothing takes as one.
fn decimal_commas(expr: &Expr, id: NodeId, node: &Node, roles: &Roles<'_>) -> Vec<Diagnostic> {
    let NodeKind::Tuple { items, .. } = &node.kind else { return Vec::new() };
    if is_taken_as_tuple(expr, id, roles) {
        return Vec::new();
    }
    let text = expr.text();
    let comma = |pair: &[NodeId]| {
        let [left, right] = [pair[0], pair[1]].map(|item| expr.node(item).span);
        let at = left.end as usize;
        let before = text[..at].rsplit(|c: char| !is_of_a_number(c)).next().unwrap_or("");
        let behind = text[right.start as usize..].split(|c: char| !is_of_a_number(c)).next().unwrap_or("");
        let is_decimal = right.start == left.end + 1 && is_digits(before) && is_digits(behind);
        is_decimal.then_some((at, before, behind))
    };
    items.windows(2).filter_map(comma).map(|(at, before, behind)| decimal_comma(at, before, behind)).collect()
}

fn decimal_comma(at: usize, before: &str, behind: &str) -> Diagnostic {
    let span = Span::new(at - before.len(), at + 1 + behind.len());
    let found = Diagnostic::error("JSF610", format!("`{before},{behind}` is two numbers in Python, not one"), span)
        .with_help("the decimal point is `.`; digits are grouped with `_` or not at all");
    let point = Fix { span: Span::new(at, at + 1), replacement: ".".into(), applicability: Applicability::Unsafe };
    found.with_fix(point)
}

/// Whether the tuple is an argument or an operand of `in`.
fn is_taken_as_tuple(expr: &Expr, id: NodeId, roles: &Roles<'_>) -> bool {
    let mut above = roles.parent(id);
    while let Some(parent) = above {
        match &expr.node(parent).kind {
            NodeKind::Parenthesised(_) => above = roles.parent(parent),
            NodeKind::Binary { .. } | NodeKind::Unary { .. } | NodeKind::Conditional { .. } => return false,
            _ => return true,
        }
    }
    false
}

/// `10% + x`, which Python reads as the remainder of 10 by `+x`.
fn per_cent(expr: &Expr, node: &Node) -> Option<Diagnostic> {
    let NodeKind::Binary { op: BinaryOperator::Modulo, left, right } = node.kind else { return None };
    let NodeKind::Literal { text: number, .. } = &expr.node(left).kind else { return None };
    let NodeKind::Unary { op: UnaryOperator::Plus | UnaryOperator::Minus, operand } = expr.node(right).kind else {
        return None;
    };
    let (left, right) = (expr.node(left).span, expr.node(right).span);
    let is_glued = expr.text()[left.end as usize..].starts_with('%');
    let is_loose = expr.node(operand).span.start > right.start + 1 && right.start > left.end + 1;
    let hundredth = number.parse::<f64>().ok()? / 100.0;
    (is_glued && is_loose).then(|| {
        Diagnostic::error(
            "JSF611",
            "`%` is the remainder of a division, not per cent",
            Span { end: left.end + 1, ..left },
        )
        .with_help("write the number itself")
        .replaced_by(hundredth.to_string(), Applicability::Unsafe)
    })
}

fn is_of_a_number(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.')
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
