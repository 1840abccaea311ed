//! Names that mean nothing, mean something else, or should no longer be used.

use crate::diagnostic::{Applicability, Diagnostic, Fix};
use crate::formula::meaning::Meaning;
use crate::formula::syntax::{Expr, Node, NodeKind};
use crate::schema::Schema;

/// Findings on every name, in branches that are not taken too.
pub fn names(expr: &Expr, schema: &Schema) -> Vec<Diagnostic> {
    let mut findings: Vec<_> = expr.nodes().iter().filter_map(|node| name(node, schema)).collect();
    findings.sort_by_key(|finding| finding.span);
    findings
}

fn name(node: &Node, schema: &Schema) -> Option<Diagnostic> {
    let NodeKind::Name(name) = &node.kind else { return None };
    match Meaning::of(name, schema) {
        Meaning::Undefined if schema.entry(name).is_some() => Some(
            Diagnostic::error("JSF202", format!("`{name}` is a resource, but not a numeric one"), node.span)
                .with_help("a formula computes with numbers: long, float, size and duration resources"),
        ),
        Meaning::Undefined => Some(unknown(name, node, schema)),
        Meaning::Input => {
            let entry = schema.entry(name)?;
            let current = entry.replaced_by?;
            let fix = Fix { span: node.span, replacement: current.into(), applicability: Applicability::Safe };
            let message = format!("`{name}` is the deprecated name of `{current}`");
            Some(Diagnostic::warning("JSF203", message, node.span).with_fix(fix))
        }
        Meaning::Constant(_) | Meaning::Foreign => None,
    }
}

fn unknown(name: &str, node: &Node, schema: &Schema) -> Diagnostic {
    let finding = Diagnostic::error("JSF201", format!("`{name}` is no name that OpenPBS knows"), node.span);
    match schema.suggestions(name).first() {
        Some(&near) => {
            let fix = Fix { span: node.span, replacement: near.into(), applicability: Applicability::Unsafe };
            finding.with_label(format!("did you mean `{near}`?")).with_fix(fix)
        }
        None => finding.with_help("if it is a resource of your site, declare it with --resources FILE or --queue FILE"),
    }
}
