//! The charts of the pages: how jobs move between two orders, how values fall with the rank, and the fair-share tree.

mod svg;
pub(super) mod waits;

use std::cmp::Ordering;
use std::fmt::Write as _;

use job_sort_formula::fairshare::{NodeId, ShareTable, ShareTree};
use job_sort_formula::rank::JobMove;

use crate::shares::depths;
use crate::words::grouped;
use svg::{Anchor, LETTER, Svg, WIDTH, fitting, step};

/// The number of first jobs whose moves are drawn as lines.
pub(super) const SLOPES: usize = 50;
/// The most jobs that are drawn as points; more are counted in cells.
const MAX_POINTS: usize = 2000;
/// The most bars on one side of a histogram.
const MAX_BARS: f64 = 20.0;
/// The number of cells along one side of a chart of many jobs.
const CELLS: usize = 90;

/// A job of a slope chart: its name, and its places.
pub(super) struct Slope {
    pub(super) name: String,
    pub(super) job: JobMove,
}

/// The moves of the first jobs as lines from the old order, on the left, to the new one, on the right. A job that leaves
/// the first ones, or comes from beyond them, has a short line and its other place beside it.
pub(super) fn slopes(slopes: &[Slope], first: usize) -> String {
    const ROW: f64 = 17.0;
    const TOP: f64 = 40.0;
    const WIDEST_NAME: f64 = 300.0;
    /// Between a name and the line of its job, where its rank is.
    const RANK: f64 = 42.0;
    const STUB: f64 = 26.0;
    let longest = slopes.iter().map(|slope| slope.name.chars().count()).max().unwrap_or(0);
    let names = (longest as f64 * LETTER + 8.0).clamp(80.0, WIDEST_NAME);
    let mut svg = Svg::new(TOP + ROW * first as f64);
    let left = names;
    let right = WIDTH - names;
    let from = left + RANK;
    let to = right - RANK;
    svg.text((left, 18.0), Anchor::End, "axis strong", "old order");
    svg.text((right, 18.0), Anchor::Start, "axis strong", "new order");
    for Slope { name, job } in slopes {
        let title = format!("{name}: {} → {}", place(job.old), place(job.new));
        let [old_y, new_y] =
            [job.old, job.new].map(|rank| rank.filter(|rank| *rank <= first).map(|rank| TOP + ROW * (rank - 1) as f64));
        match (old_y, new_y) {
            (Some(start), Some(end)) => {
                let middle = WIDTH / 2.0;
                let curve =
                    format!("M{from:.1} {start:.1}C{middle:.1} {start:.1} {middle:.1} {end:.1} {to:.1} {end:.1}");
                svg.path(&curve, direction(job), &title);
            }
            (Some(y), None) => {
                svg.path(&format!("M{from:.1} {y:.1}h{STUB}"), direction(job), &title);
                let other = format!("→ {}", place(job.new));
                svg.text((from + STUB + 6.0, y + 4.0), Anchor::Start, "axis", &other);
            }
            (None, Some(y)) => {
                svg.path(&format!("M{to:.1} {y:.1}h-{STUB}"), direction(job), &title);
                let other = format!("{} →", place(job.old));
                svg.text((to - STUB - 6.0, y + 4.0), Anchor::End, "axis", &other);
            }
            (None, None) => {}
        }
        for (rank, x, y, anchor, sign) in
            [(job.old, left, old_y, Anchor::End, 1.0), (job.new, right, new_y, Anchor::Start, -1.0)]
        {
            if let Some(y) = y {
                svg.text((x, y + 4.0), anchor, "label", &fitting(name, names - 8.0));
                svg.text((x + sign * 22.0, y + 4.0), Anchor::Middle, "axis", &place(rank));
            }
        }
    }
    svg.finish(&format!("The first {first} jobs of either order, with a line from the old place to the new one"))
}

fn place(rank: Option<usize>) -> String {
    rank.map_or_else(|| "not considered".to_owned(), |rank| grouped(&rank.to_string()))
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

/// How many jobs move how far, as bars around zero.
pub(super) fn displacements(moves: &[i64]) -> String {
    /// Few bars do not fill the width.
    const WIDEST_BAR: f64 = 60.0;
    let bottom = 220.0;
    let mut svg = Svg::new(bottom + 44.0);
    let largest = moves.iter().map(|moved| moved.unsigned_abs()).max().unwrap_or(0) as f64;
    let width = step(largest.max(1.0), MAX_BARS).max(1.0);
    let reach = (largest / width).ceil().max(1.0) as i64;
    // bars of jobs that gain places on one side, of those that lose places on the other, and one for those that stay
    let mut counts = vec![0usize; (2 * reach + 1) as usize];
    for moved in moves {
        let place = moved.signum() * (moved.unsigned_abs() as f64 / width).ceil() as i64;
        counts[(place + reach) as usize] += 1;
    }
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let all_bars = WIDTH - LEFT - 20.0;
    let bar = (all_bars / counts.len() as f64).min(WIDEST_BAR);
    let first_bar = LEFT + (all_bars - bar * counts.len() as f64) / 2.0;
    y_axis(&mut svg, most as f64, bottom, "jobs");
    for (index, &count) in counts.iter().enumerate() {
        let place = index as i64 - reach;
        let from = ((place.abs() - 1) as f64 * width + 1.0) as i64;
        let to = (place.abs() as f64 * width) as i64;
        let span = if from == to { from.to_string() } else { grouped(&format!("{from} to {to}")) };
        let (class, sign, what) = match place {
            1.. => ("up", "+", format!("{span} places up")),
            0 => ("same", "", "same place".to_owned()),
            _ => ("down", "−", format!("{span} places down")),
        };
        let x = first_bar + bar * index as f64;
        if count > 0 {
            let title = format!("{what}: {}", jobs_of(count));
            let height = (bottom - TOP) * count as f64 / most as f64;
            svg.rect((x + 1.0, bottom - height), ((bar - 2.0).max(1.0), height), class, &title);
        }
        let is_labelled = place == 0 || place.abs() == reach || (reach >= 8 && place.abs() * 2 == reach);
        if is_labelled {
            svg.text((x + bar / 2.0, bottom + 18.0), Anchor::Middle, "axis", &grouped(&format!("{sign}{}", to.max(0))));
        }
    }
    svg.line((LEFT, bottom), (WIDTH - 20.0, bottom), "frame");
    svg.text((WIDTH / 2.0, bottom + 38.0), Anchor::Middle, "axis", "places: lost on the left, won on the right");
    svg.finish("How many jobs gain or lose how many places")
}

/// Lines with numbers on the left, from 0 to `most`.
fn y_axis(svg: &mut Svg, most: f64, bottom: f64, unit: &str) {
    let step = step(most, 5.0).max(1.0);
    let mut at = 0.0;
    while at <= most {
        let y = bottom - (bottom - TOP) * at / most;
        svg.line((LEFT, y), (WIDTH - 20.0, y), "grid");
        svg.text((LEFT - 8.0, y + 4.0), Anchor::End, "axis", &grouped(&format!("{at}")));
        at += step;
    }
    svg.text((LEFT - 8.0, TOP - 16.0), Anchor::End, "axis", unit);
}

/// Whether there are too many jobs for a point each.
pub(super) fn is_dense(jobs: usize) -> bool {
    jobs > MAX_POINTS
}

/// The new rank of every job over its old one: above the diagonal are the jobs that gain places.
pub(super) fn ranks(moves: &[JobMove], name: impl Fn(&JobMove) -> String, most: usize) -> String {
    let size = 480.0;
    let bottom = 510.0;
    let mut svg = Svg::new(bottom + 48.0);
    let left = (WIDTH - size) / 2.0;
    let labels = step(most as f64, 5.0).max(1.0) as usize;
    for rank in std::iter::once(1).chain((labels..=most).step_by(labels).filter(|rank| *rank > 1)) {
        let at = size * (rank as f64 - 0.5) / most.max(1) as f64;
        svg.line((left, bottom - size + at), (left + size, bottom - size + at), "grid");
        svg.line((left + at, bottom - size), (left + at, bottom), "grid");
        let label = grouped(&rank.to_string());
        svg.text((left - 8.0, bottom - size + at + 4.0), Anchor::End, "axis", &label);
        svg.text((left + at, bottom + 18.0), Anchor::Middle, "axis", &label);
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
    svg.text((left + size / 2.0, bottom + 40.0), Anchor::Middle, "axis", "old rank");
    svg.text((left - 8.0, bottom - size - 12.0), Anchor::End, "axis", "new rank");
    svg.finish("The new rank of every job over its old rank; jobs above the diagonal gain places")
}

/// The values of the jobs over their ranks: a plateau is a group of jobs that the formula does not order.
pub(super) fn values(values: &[f64]) -> String {
    let bottom = 230.0;
    let mut svg = Svg::new(bottom + 44.0);
    let finite = values.iter().copied().filter(|value| value.is_finite());
    let low = finite.clone().fold(f64::INFINITY, f64::min);
    let high = finite.fold(f64::NEG_INFINITY, f64::max);
    let is_level = low >= high || !(high - low).is_finite();
    let step_y = if is_level { 1.0 } else { step(high - low, 4.0) };
    // the axis ends at labelled values
    let low = if is_level { low } else { (low / step_y).floor() * step_y };
    let high = if is_level { high } else { (high / step_y).ceil() * step_y };
    let span = if high > low { high - low } else { 1.0 };
    let lines = if is_level { 0 } else { (span / step_y).round() as usize };
    for line in (0..=lines).map(|index| low + step_y * index as f64) {
        let y = y_of((line - low) / span, bottom);
        svg.line((LEFT + 20.0, y), (WIDTH - 40.0, y), "grid");
        svg.text((LEFT + 12.0, y + 4.0), Anchor::End, "axis", &short_number(line));
    }
    let mut commands = String::new();
    let every = values.len().div_ceil(MAX_POINTS).max(1);
    for (index, &value) in values.iter().enumerate().filter(|(index, value)| index % every == 0 && value.is_finite()) {
        let y = y_of((value - low) / span, bottom);
        let _ = match commands.is_empty() {
            true => write!(commands, "M{:.1} {y:.1}", x_of_index(index as f64, values.len())),
            false => write!(commands, "V{y:.1}"),
        };
        let end = (index + every).min(values.len());
        let _ = write!(commands, "H{:.1}", x_of_index(end as f64, values.len()));
    }
    svg.path(&commands, "curve", "");
    let labels = step(values.len() as f64, 6.0).max(1.0) as usize;
    for rank in std::iter::once(1).chain((labels..=values.len()).step_by(labels).filter(|rank| *rank > 1)) {
        let x = x_of_index(rank as f64 - 0.5, values.len());
        svg.text((x, bottom + 18.0), Anchor::Middle, "axis", &grouped(&rank.to_string()));
    }
    svg.text((WIDTH / 2.0, bottom + 38.0), Anchor::Middle, "axis", "rank");
    svg.text((LEFT + 12.0, TOP - 16.0), Anchor::End, "axis", "value");
    svg.finish("The value of each job over its rank")
}

/// Where a part of the height of a chart ends, from the bottom.
fn y_of(part: f64, bottom: f64) -> f64 {
    bottom - (bottom - TOP) * part.clamp(0.0, 1.0)
}

/// Where one of `count` values begins.
fn x_of_index(index: f64, count: usize) -> f64 {
    LEFT + 20.0 + (WIDTH - LEFT - 60.0) * index / count.max(1) as f64
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
    format!("{} job{}", grouped(&count.to_string()), if count == 1 { "" } else { "s" })
}

/// The fair-share tree from the root, on top, to the entities: the width of a node is its share of the machine, the
/// colour says how its part of the usage compares with that share.
pub(super) fn icicle(tree: &ShareTree, shares: &ShareTable) -> Icicle {
    const ROW: f64 = 34.0;
    /// A node of less than this width is not drawn.
    const NARROWEST: f64 = 0.4;
    /// A name of which no more letters fit is not drawn.
    const FEWEST_LETTERS: usize = 4;
    let depths = depths(tree);
    let mut next_x = vec![0.0f64; tree.len()];
    let mut width = vec![0.0f64; tree.len()];
    let mut drawn: Vec<(NodeId, f64)> = Vec::new();
    for node in tree.nodes() {
        let index = node.index();
        let x = match tree.parent(node) {
            None => {
                width[index] = WIDTH;
                0.0
            }
            Some(parent) => {
                let parent = parent.index();
                width[index] = (WIDTH * share_part(shares, node)).min(width[parent]);
                let x = next_x[parent];
                next_x[parent] += width[index];
                x
            }
        };
        next_x[index] = x;
        if width[index] >= NARROWEST {
            drawn.push((node, x));
        }
    }
    drawn.retain(|(node, _)| depths[node.index()] < MAX_DEPTH);
    let rows = drawn.iter().map(|(node, _)| depths[node.index()] + 1).max().unwrap_or(1);
    let mut svg = Svg::new(ROW * f64::from(rows) + 4.0);
    let omitted = tree.len() - drawn.len();
    for (node, x) in drawn {
        let level = depths[node.index()];
        let wide = width[node.index()];
        let perc = share_part(shares, node);
        let used = usage_part(tree, node);
        let class = if level == 0 { "even" } else { usage_class(used, perc) };
        let name = tree.name(node);
        let title = format!("{name}: share {:.2} %, usage {:.2} %", perc * 100.0, used * 100.0);
        let y = ROW * f64::from(level);
        svg.rect((x, y), (wide, ROW - 2.0), &format!("cell {class}"), &title);
        let label = fitting(name, wide - 8.0);
        if label == name || label.chars().count() > FEWEST_LETTERS {
            let class = if matches!(class, "under-2" | "over-2") { "on" } else { "label" };
            svg.text((x + 4.0, y + 20.0), Anchor::Start, class, &label);
        }
    }
    let chart = svg.finish(
        "The fair-share tree: the wider a node, the larger its share; its colour compares usage with share. A table with the \
         same numbers follows.",
    );
    Icicle { chart, omitted }
}

/// The chart of a tree.
pub(super) struct Icicle {
    pub(super) chart: String,
    /// The number of nodes that are too narrow or too deep to be drawn.
    pub(super) omitted: usize,
}

/// The part of the machine that is a node's share.
pub(super) fn share_part(shares: &ShareTable, node: NodeId) -> f64 {
    shares.get(node).map_or(0.0, |shares| shares.fairshare_perc)
}

/// The part of all usage that is a node's, or is below it.
pub(super) fn usage_part(tree: &ShareTree, node: NodeId) -> f64 {
    let total = tree.usage(tree.root());
    if total > 0.0 { tree.usage(node) / total } else { 0.0 }
}

/// The deepest level of the tree that is drawn.
const MAX_DEPTH: u32 = 24;

/// The classes of an [`icicle`], and what they mean.
pub(super) const USAGE_LEGEND: [(&str, &str); 5] = [
    ("under-2", "used less than half of its share"),
    ("under-1", "used less"),
    ("even", "about its share"),
    ("over-1", "used more"),
    ("over-2", "used more than twice its share"),
];

fn usage_class(used: f64, share: f64) -> &'static str {
    if share <= 0.0 {
        return "even";
    }
    match used / share {
        ..0.5 => "under-2",
        ..0.9 => "under-1",
        ..1.1 => "even",
        ..2.0 => "over-1",
        _ => "over-2",
    }
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
    fn every_job_is_counted_in_one_bar() {
        for moves in [vec![0], vec![-1, 0, 1], vec![-33, 40, 7, 7, 0], (-500..500).collect::<Vec<i64>>()] {
            let chart = displacements(&moves);
            let counted: usize = chart
                .split("<title>")
                .skip(1)
                .map(|title| title.split(": ").nth(1).unwrap().split(' ').next().unwrap().parse::<usize>().unwrap())
                .sum();
            assert_eq!(counted, moves.len(), "{chart}");
        }
    }

    #[test]
    fn many_jobs_are_counted_in_cells() {
        let moves: Vec<_> = (1..=5000).map(|rank| moved(rank - 1, rank, 5001 - rank)).collect();
        let chart = ranks(&moves, id, 5000);
        assert!(!chart.contains("<circle") && chart.len() < 100_000);
        let few = ranks(&moves[..100], id, 5000);
        assert_eq!(few.matches("<circle").count(), 100);
    }

    #[test]
    fn jobs_that_leave_the_first_ones_have_their_place_beside_them() {
        let jobs = [moved(0, 1, 60), moved(1, 60, 1), moved(2, 70, 80)];
        let slopes_of: Vec<Slope> = jobs.into_iter().map(|job| Slope { name: id(&job), job }).collect();
        let chart = slopes(&slopes_of, 50);
        assert_eq!(chart.matches("<path").count(), 2);
        assert!(chart.contains("0.vm: 1 → 60") && !chart.contains("2.vm"));
        assert!(chart.contains(">→ 60</text>") && chart.contains(">60 →</text>"));
    }

    #[test]
    fn values_without_a_span_are_drawn() {
        for list in [vec![], vec![1.0], vec![2.0; 10], vec![f64::INFINITY, 1.0, f64::NEG_INFINITY, f64::NAN]] {
            assert!(values(&list).starts_with("<svg"));
        }
        assert_eq!(
            (short_number(0.0), short_number(1234.5), short_number(2e9)),
            ("0".into(), "1234.5".into(), "2.0e9".into())
        );
    }
}
