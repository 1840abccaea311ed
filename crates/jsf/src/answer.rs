//! What the commands answer, and the formats that it is written in.

use std::io::{self, Write};

use serde::Serialize;

use crate::view::csv_writer::Cells;
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

    /// What a page shows of it.
    fn page(&self) -> Document<'_> {
        self.document()
    }

    /// Writes a format that not every answer has.
    ///
    /// # Errors
    /// `out` cannot be written, or the answer does not have the format.
    fn write_as(&self, format: Format, _cells: Cells, _out: &mut dyn Write) -> io::Result<()> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("this answer is not written as {format:?}"),
        ))
    }
}

/// An answer with the warnings about what it is computed from.
#[derive(Serialize)]
struct Warned<'a, A: Serialize> {
    #[serde(flatten)]
    answer: &'a A,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
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
    serde_json::to_writer_pretty(&mut *out, &Warned { answer, warnings })?;
    out.write_all(b"\n")
}
