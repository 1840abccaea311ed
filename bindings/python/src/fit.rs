//! The constants of a template that meet wishes or goals, as the command `jsf fit` finds them.

use job_sort_formula::formula::Template as Parsed;
use jsf::commands::fit::answer::{GoalFitReport, WishFitReport, not_advised, unmet_wishes};
use jsf::commands::fit::formula_to_set::FormulaToSet;
use jsf_fit::goals::{FitError, FitOptions, fit_goals, formulas_read};
use jsf_fit::is_scale_free;
use jsf_fit::wishes::{WishError, WishOptions, Wishes, fit_wishes};
use jsf_simulate::Goals;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString};

use crate::answer::{result, written};
use crate::argument::{Keywords, number, text, texts, whole};
use crate::error::site_error;
use crate::goals::{read_goals, read_text};
use crate::need::in_python;
use crate::simulation::Options;
use crate::site::Site;
use crate::source::optional_source;
use crate::template::{Template, values_of};
use crate::watch::{Watch, watched};
use crate::workload::Workload;

/// The longest file of wishes, in bytes.
const MAX_WISHES_BYTES: usize = 4 << 20;
/// The most formulas that are tried.
const MAX_EVALUATIONS: usize = 1_000_000;
/// What of a log may be held out.
const HELD_OUT: std::ops::RangeInclusive<f64> = 0.1..=0.8;

/// What is wanted of the jobs that wait.
pub struct GivenWishes<'py> {
    pub wishes: Option<Bound<'py, PyAny>>,
    pub prefer: Option<Bound<'py, PyAny>>,
}

/// How to search.
pub struct GivenSearch<'py> {
    old: Option<Bound<'py, PyAny>>,
    seed: u64,
    evaluations: Option<usize>,
    held_out: f64,
    force: bool,
}

impl Site {
    /// Finds the constants that meet wishes about the jobs that wait.
    pub fn fit_queue<'py>(
        &self,
        py: Python<'py>,
        template: &Parsed,
        given: &GivenWishes<'_>,
        search: &GivenSearch<'_>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let evaluations = search.evaluations(WishOptions::default().evaluations)?;
        let options = WishOptions {
            seed: search.seed,
            evaluations,
        };
        let wishes = given.wishes()?;
        let site = self.shared();
        let fit = watched(py, progress, |watch: &Watch<'_>| {
            let mut report = |ended: jsf_fit::wishes::WishProgress| {
                watch.report(ended.evaluations, evaluations, None)
            };
            fit_wishes(&site, template, &wishes, &options, &mut report)
        })?;
        let fit = fit.map_err(wish_error)?;
        let to_set = py.detach(|| FormulaToSet::new(&site, &fit.formula, unmet_wishes(&fit)));
        let document = written(&WishFitReport::new(template.text(), &fit, &to_set), &[])?;
        fitted(py, &document, self.warnings(), &to_set)
    }

    /// Finds the constants that meet goals about the waits of a log.
    pub fn fit_log<'py>(
        &self,
        py: Python<'py>,
        template: &Parsed,
        workload: &Bound<'_, PyAny>,
        given: &Options<'_>,
        search: &GivenSearch<'_>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Asked {
            goals,
            options,
            workload,
            warnings,
        } = self.asked(py, template, workload, given, search)?;
        let (site, log) = (self.shared(), workload.log());
        let fit = watched(py, progress, |watch| {
            fit_goals(&site, template, &log, &goals, &options, watch)
        })?;
        let fit = fit.map_err(fit_error)?;
        let to_set = py.detach(|| FormulaToSet::new(&site, &fit.formula, not_advised(&fit)));
        let document = written(&GoalFitReport::new(template.text(), &fit, &to_set), &[])?;
        fitted(py, &document, warnings, &to_set)
    }

    /// What a search of another program minimises.
    pub fn objective_on(
        &self,
        py: Python<'_>,
        template: Parsed,
        workload: &Bound<'_, PyAny>,
        given: &Options<'_>,
        search: &GivenSearch<'_>,
    ) -> PyResult<Objective> {
        let Asked {
            goals,
            options,
            workload,
            warnings,
        } = self.asked(py, &template, workload, given, search)?;
        let (site, log) = (self.shared(), workload.log());
        let objective = watched(py, None, move |watch| {
            jsf_fit::goals::Objective::new(site, template, &log, goals, options, watch)
        })?;
        Ok(Objective {
            objective: objective.map_err(fit_error)?,
            warnings,
        })
    }

    /// The goals, the options and the log of a fit.
    fn asked(
        &self,
        py: Python<'_>,
        template: &Parsed,
        workload: &Bound<'_, PyAny>,
        given: &Options<'_>,
        search: &GivenSearch<'_>,
    ) -> PyResult<Asked> {
        self.check_simulated()?;
        let site = self.shared();
        let goals = given
            .goals
            .as_ref()
            .ok_or_else(|| PyValueError::new_err("no goals are given"))?;
        let goals = read_goals(goals, &site)?;
        let in_force = match &search.old {
            Some(old) => Some(self.given(Some(old))?.text),
            None => site.formula_text().ok().map(|formula| formula.text),
        };
        if !HELD_OUT.contains(&search.held_out) {
            let message = format!(
                "`held_out` is {}, expected a part of the log from 0.1 to 0.8",
                search.held_out
            );
            return Err(PyValueError::new_err(message));
        }
        let Options {
            processors,
            backfill,
            usage,
            warm_up,
            decay_period,
            decay_factor,
            ..
        } = *given;
        let formulas = formulas_read(template, in_force.as_deref());
        let options = FitOptions {
            in_force,
            is_scale_free: is_scale_free(template) && site.threshold().is_none(),
            seed: search.seed,
            evaluations: search.evaluations(FitOptions::default().evaluations)?,
            held_out: search.held_out,
            force: search.force,
            warm_up,
            processors,
            backfill,
            usage,
            decay_period,
            decay_factor,
        };
        let workload = Workload::given(py, workload, self, &formulas, Some(&goals), given.rules)?;
        let absent = workload.check_goals(Some(&goals))?;
        let warnings = [self.warnings(), workload.warnings(), absent].concat();
        Ok(Asked {
            goals,
            options,
            workload,
            warnings,
        })
    }
}

fn fitted<'py>(
    py: Python<'py>,
    document: &str,
    mut warnings: Vec<String>,
    to_set: &FormulaToSet,
) -> PyResult<Bound<'py, PyAny>> {
    warnings.extend(to_set.warning());
    result(
        py,
        "Fit",
        document,
        [("warnings", warnings.into_pyobject(py)?.into_any())],
    )
}

/// What is fitted on a log.
struct Asked {
    goals: Goals,
    options: FitOptions,
    workload: Workload,
    /// What is doubtful about the site, the log and the goals.
    warnings: Vec<String>,
}

impl<'py> GivenSearch<'py> {
    pub fn take(given: &Keywords<'py>) -> PyResult<Self> {
        let seed = given.take_as("seed", "a whole number")?.unwrap_or(1);
        Ok(Self {
            old: given.take("old")?,
            seed: whole("seed", seed, &(0..=u64::MAX))?,
            evaluations: given.take_as("evaluations", "a number of formulas")?,
            held_out: given.take_as("held_out", "a number")?.unwrap_or(0.33),
            force: given.take_as("force", "a bool")?.unwrap_or(false),
        })
    }

    fn evaluations(&self, default: usize) -> PyResult<usize> {
        match self.evaluations.unwrap_or(default) {
            evaluations @ 1..=MAX_EVALUATIONS => Ok(evaluations),
            other => {
                let message = format!(
                    "`evaluations` is {other}, expected a number of formulas from 1 to {MAX_EVALUATIONS}"
                );
                Err(PyValueError::new_err(message))
            }
        }
    }
}

impl GivenWishes<'_> {
    pub fn are_given(&self) -> bool {
        self.wishes.is_some() || self.prefer.is_some()
    }

    fn wishes(&self) -> PyResult<Wishes> {
        let mut wishes = Wishes::default();
        if let Some(pairs) = &self.prefer {
            for pair in pairs.try_iter()? {
                let [above, below] = pair_of(&pair?)?;
                wishes.prefer(&above, &below).map_err(wish_error)?;
            }
        }
        if let Some(given) = &self.wishes {
            let (name, text) = document_of(given)?;
            wishes.read(&name, &text).map_err(wish_error)?;
        }
        Ok(wishes)
    }
}

/// A pair of ids, of which the first job is to be before the second.
fn pair_of(given: &Bound<'_, PyAny>) -> PyResult<[String; 2]> {
    let pair: Option<[String; 2]> = if given.is_instance_of::<PyString>() {
        None
    } else {
        texts("prefer", given)?.try_into().ok()
    };
    pair.ok_or_else(|| PyTypeError::new_err("`prefer`: expected pairs of ids"))
}

/// The name and the text of the document with wishes that a caller gives: a path, or the ids,
/// groups or scores that it would have.
fn document_of(given: &Bound<'_, PyAny>) -> PyResult<(String, String)> {
    if let Ok(scores) = given.cast::<PyMapping>() {
        let lines = scores.items()?.iter().map(|item| {
            let (id, score): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            let id = id_of(&id)?;
            let score = number(format_args!("the score of `{id}`"), &score)?;
            Ok(format!("{id},{score:?}"))
        });
        let lines: PyResult<Vec<String>> = lines.collect();
        return Ok(("wishes".to_owned(), lines?.join("\n")));
    }
    if let Some(source) = optional_source("wishes", given)? {
        return read_text(source, MAX_WISHES_BYTES);
    }
    let wrong = |_| {
        PyTypeError::new_err(
            "expected wishes as ids of jobs, best first, a list of groups of ids, a dict with scores, or a path",
        )
    };
    let listed = given
        .try_iter()
        .map_err(wrong)?
        .collect::<PyResult<Vec<_>>>()?;
    if listed.iter().all(|id| id.is_instance_of::<PyString>()) {
        let ids = listed.iter().map(id_of).collect::<PyResult<Vec<_>>>()?;
        return Ok(("wishes".to_owned(), ids.join("\n")));
    }
    let groups = listed.iter().map(|group| {
        if group.is_instance_of::<PyString>() {
            Err(PyTypeError::new_err(
                "expected wishes as ids of jobs or as groups of ids, not both",
            ))
        } else {
            group
                .try_iter()
                .map_err(wrong)?
                .map(|id| id_of(&id?))
                .collect()
        }
    });
    let groups = groups.collect::<PyResult<Vec<Vec<String>>>>()?;
    if groups.len() < 2 || groups.iter().any(Vec::is_empty) {
        return Err(PyValueError::new_err(
            "expected at least two groups of jobs, and a job in each",
        ));
    }
    let groups: Vec<String> = groups.iter().map(|group| group.join("\n")).collect();
    Ok(("wishes".to_owned(), groups.join("\n\n")))
}

/// The id of a job, which has none of the characters that separate ids in a document.
fn id_of(given: &Bound<'_, PyAny>) -> PyResult<String> {
    let id = text("an id in `wishes`", given)?;
    if id.is_empty()
        || id.contains(|character: char| {
            character.is_whitespace() || matches!(character, ',' | '#' | '"')
        })
    {
        Err(PyValueError::new_err(format!(
            "`{id}` is not the id of a job"
        )))
    } else {
        Ok(id)
    }
}

fn wish_error(error: WishError) -> PyErr {
    match error {
        WishError::Site(error) => site_error(&error),
        error => PyValueError::new_err(error.message().worded(in_python)),
    }
}

fn fit_error(error: FitError) -> PyErr {
    match error {
        FitError::Site(error) => site_error(&error),
        FitError::TooShort { .. } => {
            PyValueError::new_err(format!("{error}; `force=True` fits it all the same"))
        }
        error => PyValueError::new_err(error.to_string()),
    }
}

/// What a search minimises: a template on the part of a log that `Site.fit` searches.
#[pyclass(frozen, module = "job_sort_formula")]
pub struct Objective {
    objective: jsf_fit::goals::Objective,
    /// What is doubtful about the site, the log and the goals, one sentence each.
    #[pyo3(get)]
    warnings: Vec<String>,
}

#[pymethods]
impl Objective {
    /// The template.
    #[getter]
    fn template(&self) -> Template {
        Template {
            parsed: self.objective.template().clone(),
        }
    }

    /// Simulates the formula with these constants, as `Template.fill` takes them. A dict with
    /// `formula`, `values`, `missed` (by which part of their limits the goals are missed: 0 if all
    /// are met), `objective` (None if there is none) and `loss` (the objective as what is to be
    /// small). The best formula has the least `missed`, and of equal ones the least `loss`.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let values = values_of(self.objective.template(), values)?;
        let point = watched(py, None, |watch| self.objective.evaluate(&values, watch))?
            .map_err(fit_error)?;
        let evaluated = PyDict::new(py);
        evaluated.set_item("formula", point.formula)?;
        evaluated.set_item("values", point.values)?;
        evaluated.set_item("missed", point.score.missed)?;
        evaluated.set_item("objective", point.objective)?;
        evaluated.set_item("loss", point.score.objective)?;
        Ok(evaluated)
    }

    fn __repr__(&self) -> String {
        format!("<Objective of {}>", self.objective.template().text())
    }
}
