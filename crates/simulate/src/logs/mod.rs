//! Reads a log of jobs in any of the formats, line by line.

use std::io::{self, BufRead, Read};

use alcf::AlcfColumns;
use sacct::SacctColumns;
use swf::FIELDS;

use crate::faults::Fault;
use crate::workload::builder::WorkloadBuilder;

mod accounting;
mod alcf;
mod finished_qstat;
mod native_log;
mod sacct;
mod swf;

pub use sacct::sacct_advice;

/// The longest line that is read, in bytes; the rest of a longer one is skipped, and it is counted
/// as damaged.
const MAX_LINE: u64 = 1 << 20;
/// The most of a longer line that is skipped, in bytes: what has no line end for so long is no log,
/// and may have no end.
const MAX_SKIPPED: u64 = 256 << 20;

/// The formats, for a sentence.
pub const FORMATS: &str = "Standard Workload Format, PBS accounting records, `qstat -x -f -F json`, `sacct -P`, the CSV of ALCF or NDJSON";

/// A format, with what its first line says of the others.
enum Reader {
    Swf { columns: usize },
    Accounting,
    Sacct(SacctColumns),
    Native,
    Alcf(AlcfColumns),
}

impl Reader {
    /// The reader of a log in which this is the first line that is neither blank nor a comment.
    fn detect(line: &str) -> Option<Self> {
        match line {
            _ if swf::is_swf(line) => Some(Self::Swf {
                columns: swf::columns(line),
            }),
            _ if accounting::parts(line).is_some() => Some(Self::Accounting),
            _ if native_log::is_native(line) => Some(Self::Native),
            _ => match SacctColumns::from_heading(line).or_else(|| SacctColumns::of_xdmod(line)) {
                Some(columns) => Some(Self::Sacct(columns)),
                None => AlcfColumns::from_heading(line).map(Self::Alcf),
            },
        }
    }

    fn read_line(&self, line: &str, builder: &mut WorkloadBuilder) -> Result<(), Fault> {
        match self {
            Self::Swf { columns } => swf::read_swf_line(line, *columns, builder),
            Self::Accounting => accounting::read_record(line, builder),
            Self::Sacct(columns) => columns.read_line(line, builder),
            Self::Native => native_log::read_native_line(line, builder),
            Self::Alcf(columns) => columns.read_line(line, builder),
        }
    }
}

/// Adds the jobs of a log. `name` is the log's name in messages. A line that cannot be read is left
/// out, counted and named, see [`Workload::faults`](crate::Workload::faults). Returns whether the
/// log has a line in a known format; else no job is added.
///
/// # Errors
/// The log cannot be read, or has a line of more than 256 MiB.
pub fn read_workload(
    name: &str,
    mut log: impl BufRead,
    builder: &mut WorkloadBuilder,
) -> io::Result<bool> {
    if finished_qstat::is_qstat(log.fill_buf()?) {
        finished_qstat::read_qstat(name, log, builder);
        return Ok(true);
    }
    let mut reader: Option<Reader> = None;
    let mut unknown = Vec::new();
    let mut has_header = false;
    let mut bytes = Vec::new();
    for number in 1.. {
        if !read_line(&mut log, number, &mut bytes)? {
            break;
        }
        let line = &*String::from_utf8_lossy(&bytes);
        let text = line.trim_start();
        has_header |= swf::read_header_line(text, builder);
        if reader.is_none() && !text.is_empty() && !text.starts_with([';', '#']) {
            reader = Reader::detect(line);
            if reader.is_none() {
                // faults only if a later line shows a format; else the file is refused as a whole
                unknown.push(number);
                if unknown.len() == MAX_UNKNOWN {
                    break;
                }
            }
        }
        if let Some(reader) = &reader
            && let Err(fault) = reader.read_line(line, builder)
        {
            let place = format_args!("`{name}`, line {number}");
            builder.faults().add(fault, place);
        }
    }
    let Some(reader) = reader else {
        let is_swf = has_header && unknown.is_empty();
        if is_swf {
            let fault = "it has the header of a log in SWF and no job";
            builder.faults().add(fault, format_args!("`{name}`"));
        }
        return Ok(is_swf);
    };
    match reader {
        Reader::Sacct(columns) => {
            if let Some(missing) = columns.missing(builder) {
                builder.read.notes.push(format!("`{name}` {missing}"));
            }
        }
        Reader::Swf { columns } if columns > FIELDS => builder.read.notes.push(format!(
            "`{name}` has {columns} columns; those after the first {FIELDS}, which are the format's, are not read"
        )),
        _ => {}
    }
    for number in unknown {
        let place = format_args!("`{name}`, line {number}");
        builder.faults().add("not a line of this format", place);
    }
    Ok(true)
}

/// How many lines may precede the first one whose format is recognised, apart from blank ones and
/// comments.
const MAX_UNKNOWN: usize = 100;

/// Reads the next line, whose number is given, and says whether there is one. A line of more than
/// [`MAX_LINE`] bytes is read as an empty one with a control character, which no format has.
fn read_line(log: &mut impl BufRead, number: usize, bytes: &mut Vec<u8>) -> io::Result<bool> {
    bytes.clear();
    let read = log.by_ref().take(MAX_LINE).read_until(b'\n', bytes)?;
    if read as u64 == MAX_LINE && bytes.last() != Some(&b'\n') {
        if log.by_ref().take(MAX_SKIPPED).skip_until(b'\n')? as u64 == MAX_SKIPPED {
            return Err(io::Error::other(format!(
                "line {number} has more than {} MiB",
                MAX_SKIPPED >> 20
            )));
        }
        bytes.clear();
        bytes.push(0);
    }
    if number == 1 && bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    Ok(read > 0)
}

/// What a line of a log with column names or a record of attributes says, name by name; of several
/// fields with one name the last one counts.
pub(crate) struct Fields<'l>(pub Vec<(&'l str, &'l str)>);

impl<'l> Fields<'l> {
    /// The values below the names of a heading.
    pub fn below(names: &'l [String], values: impl Iterator<Item = &'l str>) -> Self {
        Self(names.iter().map(String::as_str).zip(values).collect())
    }

    /// The text of a field; empty if the line does not have it.
    pub fn get(&self, name: &str) -> &'l str {
        let field = self.0.iter().rfind(|(other, _)| *other == name);
        field.map_or("", |(_, text)| text)
    }

    /// The first of some fields that says a number other than 0, or any text.
    pub fn first_given(&self, names: &[&str]) -> &'l str {
        let mut texts = names.iter().map(|name| self.get(name));
        texts.find(|text| !matches!(*text, "" | "0")).unwrap_or("")
    }

    /// A whole number above 0.
    pub fn positive(&self, name: &str) -> Option<i64> {
        self.get(name).parse().ok().filter(|number| *number > 0)
    }
}
