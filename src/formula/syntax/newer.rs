//! Which version of Python first has the syntax of a formula.

use crate::formula::syntax::error::Result;
use crate::formula::syntax::{Construct, Expr, ExprId, ExprKind, Node, Scope, SyntaxError, SyntaxErrorKind};
use crate::python::PythonVersion;

/// # Errors
/// The first node that this version does not have.
pub(super) fn check(expr: &Expr, python: PythonVersion) -> Result<()> {
    for (index, node) in expr.nodes().iter().enumerate() {
        let since = since_of_node(expr, index, node);
        if since > python {
            return Err(SyntaxError::new(SyntaxErrorKind::Newer(since), node.span));
        }
    }
    Ok(())
}

fn since_of_node(expr: &Expr, index: usize, node: &Node) -> PythonVersion {
    let ExprKind::Unsupported { construct, parts } = &node.kind else { return PythonVersion::OLDEST };
    let has = |construct: Construct| parts.iter().skip(1).any(|part| is(expr, *part, construct));
    let text = node.span.slice(expr.text());
    match construct {
        // "What's New in Python 3.8", "Assignment expressions" and "Positional-only parameters"
        Construct::AssignmentExpression => PythonVersion::V3_8,
        Construct::Lambda if has_positional_only_parameters(expr, index, text) => PythonVersion::V3_8,
        // "What's New in Python 3.11", PEP 646
        Construct::Subscript if unpacks(expr, parts, node) => PythonVersion::V3_11,
        // "What's New in Python 3.10", "Other Language Changes": unparenthesized in set displays, set comprehensions and
        // indexes; the parser of 3.9 already takes those of sets
        Construct::Subscript if has(Construct::AssignmentExpression) => PythonVersion::V3_10,
        Construct::Set | Construct::Comprehension if !text.starts_with(['[', '(']) && assigns_directly(expr, parts) => {
            PythonVersion::V3_9
        }
        _ => PythonVersion::OLDEST,
    }
}

fn is(expr: &Expr, id: ExprId, construct: Construct) -> bool {
    matches!(&expr.node(id).kind, ExprKind::Unsupported { construct: found, .. } if *found == construct)
}

fn assigns_directly(expr: &Expr, parts: &[ExprId]) -> bool {
    parts.iter().any(|part| is(expr, *part, Construct::AssignmentExpression))
}

/// Whether `/` stands among the parameters of a lambda: behind a comma, where no division does.
fn has_positional_only_parameters(expr: &Expr, index: usize, text: &str) -> bool {
    let start = expr.nodes()[index].span.start;
    let body = expr.scopes().find_map(|(owner, scope)| match scope {
        Scope::Lambda { body, .. } if owner.index() == index => Some(expr.node(*body).span.start),
        _ => None,
    });
    let parameters = body.and_then(|body| text.get(..(body - start) as usize)).unwrap_or(text);
    parameters.match_indices('/').any(|(at, _)| parameters[..at].trim_end().ends_with(','))
}

/// Whether an item of a subscript begins with `*`.
fn unpacks(expr: &Expr, parts: &[ExprId], node: &Node) -> bool {
    let Some(base) = parts.first() else { return false };
    let items = expr.text().get(expr.node(*base).span.end as usize..node.span.end as usize).unwrap_or_default();
    let (mut depth, mut begins_item) = (0, false);
    for character in items.chars().filter(|character| !character.is_whitespace()) {
        if begins_item && character == '*' {
            return true;
        }
        depth += i32::from(matches!(character, '(' | '[' | '{')) - i32::from(matches!(character, ')' | ']' | '}'));
        begins_item = depth == 1 && matches!(character, '[' | ',');
    }
    false
}
