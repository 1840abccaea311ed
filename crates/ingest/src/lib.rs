//! Job documents: from any of their formats to a table of jobs.
//!
//! Enters: `qstat -f -F json`, `qstat -f` as text, native JSON (`{"jobs":[…]}`), or native JSON
//! with a job per line (NDJSON); and the names that a formula needs. Leaves: a
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

mod cycle_jobs;
mod file_kind;
mod job_converter;
mod job_key;
mod json_reader;
mod json_scanner;
pub mod native_tree;
mod parsed_job;
mod qstat_recovery;
mod qstat_text;
mod reader;
mod table_builder;

pub use crate::cycle_jobs::{Clock, CycleJobs, QueuedJob};
pub use crate::file_kind::FileKind;
pub use crate::reader::{ParsedJobs, ReadError, ReadErrorKind, ReadOptions, read_jobs_from};

/// Reads a job document in memory; its format is detected.
///
/// [`read_jobs_from`] also reads files and streams. A problem with one job is reported in
/// [`ParsedJobs::problems`] and does not affect the others. Bytes that are not UTF-8 are replaced,
/// and a byte order mark is skipped.
///
/// ```
/// use jsf_ingest::{ReadOptions, read_jobs};
/// use job_sort_formula::schema::Schema;
///
/// let schema = Schema::openpbs();
/// let options = ReadOptions::new(&schema, &["ncpus", "mem"]);
/// let document = read_jobs(br#"{"id":"1.vm","entity":"Bob","resources":{"ncpus":4,"mem":"4gb"}}"#, &options)?;
/// // Sizes are in kilobytes.
/// assert_eq!(document.table.column("mem").unwrap().nearest_double(0), 4194304.0);
/// # Ok::<(), jsf_ingest::ReadError>(())
/// ```
///
/// # Errors
/// The document is empty, has none of the formats, is not valid JSON, or has too many jobs.
pub fn read_jobs(bytes: &[u8], options: &ReadOptions<'_>) -> Result<ParsedJobs, ReadError> {
    read_jobs_from(bytes, options)
}
