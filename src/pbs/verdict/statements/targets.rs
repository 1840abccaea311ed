//! What an assignment may assign to.

use crate::formula::syntax::{Construct, Expr, NodeId, NodeKind};

/// Whether it is a name that can be bound.
pub(super) fn is_variable(expr: &Expr) -> bool {
    is_assignable(expr, expr.root())
}

fn is_assignable(expr: &Expr, id: NodeId) -> bool {
    matches!(&expr.node(id).kind, NodeKind::Name(name) if !matches!(&**name, "True" | "False" | "None" | "__debug__"))
}

/// Whether `op=` may assign to it.
pub(super) fn is_single_target(expr: &Expr) -> bool {
    let mut id = expr.root();
    while let NodeKind::Parenthesised(inner) = expr.node(id).kind {
        id = inner;
    }
    let foreign = |construct| matches!(construct, Construct::Attribute | Construct::Subscript);
    is_assignable(expr, id) || matches!(expr.node(id).kind, NodeKind::Foreign { construct, .. } if foreign(construct))
}

/// Whether `=` may assign to it.
pub(super) fn is_target(expr: &Expr) -> bool {
    let is_unpacking =
        |id: NodeId| matches!(expr.node(id).kind, NodeKind::Foreign { construct: Construct::Unpacking, .. });
    let mut open = vec![expr.root()];
    while let Some(id) = open.pop() {
        match &expr.node(id).kind {
            NodeKind::Name(_) if is_assignable(expr, id) => {}
            NodeKind::Foreign { construct: Construct::Attribute | Construct::Subscript, .. } => {}
            NodeKind::Foreign { construct: Construct::Unpacking, parts } => open.extend(parts.iter()),
            NodeKind::Parenthesised(inner) => open.push(*inner),
            NodeKind::Tuple { items, .. } | NodeKind::List(items) => {
                if items.iter().filter(|&&item| is_unpacking(item)).count() > 1 {
                    return false;
                }
                open.extend(items.iter());
            }
            _ => return false,
        }
    }
    true
}
