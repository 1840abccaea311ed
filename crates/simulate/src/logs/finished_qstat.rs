//! Reads what `qstat -x -f -F json` prints: the finished jobs that the server remembers.
//!
//! A finished job is read as the accounting record of its end would be. Its times are those of the
//! clock of the host of qstat. A job that has not finished is counted by its state, and the subjobs
//! of an array that are not listed by that of the array: qstat lists subjobs only with `-t`.

use std::collections::HashMap;
use std::fmt;
use std::io::BufRead;

use jsf_openpbs::job_attributes::{array_and_index, is_array};
use jsf_openpbs::times::{seconds, seconds_of_ctime};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;

use crate::faults::{Fault, LeftOutReason};
use crate::logs::Fields;
use crate::logs::accounting::read_end;
use crate::workload::builder::{MAX_RUN_SUBJOBS, WorkloadBuilder};

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
        ("ctime", number(time(job, "ctime"))),
        ("qtime", number(time(job, "qtime"))),
        ("etime", number(time(job, "etime"))),
        ("start", number(time(job, "stime"))),
        ("end", number(end(job))),
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

/// A time as accounting records have it; empty if it is not known.
fn number(time: Option<i64>) -> String {
    time.map_or_else(String::new, |time| time.to_string())
}

/// The text of a string or a number; empty for anything else.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}
