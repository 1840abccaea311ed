//! What each node is to the node above it.

use crate::diagnostic::Span;
use crate::formula::syntax::{Construct, Expr, Node, NodeId, NodeKind};

/// The node above each node, and the names that the formula itself brings.
#[derive(Debug)]
pub(super) struct Roles<'e> {
    parents: Vec<Option<NodeId>>,
    /// Names on the left of `:=`.
    assigned: Vec<&'e str>,
    /// The lambdas and comprehensions, which have names of their own.
    scopes: Vec<Span>,
}

impl<'e> Roles<'e> {
    pub(super) fn of(expr: &'e Expr) -> Self {
        let mut roles = Self { parents: vec![None; expr.nodes().len()], assigned: Vec::new(), scopes: Vec::new() };
        for (id, node) in expr.iter() {
            let children = node.kind.children();
            for child in &children {
                roles.parents[child.index()] = Some(id);
            }
            match &node.kind {
                NodeKind::Foreign { construct: Construct::AssignmentExpression, .. } => {
                    roles.assigned.extend(children.first().and_then(|&target| name_of(expr.node(target))));
                }
                NodeKind::Foreign { construct: Construct::Lambda | Construct::Comprehension, .. } => {
                    roles.scopes.push(node.span);
                }
                _ => {}
            }
        }
        roles
    }

    /// The node above.
    pub(super) fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.parents.get(id.index()).copied().flatten()
    }

    /// Whether the node is what a call calls.
    pub(super) fn is_callee(&self, expr: &Expr, id: NodeId) -> bool {
        let parent = self.parent(id).map(|parent| &expr.node(parent).kind);
        matches!(parent, Some(NodeKind::Call { callee, .. }) if *callee == id)
    }

    /// Whether the name may be one that the formula defines: in a lambda, in a comprehension or with `:=`.
    pub(super) fn is_own(&self, name: &str, span: Span) -> bool {
        let within = |scope: &Span| scope.start <= span.start && span.end <= scope.end;
        self.assigned.contains(&name) || self.scopes.iter().any(within)
    }
}

/// The name that a node is.
pub(super) fn name_of(node: &Node) -> Option<&str> {
    match &node.kind {
        NodeKind::Name(name) => Some(name),
        _ => None,
    }
}

/// For `base.attribute`: both, if the base is a name.
pub(crate) fn attribute_of<'e>(expr: &'e Expr, node: &Node) -> Option<(Option<&'e str>, &'e str)> {
    let NodeKind::Foreign { construct: Construct::Attribute, parts } = &node.kind else { return None };
    let base = parts.first().and_then(|&base| name_of(expr.node(base)));
    let (_, attribute) = node.span.of(expr.text()).rsplit_once('.')?;
    Some((base, attribute.trim()))
}

/// Whether this is a module that people put before a function of `math`.
pub(super) fn is_module(name: &str) -> bool {
    matches!(name, "math" | "cmath" | "numpy" | "np" | "scipy")
}
