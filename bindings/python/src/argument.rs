//! The numbers and texts that a caller gives, refused by the name of their argument.

use std::fmt::Display;
use std::ops::RangeInclusive;

use jsf_openpbs::duration_notation::parse_duration;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::ranked::list_of;

/// A whole number that is in a range.
pub fn whole<T>(name: &str, given: i128, range: &RangeInclusive<T>) -> PyResult<T>
where
    T: TryFrom<i128> + PartialOrd + Display,
{
    let refused = || {
        let (least, most) = (range.start(), range.end());
        PyValueError::new_err(format!(
            "`{name}` is {given}, expected a whole number from {least} to {most}"
        ))
    };
    T::try_from(given)
        .ok()
        .filter(|number| range.contains(number))
        .ok_or_else(refused)
}

/// A number of rows.
pub fn row_count(name: &str, given: i128) -> PyResult<usize> {
    usize::try_from(given)
        .map_err(|_| PyValueError::new_err(format!("{name} is {given}, expected 0 or more")))
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
pub fn numbers<'py>(
    name: &str,
    given: impl IntoIterator<Item = Bound<'py, PyAny>>,
) -> PyResult<Vec<f64>> {
    let rows = given.into_iter().enumerate();
    rows.map(|(row, given)| number(format_args!("row {row} of `{name}`"), &given))
        .collect()
}

/// The texts in a column or a list.
pub fn row_texts<'py>(
    name: &str,
    given: impl IntoIterator<Item = Bound<'py, PyAny>>,
) -> PyResult<Vec<String>> {
    let rows = given.into_iter().enumerate();
    rows.map(|(row, given)| text(format_args!("row {row} of `{name}`"), &given))
        .collect()
}

/// One text, or those of a column or of anything else that can be iterated.
pub fn texts(name: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if given.is_instance_of::<PyString>() {
        return Ok(vec![given.extract()?]);
    }
    row_texts(
        name,
        list_of(&format!("`{name}`: expected a str, or several"), given)?,
    )
}

/// The value that one of several words means.
pub fn one_of<T: Copy>(name: &str, given: &str, words: &[(&str, T)]) -> PyResult<T> {
    let found = words
        .iter()
        .find(|(word, _)| *word == given)
        .map(|(_, meaning)| *meaning);
    found.ok_or_else(|| {
        let quoted: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        let (last, others) = quoted
            .split_last()
            .map_or(("", &[][..]), |(last, others)| (last.as_str(), others));
        PyValueError::new_err(format!(
            "{name} is `{given}`, expected {} or {last}",
            others.join(", ")
        ))
    })
}

/// A duration: a number of seconds, a text such as `24h`, or a `timedelta`.
pub fn seconds(name: &str, given: &Bound<'_, PyAny>) -> PyResult<u64> {
    if let Ok(text) = given.cast::<PyString>() {
        return parse_duration(&text.extract::<String>()?)
            .map_err(|error| PyValueError::new_err(format!("`{name}`: {error}")));
    }
    let whole = if given.hasattr("total_seconds")? {
        given.floor_div(
            given
                .py()
                .import("datetime")?
                .getattr("timedelta")?
                .call1((0, 1))?,
        )?
    } else {
        given.clone()
    };
    whole.extract::<u64>().map_err(|error| {
        if error.is_instance_of::<PyTypeError>(given.py()) {
            PyTypeError::new_err(format!(
                "`{name}` is {given}, expected seconds or a duration such as \"24h\""
            ))
        } else {
            PyValueError::new_err(format!("`{name}` is {given}, expected seconds, 0 or more"))
        }
    })
}

/// The keyword arguments of a call that several calls share, each of which is taken once. One that
/// is None is not given.
pub struct Keywords<'py>(Bound<'py, PyDict>);

impl<'py> Keywords<'py> {
    pub fn new(py: Python<'py>, given: Option<Bound<'py, PyDict>>) -> Self {
        Self(given.unwrap_or_else(|| PyDict::new(py)))
    }

    pub fn take(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(given) = self.0.get_item(name)? else {
            return Ok(None);
        };
        self.0.del_item(name)?;
        Ok(Some(given).filter(|given| !given.is_none()))
    }

    /// The same for an argument that has a type of its own, which `expected` says in words.
    pub fn take_as<T>(&self, name: &str, expected: &str) -> PyResult<Option<T>>
    where
        T: for<'a> FromPyObject<'a, 'py>,
    {
        let given = self.take(name)?;
        given
            .map(|given| {
                given
                    .extract()
                    .map_err(|_| wrong(format_args!("`{name}`"), &given, expected))
            })
            .transpose()
    }

    pub fn word<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> PyResult<Option<T>> {
        let given: Option<String> = self.take_as(name, "a str")?;
        given.map(|given| one_of(name, &given, words)).transpose()
    }

    pub fn duration(&self, name: &str) -> PyResult<Option<u64>> {
        self.take(name)?
            .map(|given| seconds(name, &given))
            .transpose()
    }

    /// Refuses what was not taken.
    pub fn finish(self) -> PyResult<()> {
        match self.0.keys().iter().next() {
            None => Ok(()),
            Some(name) => Err(PyTypeError::new_err(format!(
                "there is no argument `{name}`"
            ))),
        }
    }
}

fn wrong(what: impl Display, given: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    let given = given
        .repr()
        .map_or_else(|_| String::from("an object"), |given| given.to_string());
    PyTypeError::new_err(format!("{what} is {given}, expected {expected}"))
}

/// A number of things, in words.
pub fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}
