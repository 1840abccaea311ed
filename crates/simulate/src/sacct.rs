//! Reads what `sacct --parsable2` (`-P`) prints: a line of column names, then a line for each job, separated by `|`.
//!
//! Steps, such as `12.batch`, are not jobs. A job holds `AllocCPUS` processors, which is at least what it asks for. Times
//! are those of the cluster's clock; where it changes to summer time, waits across the change are an hour off.

use jsf_openpbs::duration::seconds;

use super::workload::{LoggedJob, WorkloadBuilder};

/// The indices of the columns that are used.
#[derive(Debug, Clone, Default)]
pub(super) struct SacctColumns {
    id: usize,
    user: Option<usize>,
    account: Option<usize>,
    partition: Option<usize>,
    submit: Option<usize>,
    eligible: Option<usize>,
    start: Option<usize>,
    end: Option<usize>,
    elapsed: Option<usize>,
    elapsed_raw: Option<usize>,
    limit: Option<usize>,
    limit_raw: Option<usize>,
    processors: Vec<usize>,
    count: usize,
}

impl SacctColumns {
    /// The columns that a line names; `None` if it is no such line, or lacks the id, a time of submission, a length or the
    /// processors.
    pub(super) fn from_heading(line: &str) -> Option<Self> {
        let names: Vec<String> = line.trim_end().split('|').map(str::to_ascii_lowercase).collect();
        let find = |name: &str| names.iter().position(|known| known == name);
        let columns = Self {
            id: find("jobid").or_else(|| find("jobidraw"))?,
            user: find("user"),
            account: find("account"),
            partition: find("partition"),
            submit: find("submit"),
            eligible: find("eligible"),
            start: find("start"),
            end: find("end"),
            elapsed: find("elapsed"),
            elapsed_raw: find("elapsedraw"),
            limit: find("timelimit"),
            limit_raw: find("timelimitraw"),
            processors: ["alloccpus", "ncpus", "reqcpus"].into_iter().filter_map(find).collect(),
            count: names.len(),
        };
        let has_length = columns.elapsed_raw.or(columns.elapsed).or(columns.start.and(columns.end)).is_some();
        let is_usable = columns.submit.or(columns.eligible).is_some() && has_length && !columns.processors.is_empty();
        is_usable.then_some(columns)
    }

    /// Adds the job of a line.
    pub(super) fn read_line(&self, line: &str, builder: &mut WorkloadBuilder) -> Result<(), &'static str> {
        let line = line.trim_end_matches(['\r', '\n']);
        if line.is_empty() {
            return Ok(());
        }
        let fields: Vec<&str> = line.split('|').collect();
        // `--parsable` ends each line with a separator
        if fields.len() != self.count && fields.len() != self.count + 1 {
            return Err("not as many fields as the first line has");
        }
        let field = |column: Option<usize>| column.and_then(|column| fields.get(column)).copied().unwrap_or("");
        let id = fields[self.id];
        if id.contains('.') || id.eq_ignore_ascii_case("jobid") {
            return Ok(());
        }
        let [submit, eligible, start, end] =
            [self.submit, self.eligible, self.start, self.end].map(|column| time(field(column)));
        let submit = eligible.or(submit).ok_or("no time of submission")?;
        if self.start.is_some() && start.is_none() {
            return Err("the job did not start");
        }
        if self.end.is_some() && end.is_none() {
            return Err("the job has not ended");
        }
        let between = || start.zip(end).map(|(start, end)| end - start);
        let run = number(field(self.elapsed_raw)).or_else(|| duration(field(self.elapsed))).or_else(between);
        let run = run.ok_or("no run time")?;
        let limit = number(field(self.limit_raw)).and_then(|minutes| minutes.checked_mul(60));
        let limit = limit.or_else(|| duration(field(self.limit))).filter(|limit| *limit > 0);
        let positive = |&column: &usize| number(fields[column]).filter(|processors| *processors > 0);
        let job = LoggedJob {
            id,
            entity: field(self.user),
            user: field(self.user),
            unix_group: "",
            project: "",
            group: field(self.account),
            queue: field(self.partition),
            submit,
            run,
            walltime: limit.unwrap_or(run),
            processors: self.processors.iter().find_map(positive).ok_or("no number of processors")?,
            started: start,
            is_partial: false,
            amounts: &[],
        };
        builder.push(&job)
    }
}

fn number(field: &str) -> Option<i64> {
    field.parse().ok()
}

/// A duration such as `1-02:03:04` or `02:03:04`; `None` for a word such as `UNLIMITED`.
fn duration(field: &str) -> Option<i64> {
    let (days, clock) = field.split_once('-').unwrap_or(("0", field));
    number(days)?.checked_mul(86_400)?.checked_add(seconds(clock).ok()?)
}

/// The seconds since 1970 of a time such as `2026-11-22T17:05:29`, or a number of seconds.
fn time(field: &str) -> Option<i64> {
    if let Ok(seconds) = field.parse() {
        return Some(seconds);
    }
    let (date, clock) = field.split_once('T')?;
    let parts: Vec<i64> = date.split('-').map(number).collect::<Option<_>>()?;
    let &[year @ 1900..=9999, month @ 1..=12, day @ 1..=31] = &parts[..] else { return None };
    Some(days_since_1970(year, month, day) * 86_400 + seconds(clock).ok()?)
}

/// The days since 1970-01-01 in the Gregorian calendar, whose years are counted here from March: leap days come last.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let month = (month + 9) % 12;
    365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_durations() {
        assert_eq!(time("1970-01-01T00:00:00"), Some(0));
        assert_eq!(time("2000-03-01T00:00:01"), Some(951_868_801));
        assert_eq!(time("2024-02-29T23:59:59"), Some(1_709_251_199));
        assert_eq!(time("1700000000"), Some(1_700_000_000));
        assert_eq!([time("Unknown"), time("None"), time("2024-13-01T00:00:00")], [None; 3]);
        assert_eq!(duration("1-02:03:04"), Some(93_784));
        assert_eq!([duration("UNLIMITED"), duration("Partition_Limit")], [None; 2]);
    }
}
