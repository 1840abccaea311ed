//! From a flat `operand operator operand …` to a tree, by Python's precedence, without recursion.

use crate::diagnostic::Span;
use crate::formula::syntax::{Construct, Expr, Keyword, NodeId, NodeKind, SyntaxError, SyntaxErrorKind};
use crate::python::{BinaryOperator, BooleanOperator, ComparisonOperator, UnaryOperator};

/// An operator between two operands.
#[derive(Debug, Clone, Copy)]
pub(super) enum Infix {
    Binary(BinaryOperator),
    Comparison(ComparisonOperator),
    Boolean(BooleanOperator),
    /// `is` or `is not`: Python's, but no arithmetic.
    Identity,
    If,
    Else,
}

/// What still waits for its right side.
#[derive(Clone, Copy)]
enum Pending {
    /// A bracket, or the formula's beginning: nothing reaches across it.
    Bracket,
    Unary(UnaryOperator),
    Binary(BinaryOperator),
    /// A chain of so many comparisons.
    Comparison(usize),
    /// So many operands with the same operator between them.
    Boolean(BooleanOperator, usize),
    Identity,
    /// `then if`, waiting for its `else`.
    If,
    /// `then if condition else`.
    Else,
}

/// How tightly an operator binds; the order of the table in Python's reference.
mod power {
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

/// Takes tokens in the order in which they are written, bracket within bracket, and adds their nodes to the tree.
pub(super) struct Climber {
    operands: Vec<NodeId>,
    pending: Vec<(Pending, Span)>,
    /// The operators of the comparisons that wait.
    comparisons: Vec<ComparisonOperator>,
}

impl Climber {
    pub(super) fn new() -> Self {
        // as deep as formulas of real sites go
        Self { operands: Vec::with_capacity(16), pending: Vec::with_capacity(16), comparisons: Vec::new() }
    }

    /// Begins an expression, which [`Climber::close`] ends; others may begin and end within it.
    pub(super) fn open(&mut self) {
        self.pending.push((Pending::Bracket, Span::default()));
    }

    pub(super) fn operand(&mut self, id: NodeId) {
        self.operands.push(id);
    }

    /// An operand that takes all to its right, so that only `else` may stand before it.
    pub(super) fn greedy_operand(&mut self, id: NodeId, expr: &Expr) -> Result<(), SyntaxError> {
        if matches!(self.pending.last(), None | Some((Pending::Bracket | Pending::Else, _))) {
            self.operands.push(id);
            return Ok(());
        }
        Err(SyntaxError::new(SyntaxErrorKind::NeedsParentheses("lambda"), expr.node(id).span))
    }

    pub(super) fn prefix(&mut self, op: UnaryOperator, span: Span) -> Result<(), SyntaxError> {
        let binds_tighter = self.pending.last().is_some_and(|(pending, _)| pending.power() > power::NOT);
        if op == UnaryOperator::Not && binds_tighter {
            return Err(SyntaxError::new(SyntaxErrorKind::NeedsParentheses("not"), span));
        }
        self.pending.push((Pending::Unary(op), span));
        Ok(())
    }

    pub(super) fn infix(&mut self, infix: Infix, span: Span, expr: &mut Expr) -> Result<(), SyntaxError> {
        match infix {
            Infix::Binary(op) => {
                let own = binary_power(op);
                // `**` groups to the right, all others to the left
                self.reduce_above(if op == BinaryOperator::Power { own } else { own - 1 }, expr);
                self.pending.push((Pending::Binary(op), span));
            }
            Infix::Comparison(op) => {
                self.reduce_above(power::COMPARISON, expr);
                self.comparisons.push(op);
                match self.pending.last_mut() {
                    Some((Pending::Comparison(links), _)) => *links += 1,
                    _ => self.pending.push((Pending::Comparison(1), span)),
                }
            }
            Infix::Boolean(op) => {
                self.reduce_above(boolean_power(op), expr);
                match self.pending.last_mut() {
                    Some((Pending::Boolean(same, count), _)) if *same == op => *count += 1,
                    _ => self.pending.push((Pending::Boolean(op, 2), span)),
                }
            }
            Infix::Identity => {
                self.reduce_above(power::COMPARISON - 1, expr);
                self.pending.push((Pending::Identity, span));
            }
            Infix::If => {
                self.reduce_above(power::CONDITIONAL, expr);
                if let Some((Pending::If, unfinished)) = self.pending.last() {
                    return Err(SyntaxError::new(SyntaxErrorKind::MissingElse, *unfinished));
                }
                self.pending.push((Pending::If, span));
            }
            Infix::Else => {
                self.reduce_above(power::CONDITIONAL, expr);
                match self.pending.last_mut() {
                    Some((pending @ Pending::If, _)) => *pending = Pending::Else,
                    _ => return Err(SyntaxError::new(SyntaxErrorKind::StrayElse, span)),
                }
            }
        }
        Ok(())
    }

    /// The node of the expression that began last.
    pub(super) fn close(&mut self, expr: &mut Expr) -> Result<NodeId, SyntaxError> {
        self.reduce_above(power::CONDITIONAL, expr);
        if let Some((Pending::If, span)) = self.pending.last() {
            return Err(SyntaxError::new(SyntaxErrorKind::MissingElse, *span));
        }
        self.reduce_above(0, expr);
        self.pending.pop();
        let missing = || SyntaxError::new(SyntaxErrorKind::Empty, Span::default());
        self.operands.pop().ok_or_else(missing)
    }

    /// Closes every waiting operator that binds tighter than `floor`.
    fn reduce_above(&mut self, floor: u8, expr: &mut Expr) {
        while let Some(&(pending, span)) = self.pending.last()
            && pending.power() > floor
        {
            self.pending.pop();
            self.reduce(pending, span, expr);
        }
    }

    fn reduce(&mut self, pending: Pending, span: Span, expr: &mut Expr) {
        let first = self.operands.len().saturating_sub(pending.operand_count());
        let operands = &self.operands[first..];
        let covered = match operands {
            [first, .., last] => expr.node(*first).span.to(expr.node(*last).span),
            [only] => expr.node(*only).span.to(span),
            [] => span,
        };
        let kind = match (pending, operands) {
            (Pending::Unary(op), &[operand]) => NodeKind::Unary { op, operand },
            (Pending::Binary(op), &[left, right]) => NodeKind::Binary { op, left, right },
            (Pending::Else, &[then, condition, otherwise]) => NodeKind::Conditional { then, condition, otherwise },
            (Pending::Comparison(links), _) => {
                let operators = self.comparisons.drain(self.comparisons.len().saturating_sub(links)..).collect();
                NodeKind::Comparison { operators, operands: operands.into() }
            }
            (Pending::Boolean(op, _), _) => NodeKind::Boolean { op, operands: operands.into() },
            // `a is b` compares objects, not numbers
            _ => NodeKind::Foreign { construct: Construct::Identity, parts: operands.into() },
        };
        self.operands.truncate(first);
        self.operands.push(expr.push(kind, covered));
    }
}

impl Pending {
    fn power(self) -> u8 {
        match self {
            Self::Bracket | Self::If => 0,
            Self::Else => power::CONDITIONAL,
            Self::Boolean(op, _) => boolean_power(op),
            Self::Unary(UnaryOperator::Not) => power::NOT,
            Self::Comparison(_) | Self::Identity => power::COMPARISON,
            Self::Binary(op) => binary_power(op),
            Self::Unary(_) => power::SIGN,
        }
    }

    fn operand_count(self) -> usize {
        match self {
            Self::Bracket => 0,
            Self::Unary(_) => 1,
            Self::Binary(_) | Self::Identity | Self::If => 2,
            Self::Else => 3,
            Self::Comparison(links) => links + 1,
            Self::Boolean(_, count) => count,
        }
    }
}

fn boolean_power(op: BooleanOperator) -> u8 {
    match op {
        BooleanOperator::Or => power::OR,
        BooleanOperator::And => power::AND,
    }
}

fn binary_power(op: BinaryOperator) -> u8 {
    use BinaryOperator as Op;
    match op {
        Op::BitOr => power::BIT_OR,
        Op::BitXor => power::BIT_XOR,
        Op::BitAnd => power::BIT_AND,
        Op::ShiftLeft | Op::ShiftRight => power::SHIFT,
        Op::Add | Op::Subtract => power::SUM,
        Op::Multiply | Op::Divide | Op::FloorDivide | Op::Modulo | Op::MatrixMultiply => power::PRODUCT,
        Op::Power => power::POWER,
    }
}

impl Keyword {
    pub(super) fn new(name: &str, span: Span, value: NodeId) -> Self {
        Self { name: name.into(), span, value }
    }
}
