//! The order of the rows of a caller's own table.

use std::cmp::Ordering;

use job_sort_formula::rank::{ScorePrecision, merge_sort, top_rows};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyList, PyString};

use crate::evaluate::UnscoredRows;
use crate::table::{Table, TableBuilder};

/// The values of a table's rows, and what orders them.
pub struct RankedRows {
    pub scores: Vec<f64>,
    pub unscored: UnscoredRows,
    pub precision: ScorePrecision,
    /// The rows by the time of their submission; `None`: in the order of the table.
    pub by_submission: Option<Vec<usize>>,
    pub limit: Option<usize>,
}

impl RankedRows {
    /// The ranked rows, and then those with a null among their inputs, unless a limit is given.
    pub fn table(self, ids: Option<&Bound<'_, PyList>>) -> PyResult<Table> {
        let Self { scores, unscored: UnscoredRows { errors, null_rows }, precision, by_submission, limit } = self;
        let is_null = |row: &usize| null_rows.binary_search(row).is_ok();
        let mut submitted = by_submission.unwrap_or_else(|| (0..scores.len()).collect());
        submitted.retain(|row| !is_null(row));
        let in_order: Vec<f64> = submitted.iter().map(|&row| scores[row]).collect();
        let best = top_rows(&in_order, None, precision, limit.unwrap_or(usize::MAX));
        let mut rows: Vec<usize> = best.into_iter().map(|index| submitted[index]).collect();
        let ranked = rows.len();
        if limit.is_none() {
            rows.extend(&null_rows);
        }
        let error = |row: &usize| errors.binary_search_by_key(row, |(failed, _)| *failed).ok();
        let mut columns = TableBuilder::default();
        columns.integers("rank", (1..=rows.len()).map(|rank| (rank <= ranked).then_some(rank as i64)));
        if let Some(ids) = ids {
            add_ids(&mut columns, ids, &rows)?;
        }
        columns.integers("row", rows.iter().map(|&row| Some(row as i64)));
        columns.floats("score", rows.iter().map(|row| Some(precision.round(scores[*row])).filter(|_| !is_null(row))));
        let exact = |row: &usize| Some(scores[*row]).filter(|_| !is_null(row) && error(row).is_none());
        columns.floats("exact", rows.iter().map(exact));
        columns.texts("error", rows.iter().map(|row| error(row).map(|index| errors[index].1.to_string())));
        columns.finish(&[], "{}".to_owned())
    }
}

/// The column of ids: integers, or texts.
fn add_ids(columns: &mut TableBuilder, ids: &Bound<'_, PyList>, rows: &[usize]) -> PyResult<()> {
    let ids = rows.iter().map(|&row| ids.get_item(row)).collect::<PyResult<Vec<_>>>()?;
    if let Ok(integers) = ids.iter().map(|id| id.cast::<PyInt>()?.extract()).collect::<PyResult<Vec<i64>>>() {
        columns.integers("id", integers.into_iter().map(Some));
        return Ok(());
    }
    let texts = ids.iter().map(|id| Ok((!id.is_none()).then_some(id.str()?.to_string())));
    columns.texts("id", texts.collect::<PyResult<Vec<Option<String>>>>()?);
    Ok(())
}

/// The rows in the order of their submission, which are numbers, times or texts that sort like them; those without one come last.
pub fn by_submission(times: &Bound<'_, PyList>) -> PyResult<Vec<usize>> {
    let mut rows: Vec<usize> = (0..times.len()).collect();
    if let Ok(seconds) = times.extract::<Vec<i64>>() {
        rows.sort_by_key(|&row| seconds[row]);
        return Ok(rows);
    }
    let times: Vec<Bound<'_, PyAny>> = times.iter().collect();
    // None, and what does not equal itself: NaN of floats, NaT of times
    let is_missing = |time: &Bound<'_, PyAny>| Ok(time.is_none() || time.ne(time)?);
    let missing = times.iter().map(is_missing).collect::<PyResult<Vec<bool>>>()?;
    let mut failed = None;
    merge_sort(&mut rows, &mut |left: usize, right: usize| match (missing[left], missing[right]) {
        (false, false) => times[left].compare(&times[right]).unwrap_or_else(|error| {
            failed = Some(error);
            Ordering::Equal
        }),
        (left, right) => left.cmp(&right),
    });
    failed.map_or(Ok(rows), Err)
}

/// A column that a caller gives by its name in a table, or as itself, as a list.
pub fn column_values<'py>(
    what: &str,
    given: &Bound<'py, PyAny>,
    table: &Bound<'py, PyAny>,
    rows: usize,
) -> PyResult<Bound<'py, PyList>> {
    let column = match given.cast::<PyString>() {
        Err(_) => given.clone(),
        Ok(name) => table.get_item(name).map_err(|error| {
            // of a table that has columns but not this one, and of one whose columns cannot be asked for
            let absent = PyKeyError::new_err(format!("`{what}`: the table has no column `{name}`"));
            absent.set_cause(given.py(), Some(error));
            absent
        })?,
    };
    let listing = ["to_pylist", "to_list", "tolist"].into_iter().find(|name| column.hasattr(*name).unwrap_or(false));
    let values = match listing {
        Some(listing) => column.call_method0(listing)?,
        None => column,
    };
    let is_one = values.is_instance_of::<PyString>() || values.is_instance_of::<PyBool>();
    let values = match values.try_iter() {
        Ok(values) if !is_one => PyList::new(given.py(), values.collect::<PyResult<Vec<_>>>()?)?,
        _ => return Err(PyTypeError::new_err(format!("`{what}`: expected a column or its name"))),
    };
    if values.len() != rows {
        let message = format!("`{what}` has {} rows, the table has {rows}", values.len());
        return Err(PyValueError::new_err(message));
    }
    Ok(values)
}
