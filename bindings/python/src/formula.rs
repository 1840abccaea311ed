//! `Formula`: compiled once, evaluated for columns.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use job_sort_formula::pbs::check::{Checked, SiteFacts};
use job_sort_formula::pbs::submission::FormulaSubmission;
use job_sort_formula::rank::ColumnError;
use job_sort_formula::schema::{InputType, current_name};
use job_sort_formula::{Formula as Parsed, Program, Schema};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::capsule;
use crate::column::Input;
use crate::error::{site_error, syntax_error};
use crate::evaluate::{Columns, ScratchPool};
use crate::scores::Scores;
use crate::site::{Site, json};

/// A formula, compiled for the names of OpenPBS and the resources of a site. It is immutable; threads may share it, and it can
/// be pickled.
#[pyclass(frozen, module = "job_sort_formula")]
pub struct Formula {
    compiled: Arc<Compiled>,
}

/// What the scores of a formula refer to.
pub struct Compiled {
    pub text: String,
    pub parsed: Parsed,
    program: Program,
    schema: Schema,
    /// The resources that were declared, in the order of their names.
    resources: Vec<(String, String)>,
    scratch: ScratchPool,
}

#[pymethods]
impl Formula {
    #[new]
    #[pyo3(signature = (text, resources = None))]
    fn new(text: String, resources: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let resources = declared(resources)?;
        let mut schema = Schema::openpbs();
        for (name, input_type) in resource_types(&resources)? {
            if !schema.add(&name, input_type) {
                let message = format!("`{name}` is defined by OpenPBS and cannot be redefined");
                return Err(PyValueError::new_err(message));
            }
        }
        let parsed = Parsed::parse(&text).map_err(|error| syntax_error(&text, &error.diagnostic()))?;
        let program = parsed.compile(&schema).map_err(|error| {
            let part = error.span().slice(&text);
            PyValueError::new_err(format!("`{part}`: {error}"))
        })?;
        let scratch = ScratchPool::default();
        Ok(Self { compiled: Arc::new(Compiled { text, parsed, program, schema, resources, scratch }) })
    }

    /// The text.
    #[getter]
    fn text(&self) -> &str {
        &self.compiled.text
    }

    /// The names that the formula reads, in the order of the text.
    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.compiled.program.inputs().iter().map(|name| &**name))
    }

    /// The names that the formula uses and neither OpenPBS nor `resources` defines; evaluating them is a `NameError`.
    #[getter]
    fn undefined<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.compiled.program.undefined().iter().map(|(name, _)| &**name))
    }

    /// The declared resources, with their types.
    #[getter]
    fn resources<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let resources = PyDict::new(py);
        self.compiled.resources.iter().try_for_each(|(name, kind)| resources.set_item(name, kind))?;
        Ok(resources)
    }

    /// What `jsf check --format json` answers, as a dict; with a site, the formula is tried on its jobs.
    #[pyo3(signature = (site = None))]
    fn check<'py>(&self, py: Python<'py>, site: Option<&Bound<'py, Site>>) -> PyResult<Bound<'py, PyAny>> {
        let Compiled { text, schema, .. } = &*self.compiled;
        let site = site.map(|site| site.get().shared());
        let checked = py.detach(|| {
            let submitted = FormulaSubmission::to_openpbs(text);
            match site {
                Some(site) => site.check(&submitted),
                None => Ok(Checked::new(&submitted, schema, &SiteFacts::default())),
            }
        });
        let checked = checked.map_err(|error| site_error(&error))?;
        let document = serde_json::to_string(&checked.document(text));
        json(py, &document.map_err(|error| PyValueError::new_err(error.to_string()))?)
    }

    /// The scores of jobs whose inputs are in columns: those of `table` that the formula reads, and those given by name.
    #[pyo3(signature = (table = None, /, *, threads = None, **columns))]
    fn evaluate(
        &self,
        py: Python<'_>,
        table: Option<&Bound<'_, PyAny>>,
        threads: Option<i64>,
        columns: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Scores> {
        let mut inputs = match table {
            Some(table) => self.columns_of(table)?,
            None => Vec::new(),
        };
        for (name, column) in columns.into_iter().flatten() {
            let name: String = name.extract()?;
            let column = Input::import(&name, &column)?;
            inputs.push((name, column));
        }
        self.score(py, &inputs, threads)
    }

    /// The scores of the jobs in a table, which may have other columns too.
    #[pyo3(signature = (table, /, *, threads = None))]
    fn evaluate_table(&self, py: Python<'_>, table: &Bound<'_, PyAny>, threads: Option<i64>) -> PyResult<Scores> {
        self.score(py, &self.columns_of(table)?, threads)
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<(&str, Bound<'py, PyDict>)> {
        Ok((&self.compiled.text, self.resources(py)?))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let text = self.compiled.text.as_str().into_pyobject(py)?.repr()?;
        if self.compiled.resources.is_empty() {
            return Ok(format!("Formula({text})"));
        }
        Ok(format!("Formula({text}, resources={})", self.resources(py)?.repr()?))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| {
            let (mine, other) = (&self.compiled, &other.get().compiled);
            (&mine.text, &mine.resources) == (&other.text, &other.resources)
        })
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        (self.compiled.text.as_str(), self.compiled.resources.len()).into_pyobject(py)?.hash()
    }
}

impl Formula {
    /// The parsed formula and its text.
    pub fn shared(&self) -> Arc<Compiled> {
        Arc::clone(&self.compiled)
    }

    fn reads(&self, name: &str) -> bool {
        self.compiled.program.inputs().iter().any(|input| current_name(input) == current_name(name))
    }

    /// The columns of a table that the formula reads.
    fn columns_of(&self, table: &Bound<'_, PyAny>) -> PyResult<Vec<(String, Input)>> {
        // a dict or a `DataFrame`, whose other columns need not be exported
        let names = if table.hasattr("keys")? {
            Some(table.call_method0("keys")?)
        } else if table.hasattr("get_column")? {
            Some(table.getattr("columns")?)
        } else {
            None
        };
        if let Some(names) = names {
            let mut columns = Vec::new();
            for name in names.try_iter()? {
                let name = name?;
                if let Ok(text) = name.extract::<String>()
                    && self.reads(&text)
                {
                    let column = Input::import(&text, &table.get_item(name)?)?;
                    columns.push((text, column));
                }
            }
            return Ok(columns);
        }
        let (data_type, arrays) = if table.hasattr("__arrow_c_array__")? {
            let array = capsule::import_array(table)?;
            (array.data_type().clone(), vec![array])
        } else if table.hasattr("__arrow_c_stream__")? {
            capsule::import_stream(table)?
        } else {
            let kind = table.get_type().name()?;
            let message = format!(
                "`{kind}` is not a table: expected a dict of columns, or a table of pandas, polars, pyarrow or \
                 anything else that exports Arrow; a column is passed by name"
            );
            return Err(PyTypeError::new_err(message));
        };
        let DataType::Struct(fields) = data_type else {
            return Err(PyTypeError::new_err("a column is passed by name, as `evaluate(name=column)`"));
        };
        if arrays.iter().any(|array| array.null_count() > 0) {
            return Err(PyValueError::new_err("the table has rows that are null as a whole"));
        }
        let read = fields.iter().enumerate().filter(|(_, field)| self.reads(field.name()));
        read.map(|(index, field)| {
            let parts: Vec<ArrayRef> = arrays.iter().map(|array| array.as_struct().column(index).clone()).collect();
            Ok((field.name().clone(), Input::from_arrays(field.name(), &parts)?))
        })
        .collect()
    }

    fn score(&self, py: Python<'_>, inputs: &[(String, Input)], threads: Option<i64>) -> PyResult<Scores> {
        let threads = threads.unwrap_or(1);
        let threads = usize::try_from(threads)
            .ok()
            .filter(|&threads| threads > 0)
            .ok_or_else(|| PyValueError::new_err(format!("threads is {threads}, expected at least 1")))?;
        let Compiled { program, scratch, .. } = &*self.compiled;
        let scored = py.detach(|| {
            let columns = Columns::new(program, inputs).map_err(|error| self.column_error(&error))?;
            let mut scores = Vec::new();
            if scores.try_reserve_exact(columns.rows()).is_err() {
                return Err(PyMemoryError::new_err(format!("no memory for {} scores", columns.rows())));
            }
            scores.resize(columns.rows(), 0.0);
            let outcome = columns.score(&mut scores, threads, scratch).map_err(|error| self.column_error(&error))?;
            Ok((scores, outcome))
        });
        let (scores, outcome) = scored?;
        Ok(Scores::new(self.shared(), scores, outcome))
    }

    fn column_error(&self, error: &ColumnError) -> PyErr {
        let undefined = self.compiled.program.undefined();
        match error {
            ColumnError::Unknown { name, .. } if undefined.iter().any(|(other, _)| **other == **name) => {
                let declared = format!("Formula(…, resources={{\"{name}\": \"float\"}})");
                PyValueError::new_err(format!("`{name}` is not a resource of OpenPBS: declare it, as in `{declared}`"))
            }
            _ => PyValueError::new_err(error.to_string()),
        }
    }
}

/// The declared resources and the names of their types, by name.
pub fn declared(resources: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<(String, String)>> {
    let mut declared: Vec<(String, String)> = Vec::new();
    for (name, kind) in resources.into_iter().flatten() {
        declared.push((name.extract()?, kind.extract()?));
    }
    declared.sort();
    Ok(declared)
}

/// The types of declared resources: `int` and `bool` as in Python, the others as in PBS.
pub fn resource_types(declared: &[(String, String)]) -> PyResult<Vec<(String, InputType)>> {
    let input_type = |(name, kind): &(String, String)| {
        if name.is_empty() {
            return Err(PyValueError::new_err("the name of a resource is empty"));
        }
        let input_type = match kind.as_str() {
            "int" => Some(InputType::Count),
            kind => InputType::from_pbs_type(kind),
        };
        input_type.map(|input_type| (name.clone(), input_type)).ok_or_else(|| {
            PyValueError::new_err(format!("the resource `{name}` has the type `{kind}`, expected `int`, `float`, `size`, `duration`, `boolean`, `string` or \
                 `string_array`"))
        })
    };
    declared.iter().map(input_type).collect()
}
