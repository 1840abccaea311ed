//! Reads `squeue -O` or `squeue -o` with a header and cells separated by `|`.

use crate::form::{Form, nice, processors};
use crate::jobs::{Read, SlurmJob, TimeLimit, parse_time};
use crate::tree::table::{Row, Table, is_column};
use crate::tres::{TresAmounts, parse_amount};

const FORMS: [(&str, Form); 9] = [
    ("PRIORITY", Form::Priority),
    ("NICE", Form::Nice),
    ("TIME_LIMIT", Form::Limit),
    ("SUBMIT_TIME", Form::Time),
    ("ELIGIBLE_TIME", Form::Time),
    ("ACCRUE_TIME", Form::Time),
    ("CPUS", Form::Processors),
    ("TRES_ALLOC", Form::Amounts),
    ("MIN_MEMORY", Form::Memory),
];

/// The columns of the table by what they contain, each by its names in the order in which they are
/// looked for.
struct Columns<'t> {
    table: &'t Table<'t>,
}

impl Columns<'_> {
    /// The first cell of a row below one of these names that `accept` takes. `squeue` gives several
    /// columns the same name: `PRIORITY` is also that of the priority divided by the largest one.
    fn find<'r, T>(
        &self,
        row: &'r Row<'_>,
        names: &[&str],
        accept: impl Fn(&'r str) -> Option<T>,
    ) -> Option<T> {
        let columns = names.iter().flat_map(|name| self.table.columns(name));
        columns
            .map(|column| row.cell(Some(column)))
            .filter(|cell| !matches!(*cell, "" | "N/A" | "(null)"))
            .find_map(accept)
    }

    /// What is said of the values of a job that have another form than their columns.
    fn faults(&self, row: &Row<'_>, job: &SlurmJob) -> Vec<String> {
        let mut faults = Vec::new();
        for (name, form) in FORMS {
            let columns = self.table.columns(name);
            let cells = columns.map(|column| row.cell(Some(column)));
            let cells = cells.filter(|cell| !matches!(*cell, "" | "N/A" | "(null)"));
            faults.extend(cells.filter_map(|cell| {
                let fault = form.fault(name, &format!("job `{}`", job.id), cell)?;
                Some(format!("{}: {fault}", row.place))
            }));
        }
        faults
    }

    fn text(&self, row: &Row<'_>, names: &[&str]) -> String {
        self.find(row, names, |cell| Some(cell.to_owned()))
            .unwrap_or_default()
    }
}

pub(super) fn read(text: &str) -> Result<Read, String> {
    let expected = "expected `squeue --json`, `scontrol show job`, or `squeue -O` with a header and `|` between the columns";
    let table = Table::parse_with(text, "PRIORITY").ok_or(expected)?;
    let columns = Columns { table: &table };
    if table.columns("TRES_ALLOC").next().is_none() {
        return Err("the table of `squeue` has no column TRES_ALLOC (`tres-alloc`)".to_owned());
    }
    let mut read = Read::default();
    for row in table.rows() {
        match row {
            Ok(row) => {
                let job = job(&columns, &row);
                read.problems.extend(columns.faults(&row, &job));
                read.jobs.push(job);
            }
            Err(fault) => read.problems.push(format!("a job is left out{fault}")),
        }
    }
    read.problems.extend(table.unended());
    Ok(read)
}

fn job(columns: &Columns<'_>, row: &Row<'_>) -> SlurmJob {
    let number = |cell: &str| cell.parse::<i64>().ok();
    let time = |names| columns.find(row, names, parse_time);
    let mut tres = TresAmounts::parse(&columns.text(row, &["TRES_ALLOC"]));
    if let Some(memory) = columns.find(row, &["MIN_MEMORY"], |cell| parse_amount(cell, true)) {
        // it is that of a node or of a processor
        for count in ["node", "cpu"] {
            let count = tres.get(count).unwrap_or(0.0);
            tres.refine_memory(memory * count);
        }
    }
    SlurmJob {
        id: columns
            .find(row, &["JOBID"], |cell| {
                number(cell).map(|_| cell.to_owned())
            })
            .unwrap_or_else(|| columns.text(row, &["JOBID", "JOB_ID"])),
        user: columns.text(row, &["USER"]),
        account: columns.text(row, &["ACCOUNT"]),
        partition: columns.text(row, &["PARTITION"]),
        qos: columns.text(row, &["QOS"]),
        state: columns.text(row, &["STATE", "ST"]),
        reason: columns.text(row, &["REASON"]),
        priority: columns.find(row, &["PRIORITY"], |cell| cell.parse().ok()),
        nice: columns.find(row, &["NICE"], nice).unwrap_or(0),
        submitted: time(&["SUBMIT_TIME"]),
        eligible: time(&["ELIGIBLE_TIME"]),
        accrues_from: time(&["ACCRUE_TIME"]),
        time_limit: columns
            .find(row, &["TIME_LIMIT"], |cell| Some(TimeLimit::parse(cell)))
            .unwrap_or_default(),
        cpus: columns.find(row, &["CPUS"], processors).unwrap_or(0),
        tres,
        dependency: columns.text(row, &["DEPENDENCY"]),
        array_task: columns.find(row, &["JOBID"], |cell| {
            cell.contains('_').then(|| cell.to_owned())
        }),
        cluster: columns.text(row, &["CLUSTER"]),
    }
}

/// Whether a line is the header of such a table.
pub(crate) fn is_header(line: &str) -> bool {
    let mut names = line.split('|').map(str::trim);
    line.contains('|')
        && names.clone().any(|name| is_column(name, "PRIORITY"))
        && names.any(|name| is_column(name, "TRES_ALLOC"))
}
