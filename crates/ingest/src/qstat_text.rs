//! The readers of `qstat -f` as text, wrapped at 80 columns or not (`-w`), and of
//! `qstat -f -F dsv`, a job per line.

use std::borrow::Cow;

use job_sort_formula::jobs::Problem;
use jsf_json::{JsonScalar, clipped};
use jsf_openpbs::amounts::{AmountSource, number};
use jsf_openpbs::files::objects::split_unescaped;
use jsf_openpbs::qmgr::is_of_name;

use crate::job_converter::JobConverter;
use crate::job_key::JobKey;
use crate::parsed_job::ParsedJob;
use crate::qstat_recovery::CUT_OFF;
use crate::reader::{ParsedJobs, ReadErrorKind, ReadOptions};
use crate::table_builder::TableBuilder;

/// Reads the jobs of a `qstat -f` text. Unlike the JSON of qstat, the text has every digit of a
/// large number.
///
/// The lines may all be indented further, as in a mail, and other lines, such as a shell's prompt,
/// may precede, follow and separate the jobs. A line that is indented further than an attribute, or
/// begins with a tab, continues the value before it. A line with an error message of qstat has a
/// note: jobs may be missing.
///
/// The job in which the document ends is rejected, as in JSON that is cut off. qstat ends every
/// line, and prints an empty one after each job.
///
/// # Errors
/// There are too many jobs, or the document ends in the middle of one and the options are strict.
pub fn read_qstat_text(text: &str, options: &ReadOptions<'_>) -> Result<ParsedJobs, ReadErrorKind> {
    let mut document = Document::new(text, options);
    let mut job: Option<TextJob<'_>> = None;
    let mut has_empty_lines = false;
    let (complete, cut) = complete_lines(text);
    for line in complete.lines() {
        let line = line.trim_end_matches('\r');
        if let Some(id) = line.trim_start().strip_prefix(JOB_ID) {
            if let Some(before) = job.replace(TextJob::new(id)) {
                has_empty_lines |= before.is_ended_by_empty_line;
                document.push(before);
            }
        } else if let Some(job) = &mut job {
            job.read_line(line, &mut document.converter);
        }
    }
    if let Some(id) = cut.trim_start().strip_prefix(JOB_ID)
        && let Some(before) = job.replace(TextJob::new(id))
    {
        document.push(before);
    }
    if is_start_of_a_job(cut) && job.as_ref().is_none_or(|job| job.is_ended) {
        document.notes.push(CUT_OFF.to_owned());
    }
    if let Some(job) = job {
        if !cut.is_empty() && !job.is_ended {
            return document.reject_last_job(&job.parsed);
        }
        if has_empty_lines && !job.is_ended {
            let id = job.parsed.id();
            document.notes.push(format!(
                "no empty line follows the last job `{}`, as one follows the other jobs: if the document is cut off, \
                 attributes of this job and all later jobs are missing",
                clipped(id)
            ));
        }
        document.push(job);
    }
    document.finish()
}

/// A document of text or dsv that is being read.
struct Document<'a> {
    text: &'a str,
    options: &'a ReadOptions<'a>,
    converter: JobConverter<'a>,
    builder: TableBuilder<'a>,
    notes: Vec<String>,
}

impl<'a> Document<'a> {
    fn new(text: &'a str, options: &'a ReadOptions<'a>) -> Self {
        let mut converter = JobConverter::new(options, AmountSource::Server);
        converter.takes_nodes = true;
        Self {
            text,
            options,
            converter,
            builder: TableBuilder::new(options),
            notes: Vec::from_iter(error_messages(text)),
        }
    }

    fn push(&mut self, mut job: TextJob<'_>) {
        job.end_attribute();
        self.push_parsed(job.parsed);
    }

    fn push_parsed(&mut self, mut job: ParsedJob<'_>) {
        self.converter.push(&mut job);
        self.builder.take_many(&mut self.converter);
    }

    /// Reports the last job, in whose middle the document ends, and returns the other jobs. An
    /// error if the options are strict.
    fn reject_last_job(mut self, job: &ParsedJob<'_>) -> Result<ParsedJobs, ReadErrorKind> {
        let id = job.id();
        if self.options.strict {
            return Err(ReadErrorKind::Other(format!(
                "ends in the middle of job `{}`: it is cut off, write it again; if it is complete, add the line end that its last \
                 line lacks",
                clipped(id)
            )));
        }
        let reason = "the document ends in the middle of the job, without a line end".to_owned();
        let problem = Problem::Unreadable { reason };
        let line = self.text.lines().count();
        self.converter.output.report(Some(line), id, problem);
        self.notes.insert(0, CUT_OFF.to_owned());
        self.finish()
    }

    fn finish(self) -> Result<ParsedJobs, ReadErrorKind> {
        let mut read = self.builder.finish_with(self.converter.output)?;
        read.notes.extend(self.notes);
        Ok(read)
    }
}

/// The note on the error messages of qstat among its output: where the first one is, and how many
/// others there are.
fn error_messages(text: &str) -> Option<String> {
    let lines = (1..).zip(text.lines());
    let messages: Vec<_> = lines
        .filter(|(_, line)| line.starts_with("qstat: "))
        .collect();
    let (number, message) = *messages.first()?;
    let others = match messages.len() - 1 {
        0 => String::new(),
        others => format!(", and {others} more"),
    };
    let message = clipped(message);
    Some(format!(
        "line {number} is the error message `{message}`{others}: jobs may be missing"
    ))
}

/// What the first line of a job begins with.
const JOB_ID: &str = "Job Id:";

/// The lines up to the last line end, and the text after it.
fn complete_lines(text: &str) -> (&str, &str) {
    text.split_at(text.rfind('\n').map_or(0, |end| end + 1))
}

/// Whether a document ends in the first word of another job.
fn is_start_of_a_job(cut: &str) -> bool {
    let cut = cut.trim_start();
    !cut.is_empty() && cut != JOB_ID && JOB_ID.starts_with(cut)
}

/// The job that is being read.
#[derive(Default)]
struct TextJob<'d> {
    parsed: ParsedJob<'d>,
    attribute: Option<Attribute<'d>>,
    /// The white space before each attribute.
    indentation: Option<&'d str>,
    /// Whether a line that is not one of the job was read after its last attribute.
    is_ended: bool,
    is_ended_by_empty_line: bool,
}

impl<'d> TextJob<'d> {
    fn new(id: &'d str) -> Self {
        let mut job = Self::default();
        job.parsed.set_id(id.trim().into());
        job
    }

    fn read_line(&mut self, line: &'d str, converter: &mut JobConverter<'_>) {
        let text = line.trim_start();
        let indentation = &line[..line.len() - text.len()];
        let usual = self.indentation.unwrap_or(indentation);
        if let Some((name, value)) = split_attribute(text)
            && usual == indentation
        {
            self.indentation = Some(indentation);
            self.is_ended = false;
            self.end_attribute();
            self.attribute = Attribute::new(name, value, converter);
        } else if indentation.starts_with('\t') || indentation.len() > usual.len() {
            if let Some(attribute) = &mut self.attribute {
                attribute.value.to_mut().push_str(text);
            }
        } else {
            self.is_ended_by_empty_line = text.is_empty() && !self.is_ended;
            self.is_ended = true;
            self.end_attribute();
        }
    }

    fn end_attribute(&mut self) {
        if let Some(attribute) = self.attribute.take() {
            attribute.add_to(&mut self.parsed);
        }
    }
}

/// The name and the value of `name = value`; a value that is empty may lack the space after `=`.
fn split_attribute(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once(" =")?;
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        || !name.chars().all(is_of_name)
    {
        return None;
    }
    match value.strip_prefix(' ') {
        Some(value) => Some((name, value)),
        None if value.is_empty() => Some((name, value)),
        None => None,
    }
}

/// Reads the jobs of `qstat -f -F dsv`, with any delimiter. A line that does not begin with
/// `Job Id:` continues the job before it, since a value may contain line ends. One with an error
/// message of qstat has a note.
///
/// The job in which the document ends is rejected, as in JSON that is cut off: qstat ends every
/// line.
///
/// # Errors
/// There are too many jobs, or the document ends in the middle of one and the options are strict.
pub fn read_qstat_dsv(text: &str, options: &ReadOptions<'_>) -> Result<ParsedJobs, ReadErrorKind> {
    let mut document = Document::new(text, options);
    let (complete, cut) = complete_lines(text);
    let mut rest = text;
    if is_start_of_a_job(cut) {
        rest = complete;
    }
    while let Some(start) = find_job(rest) {
        let job = &rest[start + JOB_ID.len()..];
        let end = job.find("\nJob Id:").unwrap_or(job.len());
        let parsed = parse_dsv_job(&job[..end], &mut document.converter);
        rest = &job[end..];
        if rest.is_empty() && !job.ends_with('\n') {
            return document.reject_last_job(&parsed);
        }
        document.push_parsed(parsed);
    }
    if is_start_of_a_job(cut) {
        document.notes.push(CUT_OFF.to_owned());
    }
    document.finish()
}

/// Where the next line begins that begins with a job id.
fn find_job(text: &str) -> Option<usize> {
    if text.starts_with(JOB_ID) {
        return Some(0);
    }
    Some(text.find("\nJob Id:")? + 1)
}

fn parse_dsv_job<'d>(text: &'d str, converter: &mut JobConverter<'_>) -> ParsedJob<'d> {
    let text = text.trim_end_matches(['\n', '\r']);
    let text = text.trim_start();
    let id_length = text
        .find(|c| !(is_of_name(c) || matches!(c, '[' | ']')))
        .unwrap_or(text.len());
    // behind the id, which has no spaces, is the delimiter, which `-D` may have set to any text;
    // `Job_Name` is the first attribute, unless only some are printed
    let (id, rest) = text.split_at(id_length);
    let first = match rest.find("Job_Name=") {
        Some(name) if !rest[..name].contains('=') => Some(name),
        _ => rest.find(|c: char| c.is_ascii_alphabetic()),
    };
    let first = first.unwrap_or(rest.len());
    let (delimiter, attributes) = rest.split_at(first);
    let mut job = ParsedJob::default();
    job.set_id(id.into());
    for field in split_unescaped(attributes, delimiter) {
        if let Some((name, value)) = field.split_once('=')
            && let Some(mut attribute) = Attribute::new(name, value, converter)
        {
            if value.contains('\\') && !delimiter.is_empty() {
                attribute.value = Cow::Owned(value.replace(&format!("\\{delimiter}"), delimiter));
            }
            attribute.add_to(&mut job);
        }
    }
    job
}

/// An attribute of a job, up to the line that was read last.
struct Attribute<'d> {
    key: JobKey,
    name: &'d str,
    value: Cow<'d, str>,
}

impl<'d> Attribute<'d> {
    /// An attribute that is needed; the others may be long and are not joined.
    fn new(name: &'d str, value: &'d str, converter: &mut JobConverter<'_>) -> Option<Self> {
        let (key, name) = match name.strip_prefix("Resource_List.") {
            Some(resource) => (converter.resource_key(resource), resource),
            None => (converter.job_key(name), name),
        };
        if key == JobKey::Unused {
            return None;
        }
        Some(Self {
            key,
            name,
            value: Cow::Borrowed(value),
        })
    }

    /// Gives a job the attribute; an amount that is a number becomes a JSON number, although the
    /// text does not distinguish it from a string.
    fn add_to(self, job: &mut ParsedJob<'d>) {
        let is_amount = matches!(self.key, JobKey::Resource(_));
        let scalar = match self.value {
            Cow::Borrowed(text) if is_amount && number(text).is_some() => JsonScalar::Number(text),
            value => JsonScalar::String(value),
        };
        job.set(self.key, self.name, scalar);
    }
}
