//! Reads accounting logs of PBS and Torque: `date;type;id;name=value name=value …`. A value with
//! blanks is in quotes.
//!
//! A job is what its record of type `E` (ended) says. Of a job without one, the other records about
//! its course tell why, and it is counted. An execution that ends with `R` (rerun) or `C`
//! (checkpointed and held) is left out: the job's last execution counts, and since the record's
//! wait contains the earlier ones, nothing is known of when it started. The subjobs of an array are
//! jobs; the array, `12[].vm`, is not one, since nothing runs as it. Reservations that began (`B`)
//! are counted, the jobs in them are jobs as all others. All other types say nothing about when a
//! job runs. A formula gets what `Resource_List.…` has, which includes the defaults of the server
//! and the queue.

use jsf_openpbs::array_id::is_array;
use jsf_openpbs::duration::seconds;
use jsf_openpbs::entity::EntityAttributes;
use jsf_openpbs::files::dedicated_time::time_of;
use jsf_openpbs::requested_processors::{of_exec_host, of_exec_vnode, of_nodes, of_select};
use jsf_openpbs::resource_amount::AmountSource;

use super::left_out::{Fault, LeftOutReason};
use super::log_rules::{Cancelled, processor_count};
use super::mentions::Mention;
use super::workload::{Extent, LoggedAmount, LoggedJob, MAX_RUN_SUBJOBS, WorkloadBuilder};

/// Whether a line is in this format.
pub(super) fn is_accounting(line: &str) -> bool {
    let mut parts = line.splitn(4, ';');
    let (Some(date), Some(kind), Some(_), Some(_)) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let is_date = date.len() == 19 && date.as_bytes()[2] == b'/' && date.as_bytes()[13] == b':';
    is_date
        && !kind.is_empty()
        && kind.len() <= 2
        && kind.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Adds the job of a line; a record that is not about the course of a job has none.
pub(super) fn read_line(line: &str, builder: &mut WorkloadBuilder) -> Result<(), Fault> {
    if line.trim().is_empty() {
        return Ok(());
    }
    if !is_accounting(line) {
        return Err(Fault::from("not a record `date;type;id;…`"));
    }
    let mut parts = line.trim_end().splitn(4, ';').map(str::trim_start);
    let [date, kind, id, rest] = std::array::from_fn(|_| parts.next().unwrap_or(""));
    if is_array(id) {
        return Ok(());
    }
    let mention = match kind {
        "E" => {
            let record = Record::new(Attributes { rest }, builder);
            let wall = || time_of(date.get(..10)?, date.get(11..16)?);
            builder.note_wall_time(wall, record.end);
            let read = read_end(id, &record, builder);
            if read.is_err() {
                // it is counted once, as what its end is
                builder.mention_end(id);
            }
            return read;
        }
        "B" => {
            return Err(Fault::new(
                LeftOutReason::Reservation,
                "a reservation held processors",
            ));
        }
        "Q" => Mention::Queued,
        "D" | "A" => Mention::Deleted,
        "M" => Mention::Moved,
        "S" | "T" => Mention::Started,
        "R" | "C" => Mention::Requeued,
        _ => return Ok(()),
    };
    builder.mention(id, mention, order_of(date));
    match mention {
        Mention::Queued if builder.rules.cancelled == Cancelled::Keep => {
            // some versions say in this record what the job asks for
            let _ = read_queued(id, &Record::new(Attributes { rest }, builder), builder);
            Ok(())
        }
        Mention::Requeued => Err(Fault::new(
            LeftOutReason::Rerun,
            "an execution after which the job was queued again",
        )),
        _ => Ok(()),
    }
}

/// A number that is larger for a later date `MM/DD/YYYY HH:MM:SS`.
fn order_of(date: &str) -> u64 {
    let digits = |text: &str| {
        text.bytes()
            .filter(u8::is_ascii_digit)
            .fold(0, |sum, byte| sum * 10 + u64::from(byte - b'0'))
    };
    let year = date.get(6..10).map_or(0, digits);
    let (day, time) = (
        date.get(..5).map_or(0, digits),
        date.get(11..).map_or(0, digits),
    );
    ((year * 10_000 + day) * 1_000_000 + time).max(1)
}

/// The attributes of a record that are used.
#[derive(Default)]
pub(super) struct Record<'l> {
    user: &'l str,
    group: &'l str,
    account: &'l str,
    project: &'l str,
    queue: &'l str,
    created: Option<i64>,
    queued: Option<i64>,
    eligible: Option<i64>,
    start: Option<i64>,
    end: Option<i64>,
    walltime: &'l str,
    ncpus: &'l str,
    node_count: Option<i64>,
    procs: &'l str,
    slots: Option<i64>,
    nodes: &'l str,
    select: &'l str,
    place: &'l str,
    exec_host: &'l str,
    exec_vnode: &'l str,
    amounts: Vec<LoggedAmount<'l>>,
}

impl<'l> Record<'l> {
    pub(super) fn new(
        attributes: impl Iterator<Item = (&'l str, &'l str)>,
        builder: &WorkloadBuilder,
    ) -> Self {
        let mut record = Self::default();
        for (name, value) in attributes {
            let number = || value.parse::<i64>().ok().filter(|number| *number > 0);
            let input = if name == MAX_RUN_SUBJOBS {
                Some(name)
            } else {
                name.strip_prefix("Resource_List.")
            };
            if let Some(name) = input.filter(|name| builder.takes(name)) {
                record.amounts.push(LoggedAmount {
                    name,
                    text: value,
                    source: Some(AmountSource::Server),
                });
            }
            match name {
                "user" => record.user = value,
                "group" => record.group = value,
                "account" => record.account = value,
                "project" => record.project = value,
                "queue" => record.queue = value,
                "ctime" => record.created = number(),
                "qtime" => record.queued = number(),
                "etime" => record.eligible = number(),
                "start" => record.start = number(),
                "end" => record.end = number(),
                "exec_host" => record.exec_host = value,
                "exec_vnode" => record.exec_vnode = value,
                "total_execution_slots" => record.slots = number(),
                "Resource_List.walltime" => record.walltime = value,
                "Resource_List.ncpus" => record.ncpus = value,
                "Resource_List.procs" => record.procs = value,
                "Resource_List.nodect" => record.node_count = number(),
                "Resource_List.nodes" => record.nodes = value,
                "Resource_List.select" => record.select = value,
                "Resource_List.place" => record.place = value,
                _ => {}
            }
        }
        record
    }

    fn submit(&self) -> Result<i64, &'static str> {
        self.eligible
            .or(self.queued)
            .or(self.created)
            .ok_or("no etime, qtime or ctime")
    }

    /// The processors that the job asks for. Torque's `ncpus` may be a default beside `nodes`.
    fn requested(&self) -> Result<Option<i64>, Fault> {
        let ncpus = processor_count(self.ncpus, "`Resource_List.ncpus` is not a whole number")?;
        let procs = processor_count(self.procs, "`Resource_List.procs` is not a whole number")?;
        let asked = [ncpus, of_nodes(self.nodes), procs]
            .into_iter()
            .flatten()
            .max();
        Ok(asked.or_else(|| of_select(self.select)))
    }

    /// The time that the job asks for, in seconds; `None` for 0.
    fn walltime(&self) -> Result<Option<i64>, Fault> {
        if self.walltime.is_empty() {
            return Ok(None);
        }
        let walltime = seconds(self.walltime).map_err(|_| {
            Fault::from("`Resource_List.walltime` is not a duration").found(self.walltime)
        })?;
        Ok(Some(walltime).filter(|walltime| *walltime > 0))
    }

    /// The processors that it was given.
    fn allocated(&self) -> Option<i64> {
        self.slots
            .or_else(|| of_exec_vnode(self.exec_vnode))
            .or_else(|| of_exec_host(self.exec_host))
    }

    /// Adds the job with a start and an end; without, it was cancelled while it waited.
    fn push(
        &self,
        id: &str,
        ran: Option<(i64, i64)>,
        extent: Extent,
        builder: &mut WorkloadBuilder,
    ) -> Result<(), Fault> {
        let &Self {
            user,
            group,
            account,
            project,
            queue,
            ..
        } = self;
        let submit = self.submit()?;
        let walltime = self.walltime()?;
        let processors = builder
            .rules
            .processors_of
            .choose(self.requested(), Ok(self.allocated()))?;
        let entity = builder.entity.entity_of(EntityAttributes {
            user,
            group,
            account,
            submitter: "",
            queue,
        });
        let job = LoggedJob {
            id,
            entity: &entity,
            user,
            unix_group: group,
            project,
            group: if account.is_empty() { group } else { account },
            queue,
            submit,
            run: ran.map_or(0, |(start, end)| end - start),
            walltime,
            processors: processors.or(self.node_count).ok_or(Fault::NO_PROCESSORS)?,
            select: self.select,
            place: self.place,
            started: ran.map(|(start, _)| start),
            extent,
            amounts: &self.amounts,
        };
        builder.push(&job)
    }
}

/// Adds the job of a record of type `E`.
pub(super) fn read_end(
    id: &str,
    record: &Record<'_>,
    builder: &mut WorkloadBuilder,
) -> Result<(), Fault> {
    let submit = record.submit()?;
    match (record.start, record.end) {
        (Some(start), Some(end)) if start < submit || end < start => Err(Fault::from(
            "the times are not in the order etime, start, end",
        )),
        (Some(start), Some(end)) => record.push(id, Some((start, end)), Extent::Whole, builder),
        (None, Some(_)) if builder.rules.cancelled == Cancelled::Keep => {
            record.push(id, None, Extent::Whole, builder)
        }
        (None, Some(_)) => Err(Fault::CANCELLED),
        _ => Err(Fault::from("no start or end")),
    }
}

/// Adds the job of a record of type `Q`, which counts if the job is then deleted.
fn read_queued(id: &str, record: &Record<'_>, builder: &mut WorkloadBuilder) -> Result<(), Fault> {
    record.push(id, None, Extent::Queued, builder)
}

/// The attributes `name=value` of a record. As OpenPBS writes them, a value with blanks is in
/// double quotes, or in single ones if it contains a double one.
struct Attributes<'l> {
    rest: &'l str,
}

impl<'l> Iterator for Attributes<'l> {
    type Item = (&'l str, &'l str);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let text = self.rest.trim_ascii_start();
            let end = text
                .bytes()
                .position(|byte| byte == b'=' || byte.is_ascii_whitespace())?;
            let (name, value) = (&text[..end], &text[end + 1..]);
            if text.as_bytes()[end] != b'=' {
                // a word without a value
                self.rest = value;
                continue;
            }
            let (value, rest) = quoted(value).unwrap_or_else(|| {
                let end = value
                    .bytes()
                    .position(|byte| byte.is_ascii_whitespace())
                    .unwrap_or(value.len());
                value.split_at(end)
            });
            self.rest = rest;
            return Some((name, value));
        }
    }
}

/// The text in the quotes at the start, and what follows; `None` if nothing is in quotes.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = *text
        .as_bytes()
        .first()
        .filter(|byte| matches!(byte, b'"' | b'\''))?;
    let inner = &text.as_bytes()[1..];
    let is_end = |place: &usize| {
        inner[*place] == quote && inner.get(place + 1).is_none_or(u8::is_ascii_whitespace)
    };
    let end = 1 + (0..inner.len()).find(is_end)?;
    Some((&text[1..end], &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_with_blanks() {
        let text = r#"user=a account="the lab" x='say "hi"' Resource_List.select="1:ncpus=2 b" jobname=a b empty= y="open z=5' "#;
        let found: Vec<_> = Attributes { rest: text }.collect();
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
