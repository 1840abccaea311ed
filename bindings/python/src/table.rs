//! `Table`: what a site answers for many jobs or nodes, as Arrow columns.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::builder::{LargeStringBuilder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray, RecordBatch,
    StructArray,
};
use arrow_schema::{DataType, Field, Schema};
use job_sort_formula::Value;
use job_sort_formula::diagnostic::Message;
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyInt, PyIterator, PyList};
use serde_json::value::RawValue;

use crate::answer::{json, without_rows};
use crate::argument::counted;
use crate::capsule::{self, ArrayCapsules};
use crate::column::{Input, Inputs};
use crate::need::in_python;

/// A table of jobs or of nodes: its columns by their names, as those of a data frame, so that
/// `len(table)` is the number of rows. It exports Arrow: `pyarrow.table(x)`, `polars.DataFrame(x)`.
/// `x.to_pandas()` keeps integers with None.
#[pyclass(frozen, module = "job_sort_formula")]
pub struct Table {
    batch: RecordBatch,
    #[pyo3(get)]
    warnings: Vec<String>,
    /// The JSON of the command.
    document: String,
    /// By the name of a column of floats: the rows whose number is an integer, as it reaches the
    /// formula.
    integers: BTreeMap<String, Vec<bool>>,
}

/// What the cells of a column are.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    Integer,
    /// In JSON, a number that is not finite is a text.
    Float,
    /// An error is the text of its `message`.
    Text,
    Truth,
    Texts,
}

/// A row of an answer, which is read cell by cell.
type Row<'a> = BTreeMap<&'a str, &'a RawValue>;

/// The columns of a table while it is made.
#[derive(Default)]
pub struct TableBuilder {
    fields: Vec<Field>,
    columns: Vec<ArrayRef>,
    integers: BTreeMap<String, Vec<bool>>,
}

impl TableBuilder {
    fn push(&mut self, name: &str, column: ArrayRef) {
        self.fields
            .push(Field::new(name, column.data_type().clone(), true));
        self.columns.push(column);
    }

    /// Adds a column of texts.
    pub fn texts<T: AsRef<str>>(
        &mut self,
        name: &str,
        values: impl IntoIterator<Item = Option<T>>,
    ) {
        self.push(
            name,
            Arc::new(values.into_iter().collect::<LargeStringArray>()),
        );
    }

    /// Adds a column of integers.
    pub fn integers(&mut self, name: &str, values: impl IntoIterator<Item = Option<i64>>) {
        self.push(name, Arc::new(values.into_iter().collect::<Int64Array>()));
    }

    /// Adds a column of floats.
    pub fn floats(&mut self, name: &str, values: impl IntoIterator<Item = Option<f64>>) {
        self.push(name, Arc::new(values.into_iter().collect::<Float64Array>()));
    }

    /// Adds a column of truth values.
    pub fn truths(&mut self, name: &str, values: impl IntoIterator<Item = bool>) {
        self.push(
            name,
            Arc::new(values.into_iter().map(Some).collect::<BooleanArray>()),
        );
    }

    /// Adds a column of lists of texts.
    pub fn paths<T: AsRef<str>>(&mut self, name: &str, values: impl IntoIterator<Item = Vec<T>>) {
        let mut lists = ListBuilder::new(LargeStringBuilder::new());
        values
            .into_iter()
            .for_each(|path| lists.append_value(path.into_iter().map(Some)));
        self.push(name, Arc::new(lists.finish()));
    }

    /// Adds a column of inputs: integers if all of them are, else floats, of which is kept which
    /// are integers.
    pub fn values(&mut self, name: &str, values: &[Option<Value>]) {
        let integer = |value: &Value| match value {
            Value::Int(integer) => Some(*integer),
            _ => None,
        };
        if values
            .iter()
            .flatten()
            .all(|value| integer(value).is_some())
        {
            self.integers(
                name,
                values.iter().map(|value| value.as_ref().and_then(integer)),
            );
            return;
        }
        let is_int = |value: &Option<Value>| matches!(value, Some(Value::Int(_) | Value::Big(_)));
        if values.iter().any(is_int) {
            self.integers
                .insert(name.to_owned(), values.iter().map(is_int).collect());
        }
        self.floats(
            name,
            values
                .iter()
                .map(|value| value.as_ref().and_then(Value::to_f64)),
        );
    }

    pub fn finish<'m>(
        self,
        warnings: impl IntoIterator<Item = &'m Message>,
        document: String,
    ) -> PyResult<Table> {
        let schema = Arc::new(Schema::new(self.fields));
        let batch = RecordBatch::try_new(schema, self.columns);
        let batch = batch.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let warnings = warnings
            .into_iter()
            .map(|warning| warning.worded(in_python))
            .collect();
        Ok(Table {
            batch,
            warnings,
            document,
            integers: self.integers,
        })
    }
}

impl Table {
    /// The rows of an answer: those of these columns that its first row has.
    pub fn of_answer(document: &str, rows: &str, columns: &[(&str, Kind)]) -> PyResult<Self> {
        read_answer(document, rows, columns)
            .map_err(|error| PyValueError::new_err(error.to_string()))?
    }

    pub fn with_warnings(self, warnings: Vec<String>) -> Self {
        Self { warnings, ..self }
    }

    /// The columns that a formula reads, and the number of rows.
    pub fn inputs(
        &self,
        reads: impl Fn(&str) -> PyResult<bool>,
    ) -> PyResult<(Inputs, Option<usize>)> {
        let mut inputs = Vec::new();
        for (name, column) in self.column_names().into_iter().zip(self.batch.columns()) {
            if reads(&name)? {
                let input = match self.integers.get(&name) {
                    Some(is_int) => Input::mixed(column.as_primitive(), is_int),
                    None => Input::from_arrays(&name, std::slice::from_ref(column))?,
                };
                inputs.push((name, input));
            }
        }
        Ok((inputs, Some(self.batch.num_rows())))
    }

    /// A column as a list, in which integers among floats are integers.
    fn list<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyList>> {
        let values = list(py, self.batch.column(index))?;
        let Some(is_int) = self.integers.get(self.batch.schema().field(index).name()) else {
            return Ok(values);
        };
        let int = py.get_type::<PyInt>();
        for row in (0..values.len()).filter(|&row| is_int[row]) {
            values.set_item(row, int.call1((values.get_item(row)?,))?)?;
        }
        Ok(values)
    }

    fn position(&self, name: &str) -> PyResult<usize> {
        self.batch
            .schema()
            .index_of(name)
            .map_err(|_| PyKeyError::new_err(name.to_owned()))
    }
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch
            .schema()
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    }

    /// What is not a row, as a dict: the formula and the summary of a ranking, what changes in a
    /// comparison, the policy of shares.
    #[getter]
    fn document<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        Ok(json(py, &without_rows(&self.document)?)?.cast_into()?)
    }

    /// The names of the columns.
    fn keys(&self) -> Vec<String> {
        self.column_names()
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> bool {
        name.extract::<String>()
            .is_ok_and(|name| self.position(&name).is_ok())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.column_names())?.try_iter()
    }

    /// A data frame of pandas, in which integers with None are `Int64`.
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let pandas = py.import("pandas")?;
        let columns = PyDict::new(py);
        for (name, column) in self.column_names().iter().zip(self.batch.columns()) {
            let dtype = match column.data_type() {
                DataType::Int64 if column.null_count() > 0 => "Int64",
                DataType::Int64 => "int64",
                DataType::Float64 => "float64",
                DataType::Boolean => "bool",
                _ => "object",
            };
            columns.set_item(
                name,
                pandas.call_method1("Series", (list(py, column)?, py.None(), dtype))?,
            )?;
        }
        pandas.call_method1("DataFrame", (columns,))
    }

    /// Refuses what `pandas.DataFrame(table)` asks for, which would else take the names of the
    /// columns for rows.
    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__(
        &self,
        dtype: Option<&Bound<'_, PyAny>>,
        copy: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        _ = (dtype, copy);
        Err(PyTypeError::new_err(
            "a table is no array: give its `to_pandas()`, or one of its columns",
        ))
    }

    /// A column as a list.
    fn __getitem__<'py>(&self, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let Ok(text) = name.extract::<String>() else {
            let message = "expected the name of a column; `to_pylist()` gives the rows";
            return Err(PyTypeError::new_err(message));
        };
        self.list(name.py(), self.position(&text)?)
    }

    /// The rows as dicts.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let rows = PyList::empty(py);
        let columns = self.to_pydict(py)?;
        for row in 0..self.batch.num_rows() {
            let cells = PyDict::new(py);
            columns
                .iter()
                .try_for_each(|(name, values)| cells.set_item(name, values.get_item(row)?))?;
            rows.append(cells)?;
        }
        Ok(rows)
    }

    /// The columns as lists.
    fn to_pydict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (index, name) in self.column_names().into_iter().enumerate() {
            columns.set_item(name, self.list(py, index)?)?;
        }
        Ok(columns)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<ArrayCapsules<'py>> {
        _ = requested_schema;
        capsule::export_array(py, &StructArray::from(self.batch.clone()))
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        _ = requested_schema;
        capsule::export_stream(py, &self.batch)
    }

    /// Whether the other table has the same columns.
    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other
            .cast::<Self>()
            .is_ok_and(|other| self.batch == other.get().batch)
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        format!(
            "<{}: {}>",
            counted(self.batch.num_rows(), "row"),
            self.column_names().join(", ")
        )
    }
}

fn read_answer(
    document: &str,
    rows: &str,
    columns: &[(&str, Kind)],
) -> serde_json::Result<PyResult<Table>> {
    let mut members: Row<'_> = serde_json::from_str(document)?;
    let rows: Vec<Row<'_>> = members
        .get(rows)
        .map_or_else(|| Ok(Vec::new()), |rows| serde_json::from_str(rows.get()))?;
    let warnings: Option<Vec<String>> = members
        .remove("warnings")
        .map(|all| serde_json::from_str(all.get()))
        .transpose()?;
    let mut table = TableBuilder::default();
    for &(name, kind) in columns
        .iter()
        .filter(|(name, _)| rows.first().is_none_or(|row| row.contains_key(name)))
    {
        match kind {
            Kind::Integer => table.integers(name, cells(&rows, name, serde_json::Value::as_i64)?),
            Kind::Float => table.floats(name, cells(&rows, name, float)?),
            Kind::Text => table.texts(name, cells(&rows, name, text)?),
            Kind::Truth => table.truths(
                name,
                cells(&rows, name, serde_json::Value::as_bool)?
                    .into_iter()
                    .flatten(),
            ),
            Kind::Texts => {
                let lists = cells(&rows, name, |value| {
                    serde_json::from_value(value.clone()).ok()
                })?;
                table.paths(
                    name,
                    lists
                        .into_iter()
                        .map(Option::<Vec<String>>::unwrap_or_default),
                );
            }
        }
    }
    let document = serde_json::to_string(&members)?;
    Ok(table
        .finish(&[], document)
        .map(|table| table.with_warnings(warnings.unwrap_or_default())))
}

/// The cells of a column; a null or something else than the column has is none.
fn cells<T>(
    rows: &[Row<'_>],
    name: &str,
    read: impl Fn(&serde_json::Value) -> Option<T>,
) -> serde_json::Result<Vec<Option<T>>> {
    let cell = |row: &Row<'_>| {
        let Some(cell) = row.get(name) else {
            return Ok(None);
        };
        Ok(read(&serde_json::from_str(cell.get())?))
    };
    rows.iter().map(cell).collect()
}

fn float(value: &serde_json::Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

fn text(value: &serde_json::Value) -> Option<String> {
    value
        .get("message")
        .unwrap_or(value)
        .as_str()
        .map(str::to_owned)
}

/// A column as a list of Python objects.
fn list<'py>(py: Python<'py>, column: &ArrayRef) -> PyResult<Bound<'py, PyList>> {
    match column.data_type() {
        DataType::Int64 => PyList::new(
            py,
            column
                .as_primitive::<Int64Type>()
                .iter()
                .collect::<Vec<_>>(),
        ),
        DataType::Float64 => PyList::new(
            py,
            column
                .as_primitive::<Float64Type>()
                .iter()
                .collect::<Vec<_>>(),
        ),
        DataType::Boolean => PyList::new(py, column.as_boolean().iter().collect::<Vec<_>>()),
        DataType::List(_) => {
            let lists = column
                .as_list::<i32>()
                .iter()
                .map(|path| path.map(|path| list(py, &path)).transpose());
            PyList::new(py, lists.collect::<PyResult<Vec<_>>>()?)
        }
        _ => PyList::new(py, column.as_string::<i64>().iter().collect::<Vec<_>>()),
    }
}
