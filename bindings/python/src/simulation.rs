//! `Simulation`: a log of jobs run through time under a formula, as the command `jsf simulate` does.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use job_sort_formula::rank::OnError;
use jsf::commands::simulate::answer::SimulationReport;
use jsf::commands::simulate::failures::FailingJobs;
use jsf::view::words::{too_short, waiting_time};
use jsf_openpbs::duration_notation::parse_duration;
use jsf_openpbs::resource_amount::NumberMode;
use jsf_simulate::{
    Backfill, EvaluationErrors, Goals, JudgedGoal, Observer, Results, WarmUp, Workload as Log, bounded_slowdown,
};
use jsf_site::{SimulateRequest, SimulatedQueue, SiteError, StartingUsage, check_warm_up};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};

use crate::error::site_error;
use crate::goals::read_goals;
use crate::need::in_python;
use crate::site::{Given, Site, doubts, json, unknown, written};
use crate::table::{Table, TableBuilder};
use crate::watch::BETWEEN_SIGNALS;
use crate::workload::{GivenRules, Workload};

/// A log of jobs, run through time under a formula.
#[pyclass(frozen, module = "job_sort_formula")]
pub struct Simulation(Simulated);

enum Simulated {
    Run(Box<Run>),
    Unpickled(Box<Pickled>),
}

/// What a pickled simulation says.
#[derive(FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
struct Pickled {
    formula: String,
    jobs: Py<Table>,
    document: String,
    without_jobs: String,
    failed: usize,
    warnings: Vec<String>,
    shown: String,
}

/// A simulation, from which each answer is made when it is asked for.
struct Run {
    site: Site,
    given: Given,
    log: Arc<Log>,
    simulated: SimulatedQueue,
    results: Results,
    goals: Vec<JudgedGoal>,
    /// What is doubtful about the log and about what does not count.
    warnings: Vec<String>,
}

/// The arguments of a simulation besides the formula and the workload.
pub struct Options<'py> {
    pub processors: Option<Bound<'py, PyAny>>,
    pub goals: Option<Bound<'py, PyAny>>,
    pub usage: Option<&'py str>,
    pub backfill: Option<&'py str>,
    pub warm_up: Option<Bound<'py, PyAny>>,
    pub decay: Option<Bound<'py, PyAny>>,
    pub decay_factor: Option<f64>,
    pub rules: GivenRules<'py>,
}

/// Runs a log through time under a formula, without a site: the higher value first, then the earlier submission. A `Workload` is
/// run on the site that it was read for.
#[pyfunction]
#[pyo3(signature = (
    workload, formula = None, *, processors = None, goals = None, usage = None, backfill = None, warm_up = None,
    decay = None, decay_factor = None, cancelled = None, overrun = None, processors_of = None,
))]
#[expect(clippy::too_many_arguments, reason = "the keyword arguments of Python")]
pub fn simulate<'py>(
    py: Python<'py>,
    workload: &Bound<'py, PyAny>,
    formula: Option<&Bound<'py, PyAny>>,
    processors: Option<Bound<'py, PyAny>>,
    goals: Option<Bound<'py, PyAny>>,
    usage: Option<&'py str>,
    backfill: Option<&'py str>,
    warm_up: Option<Bound<'py, PyAny>>,
    decay: Option<Bound<'py, PyAny>>,
    decay_factor: Option<f64>,
    cancelled: Option<&'py str>,
    overrun: Option<&'py str>,
    processors_of: Option<&'py str>,
) -> PyResult<Simulation> {
    let rules = GivenRules { cancelled, overrun, processors_of };
    let options = Options { processors, goals, usage, backfill, warm_up, decay, decay_factor, rules };
    let site = match workload.cast::<Workload>() {
        Ok(workload) => workload.get().site().clone(),
        Err(_) => Site::without_files(formula.map(std::slice::from_ref).unwrap_or_default())?,
    };
    site.simulated(py, formula, workload, &options)
}

impl Site {
    /// Refuses a site with which no log is simulated.
    pub fn check_simulated(&self) -> PyResult<()> {
        match self.numbers() {
            NumberMode::Decimal => Err(PyValueError::new_err("a simulation computes with doubles, not with decimals")),
            NumberMode::OpenPbs | NumberMode::Exact => Ok(()),
        }
    }

    /// Runs a log through time under a formula.
    pub fn simulated(
        &self,
        py: Python<'_>,
        formula: Option<&Bound<'_, PyAny>>,
        workload: &Bound<'_, PyAny>,
        options: &Options<'_>,
    ) -> PyResult<Simulation> {
        self.check_simulated()?;
        let given = self.given(formula)?;
        let goals = options.goals.as_ref().map(|goals| read_goals(goals, &self.shared())).transpose()?;
        let request = Request::new(options)?;
        let formulas = std::slice::from_ref(&given.parsed);
        let workload = Workload::given(py, workload, self, formulas, goals.as_ref(), options.rules)?;
        self.run(py, given, &workload, goals.as_ref(), request)
    }

    fn run(
        &self,
        py: Python<'_>,
        given: Given,
        workload: &Workload,
        goals: Option<&Goals>,
        request: Request,
    ) -> PyResult<Simulation> {
        let absent = workload.check_goals(goals)?;
        let mut signals = Signals { next: Instant::now() + BETWEEN_SIGNALS, raised: None };
        let (site, log) = (self.shared(), workload.log());
        let Request { processors, backfill, usage, warm_up, decay_period, decay_factor } = request;
        let simulated = py.detach(|| {
            let default = match warm_up {
                Some(_) => WarmUp::None,
                None => site.warm_up(&log, usage, decay_period)?,
            };
            let warm_up = warm_up.unwrap_or(default.seconds());
            check_warm_up(&log, warm_up)?;
            let observer = &mut signals;
            let simulated = site.simulate(SimulateRequest {
                processors,
                backfill,
                usage,
                decay_period,
                decay_factor,
                ..SimulateRequest::new(&given.parsed, &log, observer)
            })?;
            let results = simulated.results(&log, warm_up);
            let goals = results.judge(goals, &log, &simulated.schedule, None);
            Ok((simulated, results, goals, default))
        });
        if let Some(raised) = signals.raised {
            return Err(raised);
        }
        let (simulated, results, goals, default_warm_up) = simulated.map_err(|error: SiteError| site_error(&error))?;
        let mut warnings = workload.warnings();
        warnings.extend(absent);
        warnings.extend(too_short(default_warm_up));
        let run = Run { site: self.clone(), given, log, simulated, results, goals, warnings };
        Ok(Simulation(Simulated::Run(Box::new(run))))
    }
}

#[pymethods]
impl Simulation {
    /// The formula.
    #[getter]
    fn formula(&self) -> &str {
        match &self.0 {
            Simulated::Run(run) => &run.given.text,
            Simulated::Unpickled(pickled) => &pickled.formula,
        }
    }

    /// The jobs that start, in the order of the log: id, entity, queue, processors, submit, start, end, wait and
    /// bounded_slowdown.
    #[getter]
    fn jobs(&self, py: Python<'_>) -> PyResult<Py<Table>> {
        match &self.0 {
            Simulated::Run(run) => Py::new(py, run.jobs()?),
            Simulated::Unpickled(pickled) => Ok(pickled.jobs.clone_ref(py)),
        }
    }

    /// The numbers of all jobs that count, as a dict.
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        Ok(json(py, &self.without_jobs()?)?.get_item("summary")?.cast_into()?)
    }

    /// The goals, as the simulation meets them: dicts with name, jobs, value, limit and met.
    #[getter]
    fn goals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let document = json(py, &self.without_jobs()?)?;
        let goals = document.call_method1("get", ("goals",))?;
        if goals.is_none() { Ok(PyList::empty(py)) } else { Ok(goals.cast_into()?) }
    }

    /// The number of jobs for which the formula raises an error.
    #[getter]
    fn failed(&self) -> usize {
        match &self.0 {
            Simulated::Run(run) => run.simulated.schedule.errors.jobs(),
            Simulated::Unpickled(pickled) => pickled.failed,
        }
    }

    /// What is doubtful about the site, the log, the formula and the simulation, one sentence each.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        match &self.0 {
            Simulated::Run(run) => run.warnings(),
            Simulated::Unpickled(pickled) => pickled.warnings.clone(),
        }
    }

    /// What `jsf simulate --format json` answers, as a dict.
    #[getter]
    fn document<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json(py, &self.written()?)
    }

    fn __repr__(&self) -> String {
        match &self.0 {
            Simulated::Run(run) => run.shown(),
            Simulated::Unpickled(pickled) => pickled.shown.clone(),
        }
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let pickled = Pickled {
            formula: self.formula().to_owned(),
            jobs: self.jobs(py)?,
            document: self.written()?,
            without_jobs: self.without_jobs()?,
            failed: self.failed(),
            warnings: self.warnings(),
            shown: self.__repr__(),
        };
        let kept = pickled.into_pyobject(py)?;
        (py.get_type::<Self>().getattr("_restore")?, (kept,)).into_pyobject(py)
    }

    #[staticmethod]
    fn _restore(pickled: Pickled) -> Self {
        Self(Simulated::Unpickled(Box::new(pickled)))
    }
}

impl Simulation {
    fn written(&self) -> PyResult<String> {
        match &self.0 {
            Simulated::Run(run) => written(&run.report(), &[]),
            Simulated::Unpickled(pickled) => Ok(pickled.document.clone()),
        }
    }

    fn without_jobs(&self) -> PyResult<String> {
        match &self.0 {
            Simulated::Run(run) => run.without_jobs(),
            Simulated::Unpickled(pickled) => Ok(pickled.without_jobs.clone()),
        }
    }
}

impl Run {
    fn jobs(&self) -> PyResult<Table> {
        let log = &*self.log;
        let started: Vec<_> = log
            .jobs()
            .iter()
            .enumerate()
            .filter_map(|(index, job)| Some((index, job, self.simulated.schedule.start(index)?)))
            .collect();
        let jobs = || started.iter();
        let mut columns = TableBuilder::default();
        columns.texts("id", jobs().map(|(index, ..)| Some(log.id(*index))));
        columns.texts("entity", jobs().map(|(_, job, _)| Some(&log.entities()[job.entity as usize])));
        columns.texts("queue", jobs().map(|(_, job, _)| Some(&log.queues()[job.queue as usize])));
        columns.integers("processors", jobs().map(|(_, job, _)| Some(job.processors.into())));
        columns.integers("submit", jobs().map(|(_, job, _)| Some(job.submit)));
        columns.integers("start", jobs().map(|(_, _, start)| Some(*start)));
        columns.integers("end", jobs().map(|(_, job, start)| Some(start + job.duration())));
        columns.integers("wait", jobs().map(|(_, job, start)| Some(start - job.submit)));
        columns.floats(
            "bounded_slowdown",
            jobs().map(|(_, job, start)| Some(bounded_slowdown(start - job.submit, job.duration()))),
        );
        columns.finish(&[], "{}".to_owned())
    }

    fn warnings(&self) -> Vec<String> {
        let site = self.site.shared();
        let found = site.lint(&self.given.parsed, &self.log);
        let doubts = doubts(&found);
        let worded = site.warnings().iter().chain(&doubts).map(|warning| warning.worded(in_python));
        let own = self.warnings.iter().chain(&self.simulated.warnings).cloned();
        worded.chain(own).chain(self.failing()).collect()
    }

    fn shown(&self) -> String {
        let summary = &self.results.statistics.summary;
        let wait = waiting_time(summary.wait.mean as i64);
        format!("<Simulation of {} jobs: mean wait {wait}>", summary.jobs)
    }

    fn report(&self) -> SimulationReport<'_> {
        SimulationReport {
            formula: &self.given.text,
            workload: &self.log,
            schedule: &self.simulated.schedule,
            statistics: &self.results.statistics,
            fairness: self.results.fairness.as_ref(),
            validation: None,
            shake: None,
            policy: self.simulated.policy,
            decay: self.simulated.decay,
            processors: self.simulated.processors,
            processors_source: self.simulated.processors_source,
            goals: &self.goals,
            checked: None,
            failing: None,
            without: &self.simulated.left_out,
            has_no_waits: self.simulated.no_waits(&self.log).is_some(),
            warnings: &self.simulated.warnings,
            rules: &[],
            findings: &[],
        }
    }

    /// The document as it would be of a log without jobs, but with the numbers of this one: a sweep of thousands of runs has no
    /// use for the list of jobs.
    fn without_jobs(&self) -> PyResult<String> {
        let mut schedule = self.simulated.schedule.clone();
        schedule.too_large.clear();
        schedule.errors = EvaluationErrors::default();
        let report = SimulationReport { workload: &Log::default(), schedule: &schedule, ..self.report() };
        written(&report, &[])
    }

    /// For which jobs the formula fails.
    fn failing(&self) -> Option<String> {
        let SimulatedQueue { schedule, shares, .. } = &self.simulated;
        let shares = shares.as_deref();
        let failing = FailingJobs::new(&self.given.parsed, &self.log, &schedule.errors, shares, OnError::default())?;
        Some(failing.clause("the formula"))
    }
}

/// The options of a simulation, read from Python's.
pub struct Request {
    pub processors: Option<u32>,
    pub backfill: Option<Backfill>,
    pub usage: StartingUsage,
    pub warm_up: Option<i64>,
    pub decay_period: Option<u64>,
    pub decay_factor: Option<f64>,
}

impl Request {
    pub fn new(options: &Options<'_>) -> PyResult<Self> {
        let warm_up = options.warm_up.as_ref().map(|given| seconds("warm_up", given)).transpose()?;
        let decay_period = options.decay.as_ref().map(|given| seconds("decay", given)).transpose()?;
        if decay_period == Some(0) {
            return Err(PyValueError::new_err("`decay` is 0, expected at least a second"));
        }
        if let Some(factor) = options.decay_factor.filter(|factor| !(0.0..=1.0).contains(factor)) {
            return Err(PyValueError::new_err(format!("`decay_factor` is {factor}, expected a number from 0 to 1")));
        }
        Ok(Self {
            processors: options.processors.as_ref().map(processors).transpose()?,
            backfill: options.backfill.map(backfill).transpose()?,
            usage: options.usage.map_or(Ok(StartingUsage::default()), usage)?,
            warm_up: warm_up.map(|seconds| i64::try_from(seconds).unwrap_or(i64::MAX)),
            decay_period,
            decay_factor: options.decay_factor,
        })
    }
}

fn processors(given: &Bound<'_, PyAny>) -> PyResult<u32> {
    let refused =
        || PyValueError::new_err(format!("`processors` is {given}, expected a number from 1 to {}", u32::MAX));
    match given.extract::<u32>() {
        Ok(0) => Err(refused()),
        Ok(processors) => Ok(processors),
        Err(error) if error.is_instance_of::<PyTypeError>(given.py()) => Err(error),
        Err(_) => Err(refused()),
    }
}

fn backfill(given: &str) -> PyResult<Backfill> {
    match given {
        "easy" => Ok(Backfill::Easy),
        "greedy" => Ok(Backfill::Greedy),
        "none" => Ok(Backfill::None),
        other => Err(unknown("backfill", other, "`easy`, `greedy` or `none`")),
    }
}

fn usage(given: &str) -> PyResult<StartingUsage> {
    match given {
        "start" => Ok(StartingUsage::Tree),
        "fresh" => Ok(StartingUsage::Fresh),
        other => Err(unknown("usage", other, "`start` or `fresh`")),
    }
}

/// A duration: a number of seconds, or a text such as `24h`.
fn seconds(name: &str, given: &Bound<'_, PyAny>) -> PyResult<u64> {
    if let Ok(text) = given.cast::<PyString>() {
        return parse_duration(&text.extract::<String>()?)
            .map_err(|error| PyValueError::new_err(format!("`{name}`: {error}")));
    }
    let whole = match given.hasattr("total_seconds")? {
        true => given.floor_div(whole_second(given.py())?)?,
        false => given.clone(),
    };
    whole.extract::<u64>().map_err(|error| {
        if error.is_instance_of::<PyTypeError>(given.py()) {
            return PyTypeError::new_err(format!(
                "`{name}` is {given}, expected seconds or a duration such as \"24h\""
            ));
        }
        PyValueError::new_err(format!("`{name}` is {given}, expected seconds, 0 or more"))
    })
}

fn whole_second(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    py.import("datetime")?.getattr("timedelta")?.call1((0, 1))
}

/// Ends a simulation when Python has an exception for a signal, such as Ctrl-C.
struct Signals {
    /// When signals are looked for again.
    next: Instant,
    raised: Option<PyErr>,
}

impl Observer for Signals {
    fn progress(&mut self, _started: usize) -> ControlFlow<()> {
        if Instant::now() < self.next {
            return ControlFlow::Continue(());
        }
        self.next = Instant::now() + BETWEEN_SIGNALS;
        self.raised = Python::attach(|py| py.check_signals()).err();
        if self.raised.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}
