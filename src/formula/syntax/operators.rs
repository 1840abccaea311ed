//! From the grammar's rules to the language's operators.

use super::grammar::Rule;
use super::precedence::Infix;
use crate::formula::operator::{BinaryOperator, BooleanOperator, ComparisonOperator, UnaryOperator};

pub(super) fn prefix(rule: Rule) -> Option<UnaryOperator> {
    Some(match rule {
        Rule::not => UnaryOperator::Not,
        Rule::minus => UnaryOperator::Minus,
        Rule::plus => UnaryOperator::Plus,
        Rule::invert => UnaryOperator::Invert,
        _ => return None,
    })
}

pub(super) fn infix(rule: Rule) -> Infix {
    use BinaryOperator as Binary;
    use ComparisonOperator as Compare;
    match rule {
        Rule::or => Infix::Boolean(BooleanOperator::Or),
        Rule::and => Infix::Boolean(BooleanOperator::And),
        Rule::if_ => Infix::If,
        Rule::else_ => Infix::Else,
        Rule::in_ => Infix::Comparison(Compare::In),
        Rule::not_in => Infix::Comparison(Compare::NotIn),
        Rule::equal => Infix::Comparison(Compare::Equal),
        Rule::not_equal => Infix::Comparison(Compare::NotEqual),
        Rule::less => Infix::Comparison(Compare::Less),
        Rule::less_or_equal => Infix::Comparison(Compare::LessOrEqual),
        Rule::greater => Infix::Comparison(Compare::Greater),
        Rule::greater_or_equal => Infix::Comparison(Compare::GreaterOrEqual),
        Rule::power => Infix::Binary(Binary::Power),
        Rule::multiply => Infix::Binary(Binary::Multiply),
        Rule::floor_divide => Infix::Binary(Binary::FloorDivide),
        Rule::divide => Infix::Binary(Binary::Divide),
        Rule::modulo => Infix::Binary(Binary::Modulo),
        Rule::matmul => Infix::Binary(Binary::MatrixMultiply),
        Rule::plus_ => Infix::Binary(Binary::Add),
        Rule::minus_ => Infix::Binary(Binary::Subtract),
        Rule::shift_left => Infix::Binary(Binary::ShiftLeft),
        Rule::shift_right => Infix::Binary(Binary::ShiftRight),
        Rule::bit_and => Infix::Binary(Binary::BitAnd),
        Rule::bit_or => Infix::Binary(Binary::BitOr),
        Rule::bit_xor => Infix::Binary(Binary::BitXor),
        _ => Infix::Identity,
    }
}
