//! One job per line, read chunk by chunk in parallel.

use std::io;

use crate::ingest::chunks::Pieces;
use crate::ingest::error::ReadErrorKind;
use crate::ingest::fast_reader::FastReader;
use crate::ingest::json_scanner::{PADDING, Scanner};
use crate::ingest::options::{ParsedJobs, ReadOptions};
use crate::ingest::parsed_chunk::{ParsedChunk, parse_chunks};
use crate::ingest::reference_reader::read_line;
use crate::ingest::table_builder::TableBuilder;
use crate::json_visitor::decode_utf8;
use crate::pbs::resource_amount::AmountSource;

/// Reads one job per line from `pieces`. A line that is no job is reported and skipped.
pub(super) fn read_lines(
    pieces: Pieces<'_>,
    options: &ReadOptions<'_>,
) -> io::Result<Result<ParsedJobs, ReadErrorKind>> {
    let mut builder = TableBuilder::new(options, AmountSource::User);
    let mut line = 1;
    let join = |chunk: &mut ParsedChunk| {
        chunk.join(&mut builder, Some(line), |builder, text, at| {
            read_line(&decode_utf8(text), Some(line + at as usize), builder);
            true
        });
        line += chunk.lines as usize;
        !builder.is_full()
    };
    parse_chunks(pieces, options, AmountSource::User, parse_chunk, join)?;
    Ok(builder.finish())
}

/// Where a document of lines may be cut: behind the last end of a line.
pub(super) fn cut(text: &[u8]) -> Option<usize> {
    memchr::memrchr(b'\n', text).map(|end| end + 1)
}

fn parse_chunk(chunk: &mut ParsedChunk, reader: &mut FastReader<'_>) {
    chunk.begin(reader.column_count());
    let text = std::mem::take(&mut chunk.text);
    let end = chunk.end;
    let mut scanner = Scanner::of_lines(&text[..end + PADDING], end);
    while scanner.at < end {
        let start = scanner.at;
        scanner.space();
        if !scanner.is_at_end() {
            if reader.read_line(&mut scanner, &mut chunk.batch, chunk.lines).is_some() {
                chunk.take_row();
            } else {
                scanner.at = memchr::memchr(b'\n', &text[start..end]).map_or(end, |length| start + length);
                chunk.leave(start..scanner.at, chunk.lines);
            }
        }
        scanner.at += 1;
        chunk.lines += 1;
    }
    chunk.text = text;
    chunk.close(reader);
}
