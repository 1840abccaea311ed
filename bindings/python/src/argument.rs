//! The numbers and texts that a caller gives, refused by the name of their argument.

use std::fmt::Display;
use std::ops::RangeInclusive;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// A whole number that is in a range.
pub fn whole<T>(name: &str, given: i128, range: &RangeInclusive<T>) -> PyResult<T>
where
    T: TryFrom<i128> + PartialOrd + Display,
{
    let refused = || {
        let (least, most) = (range.start(), range.end());
        PyValueError::new_err(format!("`{name}` is {given}, expected a whole number from {least} to {most}"))
    };
    T::try_from(given).ok().filter(|number| range.contains(number)).ok_or_else(refused)
}

/// A number of rows.
pub fn row_count(name: &str, given: i128) -> PyResult<usize> {
    usize::try_from(given).map_err(|_| PyValueError::new_err(format!("{name} is {given}, expected 0 or more")))
}

/// A number; `what` is the argument, or a row of it.
pub fn number(what: impl Display, given: &Bound<'_, PyAny>) -> PyResult<f64> {
    given.extract().map_err(|_| wrong(what, given, "a number"))
}

/// A text; `what` is the argument, or a row of it.
pub fn text(what: impl Display, given: &Bound<'_, PyAny>) -> PyResult<String> {
    given.extract().map_err(|_| wrong(what, given, "a str"))
}

/// The numbers in a column or a list.
pub fn numbers<'py>(name: &str, given: impl IntoIterator<Item = Bound<'py, PyAny>>) -> PyResult<Vec<f64>> {
    let rows = given.into_iter().enumerate();
    rows.map(|(row, given)| number(format_args!("row {row} of `{name}`"), &given)).collect()
}

/// The texts in a column or a list.
pub fn texts<'py>(name: &str, given: impl IntoIterator<Item = Bound<'py, PyAny>>) -> PyResult<Vec<String>> {
    let rows = given.into_iter().enumerate();
    rows.map(|(row, given)| text(format_args!("row {row} of `{name}`"), &given)).collect()
}

fn wrong(what: impl Display, given: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let given = given.repr().map_or_else(|_| String::from("an object"), |given| given.to_string());
    PyTypeError::new_err(format!("{what} is {given}, expected {expected}"))
}

/// A number of things, in words.
pub fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}
