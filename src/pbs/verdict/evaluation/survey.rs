//! What a formula shows before it is executed.

use std::sync::Arc;

use crate::formula::syntax::{Construct, Expr, NodeId, NodeKind, Scope};
use crate::pbs::verdict::evaluation::Evaluation;
use crate::pbs::verdict::statements::Statement;

impl Evaluation<'_> {
    /// Whether no name of the formula can be missed, whatever it does.
    pub(in crate::pbs::verdict) fn has_all_names(&self, statements: &[Statement]) -> bool {
        let is_closed = |expr: &Arc<Expr>| {
            let in_function = expr.scopes().next().is_some();
            expr.nodes().iter().all(|node| match &node.kind {
                NodeKind::Name(name) => self.names.has_everywhere(name, self.schema, in_function),
                NodeKind::Foreign { construct, .. } => {
                    !matches!(construct, Construct::String | Construct::AssignmentExpression | Construct::Attribute)
                }
                _ => true,
            })
        };
        let is_answer = |statement: &Statement| match statement {
            Statement::Assignment { targets, .. } => targets.len() <= 1,
            _ => false,
        };
        let calls_code = |name: &str| matches!(name, "eval" | "exec" | "compile" | "__import__" | "breakpoint");
        let is_tame = |expr: &Arc<Expr>| {
            !expr.nodes().iter().any(|node| matches!(&node.kind, NodeKind::Name(name) if calls_code(name)))
        };
        let mut exprs = statements.iter().flat_map(Statement::exprs);
        statements.len() == 1 && statements.iter().all(is_answer) && exprs.all(|expr| is_closed(expr) && is_tame(expr))
    }
}

pub(super) fn targets_of(statement: &Statement) -> &[Arc<Expr>] {
    match statement {
        Statement::Assignment { targets, .. } => targets,
        Statement::Augmented { target, .. } => std::slice::from_ref(target),
        Statement::Deletion(_) | Statement::Import(_) | Statement::Pass => &[],
    }
}

/// The name that `:=` assigns to at this node.
pub(super) fn assigned_at(expr: &Expr, id: NodeId) -> Option<&str> {
    let NodeKind::Foreign { construct: Construct::AssignmentExpression, parts } = &expr.node(id).kind else {
        return None;
    };
    match &expr.node(*parts.first()?).kind {
        NodeKind::Name(name) => Some(name),
        _ => None,
    }
}

/// What `:=` assigns to anywhere in a formula.
pub(super) fn assigned(expr: &Expr) -> Vec<Box<str>> {
    expr.iter().filter_map(|(id, _)| assigned_at(expr, id)).map(Into::into).collect()
}

/// What `:=` assigns to in a comprehension that stands in no lambda: names beside the resources.
pub(super) fn assigned_in_comprehensions(expr: &Expr) -> Vec<Box<str>> {
    let (mut names, mut open) = (Vec::new(), vec![(expr.root(), false)]);
    while let Some((id, is_inside)) = open.pop() {
        names.extend(assigned_at(expr, id).filter(|_| is_inside).map(Box::from));
        let is_inside = is_inside || matches!(expr.scope(id), Some(Scope::Comprehension { .. }));
        open.extend(at_this_level(expr, id).into_iter().map(|part| (part, is_inside)));
    }
    names
}

/// What `:=` assigns to in the body of a lambda, the comprehensions in it included: names of its own.
pub(super) fn assigned_in_body(expr: &Expr, body: NodeId) -> Vec<Box<str>> {
    let (mut names, mut open) = (Vec::new(), vec![body]);
    while let Some(id) = open.pop() {
        names.extend(assigned_at(expr, id).map(Box::from));
        open.extend(at_this_level(expr, id));
    }
    names
}

/// What `:=` assigns to in a comprehension itself, those in it left out.
pub(super) fn assigned_in_comprehension(expr: &Expr, comprehension: NodeId) -> Vec<Box<str>> {
    let (mut names, mut open) = (Vec::new(), at_this_level(expr, comprehension));
    while let Some(id) = open.pop() {
        names.extend(assigned_at(expr, id).map(Box::from));
        if !matches!(expr.scope(id), Some(Scope::Comprehension { .. })) {
            open.extend(at_this_level(expr, id));
        }
    }
    names
}

/// The parts of a node without the body of a lambda, where `:=` assigns to another's names.
fn at_this_level(expr: &Expr, id: NodeId) -> Vec<NodeId> {
    match expr.scope(id) {
        Some(Scope::Lambda { parameters, .. }) => parameters.iter().filter_map(|parameter| parameter.default).collect(),
        _ => expr.node(id).kind.children(),
    }
}
