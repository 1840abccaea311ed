//! Reads a job document: one with a job per line while it arrives, any other as a whole.

use std::io::Read;

use job_sort_formula::jobs::MAX_COLUMNS;
use jsf_json::{decode_utf8, strip_byte_order_mark};
use jsf_openpbs::amounts::AmountSource;

use crate::file_kind::FileKind;
use crate::json_reader::{json_error, read_job_lines, read_json};
use crate::options::{ReadError, ReadErrorKind, ReadOptions};
use crate::qstat::{read_damaged_qstat_json, read_qstat_listing};
use crate::table_builder::ParsedJobs;

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
            Some(error) if text.trim_start().starts_with('{') => {
                ReadErrorKind::json(&text, &error, 0)
            }
            _ => unrecognised(kind, text.as_bytes()),
        }),
    }
}

/// The error for a document that has no jobs.
fn unrecognised(kind: FileKind, head: &[u8]) -> ReadErrorKind {
    let found = kind.found(head);
    ReadErrorKind::Other(format!("{found}, expected {EXPECTED}"))
}
