//! Documents of jobs from anywhere, by the quick road where it goes and by the general one where it does not.

use std::fs::File;
use std::io::{self, Read};
use std::thread::available_parallelism;

use crate::ingest::chunks::Pieces;
use crate::ingest::format::Format;
use crate::ingest::options::{ReadJobs, ReadOptions};
use crate::ingest::qstat_chunked::{Frame, read_pieces};
use crate::ingest::qstat_json::read_qstat_json;
use crate::ingest::qstat_text::read_qstat_text;
use crate::ingest::source::Source;
use crate::ingest::{native_json as jobs, ndjson as lines};
use crate::jobs::ReadError;
use crate::json_visitor::{text_of, without_mark};

/// How much of a document is looked at to tell its format.
const HEAD: usize = 256 << 10;
/// About how much of a document a thread reads at a time.
const PIECE: usize = 512 << 10;
/// More threads than that find nothing to do: what they read is put together one after the other.
const MOST_THREADS: usize = 8;

/// Reads documents of jobs.
///
/// A document of one job per line, or of `qstat -f -F json`, is read piece by piece, on as many threads as the
/// machine runs at once, at most 8: what is in memory at a time is a few pieces of half a megabyte, or of one job if
/// that is larger, besides the table. Any other document is held in memory until its end, and so is
/// `qstat -f -F json` if it comes from a stream that cannot be read twice, because where it is broken it is read
/// again from its start to say where.
///
/// ```no_run
/// use std::fs::File;
///
/// use job_sort_formula::ingest::JobReader;
/// use job_sort_formula::ingest::options::ReadOptions;
/// use job_sort_formula::pbs::{entity::FairshareEntity, files::queues::Queues, resource_amount::Numbers};
/// use job_sort_formula::schema::Schema;
///
/// let (schema, queues) = (Schema::openpbs(), Queues::none());
/// let options = ReadOptions {
///     source_name: "jobs.ndjson",
///     needed: &["ncpus"],
///     schema: &schema,
///     numbers: Numbers::OpenPbs,
///     entity: FairshareEntity::User,
///     queues: &queues,
/// };
/// let read = JobReader::new(&options).read_file(File::open("jobs.ndjson")?)?;
/// println!("{} jobs", read.table.len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct JobReader<'a> {
    options: &'a ReadOptions<'a>,
    threads: Option<usize>,
    piece: usize,
    is_quick: bool,
}

impl<'a> JobReader<'a> {
    /// A reader that does what the options say.
    pub fn new(options: &'a ReadOptions<'a>) -> Self {
        Self { options, threads: None, piece: PIECE, is_quick: true }
    }

    /// With so many threads, at least one, instead of as many as the machine and the document are good for.
    pub fn threads(self, threads: usize) -> Self {
        Self { threads: Some(threads.max(1)), ..self }
    }

    /// With pieces of about so many bytes, at least one.
    pub fn piece(self, bytes: usize) -> Self {
        Self { piece: bytes.max(1), ..self }
    }

    /// By the general road alone, which holds the document in memory: the judge of the quick one.
    pub fn general(self) -> Self {
        Self { is_quick: false, ..self }
    }

    /// Reads a document in memory.
    ///
    /// # Errors
    /// See [`read_jobs`](crate::ingest::read_jobs).
    pub fn read(&self, bytes: &[u8]) -> Result<ReadJobs, ReadError> {
        self.read_from(Source::bytes(bytes))
    }

    /// Reads a file from where it stands.
    ///
    /// # Errors
    /// See [`read_jobs`](crate::ingest::read_jobs); also the file cannot be read.
    pub fn read_file(&self, file: File) -> Result<ReadJobs, ReadError> {
        self.read_from(Source::file(file))
    }

    /// Reads a stream to its end.
    ///
    /// # Errors
    /// See [`read_jobs`](crate::ingest::read_jobs); also the stream cannot be read.
    pub fn read_stream(&self, stream: impl Read + Send) -> Result<ReadJobs, ReadError> {
        self.read_from(Source::stream(Box::new(stream)))
    }

    fn read_from(&self, source: Source<'_>) -> Result<ReadJobs, ReadError> {
        self.try_to_read(source).unwrap_or_else(|error| {
            Err(ReadError::Source { source_name: self.options.source_name.to_owned(), reason: error.to_string() })
        })
    }

    fn try_to_read(&self, mut source: Source<'_>) -> io::Result<Result<ReadJobs, ReadError>> {
        let mut head = Vec::new();
        if self.is_quick {
            source.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
        }
        let is_whole = head.len() < HEAD;
        let threads = self.threads.unwrap_or_else(|| if is_whole { 1 } else { threads() });
        let format = if self.is_quick { Format::of_head(&text_of(without_mark(&head)), is_whole) } else { None };
        head.drain(..head.len() - without_mark(&head).len());
        if format == Some(Format::Ndjson) {
            source.forget();
            let pieces = Pieces::new(head, Box::new(source), self.piece, Box::new(lines::cut));
            return lines::read_lines(pieces, threads, self.options);
        }
        if format == Some(Format::QstatJson)
            && let Some(frame) = Frame::of(&head)
        {
            let pieces = Pieces::new(head, Box::new(&mut source), self.piece, frame.cut());
            if let Some(read) = read_pieces(pieces, &frame, threads, self.options)? {
                return Ok(read);
            }
        }
        Ok(read_whole(&source.whole()?, self.options))
    }
}

/// Reads a whole document by the general road.
fn read_whole(bytes: &[u8], options: &ReadOptions<'_>) -> Result<ReadJobs, ReadError> {
    let text = text_of(without_mark(bytes));
    match Format::of(&text, options.source_name)? {
        Format::QstatJson => read_qstat_json(&text, options),
        Format::QstatText => read_qstat_text(&text, options),
        Format::OwnJson => jobs::read_own(&text, options),
        Format::Ndjson => jobs::read_lines(&text, options),
    }
}

/// How many threads read at once.
fn threads() -> usize {
    available_parallelism().map_or(1, usize::from).min(MOST_THREADS)
}
