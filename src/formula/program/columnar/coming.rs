//! The inputs of the block that comes next, on their way while this one is computed.

use crate::ahead::LINE;
use crate::python::{ColumnValues, ColumnView};

/// Inputs that are asked for a few lines at a time: the processor waits for so many at once and no more.
#[derive(Debug, Default)]
pub(super) struct Coming<'i> {
    strips: Vec<ColumnView<'i>>,
    /// The strip whose lines are asked for, and the next of them.
    strip: usize,
    line: usize,
    /// How many lines are asked for at a time.
    share: usize,
}

impl<'i> Coming<'i> {
    /// Begins with other inputs, which shall all be asked for in so many steps.
    pub(super) fn set(&mut self, strips: &[ColumnView<'i>], steps: usize) {
        self.strips.clear();
        self.strips.extend_from_slice(strips);
        let lines: usize = strips.iter().map(|strip| lines(strip.values)).sum();
        (self.strip, self.line, self.share) = (0, 0, lines.div_ceil(steps.max(1)));
    }

    /// Asks for the next few lines.
    pub(super) fn ask(&mut self) {
        let mut left = self.share;
        while let Some(strip) = self.strips.get(self.strip)
            && left > 0
        {
            let asked = strip.prefetch_lines(self.line, left);
            if asked < left {
                (self.strip, self.line) = (self.strip + 1, 0);
            } else {
                self.line += asked;
            }
            left -= asked;
        }
    }
}

/// How many lines of the cache the numbers take.
fn lines(lanes: ColumnValues<'_>) -> usize {
    let bytes = match lanes {
        ColumnValues::Constant(_) => 0,
        ColumnValues::I8(lanes) => size_of_val(lanes),
        ColumnValues::I16(lanes) => size_of_val(lanes),
        ColumnValues::I32(lanes) => size_of_val(lanes),
        ColumnValues::F64(lanes) => size_of_val(lanes),
    };
    bytes.div_ceil(LINE)
}
