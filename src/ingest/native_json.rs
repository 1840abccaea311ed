//! Jobs in the project's own JSON: `{"jobs":[…]}`, or one job per line.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::ingest::options::{Attributes, ReadJobs, ReadOptions};
use crate::ingest::qstat_json::Amounts;
use crate::ingest::table_builder::Rows;
use crate::jobs::{Problem, ReadError};
use crate::json_visitor as lax;
use crate::json_visitor::{Entry, ObjectReader, Shape, Token};
use crate::pbs::resource_amount::AmountSource;
use crate::schema::{FairshareInput, Schema};

/// Reads `{"jobs":[…]}`. A job that is no object is reported; broken JSON ends the document.
pub(super) fn read_own(text: &str, options: &ReadOptions<'_>) -> Result<ReadJobs, ReadError> {
    let mut rows = Rows::new(options, AmountSource::User);
    let mut wrong = None;
    let walked = lax::read_object(text, Document { rows: &mut rows, schema: options.schema, wrong: &mut wrong });
    walked.map_err(|error| crate::ingest::json_error(options.source_name, text, &error, rows.jobs_read()))?;
    match wrong {
        Some(words) => Err(ReadError::Unrecognised {
            source_name: options.source_name.to_owned(),
            found: format!("a document whose `jobs` is {words}"),
            expected: "{\"jobs\":[…]}, a list of objects",
        }),
        None => rows.finish(),
    }
}

/// Reads one job per line. A line that is no job is reported and skipped.
pub(super) fn read_lines(text: &str, options: &ReadOptions<'_>) -> Result<ReadJobs, ReadError> {
    let mut rows = Rows::new(options, AmountSource::User);
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if !line.is_empty() {
            read_job(line, Some(index + 1), &mut rows, options.schema);
        }
    }
    rows.finish()
}

struct Document<'r, 'a> {
    rows: &'r mut Rows<'a>,
    schema: &'a Schema,
    wrong: &'r mut Option<&'static str>,
}

impl<'d> ObjectReader<'d> for Document<'_, '_> {
    fn entry<E: Entry<'d>>(&mut self, key: Cow<'d, str>, value: E) -> Result<(), E::Error> {
        if key != "jobs" {
            return value.skip();
        }
        let shape = value.list(|job: &RawValue| read_job(job.get(), None, self.rows, self.schema))?;
        if let Shape::Other(words) = shape {
            *self.wrong = Some(words);
        }
        Ok(())
    }
}

pub(super) fn read_job(text: &str, line: Option<usize>, rows: &mut Rows<'_>, schema: &Schema) {
    let mut reader = JobReader { rows, schema, job: Attributes { line, ..Attributes::default() }, has_id: false };
    let shape = lax::read_object(text, &mut reader);
    let JobReader { job, has_id, .. } = reader;
    let problem = match shape {
        Err(error) => Problem::NotAJob { found: error.to_string(), expected: "a job as a JSON object" },
        Ok(Shape::Other(words)) => {
            Problem::NotAJob { found: format!("this is {words}"), expected: "a job as an object" }
        }
        Ok(Shape::Taken) if !has_id => Problem::NotAJob { found: "there is no `id`".to_owned(), expected: "one" },
        Ok(Shape::Taken) => return rows.push(job),
    };
    rows.report(line, &job.id, problem);
}

/// Reads one job.
struct JobReader<'r, 'a, 'd> {
    rows: &'r Rows<'a>,
    schema: &'r Schema,
    job: Attributes<'d>,
    has_id: bool,
}

impl<'d> ObjectReader<'d> for JobReader<'_, '_, 'd> {
    fn entry<E: Entry<'d>>(&mut self, key: Cow<'d, str>, value: E) -> Result<(), E::Error> {
        match &*key {
            "resources" => return self.amounts(&key, value, |job| &mut job.resources),
            "inputs" => return self.amounts(&key, value, |job| &mut job.inputs),
            _ => {}
        }
        let Some(token) = Token::of(value.raw()?) else { return Ok(()) };
        match &*key {
            "id" => self.has_id = self.text(&key, token, |job, text| job.id = text),
            "entity" => _ = self.text(&key, token, |job, text| job.entity = Some(text)),
            "queue" => _ = self.text(&key, token, |job, text| job.queue = text),
            "state" | "job_state" => self.job.state = Some(token),
            "queued_at" | "queue_rank" => self.job.queued_at = Some(token),
            "eligible_time" | "queue_priority" | "job_priority" | "accrue_type" => self.job.special.push((key, token)),
            name if FairshareInput::from_name(name).is_some() => self.job.special.push((key, token)),
            name if self.rows.is_resource(name) => self.job.resources.push((key, token)),
            // whose advice takes far longer than all else about it
            name if self.rows.has_reported(&lax::clipped(name)) => {}
            name => {
                let advice = match self.schema.suggestions(name).first() {
                    Some(near) => format!("; did you mean `{near}`?"),
                    None => String::new(),
                };
                self.job.problems.push(Problem::UnknownKey { key: lax::clipped(name).into_owned(), advice });
            }
        }
        Ok(())
    }
}

impl<'d> JobReader<'_, '_, 'd> {
    fn amounts<E: Entry<'d>>(
        &mut self,
        key: &str,
        value: E,
        list: impl for<'j> Fn(&'j mut Attributes<'d>) -> &'j mut Vec<(Cow<'d, str>, Token<'d>)>,
    ) -> Result<(), E::Error> {
        if let Shape::Other(words) = value.object(Amounts(list(&mut self.job)))? {
            self.wrong(key, words.to_owned(), "an object");
        }
        Ok(())
    }

    /// Takes a text, or a number as it is spelled; says whether it was one.
    fn text(&mut self, key: &str, token: Token<'d>, take: impl Fn(&mut Attributes<'d>, Cow<'d, str>)) -> bool {
        match token {
            Token::Text(text) => take(&mut self.job, text),
            Token::Number(digits) => take(&mut self.job, Cow::Borrowed(digits)),
            Token::Other(_) => {
                self.wrong(key, token.found(), "a text");
                return false;
            }
        }
        true
    }

    fn wrong(&mut self, attribute: &str, found: String, expected: &'static str) {
        self.job.problems.push(Problem::Attribute { attribute: attribute.to_owned(), found, expected });
    }
}
