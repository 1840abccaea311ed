//! The charts of the pages, in three kinds: lines on two axes, intervals in rows, and slopes
//! between two orders.

pub(crate) mod intervals;
pub(crate) mod plot;
pub(crate) mod slopes;
pub(crate) mod svg;
pub(crate) mod waits;

use crate::view::charts::svg::{Layout, Svg};
use crate::view::document::ChartSvg;

/// What a chart says to those who do not see it, beside its name.
const DESCRIPTION: &str = "The table below has the same numbers.";

/// A chart for either width of a screen.
fn in_both_layouts(name: &str, draw: impl Fn(Layout) -> Svg) -> ChartSvg {
    ChartSvg {
        wide: draw(Layout::Wide).finish(name, DESCRIPTION),
        narrow: draw(Layout::Narrow).finish(name, DESCRIPTION),
    }
}
