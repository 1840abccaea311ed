//! `Workload`: a log of jobs that is read once and simulated many times.

use std::sync::Arc;

use job_sort_formula::Formula as Parsed;
use jsf_simulate::{Cancelled, Goals, LogRules, Overrun, ProcessorsOf, Workload as Log};
use jsf_site::{FileSource, Site as OpenedSite, SiteFiles, SiteOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::argument::Keywords;
use crate::error::site_error;
use crate::formula::{Formula, resource_types};
use crate::goals::read_goals;
use crate::ranked::list_of;
use crate::site::Site;
use crate::source::{optional_source, source};

/// A log of jobs, read for the names in some formulas. Simulations share it.
#[pyclass(frozen, module = "job_sort_formula")]
#[derive(Clone)]
pub struct Workload {
    /// The site by whose rules the log was read.
    site: Site,
    log: Arc<Log>,
    /// What the log was read for: the names in formulas and goals that only a log has.
    names: Vec<String>,
}

/// What of a log is simulated; `None` where a caller does not say it.
#[derive(Clone, Copy)]
pub struct GivenRules {
    cancelled: Option<Cancelled>,
    overrun: Option<Overrun>,
    processors_of: Option<ProcessorsOf>,
}

#[pymethods]
impl Workload {
    /// Reads a log, or several: a path, a folder, the content of a log, or a list of them.
    /// `formulas` (by default the one in force) and `goals` say which amounts of the jobs are kept.
    /// `cancelled`, `overrun` and `processors_of` are as in `Site.simulate`.
    #[staticmethod]
    #[pyo3(signature = (paths, *, site = None, formulas = None, **options))]
    fn read<'py>(
        py: Python<'py>,
        paths: &Bound<'py, PyAny>,
        site: Option<&Bound<'py, Site>>,
        formulas: Option<&Bound<'py, PyAny>>,
        options: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Self> {
        let options = Keywords::new(py, options);
        let (goals, rules) = (options.take("goals")?, GivenRules::take(&options)?);
        options.finish()?;
        let formulas = formulas.map(formulas_of).transpose()?.unwrap_or_default();
        let site = match site {
            Some(site) => site.get().clone(),
            None => Site::without_files(&formulas)?,
        };
        let goals = goals
            .map(|goals| read_goals(&goals, &site.shared()))
            .transpose()?;
        let formulas = formulas
            .iter()
            .map(|formula| Ok(site.given(Some(formula))?.parsed));
        let mut formulas = formulas.collect::<PyResult<Vec<Parsed>>>()?;
        if formulas.is_empty() {
            formulas.extend(site.given(None).ok().map(|in_force| in_force.parsed));
        }
        Self::open(
            py,
            logs_of("paths", paths)?,
            site,
            &formulas,
            goals.as_ref(),
            rules,
        )
    }

    /// What is doubtful about the log, one sentence each.
    #[getter]
    pub fn warnings(&self) -> Vec<String> {
        let left_out = self
            .log
            .faults()
            .summary([])
            .map(|left_out| format!("left out of the log: {left_out}"));
        let assumed = self.log.assumed_walltimes().in_words();
        let assumed =
            assumed.map(|assumed| format!("requested times that the log does not say: {assumed}"));
        [&*self.log.faults().messages(), self.log.notes()]
            .concat()
            .into_iter()
            .chain(left_out)
            .chain(assumed)
            .collect()
    }

    /// The number of processors of the machine, if the log says it.
    #[getter]
    fn processors(&self) -> Option<u32> {
        self.log.machine_processors()
    }

    fn __len__(&self) -> usize {
        self.log.jobs().len()
    }

    fn __repr__(&self) -> String {
        format!("<Workload of {} jobs>", self.log.jobs().len())
    }
}

impl Workload {
    pub fn site(&self) -> &Site {
        &self.site
    }

    pub fn log(&self) -> Arc<Log> {
        Arc::clone(&self.log)
    }

    /// The workload that a caller gives, which is read now if it is the path of a log, or several.
    pub fn given(
        py: Python<'_>,
        given: &Bound<'_, PyAny>,
        site: &Site,
        formulas: &[Parsed],
        goals: Option<&Goals>,
        rules: GivenRules,
    ) -> PyResult<Self> {
        let Ok(workload) = given.cast::<Self>() else {
            return Self::open(
                py,
                logs_of("workload", given)?,
                site.clone(),
                formulas,
                goals,
                rules,
            );
        };
        let workload = workload.get();
        rules.check_absent()?;
        if !Arc::ptr_eq(&workload.site.shared(), &site.shared()) {
            return Err(PyValueError::new_err(
                "the workload was read for another site: give this one to `Workload.read` as `site`",
            ));
        }
        workload.check_names(formulas, goals)?;
        Ok(workload.clone())
    }

    pub fn open(
        py: Python<'_>,
        logs: Vec<FileSource>,
        site: Site,
        formulas: &[Parsed],
        goals: Option<&Goals>,
        rules: GivenRules,
    ) -> PyResult<Self> {
        let rules = rules.of_log();
        let opened = site.shared();
        let formulas = with_conditions(formulas, goals);
        let log = py
            .detach(|| opened.open_workload(&logs, &formulas, rules))
            .map_err(|error| site_error(&error))?;
        py.check_signals()?;
        let names = opened
            .names_in_log(&formulas)
            .into_iter()
            .map(str::to_owned)
            .collect();
        Ok(Self {
            site,
            log: Arc::new(log),
            names,
        })
    }

    /// Checks that the log has what goals name; the warnings are of what is not there.
    pub fn check_goals(&self, goals: Option<&Goals>) -> PyResult<Vec<String>> {
        let absent = goals
            .map(|goals| self.site.shared().check_goals(goals, &self.log))
            .transpose();
        absent
            .map(Option::unwrap_or_default)
            .map_err(|error| site_error(&error))
    }

    /// Checks that the log was read for these formulas and goals.
    fn check_names(&self, formulas: &[Parsed], goals: Option<&Goals>) -> PyResult<()> {
        let site = self.site.shared();
        let missing = site
            .names_in_log(&with_conditions(formulas, goals))
            .into_iter()
            .find(|name| !self.names.iter().any(|known| known == name));
        missing.map_or(Ok(()), |name| {
            Err(PyValueError::new_err(format!(
                "the workload was read without `{name}`: give `Workload.read` the formula in `formulas`, or the file in `goals`"
            )))
        })
    }
}

impl GivenRules {
    pub fn take(given: &Keywords<'_>) -> PyResult<Self> {
        let cancelled = [
            ("leave-out", Cancelled::LeaveOut),
            ("keep", Cancelled::Keep),
        ];
        let overrun = [("cut", Overrun::Cut), ("keep", Overrun::Keep)];
        let processors_of = [
            ("requested", ProcessorsOf::Requested),
            ("allocated", ProcessorsOf::Allocated),
        ];
        Ok(Self {
            cancelled: given.word("cancelled", &cancelled)?,
            overrun: given.word("overrun", &overrun)?,
            processors_of: given.word("processors_of", &processors_of)?,
        })
    }

    /// That nothing is said here about a workload that was read before.
    fn check_absent(self) -> PyResult<()> {
        let name = match self {
            Self {
                cancelled: Some(_), ..
            } => "cancelled",
            Self {
                overrun: Some(_), ..
            } => "overrun",
            Self {
                processors_of: Some(_),
                ..
            } => "processors_of",
            _ => return Ok(()),
        };
        Err(PyValueError::new_err(format!(
            "the workload is read: `{name}` is an argument of `Workload.read`"
        )))
    }

    fn of_log(self) -> LogRules {
        LogRules {
            cancelled: self.cancelled.unwrap_or_default(),
            overrun: self.overrun.unwrap_or_default(),
            processors_of: self.processors_of.unwrap_or_default(),
            ..LogRules::default()
        }
    }
}

impl Site {
    /// A site that has nothing but the resources that these formulas declare, and their version of
    /// Python.
    pub fn without_files(formulas: &[Bound<'_, PyAny>]) -> PyResult<Self> {
        let mut declared = Vec::new();
        let mut python = None;
        for formula in formulas
            .iter()
            .filter_map(|formula| formula.cast::<Formula>().ok())
        {
            let compiled = formula.get().shared();
            declared.extend(compiled.resources.iter().cloned());
            python = python.or(compiled.python);
        }
        let options = SiteOptions {
            python,
            ..SiteOptions::default()
        };
        let files = SiteFiles::default().declaring(resource_types(&declared)?);
        let site = OpenedSite::from_files(files, options).map_err(|error| site_error(&error))?;
        Ok(Self::new(site, options.numbers))
    }
}

/// The formulas that a caller gives: one, or several.
fn formulas_of<'py>(given: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if given.is_instance_of::<PyString>() || given.is_instance_of::<Formula>() {
        Ok(vec![given.clone()])
    } else {
        Ok(
            list_of("`formulas`: expected a str or a Formula, or several", given)?
                .iter()
                .collect(),
        )
    }
}

/// The formulas, and the conditions of goals, whose names a log is read for.
fn with_conditions<'a>(formulas: &'a [Parsed], goals: Option<&'a Goals>) -> Vec<&'a Parsed> {
    formulas
        .iter()
        .chain(goals.into_iter().flat_map(Goals::conditions))
        .collect()
}

/// The logs that a caller gives: one, or several.
fn logs_of(name: &str, given: &Bound<'_, PyAny>) -> PyResult<Vec<FileSource>> {
    let expected = "a path, a text, bytes, an open file, a list of them or a Workload";
    if let Some(log) = optional_source(name, given)? {
        return Ok(vec![log]);
    }
    // iterating a data frame or a dict gives names
    let has_columns = given.hasattr("columns")? || given.hasattr("keys")?;
    match given.extract::<Vec<Bound<'_, PyAny>>>() {
        Ok(logs) if logs.is_empty() => Err(PyValueError::new_err(format!(
            "`{name}`: the list of logs is empty"
        ))),
        Ok(logs) if !has_columns => logs.iter().map(|log| source(name, log, expected)).collect(),
        _ => Ok(vec![source(name, given, expected)?]),
    }
}
