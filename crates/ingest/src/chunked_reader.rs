//! NDJSON and `qstat -f -F json` in chunks of whole jobs, which are cut, parsed in parallel, and
//! appended to the table in order.
//!
//! NDJSON is cut between two lines. In the JSON of qstat only the text of a job shows where it
//! begins, so the place of a cut is guessed: where the bytes are the same as between the first two
//! jobs. The guess is right if every chunk parses, from its first byte to its last, as jobs that
//! are followed by commas; if one does not, the document is read again as a whole.

use std::io::{self, Read};

use job_sort_formula::jobs::MAX_NAME;
use job_sort_formula::parallel::pipeline;
use jsf_json::decode_utf8;
use jsf_openpbs::resource_amount::AmountSource;
use memchr::memmem::FinderRev;

use crate::error::ReadErrorKind;
use crate::file_kind::{FileKind, first_key};
use crate::job_converter::JobConverter;
use crate::json_reader::{JsonReader, read_lines};
use crate::json_scanner::Scanner;
use crate::options::{ParsedJobs, ReadOptions};
use crate::parsed_job::ParsedJob;
use crate::table_builder::TableBuilder;

/// The largest chunk, in bytes, and so the largest job of a document that is read in chunks.
const MAX_CHUNK: usize = 256 << 20;

/// Where a document may be cut.
#[derive(Debug)]
pub(super) enum Layout {
    /// After each line.
    Lines,
    /// Between the jobs of `qstat -f -F json`.
    Qstat {
        /// Where the first one begins.
        first_job: usize,
        /// `None` if there are fewer than two.
        separator: Option<JobSeparator>,
    },
}

impl Layout {
    /// The layout of a `qstat -f -F json` document with this start; `None` unless it contains one job and the
    /// beginning of the next, or all jobs.
    pub(super) fn of_qstat(start: &[u8]) -> Option<Self> {
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
        Some(Self::Qstat {
            first_job,
            separator,
        })
    }

    /// The last position in the given bytes at which the document may be cut.
    fn last_cut(&self, text: &[u8]) -> Option<usize> {
        match self {
            Self::Lines => memchr::memrchr(b'\n', text).map(|end| end + 1),
            Self::Qstat { separator, .. } => separator.as_ref()?.last_in(text),
        }
    }
}

/// The bytes between two jobs.
#[derive(Debug)]
pub(super) struct JobSeparator {
    /// From the last byte of a job to the quote before the id of the next.
    before_id: FinderRev<'static>,
    /// How many bytes of `before_id` belong to the first of the two jobs: up to and including the
    /// comma.
    comma: usize,
    /// From the quote after the id to the end of the first key.
    after_id: Vec<u8>,
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

/// A document that is cut into chunks.
pub(super) struct Chunks<'s> {
    source: Box<dyn Read + Send + 's>,
    /// What was read and belongs to the next chunk.
    rest: Vec<u8>,
    /// About how many bytes a chunk has.
    size: usize,
    is_over: bool,
}

impl<'s> Chunks<'s> {
    /// The chunks of a document whose `start` was read already.
    pub(super) fn new(start: Vec<u8>, source: Box<dyn Read + Send + 's>, size: usize) -> Self {
        Self {
            source,
            rest: start,
            size: size.max(1),
            is_over: false,
        }
    }

    /// Writes the next chunk to the start of `buffer`, and returns its length; `None` at the end.
    /// The buffer grows as necessary and is never cleared.
    ///
    /// # Errors
    /// The source cannot be read.
    fn next(&mut self, layout: &Layout, buffer: &mut Vec<u8>) -> io::Result<Option<usize>> {
        if self.is_over {
            return Ok(None);
        }
        let mut capacity = self.size;
        let mut filled = 0;
        loop {
            if let Some(more) = capacity.checked_sub(buffer.len()) {
                buffer
                    .try_reserve(more)
                    .map_err(|_| io::ErrorKind::OutOfMemory)?;
                buffer.resize(capacity, 0);
            }
            filled += self.read(&mut buffer[filled..capacity])?;
            let end = if self.is_over {
                Some(filled)
            } else {
                layout.last_cut(&buffer[..filled])
            };
            if let Some(end) = end {
                self.rest.splice(..0, buffer[end..filled].iter().copied());
                return Ok((end > 0).then_some(end));
            }
            if capacity >= MAX_CHUNK {
                return Err(io::Error::other(format!(
                    "it has {MAX_CHUNK} bytes without the end of a job"
                )));
            }
            capacity = capacity.saturating_mul(2).min(MAX_CHUNK);
        }
    }

    /// Fills the buffer with what was read already and then from the source, unless that ends
    /// before.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = self.rest.len().min(buffer.len());
        buffer[..filled].copy_from_slice(&self.rest[..filled]);
        self.rest.drain(..filled);
        while filled < buffer.len() {
            match self.source.read(&mut buffer[filled..]) {
                Ok(0) => {
                    self.is_over = true;
                    break;
                }
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    /// Reads the jobs; `None` if the document does not have this layout up to its end.
    ///
    /// # Errors
    /// The source cannot be read, or there are too many jobs.
    pub(super) fn read_jobs(
        mut self,
        layout: &Layout,
        options: &ReadOptions<'_>,
    ) -> Result<Option<ParsedJobs>, ReadErrorKind> {
        let amounts = match layout {
            Layout::Lines => AmountSource::User,
            Layout::Qstat { .. } => AmountSource::Server,
        };
        let mut builder = TableBuilder::new(options, amounts);
        let mut line = 1;
        let mut is_first = true;
        let is_of_lines = matches!(layout, Layout::Lines);
        let mut is_whole = is_of_lines;
        pipeline(
            || Chunk::new(options, amounts),
            |chunk| {
                let end = self.next(layout, &mut chunk.text)?;
                chunk.end = end.unwrap_or(0);
                chunk.is_first = std::mem::take(&mut is_first);
                chunk.is_last = self.is_over;
                Ok::<_, io::Error>(end.is_some())
            },
            |chunk| chunk.parse(layout),
            |chunk| {
                builder.append(&mut chunk.converter.output, line);
                line += chunk.lines;
                is_whole = is_of_lines || (chunk.is_last && !chunk.is_malformed);
                Ok(!chunk.is_malformed && !builder.is_full())
            },
        )?;
        if is_whole || builder.is_full() {
            return builder.finish().map(Some);
        }
        Ok(None)
    }
}

/// A chunk, and the jobs in it. Its buffers are used again, and what its reader knows of the keys:
/// a reader's chunks follow one another in the document.
#[derive(Debug)]
struct Chunk<'a> {
    /// The text, then unused bytes.
    text: Vec<u8>,
    /// Where the text ends.
    end: usize,
    is_first: bool,
    is_last: bool,
    /// The number of lines, if lines are counted.
    lines: usize,
    /// Whether the document does not have the layout that was expected; what was parsed is then
    /// discarded.
    is_malformed: bool,
    reader: JsonReader,
    converter: JobConverter<'a>,
}

impl<'a> Chunk<'a> {
    fn new(options: &'a ReadOptions<'a>, amounts: AmountSource) -> Self {
        Self {
            text: Vec::new(),
            end: 0,
            is_first: false,
            is_last: false,
            lines: 0,
            is_malformed: false,
            reader: JsonReader::new(),
            converter: JobConverter::new(options, amounts),
        }
    }

    fn parse(&mut self, layout: &Layout) {
        let bytes = std::mem::take(&mut self.text);
        let text = decode_utf8(bytes.get(..self.end).unwrap_or_default());
        self.converter.clear_output();
        match layout {
            Layout::Lines => {
                self.lines = read_lines(&text, &mut self.reader, &mut self.converter);
            }
            Layout::Qstat { first_job, .. } => {
                self.is_malformed = self.parse_entries(&text, *first_job).is_none();
            }
        }
        drop(text);
        self.text = bytes;
    }

    fn parse_entries(&mut self, text: &str, first_job: usize) -> Option<()> {
        let mut scanner = Scanner::new(text);
        if self.is_first {
            scanner.at = first_job;
            scanner.space();
            if scanner.peek() == b'}' {
                return skip_tail(&mut scanner, self.is_last);
            }
        }
        let mut job = ParsedJob::default();
        loop {
            scanner.space();
            self.reader
                .read_entry(&mut scanner, &mut job, &mut self.converter)?;
            scanner.space();
            if scanner.peek() == b'}' {
                return skip_tail(&mut scanner, self.is_last);
            }
            scanner.take(b',')?;
            if scanner.is_at_end() {
                return (!self.is_last).then_some(());
            }
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
