//! Reads accounting logs of PBS and Torque, `date;type;id;name=value name=value …`, in which a value
//! with blanks is in quotes; and what `qstat -x -f -F json` prints: the finished jobs that the server
//! remembers.
//!
//! A job is what its record of type `E` (ended) says. Of a job without one, the other records about
//! its course tell why, and it is counted. An execution that ends with `R` (rerun) or `C`
//! (checkpointed and held) is left out: the job's last execution counts, and since the record's
//! wait contains the earlier ones, nothing is known of when it started. The subjobs of an array are
//! jobs; the array, `12[].vm`, is not one, since nothing runs as it. Reservations that began (`B`)
//! are counted, the jobs in them are jobs as all others. All other types say nothing about when a
//! job runs. A formula gets what `Resource_List.…` has, which includes the defaults of the server
//! and the queue.
//!
//! A finished job of qstat is read as the accounting record of its end would be. Its times are those of
//! the clock of the host of qstat. A job that has not finished is counted by its state, and the subjobs
//! of an array that are not listed by that of the array: qstat lists subjobs only with `-t`.

use std::collections::HashMap;
use std::fmt;
use std::io::BufRead;

use jsf_openpbs::amounts::{AmountSource, seconds, seconds_of_ctime};
use jsf_openpbs::files::holidays::time_of;
use jsf_openpbs::job_attributes::{
    EntityAttributes, array_and_index, is_array, processors_of_exec_host, processors_of_exec_vnode,
    processors_of_nodes, processors_of_select,
};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use crate::log_rules::{Fault, LeftOutReason, processor_count};
use crate::logs::Fields;
use crate::workload::{Extent, LoggedAmount, LoggedJob, MAX_RUN_SUBJOBS, WorkloadBuilder};

/// The date, the type, the id and the rest of a line; `None` if it is not in this format.
pub fn parts(line: &str) -> Option<[&str; 4]> {
    let (date, rest) = line.split_once(';')?;
    let (kind, rest) = rest.split_once(';')?;
    let (id, rest) = rest.split_once(';')?;
    let is_date = date.len() == 19 && date.as_bytes()[2] == b'/' && date.as_bytes()[13] == b':';
    let is_kind =
        matches!(kind.len(), 1 | 2) && kind.bytes().all(|byte| byte.is_ascii_alphabetic());
    (is_date && is_kind).then_some([date, kind, id, rest])
}

/// Adds the job of a line; a record that is not about the course of a job has none.
pub fn read_record(line: &str, builder: &mut WorkloadBuilder) -> Result<(), Fault> {
    if line.trim().is_empty() {
        return Ok(());
    }
    let parts = parts(line.trim_end()).ok_or("not a record `date;type;id;…`")?;
    let [date, kind, id, rest] = parts.map(str::trim_start);
    if is_array(id) {
        return Ok(());
    }
    match kind {
        "E" => {
            let record = Fields(attributes(rest));
            if let Some(end) = record.positive("end") {
                builder.note_wall_time(end, || time_of(date.get(..10)?, date.get(11..16)?));
            }
            let read = read_end(id, &record, builder);
            if read.is_err() {
                // it is counted once, as what its end is
                builder.mentions.leave_out(id);
            }
            return read;
        }
        "B" => return Err(LeftOutReason::Reservation.into()),
        "Q" | "D" | "A" | "M" | "S" | "T" | "R" | "C" => {}
        _ => return Ok(()),
    }
    builder.mentions.add(id, kind, order_of(date));
    match kind {
        "Q" if !builder.leaves_out_cancelled() => {
            // some versions say in this record what the job asks for
            let record = Fields(attributes(rest));
            let _ = push(id, &record, None, Extent::Queued, builder);
            Ok(())
        }
        "R" | "C" => Err(LeftOutReason::Rerun.into()),
        _ => Ok(()),
    }
}

/// A number that is larger for a later date `MM/DD/YYYY HH:MM:SS`.
fn order_of(date: &str) -> u64 {
    // the year comes last in the date, and first in the order
    let year = date.get(6..10).unwrap_or_default();
    let mut order = 0_u64;
    for byte in year.bytes().chain(date.bytes()) {
        if byte.is_ascii_digit() {
            order = order
                .saturating_mul(10)
                .saturating_add(u64::from(byte - b'0'));
        }
    }
    order.max(1)
}

/// Adds the job of a record of type `E`, or of a finished job of `qstat`.
fn read_end(id: &str, record: &Fields<'_>, builder: &mut WorkloadBuilder) -> Result<(), Fault> {
    let submit = submitted(record)?;
    match (record.positive("start"), record.positive("end")) {
        (Some(start), Some(end)) if start < submit || end < start => Err(Fault::from(
            "the times are not in the order etime, start, end",
        )),
        (Some(start), Some(end)) => push(id, record, Some((start, end)), Extent::Whole, builder),
        (None, Some(_)) if !builder.leaves_out_cancelled() => {
            push(id, record, None, Extent::Whole, builder)
        }
        (None, Some(_)) => Err(LeftOutReason::Cancelled.into()),
        _ => Err(Fault::from("no start or end")),
    }
}

fn submitted(record: &Fields<'_>) -> Result<i64, &'static str> {
    // a job that was held, or in a routing queue, waits for processors only from `etime` on
    for name in ["etime", "qtime", "ctime"] {
        if let Some(time) = record.positive(name) {
            return Ok(time);
        }
    }
    Err("no etime, qtime or ctime")
}

/// The processors that a job asks for. Torque's `ncpus` may be a default beside `nodes`.
fn requested(record: &Fields<'_>) -> Result<Option<i64>, Fault> {
    let ncpus = processor_count(
        record.get("Resource_List.ncpus"),
        "`Resource_List.ncpus` is not a whole number",
    )?;
    let procs = processor_count(
        record.get("Resource_List.procs"),
        "`Resource_List.procs` is not a whole number",
    )?;
    let nodes = processors_of_nodes(record.get("Resource_List.nodes"));
    let asked = ncpus.max(nodes).max(procs);
    Ok(asked.or_else(|| processors_of_select(record.get("Resource_List.select"))))
}

/// The processors that a job was given.
fn allocated(record: &Fields<'_>) -> Option<i64> {
    // a job of many vnodes has long lists of them
    record
        .positive("total_execution_slots")
        .or_else(|| processors_of_exec_vnode(record.get("exec_vnode")))
        .or_else(|| processors_of_exec_host(record.get("exec_host")))
}

/// The time that a job asks for, in seconds; `None` for 0.
fn walltime(record: &Fields<'_>) -> Result<Option<i64>, Fault> {
    let text = record.get("Resource_List.walltime");
    if text.is_empty() {
        return Ok(None);
    }
    match seconds(text) {
        Some(walltime) => Ok((walltime > 0).then_some(walltime)),
        None => Err(Fault::from("`Resource_List.walltime` is not a duration").found(text)),
    }
}

/// Adds the job with a start and an end; without, it was cancelled while it waited.
fn push(
    id: &str,
    record: &Fields<'_>,
    ran: Option<(i64, i64)>,
    extent: Extent,
    builder: &mut WorkloadBuilder,
) -> Result<(), Fault> {
    let mut amounts = Vec::new();
    for &(name, text) in &record.0 {
        let input = match name.strip_prefix("Resource_List.") {
            Some(input) => input,
            None if name == MAX_RUN_SUBJOBS => name,
            None => continue,
        };
        if builder.takes(input) {
            amounts.push(LoggedAmount {
                name: input.into(),
                text: text.into(),
                source: Some(AmountSource::Server),
            });
        }
    }
    let submit = submitted(record)?;
    let walltime = walltime(record)?;
    let processors_of = builder.given.rules.processors_of;
    let processors = processors_of.choose(requested(record), Ok(allocated(record)))?;
    let processors = processors.or(record.positive("Resource_List.nodect"));
    let (started, run) = match ran {
        Some((start, end)) => (Some(start), end - start),
        None => (None, 0),
    };
    let user = record.get("user");
    let group = record.get("group");
    let account = record.get("account");
    let queue = record.get("queue");
    let entity = builder.given.entity.entity_of(EntityAttributes {
        user,
        group,
        account,
        submitter: "",
        queue,
    });
    builder.push(&LoggedJob {
        id,
        entity: &entity,
        user,
        unix_group: group,
        project: record.get("project"),
        group: if account.is_empty() { group } else { account },
        queue,
        submit,
        run,
        walltime,
        processors: processors.ok_or(Fault::NO_PROCESSORS)?,
        select: record.get("Resource_List.select"),
        place: record.get("Resource_List.place"),
        started,
        extent,
        amounts: &amounts,
    })
}

/// The attributes `name=value` of a record. As OpenPBS writes them, a value with blanks is in
/// double quotes, or in single ones if it contains a double one.
fn attributes(record: &str) -> Vec<(&str, &str)> {
    let mut attributes = Vec::new();
    let mut rest = record.trim_ascii_start();
    while let Some(end) = rest.find(|c: char| c == '=' || c.is_ascii_whitespace()) {
        let (name, after) = rest.split_at(end);
        // a word without a value is left out
        rest = &after[1..];
        if after.starts_with('=') {
            let (value, after) = match quoted(rest) {
                Some(found) => found,
                None => {
                    let end = rest.find(|c: char| c.is_ascii_whitespace());
                    rest.split_at(end.unwrap_or(rest.len()))
                }
            };
            attributes.push((name, value));
            rest = after;
        }
        rest = rest.trim_ascii_start();
    }
    attributes
}

/// The text in the quotes at the start, and what follows; `None` if nothing is in quotes.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next()?;
    if !matches!(quote, '"' | '\'') {
        return None;
    }
    for (end, _) in text.match_indices(quote).skip(1) {
        let rest = &text[end + 1..];
        if rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_whitespace()) {
            return Some((&text[1..end], rest));
        }
    }
    None
}

/// The longest document, in bytes.
const MAX_DOCUMENT: u64 = 4 << 30;
/// The key of the jobs in a document.
const JOBS: &str = "Jobs";

/// Whether a document begins as one of qstat.
pub fn is_qstat(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(head);
    let rest = head.trim_start_matches('\u{feff}').trim_start();
    let jobs = rest.split_once(&format!("\"{JOBS}\""));
    rest.starts_with('{') && jobs.is_some_and(|(_, after)| after.trim_start().starts_with(':'))
}

/// Adds the finished jobs of a document.
pub fn read_qstat(name: &str, document: impl BufRead, builder: &mut WorkloadBuilder) {
    let mut source = serde_json::Deserializer::from_reader(document.take(MAX_DOCUMENT));
    let read = Object::Document(&mut *builder).deserialize(&mut source);
    if let Err(error) = read {
        builder.faults().add(
            "not valid JSON, so that the jobs from here on are not read",
            format_args!("`{name}`, line {}", error.line()),
        );
    }
}

/// The document, and in it the object of the jobs.
enum Object<'b> {
    Document(&'b mut WorkloadBuilder),
    Jobs(&'b mut WorkloadBuilder),
}

impl<'de> DeserializeSeed<'de> for Object<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Object<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<(), A::Error> {
        let mut arrays = HashMap::new();
        while let Some(key) = entries.next_key::<String>()? {
            match &mut self {
                Self::Document(builder) if key == JOBS => {
                    entries.next_value_seed(Object::Jobs(builder))?
                }
                Self::Document(_) => _ = entries.next_value::<IgnoredAny>()?,
                Self::Jobs(builder) => {
                    let mut job: Value = entries.next_value()?;
                    if is_array(&key) {
                        arrays.insert(key, Array::new(&job));
                        continue;
                    }
                    if let Some((array, _)) = array_and_index(&key)
                        && let Some(array) = arrays.get_mut(&array)
                    {
                        array.list(&mut job);
                    }
                    if let Err(fault) = read_job(&key, &job, builder) {
                        builder.faults().add(fault, format_args!("job `{key}`"));
                    }
                }
            }
        }
        if let Self::Jobs(builder) = self {
            for (id, array) in &arrays {
                array.count_unlisted(id, builder);
            }
        }
        Ok(())
    }
}

/// An array, which `qstat -t` lists before its subjobs.
struct Array {
    state: String,
    /// How many subjobs it has; `None` if the document does not say.
    subjobs: Option<usize>,
    listed: usize,
    max_run_subjobs: Value,
}

impl Array {
    fn new(job: &Value) -> Self {
        Self {
            state: text(&job["job_state"]),
            subjobs: subjobs_in(&text(&job["array_state_count"])),
            listed: 0,
            max_run_subjobs: job[MAX_RUN_SUBJOBS].clone(),
        }
    }

    /// Counts a subjob, which has the limit of its array.
    fn list(&mut self, subjob: &mut Value) {
        self.listed += 1;
        if !self.max_run_subjobs.is_null()
            && let Some(subjob) = subjob.as_object_mut()
        {
            let limit = self.max_run_subjobs.clone();
            subjob.entry(MAX_RUN_SUBJOBS).or_insert(limit);
        }
    }

    /// Counts the subjobs that are not listed.
    fn count_unlisted(&self, id: &str, builder: &mut WorkloadBuilder) {
        let unlisted = self
            .subjobs
            .unwrap_or(1.max(self.listed))
            .saturating_sub(self.listed);
        if unlisted == 0 {
            return;
        }
        // of one that begins, some subjobs have finished
        let fault = match unfinished(&self.state) {
            Some(fault) if fault.reason != LeftOutReason::Running => fault,
            _ => LeftOutReason::Unlisted.into(),
        };
        builder
            .faults()
            .add(fault.of_jobs(unlisted), format_args!("job `{id}`"));
    }
}

/// The number of subjobs in a text such as `Queued:3 Running:2 Exiting:0 Expired:5`; `None` for
/// none.
fn subjobs_in(states: &str) -> Option<usize> {
    let mut subjobs = 0;
    for state in states.split_whitespace() {
        let (_, count) = state.split_once(':')?;
        subjobs += count.parse::<usize>().ok()?;
    }
    (subjobs > 0).then_some(subjobs)
}

/// Adds a job if it has finished.
fn read_job(id: &str, job: &Value, builder: &mut WorkloadBuilder) -> Result<(), Fault> {
    if let Some(fault) = unfinished(&text(&job["job_state"])) {
        return Err(fault);
    }
    let attributes = attributes_of_end(job);
    let mut fields = Vec::new();
    for (name, value) in &attributes {
        fields.push((&**name, &**value));
    }
    // its times are those of the clock
    if let Some(end) = end(job) {
        builder.note_wall_time(end, || Some(end));
    }
    read_end(id, &Fields(fields), builder)
}

/// Why a job in this state is left out; `None` if it has finished.
fn unfinished(state: &str) -> Option<Fault> {
    Some(match state {
        // a subjob of an array that is over is in the state X
        "F" | "X" => return None,
        "M" => LeftOutReason::Moved.into(),
        "R" | "E" | "S" | "U" | "B" => LeftOutReason::Running.into(),
        "" => "no `job_state`".into(),
        _ => LeftOutReason::Waiting.into(),
    })
}

/// The attributes of the accounting record of the job's end.
fn attributes_of_end(job: &Value) -> Vec<(String, String)> {
    let mut user = text(&job["euser"]);
    if user.is_empty() {
        let owner = text(&job["Job_Owner"]);
        user = owner.split('@').next().unwrap_or_default().to_owned();
    }
    let seconds = |time: Option<i64>| time.map_or_else(String::new, |time| time.to_string());
    let mut attributes = Vec::new();
    for (name, value) in [
        ("user", user),
        ("group", text(&job["egroup"])),
        ("account", text(&job["Account_Name"])),
        ("project", text(&job["project"])),
        ("queue", text(&job["queue"])),
        ("exec_host", text(&job["exec_host"])),
        ("exec_vnode", text(&job["exec_vnode"])),
        (MAX_RUN_SUBJOBS, text(&job[MAX_RUN_SUBJOBS])),
        ("ctime", seconds(time(job, "ctime"))),
        ("qtime", seconds(time(job, "qtime"))),
        ("etime", seconds(time(job, "etime"))),
        ("start", seconds(time(job, "stime"))),
        ("end", seconds(end(job))),
    ] {
        if !value.is_empty() {
            attributes.push((name.to_owned(), value));
        }
    }
    for (name, value) in job["Resource_List"].as_object().into_iter().flatten() {
        attributes.push((format!("Resource_List.{name}"), text(value)));
    }
    // it has the defaults of the server too
    if let Some(select) = job["schedselect"].as_str() {
        attributes.push(("Resource_List.select".to_owned(), select.to_owned()));
    }
    attributes
}

/// When a job ended: at its obituary, else after its run time; a job that never ran, when it was
/// last changed.
fn end(job: &Value) -> Option<i64> {
    let Some(start) = time(job, "stime") else {
        return time(job, "mtime");
    };
    match time(job, "obittime") {
        Some(end) if end >= start => Some(end),
        _ => start.checked_add(seconds(&text(&job["resources_used"]["walltime"]))?),
    }
}

fn time(job: &Value, name: &str) -> Option<i64> {
    seconds_of_ctime(&text(&job[name]))
}

/// The text of a string or a number; empty for anything else.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_blanks() {
        let text = r#"user=a account="the lab" x='say "hi"' Resource_List.select="1:ncpus=2 b" jobname=a b empty= y="open z=5' "#;
        let found = attributes(text);
        let expected = [
            ("user", "a"),
            ("account", "the lab"),
            ("x", "say \"hi\""),
            ("Resource_List.select", "1:ncpus=2 b"),
            ("jobname", "a"),
            ("empty", ""),
            ("y", "\"open"),
            ("z", "5'"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn dates_are_ordered() {
        let dates = [
            "12/31/2025 23:59:59",
            "01/02/2026 00:00:00",
            "01/02/2026 10:00:01",
            "02/01/2026 00:00:00",
        ];
        assert!(dates.map(order_of).is_sorted_by(|one, other| one < other));
        assert_eq!(order_of(""), 1);
    }
}
