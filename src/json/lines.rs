//! One job per line, read piece by piece on several threads.

use std::io;
use std::sync::{Mutex, PoisonError};

use super::jobs::read_job;
use super::text_of;
use crate::jobs::ReadError;
use crate::pbs::numbers::Writer;
use crate::pbs::pieces::Pieces;
use crate::pbs::quick::Quick;
use crate::pbs::reading::{ReadJobs, ReadOptions};
use crate::pbs::relay::relay;
use crate::pbs::rows::Rows;
use crate::pbs::scan::{PADDING, Scanner};
use crate::pbs::sheet::Sheet;

/// The most unknown keys that the quick road learns to pass over.
const MOST_UNKNOWN: usize = 256;

/// Reads one job per line from `pieces`. A line that is no job is reported and skipped.
pub(super) fn read_lines(
    pieces: Pieces<'_>,
    threads: usize,
    options: &ReadOptions<'_>,
) -> io::Result<Result<ReadJobs, ReadError>> {
    let mut rows = Rows::new(options, Writer::Hand);
    // The unknown keys that were reported, in the order of their first job.
    let unknown = Mutex::new(Vec::<String>::new());
    let known = || unknown.lock().unwrap_or_else(PoisonError::into_inner);
    let reader = || {
        let (mut quick, mut passed_over) = (Quick::new(options, Writer::Hand), 0);
        move |sheet: &mut Sheet| {
            for key in known().iter().skip(passed_over) {
                quick.pass_over(key);
                passed_over += 1;
            }
            read_sheet(sheet, &mut quick);
        }
    };
    let mut line = 1;
    let hand_on = |sheet: &mut Sheet| {
        sheet.join(&mut rows, Some(line), |rows, text, at| {
            let text = text_of(text);
            if !text.trim().is_empty() {
                read_job(text.trim(), Some(line + at as usize), rows, options.schema);
            }
            true
        });
        if rows.reported_keys().len() > known().len() && known().len() < MOST_UNKNOWN {
            let mut known = known();
            let new: Vec<_> = rows.reported_keys().iter().filter(|key| !known.contains(key)).cloned().collect();
            known.extend(new);
        }
        line += sheet.lines as usize;
        !rows.is_full()
    };
    relay(pieces, threads, reader, hand_on)?;
    Ok(rows.finish())
}

/// Where a document of lines may be cut: behind the last end of a line.
pub(super) fn cut(text: &[u8]) -> Option<usize> {
    memchr::memrchr(b'\n', text).map(|end| end + 1)
}

fn read_sheet(sheet: &mut Sheet, quick: &mut Quick<'_>) {
    sheet.begin(quick.columns());
    let text = std::mem::take(&mut sheet.text);
    let end = sheet.end;
    let mut scan = Scanner::of_lines(&text[..end + PADDING], end);
    while scan.at < end {
        let start = scan.at;
        scan.space();
        if !scan.is_at_end() {
            if quick.read_line(&mut scan, &mut sheet.batch, sheet.lines).is_some() {
                sheet.take_row();
            } else {
                scan.at = memchr::memchr(b'\n', &text[start..end]).map_or(end, |length| start + length);
                sheet.leave(start..scan.at, sheet.lines);
            }
        }
        scan.at += 1;
        sheet.lines += 1;
    }
    sheet.text = text;
    sheet.close(quick);
}
