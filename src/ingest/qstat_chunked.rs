//! `qstat -f -F json`, read chunk by chunk in parallel.
//!
//! Nothing but a job's own text tells where a job begins, so a place to cut is guessed: where the same bytes stand
//! as between the first two jobs. The guess is right if every piece is read from its first byte to its last as
//! jobs with commas behind them; if not, the document is left to [the reference reader](crate::ingest::reference_reader).

use std::io;
use std::ops::Range;

use memchr::memmem::FinderRev;

use crate::ingest::chunks::{Cut, Pieces};
use crate::ingest::error::ReadErrorKind;
use crate::ingest::fast_reader::FastReader;
use crate::ingest::json_scanner::{PADDING, Scanner};
use crate::ingest::options::{ParsedJobs, ReadOptions};
use crate::ingest::parsed_chunk::{ParsedChunk, parse_chunks};
use crate::ingest::reference_reader::read_entry;
use crate::ingest::table_builder::TableBuilder;
use crate::jobs::MAX_NAME;
use crate::pbs::resource_amount::AmountSource;

/// How the document's jobs are told apart.
#[derive(Debug, Clone)]
pub(crate) struct DocumentLayout {
    /// Where the first job begins.
    jobs: usize,
    separator: Option<JobSeparator>,
}

/// What stands between two jobs.
#[derive(Debug, Clone)]
struct JobSeparator {
    /// From the last byte of one to the quote before the id of the next.
    before: FinderRev<'static>,
    /// How much of it belongs to the one before: up to the comma.
    comma: usize,
    /// From the quote behind the id to the end of the first key.
    behind: Vec<u8>,
}

impl DocumentLayout {
    /// The layout of a document by its start, if the start holds a job and the beginning of the next, or all jobs.
    pub(crate) fn detect(start: &[u8]) -> Option<Self> {
        let mut scanner = Scanner::new(start, start.len());
        scanner.space();
        scanner.take(b'{')?;
        scanner.space();
        while scanner.key()? != "Jobs" {
            scanner.skip_value()?;
            scanner.space();
            scanner.take(b',')?;
            scanner.space();
        }
        scanner.take(b'{')?;
        let jobs = scanner.at;
        scanner.space();
        if scanner.peek() == b'}' {
            return Some(Self { jobs, separator: None });
        }
        skip_entry(&mut scanner)?;
        let end = scanner.at;
        scanner.space();
        if scanner.peek() == b'}' {
            return Some(Self { jobs, separator: None });
        }
        scanner.take(b',')?;
        let comma = scanner.at;
        scanner.space();
        scanner.take(b'"')?;
        let before = start.get(end - 1..scanner.at)?;
        let (key, first) = (scanner.plain()?.len(), scanner.at - 1);
        scanner.at -= key + 2;
        scanner.key()?;
        scanner.take(b'{')?;
        scanner.space();
        scanner.take(b'"')?;
        scanner.plain()?;
        let behind = start.get(first..scanner.at)?.to_owned();
        Some(Self {
            jobs,
            separator: Some(JobSeparator {
                before: FinderRev::new(before).into_owned(),
                comma: comma - end + 1,
                behind,
            }),
        })
    }

    /// Where such a document may be cut: behind the last comma between two jobs.
    pub(crate) fn cut(&self) -> Box<Cut<'static>> {
        let separator = self.separator.clone();
        Box::new(move |text| separator.as_ref()?.last_in(text))
    }
}

impl JobSeparator {
    fn last_in(&self, text: &[u8]) -> Option<usize> {
        let length = self.before.needle().len();
        let mut end = text.len();
        while let Some(at) = self.before.rfind(&text[..end]) {
            let id = &text[at + length..];
            let quote = memchr::memchr(b'"', &id[..id.len().min(MAX_NAME + 1)]);
            if quote.is_some_and(|quote| id[quote..].starts_with(&self.behind)) {
                return Some(at + self.comma);
            }
            end = at + length - 1;
        }
        None
    }
}

/// Passes over a job with its id, whatever it is.
fn skip_entry(scanner: &mut Scanner<'_>) -> Option<()> {
    if scanner.peek() != b'"' {
        return None;
    }
    scanner.skip_value()?;
    scanner.space();
    scanner.take(b':')?;
    scanner.space();
    scanner.skip_value()
}

/// Reads the jobs of a document that has this layout; nothing if it is not of this form to its end.
pub(crate) fn read_chunks(
    pieces: Pieces<'_>,
    layout: &DocumentLayout,
    options: &ReadOptions<'_>,
) -> io::Result<Option<Result<ParsedJobs, ReadErrorKind>>> {
    let mut builder = TableBuilder::new(options, AmountSource::Server);
    let (mut is_broken, mut is_whole) = (false, false);
    let parse = |chunk: &mut ParsedChunk, reader: &mut FastReader<'_>| {
        chunk.begin(reader.column_count());
        let text = std::mem::take(&mut chunk.text);
        chunk.is_broken = parse_chunk(&text, layout, chunk, reader).is_none();
        chunk.text = text;
        chunk.close(reader);
    };
    let join = |chunk: &mut ParsedChunk| {
        is_broken = is_broken
            || chunk.is_broken
            || !chunk.join(&mut builder, None, |builder, text, _| read_entry(text, builder));
        is_whole = chunk.is_last;
        !is_broken
    };
    parse_chunks(pieces, options, AmountSource::Server, parse, join)?;
    Ok((is_whole && !is_broken).then(|| builder.finish()))
}

fn parse_chunk(
    text: &[u8],
    layout: &DocumentLayout,
    chunk: &mut ParsedChunk,
    reader: &mut FastReader<'_>,
) -> Option<()> {
    let mut scanner = Scanner::new(&text[..chunk.end + PADDING], chunk.end);
    if chunk.is_first {
        scanner.at = layout.jobs;
        scanner.space();
        if scanner.peek() == b'}' {
            return tail(&mut scanner, chunk.is_last);
        }
    }
    loop {
        scanner.space();
        read_job(&mut scanner, chunk, reader)?;
        scanner.space();
        if scanner.peek() == b'}' {
            return tail(&mut scanner, chunk.is_last);
        }
        scanner.take(b',')?;
        if scanner.is_at_end() {
            return (!chunk.is_last).then_some(());
        }
    }
}

fn read_job(scanner: &mut Scanner<'_>, chunk: &mut ParsedChunk, reader: &mut FastReader<'_>) -> Option<()> {
    let start = scanner.at;
    if reader.read_entry(scanner, &mut chunk.batch).is_some() {
        chunk.take_row();
        return Some(());
    }
    scanner.at = start;
    skip_entry(scanner)?;
    let job: Range<usize> = start..scanner.at;
    chunk.leave(job, 0);
    Some(())
}

/// Passes over what stands behind the jobs, up to the end of the document.
fn tail(scanner: &mut Scanner<'_>, is_last: bool) -> Option<()> {
    scanner.take(b'}')?;
    scanner.space();
    while scanner.take(b',').is_some() {
        scanner.space();
        if scanner.key()? == "Jobs" {
            return None;
        }
        scanner.skip_value()?;
        scanner.space();
    }
    scanner.take(b'}')?;
    scanner.space();
    (is_last && scanner.is_at_end()).then_some(())
}
