//! The goals and wishes that a caller gives.

use jsf_simulate::{Goals, MAX_GOALS_BYTES};
use jsf_site::{FileSource, Site};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyMapping};
use serde_json::Value;

use crate::error::site_error;
use crate::source::source;

/// The goals by which simulations are judged: a document in TOML, or a dict with what it would say.
pub fn read_goals(given: &Bound<'_, PyAny>, site: &Site) -> PyResult<Goals> {
    let name = "goals";
    let (name, text) = match given.cast::<PyMapping>() {
        Ok(goals) => (name.to_owned(), document(goals)?),
        Err(_) => read_text(
            source(name, given, "a path, a dict, a text, bytes or an open file")?,
            MAX_GOALS_BYTES,
        )?,
    };
    Goals::parse(&name, &text, site.schema())
        .map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The name of a document and its text.
pub fn read_text(source: FileSource, max_bytes: usize) -> PyResult<(String, String)> {
    let bytes = source
        .read_up_to(max_bytes as u64)
        .map_err(|error| site_error(&error))?;
    let name = source.name();
    let text = String::from_utf8(bytes)
        .map_err(|_| PyValueError::new_err(format!("`{name}` is not UTF-8 text")))?;
    Ok((name, text))
}

/// A dict as TOML, an entry a line.
fn document(goals: &Bound<'_, PyMapping>) -> PyResult<String> {
    let py = goals.py();
    let entries = py.get_type::<pyo3::types::PyDict>().call1((goals,))?;
    let finite = [("allow_nan", false)].into_py_dict(py)?;
    let json = py.import("json")?.call_method("dumps", (entries,), Some(&finite)).map_err(|error| {
        let expected =
            "expected texts, finite numbers, truth values, lists and dicts; a duration is a text such as \"4h\"";
        let message = format!("`goals`: {expected}");
        let refused = if error.is_instance_of::<PyTypeError>(py) {
            PyTypeError::new_err(message)
        } else {
            PyValueError::new_err(message)
        };
        refused.set_cause(py, Some(error));
        refused
    })?;
    let json: String = json.extract()?;
    let wrong = |error: serde_json::Error| PyValueError::new_err(format!("`goals`: {error}"));
    let entries: serde_json::Map<String, Value> = serde_json::from_str(&json).map_err(wrong)?;
    Ok(entries
        .iter()
        .map(|(key, value)| format!("{} = {}\n", Value::from(&**key), toml(value)))
        .collect())
}

/// A value as TOML, whose texts and numbers are those of JSON.
fn toml(value: &Value) -> String {
    match value {
        Value::Array(items) => format!(
            "[{}]",
            items.iter().map(toml).collect::<Vec<_>>().join(",\n")
        ),
        Value::Object(entries) => {
            let entries = entries
                .iter()
                .map(|(key, value)| format!("{} = {}", Value::from(&**key), toml(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}
