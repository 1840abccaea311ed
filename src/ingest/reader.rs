//! Reads job documents from memory, files and streams: by the fast reader where it can, else by the reference reader.

use std::fs::File;
use std::io::{self, Read};

use crate::ingest::chunks::Pieces;
use crate::ingest::error::{ReadError, ReadErrorKind};
use crate::ingest::format::DocumentFormat;
use crate::ingest::ndjson;
use crate::ingest::options::{ParsedJobs, ReadOptions};
use crate::ingest::qstat_chunked::{DocumentLayout, read_chunks};
use crate::ingest::qstat_text::read_qstat_text;
use crate::ingest::reference_reader::{read_native_json, read_ndjson, read_qstat_json};
use crate::ingest::source::Source;
use crate::json_visitor::{decode_utf8, strip_byte_order_mark};

/// How many bytes of a document are read to detect its format.
const HEAD: usize = 256 << 10;
/// About how many bytes are parsed at a time.
const CHUNK: usize = 512 << 10;

/// Reads job documents.
///
/// A document of one job per line, or of `qstat -f -F json`, is read chunk by chunk and parsed in parallel on
/// the threads of rayon's current pool. Besides the table, at most eight chunks per processor are in memory, each of half
/// a megabyte, or of one job if that is larger. Any other document is held in memory until its end, and so is
/// `qstat -f -F json` if it comes from a stream that cannot be read twice, because where it is broken it is read
/// again from its start to say where.
///
/// ```no_run
/// use std::fs::File;
///
/// use job_sort_formula::ingest::{JobReader, ReadOptions};
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
    is_fast: bool,
}

impl<'a> JobReader<'a> {
    /// A reader that does what the options say.
    pub fn new(options: &'a ReadOptions<'a>) -> Self {
        Self { options, chunk_size: CHUNK, is_fast: true }
    }

    /// Reads chunks of about so many bytes, at least one.
    pub fn chunk_size(self, bytes: usize) -> Self {
        Self { chunk_size: bytes.max(1), ..self }
    }

    /// Uses only the reference reader, which holds the document in memory. Tests compare the fast reader with it.
    pub fn reference(self) -> Self {
        Self { is_fast: false, ..self }
    }

    /// Reads a document in memory.
    ///
    /// # Errors
    /// See [`read_jobs`](crate::ingest::read_jobs).
    pub fn read(&self, bytes: &[u8]) -> Result<ParsedJobs, ReadError> {
        self.read_from(Source::bytes(bytes))
    }

    /// Reads a file from where it stands.
    ///
    /// # Errors
    /// See [`read_jobs`](crate::ingest::read_jobs); also the file cannot be read.
    pub fn read_file(&self, file: File) -> Result<ParsedJobs, ReadError> {
        self.read_from(Source::file(file))
    }

    /// Reads a stream to its end.
    ///
    /// # Errors
    /// See [`read_jobs`](crate::ingest::read_jobs); also the stream cannot be read.
    pub fn read_stream(&self, stream: impl Read + Send) -> Result<ParsedJobs, ReadError> {
        self.read_from(Source::stream(Box::new(stream)))
    }

    fn read_from(&self, source: Source<'_>) -> Result<ParsedJobs, ReadError> {
        let read =
            self.try_to_read(source).unwrap_or_else(|error| Err(ReadErrorKind::Io { reason: error.to_string() }));
        read.map_err(|kind| ReadError { source_name: self.options.source_name.to_owned(), kind })
    }

    fn try_to_read(&self, mut source: Source<'_>) -> io::Result<Result<ParsedJobs, ReadErrorKind>> {
        let mut head = Vec::new();
        if self.is_fast {
            source.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
        }
        let is_whole = head.len() < HEAD;
        let format = if self.is_fast {
            DocumentFormat::detect_by_head(&decode_utf8(strip_byte_order_mark(&head)), is_whole)
        } else {
            None
        };
        head.drain(..head.len() - strip_byte_order_mark(&head).len());
        if format == Some(DocumentFormat::Ndjson) {
            source.forget();
            let pieces = Pieces::new(head, Box::new(source), self.chunk_size, Box::new(ndjson::cut));
            return ndjson::read_lines(pieces, self.options);
        }
        if format == Some(DocumentFormat::QstatJson)
            && let Some(layout) = DocumentLayout::detect(&head)
        {
            let pieces = Pieces::new(head, Box::new(&mut source), self.chunk_size, layout.cut());
            if let Some(read) = read_chunks(pieces, &layout, self.options)? {
                return Ok(read);
            }
        }
        Ok(read_whole(&source.whole()?, self.options))
    }
}

/// Reads a whole document by the reference reader.
fn read_whole(bytes: &[u8], options: &ReadOptions<'_>) -> Result<ParsedJobs, ReadErrorKind> {
    let text = decode_utf8(strip_byte_order_mark(bytes));
    match DocumentFormat::detect(&text)? {
        DocumentFormat::QstatJson => read_qstat_json(&text, options),
        DocumentFormat::QstatText => read_qstat_text(&text, options),
        DocumentFormat::NativeJson => read_native_json(&text, options),
        DocumentFormat::Ndjson => read_ndjson(&text, options),
    }
}
