//! Reads `scontrol show job`, with a line for each job (`-o`) or several.

use crate::form::{Form, nice, processors};
use crate::jobs::{Read, SlurmJob, TimeLimit, array_task, parse_time};
use crate::records::{Record, whole_records};
use crate::tres::TresAmounts;

const FORMS: [(&str, Form); 12] = [
    ("Priority", Form::Priority),
    ("Nice", Form::Nice),
    ("TimeLimit", Form::Limit),
    ("SubmitTime", Form::Time),
    ("EligibleTime", Form::Time),
    ("AccrueTime", Form::Time),
    ("NumCPUs", Form::Processors),
    ("TRES", Form::Amounts),
    ("ReqTRES", Form::Amounts),
    ("AllocTRES", Form::Amounts),
    ("MinMemoryNode", Form::Memory),
    ("MinMemoryCPU", Form::Memory),
];

pub(super) fn read(text: &str) -> Read {
    let (records, cut) = whole_records(text, "JobId", "job", "scontrol show job");
    let mut read = Read {
        problems: Vec::from_iter(cut),
        ..Read::default()
    };
    for record in records {
        match job(&record) {
            Some(job) => {
                read.problems
                    .extend(record.faults(&FORMS, &format!("job `{}`", job.id)));
                read.jobs.push(job);
            }
            None => read.problems.push(format!(
                "line {}: the job is left out: it has no `JobState`",
                record.line
            )),
        }
    }
    read
}

fn job(record: &Record) -> Option<SlurmJob> {
    let text = |key| record.get(key).unwrap_or_default().to_owned();
    let state = record.get("JobState")?.to_owned();
    // since 23.02 a pending job has `ReqTRES`, and a running one `AllocTRES` too
    let requested = record.get("TRES").or_else(|| record.get("ReqTRES"));
    let tres = record
        .get("AllocTRES")
        .filter(|_| state != "PENDING")
        .or(requested);
    let mut tres = TresAmounts::parse(tres.unwrap_or_default());
    let user = text("UserId");
    let memory = |key| crate::tres::parse_amount(record.get(key)?, true).filter(|mb| *mb > 0.0);
    let exact = match (memory("MinMemoryNode"), memory("MinMemoryCPU")) {
        (Some(of_node), _) => tres.get("node").map(|nodes| nodes * of_node),
        (None, Some(of_cpu)) => tres.get("cpu").map(|cpus| cpus * of_cpu),
        _ => None,
    };
    if let Some(megabytes) = exact {
        tres.refine_memory(megabytes);
    }
    Some(SlurmJob {
        id: text("JobId"),
        user: user.split('(').next().unwrap_or_default().to_owned(),
        account: text("Account"),
        partition: text("Partition"),
        qos: text("QOS"),
        state,
        reason: text("Reason"),
        priority: record.number("Priority"),
        nice: record.get("Nice").and_then(nice).unwrap_or(0),
        submitted: record.get("SubmitTime").and_then(parse_time),
        eligible: record.get("EligibleTime").and_then(parse_time),
        accrues_from: record.get("AccrueTime").and_then(parse_time),
        time_limit: record
            .get("TimeLimit")
            .map_or_else(TimeLimit::default, TimeLimit::parse),
        cpus: record.get("NumCPUs").and_then(processors).unwrap_or(0),
        tres,
        dependency: text("Dependency"),
        array_task: record
            .get("ArrayJobId")
            .zip(record.get("ArrayTaskId"))
            .map(|(array, tasks)| array_task(array, tasks)),
        cluster: String::new(),
    })
}
