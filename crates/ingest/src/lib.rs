//! Job documents: from any of their formats to a table of jobs.
//!
//! Enters: `qstat -f -F json`, `qstat -f` as text, `qstat -f -F dsv`, native JSON (`{"jobs":[…]}`),
//! or native JSON with a job per line (NDJSON); and the names that a formula needs. Leaves: a
//! [`JobTable`](job_sort_formula::jobs::JobTable) with a column for each of these names, and what
//! is wrong with single jobs.
//!
//! The format is detected from the content. NDJSON is cut into chunks, which are parsed in parallel.
//! Whatever its format, a job becomes a `ParsedJob`, and the `JobConverter` makes a row of the table
//! of it.
//!
//! Internal to the workspace: the crates that other programs call are `job-sort-formula` and
//! `jsf-site`.

#![forbid(unsafe_code)]

mod attributes;
mod clock;
mod cycle_jobs;
mod damaged_json;
mod file_kind;
mod job_lines;
mod json_reader;
pub mod native_tree;
mod qstat_listing;
mod scanner;
mod table_builder;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, Read};

use job_sort_formula::jobs::MAX_COLUMNS;
use job_sort_formula::{Schema, python};
use jsf_json::{decode_utf8, json_fault, reason, strip_byte_order_mark};
use jsf_openpbs::{AmountSource, FairshareEntity, NumberMode};
use jsf_words::counted;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use thiserror::Error;

pub use crate::clock::Clock;
pub use crate::cycle_jobs::{CycleJobs, QueuedJob};
pub use crate::file_kind::FileKind;
pub use crate::table_builder::ParsedJobs;

use crate::damaged_json::read_damaged_qstat_json;
use crate::job_lines::read_job_lines;
use crate::json_reader::{json_error, read_json};
use crate::qstat_listing::read_qstat_listing;

static NO_PRIORITIES: BTreeMap<String, i64> = BTreeMap::new();

/// What a reader needs to know besides the document.
#[derive(Debug, Clone, Copy)]
pub struct ReadOptions<'a> {
    /// The name of the document in messages.
    pub source_name: &'a str,
    /// The names in the formula: the table gets a column for each. Other values are skipped, except
    /// that the amounts of numeric resources are checked, since the scheduler ignores a job with
    /// one that it cannot read.
    pub needed: &'a [&'a str],
    /// The names that a formula may use.
    pub schema: &'a Schema,
    /// How amounts become numbers.
    pub numbers: NumberMode,
    /// Which attribute of a job names its fair-share entity.
    pub entity: FairshareEntity,
    /// The priorities of the queues; a queue without one has priority 0.
    pub queue_priorities: &'a BTreeMap<String, i64>,
    /// Whether a document of qstat that is not valid JSON is an error, one with a line or an entry
    /// that is not a job, and one that has a job, or a job a key, twice. Else what is repaired or
    /// rejected is reported; of a repeated key the last value counts, of a repeated job the first.
    pub strict: bool,
    /// Whether the jobs are also read as a scheduling cycle sees them.
    pub cycle_jobs: bool,
    /// Whether the table records where each input comes from, which an explanation needs and a
    /// ranking does not.
    pub record_origins: bool,
    /// About how many bytes of a document with a job per line are parsed at a time.
    pub chunk_size: usize,
}

impl<'a> ReadOptions<'a> {
    /// Options for OpenPBS with its defaults: the entity is the user, and no queue has a priority.
    pub fn new(schema: &'a Schema, needed: &'a [&'a str]) -> Self {
        Self {
            source_name: "jobs",
            needed,
            schema,
            numbers: NumberMode::OpenPbs,
            entity: FairshareEntity::User,
            queue_priorities: &NO_PRIORITIES,
            strict: false,
            cycle_jobs: false,
            record_origins: false,
            chunk_size: 512 << 10,
        }
    }
}

/// A document that cannot be read, by its name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{source_name}` {kind}")]
pub struct ReadError {
    /// The name of the document.
    pub source_name: String,
    /// What is wrong with it.
    pub kind: ReadErrorKind,
}

/// What is wrong with a document, in words that follow its name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{0}")]
pub enum ReadErrorKind {
    /// It is not valid JSON.
    Json(String),
    /// Anything else.
    Other(String),
}

impl From<io::Error> for ReadErrorKind {
    fn from(error: io::Error) -> Self {
        Self::Other(format!("cannot be read: {error}"))
    }
}

impl ReadErrorKind {
    pub fn unexpected(found: &str, expected: &str) -> Self {
        Self::Other(format!("is {found}, expected {expected}"))
    }

    /// The error of a JSON `text`.
    pub fn json(text: &str, error: &serde_json::Error, jobs_before: usize) -> Self {
        let fault = json_fault(text, error);
        let jobs = counted(jobs_before, "job was", "jobs were");
        let mut advice = "";
        if reason(error) == "control character (\\u0000-\\u001F) found while parsing a string" {
            advice = "; some versions of qstat do not escape control characters, use `qstat -f` without `-F json`";
        }
        Self::Json(format!(
            "is not valid JSON {fault}; {jobs} read before it{advice}"
        ))
    }
}

const EXPECTED: &str = "`qstat -f -F json`, `qstat -f -F dsv`, `qstat -f`, {\"jobs\":[…]}, or one job per line as JSON";
/// How many bytes of a document are read to detect its format.
const HEAD_BYTES: u64 = 256 << 10;
/// The largest document that is held in memory as a whole, in bytes.
const MAX_WHOLE: u64 = 4 << 30;

/// Reads a job document from memory, a file or a stream, to its end; its format is detected.
///
/// A problem with one job is reported in [`ParsedJobs::problems`] and does not affect the others.
/// Bytes that are not UTF-8 are replaced, and a byte order mark is skipped.
///
/// A document with a job per line is parsed in parallel, as
/// [`Threads`](job_sort_formula::Threads) says. Besides the table, at most four chunks per thread are in memory, each of
/// [`ReadOptions::chunk_size`] or of one job if that is larger, of at most 256 MiB. A document of
/// another format is held in memory as a whole and has at most 4 GiB.
///
/// ```
/// use jsf_ingest::{ReadOptions, read_jobs};
/// use job_sort_formula::schema::Schema;
///
/// let schema = Schema::openpbs();
/// let options = ReadOptions::new(&schema, &["ncpus", "mem"]);
/// let document = br#"{"id":"1.vm","entity":"Bob","resources":{"ncpus":4,"mem":"4gb"}}"#;
/// let jobs = read_jobs(&document[..], &options)?;
/// // Sizes are in kilobytes.
/// assert_eq!(jobs.table.column("mem").unwrap().nearest_double(0), 4194304.0);
/// # Ok::<(), jsf_ingest::ReadError>(())
/// ```
///
/// # Errors
/// The stream cannot be read, or the document is empty, has none of the formats, is not valid JSON,
/// or has too many jobs.
pub fn read_jobs(
    stream: impl Read + Send,
    options: &ReadOptions<'_>,
) -> Result<ParsedJobs, ReadError> {
    read(stream, options).map_err(|kind| ReadError {
        source_name: options.source_name.to_owned(),
        kind,
    })
}

fn read(
    mut stream: impl Read + Send,
    options: &ReadOptions<'_>,
) -> Result<ParsedJobs, ReadErrorKind> {
    let names = options.needed.len();
    if names > MAX_COLUMNS {
        return Err(ReadErrorKind::Other(format!(
            "is not read: the formula and the order of the jobs need {names} names, more than the {MAX_COLUMNS} that a table can have"
        )));
    }
    let mut bytes = Vec::new();
    stream.by_ref().take(HEAD_BYTES).read_to_end(&mut bytes)?;
    let is_complete = (bytes.len() as u64) < HEAD_BYTES;
    bytes.drain(..bytes.len() - strip_byte_order_mark(&bytes).len());
    // the head shows a document with a job per line, which need not be in memory as a whole
    let mut kind = FileKind::of_jobs(&decode_utf8(&bytes));
    match kind {
        FileKind::JobLines => return read_job_lines(Box::new(bytes.chain(stream)), options),
        FileKind::Binary | FileKind::Archive | FileKind::Usage if !is_complete => {
            return Err(unrecognised(kind, &bytes));
        }
        _ => {}
    }
    stream.take(MAX_WHOLE).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_WHOLE {
        return Err(ReadErrorKind::Other(format!(
            "cannot be read: it has more than {MAX_WHOLE} bytes, the most of a document that is not read in parts"
        )));
    }
    let text = decode_utf8(&bytes);
    if !is_complete && !FileKind::JOBS.contains(&kind) {
        // the first job may be behind other text that is longer than the head
        kind = FileKind::of_jobs(&text);
    }
    match kind {
        FileKind::QstatJson => match read_json(&text, AmountSource::Server, options) {
            Err(error @ ReadErrorKind::Json(_)) if !options.strict => {
                read_damaged_qstat_json(&text, &error, options)
            }
            result => result,
        },
        FileKind::QstatText | FileKind::QstatDsv => {
            read_qstat_listing(&text, kind == FileKind::QstatDsv, options)
        }
        FileKind::NativeJobs => read_json(&text, AmountSource::User, options),
        FileKind::JobLines => read_job_lines(Box::new(text.as_bytes()), options),
        _ => Err(match json_error(&text) {
            // where JSON is damaged says more than that it has no key of jobs
            Some(error) if text.trim_start().starts_with('{') => {
                ReadErrorKind::json(&text, &error, 0)
            }
            _ => unrecognised(kind, &bytes),
        }),
    }
}

/// The error for a document that has no jobs.
fn unrecognised(kind: FileKind, head: &[u8]) -> ReadErrorKind {
    ReadErrorKind::Other(kind.refusal(head, EXPECTED))
}

/// A job in native JSON, as [`read_jobs`] takes it.
#[derive(Debug, Default, Serialize)]
pub struct NativeJob<'j> {
    pub id: Cow<'j, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub entity: Cow<'j, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub queue: Cow<'j, str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queued_at: Option<i64>,
    /// The attributes that a formula reads, such as `eligible_time`.
    #[serde(flatten)]
    pub attributes: BTreeMap<&'j str, Value>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<Cow<'j, str>, Value>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<Cow<'j, str>, Box<RawValue>>,
}

impl<'j> NativeJob<'j> {
    /// Adds a ready-made input, a number with all of its digits.
    pub fn add_input(&mut self, name: impl Into<Cow<'j, str>>, number: &python::Value) {
        let text = number.repr();
        // an infinite number is no JSON, and is written as a string
        let raw = RawValue::from_string(text.clone()).or_else(|_| to_raw_value(&text));
        self.inputs.extend(raw.ok().map(|raw| (name.into(), raw)));
    }
}
