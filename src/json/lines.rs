//! One job per line, read piece by piece on several threads.

use std::io;

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

/// Reads one job per line from `pieces`. A line that is no job is reported and skipped.
pub(super) fn read_lines(
    pieces: Pieces<'_>,
    threads: usize,
    options: &ReadOptions<'_>,
) -> io::Result<Result<ReadJobs, ReadError>> {
    let mut rows = Rows::new(options, Writer::Hand);
    let reader = || {
        let mut quick = Quick::new(options, Writer::Hand);
        move |sheet: &mut Sheet| read_sheet(sheet, &mut quick)
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
