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
        let is_null = |row: &usize| null_rows.binary_search(row).is_ok();
        let error = |row: &usize| {
            let place = errors.binary_search_by_key(row, |(failed, _)| *failed);
            place.ok().map(|place| &errors[place].1)
        };
        let mut submitted = submitted.clone();
        submitted.retain(|row| !is_null(row));
        let in_order: Vec<f64> = submitted.iter().map(|&row| scores[row]).collect();
        let best = top_rows(&in_order, None, *precision, *limit);
        let mut rows: Vec<usize> = best.into_iter().map(|index| submitted[index]).collect();
        let ranked = rows.len();
        rows.extend(null_rows);
        rows.truncate(*limit);
        let (mut ranks, mut values, mut exact, mut texts) = (vec![], vec![], vec![], vec![]);
        for (place, row) in rows.iter().enumerate() {
            let score = Some(scores[*row]).filter(|_| !is_null(row));
            ranks.push((place < ranked).then_some(place + 1));
            values.push(score.map(|score| precision.round(score)));
            exact.push(score.filter(|_| error(row).is_none()));
            texts.push(error(row).map(ScoreError::to_string));
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
        let mut unknown = self.unscored.errors.iter();
        let mut unknown = unknown
            .by_ref()
            .filter(|(_, error)| error.consequence() == Consequence::Unknown);
        let Some((row, error)) = unknown.next() else {
            return Vec::new();
        };
        let rows = counted(unknown.count() + 1, "row");
        vec![format!(
            "{rows} with 0 cannot be computed here, and the scheduler may do so: row {row}: {error}"
        )]
    }
}
