//! Scores columns: the rows in equal parts, on as many threads as the caller allows; and `Scores`: what
//! that returns.

use arrow_array::{Array, Float64Array};
use arrow_buffer::{BooleanBufferBuilder, NullBuffer};
use job_sort_formula::rank::{ColumnError, ColumnScratch, OnError, QueueWork, ScoreError};
use job_sort_formula::{Program, Threads, parallel};
use jsf_openpbs::amounts::logged;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyList};

use crate::arrow_and_numpy::{self, ArrayCapsules};
use crate::exceptions::characters;
use crate::imported_columns::Input;

/// The scores of jobs, as 64-bit floats. A job with a null among its inputs has null, and so has
/// one for which the formula raises an error; `errors` says why.
#[pyclass(frozen, module = "job_sort_formula")]
pub struct Scores {
    array: Float64Array,
    /// The jobs for which the formula raises an error, by row.
    #[pyo3(get)]
    errors: Vec<RowError>,
}

/// Why a job has no score.
#[pyclass(frozen, eq, get_all, from_py_object, module = "job_sort_formula")]
#[derive(Clone, PartialEq)]
pub struct RowError {
    /// The row, from 0.
    row: usize,
    /// What Python's exception says.
    message: String,
    /// The kind of error, such as `division by zero`.
    kind: String,
    /// The part of the formula that fails, in characters: `text[span[0]:span[1]]`.
    span: (usize, usize),
}

#[pymethods]
impl RowError {
    #[new]
    fn new(row: usize, message: String, kind: String, span: (usize, usize)) -> Self {
        Self {
            row,
            message,
            kind,
            span,
        }
    }

    fn __getnewargs__(&self) -> (usize, &str, &str, (usize, usize)) {
        (self.row, &self.message, &self.kind, self.span)
    }

    fn __repr__(&self) -> String {
        let Self {
            row,
            message,
            span: (start, end),
            ..
        } = self;
        format!("RowError(row={row}, message={message:?}, span=({start}, {end}))")
    }
}

impl Scores {
    /// The scores of the rows; `formula` is the text in which the errors have their places.
    pub fn new(formula: &str, mut scores: Vec<f64>, unscored: UnscoredRows) -> Self {
        let UnscoredRows { errors, null_rows } = unscored;
        let mut nulls = None;
        if !errors.is_empty() || !null_rows.is_empty() {
            let mut valid = BooleanBufferBuilder::new(scores.len());
            valid.append_n(scores.len(), true);
            let failed = errors.iter().map(|(row, _)| *row);
            for row in failed.chain(null_rows) {
                valid.set_bit(row, false);
                // for numpy, which has no null
                scores[row] = f64::NAN;
            }
            nulls = Some(NullBuffer::new(valid.finish()));
        }
        let mut row_errors = Vec::with_capacity(errors.len());
        for (row, error) in errors {
            row_errors.push(RowError {
                row,
                message: error.to_string(),
                kind: error.kind().description().to_owned(),
                span: characters(formula, error.span()),
            });
        }
        Self {
            array: Float64Array::new(scores.into(), nulls),
            errors: row_errors,
        }
    }
}

#[pymethods]
impl Scores {
    /// For pickles: the scores, in which None is null, and the errors.
    #[new]
    fn unpickled(scores: Vec<Option<f64>>, errors: Vec<RowError>) -> Self {
        let nulls = NullBuffer::from_iter(scores.iter().map(Option::is_some));
        let scores = scores.into_iter();
        let values: Vec<f64> = scores.map(|score| score.unwrap_or(f64::NAN)).collect();
        Self {
            array: Float64Array::new(values.into(), Some(nulls)),
            errors,
        }
    }

    fn __getnewargs__(&self) -> (Vec<Option<f64>>, Vec<RowError>) {
        (self.to_pylist(), self.errors.clone())
    }

    /// The number of jobs for which the formula raises an error.
    #[getter]
    fn error_count(&self) -> usize {
        self.errors.len()
    }

    /// The number of nulls, with those of the errors.
    #[getter]
    fn null_count(&self) -> usize {
        self.array.null_count()
    }

    /// A read-only array of numpy on the same memory, with NaN for null.
    fn to_numpy<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("numpy")?.call_method1("asarray", (slf,))
    }

    /// The scores as floats, with None for null.
    fn to_pylist(&self) -> Vec<Option<f64>> {
        self.array.iter().collect()
    }

    /// The scores as OpenPBS's scheduler logs them: rounded to its `float`, with None for null.
    fn logged(&self) -> Vec<Option<String>> {
        self.array.iter().map(|score| score.map(logged)).collect()
    }

    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let interface = PyDict::new(py);
        let code = if cfg!(target_endian = "little") {
            "<f8"
        } else {
            ">f8"
        };
        interface.set_item("version", 3)?;
        interface.set_item("typestr", code)?;
        interface.set_item("shape", (self.array.len(),))?;
        // read-only, as Arrow shares the memory
        interface.set_item("data", (self.array.values().as_ptr().addr(), true))?;
        Ok(interface)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<ArrayCapsules<'py>> {
        // the interface allows to ignore the wish
        _ = requested_schema;
        arrow_and_numpy::export_array(py, &self.array)
    }

    fn __len__(&self) -> usize {
        self.array.len()
    }

    fn __getitem__(&self, row: isize) -> PyResult<Option<f64>> {
        let from_start = if row < 0 {
            self.array.len().checked_add_signed(row)
        } else {
            Some(row as usize)
        };
        match from_start.filter(|&row| row < self.array.len()) {
            Some(row) => Ok(self.array.is_valid(row).then(|| self.array.value(row))),
            None => Err(PyIndexError::new_err(format!(
                "there is no row {row}: there are {} scores",
                self.array.len()
            ))),
        }
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.to_pylist())?.try_iter()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let first: Vec<_> = self.array.iter().take(5).collect();
        let mut first = PyList::new(py, first)?.repr()?.to_string();
        if self.array.len() > 5 {
            first = first.replace(']', ", …]");
        }
        let (rows, errors) = (self.array.len(), self.error_count());
        Ok(format!(
            "Scores({first}, rows={rows}, nulls={}, errors={errors})",
            self.array.null_count()
        ))
    }
}

/// Fewer rows than this are not worth a thread.
const LEAST_ROWS: usize = 1 << 16;
/// The most threads that are started.
const MAX_THREADS: usize = 256;

/// What a part of the rows gives besides its scores.
#[derive(Default)]
pub struct UnscoredRows {
    /// The rows with an error, ascending.
    pub errors: Vec<(usize, ScoreError)>,
    /// The rows with a null among their inputs, ascending.
    pub null_rows: Vec<usize>,
}

/// The number of rows of the columns of a program: that of the table, if there is one, and 1 if
/// every input is the same for every job.
///
/// # Errors
/// The columns are not those that the program reads, or differ in their numbers of rows.
pub fn count_rows(
    program: &Program,
    inputs: &[(String, Input)],
    mut rows: Option<usize>,
) -> Result<usize, ColumnError> {
    // without rows nothing is computed, but the names of the columns are checked
    score_part(program, inputs, 0, &mut [], &QueueWork::default())?;
    for (name, input) in inputs {
        if let Input::Column(column) = input {
            let (found, expected) = (column.rows(), *rows.get_or_insert(column.rows()));
            if found != expected {
                return Err(ColumnError::Length {
                    name: name.clone(),
                    found,
                    expected,
                });
            }
        }
    }
    Ok(rows.unwrap_or(1))
}

/// Writes the scores of all rows, which [`count_rows`] has counted.
pub fn score(
    program: &Program,
    inputs: &[(String, Input)],
    scores: &mut [f64],
    threads: usize,
) -> Result<UnscoredRows, ColumnError> {
    let threads = threads.min(MAX_THREADS).min(scores.len() / LEAST_ROWS);
    if threads > 1 {
        let work = QueueWork::default();
        let rows = scores.len().div_ceil(threads);
        let parts = scores.chunks_mut(rows).enumerate().collect();
        let score_part = |(index, scores): (usize, &mut [f64])| {
            score_part(program, inputs, index * rows, scores, &work)
        };
        let mut all = UnscoredRows::default();
        for part in Threads::new(threads).run(|| parallel::map(parts, score_part)) {
            let mut part = part?;
            all.errors.append(&mut part.errors);
            all.null_rows.append(&mut part.null_rows);
        }
        // else which jobs fail would depend on the number of threads: one does all again
        if !work.is_beyond_the_budget() {
            return Ok(all);
        }
    }
    score_part(program, inputs, 0, scores, &QueueWork::default())
}

/// Writes the scores of consecutive rows.
fn score_part(
    program: &Program,
    inputs: &[(String, Input)],
    first: usize,
    scores: &mut [f64],
    queue: &QueueWork,
) -> Result<UnscoredRows, ColumnError> {
    let rows = first..first + scores.len();
    let (mut columns, mut nulls) = (Vec::new(), Vec::new());
    for (name, input) in inputs {
        columns.push((name.as_str(), input.slice(rows.clone())));
        if let Input::Column(column) = input {
            nulls.extend(column.nulls());
        }
    }
    let mut outcome = UnscoredRows::default();
    program.score_columns_within(
        queue,
        &columns,
        OnError::ZeroLikePbs,
        &mut ColumnScratch::new(),
        scores,
        &mut outcome.errors,
    )?;
    for (row, _) in &mut outcome.errors {
        *row += first;
    }
    if !nulls.is_empty() {
        let is_null = |row: &usize| nulls.iter().any(|nulls| nulls.is_null(*row));
        // in the place of a null 0 was evaluated, which may have failed
        outcome.errors.retain(|(row, _)| !is_null(row));
        outcome.null_rows.extend(rows.filter(is_null));
    }
    Ok(outcome)
}
