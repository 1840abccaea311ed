//! What every reader of jobs takes, [`ReadOptions`], and why a document cannot be read.

use std::collections::BTreeMap;
use std::io;

use job_sort_formula::schema::Schema;
use jsf_openpbs::amounts::NumberMode;
use jsf_openpbs::job_attributes::FairshareEntity;
use jsf_words::counted;
use thiserror::Error;

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

    /// The error of a JSON `text`. Lines count from 1, bytes from 0, and columns in bytes from 1; the
    /// start of a line is column 0.
    pub fn json(text: &str, error: &serde_json::Error, jobs_before: usize) -> Self {
        let line = error.line();
        let column = error.column();
        let lines_before = text.split_inclusive('\n').take(line.saturating_sub(1));
        let start: usize = lines_before.map(str::len).sum();
        let byte = (start + column.saturating_sub(1)).min(text.len());
        let reason = reason(error);
        let advice = match reason.as_str() {
            _ if error.is_eof() => "; the document is cut off, write it again",
            "control character (\\u0000-\\u001F) found while parsing a string" => {
                "; some versions of qstat do not escape control characters, use `qstat -f` without `-F json`"
            }
            _ => "",
        };
        let jobs = counted(jobs_before, "job was", "jobs were");
        Self::Json(format!(
            "is not valid JSON at line {line}, column {column} (byte {byte}): {reason}; {jobs} read before it{advice}"
        ))
    }
}

/// The message of an error without its place.
pub fn reason(error: &serde_json::Error) -> String {
    let mut text = error.to_string();
    text.truncate(text.find(" at line ").unwrap_or(text.len()));
    text
}
