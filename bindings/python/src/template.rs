//! `Template`: a formula in which some numbers are still to be found.

use job_sort_formula::formula::{Template as Parsed, TemplateConstant};
use jsf_site::FormulaText;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyMapping, PyString, PyTuple};

use crate::argument::{self, counted, number};
use crate::error::{site_error, syntax_error};

/// A formula in which some numbers are still to be found:
/// `Template("{fs=100:0..500} * fairshare_factor + eligible_time / 3600")`. `:log` behind a range
/// says that factors matter and not differences, `:int` that the number is whole; `{fs}` repeats a
/// number.
#[pyclass(frozen, module = "job_sort_formula")]
pub struct Template {
    pub parsed: Parsed,
}

/// A number that is to be found.
#[pyclass(frozen, get_all, module = "job_sort_formula")]
pub struct Constant {
    name: String,
    /// Where a search starts.
    start: f64,
    /// The smallest number that it may be.
    low: f64,
    /// The largest number that it may be.
    high: f64,
    /// Whether a search moves by factors instead of by differences.
    log: bool,
    /// Whether it is a whole number.
    int: bool,
}

#[pymethods]
impl Template {
    #[new]
    fn new(text: &str) -> PyResult<Self> {
        let text = FormulaText::new(text)
            .map_err(|error| site_error(&error))?
            .text;
        match Parsed::parse(&text) {
            Ok(parsed) => Ok(Self { parsed }),
            Err(error) => Err(syntax_error(&text, &error.diagnostic())),
        }
    }

    /// The text.
    #[getter]
    fn text(&self) -> &str {
        self.parsed.text()
    }

    /// The numbers that are to be found, in the order in which they are declared.
    #[getter]
    fn constants<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let constants = self
            .parsed
            .constants()
            .iter()
            .map(|constant| Py::new(py, Constant::from(constant)));
        PyTuple::new(py, constants.collect::<PyResult<Vec<_>>>()?)
    }

    /// The text of the formula with these numbers: one for each constant in their order, or a dict,
    /// in which a constant that is not there keeps its start value.
    fn fill(&self, values: &Bound<'_, PyAny>) -> PyResult<String> {
        Ok(self.parsed.fill(&values_of(&self.parsed, values)?))
    }

    /// The template with these start values, which are put into their ranges.
    fn starting_at(&self, values: &Bound<'_, PyAny>) -> PyResult<Self> {
        let values = values_of(&self.parsed, values)?;
        let mut text = self.parsed.text().to_owned();
        for (constant, value) in self.parsed.constants().iter().zip(values).rev() {
            let TemplateConstant {
                name,
                low,
                high,
                is_log,
                is_int,
                span,
                ..
            } = constant;
            let value = if *is_int { value.round() } else { value };
            let start = value.clamp(*low, *high);
            let log = if *is_log { ":log" } else { "" };
            let int = if *is_int { ":int" } else { "" };
            let declared = format!("{{{name}={start}:{low}..{high}{log}{int}}}");
            text.replace_range(span.start as usize..span.end as usize, &declared);
        }
        Self::new(&text)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!(
            "Template({})",
            self.text().into_pyobject(py)?.repr()?
        ))
    }
}

impl Template {
    /// The template that a caller gives: a `Template`, or its text.
    pub fn given(template: &Bound<'_, PyAny>) -> PyResult<Parsed> {
        if let Ok(template) = template.cast::<Self>() {
            return Ok(template.get().parsed.clone());
        }
        let Ok(text) = template.cast::<PyString>() else {
            let kind = template.get_type().name()?;
            let message = format!("the template is of type `{kind}`, expected a str or a Template");
            return Err(PyTypeError::new_err(message));
        };
        Ok(Self::new(&text.extract::<String>()?)?.parsed)
    }
}

/// A number for each constant of a template: from a sequence in their order, or from a dict.
pub fn values_of(template: &Parsed, given: &Bound<'_, PyAny>) -> PyResult<Vec<f64>> {
    let constants = template.constants();
    let values = match given.cast::<PyMapping>() {
        Err(_) => argument::numbers("values", given.try_iter()?.collect::<PyResult<Vec<_>>>()?)?,
        Ok(named) => {
            let mut values: Vec<f64> = constants.iter().map(|constant| constant.start).collect();
            for item in named.items()? {
                let (name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
                let name = argument::text("a name in `values`", &name)?;
                let value = number(format_args!("`{name}`"), &value)?;
                let unknown =
                    || PyValueError::new_err(format!("the template has no constant `{name}`"));
                let place = constants
                    .iter()
                    .position(|constant| *constant.name == *name)
                    .ok_or_else(unknown)?;
                values[place] = value;
            }
            values
        }
    };
    if values.len() != constants.len() {
        let message = format!(
            "{} for {}",
            counted(values.len(), "number"),
            counted(constants.len(), "constant")
        );
        return Err(PyValueError::new_err(message));
    }
    match values.iter().find(|value| !value.is_finite()) {
        Some(value) => Err(PyValueError::new_err(format!(
            "{value} cannot be filled into a formula"
        ))),
        None => Ok(values),
    }
}

impl From<&TemplateConstant> for Constant {
    fn from(constant: &TemplateConstant) -> Self {
        let TemplateConstant {
            name,
            start,
            low,
            high,
            is_log,
            is_int,
            ..
        } = constant;
        Self {
            name: name.to_string(),
            start: *start,
            low: *low,
            high: *high,
            log: *is_log,
            int: *is_int,
        }
    }
}
