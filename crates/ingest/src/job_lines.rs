//! Reads native JSON with a job per line (NDJSON): chunks of whole lines are parsed in parallel, and
//! appended to the table in order.

use std::io::{self, Read};

use job_sort_formula::parallel;
use jsf_json::decode_utf8;
use jsf_openpbs::AmountSource;

use crate::attributes::ParsedJob;
use crate::json_reader::JsonReader;
use crate::table_builder::{ConvertedJobs, ParsedJobs, TableBuilder};
use crate::{ReadErrorKind, ReadOptions};

/// The largest document, in bytes.
const MAX_BYTES: u64 = 64 << 30;

/// How many chunks are parsed in parallel and then appended: enough for the threads of a machine, few
/// enough for its memory.
const CHUNKS_AT_ONCE: usize = 16;

/// The largest chunk, in bytes, and so the longest line.
const MAX_CHUNK: u64 = 256 << 20;

/// Reads a document with a job per line.
///
/// # Errors
/// The source cannot be read, or there are too many jobs.
pub fn read_job_lines(
    source: Box<dyn Read + Send + '_>,
    options: &ReadOptions<'_>,
) -> Result<ParsedJobs, ReadErrorKind> {
    let mut lines = Lines {
        source,
        left: MAX_BYTES,
        begun: Vec::new(),
    };
    let mut builder = TableBuilder::new(options);
    let mut line = 1;
    // used again for each group: fresh memory would take a twentieth of the time of a million jobs
    let mut chunks: Vec<Chunk<'_>> = Vec::new();
    'document: loop {
        let filled = lines.fill(&mut chunks, options)?;
        if filled == 0 {
            break;
        }
        parallel::map(chunks[..filled].iter_mut().collect(), Chunk::parse);
        for chunk in &mut chunks[..filled] {
            builder.append(&mut chunk.reader.converter.output, line);
            line += chunk.lines;
            if builder.is_full() {
                break 'document;
            }
        }
    }
    builder.finish(ConvertedJobs::default())
}

/// A document that is cut after lines.
struct Lines<'s> {
    source: Box<dyn Read + Send + 's>,
    /// How many bytes it may still have.
    left: u64,
    /// The start of a line, which belongs to the next chunk.
    begun: Vec<u8>,
}

impl Lines<'_> {
    /// Fills chunks with whole lines. Returns how many; 0 at the end.
    fn fill<'o>(
        &mut self,
        chunks: &mut Vec<Chunk<'o>>,
        options: &'o ReadOptions<'o>,
    ) -> io::Result<usize> {
        let size = options.chunk_size.max(1);
        let mut filled = 0;
        let mut bytes = 0;
        // a chunk with a long line counts for several
        while bytes < CHUNKS_AT_ONCE * size {
            if filled == chunks.len() {
                chunks.push(Chunk::new(options));
            }
            let text = &mut chunks[filled].text;
            if !self.fill_chunk(text, size)? {
                break;
            }
            bytes += text.len();
            filled += 1;
        }
        Ok(filled)
    }

    /// Fills a chunk with about so many bytes of whole lines. Returns `false` at the end.
    fn fill_chunk(&mut self, text: &mut Vec<u8>, size: usize) -> io::Result<bool> {
        text.clear();
        text.append(&mut self.begun);
        let mut size = size.max(1) as u64;
        loop {
            let wanted = size.saturating_sub(text.len() as u64);
            let read = self.source.by_ref().take(wanted).read_to_end(text)? as u64;
            let Some(left) = self.left.checked_sub(read) else {
                let message = format!("it is larger than {MAX_BYTES} bytes, the limit for jobs");
                return Err(io::Error::other(message));
            };
            self.left = left;
            if read < wanted {
                return Ok(!text.is_empty());
            }
            if let Some(end) = memchr::memrchr(b'\n', text) {
                self.begun.extend_from_slice(&text[end + 1..]);
                text.truncate(end + 1);
                return Ok(true);
            }
            if size >= MAX_CHUNK {
                let message = format!("it has {MAX_CHUNK} bytes without the end of a job");
                return Err(io::Error::other(message));
            }
            size = (2 * size).min(MAX_CHUNK);
        }
    }
}

/// Some lines of a document, and the jobs in them.
struct Chunk<'a> {
    text: Vec<u8>,
    lines: usize,
    reader: JsonReader<'a>,
}

impl<'a> Chunk<'a> {
    fn new(options: &'a ReadOptions<'a>) -> Self {
        Self {
            text: Vec::new(),
            lines: 0,
            reader: JsonReader::new(options, AmountSource::User),
        }
    }

    fn parse(&mut self) {
        self.reader.converter.clear_output();
        self.lines = 0;
        let mut job = ParsedJob::default();
        let text = decode_utf8(&self.text);
        let mut rest = &*text;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len());
            let line = rest[..end].trim();
            if !line.is_empty() {
                self.reader.read_line(line, Some(self.lines), &mut job);
            }
            self.lines += 1;
            rest = rest.get(end + 1..).unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_beyond_its_limit_is_an_error() {
        let read = [5, 4].map(|left| {
            let mut lines = Lines {
                source: Box::new(&b"12\n45"[..]),
                left,
                begun: Vec::new(),
            };
            let mut text = Vec::new();
            let is_read = lines.fill_chunk(&mut text, 100);
            (is_read.ok(), text.len())
        });
        assert_eq!(read, [(Some(true), 5), (None, 5)]);
    }
}
