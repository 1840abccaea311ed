//! The documents that a caller gives: the path of a file, or what would be in it.

use std::path::PathBuf;

use jsf_site::FileSource;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;

use crate::site::file;

/// The document that a caller gives as a path, or as its content: bytes, a text of several lines,
/// or an open file. Messages say `name` where the content has none.
pub fn source(name: &str, given: &Bound<'_, PyAny>, expected: &str) -> PyResult<FileSource> {
    optional_source(name, given)?.ok_or_else(|| {
        let kind = given
            .get_type()
            .name()
            .map_or_else(|_| String::new(), |kind| kind.to_string());
        PyTypeError::new_err(format!("`{name}` is of type `{kind}`, expected {expected}"))
    })
}

/// The same; `None` for what is no document.
pub fn optional_source(name: &str, given: &Bound<'_, PyAny>) -> PyResult<Option<FileSource>> {
    if let Some(bytes) = bytes(given, is_content) {
        return Ok(Some(FileSource::Bytes {
            name: name.to_owned(),
            bytes: bytes.into(),
        }));
    }
    if let Ok(path) = given.extract::<PathBuf>() {
        return Ok(Some(FileSource::Path(file(path))));
    }
    if !given.hasattr("read")? {
        return Ok(None);
    }
    let name = given
        .getattr("name")
        .and_then(|name| name.extract())
        .unwrap_or_else(|_| name.to_owned());
    let read = bytes(&given.call_method0("read")?, |_| true);
    let bytes = read.ok_or_else(|| {
        PyTypeError::new_err(format!("`{name}`: the file gives neither bytes nor text"))
    })?;
    Ok(Some(FileSource::Bytes {
        name,
        bytes: bytes.into(),
    }))
}

/// The bytes of `bytes`, of a `bytearray`, or of a text that is content.
fn bytes(given: &Bound<'_, PyAny>, is_content: impl Fn(&str) -> bool) -> Option<Vec<u8>> {
    match given.extract::<String>() {
        Ok(text) => is_content(&text).then(|| text.into_bytes()),
        Err(_) => Some(given.extract::<PyBackedBytes>().ok()?.to_vec()),
    }
}

/// Whether a text is the content of a file rather than its path.
fn is_content(text: &str) -> bool {
    text.contains('\n')
}
