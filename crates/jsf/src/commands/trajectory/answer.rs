//! The ranks of jobs over the time that they wait, for people, as JSON and as CSV.

use std::io::{self, Write};

use job_sort_formula::jobs::JobTable;
use job_sort_formula::python::Value;
use job_sort_formula::rank::trajectory::{JobTrajectory, Trajectory, TrajectoryPoint};
use serde::{Serialize, Serializer};

use crate::answer::{Answer, Format};
use crate::view::csv_writer::{Cells, guarded, write_csv};
use crate::view::document::Document;

/// The longest time to follow jobs, in seconds: a leap year.
pub const MAX_FOLLOWED: u32 = 8784 * 3600;

/// A trajectory, ready to be written.
#[derive(Debug, Clone, Copy)]
pub struct TrajectoryReport<'a> {
    /// The formula's text.
    pub formula: &'a str,
    /// The jobs.
    pub table: &'a JobTable,
    /// The number of jobs that the scheduler considers now.
    pub considered: usize,
    /// What is written.
    pub trajectory: &'a Trajectory,
    /// What is shown above the text, such as the policy: a heading and a text each.
    pub rules: &'a [(&'static str, String)],
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

    /// The jobs, and the time that each has waited now, in seconds.
    fn jobs(&self) -> impl Iterator<Item = (&'a JobTrajectory, i64)> {
        let column = self.table.column("eligible_time");
        let jobs = self.trajectory.jobs.iter();
        jobs.map(move |job| {
            let waited = column.map_or(0, |column| column.nearest_double(job.row) as i64);
            (job, waited)
        })
    }

    /// Writes comma-separated values as in RFC 4180: a line for each job at each point of time.
    fn write_csv(&self, cells: Cells, out: &mut dyn Write) -> io::Result<()> {
        let points = self.jobs().flat_map(|(job, eligible_time)| {
            let id = guarded(self.table.id(job.row), cells);
            job.points.iter().map(move |point| {
                let score = point
                    .score
                    .is_finite()
                    .then(|| Value::Float(point.score).repr());
                (
                    point.wait,
                    id.clone(),
                    eligible_time + point.wait,
                    score,
                    point.rank,
                    point.is_known,
                )
            })
        });
        let header = "wait,id,eligible_time,score,rank,known";
        write_csv(header.split(','), points, out)
    }
}

impl Serialize for TrajectoryReport<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let table = self.table;
        let crossings = self
            .trajectory
            .overtakings
            .iter()
            .map(|overtaking| Crossing {
                wait: overtaking.wait,
                job: table.id(overtaking.winner),
                overtakes: table.id(overtaking.loser),
            });
        let json = TrajectoryJson {
            formula: self.formula,
            considered: self.considered,
            seconds: self.trajectory.seconds,
            jobs: self
                .jobs()
                .map(|(job, eligible_time)| FollowedJob::new(self, job, eligible_time))
                .collect(),
            crossings: crossings.collect(),
        };
        json.serialize(serializer)
    }
}

#[derive(Serialize)]
struct TrajectoryJson<'a> {
    formula: &'a str,
    considered: usize,
    seconds: i64,
    jobs: Vec<FollowedJob<'a>>,
    crossings: Vec<Crossing<'a>>,
}

#[derive(Serialize)]
struct Crossing<'a> {
    wait: i64,
    job: &'a str,
    overtakes: &'a str,
}

#[derive(Serialize)]
struct FollowedJob<'a> {
    id: &'a str,
    entity: &'a str,
    queue: &'a str,
    known_until: i64,
    is_complete: bool,
    points: Vec<Point<'a>>,
    ranks: Vec<RankFrom>,
}

#[derive(Serialize)]
struct Point<'a> {
    #[serde(flatten)]
    point: &'a TrajectoryPoint,
    eligible_time: i64,
}

/// A rank that a job has from a time on.
#[derive(Serialize)]
struct RankFrom {
    wait: i64,
    rank: Option<usize>,
}

impl<'a> FollowedJob<'a> {
    fn new(report: &TrajectoryReport<'a>, job: &'a JobTrajectory, eligible_time: i64) -> Self {
        let points = job.points.iter().map(|point| Point {
            point,
            eligible_time: eligible_time + point.wait,
        });
        Self {
            id: report.table.id(job.row),
            entity: report.table.entity(job.row),
            queue: report.table.queue(job.row),
            known_until: job.known_until,
            is_complete: report.is_complete(job),
            points: points.collect(),
            ranks: job
                .ranks
                .iter()
                .map(|&(wait, rank)| RankFrom { wait, rank })
                .collect(),
        }
    }
}
