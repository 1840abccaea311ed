//! Text as a C program reads it: `fgets` chunks, NUL-terminated strings, and decimal numbers that wrap.

/// The bytes that C's `isspace` accepts.
pub fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

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
    /// Its offset in the file, in bytes.
    pub offset: usize,
    /// The line of the file that it belongs to, from 1.
    pub line: usize,
    /// Its bytes up to the first NUL, without the newline.
    pub text: &'a [u8],
}

/// The chunks that successive calls of `fgets` return, each at most `limit` bytes long, newline included.
pub fn fgets_chunks(file: &[u8], limit: usize) -> impl Iterator<Item = LineChunk<'_>> {
    let (mut offset, mut line) = (0, 1);
    std::iter::from_fn(move || {
        let rest = file.get(offset..).filter(|rest| !rest.is_empty())?;
        let window = &rest[..rest.len().min(limit.max(1))];
        let newline = window.iter().position(|&byte| byte == b'\n');
        let body = &window[..newline.unwrap_or(window.len())];
        let chunk = LineChunk { offset, line, text: c_string(body) };
        offset += newline.map_or(window.len(), |at| at + 1);
        line += usize::from(newline.is_some());
        Some(chunk)
    })
}

/// The whole token as a decimal number, read by `strtol` and then converted to a C `int`: it saturates at 64 bits and
/// wraps at 32. `None` if the token is anything else.
pub fn whole_int(token: &[u8]) -> Option<i32> {
    let token = token.trim_ascii_start_c();
    let (negative, digits) = match token.split_first()? {
        (b'-', digits) => (true, digits),
        (b'+', digits) => (false, digits),
        _ => (false, token),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(saturating_decimal(digits, negative) as i32)
}

/// The number at the start of the token, as `atoi` reads it; `None` unless the token starts with a digit.
pub fn leading_int(token: &[u8]) -> Option<i32> {
    let end = token.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(token.len());
    (end > 0).then(|| saturating_decimal(&token[..end], false) as i32)
}

fn saturating_decimal(digits: &[u8], negative: bool) -> i64 {
    digits.iter().fold(0i64, |value, &digit| {
        let digit = i64::from(digit - b'0');
        let value = value.saturating_mul(10);
        if negative { value.saturating_sub(digit) } else { value.saturating_add(digit) }
    })
}

/// A name as text. Bytes that are not UTF-8 are written `\xNN`, so that distinct names stay distinct.
pub fn name_text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
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
    let digit = |byte: u8| char::from(byte).to_digit(16).filter(|_| !byte.is_ascii_uppercase());
    let value = digit(digits[0])? * 16 + digit(digits[1])?;
    u8::try_from(value).ok().filter(|byte| !byte.is_ascii())
}

pub(super) trait TrimC {
    /// Without the white space at its start.
    fn trim_ascii_start_c(&self) -> &Self;
}

impl TrimC for [u8] {
    fn trim_ascii_start_c(&self) -> &Self {
        let start = self.iter().position(|&byte| !is_space(byte)).unwrap_or(self.len());
        &self[start..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_saturate_then_wrap() {
        let read = |text: &str| whole_int(text.as_bytes());
        assert_eq!(read("007"), Some(7));
        assert_eq!(read("+7"), Some(7));
        assert_eq!(read("-5"), Some(-5));
        assert_eq!(read("4294967297"), Some(1));
        assert_eq!(read("9223372036854775808"), Some(-1));
        assert_eq!(read("-9223372036854775809"), Some(0));
        assert_eq!(read("99999999999"), Some(1_215_752_191));
        for bad in ["", "+", "5x", "1.5", "0x10", "1e3", "5\r", "- 5"] {
            assert_eq!(read(bad), None, "{bad:?}");
        }
        assert_eq!(leading_int(b"2.9"), Some(2));
        assert_eq!(leading_int(b"-5"), None);
    }

    #[test]
    fn a_long_line_has_several_chunks() {
        let file = [vec![b'x'; 300], b"\ny\n".to_vec()].concat();
        let lengths: Vec<_> =
            fgets_chunks(&file, 255).map(|chunk| (chunk.offset, chunk.line, chunk.text.len())).collect();
        assert_eq!(lengths, [(0, 1, 255), (255, 1, 45), (301, 2, 1)]);
    }

    #[test]
    fn names_that_are_not_utf8_stay_distinct() {
        assert_eq!(name_text("é".as_bytes()), "é");
        assert_eq!(name_text(b"a\xffb"), "a\\xffb");
        for name in ["é".as_bytes(), b"a\xffb\xe9", b"\\x41\\xFF\\x", b""] {
            assert_eq!(name_bytes(&name_text(name)), name);
        }
    }
}
