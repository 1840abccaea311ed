//! `Formula`: compiled once, evaluated for columns.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use job_sort_formula::diagnostic::Span;
use job_sort_formula::formula::program::CompileError;
use job_sort_formula::python::PythonVersion;
use job_sort_formula::rank::{ColumnError, ScorePrecision};
use job_sort_formula::schema::{InputType, current_name};
use job_sort_formula::{Formula as Parsed, Program, Schema};
use jsf::requests::advice;
use jsf_openpbs::check::{Checked, SiteFacts};
use jsf_openpbs::submission::FormulaSubmission;
use jsf_site::FormulaText;
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyMapping, PyString, PyTuple};

use crate::answer::result;
use crate::argument::{counted, one_of, row_count};
use crate::capsule;
use crate::column::{Input, Inputs, MAX_ROWS};
use crate::error::{FormulaError, characters, path_advice, syntax_error};
use crate::evaluate::{Columns, UnscoredRows};
use crate::need::in_python;
use crate::ranked::{RankedRows, by_submission, column_values};
use crate::scores::Scores;
use crate::site::Site;
use crate::table::Table;

/// A formula, compiled for the names of OpenPBS and the resources of a site:
/// `Formula(text, resources={"ngpus": "int"})`, where a type is int, long, float, size (kb),
/// duration (seconds), boolean, string or string_array; `python` is the version that the server
/// embeds, such as "3.9". It is immutable; threads may share it, and it can be pickled.
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
    pub resources: Vec<(String, String)>,
    /// The version of Python that was given.
    pub python: Option<PythonVersion>,
}

impl Compiled {
    /// The declared resources that the formula reads, with their types.
    pub fn resources_read(&self) -> impl Iterator<Item = (&str, InputType)> {
        let is_declared = |name: &str| self.resources.iter().any(|(declared, _)| declared == name);
        let read = self
            .program
            .inputs()
            .iter()
            .map(|name| &**name)
            .filter(move |name| is_declared(name));
        read.filter_map(|name| Some((name, self.schema.entry(name)?.input_type)))
    }
}

#[pymethods]
impl Formula {
    #[new]
    #[pyo3(signature = (text, resources = None, python = None))]
    fn new(
        py: Python<'_>,
        text: String,
        resources: Option<&Bound<'_, PyDict>>,
        python: Option<&str>,
    ) -> PyResult<Self> {
        let resources = declared(resources)?;
        let python = python.map(python_version).transpose()?;
        let mut schema = Schema::openpbs().with_python(python.unwrap_or_default());
        for (name, input_type) in resource_types(&resources)? {
            schema
                .add(&name, input_type)
                .map_err(|error| PyValueError::new_err(error.to_string()))?;
        }
        let text = without_line_end(text);
        let (text, parsed) = match Parsed::parse(&text) {
            Ok(parsed) => (text, parsed),
            Err(error) => match pasted(&text) {
                Some(pasted) => (pasted.text.clone(), pasted_formula(&text, &pasted)?),
                None => return Err(syntax_error(&text, &error.diagnostic())),
            },
        };
        let compiled = parsed.compile(&schema);
        let program =
            compiled.map_err(|error| not_arithmetic(py, &text, &error, &schema, &facts(python)))?;
        Ok(Self {
            compiled: Arc::new(Compiled {
                text,
                parsed,
                program,
                schema,
                resources,
                python,
            }),
        })
    }

    /// The text.
    #[getter]
    fn text(&self) -> &str {
        &self.compiled.text
    }

    /// The names that the formula reads, in the order of the text.
    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(
            py,
            self.compiled.program.inputs().iter().map(|name| &**name),
        )
    }

    /// The names that the formula uses and neither OpenPBS nor `resources` defines; evaluating them
    /// is a `NameError`.
    #[getter]
    fn undefined<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(
            py,
            self.compiled
                .program
                .undefined()
                .iter()
                .map(|(name, _)| &**name),
        )
    }

    /// The declared resources, with their types.
    #[getter]
    fn resources<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let resources = PyDict::new(py);
        self.compiled
            .resources
            .iter()
            .try_for_each(|(name, kind)| resources.set_item(name, kind))?;
        Ok(resources)
    }

    /// The version of Python that was given; None: that of the site, else 3.11.
    #[getter]
    fn python(&self) -> Option<String> {
        self.compiled.python.map(|version| version.to_string())
    }

    /// What is wrong with the formula, as a dict: `verdict` (whether the server accepts it),
    /// `crashes_scheduler` (as soon as it is evaluated), `findings`, whose `span` counts bytes of
    /// the text, and with a site `jobs`, on which the formula is tried.
    #[pyo3(signature = (site = None))]
    fn check<'py>(
        &self,
        py: Python<'py>,
        site: Option<&Bound<'py, Site>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Compiled {
            text,
            schema,
            python,
            ..
        } = &*self.compiled;
        if let Some(site) = site {
            site.get().check_made_for(&self.compiled)?;
            return site.get().check(py, text.clone());
        }
        let checked = py.detach(|| {
            Checked::new(
                &FormulaSubmission::to_openpbs(text),
                schema,
                &facts(*python),
            )
        });
        check_result(py, checked, text)
    }

    /// The scores of jobs whose inputs are in columns: those of `table` that the formula reads, and
    /// those given by name. A column is a list, or of numpy, pandas, polars, pyarrow or anything
    /// else that exports Arrow; a number is the same for every job. There are as many scores as the
    /// table has rows. What is missing is null (None, NaN of pandas), and so is its score.
    #[pyo3(signature = (table = None, /, *, threads = None, **columns))]
    fn evaluate(
        &self,
        py: Python<'_>,
        table: Option<&Bound<'_, PyAny>>,
        threads: Option<i64>,
        columns: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Scores> {
        let (mut inputs, rows) =
            table.map_or_else(|| Ok(Default::default()), |table| self.columns_of(table))?;
        for (name, column) in columns.into_iter().flatten() {
            let name: String = name.extract()?;
            let column = Input::import(&name, &column)?;
            inputs.push((name, column));
        }
        self.score(py, &inputs, rows, threads)
    }

    /// The jobs of a table in the order in which the scheduler considers them: the higher value
    /// first, then the earlier submission, then the row. `id` and `submitted` are the names of
    /// columns, or columns; `precision` is float32, the scheduler's, or float64.
    #[pyo3(signature = (table, *, id = None, submitted = None, limit = None, precision = "float32"))]
    fn rank(
        &self,
        py: Python<'_>,
        table: &Bound<'_, PyAny>,
        id: Option<&Bound<'_, PyAny>>,
        submitted: Option<&Bound<'_, PyAny>>,
        limit: Option<i128>,
        precision: &str,
    ) -> PyResult<Table> {
        let limit = limit.map(|limit| row_count("limit", limit)).transpose()?;
        let precisions = [
            ("float32", ScorePrecision::Float32),
            ("float64", ScorePrecision::Double),
        ];
        let precision = one_of("precision", precision, &precisions)?;
        let (inputs, rows) = self.columns_of(table)?;
        let (scores, unscored) = self.evaluated(py, &inputs, rows, None)?;
        let ids = id
            .map(|id| column_values("id", id, table, scores.len()))
            .transpose()?;
        let by_submission = submitted
            .map(|given| by_submission(given, table, scores.len()))
            .transpose()?;
        let ranked = RankedRows {
            scores,
            unscored,
            precision,
            by_submission,
            limit,
        };
        ranked.table(ids.as_ref())
    }

    fn __getnewargs__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(&str, Bound<'py, PyDict>, Option<String>)> {
        Ok((&self.compiled.text, self.resources(py)?, self.python()))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let text = self.compiled.text.as_str().into_pyobject(py)?.repr()?;
        let resources = if self.compiled.resources.is_empty() {
            String::new()
        } else {
            format!(", resources={}", self.resources(py)?.repr()?)
        };
        let python = self
            .python()
            .map(|python| format!(", python='{python}'"))
            .unwrap_or_default();
        Ok(format!("Formula({text}{resources}{python})"))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Self>().is_ok_and(|other| {
            let (mine, other) = (&self.compiled, &other.get().compiled);
            (&mine.text, &mine.resources, mine.python)
                == (&other.text, &other.resources, other.python)
        })
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        (self.compiled.text.as_str(), self.compiled.resources.len())
            .into_pyobject(py)?
            .hash()
    }
}

impl Formula {
    /// The parsed formula and its text.
    pub fn shared(&self) -> Arc<Compiled> {
        Arc::clone(&self.compiled)
    }

    /// Whether the formula reads a column of a table.
    fn reads(&self, name: &str) -> PyResult<bool> {
        let Compiled { program, .. } = &*self.compiled;
        if program
            .undefined()
            .iter()
            .any(|(undefined, _)| **undefined == *name)
        {
            Err(self.undefined_column(name))
        } else {
            Ok(program
                .inputs()
                .iter()
                .any(|input| current_name(input) == current_name(name)))
        }
    }

    /// The columns of a table that the formula reads, and the number of the table's rows.
    fn columns_of(&self, table: &Bound<'_, PyAny>) -> PyResult<(Inputs, Option<usize>)> {
        if let Ok(table) = table.cast::<Table>() {
            return table.get().inputs(|name| self.reads(name));
        }
        // a dict or a `DataFrame`, whose other columns need not be exported
        let names = if table.hasattr("keys")? {
            Some(table.call_method0("keys")?)
        } else if table.hasattr("get_column")? {
            Some(table.getattr("columns")?)
        } else {
            None
        };
        if let Some(names) = names {
            let is_dict = !table.hasattr("columns")?;
            let mut rows = if is_dict { None } else { Some(table.len()?) };
            let mut columns = Vec::new();
            for name in names.try_iter()? {
                let name = name?;
                match name.extract::<String>() {
                    Ok(text) if self.reads(&text)? => {
                        let column = Input::import(&text, &table.get_item(name)?)?;
                        columns.push((text, column));
                    }
                    _ if is_dict && rows.is_none() => rows = column_rows(&table.get_item(name)?),
                    _ => {}
                }
            }
            // of a dict, the columns that are not read count only where those that are read say
            // nothing
            let has_rows = columns
                .iter()
                .any(|(_, column)| matches!(column, Input::Chunks(_)));
            return Ok((columns, rows.filter(|_| !(is_dict && has_rows))));
        }
        let (data_type, arrays) = if table.hasattr("__arrow_c_array__")? {
            let array = capsule::import_array(table)?;
            (array.data_type().clone(), vec![array])
        } else if table.hasattr("__arrow_c_stream__")? {
            capsule::import_stream(table)?
        } else {
            let kind = table.get_type().name()?;
            let collected = if table.hasattr("collect")? {
                ", such as what its `collect()` gives"
            } else {
                ""
            };
            let message = format!(
                "`{kind}` is not a table{collected}: expected a dict of columns, or a table of pandas, polars, pyarrow or \
                 anything else that exports Arrow; a column is passed by name"
            );
            return Err(PyTypeError::new_err(message));
        };
        let DataType::Struct(fields) = data_type else {
            return Err(PyTypeError::new_err(
                "a column is passed by name, as `evaluate(name=column)`",
            ));
        };
        if arrays.iter().any(|array| array.null_count() > 0) {
            return Err(PyValueError::new_err(
                "the table has rows that are null as a whole",
            ));
        }
        let mut columns = Vec::new();
        for (index, field) in fields.iter().enumerate() {
            if self.reads(field.name())? {
                let parts: Vec<ArrayRef> = arrays
                    .iter()
                    .map(|array| array.as_struct().column(index).clone())
                    .collect();
                columns.push((
                    field.name().clone(),
                    Input::from_arrays(field.name(), &parts)?,
                ));
            }
        }
        Ok((columns, Some(arrays.iter().map(|array| array.len()).sum())))
    }

    fn score(
        &self,
        py: Python<'_>,
        inputs: &[(String, Input)],
        rows: Option<usize>,
        threads: Option<i64>,
    ) -> PyResult<Scores> {
        let (scores, unscored) = self.evaluated(py, inputs, rows, threads)?;
        Ok(Scores::new(self.shared(), scores, unscored))
    }

    /// The values of all rows, and the rows that have none; where the formula raises an error, the
    /// value is the scheduler's.
    fn evaluated(
        &self,
        py: Python<'_>,
        inputs: &[(String, Input)],
        rows: Option<usize>,
        threads: Option<i64>,
    ) -> PyResult<(Vec<f64>, UnscoredRows)> {
        let threads = threads.unwrap_or(1);
        let threads = usize::try_from(threads)
            .ok()
            .filter(|&threads| threads > 0)
            .ok_or_else(|| {
                PyValueError::new_err(format!("threads is {threads}, expected at least 1"))
            })?;
        let program = &self.compiled.program;
        py.detach(|| {
            let columns =
                Columns::new(program, inputs, rows).map_err(|error| self.column_error(&error))?;
            if columns.rows() > MAX_ROWS {
                let message = format!(
                    "the table has {} rows, more than {MAX_ROWS}: evaluate it in parts",
                    columns.rows()
                );
                return Err(PyValueError::new_err(message));
            }
            let mut scores = Vec::new();
            if scores.try_reserve_exact(columns.rows()).is_err() {
                return Err(PyMemoryError::new_err(format!(
                    "no memory for {} scores",
                    columns.rows()
                )));
            }
            scores.resize(columns.rows(), 0.0);
            let outcome = columns
                .score(&mut scores, threads)
                .map_err(|error| self.column_error(&error))?;
            Ok((scores, outcome))
        })
    }

    fn column_error(&self, error: &ColumnError) -> PyErr {
        let undefined = self.compiled.program.undefined();
        match error {
            ColumnError::Unknown { name, .. }
                if undefined.iter().any(|(other, _)| **other == **name) =>
            {
                self.undefined_column(name)
            }
            ColumnError::Length {
                name,
                found,
                expected,
            } => {
                let found = counted(*found, "row");
                PyValueError::new_err(format!(
                    "the column `{name}` has {found}, the other columns have {expected}"
                ))
            }
            _ => PyValueError::new_err(error.to_string()),
        }
    }

    /// The error for a column with a name that the formula uses and that is not defined.
    fn undefined_column(&self, name: &str) -> PyErr {
        let Compiled {
            schema, resources, ..
        } = &*self.compiled;
        let declared = format!("Formula(…, resources={{\"{name}\": \"float\"}})");
        let similar: Vec<String> = schema
            .suggestions(name)
            .iter()
            .map(|near| format!("`{near}`"))
            .collect();
        PyValueError::new_err(
            match resources.iter().find(|(resource, _)| resource == name) {
                Some((_, kind)) => {
                    format!(
                        "`{name}` is declared as `{kind}`, but a formula reads only numbers: `{declared}`"
                    )
                }
                None if schema.entry(name).is_some() => {
                    format!("a formula cannot read `{name}`, which is no number in OpenPBS")
                }
                None if similar.is_empty() => {
                    format!("`{name}` is not a resource of OpenPBS: declare it, as in `{declared}`")
                }
                None => {
                    let similar = similar.join(" or ");
                    format!(
                        "`{name}` is not a resource of OpenPBS; did you mean {similar}? Else declare it, as in `{declared}`"
                    )
                }
            },
        )
    }
}

/// The error for a formula that is Python and cannot be compiled.
pub fn not_arithmetic(
    py: Python<'_>,
    text: &str,
    error: &CompileError,
    schema: &Schema,
    facts: &SiteFacts<'_>,
) -> PyErr {
    let part = error.span().slice(text);
    let findings = Checked::new(&FormulaSubmission::to_openpbs(text), schema, facts).findings;
    let advice = findings
        .iter()
        .find(|found| found.span == error.span())
        .map(advice);
    let advice = advice
        .map(|advice| advice.worded(in_python))
        .unwrap_or_default();
    let refused = FormulaError::new_err(format!("`{part}`: {error}{advice}{}", path_advice(text)));
    let placed = refused
        .value(py)
        .setattr("span", characters(text, error.span()));
    placed.map_or_else(|error| error, |()| refused)
}

/// What was found, as a `Check`.
fn check_result<'py>(
    py: Python<'py>,
    mut checked: Checked,
    text: &str,
) -> PyResult<Bound<'py, PyAny>> {
    checked.findings = checked
        .findings
        .into_iter()
        .map(|found| found.worded(in_python))
        .collect();
    let document = serde_json::to_string(&checked.document(text));
    result(
        py,
        "Check",
        &document.map_err(|error| PyValueError::new_err(error.to_string()))?,
        [],
    )
}

/// The text without the byte order mark and the line end that a file may have: a carriage return in
/// a formula is refused by the server.
pub fn without_line_end(text: String) -> String {
    let line = text.strip_prefix('\u{feff}').unwrap_or(&text);
    match line.strip_suffix("\r\n").or(line.strip_suffix('\r')) {
        None if line.len() == text.len() => text,
        stripped => stripped.unwrap_or(line).to_owned(),
    }
}

/// The formula in a text that was pasted from elsewhere; `None` if the text is given as the formula
/// itself.
fn pasted(text: &str) -> Option<FormulaText> {
    let pasted = FormulaText::new(text).ok()?;
    (pasted.below.trim().is_empty() && pasted.text.trim() != text.trim()).then_some(pasted)
}

/// The parsed formula of a pasted text. An error has its place in the whole text, where that
/// contains the formula as it is.
fn pasted_formula(given: &str, pasted: &FormulaText) -> PyResult<Parsed> {
    Parsed::parse(&pasted.text).map_err(|error| {
        let mut finding = error.diagnostic();
        if pasted.before.is_empty() || !pasted.differences.is_empty() {
            return syntax_error(&pasted.text, &finding);
        }
        let Span { start, end } = finding.span;
        let before = pasted.before.len();
        finding.span = Span::new(before + start as usize, before + end as usize);
        syntax_error(given, &finding)
    })
}

/// The number of rows of an object in a dict, if it is a column.
fn column_rows(object: &Bound<'_, PyAny>) -> Option<usize> {
    let is_column = !object.is_instance_of::<PyString>()
        && !object.is_instance_of::<PyBytes>()
        && !object.is_instance_of::<PyByteArray>()
        && object.cast::<PyMapping>().is_err();
    object.len().ok().filter(|_| is_column)
}

/// The version of Python in a text such as `3.9`.
pub fn python_version(text: &str) -> PyResult<PythonVersion> {
    text.parse().map_err(|expected| {
        PyValueError::new_err(format!(
            "`{text}` is not a known version of Python, {expected}"
        ))
    })
}

/// What is known besides the schema: whether the version of Python was given.
fn facts(python: Option<PythonVersion>) -> SiteFacts<'static> {
    SiteFacts {
        python_source: python.map(|_| "given"),
        ..SiteFacts::default()
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
        let input_type = match kind.as_str() {
            "int" => Some(InputType::Count),
            kind => InputType::from_pbs_type(kind),
        };
        let input_type = input_type.ok_or_else(|| {
            PyValueError::new_err(format!("the resource `{name}` has the type `{kind}`, expected `int`, `long`, `float`, `size`, `duration`, `boolean`, `string` or \
                 `string_array`"))
        })?;
        Schema::empty()
            .add(name, input_type)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok((name.clone(), input_type))
    };
    declared.iter().map(input_type).collect()
}
