//! Reads job documents from memory, files and streams: in chunks where it can, else as a whole.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use job_sort_formula::jobs::MAX_COLUMNS;
use jsf_json::{decode_utf8, strip_byte_order_mark};

use crate::chunked_reader::{Chunks, Layout};
use crate::error::{ReadError, ReadErrorKind};
use crate::file_kind::FileKind;
use crate::json_reader::{json_error, read_native_json, read_qstat_json};
use crate::options::{ParsedJobs, ReadOptions};
use crate::qstat_recovery::read_damaged_qstat_json;
use crate::qstat_text::{read_qstat_dsv, read_qstat_text};

const EXPECTED: &str = "`qstat -f -F json`, `qstat -f -F dsv`, `qstat -f`, {\"jobs\":[…]}, or one job per line as JSON";
/// How many bytes of a document are read to detect its format.
const HEAD_BYTES: usize = 256 << 10;
/// The largest document that is held in memory as a whole, in bytes.
const MAX_WHOLE: u64 = 4 << 30;
/// About how many bytes are parsed at a time.
const CHUNK: usize = 512 << 10;

/// Reads job documents.
///
/// A document with a job per line, or from `qstat -f -F json`, is read in chunks and parsed in
/// parallel on the threads of rayon's current pool, or of the crate's. Besides the table, at most
/// four chunks per thread are in memory, each of half a megabyte, or of one job if that is larger.
/// The whole document is held in memory if it has another format, if its first 256 KiB do not show
/// its format, and for `qstat -f -F json` from a stream, which cannot be read twice: a malformed
/// document is read again from its start to find the place of the error. A document that is held in
/// memory has at most 4 GiB, and a job of a document that is read in chunks at most 256 MiB.
///
/// ```no_run
/// use std::fs::File;
///
/// use jsf_ingest::{JobReader, ReadOptions};
/// use job_sort_formula::schema::Schema;
///
/// let schema = Schema::openpbs();
/// let options = ReadOptions { source_name: "jobs.ndjson", ..ReadOptions::new(&schema, &["ncpus"]) };
/// let document = JobReader::new(&options).read_file(File::open("jobs.ndjson")?)?;
/// println!("{} jobs", document.table.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct JobReader<'a> {
    options: &'a ReadOptions<'a>,
    chunk_size: usize,
}

impl<'a> JobReader<'a> {
    /// A reader with these options.
    pub fn new(options: &'a ReadOptions<'a>) -> Self {
        Self {
            options,
            chunk_size: CHUNK,
        }
    }

    /// Sets the approximate size of a chunk in bytes, at least 1.
    pub fn chunk_size(self, bytes: usize) -> Self {
        Self {
            chunk_size: bytes.max(1),
            ..self
        }
    }

    /// Reads a document in memory.
    ///
    /// # Errors
    /// See [`read_jobs`](crate::read_jobs).
    pub fn read(&self, bytes: &[u8]) -> Result<ParsedJobs, ReadError> {
        self.read_from(Source::from_bytes(bytes))
    }

    /// Reads a file from its current position.
    ///
    /// # Errors
    /// See [`read_jobs`](crate::read_jobs); also the file cannot be read.
    pub fn read_file(&self, file: File) -> Result<ParsedJobs, ReadError> {
        self.read_from(Source::from_file(file))
    }

    /// Reads a stream to its end.
    ///
    /// # Errors
    /// See [`read_jobs`](crate::read_jobs); also the stream cannot be read.
    pub fn read_stream(&self, stream: impl Read + Send) -> Result<ParsedJobs, ReadError> {
        self.read_from(Source::from_stream(Box::new(stream)))
    }

    fn read_from(&self, source: Source<'_>) -> Result<ParsedJobs, ReadError> {
        self.read_by_head(source).map_err(|kind| ReadError {
            source_name: self.options.source_name.to_owned(),
            kind,
        })
    }

    /// Reads a document in the way that its first bytes suggest: in chunks, or as a whole.
    fn read_by_head(&self, mut source: Source<'_>) -> Result<ParsedJobs, ReadErrorKind> {
        let names = self.options.needed.len();
        if names > MAX_COLUMNS {
            return Err(ReadErrorKind::Other(format!(
                "is not read: the formula and the order of the jobs need {names} names, more than the {MAX_COLUMNS} that a table can have"
            )));
        }
        let mut head = Vec::new();
        source
            .by_ref()
            .take(HEAD_BYTES as u64)
            .read_to_end(&mut head)?;
        let is_complete = head.len() < HEAD_BYTES;
        head.drain(..head.len() - strip_byte_order_mark(&head).len());
        let kind = FileKind::of_jobs(&decode_utf8(&head));
        match kind {
            FileKind::JobLines => {
                source.discard_copy();
                return self.read_lines(head, Box::new(source));
            }
            FileKind::QstatJson if !self.options.cycle_jobs => {
                if let Some(layout) = Layout::of_qstat(&head) {
                    let chunks = Chunks::new(head, Box::new(&mut source), self.chunk_size);
                    if let Some(read) = chunks.read_jobs(&layout, self.options)? {
                        return Ok(read);
                    }
                }
            }
            FileKind::Binary | FileKind::Archive | FileKind::Usage if !is_complete => {
                return Err(unrecognised(kind, &head));
            }
            _ => {}
        }
        let bytes = source.read_all()?;
        let text = decode_utf8(strip_byte_order_mark(&bytes));
        let is_decided = is_complete || FileKind::JOBS.contains(&kind);
        self.read_whole(
            &text,
            if is_decided {
                kind
            } else {
                FileKind::of_jobs(&text)
            },
        )
    }

    fn read_lines<'s>(
        &self,
        start: Vec<u8>,
        rest: Box<dyn Read + Send + 's>,
    ) -> Result<ParsedJobs, ReadErrorKind> {
        let chunks = Chunks::new(start, rest, self.chunk_size);
        let read = chunks.read_jobs(&Layout::Lines, self.options)?;
        Ok(read.unwrap_or_default())
    }

    fn read_whole(&self, text: &str, kind: FileKind) -> Result<ParsedJobs, ReadErrorKind> {
        match kind {
            FileKind::QstatJson => match read_qstat_json(text, self.options) {
                Err(error @ ReadErrorKind::Json { .. }) if !self.options.strict => {
                    read_damaged_qstat_json(text, &error, self.options)
                }
                result => result,
            },
            FileKind::QstatText => read_qstat_text(text, self.options),
            FileKind::QstatDsv => read_qstat_dsv(text, self.options),
            FileKind::NativeJobs => read_native_json(text, self.options),
            FileKind::JobLines => self.read_lines(text.into(), Box::new(io::empty())),
            _ => Err(match json_error(text) {
                Some(error) if text.trim_start().starts_with('{') => {
                    ReadErrorKind::json(text, &error, 0)
                }
                _ => unrecognised(kind, text.as_bytes()),
            }),
        }
    }
}

/// The error for a document that has no jobs.
fn unrecognised(kind: FileKind, head: &[u8]) -> ReadErrorKind {
    let advice = match kind {
        FileKind::Empty => "; check whether the command that wrote it failed",
        _ => "",
    };
    let found = kind.found(head);
    ReadErrorKind::Other(format!("{found}, expected {EXPECTED}{advice}"))
}

/// A document that is read once, or twice.
enum Source<'s> {
    /// The whole document, and the part of it that is still to be read.
    Bytes(&'s [u8], &'s [u8]),
    /// A file, and the position at which the document begins.
    File(File, u64),
    /// A stream, and a copy of what was read of it, unless it was discarded.
    Stream(Box<dyn Read + Send + 's>, Option<Vec<u8>>),
}

impl<'s> Source<'s> {
    fn from_bytes(bytes: &'s [u8]) -> Self {
        Self::Bytes(bytes, bytes)
    }

    /// A file that can be read twice; a pipe or a device is a stream.
    fn from_file(mut file: File) -> Self {
        let is_regular = file.metadata().is_ok_and(|metadata| metadata.is_file());
        match file.stream_position() {
            Ok(start) if is_regular => Self::File(file, start),
            _ => Self::from_stream(Box::new(file)),
        }
    }

    fn from_stream(stream: Box<dyn Read + Send + 's>) -> Self {
        Self::Stream(stream, Some(Vec::new()))
    }

    /// Discards what was read: the document will not be read twice.
    fn discard_copy(&mut self) {
        if let Self::Stream(_, copy) = self {
            *copy = None;
        }
    }

    /// Reads the document from its start to its end.
    fn read_all(&mut self) -> io::Result<Cow<'s, [u8]>> {
        let mut bytes = Vec::new();
        match self {
            Self::Bytes(bytes, _) => return Ok(Cow::Borrowed(bytes)),
            Self::File(file, start) => {
                file.seek(SeekFrom::Start(*start))?;
                file.take(MAX_WHOLE + 1).read_to_end(&mut bytes)?;
            }
            Self::Stream(stream, copy) => {
                bytes = copy.take().unwrap_or_default();
                stream.take(MAX_WHOLE + 1).read_to_end(&mut bytes)?;
            }
        }
        if bytes.len() as u64 > MAX_WHOLE {
            let message = format!(
                "it has more than {MAX_WHOLE} bytes, the most of a document that is not read in parts"
            );
            return Err(io::Error::other(message));
        }
        Ok(Cow::Owned(bytes))
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Bytes(_, rest) => rest.read(buffer),
            Self::File(file, _) => file.read(buffer),
            Self::Stream(stream, copy) => {
                let read = stream.read(buffer)?;
                if let Some(copy) = copy {
                    copy.try_reserve(read)
                        .map_err(|_| io::ErrorKind::OutOfMemory)?;
                    copy.extend_from_slice(buffer.get(..read).unwrap_or_default());
                }
                Ok(read)
            }
        }
    }
}
