//! Text as OpenPBS's daemons, written in C, read it: `fgets` chunks, lines, and NUL-terminated
//! strings.

use crate::c_number::is_space;

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
            offset,
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
    if digits.iter().any(u8::is_ascii_uppercase) {
        return None;
    }
    let [high, low] = digits.map(|digit| char::from(digit).to_digit(16));
    match u8::try_from(high? * 16 + low?) {
        Ok(byte @ 128..) => Some(byte),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_has_several_chunks() {
        let file = [vec![b'x'; 300], b"\ny\n".to_vec()].concat();
        let lengths: Vec<_> = fgets_chunks(&file, 255)
            .map(|chunk| (chunk.offset, chunk.line, chunk.text.len()))
            .collect();
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
