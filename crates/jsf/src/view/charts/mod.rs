//! The charts of the pages, in three kinds: lines on two axes, intervals in rows, and slopes
//! between two orders.

pub(crate) mod intervals;
pub(crate) mod plot;
pub(crate) mod slopes;
pub(crate) mod svg;
pub(crate) mod waits;

use crate::view::charts::svg::{Layout, Svg};
use crate::view::document::ChartSvg;

/// A chart for either width of a screen.
fn in_both_layouts(name: &str, draw: impl Fn(Layout) -> Svg) -> ChartSvg {
    ChartSvg {
        wide: draw(Layout::Wide).finish(name),
        narrow: draw(Layout::Narrow).finish(name),
    }
}
