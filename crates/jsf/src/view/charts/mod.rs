//! The charts of the pages: how jobs move between two orders, how values fall with the rank, how usage compares with shares,
//! and how waits change.

pub(crate) mod rows;
pub(crate) mod svg;
pub(crate) mod waits;

use std::cmp::Ordering;

use job_sort_formula::rank::JobMove;

use crate::view::charts::svg::{Anchor, LETTER, Layout, Svg, drawn, fitting, step, steps_path};
use crate::view::document::ChartSvg;
use crate::view::words::{grouped, grouped_number};

/// The most jobs whose moves are drawn as lines.
pub(crate) const MAX_SLOPES: usize = 60;
/// The most jobs that are drawn as points; more are counted in cells.
const MAX_POINTS: usize = 2000;
/// The most bars on one side of a histogram.
const MAX_BARS: f64 = 20.0;
/// The number of cells along one side of a chart of many jobs.
const CELLS: usize = 90;

/// A job of a slope chart: its name, and its places.
pub(crate) struct Slope {
    pub(crate) name: String,
    pub(crate) job: JobMove,
}

/// The moves of jobs as lines from the old order, on the left, to the new one, on the right. A job that one side does not
/// consider has a short line. A phone has no room for names on both sides; there the table takes its place.
pub(crate) fn slopes(slopes: &[Slope], most: usize) -> ChartSvg {
    const ROW: f64 = 17.0;
    const TOP: f64 = 40.0;
    const WIDEST_NAME: f64 = 300.0;
    /// Between a name and the line of its job, where its rank is.
    const RANK: f64 = 42.0;
    const STUB: f64 = 26.0;
    let longest = slopes.iter().map(|slope| slope.name.chars().count()).max().unwrap_or(0);
    let names = (longest as f64 * LETTER + 8.0).clamp(80.0, WIDEST_NAME);
    let width = Layout::Wide.width();
    let mut svg = Svg::new(width, TOP + ROW * most as f64);
    let left = names;
    let right = width - names;
    let from = left + RANK;
    let to = right - RANK;
    svg.text((left, 18.0), Anchor::End, "axis strong", "old order");
    svg.text((right, 18.0), Anchor::Start, "axis strong", "new order");
    for Slope { name, job } in slopes {
        let title = format!("{name}: {} → {}", place(job.old), place(job.new));
        let [old_y, new_y] = [job.old, job.new].map(|rank| rank.map(|rank| TOP + ROW * (rank - 1) as f64));
        let commands = match (old_y, new_y) {
            (Some(start), Some(end)) => {
                let middle = width / 2.0;
                format!("M{from:.1} {start:.1}C{middle:.1} {start:.1} {middle:.1} {end:.1} {to:.1} {end:.1}")
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
                svg.text((x + sign * 22.0, y + 4.0), Anchor::Middle, "axis", &place(rank));
            }
        }
    }
    let name = "Each job's place in the old and in the new order";
    let description = "A line for each job, from its old place to its new one. The table below has the same places.";
    ChartSvg { wide: svg.finish(name, description), narrow: String::new() }
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

/// The edges of a chart with two axes.
const LEFT: f64 = 60.0;
const TOP: f64 = 28.0;

/// How many jobs move how far. Each bar spans so many places; none contains 0, which is between two of them.
pub(crate) struct Displacements {
    width: i64,
    /// The jobs that lose places, from those that lose most, then the jobs that gain some.
    bars: Vec<usize>,
}

impl Displacements {
    pub(crate) fn new(moves: &[i64]) -> Self {
        let largest = moves.iter().map(|moved| moved.unsigned_abs()).max().unwrap_or(0) as f64;
        let width = step(largest.max(1.0), MAX_BARS).max(1.0) as i64;
        let reach = ((largest / width as f64).ceil() as i64).max(1);
        let mut bars = vec![0usize; (2 * reach) as usize];
        for moved in moves.iter().filter(|moved| **moved != 0) {
            let bar = if *moved > 0 { (moved - 1) / width } else { (moved + 1) / width - 1 };
            bars[(bar + reach) as usize] += 1;
        }
        Self { width, bars }
    }

    fn reach(&self) -> i64 {
        self.bars.len() as i64 / 2
    }

    /// The bars: the fewest and the most places that its jobs gain, negative if they lose some, and the number of jobs.
    pub(crate) fn bars(&self) -> impl Iterator<Item = (i64, i64, usize)> {
        self.bars.iter().enumerate().map(|(index, &count)| match index as i64 - self.reach() {
            bar @ 0.. => (bar * self.width + 1, (bar + 1) * self.width, count),
            bar => (bar * self.width, (bar + 1) * self.width - 1, count),
        })
    }

    pub(crate) fn draw(&self) -> ChartSvg {
        drawn(|layout| self.draw_in(layout))
    }

    fn draw_in(&self, layout: Layout) -> String {
        /// Few bars do not fill the width.
        const WIDEST_BAR: f64 = 60.0;
        let max_labels = layout.either(10, 5);
        let bottom = 220.0;
        let width = layout.width();
        let mut svg = Svg::new(width, bottom + 44.0);
        let most = self.bars.iter().copied().max().unwrap_or(0).max(1);
        let all_bars = width - LEFT - 20.0;
        let bar = (all_bars / self.bars.len() as f64).min(WIDEST_BAR);
        let first_bar = LEFT + (all_bars - bar * self.bars.len() as f64) / 2.0;
        y_axis(&mut svg, most as f64, bottom, "jobs");
        for (index, (low, high, count)) in self.bars().enumerate().filter(|(_, (.., count))| *count > 0) {
            let class = if low > 0 { "up" } else { "down" };
            let height = (bottom - TOP) * count as f64 / most as f64;
            let corner = (first_bar + bar * index as f64 + 1.0, bottom - height);
            let title = format!("{}: {}", places_words(low, high), jobs_of(count));
            svg.rect(corner, ((bar - 2.0).max(1.0), height), class, &title);
        }
        let every = (self.bars.len().div_ceil(max_labels) as i64).max(1);
        for edge in (-self.reach()..=self.reach()).filter(|edge| edge % every == 0) {
            let x = first_bar + bar * (edge + self.reach()) as f64;
            svg.line((x, bottom), (x, bottom + 5.0), "frame");
            svg.text((x, bottom + 18.0), Anchor::Middle, "axis", &signed(edge * self.width));
        }
        svg.line((LEFT, bottom), (width - 20.0, bottom), "frame");
        let zero = first_bar + bar * self.reach() as f64;
        svg.line((zero, TOP), (zero, bottom), "frame");
        svg.text((width / 2.0, bottom + 38.0), Anchor::Middle, "axis", "places: lost on the left, won on the right");
        let name = "How many jobs gain or lose how many places";
        svg.finish(name, "A bar for each range of places. The table below has the same numbers.")
    }
}

/// `3 places up`, `11 to 20 places down`.
pub(crate) fn places_words(low: i64, high: i64) -> String {
    let [near, far] = if low > 0 { [low, high] } else { [-high, -low] };
    let span = if near == far { near.to_string() } else { format!("{near} to {far}") };
    let noun = if far == 1 { "place" } else { "places" };
    grouped(&format!("{span} {noun} {}", if low > 0 { "up" } else { "down" }))
}

/// A number of an axis with its sign.
fn signed(number: i64) -> String {
    match number {
        0 => "0".to_owned(),
        1.. => grouped(&format!("+{number}")),
        _ => grouped_number(number),
    }
}

/// Lines with numbers on the left, from 0 to `most`.
fn y_axis(svg: &mut Svg, most: f64, bottom: f64, unit: &str) {
    let step = step(most, 5.0).max(1.0);
    let mut at = 0.0;
    while at <= most {
        let y = bottom - (bottom - TOP) * at / most;
        svg.line((LEFT, y), (svg.width() - 20.0, y), "grid");
        svg.text((LEFT - 8.0, y + 4.0), Anchor::End, "axis", &grouped(&format!("{at}")));
        at += step;
    }
    svg.text((LEFT - 8.0, TOP - 16.0), Anchor::End, "axis", unit);
}

/// Whether there are too many jobs for a point each.
pub(crate) fn is_dense(jobs: usize) -> bool {
    jobs > MAX_POINTS
}

/// The new rank of every job over its old one: above the diagonal are the jobs that gain places. The square fits every
/// screen, and a phone has larger letters in it.
pub(crate) fn ranks(moves: &[JobMove], name: impl Fn(&JobMove) -> String, most: usize) -> ChartSvg {
    let size = 480.0;
    let bottom = 510.0;
    let left = 76.0;
    let mut svg = Svg::new(left + size + 24.0, bottom + 56.0);
    let labels = step(most as f64, 5.0).max(1.0) as usize;
    for rank in std::iter::once(1).chain((labels..=most).step_by(labels).filter(|rank| *rank > 1)) {
        let at = size * (rank as f64 - 0.5) / most.max(1) as f64;
        svg.line((left, bottom - size + at), (left + size, bottom - size + at), "grid");
        svg.line((left + at, bottom - size), (left + at, bottom), "grid");
        let label = grouped_number(rank);
        svg.text((left - 8.0, bottom - size + at + 4.0), Anchor::End, "axis", &label);
        svg.text((left + at, bottom + 20.0), Anchor::Middle, "axis", &label);
    }
    let both = moves.iter().filter_map(|job| Some((job, job.old?, job.new?)));
    if !is_dense(moves.len()) {
        for (job, old, new) in both {
            let [x, y] = [old, new].map(|rank| size * (rank as f64 - 0.5) / most.max(1) as f64);
            svg.circle((left + x, bottom - size + y), 3.0, direction(job), &format!("{}: {old} → {new}", name(job)));
        }
    } else {
        let mut counts = vec![0usize; CELLS * CELLS];
        for (_, old, new) in both {
            let [row, column] = [new, old].map(|rank| ((rank - 1) * CELLS / most.max(1)).min(CELLS - 1));
            counts[row * CELLS + column] += 1;
        }
        let densest = counts.iter().copied().max().unwrap_or(1).max(2) as f64;
        let side = size / CELLS as f64;
        for (index, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let density = 1 + (3.0 * (count as f64).ln() / densest.ln()).round().clamp(0.0, 3.0) as usize;
            let row = index / CELLS;
            let column = index % CELLS;
            let corner = (left + side * column as f64, bottom - size + side * row as f64);
            let direction = match row.cmp(&column) {
                Ordering::Less => "up",
                Ordering::Equal => "same",
                Ordering::Greater => "down",
            };
            // neighbours overlap a little, so that the background does not show between them
            svg.rect(corner, (side + 0.6, side + 0.6), &format!("{direction} density-{density}"), &jobs_of(count));
        }
    }
    svg.line((left, bottom - size), (left + size, bottom), "frame");
    svg.text((left + size / 2.0, bottom + 46.0), Anchor::Middle, "axis", "old rank");
    svg.text((0.0, bottom - size - 12.0), Anchor::Start, "axis", "new rank");
    let name = "The new rank of each job over its old rank";
    let description = "Jobs above the diagonal gain places. The table below has the ranks of each job.";
    ChartSvg { wide: svg.finish(name, description), narrow: String::new() }
}

/// The values of the jobs over their ranks: a plateau is a group of jobs that the formula does not order.
pub(crate) fn values(values: &[f64]) -> ChartSvg {
    drawn(|layout| values_in(values, layout))
}

fn values_in(values: &[f64], layout: Layout) -> String {
    let bottom = 230.0;
    let left = LEFT + 20.0;
    let right = layout.width() - 40.0;
    let mut svg = Svg::new(layout.width(), bottom + 44.0);
    let finite = values.iter().copied().filter(|value| value.is_finite());
    let low = finite.clone().fold(f64::INFINITY, f64::min);
    let high = finite.fold(f64::NEG_INFINITY, f64::max);
    let is_level = low >= high || !(high - low).is_finite();
    // the axis ends at the least and the greatest value
    let span = if is_level { 1.0 } else { high - low };
    for line in labels_between(low, high).into_iter().filter(|_| !is_level) {
        let y = y_of((line - low) / span, bottom);
        svg.line((left, y), (right, y), "grid");
        svg.text((left - 8.0, y + 4.0), Anchor::End, "axis", &short_number(line));
    }
    let x_of_index = |index: f64| left + (right - left) * index / values.len().max(1) as f64;
    let every = values.len().div_ceil(MAX_POINTS).max(1);
    let drawn = values.iter().enumerate().filter(|(index, value)| index % every == 0 && value.is_finite());
    let steps = drawn.map(|(index, value)| {
        let end = (index + every).min(values.len());
        (x_of_index(index as f64), x_of_index(end as f64), y_of((value - low) / span, bottom))
    });
    svg.path(&steps_path(steps), "new", "");
    let labels = step(values.len() as f64, layout.either(6.0, 4.0)).max(1.0) as usize;
    for rank in std::iter::once(1).chain((labels..=values.len()).step_by(labels).filter(|rank| *rank > 1)) {
        let x = x_of_index(rank as f64 - 0.5);
        svg.text((x, bottom + 18.0), Anchor::Middle, "axis", &grouped_number(rank));
    }
    svg.text((layout.width() / 2.0, bottom + 38.0), Anchor::Middle, "axis", "rank");
    svg.text((left - 8.0, TOP - 16.0), Anchor::End, "axis", "value");
    svg.finish(
        "The value of each job over its rank",
        "The values fall from left to right. The table below has some of them.",
    )
}

/// The round numbers from `low` to `high`, about four.
fn labels_between(low: f64, high: f64) -> Vec<f64> {
    let step = step(high - low, 4.0);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last.min(first.saturating_add(5))).map(|index| index as f64 * step).collect()
}

/// Where a part of the height of a chart ends, from the bottom.
fn y_of(part: f64, bottom: f64) -> f64 {
    bottom - (bottom - TOP) * part.clamp(0.0, 1.0)
}

/// A number of an axis in few characters.
fn short_number(number: f64) -> String {
    let magnitude = number.abs();
    if magnitude != 0.0 && !(1e-3..1e6).contains(&magnitude) {
        return format!("{number:.1e}");
    }
    let text = format!("{number:.3}");
    grouped(text.trim_end_matches('0').trim_end_matches('.'))
}

fn jobs_of(count: usize) -> String {
    format!("{} job{}", grouped_number(count), if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moved(row: usize, old: usize, new: usize) -> JobMove {
        JobMove { row, old: Some(old), new: Some(new) }
    }

    fn id(job: &JobMove) -> String {
        format!("{}.vm", job.row)
    }

    #[test]
    fn every_job_that_moves_is_counted_in_one_bar() {
        for moves in [vec![0], vec![-1, 0, 1], vec![-33, 40, 7, 7, 0], (-500..500).collect::<Vec<i64>>()] {
            let displacements = Displacements::new(&moves);
            for (low, high, count) in displacements.bars() {
                assert!(low * high > 0 && low <= high, "{low} to {high}");
                assert_eq!(
                    count,
                    moves.iter().filter(|moved| (low..=high).contains(*moved)).count(),
                    "{low} to {high}"
                );
            }
            let counted: usize = displacements.bars().map(|(.., count)| count).sum();
            assert_eq!(counted, moves.iter().filter(|moved| **moved != 0).count());
            assert_eq!(
                displacements.draw().wide.matches("<rect").count(),
                displacements.bars().filter(|bar| bar.2 > 0).count()
            );
        }
        assert_eq!((places_words(-20, -11), places_words(1, 1)), ("11 to 20 places down".into(), "1 place up".into()));
    }

    #[test]
    fn many_jobs_are_counted_in_cells() {
        let moves: Vec<_> = (1..=5000).map(|rank| moved(rank - 1, rank, 5001 - rank)).collect();
        let chart = ranks(&moves, id, 5000).wide;
        assert!(!chart.contains("<circle") && chart.len() < 100_000);
        let few = ranks(&moves[..100], id, 5000);
        assert_eq!(few.wide.matches("<circle").count(), 100);
    }

    #[test]
    fn jobs_that_one_side_does_not_consider_have_a_short_line() {
        let jobs =
            [moved(0, 1, 2), JobMove { row: 1, old: None, new: Some(1) }, JobMove { row: 2, old: None, new: None }];
        let slopes_of: Vec<Slope> = jobs.into_iter().map(|job| Slope { name: id(&job), job }).collect();
        let chart = slopes(&slopes_of, 2).wide;
        assert_eq!(chart.matches("<path").count(), 2);
        assert!(chart.contains("0.vm: 1 → 2") && chart.contains("1.vm: not considered → 1") && !chart.contains("2.vm"));
    }

    #[test]
    fn values_without_a_span_are_drawn() {
        for list in [vec![], vec![1.0], vec![2.0; 10], vec![f64::INFINITY, 1.0, f64::NEG_INFINITY, f64::NAN]] {
            let chart = values(&list);
            assert!(chart.wide.starts_with("<svg") && !chart.wide.contains("NaN") && !chart.narrow.contains("NaN"));
        }
        assert_eq!(
            (short_number(0.0), short_number(1234.5), short_number(2e9)),
            ("0".into(), "1234.5".into(), "2.0e9".into())
        );
    }
}
