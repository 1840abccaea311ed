//! NDJSON and `qstat -f -F json` in chunks, which are parsed in parallel.
//!
//! NDJSON is cut between two lines. In the JSON of qstat only the text of a job shows where it
//! begins, so the place of a cut is guessed: where the bytes are the same as between the first two
//! jobs. The guess is right if every chunk parses, from its first byte to its last, as jobs that
//! are followed by commas; if one does not, the document is read again as a whole.

use job_sort_formula::jobs::MAX_NAME;
use jsf_openpbs::resource_amount::AmountSource;
use memchr::memmem::FinderRev;

use crate::chunks::{Chunk, Chunks, FindCut};
use crate::error::ReadErrorKind;
use crate::file_kind::{FileKind, first_key};
use crate::json_reader::read_lines;
use crate::json_scanner::Scanner;
use crate::options::{ParsedJobs, ReadOptions};
use crate::parsed_job::ParsedJob;
use crate::table_builder::TableBuilder;

/// Reads a job per line. A line that is not a job is reported and skipped.
///
/// # Errors
/// The source cannot be read.
pub(super) fn read_ndjson(
    chunks: Chunks<'_>,
    options: &ReadOptions<'_>,
) -> Result<ParsedJobs, ReadErrorKind> {
    let mut builder = TableBuilder::new(options, AmountSource::User);
    let mut line = 1;
    chunks.parse(
        options,
        AmountSource::User,
        |chunk, text| chunk.lines = read_lines(text, 0, &mut chunk.reader, &mut chunk.converter),
        |chunk| {
            builder.append(&mut chunk.converter.output, line);
            line += chunk.lines;
            !builder.is_full()
        },
    )?;
    builder.finish()
}

/// Where lines may be cut: after the last line end.
pub(super) fn last_line_end(text: &[u8]) -> Option<usize> {
    memchr::memrchr(b'\n', text).map(|end| end + 1)
}

/// Where the jobs of a `qstat -f -F json` document begin, and what separates them.
#[derive(Debug, Clone)]
pub(super) struct DocumentLayout {
    first_job: usize,
    separator: Option<JobSeparator>,
}

/// The bytes between two jobs.
#[derive(Debug, Clone)]
struct JobSeparator {
    /// From the last byte of a job to the quote before the id of the next.
    before_id: FinderRev<'static>,
    /// How many bytes of `before_id` belong to the first of the two jobs: up to and including the
    /// comma.
    comma: usize,
    /// From the quote after the id to the end of the first key.
    after_id: Vec<u8>,
}

impl DocumentLayout {
    /// Detects the layout from the start of a document; `None` unless it contains one job and the
    /// beginning of the next, or all jobs.
    pub(super) fn detect(start: &[u8]) -> Option<Self> {
        // places in a text with replaced bytes are not those in the document
        let start = start.utf8_chunks().next()?.valid();
        let mut scanner = Scanner::new(start);
        let (FileKind::QstatJson, jobs) = first_key(start)? else {
            return None;
        };
        scanner.at = jobs;
        scanner.take(b'{')?;
        let first_job = scanner.at;
        let mut separator = None;
        scanner.space();
        if scanner.peek() != b'}' {
            skip_entry(&mut scanner)?;
            let end = scanner.at;
            scanner.space();
            if scanner.peek() != b'}' {
                separator = Some(JobSeparator::detect(start, end, &mut scanner)?);
            }
        }
        Some(Self {
            first_job,
            separator,
        })
    }

    /// Finds where such a document may be cut: after the last comma between two jobs.
    pub(super) fn find_cut(&self) -> Box<FindCut<'static>> {
        let separator = self.separator.clone();
        Box::new(move |text| separator.as_ref()?.last_in(text))
    }
}

impl JobSeparator {
    /// The separator after a job that ends at `end`, before the comma that the scanner has reached.
    fn detect(start: &str, end: usize, scanner: &mut Scanner<'_>) -> Option<Self> {
        scanner.take(b',')?;
        let comma = scanner.at - end + 1;
        scanner.space();
        let id = scanner.at;
        scanner.quoted()?;
        let quote = scanner.at - 1;
        scanner.colon()?;
        scanner.take(b'{')?;
        scanner.space();
        scanner.quoted()?;
        let before_id = FinderRev::new(start.get(end - 1..=id)?).into_owned();
        Some(Self {
            before_id,
            comma,
            after_id: start.get(quote..scanner.at)?.into(),
        })
    }

    /// The last position at which the text may be cut.
    fn last_in(&self, text: &[u8]) -> Option<usize> {
        let length = self.before_id.needle().len();
        let mut end = text.len();
        while let Some(at) = self.before_id.rfind(&text[..end]) {
            let id = &text[at + length..];
            let quote = memchr::memchr(b'"', &id[..id.len().min(MAX_NAME + 1)]);
            if quote.is_some_and(|quote| id[quote..].starts_with(&self.after_id)) {
                return Some(at + self.comma);
            }
            end = at + length - 1;
        }
        None
    }
}

/// Skips an id and its value, which need not be a job.
fn skip_entry(scanner: &mut Scanner<'_>) -> Option<()> {
    scanner.quoted()?;
    scanner.colon()?;
    scanner.skip_value()
}

/// Reads `qstat -f -F json`; `None` if the document does not have this layout up to its end.
///
/// # Errors
/// The source cannot be read.
pub(super) fn read_qstat_json(
    chunks: Chunks<'_>,
    layout: &DocumentLayout,
    options: &ReadOptions<'_>,
) -> Result<Option<ParsedJobs>, ReadErrorKind> {
    let mut builder = TableBuilder::new(options, AmountSource::Server);
    let mut is_malformed = false;
    let mut is_complete = false;
    chunks.parse(
        options,
        AmountSource::Server,
        |chunk, text| chunk.is_malformed = parse_entries(text, layout, chunk).is_none(),
        |chunk| {
            is_malformed = chunk.is_malformed;
            is_complete = chunk.is_last;
            builder.append(&mut chunk.converter.output, 0);
            !is_malformed
        },
    )?;
    if is_malformed || !is_complete {
        return Ok(None);
    }
    builder.finish().map(Some)
}

fn parse_entries(text: &str, layout: &DocumentLayout, chunk: &mut Chunk<'_>) -> Option<()> {
    let mut scanner = Scanner::new(text);
    if chunk.is_first {
        scanner.at = layout.first_job;
        scanner.space();
        if scanner.peek() == b'}' {
            return skip_tail(&mut scanner, chunk.is_last);
        }
    }
    let mut job = ParsedJob::default();
    loop {
        scanner.space();
        chunk
            .reader
            .read_entry(&mut scanner, &mut job, &mut chunk.converter)?;
        scanner.space();
        if scanner.peek() == b'}' {
            return skip_tail(&mut scanner, chunk.is_last);
        }
        scanner.take(b',')?;
        if scanner.is_at_end() {
            return (!chunk.is_last).then_some(());
        }
    }
}

/// Skips what follows the jobs, up to the end of the document.
fn skip_tail(scanner: &mut Scanner<'_>, is_last: bool) -> Option<()> {
    scanner.take(b'}')?;
    scanner.space();
    while scanner.take(b',').is_some() {
        scanner.space();
        if matches!(&*scanner.key()?, "Jobs" | "jobs") {
            return None;
        }
        scanner.skip_value()?;
        scanner.space();
    }
    scanner.take(b'}')?;
    scanner.space();
    (is_last && scanner.is_at_end()).then_some(())
}
