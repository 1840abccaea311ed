//! Reads the Standard Workload Format of the Parallel Workloads Archive: 18 numbers a line, -1 for what is not known, and
//! comments after `;`.
//!
//! Source: D. G. Feitelson, "The Standard Workload Format", <https://www.cs.huji.ac.il/labs/parallel/workload/swf.html>.

use super::workload::{LoggedJob, WorkloadBuilder};

/// The number of fields in a line.
const FIELDS: usize = 18;
/// The values of the field "status" that mark a part of a job's execution.
const PARTIAL: std::ops::RangeInclusive<i64> = 2..=4;

/// Whether a line that is not a comment is in this format: at least eleven numbers.
pub(super) fn is_swf(line: &str) -> bool {
    let mut fields = line.split_ascii_whitespace();
    fields.by_ref().take(11).filter(|field| field.parse::<f64>().is_ok()).count() == 11
}

/// Adds the job of a line; a blank line and a comment have none.
pub(super) fn read_line(line: &str, builder: &mut WorkloadBuilder) -> Result<(), &'static str> {
    let mut fields = [""; FIELDS];
    let mut count = 0;
    for field in line.split_ascii_whitespace() {
        if count == 0 && field.starts_with(';') {
            return Ok(());
        }
        if count == FIELDS {
            return Err("more than 18 fields, expected 18 numbers");
        }
        fields[count] = field;
        count += 1;
    }
    match count {
        0 => return Ok(()),
        FIELDS => {}
        _ => return Err("fewer than 18 fields, expected 18 numbers"),
    }
    let [id, submit, _, run, allocated, _, _, requested, requested_time, _, status, user, group, _, queue, ..] = fields;
    let number = |field: &str| whole_number(field).ok_or("a field is not a number");
    let positive = |first: i64, second: i64| if first > 0 { first } else { second };
    let (submit, run) = (number(submit)?, number(run)?);
    let processors = positive(number(requested)?, number(allocated)?);
    let walltime = positive(number(requested_time)?, run);
    let is_partial = PARTIAL.contains(&number(status)?);
    // not needed, but a word in their place shows a damaged line
    number(id)?;
    if submit < 0 {
        return Err("no time of submission");
    }
    if run < 0 {
        return Err("no run time");
    }
    if processors <= 0 {
        return Err("no number of processors");
    }
    let [group, queue] = [group, queue].map(|name| if name == "-1" { "" } else { name });
    let wait = whole_number(fields[2]).filter(|wait| *wait >= 0);
    let started = wait.and_then(|wait| submit.checked_add(wait));
    let job = LoggedJob {
        id,
        entity: user,
        user,
        group,
        unix_group: group,
        project: "",
        queue,
        submit,
        run,
        walltime,
        processors,
        started,
        is_partial,
        amounts: &[],
    };
    builder.push(&job)
}

/// The processors of the machine in a line of the header, `; MaxProcs: 128`.
pub(super) fn max_procs(line: &str) -> Option<u32> {
    let comment = line.trim_start_matches([';', ' ', '\t']);
    let value = comment.strip_prefix("MaxProcs:").filter(|_| line.starts_with(';'))?;
    value.trim().parse().ok().filter(|processors| *processors > 0)
}

/// A whole number; of a decimal one, which some logs have, the whole seconds.
fn whole_number(field: &str) -> Option<i64> {
    field.parse().ok().or_else(|| {
        let is_decimal = field.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b'-');
        field.parse::<f64>().ok().filter(|_| is_decimal).map(|number| number as i64)
    })
}
