//! The reader of `qstat -f` as text, wrapped at 80 columns or not (`-w`).

use std::borrow::Cow;

use crate::ingest::error::ReadErrorKind;
use crate::ingest::job_key::JobKey;
use crate::ingest::reader::{ParsedJobs, ReadOptions};
use crate::ingest::table_builder::{ParsedJob, TableBuilder};
use crate::json_visitor::JsonScalar;
use crate::pbs::resource_amount::{AmountSource, number};

/// Reads the jobs of a `qstat -f` text. A line that begins with a tab continues the value before it. Unlike the JSON
/// of qstat, the text has every digit of a large number.
///
/// # Errors
/// There are too many jobs.
pub(super) fn read_qstat_text(text: &str, options: &ReadOptions<'_>) -> Result<ParsedJobs, ReadErrorKind> {
    let mut builder = TableBuilder::new(options, AmountSource::Server);
    let mut job: Option<ParsedJob<'_>> = None;
    let mut attribute: Option<Attribute<'_>> = None;
    for line in text.lines() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if let Some(continuation) = line.strip_prefix('\t') {
            if let Some(attribute) = &mut attribute {
                attribute.value.to_mut().push_str(continuation);
            }
            continue;
        }
        set(&mut job, attribute.take());
        if let Some(id) = line.strip_prefix("Job Id:") {
            if let Some(job) = job.take() {
                builder.push(job);
            }
            job = Some(ParsedJob { id: Some(Cow::Borrowed(id.trim())), ..ParsedJob::default() });
        } else if let Some((name, value)) = line.strip_prefix("    ").and_then(|line| line.split_once(" = ")) {
            attribute = Attribute::new(name, value, &builder);
        }
    }
    set(&mut job, attribute);
    if let Some(job) = job {
        builder.push(job);
    }
    builder.finish()
}

/// An attribute of a job, up to the line that was read last.
struct Attribute<'d> {
    key: JobKey,
    name: &'d str,
    value: Cow<'d, str>,
}

impl<'d> Attribute<'d> {
    /// An attribute that is needed; the others may be long and are not joined.
    fn new(name: &'d str, value: &'d str, builder: &TableBuilder<'_>) -> Option<Self> {
        let (key, name) = match name.strip_prefix("Resource_List.") {
            Some(resource) => (JobKey::Resource, resource),
            None => (builder.job_key(name), name),
        };
        (key != JobKey::Unused).then_some(Self { key, name, value: Cow::Borrowed(value) })
    }

    /// The value; an amount that is a number becomes a JSON number, though the text does not tell it from a string.
    fn scalar(self) -> JsonScalar<'d> {
        match self.value {
            Cow::Borrowed(text) if self.key == JobKey::Resource && number(text).is_some() => JsonScalar::Number(text),
            value => JsonScalar::String(value),
        }
    }
}

/// Sets an attribute of the job under whose id it is.
fn set<'d>(job: &mut Option<ParsedJob<'d>>, attribute: Option<Attribute<'d>>) {
    let (Some(job), Some(attribute)) = (job, attribute) else { return };
    job.has_resources |= attribute.key == JobKey::Resource;
    job.set(attribute.key, Cow::Borrowed(attribute.name), attribute.scalar());
}
