//! The ranks of jobs over the time that they wait, as a picture.

use std::io::{self, Write};

use job_sort_formula::rank::trajectory::JobTrajectory;

use crate::commands::trajectory::answer::TrajectoryReport;

use crate::view::charts::plot::{Axis, Plot, StepLine};
use crate::view::charts::svg::Layout;
use crate::view::words::waiting_time;

/// Colours that people with any colour vision can tell apart (Okabe and Ito).
const COLOURS: [&str; 8] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#b8a800",
];

impl TrajectoryReport<'_> {
    /// Writes an SVG document: a line of steps for each job, the best rank at the top.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_svg(&self, out: &mut dyn Write) -> io::Result<()> {
        let jobs = &self.trajectory.jobs;
        let [mut best, mut worst] = [usize::MAX, 1];
        let (x, second) = Axis::time(self.trajectory.seconds as f64, "of waiting from now on");
        let mut lines = Vec::new();
        for job in jobs {
            for (_, rank) in &job.ranks {
                if let Some(rank) = *rank {
                    [best, worst] = [best.min(rank), worst.max(rank)];
                }
            }
            lines.push(self.line(lines.len(), job, second));
        }
        let plot = Plot {
            x,
            y: Axis::whole([worst as f64, best.min(worst) as f64], "rank"),
            lines,
        };
        let mut style =
            "line{stroke:#bbb}line.frame{stroke:#444}path{fill:none;stroke-width:2}".to_owned();
        for (index, colour) in COLOURS.iter().enumerate() {
            style += &format!("path.c{index}{{stroke:{colour}}}text.c{index}{{fill:{colour}}}");
        }
        let svg = plot
            .draw(Layout::Wide)
            .document(&style, "Rank over waiting time", self.formula);
        writeln!(out, "{svg}")
    }

    fn line(&self, index: usize, job: &JobTrajectory, second: f64) -> StepLine {
        let mut steps = Vec::new();
        for (index, (wait, rank)) in job.ranks.iter().enumerate() {
            let end = match job.ranks.get(index + 1) {
                Some((next, _)) => *next,
                None => job.known_until,
            };
            if let Some(rank) = *rank {
                steps.push([*wait as f64 / second, end as f64 / second, rank as f64]);
            }
        }
        let id = self.id(job.row);
        let name = if self.is_complete(job) {
            id.to_owned()
        } else {
            format!("{id}, known for {}", waiting_time(job.known_until))
        };
        StepLine {
            class: format!("c{}", index % COLOURS.len()),
            name,
            is_named: true,
            steps,
        }
    }
}
