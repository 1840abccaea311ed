//! Reads a job document: one with a job per line while it arrives, any other as a whole. What every
//! reader takes and returns: [`ReadOptions`] and [`ParsedJobs`], or why a document cannot be read; and
//! the [`TableBuilder`], which collects the jobs of a document and what is wrong with it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{self, Read};

use job_sort_formula::jobs::{JobProblem, JobTable, MAX_COLUMNS, MAX_JOBS, Problem, Problems};
use job_sort_formula::python::Value;
use job_sort_formula::schema::Schema;
use jsf_json::{clipped, decode_utf8, strip_byte_order_mark};
use jsf_openpbs::amounts::FairshareEntity;
use jsf_openpbs::amounts::{AmountSource, NumberMode};
use jsf_words::counted;
use thiserror::Error;

use crate::cycle_jobs::{CycleJob, CycleJobs};
use crate::file_kind::FileKind;
use crate::job_converter::{
    ConvertedJobs, JobConverter, MAX_KEYS, MAX_RESOURCES, OF_NODES, OF_PROCS, Part, RequestedColumn,
};
use crate::json_reader::{json_error, read_job_lines, read_json};
use crate::qstat::{read_damaged_qstat_json, read_qstat_dsv, read_qstat_text};

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

/// How many jobs and problems are converted before the table takes them.
const MAX_PENDING: usize = 4096;

/// Builds a table from jobs that were converted.
#[derive(Debug)]
pub struct TableBuilder<'a> {
    options: &'a ReadOptions<'a>,
    table: JobTable,
    cycle_jobs: Vec<CycleJob>,
    timestamp: Option<i64>,
    problems: Problems,
    /// What the formula gets from a job without any attribute.
    defaults: Vec<Value>,
    reported_keys: HashSet<String>,
    is_full: bool,
    /// Why the document is refused if the options are strict.
    refusal: Option<String>,
    has_too_many_names: bool,
    notes: BTreeSet<&'static str>,
}

impl<'a> TableBuilder<'a> {
    pub fn new(options: &'a ReadOptions<'a>) -> Self {
        let columns = RequestedColumn::all(options);
        let mut table = JobTable::new(columns.iter().map(|column| column.name));
        if options.record_origins {
            table.record_origins(columns.iter().map(RequestedColumn::own_origin).collect());
        }
        Self {
            options,
            table,
            cycle_jobs: Vec::new(),
            timestamp: None,
            problems: Problems::default(),
            defaults: columns.iter().map(RequestedColumn::default).collect(),
            reported_keys: HashSet::new(),
            is_full: false,
            refusal: None,
            has_too_many_names: false,
            notes: BTreeSet::new(),
        }
    }

    /// Takes the jobs that were converted one after the other, if they are many: what is reported
    /// of a job may take more memory than its text.
    pub fn take_many(&mut self, converter: &mut JobConverter<'_>) {
        let output = &mut converter.output;
        if output.parts.len() + output.batch.rows() >= MAX_PENDING {
            self.append(output, 0);
            converter.clear_output();
        }
    }

    /// How many jobs were read, those that were skipped included.
    pub fn jobs_read(&self) -> usize {
        self.table.len() + self.problems.skipped()
    }

    /// Appends jobs, which begin on this line of the document.
    pub fn append(&mut self, jobs: &mut ConvertedJobs, first_line: usize) {
        // as many as rows, or none
        let mut cycle_jobs = std::mem::take(&mut jobs.cycle).into_iter();
        for part in jobs.parts.drain(..) {
            let number = self.jobs_read() + 1;
            match part {
                Part::Rows(rows) => {
                    let batch = &jobs.batch;
                    let refused = self.table.append(batch, rows.clone(), &self.defaults);
                    for row in rows.clone() {
                        let cycle_job = cycle_jobs.next();
                        if refused.binary_search_by_key(&row, |(row, _)| *row).is_err() {
                            self.cycle_jobs.extend(cycle_job);
                        }
                    }
                    for (row, problem) in refused {
                        let line = batch.line(row).map(|line| first_line + line);
                        self.report(line, batch.id(row), number + row - rows.start, problem);
                    }
                }
                Part::Problem { line, id, problem } => {
                    self.report(line.map(|line| first_line + line), &id, number, problem)
                }
                Part::TruncatedToZero {
                    resource,
                    id,
                    amount,
                } => {
                    self.table.record_truncated(&resource, &id, &amount);
                }
            }
        }
        for (name, kind) in jobs.undeclared.drain(..) {
            if self.table.undeclared_count() <= MAX_RESOURCES {
                self.table.record_undeclared(&name, kind);
            }
        }
        if let Some(what) = jobs.ambiguity.take() {
            let refusal = format!("is ambiguous: {what}");
            self.refusal.get_or_insert(refusal);
        }
        self.timestamp = jobs.timestamp;
        self.has_too_many_names |= jobs.has_too_many_names;
        self.notes.extend(&jobs.notes);
    }

    /// Reports a problem of a job, which is called by its number in the document if it has no id.
    fn report(&mut self, line: Option<usize>, id: &str, number: usize, mut problem: Problem) {
        if let Problem::UnknownKey { key, advice } = &mut problem {
            if self.reported_keys.len() >= MAX_KEYS || !self.reported_keys.insert(key.clone()) {
                return;
            }
            // a problem that is not listed needs no advice, and to look for similar names takes
            // longer than all else
            if self.problems.listed().len() < Problems::MAX_LISTED
                && let Some(similar) = self.options.schema.suggestions(key).into_iter().next()
            {
                *advice = format!("; did you mean `{similar}`?");
            }
        }
        let job = if id.is_empty() {
            format!("#{number}")
        } else {
            clipped(id).into_owned()
        };
        let refusal = match &problem {
            Problem::Repeated { key, .. } => Some(format!(
                "is ambiguous: job `{job}` has `{key}` more than once"
            )),
            Problem::Duplicate => Some(format!("is ambiguous: it has job `{job}` more than once")),
            Problem::NotAJob { found, .. } => {
                let place = match line {
                    Some(line) => format!("line {line}, "),
                    None => String::new(),
                };
                Some(format!("is damaged: {place}job `{job}`: {found}"))
            }
            _ => None,
        };
        self.is_full |= problem == Problem::TooMany;
        if self.refusal.is_none() {
            self.refusal = refusal;
        }
        self.problems.push(JobProblem { line, job, problem });
    }

    /// Whether there are more jobs than a table can hold, or more resources.
    pub fn is_full(&self) -> bool {
        self.is_full || self.has_too_many_resources()
    }

    fn has_too_many_resources(&self) -> bool {
        self.has_too_many_names || self.table.undeclared_count() > MAX_RESOURCES
    }

    /// Finishes the table at the end of a document, after its last jobs.
    ///
    /// # Errors
    /// See [`finish`](Self::finish).
    pub fn finish_with(mut self, mut last: ConvertedJobs) -> Result<ParsedJobs, ReadErrorKind> {
        self.append(&mut last, 0);
        self.finish()
    }

    /// Finishes the table at the end of the document.
    ///
    /// # Errors
    /// There are too many jobs or resources, or the document is damaged or ambiguous and the options
    /// are strict.
    pub fn finish(mut self) -> Result<ParsedJobs, ReadErrorKind> {
        let refusal = if self.is_full {
            Some(format!(
                "contains more than {MAX_JOBS} jobs, the most that can be read; split it into several files"
            ))
        } else if self.has_too_many_resources() {
            Some(format!(
                "contains more than {MAX_RESOURCES} different resources, which no server has; check what wrote it"
            ))
        } else {
            self.refusal.take().filter(|_| self.options.strict)
        };
        if let Some(reason) = refusal {
            return Err(ReadErrorKind::Other(reason));
        }
        self.table.exclude_waiting_subjobs();
        if self.notes.contains(OF_PROCS) {
            self.notes.remove(OF_NODES);
        }
        let mut cycle_jobs = None;
        if self.options.cycle_jobs {
            cycle_jobs = Some(CycleJobs::new(self.cycle_jobs, self.timestamp));
        }
        Ok(ParsedJobs {
            table: self.table,
            cycle_jobs,
            problems: self.problems,
            notes: self.notes.into_iter().map(str::to_owned).collect(),
        })
    }
}
