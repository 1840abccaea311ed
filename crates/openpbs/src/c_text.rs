//! Text as OpenPBS's daemons, written in C, read it: `fgets` chunks, lines, NUL-terminated strings,
//! and numbers as `strtol`, `atoi` and `strtod` read them in the C locale.

use jsf_json::decode_with;
use num_bigint::BigUint;
use num_traits::ToPrimitive;

/// The bytes before the first NUL.
pub fn c_string(bytes: &[u8]) -> &[u8] {
    bytes.split(|&byte| byte == 0).next().unwrap_or_default()
}

/// Whether a line of a configuration file is blank or a comment (`#`, or `*` as in `holidays`).
pub fn is_blank_or_comment(line: &[u8]) -> bool {
    let first = line.iter().find(|&&byte| !is_space(byte));
    matches!(first, None | Some(b'#' | b'*'))
}

/// A part of a file that one call of `fgets` returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineChunk<'a> {
    /// The line of the file that it belongs to, from 1.
    pub line: usize,
    /// Its bytes up to the first NUL, without the newline.
    pub text: &'a [u8],
}

/// The chunks that successive calls of `fgets` return, each at most `limit` bytes long, newline
/// included.
pub fn fgets_chunks(file: &[u8], limit: usize) -> impl Iterator<Item = LineChunk<'_>> {
    let mut offset = 0;
    let mut line = 1;
    std::iter::from_fn(move || {
        let unread = file.get(offset..)?;
        if unread.is_empty() {
            return None;
        }
        let window = &unread[..unread.len().min(limit.max(1))];
        let body = window.split(|&byte| byte == b'\n').next()?;
        let chunk = LineChunk {
            line,
            text: c_string(body),
        };
        offset += window.len().min(body.len() + 1);
        line += usize::from(body.len() < window.len());
        Some(chunk)
    })
}

/// Decodes a name. Bytes that are not UTF-8 become `\xNN`, so that distinct names stay distinct.
pub fn name_text(bytes: &[u8]) -> String {
    decode_with("\\x", bytes).into_owned()
}

/// The inverse of [`name_text`].
pub fn name_bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, more)) = rest.split_first() {
        match escaped_byte(rest) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest[4..];
            }
            None => {
                bytes.push(first);
                rest = more;
            }
        }
    }
    bytes
}

/// The byte that `\xNN` at the start denotes. Only bytes above 127 are written in this form.
fn escaped_byte(text: &[u8]) -> Option<u8> {
    let digits = text.strip_prefix(b"\\x")?.first_chunk::<2>()?;
    // `name_text` writes small letters, so that these are characters of the name itself
    if digits.iter().any(u8::is_ascii_uppercase) {
        return None;
    }
    let [high, low] = digits.map(|digit| char::from(digit).to_digit(16));
    match u8::try_from(high? * 16 + low?) {
        Ok(byte @ 128..) => Some(byte),
        _ => None,
    }
}

/// The bytes that C's `isspace` accepts.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// The whole token as a decimal number, read by `strtol`: it saturates at 64 bits. `None` if the
/// token is anything else.
pub fn whole_long(token: &[u8]) -> Option<i64> {
    decimal(trim_start(token))
}

fn decimal(text: &[u8]) -> Option<i64> {
    let (negative, digits) = split_sign(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let beyond = if negative { i64::MIN } else { i64::MAX };
    Some(str::from_utf8(text).ok()?.parse().unwrap_or(beyond))
}

/// [`whole_long`], converted to a C `int`: it wraps at 32 bits.
pub fn whole_int(token: &[u8]) -> Option<i32> {
    whole_long(token).map(|number| number as i32)
}

/// The number at the start of the token, as `atoi` reads it; `None` unless the token starts with a
/// digit.
pub fn leading_int(token: &[u8]) -> Option<i32> {
    let end = token.iter().position(|byte| !byte.is_ascii_digit());
    decimal(&token[..end.unwrap_or(token.len())]).map(|number| number as i32)
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

/// The whole text as a double, read by `strtod`; 0 for an empty text. `None` if `strtod` would stop
/// before the end.
///
/// Optional white space and an optional sign precede a decimal or hexadecimal number, `inf`,
/// `infinity`, `nan` or `nan(…)`, whose payload is ignored. A number beyond the range of a double
/// is infinite.
pub fn whole_double(text: &[u8]) -> Option<f64> {
    if text.is_empty() {
        return Some(0.0);
    }
    let (negative, digits) = split_sign(trim_start(text));
    let magnitude = match digits {
        [b'0', b'x' | b'X', hex @ ..] => hexadecimal(hex)?,
        // Rust's parser would read a second sign
        [b'+' | b'-', ..] => return None,
        _ if is_nan(digits) => f64::NAN.copysign(1.0),
        _ => std::str::from_utf8(digits).ok()?.parse().ok()?,
    };
    Some(if negative { -magnitude } else { magnitude })
}

fn is_nan(text: &[u8]) -> bool {
    let Some((word, payload)) = text.split_at_checked(3) else {
        return false;
    };
    word.eq_ignore_ascii_case(b"nan")
        && match payload {
            [] => true,
            [b'(', inner @ .., b')'] => {
                let mut inner = inner.iter();
                inner.all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
            }
            _ => false,
        }
}

/// The part after `0x`: digits with at most one point, and optionally `p` and a power of two.
fn hexadecimal(text: &[u8]) -> Option<f64> {
    let end = text.iter().position(|byte| matches!(byte, b'p' | b'P'));
    let (number, power) = text.split_at(end.unwrap_or(text.len()));
    let point = number.iter().position(|byte| *byte == b'.');
    let (whole, fraction) = number.split_at(point.unwrap_or(number.len()));
    let fraction = fraction.strip_prefix(b".").unwrap_or_default();
    let digits = [whole, fraction].concat();
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let power = match power {
        [] => 0,
        [_, power @ ..] => decimal(power)?,
    };
    // rounded to the nearest double here, and once more only among the subnormal ones
    let mantissa = BigUint::parse_bytes(&digits, 16)?.to_f64()?;
    let scale = power.saturating_sub(4 * fraction.len() as i64);
    // no double has an exponent beyond these bounds
    Some(libm::ldexp(mantissa, scale.clamp(-4096, 4096) as i32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_has_several_chunks() {
        let file = [vec![b'x'; 300], b"\ny\n".to_vec()].concat();
        let lengths: Vec<_> = fgets_chunks(&file, 255)
            .map(|chunk| (chunk.line, chunk.text.len()))
            .collect();
        assert_eq!(lengths, [(1, 255), (1, 45), (2, 1)]);
    }

    #[test]
    fn names_that_are_not_utf8_stay_distinct() {
        assert_eq!(name_text("é".as_bytes()), "é");
        assert_eq!(name_text(b"a\xffb"), "a\\xffb");
        for name in ["é".as_bytes(), b"a\xffb\xe9", b"\\x41\\xFF\\x", b""] {
            assert_eq!(name_bytes(&name_text(name)), name);
        }
    }

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
            ("0x10", 16.0),
            ("0X1.8p1", 3.0),
            ("-0x.8", -0.5),
            ("0x1p-1074", 5e-324),
            ("0x1p-1075", 0.0),
            ("0x1.8p-1075", 5e-324),
            ("0x3p-1075", 1e-323),
            ("0x1p1024", f64::INFINITY),
            ("0x1.fffffffffffff8p1023", f64::INFINITY),
            ("0x20000000000001", 9_007_199_254_740_992.0 + 1.0),
            ("0x40000000000001", 18_014_398_509_481_984.0),
            (
                "0x400000000000010000000000000001p-56",
                18_014_398_509_481_984.0 * 2f64.powi(8),
            ),
            (
                "0x40000000000002000000000000001p-60",
                18_014_398_509_481_984.0 + 4.0,
            ),
            ("0x0p99999999999999999999", 0.0),
            ("0x1p99999999999999999999", f64::INFINITY),
            ("0x1p-99999999999999999999", 0.0),
        ] {
            assert_eq!(bits(text), Some(value.to_bits()), "{text:?}");
        }
        assert_eq!(bits("nan"), Some(0x7ff8_0000_0000_0000));
        assert_eq!(bits("-NaN(x_1)"), Some(0xfff8_0000_0000_0000));
    }

    #[test]
    fn rejects_what_strtod_does_not_read_to_the_end() {
        for text in [
            " ", "abc", "1x", "1 ", "--1", "+-1", "1e", "1e+", "0x", "0x.", "0x1p", "0x1p+",
            "0x1.2.3", "nan(", "nan(-)", "1_0", "é",
        ] {
            assert_eq!(bits(text), None, "{text:?}");
        }
    }
}
