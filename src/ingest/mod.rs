//! Job documents: from any of their formats to a table of jobs.

mod attribute_values;
mod byte_pattern;
mod chunks;
mod fast_reader;
mod format;
mod integer_run;
mod json_scanner;
mod key_dispatch;
mod key_predictor;
mod native_json;
mod ndjson;
pub mod options;
mod ordered_pipeline;
mod parsed_chunk;
mod qstat_chunked;
pub mod qstat_json;
pub mod qstat_text;
mod reader;
mod requested_columns;
mod resource_plan;
mod skipped_objects;
mod source;
mod swar;
mod table_builder;

pub use crate::ingest::format::Format;
pub use crate::ingest::reader::JobReader;

use crate::ingest::options::{ReadJobs, ReadOptions};
use crate::jobs::ReadError;

/// Reads a document of jobs, whichever of the [`Format`]s it has.
///
/// A [`JobReader`] reads files and streams too. A job with a fault is reported and stops no other; see
/// [`ReadJobs::problems`]. Bytes that are not UTF-8 are
/// replaced, and a byte order mark is passed over.
///
/// ```
/// use job_sort_formula::ingest::read_jobs;
/// use job_sort_formula::ingest::options::ReadOptions;
/// use job_sort_formula::pbs::{entity::FairshareEntity, files::queues::Queues, resource_amount::Numbers};
/// use job_sort_formula::schema::Schema;
///
/// let (schema, queues) = (Schema::openpbs(), Queues::none());
/// let options = ReadOptions {
///     source_name: "jobs.ndjson",
///     needed: &["ncpus", "mem"],
///     schema: &schema,
///     numbers: Numbers::OpenPbs,
///     entity: FairshareEntity::User,
///     queues: &queues,
/// };
/// let read = read_jobs(br#"{"id":"1.vm","entity":"Bob","resources":{"ncpus":4,"mem":"4gb"}}"#, &options)?;
/// assert_eq!(read.table.column("mem").unwrap().lane(0), 4194304.0);
/// # Ok::<(), job_sort_formula::jobs::ReadError>(())
/// ```
///
/// # Errors
/// The document is empty, of no known format, broken JSON, or too large.
pub fn read_jobs(bytes: &[u8], options: &ReadOptions<'_>) -> Result<ReadJobs, ReadError> {
    JobReader::new(options).read(bytes)
}

/// What went wrong in `text`, with the place counted in lines, columns and bytes.
pub(crate) fn json_error(source_name: &str, text: &str, error: &serde_json::Error, jobs_before: usize) -> ReadError {
    let (line, column) = (error.line(), error.column());
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let full = error.to_string();
    let reason = full.split(" at line ").next().unwrap_or(&full).to_owned();
    let advice = match reason.as_str() {
        _ if error.is_eof() => "; the document is cut off, write it again",
        "control character (\\u0000-\\u001F) found while parsing a string" => {
            "; some versions of qstat do not escape control characters, use `qstat -f` without `-F json`"
        }
        _ => "",
    };
    let byte = (start + column.saturating_sub(1)).min(text.len());
    ReadError::Json { source_name: source_name.to_owned(), line, column, byte, reason, jobs_before, advice }
}
