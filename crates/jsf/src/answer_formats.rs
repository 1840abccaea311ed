//! What the commands answer, and the formats that it is written in: JSON, and comma-separated
//! values as in RFC 4180, whose lines are made in parallel and written in order.

use std::borrow::Cow;
use std::io::{self, Write};

use job_sort_formula::parallel;
pub(crate) use jsf_json::object;
use jsf_site::RankedQueue;
use serde::{Serialize, Serializer};

use crate::given_formula::GivenFormula;
use crate::view::document::Document;

/// A format of an answer. Every answer has the first three, some have others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "command", derive(clap::ValueEnum))]
pub enum Format {
    /// Text and tables
    #[cfg_attr(feature = "command", value(alias = "table"))]
    Human,
    /// The same as Markdown, for a mail or a ticket
    Markdown,
    /// One JSON document
    Json,
    /// One JSON object per job
    Ndjson,
    /// Comma-separated values
    Csv,
    /// SARIF 2.1.0, for CI
    Sarif,
    /// A picture
    Svg,
    /// The log with the simulated waits, in the Standard Workload Format
    Swf,
}

impl Format {
    /// Whether people read it.
    pub fn is_document(self) -> bool {
        matches!(self, Self::Human | Self::Markdown)
    }
}

/// The answer of a command. As JSON it is what it serialises to.
pub trait Answer: Serialize {
    /// What people see of it.
    fn document(&self) -> Document<'_>;

    /// The formulas by which it ranks jobs, and the ranked queues: what is found in them is said
    /// beside the answer.
    fn rankings(&self) -> Vec<(&GivenFormula, &RankedQueue)> {
        Vec::new()
    }

    /// Whether the document says itself what is found in these.
    fn shows_findings(&self) -> bool {
        false
    }

    /// Writes a format that not every answer has.
    ///
    /// # Errors
    /// `out` cannot be written, or the answer does not have the format.
    fn write_as(&self, format: Format, _text: CsvText, _out: &mut dyn Write) -> io::Result<()> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("this answer is not written as {format:?}"),
        ))
    }
}

/// A list of JSON that is made while it is written, since all of it may take much memory.
pub(crate) struct Each<F>(pub(crate) F);

impl<I: Iterator<Item: Serialize>, F: Fn() -> I> Serialize for Each<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// Writes an answer as one JSON document, with the warnings under `warnings` where there are some.
///
/// # Errors
/// `out` cannot be written.
pub fn write_json(
    answer: &impl Serialize,
    warnings: &[String],
    out: &mut dyn Write,
) -> io::Result<()> {
    let warnings = (!warnings.is_empty()).then_some(object! { warnings });
    let warned = object! { #[serde(flatten)] answer, #[serde(flatten)] warnings };
    serde_json::to_writer_pretty(&mut *out, &warned)?;
    out.write_all(b"\n")
}

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
pub(crate) fn guarded(field: &str, cells: CsvText) -> Cow<'_, str> {
    match cells {
        CsvText::Plain => Cow::Borrowed(field),
        CsvText::Guarded => with_guards(field),
    }
}

/// The fields of a job's names.
pub(crate) fn guarded_names(names: [&str; 3], cells: CsvText) -> [Cow<'_, str>; 3] {
    names.map(|name| guarded(name, cells))
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

/// The number of lines in a block.
const BLOCK_LINES: usize = 2048;
/// How many blocks are in memory at a time.
const BLOCKS_AT_ONCE: usize = 16;

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
    #[should_panic(expected = "line 50000")]
    fn a_panic_reaches_the_caller() {
        let lines: Vec<usize> = (0..100 * BLOCK_LINES).collect();
        _ = write_in_order(&lines, &mut io::sink(), |lines, _| {
            lines
                .iter()
                .for_each(|line| assert_ne!(*line, 50_000, "line 50000"));
        });
    }
}
