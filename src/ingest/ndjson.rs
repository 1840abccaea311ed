//! One job per line, read piece by piece on several threads.

use std::io;

use crate::ingest::chunks::Pieces;
use crate::ingest::fast_reader::Quick;
use crate::ingest::json_scanner::{PADDING, Scanner};
use crate::ingest::native_json::read_job;
use crate::ingest::options::{ReadJobs, ReadOptions};
use crate::ingest::ordered_pipeline::relay;
use crate::ingest::parsed_chunk::Sheet;
use crate::ingest::table_builder::Rows;
use crate::jobs::ReadError;
use crate::json_visitor::text_of;
use crate::pbs::resource_amount::AmountSource;

/// Reads one job per line from `pieces`. A line that is no job is reported and skipped.
pub(super) fn read_lines(
    pieces: Pieces<'_>,
    threads: usize,
    options: &ReadOptions<'_>,
) -> io::Result<Result<ReadJobs, ReadError>> {
    let mut rows = Rows::new(options, AmountSource::User);
    let reader = || {
        let mut quick = Quick::new(options, AmountSource::User);
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
