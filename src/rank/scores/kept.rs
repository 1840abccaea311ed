//! What jobs are compared by.

use rust_decimal::prelude::ToPrimitive;

use crate::jobs::{BLOCK_ROWS, Column};
use crate::python::ColumnValues;
use crate::rank::score::double;
use crate::rank::scores::{ExactColumn, Scores};

impl Scores {
    /// What jobs are compared by, row by row; 0 for a job that was set aside.
    pub fn kept(&self) -> Vec<f64> {
        let mut kept = vec![0.0; self.len()];
        self.keep_into(0, &mut kept);
        kept
    }

    /// What the jobs from a row on are compared by, as many as there is room for.
    pub(in crate::rank) fn keep_into(&self, first: usize, kept: &mut [f64]) {
        match &self.exact {
            ExactColumn::Decimal(column) => {
                let doubles = column[first..].iter().map(|decimal| decimal.to_f64().unwrap_or(f64::NAN));
                kept.iter_mut().zip(doubles).for_each(|(kept, double)| *kept = double);
            }
            ExactColumn::Python(column) => self.keep_lanes(column, first, kept),
        }
        for (row, error) in from(&self.failed, first, |(row, _)| *row as usize) {
            let Some(kept) = kept.get_mut(row - first) else { break };
            *kept = self.on_error.value(&error.1);
        }
        for (row, _) in from(&self.without, first, |row| *row as usize) {
            let Some(kept) = kept.get_mut(row - first) else { break };
            *kept = 0.0;
        }
    }

    fn keep_lanes(&self, column: &Column, first: usize, kept: &mut [f64]) {
        let mut rows = 0..0;
        while rows.end < kept.len() {
            let at = first + rows.end;
            rows = rows.end..kept.len().min(rows.end + BLOCK_ROWS - at % BLOCK_ROWS);
            let (Some(strip), skipped) = (column.strip(at / BLOCK_ROWS), at % BLOCK_ROWS) else { return };
            let kept = &mut kept[rows.clone()];
            match strip.values {
                ColumnValues::Constant(same) => kept.fill(self.keep.kept(same)),
                ColumnValues::I8(lanes) => self.keep_each(&lanes[skipped..], kept),
                ColumnValues::I16(lanes) => self.keep_each(&lanes[skipped..], kept),
                ColumnValues::I32(lanes) => self.keep_each(&lanes[skipped..], kept),
                ColumnValues::F64(lanes) => self.keep_each(&lanes[skipped..], kept),
            }
        }
        for (row, (_, value)) in from(column.aside(), first, |(row, _)| *row as usize) {
            let Some(kept) = kept.get_mut(row - first) else { break };
            *kept = self.keep.kept(double(value).ok().flatten().unwrap_or(f64::NAN));
        }
    }

    fn keep_each<T: Into<f64> + Copy>(&self, lanes: &[T], kept: &mut [f64]) {
        kept.iter_mut().zip(lanes).for_each(|(kept, &lane)| *kept = self.keep.kept(lane.into()));
    }
}

/// What a list that ascends by rows has from a row on.
fn from<T>(list: &[T], first: usize, row: impl Fn(&T) -> usize) -> impl Iterator<Item = (usize, &T)> {
    let start = list.partition_point(|item| row(item) < first);
    list[start..].iter().map(move |item| (row(item), item))
}
