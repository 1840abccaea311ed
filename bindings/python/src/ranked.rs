//! The order of the rows of a caller's own table.

use job_sort_formula::rank::{Consequence, ScoreError, ScorePrecision, top_rows};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::argument::counted;
use crate::evaluate::UnscoredRows;

/// The values of a table's rows, and what orders them.
pub struct RankedRows {
    pub scores: Vec<f64>,
    pub unscored: UnscoredRows,
    pub precision: ScorePrecision,
    /// The rows by the time of their submission.
    pub submitted: Vec<usize>,
    pub limit: usize,
}

impl RankedRows {
    /// The columns of the ranked rows, and then of those with a null among their inputs, up to the
    /// limit.
    pub fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Self {
            scores,
            unscored: UnscoredRows { errors, null_rows },
            precision,
            submitted,
            limit,
        } = self;
        let mut submitted = submitted.clone();
        submitted.retain(|row| null_rows.binary_search(row).is_err());
        let mut in_order = Vec::with_capacity(submitted.len());
        for &row in &submitted {
            in_order.push(scores[row]);
        }
        let (mut ranks, mut values, mut exact, mut texts) = (vec![], vec![], vec![], vec![]);
        let mut rows = Vec::new();
        for index in top_rows(&in_order, None, *precision, *limit) {
            let row = submitted[index];
            rows.push(row);
            ranks.push(Some(rows.len()));
            values.push(Some(precision.round(scores[row])));
            if let Ok(place) = errors.binary_search_by_key(&row, |(failed, _)| *failed) {
                exact.push(None);
                texts.push(Some(errors[place].1.to_string()));
            } else {
                exact.push(Some(scores[row]));
                texts.push(None);
            }
        }
        for &row in null_rows {
            if rows.len() < *limit {
                rows.push(row);
                ranks.push(None);
                values.push(None);
                exact.push(None);
                texts.push(None);
            }
        }
        let columns = PyDict::new(py);
        columns.set_item("rank", ranks)?;
        columns.set_item("row", rows)?;
        columns.set_item("score", values)?;
        columns.set_item("exact", exact)?;
        columns.set_item("error", texts)?;
        Ok(columns)
    }

    /// That rows have the value 0 only because it cannot be computed here, if there are any.
    pub fn warnings(&self) -> Vec<String> {
        let mut unknown: Vec<&(usize, ScoreError)> = self.unscored.errors.iter().collect();
        unknown.retain(|(_, error)| error.consequence() == Consequence::Unknown);
        let Some((row, error)) = unknown.first() else {
            return Vec::new();
        };
        let rows = counted(unknown.len(), "row");
        vec![format!(
            "{rows} with 0 cannot be computed here, and the scheduler may do so: row {row}: {error}"
        )]
    }
}
