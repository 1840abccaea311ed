//! Names that are unknown, mean something other than they seem to, or are deprecated.

use crate::diagnostic::{Applicability, Diagnostic, Span};
use crate::formula::lint::non_arithmetic::is_math_module;
use crate::formula::lint::parents::{Parents, attribute_of, name_of};
use crate::formula::name_resolution::Resolution;
use crate::formula::syntax::{Expr, NodeId, NodeKind};
use crate::python::{Function, constant};
use crate::schema::Schema;

/// Names that exist in the server's script, so that the server accepts them, but not in the scheduler's.
const SERVER_SCRIPT_NAMES: [&str; 2] = ["ans", "errnum"];

/// Findings on every name, also in branches that are not taken.
pub(super) fn check(expr: &Expr, schema: &Schema, parents: &Parents<'_>) -> Vec<Diagnostic> {
    let mut findings: Vec<Diagnostic> = expr.iter().filter_map(|(id, _)| name(expr, id, schema, parents)).collect();
    group_unknown(expr, &mut findings);
    findings
}

/// Joins the findings on unknown names that resemble no known one: the answer is the same for all of them.
fn group_unknown(expr: &Expr, findings: &mut Vec<Diagnostic>) {
    let has_no_suggestion = |found: &Diagnostic| found.code == "JSF201" && found.fix.is_none();
    let (mut unknown, others): (Vec<_>, Vec<_>) = findings.drain(..).partition(has_no_suggestion);
    *findings = others;
    unknown.sort_by_key(|found| found.span.start);
    let text_at = |span: Span| {
        let node = expr.nodes().iter().find(|node| node.span == span);
        node.and_then(name_of).unwrap_or_default().to_owned()
    };
    let mut names: Vec<String> = Vec::new();
    for name in unknown.iter().map(|found| text_at(found.span)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let Some((first, others)) = unknown.split_first() else { return };
    if others.is_empty() {
        return findings.push(first.clone());
    }
    let mut grouped = first.clone();
    if let [before @ .., last] = names.as_slice()
        && !before.is_empty()
    {
        let before: Vec<String> = before.iter().map(|name| format!("`{name}`")).collect();
        grouped.message = format!("{} and `{last}` are not known resources, functions or constants", before.join(", "));
        let declared: Vec<String> = names.iter().map(|name| format!("--resource {name}=TYPE")).collect();
        grouped = grouped.with_help(how_to_declare(&declared.join(" ")));
    }
    let grouped =
        others.iter().fold(grouped, |found, other| found.with_secondary_label(other.span, "not known either"));
    findings.push(grouped);
}

fn how_to_declare(options: &str) -> String {
    format!("if the server knows it, declare it: {options}, or --resources FILE with `qmgr -c 'print resource'`")
}

fn name(expr: &Expr, id: NodeId, schema: &Schema, parents: &Parents<'_>) -> Option<Diagnostic> {
    let node = expr.node(id);
    let NodeKind::Name(name) = &node.kind else { return None };
    let is_callee = parents.is_callee(expr, id);
    match Resolution::from_schema(name, schema) {
        Resolution::Undefined if schema.entry(name).is_some() => Some(
            Diagnostic::error("JSF202", format!("`{name}` is not a numeric resource"), node.span)
                .with_help("a formula can use resources of the types long, float, size and duration"),
        ),
        Resolution::Undefined if parents.is_local(name, node.span) || is_math_prefix(expr, id, parents) => None,
        Resolution::Undefined => Some(undefined(name, node.span, is_callee, schema)),
        Resolution::Input if is_callee && Resolution::is_builtin(name) => {
            let message = format!("`{name}` is a resource here, which hides the Python function");
            let help = "every job gets an error and the value 0; use another function, or rename the resource";
            Some(Diagnostic::error("JSF205", message, node.span).with_help(help))
        }
        Resolution::Input => {
            let current = schema.entry(name)?.replaced_by?;
            let message = format!("`{name}` is the deprecated name of `{current}`");
            Some(Diagnostic::warning("JSF203", message, node.span).replaced_by(current, Applicability::Safe))
        }
        Resolution::Constant(_) if schema.entry(name).is_some() => hidden(name, node.span, is_callee),
        Resolution::Constant(_) | Resolution::UnsupportedBuiltin => None,
    }
}

/// Whether this is the `math` of `math.log`, which has a finding of its own.
fn is_math_prefix(expr: &Expr, id: NodeId, parents: &Parents<'_>) -> bool {
    let attribute = parents.parent(id).and_then(|parent| attribute_of(expr, expr.node(parent)));
    attribute.and_then(|(base, _)| base).is_some_and(is_math_module)
}

fn undefined(name: &str, span: Span, is_callee: bool, schema: &Schema) -> Diagnostic {
    if SERVER_SCRIPT_NAMES.contains(&name) {
        let message = format!("`{name}` exists only in the script with which the server validates a formula");
        return Diagnostic::error("JSF207", message, span)
            .with_help("`qmgr` accepts the formula, but every job gets an error and the value 0");
    }
    if let Some((meant, applicability)) = in_another_case(name, is_callee, schema) {
        let message = format!("`{name}` is not a known name, but `{meant}` is");
        return Diagnostic::error("JSF206", message, span)
            .with_label("names are case-sensitive")
            .replaced_by(meant, applicability);
    }
    let found = Diagnostic::error("JSF201", format!("`{name}` is not a known resource, function or constant"), span);
    match schema.suggestions(name).first() {
        Some(&near) => found.with_label(format!("did you mean `{near}`?")).replaced_by(near, Applicability::Unsafe),
        None => found.with_help(how_to_declare(&format!("--resource {name}=TYPE"))),
    }
}

/// The known name that differs from `name` only in case, if there is one. To replace a resource is safe, because OpenPBS
/// itself accepts resources in any case; so is to replace a function that is called.
fn in_another_case(name: &str, is_callee: bool, schema: &Schema) -> Option<(String, Applicability)> {
    let is_resource = |known: &str| schema.is_numeric(known) && known.eq_ignore_ascii_case(name);
    if let Some((known, _)) = schema.iter().find(|(known, _)| is_resource(known)) {
        return Some((known.to_owned(), Applicability::Safe));
    }
    let lower = name.to_ascii_lowercase();
    if Function::from_name(&lower).is_some() && lower != name {
        let applicability = if is_callee { Applicability::Safe } else { Applicability::Unsafe };
        return Some((lower, applicability));
    }
    let keywords = ["True", "False", "None"].into_iter();
    let keyword = keywords.filter(|keyword| keyword.eq_ignore_ascii_case(name)).map(str::to_owned).next();
    let known = keyword.or_else(|| constant(&lower).map(|_| lower));
    known.map(|known| (known, Applicability::Unsafe))
}

/// The finding on a resource that a formula cannot use, because Python finds another object of that name first. There is
/// none on a call, which means the function.
fn hidden(name: &str, span: Span, is_callee: bool) -> Option<Diagnostic> {
    if name == "ex" {
        let message = "`ex` is a variable of the scheduler's script, which hides the resource";
        let help = "it is `None` for every job; rename the resource";
        return Some(Diagnostic::error("JSF207", message, span).with_help(help));
    }
    if is_callee {
        return None;
    }
    let message = format!("`{name}` is a Python name here, which hides the resource");
    Some(Diagnostic::warning("JSF204", message, span).with_help("rename the resource to use it in a formula"))
}
