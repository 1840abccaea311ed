//! The numbers that stand in an attribute of a job.

use crate::json_visitor::Token;
use crate::pbs::{duration, resource_amount as numbers};
use crate::python::Value;

/// A ready-made input: any number, and the three that JSON cannot spell, as texts.
pub(super) fn input(token: &Token<'_>) -> Option<Value> {
    match token {
        Token::Number(text) => numbers::number(text),
        Token::Text(text) => match &**text {
            "inf" => Some(Value::Float(f64::INFINITY)),
            "-inf" => Some(Value::Float(f64::NEG_INFINITY)),
            "nan" => Some(Value::Float(f64::NAN)),
            _ => None,
        },
        Token::Other(_) => None,
    }
}

pub(super) fn whole(token: &Token<'_>) -> Option<i64> {
    match numbers::number(token.text()?.trim())? {
        Value::Int(whole) => Some(whole),
        // qstat's JSON prints whole numbers from 1e15 on with an exponent.
        Value::Float(x) if x.fract() == 0.0 && x.abs() < 9.0e18 => Some(x as i64),
        _ => None,
    }
}

pub(super) fn real(token: &Token<'_>) -> Option<f64> {
    match numbers::number(token.text()?.trim())? {
        Value::Int(whole) => Some(whole as f64),
        Value::Float(x) => Some(x),
        _ => None,
    }
}

pub(super) fn seconds(token: &Token<'_>) -> Option<i64> {
    duration::seconds(token.text()?.trim()).ok().or_else(|| whole(token))
}

/// Whether qstat may have cut digits off: its JSON prints 15 where that is within one part in 2^52, which from
/// 2^52 on can hide a whole number next door.
pub(super) fn is_shortened(text: &str) -> bool {
    let mantissa = text.split(['e', 'E']).next().unwrap_or("");
    text.len() > mantissa.len()
        && mantissa.bytes().filter(u8::is_ascii_digit).count() <= 15
        && text.parse::<f64>().is_ok_and(|x| x.abs() >= 4_503_599_627_370_496.0)
}
