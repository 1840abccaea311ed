//! `Site` and `Queue`: a scheduler's files, ranked, explained and compared as the command `jsf`
//! does.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use job_sort_formula::diagnostic::Message;
use job_sort_formula::fairshare::PolicyRules;
use job_sort_formula::formula::program::CompileError;
use job_sort_formula::jobs::JobTable;
use job_sort_formula::schema::{Entry, FairshareInput, InputType, Origin};
use job_sort_formula::{Formula as Parsed, Schema, Value};
use jsf::commands::rank::answer::Job;
use jsf::commands::replay::answer::ReplayReport;
use jsf::ranked_row::RankedRow;
use jsf::requests::{AnsweredRank, AskedSite, RunError};
use jsf_json::clipped;
use jsf_openpbs::check::SiteFacts;
use jsf_openpbs::resource_amount::NumberMode;
use jsf_site::{
    FileSource, FormulaText, PolicyName, RankedQueue, Role, Site as OpenedSite, SiteError,
    SiteFiles, SiteJobs, SiteOptions,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use serde_json::json;

use crate::answer::{result, written};
use crate::argument::{Keywords, one_of, texts};
use crate::error::{site_error, syntax_error, worded};
use crate::fit::{GivenSearch, GivenWishes, Objective};
use crate::formula::{
    Compiled, Formula, declared, not_arithmetic, python_version, resource_types, without_line_end,
};
use crate::need::in_python;
use crate::simulation::Options;
use crate::source::source;
use crate::table::{Kind, Table, TableBuilder};
use crate::template::Template;

/// The columns of a comparison.
const COMPARED: [(&str, Kind); 8] = [
    ("id", Kind::Text),
    ("entity", Kind::Text),
    ("queue", Kind::Text),
    ("old_rank", Kind::Integer),
    ("new_rank", Kind::Integer),
    ("old_score", Kind::Float),
    ("new_score", Kind::Float),
    ("moved", Kind::Integer),
];
/// The columns of a fair-share tree, of which a policy has OpenPBS's or those of Slurm.
const NODES: [(&str, Kind); 16] = [
    ("name", Kind::Text),
    ("path", Kind::Texts),
    ("kind", Kind::Text),
    ("shares", Kind::Integer),
    ("perc", Kind::Float),
    ("usage", Kind::Float),
    ("tree_usage", Kind::Float),
    ("factor", Kind::Float),
    ("raw_shares", Kind::Integer),
    ("norm_shares", Kind::Float),
    ("raw_usage", Kind::Float),
    ("norm_usage", Kind::Float),
    ("effective_usage", Kind::Float),
    ("level_fs", Kind::Float),
    ("fairshare", Kind::Float),
    ("tickets", Kind::Float),
];

/// A site: its server, queues, resources, scheduler settings, fair-share tree and jobs.
#[pyclass(frozen, module = "job_sort_formula")]
#[derive(Clone)]
pub struct Site {
    site: Arc<OpenedSite>,
    numbers: NumberMode,
}

/// Reads the jobs of one document, with the inputs that a formula may read, as a table.
#[pyclass(frozen, module = "job_sort_formula")]
pub struct Queue;

/// A formula that was given, and the text that is reported.
pub struct Given {
    pub text: String,
    pub parsed: Parsed,
}

#[pymethods]
impl Queue {
    /// Reads jobs: `qstat -f` as JSON, dsv or text, native JSON or NDJSON. Each of `inputs` becomes
    /// a column; without it every numeric name does that OpenPBS, `resources` or the jobs
    /// themselves define.
    #[staticmethod]
    #[pyo3(signature = (path, inputs = None, resources = None))]
    fn read(
        py: Python<'_>,
        path: &Bound<'_, PyAny>,
        inputs: Option<&Bound<'_, PyAny>>,
        resources: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Table> {
        let resources = resource_types(&declared(resources)?)?;
        let inputs = inputs.map(|inputs| texts("inputs", inputs)).transpose()?;
        let jobs = source("path", path, "a path, a text, bytes or an open file")?;
        py.detach(|| read_queue(jobs, inputs, resources))
    }
}

#[pymethods]
impl Site {
    /// Opens a folder made by `jsf capture`, a `pbs_snapshot`, or a tar archive of one. `policy` is
    /// pbs, classic, depth-oblivious, ticket-based, fair-tree or weighted-walk; `rules` are those
    /// of the scheduler, or documented; `numbers` are openpbs (values are kept as a C `float`),
    /// exact (doubles) or decimal; `threshold` replaces the server's job_sort_formula_threshold;
    /// `python` is the version that the server embeds, such as "3.9".
    #[staticmethod]
    #[pyo3(signature = (path, *, policy = None, rules = None, numbers = None, threshold = None, python = None))]
    fn open(
        py: Python<'_>,
        path: PathBuf,
        policy: Option<&str>,
        rules: Option<&str>,
        numbers: Option<&str>,
        threshold: Option<f64>,
        python: Option<&str>,
    ) -> PyResult<Self> {
        if threshold.is_some_and(f64::is_nan) {
            return Err(PyValueError::new_err(
                "`threshold` is nan, expected a number",
            ));
        }
        let policy: Option<PolicyName> = policy.map(policy_name).transpose()?;
        let rules = one_of(
            "rules",
            rules.unwrap_or("scheduler"),
            &[
                ("scheduler", PolicyRules::Scheduler),
                ("documented", PolicyRules::Documented),
            ],
        )?;
        let modes = [
            ("openpbs", NumberMode::OpenPbs),
            ("exact", NumberMode::Exact),
            ("decimal", NumberMode::Decimal),
        ];
        let numbers = one_of("numbers", numbers.unwrap_or("openpbs"), &modes)?;
        let python = python.map(python_version).transpose()?;
        let rules = SiteOptions {
            policy,
            rules,
            numbers,
            threshold,
            python,
            ..SiteOptions::default()
        };
        let site = py.detach(|| OpenedSite::from_files(SiteFiles::open(&file(path))?, rules));
        Ok(Self::new(
            site.map_err(|error| site_error(&error))?,
            numbers,
        ))
    }

    /// The formula in force.
    #[getter]
    fn formula(&self) -> PyResult<String> {
        self.site
            .formula_text()
            .map(|formula| formula.text)
            .map_err(|error| site_error(&error))
    }

    /// The version of Python that the server embeds: the one given, else the one that the site's
    /// files say, else 3.11.
    #[getter]
    fn python(&self) -> String {
        self.site.python().0.to_string()
    }

    /// The resources that the site's files declare and a formula can use, with their types:
    /// `Formula(text, resources=site.resources)`.
    #[getter]
    fn resources<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let resources = PyDict::new(py);
        let is_usable =
            |name: &str, entry: &Entry| Schema::empty().add(name, entry.input_type).is_ok();
        let declared = self.site.schema().iter();
        let declared =
            declared.filter(|(name, entry)| entry.origin == Origin::Site && is_usable(name, entry));
        declared
            .into_iter()
            .try_for_each(|(name, entry)| resources.set_item(name, entry.input_type.pbs_type()))?;
        Ok(resources)
    }

    /// What is doubtful about the files, one sentence each.
    #[getter]
    pub fn warnings(&self) -> Vec<String> {
        worded(&self.site.warnings())
    }

    /// The jobs in the order in which the scheduler considers them, and then those that it does not
    /// consider: rank, id, entity, queue, state, score (the value that is sorted on), exact (before
    /// it is rounded, as a text), logged, error (a text), considered, excluded and reason (why it
    /// is not). `inputs` adds a column for each input of the formula.
    #[pyo3(signature = (formula = None, *, inputs = false))]
    fn rank(
        &self,
        py: Python<'_>,
        formula: Option<&Bound<'_, PyAny>>,
        inputs: bool,
    ) -> PyResult<Table> {
        let text = self.text_of(formula)?;
        let ranked = py.detach(|| self.asked_site().rank_queue(text.as_deref()));
        let ranked = ranked.map_err(|error| self.run_error(py, error))?;
        py.detach(|| ranking(&ranked, inputs))
    }

    /// What `jsf check --format json` answers for the text of a formula, as a `Check`, which is a
    /// dict: also for a text that is no formula.
    pub fn check<'py>(&self, py: Python<'py>, text: String) -> PyResult<Bound<'py, PyAny>> {
        result(
            py,
            "Check",
            &self.answer(py, "check", json!({"formula": without_line_end(text)}))?,
            [],
        )
    }

    /// What `jsf explain --format json` answers for a job, as an `Explanation`, which is a dict.
    /// The server's name may be left out of the id.
    #[pyo3(signature = (job, formula = None, *, to = None))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        job: &str,
        formula: Option<&Bound<'py, PyAny>>,
        to: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if job.is_empty() {
            return Err(PyValueError::new_err(
                "`job` is empty, expected the id of a job",
            ));
        }
        let request = json!({"formula": self.text_of(formula)?, "jobs": [job], "to": to});
        result(py, "Explanation", &self.answer(py, "explain", request)?, [])
    }

    /// What `jsf trajectory --format json` answers for waiting jobs, as a dict: their values and
    /// ranks over the next hours, all jobs ageing alike, and who overtakes whom when.
    #[pyo3(signature = (jobs, formula = None, *, hours = 24.0))]
    fn trajectory<'py>(
        &self,
        py: Python<'py>,
        jobs: &Bound<'py, PyAny>,
        formula: Option<&Bound<'py, PyAny>>,
        hours: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        // JSON has no infinity
        let hours = if hours.is_finite() { hours } else { f64::MAX };
        let request = json!({"jobs": texts("jobs", jobs)?, "formula": self.text_of(formula)?, "hours": hours});
        result(
            py,
            "Trajectory",
            &self.answer(py, "trajectory", request)?,
            [],
        )
    }

    /// What `jsf replay --format json` answers, as a dict: the values in a scheduler's log against
    /// those of the queue.
    #[pyo3(signature = (log, formula = None))]
    fn replay<'py>(
        &self,
        py: Python<'py>,
        log: &Bound<'py, PyAny>,
        formula: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let given = self.given(formula)?;
        let log = source("log", log, "a path, a text, bytes or an open file")?;
        let document = py.detach(|| {
            let compared = self
                .site
                .replay(log, &given.parsed)
                .map_err(|error| site_error(&error))?;
            let python = self.site.python().0;
            let report = ReplayReport::new(&given.text, python, "", &compared.replay);
            written(&report, &[])
        });
        result(py, "Replay", &document?, [])
    }

    /// Every considered job with its ranks and scores under both formulas, in the new order.
    /// `document` has the summary and what changes for entities, groups, queues and sizes.
    #[pyo3(signature = (old, new))]
    fn compare(
        &self,
        py: Python<'_>,
        old: Option<&Bound<'_, PyAny>>,
        new: &Bound<'_, PyAny>,
    ) -> PyResult<Table> {
        let request = json!({"old": self.text_of(old)?, "new": self.text_of(Some(new))?});
        Table::of_answer(&self.answer(py, "compare", request)?, "jobs", &COMPARED)
    }

    /// The nodes of the fair-share tree, parents first, with the numbers of a policy: by default
    /// the one in force.
    #[pyo3(signature = (policy = None))]
    fn shares(&self, py: Python<'_>, policy: Option<&str>) -> PyResult<Table> {
        Table::of_answer(
            &self.answer(py, "shares", json!({"policy": policy}))?,
            "nodes",
            &NODES,
        )
    }

    /// Runs a log of jobs through time under a formula, by the rules of the site's scheduler.
    /// `workload` is a log (a path, or its content), a list of them, or a `Workload` that was read
    /// for this site. `options`: processors, goals, usage, backfill, warm_up, decay, decay_factor,
    /// cancelled, overrun and processors_of.
    #[pyo3(signature = (formula = None, *, workload, **options))]
    fn simulate<'py>(
        &self,
        py: Python<'py>,
        formula: Option<&Bound<'py, PyAny>>,
        workload: &Bound<'py, PyAny>,
        options: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.simulated(py, formula, workload, options)
    }

    /// Finds the constants of a template, as `jsf fit` does: those that meet `wishes` about the
    /// jobs that wait (ids, best first; a list of groups of ids; a dict with a score for each id;
    /// or a path) and `prefer` (pairs of ids), or `goals` about the waits of a log.
    /// `progress(evaluations, planned, best_formula)` is called after each formula; False ends the
    /// search. `options`: old, seed, evaluations, held_out, force, goals, and the others of
    /// `simulate`.
    #[pyo3(signature = (template, *, wishes = None, prefer = None, workload = None, progress = None, **options))]
    #[expect(clippy::too_many_arguments, reason = "the keyword arguments of Python")]
    fn fit<'py>(
        &self,
        py: Python<'py>,
        template: &Bound<'py, PyAny>,
        wishes: Option<Bound<'py, PyAny>>,
        prefer: Option<Bound<'py, PyAny>>,
        workload: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<'py, PyAny>>,
        options: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let template = Template::given(template)?;
        let keywords = Keywords::new(py, options);
        let (search, options) = (GivenSearch::take(&keywords)?, Options::take(&keywords)?);
        keywords.finish()?;
        let wishes = GivenWishes { wishes, prefer };
        let refused = match (wishes.are_given(), options.goals.is_some(), workload) {
            (true, false, None) => {
                return self.fit_queue(py, &template, &wishes, &search, progress);
            }
            (false, true, Some(workload)) => {
                return self.fit_log(py, &template, workload, &options, &search, progress);
            }
            (true, true, _) => "`goals` are about a log, and wishes about the jobs that wait",
            (false, false, _) => "nothing is wanted: give `wishes`, `prefer` or `goals`",
            (true, false, Some(_)) => "a `workload` is for `goals`",
            (false, true, None) => "`goals` are about the waits of a log: give a `workload`",
        };
        Err(PyValueError::new_err(refused))
    }

    /// What `fit` minimises for `goals`, for searches of other programs, in several processes say.
    /// The arguments are those of `fit`.
    #[pyo3(signature = (template, *, goals, workload, **options))]
    fn objective<'py>(
        &self,
        py: Python<'py>,
        template: &Bound<'py, PyAny>,
        goals: Bound<'py, PyAny>,
        workload: &Bound<'py, PyAny>,
        options: Option<Bound<'py, PyDict>>,
    ) -> PyResult<Objective> {
        let template = Template::given(template)?;
        let keywords = Keywords::new(py, options);
        let (search, options) = (GivenSearch::take(&keywords)?, Options::take(&keywords)?);
        keywords.finish()?;
        self.objective_on(
            py,
            template,
            workload,
            &Options {
                goals: Some(goals),
                ..options
            },
            &search,
        )
    }
}

impl Site {
    pub fn new(site: OpenedSite, numbers: NumberMode) -> Self {
        Self {
            site: Arc::new(site),
            numbers,
        }
    }

    pub fn numbers(&self) -> NumberMode {
        self.numbers
    }

    pub fn shared(&self) -> Arc<OpenedSite> {
        Arc::clone(&self.site)
    }

    /// Asks a question about the site.
    fn answer(
        &self,
        py: Python<'_>,
        command: &str,
        request: serde_json::Value,
    ) -> PyResult<String> {
        py.detach(|| self.asked_site().answer(command, request))
            .map_err(|error| self.run_error(py, error))
    }

    fn asked_site(&self) -> AskedSite<'_> {
        AskedSite {
            site: &self.site,
            numbers: self.numbers,
            worded: in_python,
        }
    }

    fn run_error(&self, py: Python<'_>, error: RunError) -> PyErr {
        match error {
            RunError::Request(message) => PyValueError::new_err(message),
            RunError::Site(error) => site_error(&error),
            RunError::Syntax(text, finding) => syntax_error(&text, &finding),
            RunError::NotArithmetic(text, parsed) => match parsed.compile(self.site.schema()) {
                Err(error) => {
                    not_arithmetic(py, &text, &error, self.site.schema(), &SiteFacts::default())
                }
                Ok(_) => site_error(&SiteError::NotArithmetic),
            },
        }
    }

    /// The text of the formula that a caller gives; `None`: the one in force.
    pub fn text_of(&self, formula: Option<&Bound<'_, PyAny>>) -> PyResult<Option<String>> {
        let Some(formula) = formula else {
            return Ok(None);
        };
        if let Ok(formula) = formula.cast::<Formula>() {
            let compiled = formula.get().shared();
            self.check_made_for(&compiled)?;
            return Ok(Some(compiled.text.clone()));
        }
        let Ok(text) = formula.cast::<PyString>() else {
            let kind = formula.get_type().name()?;
            return Err(PyTypeError::new_err(format!(
                "the formula is of type `{kind}`, expected a str or a Formula"
            )));
        };
        Ok(Some(without_line_end(text.extract()?)))
    }

    /// The formula that a caller gives: a `Formula`, a text as `jsf rank` takes it, or the one in
    /// force.
    pub fn given(&self, formula: Option<&Bound<'_, PyAny>>) -> PyResult<Given> {
        let text = match self.text_of(formula)? {
            None => self.site.formula_text(),
            Some(text) => FormulaText::new(text),
        };
        let text = text.map_err(|error| site_error(&error))?;
        match text.submitted(self.numbers).formula() {
            Ok(parsed) => {
                self.check_arithmetic(&text.text, parsed)?;
                Ok(Given {
                    parsed: parsed.clone(),
                    text: text.text.clone(),
                })
            }
            Err(refusal) => Err(syntax_error(&text.text, &refusal.finding)),
        }
    }

    /// Checks that a formula is arithmetic, and says where it is not.
    fn check_arithmetic(&self, text: &str, parsed: &Parsed) -> PyResult<()> {
        let schema = self.site.schema();
        match parsed.compile(schema) {
            // a resource of the jobs, whatever Python has under its name
            Err(CompileError::Builtin { name, .. }) if self.jobs_define(&name) => Ok(()),
            Err(error) => Err(Python::attach(|py| {
                not_arithmetic(py, text, &error, schema, &SiteFacts::default())
            })),
            Ok(_) => Ok(()),
        }
    }

    /// Checks that a formula was compiled for the site's version of Python, and for the types of
    /// its resources.
    pub fn check_made_for(&self, compiled: &Compiled) -> PyResult<()> {
        let python = self.site.python().0;
        if let Some(other) = compiled.python.filter(|&version| version != python) {
            return Err(PyValueError::new_err(format!(
                "the formula was made for Python {other}, and the site has Python {python}: give \
                 `Formula(…, python=site.python)`, or `Site.open(…, python=\"{other}\")`"
            )));
        }
        compiled
            .resources_read()
            .try_for_each(|(name, input_type)| self.check_resource(name, input_type))
    }

    /// Checks that a resource that a formula declares and reads has the site's type.
    fn check_resource(&self, name: &str, declared: InputType) -> PyResult<()> {
        let message = match self.site.schema().entry(name).map(|entry| entry.input_type) {
            Some(defined) if defined == declared => return Ok(()),
            Some(defined) => format!(
                "the formula declares `{name}` as `{}`, and the site defines it as `{}`: give \
                 `Formula(…, resources=site.resources)`",
                declared.pbs_type(),
                defined.pbs_type()
            ),
            None if self.jobs_define(name) => return Ok(()),
            None => format!(
                "the formula declares `{name}`, which the site does not define: with `Formula(…, resources=site.resources)` it \
                 has the site's resources, which `qmgr_print_resource.txt` in the site's folder declares"
            ),
        };
        Err(PyValueError::new_err(message))
    }

    /// Whether the jobs of the queue have amounts of a name that the site does not declare, of
    /// which the site then takes the type.
    fn jobs_define(&self, name: &str) -> bool {
        self.site
            .jobs(&[name])
            .is_ok_and(|jobs| jobs.schema.entry(name).is_some())
    }
}

fn policy_name(name: &str) -> PyResult<PolicyName> {
    name.parse()
        .map_err(|error: String| PyValueError::new_err(error))
}

/// A path, of which `-` is a file of this name and not standard input.
pub fn file(path: PathBuf) -> PathBuf {
    if path.as_os_str() == "-" {
        Path::new(".").join(path)
    } else {
        path
    }
}

/// The columns of a ranking: JSON of each row would take several times as long, and has no integers
/// beyond 64 bits.
fn ranking(ranked: &AnsweredRank, with_inputs: bool) -> PyResult<Table> {
    let RankedQueue {
        table,
        ranking,
        program,
        ..
    } = &ranked.queue;
    let decides = ranked.queue.decides();
    let report = ranked.report(&[], &[], &decides);
    let rows = RankedRow::all(ranking);
    let jobs: Vec<Job<'_>> = rows.iter().map(|&row| report.job(row)).collect();
    let mut columns = TableBuilder::default();
    let ranks = jobs.iter().map(|job| job.rank.map(|rank| rank as i64));
    columns.integers("rank", ranks);
    columns.texts("id", jobs.iter().map(|job| Some(job.id)));
    columns.texts("entity", jobs.iter().map(|job| Some(job.entity)));
    columns.texts("queue", jobs.iter().map(|job| Some(job.queue)));
    columns.texts("state", jobs.iter().map(|job| Some(job.state)));
    let scores = jobs
        .iter()
        .map(|job| job.score.filter(|score| score.is_finite()));
    columns.floats("score", scores);
    columns.texts("exact", jobs.iter().map(|job| job.exact.as_deref()));
    columns.texts("logged", jobs.iter().map(|job| job.logged.as_deref()));
    let errors = jobs
        .iter()
        .map(|job| job.error.as_ref().map(|error| &*error.message));
    columns.texts("error", errors);
    columns.truths("considered", jobs.iter().map(|job| job.considered));
    columns.texts("excluded", jobs.iter().map(|job| job.excluded));
    columns.texts("reason", jobs.iter().map(|job| job.reason.as_deref()));
    for name in program.inputs().iter().filter(|_| with_inputs) {
        columns.values(name, &inputs(table, name, rows.iter().map(|row| row.row())));
    }
    let document = written(&report, &[])?;
    Ok(columns
        .finish(&[], document)?
        .with_warnings(ranked.warnings.clone()))
}

/// An input of these rows; `None` if the scheduler ignores the job and the value was not read.
fn inputs(table: &JobTable, name: &str, rows: impl Iterator<Item = usize>) -> Vec<Option<Value>> {
    let Some(column) = table.column(name) else {
        return rows.map(|_| None).collect();
    };
    let is_fairshare = FairshareInput::NAMES
        .iter()
        .any(|(fairshare, _)| *fairshare == name);
    let is_known =
        |row: &usize| column.is_set(*row) || (table.exclusion(*row).is_none() && !is_fairshare);
    rows.map(|row| Some(row).filter(is_known).map(|row| column.value(row)))
        .collect()
}

fn read_queue(
    jobs: FileSource,
    wanted: Option<Vec<String>>,
    declared: Vec<(String, InputType)>,
) -> PyResult<Table> {
    let files = SiteFiles::default()
        .declaring(declared)
        .with(Role::Queue, jobs);
    let site = OpenedSite::from_files(files, SiteOptions::default())
        .map_err(|error| site_error(&error))?;
    let read = |names: &[String]| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        site.jobs(&names).map_err(|error| site_error(&error))
    };
    let numeric = |schema: &Schema| {
        let known = schema
            .iter()
            .filter(|(_, entry)| entry.input_type.is_numeric() && entry.replaced_by.is_none());
        known
            .map(|(name, _)| name.to_owned())
            .collect::<Vec<String>>()
    };
    let is_given = wanted.is_some();
    let mut names = wanted.unwrap_or_else(|| numeric(site.schema()));
    let mut jobs = read(&names)?;
    // a document names its own resources only after it was read
    let seen = numeric(&jobs.schema);
    if !is_given && seen.len() > names.len() {
        names = seen;
        jobs = read(&names)?;
    }
    let SiteJobs {
        table, warnings, ..
    } = &jobs;
    let mut columns = TableBuilder::default();
    let rows = 0..table.len();
    columns.texts("id", rows.clone().map(|row| Some(table.id(row))));
    columns.texts("entity", rows.clone().map(|row| Some(table.entity(row))));
    columns.texts("queue", rows.clone().map(|row| Some(table.queue(row))));
    columns.texts(
        "state",
        rows.clone().map(|row| Some(table.state(row).letter())),
    );
    for name in &names {
        let values = inputs(table, name, rows.clone());
        // a fair-share number of which the jobs say nothing is no column
        if is_given || values.iter().any(Option::is_some) || table.is_empty() {
            columns.values(name, &values);
        }
    }
    let undeclared = names
        .iter()
        .filter(|name| jobs.schema.entry(name).is_none())
        .map(|name| {
            Message::from(format!(
                "`{}` is 0 for every job: no resource of that name is declared, and no job has it",
                clipped(name)
            ))
        });
    let undeclared: Vec<Message> = undeclared.collect();
    columns.finish(
        site.warnings().iter().chain(warnings).chain(&undeclared),
        "{}".to_owned(),
    )
}
