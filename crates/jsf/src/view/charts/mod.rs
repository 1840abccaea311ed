//! The charts of the pages, in four kinds: bars and lines on two axes, intervals in rows, and
//! slopes between two orders.

pub(crate) mod intervals;
pub(crate) mod plot;
pub(crate) mod slopes;
pub(crate) mod svg;
pub(crate) mod waits;

use crate::view::charts::intervals::Intervals;
use crate::view::charts::plot::Plot;
use crate::view::charts::slopes::Slope;
use crate::view::charts::svg::{Layout, Svg};
use crate::view::document::ChartSvg;

/// What is drawn: its name, for those who do not see it, and what of.
pub(crate) struct Figure<'a> {
    pub(crate) name: String,
    pub(crate) kind: Kind<'a>,
}

/// What a chart is made of.
pub(crate) enum Kind<'a> {
    /// Bars or lines on two axes.
    Plot(Plot),
    /// A row for each of several things.
    Intervals(Intervals<'a>),
    /// A line for each job. A phone has no room for names on both sides; there a table takes its
    /// place.
    Slopes(Vec<Slope>),
}

impl Figure<'_> {
    /// Draws the chart for a page.
    pub(crate) fn draw(&self) -> ChartSvg {
        let draw = |layout: Layout| {
            self.draw_in(layout)
                .finish(&self.name, "The table below has the same numbers.")
        };
        let narrow = if matches!(self.kind, Kind::Slopes(_)) {
            String::new()
        } else {
            draw(Layout::Narrow)
        };
        ChartSvg {
            wide: draw(Layout::Wide),
            narrow,
        }
    }

    fn draw_in(&self, layout: Layout) -> Svg {
        match &self.kind {
            Kind::Plot(plot) => plot.draw(layout),
            Kind::Intervals(intervals) => intervals.draw(layout),
            Kind::Slopes(slopes) => slopes::draw(slopes),
        }
    }
}
