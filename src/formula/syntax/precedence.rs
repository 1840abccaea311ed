//! From a flat `operand operator operand …` to a tree, by Python's precedence, without recursion.

use super::{Expr, Keyword, NodeId, NodeKind, SyntaxError, SyntaxErrorKind};
use crate::formula::operator::{BinaryOperator, BooleanOperator, ComparisonOperator, UnaryOperator};
use crate::span::Span;

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

/// An operator that still waits for its right operand.
enum Pending {
    Unary(UnaryOperator),
    Binary(BinaryOperator),
    Comparison(Vec<ComparisonOperator>),
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

/// Takes tokens in the order in which they are written and gives the tree's node at the end.
pub(super) struct Climber<'e> {
    expr: &'e mut Expr,
    operands: Vec<NodeId>,
    pending: Vec<(Pending, Span)>,
}

impl<'e> Climber<'e> {
    pub(super) fn new(expr: &'e mut Expr) -> Self {
        Self { expr, operands: Vec::new(), pending: Vec::new() }
    }

    /// The tree that grows, for an operand that must be built first.
    pub(super) fn expr(&mut self) -> &mut Expr {
        self.expr
    }

    pub(super) fn operand(&mut self, id: NodeId) {
        self.operands.push(id);
    }

    /// An operand that takes all to its right, so that only `else` may stand before it.
    pub(super) fn greedy_operand(&mut self, id: NodeId) -> Result<(), SyntaxError> {
        if matches!(self.pending.last(), None | Some((Pending::Else, _))) {
            self.operands.push(id);
            return Ok(());
        }
        Err(SyntaxError::new(SyntaxErrorKind::NeedsParentheses("lambda"), self.expr.node(id).span))
    }

    pub(super) fn prefix(&mut self, op: UnaryOperator, span: Span) -> Result<(), SyntaxError> {
        let binds_tighter = self.pending.last().is_some_and(|(pending, _)| pending.power() > power::NOT);
        if op == UnaryOperator::Not && binds_tighter {
            return Err(SyntaxError::new(SyntaxErrorKind::NeedsParentheses("not"), span));
        }
        self.pending.push((Pending::Unary(op), span));
        Ok(())
    }

    pub(super) fn infix(&mut self, infix: Infix, span: Span) -> Result<(), SyntaxError> {
        match infix {
            Infix::Binary(op) => self.binary(op, span),
            Infix::Comparison(op) => self.comparison(op, span),
            Infix::Boolean(op) => self.boolean(op, span),
            Infix::Identity => {
                self.reduce_above(power::COMPARISON - 1);
                self.pending.push((Pending::Identity, span));
            }
            Infix::If => {
                self.reduce_above(power::CONDITIONAL);
                if let Some((Pending::If, unfinished)) = self.pending.last() {
                    return Err(SyntaxError::new(SyntaxErrorKind::MissingElse, *unfinished));
                }
                self.pending.push((Pending::If, span));
            }
            Infix::Else => {
                self.reduce_above(power::CONDITIONAL);
                match self.pending.last_mut() {
                    Some((pending @ Pending::If, _)) => *pending = Pending::Else,
                    _ => return Err(SyntaxError::new(SyntaxErrorKind::StrayElse, span)),
                }
            }
        }
        Ok(())
    }

    /// The finished tree's node.
    pub(super) fn finish(mut self) -> Result<NodeId, SyntaxError> {
        self.reduce_above(power::CONDITIONAL);
        if let Some((Pending::If, span)) = self.pending.last() {
            return Err(SyntaxError::new(SyntaxErrorKind::MissingElse, *span));
        }
        self.reduce_above(0);
        let missing = || SyntaxError::new(SyntaxErrorKind::Empty, Span::default());
        self.operands.pop().ok_or_else(missing)
    }

    fn binary(&mut self, op: BinaryOperator, span: Span) {
        let own = binary_power(op);
        // `**` groups to the right, all others to the left
        self.reduce_above(if op == BinaryOperator::Power { own } else { own - 1 });
        self.pending.push((Pending::Binary(op), span));
    }

    fn comparison(&mut self, op: ComparisonOperator, span: Span) {
        self.reduce_above(power::COMPARISON);
        match self.pending.last_mut() {
            Some((Pending::Comparison(operators), _)) => operators.push(op),
            _ => self.pending.push((Pending::Comparison(vec![op]), span)),
        }
    }

    fn boolean(&mut self, op: BooleanOperator, span: Span) {
        self.reduce_above(boolean_power(op));
        match self.pending.last_mut() {
            Some((Pending::Boolean(same, count), _)) if *same == op => *count += 1,
            _ => self.pending.push((Pending::Boolean(op, 2), span)),
        }
    }

    /// Closes every waiting operator that binds tighter than `floor`.
    fn reduce_above(&mut self, floor: u8) {
        while self.pending.last().is_some_and(|(pending, _)| pending.power() > floor) {
            if let Some((pending, span)) = self.pending.pop() {
                self.reduce(pending, span);
            }
        }
    }

    fn reduce(&mut self, pending: Pending, span: Span) {
        let count = pending.operand_count();
        let operands = self.operands.split_off(self.operands.len().saturating_sub(count));
        let covered = operands.iter().fold(None::<Span>, |all, &id| {
            let own = self.expr.node(id).span;
            Some(all.map_or(own, |all| all.to(own)))
        });
        let covered = covered.unwrap_or(span);
        let (kind, span) = match (pending, operands.as_slice()) {
            (Pending::Unary(op), &[operand]) => (NodeKind::Unary { op, operand }, covered.to(span)),
            (Pending::Binary(op), &[left, right]) => (NodeKind::Binary { op, left, right }, covered),
            (Pending::Else, &[then, condition, otherwise]) => {
                (NodeKind::Conditional { then, condition, otherwise }, covered)
            }
            (Pending::Comparison(operators), _) => {
                let (operators, operands) = (operators.into(), operands.into());
                (NodeKind::Comparison { operators, operands }, covered)
            }
            (Pending::Boolean(op, _), _) => (NodeKind::Boolean { op, operands: operands.into() }, covered),
            _ => (NodeKind::identity(operands), covered),
        };
        let id = self.expr.push(kind, span);
        self.operands.push(id);
    }
}

impl NodeKind {
    /// `a is b`, which compares objects, not numbers.
    fn identity(parts: Vec<NodeId>) -> Self {
        let construct = super::Construct::Identity;
        Self::Foreign { construct, parts: parts.into() }
    }
}

impl Pending {
    fn power(&self) -> u8 {
        match self {
            Self::If => 0,
            Self::Else => power::CONDITIONAL,
            Self::Boolean(op, _) => boolean_power(*op),
            Self::Unary(UnaryOperator::Not) => power::NOT,
            Self::Comparison(_) | Self::Identity => power::COMPARISON,
            Self::Binary(op) => binary_power(*op),
            Self::Unary(_) => power::SIGN,
        }
    }

    fn operand_count(&self) -> usize {
        match self {
            Self::Unary(_) => 1,
            Self::Binary(_) | Self::Identity | Self::If => 2,
            Self::Else => 3,
            Self::Comparison(operators) => operators.len() + 1,
            Self::Boolean(_, count) => *count,
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
