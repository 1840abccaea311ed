//! The project's own JSON, and the one door for jobs in any format.

mod format;
mod jobs;
mod tree;

use std::borrow::Cow;

pub use format::Format;
pub use tree::{
    MAX_DEPTH, MAX_NODES, NodeKind, NodeShares, PlantError, TreeDocument, TreeDocumentError, TreeNode, read_tree,
};

use crate::jobs::ReadError;
use crate::pbs::qstat_json::read_qstat_json;
use crate::pbs::qstat_text::read_qstat_text;
use crate::pbs::reading::{ReadJobs, ReadOptions};

/// Reads a document of jobs, whichever of the [`Format`]s it has.
///
/// A job with a fault is reported and stops no other; see [`ReadJobs::problems`]. Bytes that are not UTF-8 are
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
    let text = text_of(bytes);
    match Format::of(&text, options.source_name)? {
        Format::QstatJson => read_qstat_json(&text, options),
        Format::QstatText => read_qstat_text(&text, options),
        Format::OwnJson => jobs::read_own(&text, options),
        Format::Ndjson => jobs::read_lines(&text, options),
    }
}

/// The bytes as text, without a byte order mark; what is not UTF-8 is replaced.
fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    // Checking first is several times faster than looking for what to replace.
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}
