//! Numbers as C's `strtol`, `atoi` and `strtod` read them in the C locale.

/// The bytes that C's `isspace` accepts.
pub fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// The whole token as a decimal number, read by `strtol`: it saturates at 64 bits. `None` if the
/// token is anything else.
pub fn whole_long(token: &[u8]) -> Option<i64> {
    let (negative, digits) = split_sign(trim_start(token));
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(saturating_decimal(digits, negative))
}

/// [`whole_long`], converted to a C `int`: it wraps at 32 bits.
pub fn whole_int(token: &[u8]) -> Option<i32> {
    whole_long(token).map(|number| number as i32)
}

/// The number at the start of the token, as `atoi` reads it; `None` unless the token starts with a
/// digit.
pub fn leading_int(token: &[u8]) -> Option<i32> {
    let end = token.iter().position(|byte| !byte.is_ascii_digit());
    match &token[..end.unwrap_or(token.len())] {
        [] => None,
        digits => Some(saturating_decimal(digits, false) as i32),
    }
}

fn trim_start(mut text: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = text
        && is_space(*first)
    {
        text = rest;
    }
    text
}

/// Whether the text starts with `-`, and the text without its sign.
fn split_sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        _ => (false, text),
    }
}

fn saturating_decimal(digits: &[u8], negative: bool) -> i64 {
    let mut value = 0_i64;
    for digit in digits {
        let digit = i64::from(digit - b'0');
        let signed = if negative { -digit } else { digit };
        value = value.saturating_mul(10).saturating_add(signed);
    }
    value
}

/// The whole text as a double, read by `strtod`; 0 for an empty text. `None` if `strtod` would stop
/// before the end.
///
/// Optional white space and an optional sign precede a decimal number, `inf`, `infinity` or `nan`. A
/// number beyond the range of a double is infinite. Hexadecimal numbers and the payload of `nan(…)`,
/// which no setting has, are not read.
pub fn whole_double(text: &[u8]) -> Option<f64> {
    if text.is_empty() {
        return Some(0.0);
    }
    let (negative, digits) = split_sign(trim_start(text));
    if digits.starts_with(b"+") || digits.starts_with(b"-") {
        return None;
    }
    let magnitude: f64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some(if negative { -magnitude } else { magnitude })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_saturate_then_wrap() {
        for (text, number) in [
            ("007", 7),
            ("+7", 7),
            ("-5", -5),
            ("4294967297", 1),
            ("9223372036854775808", -1),
            ("-9223372036854775809", 0),
            ("99999999999", 1_215_752_191),
        ] {
            assert_eq!(whole_int(text.as_bytes()), Some(number), "{text}");
        }
        for bad in ["", "+", "5x", "1.5", "0x10", "1e3", "5\r", "- 5"] {
            assert_eq!(whole_int(bad.as_bytes()), None, "{bad:?}");
        }
        assert_eq!(leading_int(b"2.9"), Some(2));
        assert_eq!(leading_int(b"-5"), None);
    }

    fn bits(text: &str) -> Option<u64> {
        whole_double(text.as_bytes()).map(f64::to_bits)
    }

    #[test]
    fn reads_every_spelling_of_a_number() {
        for (text, value) in [
            ("", 0.0),
            ("250.5", 250.5),
            (" \t1e6", 1e6),
            ("+.5", 0.5),
            ("5.", 5.0),
            ("-5", -5.0),
            ("1e400", f64::INFINITY),
            ("1e-400", 0.0),
            ("inf", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
        ] {
            assert_eq!(bits(text), Some(value.to_bits()), "{text:?}");
        }
        assert_eq!(bits("nan"), Some(0x7ff8_0000_0000_0000));
        assert_eq!(bits("-NaN"), Some(0xfff8_0000_0000_0000));
    }

    #[test]
    fn rejects_what_strtod_does_not_read_to_the_end() {
        for text in [
            " ", "abc", "1x", "1 ", "--1", "+-1", "1e", "1e+", "0x", "0x.", "0x1p", "0x1p+",
            "0x1p1", "nan(", "1_0", "é",
        ] {
            assert_eq!(bits(text), None, "{text:?}");
        }
    }
}
