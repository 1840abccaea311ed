//! Comma-separated values as in RFC 4180.

use std::borrow::Cow;
use std::io::{self, Write};

use serde::Serialize;

/// How the cells of CSV are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cells {
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
pub(crate) fn guarded(field: &str, cells: Cells) -> Cow<'_, str> {
    match cells {
        Cells::Plain => Cow::Borrowed(field),
        Cells::Guarded => with_guards(field),
    }
}

/// The fields of a job's names.
pub(crate) fn guarded_names(names: [&str; 3], cells: Cells) -> [Cow<'_, str>; 3] {
    names.map(|name| guarded(name, cells))
}

/// The text with a `'` before each character that would begin a formula. A spreadsheet may separate
/// cells by another character than the comma, and then quotes do not hold the text together; it may
/// also trim what precedes the formula.
fn with_guards(field: &str) -> Cow<'_, str> {
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
            '"' => is_start_of_cell,
            other => is_start_of_cell && (other.is_whitespace() || other.is_control()),
        };
    }
    Cow::Owned(guarded)
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
            assert_eq!(guarded(field, Cells::Guarded), expected);
        }
    }
}
