//! Results that are objects of Python's and no numbers, and subscripts that miss: said without running them.

use crate::diagnostic::Diagnostic;
use crate::formula::name_resolution::Meaning;
use crate::formula::syntax::{Construct, Expr, LiteralKind, NodeId, NodeKind};
use crate::schema::Schema;

/// The builtins outside arithmetic that give something else than a number whatever they are called with.
const NEVER_A_NUMBER: &[&str] = &[
    "ascii",
    "bin",
    "bytearray",
    "bytes",
    "chr",
    "classmethod",
    "compile",
    "complex",
    "delattr",
    "dict",
    "dir",
    "enumerate",
    "exec",
    "filter",
    "format",
    "frozenset",
    "globals",
    "hex",
    "iter",
    "list",
    "locals",
    "map",
    "memoryview",
    "object",
    "oct",
    "open",
    "print",
    "property",
    "range",
    "repr",
    "reversed",
    "set",
    "setattr",
    "slice",
    "sorted",
    "staticmethod",
    "str",
    "super",
    "tuple",
    "type",
    "vars",
    "zip",
];

/// Findings on what the formula as a whole may be, one per place.
pub(super) fn objects(expr: &Expr, schema: &Schema) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let mut results = vec![expr.root()];
    while let Some(id) = results.pop() {
        let node = expr.node(id);
        match &node.kind {
            NodeKind::Parenthesised(inner) => results.push(*inner),
            NodeKind::Conditional { then, otherwise, .. } => results.extend([*then, *otherwise]),
            NodeKind::Boolean { operands, .. } => results.extend(operands.iter()),
            _ if is_object(expr, id, schema) => findings.push(
                Diagnostic::error("JSF401", "the result is an object of Python's and no number", node.span)
                    .with_help("the scheduler takes it for a number and dies with a segmentation fault"),
            ),
            _ => {}
        }
    }
    findings.extend(expr.iter().filter_map(|(id, _)| missing_item(expr, id)));
    findings
}

fn is_object(expr: &Expr, id: NodeId, schema: &Schema) -> bool {
    match &expr.node(id).kind {
        NodeKind::Foreign { construct, .. } => matches!(
            construct,
            Construct::String
                | Construct::Lambda
                | Construct::Comprehension
                | Construct::Imaginary
                | Construct::Set
                | Construct::Dict
                | Construct::Ellipsis
        ),
        // of those that can be evaluated, `result` says so
        NodeKind::Tuple { .. } | NodeKind::List(_) => expr.foreign().is_some(),
        NodeKind::Name(name) => is_foreign(name, schema),
        NodeKind::Call { callee, .. } => match &expr.node(*callee).kind {
            NodeKind::Name(name) => is_foreign(name, schema) && NEVER_A_NUMBER.contains(&&**name),
            _ => false,
        },
        _ => false,
    }
}

fn is_foreign(name: &str, schema: &Schema) -> bool {
    matches!(Meaning::of(name, schema), Meaning::Foreign)
}

/// `[1, 2][9]`: a list or tuple that is written out, and a whole number beyond its items.
fn missing_item(expr: &Expr, id: NodeId) -> Option<Diagnostic> {
    let node = expr.node(id);
    let NodeKind::Foreign { construct: Construct::Subscript, parts } = &node.kind else { return None };
    let &[base, index] = &**parts else { return None };
    let (NodeKind::List(items) | NodeKind::Tuple { items, .. }) = &expr.node(base).kind else { return None };
    let NodeKind::Literal { kind: LiteralKind::Integer, text } = &expr.node(index).kind else { return None };
    let index: usize = text.parse().ok()?;
    (index >= items.len()).then(|| {
        let message = format!("there is no item {index}, which is an error for every job");
        Diagnostic::error("JSF308", message, node.span).with_help("items are counted from 0")
    })
}
