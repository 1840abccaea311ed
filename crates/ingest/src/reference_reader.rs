//! The reference reader of JSON: `qstat -f -F json`, native JSON, and native JSON with a job per line.
//!
//! Enters: a document, or one job of it. Leaves: rows of a table, and what is wrong with single jobs. The document is
//! walked once, without a tree, and numbers are read from their text, since qstat prints large ones as `9.0072e+15`.
//! The fast reader leaves to this one every job that it cannot read, and must give the same table.

use std::borrow::Cow;

use job_sort_formula::jobs::Problem;
use jsf_json::{Entry, JsonScalar, ObjectReader, Shape, decode_utf8, read_object};
use jsf_openpbs::resource_amount::AmountSource;
use serde_json::value::RawValue;

use crate::error::ReadErrorKind;
use crate::job_key::JobKey;
use crate::options::{ParsedJobs, ReadOptions};
use crate::table_builder::{ParsedJob, TableBuilder, push_entry};

/// Reads `qstat -f -F json`. A server without jobs prints a document without `Jobs`.
///
/// # Errors
/// The text is not valid JSON, its `Jobs` is not an object, or there are too many jobs.
pub(super) fn read_qstat_json(text: &str, options: &ReadOptions<'_>) -> Result<ParsedJobs, ReadErrorKind> {
    read_document(text, options, AmountSource::Server, "what `qstat -f -F json` prints")
}

/// Reads `{"jobs":[…]}`.
///
/// # Errors
/// The text is not valid JSON, its `jobs` is not an array, or there are too many jobs.
pub(super) fn read_native_json(text: &str, options: &ReadOptions<'_>) -> Result<ParsedJobs, ReadErrorKind> {
    read_document(text, options, AmountSource::User, "{\"jobs\":[…]}, an array of objects")
}

/// Reads a job per line.
///
/// # Errors
/// There are too many jobs.
pub(super) fn read_ndjson(text: &str, options: &ReadOptions<'_>) -> Result<ParsedJobs, ReadErrorKind> {
    let mut builder = TableBuilder::new(options, AmountSource::User);
    for (index, line) in text.lines().enumerate() {
        read_line(line, Some(index + 1), &mut builder);
    }
    builder.finish()
}

/// Reads the job on a line, whose number in the document is `number`; does nothing for an empty line.
pub(super) fn read_line(line: &str, number: Option<usize>, builder: &mut TableBuilder<'_>) {
    if !line.trim().is_empty() {
        read_native_job(line.trim(), number, builder);
    }
}

/// Reads an entry of the `Jobs` of qstat, `"id":{…}`. Returns whether it is valid JSON.
pub(super) fn read_entry(entry: &[u8], builder: &mut TableBuilder<'_>) -> bool {
    let text = format!("{{{}}}", decode_utf8(entry));
    read_object(&text, QstatJobs(builder)).is_ok()
}

/// The most notes on a document.
const MAX_NOTES: usize = 10;
/// The note on a document without `Jobs`.
const NO_JOBS: &str = "the document has no `Jobs`: the server had no jobs, or none that its user may see";

fn read_document(
    text: &str,
    options: &ReadOptions<'_>,
    source: AmountSource,
    expected: &'static str,
) -> Result<ParsedJobs, ReadErrorKind> {
    let mut builder = TableBuilder::new(options, source);
    let jobs_key = if source == AmountSource::Server { "Jobs" } else { "jobs" };
    let notes = Vec::new();
    let mut document =
        JobDocumentReader { builder: &mut builder, jobs_key, jobs_shape: Shape::Expected, has_jobs: false, notes };
    let shape = read_object(text, &mut document);
    let JobDocumentReader { jobs_shape, has_jobs, notes, .. } = document;
    if let Some(note) = notes.first() {
        builder.note_ambiguity(|| note.clone());
    }
    let shape = shape.map_err(|error| ReadErrorKind::json(text, &error, builder.jobs_read()))?;
    let found = match (jobs_shape, shape) {
        (Shape::Expected, Shape::Expected) => {
            let mut read = builder.finish()?;
            read.notes.extend(notes);
            if !has_jobs {
                read.notes.push(NO_JOBS.to_owned());
            }
            return Ok(read);
        }
        (Shape::Other(found), _) => format!("a document whose `{jobs_key}` is {found}"),
        (_, Shape::Other(found)) => found.to_owned(),
    };
    Err(ReadErrorKind::Unrecognised { found, expected })
}

/// Reads the document.
struct JobDocumentReader<'b, 'a> {
    builder: &'b mut TableBuilder<'a>,
    jobs_key: &'static str,
    /// What the value of the jobs was.
    jobs_shape: Shape,
    has_jobs: bool,
    /// What is said about lists of jobs besides the first one.
    notes: Vec<String>,
}

impl<'d> ObjectReader<'d> for JobDocumentReader<'_, '_> {
    fn entry<E: Entry<'d>>(&mut self, key: Cow<'d, str>, value: E) -> Result<(), E::Error> {
        let jobs_key = self.jobs_key;
        let note = match &*key {
            key if key == jobs_key && self.has_jobs => {
                Some(format!("`{key}` is given again; its jobs are added to the others"))
            }
            "Jobs" | "jobs" if key != jobs_key => Some(format!("`{key}` is not read beside `{jobs_key}`")),
            _ => None,
        };
        if self.notes.len() < MAX_NOTES {
            self.notes.extend(note);
        }
        if key == "timestamp" {
            self.builder.set_timestamp(JsonScalar::from_raw(value.raw()?));
            return Ok(());
        }
        if key != jobs_key {
            return value.skip();
        }
        self.has_jobs = true;
        let shape = match self.jobs_key {
            "Jobs" => value.object(QstatJobs(self.builder))?,
            _ => value.list(|job: &RawValue| read_native_job(job.get(), None, self.builder))?,
        };
        if shape != Shape::Expected {
            self.jobs_shape = shape;
        }
        Ok(())
    }
}

/// Reads the jobs of qstat, whose keys are their ids.
struct QstatJobs<'b, 'a>(&'b mut TableBuilder<'a>);

impl<'d> ObjectReader<'d> for QstatJobs<'_, '_> {
    fn entry<E: Entry<'d>>(&mut self, key: Cow<'d, str>, value: E) -> Result<(), E::Error> {
        let job = ParsedJob { id: Some(key), ..ParsedJob::default() };
        let mut reader = JobReader { builder: self.0, job };
        let shape = value.object(&mut reader)?;
        let job = reader.job;
        push(self.0, job, shape);
        Ok(())
    }
}

fn read_native_job(text: &str, line: Option<usize>, builder: &mut TableBuilder<'_>) {
    let mut reader = JobReader { builder, job: ParsedJob { line, ..ParsedJob::default() } };
    let shape = read_object(text, &mut reader);
    let job = reader.job;
    match shape {
        Ok(shape) => push(builder, job, shape),
        Err(error) => {
            let found = format!("the job is not valid JSON ({error})");
            let problem = Problem::NotAJob { found, expected: "an object" };
            builder.report(line, &job.id.unwrap_or_default(), problem);
        }
    }
}

/// Adds a job if it is an object with an id.
fn push(builder: &mut TableBuilder<'_>, job: ParsedJob<'_>, shape: Shape) {
    let (found, expected) = match shape {
        Shape::Other(found) => (format!("the job is {found}"), "an object"),
        Shape::Expected if job.id.is_none() => ("the job has no `id`".to_owned(), "a string or a number"),
        Shape::Expected => return builder.push(job),
    };
    builder.report(job.line, &job.id.unwrap_or_default(), Problem::NotAJob { found, expected });
}

/// Reads one job.
struct JobReader<'b, 'a, 'd> {
    builder: &'b TableBuilder<'a>,
    job: ParsedJob<'d>,
}

impl<'d> ObjectReader<'d> for JobReader<'_, '_, 'd> {
    fn entry<E: Entry<'d>>(&mut self, key: Cow<'d, str>, value: E) -> Result<(), E::Error> {
        let meaning = self.builder.job_key(&key);
        if matches!(meaning, JobKey::Resources | JobKey::Inputs) {
            self.job.note_given(meaning, &key);
        }
        let list = match meaning {
            JobKey::Resources => {
                self.job.has_resources = true;
                &mut self.job.resources
            }
            JobKey::Inputs => &mut self.job.inputs,
            JobKey::CycleList => {
                let mut entries = Vec::new();
                value.object(Amounts(&mut entries))?;
                for (name, scalar) in entries {
                    self.job.set(self.builder.listed_key(&key, &name), name, scalar);
                }
                return Ok(());
            }
            JobKey::Unused => return value.skip(),
            _ => {
                let Some(scalar) = JsonScalar::from_raw(value.raw()?) else { return Ok(()) };
                match meaning {
                    JobKey::Unknown => self.job.push_unknown_key(&key, self.builder),
                    _ => self.job.set(meaning, key, scalar),
                }
                return Ok(());
            }
        };
        match value.object(Amounts(list))? {
            Shape::Expected => {}
            Shape::Other("null") => self.job.report(&key, "null", "an object"),
            Shape::Other(found) => self.job.reject(&key, found, "an object"),
        }
        Ok(())
    }
}

/// Collects the entries of an object.
pub(super) struct Amounts<'v, 'd>(pub &'v mut Vec<(Cow<'d, str>, JsonScalar<'d>)>);

impl<'d> ObjectReader<'d> for Amounts<'_, 'd> {
    fn entry<E: Entry<'d>>(&mut self, key: Cow<'d, str>, value: E) -> Result<(), E::Error> {
        push_entry(self.0, key, JsonScalar::from_raw(value.raw()?).unwrap_or(JsonScalar::NULL));
        Ok(())
    }
}
