//! Reads `qstat -f -F json` that is not valid JSON, as several versions of qstat and several ways of
//! saving its output produce it.
//!
//! qstat prints one attribute per line. The rows of all jobs that can be read leave, and a problem for
//! each repair and each job that cannot. An attribute that is not valid JSON is
//! dropped. If the formula, the order or the fair-share entity needs it, the whole job is rejected: a
//! value that cannot be read is never replaced by 0. If braces are missing, the indentation of a line
//! shows which object it belongs to. Lines of another origin, such as what a shell printed, are left out
//! with a note.

use std::collections::HashMap;

use job_sort_formula::jobs::Problem;
use jsf_json::{JsonScalar, clipped, reason};
use jsf_openpbs::AmountSource;
use jsf_openpbs::files::objects::key_and_value;
use jsf_words::counted;
use serde::de::IgnoredAny;

use crate::attributes::{JobKey, MAX_PROBLEMS, ParsedJob, QSTAT_KEYS, integer};
use crate::json_reader::JsonReader;
use crate::scanner::Scanner;
use crate::table_builder::{ParsedJobs, TableBuilder};
use crate::{ReadErrorKind, ReadOptions};

/// Reads the jobs of a document that is not valid JSON because of `error`.
///
/// # Errors
/// There are too many jobs, or the document does not have one attribute or one job per line.
pub fn read_damaged_qstat_json(
    text: &str,
    error: &ReadErrorKind,
    options: &ReadOptions<'_>,
) -> Result<ParsedJobs, ReadErrorKind> {
    let mut recovery = Recovery {
        reader: JsonReader::new(options, AmountSource::Server),
        builder: TableBuilder::new(options),
        indentation: Indentation::detect(text),
        number: 0,
        depth: 0,
        job: None,
        lists_of_jobs: 0,
        is_inside_string: false,
        had_comma: false,
        is_closed: true,
        foreign: ForeignLines::default(),
        notes: vec![format!("it {error}; each line is read by itself")],
    };
    for (index, line) in text.lines().enumerate() {
        recovery.number = index + 1;
        recovery.read_line(line);
        recovery.builder.take_many(&mut recovery.reader.converter);
    }
    let has_jobs = recovery.job.is_some()
        || recovery.builder.jobs_read() > 0
        || !recovery.reader.converter.output.parts.is_empty();
    // with several attributes in a line, what is left of the jobs would be without them
    if !has_jobs || recovery.foreign.has_attributes {
        return Err(error.clone());
    }
    recovery.finish()
}

/// A line of the document, without white space around it and a comma at its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line<'d> {
    Empty,
    /// So many `}` and nothing else.
    Close(usize),
    /// `"key": value`, or `"key": {`.
    Entry(&'d str, &'d str),
    /// None of these.
    Other,
}

impl<'d> Line<'d> {
    fn parse(text: &'d str) -> Self {
        if text.is_empty() {
            return Self::Empty;
        }
        let mut bytes = text.bytes();
        if bytes.all(|byte| byte == b'}' || byte.is_ascii_whitespace()) {
            return Self::Close(text.matches('}').count());
        }
        match key_and_value(text) {
            Some((key, value)) if !value.is_empty() => Self::Entry(key, value),
            _ => Self::Other,
        }
    }
}

/// Whether a key has the form of a job id: `12.server`, `12[].server`, `12[3].server`.
fn is_job_id(key: &str) -> bool {
    let mut rest = key.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() == key.len() {
        return false;
    }
    if let Some(index) = rest.strip_prefix('[') {
        let index = index.trim_start_matches(|c: char| c.is_ascii_digit());
        let Some(server) = index.strip_prefix(']') else {
            return false;
        };
        rest = server;
    }
    match rest.strip_prefix('.') {
        Some(server) => !server.is_empty() && !server.contains(char::is_whitespace),
        None => false,
    }
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
    BelowJob,
    Attribute,
    /// In a list of a job.
    List,
}

impl Indentation {
    /// `None` if the document is not indented.
    fn detect(text: &str) -> Option<Self> {
        let mut job_keys = HashMap::new();
        let mut attribute_keys = HashMap::new();
        for line in text.lines() {
            let counts = match key_and_value(line.trim()) {
                Some((key, "{")) if is_job_id(key) => &mut job_keys,
                Some(("Job_Name" | "Job_Owner" | "job_state" | "queue" | "server", _)) => {
                    &mut attribute_keys
                }
                _ => continue,
            };
            *counts.entry(indent(line)).or_insert(0_usize) += 1;
        }
        let (job, attribute) = (most_frequent(job_keys)?, most_frequent(attribute_keys)?);
        if job >= attribute {
            return None;
        }
        Some(Self { job, attribute })
    }

    fn level(self, depth: usize) -> Level {
        if depth > self.attribute {
            Level::List
        } else if depth == self.attribute {
            Level::Attribute
        } else if depth > self.job {
            Level::BelowJob
        } else if depth == self.job {
            Level::Job
        } else {
            Level::Document
        }
    }
}

/// The key with the greatest count; of several the least one.
fn most_frequent(counts: HashMap<usize, usize>) -> Option<usize> {
    let counts = counts.into_iter();
    let (most, _) = counts.max_by_key(|&(key, count)| (count, usize::MAX - key))?;
    Some(most)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// The job that is being read.
#[derive(Debug, Default)]
struct OpenJob<'d> {
    /// The number of its first line.
    line: usize,
    /// What can be read; the id is empty if it is not known.
    parsed: ParsedJob<'d>,
    /// The object inside the job that is being read.
    list: Option<&'d str>,
    has_attributes: bool,
    /// Whether `Job_Owner` was dropped.
    has_lost_owner: bool,
    /// What was repaired or dropped, and on which lines.
    repairs: Vec<(usize, Problem)>,
    /// Why the job cannot be used, and on which line that is seen.
    rejected: Option<(usize, Problem)>,
    /// Whether a `}` at the level of the document was read since the last attribute.
    is_ended_by_document: bool,
}

impl<'d> OpenJob<'d> {
    fn push_repair(&mut self, line: usize, problem: Problem) {
        if self.repairs.len() < MAX_PROBLEMS {
            self.repairs.push((line, problem));
        }
    }

    fn reject(&mut self, line: usize, reason: &str) {
        let reason = reason.to_owned();
        let problem = Problem::Unreadable(reason);
        self.rejected.get_or_insert((line, problem));
    }
}

fn damaged_input(attribute: &str, reason: &str) -> Problem {
    Problem::Unreadable(format!(
        "`{attribute}` is needed, and is not valid JSON ({reason})"
    ))
}

/// The state of the reader at one line of the document.
#[derive(Debug)]
struct Recovery<'d, 'a> {
    reader: JsonReader<'a>,
    builder: TableBuilder<'a>,
    indentation: Option<Indentation>,
    /// The number of the line, counted from 1.
    number: usize,
    /// By how many characters the line is indented.
    depth: usize,
    job: Option<OpenJob<'d>>,
    lists_of_jobs: usize,
    /// Whether the line before ends inside a string, so that a line that is not an attribute
    /// continues its value.
    is_inside_string: bool,
    /// Whether the line before ended with a comma, which something has to follow.
    had_comma: bool,
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
        if self.first.is_none() {
            self.first = Some((number, clipped(text).into_owned()));
        }
    }

    fn note(&self) -> Option<String> {
        let (number, text) = self.first.as_ref()?;
        let lines = counted(self.count, "line is", "lines are");
        Some(format!(
            "{lines} not JSON and ignored, the first is line {number}: `{text}`"
        ))
    }
}

impl<'d> Recovery<'d, '_> {
    /// How deep the line is; `None` if the document is not indented.
    fn level(&self) -> Option<Level> {
        Some(self.indentation?.level(self.depth))
    }

    fn read_line(&mut self, text: &'d str) {
        self.depth = indent(text);
        let text = text.trim();
        let content = text.strip_suffix(',').unwrap_or(text).trim_end();
        let has_comma = content.len() < text.len();
        let mut line = Line::parse(content);
        if line == Line::Empty && has_comma {
            line = Line::Other;
        }
        if std::mem::take(&mut self.is_inside_string) && self.continues_string(line, content) {
            self.is_inside_string = line == Line::Empty || !ends_string(text);
            self.had_comma = has_comma && !self.is_inside_string;
            return;
        }
        if line == Line::Empty {
            return;
        }
        let had_comma = std::mem::replace(&mut self.had_comma, has_comma);
        match line {
            Line::Close(braces) => {
                if had_comma {
                    self.record_repair("a comma is followed by `}`; an attribute may be missing");
                }
                for brace in 0..braces {
                    self.close(brace == 0);
                }
            }
            Line::Entry(key, value) => self.read_entry(key, value),
            // the document begins
            _ if content == "{" => self.finish_job(),
            _ => self.read_other(text),
        }
    }

    /// Whether a line after one that ends inside a string is a part of the string.
    fn continues_string(&self, line: Line<'_>, content: &str) -> bool {
        match line {
            Line::Empty => true,
            Line::Other => content != "{",
            // where a brace can end something, it does
            Line::Close(_) => !matches!(self.level(), None | Some(Level::Job | Level::Attribute)),
            Line::Entry(..) => false,
        }
    }

    fn read_entry(&mut self, key: &'d str, value: &'d str) {
        let is_at_job_level = self.level() == Some(Level::Job);
        let is_id = is_job_id(key);
        match value {
            "{" if is_at_job_level || is_id => self.start_job(key),
            "{" if key == "Jobs" => self.start_list_of_jobs(),
            "{" => {
                self.start_missing_job();
                self.leave_unclosed_list(key);
                if let Some(job) = &mut self.job {
                    job.has_attributes = true;
                    job.is_ended_by_document = false;
                    if job.list.is_none() {
                        job.list = Some(key);
                        let meaning = self.reader.converter.job_key(key);
                        if meaning == JobKey::Resources {
                            job.parsed.set(meaning, key, JsonScalar::OBJECT);
                        }
                    }
                }
            }
            _ if is_id && value.starts_with('{') => {
                self.start_job(key);
                self.read_whole_job(value);
                self.end_job();
            }
            _ if is_id && is_at_job_level => {
                self.start_job(key);
                self.record_repair("`{` is missing after the job id");
            }
            _ => self.read_attribute(key, value),
        }
    }

    /// Reads a job of which one line has all attributes.
    fn read_whole_job(&mut self, text: &'d str) {
        let Some(job) = &mut self.job else { return };
        job.has_attributes = true;
        let mut scanner = Scanner::new(text);
        let read = self.reader.read_job(&mut scanner, &mut job.parsed);
        if read.is_none() || !scanner.is_at_end() {
            job.reject(self.number, "the job on this line is not valid JSON");
        }
    }

    fn record_repair(&mut self, what: &str) {
        if let Some(job) = &mut self.job {
            let what = what.to_owned();
            job.push_repair(self.number, Problem::Doubtful(what));
        }
    }

    fn reject(&mut self, reason: &str) {
        if let Some(job) = &mut self.job {
            job.reject(self.number, reason);
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

    /// Starts a job, whose id is empty if it is not known.
    fn start_job(&mut self, id: &'d str) {
        self.finish_job();
        let mut job = OpenJob {
            line: self.number,
            ..OpenJob::default()
        };
        job.parsed.set_id(id.into());
        self.job = Some(job);
    }

    /// An attribute after the end of a job starts one whose id is not known.
    fn start_missing_job(&mut self) {
        if self.job.is_none() && self.level() >= Some(Level::Attribute) {
            self.start_job("");
            self.reject("the line with the job id before this one is missing");
        }
    }

    /// Leaves a list whose `}` is missing, if the indentation or the key shows that the job goes
    /// on.
    fn leave_unclosed_list(&mut self, key: &str) {
        let is_outside = match self.level() {
            Some(level) => level <= Level::Attribute,
            None => JobKey::from_qstat(key) != JobKey::Unused,
        };
        if is_outside {
            self.end_unclosed_list();
        }
    }

    fn end_unclosed_list(&mut self) {
        if let Some(job) = &mut self.job
            && let Some(list) = job.list.take()
        {
            let list = clipped(list);
            self.record_repair(&format!("the `}}` of `{list}` is missing before this line"));
        }
    }

    /// Reads a `}`, the first one of its line or another.
    fn close(&mut self, is_first: bool) {
        // the indentation of a line is that of its first brace alone
        let level = if is_first { self.level() } else { None };
        let Some(job) = &mut self.job else {
            self.is_closed = true;
            return;
        };
        match level {
            Some(Level::List) => {}
            Some(Level::Attribute) => job.list = None,
            Some(Level::Document) => job.is_ended_by_document = true,
            Some(Level::Job) => {
                self.end_unclosed_list();
                self.end_job();
            }
            _ if job.list.is_some() => job.list = None,
            _ => self.end_job(),
        }
    }

    /// Ends the job at its `}`: adds it to the table, or reports why it is not added.
    fn end_job(&mut self) {
        let Some(mut job) = self.job.take() else {
            return;
        };
        self.is_closed = false;
        if !job.has_attributes {
            job.reject(job.line, "the job has no attributes");
        }
        if job.has_lost_owner && job.parsed.text(JobKey::User).is_empty() {
            let problem = damaged_input("Job_Owner", "no `euser` replaces it");
            job.rejected.get_or_insert((job.line, problem));
        }
        let converter = &mut self.reader.converter;
        let id = job.parsed.id();
        for (line, problem) in job.repairs {
            converter.output.report(Some(line), id, problem);
        }
        match job.rejected {
            Some((line, problem)) => converter.output.report(Some(line), id, problem),
            None => converter.push(&mut job.parsed),
        }
    }

    /// Ends a job whose `}` is missing.
    fn finish_job(&mut self) {
        self.record_repair("the `}` of the job is missing before this line");
        self.end_job();
    }

    fn read_attribute(&mut self, key: &'d str, value: &'d str) {
        let read = serde_json::from_str::<IgnoredAny>(value);
        if self.job.is_none() && key == "timestamp" && read.is_ok() {
            let timestamp = integer(&JsonScalar::from_text(value));
            self.reader.converter.output.timestamp = timestamp;
        }
        self.start_missing_job();
        self.leave_unclosed_list(key);
        let is_in_a_list = self.level() == Some(Level::List);
        let Some(job) = &mut self.job else { return };
        if is_in_a_list && job.list.is_none() {
            let reason = "this line belongs to a list whose first line is missing";
            job.reject(self.number, reason);
        }
        job.has_attributes = true;
        job.is_ended_by_document = false;
        let converter = &mut self.reader.converter;
        let meaning = match job.list {
            // no key that is read has an escape or a control character
            _ if key.contains(|c: char| c == '\\' || c.is_control()) => JobKey::Unused,
            None => converter.job_key(key),
            Some(RESOURCE_LIST) => converter.resource_key(key),
            Some(list) => converter.listed_key(list, key),
        };
        let is_name =
            meaning.is_name() || matches!(meaning, JobKey::Cycle("user" | "group" | "project"));
        match read {
            Err(error) if !is_name || !is_bare_word(value) => {
                self.is_inside_string =
                    value.starts_with('"') && (value.len() == 1 || !ends_string(value));
                self.drop_attribute(key, meaning, reason_in_words(&error));
            }
            Ok(_) if job.list.is_some() => {
                job.parsed.set(meaning, key, JsonScalar::from_text(value));
            }
            // it is valid, so that it is read
            Ok(_) => {
                let scanner = &mut Scanner::new(value);
                let _ = self
                    .reader
                    .read_value(meaning, key, scanner, &mut job.parsed);
            }
            // qstat takes a name that looks like one for a number
            Err(_) => {
                job.parsed
                    .set(meaning, key, JsonScalar::String(value.into()));
                let what = format!(
                    "`{}` is {} without quotes, and is read as text",
                    clipped(key),
                    clipped(value)
                );
                job.push_repair(self.number, Problem::Doubtful(what));
            }
        }
    }

    fn drop_attribute(&mut self, key: &str, meaning: JobKey, reason: String) {
        let Some(job) = &mut self.job else { return };
        let is_needed = match meaning {
            // `Job_Owner` is needed where `euser` is hidden, which the end of the job shows
            JobKey::Unused | JobKey::Owner => false,
            JobKey::Resource(_) => self.reader.converter.column(key).is_some(),
            _ => true,
        };
        job.has_lost_owner |= meaning == JobKey::Owner;
        let attribute = match job.list {
            Some(list) => format!("{}.{}", clipped(list), clipped(key)),
            None => clipped(key).into_owned(),
        };
        if is_needed {
            let problem = damaged_input(&attribute, &reason);
            job.rejected.get_or_insert((self.number, problem));
        } else {
            let what =
                format!("`{attribute}` is not valid JSON ({reason}); the attribute is ignored");
            job.push_repair(self.number, Problem::Doubtful(what));
        }
    }

    /// Reads a line that is neither an attribute nor a brace.
    fn read_other(&mut self, text: &'d str) {
        if self.level() == Some(Level::Job) && text.starts_with('"') {
            let id = text.trim_start_matches('"');
            let id = id.split(['"', ':', ' ', '\t']).next().unwrap_or("");
            if is_job_id(id) && text.starts_with(&format!("\"{id}\"")) {
                self.start_job(id);
                return self.record_repair("the line with the job id is damaged");
            }
            self.start_job("");
            return self.reject("the job id on this line cannot be read");
        }
        let is_from_a_shell =
            !text.starts_with('"') && (text.starts_with("qstat:") || self.depth == 0);
        // without indentation every line has the depth 0, a damaged attribute too
        let is_foreign = is_from_a_shell && self.indentation.is_some();
        let list = match &self.job {
            Some(job) if !is_foreign => job.list.unwrap_or(RESOURCE_LIST),
            _ => return self.foreign.push(self.number, text),
        };
        let shown = clipped(text);
        if list != RESOURCE_LIST || !self.may_be_needed(text) {
            self.record_repair(&format!(
                "the line is not an attribute and is ignored: `{shown}`"
            ));
        } else {
            self.reject(&format!(
                "the line cannot be read as an attribute: `{shown}`"
            ));
        }
    }

    /// Whether a damaged line may contain an attribute that is needed, by what is left of the
    /// attribute's name.
    fn may_be_needed(&self, text: &str) -> bool {
        let name = text.trim_start_matches('"');
        let end = name.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')));
        let name = &name[..end.unwrap_or(name.len())];
        let columns = self.reader.converter.options.needed;
        let mut needed = QSTAT_KEYS.iter().map(|(key, _)| key).chain(columns);
        // so little of a name may be a part of any
        name.len() < 3 || needed.any(|needed| needed.contains(name) || name.contains(needed))
    }

    fn finish(mut self) -> Result<ParsedJobs, ReadErrorKind> {
        let is_cut_off = match &self.job {
            Some(job) => !job.is_ended_by_document,
            None => !self.is_closed,
        };
        if is_cut_off {
            self.reject("the document ends in the middle of the job");
            self.notes.push(CUT_OFF.to_owned());
        }
        self.finish_job();
        self.notes.extend(self.foreign.note());
        Ok(ParsedJobs {
            notes: self.notes,
            ..self.builder.finish(self.reader.converter.output)?
        })
    }
}

/// The note on a document that ends too early.
pub const CUT_OFF: &str = "the document is cut off: the jobs after its end are missing, and ranks are not those of the queue";

const RESOURCE_LIST: &str = "Resource_List";

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
