//! A document in chunks of whole jobs: chunks are cut, parsed in parallel, and appended to the table in order.

use std::io::{self, Read};
use std::ops::Range;

use job_sort_formula::jobs::Batch;
use job_sort_formula::parallel::pipeline;
use job_sort_formula::schema::InputType;
use jsf_openpbs::resource_amount::AmountSource;

use crate::fast_reader::FastReader;
use crate::options::ReadOptions;
use crate::table_builder::TableBuilder;

/// The largest chunk, in bytes, and so the largest job of a document that is read in chunks.
const MAX_CHUNK: usize = 256 << 20;

/// Finds the last position in the given bytes at which the document may be cut between two jobs.
pub(super) type FindCut<'c> = dyn Fn(&[u8]) -> Option<usize> + Send + Sync + 'c;

/// Cuts a document into chunks.
pub(super) struct Chunks<'s> {
    source: Box<dyn Read + Send + 's>,
    find_cut: Box<FindCut<'s>>,
    /// What was read and belongs to the next chunk.
    rest: Vec<u8>,
    /// About how many bytes a chunk has.
    size: usize,
    is_over: bool,
}

impl<'s> Chunks<'s> {
    /// The chunks of a document whose `start` was read already.
    pub(super) fn new(
        start: Vec<u8>,
        source: Box<dyn Read + Send + 's>,
        size: usize,
        find_cut: Box<FindCut<'s>>,
    ) -> Self {
        Self { source, find_cut, rest: start, size: size.max(1), is_over: false }
    }

    /// Writes the next chunk to the start of `buffer`, and returns its length; `None` at the end. The
    /// buffer grows as necessary and is never cleared.
    ///
    /// # Errors
    /// The source cannot be read.
    fn next(&mut self, buffer: &mut Vec<u8>) -> io::Result<Option<usize>> {
        if self.is_over {
            return Ok(None);
        }
        let mut capacity = self.size;
        let mut filled = 0;
        loop {
            if let Some(more) = capacity.checked_sub(buffer.len()) {
                buffer.try_reserve(more).map_err(|_| io::ErrorKind::OutOfMemory)?;
                buffer.resize(capacity, 0);
            }
            filled += self.read(&mut buffer[filled..capacity])?;
            let end = if self.is_over { Some(filled) } else { (self.find_cut)(&buffer[..filled]) };
            if let Some(end) = end {
                self.rest.splice(..0, buffer[end..filled].iter().copied());
                return Ok((end > 0).then_some(end));
            }
            if capacity >= MAX_CHUNK {
                return Err(io::Error::other(format!("it has {MAX_CHUNK} bytes without the end of a job")));
            }
            capacity = capacity.saturating_mul(2).min(MAX_CHUNK);
        }
    }

    /// Fills the buffer with what was read already and then from the source, unless that ends before.
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

    /// Parses the chunks in parallel with `parse`, and passes them to `append` in the order of the document until it
    /// returns `false`.
    ///
    /// # Errors
    /// The source cannot be read.
    pub(super) fn parse(
        mut self,
        options: &ReadOptions<'_>,
        amounts: AmountSource,
        parse: impl Fn(&mut ParsedChunk, &mut FastReader<'_>) + Sync,
        mut append: impl FnMut(&ParsedChunk) -> bool,
    ) -> io::Result<()> {
        let mut is_first = true;
        pipeline(
            || (ParsedChunk::default(), FastReader::new(options, amounts)),
            |(chunk, _)| {
                let end = self.next(&mut chunk.text)?;
                chunk.end = end.unwrap_or(0);
                chunk.is_first = std::mem::take(&mut is_first);
                chunk.is_last = self.is_over;
                Ok(end.is_some())
            },
            |(chunk, reader)| {
                chunk.clear(reader.column_count());
                parse(chunk, reader);
                reader.take_undeclared(|name, kind| chunk.undeclared.push((name.into(), kind)));
            },
            |(chunk, _)| Ok(append(chunk)),
        )
    }
}

/// A chunk, the jobs in it that the fast reader has parsed, and the places of the others. Its buffers are used again.
#[derive(Debug, Default)]
pub(super) struct ParsedChunk {
    /// The text, then unused bytes.
    pub text: Vec<u8>,
    /// Where the text ends.
    pub end: usize,
    pub is_first: bool,
    pub is_last: bool,
    pub batch: Batch,
    /// The number of lines, if lines are counted.
    pub lines: u32,
    /// Whether the document does not have the layout that was expected; what was parsed is then discarded.
    pub is_malformed: bool,
    parts: Vec<Part>,
    undeclared: Vec<(Box<str>, InputType)>,
}

/// Some jobs of a chunk, in the order of the document.
#[derive(Debug, Clone)]
enum Part {
    /// Rows of the batch.
    Rows(Range<usize>),
    /// The text of a job that the reference reader is to parse, and its line within the chunk, from 0.
    Text(Range<usize>, u32),
}

impl ParsedChunk {
    fn clear(&mut self, columns: usize) {
        self.batch.clear(columns);
        self.parts.clear();
        self.undeclared.clear();
        self.lines = 0;
        self.is_malformed = false;
    }

    /// Adds the last row of the batch as the next job.
    pub(super) fn push_row(&mut self) {
        let end = self.batch.rows();
        match self.parts.last_mut() {
            Some(Part::Rows(rows)) => rows.end = end,
            _ => self.parts.push(Part::Rows(end.saturating_sub(1)..end)),
        }
    }

    /// Leaves the next job to the reference reader.
    pub(super) fn push_text(&mut self, text: Range<usize>, line: u32) {
        self.parts.push(Part::Text(text, line));
    }

    /// Appends the jobs to the table in order. `read` is the reference reader: it gets the text of a job and its line
    /// within the chunk, and returns whether to continue. `line` is the line of the document on which the chunk begins,
    /// if lines are counted. Returns `false` if `read` did.
    pub(super) fn append_to(
        &self,
        builder: &mut TableBuilder<'_>,
        line: Option<usize>,
        read: impl Fn(&mut TableBuilder<'_>, &[u8], u32) -> bool,
    ) -> bool {
        for part in &self.parts {
            match part {
                Part::Rows(rows) => builder.append(&self.batch, rows.clone(), line),
                Part::Text(text, line) => {
                    if !read(builder, self.text.get(text.clone()).unwrap_or_default(), *line) {
                        return false;
                    }
                }
            }
        }
        self.undeclared.iter().for_each(|(name, kind)| builder.record_undeclared(name, *kind));
        true
    }
}
