//! What jobs are compared by.

use rust_decimal::prelude::ToPrimitive;

use crate::jobs::{BLOCK_ROWS, Column};
use crate::python::ColumnValues;
use crate::rank::score::double;
use crate::rank::scores::{ExactColumn, Scores};

impl Scores {
    /// What jobs are compared by, row by row; 0 for a job that was set aside.
    pub fn kept(&self) -> Vec<f64> {
        let mut kept = match &self.exact {
            ExactColumn::Decimal(column) => column.iter().map(|decimal| decimal.to_f64().unwrap_or(f64::NAN)).collect(),
            ExactColumn::Python(column) => self.kept_lanes(column),
        };
        for (row, error) in &self.failed {
            kept[*row as usize] = self.on_error.value(error);
        }
        for &row in &self.without {
            kept[row as usize] = 0.0;
        }
        kept
    }

    fn kept_lanes(&self, column: &Column) -> Vec<f64> {
        let mut kept = vec![0.0; column.len()];
        let strips = (0..column.block_count()).filter_map(|block| column.block(block));
        for (kept, strip) in kept.chunks_mut(BLOCK_ROWS).zip(strips) {
            match strip.values {
                ColumnValues::Constant(same) => kept.fill(self.keep.kept(same)),
                ColumnValues::I8(lanes) => self.keep_each(lanes, kept),
                ColumnValues::I16(lanes) => self.keep_each(lanes, kept),
                ColumnValues::I32(lanes) => self.keep_each(lanes, kept),
                ColumnValues::F64(lanes) => self.keep_each(lanes, kept),
            }
        }
        for (row, value) in column.exceptions() {
            kept[*row as usize] = self.keep.kept(double(value).ok().flatten().unwrap_or(f64::NAN));
        }
        kept
    }

    fn keep_each<T: Into<f64> + Copy>(&self, lanes: &[T], kept: &mut [f64]) {
        kept.iter_mut().zip(lanes).for_each(|(kept, &lane)| *kept = self.keep.kept(lane.into()));
    }
}
