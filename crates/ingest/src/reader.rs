//! Reads a job document: one with a job per line while it arrives, any other as a whole.

use std::io::Read;

use job_sort_formula::jobs::MAX_COLUMNS;
use jsf_json::{decode_utf8, strip_byte_order_mark};
use jsf_openpbs::resource_amount::AmountSource;

use crate::error::{ReadError, ReadErrorKind};
use crate::file_kind::FileKind;
use crate::job_lines::read_job_lines;
use crate::json_reader::{json_error, read_json};
use crate::options::{ParsedJobs, ReadOptions};
use crate::qstat_recovery::read_damaged_qstat_json;
use crate::qstat_text::{read_qstat_dsv, read_qstat_text};

const EXPECTED: &str = "`qstat -f -F json`, `qstat -f -F dsv`, `qstat -f`, {\"jobs\":[…]}, or one job per line as JSON";
/// How many bytes of a document are read to detect its format.
const HEAD_BYTES: u64 = 256 << 10;
/// The largest document that is held in memory as a whole, in bytes.
const MAX_WHOLE: u64 = 4 << 30;

/// Reads a job document from a file or a stream, to its end; its format is detected.
///
/// A document with a job per line is parsed in parallel on the threads of rayon's current pool, or
/// of the crate's. Besides the table, at most four chunks per thread are in memory, each of
/// [`ReadOptions::chunk_size`] or of one job if that is larger, of at most 256 MiB. A document of
/// another format is held in memory as a whole and has at most 4 GiB.
///
/// ```no_run
/// use std::fs::File;
///
/// use job_sort_formula::schema::Schema;
/// use jsf_ingest::{ReadOptions, read_jobs_from};
///
/// let schema = Schema::openpbs();
/// let options = ReadOptions { source_name: "jobs.ndjson", ..ReadOptions::new(&schema, &["ncpus"]) };
/// let document = read_jobs_from(File::open("jobs.ndjson")?, &options)?;
/// println!("{} jobs", document.table.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// See [`read_jobs`](crate::read_jobs); also the stream cannot be read.
pub fn read_jobs_from(
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
