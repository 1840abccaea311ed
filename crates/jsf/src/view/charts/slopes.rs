//! The moves of jobs as lines from the old order, on the left, to the new one, on the right.

use job_sort_formula::rank::JobMove;

use crate::view::charts::DESCRIPTION;
use crate::view::charts::svg::{Anchor, LETTER, Layout, Svg, fitting};
use crate::view::document::ChartSvg;
use crate::view::words::grouped_number;

/// The most jobs whose moves are drawn as lines.
pub(crate) const MAX_SLOPES: usize = 60;

/// A job: its name, and its places.
pub(crate) struct Slope {
    pub(crate) name: String,
    pub(crate) job: JobMove,
}

/// The chart of a wide screen. A phone has no room for names on both sides; there a table takes its
/// place.
pub(crate) fn chart(slopes: &[Slope], name: &str) -> ChartSvg {
    ChartSvg {
        wide: draw(slopes).finish(name, DESCRIPTION),
        narrow: String::new(),
    }
}

/// A line for each job; one that a side does not consider has a short line.
fn draw(slopes: &[Slope]) -> Svg {
    const ROW: f64 = 17.0;
    const TOP: f64 = 40.0;
    const WIDEST_NAME: f64 = 300.0;
    /// Between a name and the line of its job, where its rank is.
    const RANK: f64 = 42.0;
    const STUB: f64 = 26.0;
    let (mut longest, mut most) = (0, 0);
    for Slope { name, job } in slopes {
        longest = longest.max(name.chars().count());
        most = most.max(job.old.max(job.new).unwrap_or(0));
    }
    let names = (longest as f64 * LETTER + 8.0).clamp(80.0, WIDEST_NAME);
    let width = Layout::Wide.width();
    let mut svg = Svg::new(width, TOP + ROW * most as f64);
    let (left, right) = (names, width - names);
    let (from, to) = (left + RANK, right - RANK);
    svg.text((left, 18.0), Anchor::End, "axis strong", "old order");
    svg.text((right, 18.0), Anchor::Start, "axis strong", "new order");
    for Slope { name, job } in slopes {
        let title = format!("{name}: {} → {}", place(job.old), place(job.new));
        let [old_y, new_y] =
            [job.old, job.new].map(|rank| rank.map(|rank| TOP + ROW * (rank - 1) as f64));
        let commands = match (old_y, new_y) {
            (Some(start), Some(end)) => {
                let middle = width / 2.0;
                format!(
                    "M{from:.1} {start:.1}C{middle:.1} {start:.1} {middle:.1} {end:.1} {to:.1} {end:.1}"
                )
            }
            (Some(y), None) => format!("M{from:.1} {y:.1}h{STUB}"),
            (None, Some(y)) => format!("M{to:.1} {y:.1}h-{STUB}"),
            (None, None) => continue,
        };
        svg.path(&commands, direction(job), &title);
        let old = (job.old, left, old_y, Anchor::End, 1.0);
        let new = (job.new, right, new_y, Anchor::Start, -1.0);
        for (rank, x, y, anchor, sign) in [old, new] {
            if let Some(y) = y {
                svg.text((x, y + 4.0), anchor, "label", &fitting(name, names - 8.0));
                svg.text(
                    (x + sign * 22.0, y + 4.0),
                    Anchor::Middle,
                    "axis",
                    &place(rank),
                );
            }
        }
    }
    svg
}

fn place(rank: Option<usize>) -> String {
    rank.map_or_else(|| "not considered".to_owned(), grouped_number)
}

fn direction(job: &JobMove) -> &'static str {
    match job.moved() {
        Some(1..) => "up",
        Some(0) => "same",
        Some(_) => "down",
        None if job.new.is_some() => "up",
        None => "down",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_that_one_side_does_not_consider_have_a_short_line() {
        let jobs = [(0, Some(1), Some(2)), (1, None, Some(1)), (2, None, None)];
        let slopes = jobs.map(|(row, old, new)| Slope {
            name: format!("{row}.vm"),
            job: JobMove { row, old, new },
        });
        let chart = draw(&slopes).finish("", "");
        assert_eq!(chart.matches("<path").count(), 2);
        assert!(
            chart.contains("0.vm: 1 → 2")
                && chart.contains("1.vm: not considered → 1")
                && !chart.contains("2.vm")
        );
    }
}
