//! Reads accounting logs of PBS: `date;type;id;name=value name=value …`.
//!
//! A job is what its record of type `E` (ended) says. Of a job without one, the types `Q` (queued), `S` (started) and `D`
//! (deleted) tell why: it is counted and named among the faults. The subjobs of an array are jobs; the array, `12[].vm`, is
//! not one, since nothing runs as it. All other types say nothing about when a job runs. A formula gets what `Resource_List.…`
//! has, which includes the defaults of the server and the queue.

use jsf_openpbs::duration::seconds;
use jsf_openpbs::entity::EntityAttributes;
use jsf_openpbs::resource_amount::AmountSource;

use super::workload::{LoggedAmount, LoggedJob, Mention, WorkloadBuilder};

/// Whether a line is in this format.
pub(super) fn is_accounting(line: &str) -> bool {
    let mut parts = line.splitn(4, ';');
    let (Some(date), Some(kind), Some(_), Some(_)) = (parts.next(), parts.next(), parts.next(), parts.next()) else {
        return false;
    };
    let is_date = date.len() == 19 && date.as_bytes()[2] == b'/' && date.as_bytes()[13] == b':';
    is_date && !kind.is_empty() && kind.len() <= 2 && kind.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Adds the job of a line; a record that is not about the course of a job has none. `place` names the line.
pub(super) fn read_line(line: &str, place: &str, builder: &mut WorkloadBuilder) -> Result<(), &'static str> {
    if line.trim().is_empty() {
        return Ok(());
    }
    if !is_accounting(line) {
        return Err("not a record `date;type;id;…`");
    }
    let mut parts = line.trim_end().splitn(4, ';').skip(1);
    let (kind, id, rest) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    if id.split('.').next().is_some_and(|number| number.ends_with("[]")) {
        return Ok(());
    }
    let mention = match kind {
        "E" => return read_end(id, rest, builder),
        "Q" => Mention::Queued,
        "D" => Mention::Deleted,
        "S" => Mention::Started,
        _ => return Ok(()),
    };
    builder.mention(id, mention, place);
    Ok(())
}

/// Adds the job of the attributes in a record of type `E`.
fn read_end(id: &str, attributes: &str, builder: &mut WorkloadBuilder) -> Result<(), &'static str> {
    let [mut user, mut group, mut account, mut project, mut queue] = [""; 5];
    let [mut created, mut queued, mut eligible, mut start, mut end] = [None; 5];
    let (mut walltime, mut ncpus, mut nodes, mut select) = (None, None, None, "");
    let mut amounts = Vec::new();
    for attribute in attributes.split_ascii_whitespace() {
        let Some((name, value)) = attribute.split_once('=') else { continue };
        let value = value.trim_matches('"');
        let time = || value.parse::<i64>().ok().filter(|time| *time > 0);
        if let Some(name) = name.strip_prefix("Resource_List.").filter(|name| builder.takes(name)) {
            amounts.push(LoggedAmount { name, text: value, source: Some(AmountSource::Server) });
        }
        match name {
            "user" => user = value,
            "group" => group = value,
            "account" => account = value,
            "project" => project = value,
            "queue" => queue = value,
            "ctime" => created = time(),
            "qtime" => queued = time(),
            "etime" => eligible = time(),
            "start" => start = time(),
            "end" => end = time(),
            "Resource_List.walltime" => walltime = seconds(value).ok(),
            "Resource_List.ncpus" => ncpus = time(),
            "Resource_List.nodect" => nodes = time(),
            "Resource_List.select" => select = value,
            _ => {}
        }
    }
    let submit = eligible.or(queued).or(created).ok_or("no etime, qtime or ctime")?;
    let (Some(start), Some(end)) = (start, end) else { return Err("no start or end") };
    if start < submit || end < start {
        return Err("the times are not in the order etime, start, end");
    }
    let run = end - start;
    let processors = ncpus.or_else(|| processors_of(select)).or(nodes).ok_or("no number of processors")?;
    let entity = builder.entity.entity_of(EntityAttributes { user, group, account, submitter: "", queue });
    builder.push(&LoggedJob {
        id,
        entity: &entity,
        user,
        unix_group: group,
        project,
        group: if account.is_empty() { group } else { account },
        queue,
        submit,
        run,
        walltime: walltime.filter(|walltime| *walltime > 0).unwrap_or(run),
        processors,
        started: Some(start),
        is_partial: false,
        amounts: &amounts,
    })
}

/// The processors of a `select` such as `2:ncpus=8+ncpus=1`; `None` if it does not say.
fn processors_of(select: &str) -> Option<i64> {
    let chunk = |chunk: &str| {
        let count = chunk.split(':').next().and_then(|first| first.parse::<i64>().ok()).unwrap_or(1);
        let ncpus = chunk.split(':').find_map(|part| part.strip_prefix("ncpus=")?.parse::<i64>().ok())?;
        count.checked_mul(ncpus)
    };
    select.split('+').try_fold(0_i64, |sum, part| sum.checked_add(chunk(part)?)).filter(|sum| *sum > 0)
}
