//! From an operator's text to the language's operators.

use crate::formula::syntax::precedence::Infix;
use crate::python::{BinaryOperator, BooleanOperator, ComparisonOperator, UnaryOperator};

/// An operator before its operand; `None` for one that is not Python's.
pub(super) fn prefix(text: &str) -> Option<UnaryOperator> {
    Some(match text {
        "not" => UnaryOperator::Not,
        "-" => UnaryOperator::Minus,
        "+" => UnaryOperator::Plus,
        "~" => UnaryOperator::Invert,
        _ => return None,
    })
}

/// An operator between two operands; `None` for one that is not Python's.
pub(super) fn infix(text: &str) -> Option<Infix> {
    use BinaryOperator as Binary;
    use ComparisonOperator as Compare;
    Some(match text {
        "or" => Infix::Boolean(BooleanOperator::Or),
        "and" => Infix::Boolean(BooleanOperator::And),
        "if" => Infix::If,
        "else" => Infix::Else,
        "in" => Infix::Comparison(Compare::In),
        "==" => Infix::Comparison(Compare::Equal),
        "!=" => Infix::Comparison(Compare::NotEqual),
        "<" => Infix::Comparison(Compare::Less),
        "<=" => Infix::Comparison(Compare::LessOrEqual),
        ">" => Infix::Comparison(Compare::Greater),
        ">=" => Infix::Comparison(Compare::GreaterOrEqual),
        "**" => Infix::Binary(Binary::Power),
        "*" => Infix::Binary(Binary::Multiply),
        "//" => Infix::Binary(Binary::FloorDivide),
        "/" => Infix::Binary(Binary::Divide),
        "%" => Infix::Binary(Binary::Modulo),
        "@" => Infix::Binary(Binary::MatrixMultiply),
        "+" => Infix::Binary(Binary::Add),
        "-" => Infix::Binary(Binary::Subtract),
        "<<" => Infix::Binary(Binary::ShiftLeft),
        ">>" => Infix::Binary(Binary::ShiftRight),
        "&" => Infix::Binary(Binary::BitAnd),
        "|" => Infix::Binary(Binary::BitOr),
        "^" => Infix::Binary(Binary::BitXor),
        // blanks and comments may stand between the two words of `not in` and `is not`
        _ if text.starts_with("not") => Infix::Comparison(Compare::NotIn),
        _ if text.starts_with("is") => Infix::Identity,
        _ => return None,
    })
}
