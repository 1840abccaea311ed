//! `Formula`: compiled once, evaluated for columns.

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_schema::DataType;
use job_sort_formula::PythonVersion;
use job_sort_formula::formula::program::CompileError;
use job_sort_formula::rank::{ColumnError, Consequence, ScoreError, ScorePrecision, top_rows};
use job_sort_formula::schema::suggestions::did_you_mean;
use job_sort_formula::schema::{InputType, current_name};
use job_sort_formula::{Formula as Parsed, Program, Schema};
use jsf::answers::advice;
use jsf_openpbs::FormulaSubmission;
use jsf_openpbs::check::{Checked, SiteFacts};
use jsf_site::FormulaText;
use jsf_words::count;
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyTuple};

use crate::arrow_and_numpy;
use crate::exceptions::{FormulaError, characters, in_python, path_advice, syntax_error};
use crate::imported_columns::{Input, Inputs, MAX_ROWS, is_text};
use crate::scores_class::{Scores, UnscoredRows, count_rows, score};

/// A formula, compiled for the names of OpenPBS and the resources of a site:
/// `Formula(text, resources={"ngpus": "int"})`, where a type is int, long, float, size (kb),
/// duration (seconds), boolean, string or string_array; `python` is the version that the server
/// embeds, such as "3.9". It is immutable; threads may share it, and it can be pickled.
#[pyclass(frozen, subclass, module = "job_sort_formula._native")]
pub struct Formula {
    text: String,
    program: Program,
    schema: Schema,
    /// The resources that were declared, in the order of their names.
    resources: Vec<(String, String)>,
    /// The version of Python that was given.
    python: Option<PythonVersion>,
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
        let python = match python {
            Some(python) => Some(python_version(python)?),
            None => None,
        };
        let mut schema = Schema::openpbs().with_python(python.unwrap_or_default());
        let resources = declare(resources, &mut schema)?;
        let mut text = without_line_end(text);
        let mut parsed = Parsed::parse(&text);
        if parsed.is_err()
            && let Some(pasted) = pasted(&text)
        {
            text = pasted;
            parsed = Parsed::parse(&text);
        }
        let parsed = parsed.map_err(|error| syntax_error(&text, &error.diagnostic()))?;
        let program = match parsed.compile(&schema) {
            Ok(program) => program,
            Err(error) => {
                // whether the version of Python was given
                let facts = SiteFacts {
                    python_source: python.map(|_| "given"),
                    ..SiteFacts::default()
                };
                return Err(not_arithmetic(py, &text, &error, &schema, &facts));
            }
        };
        Ok(Self {
            text,
            program,
            schema,
            resources,
            python,
        })
    }

    /// The text.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// The names that the formula reads, in the order of the text.
    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.program.inputs().iter().map(|name| &**name))
    }

    /// The names that the formula uses and neither OpenPBS nor `resources` defines; evaluating them
    /// is a `NameError`.
    #[getter]
    fn undefined<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.program.undefined().iter().map(|(name, _)| &**name))
    }

    /// The declared resources, with their types.
    #[getter]
    fn resources<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let resources = PyDict::new(py);
        for (name, kind) in &self.resources {
            resources.set_item(name, kind)?;
        }
        Ok(resources)
    }

    /// The version of Python that was given; None: that of the site, else 3.11.
    #[getter]
    fn python(&self) -> Option<String> {
        self.python.map(|version| version.to_string())
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
        let (mut inputs, rows) = match table {
            Some(table) => self.columns_of(table)?,
            None => Default::default(),
        };
        for (name, column) in columns.into_iter().flatten() {
            let name: String = name.extract()?;
            let column = Input::import(&name, &column)?;
            inputs.push((name, column));
        }
        let (scores, unscored) = self.evaluated(py, &inputs, rows, threads)?;
        Ok(Scores::new(&self.text, scores, unscored))
    }

    /// The columns of a table's jobs in the order in which the scheduler considers them, what is
    /// doubtful about them, and the number of rows. `submitted` are the rows by the time of their
    /// submission.
    #[pyo3(name = "_ranked")]
    fn ranked<'py>(
        &self,
        py: Python<'py>,
        table: &Bound<'py, PyAny>,
        submitted: Option<Vec<usize>>,
        limit: Option<usize>,
        precision: &str,
    ) -> PyResult<(Bound<'py, PyDict>, Vec<String>, usize)> {
        let precision = match precision {
            "float32" => ScorePrecision::Float32,
            "float64" => ScorePrecision::Double,
            other => {
                return Err(PyValueError::new_err(format!(
                    "precision is `{other}`, expected `float32` or `float64`"
                )));
            }
        };
        let (inputs, rows) = self.columns_of(table)?;
        let (scores, unscored) = self.evaluated(py, &inputs, rows, None)?;
        let rows = scores.len();
        let submitted = match submitted {
            Some(submitted) => submitted,
            None => (0..rows).collect(),
        };
        if submitted.len() != rows {
            return Err(PyValueError::new_err(format!(
                "`submitted` has {}, the table has {rows}",
                count(submitted.len(), "row")
            )));
        }
        let warnings = unscored.warnings();
        let limit = limit.unwrap_or(usize::MAX);
        let columns = ranked_columns(py, &scores, &unscored, precision, submitted, limit)?;
        Ok((columns, warnings, rows))
    }

    fn __getnewargs__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(&str, Bound<'py, PyDict>, Option<String>)> {
        Ok((&self.text, self.resources(py)?, self.python()))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let text = self.text.as_str().into_pyobject(py)?.repr()?;
        let resources = if self.resources.is_empty() {
            String::new()
        } else {
            format!(", resources={}", self.resources(py)?.repr()?)
        };
        let python = match self.python {
            Some(python) => format!(", python='{python}'"),
            None => String::new(),
        };
        Ok(format!("Formula({text}{resources}{python})"))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let Ok(other) = other.cast::<Self>() else {
            return false;
        };
        let other = other.get();
        (&self.text, &self.resources, self.python) == (&other.text, &other.resources, other.python)
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        // equal formulas have equal hashes, which need not tell all others apart
        (self.text.as_str(), self.resources.len())
            .into_pyobject(py)?
            .hash()
    }
}

impl Formula {
    /// Whether the formula reads a column of a table.
    fn reads(&self, name: &str) -> PyResult<bool> {
        if self.is_undefined(name) {
            return Err(self.undefined_column(name));
        }
        let mut inputs = self.program.inputs().iter();
        // OpenPBS has a former name for `fairshare_perc`: a column of either serves both
        Ok(inputs.any(|input| current_name(input) == current_name(name)))
    }

    /// Whether the formula uses a name that is not defined.
    fn is_undefined(&self, name: &str) -> bool {
        let mut undefined = self.program.undefined().iter();
        undefined.any(|(undefined, _)| **undefined == *name)
    }

    /// The columns of a table that the formula reads, and the number of the table's rows.
    fn columns_of(&self, table: &Bound<'_, PyAny>) -> PyResult<(Inputs, Option<usize>)> {
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
            let mut inputs = columns.iter();
            if is_dict && inputs.any(|(_, column)| matches!(column, Input::Column(_))) {
                rows = None;
            }
            return Ok((columns, rows));
        }
        let (data_type, arrays) = if table.hasattr("__arrow_c_array__")? {
            let array = arrow_and_numpy::import_array(table)?;
            (array.data_type().clone(), vec![array])
        } else if table.hasattr("__arrow_c_stream__")? {
            arrow_and_numpy::import_stream(table)?
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
        let mut rows = 0;
        for array in &arrays {
            rows += array.len();
            if array.null_count() > 0 {
                return Err(PyValueError::new_err(
                    "the table has rows that are null as a whole",
                ));
            }
        }
        let mut columns = Vec::new();
        for (index, field) in fields.iter().enumerate() {
            if self.reads(field.name())? {
                let mut parts = Vec::new();
                for array in &arrays {
                    parts.push(array.as_struct().column(index).clone());
                }
                let column = Input::from_arrays(field.name(), &parts)?;
                columns.push((field.name().clone(), column));
            }
        }
        Ok((columns, Some(rows)))
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
        if threads < 1 {
            let message = format!("threads is {threads}, expected at least 1");
            return Err(PyValueError::new_err(message));
        }
        let threads = usize::try_from(threads).unwrap_or(usize::MAX);
        let column_error = |error| self.column_error(error);
        // other threads of Python run meanwhile
        py.detach(|| {
            let rows = count_rows(&self.program, inputs, rows).map_err(column_error)?;
            if rows > MAX_ROWS {
                let message = format!(
                    "the table has {rows} rows, more than {MAX_ROWS}: evaluate it in parts"
                );
                return Err(PyValueError::new_err(message));
            }
            let mut scores = Vec::new();
            // where the system refuses memory, Rust would abort the interpreter
            if scores.try_reserve_exact(rows).is_err() {
                let message = format!("no memory for {rows} scores");
                return Err(PyMemoryError::new_err(message));
            }
            scores.resize(rows, 0.0);
            let outcome = score(&self.program, inputs, &mut scores, threads);
            Ok((scores, outcome.map_err(column_error)?))
        })
    }

    fn column_error(&self, error: ColumnError) -> PyErr {
        match &error {
            ColumnError::Unknown { name, .. } if self.is_undefined(name) => {
                self.undefined_column(name)
            }
            ColumnError::Length {
                name,
                found,
                expected,
            } => {
                let found = count(*found, "row");
                PyValueError::new_err(format!(
                    "the column `{name}` has {found}, the other columns have {expected}"
                ))
            }
            _ => PyValueError::new_err(error.to_string()),
        }
    }

    /// The error for a column with a name that the formula uses and that is not defined.
    fn undefined_column(&self, name: &str) -> PyErr {
        let Self {
            schema, resources, ..
        } = self;
        let declared = format!("Formula(…, resources={{\"{name}\": \"float\"}})");
        let resource = resources.iter().find(|(resource, _)| resource == name);
        PyValueError::new_err(if let Some((_, kind)) = resource {
            format!(
                "`{name}` is declared as `{kind}`, but a formula reads only numbers: `{declared}`"
            )
        } else if schema.entry(name).is_some() {
            format!("a formula cannot read `{name}`, which is no number in OpenPBS")
        } else {
            let similar = did_you_mean(name, schema.suggestions(name).into_iter());
            format!(
                "`{name}` is not a resource of OpenPBS: declare it, as in `{declared}`{similar}"
            )
        })
    }
}

/// The columns of the ranked rows, and then of those with a null among their inputs, up to the
/// limit. `submitted` are the rows by the time of their submission.
fn ranked_columns<'py>(
    py: Python<'py>,
    scores: &[f64],
    unscored: &UnscoredRows,
    precision: ScorePrecision,
    mut submitted: Vec<usize>,
    limit: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let UnscoredRows { errors, null_rows } = unscored;
    // a null has no place in the order of the scheduler
    submitted.retain(|row| null_rows.binary_search(row).is_err());
    // of equal values the lower index comes first, so that they stay in the order of submission
    let in_order: Vec<f64> = submitted.iter().map(|&row| scores[row]).collect();
    let (mut ranks, mut values, mut exact, mut texts) = (vec![], vec![], vec![], vec![]);
    let mut rows = Vec::new();
    for index in top_rows(&in_order, None, precision, limit) {
        let row = submitted[index];
        rows.push(row);
        ranks.push(Some(rows.len()));
        values.push(Some(precision.round(scores[row])));
        let failed = errors.binary_search_by_key(&row, |(failed, _)| *failed);
        exact.push(failed.is_err().then(|| scores[row]));
        texts.push(failed.ok().map(|place| errors[place].1.to_string()));
    }
    for &row in null_rows {
        if rows.len() < limit {
            rows.push(row);
            ranks.push(None);
            values.push(None);
            exact.push(None);
            texts.push(None);
        }
    }
    let columns = PyDict::new(py);
    columns.set_item("rank", ranks)?;
    columns.set_item("row", rows)?;
    columns.set_item("score", values)?;
    columns.set_item("exact", exact)?;
    columns.set_item("error", texts)?;
    Ok(columns)
}

impl UnscoredRows {
    /// That rows have the value 0 only because it cannot be computed here, if there are any.
    fn warnings(&self) -> Vec<String> {
        let mut unknown: Vec<&(usize, ScoreError)> = self.errors.iter().collect();
        unknown.retain(|(_, error)| error.consequence() == Consequence::Unknown);
        let Some((row, error)) = unknown.first() else {
            return Vec::new();
        };
        let rows = count(unknown.len(), "row");
        vec![format!(
            "{rows} with 0 cannot be computed here, and the scheduler may do so: row {row}: {error}"
        )]
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
    let found = findings.iter().find(|found| found.span == error.span());
    let advice = match found {
        Some(found) => advice(found).worded(in_python),
        None => String::new(),
    };
    let refused = FormulaError::new_err(format!("`{part}`: {error}{advice}{}", path_advice(text)));
    let span = characters(text, error.span());
    match refused.value(py).setattr("span", span) {
        Ok(()) => refused,
        Err(error) => error,
    }
}

/// The text without the byte order mark and the line end that a file may have: a carriage return in
/// a formula is refused by the server.
fn without_line_end(text: String) -> String {
    let line = text.strip_prefix('\u{feff}').unwrap_or(&text);
    match line.strip_suffix("\r\n").or(line.strip_suffix('\r')) {
        None if line.len() == text.len() => text,
        stripped => stripped.unwrap_or(line).to_owned(),
    }
}

/// The formula in a text that was pasted from elsewhere; `None` if the text is given as the formula
/// itself.
fn pasted(text: &str) -> Option<String> {
    let pasted = FormulaText::new(text).ok()?;
    if !pasted.below.trim().is_empty() || pasted.text.trim() == text.trim() {
        return None;
    }
    Some(pasted.text)
}

/// The number of rows of an object in a dict, if it is a column.
fn column_rows(object: &Bound<'_, PyAny>) -> Option<usize> {
    if is_text(object) || object.cast::<PyMapping>().is_ok() {
        return None;
    }
    object.len().ok()
}

/// The version of Python in a text such as `3.9`.
fn python_version(text: &str) -> PyResult<PythonVersion> {
    text.parse().map_err(|expected| {
        PyValueError::new_err(format!(
            "`{text}` is not a known version of Python, {expected}"
        ))
    })
}

/// Adds the declared resources to a schema, and returns them with the names of their types, by
/// name: `int` and `bool` as in Python, the others as in PBS.
fn declare(
    resources: Option<&Bound<'_, PyDict>>,
    schema: &mut Schema,
) -> PyResult<Vec<(String, String)>> {
    let mut declared: Vec<(String, String)> = Vec::new();
    for (name, kind) in resources.into_iter().flatten() {
        declared.push((name.extract()?, kind.extract()?));
    }
    declared.sort();
    for (name, kind) in &declared {
        let input_type = match kind.as_str() {
            "int" => Some(InputType::Count),
            kind => InputType::from_pbs_type(kind),
        };
        let Some(input_type) = input_type else {
            return Err(PyValueError::new_err(format!(
                "the resource `{name}` has the type `{kind}`, expected `int`, `long`, `float`, `size`, `duration`, \
                 `boolean`, `string` or `string_array`"
            )));
        };
        for schema in [&mut Schema::empty(), &mut *schema] {
            schema
                .add(name, input_type)
                .map_err(|error| PyValueError::new_err(error.to_string()))?;
        }
    }
    Ok(declared)
}
