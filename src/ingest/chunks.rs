//! A document piece by piece, each piece with whole jobs in it.

use std::io::{self, Read};

use crate::ingest::json_scanner::PADDING;

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

    /// Puts the next piece at the start of `room`, with its padding behind it, and gives its length. The room grows as
    /// it has to and is never cleared.
    ///
    /// # Errors
    /// The source cannot be read.
    pub(crate) fn next(&mut self, room: &mut Vec<u8>) -> io::Result<Option<usize>> {
        if self.is_over {
            return Ok(None);
        }
        let (mut most, mut filled) = (self.size, 0);
        loop {
            make_room(room, most);
            filled += self.read(&mut room[filled..most])?;
            let end = if self.is_over { Some(filled) } else { (self.cut)(&room[..filled]) };
            if let Some(end) = end {
                self.rest.splice(..0, room[end..filled].iter().copied());
                room[end..end + PADDING].fill(0);
                return Ok((end > 0).then_some(end));
            }
            most = most.saturating_mul(2);
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

    /// Whether the last piece was the last one.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }
}

fn make_room(room: &mut Vec<u8>, most: usize) {
    if room.len() < most + PADDING {
        room.resize(most + PADDING, 0);
    }
}
