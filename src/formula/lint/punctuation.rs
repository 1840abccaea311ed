//! Punctuation that means something else in Python: `0,5` and `10%` for numbers, `2(x)` for a
//! product.

use super::parents::Parents;
use crate::diagnostic::{Applicability, Code, Diagnostic, Span};
use crate::formula::name_resolution::Resolution;
use crate::formula::syntax::{Expr, ExprId, ExprKind, Node};
use crate::python::{BinaryOperator, Function, UnaryOperator, Value};
use crate::schema::Schema;

/// Findings on decimal commas, percent signs and numbers that are called.
pub(super) fn check(expr: &Expr, schema: &Schema, parents: &Parents<'_>) -> Vec<Diagnostic> {
    let mut commas = Vec::new();
    let mut percent_signs = Vec::new();
    let mut called_numbers = Vec::new();
    for (id, node) in expr.iter() {
        if let ExprKind::Tuple { items, .. } = &node.kind
            && !is_used_as_tuple(expr, id, parents)
        {
            for pair in items.windows(2) {
                commas.extend(decimal_comma(expr, pair[0], pair[1]));
            }
        }
        percent_signs.extend(percent_sign(expr, node));
        called_numbers.extend(called_number(expr, node, schema));
    }
    commas.extend(percent_signs);
    commas.extend(called_numbers);
    commas
}

/// `0,5`: a comma between digits, without blanks, in a tuple that is not used as one.
fn decimal_comma(expr: &Expr, left: ExprId, right: ExprId) -> Option<Diagnostic> {
    let comma = Span {
        start: expr.node(left).span.end,
        end: expr.node(right).span.start,
    };
    let range = comma.range();
    // the text, because an item may be longer than its last number: `a + 0,5`
    let before = &expr.text()[..range.start];
    let before = &before[before.trim_end_matches(is_word_or_dot).len()..];
    let after = &expr.text()[range.end..];
    let after = &after[..after.len() - after.trim_start_matches(is_word_or_dot).len()];
    // exactly the comma: with a blank after it, a list is meant
    if range.len() != 1 || !is_digits(before) || !is_digits(after) {
        return None;
    }
    let span = Span::new(range.start - before.len(), range.end + after.len());
    let found = Diagnostic::new(
        Code::DecimalComma,
        format!("`{before},{after}` is two numbers in Python"),
        span,
    );
    if after.len() == 3 && before != "0" {
        // groups of three digits are thousands to some and decimals to others
        return Some(found.with_help(format!(
            "write the thousands as `{before}{after}`, or the decimal number as `{before}.{after}`"
        )));
    }
    Some(
        found
            .with_help("the decimal separator is `.`; digits can be grouped with `_`")
            .with_fix(comma, ".", Applicability::Unsafe),
    )
}

/// Whether the tuple is an argument or an operand of `in`.
fn is_used_as_tuple(expr: &Expr, id: ExprId, parents: &Parents<'_>) -> bool {
    let mut above = parents.parent(id);
    while let Some(parent) = above {
        match &expr.node(parent).kind {
            ExprKind::Parenthesized(_) => above = parents.parent(parent),
            ExprKind::Binary { .. } | ExprKind::Unary { .. } | ExprKind::Conditional { .. } => {
                return false;
            }
            _ => return true,
        }
    }
    false
}

/// `10% + x`, which Python reads as the remainder of 10 by `+x`.
fn percent_sign(expr: &Expr, node: &Node) -> Option<Diagnostic> {
    let ExprKind::Binary {
        op: BinaryOperator::Modulo,
        left,
        right,
    } = node.kind
    else {
        return None;
    };
    let ExprKind::Literal { text: number, .. } = &expr.node(left).kind else {
        return None;
    };
    let ExprKind::Unary {
        op: UnaryOperator::Plus | UnaryOperator::Minus,
        operand,
    } = expr.node(right).kind
    else {
        return None;
    };
    let left = expr.node(left).span;
    let right = expr.node(right).span;
    // `10% + x` is written like a percentage, `10 % +x` like a remainder
    let follows_directly = expr.text()[left.end as usize..].starts_with('%');
    let is_followed_by_blanks =
        expr.node(operand).span.start > right.start + 1 && right.start > left.end + 1;
    let hundredth = number.parse::<f64>().ok()? / 100.0;
    if !follows_directly || !is_followed_by_blanks {
        return None;
    }
    let span = Span {
        end: left.end + 1,
        ..left
    };
    let message = "`%` is the remainder operator, not a percent sign";
    Some(
        Diagnostic::new(Code::PercentSign, message, span)
            .with_help("write the percentage as a number")
            .replaced_by(hundredth.to_string(), Applicability::Unsafe),
    )
}

/// `2(x)`, which calls the number 2.
fn called_number(expr: &Expr, node: &Node, schema: &Schema) -> Option<Diagnostic> {
    let ExprKind::Call {
        callee,
        positional,
        keywords,
    } = &node.kind
    else {
        return None;
    };
    let called = expr.node(*callee);
    // a resource that hides a function has a finding of its own
    if let Some(name) = called.name()
        && Resolution::is_builtin(name, schema.python())
        && matches!(Resolution::from_schema(name, schema), Resolution::Input)
    {
        return None;
    }
    if !is_number(expr, *callee, schema) {
        return None;
    }
    let message = format!(
        "`{}` is a number and cannot be called",
        called.span.slice(expr.text())
    );
    let found = Diagnostic::new(Code::CalledNumber, message, called.span)
        .with_help("every job gets an error and the value 0; write `*` to multiply");
    if positional.len() != 1 || !keywords.is_empty() {
        return Some(found);
    }
    let behind = Span {
        start: called.span.end,
        ..called.span
    };
    Some(found.with_fix(behind, "*", Applicability::Unsafe))
}

/// Whether the node is a number for every job.
fn is_number(expr: &Expr, id: ExprId, schema: &Schema) -> bool {
    match &expr.node(expr.without_parentheses(id)).kind {
        ExprKind::Literal { .. }
        | ExprKind::Binary { .. }
        | ExprKind::Unary { .. }
        | ExprKind::Comparison { .. } => true,
        ExprKind::Name(name) => match Resolution::from_schema(name, schema) {
            Resolution::Input => true,
            Resolution::Constant(value) => matches!(value, Value::Float(_) | Value::Bool(_)),
            Resolution::UnsupportedBuiltin | Resolution::Undefined => false,
        },
        ExprKind::Call { callee, .. } => match expr.node(*callee).name() {
            Some(name) => Function::from_name(name).is_some_and(Function::is_math),
            None => false,
        },
        _ => false,
    }
}

fn is_word_or_dot(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.')
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
