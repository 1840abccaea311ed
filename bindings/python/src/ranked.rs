//! The order of the rows of a caller's own table.

use std::cmp::Ordering;

use arrow_array::{Array, Int64Array};
use arrow_schema::DataType;
use job_sort_formula::diagnostic::Message;
use job_sort_formula::rank::{Consequence, ScoreError, ScorePrecision, merge_sort, top_rows};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyList, PyString};

use crate::argument::counted;
use crate::capsule;
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
    /// The ranked rows, and then those with a null among their inputs, up to the limit.
    pub fn table(self, ids: Option<&Bound<'_, PyList>>) -> PyResult<Table> {
        let Self {
            scores,
            unscored: UnscoredRows { errors, null_rows },
            precision,
            by_submission,
            limit,
        } = self;
        let is_null = |row: &usize| null_rows.binary_search(row).is_ok();
        let mut submitted = by_submission.unwrap_or_else(|| (0..scores.len()).collect());
        submitted.retain(|row| !is_null(row));
        let in_order: Vec<f64> = submitted.iter().map(|&row| scores[row]).collect();
        let best = top_rows(&in_order, None, precision, limit.unwrap_or(usize::MAX));
        let mut rows: Vec<usize> = best.into_iter().map(|index| submitted[index]).collect();
        let ranked = rows.len();
        rows.extend(&null_rows);
        rows.truncate(limit.unwrap_or(usize::MAX));
        let error = |row: &usize| errors.binary_search_by_key(row, |(failed, _)| *failed).ok();
        let mut columns = TableBuilder::default();
        columns.integers(
            "rank",
            (1..=rows.len()).map(|rank| (rank <= ranked).then_some(rank as i64)),
        );
        if let Some(ids) = ids {
            add_ids(&mut columns, ids, &rows)?;
        }
        columns.integers("row", rows.iter().map(|&row| Some(row as i64)));
        columns.floats(
            "score",
            rows.iter()
                .map(|row| Some(precision.round(scores[*row])).filter(|_| !is_null(row))),
        );
        let exact =
            |row: &usize| Some(scores[*row]).filter(|_| !is_null(row) && error(row).is_none());
        columns.floats("exact", rows.iter().map(exact));
        columns.texts(
            "error",
            rows.iter()
                .map(|row| error(row).map(|index| errors[index].1.to_string())),
        );
        columns.finish(&uncomputed(&errors), "{}".to_owned())
    }
}

/// That rows have the value 0 only because it cannot be computed here, if there are any.
fn uncomputed(errors: &[(usize, ScoreError)]) -> Vec<Message> {
    let mut unknown = errors
        .iter()
        .filter(|(_, error)| error.consequence() == Consequence::Unknown);
    let Some((row, error)) = unknown.next() else {
        return Vec::new();
    };
    let rows = counted(unknown.count() + 1, "row");
    vec![Message::from(format!(
        "{rows} with 0 cannot be computed here, and the scheduler may do so: row {row}: {error}"
    ))]
}

/// The column of ids, in which those that are missing are null: integers, or texts.
fn add_ids(columns: &mut TableBuilder, ids: &Bound<'_, PyList>, rows: &[usize]) -> PyResult<()> {
    let known = |row: &usize| {
        let id = ids.get_item(*row)?;
        Ok((!is_missing(&id)).then_some(id))
    };
    let ids = rows.iter().map(known).collect::<PyResult<Vec<_>>>()?;
    if let Some(integers) = integers(&ids) {
        columns.integers("id", integers);
        return Ok(());
    }
    let texts = ids
        .iter()
        .map(|id| id.as_ref().map(|id| Ok(id.str()?.to_string())).transpose());
    columns.texts("id", texts.collect::<PyResult<Vec<_>>>()?);
    Ok(())
}

/// The ids as integers, if all that are known are.
fn integers(ids: &[Option<Bound<'_, PyAny>>]) -> Option<Vec<Option<i64>>> {
    ids.iter()
        .map(|id| id.as_ref().map_or(Some(None), |id| integer(id).map(Some)))
        .collect()
}

/// An integer of Python or numpy that has 64 bits; `None` for anything else.
fn integer(value: &Bound<'_, PyAny>) -> Option<i64> {
    if value.is_instance_of::<PyBool>() {
        None
    } else {
        value.extract().ok()
    }
}

/// Whether a value is one that stands for none: None, what does not equal itself (NaN of floats,
/// NaT of times), and the NA of pandas, which says of no two values whether they are equal.
pub fn is_missing(value: &Bound<'_, PyAny>) -> bool {
    if value.is_instance_of::<PyString>() || value.is_instance_of::<PyInt>() {
        return false;
    }
    let is_na = |_| value.get_type().name().is_ok_and(|name| name == "NAType");
    value.is_none() || value.ne(value).unwrap_or_else(is_na)
}

/// The rows in the order of their submission; those without one come last.
pub fn by_submission(
    given: &Bound<'_, PyAny>,
    table: &Bound<'_, PyAny>,
    count: usize,
) -> PyResult<Vec<usize>> {
    let column = given_column("submitted", given, table)?;
    let mut rows: Vec<usize> = (0..count).collect();
    if let Some(instants) = instants(&column) {
        check_count("submitted", instants.len(), count)?;
        rows.sort_by_key(|&row| (instants[row].is_none(), instants[row]));
        return Ok(rows);
    }
    let times = listed("submitted", &column, count)?;
    sort_by_time(&mut rows, &times)?;
    Ok(rows)
}

/// The times of an Arrow column as integers: Python's own times have no digits below a microsecond.
/// `None` for other columns.
fn instants(column: &Bound<'_, PyAny>) -> Option<Vec<Option<i64>>> {
    let data_type = ["dtype", "type"]
        .into_iter()
        .find_map(|name| column.getattr(name).ok())?
        .to_string();
    if !data_type.starts_with("Datetime")
        && !data_type.starts_with("datetime64")
        && !data_type.starts_with("timestamp")
    {
        return None;
    }
    let arrays = match column.hasattr("__arrow_c_array__") {
        Ok(true) => vec![capsule::import_array(column).ok()?],
        _ => capsule::import_stream(column).ok()?.1,
    };
    let mut instants = Vec::new();
    for array in &arrays {
        let DataType::Timestamp(..) = array.data_type() else {
            return None;
        };
        let integers = array
            .to_data()
            .into_builder()
            .data_type(DataType::Int64)
            .build()
            .ok()?;
        instants.extend(Int64Array::from(integers).iter());
    }
    Some(instants).filter(|_| !arrays.is_empty())
}

/// Sorts rows by numbers, times or texts that sort like them.
fn sort_by_time(rows: &mut [usize], times: &Bound<'_, PyList>) -> PyResult<()> {
    if let Ok(seconds) = times.extract::<Vec<i64>>() {
        rows.sort_by_key(|&row| seconds[row]);
        return Ok(());
    }
    let times: Vec<Bound<'_, PyAny>> = times.iter().collect();
    let missing: Vec<bool> = times.iter().map(is_missing).collect();
    let mut failed = None;
    merge_sort(
        rows,
        &mut |left: usize, right: usize| match (missing[left], missing[right]) {
            (false, false) => times[left].compare(&times[right]).unwrap_or_else(|error| {
                failed = Some(error);
                Ordering::Equal
            }),
            (left, right) => left.cmp(&right),
        },
    );
    failed.map_or(Ok(()), Err)
}

/// The values of a column that a caller gives by its name in a table, or as itself.
pub fn column_values<'py>(
    what: &str,
    given: &Bound<'py, PyAny>,
    table: &Bound<'py, PyAny>,
    rows: usize,
) -> PyResult<Bound<'py, PyList>> {
    listed(what, &given_column(what, given, table)?, rows)
}

fn given_column<'py>(
    what: &str,
    given: &Bound<'py, PyAny>,
    table: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let Ok(name) = given.cast::<PyString>() else {
        return Ok(given.clone());
    };
    table.get_item(name).map_err(|error| {
        // of a table that has columns but not this one, and of one whose columns cannot be asked
        // for
        let absent = PyKeyError::new_err(format!("`{what}`: the table has no column `{name}`"));
        absent.set_cause(given.py(), Some(error));
        absent
    })
}

fn listed<'py>(
    what: &str,
    column: &Bound<'py, PyAny>,
    rows: usize,
) -> PyResult<Bound<'py, PyList>> {
    let values = list_of(&format!("`{what}`: expected a column or its name"), column)?;
    check_count(what, values.len(), rows)?;
    Ok(values)
}

/// The values of any column as a list; the message is for what is none.
pub fn list_of<'py>(message: &str, column: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
    let listing = ["to_pylist", "to_list", "tolist"]
        .into_iter()
        .find(|name| column.hasattr(*name).unwrap_or(false));
    let values = match listing {
        Some(listing) => column.call_method0(listing)?,
        None => column.clone(),
    };
    let is_one = values.is_instance_of::<PyString>() || values.is_instance_of::<PyBool>();
    match values.try_iter() {
        Ok(values) if !is_one => PyList::new(column.py(), values.collect::<PyResult<Vec<_>>>()?),
        _ => Err(PyTypeError::new_err(message.to_owned())),
    }
}

fn check_count(what: &str, found: usize, rows: usize) -> PyResult<()> {
    if found == rows {
        Ok(())
    } else {
        Err(PyValueError::new_err(format!(
            "`{what}` has {}, the table has {rows}",
            counted(found, "row")
        )))
    }
}
