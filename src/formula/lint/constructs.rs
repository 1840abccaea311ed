//! What is valid Python but no arithmetic: useless, or worse.

use crate::diagnostic::{Applicability, Diagnostic, Span};
use crate::formula::lint::dangerous::{is_dangerous_attribute, is_dangerous_builtin};
use crate::formula::lint::roles::{attribute_of, is_module};
use crate::formula::name_resolution::Meaning;
use crate::formula::syntax::{Construct, Expr, Node, NodeKind};
use crate::python::{Function, constant};
use crate::schema::Schema;

const NO_PLACE: &str =
    "a formula computes one number from numbers; what else Python can do has no place in a scheduler";

/// Findings on every construct and builtin outside the language; of what is merely foreign, the outermost only.
pub(super) fn constructs(expr: &Expr, schema: &Schema) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let mut answered: Vec<Span> = findings.iter().map(|found: &Diagnostic| found.span).collect();
    for node in expr.nodes().iter().rev() {
        let within = |outer: &Span| outer.start <= node.span.start && node.span.end <= outer.end;
        let Some(found) = construct(expr, node, schema) else { continue };
        if found.code != "JSF104" {
            findings.push(found);
        } else if !answered.iter().any(within) {
            answered.push(node.span);
            findings.push(found);
        }
    }
    findings
}

fn construct(expr: &Expr, node: &Node, schema: &Schema) -> Option<Diagnostic> {
    match &node.kind {
        NodeKind::Name(name) if matches!(Meaning::of(name, schema), Meaning::Foreign) => Some(builtin(name, node.span)),
        NodeKind::Foreign { construct: Construct::AssignmentExpression, .. } => Some(
            Diagnostic::error("JSF403", "`:=` assigns in the scheduler itself, beyond this job", node.span)
                .with_help("the next job, the next cycle and the next formula see the name; write the value twice"),
        ),
        NodeKind::Foreign { construct: Construct::Attribute, .. } => attribute(expr, node),
        NodeKind::Foreign { construct, .. } => Some(foreign(*construct, node.span)),
        _ => None,
    }
}

fn attribute(expr: &Expr, node: &Node) -> Option<Diagnostic> {
    let (base, attribute) = attribute_of(expr, node)?;
    if let Some(module) = base.filter(|base| is_module(base)) {
        return Some(in_module(module, attribute, node.span));
    }
    if is_dangerous_attribute(attribute) {
        let message = format!("`.{attribute}` leads into the interpreter, which runs as root");
        return Some(Diagnostic::error("JSF404", message, node.span).with_help(NO_PLACE));
    }
    Some(foreign(Construct::Attribute, node.span))
}

/// `math.log`: the functions are there, the module is not.
fn in_module(module: &str, name: &str, span: Span) -> Diagnostic {
    let lower = name.to_ascii_lowercase();
    let is_known = Function::from_name(&lower).is_some_and(Function::is_math) || constant(&lower).is_some();
    let found = Diagnostic::error("JSF208", format!("there is no `{module}` in a formula"), span);
    if !is_known {
        let help = format!("the functions of Python's `math` stand there by themselves; `{name}` is none of them");
        return found.with_help(help);
    }
    let applicability = if module == "math" { Applicability::Safe } else { Applicability::Unsafe };
    found.with_label(format!("`{lower}` stands there by itself")).replaced_by(lower, applicability)
}

fn builtin(name: &str, span: Span) -> Diagnostic {
    if is_dangerous_builtin(name) {
        let message = format!("`{name}` lays the interpreter open, which runs as root");
        return Diagnostic::error("JSF404", message, span).with_help(NO_PLACE);
    }
    Diagnostic::error("JSF104", format!("`{name}` is valid Python, but no arithmetic"), span).with_help(NO_PLACE)
}

fn foreign(construct: Construct, span: Span) -> Diagnostic {
    let message = format!("{} is valid Python, but no arithmetic", construct.words());
    Diagnostic::error("JSF104", message, span).with_help(NO_PLACE)
}
