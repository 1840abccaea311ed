//! `qstat -f -F json`, read piece by piece on several threads.
//!
//! Nothing but a job's own text tells where a job begins, so a place to cut is guessed: where the same bytes stand
//! as between the first two jobs. The guess is right if every piece is read from its first byte to its last as
//! jobs with commas behind them; if not, the document is left to [the general road](crate::ingest::qstat_json).

use std::io;
use std::ops::Range;

use memchr::memmem::FinderRev;

use crate::ingest::chunks::{Cut, Pieces};
use crate::ingest::fast_reader::Quick;
use crate::ingest::json_scanner::{PADDING, Scanner};
use crate::ingest::options::{ReadJobs, ReadOptions};
use crate::ingest::ordered_pipeline::relay;
use crate::ingest::parsed_chunk::Sheet;
use crate::ingest::qstat_json::read_entry;
use crate::ingest::table_builder::Rows;
use crate::jobs::{MAX_NAME, ReadError};
use crate::pbs::resource_amount::AmountSource;

/// How the document's jobs are told apart.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    /// Where the first job begins.
    jobs: usize,
    seam: Option<Seam>,
}

/// What stands between two jobs.
#[derive(Debug, Clone)]
struct Seam {
    /// From the last byte of one to the quote before the id of the next.
    before: FinderRev<'static>,
    /// How much of it belongs to the one before: up to the comma.
    comma: usize,
    /// From the quote behind the id to the end of the first key.
    behind: Vec<u8>,
}

impl Frame {
    /// The frame of a document by its start, if the start holds a job and the beginning of the next, or all jobs.
    pub(crate) fn of(start: &[u8]) -> Option<Self> {
        let mut scan = Scanner::new(start, start.len());
        scan.space();
        scan.take(b'{')?;
        scan.space();
        while scan.key()? != "Jobs" {
            scan.skip_value()?;
            scan.space();
            scan.take(b',')?;
            scan.space();
        }
        scan.take(b'{')?;
        let jobs = scan.at;
        scan.space();
        if scan.peek() == b'}' {
            return Some(Self { jobs, seam: None });
        }
        skip_entry(&mut scan)?;
        let end = scan.at;
        scan.space();
        if scan.peek() == b'}' {
            return Some(Self { jobs, seam: None });
        }
        scan.take(b',')?;
        let comma = scan.at;
        scan.space();
        scan.take(b'"')?;
        let before = start.get(end - 1..scan.at)?;
        let (key, first) = (scan.plain()?.len(), scan.at - 1);
        scan.at -= key + 2;
        scan.key()?;
        scan.take(b'{')?;
        scan.space();
        scan.take(b'"')?;
        scan.plain()?;
        let behind = start.get(first..scan.at)?.to_owned();
        Some(Self {
            jobs,
            seam: Some(Seam { before: FinderRev::new(before).into_owned(), comma: comma - end + 1, behind }),
        })
    }

    /// Where such a document may be cut: behind the last comma between two jobs.
    pub(crate) fn cut(&self) -> Box<Cut<'static>> {
        let seam = self.seam.clone();
        Box::new(move |text| seam.as_ref()?.last_in(text))
    }
}

impl Seam {
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
fn skip_entry(scan: &mut Scanner<'_>) -> Option<()> {
    if scan.peek() != b'"' {
        return None;
    }
    scan.skip_value()?;
    scan.space();
    scan.take(b':')?;
    scan.space();
    scan.skip_value()
}

/// Reads the jobs of a document that has this frame; nothing if it is not of this form to its end.
pub(crate) fn read_pieces(
    pieces: Pieces<'_>,
    frame: &Frame,
    threads: usize,
    options: &ReadOptions<'_>,
) -> io::Result<Option<Result<ReadJobs, ReadError>>> {
    let mut rows = Rows::new(options, AmountSource::Server);
    let (mut is_broken, mut is_whole) = (false, false);
    let reader = || {
        let mut quick = Quick::new(options, AmountSource::Server);
        move |sheet: &mut Sheet| {
            sheet.begin(quick.columns());
            let text = std::mem::take(&mut sheet.text);
            sheet.is_broken = read_sheet(&text, frame, sheet, &mut quick).is_none();
            sheet.text = text;
            sheet.close(&mut quick);
        }
    };
    let hand_on = |sheet: &mut Sheet| {
        is_broken =
            is_broken || sheet.is_broken || !sheet.join(&mut rows, None, |rows, text, _| read_entry(text, rows));
        is_whole = sheet.is_last;
        !is_broken
    };
    relay(pieces, threads, reader, hand_on)?;
    Ok((is_whole && !is_broken).then(|| rows.finish()))
}

fn read_sheet(text: &[u8], frame: &Frame, sheet: &mut Sheet, quick: &mut Quick<'_>) -> Option<()> {
    let mut scan = Scanner::new(&text[..sheet.end + PADDING], sheet.end);
    if sheet.is_first {
        scan.at = frame.jobs;
        scan.space();
        if scan.peek() == b'}' {
            return tail(&mut scan, sheet.is_last);
        }
    }
    loop {
        scan.space();
        read_job(&mut scan, sheet, quick)?;
        scan.space();
        if scan.peek() == b'}' {
            return tail(&mut scan, sheet.is_last);
        }
        scan.take(b',')?;
        if scan.is_at_end() {
            return (!sheet.is_last).then_some(());
        }
    }
}

fn read_job(scan: &mut Scanner<'_>, sheet: &mut Sheet, quick: &mut Quick<'_>) -> Option<()> {
    let start = scan.at;
    if quick.read_entry(scan, &mut sheet.batch).is_some() {
        sheet.take_row();
        return Some(());
    }
    scan.at = start;
    skip_entry(scan)?;
    let job: Range<usize> = start..scan.at;
    sheet.leave(job, 0);
    Some(())
}

/// Passes over what stands behind the jobs, up to the end of the document.
fn tail(scan: &mut Scanner<'_>, is_last: bool) -> Option<()> {
    scan.take(b'}')?;
    scan.space();
    while scan.take(b',').is_some() {
        scan.space();
        if scan.key()? == "Jobs" {
            return None;
        }
        scan.skip_value()?;
        scan.space();
    }
    scan.take(b'}')?;
    scan.space();
    (is_last && scan.is_at_end()).then_some(())
}
