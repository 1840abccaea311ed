//! Where a document comes from, and how it is read a second time.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// A document that is read once, or twice.
pub(super) enum Source<'s> {
    /// One in memory, and what is left of it.
    Bytes(&'s [u8], &'s [u8]),
    /// A file, and where it began.
    File(File, u64),
    /// A stream, and what was read of it, if that is kept.
    Stream(Box<dyn Read + Send + 's>, Option<Vec<u8>>),
}

impl<'s> Source<'s> {
    pub(super) fn bytes(bytes: &'s [u8]) -> Self {
        Self::Bytes(bytes, bytes)
    }

    /// A file if it is one that has a place to go back to, else a stream.
    pub(super) fn file(mut file: File) -> Self {
        let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
        match file.stream_position() {
            Ok(start) if is_file => Self::File(file, start),
            _ => Self::stream(Box::new(file)),
        }
    }

    pub(super) fn stream(stream: Box<dyn Read + Send + 's>) -> Self {
        Self::Stream(stream, Some(Vec::new()))
    }

    /// Nobody will ask for the document as a whole.
    pub(super) fn forget(&mut self) {
        if let Self::Stream(_, kept) = self {
            *kept = None;
        }
    }

    /// The document from its start to its end.
    pub(super) fn whole(&mut self) -> io::Result<Cow<'s, [u8]>> {
        let mut whole = Vec::new();
        match self {
            Self::Bytes(bytes, _) => return Ok(Cow::Borrowed(bytes)),
            Self::File(file, start) => {
                file.seek(SeekFrom::Start(*start))?;
                file.read_to_end(&mut whole)?;
            }
            Self::Stream(stream, kept) => {
                whole = kept.take().unwrap_or_default();
                stream.read_to_end(&mut whole)?;
            }
        }
        Ok(Cow::Owned(whole))
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Bytes(_, rest) => rest.read(buffer),
            Self::File(file, _) => file.read(buffer),
            Self::Stream(stream, kept) => {
                let read = stream.read(buffer)?;
                if let Some(kept) = kept {
                    kept.extend_from_slice(buffer.get(..read).unwrap_or_default());
                }
                Ok(read)
            }
        }
    }
}
