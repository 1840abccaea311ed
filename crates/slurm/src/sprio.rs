//! What `sprio` prints of pending jobs. It is not an input of the priority, but for two things that
//! nothing else prints: the site's factor, and which jobs have a priority that was set directly.
//! From the age that it prints follows when the daemon computed the priorities.

use std::collections::HashMap;

use crate::conf::PrioritySettings;
use crate::form::Form;

/// A row of `sprio`, the first of a job with several partitions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SprioRow {
    /// The site's factor.
    pub site: i64,
    /// Whether the priority was set directly (`scontrol update priority=`): all factors are 0.
    pub is_direct: bool,
    /// The weighted age, a whole number.
    pub age: Option<f64>,
    /// The age as a part of `PriorityMaxAge`, with seven decimals (`sprio -n`).
    pub age_factor: Option<f64>,
    /// What the long forms print of the job in each partition, whole numbers by their columns;
    /// `TRES` is the sum of those of the resources.
    components: Vec<(String, HashMap<&'static str, f64>)>,
}

impl SprioRow {
    /// A component of the priority in a partition; `None` if it is not printed.
    pub fn component(&self, partition: &str, column: &str) -> Option<f64> {
        let mut rows = self.components.iter();
        let (_, components) = rows.find(|(name, _)| name == partition)?;
        components.get(column).copied()
    }
}

/// The rows of the tables of `sprio`, by the job.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Sprio(HashMap<String, SprioRow>);

/// The smallest number that `nice` and the site's factor are stored with, which is printed for jobs
/// with a direct priority and several partitions.
const UNSET: i64 = -(1 << 31);

/// The columns with numbers, of which the second `PARTITION` has the same name as the first.
const COLUMNS: [&str; 7] = [
    "SITE",
    "AGE",
    "ASSOC",
    "FAIRSHARE",
    "JOBSIZE",
    "QOS",
    "NICE",
];

/// Whether a line is the header of such a table.
pub(crate) fn is_header(line: &str) -> bool {
    let names = cells(line);
    names.first() == Some(&"JOBID") && names.contains(&"PRIORITY") && names.contains(&"FAIRSHARE")
}

fn cells(line: &str) -> Vec<&str> {
    if line.contains('|') {
        line.split('|').map(str::trim).collect()
    } else {
        line.split_ascii_whitespace().collect()
    }
}

impl Sprio {
    /// The first row of a job.
    pub fn row(&self, job: &str) -> Option<&SprioRow> {
        self.0.get(job)
    }

    /// Adds a table of `sprio -l`, `sprio -n` or `sprio -o` with a header. Returns what cannot be
    /// read, one sentence each.
    pub fn add(&mut self, text: &str) -> Vec<String> {
        let mut problems = Vec::new();
        let all = text.lines().enumerate();
        let mut lines = all.filter(|(_, line)| !line.trim().is_empty()).peekable();
        let Some(header) = lines.next().map(|(_, line)| cells(line)) else {
            return problems;
        };
        while let Some((index, line)) = lines.next() {
            let number = index + 1;
            let is_cut = lines.peek().is_none() && !text.ends_with('\n');
            let cells = cells(line);
            let cell = |name: &str| {
                // the first PARTITION is its name, the second its factor
                let column = header.iter().position(|column| *column == name);
                column.and_then(|column| cells.get(column).copied())
            };
            let Some(job) =
                cell("JOBID").filter(|job| job.starts_with(|c: char| c.is_ascii_digit()))
            else {
                continue;
            };
            // the last column of a table with a fixed width may be blank
            let has_bars = line.contains('|');
            if is_cut || has_bars && cells.len() != header.len() {
                problems.push(format!(
                    "line {number}: the row of job `{job}` is not whole and is left out; was the file cut off?"
                ));
                continue;
            }
            let of = format!("job `{job}`");
            for column in COLUMNS {
                let form = if column == "SITE" {
                    Form::Whole
                } else {
                    Form::Number
                };
                let fault = cell(column).and_then(|text| form.fault(column, &of, text));
                problems.extend(fault.map(|fault| format!("line {number}: {fault}")));
            }
            let row = self.0.entry(job.to_owned()).or_default();
            let is_normalised = cell("PRIORITY").is_some_and(|priority| priority.contains('.'));
            let age = cell("AGE").and_then(|age| age.parse::<f64>().ok());
            if is_normalised {
                row.age_factor = row.age_factor.or(age);
                continue;
            }
            let mut components: HashMap<&str, f64> = COLUMNS
                .into_iter()
                .filter_map(|name| Some((name, cell(name)?.parse().ok()?)))
                .collect();
            let last = header.iter().rposition(|name| *name == "PARTITION");
            let partition = last.and_then(|last| cells.get(last)?.parse().ok());
            components.extend(partition.map(|points| ("PARTITION", points)));
            if header.contains(&"TRES") {
                components.insert("TRES", sum_of_points(cell("TRES").unwrap_or_default()));
            }
            let partition = cell("PARTITION").unwrap_or_default().to_owned();
            row.components.push((partition, components));
            // only the long forms have the site's factor, which a column of fixed width may cut
            let is_first = row.age.is_none() || line.contains('|');
            let site = cell("SITE").and_then(|site| site.parse().ok());
            if let (true, Some(site)) = (is_first, site) {
                row.is_direct = is_direct(&header, &cells, site);
                row.site = if row.is_direct { 0 } else { site };
            }
            row.age = row.age.or(age);
        }
        problems
    }

    /// Between which two times the daemon computed the priority of a job whose age counts from
    /// `accrues_from`, as far as its row says: both ends belong to it.
    pub fn calculated_between(
        &self,
        job: &str,
        accrues_from: i64,
        settings: &PrioritySettings,
    ) -> Option<(i64, i64)> {
        let row = self.row(job)?;
        let (factor, precision) = match (row.age_factor, row.age) {
            (Some(factor), _) => (factor, 0.5e-7),
            (None, Some(age)) => {
                let weight = f64::from(settings.weight_age);
                (age / weight, 0.5 / weight)
            }
            (None, None) => return None,
        };
        let max_age = f64::from(settings.max_age);
        if row.is_direct || !factor.is_finite() || max_age == 0.0 {
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
    let points = list.split(',').filter_map(|part| part.split_once('='));
    points
        .filter_map(|(_, points)| points.parse::<f64>().ok())
        .sum()
}

/// Whether a row of `sprio -l` is one of a job with a direct priority: it has no factors, no list
/// of resources, and more priority than the least. `nice` and the site's factor are not counted, or
/// not stored.
fn is_direct(header: &[&str], cells: &[&str], site: i64) -> bool {
    let unset = UNSET.to_string();
    if site == UNSET || cells.contains(&unset.as_str()) {
        return true;
    }
    let is_zero = |name: &&str| {
        let column = header.iter().position(|column| column == name);
        column
            .and_then(|column| cells.get(column))
            .is_none_or(|cell| *cell == "0")
    };
    let partition = header.iter().rposition(|column| *column == "PARTITION");
    let has_partition = partition
        .and_then(|column| cells.get(column))
        .is_some_and(|cell| *cell != "0");
    let has_tres = cells.len() == header.len() && cells.last().is_some_and(|tres| !tres.is_empty());
    let priority = header.iter().position(|column| *column == "PRIORITY");
    let priority = priority.and_then(|column| cells.get(column)?.parse::<u64>().ok());
    // each of six components that are printed as 0 may be almost half a point
    priority > Some(3) && !has_partition && !has_tres && COLUMNS.iter().all(is_zero)
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
