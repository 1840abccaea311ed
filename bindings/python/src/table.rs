//! The columns of a `Table` as Arrow columns.

use std::sync::Arc;

use arrow_array::builder::{LargeStringBuilder, ListBuilder};
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray, RecordBatch,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::capsule;

/// The stream of Arrow that a dict of lists is: of integers, floats, truth values, texts, or lists
/// of texts, in which None is null.
#[pyfunction]
pub fn exported<'py>(columns: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyCapsule>> {
    let mut named = Vec::new();
    for (name, values) in columns {
        named.push((name.extract::<String>()?, array(&values)?, true));
    }
    let batch = RecordBatch::try_from_iter_with_nullable(named)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    capsule::export_stream(columns.py(), &batch)
}

fn array(values: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let mut is_unknown = true;
    for value in values.try_iter()? {
        is_unknown &= value?.is_none();
    }
    if is_unknown {
        return Ok(Arc::new(LargeStringArray::new_null(values.len()?)));
    }
    if let Ok(truths) = values.extract::<Vec<Option<bool>>>() {
        return Ok(Arc::new(BooleanArray::from(truths)));
    }
    if let Ok(integers) = values.extract::<Vec<Option<i64>>>() {
        return Ok(Arc::new(Int64Array::from(integers)));
    }
    if let Ok(floats) = values.extract::<Vec<Option<f64>>>() {
        return Ok(Arc::new(Float64Array::from(floats)));
    }
    if let Ok(paths) = values.extract::<Vec<Vec<String>>>() {
        let mut lists = ListBuilder::new(LargeStringBuilder::new());
        for path in paths {
            lists.append_value(path.into_iter().map(Some));
        }
        return Ok(Arc::new(lists.finish()));
    }
    let texts: Vec<Option<String>> = values.extract()?;
    Ok(Arc::new(LargeStringArray::from(texts)))
}
