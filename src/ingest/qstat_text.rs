//! `qstat -f` as text: the jobs of a server, wrapped at 80 columns or not (`-w`).

use std::borrow::Cow;

use crate::ingest::options::{Attributes, ReadJobs, ReadOptions};
use crate::ingest::table_builder::Rows;
use crate::jobs::{Problem, ReadError};
use crate::json_visitor::Token;
use crate::pbs::resource_amount as numbers;
use crate::pbs::resource_amount::AmountSource;

/// Reads the jobs of a `qstat -f` text. A line that begins with a tab goes on with the value before it. Unlike
/// qstat's JSON the text has every digit of a large number.
///
/// # Errors
/// There are more jobs than a table takes.
pub fn read_qstat_text(text: &str, options: &ReadOptions<'_>) -> Result<ReadJobs, ReadError> {
    let mut rows = Rows::new(options, AmountSource::Server);
    let mut job: Option<Attributes<'_>> = None;
    let mut attribute: Option<(&str, Cow<'_, str>)> = None;
    for line in text.lines() {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if let Some(more) = line.strip_prefix('\t') {
            if let Some((_, value)) = &mut attribute {
                value.to_mut().push_str(more);
            }
            continue;
        }
        take(&mut job, attribute.take(), &rows);
        if let Some(id) = line.strip_prefix("Job Id:") {
            push(job.take(), &mut rows);
            job = Some(Attributes { id: Cow::Borrowed(id.trim()), ..Attributes::default() });
        } else if let Some((key, value)) = line.strip_prefix("    ").and_then(|line| line.split_once(" = ")) {
            attribute = matters(key).then_some((key, Cow::Borrowed(value)));
        }
    }
    take(&mut job, attribute, &rows);
    push(job, &mut rows);
    rows.finish()
}

fn push(job: Option<Attributes<'_>>, rows: &mut Rows<'_>) {
    let Some(mut job) = job else { return };
    if job.resources.is_empty() {
        job.problems.push(Problem::NoResources);
    }
    rows.push(job);
}

/// Whether an attribute is ever read; the others may be long and need not be joined.
fn matters(key: &str) -> bool {
    const READ: [&str; 9] = [
        "queue",
        "Account_Name",
        "euser",
        "egroup",
        "job_state",
        "queue_rank",
        "Priority",
        "eligible_time",
        "accrue_type",
    ];
    key.starts_with("Resource_List.") || READ.contains(&key)
}

/// Gives an attribute to the job that it stands under.
fn take<'d>(job: &mut Option<Attributes<'d>>, attribute: Option<(&'d str, Cow<'d, str>)>, rows: &Rows<'_>) {
    let (Some(job), Some((key, value))) = (job, attribute) else { return };
    match key {
        "queue" => job.queue = value,
        "Account_Name" => job.account = value,
        "euser" => job.user = value,
        "egroup" => job.group = value,
        "job_state" => job.state = Some(Token::Text(value)),
        "queue_rank" => job.queued_at = Some(Token::Text(value)),
        "Priority" if rows.needs("job_priority") => job.special.push(("job_priority".into(), Token::Text(value))),
        "eligible_time" | "accrue_type" if rows.needs(key) => job.special.push((key.into(), Token::Text(value))),
        _ => {
            if let Some(resource) = key.strip_prefix("Resource_List.") {
                job.resources.push((resource.into(), amount(value)));
            }
        }
    }
}

/// An amount with its looks: a number is a number, though the text does not say so.
fn amount(value: Cow<'_, str>) -> Token<'_> {
    match value {
        Cow::Borrowed(text) if numbers::number(text).is_some() => Token::Number(text),
        value => Token::Text(value),
    }
}
