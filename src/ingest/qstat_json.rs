//! `qstat -f -F json`: the jobs of a server.
//!
//! The document is walked once, without a tree: of each job only the attributes that matter are taken, all else
//! is skipped unparsed. Numbers are read as they are spelled, since qstat writes large ones as `9.0072e+15`.

use std::borrow::Cow;

use crate::ingest::options::{Attributes, ReadJobs, ReadOptions};
use crate::ingest::table_builder::Rows;
use crate::jobs::{Problem, ReadError};
use crate::json_visitor as lax;
use crate::json_visitor::{Entry, ObjectReader, Shape, Token};
use crate::pbs::resource_amount::AmountSource;

/// Reads the jobs of a `qstat -f -F json` document. A server without jobs prints one without `Jobs`.
///
/// A job's inputs come from `Resource_List`, `eligible_time`, `accrue_type`, `Priority` and the priority of its
/// queue. A subjob that has not begun is left to its array, if that is in the document too.
///
/// # Errors
/// The text is not JSON, or breaks off; the error names the place and how many jobs were read before it.
pub fn read_qstat_json(text: &str, options: &ReadOptions<'_>) -> Result<ReadJobs, ReadError> {
    let mut rows = Rows::new(options, AmountSource::Server);
    let mut wrong = None;
    let walked = lax::read_object(text, Document { rows: &mut rows, wrong: &mut wrong });
    let shape =
        walked.map_err(|error| crate::ingest::json_error(options.source_name, text, &error, rows.jobs_read()))?;
    if let (Shape::Other(words), _) | (_, Some(words)) = (shape, wrong) {
        let found = if wrong.is_some() { format!("a document whose `Jobs` is {words}") } else { words.to_owned() };
        let expected = "what `qstat -f -F json` prints";
        return Err(ReadError::Unrecognised { source_name: options.source_name.to_owned(), found, expected });
    }
    rows.finish()
}

/// Reads one entry of the jobs, `"id":{…}`; says whether the document goes on.
pub(super) fn read_entry(entry: &[u8], rows: &mut Rows<'_>) -> bool {
    let text = format!("{{{}}}", String::from_utf8_lossy(entry));
    lax::read_object(&text, Jobs(rows)).is_ok()
}

struct Document<'r, 'a> {
    rows: &'r mut Rows<'a>,
    wrong: &'r mut Option<&'static str>,
}

impl<'d> ObjectReader<'d> for Document<'_, '_> {
    fn entry<E: Entry<'d>>(&mut self, key: Cow<'d, str>, value: E) -> Result<(), E::Error> {
        if key != "Jobs" {
            return value.skip();
        }
        if let Shape::Other(words) = value.object(Jobs(self.rows))? {
            *self.wrong = Some(words);
        }
        Ok(())
    }
}

struct Jobs<'r, 'a>(&'r mut Rows<'a>);

impl<'d> ObjectReader<'d> for Jobs<'_, '_> {
    fn entry<E: Entry<'d>>(&mut self, key: Cow<'d, str>, value: E) -> Result<(), E::Error> {
        let mut job = JobReader { rows: self.0, job: Attributes { id: key, ..Attributes::default() }, listed: false };
        let shape = value.object(&mut job)?;
        let JobReader { mut job, listed, .. } = job;
        if let Shape::Other(words) = shape {
            let problem = Problem::NotAJob { found: format!("the job is {words}"), expected: "an object" };
            self.0.report(None, &job.id, problem);
            return Ok(());
        }
        if !listed {
            job.problems.push(Problem::NoResources);
        }
        self.0.push(job);
        Ok(())
    }
}

/// Reads one job.
struct JobReader<'r, 'a, 'd> {
    rows: &'r Rows<'a>,
    job: Attributes<'d>,
    /// Whether there is a `Resource_List`.
    listed: bool,
}

impl<'d> ObjectReader<'d> for JobReader<'_, '_, 'd> {
    fn entry<E: Entry<'d>>(&mut self, key: Cow<'d, str>, value: E) -> Result<(), E::Error> {
        let special = match &*key {
            "Resource_List" => return self.resources(value),
            "eligible_time" | "accrue_type" => key,
            "Priority" => Cow::Borrowed("job_priority"),
            "queue" | "Account_Name" | "euser" | "egroup" => return self.owner(&key, value),
            "job_state" => {
                self.job.state = Token::of(value.raw()?);
                return Ok(());
            }
            "queue_rank" => {
                self.job.queued_at = Token::of(value.raw()?);
                return Ok(());
            }
            _ => return value.skip(),
        };
        if !self.rows.needs(&special) {
            return value.skip();
        }
        if let Some(token) = Token::of(value.raw()?) {
            self.job.special.push((special, token));
        }
        Ok(())
    }
}

impl<'d> JobReader<'_, '_, 'd> {
    fn resources<E: Entry<'d>>(&mut self, value: E) -> Result<(), E::Error> {
        self.listed = true;
        if let Shape::Other(words) = value.object(Amounts(&mut self.job.resources))? {
            self.job.problems.push(Problem::Attribute {
                attribute: "Resource_List".to_owned(),
                found: words.to_owned(),
                expected: "an object",
            });
        }
        Ok(())
    }

    fn owner<E: Entry<'d>>(&mut self, key: &str, value: E) -> Result<(), E::Error> {
        let Some(token) = Token::of(value.raw()?) else { return Ok(()) };
        let text = match token {
            Token::Text(text) => text,
            Token::Number(digits) => Cow::Borrowed(digits),
            Token::Other(_) => {
                let (attribute, found) = (key.to_owned(), token.found());
                self.job.problems.push(Problem::Attribute { attribute, found, expected: "a text" });
                return Ok(());
            }
        };
        match key {
            "queue" => self.job.queue = text,
            "Account_Name" => self.job.account = text,
            "euser" => self.job.user = text,
            _ => self.job.group = text,
        }
        Ok(())
    }
}

/// Takes every entry of an object as it is spelled.
pub(crate) struct Amounts<'v, 'd>(pub &'v mut Vec<(Cow<'d, str>, Token<'d>)>);

impl<'d> ObjectReader<'d> for Amounts<'_, 'd> {
    fn entry<E: Entry<'d>>(&mut self, key: Cow<'d, str>, value: E) -> Result<(), E::Error> {
        if let Some(token) = Token::of(value.raw()?) {
            self.0.push((key, token));
        }
        Ok(())
    }
}
