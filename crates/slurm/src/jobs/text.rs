//! Reads `scontrol show job`, with a line for each job (`-o`) or several, and `squeue -O` or
//! `squeue -o` with a header and cells separated by `|`.

use crate::jobs::{SlurmJob, SlurmJobs, TimeLimit, parse_time};
use crate::records::{Record, whole_records};
use crate::tree::Place;
use crate::tree::table::{Row, Table};
use crate::values::{Form, TresAmounts, nice, parse_amount, processors};

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

pub fn read_records(text: &str) -> SlurmJobs {
    let (records, cut) = whole_records(text, "JobId", "job", "scontrol show job");
    let mut read = SlurmJobs {
        warnings: Vec::from_iter(cut),
        ..SlurmJobs::default()
    };
    for record in records {
        match record.get("JobState") {
            Some(state) => {
                let job = job(&record, state);
                let of = format!("job `{}`", job.id);
                read.warnings.extend(record.faults(&FORMS, &of));
                read.jobs.push(job);
            }
            None => read.warnings.push(format!(
                "line {}: the job is left out: it has no `JobState`",
                record.line
            )),
        }
    }
    read
}

/// The job of a record, in a state.
fn job(record: &Record, state: &str) -> SlurmJob {
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

/// The columns in the order in which they are looked for, each with the key that `scontrol` has for
/// it, and the form of its values.
const COLUMNS: [(&str, &str, Option<Form>); 20] = [
    ("JOBID", "JobId", None),
    ("USER", "UserId", None),
    ("ACCOUNT", "Account", None),
    ("PARTITION", "Partition", None),
    ("QOS", "QOS", None),
    ("STATE", "JobState", None),
    ("ST", "JobState", None),
    ("REASON", "Reason", None),
    ("PRIORITY", "Priority", Some(Form::Priority)),
    ("NICE", "Nice", Some(Form::Nice)),
    ("TIME_LIMIT", "TimeLimit", Some(Form::Limit)),
    ("SUBMIT_TIME", "SubmitTime", Some(Form::Time)),
    ("ELIGIBLE_TIME", "EligibleTime", Some(Form::Time)),
    ("ACCRUE_TIME", "AccrueTime", Some(Form::Time)),
    ("CPUS", "NumCPUs", Some(Form::Processors)),
    ("TRES_ALLOC", "TRES", Some(Form::Amounts)),
    ("MIN_MEMORY", "MinMemory", Some(Form::Memory)),
    ("DEPENDENCY", "Dependency", None),
    ("CLUSTER", "Cluster", None),
    ("JOB_ID", "JobId", None),
];

pub fn read_table(text: &str) -> Result<SlurmJobs, String> {
    let expected = "expected `squeue --json`, `scontrol show job`, or `squeue -O` with a header and `|` between the columns";
    let table = Table::parse_with(text, "PRIORITY").ok_or(expected)?;
    if table.column("TRES_ALLOC").is_none() {
        return Err("the table of `squeue` has no column TRES_ALLOC (`tres-alloc`)".to_owned());
    }
    let mut columns = Vec::new();
    for (name, key, form) in COLUMNS {
        for index in table.columns(name) {
            columns.push(Column {
                index,
                name,
                key,
                form,
            });
        }
    }
    let mut read = SlurmJobs::default();
    for row in table.rows() {
        match row {
            Ok(row) => {
                let record = record(&columns, &row);
                let state = record.get("JobState").unwrap_or_default();
                let job = job(&record, state);
                add_faults(&columns, &row, &job.id, &mut read.warnings);
                read.jobs.push(job);
            }
            Err(fault) => read.warnings.push(format!("a job is left out{fault}")),
        }
    }
    read.warnings.extend(table.unended());
    Ok(read)
}

/// A row as `scontrol` prints the job. `squeue` gives several columns the same name: of the ids one
/// is that of the array's tasks, `PRIORITY` is also that of the priority divided by the largest one.
fn record(columns: &[Column], row: &Row<'_>) -> Record {
    let (Place::Line(line) | Place::Entry(line)) = row.place;
    let mut record = Record::at(line);
    let mut ids = Vec::new();
    for column in columns {
        if column.name == "JOBID" {
            let id = row.cell(Some(column.index));
            if id.contains('_') {
                record.set_first("ArrayTask", id, line);
            }
            ids.push(id);
        }
    }
    ids.sort_by_key(|id| id.parse::<i64>().is_err());
    for id in ids {
        record.set_first("JobId", id, line);
    }
    for column in columns {
        let cell = row.cell(Some(column.index));
        if column.key != "Priority" || !cell.contains('.') {
            record.set_first(column.key, cell, line);
        }
    }
    record
}

/// Adds what is said of the values of a job that have another form than their columns.
fn add_faults(columns: &[Column], row: &Row<'_>, job: &str, faults: &mut Vec<String>) {
    for column in columns {
        let Some(form) = column.form else { continue };
        let cell = row.cell(Some(column.index));
        if !matches!(cell, "" | "N/A" | "(null)")
            && let Some(fault) = form.fault(column.name, &format!("job `{job}`"), cell)
        {
            faults.push(format!("{}: {fault}", row.place));
        }
    }
}

/// A column of a table that is read.
struct Column {
    index: usize,
    name: &'static str,
    key: &'static str,
    form: Option<Form>,
}
