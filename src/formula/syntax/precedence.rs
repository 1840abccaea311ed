//! Recognises operators by their text, and makes a tree of a flat `operand operator operand …` by
//! Python's precedence.
//!
//! The grammar leaves expressions flat, so that its recursion does not depend on the number of
//! operators; an operator-precedence parser with a stack of pending operators makes the tree.

use crate::diagnostic::Span;
use crate::formula::syntax::{Construct, Expr, ExprId, ExprKind, SyntaxError, SyntaxErrorKind};
use crate::python::{BinaryOperator, BooleanOperator, ComparisonOperator, UnaryOperator};

/// An operator between two operands.
#[derive(Debug, Clone, Copy)]
pub(super) enum Infix {
    Binary(BinaryOperator),
    Comparison(ComparisonOperator),
    Boolean(BooleanOperator),
    /// `is` or `is not`, which is not arithmetic.
    Identity,
    If,
    Else,
}

impl Infix {
    /// The operator between two operands; `None` if it is not Python's.
    pub(super) fn from_text(text: &str) -> Option<Self> {
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
        let binary = BinaryOperator::from_symbol(text).map(Self::Binary);
        binary
            .or_else(|| ComparisonOperator::from_symbol(text).map(Self::Comparison))
            .or_else(|| BooleanOperator::from_symbol(text).map(Self::Boolean))
    }
}

/// An operator whose right operand is not complete.
#[derive(Clone, Copy)]
enum Pending {
    /// The start of an expression: operators before it take no operands after it.
    Start,
    Unary(UnaryOperator),
    Binary(BinaryOperator),
    /// A chain of this many comparisons.
    Comparison(usize),
    /// This many operands with the same operator between them.
    Boolean(BooleanOperator, usize),
    Identity,
    /// `then if`, before its `else`.
    If,
    /// `then if condition else`.
    Else,
}

/// The binding power of operators, in the order of the table in Python's reference.
mod binding_power {
    pub const CONDITIONAL: u8 = 1;
    pub const OR: u8 = 2;
    pub const AND: u8 = 3;
    pub const NOT: u8 = 4;
    pub const COMPARISON: u8 = 5;
    pub const BIT_OR: u8 = 6;
    pub const BIT_XOR: u8 = 7;
    pub const BIT_AND: u8 = 8;
    pub const SHIFT: u8 = 9;
    pub const SUM: u8 = 10;
    pub const PRODUCT: u8 = 11;
    pub const SIGN: u8 = 12;
    pub const POWER: u8 = 13;
}

/// An operator-precedence parser: takes operands and operators in the order of the text and adds
/// nodes to the tree. Expressions may nest.
pub(super) struct PrecedenceParser {
    operands: Vec<ExprId>,
    pending: Vec<(Pending, Span)>,
    /// The operators of the pending comparisons.
    comparisons: Vec<ComparisonOperator>,
}

impl PrecedenceParser {
    pub(super) fn new() -> Self {
        // enough for the formulas of real sites
        Self {
            operands: Vec::with_capacity(16),
            pending: Vec::with_capacity(16),
            comparisons: Vec::new(),
        }
    }

    /// Begins an expression, which [`PrecedenceParser::end_expression`] ends.
    pub(super) fn begin_expression(&mut self) {
        self.pending.push((Pending::Start, Span::default()));
    }

    pub(super) fn operand(&mut self, id: ExprId) {
        self.operands.push(id);
    }

    pub(super) fn prefix(&mut self, op: UnaryOperator, span: Span) -> Result<(), SyntaxError> {
        let binds_tighter = self
            .pending
            .last()
            .is_some_and(|(pending, _)| pending.binding_power() > binding_power::NOT);
        // `-not x` and `a + not b` are syntax errors in Python
        if op == UnaryOperator::Not && binds_tighter {
            return Err(SyntaxError::new(SyntaxErrorKind::NeedsParentheses, span));
        }
        self.pending.push((Pending::Unary(op), span));
        Ok(())
    }

    pub(super) fn infix(
        &mut self,
        infix: Infix,
        span: Span,
        expr: &mut Expr,
    ) -> Result<(), SyntaxError> {
        match infix {
            Infix::Binary(op) => {
                let power = binary_binding_power(op);
                // `**` is right-associative, all others are left-associative
                self.reduce_above(
                    if op == BinaryOperator::Power {
                        power
                    } else {
                        power - 1
                    },
                    expr,
                );
                self.pending.push((Pending::Binary(op), span));
            }
            Infix::Comparison(op) => {
                // not the pending comparison, which this one continues to a chain
                self.reduce_above(binding_power::COMPARISON, expr);
                self.comparisons.push(op);
                match self.pending.last_mut() {
                    Some((Pending::Comparison(links), _)) => *links += 1,
                    _ => self.pending.push((Pending::Comparison(1), span)),
                }
            }
            Infix::Boolean(op) => {
                // not an operator of the same kind, which takes one more operand
                self.reduce_above(boolean_binding_power(op), expr);
                match self.pending.last_mut() {
                    Some((Pending::Boolean(pending_op, count), _)) if *pending_op == op => {
                        *count += 1
                    }
                    _ => self.pending.push((Pending::Boolean(op, 2), span)),
                }
            }
            Infix::Identity => {
                // unlike a comparison, it ends a pending chain
                self.reduce_above(binding_power::COMPARISON - 1, expr);
                self.pending.push((Pending::Identity, span));
            }
            Infix::If => {
                self.reduce_above(binding_power::CONDITIONAL, expr);
                if let Some((Pending::If, unfinished)) = self.pending.last() {
                    return Err(SyntaxError::new(SyntaxErrorKind::MissingElse, *unfinished));
                }
                self.pending.push((Pending::If, span));
            }
            Infix::Else => {
                self.reduce_above(binding_power::CONDITIONAL, expr);
                match self.pending.last_mut() {
                    Some((pending @ Pending::If, _)) => *pending = Pending::Else,
                    _ => return Err(SyntaxError::new(SyntaxErrorKind::StrayElse, span)),
                }
            }
        }
        Ok(())
    }

    /// Ends the expression that was begun last, and returns its node.
    pub(super) fn end_expression(&mut self, expr: &mut Expr) -> Result<ExprId, SyntaxError> {
        self.reduce_above(binding_power::CONDITIONAL, expr);
        if let Some((Pending::If, span)) = self.pending.last() {
            return Err(SyntaxError::new(SyntaxErrorKind::MissingElse, *span));
        }
        self.reduce_above(0, expr);
        self.pending.pop();
        self.operands
            .pop()
            .ok_or_else(|| SyntaxError::new(SyntaxErrorKind::Empty, Span::default()))
    }

    /// Completes the pending operators whose binding power is greater than `limit`.
    fn reduce_above(&mut self, limit: u8, expr: &mut Expr) {
        while let Some(&(pending, span)) = self.pending.last()
            && pending.binding_power() > limit
        {
            self.pending.pop();
            self.reduce(pending, span, expr);
        }
    }

    /// Replaces the operands of a complete operator by its node.
    fn reduce(&mut self, pending: Pending, span: Span, expr: &mut Expr) {
        // the grammar gives each operator its operands, so this never saturates
        let first = self.operands.len().saturating_sub(pending.operand_count());
        let operands = &self.operands[first..];
        let covered = match operands {
            [first, .., last] => expr.node(*first).span.to(expr.node(*last).span),
            [only] => expr.node(*only).span.to(span),
            [] => span,
        };
        let kind = match (pending, operands) {
            (Pending::Unary(op), &[operand]) => ExprKind::Unary { op, operand },
            (Pending::Binary(op), &[left, right]) => ExprKind::Binary { op, left, right },
            (Pending::Else, &[then, condition, otherwise]) => ExprKind::Conditional {
                then,
                condition,
                otherwise,
            },
            (Pending::Comparison(links), _) => {
                let operators = self
                    .comparisons
                    .drain(self.comparisons.len().saturating_sub(links)..)
                    .collect();
                ExprKind::Comparison {
                    operators,
                    operands: operands.into(),
                }
            }
            (Pending::Boolean(op, _), _) => ExprKind::Boolean {
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

impl Pending {
    fn binding_power(self) -> u8 {
        match self {
            // not completed by any operator: an `if` waits for its `else`
            Self::Start | Self::If => 0,
            Self::Else => binding_power::CONDITIONAL,
            Self::Boolean(op, _) => boolean_binding_power(op),
            Self::Unary(UnaryOperator::Not) => binding_power::NOT,
            Self::Comparison(_) | Self::Identity => binding_power::COMPARISON,
            Self::Binary(op) => binary_binding_power(op),
            Self::Unary(_) => binding_power::SIGN,
        }
    }

    fn operand_count(self) -> usize {
        match self {
            Self::Start => 0,
            Self::Unary(_) => 1,
            Self::Binary(_) | Self::Identity | Self::If => 2,
            Self::Else => 3,
            Self::Comparison(links) => links + 1,
            Self::Boolean(_, count) => count,
        }
    }
}

fn boolean_binding_power(op: BooleanOperator) -> u8 {
    match op {
        BooleanOperator::Or => binding_power::OR,
        BooleanOperator::And => binding_power::AND,
    }
}

fn binary_binding_power(op: BinaryOperator) -> u8 {
    use BinaryOperator as Op;
    match op {
        Op::BitOr => binding_power::BIT_OR,
        Op::BitXor => binding_power::BIT_XOR,
        Op::BitAnd => binding_power::BIT_AND,
        Op::ShiftLeft | Op::ShiftRight => binding_power::SHIFT,
        Op::Add | Op::Subtract => binding_power::SUM,
        Op::Multiply | Op::Divide | Op::FloorDivide | Op::Modulo | Op::MatrixMultiply => {
            binding_power::PRODUCT
        }
        Op::Power => binding_power::POWER,
    }
}
