//! Comma-separated values as in RFC 4180: a writer of records, cells that a spreadsheet takes for no
//! formulas (`--csv-safe`), and lines that are made in parallel and written in order.

use std::borrow::Cow;
use std::io::{self, Write};

use job_sort_formula::parallel;
use serde::Serialize;

/// How the cells of CSV are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CsvText {
    /// As they are.
    Plain,
    /// With a `'` before what a spreadsheet would compute: before each `=`, `+`, `-` or `@` at the
    /// start of a text, or after a separator in it, at which some spreadsheets begin another cell.
    Guarded,
}

/// Writes a line for each record.
pub(crate) struct CsvWriter<'a>(csv::Writer<&'a mut dyn Write>);

impl<'a> CsvWriter<'a> {
    /// Writes the header, whose names commas separate.
    pub(crate) fn new(header: &str, out: &'a mut dyn Write) -> io::Result<Self> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(header.split(',')).map_err(io_error)?;
        Ok(Self(writer))
    }

    /// Writes a record, a tuple of its fields.
    pub(crate) fn write(&mut self, record: impl Serialize) -> io::Result<()> {
        self.0.serialize(record).map_err(io_error)
    }

    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The error of the file itself, by which callers recognise a closed pipe.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// A field as the cells are written.
pub(crate) fn guarded(field: &str, texts: CsvText) -> Cow<'_, str> {
    match texts {
        CsvText::Plain => Cow::Borrowed(field),
        CsvText::Guarded => with_guards(field),
    }
}

/// The fields of a job's names.
pub(crate) fn guarded_names(names: [&str; 3], texts: CsvText) -> [Cow<'_, str>; 3] {
    names.map(|name| guarded(name, texts))
}

/// The text with a `'` before each character that would begin a formula. A spreadsheet may separate
/// cells by another character than the comma, and then quotes do not hold the text together; it may
/// also trim what precedes the formula.
fn with_guards(field: &str) -> Cow<'_, str> {
    // the last four are the same in full width
    const SIGNS: [char; 8] = [
        '=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}',
    ];
    if !field.contains(SIGNS) {
        return Cow::Borrowed(field);
    }
    let mut guarded = String::with_capacity(field.len() + 1);
    let mut is_start_of_cell = true;
    for character in field.chars() {
        if is_start_of_cell && SIGNS.contains(&character) {
            guarded.push('\'');
        }
        guarded.push(character);
        is_start_of_cell = match character {
            ',' | ';' | '|' | '\t' | '\r' | '\n' => true,
            // where another character separates cells, the quote opens one and is no part of it
            '"' => is_start_of_cell,
            other => is_start_of_cell && (other.is_whitespace() || other.is_control()),
        };
    }
    Cow::Owned(guarded)
}

/// The number of lines in a block: few enough that what they are made of stays in a processor's caches.
const BLOCK_LINES: usize = 256;
/// How many blocks are in memory at a time.
const BLOCKS_AT_ONCE: usize = 128;

/// Writes the text that `write_block` appends for each block of lines; several blocks are made in
/// parallel.
///
/// # Errors
/// The first error of `out`; no further block is made or written.
pub(crate) fn write_in_order<L: Sync>(
    lines: &[L],
    out: &mut dyn Write,
    write_block: impl Fn(&[L], &mut Vec<u8>) + Sync,
) -> io::Result<()> {
    for lines in lines.chunks(BLOCKS_AT_ONCE * BLOCK_LINES) {
        let texts = parallel::map(lines.chunks(BLOCK_LINES).collect(), |lines| {
            let mut text = Vec::new();
            write_block(lines, &mut text);
            text
        });
        for text in texts {
            out.write_all(&text)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spreadsheet_computes_no_text() {
        for (field, expected) in [
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\u{ff1d}1", "'\u{ff1d}1"),
            ("\t=1", "\t'=1"),
            (" \r=1", " \r'=1"),
            ("\u{b}\"=1", "\u{b}\"'=1"),
            ("x;=1", "x;'=1"),
            ("x,-1", "x,'-1"),
            ("x; \"@a", "x; \"'@a"),
            ("a=1", "a=1"),
            ("12-3.vm", "12-3.vm"),
            ("", ""),
            ("1", "1"),
        ] {
            assert_eq!(guarded(field, CsvText::Guarded), expected);
        }
    }

    #[test]
    fn blocks_are_written_in_order() {
        for count in [0, 1, BLOCK_LINES, 100 * BLOCK_LINES + 7] {
            let lines: Vec<usize> = (0..count).collect();
            let mut out = Vec::new();
            write_in_order(&lines, &mut out, |lines, text| {
                lines.iter().for_each(|line| _ = writeln!(text, "{line}"))
            })
            .unwrap();
            let expected: String = lines.iter().map(|line| format!("{line}\n")).collect();
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn a_closed_pipe_ends_the_writing() {
        struct Closed(usize);
        impl Write for Closed {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                self.0 = self.0.checked_sub(1).ok_or(io::ErrorKind::BrokenPipe)?;
                Ok(bytes.len())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let lines: Vec<usize> = (0..100 * BLOCK_LINES).collect();
        let error = write_in_order(&lines, &mut Closed(3), |_, text| text.push(b'x')).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    #[should_panic(expected = "line 5000")]
    fn a_panic_reaches_the_caller() {
        let lines: Vec<usize> = (0..100 * BLOCK_LINES).collect();
        _ = write_in_order(&lines, &mut io::sink(), |lines, _| {
            lines
                .iter()
                .for_each(|line| assert_ne!(*line, 5000, "line 5000"));
        });
    }
}
