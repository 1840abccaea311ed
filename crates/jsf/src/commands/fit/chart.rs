//! The charts of a fit: goals against their limits, how well each constant does, and which formulas were tried.

use crate::view::charts::svg::{Anchor, LETTER, Layout, Svg, drawn, fitting};
use crate::view::document::ChartSvg;
use crate::view::words::significant;

/// The meaning of the marks of [`goals`].
pub(crate) const GOAL_LEGEND: [(&str, &str); 3] =
    [("old", "in force"), ("hollow new", "fitted, on the days searched"), ("new", "fitted, on the days held out")];
/// The meaning of the marks of [`constants`].
pub(crate) const CONSTANT_LEGEND: [(&str, &str); 2] = [("new", "fitted"), ("old", "start")];
/// The meaning of the marks of [`tried`].
pub(crate) const TRIED_LEGEND: [(&str, &str); 3] =
    [("new", "the answer"), ("up", "meets the goals; the larger, the better"), ("hollow down", "misses a goal")];

/// A goal of a chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct GoalMarks {
    pub(crate) name: String,
    pub(crate) limit: Option<f64>,
    pub(crate) in_force: Option<f64>,
    pub(crate) searched: Option<f64>,
    pub(crate) held_out: Option<f64>,
    /// The values in words: limit, in force, searched, held out.
    pub(crate) words: [String; 4],
}

/// A constant of a chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ConstantMarks {
    pub(crate) name: String,
    /// The ends of the range that was searched.
    pub(crate) range: [f64; 2],
    /// The ends of the range that does as well.
    pub(crate) as_well: [f64; 2],
    pub(crate) value: f64,
    pub(crate) start: f64,
    /// Whether factors of it matter, and not differences.
    pub(crate) is_log: bool,
}

/// A formula that was tried.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TriedMark {
    /// Its place between the ends of either axis, 0..=1.
    pub(crate) at: [f64; 2],
    /// Whether it meets the goals.
    pub(crate) is_good: bool,
    /// How good it is among all, 0..=1.
    pub(crate) quality: f64,
    pub(crate) is_answer: bool,
    pub(crate) title: String,
}

/// An axis of a chart of points: what it shows, and its ends in words.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PointAxis {
    pub(crate) name: String,
    pub(crate) ends: [String; 2],
}

/// Each goal on an axis of its own from 0: a line at its limit, and a mark for each value.
pub(crate) fn goals(rows: &[GoalMarks]) -> ChartSvg {
    drawn(|layout| goals_in(rows, layout))
}

fn goals_in(rows: &[GoalMarks], layout: Layout) -> String {
    const TOP: f64 = 10.0;
    let row = layout.either(34.0, 52.0);
    let width = layout.width();
    let left = layout.either(width_of_names(rows.iter().map(|goal| &*goal.name)), 16.0);
    let right = width - layout.either(130.0, 24.0);
    let mut svg = Svg::new(width, TOP + row * rows.len() as f64 + 6.0);
    for (index, goal) in rows.iter().enumerate() {
        let top = TOP + row * index as f64;
        let y = top + layout.either(0.5 * row, 34.0);
        let values = [goal.limit, goal.in_force, goal.searched, goal.held_out];
        let most = values.into_iter().flatten().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        let x = |value: f64| left + (right - left) * (value / most).clamp(0.0, 1.0);
        let [limit, in_force, searched, held_out] = &goal.words;
        match layout {
            Layout::Wide => {
                svg.text((left - 12.0, y + 4.0), Anchor::End, "label", &fitting(&goal.name, left - 28.0));
                svg.text((right + 12.0, y + 4.0), Anchor::Start, "axis", limit);
            }
            Layout::Narrow => {
                svg.text((4.0, top + 14.0), Anchor::Start, "label", &fitting(&goal.name, width - 110.0));
                svg.text((width - 4.0, top + 14.0), Anchor::End, "axis", limit);
            }
        }
        svg.line((left, y), (right, y), "grid");
        if let (Some(from), Some(to)) = (goal.searched, goal.held_out) {
            svg.line((x(from), y), (x(to), y), "between");
        }
        if let Some(limit) = goal.limit {
            svg.line((x(limit), y - 10.0), (x(limit), y + 10.0), "frame");
        }
        for (value, class, which, words) in [
            (goal.in_force, "old", "in force", in_force),
            (goal.searched, "hollow new", "on the days searched", searched),
            (goal.held_out, "new", "on the days held out", held_out),
        ] {
            if let Some(value) = value {
                svg.circle((x(value), y), 4.5, class, &format!("{}, {which}: {words}", goal.name));
            }
        }
    }
    svg.finish(
        "The goals",
        "A line at the limit of each goal, and a mark for each value. The table has the same numbers.",
    )
}

/// Each constant between the ends of its range: a bar for the values that do as well, and a mark for the one that was chosen.
pub(crate) fn constants(rows: &[ConstantMarks]) -> ChartSvg {
    drawn(|layout| constants_in(rows, layout))
}

fn constants_in(rows: &[ConstantMarks], layout: Layout) -> String {
    const ROW: f64 = 46.0;
    let width = layout.width();
    let left = layout.either(width_of_names(rows.iter().map(|constant| &*constant.name)), 16.0);
    let right = width - 24.0;
    let mut svg = Svg::new(width, 8.0 + ROW * rows.len() as f64);
    for (index, constant) in rows.iter().enumerate() {
        let top = 8.0 + ROW * index as f64;
        let y = top + 18.0;
        let [low, high] = constant.range;
        let x = |value: f64| left + (right - left) * place_between(value, low, high, constant.is_log);
        match layout {
            Layout::Wide => {
                svg.text((left - 12.0, y + 4.0), Anchor::End, "label", &fitting(&constant.name, left - 28.0));
            }
            Layout::Narrow => svg.text((4.0, top + 6.0), Anchor::Start, "label", &constant.name),
        }
        svg.line((left, y), (right, y), "grid");
        let [from, to] = constant.as_well.map(x);
        let title = format!(
            "{} from {} to {} is within the error",
            constant.name,
            significant(constant.as_well[0]),
            significant(constant.as_well[1])
        );
        svg.rect((from, y - 5.0), ((to - from).max(2.0), 10.0), "same", &title);
        svg.circle((x(constant.start), y), 4.0, "old", &format!("start: {}", significant(constant.start)));
        svg.circle((x(constant.value), y), 4.5, "new", &format!("{} = {}", constant.name, significant(constant.value)));
        svg.text((left, y + 20.0), Anchor::Start, "axis", &significant(low));
        svg.text((right, y + 20.0), Anchor::End, "axis", &significant(high));
    }
    svg.finish(
        "The constants",
        "A bar for the values within the error, and a mark for each constant. The table has the same numbers.",
    )
}

/// The place of a value between two others, 0..=1.
pub(crate) fn place_between(value: f64, low: f64, high: f64, is_log: bool) -> f64 {
    let [value, low, high] = if is_log { [value, low, high].map(f64::ln) } else { [value, low, high] };
    let place = (value - low) / (high - low);
    if place.is_finite() { place.clamp(0.0, 1.0) } else { 0.5 }
}

/// The formulas that were tried, by their constants.
pub(crate) fn tried(axes: &[PointAxis; 2], points: &[TriedMark]) -> ChartSvg {
    drawn(|layout| tried_in(axes, points, layout))
}

fn tried_in(axes: &[PointAxis; 2], points: &[TriedMark], layout: Layout) -> String {
    const LEFT: f64 = 84.0;
    const TOP: f64 = 24.0;
    let width = layout.width();
    let (right, bottom) = (width - 24.0, layout.either(360.0, 300.0));
    let mut svg = Svg::new(width, bottom + 44.0);
    let place = |[x, y]: [f64; 2]| (LEFT + (right - LEFT) * x, bottom - (bottom - TOP) * y);
    svg.line((LEFT, TOP), (LEFT, bottom), "frame");
    svg.line((LEFT, bottom), (right, bottom), "frame");
    let [across, up] = axes;
    svg.text((LEFT, bottom + 18.0), Anchor::Start, "axis", &across.ends[0]);
    svg.text((right, bottom + 18.0), Anchor::End, "axis", &across.ends[1]);
    svg.text(((LEFT + right) / 2.0, bottom + 36.0), Anchor::Middle, "axis", &fitting(&across.name, right - LEFT));
    svg.text((LEFT - 8.0, bottom), Anchor::End, "axis", &up.ends[0]);
    svg.text((LEFT - 8.0, TOP + 8.0), Anchor::End, "axis", &up.ends[1]);
    svg.text((4.0, 12.0), Anchor::Start, "axis", &fitting(&up.name, width - 8.0));
    // the answer is drawn above the others
    let (answers, others): (Vec<_>, Vec<_>) = points.iter().partition(|point| point.is_answer);
    for point in others.into_iter().chain(answers) {
        let (class, radius) = match (point.is_answer, point.is_good) {
            (true, _) => ("new", 6.0),
            (false, true) => ("up", 2.0 + 3.0 * point.quality),
            (false, false) => ("hollow down", 3.0),
        };
        svg.circle(place(point.at), radius, class, &point.title);
    }
    svg.finish("The formulas that were tried", "A mark for each formula. The table has the answer's numbers.")
}

/// The room for names on the left.
fn width_of_names<'n>(names: impl Iterator<Item = &'n str>) -> f64 {
    let longest = names.map(|name| name.chars().count()).max().unwrap_or(0);
    (longest as f64 * LETTER + 28.0).clamp(70.0, 300.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_has_a_mark_for_each_value_that_is_known() {
        let goal = GoalMarks {
            name: "short <jobs>".to_owned(),
            limit: Some(3600.0),
            in_force: Some(7200.0),
            searched: Some(0.0),
            held_out: None,
            words: ["at most 1 h", "2 h", "0 s", "–"].map(str::to_owned),
        };
        let ChartSvg { wide, narrow } = goals(&[goal]);
        assert_eq!((wide.matches("<circle").count(), narrow.matches("<circle").count()), (2, 2));
        assert!(wide.contains("short &lt;jobs&gt;, in force: 2 h") && !wide.contains("NaN"), "{wide}");
    }

    #[test]
    fn places_are_between_the_ends_of_the_range() {
        for (value, low, high, is_log, expected) in [
            (5.0, 0.0, 10.0, false, 0.5),
            (10.0, 1.0, 100.0, true, 0.5),
            (20.0, 0.0, 10.0, false, 1.0),
            (1.0, 1.0, 1.0, false, 0.5),
        ] {
            assert!((place_between(value, low, high, is_log) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn the_answer_is_on_top() {
        let point = |x: f64, y: f64, is_good: bool, is_answer: bool| TriedMark {
            at: [x, y],
            is_good,
            quality: 1.0,
            is_answer,
            title: String::new(),
        };
        let axes = ["a", "b"].map(|name| PointAxis { name: name.to_owned(), ends: ["0", "1"].map(str::to_owned) });
        let points = [point(0.5, 0.5, true, true), point(0.0, 1.0, true, false), point(1.0, 1.0, false, false)];
        let chart = tried(&axes, &points).wide;
        assert!(chart.rfind("class=\"new\"") > chart.rfind("class=\"hollow down\""), "{chart}");
    }
}
