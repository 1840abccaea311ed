//! Recognises operators by their text, and makes a tree of a flat `operand operator operand …` by
//! Python's precedence.
//!
//! The grammar leaves expressions flat, so that its recursion does not depend on the number of
//! operators; an operator-precedence parser with a stack of pending operators makes the tree.

use crate::diagnostic::Span;
use crate::formula::syntax::{Construct, Expr, ExprId, ExprKind, SyntaxError, SyntaxErrorKind};
use crate::python::{BinaryOperator, BooleanOperator, ComparisonOperator, UnaryOperator};

/// An operator that is read, or the start of an expression, while it waits for its right operand.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Operator {
    /// The start of an expression: operators before it take no operands after it.
    Start,
    Unary(UnaryOperator),
    Binary(BinaryOperator),
    Comparison(ComparisonOperator),
    Boolean(BooleanOperator),
    /// `is` or `is not`, which is not arithmetic.
    Identity,
    /// `then if`, before its `else`.
    If,
    /// `then if condition else`.
    Else,
}

impl Operator {
    /// The operator between two operands; `None` if it is not Python's.
    pub(super) fn infix(text: &str) -> Option<Self> {
        match text {
            "if" => return Some(Self::If),
            "else" => return Some(Self::Else),
            // blanks and comments may separate the two words of `not in` and `is not`
            _ if text.starts_with("not") => {
                return Some(Self::Comparison(ComparisonOperator::NotIn));
            }
            _ if text.starts_with("is") => return Some(Self::Identity),
            _ => {}
        }
        if let Some(op) = BinaryOperator::from_symbol(text) {
            return Some(Self::Binary(op));
        }
        if let Some(op) = ComparisonOperator::from_symbol(text) {
            return Some(Self::Comparison(op));
        }
        BooleanOperator::from_symbol(text).map(Self::Boolean)
    }

    /// How tightly it binds, in the order of the table in Python's reference.
    fn binding_power(self) -> u8 {
        use BinaryOperator as Op;
        match self {
            // not completed by any operator: an `if` waits for its `else`
            Self::Start | Self::If => 0,
            Self::Else => CONDITIONAL,
            Self::Boolean(BooleanOperator::Or) => 2,
            Self::Boolean(BooleanOperator::And) => 3,
            Self::Unary(UnaryOperator::Not) => NOT,
            Self::Comparison(_) | Self::Identity => 5,
            Self::Binary(Op::BitOr) => 6,
            Self::Binary(Op::BitXor) => 7,
            Self::Binary(Op::BitAnd) => 8,
            Self::Binary(Op::ShiftLeft | Op::ShiftRight) => 9,
            Self::Binary(Op::Add | Op::Subtract) => 10,
            Self::Binary(Op::Power) => 13,
            // `*`, `/`, `//`, `%`, `@`
            Self::Binary(_) => 11,
            // below a power: `-2**2` is `-(2**2)`
            Self::Unary(_) => 12,
        }
    }

    /// Whether an operator before it that binds as tightly takes its operand first.
    fn is_left_associative(self) -> bool {
        // comparisons, `and` and `or` become one node with all their operands
        match self {
            Self::Binary(op) => op != BinaryOperator::Power,
            _ => self == Self::Identity,
        }
    }

    /// Whether it and the operator before it have one node together.
    fn continues(self, before: Self) -> bool {
        match self {
            Self::Comparison(_) => matches!(before, Self::Comparison(_)),
            Self::Boolean(_) => self == before,
            _ => false,
        }
    }
}

const CONDITIONAL: u8 = 1;
const NOT: u8 = 4;

/// An operator-precedence parser: takes operands and operators in the order of the text and adds
/// nodes to the tree. Expressions may nest.
#[derive(Default)]
pub(super) struct PrecedenceParser {
    operands: Vec<ExprId>,
    /// The operators whose right operand is not complete.
    pending: Vec<(Operator, Span)>,
}

impl PrecedenceParser {
    /// Begins an expression, which [`PrecedenceParser::end_expression`] ends.
    pub(super) fn begin_expression(&mut self) {
        self.pending.push((Operator::Start, Span::default()));
    }

    pub(super) fn operand(&mut self, id: ExprId) {
        self.operands.push(id);
    }

    pub(super) fn prefix(&mut self, op: UnaryOperator, span: Span) -> Result<(), SyntaxError> {
        let before = self.last().map_or(0, |(before, _)| before.binding_power());
        // `-not x` and `a + not b` are syntax errors in Python
        if op == UnaryOperator::Not && before > NOT {
            return Err(SyntaxError::new(SyntaxErrorKind::NeedsParentheses, span));
        }
        self.pending.push((Operator::Unary(op), span));
        Ok(())
    }

    /// Takes an operator between two operands, one of [`Operator::infix`].
    pub(super) fn infix(
        &mut self,
        op: Operator,
        span: Span,
        expr: &mut Expr,
    ) -> Result<(), SyntaxError> {
        let limit = match op {
            Operator::If | Operator::Else => CONDITIONAL,
            _ => op.binding_power() - u8::from(op.is_left_associative()),
        };
        self.reduce_above(limit, expr);
        match (op, self.last()) {
            (Operator::If, Some((Operator::If, unfinished))) => {
                return Err(SyntaxError::new(SyntaxErrorKind::MissingElse, unfinished));
            }
            (Operator::Else, Some((Operator::If, _))) => {
                self.pending.pop();
            }
            (Operator::Else, _) => {
                return Err(SyntaxError::new(SyntaxErrorKind::StrayElse, span));
            }
            _ => {}
        }
        self.pending.push((op, span));
        Ok(())
    }

    /// Ends the expression that was begun last, and returns its node.
    pub(super) fn end_expression(&mut self, expr: &mut Expr) -> Result<ExprId, SyntaxError> {
        self.reduce_above(CONDITIONAL, expr);
        if let Some((Operator::If, span)) = self.last() {
            return Err(SyntaxError::new(SyntaxErrorKind::MissingElse, span));
        }
        self.reduce_above(0, expr);
        self.pending.pop();
        self.operands
            .pop()
            .ok_or_else(|| SyntaxError::new(SyntaxErrorKind::Empty, Span::default()))
    }

    fn last(&self) -> Option<(Operator, Span)> {
        self.pending.last().copied()
    }

    /// Completes the pending operators whose binding power is greater than `limit`.
    fn reduce_above(&mut self, limit: u8, expr: &mut Expr) {
        while let Some((op, span)) = self.last()
            && op.binding_power() > limit
        {
            self.reduce(op, span, expr);
        }
    }

    /// Replaces the operands of a complete operator, the last one, by its node.
    fn reduce(&mut self, op: Operator, span: Span, expr: &mut Expr) {
        let mut chain = Vec::new();
        while let Some((before, _)) = self.last()
            && (chain.is_empty() || op.continues(before))
        {
            chain.push(before);
            self.pending.pop();
        }
        let count = match op {
            Operator::Unary(_) => 1,
            Operator::Else => 3,
            _ => chain.len() + 1,
        };
        // the grammar gives each operator its operands, so this never saturates
        let first = self.operands.len().saturating_sub(count);
        let operands = &self.operands[first..];
        let covered = match operands {
            [first, .., last] => expr.node(*first).span.to(expr.node(*last).span),
            [only] => expr.node(*only).span.to(span),
            [] => span,
        };
        let kind = match (op, operands) {
            (Operator::Unary(op), &[operand]) => ExprKind::Unary { op, operand },
            (Operator::Binary(op), &[left, right]) => ExprKind::Binary { op, left, right },
            (Operator::Else, &[then, condition, otherwise]) => ExprKind::Conditional {
                then,
                condition,
                otherwise,
            },
            (Operator::Comparison(_), _) => {
                let mut operators = Vec::with_capacity(chain.len());
                for link in chain.into_iter().rev() {
                    if let Operator::Comparison(op) = link {
                        operators.push(op);
                    }
                }
                ExprKind::Comparison {
                    operators: operators.into(),
                    operands: operands.into(),
                }
            }
            (Operator::Boolean(op), _) => ExprKind::Boolean {
                op,
                operands: operands.into(),
            },
            // `a is b` compares identities, not values
            _ => ExprKind::Unsupported {
                construct: Construct::Identity,
                parts: operands.into(),
            },
        };
        self.operands.truncate(first);
        self.operands.push(expr.push(kind, covered));
    }
}
