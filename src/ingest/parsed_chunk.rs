//! A chunk of a document, and the jobs that the fast reader has parsed in it.

use std::io;
use std::ops::Range;

use crate::ingest::chunks::Pieces;
use crate::ingest::fast_reader::FastReader;
use crate::ingest::options::ReadOptions;
use crate::ingest::table_builder::TableBuilder;
use crate::jobs::Batch;
use crate::parallel::pipeline;
use crate::pbs::resource_amount::AmountSource;
use crate::schema::InputType;

/// A piece of a document: the jobs in it that were taken, and the places of the others. Its room is used again.
#[derive(Debug, Default)]
pub(crate) struct ParsedChunk {
    /// The text of the piece, with its padding and more room.
    pub text: Vec<u8>,
    /// Where the text ends.
    pub end: usize,
    pub is_first: bool,
    pub is_last: bool,
    pub batch: Batch,
    /// How many lines the piece has, where lines are counted.
    pub lines: u32,
    /// Whether the piece is not of the form that was expected; what was read of it counts for nothing.
    pub is_broken: bool,
    parts: Vec<Part>,
    undeclared: Vec<(Box<str>, InputType)>,
}

/// Some of the jobs of a piece, in the document's order.
#[derive(Debug, Clone)]
enum Part {
    /// Rows of the batch.
    Rows(Range<usize>),
    /// The text of a job that is left to the general road, and its line within the piece, from 0.
    Text(Range<usize>, u32),
}

/// Parses the chunks of a document in parallel, with `parse`, and passes them to `join` in the order of the document until
/// it returns `false`.
///
/// # Errors
/// The document cannot be read.
pub(crate) fn parse_chunks(
    mut pieces: Pieces<'_>,
    options: &ReadOptions<'_>,
    source: AmountSource,
    parse: impl Fn(&mut ParsedChunk, &mut FastReader<'_>) + Sync,
    mut join: impl FnMut(&mut ParsedChunk) -> bool,
) -> io::Result<()> {
    let mut is_first = true;
    let fill = |(chunk, _): &mut (ParsedChunk, _)| {
        let end = pieces.next(&mut chunk.text)?;
        chunk.end = end.unwrap_or(0);
        (chunk.is_first, chunk.is_last) = (is_first, pieces.is_over());
        is_first = false;
        Ok(end.is_some())
    };
    pipeline(
        || (ParsedChunk::default(), FastReader::new(options, source)),
        fill,
        |(chunk, reader)| parse(chunk, reader),
        |(chunk, _)| Ok(join(chunk)),
    )
}

impl ParsedChunk {
    /// Begins to read the piece, of jobs with so many columns.
    pub(crate) fn begin(&mut self, columns: usize) {
        self.batch.clear(columns);
        self.parts.clear();
        self.undeclared.clear();
        (self.lines, self.is_broken) = (0, false);
    }

    /// Ends the reading of the piece.
    pub(crate) fn close(&mut self, reader: &mut FastReader<'_>) {
        reader.take_undeclared(|name, kind| self.undeclared.push((name.into(), kind)));
    }

    /// Notes that the last row of the batch is the next job.
    pub(crate) fn take_row(&mut self) {
        let end = self.batch.len();
        match self.parts.last_mut() {
            Some(Part::Rows(rows)) => rows.end = end,
            _ => self.parts.push(Part::Rows(end.saturating_sub(1)..end)),
        }
    }

    /// Leaves the next job to the general road.
    pub(crate) fn leave(&mut self, text: Range<usize>, line: u32) {
        self.parts.push(Part::Text(text, line));
    }

    /// Adds the jobs to the table, in order: `general` reads those that were left, given the line of each within
    /// the piece, and says whether to go on. `line` is the line of the document that the piece begins with.
    pub(crate) fn join(
        &self,
        builder: &mut TableBuilder<'_>,
        line: Option<usize>,
        mut general: impl FnMut(&mut TableBuilder<'_>, &[u8], u32) -> bool,
    ) -> bool {
        for part in &self.parts {
            match part {
                Part::Rows(rows) => builder.append(&self.batch, rows.clone(), line),
                Part::Text(text, line) => {
                    if !general(builder, self.text.get(text.clone()).unwrap_or_default(), *line) {
                        return false;
                    }
                }
            }
        }
        self.undeclared.iter().for_each(|(name, kind)| builder.record_undeclared(name, *kind));
        true
    }
}
