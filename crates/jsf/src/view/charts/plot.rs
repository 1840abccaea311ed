//! A chart with two axes and lines of steps.

use crate::view::charts::in_both_layouts;
use crate::view::charts::svg::{Anchor, Layout, Svg, step, steps_path};
use crate::view::document::ChartSvg;
use crate::view::words::{grouped, without_zeros};

/// The edges of the chart.
const LEFT: f64 = 76.0;
const TOP: f64 = 28.0;
const BOTTOM: f64 = 220.0;
const RIGHT: f64 = 24.0;
/// The room for the names of lines on the right.
const NAMES: f64 = 180.0;

/// A chart with two axes and what is between them.
pub(crate) struct Plot {
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) lines: Vec<StepLine>,
}

/// An axis.
#[derive(Clone)]
pub(crate) struct Axis {
    /// The values on the left and on the right, or at the bottom and at the top.
    pub(crate) range: [f64; 2],
    pub(crate) caption: String,
    /// Whether only whole numbers are labelled.
    pub(crate) is_whole: bool,
}

/// A line of steps.
pub(crate) struct StepLine {
    pub(crate) class: String,
    pub(crate) name: String,
    /// Whether its name is beside the chart.
    pub(crate) is_named: bool,
    /// Where each step begins and ends, and its value.
    pub(crate) steps: Vec<[f64; 3]>,
}

impl Axis {
    /// An axis of whole numbers.
    pub(crate) fn whole(range: [f64; 2], caption: impl Into<String>) -> Self {
        Self {
            range,
            caption: caption.into(),
            is_whole: true,
        }
    }

    /// An axis of time in a fitting unit, and the seconds of that unit.
    pub(crate) fn time(seconds: f64, since: &str) -> (Self, f64) {
        let (unit, name) = match seconds {
            ..7200.0 => (60.0, "minutes"),
            ..172_800.0 => (3600.0, "hours"),
            _ => (86_400.0, "days"),
        };
        (
            Self::whole([0.0, seconds / unit], format!("{name} {since}")),
            unit,
        )
    }

    /// The round numbers on the axis, about so many.
    fn ticks(&self, most: f64) -> Vec<f64> {
        let [from, to] = self.range;
        let (low, high) = (from.min(to), from.max(to));
        let span = high - low;
        let mut ticks = Vec::new();
        if !span.is_finite() || span <= 0.0 {
            if low.is_finite() {
                ticks.push(low);
            }
            return ticks;
        }
        let mut step = step(span, most);
        if self.is_whole {
            step = step.max(1.0);
        }
        let first = (low / step).ceil() as i64;
        let last = (high / step).floor() as i64;
        for index in first..=last.min(first.saturating_add(most as i64)) {
            ticks.push(index as f64 * step);
        }
        ticks
    }
}

impl Plot {
    pub(crate) fn chart(&self, name: &str) -> ChartSvg {
        in_both_layouts(name, |layout| self.draw(layout))
    }

    pub(crate) fn draw(&self, layout: Layout) -> Svg {
        let has_names = self.lines.iter().any(|line| line.is_named);
        let right = layout.width() - if has_names { NAMES } else { RIGHT };
        let x = |value: f64| LEFT + (right - LEFT) * place_between(self.x.range, value);
        let y = |value: f64| BOTTOM - (BOTTOM - TOP) * place_between(self.y.range, value);
        let mut svg = Svg::new(layout.width(), BOTTOM + 44.0);
        for tick in self.y.ticks(5.0) {
            svg.line((LEFT, y(tick)), (right, y(tick)), "grid");
            svg.text(
                (LEFT - 8.0, y(tick) + 4.0),
                Anchor::End,
                "axis",
                &short_number(tick),
            );
        }
        for tick in self.x.ticks(layout.either(10.0, 5.0)) {
            svg.line((x(tick), BOTTOM), (x(tick), BOTTOM + 5.0), "frame");
            svg.text(
                (x(tick), BOTTOM + 18.0),
                Anchor::Middle,
                "axis",
                &short_number(tick),
            );
        }
        svg.line((LEFT, BOTTOM), (right, BOTTOM), "frame");
        svg.text(
            ((LEFT + right) / 2.0, BOTTOM + 38.0),
            Anchor::Middle,
            "axis",
            &self.x.caption,
        );
        svg.text(
            (LEFT - 8.0, TOP - 16.0),
            Anchor::End,
            "axis",
            &self.y.caption,
        );
        for (index, line) in self.lines.iter().enumerate() {
            let steps = line.steps.iter();
            let steps = steps.map(|[from, to, value]| (x(*from), x(*to), y(*value)));
            svg.path(&steps_path(steps), &line.class, &line.name);
            if line.is_named {
                let place = (right + 12.0, TOP + 18.0 * index as f64);
                svg.text(place, Anchor::Start, &line.class, &line.name);
            }
        }
        svg
    }
}

/// Where a value is between two ends, 0..=1.
pub(crate) fn place_between([from, to]: [f64; 2], value: f64) -> f64 {
    let place = (value - from) / (to - from);
    if place.is_finite() {
        place.clamp(0.0, 1.0)
    } else {
        0.5
    }
}

/// A number of an axis in few characters.
fn short_number(number: f64) -> String {
    let magnitude = number.abs();
    if magnitude != 0.0 && !(1e-3..1e6).contains(&magnitude) {
        return format!("{number:.1e}");
    }
    grouped(without_zeros(&format!("{number:.3}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_an_axis_are_round() {
        let axis = |from: f64, to: f64, is_whole: bool| Axis {
            range: [from, to],
            caption: String::new(),
            is_whole,
        };
        assert_eq!(
            axis(0.0, 10.0, true).ticks(5.0),
            [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
        );
        assert_eq!(axis(33.0, 1.0, true).ticks(5.0), [10.0, 20.0, 30.0]);
        assert_eq!(axis(0.0, 2.0, true).ticks(5.0), [0.0, 1.0, 2.0]);
        assert_eq!(axis(1.0, 1.0, false).ticks(5.0), [1.0]);
        for range in [
            [f64::INFINITY, f64::NEG_INFINITY],
            [0.0, f64::INFINITY],
            [f64::NAN, 1.0],
        ] {
            assert!(
                axis(range[0], range[1], false).ticks(5.0).len() < 2,
                "{range:?}"
            );
        }
        assert_eq!(
            [0.0, 1234.5, 2e9].map(short_number),
            ["0", "1234.5", "2.0e9"]
        );
    }

    #[test]
    fn a_line_goes_on_until_it_has_a_gap() {
        let steps = vec![
            [100.0, 160.0, 0.5],
            [160.0, 190.0, 2.0],
            [200.0, 300.0, 1.0],
        ];
        let line = StepLine {
            class: "new".to_owned(),
            name: "new".to_owned(),
            is_named: false,
            steps,
        };
        let [x, y] = [[100.0, 300.0], [0.0, 2.0]].map(|range| Axis::whole(range, ""));
        let chart = Plot {
            x,
            y,
            lines: vec![line],
        }
        .draw(Layout::Wide)
        .finish("", "");
        assert!(
            chart.contains("M76.0 172.0H316.0V28.0H436.0M476.0 124.0H876.0"),
            "{chart}"
        );
    }
}
