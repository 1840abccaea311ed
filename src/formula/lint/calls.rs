//! Calls of what cannot be called.

use crate::diagnostic::{Applicability, Diagnostic, Fix, Span};
use crate::formula::lint::roles::name_of;
use crate::formula::name_resolution::Meaning;
use crate::formula::syntax::{Expr, Node, NodeId, NodeKind};
use crate::python::{Function, Value};
use crate::schema::Schema;

/// Findings on calls of numbers, and of functions that a resource hides.
pub(super) fn calls(expr: &Expr, schema: &Schema) -> Vec<Diagnostic> {
    expr.nodes().iter().filter_map(|node| call(expr, node, schema)).collect()
}

fn call(expr: &Expr, node: &Node, schema: &Schema) -> Option<Diagnostic> {
    let NodeKind::Call { callee, positional, keywords } = &node.kind else { return None };
    let called = expr.node(*callee);
    if let Some(name) = name_of(called).filter(|name| hides_a_function(name, schema)) {
        let message = format!("`{name}` is a resource here, which hides the function");
        let help = "every job gets an error and the value 0: use another function, or rename the resource";
        return Some(Diagnostic::error("JSF205", message, called.span).with_help(help));
    }
    if !is_number(expr, *callee, schema) {
        return None;
    }
    let written = called.span.of(expr.text());
    let found = Diagnostic::error("JSF613", format!("`{written}` is a number and cannot be called"), called.span);
    let found = found.with_help("every job gets an error and the value 0; for a product write `*`");
    if positional.len() != 1 || !keywords.is_empty() {
        return Some(found);
    }
    let span = Span { start: called.span.end, end: called.span.end };
    Some(found.with_fix(Fix { span, replacement: "*".into(), applicability: Applicability::Unsafe }))
}

/// A resource with the name of a builtin: the resource comes first.
fn hides_a_function(name: &str, schema: &Schema) -> bool {
    matches!(Meaning::of(name, schema), Meaning::Input) && Meaning::is_builtin(name)
}

/// Whether the node is a number whatever the job is.
fn is_number(expr: &Expr, id: NodeId, schema: &Schema) -> bool {
    let mut id = id;
    loop {
        return match &expr.node(id).kind {
            NodeKind::Parenthesised(inner) => {
                id = *inner;
                continue;
            }
            NodeKind::Literal { .. }
            | NodeKind::Binary { .. }
            | NodeKind::Unary { .. }
            | NodeKind::Comparison { .. } => true,
            NodeKind::Name(name) => match Meaning::of(name, schema) {
                Meaning::Input => true,
                Meaning::Constant(value) => matches!(value, Value::Float(_) | Value::Bool(_)),
                Meaning::Foreign | Meaning::Undefined => false,
            },
            NodeKind::Call { callee, .. } => {
                name_of(expr.node(*callee)).is_some_and(|name| Function::from_name(name).is_some_and(Function::is_math))
            }
            _ => false,
        };
    }
}
