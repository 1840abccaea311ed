//! Reads jobs in JSON: `qstat -f -F json`, native JSON, and native JSON with a job per line.
//!
//! Enters: a document, or one job of it. Leaves: converted jobs, and what is wrong with single
//! ones. The text is walked once, without a tree, by a [`Scanner`], which finds where values end and
//! checks that they are valid; numbers are read from their text, since qstat prints large ones as
//! `9.0072e+15`. What each key of an object of one kind means is looked up once ([`ObjectKeys`]). Of a
//! document with a job per line (NDJSON), chunks of whole lines are parsed in parallel while it arrives,
//! and appended to the table in order.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Read};

use job_sort_formula::jobs::Problem;
use job_sort_formula::parallel::pipeline;
use jsf_json::{JsonScalar, clipped, decode_utf8};
use jsf_openpbs::amounts::AmountSource;
use serde::de::IgnoredAny;
use serde_json::Deserializer;

use crate::job_converter::{
    JobConverter, JobKey, NameIndex, ParsedJob, integer, push_entry, wrong_attribute, wrong_input,
};
use crate::reader::{ParsedJobs, ReadErrorKind, ReadOptions, TableBuilder};

/// Reads one job after the other.
#[derive(Debug)]
pub struct JsonReader<'a> {
    pub converter: JobConverter<'a>,
    top: ObjectKeys<JobKey>,
    /// The keys of resources and of inputs.
    amounts: ObjectKeys<Option<NameIndex>>,
}

impl<'a> JsonReader<'a> {
    pub fn new(options: &'a ReadOptions<'a>, source: AmountSource) -> Self {
        Self {
            converter: JobConverter::new(options, source),
            top: ObjectKeys::new(),
            amounts: ObjectKeys::new(),
        }
    }

    /// Reads an entry of the jobs of qstat, `"id":{…}`; `None` if it is not valid JSON. `job` is
    /// memory to use again.
    pub fn read_entry<'d>(
        &mut self,
        scanner: &mut Scanner<'d>,
        job: &mut ParsedJob<'d>,
    ) -> Option<()> {
        job.clear();
        job.set_id(scanner.key()?);
        let shape = self.read_job(scanner, job);
        if shape.is_none() {
            self.converter.abandon();
        }
        self.push(job, shape?);
        Some(())
    }

    /// Reads a native job; reports one that is not valid JSON.
    fn read_line<'d>(&mut self, text: &'d str, line: Option<usize>, job: &mut ParsedJob<'d>) {
        job.clear();
        job.line = line;
        let mut scanner = Scanner::new(text);
        let shape = self.read_job(&mut scanner, job);
        scanner.space();
        match shape {
            Some(shape) if scanner.is_at_end() => self.push(job, shape),
            _ => {
                let found = match json_error(text) {
                    Some(error) => format!("the job is not valid JSON ({error})"),
                    None => "the job is not valid JSON".to_owned(),
                };
                let problem = Problem::NotAJob {
                    found,
                    expected: "an object",
                };
                self.converter.skip(job, problem);
            }
        }
    }

    fn read_job<'d>(
        &mut self,
        scanner: &mut Scanner<'d>,
        job: &mut ParsedJob<'d>,
    ) -> Option<Shape> {
        if let Err(shape) = scanner.open_object()? {
            return Some(Err(shape));
        }
        self.top.begin();
        loop {
            let next = self
                .top
                .next(scanner, |name| self.converter.job_key(name))?;
            let Next::Value(meaning, key) = next else {
                return Some(Ok(()));
            };
            match meaning {
                JobKey::Unused => scanner.skip_value()?,
                JobKey::Resources | JobKey::Inputs => {
                    job.set(meaning, self.top.name(key), JsonScalar::OBJECT);
                    let shape = self.read_amounts(meaning, scanner, job)?;
                    note_shape(shape, self.top.name(key), job);
                }
                JobKey::CycleList => {
                    read_cycle_list(scanner, self.top.name(key), job, &self.converter)?
                }
                _ => {
                    let scalar = scanner.scalar()?;
                    match meaning {
                        _ if scalar.is_null() => {}
                        JobKey::Unknown => {
                            let key = clipped(self.top.name(key));
                            if !self.converter.has_reported(&key) {
                                job.push_problem(Problem::UnknownKey {
                                    key: key.into_owned(),
                                    advice: String::new(),
                                });
                            }
                        }
                        _ => job.set(meaning, self.top.name(key), scalar),
                    }
                }
            }
        }
    }

    /// Adds a job if it is an object with an id.
    fn push(&mut self, job: &mut ParsedJob<'_>, shape: Shape) {
        let (found, expected) = match shape {
            Err(found) => (format!("the job is {found}"), "an object"),
            Ok(()) if job.get(JobKey::Id).is_none() => {
                ("the job has no `id`".to_owned(), "a string or a number")
            }
            Ok(()) => return self.converter.push(job),
        };
        self.converter
            .skip(job, Problem::NotAJob { found, expected });
    }

    /// Reads the entries of an object of resources or inputs, whichever `list` says.
    fn read_amounts<'d>(
        &mut self,
        list: JobKey,
        scanner: &mut Scanner<'d>,
        job: &mut ParsedJob<'d>,
    ) -> Option<Shape> {
        if let Err(shape) = scanner.open_object()? {
            return Some(Err(shape));
        }
        self.amounts.begin();
        while let Next::Value(name, _) = self
            .amounts
            .next(scanner, |name| self.converter.name_index(name))?
        {
            let Some(name) = name else {
                scanner.skip_value()?;
                continue;
            };
            let entries = if list == JobKey::Inputs {
                &mut job.inputs
            } else {
                &mut job.resources
            };
            push_entry(entries, name, scanner.scalar()?);
        }
        Some(Ok(()))
    }
}

/// What a value is that should be an object, if it is another.
type Shape = Result<(), &'static str>;

/// Reads an object with attributes of a scheduling cycle.
fn read_cycle_list<'d>(
    scanner: &mut Scanner<'d>,
    list: &str,
    job: &mut ParsedJob<'d>,
    converter: &JobConverter<'_>,
) -> Option<()> {
    if scanner.open_object()?.is_err() {
        return Some(());
    }
    let mut keys = ObjectKeys::new();
    while let Next::Value(meaning, key) =
        keys.next(scanner, |name| converter.listed_key(list, name))?
    {
        let scalar = scanner.scalar()?;
        job.set(meaning, keys.name(key), scalar);
    }
    Some(())
}

/// Reports a list of resources or inputs that is not an object.
fn note_shape(shape: Shape, key: &str, job: &mut ParsedJob<'_>) {
    match shape {
        Ok(()) => {}
        Err("null") => job.push_problem(wrong_attribute(key, &JsonScalar::NULL, "an object")),
        Err(found) => {
            let found = JsonScalar::Other(found);
            job.problems.push(wrong_input(key, &found, "an object"));
        }
    }
}

/// The first error in a text that is not valid JSON. What is not read of it is skipped, so that
/// the error is the first of those that matter.
pub fn json_error(text: &str) -> Option<serde_json::Error> {
    let skipped = serde_json::from_str::<IgnoredAny>(text);
    let error = skipped.err();
    // only a key with an escape that is no character remains
    error.or_else(|| serde_json::from_str::<serde_json::Value>(text).err())
}

/// The most notes on a document.
const MAX_NOTES: usize = 10;
/// The note on a document without `Jobs`.
const NO_JOBS: &str =
    "the document has no `Jobs`: the server had no jobs, or none that its user may see";

/// Reads `qstat -f -F json`, an object `Jobs`, or for the amounts of a user `{"jobs":[…]}`, an array.
/// A server without jobs prints a document without `Jobs`.
///
/// # Errors
/// The text is not valid JSON, its jobs are something else, or there are too many jobs.
pub fn read_json(
    text: &str,
    source: AmountSource,
    options: &ReadOptions<'_>,
) -> Result<ParsedJobs, ReadErrorKind> {
    let (jobs_key, expected) = match source {
        AmountSource::Server => ("Jobs", "what `qstat -f -F json` prints"),
        AmountSource::User => ("jobs", "{\"jobs\":[…]}, an array of objects"),
    };
    let mut document = Document {
        reader: JsonReader::new(options, source),
        builder: TableBuilder::new(options),
        jobs_key,
        jobs_shape: Ok(()),
        has_jobs: false,
        notes: Vec::new(),
    };
    let is_read = document.read_object(text).is_some();
    let mut jobs = document.reader.converter.output;
    jobs.ambiguity = document.notes.first().cloned();
    if !is_read {
        return Err(match json_error(text) {
            Some(error) => {
                document.builder.append(&mut jobs, 0);
                ReadErrorKind::json(text, &error, document.builder.jobs_read())
            }
            None => {
                let found = "a document with a key that cannot be read";
                ReadErrorKind::unexpected(found, expected)
            }
        });
    }
    if let Err(found) = document.jobs_shape {
        let found = format!("a document whose `{jobs_key}` is {found}");
        return Err(ReadErrorKind::unexpected(&found, expected));
    }
    let mut read = document.builder.finish_with(jobs)?;
    read.notes.extend(document.notes);
    if !document.has_jobs {
        read.notes.push(NO_JOBS.to_owned());
    }
    Ok(read)
}

/// The reader of a whole document.
struct Document<'a> {
    reader: JsonReader<'a>,
    builder: TableBuilder<'a>,
    jobs_key: &'static str,
    /// What the value of the jobs was.
    jobs_shape: Shape,
    has_jobs: bool,
    /// What is said about lists of jobs besides the first one.
    notes: Vec<String>,
}

impl Document<'_> {
    /// Reads the object that is the document; `None` if the text is another.
    fn read_object(&mut self, text: &str) -> Option<()> {
        let mut scanner = Scanner::new(text);
        let mut job = ParsedJob::default();
        let mut keys = ObjectKeys::new();
        scanner.space();
        scanner.take(b'{')?;
        while let Next::Value((), key) = keys.next(&mut scanner, |_| ())? {
            let key = keys.name(key);
            self.note_jobs(key);
            if key == "timestamp" {
                let scalar = scanner.scalar()?;
                self.reader.converter.output.timestamp = integer(&scalar);
            } else if key == self.jobs_key {
                self.has_jobs = true;
                let opener = if key == "Jobs" { b'{' } else { b'[' };
                self.read_jobs(opener, &mut scanner, &mut job)?;
            } else {
                scanner.skip_value()?;
            }
        }
        scanner.space();
        scanner.is_at_end().then_some(())
    }

    /// Notes a list of jobs besides the first one.
    fn note_jobs(&mut self, key: &str) {
        let note = match key {
            key if key == self.jobs_key && self.has_jobs => {
                format!("`{key}` is given again; its jobs are added to the others")
            }
            "Jobs" | "jobs" if key != self.jobs_key => {
                format!("`{key}` is not read beside `{}`", self.jobs_key)
            }
            _ => return,
        };
        if self.notes.len() < MAX_NOTES {
            self.notes.push(note);
        }
    }

    /// Reads the jobs, the entries of an object or the items of an array.
    fn read_jobs<'d>(
        &mut self,
        opener: u8,
        scanner: &mut Scanner<'d>,
        job: &mut ParsedJob<'d>,
    ) -> Option<()> {
        if scanner.take(opener).is_none() {
            self.jobs_shape = Err(scanner.scalar()?.shape());
            return Some(());
        }
        let closer = if opener == b'{' { b'}' } else { b']' };
        scanner.space();
        if scanner.take(closer).is_some() {
            return Some(());
        }
        loop {
            scanner.space();
            if opener == b'{' {
                self.reader.read_entry(scanner, job)?;
            } else {
                let text = scanner.value()?;
                self.reader.read_line(text, None, job);
            }
            self.builder.take_many(&mut self.reader.converter);
            scanner.space();
            if scanner.take(closer).is_some() {
                return Some(());
            }
            scanner.take(b',')?;
        }
    }
}

/// The largest document, in bytes.
const MAX_BYTES: u64 = 64 << 30;
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
    pipeline(
        || Chunk {
            text: Vec::new(),
            lines: 0,
            reader: JsonReader::new(options, AmountSource::User),
        },
        |chunk| lines.fill(&mut chunk.text, options.chunk_size),
        Chunk::parse,
        |chunk| {
            builder.append(&mut chunk.reader.converter.output, line);
            line += chunk.lines;
            Ok(!builder.is_full())
        },
    )?;
    builder.finish()
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
    /// Fills a buffer with about so many bytes of whole lines. Returns `false` at the end.
    fn fill(&mut self, text: &mut Vec<u8>, size: usize) -> io::Result<bool> {
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

/// A chunk, and the jobs in it. Its buffers are used again, and what its reader knows of the keys.
struct Chunk<'a> {
    text: Vec<u8>,
    lines: usize,
    reader: JsonReader<'a>,
}

impl Chunk<'_> {
    fn parse(&mut self) {
        self.reader.converter.clear_output();
        self.lines = 0;
        let text = decode_utf8(&self.text);
        let mut job = ParsedJob::default();
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

/// A position in a JSON text.
#[derive(Debug, Clone)]
pub struct Scanner<'d> {
    text: &'d str,
    bytes: &'d [u8],
    /// The position of the next byte.
    at: usize,
}

impl<'d> Scanner<'d> {
    pub fn new(text: &'d str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            at: 0,
        }
    }

    /// Whether the end of the text is reached.
    pub fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    /// The next byte, 0 at the end.
    #[inline]
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    /// Skips this byte; `None` if the next one is another.
    #[inline]
    pub fn take(&mut self, byte: u8) -> Option<()> {
        if self.peek() != byte {
            return None;
        }
        self.at += 1;
        Some(())
    }

    /// Skips these bytes; `None` if others come next.
    #[inline]
    fn literal(&mut self, word: &[u8]) -> Option<()> {
        if !self.bytes.get(self.at..)?.starts_with(word) {
            return None;
        }
        self.at += word.len();
        Some(())
    }

    /// Skips white space.
    #[inline]
    pub fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\r' | b'\n') {
            self.at += 1;
        }
    }

    /// Skips the colon after a key, up to the value.
    #[inline]
    fn colon(&mut self) -> Option<()> {
        self.space();
        self.take(b':')?;
        self.space();
        Some(())
    }

    /// Reads the key of an entry, and skips up to its value.
    fn key(&mut self) -> Option<Cow<'d, str>> {
        let key = Self::unquoted(self.quoted()?)?;
        self.colon()?;
        Some(key)
    }

    /// Reads a string with its quotes and its escapes.
    #[inline]
    fn quoted(&mut self) -> Option<&'d str> {
        let start = self.at;
        self.take(b'"')?;
        self.skip_string()?;
        self.text.get(start..self.at)
    }

    /// The text of a string in quotes; `None` if an escape is not that of a character.
    fn unquoted(quoted: &'d str) -> Option<Cow<'d, str>> {
        match JsonScalar::from_text(quoted) {
            JsonScalar::String(text) => Some(text),
            _ => None,
        }
    }

    /// Reads the text of a value.
    #[inline]
    fn value(&mut self) -> Option<&'d str> {
        let start = self.at;
        self.skip_value()?;
        self.text.get(start..self.at)
    }

    /// Reads a value; that of `null`, an object or an array is described.
    #[inline]
    fn scalar(&mut self) -> Option<JsonScalar<'d>> {
        let start = self.at;
        if matches!(self.peek(), b'0'..=b'9' | b'-') {
            self.skip_number()?;
            return Some(JsonScalar::Number(self.text.get(start..self.at)?));
        }
        Some(JsonScalar::from_text(self.value()?))
    }

    /// Skips the brace that opens an object; another value is skipped as a whole, and described.
    fn open_object(&mut self) -> Option<Result<(), &'static str>> {
        if self.take(b'{').is_some() {
            return Some(Ok(()));
        }
        Some(Err(self.scalar()?.shape()))
    }

    #[inline]
    fn skip_number(&mut self) -> Option<()> {
        self.at += usize::from(self.peek() == b'-');
        match self.peek() {
            b'0' => self.at += 1,
            _ => self.digits()?,
        }
        if self.take(b'.').is_some() {
            self.digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), b'+' | b'-'));
            self.digits()?;
        }
        Some(())
    }

    /// Skips one digit or more.
    #[inline]
    fn digits(&mut self) -> Option<()> {
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        if self.at == start { None } else { Some(()) }
    }
}

/// Skipping values: they are not parsed, but must be valid JSON.
impl Scanner<'_> {
    /// Skips a value.
    #[inline]
    pub fn skip_value(&mut self) -> Option<()> {
        match self.peek() {
            b'"' => {
                self.at += 1;
                self.skip_string()
            }
            b'{' | b'[' => self.skip_nested(),
            _ => self.skip_scalar(),
        }
    }

    #[inline]
    fn skip_scalar(&mut self) -> Option<()> {
        match self.peek() {
            b't' => self.literal(b"true"),
            b'f' => self.literal(b"false"),
            b'n' => self.literal(b"null"),
            _ => self.skip_number(),
        }
    }

    /// Skips an object or an array.
    fn skip_nested(&mut self) -> Option<()> {
        let rest = Deserializer::from_str(self.text.get(self.at..)?);
        let mut values = rest.into_iter::<IgnoredAny>();
        values.next()?.ok()?;
        self.at += values.byte_offset();
        Some(())
    }

    /// Skips the rest of any string, from after its opening quote to after its closing one.
    #[inline]
    fn skip_string(&mut self) -> Option<()> {
        loop {
            let rest = self.bytes.get(self.at..)?;
            let length = memchr::memchr2(b'"', b'\\', rest)?;
            // all bytes are looked at, because the compiler can then compare many at once
            if rest[..length]
                .iter()
                .fold(false, |is_control, &byte| is_control | (byte < b' '))
            {
                return None;
            }
            self.at += length;
            if self.take(b'"').is_some() {
                return Some(());
            }
            self.skip_escape()?;
        }
    }

    fn skip_escape(&mut self) -> Option<()> {
        match self.bytes.get(self.at + 1)? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 2,
            b'u' => {
                let digits = self.bytes.get(self.at + 2..self.at + 6)?;
                self.at += digits.iter().all(u8::is_ascii_hexdigit).then_some(6)?;
            }
            _ => return None,
        }
        Some(())
    }
}

/// The most keys whose meaning is remembered.
const MAX_KEYS: usize = 4096;

/// What comes next in an object: a value or the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next<R> {
    /// A value, with the meaning of its key, and the index of the key.
    Value(R, usize),
    End,
}

/// The meanings of the keys that were read so far, in the order of their first objects.
#[derive(Debug)]
pub struct ObjectKeys<R> {
    keys: Vec<KnownKey<R>>,
    indices: HashMap<Box<str>, usize>,
    /// The key that follows the last one in most objects: a server prints those of each job in the
    /// same order.
    expected: usize,
    /// Whether the object has just begun.
    is_first: bool,
}

#[derive(Debug)]
struct KnownKey<R> {
    /// The key in its quotes, as documents have it.
    quoted: Box<[u8]>,
    /// The key without escapes.
    name: Box<str>,
    meaning: R,
}

impl<R: Copy> ObjectKeys<R> {
    pub fn new() -> Self {
        Self {
            keys: Vec::new(),
            indices: HashMap::new(),
            expected: 0,
            is_first: true,
        }
    }

    /// Begins another object.
    fn begin(&mut self) {
        self.is_first = true;
    }

    /// Skips to the next value of an object; `resolve` returns the meaning of a new key. `None` if
    /// the text is not valid JSON.
    #[inline]
    pub fn next(
        &mut self,
        scanner: &mut Scanner<'_>,
        resolve: impl FnOnce(&str) -> R,
    ) -> Option<Next<R>> {
        scanner.space();
        if std::mem::take(&mut self.is_first) {
            self.expected = 0;
            if scanner.take(b'}').is_some() {
                return Some(Next::End);
            }
        } else if scanner.take(b',').is_some() {
            scanner.space();
        } else {
            scanner.take(b'}')?;
            return Some(Next::End);
        }
        // looking a key up takes longer than reading its value
        let index = match self.keys.get(self.expected) {
            Some(expected) if scanner.literal(&expected.quoted).is_some() => self.expected,
            _ => self.read(scanner, resolve)?,
        };
        scanner.colon()?;
        self.expected = index + 1;
        Some(Next::Value(self.keys.get(index)?.meaning, index))
    }

    /// Reads a key, and returns its index.
    #[inline(never)]
    fn read(
        &mut self,
        scanner: &mut Scanner<'_>,
        resolve: impl FnOnce(&str) -> R,
    ) -> Option<usize> {
        let quoted = scanner.quoted()?;
        if let Some(&known) = self.indices.get(quoted) {
            return Some(known);
        }
        let name = Scanner::unquoted(quoted)?;
        if self.keys.len() >= MAX_KEYS {
            self.keys.clear();
            self.indices.clear();
        }
        let index = self.keys.len();
        self.keys.push(KnownKey {
            quoted: quoted.as_bytes().into(),
            meaning: resolve(&name),
            name: name.into(),
        });
        self.indices.insert(quoted.into(), index);
        Some(index)
    }

    /// The key of this index.
    pub fn name(&self, index: usize) -> &str {
        self.keys.get(index).map_or("", |key| &key.name)
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
            let is_read = lines.fill(&mut text, 100);
            (is_read.ok(), text.len())
        });
        assert_eq!(read, [(Some(true), 5), (None, 5)]);
    }

    /// Random sequences of JSON fragments, valid and invalid.
    fn texts() -> impl Iterator<Item = String> {
        const PIECES: [&str; 44] = [
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            "\"a\"",
            "\"\"",
            "\"b\\n\"",
            "\"\\u00e9\"",
            "\"\\u00g9\"",
            "\"\\",
            "\"",
            "0",
            "-0",
            "01",
            "1",
            "12345678",
            "1234567",
            "1.5",
            "1.",
            ".5",
            "1e5",
            "1E+",
            "1e-400",
            "-",
            "+1",
            "true",
            "false",
            "null",
            "nul",
            " ",
            "\n",
            "\t",
            "\r",
            "\x0b",
            "\0",
            "\x01",
            "\x7f",
            "\"\x1f\"",
            "\"é\"",
            "é",
            "        ",
            "\"a somewhat longer text, with (eight) bytes\"",
        ];
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        std::iter::repeat_with(move || {
            let mut text = String::new();
            let mut open = Vec::new();
            // Mostly a fragment that may come next, so that many texts are valid.
            for _ in 0..roll(&mut state, 12) {
                match roll(&mut state, 8) {
                    0 => text.push_str(PIECES[roll(&mut state, PIECES.len())]),
                    1 => {
                        text.push_str("{\"k\" : ");
                        open.push('}');
                    }
                    2 => {
                        text.push('[');
                        open.push(']');
                    }
                    3 => text.extend(open.pop()),
                    4 => text.push_str(if open.last() == Some(&'}') {
                        ",\"l\":"
                    } else {
                        " ,\n"
                    }),
                    _ => {
                        let scalars = [6, 7, 8, 9, 13, 14, 16, 17, 19, 22, 24, 27, 29, 40];
                        text.push_str(PIECES[scalars[roll(&mut state, scalars.len())]]);
                    }
                }
            }
            text.extend(open.iter().rev());
            text
        })
    }

    /// A random number below `sides`.
    fn roll(state: &mut u64, sides: usize) -> usize {
        *state ^= *state >> 12;
        *state ^= *state << 25;
        *state ^= *state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % sides
    }

    /// Whether the scanner skips the whole text as one value.
    fn is_value(text: &str) -> bool {
        let mut scanner = Scanner::new(text);
        scanner.space();
        let skipped = scanner.skip_value();
        scanner.space();
        skipped.is_some() && scanner.at == text.len()
    }

    #[test]
    fn what_is_skipped_is_valid_json() {
        let mut valid = 0;
        for text in texts().take(200_000) {
            let expected = serde_json::from_str::<serde::de::IgnoredAny>(&text).is_ok();
            assert_eq!(is_value(&text), expected, "{text}");
            valid += usize::from(expected);
        }
        assert!(valid > 10_000, "{valid}");
    }

    #[test]
    fn nesting_may_be_deep() {
        let depth = 10_000;
        assert!(is_value(&("[".repeat(depth) + &"]".repeat(depth))));
        assert!(!is_value(&("[".repeat(depth) + &"]".repeat(depth - 1))));
    }

    /// The lengths of the keys of an object of numbers.
    fn read(keys: &mut ObjectKeys<usize>, text: &str) -> Option<Vec<usize>> {
        let mut scanner = Scanner::new(text);
        scanner.take(b'{')?;
        let mut found = Vec::new();
        keys.begin();
        while let Next::Value(length, _) = keys.next(&mut scanner, str::len)? {
            scanner.skip_value()?;
            found.push(length);
        }
        Some(found)
    }

    #[test]
    fn keys_are_separated_by_commas() {
        let mut keys = ObjectKeys::new();
        for (text, expected) in [
            (r#"{"a":1,"bb":2}"#, Some(vec![1, 2])),
            (r#"{"bb":2,"a":1}"#, Some(vec![2, 1])),
            (r#"{"a":1,"bb" : 2, "a":3 }"#, Some(vec![1, 2, 1])),
            (r#"{"\u0061":1,"bb":2}"#, Some(vec![1, 2])),
            ("{}", Some(vec![])),
            (r#"{"a":1,}"#, None),
            (r#"{,"a":1}"#, None),
            (r#"{"a":1"bb":2}"#, None),
            (r#"{"\ud800":1}"#, None),
        ] {
            assert_eq!(read(&mut keys, text), expected, "{text}");
        }
    }

    #[test]
    fn more_keys_than_are_remembered_are_read() {
        let mut keys = ObjectKeys::new();
        let entries: Vec<_> = (0..MAX_KEYS + 10)
            .map(|number| format!("\"{number:05}\":1"))
            .collect();
        let text = format!("{{{}}}", entries.join(","));
        assert_eq!(read(&mut keys, &text), Some(vec![5; MAX_KEYS + 10]));
    }
}
