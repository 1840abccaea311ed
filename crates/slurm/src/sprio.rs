//! What `sprio` prints of pending jobs, which is not an input of the priority, but for two things
//! that nothing else prints: the site's factor, and which jobs have a priority that was set directly.
//! From the age that it prints follows when the daemon computed the priorities ([`CalculationTime`]),
//! which decides the ages of the jobs.

use std::collections::HashMap;

use crate::priority::{Factor, PrioritySettings};
use crate::records::{Record, RecordKind};
use crate::slurm_jobs::SlurmJob;
use crate::tables::Table;
use crate::values::Form;

/// The rows of the tables of `sprio`, by the job: one for each of its partitions in each table.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sprio(HashMap<String, Vec<Row>>);

#[derive(Debug, Clone, PartialEq)]
struct Row {
    record: Record,
    /// Whether no column can be cut, as `|` separates them.
    is_piped: bool,
}

/// The smallest number that `nice` and the site's factor are stored with, which is printed for jobs
/// with a direct priority and several partitions.
const UNSET: &str = "-2147483648";

/// The columns with numbers, but for `PARTITION`: the first column of this name has the partition,
/// the second one its points.
const NUMBERS: [(&str, Form); 7] = [
    ("SITE", Form::Whole),
    ("AGE", Form::Number),
    ("ASSOC", Form::Number),
    ("FAIRSHARE", Form::Number),
    ("JOBSIZE", Form::Number),
    ("QOS", Form::Number),
    ("NICE", Form::Number),
];

/// What a row has.
const ROW: RecordKind = RecordKind {
    what: "job",
    name: "JOBID",
    command: "sprio -l",
    forms: &NUMBERS,
};

/// Whether a table is one of `sprio`.
pub(crate) fn is_of_sprio(table: &Table<'_>) -> bool {
    table.column("JOBID") == Some(0) && table.has("PRIORITY") && table.has("FAIRSHARE")
}

impl Row {
    /// Whether it has a part of the largest priority, and parts as components (`sprio -n`).
    fn is_normalized(&self) -> bool {
        self.record.text("PRIORITY").contains('.')
    }

    fn partition_points(&self) -> Option<&str> {
        self.record.all("PARTITION").nth(1)
    }

    /// A component of the priority, a whole number; `TRES` is the sum of those of the resources.
    fn component(&self, column: &str) -> Option<f64> {
        match column {
            "PARTITION" => self.partition_points()?.parse().ok(),
            "TRES" if self.record.has_key("TRES") => Some(sum_of_points(self.record.text("TRES"))),
            _ => self.record.number(column),
        }
    }

    /// Whether it is that of a job with a direct priority: it has no factors, no list of resources,
    /// and more priority than the least. `nice` and the site's factor are not counted, or not
    /// stored.
    fn is_direct(&self) -> bool {
        let record = &self.record;
        if record.get("SITE").is_none() {
            return false;
        }
        if record.contains(UNSET) {
            return true;
        }
        for (column, _) in NUMBERS {
            if !matches!(record.get(column), None | Some("0")) {
                return false;
            }
        }
        let has_points = !matches!(self.partition_points(), None | Some("0"));
        // each of six components that are printed as 0 may be almost half a point
        let priority: Option<u64> = record.number("PRIORITY");
        priority > Some(3) && !has_points && record.get("TRES").is_none()
    }
}

impl Sprio {
    /// Adds a table of `sprio -l`, `sprio -n` or `sprio -o` with a header. Returns what cannot be
    /// read, one sentence each.
    pub fn add(&mut self, text: &str) -> Vec<String> {
        let Some(table) = Table::of_words(text) else {
            return Vec::new();
        };
        let mut keys = ["JOBID", "PARTITION", "PRIORITY", "TRES"]
            .map(|column| (column, column))
            .to_vec();
        keys.extend(NUMBERS.map(|(column, _)| (column, column)));
        let is_piped = table.is_piped();
        ROW.read_table(&table, &keys, |record| {
            let rows = self.0.entry(record.text("JOBID").to_owned()).or_default();
            rows.push(Row { record, is_piped });
        })
    }

    fn rows(&self, job: &str) -> &[Row] {
        self.0.get(job).map_or(&[], Vec::as_slice)
    }

    /// The rows with points.
    fn rows_with_points(&self, job: &str) -> impl DoubleEndedIterator<Item = &Row> {
        self.rows(job).iter().filter(|row| !row.is_normalized())
    }

    /// The row that says what the job has in all partitions: a column of a fixed width may be cut.
    fn row(&self, job: &str) -> Option<&Row> {
        let mut rows = self.rows_with_points(job);
        let first = rows.next()?;
        Some(rows.rfind(|row| row.is_piped).unwrap_or(first))
    }

    /// Whether the priority of a job was set directly (`scontrol update priority=`): all factors are
    /// 0.
    pub fn is_direct(&self, job: &str) -> bool {
        self.row(job).is_some_and(Row::is_direct)
    }

    /// The site's factor of a job; `None` for a job that is not listed.
    pub fn site_factor(&self, job: &str) -> Option<f64> {
        if self.is_direct(job) {
            return Some(0.0);
        }
        let mut factor: i64 = 0;
        if let Some(row) = self.row(job) {
            factor = row.record.number("SITE").unwrap_or(0);
        }
        (!self.rows(job).is_empty()).then_some(factor as f64)
    }

    /// A component of the priority of a job in a partition, a whole number; `None` if it is not
    /// printed.
    pub fn component(&self, job: &str, partition: &str, column: &str) -> Option<f64> {
        let mut rows = self.rows_with_points(job);
        let row = rows.find(|row| row.record.text("PARTITION") == partition)?;
        row.component(column)
    }

    /// Between which two times the daemon computed the priority of a job whose age counts from
    /// `accrues_from`, as far as its row says: both ends belong to it.
    pub fn calculated_between(
        &self,
        job: &str,
        accrues_from: i64,
        settings: &PrioritySettings,
    ) -> Option<(i64, i64)> {
        let mut normalized = self.rows(job).iter().filter(|row| row.is_normalized());
        let part = normalized.find_map(|row| row.record.number::<f64>("AGE"));
        let age = self
            .rows_with_points(job)
            .find_map(|row| row.component("AGE"));
        let (factor, precision) = match (part, age) {
            // seven decimals are printed of a factor, and none of points
            (Some(factor), _) => (factor, 0.5e-7),
            (None, Some(age)) => {
                let weight = f64::from(settings.weight(Factor::Age));
                (age / weight, 0.5 / weight)
            }
            (None, None) => return None,
        };
        let max_age = f64::from(settings.max_age);
        if self.is_direct(job) || !factor.is_finite() || max_age == 0.0 {
            return None;
        }
        let first = ((factor - precision) * max_age).ceil();
        let last = ((factor + precision) * max_age).floor();
        // a damaged factor may be any number
        let after = |seconds: f64| accrues_from.saturating_add(seconds as i64);
        if last >= max_age {
            return Some((after(first), i64::MAX));
        }
        // an age of 0 is also that of a job whose age begins to count later
        let earliest = if first <= 0.0 { i64::MIN } else { after(first) };
        Some((earliest, after(last.max(first))))
    }
}

/// The sum of the points of resources, `cpu=5,mem=3`.
fn sum_of_points(list: &str) -> f64 {
    let mut sum = 0.0;
    for part in list.split(',') {
        if let Some((_, points)) = part.split_once('=')
            && let Ok(points) = points.parse::<f64>()
        {
            sum += points;
        }
    }
    sum
}

/// When the priorities are computed, in seconds since 1970 on the clock of the jobs.
#[derive(Debug, Clone, Default)]
pub struct CalculationTime {
    pub now: i64,
    /// Whether nothing says it but the jobs, of which it is the latest time.
    pub is_guessed: bool,
    /// Whether the ages in `sprio` are not those by `PriorityMaxAge`.
    pub ages_are_of_others: bool,
    /// The times of single jobs that the daemon computed at another time.
    of_jobs: HashMap<String, i64>,
}

impl CalculationTime {
    pub fn known(now: i64) -> Self {
        Self {
            now,
            ..Self::default()
        }
    }

    /// The time of the daemon's calculation, which follows from the ages in `sprio`; else that at
    /// which the files were collected; else the latest one of the jobs.
    pub fn find(
        jobs: &[SlurmJob],
        settings: &PrioritySettings,
        sprio: &Sprio,
        collected: Option<i64>,
    ) -> Self {
        let mut ages: Vec<(&SlurmJob, (i64, i64))> = Vec::new();
        for job in jobs {
            if job.is_pending()
                && let Some(from) = job.accrues_from
                && let Some(between) = sprio.calculated_between(&job.id, from, settings)
            {
                ages.push((job, between));
            }
        }
        let common = most_common(&ages);
        let mut of_jobs = HashMap::new();
        let (mut agreeing, mut differing) = (0, 0);
        for (job, (first, last)) in ages {
            let agrees = common.is_some_and(|now| (first..=last).contains(&now));
            if !agrees {
                of_jobs.insert(job.id.clone(), middle(first, last));
            }
            // what is open at one end says little
            if first > i64::MIN && last < i64::MAX {
                agreeing += usize::from(agrees);
                differing += usize::from(!agrees);
            }
        }
        // under another PriorityMaxAge nearly each job has a time of its own
        let ages_are_of_others = differing > 1 && differing > agreeing;
        if let Some(now) = common
            && !ages_are_of_others
        {
            return Self {
                of_jobs,
                ..Self::known(now)
            };
        }
        let mut latest = None;
        for job in jobs {
            latest = latest.max(job.submitted).max(job.accrues_from);
        }
        Self {
            now: collected.or(latest).unwrap_or(0),
            is_guessed: collected.is_none(),
            ages_are_of_others,
            of_jobs: HashMap::new(),
        }
    }

    /// The time for a job.
    pub fn of(&self, job: &SlurmJob) -> i64 {
        self.of_jobs.get(&job.id).copied().unwrap_or(self.now)
    }
}

/// The middle of the times that most intervals contain.
fn most_common(intervals: &[(&SlurmJob, (i64, i64))]) -> Option<i64> {
    let mut ends: Vec<(i64, i32)> = Vec::new();
    for &(_, (first, last)) in intervals {
        ends.extend([(first, -1), (last, 1)]);
    }
    // of equal times, beginnings come first
    ends.sort_unstable();
    let (mut count, mut most, mut best) = (0, 0, None);
    for pair in 0..ends.len() {
        let (time, end) = ends[pair];
        count -= end;
        if count > most {
            let until = ends.get(pair + 1).map_or(time, |(next, _)| *next);
            (most, best) = (count, Some(middle(time, until)));
        }
    }
    best
}

/// A time of an interval that may be open at one end.
fn middle(first: i64, last: i64) -> i64 {
    match (first, last) {
        (i64::MIN, last) => last,
        (first, i64::MAX) => first,
        (first, last) => first + (last - first) / 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_that_no_job_can_have_is_no_overflow() {
        let settings = PrioritySettings {
            max_age: 604_800,
            ..PrioritySettings::default()
        };
        for factor in ["12345678901234567890.5", "1e300", "-1e300"] {
            let mut sprio = Sprio::default();
            let text = format!("JOBID PRIORITY AGE FAIRSHARE\n7 0.5 {factor} 0.1\n");
            assert_eq!(sprio.add(&text), [""; 0], "{factor}");
            let between = sprio.calculated_between("7", 1_700_000_000, &settings);
            assert!(
                between.is_some_and(|(first, last)| first <= last),
                "{factor}"
            );
        }
    }
}
