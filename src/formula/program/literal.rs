//! What the text of a number is worth.

use std::borrow::Cow;

use num_bigint::BigInt;

use crate::formula::syntax::LiteralKind;
use crate::python::{ErrorKind, Raised, Value, limits};

/// CPython refuses longer decimal literals (`sys.int_info.default_max_str_digits`).
const MAX_DECIMAL_DIGITS: usize = 4300;

/// The value of a literal.
///
/// # Errors
/// `SyntaxError` as CPython's compiler raises it, or a limit of our own.
pub(in super::super) fn value(kind: LiteralKind, text: &str) -> Result<Value, Raised> {
    let digits = if text.contains('_') { Cow::Owned(text.replace('_', "")) } else { Cow::Borrowed(text) };
    match kind {
        LiteralKind::Float => digits.parse().map(Value::Float).map_err(|_| malformed(text)),
        LiteralKind::Integer => integer(&digits).ok_or_else(|| malformed(text))?,
    }
}

fn integer(digits: &str) -> Option<Result<Value, Raised>> {
    let (radix, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0o" | "0O") => (8, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        _ => (10, digits),
    };
    if radix == 10 && digits.len() > MAX_DECIMAL_DIGITS {
        return Some(Err(too_many_digits(digits.len())));
    }
    if let Ok(small) = i64::from_str_radix(digits, radix) {
        return Some(Ok(Value::Int(small)));
    }
    let integer = BigInt::parse_bytes(digits.as_bytes(), radix)?;
    Some(if integer.bits() > limits::INTEGER_BITS { Err(too_many_bits()) } else { Ok(Value::int(integer)) })
}

fn too_many_digits(count: usize) -> Raised {
    let text = format!(
        "Exceeds the limit ({MAX_DECIMAL_DIGITS} digits) for integer string conversion: value has {count} digits; use \
         sys.set_int_max_str_digits() to increase the limit - Consider hexadecimal for huge integer literals to avoid \
         decimal conversion limits. (<string>, line 1)"
    );
    Raised::new(ErrorKind::Syntax, text)
}

fn too_many_bits() -> Raised {
    Raised::new(ErrorKind::Limit, format!("an integer of more than {} bits", limits::INTEGER_BITS))
}

/// The grammar lets no such text through.
fn malformed(text: &str) -> Raised {
    Raised::new(ErrorKind::Syntax, format!("`{text}` is no number"))
}
