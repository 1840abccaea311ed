//! The recovering reader of `qstat -f -F json`: reads documents that are not valid JSON, as several
//! versions of qstat and several ways of saving its output produce them.
//!
//! Enters: the text of a document, of which qstat prints one attribute per line. Leaves: the rows
//! of all jobs that can be read, and a problem for each repair and each job that cannot. The
//! indentation of a line shows which object it belongs to, whether or not braces are missing. An
//! attribute that is not valid JSON is dropped. If the formula, the order or the fair-share entity
//! needs it, the whole job is rejected: a value that cannot be read is never replaced by 0. Lines of
//! another origin, such as what a shell printed, are left out with a note.

use job_sort_formula::jobs::Problem;
use jsf_json::{JsonScalar, clipped};
use jsf_openpbs::files::objects::key_and_value;
use jsf_openpbs::resource_amount::AmountSource;
use jsf_openpbs::words::counted;
use serde::de::IgnoredAny;

use crate::attribute_values::integer;
use crate::error::{ReadErrorKind, reason};
use crate::job_converter::JobConverter;
use crate::job_key::{JobKey, QSTAT_KEYS};
use crate::options::{ParsedJobs, ReadOptions};
use crate::parsed_job::ParsedJob;
use crate::table_builder::TableBuilder;

/// Reads the jobs of a document that is not valid JSON because of `error`.
///
/// # Errors
/// There are too many jobs, or the document is not indented as qstat indents it.
pub fn read_damaged_qstat_json(
    text: &str,
    error: &ReadErrorKind,
    options: &ReadOptions<'_>,
) -> Result<ParsedJobs, ReadErrorKind> {
    let mut recovery = Recovery {
        converter: JobConverter::new(options, AmountSource::Server),
        builder: TableBuilder::new(options),
        indentation: Indentation::detect(text).ok_or_else(|| error.clone())?,
        line: 0,
        level: Level::Document,
        job: None,
        lists_of_jobs: 0,
        is_inside_string: false,
        had_comma: None,
        is_closed: true,
        foreign: None,
        notes: vec![note(error)],
    };
    for line in text.lines() {
        recovery.line += 1;
        recovery.read_line(line);
        recovery.builder.take_many(&mut recovery.converter);
    }
    recovery.finish()
}

/// Whether a key has the form of a job id: `12.server`, `12[].server`, `12[3].server`.
fn is_job_id(key: &str) -> bool {
    let Some((number, server)) = key.split_once('.') else {
        return false;
    };
    let (number, index) = match number.strip_suffix(']').and_then(|id| id.split_once('[')) {
        Some((number, index)) => (number, index),
        None => (number, ""),
    };
    let mut digits = number.bytes().chain(index.bytes());
    !number.is_empty()
        && digits.all(|byte| byte.is_ascii_digit())
        && !server.is_empty()
        && !server.contains(char::is_whitespace)
}

/// By how much the lines of jobs and of their attributes are indented, in characters, as most lines
/// are.
#[derive(Debug, Clone, Copy)]
struct Indentation {
    job: usize,
    attribute: usize,
}

/// How deep a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Document,
    Job,
    Attribute,
    /// In a list of a job.
    List,
}

impl Indentation {
    /// `None` if the document is not indented.
    fn detect(text: &str) -> Option<Self> {
        let mut of_jobs = Vec::new();
        let mut of_attributes = Vec::new();
        for line in text.lines() {
            match key_and_value(line.trim()) {
                Some((key, "{")) if is_job_id(key) => of_jobs.push(indent(line)),
                Some(("Job_Name" | "Job_Owner" | "job_state" | "queue" | "server", _)) => {
                    of_attributes.push(indent(line));
                }
                _ => {}
            }
        }
        of_jobs.sort_unstable();
        of_attributes.sort_unstable();
        let job = *of_jobs.get(of_jobs.len() / 2)?;
        let attribute = *of_attributes.get(of_attributes.len() / 2)?;
        (job < attribute).then_some(Self { job, attribute })
    }

    fn level(self, line: &str) -> Level {
        match indent(line) {
            depth if depth < self.job => Level::Document,
            depth if depth == self.job => Level::Job,
            depth if depth <= self.attribute => Level::Attribute,
            _ => Level::List,
        }
    }
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// The job that is being read.
#[derive(Debug, Default)]
struct OpenJob<'d> {
    /// What can be read of it; the id is empty if it is not known.
    parsed: ParsedJob<'d>,
    /// The object inside the job that is being read.
    list: Option<&'d str>,
    /// Why the job cannot be used, and on which line that is seen.
    rejected: Option<(usize, Problem)>,
}

/// The state of the reader at one line of the document.
#[derive(Debug)]
struct Recovery<'d, 'a> {
    converter: JobConverter<'a>,
    builder: TableBuilder<'a>,
    indentation: Indentation,
    /// The number of the line, counted from 1.
    line: usize,
    level: Level,
    job: Option<OpenJob<'d>>,
    lists_of_jobs: usize,
    /// Whether the line before ends inside a string, so that a line that is not an attribute
    /// continues its value.
    is_inside_string: bool,
    /// Whether the line before ended with a comma; `None` if a comma does not matter.
    had_comma: Option<bool>,
    /// Whether a `}` of the document was read after the last line of a job.
    is_closed: bool,
    /// How many lines belong neither to a job nor to the document, and the first of them.
    foreign: Option<(usize, String)>,
    notes: Vec<String>,
}

impl<'d> Recovery<'d, '_> {
    fn read_line(&mut self, line: &'d str) {
        self.level = self.indentation.level(line);
        let text = line.trim();
        let content = text.strip_suffix(',').unwrap_or(text).trim_end();
        let has_comma = content.len() < text.len();
        let entry = key_and_value(content).filter(|(_, value)| !value.is_empty());
        let is_close =
            content.starts_with('}') && content.trim_matches(['}', ' ', '\t']).is_empty();
        if self.is_inside_string {
            let ends_object = is_close && matches!(self.level, Level::Job | Level::Attribute);
            if entry.is_none() && !ends_object && content != "{" {
                self.is_inside_string = !ends_string(text);
                self.had_comma = if self.is_inside_string {
                    None
                } else {
                    Some(has_comma)
                };
                return;
            }
            self.is_inside_string = false;
        }
        if text.is_empty() {
            return;
        }
        let had_comma = self.had_comma.take();
        if let Some((key, value)) = entry {
            self.read_entry(key, value);
            if value != "{" && self.job.is_some() {
                self.had_comma = Some(has_comma);
            }
            if had_comma == Some(false) {
                self.record_repair("the comma before this line is missing".to_owned());
            }
        } else if is_close {
            if had_comma == Some(true) {
                let what = "a comma is followed by `}`; an attribute may be missing";
                self.record_repair(what.to_owned());
            }
            self.close();
            if self.level > Level::Document {
                self.had_comma = Some(has_comma);
            }
        } else if content != "{" || self.level > Level::Job {
            self.read_other(text);
        } else if self.level == Level::Document {
            // another document begins
            self.finish_job();
        }
    }

    fn read_entry(&mut self, key: &'d str, value: &'d str) {
        let is_of_document = self.job.is_none() && self.level < Level::Attribute;
        if is_job_id(key) || value == "{" && self.level == Level::Job {
            self.start_job(key);
            if value != "{" {
                self.record_repair("`{` is missing after the job id".to_owned());
            }
        } else if value == "{" && key == "Jobs" {
            self.finish_job();
            self.lists_of_jobs += 1;
            if self.lists_of_jobs > 1 {
                let line = self.line;
                self.notes.push(format!(
                    "`Jobs` begins again on line {line}; its jobs are added to the others"
                ));
            }
        } else if !is_of_document {
            self.read_attribute(key, value);
        } else if key == "timestamp" {
            self.converter.output.timestamp = integer(&JsonScalar::from_text(value));
        }
    }

    fn record_repair(&mut self, what: String) {
        self.report(Problem::Repaired { what });
    }

    /// Reports a problem of the job that does not reject it.
    fn report(&mut self, problem: Problem) {
        if let Some(job) = &self.job {
            let id = job.parsed.id();
            self.converter.output.report(Some(self.line), id, problem);
        }
    }

    fn reject(&mut self, reason: impl Into<String>) {
        let reason = reason.into();
        self.reject_for(Problem::Unreadable { reason });
    }

    fn reject_for(&mut self, problem: Problem) {
        if let Some(job) = &mut self.job {
            job.rejected.get_or_insert((self.line, problem));
        }
    }

    /// Starts a job, whose id is empty if it is not known.
    fn start_job(&mut self, id: &'d str) {
        self.finish_job();
        let mut job = OpenJob::default();
        job.parsed.set_id(id.into());
        self.job = Some(job);
        self.is_closed = false;
    }

    /// Ends a list whose `}` is missing.
    fn end_unclosed_list(&mut self) {
        if let Some(job) = &mut self.job
            && let Some(list) = job.list.take()
        {
            let list = clipped(list);
            self.record_repair(format!("the `}}` of `{list}` is missing before this line"));
        }
    }

    /// Reads a `}`.
    fn close(&mut self) {
        match (self.level, &mut self.job) {
            (Level::Document, _) => self.is_closed = true,
            (Level::Job, _) => {
                self.end_unclosed_list();
                self.end_job();
            }
            (Level::Attribute, Some(job)) => job.list = None,
            _ => {}
        }
    }

    /// Ends the job at its `}`: adds it to the table, or reports why it is not added.
    fn end_job(&mut self) {
        let Some(mut job) = self.job.take() else {
            return;
        };
        match job.rejected {
            Some((line, problem)) => {
                let id = job.parsed.id();
                self.converter.output.report(Some(line), id, problem);
            }
            None => self.converter.push(&mut job.parsed),
        }
    }

    /// Ends a job whose `}` is missing.
    fn finish_job(&mut self) {
        self.record_repair("the `}` of the job is missing before this line".to_owned());
        self.end_job();
    }

    fn read_attribute(&mut self, key: &'d str, value: &'d str) {
        if self.job.is_none() {
            self.start_job("");
            self.reject("the line with the job id before this one is missing");
        }
        if self.level < Level::List {
            self.end_unclosed_list();
        }
        self.is_closed = false;
        let is_in_list = self.level == Level::List;
        let Some(job) = &mut self.job else { return };
        let meaning = match job.list {
            _ if key.contains('\\') => JobKey::Unused,
            None => self.converter.job_key(key),
            Some(RESOURCE_LIST) => self.converter.resource_key(key),
            Some(list) => self.converter.listed_key(list, key),
        };
        if value == "{" {
            if job.list.is_none() {
                job.list = Some(key);
                job.parsed.set(meaning, key, JsonScalar::OBJECT);
            }
            return;
        }
        if is_in_list && job.list.is_none() {
            return self.reject("this line belongs to a list whose first line is missing");
        }
        let is_name =
            meaning.is_name() || matches!(meaning, JobKey::Cycle("user" | "group" | "project"));
        match serde_json::from_str::<IgnoredAny>(value) {
            Ok(_) if meaning == JobKey::Resources => {
                self.reject(format!(
                    "the line cannot be read as a list: `{}`",
                    clipped(value)
                ));
            }
            Ok(_) => {
                let scalar = JsonScalar::from_text(value);
                if !scalar.is_null() || matches!(meaning, JobKey::Resource(_)) {
                    job.parsed.set(meaning, key, scalar);
                }
            }
            // qstat takes a name that looks like one for a number
            Err(_) if is_name && is_bare_word(value) => {
                job.parsed
                    .set(meaning, key, JsonScalar::String(value.into()));
                let (key, value) = (clipped(key), clipped(value));
                self.record_repair(format!(
                    "`{key}` is {value} without quotes, and is read as text"
                ));
            }
            Err(error) => {
                self.is_inside_string =
                    value.starts_with('"') && (value.len() == 1 || !ends_string(value));
                self.drop_attribute(key, meaning, reason_in_words(&error));
            }
        }
    }

    fn drop_attribute(&mut self, key: &str, meaning: JobKey, reason: String) {
        let Some(job) = &self.job else { return };
        let attribute = match job.list {
            Some(list) => format!("{}.{}", clipped(list), clipped(key)),
            None => clipped(key).into_owned(),
        };
        let is_needed = match meaning {
            JobKey::Unused => false,
            JobKey::Owner => job.parsed.text(JobKey::User).is_empty(),
            JobKey::Resource(_) => self.converter.column(key).is_some(),
            _ => true,
        };
        if is_needed {
            self.reject_for(Problem::DamagedInput { attribute, reason });
        } else {
            self.report(Problem::DroppedAttribute { attribute, reason });
        }
    }

    /// Reads a line that is neither an attribute nor a brace.
    fn read_other(&mut self, text: &'d str) {
        if self.level == Level::Job && text.starts_with('"') {
            let id = text.split('"').nth(1).unwrap_or_default();
            if is_job_id(id) {
                self.start_job(id);
                return self.record_repair("the line with the job id is damaged".to_owned());
            }
            self.start_job("");
            return self.reject("the job id on this line cannot be read");
        }
        let is_from_a_shell =
            !text.starts_with('"') && (text.starts_with("qstat:") || self.level == Level::Document);
        let shown = clipped(text);
        match &self.job {
            Some(job) if !is_from_a_shell => {
                let is_of_other_list = job.list.is_some_and(|list| list != RESOURCE_LIST);
                if is_of_other_list || !self.may_be_needed(text) {
                    self.record_repair(format!(
                        "the line is not an attribute and is ignored: `{shown}`"
                    ));
                } else {
                    self.reject(format!(
                        "the line cannot be read as an attribute: `{shown}`"
                    ));
                }
            }
            _ => match &mut self.foreign {
                Some((count, _)) => *count += 1,
                None => {
                    let first = format!("the first is line {}: `{shown}`", self.line);
                    self.foreign = Some((1, first));
                }
            },
        }
    }

    /// Whether a damaged line may contain an attribute that is needed, by what is left of the
    /// attribute's name.
    fn may_be_needed(&self, text: &str) -> bool {
        let name = text.trim_start_matches('"');
        let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')));
        let name = &name[..end.unwrap_or(name.len())];
        let columns = self.converter.options.needed;
        let mut needed = QSTAT_KEYS.iter().map(|(key, _)| key).chain(columns);
        name.len() < 3 || needed.any(|needed| needed.contains(name) || name.contains(needed))
    }

    fn finish(mut self) -> Result<ParsedJobs, ReadErrorKind> {
        if !self.is_closed {
            self.reject("the document ends in the middle of the job");
            self.notes.push(CUT_OFF.to_owned());
        }
        self.finish_job();
        if let Some((count, first)) = &self.foreign {
            let lines = counted(*count, "line is", "lines are");
            self.notes
                .push(format!("{lines} not JSON and ignored, {first}"));
        }
        Ok(ParsedJobs {
            notes: self.notes,
            ..self.builder.finish_with(self.converter.output)?
        })
    }
}

/// The note on a document that ends too early.
pub const CUT_OFF: &str = "the document is cut off: the jobs after its end are missing, and ranks are not those of the queue";

const RESOURCE_LIST: &str = "Resource_List";

fn note(error: &ReadErrorKind) -> String {
    match error {
        ReadErrorKind::Json {
            line,
            column,
            reason,
            ..
        } => format!(
            "the JSON is damaged at line {line}, column {column} ({reason}); each line is read by itself"
        ),
        ReadErrorKind::Other(found) => format!("it {found}; each line is read by itself"),
    }
}

/// Why a value is not valid JSON, in plain words.
fn reason_in_words(error: &serde_json::Error) -> String {
    let reason = reason(error);
    match reason.as_str() {
        "EOF while parsing a string" => "a string without its closing quote",
        "trailing characters" => "more than one value",
        "expected value" | "expected ident" | "invalid number" => "neither a number nor a string",
        "invalid escape" => "an invalid escape",
        text if text.starts_with("control character") => "a control character in a string",
        _ => return reason,
    }
    .to_owned()
}

/// Whether a value is what qstat prints without quotes because it takes it for a number.
fn is_bare_word(value: &str) -> bool {
    let mut bytes = value.bytes();
    bytes.all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

/// Whether a line ends with the quote that ends a string.
fn ends_string(text: &str) -> bool {
    text.trim_end().trim_end_matches(',').ends_with('"')
}
