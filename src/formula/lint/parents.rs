//! The parent of each node, and the names that the formula itself defines.

use crate::diagnostic::Span;
use crate::formula::syntax::{Construct, Expr, ExprId, ExprKind, Node};

/// The parent of each node, and the names that the formula itself defines.
#[derive(Debug)]
pub(super) struct Parents<'e> {
    parents: Vec<Option<ExprId>>,
    /// The targets of `:=`.
    assigned: Vec<&'e str>,
    /// The lambdas and comprehensions, which bind names of their own.
    scopes: Vec<Span>,
}

impl<'e> Parents<'e> {
    pub(super) fn new(expr: &'e Expr) -> Self {
        let mut result = Self {
            parents: vec![None; expr.nodes().len()],
            assigned: Vec::new(),
            scopes: Vec::new(),
        };
        for (id, node) in expr.iter() {
            let children = node.kind.children();
            for child in &children {
                result.parents[child.index()] = Some(id);
            }
            match &node.kind {
                ExprKind::Unsupported {
                    construct: Construct::AssignmentExpression,
                    ..
                } => {
                    if let Some(&target) = children.first() {
                        result.assigned.extend(expr.node(target).name());
                    }
                }
                ExprKind::Unsupported {
                    construct: Construct::Lambda | Construct::Comprehension,
                    ..
                } => {
                    result.scopes.push(node.span);
                }
                _ => {}
            }
        }
        result
    }

    /// The parent of a node; `None` for the root.
    pub(super) fn parent(&self, id: ExprId) -> Option<ExprId> {
        self.parents.get(id.index()).copied().flatten()
    }

    /// Whether the node is the callee of a call.
    pub(super) fn is_callee(&self, expr: &Expr, id: ExprId) -> bool {
        match self.parent(id) {
            Some(parent) => {
                matches!(expr.node(parent).kind, ExprKind::Call { callee, .. } if callee == id)
            }
            None => false,
        }
    }

    /// Whether the formula itself may define the name: in a lambda, in a comprehension or with
    /// `:=`.
    pub(super) fn is_local(&self, name: &str, span: Span) -> bool {
        self.assigned.contains(&name) || self.scopes.iter().any(|scope| scope.contains(span))
    }
}

/// Splits `base.attribute`: the base if it is a name, and the attribute.
pub(super) fn attribute_of<'e>(expr: &'e Expr, node: &Node) -> Option<(Option<&'e str>, &'e str)> {
    let ExprKind::Unsupported {
        construct: Construct::Attribute,
        parts,
    } = &node.kind
    else {
        return None;
    };
    let base = parts.first().and_then(|&base| expr.node(base).name());
    // the last point, because the base may have some as well
    let (_, attribute) = node.span.slice(expr.text()).rsplit_once('.')?;
    Some((base, attribute.trim()))
}

/// The values that an aggregate function such as `max` combines: its arguments, or the items of its
/// single argument if that is a list or tuple literal.
pub(super) fn aggregated<'n>(expr: &'n Expr, arguments: &'n [ExprId]) -> &'n [ExprId] {
    let &[single] = arguments else {
        return arguments;
    };
    match &expr.node(expr.without_parentheses(single)).kind {
        ExprKind::Tuple { items, .. } | ExprKind::List(items) => items,
        _ => arguments,
    }
}
