//! The project's own JSON, and the one door for jobs in any format.

mod format;
mod jobs;
mod lines;
mod reader;
mod source;
mod tree;

use std::borrow::Cow;

pub use format::Format;
pub use reader::JobReader;
pub use tree::{
    MAX_DEPTH, MAX_NODES, NodeKind, NodeShares, PlantError, TreeDocument, TreeDocumentError, TreeNode, read_tree,
};

use crate::jobs::ReadError;
use crate::pbs::reading::{ReadJobs, ReadOptions};

/// Reads a document of jobs, whichever of the [`Format`]s it has.
///
/// A [`JobReader`] reads files and streams too. A job with a fault is reported and stops no other; see
/// [`ReadJobs::problems`]. Bytes that are not UTF-8 are
/// replaced, and a byte order mark is passed over.
///
/// ```
/// use job_sort_formula::json::read_jobs;
/// use job_sort_formula::pbs::{entity::FairshareEntity, numbers::Numbers, queues::Queues, reading::ReadOptions};
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

/// The bytes as text; what is not UTF-8 is replaced.
fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    // Checking first is several times faster than looking for what to replace.
    str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

/// The bytes behind a byte order mark, if there is one.
fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}
