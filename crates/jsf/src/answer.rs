//! What the commands answer, and the formats that it is written in.

use std::io::{self, Write};

use serde::{Serialize, Serializer};

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

/// An object of JSON with these keys, in this order; a key without a value has that of the variable
/// of its name. Attributes of serde may precede a key: an object that is flattened adds its keys,
/// and none if it is missing.
macro_rules! object {
    ($($(#[$attribute:meta])* $key:ident $(: $value:expr)?),* $(,)?) => {{
        #[derive(serde::Serialize)]
        struct Object<$($key),*> {
            $($(#[$attribute])* $key: $key),*
        }
        Object { $($key $(: $value)?),* }
    }};
}
pub(crate) use object;

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
