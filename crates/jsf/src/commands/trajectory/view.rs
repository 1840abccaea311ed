//! The ranks of jobs over the time that they wait for people.

use job_sort_formula::rank::trajectory::JobTrajectory;

use crate::commands::trajectory::answer::TrajectoryReport;
use crate::view::document::{Cell, Document, RowLimit, Section, Table};
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
        let places = |job: &JobTrajectory| {
            let [now, later] = ends(job).map(|rank| rank.unwrap_or(0));
            now.abs_diff(later)
        };
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
        let [now, later] = ends(job).map(|rank| match rank {
            Some(rank) => ordinal(rank),
            None => "not considered".to_owned(),
        });
        format!(
            "{subject}: {now} of {} now, {later} in {end}, {ASSUMED}.",
            grouped_number(self.queue.ranking.order().len())
        )
    }

    /// A row for each of several jobs: its rank now and at the end, and when the end is if work ran
    /// out before.
    fn ranks_section(self) -> Option<Section<'a>> {
        let jobs = &self.trajectory.jobs;
        let is_cut = jobs.iter().any(|job| !self.is_complete(job));
        let end = waiting_time(self.trajectory.seconds);
        let table = Table::of(jobs)
            .id("job", 9, move |job| self.id(job.row))
            .number("rank now", 8, |job| ends(job)[0])
            .number(format!("in {end}"), 8, move |job| {
                ends(job)[1].filter(|_| self.is_complete(job))
            })
            .number("followed for", 7, |job| {
                Cell::Duration(job.known_until as f64)
            })
            .shown_if(is_cut);
        let note = if is_cut {
            "What comes later takes more work than one trajectory may do."
        } else {
            ""
        };
        let section = Section::new("ranks").prose(note).table(table);
        (jobs.len() > 1 || is_cut).then_some(section)
    }

    fn overtakings_section(self) -> Option<Section<'a>> {
        let table = Table::of(&self.trajectory.overtakings)
            .number("in", 9, |overtaking| Cell::Duration(overtaking.wait as f64))
            .id("job", 9, move |overtaking| self.id(overtaking.winner))
            .id("overtakes", 9, move |overtaking| self.id(overtaking.loser))
            .limit(RowLimit::First(MAX_LISTED));
        (!table.is_empty()).then(|| Section::new("overtakings").table(table))
    }

    /// The ranks of all jobs at some times.
    fn ranks_over_time(self) -> Table<'a> {
        let jobs = &self.trajectory.jobs;
        let points = jobs.first().map_or(&[][..], |job| &job.points);
        let rows = (0..points.len()).step_by(POINTS_PER_ROW);
        let mut table =
            Table::of(rows).number("in", 9, |&point| Cell::Duration(points[point].wait as f64));
        for job in jobs {
            let id = self.id(job.row);
            table = table.number(id, 8, |&point| job.points[point].rank);
        }
        table.into()
    }
}

/// The rank of a job now, and the last one that is known.
fn ends(job: &JobTrajectory) -> [Option<usize>; 2] {
    let [now, later] = [job.ranks.first(), job.ranks.last()];
    [now, later].map(|change| change.and_then(|(_, rank)| *rank))
}
