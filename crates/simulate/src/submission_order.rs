//! Formulas by which jobs stay in the order of their submission, whatever the time is.

use job_sort_formula::formula::syntax::{Expr, ExprId, ExprKind};
use job_sort_formula::python::BinaryOperator;

/// How a part of a formula changes while a job waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Growth {
    /// It is the same number for all jobs at all times, which is above 0.
    Positive,
    /// It is the same number for all jobs at all times.
    Constant,
    /// It is the same function of `eligible_time` for all jobs, and never falls with it.
    Grows,
}

/// Whether the value of a job depends on nothing but its `eligible_time` and never falls with it. Sums, and products and quotients
/// with a positive number, never fall in Python's arithmetic either, nor does rounding; of other operations that is not claimed.
pub(super) fn follows_submission(expr: &Expr) -> bool {
    growth(expr, expr.root()) == Some(Growth::Grows)
}

fn growth(expr: &Expr, id: ExprId) -> Option<Growth> {
    match &expr.node(id).kind {
        ExprKind::Literal { text, .. } => {
            let is_zero = text.bytes().all(|byte| matches!(byte, b'0' | b'.' | b'_'));
            let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            Some(if is_plain && !is_zero { Growth::Positive } else { Growth::Constant })
        }
        ExprKind::Name(name) => (**name == *"eligible_time").then_some(Growth::Grows),
        ExprKind::Parenthesized(inner) => growth(expr, *inner),
        ExprKind::Binary { op, left, right } => {
            let left = growth(expr, *left)?;
            let right = growth(expr, *right)?;
            let grows = match op {
                BinaryOperator::Add => left == Growth::Grows || right == Growth::Grows,
                BinaryOperator::Subtract => left == Growth::Grows && right != Growth::Grows,
                BinaryOperator::Multiply => {
                    let factors = [left, right];
                    factors.contains(&Growth::Grows) && factors.contains(&Growth::Positive)
                }
                BinaryOperator::Divide => (left, right) == (Growth::Grows, Growth::Positive),
                _ => false,
            };
            grows.then_some(Growth::Grows)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use job_sort_formula::Formula;

    #[test]
    fn sums_and_positive_multiples_of_the_wait_follow_the_submission() {
        let follows = |text: &str| follows_submission(Formula::parse(text).expect("a formula").expr());
        assert!(follows("eligible_time") && follows("2 * (eligible_time - 5) / 3600"));
        assert!(!follows("-eligible_time") && !follows("eligible_time + ncpus") && !follows("eligible_time ** 2"));
    }
}
