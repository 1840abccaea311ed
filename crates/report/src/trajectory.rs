//! The ranks of jobs over the time that they wait: as text with a plot, JSON and CSV.

use std::io::{self, Write};

use job_sort_formula::jobs::JobTable;
use job_sort_formula::python::Value;
use job_sort_formula::rank::trajectory::{JobTrajectory, Overtaking, Trajectory};
use serde_json::{Value as Json, json};

use super::byte_buffer::ByteBuffer;
use super::rank_csv::push_text;
use super::{printable, waiting_time};

/// The size of the plot, in characters; a line covers several ranks if there are more ranks than lines.
const PLOT_WIDTH: usize = 61;
const MAX_PLOT_HEIGHT: usize = 24;
/// The letters of the jobs in the plot.
const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// The most overtakings that the text lists; the others are counted.
const MAX_LISTED: usize = 20;

/// What is said of a job after the time up to which it is followed.
pub(super) const NOT_FOLLOWED: &str = "what comes later takes too long to find out";
/// Why a job is not followed to the end.
const TOO_LONG: &str = "what comes later takes more work than one trajectory may do";

/// A trajectory, ready to be written.
#[derive(Debug, Clone, Copy)]
pub struct TrajectoryReport<'a> {
    /// The formula's text.
    pub formula: &'a str,
    /// The jobs.
    pub table: &'a JobTable,
    /// The number of jobs that the scheduler considers now.
    pub considered: usize,
    /// The `eligible_time` of each job of the trajectory now, in seconds.
    pub eligible_times: &'a [i64],
    /// What is written.
    pub trajectory: &'a Trajectory,
    /// What is shown above the text, such as the policy: a heading and a text each.
    pub rules: &'a [(&'static str, String)],
}

impl TrajectoryReport<'_> {
    fn jobs(&self) -> impl Iterator<Item = (&JobTrajectory, i64)> {
        self.trajectory.jobs.iter().zip(self.eligible_times.iter().copied())
    }

    /// Writes one JSON document.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        let table = self.table;
        let finite = |score: f64| score.is_finite().then_some(score);
        let job = |(job, eligible_time): (&JobTrajectory, i64)| {
            let point = |point: &job_sort_formula::rank::trajectory::TrajectoryPoint| {
                let eligible_time = eligible_time + point.wait;
                json!({
                    "wait": point.wait, "eligible_time": eligible_time, "score": finite(point.score), "rank": point.rank,
                    "known": point.is_known,
                })
            };
            let ranks = job.ranks.iter().map(|(wait, rank)| json!({"wait": wait, "rank": rank}));
            json!({
                "id": table.id(job.row), "entity": table.entity(job.row), "queue": table.queue(job.row),
                "known_until": job.known_until, "is_complete": self.is_complete(job),
                "points": job.points.iter().map(point).collect::<Vec<_>>(), "ranks": ranks.collect::<Vec<_>>(),
            })
        };
        let crossing = |overtaking: &Overtaking| {
            json!({
                "wait": overtaking.wait, "job": table.id(overtaking.winner), "overtakes": table.id(overtaking.loser),
            })
        };
        let document = json!({
            "formula": self.formula,
            "considered": self.considered,
            "seconds": self.trajectory.seconds,
            "jobs": self.jobs().map(job).collect::<Vec<Json>>(),
            "crossings": self.trajectory.overtakings.iter().map(crossing).collect::<Vec<Json>>(),
        });
        serde_json::to_writer_pretty(&mut *out, &document)?;
        writeln!(out)
    }

    /// Writes comma-separated values as in RFC 4180: a line for each job at each point of time. `for_spreadsheets` is as in
    /// [`Csv`](super::Csv).
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_csv(&self, for_spreadsheets: bool, out: &mut dyn Write) -> io::Result<()> {
        let mut bytes = Vec::new();
        let mut text = ByteBuffer::new(&mut bytes);
        text.push_str("wait,id,eligible_time,score,rank,known\n");
        for (job, eligible_time) in self.jobs() {
            for point in &job.points {
                text.push_str(&format!("{},", point.wait));
                push_text(self.table.id(job.row), for_spreadsheets, &mut text);
                text.push_str(&format!(",{},", eligible_time + point.wait));
                if point.score.is_finite() {
                    text.push_str(&Value::Float(point.score).repr());
                }
                text.push_byte(b',');
                if let Some(rank) = point.rank {
                    text.push_number(rank as u64);
                }
                text.push_str(if point.is_known { ",true\n" } else { ",false\n" });
            }
        }
        text.finish();
        out.write_all(&bytes)
    }

    /// Writes a sentence for each job, a plot of the ranks, and who overtakes whom; nothing if there is no job.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_human(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.trajectory.jobs.is_empty() {
            return Ok(());
        }
        for (heading, text) in self.rules {
            writeln!(out, "{heading:<10} {}", printable(text))?;
        }
        writeln!(out)?;
        for job in &self.trajectory.jobs {
            writeln!(out, "{}", self.sentence(job))?;
        }
        writeln!(out)?;
        self.write_plot(out)?;
        self.write_overtakings(out)
    }

    fn sentence(&self, job: &JobTrajectory) -> String {
        let rank_at = |index: usize| match job.ranks.get(index).and_then(|(_, rank)| *rank) {
            Some(rank) => format!("{rank} of {}", self.considered),
            None => "not considered".to_owned(),
        };
        let id = |row: usize| printable(self.table.id(row));
        let job_id = id(job.row);
        let end = waiting_time(job.known_until);
        let unknown = if self.is_complete(job) { String::new() } else { format!("; {NOT_FOLLOWED}") };
        if let [_] = job.ranks.as_slice() {
            return match job.known_until {
                0 => format!("`{job_id}`: {} now{unknown}", rank_at(0)),
                _ => format!("`{job_id}`: {} now, and so it stays for {end}{unknown}", rank_at(0)),
            };
        }
        let overtakings = &self.trajectory.overtakings;
        let mut sentence = format!("`{job_id}`: {} now, {} in {end}", rank_at(0), rank_at(job.ranks.len() - 1));
        if let Some(first) = overtakings.iter().find(|overtaking| overtaking.winner == job.row) {
            sentence += &format!("; it first overtakes `{}`, in {}", id(first.loser), waiting_time(first.wait));
        }
        if let Some(first) = overtakings.iter().find(|overtaking| overtaking.loser == job.row) {
            sentence +=
                &format!("; `{}` is the first to overtake it, in {}", id(first.winner), waiting_time(first.wait));
        }
        sentence + &unknown
    }

    /// Whether a job is followed to the end.
    pub(super) fn is_complete(&self, job: &JobTrajectory) -> bool {
        job.known_until >= self.trajectory.seconds
    }

    /// The ranks over time: a letter for each job, the best rank at the top. Jobs of different ranks that fall on the same
    /// character are drawn as `*`.
    fn write_plot(&self, out: &mut dyn Write) -> io::Result<()> {
        let ranks = || self.trajectory.jobs.iter().flat_map(|job| job.points.iter().filter_map(|point| point.rank));
        let (Some(best), Some(worst)) = (ranks().min(), ranks().max()) else { return Ok(()) };
        let ranks_per_line = (worst - best + 1).div_ceil(MAX_PLOT_HEIGHT);
        let height = (worst - best + 1).div_ceil(ranks_per_line);
        let mut lines = vec![vec![b' '; PLOT_WIDTH]; height];
        for (job, letter) in self.trajectory.jobs.iter().zip(LETTERS.iter().cycle()) {
            for (column, point) in job.points.iter().enumerate().take(PLOT_WIDTH) {
                let Some(rank) = point.rank else { continue };
                let character = &mut lines[(rank - best) / ranks_per_line][column];
                *character = if *character == b' ' { *letter } else { b'*' };
            }
        }
        for (job, letter) in self.trajectory.jobs.iter().zip(LETTERS.iter().cycle()) {
            writeln!(out, "{}  {}", char::from(*letter), printable(self.table.id(job.row)))?;
        }
        if lines.iter().flatten().any(|character| *character == b'*') {
            writeln!(out, "*  several of them")?;
        }
        let label = |line: usize| {
            let first = best + line * ranks_per_line;
            match worst.min(first + ranks_per_line - 1) {
                last if last == first => first.to_string(),
                last => format!("{first}-{last}"),
            }
        };
        let labels: Vec<String> = (0..height).map(label).collect();
        let width = labels.iter().map(String::len).max().unwrap_or(0).max(6);
        writeln!(out, "\n{:>width$}", "rank")?;
        for (label, line) in labels.iter().zip(&lines) {
            writeln!(out, "{label:>width$} |{}", String::from_utf8_lossy(line).trim_end())?;
        }
        let (half, end) = (waiting_time(self.trajectory.seconds / 2), waiting_time(self.trajectory.seconds));
        writeln!(out, "{:width$} +{}", "", "-".repeat(PLOT_WIDTH))?;
        writeln!(out, "{:width$}  now{half:>30}{end:>28}\n", "")
    }

    fn write_overtakings(&self, out: &mut dyn Write) -> io::Result<()> {
        let overtakings = &self.trajectory.overtakings;
        let listed = || overtakings.iter().take(MAX_LISTED);
        let width = listed().map(|overtaking| waiting_time(overtaking.wait).len()).max().unwrap_or(0);
        for overtaking in listed() {
            let [winner, loser] = [overtaking.winner, overtaking.loser].map(|row| printable(self.table.id(row)));
            writeln!(out, "in {:>width$}: `{winner}` overtakes `{loser}`", waiting_time(overtaking.wait))?;
        }
        let is_complete = self.trajectory.jobs.iter().all(|job| self.is_complete(job));
        if overtakings.is_empty() && is_complete {
            writeln!(out, "no job overtakes another one")?;
        }
        if overtakings.len() > MAX_LISTED {
            writeln!(out, "and {} more; --format json lists all", overtakings.len() - MAX_LISTED)?;
        }
        for job in self.trajectory.jobs.iter().filter(|job| !self.is_complete(job)) {
            let id = printable(self.table.id(job.row));
            writeln!(out, "`{id}` is followed for {} only: {TOO_LONG}", waiting_time(job.known_until))?;
        }
        Ok(())
    }
}
