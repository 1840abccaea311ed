//! The readers of `qstat -f` as text, wrapped at 80 columns or not (`-w`), and of
//! `qstat -f -F dsv`, a job per line.

use std::borrow::Cow;

use job_sort_formula::jobs::Problem;
use jsf_json::{JsonScalar, clipped};
use jsf_openpbs::files::objects::split_unescaped;
use jsf_openpbs::resource_amount::{AmountSource, number};

use crate::error::ReadErrorKind;
use crate::job_converter::JobConverter;
use crate::job_key::JobKey;
use crate::options::{ParsedJobs, ReadOptions};
use crate::parsed_job::ParsedJob;
use crate::qstat_recovery::CUT_OFF;
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
pub(super) fn read_qstat_text(
    text: &str,
    options: &ReadOptions<'_>,
) -> Result<ParsedJobs, ReadErrorKind> {
    let mut builder = TableBuilder::new(options, AmountSource::Server);
    builder.converter.take_processors_of_nodes();
    let mut job: Option<TextJob<'_>> = None;
    let mut has_empty_lines = false;
    let mut notes: Vec<String> = error_messages(text).into_iter().collect();
    let (complete, cut) = complete_lines(text);
    for line in complete.lines() {
        let line = line.trim_end_matches('\r');
        if let Some(id) = line.trim_start().strip_prefix("Job Id:") {
            let before = job.replace(TextJob::new(id));
            has_empty_lines |= before
                .as_ref()
                .is_some_and(|job| job.is_ended_by_empty_line);
            finish(before, &mut builder);
        } else if let Some(job) = &mut job {
            job.read_line(line, &mut builder.converter);
        }
    }
    if let Some(id) = cut.trim_start().strip_prefix("Job Id:") {
        finish(job.replace(TextJob::new(id)), &mut builder);
    }
    match job {
        Some(job) if !cut.is_empty() && !job.is_ended => {
            with_notes(reject_last_job(&job.parsed, text, builder, options)?, notes)
        }
        job => {
            if is_start_of_a_job(cut) {
                notes.push(CUT_OFF.to_owned());
            } else if let Some(job) = job
                .as_ref()
                .filter(|job| has_empty_lines && cut.is_empty() && !job.is_ended)
            {
                let id = job.parsed.id.as_deref().unwrap_or_default();
                notes.push(format!(
                    "no empty line follows the last job `{}`, as one follows the other jobs: if the document is cut off, \
                     attributes of this job and all later jobs are missing",
                    clipped(id)
                ));
            }
            finish(job, &mut builder);
            with_notes(builder.finish()?, notes)
        }
    }
}

/// The note on the error messages of qstat among its output: where the first one is, and how many
/// others there are.
fn error_messages(text: &str) -> Option<String> {
    let mut messages = text
        .lines()
        .enumerate()
        .filter(|(_, line)| line.starts_with("qstat: "));
    let (index, message) = messages.next()?;
    let others = match messages.count() {
        0 => String::new(),
        others => format!(", and {others} more"),
    };
    Some(format!(
        "line {} is the error message `{}`{others}: jobs may be missing",
        index + 1,
        clipped(message)
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

/// Reports the last job, in whose middle the document ends, and returns the other jobs. An error if
/// the options are strict.
fn reject_last_job(
    job: &ParsedJob<'_>,
    text: &str,
    mut builder: TableBuilder<'_>,
    options: &ReadOptions<'_>,
) -> Result<ParsedJobs, ReadErrorKind> {
    let id = job.id.as_deref().unwrap_or_default();
    if options.strict {
        return Err(ReadErrorKind::Other(format!(
            "ends in the middle of job `{}`: it is cut off, write it again; if it is complete, add the line end that its last \
             line lacks",
            clipped(id)
        )));
    }
    let reason = "the document ends in the middle of the job, without a line end".to_owned();
    builder.converter.report(
        Some(text.lines().count()),
        id,
        Problem::Unreadable { reason },
    );
    with_notes(builder.finish()?, vec![CUT_OFF.to_owned()])
}

fn with_notes(mut read: ParsedJobs, notes: Vec<String>) -> Result<ParsedJobs, ReadErrorKind> {
    read.notes.extend(notes);
    Ok(read)
}

fn finish(job: Option<TextJob<'_>>, builder: &mut TableBuilder<'_>) {
    if let Some(mut job) = job {
        job.end_attribute();
        builder.push(&mut job.parsed);
    }
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
        Self {
            parsed: ParsedJob::with_id(id.trim()),
            ..Self::default()
        }
    }

    fn read_line(&mut self, line: &'d str, converter: &mut JobConverter<'_>) {
        let text = line.trim_start();
        let indentation = &line[..line.len() - text.len()];
        let is_attribute = self.indentation.is_none_or(|usual| usual == indentation);
        if let Some((name, value)) = split_attribute(text).filter(|_| is_attribute) {
            self.indentation = Some(indentation);
            self.is_ended = false;
            self.end_attribute();
            self.attribute = Attribute::new(name, value, converter);
        } else if indentation.starts_with('\t')
            || self
                .indentation
                .is_some_and(|usual| indentation.len() > usual.len())
        {
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
            self.parsed.has_resources |= matches!(attribute.key, JobKey::Resource(_));
            self.parsed
                .set(attribute.key, attribute.name, attribute.scalar());
        }
    }
}

/// The name and the value of `name = value`; a value that is empty may lack the space after `=`.
fn split_attribute(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once(" =")?;
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'));
    match value.strip_prefix(' ') {
        Some(value) if is_name => Some((name, value)),
        None if is_name && value.is_empty() => Some((name, value)),
        _ => None,
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
pub(super) fn read_qstat_dsv(
    text: &str,
    options: &ReadOptions<'_>,
) -> Result<ParsedJobs, ReadErrorKind> {
    let mut builder = TableBuilder::new(options, AmountSource::Server);
    builder.converter.take_processors_of_nodes();
    let mut notes: Vec<String> = error_messages(text).into_iter().collect();
    let (complete, cut) = complete_lines(text);
    let mut rest = if is_start_of_a_job(cut) {
        complete
    } else {
        text
    };
    while let Some(start) = find_job(rest) {
        let job = &rest[start..];
        let end = job["Job Id:".len()..]
            .find("\nJob Id:")
            .map_or(job.len(), |end| end + "Job Id:".len());
        let mut parsed = parse_dsv_job(&job["Job Id:".len()..end], &mut builder.converter);
        rest = &job[end..];
        if rest.is_empty() && !job.ends_with('\n') {
            return with_notes(reject_last_job(&parsed, text, builder, options)?, notes);
        }
        builder.push(&mut parsed);
    }
    if is_start_of_a_job(cut) {
        notes.push(CUT_OFF.to_owned());
    }
    with_notes(builder.finish()?, notes)
}

/// Where the next line begins that begins with a job id.
fn find_job(text: &str) -> Option<usize> {
    if text.starts_with("Job Id:") {
        Some(0)
    } else {
        text.find("\nJob Id:").map(|at| at + 1)
    }
}

fn parse_dsv_job<'d>(text: &'d str, converter: &mut JobConverter<'_>) -> ParsedJob<'d> {
    let text = text.trim_end_matches(['\n', '\r']);
    let text = text.trim_start();
    let id_length = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '[' | ']')))
        .unwrap_or(text.len());
    // behind the id, which has no spaces, is the delimiter, which `-D` may have set to any text;
    // `Job_Name` is the first attribute, unless only some are printed
    let (id, rest) = text.split_at(id_length);
    let before_name = rest
        .find("Job_Name=")
        .filter(|&at| !rest[..at].contains('='));
    let first = before_name
        .or_else(|| rest.find(|c: char| c.is_ascii_alphabetic()))
        .unwrap_or(rest.len());
    let (delimiter, attributes) = rest.split_at(first);
    let mut job = ParsedJob::with_id(id);
    for field in split_unescaped(attributes, delimiter) {
        let Some((name, value)) = field.split_once('=') else {
            continue;
        };
        let Some(mut attribute) = Attribute::new(name, value, converter) else {
            continue;
        };
        if value.contains('\\') && !delimiter.is_empty() {
            attribute.value = Cow::Owned(value.replace(&format!("\\{delimiter}"), delimiter));
        }
        job.has_resources |= matches!(attribute.key, JobKey::Resource(_));
        job.set(attribute.key, attribute.name, attribute.scalar());
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
        (key != JobKey::Unused).then_some(Self {
            key,
            name,
            value: Cow::Borrowed(value),
        })
    }

    /// The value; an amount that is a number becomes a JSON number, although the text does not
    /// distinguish it from a string.
    fn scalar(self) -> JsonScalar<'d> {
        match self.value {
            Cow::Borrowed(text)
                if matches!(self.key, JobKey::Resource(_)) && number(text).is_some() =>
            {
                JsonScalar::Number(text)
            }
            value => JsonScalar::String(value),
        }
    }
}
