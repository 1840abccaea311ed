//! A document in chunks of whole jobs: chunks are cut, parsed in parallel, and appended to the
//! table in order.

use std::io::{self, Read};

use job_sort_formula::parallel::pipeline;
use jsf_json::decode_utf8;
use jsf_openpbs::resource_amount::AmountSource;

use crate::job_converter::JobConverter;
use crate::json_reader::JsonReader;
use crate::options::ReadOptions;

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
        Self {
            source,
            find_cut,
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
    fn next(&mut self, buffer: &mut Vec<u8>) -> io::Result<Option<usize>> {
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
                (self.find_cut)(&buffer[..filled])
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

    /// Parses the chunks in parallel with `parse`, and passes them to `append` in the order of the
    /// document until it returns `false`.
    ///
    /// # Errors
    /// The source cannot be read.
    pub(super) fn parse(
        mut self,
        options: &ReadOptions<'_>,
        amounts: AmountSource,
        parse: impl Fn(&mut Chunk<'_>, &str) + Sync,
        mut append: impl FnMut(&mut Chunk<'_>) -> bool,
    ) -> io::Result<()> {
        let mut is_first = true;
        pipeline(
            || Chunk::new(options, amounts),
            |chunk| {
                let end = self.next(&mut chunk.text)?;
                chunk.end = end.unwrap_or(0);
                chunk.is_first = std::mem::take(&mut is_first);
                chunk.is_last = self.is_over;
                Ok(end.is_some())
            },
            |chunk| {
                let text = std::mem::take(&mut chunk.text);
                chunk.converter.clear_output();
                parse(
                    chunk,
                    &decode_utf8(text.get(..chunk.end).unwrap_or_default()),
                );
                chunk.text = text;
            },
            |chunk| Ok(append(chunk)),
        )
    }
}

/// A chunk, and the jobs in it. Its buffers are used again, and what its reader knows of the keys:
/// a reader's chunks follow one another in the document.
#[derive(Debug)]
pub(super) struct Chunk<'a> {
    /// The text, then unused bytes.
    text: Vec<u8>,
    /// Where the text ends.
    end: usize,
    pub is_first: bool,
    pub is_last: bool,
    /// The number of lines, if lines are counted.
    pub lines: usize,
    /// Whether the document does not have the layout that was expected; what was parsed is then
    /// discarded.
    pub is_malformed: bool,
    pub reader: JsonReader,
    pub converter: JobConverter<'a>,
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
}
