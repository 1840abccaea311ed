//! Reads jobs in JSON: one after the other ([`JsonReader`]), and those of a document of
//! `qstat -f -F json` or of native JSON.
//!
//! The text is walked once, by a [`Scanner`]; numbers are read from their text, since qstat prints large
//! ones as `9.0072e+15`.

use job_sort_formula::jobs::Problem;
use jsf_json::{JsonScalar, clipped};
use jsf_openpbs::AmountSource;
use serde::de::IgnoredAny;

use crate::attributes::{
    JobKey, NameIndex, ParsedJob, integer, push_entry, wrong_attribute, wrong_input,
};
use crate::scanner::{Next, ObjectKeys, Scanner};
use crate::table_builder::{JobConverter, ParsedJobs, TableBuilder};
use crate::{ReadErrorKind, ReadOptions};

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
            // small amounts were put into the row before the fault was found
            self.converter.abandon();
        }
        self.push(job, shape?);
        Some(())
    }

    /// Reads a native job; reports one that is not valid JSON.
    pub fn read_line<'d>(&mut self, text: &'d str, line: Option<usize>, job: &mut ParsedJob<'d>) {
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
                let problem = Problem::NotAJob(format!("{found}, expected an object"));
                self.converter.skip(job, problem);
            }
        }
    }

    /// Reads the attributes of a job, unless it is not an object.
    pub fn read_job<'d>(
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
                JobKey::Resource(resource) => {
                    // at once while no other amount waits: of a key that is given again the last
                    // counts; a cycle needs the list of all
                    if !self.converter.options.cycle_jobs
                        && job.resources.is_empty()
                        && let Some(column) = self.converter.small_column(resource)
                        && let Some(integer) = scanner.small_integer()
                    {
                        self.converter.put_small(resource, column, integer);
                        continue;
                    }
                    let scalar = scanner.scalar()?;
                    if !scalar.is_null() {
                        push_entry(&mut job.resources, resource, scalar);
                    }
                }
                _ => {
                    let name = self.top.name(key);
                    self.read_value(meaning, &name, scanner, job)?;
                }
            }
        }
    }

    /// Reads the value of the key `name`, which means `meaning`.
    pub fn read_value<'d>(
        &mut self,
        meaning: JobKey,
        name: &str,
        scanner: &mut Scanner<'d>,
        job: &mut ParsedJob<'d>,
    ) -> Option<()> {
        match meaning {
            JobKey::Resources | JobKey::Inputs => {
                job.set(meaning, name, JsonScalar::OBJECT);
                let shape = self.read_amounts(meaning, scanner, job)?;
                note_shape(shape, name, job);
            }
            JobKey::CycleList => read_cycle_list(scanner, name, job, &self.converter)?,
            _ => {
                let scalar = scanner.scalar()?;
                match meaning {
                    _ if scalar.is_null() => {}
                    JobKey::Unknown => job.push_problem(Problem::UnknownKey {
                        key: clipped(name).into_owned(),
                        advice: String::new(),
                    }),
                    _ => job.set(meaning, name, scalar),
                }
            }
        }
        Some(())
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
        let problem = Problem::NotAJob(format!("{found}, expected {expected}"));
        self.converter.skip(job, problem);
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
        job.set(meaning, &keys.name(key), scalar);
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
            // not by `push_problem`: this problem rejects the job, however many come before it
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
                // the error says how many jobs come before the fault
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
    let mut read = document.builder.finish(jobs)?;
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
            let key = &*keys.name(key);
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
