//! `Table`: what a site answers for many jobs or nodes, as Arrow columns.

use std::sync::Arc;

use arrow_array::builder::{LargeStringBuilder, ListBuilder};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray, RecordBatch, StructArray,
};
use arrow_schema::{DataType, Field, Schema};
use job_sort_formula::Value;
use job_sort_formula::diagnostic::Message;
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyList};

use crate::capsule::{self, ArrayCapsules};
use crate::need::in_python;
use crate::site::json;

/// A table of jobs or of nodes, which exports Arrow: `pyarrow.table(x)`, `polars.DataFrame(x)`. pandas makes floats of
/// integers with None unless told: `pandas.DataFrame(x.to_pydict()).astype({"rank": "Int64"})`.
#[pyclass(frozen, subclass, module = "job_sort_formula")]
pub struct Table {
    batch: RecordBatch,
    warnings: Vec<String>,
    /// The JSON of the command, whose list of rows is empty.
    document: String,
}

/// The columns of a table while it is made.
#[derive(Default)]
pub struct TableBuilder {
    fields: Vec<Field>,
    columns: Vec<ArrayRef>,
}

impl TableBuilder {
    fn push(&mut self, name: &str, column: ArrayRef) {
        self.fields.push(Field::new(name, column.data_type().clone(), true));
        self.columns.push(column);
    }

    /// Adds a column of texts.
    pub fn texts<T: AsRef<str>>(&mut self, name: &str, values: impl IntoIterator<Item = Option<T>>) {
        self.push(name, Arc::new(values.into_iter().collect::<LargeStringArray>()));
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
        self.push(name, Arc::new(values.into_iter().map(Some).collect::<BooleanArray>()));
    }

    /// Adds a column of lists of texts.
    pub fn paths<'a>(&mut self, name: &str, values: impl IntoIterator<Item = Vec<&'a str>>) {
        let mut lists = ListBuilder::new(LargeStringBuilder::new());
        values.into_iter().for_each(|path| lists.append_value(path.into_iter().map(Some)));
        self.push(name, Arc::new(lists.finish()));
    }

    /// Adds a column of inputs: integers if all of them are, else floats.
    pub fn values(&mut self, name: &str, values: &[Option<Value>]) {
        let integer = |value: &Value| match value {
            Value::Int(integer) => Some(*integer),
            _ => None,
        };
        if values.iter().flatten().all(|value| integer(value).is_some()) {
            self.integers(name, values.iter().map(|value| value.as_ref().and_then(integer)));
        } else {
            self.floats(name, values.iter().map(|value| value.as_ref().and_then(Value::to_f64)));
        }
    }

    pub fn finish<'m>(self, warnings: impl IntoIterator<Item = &'m Message>, document: String) -> PyResult<Table> {
        let schema = Arc::new(Schema::new(self.fields));
        let batch = RecordBatch::try_new(schema, self.columns);
        let batch = batch.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let warnings = warnings.into_iter().map(|warning| warning.worded(in_python)).collect();
        Ok(Table { batch, warnings, document })
    }
}

impl Table {
    fn position(&self, name: &str) -> PyResult<usize> {
        self.batch.schema().index_of(name).map_err(|_| PyKeyError::new_err(name.to_owned()))
    }
}

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// What is doubtful about the files that were read and about the formulas, one sentence each.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    /// What is not a row, as a dict: the formula and the summary of a ranking, what changes in a comparison, the policy
    /// of shares.
    #[getter]
    fn document<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let document = json(py, &self.document)?.cast_into::<PyDict>()?;
        for rows in ["jobs", "nodes"] {
            document.call_method1("pop", (rows, py.None()))?;
        }
        Ok(document)
    }

    /// A column as a list.
    fn __getitem__<'py>(&self, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyList>> {
        let Ok(text) = name.extract::<String>() else {
            let message = "expected the name of a column; `to_pylist()` gives the rows";
            return Err(PyTypeError::new_err(message));
        };
        list(name.py(), self.batch.column(self.position(&text)?))
    }

    /// The rows as dicts.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let (names, rows) = (self.column_names(), PyList::empty(py));
        let columns = self.batch.columns().iter().map(|column| list(py, column)).collect::<PyResult<Vec<_>>>()?;
        for row in 0..self.batch.num_rows() {
            let cells = PyDict::new(py);
            names.iter().zip(&columns).try_for_each(|(name, column)| cells.set_item(name, column.get_item(row)?))?;
            rows.append(cells)?;
        }
        Ok(rows)
    }

    /// The columns as lists.
    fn to_pydict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for (name, column) in self.column_names().iter().zip(self.batch.columns()) {
            columns.set_item(name, list(py, column)?)?;
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

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        format!("<{} rows: {}>", self.batch.num_rows(), self.column_names().join(", "))
    }
}

/// A column as a list of Python objects.
fn list<'py>(py: Python<'py>, column: &ArrayRef) -> PyResult<Bound<'py, PyList>> {
    match column.data_type() {
        DataType::Int64 => PyList::new(py, column.as_primitive::<Int64Type>().iter().collect::<Vec<_>>()),
        DataType::Float64 => PyList::new(py, column.as_primitive::<Float64Type>().iter().collect::<Vec<_>>()),
        DataType::Boolean => PyList::new(py, column.as_boolean().iter().collect::<Vec<_>>()),
        DataType::List(_) => {
            let lists = column.as_list::<i32>().iter().map(|path| path.map(|path| list(py, &path)).transpose());
            PyList::new(py, lists.collect::<PyResult<Vec<_>>>()?)
        }
        _ => PyList::new(py, column.as_string::<i64>().iter().collect::<Vec<_>>()),
    }
}
