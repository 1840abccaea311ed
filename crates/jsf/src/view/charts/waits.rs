//! The charts of a simulation: the waits of each group of jobs, and the use of the machine and the queue over time.

use std::fmt::Write as _;

use jsf_simulate::{Distribution, MeanChange};

use crate::view::charts::svg::{Anchor, LETTER, Layout, Svg, drawn, fitting, step};
use crate::view::charts::{LEFT, y_axis, y_of};
use crate::view::document::ChartSvg;
use crate::view::words::{duration, grouped, signed_duration};

/// The meaning of the marks of a [`forest`].
pub(crate) const FOREST_LEGEND: [(&str, &str); 4] = [
    ("up", "shorter, more than chance"),
    ("down", "longer, more than chance"),
    ("hollow up", "shorter, may be chance"),
    ("hollow down", "longer, may be chance"),
];
/// The meaning of the marks of the [`spreads`] of two sides.
pub(crate) const SPREAD_LEGEND: [(&str, &str); 2] = [("old", "old formula"), ("new", "new formula")];
/// The meaning of the marks of the [`spreads`] of one side.
pub(crate) const SPREAD_LEGEND_OF_ONE: [(&str, &str); 2] =
    [("new", "half of the jobs have started"), ("hollow new", "95 % have started")];

/// How the mean wait of each group changes, with its interval: a filled mark is more than chance, a hollow one may be chance.
pub(crate) fn forest(what: &str, groups: &[(&str, MeanChange)]) -> ChartSvg {
    drawn(|layout| forest_in(what, groups, layout))
}

fn forest_in(what: &str, groups: &[(&str, MeanChange)], layout: Layout) -> String {
    const TOP: f64 = 46.0;
    /// The column of the differences in words, on the right.
    const WORDS: f64 = 120.0;
    let row = layout.either(22.0, 40.0);
    let width = layout.width();
    let left = layout.either(width_of_names(groups.iter().map(|(name, _)| *name)), 40.0);
    let right = layout.either(width - WORDS, width - 40.0);
    let bottom = TOP + row * groups.len() as f64;
    let mut svg = Svg::new(width, bottom + 8.0);
    let axis = ChangeAxis::new(groups, left, right, layout.either(7.0, 3.0));
    for change in axis.ticks() {
        let class = if change == 0.0 { "frame" } else { "grid" };
        svg.line((axis.x(change), TOP - 8.0), (axis.x(change), bottom), class);
        svg.text((axis.x(change), TOP - 14.0), Anchor::Middle, "axis", &signed_duration(change));
    }
    let (shorter, longer) = ("← shorter waits", "longer waits →");
    match layout {
        Layout::Wide => {
            svg.text((axis.x(0.0) - 10.0, 14.0), Anchor::End, "axis", shorter);
            svg.text((axis.x(0.0) + 10.0, 14.0), Anchor::Start, "axis", longer);
        }
        Layout::Narrow => {
            svg.text((4.0, 14.0), Anchor::Start, "axis", shorter);
            svg.text((width - 4.0, 14.0), Anchor::End, "axis", longer);
        }
    }
    for (index, (name, change)) in groups.iter().enumerate() {
        let top = TOP + row * index as f64;
        let y = top + layout.either(0.5 * row, 28.0);
        let words = layout.either(y + 4.0, top + 14.0);
        let difference = change.difference();
        let direction = if difference > 0.0 { "down" } else { "up" };
        let class = if change.is_significant() { direction.to_owned() } else { format!("hollow {direction}") };
        let by = signed_duration(difference);
        match layout {
            Layout::Wide => svg.text((left - 12.0, words), Anchor::End, "label", &fitting(name, left - 28.0)),
            Layout::Narrow => svg.text((4.0, words), Anchor::Start, "label", &fitting(name, width - WORDS)),
        }
        let title = match change.interval() {
            None => format!("{name}: {by}, too few jobs for an interval"),
            Some([low, high]) => {
                svg.line((axis.x(low), y), (axis.x(high), y), direction);
                let chance = if change.is_significant() { "more than chance" } else { "may be chance" };
                format!("{name}: {by} ({} to {}), {chance}", signed_duration(low), signed_duration(high))
            }
        };
        svg.circle((axis.x(difference), y), 4.5, &class, &title);
        svg.text((width - 4.0, words), Anchor::End, "label", &by);
    }
    let name = format!("How the mean wait changes by {what}");
    svg.finish(&name, "A mark for each difference, and a line for its interval. The table below has the same numbers.")
}

/// A linear axis for all intervals and 0, which begins and ends at labelled changes.
struct ChangeAxis {
    low: f64,
    high: f64,
    tick: f64,
    left: f64,
    right: f64,
}

impl ChangeAxis {
    fn new(groups: &[(&str, MeanChange)], left: f64, right: f64, max_ticks: f64) -> Self {
        let ends = groups.iter().flat_map(|(_, change)| {
            change.interval().into_iter().flatten().chain([change.difference()]).collect::<Vec<f64>>()
        });
        let low = ends.clone().fold(0.0, f64::min);
        let high = ends.fold(0.0, f64::max);
        let tick = time_step((high - low).max(1.0), max_ticks);
        let low = (low / tick).floor().min(-1.0) * tick;
        let high = (high / tick).ceil().max(1.0) * tick;
        Self { low, high, tick, left, right }
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        let last = ((self.high - self.low) / self.tick).round() as usize;
        (0..=last).map(|index| self.low + self.tick * index as f64)
    }

    fn x(&self, change: f64) -> f64 {
        self.left + (self.right - self.left) * (change - self.low) / (self.high - self.low)
    }
}

/// The room for names on the left.
fn width_of_names<'n>(names: impl Iterator<Item = &'n str>) -> f64 {
    let longest = names.map(|name| name.chars().count()).max().unwrap_or(0);
    (longest as f64 * LETTER + 28.0).clamp(70.0, 240.0)
}

/// A step of a round time, of which at most `count` cover `span` seconds.
fn time_step(span: f64, count: f64) -> f64 {
    const STEPS: [f64; 15] = [
        1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 1800.0, 3600.0, 7200.0, 10_800.0, 21_600.0, 43_200.0, 86_400.0, 172_800.0,
        432_000.0,
    ];
    let known = STEPS.into_iter().find(|step| span / step <= count);
    known.unwrap_or_else(|| 86_400.0 * step(span / 86_400.0, count))
}

/// The waits that are labelled, in seconds.
const TICKS: [(f64, &str); 9] = [
    (0.0, "0"),
    (60.0, "1 min"),
    (600.0, "10 min"),
    (3600.0, "1 h"),
    (21_600.0, "6 h"),
    (86_400.0, "1 d"),
    (604_800.0, "7 d"),
    (2_592_000.0, "30 d"),
    (31_536_000.0, "365 d"),
];

/// The waits of each group within which half and 95 % of the jobs have started: under two formulas a line from the old to the
/// new wait for either, under one a line between both. The axis is logarithmic beyond a minute.
pub(crate) fn spreads(what: &str, groups: &[(&str, Vec<Distribution>)]) -> ChartSvg {
    drawn(|layout| spreads_in(what, groups, layout))
}

fn spreads_in(what: &str, groups: &[(&str, Vec<Distribution>)], layout: Layout) -> String {
    const ROW: f64 = 17.0;
    const TOP: f64 = 30.0;
    /// The column of what each line is, right of the names.
    const WHICH: f64 = 40.0;
    let width = layout.width();
    // in the narrow layout, a name is above its lines
    let gap = layout.either(9.0, 26.0);
    let names = layout.either(width_of_names(groups.iter().map(|(name, _)| *name)), 16.0);
    let is_one = groups.iter().all(|(_, sides)| sides.len() < 2);
    let rows = if is_one { 1.0 } else { 2.0 };
    let left = if is_one { names } else { names + WHICH };
    let most = groups.iter().flat_map(|(_, sides)| sides).map(|waits| waits.p95.max(waits.median)).fold(60.0, f64::max);
    let bottom = TOP + groups.len() as f64 * (rows * ROW + gap);
    let mut svg = Svg::new(width, bottom + 4.0);
    let axis = WaitAxis { most, left, right: width - 24.0 };
    let mut last = f64::NEG_INFINITY;
    for (wait, label) in TICKS.into_iter().filter(|(wait, _)| *wait <= most) {
        /// The room of a label.
        const LABEL: f64 = 44.0;
        let x = axis.x(wait);
        svg.line((x, TOP - 8.0), (x, bottom), "grid");
        if x - last >= LABEL {
            svg.text((x, TOP - 14.0), Anchor::Middle, "axis", label);
            last = x;
        }
    }
    for (index, (name, sides)) in groups.iter().enumerate() {
        let top = TOP + index as f64 * (rows * ROW + gap) + layout.either(gap / 2.0, 20.0);
        let middle = top + rows * ROW / 2.0;
        match layout {
            Layout::Wide => svg.text((names - 12.0, middle + 4.0), Anchor::End, "label", &fitting(name, names - 28.0)),
            Layout::Narrow => svg.text((4.0, top - 4.0), Anchor::Start, "label", &fitting(name, width - 28.0)),
        }
        match sides[..] {
            [old, new] => {
                for (row, which, from, to) in [(0.0, "half", old.median, new.median), (1.0, "95 %", old.p95, new.p95)] {
                    let y = top + (row + 0.5) * ROW;
                    let title = format!("{name}: {which} of the jobs wait up to {} → {}", duration(from), duration(to));
                    svg.text((left - 12.0, y + 4.0), Anchor::End, "axis", which);
                    let [from, to] = [from, to].map(|wait| axis.x(wait));
                    dumbbell(&mut svg, y, (from, "old"), (to, "new"), &title);
                }
            }
            [only] => {
                let [half, within] = [only.median, only.p95].map(duration);
                let title = format!("{name}: half of the jobs wait up to {half}, 95 % up to {within}");
                let [half, within] = [only.median, only.p95].map(|wait| axis.x(wait));
                dumbbell(&mut svg, middle, (within, "hollow new"), (half, "new"), &title);
            }
            _ => {}
        }
    }
    let name = format!("The waits of half and of 95 % of the jobs by {what}");
    svg.finish(&name, "Two dots on a logarithmic axis for each. The table below has the same numbers.")
}

/// Two marks at their places, of which the second one is on top, and a line between them.
fn dumbbell(svg: &mut Svg, y: f64, from: (f64, &str), to: (f64, &str), title: &str) {
    svg.line((from.0, y), (to.0, y), "between");
    svg.circle((from.0, y), 4.5, from.1, title);
    svg.circle((to.0, y), 4.0, to.1, title);
}

/// An axis for waits up to the longest one, logarithmic beyond a minute.
struct WaitAxis {
    most: f64,
    left: f64,
    right: f64,
}

impl WaitAxis {
    fn x(&self, wait: f64) -> f64 {
        self.left + (self.right - self.left) * (wait / 60.0).ln_1p() / (self.most / 60.0).ln_1p()
    }
}

/// A course of time on one side: a class, the name of the side in a title, and the beginning, the length and the value of each
/// period.
pub(crate) type Course = (&'static str, &'static str, Vec<(i64, i64, f64)>);

/// Values over time as steps. `unit` is written above the axis.
pub(crate) fn course(courses: &[Course], unit: &str, most: f64, name: &str) -> ChartSvg {
    drawn(|layout| course_in(courses, unit, most, name, layout))
}

fn course_in(courses: &[Course], unit: &str, most: f64, name: &str, layout: Layout) -> String {
    let bottom = 200.0;
    let right = layout.width() - 20.0;
    let periods = courses.iter().flat_map(|(.., periods)| periods);
    let begin = periods.clone().map(|(start, ..)| *start).min().unwrap_or(0);
    let end = periods.map(|(start, length, _)| start + length).max().unwrap_or(begin);
    let span = ((end - begin) as f64).max(1.0);
    let most = most.max(1.0);
    let mut svg = Svg::new(layout.width(), bottom + 44.0);
    y_axis(&mut svg, most, bottom, unit);
    let (unit_length, unit_name) = match span {
        ..7200.0 => (60.0, "minutes"),
        ..172_800.0 => (3600.0, "hours"),
        _ => (86_400.0, "days"),
    };
    let labels = step(span / unit_length, layout.either(10.0, 5.0)).max(1.0);
    let mut at = 0.0;
    while at * unit_length <= span {
        let place = LEFT + (right - LEFT) * at * unit_length / span;
        svg.line((place, bottom), (place, bottom + 5.0), "frame");
        svg.text((place, bottom + 18.0), Anchor::Middle, "axis", &grouped(&format!("{at}")));
        at += labels;
    }
    svg.line((LEFT, bottom), (right, bottom), "frame");
    let caption = format!("{unit_name} since the first submission");
    svg.text(((LEFT + right) / 2.0, bottom + 38.0), Anchor::Middle, "axis", &caption);
    for (class, side, periods) in courses {
        let mut commands = String::new();
        for (start, length, value) in periods {
            let [from, to] = [*start, start + length].map(|time| LEFT + (right - LEFT) * (time - begin) as f64 / span);
            let y = y_of(value / most, bottom);
            let _ = match commands.is_empty() {
                true => write!(commands, "M{from:.1} {y:.1}"),
                false => write!(commands, "V{y:.1}"),
            };
            let _ = write!(commands, "H{to:.1}");
        }
        svg.path(&commands, class, side);
    }
    svg.finish(name, "Values over time as steps. The tables below have the same numbers.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_chance_is_hollow() {
        let change = |new: f64, low: f64, high: f64, jobs: usize| MeanChange {
            old: 0.0,
            new,
            low,
            high,
            jobs,
            blocks: 28,
            users: 40,
            level: 0.05,
        };
        let groups = [
            ("sure", change(-7200.0, -9000.0, -60.0, 100)),
            ("unsure", change(3600.0, -600.0, 8000.0, 100)),
            ("few", change(3600.0, 600.0, 8000.0, 5)),
        ];
        let ChartSvg { wide: chart, narrow } = forest("queue", &groups);
        assert_eq!(narrow.matches("<circle").count(), 3);
        assert!(chart.contains("class=\"up\"><title>sure: -2 h (-2 h 30 min to -1 min), more than chance"), "{chart}");
        assert!(chart.contains("class=\"hollow down\"><title>unsure: +1 h (-10 min to "), "{chart}");
        assert!(chart.contains("class=\"hollow down\"><title>few: +1 h, too few jobs"), "{chart}");
        assert!(chart.contains(">-2 h</text>") && chart.contains("class=\"frame\"") && !chart.contains("NaN"));
        assert!(forest("queue", &[("none", MeanChange::default())]).wide.contains("none: 0"));
    }

    #[test]
    fn every_side_of_a_group_has_its_dots() {
        let [old, new] =
            [0.0, 90_000.0].map(|median| Distribution { median, p95: 2.0 * median, ..Distribution::default() });
        let chart = spreads("group", &[("a", vec![old, new]), ("b", vec![])]).wide;
        assert_eq!((chart.matches("class=\"old\"").count(), chart.matches("class=\"new\"").count()), (2, 2));
        assert!(chart.contains(">1 d</text>") && !chart.contains(">7 d</text>") && !chart.contains("NaN"));
        let chart = spreads("group", &[("a", vec![new])]).wide;
        assert_eq!((chart.matches("class=\"hollow new\"").count(), chart.matches("class=\"new\"").count()), (1, 1));
    }

    #[test]
    fn times_of_an_axis_are_round() {
        for (span, expected) in [(1.0, 1.0), (30.0, 5.0), (7000.0, 1800.0), (200_000.0, 43_200.0), (6e7, 8.64e6)] {
            assert_eq!(time_step(span, 7.0), expected, "{span}");
        }
    }

    #[test]
    fn a_course_of_time_is_one_line() {
        let chart =
            course(&[("new", "new", vec![(100, 60, 0.5), (160, 30, 2.0)]), ("old", "old", vec![])], "jobs", 2.0, "d")
                .wide;
        assert!(chart.contains("M60.0 157.0H") && chart.contains("V28.0H880.0") && !chart.contains("NaN"), "{chart}");
        assert!(chart.contains("minutes since the first submission"));
    }
}
