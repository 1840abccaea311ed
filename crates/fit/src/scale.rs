//! Templates whose constants have no scale: if all of them are multiplied by one factor, so are the
//! values, and their order stays.

use std::collections::HashSet;

use job_sort_formula::formula::Template;
use job_sort_formula::formula::syntax::{ExprId, ExprKind};
use job_sort_formula::python::{BinaryOperator, UnaryOperator};

/// How the value of a part of a formula depends on a common factor of all constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scaling {
    /// It is 0, whatever the factor is.
    Zero,
    /// It does not depend on it.
    Fixed,
    /// It is multiplied by it.
    Scaled,
    /// It depends on it in another way.
    Other,
}

/// Whether a common factor of all constants of a template multiplies the value of every job, as far
/// as the tree shows it.
pub fn is_scale_free(template: &Template) -> bool {
    let expr = template.expr();
    let mut constants = HashSet::new();
    for constant in template.constants() {
        constants.insert(&*constant.name);
    }
    let mut of_nodes: Vec<Scaling> = Vec::new();
    for (_, node) in expr.iter() {
        let scaling = match &node.kind {
            ExprKind::Name(name) if constants.contains(&**name) => Scaling::Scaled,
            kind => scaling(kind, &of_nodes),
        };
        of_nodes.push(scaling);
    }
    of_nodes.last() == Some(&Scaling::Scaled)
}

/// The scaling of a node that is no constant; those of its children are known.
fn scaling(kind: &ExprKind, of_nodes: &[Scaling]) -> Scaling {
    let of = |id: ExprId| of_nodes[id.index()];
    match kind {
        ExprKind::Parenthesized(inner) => of(*inner),
        ExprKind::Unary {
            op: UnaryOperator::Plus | UnaryOperator::Minus,
            operand,
        } => of(*operand),
        ExprKind::Binary {
            op: BinaryOperator::Add | BinaryOperator::Subtract,
            left,
            right,
        } => either(of(*left), of(*right)),
        ExprKind::Binary {
            op: BinaryOperator::Multiply,
            left,
            right,
        } => match (of(*left), of(*right)) {
            (Scaling::Fixed, factor) | (factor, Scaling::Fixed) => factor,
            (Scaling::Zero, Scaling::Zero) => Scaling::Zero,
            _ => Scaling::Other,
        },
        ExprKind::Binary {
            op: BinaryOperator::Divide,
            left,
            right,
        } if of(*right) == Scaling::Fixed => of(*left),
        ExprKind::Conditional {
            then,
            condition,
            otherwise,
        } if of(*condition) == Scaling::Fixed => either(of(*then), of(*otherwise)),
        kind if kind
            .children()
            .iter()
            .all(|child| matches!(of(*child), Scaling::Fixed | Scaling::Zero)) =>
        {
            if is_zero(kind) {
                Scaling::Zero
            } else {
                Scaling::Fixed
            }
        }
        _ => Scaling::Other,
    }
}

/// The scaling of a sum, or of one of two parts.
fn either(one: Scaling, other: Scaling) -> Scaling {
    match (one, other) {
        (Scaling::Zero, scaling) | (scaling, Scaling::Zero) => scaling,
        (one, other) if one == other => one,
        _ => Scaling::Other,
    }
}

fn is_zero(kind: &ExprKind) -> bool {
    matches!(kind, ExprKind::Literal { text, .. } if text.parse() == Ok(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_products_with_one_constant_each_have_no_scale() {
        for (text, expected) in [
            ("{a=1:0..9}*ncpus + {b=1:0..9}*eligible_time/3600", true),
            ("-({a=1:0..9}*ncpus) - ncpus*{b=1:0..9}/2", true),
            ("{a=1:0..9}*ncpus if ncpus > 4 else 0", true),
            ("{a=1:0..9}*ncpus + eligible_time", false),
            ("{a=1:0..9}*ncpus*{b=1:0..9}", false),
            ("ncpus**{a=1:0..9}", false),
            ("ncpus/{a=1:1..9}", false),
            ("{a=1:0..9}*ncpus if ncpus > {b=1:0..9} else 0", false),
            ("{a=1:0..9}*ncpus + {b=1:0..9}*sqrt(eligible_time)", true),
            ("sqrt({a=1:0..9}*ncpus)", false),
        ] {
            assert_eq!(
                is_scale_free(&Template::parse(text).unwrap()),
                expected,
                "{text}"
            );
        }
    }
}
