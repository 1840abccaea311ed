//! The readers of `qstat -f` as text, wrapped at 80 columns or not (`-w`), and of `qstat -f -F dsv`, a job per line.

use std::borrow::Cow;

use crate::ingest::error::ReadErrorKind;
use crate::ingest::job_key::JobKey;
use crate::ingest::reader::{ParsedJobs, ReadOptions};
use crate::ingest::table_builder::{ParsedJob, TableBuilder};
use crate::json_visitor::{JsonScalar, clipped};
use crate::pbs::resource_amount::{AmountSource, number};

/// Reads the jobs of a `qstat -f` text. Unlike the JSON of qstat, the text has every digit of a large number.
///
/// The lines may all be indented further, as in a mail, and other lines, such as a shell's prompt, may precede, follow
/// and separate the jobs. A line that is indented further than an attribute, or begins with a tab, continues the value
/// before it.
///
/// # Errors
/// There are too many jobs.
pub(super) fn read_qstat_text(text: &str, options: &ReadOptions<'_>) -> Result<ParsedJobs, ReadErrorKind> {
    let mut builder = TableBuilder::new(options, AmountSource::Server);
    let mut job: Option<TextJob<'_>> = None;
    for line in text.lines() {
        let line = line.trim_end_matches('\r');
        if let Some(id) = line.trim_start().strip_prefix("Job Id:") {
            finish(job.replace(TextJob::new(id)), &mut builder);
        } else if let Some(job) = &mut job {
            job.read_line(line, &builder);
        }
    }
    let last_job = job.as_ref().and_then(|job| job.parsed.id.as_deref()).map(str::to_owned);
    finish(job, &mut builder);
    Ok(with_note_if_cut_off(builder.finish()?, text, last_job))
}

/// qstat ends its output with a line end.
fn with_note_if_cut_off(mut read: ParsedJobs, text: &str, last_job: Option<String>) -> ParsedJobs {
    if let Some(job) = last_job.filter(|_| !text.ends_with('\n')) {
        read.notes.push(format!(
            "the last line has no line end: if the document is cut off, attributes of its last job `{}` and all later jobs \
             are missing",
            clipped(&job)
        ));
    }
    read
}

fn finish(job: Option<TextJob<'_>>, builder: &mut TableBuilder<'_>) {
    if let Some(mut job) = job {
        job.end_attribute();
        builder.push(job.parsed);
    }
}

/// The job that is being read.
#[derive(Default)]
struct TextJob<'d> {
    parsed: ParsedJob<'d>,
    attribute: Option<Attribute<'d>>,
    /// What precedes each attribute on its line.
    indentation: Option<&'d str>,
}

impl<'d> TextJob<'d> {
    fn new(id: &'d str) -> Self {
        let id = Some(Cow::Borrowed(id.trim()));
        Self { parsed: ParsedJob { id, ..ParsedJob::default() }, ..Self::default() }
    }

    fn read_line(&mut self, line: &'d str, builder: &TableBuilder<'_>) {
        let text = line.trim_start();
        let indentation = &line[..line.len() - text.len()];
        let is_attribute = self.indentation.is_none_or(|usual| usual == indentation);
        if let Some((name, value)) = split_attribute(text).filter(|_| is_attribute) {
            self.indentation = Some(indentation);
            self.end_attribute();
            self.attribute = Attribute::new(name, value, builder);
        } else if indentation.starts_with('\t') || self.indentation.is_some_and(|usual| indentation.len() > usual.len())
        {
            if let Some(attribute) = &mut self.attribute {
                attribute.value.to_mut().push_str(text);
            }
        } else {
            self.end_attribute();
        }
    }

    fn end_attribute(&mut self) {
        if let Some(attribute) = self.attribute.take() {
            self.parsed.has_resources |= attribute.key == JobKey::Resource;
            self.parsed.set(attribute.key, Cow::Borrowed(attribute.name), attribute.scalar());
        }
    }
}

/// The name and the value of `name = value`; a value that is empty may lack the space after `=`.
fn split_attribute(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once(" =")?;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'));
    match value.strip_prefix(' ') {
        Some(value) if is_name => Some((name, value)),
        None if is_name && value.is_empty() => Some((name, value)),
        _ => None,
    }
}

/// Reads the jobs of `qstat -f -F dsv`, with any delimiter. A line that does not begin with `Job Id:` continues the job
/// before it, since a value may contain line ends.
///
/// # Errors
/// There are too many jobs.
pub(super) fn read_qstat_dsv(text: &str, options: &ReadOptions<'_>) -> Result<ParsedJobs, ReadErrorKind> {
    let mut builder = TableBuilder::new(options, AmountSource::Server);
    let (mut rest, mut last_job) = (text, None);
    while let Some(start) = find_job(rest) {
        let job = &rest[start..];
        let end = job["Job Id:".len()..].find("\nJob Id:").map_or(job.len(), |end| end + "Job Id:".len());
        let parsed = parse_dsv_job(&job["Job Id:".len()..end], &builder);
        last_job = parsed.id.as_deref().map(str::to_owned);
        builder.push(parsed);
        rest = &job[end..];
    }
    Ok(with_note_if_cut_off(builder.finish()?, text, last_job))
}

/// Where the next line begins that begins with a job id.
fn find_job(text: &str) -> Option<usize> {
    if text.starts_with("Job Id:") { Some(0) } else { text.find("\nJob Id:").map(|at| at + 1) }
}

fn parse_dsv_job<'d>(text: &'d str, builder: &TableBuilder<'_>) -> ParsedJob<'d> {
    let text = text.trim_end_matches(['\n', '\r']);
    let id_end = text.find("Job_Name=").unwrap_or(text.len());
    // behind the id, which has no spaces, is the delimiter, which `-D` may have set to any text
    let id = text[..id_end].trim_start();
    let id_length =
        id.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '[' | ']'))).unwrap_or(id.len());
    let (id, delimiter) = id.split_at(id_length);
    let mut job = ParsedJob { id: Some(Cow::Borrowed(id)), ..ParsedJob::default() };
    for field in split_unescaped(&text[id_end..], delimiter) {
        let Some((name, value)) = field.split_once('=') else { continue };
        let Some(mut attribute) = Attribute::new(name, value, builder) else { continue };
        if value.contains('\\') && !delimiter.is_empty() {
            attribute.value = Cow::Owned(value.replace(&format!("\\{delimiter}"), delimiter));
        }
        job.has_resources |= attribute.key == JobKey::Resource;
        job.set(attribute.key, Cow::Borrowed(attribute.name), attribute.scalar());
    }
    job
}

/// The parts of a text between delimiters that have no `\` before them.
fn split_unescaped<'d>(text: &'d str, delimiter: &str) -> Vec<&'d str> {
    let mut parts = Vec::new();
    let (mut start, mut from) = (0, 0);
    while let Some(at) = text[from..].find(delimiter).filter(|_| !delimiter.is_empty()).map(|at| from + at) {
        if !text[..at].ends_with('\\') {
            parts.push(&text[start..at]);
            start = at + delimiter.len();
        }
        from = at + delimiter.len();
    }
    parts.push(&text[start..]);
    parts
}

/// An attribute of a job, up to the line that was read last.
struct Attribute<'d> {
    key: JobKey,
    name: &'d str,
    value: Cow<'d, str>,
}

impl<'d> Attribute<'d> {
    /// An attribute that is needed; the others may be long and are not joined.
    fn new(name: &'d str, value: &'d str, builder: &TableBuilder<'_>) -> Option<Self> {
        let (key, name) = match name.strip_prefix("Resource_List.") {
            Some(resource) => (JobKey::Resource, resource),
            None => (builder.job_key(name), name),
        };
        (key != JobKey::Unused).then_some(Self { key, name, value: Cow::Borrowed(value) })
    }

    /// The value; an amount that is a number becomes a JSON number, though the text does not tell it from a string.
    fn scalar(self) -> JsonScalar<'d> {
        match self.value {
            Cow::Borrowed(text) if self.key == JobKey::Resource && number(text).is_some() => JsonScalar::Number(text),
            value => JsonScalar::String(value),
        }
    }
}
