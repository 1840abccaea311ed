//! Reads the jobs that `qstat -f` prints as text, wrapped at 80 columns or not (`-w`), and
//! `qstat -f -F dsv`, a job per line.

use std::borrow::Cow;

use job_sort_formula::jobs::Problem;
use jsf_json::{JsonScalar, clipped};
use jsf_openpbs::amounts::{AmountSource, number};
use jsf_openpbs::files::objects::split_unescaped;
use jsf_openpbs::qmgr_command::is_of_name;

use crate::attributes::{JobKey, ParsedJob};
use crate::damaged_json::CUT_OFF;
use crate::table_builder::{JobConverter, ParsedJobs, TableBuilder};
use crate::{ReadErrorKind, ReadOptions};

/// Reads the jobs of a `qstat -f` text, or of `qstat -f -F dsv` with any delimiter. Unlike the JSON of
/// qstat, they have every digit of a large number.
///
/// The lines of a text may all be indented further, as in a mail, and other lines, such as a shell's
/// prompt, may precede, follow and separate the jobs. A line that is indented further than an
/// attribute, or begins with a tab, continues the value before it. In dsv every line that does not
/// begin with `Job Id:` continues the job before it, since a value may contain line ends. A line with
/// an error message of qstat has a note: jobs may be missing.
///
/// The job in which the document ends is rejected, as in JSON that is cut off. qstat ends every
/// line, and in a text it prints an empty one after each job.
///
/// # Errors
/// There are too many jobs, or the document ends in the middle of one and the options are strict.
pub fn read_qstat_listing(
    text: &str,
    is_dsv: bool,
    options: &ReadOptions<'_>,
) -> Result<ParsedJobs, ReadErrorKind> {
    let mut converter = JobConverter::new(options, AmountSource::Server);
    converter.takes_nodes = true;
    let mut builder = TableBuilder::new(options);
    let mut notes = Vec::from_iter(error_messages(text));
    let (complete, cut) = complete_lines(text);
    let mut jobs = text;
    if is_start_of_a_job(cut) {
        notes.push(CUT_OFF.to_owned());
        jobs = complete;
    }
    let mut has_empty_lines = false;
    let mut unended = None;
    for text_of_job in split_jobs(jobs, is_dsv) {
        let (lines, cut) = complete_lines(text_of_job);
        let mut job = TextJob::default();
        if is_dsv {
            job.parsed = parse_dsv_job(text_of_job, &mut converter);
        } else {
            job.read_lines(text_of_job, lines, &mut converter);
        }
        let mut parsed = job.parsed;
        if !cut.is_empty() && !job.is_ended {
            let id = clipped(parsed.id());
            if options.strict {
                return Err(ReadErrorKind::Other(format!(
                    "ends in the middle of job `{id}`: it is cut off, write it again; if it is complete, add the line end that its \
                     last line lacks"
                )));
            }
            let reason =
                "the document ends in the middle of the job, without a line end".to_owned();
            let problem = Problem::Unreadable(reason);
            let line = text.lines().count();
            converter.output.report(Some(line), parsed.id(), problem);
            notes.insert(0, CUT_OFF.to_owned());
            unended = None;
            break;
        }
        unended = (!job.is_ended).then(|| clipped(parsed.id()).into_owned());
        has_empty_lines |= job.is_ended_by_empty_line;
        converter.push(&mut parsed);
        builder.take_many(&mut converter);
    }
    if has_empty_lines && let Some(id) = unended {
        notes.push(format!(
            "no empty line follows the last job `{id}`, as one follows the other jobs: if the document is cut off, attributes \
             of this job and all later jobs are missing"
        ));
    }
    let mut read = builder.finish(converter.output)?;
    read.notes.extend(notes);
    Ok(read)
}

/// The text of each job, with the lines that follow it. Text may be indented, since it is pasted; in
/// dsv an indented line is one of a value, which has its line ends as they are.
fn split_jobs(text: &str, is_dsv: bool) -> Vec<&str> {
    let mut starts = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let first = if is_dsv { line } else { line.trim_start() };
        if first.starts_with(JOB_ID) {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).chain([&at]);
    let jobs = starts.iter().zip(ends);
    jobs.map(|(start, end)| &text[*start..*end]).collect()
}

/// The text behind `Job Id:`.
fn after_job_id(text: &str) -> &str {
    let text = text.trim_start();
    text.strip_prefix(JOB_ID).unwrap_or(text)
}

/// The note on the first error message of qstat among its output.
fn error_messages(text: &str) -> Option<String> {
    let mut lines = (1..).zip(text.lines());
    let (number, message) = lines.find(|(_, line)| line.starts_with("qstat: "))?;
    let message = clipped(message);
    Some(format!(
        "line {number} is the error message `{message}`: jobs may be missing"
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
    // not trimmed: `    Job` may be the beginning of the attribute `Job_Name`
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
    /// Reads the lines that are whole, the first of which has the id.
    fn read_lines(&mut self, text: &'d str, whole: &'d str, converter: &mut JobConverter<'_>) {
        let first = text.lines().next().unwrap_or_default();
        self.parsed.set_id(after_job_id(first).trim().into());
        for line in whole.lines().skip(1) {
            self.read_line(line.trim_end_matches('\r'), converter);
        }
        self.end_attribute();
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

fn parse_dsv_job<'d>(text: &'d str, converter: &mut JobConverter<'_>) -> ParsedJob<'d> {
    let text = after_job_id(text.trim_end_matches(['\n', '\r'])).trim_start();
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
