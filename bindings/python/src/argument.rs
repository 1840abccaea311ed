//! The numbers and words that a caller gives, refused by the name of their argument.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// A number.
pub fn number(what: &str, given: &Bound<'_, PyAny>) -> PyResult<f64> {
    if let Ok(number) = given.extract() {
        return Ok(number);
    }
    let given = match given.repr() {
        Ok(repr) => repr.to_string(),
        Err(_) => String::from("an object"),
    };
    Err(PyTypeError::new_err(format!(
        "{what} is {given}, expected a number"
    )))
}

/// The value that one of two words means.
pub fn one_of<T: Copy>(name: &str, given: &str, words: [(&str, T); 2]) -> PyResult<T> {
    for (word, meaning) in words {
        if word == given {
            return Ok(meaning);
        }
    }
    let [(first, _), (second, _)] = words;
    Err(PyValueError::new_err(format!(
        "{name} is `{given}`, expected `{first}` or `{second}`"
    )))
}

/// A number of things, in words.
pub fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}
