//! Reads `scontrol show job`, with a line for each job (`-o`) or several.

use crate::form::{Form, nice, processors};
use crate::jobs::{Read, SlurmJob, TimeLimit, parse_time};
use crate::records::{Record, whole_records};
use crate::tres::{TresAmounts, parse_amount};

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

pub fn read(text: &str) -> Read {
    let (records, cut) = whole_records(text, "JobId", "job", "scontrol show job");
    let mut read = Read {
        problems: Vec::from_iter(cut),
        ..Read::default()
    };
    for record in records {
        match record.get("JobState") {
            Some(state) => {
                let job = job(&record, state);
                let of = format!("job `{}`", job.id);
                read.problems.extend(record.faults(&FORMS, &of));
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

/// The job of a record, in a state.
pub fn job(record: &Record, state: &str) -> SlurmJob {
    let text = |key| record.get(key).unwrap_or_default().to_owned();
    let time = |key| record.get(key).and_then(parse_time);
    // since 23.02 a pending job has `ReqTRES`, and a running one `AllocTRES` too
    let mut tres = record.get("TRES").or(record.get("ReqTRES"));
    if state != "PENDING" {
        tres = record.get("AllocTRES").or(tres);
    }
    let mut tres = TresAmounts::parse(tres.unwrap_or_default());
    // `squeue` does not say whether it is that of a node or of a processor
    for (key, of) in [
        ("MinMemoryNode", "node"),
        ("MinMemoryCPU", "cpu"),
        ("MinMemory", "node"),
        ("MinMemory", "cpu"),
    ] {
        if let Some(memory) = record.get(key)
            && let Some(memory @ 0.001..) = parse_amount(memory, true)
            && let Some(count) = tres.get(of)
        {
            tres.refine_memory(memory * count);
        }
    }
    let mut array_task = record.get("ArrayTask").map(str::to_owned);
    if let (Some(array), Some(tasks)) = (record.get("ArrayJobId"), record.get("ArrayTaskId")) {
        array_task = Some(super::array_task(array, tasks));
    }
    SlurmJob {
        id: text("JobId"),
        user: text("UserId")
            .split('(')
            .next()
            .unwrap_or_default()
            .to_owned(),
        account: text("Account"),
        partition: text("Partition"),
        qos: text("QOS"),
        state: state.to_owned(),
        reason: text("Reason"),
        priority: record.number("Priority"),
        nice: record.get("Nice").and_then(nice).unwrap_or(0),
        submitted: time("SubmitTime"),
        eligible: time("EligibleTime"),
        accrues_from: time("AccrueTime"),
        time_limit: record
            .get("TimeLimit")
            .map_or_else(TimeLimit::default, TimeLimit::parse),
        cpus: record.get("NumCPUs").and_then(processors).unwrap_or(0),
        tres,
        dependency: text("Dependency"),
        array_task,
        cluster: text("Cluster"),
    }
}
