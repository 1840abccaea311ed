//! Which version of Python first has the syntax of a formula. What leaves no trace in the tree is refused where it is read: `*` in a
//! subscript and `/` among the parameters of a lambda.

use crate::formula::syntax::error::Result;
use crate::formula::syntax::{Construct, Expr, ExprId, ExprKind, Node, SyntaxError, SyntaxErrorKind};
use crate::python::PythonVersion;

/// # Errors
/// The first node that this version does not have.
pub(super) fn check(expr: &Expr, python: PythonVersion) -> Result<()> {
    for node in expr.nodes() {
        let since = since_of_node(expr, node);
        if since > python {
            return Err(SyntaxError::new(SyntaxErrorKind::Newer(since), node.span));
        }
    }
    Ok(())
}

fn since_of_node(expr: &Expr, node: &Node) -> PythonVersion {
    let ExprKind::Unsupported { construct, parts } = &node.kind else { return PythonVersion::OLDEST };
    let has = |construct: Construct| parts.iter().skip(1).any(|part| is(expr, *part, construct));
    let text = node.span.slice(expr.text());
    match construct {
        // "What's New in Python 3.8", "Assignment expressions"
        Construct::AssignmentExpression => PythonVersion::V3_8,
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
