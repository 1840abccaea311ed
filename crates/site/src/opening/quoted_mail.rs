//! Text that a mail quotes: each line begins with `>`, as mail programs write it above an answer
//! (RFC 3676, section 4.5).

use std::borrow::Cow;
use std::io::{self, Cursor, Read};

use jsf_json::strip_byte_order_mark;

use crate::opening::compression::{MAGIC, Stream, read_head};

/// The most bytes of a document that is searched for marks: no mail has more.
const MAX_QUOTED: u64 = 64 << 20;

/// Whether a document that begins with these bytes may be quoted.
pub fn may_be_quoted(head: &[u8]) -> bool {
    strip_byte_order_mark(head)
        .trim_ascii_start()
        .starts_with(b">")
}

/// A document without the marks of a quotation, as many as all of its lines have: `> ` once, `> > `
/// twice. A document with a line that has none is unchanged.
pub fn unquoted(document: &[u8]) -> Cow<'_, [u8]> {
    let text = strip_byte_order_mark(document);
    if !may_be_quoted(text) || text.contains(&0) {
        return Cow::Borrowed(document);
    }
    let lines = text.split(|&byte| byte == b'\n');
    let mut least = None;
    for line in lines.clone() {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let (marks, rest) = split_marks(line, usize::MAX);
        // within a quotation, an empty line may have fewer marks
        if marks == 0 || !rest.trim_ascii().is_empty() {
            least = Some(least.map_or(marks, |least: usize| least.min(marks)));
        }
    }
    let Some(least @ 1..) = least else {
        return Cow::Borrowed(document);
    };
    let mut content = Vec::with_capacity(text.len());
    for line in lines {
        content.extend_from_slice(split_marks(line, least).1);
        content.push(b'\n');
    }
    // the last line ends with the document
    content.pop();
    Cow::Owned(content)
}

/// The number of the marks that begin a line, at most so many, and what follows them.
fn split_marks(line: &[u8], most: usize) -> (usize, &[u8]) {
    let mut rest = line;
    let mut marks = 0;
    while marks < most
        && let Some(after) = rest.strip_prefix(b">")
    {
        rest = after.strip_prefix(b" ").unwrap_or(after);
        marks += 1;
    }
    (marks, rest)
}

/// The content of a stream, unquoted. Only one that begins with a mark is read in advance.
///
/// # Errors
/// The stream cannot be read.
pub fn unquoted_stream(mut stream: Stream<'_>) -> io::Result<Stream<'_>> {
    let mut document = read_head(&mut stream, MAGIC)?;
    if !may_be_quoted(&document) {
        return Ok(Box::new(Cursor::new(document).chain(stream)));
    }
    stream
        .by_ref()
        .take(MAX_QUOTED)
        .read_to_end(&mut document)?;
    let is_whole = document.len() as u64 <= MAX_QUOTED;
    match unquoted(&document) {
        Cow::Owned(text) if is_whole => Ok(Box::new(Cursor::new(text))),
        _ => Ok(Box::new(Cursor::new(document).chain(stream))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> Vec<u8> {
        let mut content = Vec::new();
        let mut stream = unquoted_stream(Box::new(text)).expect("readable");
        stream.read_to_end(&mut content).expect("readable");
        assert_eq!(content, &*unquoted(text));
        content
    }

    #[test]
    fn the_marks_that_all_lines_have_are_removed() {
        for (quoted, text) in [
            ("> a", "a"),
            ("> a\n>     b = 1\n> \tc\n", "a\n    b = 1\n\tc\n"),
            (">a\n>b", "a\nb"),
            ("> a\r\n>\r\n> b\r\n", "a\r\n\r\nb\r\n"),
            ("> a\n\n> b\n", "a\n\nb\n"),
            ("\n> a\n", "\na\n"),
            ("> > a\n> > b", "a\nb"),
            (">> a\n>> b", "a\nb"),
            // what was answered in between is quoted less
            ("> > a\n> b", "> a\nb"),
            ("> > a\n>\n> > b", "a\n\nb"),
            ("\u{feff}> a\n", "a\n"),
        ] {
            assert_eq!(
                String::from_utf8(read(quoted.as_bytes())).unwrap(),
                text,
                "{quoted:?}"
            );
        }
    }

    #[test]
    fn other_documents_are_unchanged() {
        for text in [
            "",
            "a",
            "a\n> b\n",
            "> a\nb\n",
            " > a",
            ">\n>\n",
            ">",
            "> a\0b",
            "\u{feff}a",
        ] {
            assert_eq!(read(text.as_bytes()), text.as_bytes(), "{text:?}");
        }
    }

    #[test]
    fn a_document_larger_than_any_mail_is_unchanged() {
        let line = [b"> ".as_slice(), &[b'x'; 1021], b"\n"].concat();
        let document = line.repeat((MAX_QUOTED as usize).div_ceil(line.len()) + 1);
        let mut content = Vec::new();
        unquoted_stream(Box::new(&*document))
            .expect("readable")
            .read_to_end(&mut content)
            .expect("readable");
        assert!(content == document);
    }
}
