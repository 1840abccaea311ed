//! The recovering reader of `qstat -f -F json`: reads documents that are not valid JSON, as several
//! versions of qstat and several ways of saving its output produce them.
//!
//! Enters: the text of a document, of which qstat prints one attribute per line. Leaves: the rows
//! of all jobs that can be read, and a problem for each repair and each job that cannot. An
//! attribute that is not valid JSON is dropped. If the formula, the order or the fair-share entity
//! needs it, the whole job is rejected: a value that cannot be read is never replaced by 0. If
//! braces are missing, the indentation of a line shows which object it belongs to.

use std::borrow::Cow;
use std::collections::HashMap;

use job_sort_formula::jobs::Problem;
use jsf_json::{JsonScalar, clipped};
use jsf_openpbs::resource_amount::AmountSource;
use serde::de::IgnoredAny;

use crate::error::{ReadErrorKind, reason};
use crate::job_key::JobKey;
use crate::json_reader::JsonReader;
use crate::json_scanner::Scanner;
use crate::options::{ParsedJobs, ReadOptions};
use crate::parsed_job::{MAX_PROBLEMS, ParsedJob};
use crate::table_builder::TableBuilder;

/// Reads the jobs of a document that is not valid JSON because of `error`.
///
/// # Errors
/// There are too many jobs, or the document does not have one attribute or one job per line.
pub(super) fn read_damaged_qstat_json(
    text: &str,
    error: &ReadErrorKind,
    options: &ReadOptions<'_>,
) -> Result<ParsedJobs, ReadErrorKind> {
    let mut recovery = Recovery::new(text, error, options);
    for (index, line) in text.lines().enumerate() {
        recovery.number = index + 1;
        recovery.read_line(line);
    }
    if recovery.builder.jobs_read() + usize::from(recovery.job.is_some()) == 0
        || recovery.foreign.has_attributes
    {
        return Err(error.clone());
    }
    recovery.finish()
}

/// A line of the document, by what it seems to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'d> {
    Empty,
    /// `{`
    DocumentStart,
    /// `"key": {`
    Open(&'d str),
    /// `"12.vm": {`
    JobStart(&'d str),
    /// One or more `}` and nothing else.
    Close {
        braces: usize,
        has_comma: bool,
    },
    /// `"key": value`, and whether a comma follows.
    Attribute {
        key: &'d str,
        value: &'d str,
        has_comma: bool,
    },
    /// None of these.
    Other,
}

impl<'d> Line<'d> {
    fn parse(text: &'d str, is_at_job_level: bool) -> Self {
        let (text, has_comma) = match text.trim_end().strip_suffix(',') {
            Some(text) => (text.trim_end(), true),
            None => (text.trim_end(), false),
        };
        if text.is_empty() {
            return if has_comma { Self::Other } else { Self::Empty };
        }
        if text == "{" {
            return Self::DocumentStart;
        }
        if text
            .bytes()
            .all(|byte| byte == b'}' || byte.is_ascii_whitespace())
        {
            return Self::Close {
                braces: text.bytes().filter(|&byte| byte == b'}').count(),
                has_comma,
            };
        }
        let Some((key, value)) = key_and_value(text) else {
            return Self::Other;
        };
        match value {
            "{" if is_at_job_level || is_job_id(key) => Self::JobStart(key),
            "{" => Self::Open(key),
            _ => Self::Attribute {
                key,
                value,
                has_comma,
            },
        }
    }
}

/// The key and the value of `"key": value`.
fn key_and_value(text: &str) -> Option<(&str, &str)> {
    let (key, rest) = text.strip_prefix('"')?.split_once('"')?;
    let value = rest.trim_start().strip_prefix(':')?.trim_start();
    (!value.is_empty()).then_some((key, value))
}

/// Whether a key has the form of a job id: `12.server`, `12[].server`, `12[3].server`.
fn is_job_id(key: &str) -> bool {
    let rest = key.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == key.len() {
        return false;
    }
    let rest = match rest.strip_prefix('[') {
        Some(index) => match index.split_once(']') {
            Some((index, rest)) if index.bytes().all(|byte| byte.is_ascii_digit()) => rest,
            _ => return false,
        },
        None => rest,
    };
    rest.strip_prefix('.')
        .is_some_and(|server| !server.is_empty() && !server.contains(char::is_whitespace))
}

/// By how much the lines of jobs and of their attributes are indented, in characters, as most lines
/// are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Indentation {
    job: usize,
    attribute: usize,
}

impl Indentation {
    /// `None` if the document is not indented.
    fn detect(text: &str) -> Option<Self> {
        let mut of_jobs = HashMap::new();
        let mut of_attributes = HashMap::new();
        for line in text.lines() {
            match key_and_value(line.trim()) {
                Some((key, value)) if is_job_id(key) && value == "{" => {
                    *of_jobs.entry(indent(line)).or_insert(0_usize) += 1;
                }
                Some(("Job_Name" | "Job_Owner" | "job_state" | "queue" | "server", _)) => {
                    *of_attributes.entry(indent(line)).or_insert(0_usize) += 1;
                }
                _ => {}
            }
        }
        let [job, attribute] = [of_jobs, of_attributes].map(|counts| {
            counts
                .into_iter()
                .max_by_key(|&(indent, count)| (count, usize::MAX - indent))
        });
        let (job, _) = job?;
        let (attribute, _) = attribute?;
        (job < attribute).then_some(Self { job, attribute })
    }
}

fn indent(line: &str) -> usize {
    line.chars().take_while(|c| matches!(c, ' ' | '\t')).count()
}

/// The job that is being read.
#[derive(Debug, Default)]
struct OpenJob<'d> {
    /// The number of its first line.
    line: usize,
    parsed: ParsedJob<'d>,
    /// The object inside the job that is being read.
    list: Option<&'d str>,
    attributes: usize,
    /// What was repaired or dropped, and on which lines.
    repairs: Vec<(usize, Problem)>,
    /// Why the job cannot be used, and on which line that is seen.
    rejected: Option<(usize, Problem)>,
    /// Whether `Job_Owner` was dropped.
    has_lost_owner: bool,
    /// Whether a `}` at the level of the document was read since the last attribute.
    is_ended_by_document: bool,
}

impl OpenJob<'_> {
    fn push_repair(&mut self, line: usize, problem: Problem) {
        if self.repairs.len() < MAX_PROBLEMS {
            self.repairs.push((line, problem));
        }
    }
}

/// The state of the reader at one line of the document.
#[derive(Debug)]
struct Recovery<'d, 'a> {
    builder: TableBuilder<'a>,
    reader: JsonReader,
    indentation: Option<Indentation>,
    /// The number of the line, counted from 1.
    number: usize,
    job: Option<OpenJob<'d>>,
    lists_of_jobs: usize,
    /// Whether the line before ends inside a string, so that a line that is not an attribute
    /// continues its value.
    is_inside_string: bool,
    /// Whether the line before ended with a comma; `None` if a comma does not matter.
    had_comma: Option<bool>,
    /// Whether a `}` that is not the end of a job or of a list in it was read after the last job.
    is_closed: bool,
    foreign: ForeignLines,
    notes: Vec<String>,
}

/// The lines that belong neither to a job nor to the document.
#[derive(Debug, Default)]
struct ForeignLines {
    count: usize,
    first: Option<(usize, String)>,
    /// Whether one of them has several attributes.
    has_attributes: bool,
}

impl ForeignLines {
    fn push(&mut self, number: usize, text: &str) {
        self.count += 1;
        self.has_attributes |= text.matches("\":").count() > 3;
        self.first
            .get_or_insert_with(|| (number, clipped(text).into_owned()));
    }

    fn note(&self) -> Option<String> {
        let (number, text) = self.first.as_ref()?;
        let lines = if self.count == 1 {
            "1 line is".to_owned()
        } else {
            format!("{} lines are", self.count)
        };
        Some(format!(
            "{lines} not JSON and ignored, the first is line {number}: `{text}`"
        ))
    }
}

impl<'d, 'a> Recovery<'d, 'a> {
    fn new(text: &str, error: &ReadErrorKind, options: &'a ReadOptions<'a>) -> Self {
        Self {
            builder: TableBuilder::new(options, AmountSource::Server),
            reader: JsonReader::new(),
            indentation: Indentation::detect(text),
            number: 0,
            job: None,
            lists_of_jobs: 0,
            is_inside_string: false,
            had_comma: None,
            is_closed: true,
            foreign: ForeignLines::default(),
            notes: vec![note(error)],
        }
    }

    fn read_line(&mut self, text: &'d str) {
        let depth = indent(text);
        let line = Line::parse(
            text.trim(),
            self.indentation
                .is_some_and(|indentation| indentation.job == depth),
        );
        let was_inside_string = std::mem::take(&mut self.is_inside_string);
        if was_inside_string && self.continues_string(line, depth) {
            self.is_inside_string = line == Line::Empty || !ends_string(text);
            self.had_comma = (!self.is_inside_string).then(|| text.trim_end().ends_with(','));
            return;
        }
        let had_comma = self.had_comma.take();
        match line {
            Line::Empty => self.had_comma = had_comma,
            Line::DocumentStart => self.finish_job(),
            Line::JobStart(id) => self.start_job(id),
            Line::Open("Jobs") => self.start_list_of_jobs(),
            Line::Open(key) => self.open_list(key, depth),
            Line::Close { braces, has_comma } => {
                if had_comma == Some(true) {
                    self.record_repair("a comma is followed by `}`; an attribute may be missing");
                }
                self.close(braces, depth);
                self.had_comma = (braces == 1 && !self.is_closed).then_some(has_comma);
            }
            Line::Attribute {
                key,
                value,
                has_comma,
            } => {
                self.read_attribute(key, value, depth);
                self.had_comma = self.job.is_some().then_some(has_comma);
            }
            Line::Other => self.read_other(text.trim(), depth),
        }
        if had_comma == Some(false)
            && matches!(
                line,
                Line::Attribute { .. } | Line::Open(_) | Line::JobStart(_)
            )
        {
            self.record_repair("the comma before this line is missing");
        }
    }

    /// Whether a line after one that ends inside a string is a part of the string.
    fn continues_string(&self, line: Line<'_>, depth: usize) -> bool {
        match line {
            Line::Empty | Line::Other => true,
            Line::Close { .. } => self
                .indentation
                .is_some_and(|level| depth != level.job && depth != level.attribute),
            _ => false,
        }
    }

    fn is_deeper_than_attributes(&self, depth: usize) -> bool {
        self.indentation
            .is_some_and(|indentation| depth > indentation.attribute)
    }

    fn record_repair(&mut self, what: &str) {
        let number = self.number;
        if let Some(job) = &mut self.job {
            job.push_repair(
                number,
                Problem::Repaired {
                    what: what.to_owned(),
                },
            );
        }
    }

    fn reject(&mut self, reason: impl Into<String>) {
        let number = self.number;
        if let Some(job) = &mut self.job {
            job.rejected.get_or_insert_with(|| {
                (
                    number,
                    Problem::Unreadable {
                        reason: reason.into(),
                    },
                )
            });
        }
    }

    fn start_list_of_jobs(&mut self) {
        self.finish_job();
        self.lists_of_jobs += 1;
        if self.lists_of_jobs > 1 {
            self.notes.push(format!(
                "`Jobs` begins again on line {}; its jobs are added to the others",
                self.number
            ));
        }
    }

    fn start_job(&mut self, id: &'d str) {
        self.finish_job();
        let parsed = ParsedJob::with_id(id);
        self.job = Some(OpenJob {
            line: self.number,
            parsed,
            ..OpenJob::default()
        });
    }

    /// Starts a job whose id cannot be read.
    fn start_nameless_job(&mut self, reason: &str) {
        self.finish_job();
        self.job = Some(OpenJob {
            line: self.number,
            ..OpenJob::default()
        });
        self.reject(reason);
    }

    fn open_list(&mut self, key: &'d str, depth: usize) {
        if !self.ensure_job(depth) {
            return;
        }
        self.leave_unclosed_list(depth, key);
        if let Some(job) = &mut self.job {
            job.attributes += 1;
            job.is_ended_by_document = false;
            if job.list.is_none() {
                job.list = Some(key);
                if key == RESOURCE_LIST {
                    job.parsed.has_resources = true;
                    job.parsed.note_given(JobKey::Resources, key);
                }
            }
        }
    }

    /// Whether a job is open. An attribute after the end of a job starts one whose id is not known.
    fn ensure_job(&mut self, depth: usize) -> bool {
        let is_attribute = self
            .indentation
            .is_some_and(|indentation| depth >= indentation.attribute);
        if self.job.is_none() && is_attribute {
            self.start_nameless_job("the line with the job id before this one is missing");
        }
        self.job.is_some()
    }

    /// Leaves a list whose `}` is missing, if the indentation or the key shows that the job goes
    /// on.
    fn leave_unclosed_list(&mut self, depth: usize, key: &str) {
        let Some(list) = self.job.as_ref().and_then(|job| job.list) else {
            return;
        };
        let is_outside = match self.indentation {
            Some(indentation) => depth <= indentation.attribute,
            None => JobKey::from_qstat(key) != JobKey::Unused,
        };
        if is_outside {
            self.record_repair(&format!(
                "the `}}` of `{}` is missing before this line",
                clipped(list)
            ));
            if let Some(job) = &mut self.job {
                job.list = None;
            }
        }
    }

    fn close(&mut self, braces: usize, depth: usize) {
        for brace in 0..braces {
            match (&mut self.job, self.indentation) {
                (None, _) => self.is_closed = true,
                (Some(_), Some(level)) if brace == 0 && depth > level.attribute => {}
                (Some(job), Some(level)) if brace == 0 && depth == level.attribute => {
                    job.list = None
                }
                (Some(job), Some(level)) if brace == 0 && depth < level.job => {
                    job.is_ended_by_document = true
                }
                (Some(job), level) if job.list.is_some() => {
                    let list = job.list.take().unwrap_or_default();
                    if level.is_some_and(|level| brace == 0 && depth == level.job) {
                        self.record_repair(&format!(
                            "the `}}` of `{}` is missing before this line",
                            clipped(list)
                        ));
                        self.end_job();
                    }
                }
                (Some(_), _) => self.end_job(),
            }
        }
    }

    /// Ends the job at its `}`.
    fn end_job(&mut self) {
        if let Some(job) = self.job.take() {
            self.push(job);
            self.is_closed = false;
        }
    }

    /// Ends a job whose `}` is missing.
    fn finish_job(&mut self) {
        if self.job.is_some() {
            self.record_repair("the `}` of the job is missing before this line");
            self.end_job();
        }
    }

    fn read_attribute(&mut self, key: &'d str, value: &'d str, depth: usize) {
        if is_job_id(key) && value.starts_with('{') {
            return self.read_job_on_one_line(key, value);
        }
        if self.indentation.is_some_and(|level| depth == level.job) && is_job_id(key) {
            self.start_job(key);
            return self.record_repair("`{` is missing after the job id");
        }
        let is_timestamp = self.job.is_none() && key == "timestamp";
        if is_timestamp && serde_json::from_str::<IgnoredAny>(value).is_ok() {
            self.builder.set_timestamp(&JsonScalar::from_text(value));
        }
        if !self.ensure_job(depth) {
            return;
        }
        self.leave_unclosed_list(depth, key);
        if self.is_deeper_than_attributes(depth)
            && self.job.as_ref().is_some_and(|job| job.list.is_none())
        {
            self.reject("this line belongs to a list whose first line is missing");
        }
        let Some(job) = &mut self.job else { return };
        job.attributes += 1;
        job.is_ended_by_document = false;
        let list = job.list;
        let meaning = match list {
            None => self.builder.converter.job_key(key),
            Some(RESOURCE_LIST) => self.builder.converter.resource_key(key),
            Some(list) => self.builder.converter.listed_key(list, key),
        };
        match (serde_json::from_str::<IgnoredAny>(value), meaning) {
            (Ok(_), JobKey::Unused | JobKey::CycleList) => {}
            (Ok(_), JobKey::Resources) => {
                job.parsed.has_resources = true;
                job.parsed.note_given(JobKey::Resources, key);
                let converter = &mut self.builder.converter;
                if self
                    .reader
                    .read_resources(value, &mut job.parsed, converter)
                    .is_none()
                {
                    job.parsed.reject(key, "not an object", "an object");
                }
            }
            (Ok(_), _) => {
                let scalar = JsonScalar::from_text(value);
                if !scalar.is_null() {
                    job.parsed.set(meaning, key, scalar);
                }
            }
            (Err(_), meaning) if is_name(meaning) && is_bare_word(value) => {
                job.parsed
                    .set(meaning, key, JsonScalar::String(Cow::Borrowed(value)));
                let what = format!(
                    "`{}` is {} without quotes, and is read as text",
                    clipped(key),
                    clipped(value)
                );
                self.record_repair(&what);
            }
            (Err(error), meaning) => {
                self.is_inside_string =
                    value.starts_with('"') && (value.len() == 1 || !ends_string(value));
                self.drop_attribute(key, meaning, &reason_in_words(&error));
            }
        }
    }

    fn read_job_on_one_line(&mut self, id: &'d str, value: &'d str) {
        self.finish_job();
        self.is_closed = false;
        let text = format!("\"{id}\":{value}");
        let mut scanner = Scanner::new(&text);
        let converter = &mut self.builder.converter;
        let read = self
            .reader
            .read_entry(&mut scanner, &mut ParsedJob::default(), converter);
        if read.is_none() || !scanner.is_at_end() {
            let reason = "the job on this line is not valid JSON".to_owned();
            self.builder
                .converter
                .report(Some(self.number), id, Problem::Unreadable { reason });
        }
    }

    fn drop_attribute(&mut self, key: &str, meaning: JobKey, reason: &str) {
        let Some(job) = &mut self.job else { return };
        let is_needed = match meaning {
            JobKey::Unused => false,
            JobKey::Resource(_) => self
                .builder
                .converter
                .column_names()
                .any(|name| name == key),
            JobKey::Owner => {
                job.has_lost_owner = true;
                false
            }
            _ => true,
        };
        let attribute = match job.list {
            Some(list) => format!("{}.{}", clipped(list), clipped(key)),
            None => clipped(key).into_owned(),
        };
        let reason = reason.to_owned();
        if is_needed {
            job.rejected
                .get_or_insert((self.number, Problem::DamagedInput { attribute, reason }));
        } else {
            job.push_repair(self.number, Problem::DroppedAttribute { attribute, reason });
        }
    }

    /// Reads a line that is neither an attribute nor a brace.
    fn read_other(&mut self, text: &'d str, depth: usize) {
        let is_at_job_level = self.indentation.is_some_and(|level| depth == level.job);
        if is_at_job_level && text.starts_with('"') {
            let id = text
                .trim_start_matches('"')
                .split(['"', ':', ' ', '\t'])
                .next()
                .unwrap_or("");
            if is_job_id(id) && text.starts_with(&format!("\"{id}\"")) {
                self.start_job(id);
                return self.record_repair("the line with the job id is damaged");
            }
            return self.start_nameless_job("the job id on this line cannot be read");
        }
        let is_from_a_shell = !text.starts_with('"') && (text.starts_with("qstat:") || depth == 0);
        match &self.job {
            Some(_) if is_from_a_shell && self.indentation.is_some() => {
                self.foreign.push(self.number, text)
            }
            None => self.foreign.push(self.number, text),
            Some(job) if job.list.is_some_and(|list| list != RESOURCE_LIST) => {
                let what = format!(
                    "the line is not an attribute and is ignored: `{}`",
                    clipped(text)
                );
                self.record_repair(&what);
            }
            Some(_) if self.may_be_needed(text) => {
                self.reject(format!(
                    "the line cannot be read as an attribute: `{}`",
                    clipped(text)
                ));
            }
            Some(_) => self.record_repair(&format!(
                "the line is not an attribute and is ignored: `{}`",
                clipped(text)
            )),
        }
    }

    /// Whether a damaged line may contain an attribute that is needed, by what is left of the
    /// attribute's name.
    fn may_be_needed(&self, text: &str) -> bool {
        const ATTRIBUTES: [&str; 11] = [
            "Resource_List",
            "euser",
            "egroup",
            "Account_Name",
            "Job_Owner",
            "queue",
            "job_state",
            "queue_rank",
            "eligible_time",
            "accrue_type",
            "Priority",
        ];
        let name = text.trim_start_matches('"');
        let end = name
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')))
            .unwrap_or(name.len());
        let name = &name[..end];
        let mut needed = ATTRIBUTES
            .into_iter()
            .chain(self.builder.converter.column_names());
        name.len() < 3 || needed.any(|needed| needed.contains(name) || name.contains(needed))
    }

    /// Adds a job to the table, or reports why it is not added.
    fn push(&mut self, job: OpenJob<'d>) {
        let OpenJob {
            line,
            mut parsed,
            attributes,
            repairs,
            mut rejected,
            has_lost_owner,
            ..
        } = job;
        if attributes == 0 {
            rejected.get_or_insert((
                line,
                Problem::Unreadable {
                    reason: "the job has no attributes".to_owned(),
                },
            ));
        }
        if has_lost_owner && parsed.user.is_empty() {
            let reason = "no `euser` replaces it".to_owned();
            rejected.get_or_insert((
                line,
                Problem::DamagedInput {
                    attribute: "Job_Owner".to_owned(),
                    reason,
                },
            ));
        }
        let id = parsed.id.clone().unwrap_or_default();
        for (line, problem) in repairs {
            self.builder.converter.report(Some(line), &id, problem);
        }
        match rejected {
            Some((line, problem)) => self.builder.converter.report(Some(line), &id, problem),
            None => self.builder.push(&mut parsed),
        }
    }

    fn finish(mut self) -> Result<ParsedJobs, ReadErrorKind> {
        if let Some(job) = &self.job {
            if !job.is_ended_by_document {
                self.reject("the document ends in the middle of the job");
                self.notes.push(CUT_OFF.to_owned());
            }
            self.finish_job();
        } else if !self.is_closed {
            self.notes.push(CUT_OFF.to_owned());
        }
        let notes = self.notes.into_iter().chain(self.foreign.note()).collect();
        Ok(ParsedJobs {
            notes,
            ..self.builder.finish()?
        })
    }
}

/// The note on a document that ends too early.
pub(super) const CUT_OFF: &str = "the document is cut off: the jobs after its end are missing, and ranks are not those of the queue";

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

/// Whether the value of an attribute is a name, which may look like a number.
fn is_name(meaning: JobKey) -> bool {
    match meaning {
        JobKey::User | JobKey::Group | JobKey::Account | JobKey::Owner | JobKey::Queue => true,
        JobKey::Cycle(key) => key.is_name(),
        _ => false,
    }
}

/// Whether a value is what qstat prints without quotes because it takes it for a number.
fn is_bare_word(value: &str) -> bool {
    value
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'))
}

/// Whether a line ends with the quote that ends a string.
fn ends_string(text: &str) -> bool {
    text.trim_end().trim_end_matches(',').ends_with('"')
}
