//! What the commands answer, as JSON and as Python's objects.

use std::collections::BTreeMap;

use jsf::answer::{Answer, write_json};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};
use serde_json::value::RawValue;

/// The JSON of an answer.
pub fn written(answer: &impl Answer, warnings: &[String]) -> PyResult<String> {
    let mut bytes = Vec::new();
    write_json(answer, warnings, &mut bytes)
        .map_err(|error| PyOSError::new_err(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The JSON of an answer without the list of jobs or nodes, which are columns.
pub fn without_rows(document: &str) -> PyResult<String> {
    let wrong = |error: serde_json::Error| PyValueError::new_err(error.to_string());
    let mut entries: BTreeMap<&str, &RawValue> = serde_json::from_str(document).map_err(wrong)?;
    entries.retain(|name, _| !["jobs", "nodes"].contains(name));
    serde_json::to_string(&entries).map_err(wrong)
}

/// A document in JSON as Python's objects.
pub fn json<'py>(py: Python<'py>, document: &str) -> PyResult<Bound<'py, PyAny>> {
    py.import("json")?.call_method1("loads", (document,))
}

/// A document in JSON as one of the classes of `results.py`, which may have other attributes too.
pub fn result<'py, const N: usize>(
    py: Python<'py>,
    class: &str,
    document: &str,
    attributes: [(&str, Bound<'py, PyAny>); N],
) -> PyResult<Bound<'py, PyAny>> {
    let attributes: Bound<'py, PyDict> = attributes.into_py_dict(py)?;
    let class = py.import("job_sort_formula")?.getattr(class)?;
    class.call_method("_of", (json(py, document)?,), Some(&attributes))
}
