//! The ranks of jobs over the time that they wait for people.

use job_sort_formula::rank::trajectory::{JobTrajectory, Overtaking};

use crate::commands::trajectory::answer::TrajectoryReport;
use crate::view::document::{Cell, Column, Document, RowLimit, Section, Table, cells};
use crate::view::rule_facts::rule_facts;
use crate::view::words::{count, grouped_number, ordinal, waiting_time};

/// The most overtakings that the text lists; the others are counted.
const MAX_LISTED: usize = 20;
/// What every rank of later takes for granted.
const ASSUMED: &str = "if none starts and none arrives";
/// Of the points in time, every fifth one is in the table.
const POINTS_PER_ROW: usize = 5;

impl<'a> TrajectoryReport<'a> {
    /// The document: the answer, a row for each job, the overtakings, and the ranks over time.
    pub(crate) fn draw(self) -> Document<'a> {
        let mut sections = Vec::new();
        sections.extend(self.ranks_section());
        sections.extend(self.overtakings_section());
        let over_time = Section::new("ranks over time").table(self.ranks_over_time());
        sections.push(over_time.in_full());
        Document {
            command: "jsf trajectory",
            title: "Ranks while jobs wait".to_owned(),
            headline: self.headline(),
            facts: rule_facts(self.formula, &self.queue.rules),
            sections,
            read_on: "",
        }
    }

    /// Where the job is that moves farthest, now and later.
    fn headline(&self) -> String {
        let jobs = &self.trajectory.jobs;
        // of those that move as far, the first one
        let Some(job) = jobs.iter().rev().max_by_key(|job| places(job)) else {
            return String::new();
        };
        let end = waiting_time(job.known_until);
        let all = count(jobs.len(), "job");
        if jobs.len() > 1 && places(job) == 0 {
            return format!("Of {all} none changes its place in {end}, {ASSUMED}.");
        }
        let id = self.id(job.row);
        let subject = if jobs.len() > 1 {
            format!("Of {all} `{id}` moves farthest")
        } else {
            format!("`{id}`")
        };
        let [now, later] = ends(job).map(rank_in_words);
        format!(
            "{subject}: {now} of {} now, {later} in {end}, {ASSUMED}.",
            grouped_number(self.queue.ranking.order().len())
        )
    }

    /// A row for each of several jobs: its rank now and at the end, and when the end is if work ran
    /// out before.
    fn ranks_section(self) -> Option<Section<'a>> {
        let jobs = &self.trajectory.jobs;
        let mut is_cut = false;
        let mut rows = Vec::new();
        for job in jobs {
            let is_complete = self.is_complete(job);
            let [now, later] = ends(job);
            is_cut |= !is_complete;
            rows.push(cells![
                self.id(job.row),
                now,
                if is_complete { later } else { None },
                Cell::Duration(job.known_until as f64),
            ]);
        }
        if jobs.len() < 2 && !is_cut {
            return None;
        }
        let end = waiting_time(self.trajectory.seconds);
        let columns = [
            Column::id("job", 9),
            Column::number("rank now", 8),
            Column::number(format!("in {end}"), 8),
            Column::number("followed for", 7).shown_if(is_cut),
        ];
        let note = if is_cut {
            "What comes later takes more work than one trajectory may do."
        } else {
            ""
        };
        let table = Table::from_rows(columns, rows);
        Some(Section::new("ranks").prose(note).table(table))
    }

    fn overtakings_section(self) -> Option<Section<'a>> {
        let overtakings = &self.trajectory.overtakings;
        if overtakings.is_empty() {
            return None;
        }
        let columns = [
            Column::number("in", 9),
            Column::id("job", 9),
            Column::id("overtakes", 9),
        ];
        let table = Table::new(columns, overtakings.len(), move |row| {
            let Overtaking {
                wait,
                winner,
                loser,
            } = overtakings[row];
            cells![Cell::Duration(wait as f64), self.id(winner), self.id(loser)]
        });
        let table = table.limit(RowLimit::First(MAX_LISTED));
        Some(Section::new("overtakings").table(table))
    }

    /// The ranks of all jobs at some times.
    fn ranks_over_time(self) -> Table<'a> {
        let jobs = &self.trajectory.jobs;
        let mut columns = vec![Column::number("in", 9)];
        for job in jobs {
            columns.push(Column::number(self.id(job.row), 8));
        }
        let mut rows = Vec::new();
        if let Some(first) = jobs.first() {
            for index in (0..first.points.len()).step_by(POINTS_PER_ROW) {
                let mut cells = vec![Cell::Duration(first.points[index].wait as f64)];
                cells.extend(jobs.iter().map(|job| job.points[index].rank.into()));
                rows.push(cells);
            }
        }
        Table::from_rows(columns, rows)
    }
}

/// How many places a job moves.
fn places(job: &JobTrajectory) -> usize {
    let [now, later] = ends(job).map(Option::unwrap_or_default);
    now.abs_diff(later)
}

fn rank_in_words(rank: Option<usize>) -> String {
    match rank {
        Some(rank) => ordinal(rank),
        None => "not considered".to_owned(),
    }
}

/// The rank of a job now, and the last one that is known.
fn ends(job: &JobTrajectory) -> [Option<usize>; 2] {
    let (Some((_, now)), Some((_, later))) = (job.ranks.first(), job.ranks.last()) else {
        return [None, None];
    };
    [*now, *later]
}
