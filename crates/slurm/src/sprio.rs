//! What `sprio` prints of pending jobs. It is not an input of the priority, but for two things that
//! nothing else prints: the site's factor, and which jobs have a priority that was set directly.
//! From the age that it prints follows when the daemon computed the priorities.

use std::collections::HashMap;
use std::str::FromStr;

use crate::conf::PrioritySettings;
use crate::values::Form;

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

    /// Adds what a row of a table says of the job.
    fn add(&mut self, cells: &Cells<'_>) {
        let age = cells.number("AGE");
        if let Some(priority) = cells.get("PRIORITY")
            && priority.contains('.')
        {
            self.age_factor = self.age_factor.or(age);
            return;
        }
        let mut components = HashMap::new();
        for column in COLUMNS {
            if let Some(points) = cells.number(column) {
                components.insert(column, points);
            }
        }
        if let Some(points) = cells.partition_points()
            && let Ok(points) = points.parse()
        {
            components.insert("PARTITION", points);
        }
        if cells.columns.contains(&"TRES") {
            components.insert("TRES", sum_of_points(cells.get("TRES").unwrap_or_default()));
        }
        let partition = cells.get("PARTITION").unwrap_or_default().to_owned();
        self.components.push((partition, components));
        // only the long forms have the site's factor, which a column of fixed width may cut
        if (self.age.is_none() || cells.has_bars)
            && let Some(site) = cells.number("SITE")
        {
            self.is_direct = cells.are_direct(site);
            self.site = if self.is_direct { 0 } else { site };
        }
        self.age = self.age.or(age);
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

/// The cells of a row, and the names of their columns.
struct Cells<'t> {
    columns: &'t [&'t str],
    cells: Vec<&'t str>,
    /// Whether `|` separates them.
    has_bars: bool,
}

impl<'t> Cells<'t> {
    /// The first cell with a name: of two columns `PARTITION`, the first is the name.
    fn get(&self, column: &str) -> Option<&'t str> {
        let index = self.columns.iter().position(|name| *name == column)?;
        self.cells.get(index).copied()
    }

    /// The last cell `PARTITION`: of two, the points.
    fn partition_points(&self) -> Option<&'t str> {
        let index = self.columns.iter().rposition(|name| *name == "PARTITION")?;
        self.cells.get(index).copied()
    }

    fn number<N: FromStr>(&self, column: &str) -> Option<N> {
        self.get(column)?.parse().ok()
    }

    /// Whether the row of `sprio -l` is one of a job with a direct priority: it has no factors, no
    /// list of resources, and more priority than the least. `nice` and the site's factor are not
    /// counted, or not stored.
    fn are_direct(&self, site: i64) -> bool {
        if site == UNSET || self.cells.contains(&UNSET.to_string().as_str()) {
            return true;
        }
        for column in COLUMNS {
            if !matches!(self.get(column), None | Some("0")) {
                return false;
            }
        }
        let has_partition = !matches!(self.partition_points(), None | Some("0"));
        let has_tres = self.cells.len() == self.columns.len() && self.cells.last() != Some(&"");
        // each of six components that are printed as 0 may be almost half a point
        let priority: Option<u64> = self.number("PRIORITY");
        priority > Some(3) && !has_partition && !has_tres
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
        let Some((_, header)) = lines.next() else {
            return problems;
        };
        let columns = cells(header);
        while let Some((index, line)) = lines.next() {
            let number = index + 1;
            let is_cut = lines.peek().is_none() && !text.ends_with('\n');
            let cells = Cells {
                columns: &columns,
                cells: cells(line),
                has_bars: line.contains('|'),
            };
            let job = cells.get("JOBID").unwrap_or_default();
            if !job.starts_with(|c: char| c.is_ascii_digit()) {
                continue;
            }
            // the last column of a table with a fixed width may be blank
            if is_cut || cells.has_bars && cells.cells.len() != columns.len() {
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
                if let Some(text) = cells.get(column)
                    && let Some(fault) = form.fault(column, &of, text)
                {
                    problems.push(format!("line {number}: {fault}"));
                }
            }
            self.0.entry(job.to_owned()).or_default().add(&cells);
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
