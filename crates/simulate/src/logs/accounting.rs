//! Reads accounting logs of PBS and Torque, `date;type;id;name=value name=value …`, in which a value
//! with blanks is in quotes.
//!
//! A job is what its record of type `E` (ended) says. Of a job without one, the other records about
//! its course tell why, and it is counted. An execution that ends with `R` (rerun) or `C`
//! (checkpointed and held) is left out: the job's last execution counts, and since the record's
//! wait contains the earlier ones, nothing is known of when it started. The subjobs of an array are
//! jobs; the array, `12[].vm`, is not one, since nothing runs as it. Reservations that began (`B`)
//! are counted, the jobs in them are jobs as all others. All other types say nothing about when a
//! job runs. A formula gets what `Resource_List.…` has, which includes the defaults of the server
//! and the queue.

use jsf_openpbs::AmountSource;
use jsf_openpbs::files::holidays::time_of;
use jsf_openpbs::job_attributes::{
    EntityAttributes, is_array, processors_of_exec_host, processors_of_exec_vnode,
    processors_of_nodes, processors_of_select,
};
use jsf_openpbs::times::seconds;

use crate::faults::{Fault, LeftOutReason, processor_count};
use crate::logs::Fields;
use crate::workload::builder::{Extent, LoggedAmount, LoggedJob, MAX_RUN_SUBJOBS, WorkloadBuilder};

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
pub fn read_end(id: &str, record: &Fields<'_>, builder: &mut WorkloadBuilder) -> Result<(), Fault> {
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
    let mut times = ["etime", "qtime", "ctime"].into_iter();
    let time = times.find_map(|name| record.positive(name));
    time.ok_or("no etime, qtime or ctime")
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
