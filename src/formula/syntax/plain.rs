//! Plain arithmetic, read without the grammar.
//!
//! The grammar is the language, and this is no second one but a short cut through it. pest keeps account of every rule
//! that it tries, so as to say what is missing where a text is no formula. For one that is, that is all for nothing, and
//! takes some twenty times as long as reading it does here. So [`read`] reads what nearly all formulas of real sites are
//! made of: names, decimal numbers, `+ - * / // % **`, comparisons, `and`, `or`, `not`, `if … else`, parentheses and
//! calls with positional arguments, in ASCII on one line. It gives such a text the tree that the grammar gives it, node
//! for node and place for place, and `None` to any other: what that is, and what is wrong with it, the grammar says. The
//! tests hold the two against each other.
//!
//! Nothing here recurses.

use crate::diagnostic::Span;
use crate::formula::syntax::grammar::is_reserved;
use crate::formula::syntax::limits::MAX_NESTING;
use crate::formula::syntax::precedence::{Climber, Infix};
use crate::formula::syntax::{Expr, LiteralKind, NodeId, NodeKind};
use crate::python::{BinaryOperator, BooleanOperator, ComparisonOperator, UnaryOperator};

/// The tree of a formula that is plain, whatever its length.
pub(super) fn read(text: &str) -> Option<Expr> {
    let mut reader = Reader {
        text,
        at: 0,
        expr: Expr::empty(text),
        climber: Climber::new(),
        open: Vec::new(),
        arguments: Vec::new(),
    };
    reader.formula()?;
    Some(reader.expr)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    expr: Expr,
    climber: Climber,
    open: Vec<Bracket>,
    /// Those of all calls that are open, of the outermost first.
    arguments: Vec<NodeId>,
}

/// A bracket that is open.
enum Bracket {
    /// The one that begins here.
    Parenthesis(usize),
    /// That of a call, and how many arguments the calls around it have so far.
    Call(NodeId, usize),
}

impl<'t> Reader<'t> {
    fn formula(&mut self) -> Option<()> {
        let mut operand = self.expression()?;
        while let Some(byte) = self.ahead() {
            operand = match byte {
                b'(' => self.call(operand)?,
                b')' => self.close(operand)?,
                b',' => self.next_argument(operand)?,
                _ => self.infix(operand)?,
            };
        }
        self.end_expression(operand)?;
        self.open.is_empty().then_some(())
    }

    /// The first operand of an expression.
    fn expression(&mut self) -> Option<NodeId> {
        self.climber.open();
        self.operand()
    }

    fn end_expression(&mut self, last_operand: NodeId) -> Option<NodeId> {
        self.climber.operand(last_operand);
        self.climber.close(&mut self.expr).ok()
    }

    /// A name or a number, behind all the signs and parentheses that open before it.
    fn operand(&mut self) -> Option<NodeId> {
        loop {
            match self.ahead()? {
                b'(' => {
                    self.open(Bracket::Parenthesis(self.at))?;
                    self.climber.open();
                }
                b'-' => self.prefix(UnaryOperator::Minus, 1)?,
                b'+' => self.prefix(UnaryOperator::Plus, 1)?,
                b'0'..=b'9' | b'.' => return self.number(),
                _ => match self.word()? {
                    "not" => self.prefix(UnaryOperator::Not, 3)?,
                    word if is_reserved(word) => return None,
                    word => {
                        let span = self.advance(word.len());
                        return Some(self.expr.push(NodeKind::Name(word.into()), span));
                    }
                },
            }
        }
    }

    fn prefix(&mut self, op: UnaryOperator, length: usize) -> Option<()> {
        let span = self.advance(length);
        self.climber.prefix(op, span).ok()
    }

    /// An operator, and the operand behind it. Of one that is written with more characters, as `+=` and `<>` are, one
    /// is left that begins no operand.
    fn infix(&mut self, left: NodeId) -> Option<NodeId> {
        use BinaryOperator as Binary;
        use ComparisonOperator as Compare;
        self.climber.operand(left);
        let (infix, length) = match &self.text.as_bytes()[self.at..] {
            [b'+', ..] => (Infix::Binary(Binary::Add), 1),
            [b'-', ..] => (Infix::Binary(Binary::Subtract), 1),
            [b'*', b'*', ..] => (Infix::Binary(Binary::Power), 2),
            [b'*', ..] => (Infix::Binary(Binary::Multiply), 1),
            [b'/', b'/', ..] => (Infix::Binary(Binary::FloorDivide), 2),
            [b'/', ..] => (Infix::Binary(Binary::Divide), 1),
            [b'%', ..] => (Infix::Binary(Binary::Modulo), 1),
            [b'=', b'=', ..] => (Infix::Comparison(Compare::Equal), 2),
            [b'!', b'=', ..] => (Infix::Comparison(Compare::NotEqual), 2),
            [b'<', b'=', ..] => (Infix::Comparison(Compare::LessOrEqual), 2),
            [b'<', ..] => (Infix::Comparison(Compare::Less), 1),
            [b'>', b'=', ..] => (Infix::Comparison(Compare::GreaterOrEqual), 2),
            [b'>', ..] => (Infix::Comparison(Compare::Greater), 1),
            _ => match self.word()? {
                "and" => (Infix::Boolean(BooleanOperator::And), 3),
                "or" => (Infix::Boolean(BooleanOperator::Or), 2),
                "if" => (Infix::If, 2),
                "else" => (Infix::Else, 4),
                _ => return None,
            },
        };
        let span = self.advance(length);
        self.climber.infix(infix, span, &mut self.expr).ok()?;
        self.operand()
    }

    /// A call without arguments, or the first operand of the first argument.
    fn call(&mut self, callee: NodeId) -> Option<NodeId> {
        self.open(Bracket::Call(callee, self.arguments.len()))?;
        if self.ahead()? == b')' { self.end_call() } else { self.expression() }
    }

    fn next_argument(&mut self, last_operand: NodeId) -> Option<NodeId> {
        let argument = self.end_expression(last_operand)?;
        let Some(Bracket::Call(..)) = self.open.last() else { return None };
        self.arguments.push(argument);
        self.at += 1;
        self.expression()
    }

    fn open(&mut self, bracket: Bracket) -> Option<()> {
        self.open.push(bracket);
        self.at += 1;
        (self.open.len() <= MAX_NESTING).then_some(())
    }

    fn close(&mut self, last_operand: NodeId) -> Option<NodeId> {
        let inner = self.end_expression(last_operand)?;
        match *self.open.last()? {
            Bracket::Parenthesis(start) => {
                self.open.pop();
                self.at += 1;
                Some(self.expr.push(NodeKind::Parenthesised(inner), Span::new(start, self.at)))
            }
            Bracket::Call(..) => {
                self.arguments.push(inner);
                self.end_call()
            }
        }
    }

    fn end_call(&mut self) -> Option<NodeId> {
        let Some(Bracket::Call(callee, first)) = self.open.pop() else { return None };
        self.at += 1;
        let positional = self.arguments.drain(first..).collect();
        let span = Span { start: self.expr.node(callee).span.start, end: self.at as u32 };
        Some(self.expr.push(NodeKind::Call { callee, positional, keywords: Box::default() }, span))
    }

    /// A decimal number without `_` and without zeros before its first digit.
    fn number(&mut self) -> Option<NodeId> {
        let start = self.at;
        let whole = self.digits();
        let has_point = self.byte() == Some(b'.');
        self.at += usize::from(has_point);
        let fraction = if has_point { self.digits() } else { 0 };
        let has_exponent = matches!(self.byte(), Some(b'e' | b'E'));
        if has_exponent {
            self.at += 1;
            self.at += usize::from(matches!(self.byte(), Some(b'+' | b'-')));
        }
        let exponent = if has_exponent { self.digits() } else { 1 };
        let text = &self.text[start..self.at];
        let leading_zero = whole > 1 && text.starts_with('0');
        let goes_on = self.byte().is_some_and(is_of_word);
        if whole + fraction == 0 || exponent == 0 || leading_zero || goes_on {
            return None;
        }
        let kind = if has_point || has_exponent { LiteralKind::Float } else { LiteralKind::Integer };
        Some(self.expr.push(NodeKind::Literal { kind, text: text.into() }, Span::new(start, self.at)))
    }

    /// Goes behind the digits that stand here, and counts them.
    fn digits(&mut self) -> usize {
        let rest = &self.text.as_bytes()[self.at..];
        let count = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        self.at += count;
        count
    }

    /// The word that stands here. One that goes on in letters beyond ASCII is refused at those, with which neither an
    /// operator nor an operand begins.
    fn word(&self) -> Option<&'t str> {
        let rest = &self.text.as_bytes()[self.at..];
        let length = rest.iter().position(|&byte| !is_of_word(byte)).unwrap_or(rest.len());
        (length > 0).then(|| &self.text[self.at..self.at + length])
    }

    /// Goes behind the blanks that stand here, to the next byte.
    fn ahead(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t') = self.byte() {
            self.at += 1;
        }
        self.byte()
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn advance(&mut self, length: usize) -> Span {
        let start = self.at;
        self.at += length;
        Span::new(start, self.at)
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

#[cfg(test)]
mod tests;
