//! Reads `squeue -O` or `squeue -o` with a header and cells separated by `|`.

use crate::jobs::{Read, scontrol};
use crate::records::Record;
use crate::tree::Place;
use crate::tree::table::{Row, Table, is_column};

/// The columns in the order in which they are looked for, each with the key that `scontrol` has for
/// it.
const COLUMNS: [(&str, &str); 19] = [
    ("USER", "UserId"),
    ("ACCOUNT", "Account"),
    ("PARTITION", "Partition"),
    ("QOS", "QOS"),
    ("STATE", "JobState"),
    ("ST", "JobState"),
    ("REASON", "Reason"),
    ("PRIORITY", "Priority"),
    ("NICE", "Nice"),
    ("SUBMIT_TIME", "SubmitTime"),
    ("ELIGIBLE_TIME", "EligibleTime"),
    ("ACCRUE_TIME", "AccrueTime"),
    ("TIME_LIMIT", "TimeLimit"),
    ("CPUS", "NumCPUs"),
    ("TRES_ALLOC", "TRES"),
    ("MIN_MEMORY", "MinMemory"),
    ("DEPENDENCY", "Dependency"),
    ("CLUSTER", "Cluster"),
    ("JOB_ID", "JobId"),
];

pub(super) fn read(text: &str) -> Result<Read, String> {
    let expected = "expected `squeue --json`, `scontrol show job`, or `squeue -O` with a header and `|` between the columns";
    let table = Table::parse_with(text, "PRIORITY").ok_or(expected)?;
    if table.columns("TRES_ALLOC").next().is_none() {
        return Err("the table of `squeue` has no column TRES_ALLOC (`tres-alloc`)".to_owned());
    }
    let mut read = Read::default();
    for row in table.rows() {
        match row {
            Ok(row) => {
                let record = record(&table, &row);
                let state = record.get("JobState").unwrap_or_default();
                read.add(&record, scontrol::job(&record, state));
            }
            Err(fault) => read.problems.push(format!("a job is left out{fault}")),
        }
    }
    read.problems.extend(table.unended());
    Ok(read)
}

/// A row as `scontrol` prints the job. `squeue` gives several columns the same name: of the ids one
/// is that of the array's tasks, `PRIORITY` is also that of the priority divided by the largest one.
fn record(table: &Table<'_>, row: &Row<'_>) -> Record {
    let (Place::Line(line) | Place::Entry(line)) = row.place;
    let mut record = Record::at(line);
    let mut ids = Vec::new();
    for column in table.columns("JOBID") {
        let id = row.cell(Some(column));
        if id.contains('_') {
            record.set_first("ArrayTask", id, line);
        }
        ids.push(id);
    }
    ids.sort_by_key(|id| id.parse::<i64>().is_err());
    for id in ids {
        record.set_first("JobId", id, line);
    }
    for (name, key) in COLUMNS {
        for column in table.columns(name) {
            let cell = row.cell(Some(column));
            if key != "Priority" || !cell.contains('.') {
                record.set_first(key, cell, line);
            }
        }
    }
    record
}

/// Whether a line is the header of such a table.
pub(crate) fn is_header(line: &str) -> bool {
    let mut names = line.split('|').map(str::trim);
    line.contains('|')
        && names.clone().any(|name| is_column(name, "PRIORITY"))
        && names.any(|name| is_column(name, "TRES_ALLOC"))
}
