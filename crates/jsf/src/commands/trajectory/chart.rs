//! The ranks of jobs over the time that they wait, as a picture.

use std::fmt::Write as _;
use std::io::{self, Write};

use job_sort_formula::rank::trajectory::JobTrajectory;

use crate::commands::trajectory::answer::TrajectoryReport;
use crate::commands::trajectory::view::NOT_FOLLOWED;
use crate::view::printable::printable;
use crate::view::words::waiting_time;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 480.0;
const MARGIN: f64 = 60.0;
/// Room for the names of the jobs, on the right.
const LEGEND: f64 = 180.0;
/// Colours that people with any colour vision can tell apart (Okabe and Ito).
const COLOURS: [&str; 8] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#b8a800"];

/// The scales of the picture.
struct Scales {
    seconds: f64,
    best: f64,
    worst: f64,
}

impl Scales {
    fn x(&self, wait: i64) -> f64 {
        MARGIN + (WIDTH - 2.0 * MARGIN - LEGEND) * wait as f64 / self.seconds.max(1.0)
    }

    fn y(&self, rank: usize) -> f64 {
        MARGIN + (HEIGHT - 2.0 * MARGIN) * (rank as f64 - self.best) / (self.worst - self.best).max(1.0)
    }
}

impl TrajectoryReport<'_> {
    /// Writes an SVG document: a line of steps for each job, the best rank at the top.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_svg(&self, out: &mut dyn Write) -> io::Result<()> {
        let ranks = self.trajectory.jobs.iter().flat_map(|job| job.ranks.iter().filter_map(|(_, rank)| *rank));
        let scales = Scales {
            seconds: self.trajectory.seconds as f64,
            best: ranks.clone().min().unwrap_or(1) as f64,
            worst: ranks.max().unwrap_or(1) as f64,
        };
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
             font-size=\"13\">\n<title>Rank over waiting time</title>\n<desc>{}</desc>\n",
            escaped(self.formula)
        );
        self.push_axes(&scales, &mut svg);
        for (index, job) in self.trajectory.jobs.iter().enumerate() {
            self.push_job(index, job, &scales, &mut svg);
        }
        svg.push_str("</svg>\n");
        out.write_all(svg.as_bytes())
    }

    fn push_axes(&self, scales: &Scales, svg: &mut String) {
        let right = WIDTH - MARGIN - LEGEND;
        let bottom = HEIGHT - MARGIN;
        let _ = writeln!(
            svg,
            "<path d=\"M{MARGIN} {MARGIN}V{bottom}H{right}\" fill=\"none\" stroke=\"#444\"/>\n<text x=\"{MARGIN}\" y=\"{}\">rank</text>",
            MARGIN - 20.0
        );
        for quarter in 0..=4 {
            let wait = self.trajectory.seconds * quarter / 4;
            let label = if wait == 0 { "now".to_owned() } else { waiting_time(wait) };
            let x = scales.x(wait);
            let y = bottom + 20.0;
            let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\">{label}</text>");
            let rank = (scales.best + (scales.worst - scales.best) * quarter as f64 / 4.0).round() as usize;
            let x = MARGIN - 8.0;
            let y = scales.y(rank) + 4.0;
            let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"end\">{rank}</text>");
        }
    }

    fn push_job(&self, index: usize, job: &JobTrajectory, scales: &Scales, svg: &mut String) {
        let colour = COLOURS[index % COLOURS.len()];
        let mut path = String::new();
        let mut is_drawn = false;
        for (position, &(wait, rank)) in job.ranks.iter().enumerate() {
            let end = job.ranks.get(position + 1).map_or(job.known_until, |(next, _)| *next);
            if let Some(rank) = rank {
                let x = scales.x(wait);
                let y = scales.y(rank);
                let _ = if is_drawn { write!(path, "V{y:.1}") } else { write!(path, "M{x:.1} {y:.1}") };
                let _ = write!(path, "H{:.1}", scales.x(end));
            }
            is_drawn = rank.is_some();
        }
        let x = WIDTH - LEGEND - MARGIN / 2.0;
        let y = MARGIN + 20.0 * index as f64;
        let id = escaped(self.table.id(job.row));
        let _ = writeln!(
            svg,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>\n<text x=\"{x:.1}\" y=\"{y:.1}\" \
             fill=\"{colour}\">{id}</text>"
        );
        if !self.is_complete(job) {
            let x = scales.x(job.known_until);
            let _ = writeln!(
                svg,
                "<path d=\"M{x:.1} {MARGIN}V{}\" stroke=\"{colour}\" stroke-dasharray=\"4 4\"/>\n<text x=\"{x:.1}\" \
                 y=\"{:.1}\" fill=\"{colour}\">{id} from {}: {NOT_FOLLOWED}</text>",
                HEIGHT - MARGIN,
                HEIGHT - 16.0 * (1 + index % 2) as f64,
                waiting_time(job.known_until),
            );
        }
    }
}

/// Text in an XML document, which has no noncharacters.
fn escaped(text: &str) -> String {
    let text = printable(text).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}");
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
