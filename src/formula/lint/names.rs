//! Names that mean nothing, mean something else, or should no longer be used.

use crate::diagnostic::{Applicability, Diagnostic, Span};
use crate::formula::lint::roles::{Roles, attribute_of, is_module};
use crate::formula::name_resolution::Meaning;
use crate::formula::syntax::{Expr, NodeId, NodeKind};
use crate::python::{Function, constant};
use crate::schema::Schema;

/// Names that the server's script has, so that it accepts them, and the scheduler's has not.
const NAMES_OF_THE_SERVER_S_SCRIPT: [&str; 2] = ["ans", "errnum"];

/// Findings on every name, in branches that are not taken too.
pub(super) fn names(expr: &Expr, schema: &Schema, roles: &Roles<'_>) -> Vec<Diagnostic> {
    expr.iter().filter_map(|(id, _)| name(expr, id, schema, roles)).collect()
}

fn name(expr: &Expr, id: NodeId, schema: &Schema, roles: &Roles<'_>) -> Option<Diagnostic> {
    let node = expr.node(id);
    let NodeKind::Name(name) = &node.kind else { return None };
    let is_callee = roles.is_callee(expr, id);
    match Meaning::of(name, schema) {
        Meaning::Undefined if schema.entry(name).is_some() => Some(
            Diagnostic::error("JSF202", format!("`{name}` is a resource, but not a numeric one"), node.span)
                .with_help("a formula computes with numbers: long, float, size and duration resources"),
        ),
        Meaning::Undefined if roles.is_own(name, node.span) || is_answered_as_module(expr, id, roles) => None,
        Meaning::Undefined => Some(undefined(name, node.span, is_callee, schema)),
        Meaning::Input => {
            let current = schema.entry(name)?.replaced_by?;
            let message = format!("`{name}` is the deprecated name of `{current}`");
            Some(Diagnostic::warning("JSF203", message, node.span).replaced_by(current, Applicability::Safe))
        }
        Meaning::Constant(_) if schema.entry(name).is_some() => hidden(name, node.span, is_callee),
        Meaning::Constant(_) | Meaning::Foreign => None,
    }
}

/// `math` in `math.log` has a finding of its own.
fn is_answered_as_module(expr: &Expr, id: NodeId, roles: &Roles<'_>) -> bool {
    let attribute = roles.parent(id).and_then(|parent| attribute_of(expr, expr.node(parent)));
    attribute.and_then(|(base, _)| base).is_some_and(is_module)
}

fn undefined(name: &str, span: Span, is_callee: bool, schema: &Schema) -> Diagnostic {
    if NAMES_OF_THE_SERVER_S_SCRIPT.contains(&name) {
        return Diagnostic::error("JSF207", format!("`{name}` exists only in the script that tries the formula"), span)
            .with_help("`qmgr` accepts it, but then every job gets an error and the value 0");
    }
    if let Some((meant, applicability)) = in_another_case(name, is_callee, schema) {
        let message = format!("`{name}` is not known, but `{meant}` is");
        return Diagnostic::error("JSF206", message, span)
            .with_label("Python tells upper case from lower case")
            .replaced_by(meant, applicability);
    }
    let found = Diagnostic::error("JSF201", format!("`{name}` is no name that OpenPBS knows"), span);
    match schema.suggestions(name).first() {
        Some(&near) => found.with_label(format!("did you mean `{near}`?")).replaced_by(near, Applicability::Unsafe),
        None => found.with_help("if it is a resource of your site, declare it with --resources FILE or --queue FILE"),
    }
}

/// The name that is known in another case. OpenPBS itself takes resources in any case, so that is safe; so is a
/// function that is called.
fn in_another_case(name: &str, is_callee: bool, schema: &Schema) -> Option<(String, Applicability)> {
    let numeric = |known: &str| schema.is_numeric(known) && known.eq_ignore_ascii_case(name);
    if let Some((known, _)) = schema.iter().find(|(known, _)| numeric(known)) {
        return Some((known.to_owned(), Applicability::Safe));
    }
    let lower = name.to_ascii_lowercase();
    if Function::from_name(&lower).is_some() && lower != name {
        let applicability = if is_callee { Applicability::Safe } else { Applicability::Unsafe };
        return Some((lower, applicability));
    }
    let words = ["True", "False", "None"].into_iter().find(|word| word.eq_ignore_ascii_case(name)).map(str::to_owned);
    let word = words.or_else(|| constant(&lower).map(|_| lower));
    word.map(|word| (word, Applicability::Unsafe))
}

/// A resource that nobody sees, because Python looks elsewhere first. A call means the function.
fn hidden(name: &str, span: Span, is_callee: bool) -> Option<Diagnostic> {
    if name == "ex" {
        let message = "`ex` is the scheduler's own variable, which hides the resource";
        let help = "it is None for every job: rename the resource";
        return Some(Diagnostic::error("JSF207", message, span).with_help(help));
    }
    if is_callee {
        return None;
    }
    let message = format!("`{name}` is Python's own name here, which hides the resource");
    Some(Diagnostic::warning("JSF204", message, span).with_help("to use the resource, rename it"))
}
