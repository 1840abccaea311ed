//! Reads `squeue -O` or `squeue -o` with a header and cells separated by `|`.

use crate::form::Form;
use crate::jobs::{Read, scontrol};
use crate::records::Record;
use crate::tree::Place;
use crate::tree::table::{Row, Table, is_column};

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

pub fn read(text: &str) -> Result<Read, String> {
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
    let mut read = Read::default();
    for row in table.rows() {
        match row {
            Ok(row) => {
                let record = record(&columns, &row);
                let state = record.get("JobState").unwrap_or_default();
                let job = scontrol::job(&record, state);
                add_faults(&columns, &row, &job.id, &mut read.problems);
                read.jobs.push(job);
            }
            Err(fault) => read.problems.push(format!("a job is left out{fault}")),
        }
    }
    read.problems.extend(table.unended());
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

/// Whether a line is the header of such a table.
pub fn is_header(line: &str) -> bool {
    let mut names = line.split('|').map(str::trim);
    line.contains('|')
        && names.clone().any(|name| is_column(name, "PRIORITY"))
        && names.any(|name| is_column(name, "TRES_ALLOC"))
}
