//! Reads a job document: one with a job per line while it arrives, any other as a whole. What every
//! reader takes and returns: [`ReadOptions`] and [`ParsedJobs`], or why a document cannot be read.

use std::collections::BTreeMap;
use std::io::{self, Read};

use job_sort_formula::jobs::{JobTable, MAX_COLUMNS, Problems};
use job_sort_formula::schema::Schema;
use jsf_json::{decode_utf8, strip_byte_order_mark};
use jsf_openpbs::amounts::{AmountSource, NumberMode};
use jsf_openpbs::job_attributes::FairshareEntity;
use jsf_openpbs::words::counted;
use thiserror::Error;

use crate::cycle_jobs::CycleJobs;
use crate::file_kind::FileKind;
use crate::json_reader::{json_error, read_job_lines, read_json};
use crate::qstat_recovery::read_damaged_qstat_json;
use crate::qstat_text::{read_qstat_dsv, read_qstat_text};

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
/// A document with a job per line is parsed in parallel on the threads of rayon's current pool, or
/// of the crate's. Besides the table, at most four chunks per thread are in memory, each of
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
        kind = FileKind::of_jobs(&text);
    }
    match kind {
        FileKind::QstatJson => match read_json(&text, AmountSource::Server, options) {
            Err(error @ ReadErrorKind::Json { .. }) if !options.strict => {
                read_damaged_qstat_json(&text, &error, options)
            }
            result => result,
        },
        FileKind::QstatText => read_qstat_text(&text, options),
        FileKind::QstatDsv => read_qstat_dsv(&text, options),
        FileKind::NativeJobs => read_json(&text, AmountSource::User, options),
        FileKind::JobLines => read_job_lines(Box::new(text.as_bytes()), options),
        _ => Err(match json_error(&text) {
            Some(error) if text.trim_start().starts_with('{') => {
                ReadErrorKind::json(&text, &error, 0)
            }
            _ => unrecognised(kind, text.as_bytes()),
        }),
    }
}

/// The error for a document that has no jobs.
fn unrecognised(kind: FileKind, head: &[u8]) -> ReadErrorKind {
    let advice = match kind {
        FileKind::Empty => "; check whether the command that wrote it failed",
        _ => "",
    };
    let found = kind.found(head);
    ReadErrorKind::Other(format!("{found}, expected {EXPECTED}{advice}"))
}

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

/// The jobs of a document, and what is wrong with some of them.
#[derive(Debug, Clone, Default)]
pub struct ParsedJobs {
    /// The jobs.
    pub table: JobTable,
    /// The jobs of the table as a scheduling cycle sees them, if the options ask for them.
    pub cycle_jobs: Option<CycleJobs>,
    /// What is wrong with single jobs. The other jobs are read nevertheless.
    pub problems: Problems,
    /// Remarks on the document as a whole, one sentence each.
    pub notes: Vec<String>,
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

/// What is wrong with a document.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ReadErrorKind {
    /// The document is not valid JSON.
    #[error(
        "is not valid JSON at line {line}, column {column} (byte {byte}): {reason}; {} read before it{advice}",
        counted(*.jobs_before, "job was", "jobs were")
    )]
    Json {
        /// The line, from 1.
        line: usize,
        /// The column in bytes, from 1; 0 at the start of a line.
        column: usize,
        /// The byte of the document, from 0.
        byte: usize,
        /// What is wrong there.
        reason: String,
        /// The number of jobs that were read before.
        jobs_before: usize,
        /// What to do, with its punctuation.
        advice: &'static str,
    },
    /// Anything else; the text follows the name of the document.
    #[error("{0}")]
    Other(String),
}

impl From<io::Error> for ReadErrorKind {
    fn from(error: io::Error) -> Self {
        Self::Other(format!("cannot be read: {error}"))
    }
}

impl ReadErrorKind {
    pub(super) fn unexpected(found: &str, expected: &str) -> Self {
        Self::Other(format!("is {found}, expected {expected}"))
    }

    /// The error of a JSON `text`; its place is counted in lines, columns and bytes.
    pub(super) fn json(text: &str, error: &serde_json::Error, jobs_before: usize) -> Self {
        let line = error.line();
        let column = error.column();
        let lines_before = text.split_inclusive('\n').take(line.saturating_sub(1));
        let start: usize = lines_before.map(str::len).sum();
        let byte = (start + column.saturating_sub(1)).min(text.len());
        let mut reason = reason(error);
        // a value that is skipped says no more
        if reason == "key must be a string" && text.as_bytes().get(byte) == Some(&b'}') {
            reason = "trailing comma".to_owned();
        }
        let advice = match reason.as_str() {
            _ if error.is_eof() => "; the document is cut off, write it again",
            "control character (\\u0000-\\u001F) found while parsing a string" => {
                "; some versions of qstat do not escape control characters, use `qstat -f` without `-F json`"
            }
            _ => "",
        };
        Self::Json {
            line,
            column,
            byte,
            reason,
            jobs_before,
            advice,
        }
    }
}

/// The message of an error without its place.
pub fn reason(error: &serde_json::Error) -> String {
    let mut text = error.to_string();
    text.truncate(text.find(" at line ").unwrap_or(text.len()));
    text
}
