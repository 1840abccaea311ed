//! A document piece by piece, each piece with whole jobs in it.

use std::io::{self, Read};

use super::scan::PADDING;

/// Where a document may be cut: the last place in these bytes behind which a new job begins, if there is one.
pub(crate) type Cut<'c> = dyn Fn(&[u8]) -> Option<usize> + Send + Sync + 'c;

/// Hands out the pieces of a document, one after the other.
pub(crate) struct Pieces<'s> {
    source: Box<dyn Read + Send + 's>,
    cut: Box<Cut<'s>>,
    /// What was read and belongs to the next piece.
    rest: Vec<u8>,
    /// About how many bytes a piece has.
    size: usize,
    is_over: bool,
}

impl<'s> Pieces<'s> {
    /// The pieces of a document of which `start` was read already.
    pub(crate) fn new(start: Vec<u8>, source: Box<dyn Read + Send + 's>, size: usize, cut: Box<Cut<'s>>) -> Self {
        Self { source, cut, rest: start, size: size.max(1), is_over: false }
    }

    /// Fills `piece` with the next piece and its padding; says whether there was one.
    ///
    /// # Errors
    /// The source cannot be read.
    pub(crate) fn next(&mut self, piece: &mut Vec<u8>) -> io::Result<bool> {
        piece.clear();
        if self.is_over {
            return Ok(false);
        }
        piece.append(&mut self.rest);
        let mut most = self.size;
        loop {
            let missing = most.saturating_sub(piece.len());
            piece.reserve(missing + PADDING);
            let read = self.source.by_ref().take(missing as u64).read_to_end(piece)?;
            self.is_over = read < missing;
            let end = if self.is_over { Some(piece.len()) } else { (self.cut)(piece) };
            if let Some(end) = end {
                self.rest.extend_from_slice(&piece[end..]);
                piece.truncate(end);
                piece.resize(end + PADDING, 0);
                return Ok(end > 0);
            }
            most = piece.len().saturating_mul(2);
        }
    }

    /// Whether the last piece was the last one.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }
}
