//! The ranks of jobs over the time that they wait, for people, as JSON and as CSV.

use std::io::{self, Write};

use job_sort_formula::python::Value;
use job_sort_formula::rank::trajectory::{JobTrajectory, Trajectory};
use jsf_site::RankedQueue;
use serde::{Serialize, Serializer};

use crate::answer::{Answer, Each, Format, object};
use crate::view::csv_writer::{Cells, CsvWriter, guarded};
use crate::view::document::Document;

/// The longest time to follow jobs, in seconds: a leap year.
pub const MAX_FOLLOWED: u32 = 8784 * 3600;

/// A trajectory, ready to be written.
#[derive(Debug, Clone, Copy)]
pub struct TrajectoryReport<'a> {
    /// The formula's text.
    pub formula: &'a str,
    /// The ranked queue.
    pub queue: &'a RankedQueue,
    /// What is written.
    pub trajectory: &'a Trajectory,
}

impl Answer for TrajectoryReport<'_> {
    fn document(&self) -> Document<'_> {
        self.draw()
    }

    fn write_as(&self, format: Format, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
        if format == Format::Svg {
            self.write_svg(out)
        } else {
            self.write_csv(cells, out)
        }
    }
}

impl<'a> TrajectoryReport<'a> {
    /// Whether a job is followed to the end.
    pub(crate) fn is_complete(&self, job: &JobTrajectory) -> bool {
        job.known_until >= self.trajectory.seconds
    }

    pub(crate) fn id(&self, row: usize) -> &'a str {
        self.queue.table.id(row)
    }

    /// The time that a job has waited now, in seconds.
    fn waited(&self, job: &JobTrajectory) -> i64 {
        match self.queue.table.column("eligible_time") {
            Some(column) => column.nearest_double(job.row) as i64,
            None => 0,
        }
    }

    fn followed_job(&self, job: &JobTrajectory) -> impl Serialize {
        let waited = self.waited(job);
        let mut points = Vec::new();
        for point in &job.points {
            let eligible_time = waited + point.wait;
            points.push(object! { #[serde(flatten)] point, eligible_time });
        }
        // the ranks that the job has from a time on
        let mut ranks = Vec::new();
        for &(wait, rank) in &job.ranks {
            ranks.push(object! { wait, rank });
        }
        object! {
            id: self.id(job.row),
            entity: self.queue.table.entity(job.row),
            queue: self.queue.table.queue(job.row),
            known_until: job.known_until,
            is_complete: self.is_complete(job),
            points,
            ranks,
        }
    }

    /// Writes comma-separated values as in RFC 4180: a line for each job at each point of time.
    fn write_csv(&self, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
        let mut csv = CsvWriter::new("wait,id,eligible_time,score,rank,known", out)?;
        for job in &self.trajectory.jobs {
            let waited = self.waited(job);
            let id = guarded(self.id(job.row), cells);
            for point in &job.points {
                let mut score = String::new();
                if point.score.is_finite() {
                    score = Value::Float(point.score).repr();
                }
                let eligible_time = waited + point.wait;
                csv.write((
                    point.wait,
                    &id,
                    eligible_time,
                    score,
                    point.rank,
                    point.is_known,
                ))?;
            }
        }
        csv.finish()
    }
}

impl Serialize for TrajectoryReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut crossings = Vec::new();
        for overtaking in &self.trajectory.overtakings {
            crossings.push(object! {
                wait: overtaking.wait,
                job: self.id(overtaking.winner),
                overtakes: self.id(overtaking.loser),
            });
        }
        let report = object! {
            formula: self.formula,
            considered: self.queue.ranking.order().len(),
            seconds: self.trajectory.seconds,
            jobs: Each(|| self.trajectory.jobs.iter().map(|job| self.followed_job(job))),
            crossings,
        };
        report.serialize(serializer)
    }
}
