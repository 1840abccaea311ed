//! A log of jobs run through time under a formula, as the command `jsf simulate` does.

use job_sort_formula::rank::OnError;
use jsf::commands::simulate::answer::SimulationReport;
use jsf::commands::simulate::failures::FailingJobs;
use jsf::requests::doubts;
use jsf::view::words::too_short;
use jsf_openpbs::resource_amount::NumberMode;
use jsf_simulate::{
    Backfill, Goals, JudgedGoal, Results, WarmUp, Workload as Log, WorkloadJob, bounded_slowdown,
};
use jsf_site::{
    SimulateRequest, SimulatedQueue, Site as OpenedSite, SiteError, StartingUsage, check_warm_up,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::answer::{result, without_rows, written};
use crate::argument::Keywords;
use crate::error::{site_error, worded};
use crate::goals::read_goals;
use crate::site::{Given, Site};
use crate::table::{Table, TableBuilder};
use crate::watch::watched;
use crate::workload::{GivenRules, Workload};

/// The keyword arguments of a simulation.
pub struct Options<'py> {
    pub processors: Option<u32>,
    pub backfill: Option<Backfill>,
    pub usage: StartingUsage,
    pub warm_up: Option<i64>,
    pub decay_period: Option<u64>,
    pub decay_factor: Option<f64>,
    pub goals: Option<Bound<'py, PyAny>>,
    pub rules: GivenRules,
}

impl<'py> Options<'py> {
    pub fn take(given: &Keywords<'py>) -> PyResult<Self> {
        let decay_period = given.duration("decay")?;
        if decay_period == Some(0) {
            return Err(PyValueError::new_err(
                "`decay` is 0, expected at least a second",
            ));
        }
        let decay_factor: Option<f64> = given.take_as("decay_factor", "a number")?;
        if let Some(factor) = decay_factor.filter(|factor| !(0.0..=1.0).contains(factor)) {
            return Err(PyValueError::new_err(format!(
                "`decay_factor` is {factor}, expected a number from 0 to 1"
            )));
        }
        let backfill = [
            ("easy", Backfill::Easy),
            ("greedy", Backfill::Greedy),
            ("none", Backfill::None),
        ];
        let usage = [
            ("start", StartingUsage::Tree),
            ("fresh", StartingUsage::Fresh),
        ];
        Ok(Self {
            processors: given
                .take("processors")?
                .as_ref()
                .map(processors)
                .transpose()?,
            backfill: given.word("backfill", &backfill)?,
            usage: given.word("usage", &usage)?.unwrap_or_default(),
            warm_up: given
                .duration("warm_up")?
                .map(|seconds| i64::try_from(seconds).unwrap_or(i64::MAX)),
            decay_period,
            decay_factor,
            goals: given.take("goals")?,
            rules: GivenRules::take(given)?,
        })
    }
}

/// Runs a log through time under a formula, without a site: the higher value first, then the
/// earlier submission. A `Workload` is run on the site that it was read for. The other arguments
/// are those of `Site.simulate`.
#[pyfunction]
#[pyo3(signature = (workload, formula = None, **options))]
pub fn simulate<'py>(
    py: Python<'py>,
    workload: &Bound<'py, PyAny>,
    formula: Option<&Bound<'py, PyAny>>,
    options: Option<Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let site = match workload.cast::<Workload>() {
        Ok(workload) => workload.get().site().clone(),
        Err(_) => Site::without_files(formula.map(std::slice::from_ref).unwrap_or_default())?,
    };
    site.simulated(py, formula, workload, options)
}

impl Site {
    /// Refuses a site with which no log is simulated.
    pub fn check_simulated(&self) -> PyResult<()> {
        match self.numbers() {
            NumberMode::Decimal => Err(PyValueError::new_err(
                "a simulation computes with doubles, not with decimals",
            )),
            NumberMode::OpenPbs | NumberMode::Exact => Ok(()),
        }
    }

    /// Runs a log through time under a formula.
    pub fn simulated<'py>(
        &self,
        py: Python<'py>,
        formula: Option<&Bound<'py, PyAny>>,
        workload: &Bound<'py, PyAny>,
        options: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.check_simulated()?;
        let keywords = Keywords::new(py, options);
        let options = Options::take(&keywords)?;
        keywords.finish()?;
        let given = self.given(formula)?;
        let goals = options
            .goals
            .as_ref()
            .map(|goals| read_goals(goals, &self.shared()))
            .transpose()?;
        let formulas = std::slice::from_ref(&given.parsed);
        let workload =
            Workload::given(py, workload, self, formulas, goals.as_ref(), options.rules)?;
        self.run(py, &given, &workload, goals.as_ref(), &options)
    }

    fn run<'py>(
        &self,
        py: Python<'py>,
        given: &Given,
        workload: &Workload,
        goals: Option<&Goals>,
        options: &Options<'_>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let absent = workload.check_goals(goals)?;
        let (site, log) = (self.shared(), workload.log());
        let Options {
            processors,
            backfill,
            usage,
            warm_up,
            decay_period,
            decay_factor,
            ..
        } = *options;
        let simulated = watched(py, None, |mut watch| {
            let default = match warm_up {
                Some(_) => WarmUp::None,
                None => site.warm_up(&log, usage, decay_period)?,
            };
            let warm_up = warm_up.unwrap_or(default.seconds());
            check_warm_up(&log, warm_up)?;
            let simulated = site.simulate(SimulateRequest {
                processors,
                backfill,
                usage,
                decay_period,
                decay_factor,
                ..SimulateRequest::new(&given.parsed, &log, &mut watch)
            })?;
            let results = simulated.results(&log, warm_up);
            let goals = results.judge(goals, &log, &simulated.schedule, None);
            let run = Run {
                site: &site,
                given,
                log: &log,
                simulated,
                results,
                goals,
            };
            Ok((
                run.jobs(),
                run.failed(),
                run.warnings(),
                run.document(),
                default,
            ))
        })?;
        let (jobs, failed, of_run, document, default) =
            simulated.map_err(|error: SiteError| site_error(&error))?;
        let of_log = workload
            .warnings()
            .into_iter()
            .chain(absent)
            .chain(too_short(default));
        let warnings: Vec<String> = worded(&self.shared().warnings())
            .into_iter()
            .chain(of_log)
            .chain(of_run)
            .collect();
        let others = [
            ("jobs", Py::new(py, jobs?)?.into_bound(py).into_any()),
            ("failed", failed.into_pyobject(py)?.into_any()),
            ("warnings", warnings.into_pyobject(py)?.into_any()),
        ];
        result(py, "Simulation", &document?, others)
    }
}

/// A simulation that has ended.
struct Run<'a> {
    site: &'a OpenedSite,
    given: &'a Given,
    log: &'a Log,
    simulated: SimulatedQueue,
    results: Results,
    goals: Vec<JudgedGoal>,
}

impl Run<'_> {
    fn jobs(&self) -> PyResult<Table> {
        let log = self.log;
        let started: Vec<_> = log
            .jobs()
            .iter()
            .enumerate()
            .filter_map(|(index, job)| Some((index, job, self.simulated.schedule.start(index)?)))
            .collect();
        let end = |index: usize| self.simulated.schedule.end(log, index);
        let jobs = || started.iter();
        let mut columns = TableBuilder::default();
        columns.texts("id", jobs().map(|(index, ..)| Some(log.id(*index))));
        columns.texts(
            "entity",
            jobs().map(|(_, job, _)| Some(&log.entities()[job.entity as usize])),
        );
        columns.texts(
            "queue",
            jobs().map(|(_, job, _)| Some(&log.queues()[job.queue as usize])),
        );
        columns.integers(
            "processors",
            jobs().map(|(_, job, _)| Some(job.processors.into())),
        );
        columns.integers("submit", jobs().map(|(_, job, _)| Some(job.submit)));
        columns.integers("start", jobs().map(|(_, _, start)| Some(*start)));
        columns.integers("end", jobs().map(|(index, ..)| end(*index)));
        columns.integers(
            "wait",
            jobs().map(|(_, job, start)| Some(start - job.submit)),
        );
        let slowdown = |&(index, job, _): &(usize, &WorkloadJob, i64)| {
            let wait = end(index)? - job.duration() - job.submit;
            Some(bounded_slowdown(wait, job.duration()))
        };
        columns.floats("bounded_slowdown", jobs().map(slowdown));
        columns.finish(&[], "{}".to_owned())
    }

    fn failed(&self) -> usize {
        self.simulated.schedule.errors.jobs()
    }

    /// What is doubtful about the formula and the simulation, and for which jobs the formula fails.
    fn warnings(&self) -> Vec<String> {
        let SimulatedQueue {
            schedule,
            shares,
            warnings,
            ..
        } = &self.simulated;
        let doubts = worded(&doubts(&self.site.lint(&self.given.parsed, self.log)));
        let (formula, shares) = (&self.given.parsed, shares.as_deref());
        let failing = FailingJobs::new(
            formula,
            self.log,
            &schedule.errors,
            shares,
            OnError::default(),
        );
        let failing = failing.map(|failing| failing.clause("the formula"));
        doubts
            .into_iter()
            .chain(warnings.iter().cloned())
            .chain(failing)
            .collect()
    }

    fn document(self) -> PyResult<String> {
        let Self {
            given,
            log,
            simulated,
            results,
            goals,
            ..
        } = self;
        let report = SimulationReport::new(&given.text, log, simulated, results, goals);
        without_rows(&written(&report, &[])?)
    }
}

fn processors(given: &Bound<'_, PyAny>) -> PyResult<u32> {
    let refused = || {
        PyValueError::new_err(format!(
            "`processors` is {given}, expected a number from 1 to {}",
            u32::MAX
        ))
    };
    match given.extract::<u32>() {
        Ok(0) => Err(refused()),
        Ok(processors) => Ok(processors),
        Err(error) if error.is_instance_of::<PyTypeError>(given.py()) => Err(error),
        Err(_) => Err(refused()),
    }
}
