//! A chart with a row for each of several things: its name, an interval and marks on a common axis,
//! and words at the end.

use std::borrow::Cow;

use crate::view::charts::in_both_layouts;
use crate::view::charts::svg::{Anchor, LETTER, Layout, Svg, fitting};
use crate::view::document::ChartSvg;

/// The rows and their axis.
pub(crate) struct Intervals<'a> {
    /// Where a value is on the axis: 0 on the left, 1 on the right.
    pub(crate) place: Box<dyn Fn(f64) -> f64 + 'a>,
    /// The values that have a line and a label, ascending.
    pub(crate) ticks: Vec<(f64, String)>,
    /// What either direction of the axis means; both may be empty.
    pub(crate) directions: [&'static str; 2],
    /// The headings of the words at the end of the rows.
    pub(crate) columns: Vec<&'static str>,
    pub(crate) rows: Vec<Row<'a>>,
}

/// A row: marks, of which the last one is on top, and a line.
pub(crate) struct Row<'a> {
    /// Empty for a further row of the same thing.
    pub(crate) name: Cow<'a, str>,
    /// Its ends, and its class.
    pub(crate) line: Option<([f64; 2], &'static str)>,
    /// Their values and classes.
    pub(crate) marks: Vec<(f64, &'static str)>,
    /// What is shown while the pointer is over a mark.
    pub(crate) title: String,
    /// As many as there are columns.
    pub(crate) words: Vec<String>,
}

impl Intervals<'_> {
    pub(crate) fn chart(&self, name: &str) -> ChartSvg {
        in_both_layouts(name, |layout| self.draw(layout))
    }

    fn draw(&self, layout: Layout) -> Svg {
        const TOP: f64 = 48.0;
        const COLUMN: f64 = 84.0;
        /// The room of the label of a tick.
        const LABEL: f64 = 50.0;
        let row_height = layout.either(20.0, 38.0);
        let width = layout.width();
        let words = width - COLUMN * self.columns.len() as f64;
        let lengths = self.rows.iter().map(|row| row.name.chars().count());
        let longest = lengths.max().unwrap_or(0);
        let left = layout.either((longest as f64 * LETTER + 28.0).clamp(80.0, 260.0), 40.0);
        let right = layout.either(words - 24.0, width - 40.0);
        let x = |value: f64| left + (right - left) * (self.place)(value);
        let bottom = TOP + row_height * self.rows.len() as f64;
        let mut svg = Svg::new(width, bottom + 8.0);
        let mut free = f64::NEG_INFINITY;
        for (value, label) in &self.ticks {
            let class = if *value == 0.0 { "frame" } else { "grid" };
            svg.line((x(*value), TOP - 8.0), (x(*value), bottom), class);
            if x(*value) >= free {
                svg.text((x(*value), TOP - 14.0), Anchor::Middle, "axis", label);
                free = x(*value) + LABEL;
            }
        }
        svg.text((left, 14.0), Anchor::Start, "axis", self.directions[0]);
        svg.text((right, 14.0), Anchor::End, "axis", self.directions[1]);
        let ends = |index: usize| words + COLUMN * (index + 1) as f64 - 4.0;
        for (index, heading) in self.columns.iter().enumerate() {
            svg.text(
                (ends(index), layout.either(TOP - 14.0, 14.0)),
                Anchor::End,
                "axis",
                heading,
            );
        }
        for (index, row) in self.rows.iter().enumerate() {
            let top = TOP + row_height * index as f64;
            let y = top + layout.either(0.5 * row_height, 27.0);
            let text = layout.either(y + 4.0, top + 13.0);
            match layout {
                Layout::Wide => svg.text(
                    (left - 12.0, text),
                    Anchor::End,
                    "label",
                    &fitting(&row.name, left - 28.0),
                ),
                Layout::Narrow => svg.text(
                    (4.0, text),
                    Anchor::Start,
                    "label",
                    &fitting(&row.name, words),
                ),
            }
            if let Some(([from, to], class)) = row.line {
                svg.line((x(from), y), (x(to), y), class);
            }
            for (value, class) in &row.marks {
                svg.circle((x(*value), y), 4.5, class, &row.title);
            }
            for (index, words) in row.words.iter().enumerate() {
                svg.text((ends(index), text), Anchor::End, "label", words);
            }
        }
        svg
    }
}
