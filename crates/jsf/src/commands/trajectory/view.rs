//! The ranks of jobs over the time that they wait for people, with a plot.

use std::fmt::Write as _;

use job_sort_formula::rank::trajectory::JobTrajectory;

use crate::commands::trajectory::answer::TrajectoryReport;
use crate::view::document::{Cell, Column, Document, RowLimit, Section, Table};
use crate::view::printable::printable;
use crate::view::rule_facts::rule_facts;
use crate::view::words::{count, duration, grouped_number, ordinal, waiting_time};

/// The size of the plot, in characters; a line covers several ranks if there are more ranks than
/// lines.
const PLOT_WIDTH: usize = 61;
const MAX_PLOT_HEIGHT: usize = 24;
/// The letters of the jobs in the plot.
const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// The most overtakings that the text lists; the others are counted.
const MAX_LISTED: usize = 20;

/// The words for the time after that up to which a job is followed.
pub(crate) const NOT_FOLLOWED: &str = "what comes later takes too long to find out";
/// What every rank of later takes for granted.
const ASSUMED: &str = "if none starts and none arrives";
/// Why a job is not followed to the end.
const TOO_LONG: &str = "what comes later takes more work than one trajectory may do";

impl<'a> TrajectoryReport<'a> {
    /// The document: the answer, a row for each of several jobs, a list of the overtakings, and a
    /// plot of the ranks.
    pub(crate) fn draw(self) -> Document<'a> {
        let jobs = &self.trajectory.jobs;
        let headline = match jobs.as_slice() {
            [one] => self.sentence(one),
            _ => self.headline(),
        };
        let ranks = (jobs.len() > 1).then(|| Section::new("ranks").table(self.ranks()));
        let plot = Section::new("ranks over time")
            .in_full()
            .draw(move |_| self.plot());
        Document {
            command: "jsf trajectory",
            title: "Ranks while jobs wait".to_owned(),
            headline,
            facts: rule_facts(self.rules),
            sections: ranks
                .into_iter()
                .chain(self.overtakings())
                .chain([plot])
                .collect(),
            read_on: "",
        }
    }

    /// Which of several jobs moves most.
    fn headline(&self) -> String {
        let jobs = &self.trajectory.jobs;
        let moves = jobs
            .iter()
            .filter_map(|job| Some((job, job.ranks.first()?.1?, job.ranks.last()?.1?)));
        // of those that move as far, the first one
        let most = moves
            .rev()
            .max_by_key(|(_, first, last)| first.abs_diff(*last))
            .filter(|(_, a, b)| a != b);
        let of = count(jobs.len(), "job");
        match most {
            Some((job, first, last)) => {
                let moves = if last > first { "falls" } else { "rises" };
                let end = waiting_time(job.known_until);
                let (id, [first, last]) = (self.table.id(job.row), [first, last].map(ordinal));
                format!(
                    "Of {of} `{id}` {moves} most, from {first} to {last} of {} in {end}, {ASSUMED}.",
                    grouped_number(self.considered)
                )
            }
            None => {
                let followed = grouped_number(jobs.len());
                format!(
                    "None of the {followed} jobs changes its place within {}, {ASSUMED}.",
                    self.end()
                )
            }
        }
    }

    /// The time for which the jobs are followed.
    fn end(&self) -> String {
        waiting_time(self.trajectory.seconds)
    }

    /// The answer about one job.
    fn sentence(&self, job: &JobTrajectory) -> String {
        let job_id = self.table.id(job.row);
        let now = self.rank_words(job.ranks.first());
        let end = waiting_time(job.known_until);
        let turns = self.turns(job);
        let unknown = if self.is_complete(job) {
            String::new()
        } else {
            format!("; {NOT_FOLLOWED}")
        };
        match job.ranks.as_slice() {
            [_] if job.known_until == 0 => format!("`{job_id}`: {now} now{unknown}."),
            [(_, Some(_))] if turns.is_empty() => {
                format!(
                    "`{job_id}`: {now}. For {end} no job overtakes it and it overtakes none, {ASSUMED}{unknown}."
                )
            }
            [_] => format!(
                "`{job_id}`: {now}. For {end} its place stays the same, {ASSUMED}{unknown}."
            ),
            _ => {
                let then = self.rank_words(job.ranks.last());
                let turns: String = turns.iter().map(|turn| format!("; {turn}")).collect();
                format!("`{job_id}`: {now} now, {then} in {end}, {ASSUMED}{turns}{unknown}.")
            }
        }
    }

    /// Whom the job overtakes first, and who overtakes it first.
    fn turns(&self, job: &JobTrajectory) -> Vec<String> {
        let overtakings = &self.trajectory.overtakings;
        let won = overtakings
            .iter()
            .find(|overtaking| overtaking.winner == job.row);
        let lost = overtakings
            .iter()
            .find(|overtaking| overtaking.loser == job.row);
        let id = |row| self.table.id(row);
        let won = won.map(|won| {
            format!(
                "it first overtakes `{}`, in {}",
                id(won.loser),
                duration(won.wait as f64)
            )
        });
        let lost = lost.map(|lost| {
            format!(
                "`{}` is the first to overtake it, in {}",
                id(lost.winner),
                duration(lost.wait as f64)
            )
        });
        won.into_iter().chain(lost).collect()
    }

    /// A row for each job: its rank now and at the end, and its first turns.
    fn ranks(self) -> Table<'a> {
        let jobs = &self.trajectory.jobs;
        let rank =
            |change: Option<&(i64, Option<usize>)>| Cell::count(change.and_then(|(_, rank)| *rank));
        Table::of(jobs)
            .column(Column::id("job", 9), move |job| {
                Cell::text(self.table.id(job.row))
            })
            .column(Column::number("rank now", 8), move |job| {
                rank(job.ranks.first())
            })
            .column(
                Column::number(format!("in {}", self.end()), 8),
                move |job| {
                    if self.is_complete(job) {
                        rank(job.ranks.last())
                    } else {
                        Cell::Missing
                    }
                },
            )
            .column(Column::wrapped("overtakings", 7), move |job| {
                Cell::prose(self.turns(job).join("; "))
            })
            .table()
    }

    /// A rank of a job that begins after some wait, in words.
    fn rank_words(&self, rank: Option<&(i64, Option<usize>)>) -> String {
        match rank {
            Some((_, Some(rank))) => {
                format!("{} of {}", ordinal(*rank), grouped_number(self.considered))
            }
            _ => "not considered".to_owned(),
        }
    }

    /// The ranks over time: a letter for each job, the best rank at the top. Jobs of different
    /// ranks that fall on the same character are drawn as `*`.
    fn plot(&self) -> String {
        let ranks = self
            .trajectory
            .jobs
            .iter()
            .flat_map(|job| job.points.iter().filter_map(|point| point.rank));
        let (Some(best), Some(worst)) = (ranks.clone().min(), ranks.max()) else {
            return String::new();
        };
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
        let mut plot = String::new();
        for (job, letter) in self.trajectory.jobs.iter().zip(LETTERS.iter().cycle()) {
            let _ = writeln!(
                plot,
                "{}  {}",
                char::from(*letter),
                printable(self.table.id(job.row))
            );
        }
        if lines.iter().flatten().any(|character| *character == b'*') {
            plot.push_str("*  several of them\n");
        }
        let labels: Vec<String> = (0..height)
            .map(|line| label_of_line(best + line * ranks_per_line, ranks_per_line, worst))
            .collect();
        let width = labels.iter().map(String::len).max().unwrap_or(0).max(6);
        let _ = writeln!(plot, "\n{:>width$}", "rank");
        for (label, line) in labels.iter().zip(&lines) {
            let _ = writeln!(
                plot,
                "{label:>width$} |{}",
                String::from_utf8_lossy(line).trim_end()
            );
        }
        let half = waiting_time(self.trajectory.seconds / 2);
        let _ = writeln!(plot, "{:width$} +{}", "", "-".repeat(PLOT_WIDTH));
        let _ = write!(plot, "{:width$}  now{half:>30}{:>28}", "", self.end());
        plot
    }

    /// A row for each overtaking, and a line for each job that is not followed to the end.
    fn overtakings(&self) -> Option<Section<'a>> {
        let report = *self;
        let overtakings = &report.trajectory.overtakings;
        let rows = Table::of(overtakings)
            .column(Column::number("in", 9), |overtaking| {
                Cell::Duration(overtaking.wait as f64)
            })
            .column(Column::id("job", 9), move |overtaking| {
                Cell::text(report.table.id(overtaking.winner))
            })
            .column(Column::id("overtakes", 9), move |overtaking| {
                Cell::text(report.table.id(overtaking.loser))
            })
            .table();
        let unfinished = report
            .trajectory
            .jobs
            .iter()
            .filter(|job| !report.is_complete(job))
            .map(|job| {
                let end = waiting_time(job.known_until);
                format!(
                    "`{}` is followed for {end} only: {TOO_LONG}",
                    report.table.id(job.row)
                )
            });
        let section = unfinished.fold(Section::new("overtakings"), Section::prose);
        let section = if rows.is_empty() {
            section
        } else {
            section.table(rows.limit(RowLimit::First(MAX_LISTED)))
        };
        (!section.blocks.is_empty()).then_some(section)
    }
}

/// The ranks that a line of the plot covers: its first one, and at most so many.
fn label_of_line(first: usize, ranks: usize, worst: usize) -> String {
    match worst.min(first + ranks - 1) {
        last if last == first => first.to_string(),
        last => format!("{first}-{last}"),
    }
}
