//! `Site` and `Queue`: a scheduler's files, ranked, explained and compared as the command `jsf` does.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use job_sort_formula::diagnostic::{Diagnostic, Message, Severity};
use job_sort_formula::fairshare::PolicyRules;
use job_sort_formula::formula::program::CompileError;
use job_sort_formula::jobs::JobTable;
use job_sort_formula::rank::{FormulaResult, OldNew, SEARCH_WORK};
use job_sort_formula::schema::{Entry, FairshareInput, InputType, Origin};
use job_sort_formula::{Formula as Parsed, Schema, Value};
use jsf::commands::compare::answer::{CompareReport, compared_rows};
use jsf::commands::compare::view::ListedJobs;
use jsf::commands::explain::answer::ExplainReport;
use jsf::commands::rank::answer::{RankReport, RankedRow, excluded};
use jsf::commands::replay::answer::ReplayReport;
use jsf::commands::shares::answer::{PolicyView, SharesReport, kind, numbers};
use jsf::commands::trajectory::answer::{TrajectoryReport, eligible_times};
use jsf_json::clipped;
use jsf_openpbs::check::{Checked, FAILURE_CODES, SiteFacts};
use jsf_openpbs::number_format::logged;
use jsf_openpbs::resource_amount::NumberMode;
use jsf_openpbs::submission::FormulaSubmission;
use jsf_site::{
    CompareRequest, ExplainOptions, FileSource, FormulaText, PolicyName, RankRequest, RankedQueue, Role, SharesRequest,
    Site as OpenedSite, SiteFiles, SiteJobs, SiteOptions,
};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::answer::{result, written};
use crate::argument::{Keywords, one_of, texts};
use crate::error::{advice, site_error, syntax_error, worded};
use crate::fit::{GivenSearch, GivenWishes, Objective};
use crate::formula::{
    Compiled, Formula, check_result, declared, not_arithmetic, python_version, resource_types, without_line_end,
};
use crate::simulation::Options;
use crate::source::source;
use crate::table::{Table, TableBuilder};
use crate::template::Template;

/// How long jobs are followed, in seconds.
const FOLLOWED_SECONDS: std::ops::RangeInclusive<f64> = 60.0..=8784.0 * 3600.0;

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
    /// Reads jobs: `qstat -f` as JSON, dsv or text, native JSON or NDJSON. Each of `inputs` becomes a column; without it every
    /// numeric name does that OpenPBS, `resources` or the jobs themselves define.
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
    /// Opens a folder made by `jsf capture`, a `pbs_snapshot`, or a tar archive of one. `policy` is pbs, classic,
    /// depth-oblivious, ticket-based, fair-tree or weighted-walk; `rules` are those of the scheduler, or documented;
    /// `numbers` are openpbs (values are kept as a C `float`), exact (doubles) or decimal; `threshold` replaces the
    /// server's job_sort_formula_threshold; `python` is the version that the server embeds, such as "3.9".
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
            return Err(PyValueError::new_err("`threshold` is nan, expected a number"));
        }
        let policy: Option<PolicyName> = policy.map(policy_name).transpose()?;
        let rules = one_of(
            "rules",
            rules.unwrap_or("scheduler"),
            &[("scheduler", PolicyRules::Scheduler), ("documented", PolicyRules::Documented)],
        )?;
        let modes = [("openpbs", NumberMode::OpenPbs), ("exact", NumberMode::Exact), ("decimal", NumberMode::Decimal)];
        let numbers = one_of("numbers", numbers.unwrap_or("openpbs"), &modes)?;
        let python = python.map(python_version).transpose()?;
        let rules = SiteOptions { policy, rules, numbers, threshold, python, ..SiteOptions::default() };
        let site = py.detach(|| OpenedSite::from_files(SiteFiles::open(&file(path))?, rules));
        Ok(Self::new(site.map_err(|error| site_error(&error))?, numbers))
    }

    /// The formula in force.
    #[getter]
    fn formula(&self) -> PyResult<String> {
        self.site.formula_text().map(|formula| formula.text).map_err(|error| site_error(&error))
    }

    /// The version of Python that the server embeds: the one given, else the one that the site's files say, else 3.11.
    #[getter]
    fn python(&self) -> String {
        self.site.python().0.to_string()
    }

    /// The resources that the site's files declare and a formula can use, with their types: `Formula(text,
    /// resources=site.resources)`.
    #[getter]
    fn resources<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let resources = PyDict::new(py);
        let is_usable = |name: &str, entry: &Entry| Schema::empty().add(name, entry.input_type).is_ok();
        let declared = self.site.schema().iter();
        let declared = declared.filter(|(name, entry)| entry.origin == Origin::Site && is_usable(name, entry));
        declared.into_iter().try_for_each(|(name, entry)| resources.set_item(name, entry.input_type.pbs_type()))?;
        Ok(resources)
    }

    /// What is doubtful about the files, one sentence each.
    #[getter]
    pub fn warnings(&self) -> Vec<String> {
        worded(self.site.warnings())
    }

    /// The jobs in the order in which the scheduler considers them, and then those that it does not consider: rank, id, entity,
    /// queue, state, score (the value that is sorted on), exact (before it is rounded, as a text), logged, error (a
    /// text), considered, excluded and reason (why it is not). `inputs` adds a column for each input of the formula.
    #[pyo3(signature = (formula = None, *, inputs = false))]
    fn rank(&self, py: Python<'_>, formula: Option<&Bound<'_, PyAny>>, inputs: bool) -> PyResult<Table> {
        let given = self.given(formula)?;
        py.detach(|| {
            let mut queue = self.ranked(&given, false)?;
            let checked = self.site.check_ranked(&FormulaSubmission::to_openpbs(&given.text), &queue);
            queue.warnings.extend(doubts(failures(&checked)));
            ranking(&self.site, &given, &queue, inputs)
        })
    }

    /// What `jsf check --format json` answers for the text of a formula, as a `Check`, which is a dict: also for a text that is no formula.
    fn check<'py>(&self, py: Python<'py>, text: String) -> PyResult<Bound<'py, PyAny>> {
        let text = FormulaText::new(without_line_end(text)).map_err(|error| site_error(&error))?;
        let checked = py.detach(|| self.site.check(&text.submitted(self.numbers)));
        check_result(py, checked.map_err(|error| site_error(&error))?, &text.text)
    }

    /// What `jsf explain --format json` answers for a job, as an `Explanation`, which is a dict. The server's name may be left out of the
    /// id.
    #[pyo3(signature = (job, formula = None, *, to = None))]
    fn explain<'py>(
        &self,
        py: Python<'py>,
        job: &str,
        formula: Option<&Bound<'py, PyAny>>,
        to: Option<usize>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if job.is_empty() {
            return Err(PyValueError::new_err("`job` is empty, expected the id of a job"));
        }
        let given = self.given(formula)?;
        let document = py.detach(|| {
            let queue = self.ranked(&given, true)?;
            let rows = queue.table.find_jobs(job).map_err(PyValueError::new_err)?;
            let considered = queue.ranking.order().len();
            if let Some(rank) = to.filter(|rank| !(1..=considered).contains(rank)) {
                let message = format!("there is no rank {rank}: {considered} jobs are considered");
                return Err(PyValueError::new_err(message));
            }
            let options = ExplainOptions { to, ..ExplainOptions::default() };
            let explanations = self.site.explain(&queue, &rows, &options);
            let explanations = explanations.map_err(|error| site_error(&error))?;
            let decides = queue.decides();
            let report = ExplainReport {
                formula: &given.text,
                queue: &queue,
                explanations: &explanations,
                rules: &queue.rules,
                checked: None,
                decides: &decides,
                usage_unit: &explanations.usage_unit,
                draw_error: &|_, _| None,
            };
            written(&report, &worded(self.site.warnings_for(&given.parsed.names())))
        });
        result(py, "Explanation", &document?, [])
    }

    /// What `jsf trajectory --format json` answers for waiting jobs, as a dict: their values and ranks over the next hours, all jobs
    /// ageing alike, and who overtakes whom when.
    #[pyo3(signature = (jobs, formula = None, *, hours = 24.0))]
    fn trajectory<'py>(
        &self,
        py: Python<'py>,
        jobs: &Bound<'py, PyAny>,
        formula: Option<&Bound<'py, PyAny>>,
        hours: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        if self.numbers == NumberMode::Decimal {
            return Err(PyValueError::new_err("a trajectory computes with doubles, not with decimals"));
        }
        let (jobs, given) = (texts("jobs", jobs)?, self.given(formula)?);
        let seconds = hours * 3600.0;
        if !FOLLOWED_SECONDS.contains(&seconds) {
            let message = format!("`hours` is {hours}, expected from a minute to 8784");
            return Err(PyValueError::new_err(message));
        }
        let document = py.detach(|| {
            let queue = self.ranked(&given, false)?;
            let found = jobs.iter().map(|job| queue.table.find_jobs(job).map_err(PyValueError::new_err));
            let mut rows = found.collect::<PyResult<Vec<_>>>()?.concat();
            rows.sort_unstable();
            rows.dedup();
            let trajectory = self.site.trajectory(&queue, &rows, seconds.round() as i64, SEARCH_WORK);
            let report = TrajectoryReport {
                formula: &given.text,
                table: &queue.table,
                considered: queue.ranking.order().len(),
                eligible_times: &eligible_times(&queue.table, &trajectory),
                trajectory: &trajectory,
                rules: &[],
            };
            written(&report, &worded(self.site.warnings_for(&given.parsed.names())))
        });
        result(py, "Trajectory", &document?, [])
    }

    /// What `jsf replay --format json` answers, as a dict: the values in a scheduler's log against those of the queue.
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
            let compared = self.site.replay(log, &given.parsed).map_err(|error| site_error(&error))?;
            let python = self.site.python().0;
            let report = ReplayReport::new(&given.text, python, "", &compared.replay);
            written(&report, &[])
        });
        result(py, "Replay", &document?, [])
    }

    /// Every considered job with its ranks and scores under both formulas, in the new order. `document` has the summary and
    /// what changes for entities, groups, queues and sizes.
    #[pyo3(signature = (old, new))]
    fn compare(&self, py: Python<'_>, old: Option<&Bound<'_, PyAny>>, new: &Bound<'_, PyAny>) -> PyResult<Table> {
        let (old, new) = (self.given(old)?, self.given(Some(new))?);
        py.detach(|| comparison(&self.site, &old, &new))
    }

    /// The nodes of the fair-share tree, parents first, with the numbers of a policy: by default the one in force.
    #[pyo3(signature = (policy = None))]
    fn shares(&self, py: Python<'_>, policy: Option<&str>) -> PyResult<Table> {
        let policies = policy.map(policy_name).transpose()?.into_iter().collect();
        py.detach(|| shares(&self.site, &SharesRequest { policies, ..SharesRequest::default() }))
    }

    /// Runs a log of jobs through time under a formula, by the rules of the site's scheduler. `workload` is a log (a path, or its
    /// content), a list of them, or a `Workload` that was read for this site. `options`: processors, goals, usage, backfill, warm_up,
    /// decay, decay_factor, cancelled, overrun and processors_of.
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

    /// Finds the constants of a template, as `jsf fit` does: those that meet `wishes` about the jobs that wait (ids, best first; a
    /// list of groups of ids; a dict with a score for each id; or a path) and `prefer` (pairs of ids), or `goals` about the
    /// waits of a log. `progress(evaluations, planned, best_formula)` is called after each formula; False ends the search.
    /// `options`: old, seed, evaluations, held_out, force, goals, and the others of `simulate`.
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
            (true, false, None) => return self.fit_queue(py, &template, &wishes, &search, progress),
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

    /// What `fit` minimises for `goals`, for searches of other programs, in several processes say. The arguments are those of `fit`.
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
        self.objective_on(py, template, workload, &Options { goals: Some(goals), ..options }, &search)
    }
}

impl Site {
    pub fn new(site: OpenedSite, numbers: NumberMode) -> Self {
        Self { site: Arc::new(site), numbers }
    }

    pub fn numbers(&self) -> NumberMode {
        self.numbers
    }

    pub fn shared(&self) -> Arc<OpenedSite> {
        Arc::clone(&self.site)
    }

    /// The formula that a caller gives: a `Formula`, a text as `jsf rank` takes it, or the one in force.
    pub fn given(&self, formula: Option<&Bound<'_, PyAny>>) -> PyResult<Given> {
        let text = match formula {
            None => self.site.formula_text(),
            Some(formula) => {
                if let Ok(formula) = formula.cast::<Formula>() {
                    let compiled = formula.get().shared();
                    self.check_made_for(&compiled)?;
                    return Ok(Given { text: compiled.text.clone(), parsed: compiled.parsed.clone() });
                }
                let Ok(text) = formula.cast::<PyString>() else {
                    let kind = formula.get_type().name()?;
                    return Err(PyTypeError::new_err(format!(
                        "the formula is of type `{kind}`, expected a str or a Formula"
                    )));
                };
                FormulaText::new(without_line_end(text.extract()?))
            }
        };
        let text = text.map_err(|error| site_error(&error))?;
        match text.submitted(self.numbers).formula() {
            Ok(parsed) => {
                self.check_arithmetic(&text.text, parsed)?;
                Ok(Given { parsed: parsed.clone(), text: text.text.clone() })
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
            Err(error) => Err(Python::attach(|py| not_arithmetic(py, text, &error, schema, &SiteFacts::default()))),
            Ok(_) => Ok(()),
        }
    }

    /// Checks that a formula was compiled for the site's version of Python, and for the types of its resources.
    pub fn check_made_for(&self, compiled: &Compiled) -> PyResult<()> {
        let python = self.site.python().0;
        if let Some(other) = compiled.python.filter(|&version| version != python) {
            return Err(PyValueError::new_err(format!(
                "the formula was made for Python {other}, and the site has Python {python}: give \
                 `Formula(…, python=site.python)`, or `Site.open(…, python=\"{other}\")`"
            )));
        }
        compiled.resources_read().try_for_each(|(name, input_type)| self.check_resource(name, input_type))
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

    /// Whether the jobs of the queue have amounts of a name that the site does not declare, of which the site then takes the type.
    fn jobs_define(&self, name: &str) -> bool {
        self.site.jobs(&[name]).is_ok_and(|jobs| jobs.schema.entry(name).is_some())
    }

    /// The ranked queue.
    fn ranked(&self, given: &Given, record_origins: bool) -> PyResult<RankedQueue> {
        let request = RankRequest { record_origins, ..RankRequest::from(&given.parsed) };
        let mut queue = self.site.rank(request).map_err(|error| site_error(&error))?;
        queue.warnings.splice(..0, doubts(&queue.findings));
        queue.warnings.splice(..0, self.site.warnings().iter().cloned());
        Ok(queue)
    }
}

/// What the jobs of the queue show of a formula: that it fails for them, and what this does to the scheduler.
fn failures(checked: &Checked) -> impl Iterator<Item = &Diagnostic> {
    checked.findings.iter().filter(|found| FAILURE_CODES.contains(&found.code))
}

/// What findings give reason to doubt, one sentence each.
pub fn doubts<'f>(findings: impl IntoIterator<Item = &'f Diagnostic>) -> Vec<Message> {
    let findings = findings.into_iter().filter(|found| found.severity != Severity::Note);
    findings.map(|found| advice(found).after(format!("{}: {}", found.code, found.message))).collect()
}

fn policy_name(name: &str) -> PyResult<PolicyName> {
    name.parse().map_err(|error: String| PyValueError::new_err(error))
}

/// A path, of which `-` is a file of this name and not standard input.
pub fn file(path: PathBuf) -> PathBuf {
    if path.as_os_str() == "-" { Path::new(".").join(path) } else { path }
}

fn ranking(site: &OpenedSite, given: &Given, queue: &RankedQueue, with_inputs: bool) -> PyResult<Table> {
    let RankedQueue { table, ranking, not_considered, program, warnings, .. } = queue;
    let rows = RankedRow::all(ranking);
    let reasons: std::collections::HashMap<usize, _> = not_considered.iter().copied().collect();
    let scores = || rows.iter().map(|ranked| ranking.score(ranked.row()));
    let exact = |result: FormulaResult| match result {
        FormulaResult::Python(value) => value.repr(),
        FormulaResult::Decimal(decimal) => decimal.to_string(),
    };
    let excluded: Vec<_> = rows
        .iter()
        .map(|ranked| excluded(table, ranked.row(), ranked.rank(), reasons.get(&ranked.row()).copied()))
        .collect();
    let mut columns = TableBuilder::default();
    columns.integers("rank", rows.iter().map(|ranked| ranked.rank().map(|rank| rank as i64)));
    columns.texts("id", rows.iter().map(|ranked| Some(table.id(ranked.row()))));
    columns.texts("entity", rows.iter().map(|ranked| Some(table.entity(ranked.row()))));
    columns.texts("queue", rows.iter().map(|ranked| Some(table.queue(ranked.row()))));
    columns.texts("state", rows.iter().map(|ranked| Some(table.state(ranked.row()).letter())));
    columns.floats("score", scores().map(|score| score.map(|score| score.value).filter(|value| value.is_finite())));
    columns.texts("exact", scores().map(|score| score.and_then(|score| score.unrounded.ok().map(exact))));
    columns.texts("logged", scores().map(|score| score.map(|score| logged(score.value))));
    columns.texts("error", scores().map(|score| score.and_then(|score| Some(score.unrounded.err()?.to_string()))));
    columns.truths("considered", rows.iter().map(|ranked| ranked.rank().is_some()));
    columns.texts("excluded", excluded.iter().map(|excluded| excluded.as_ref().map(|(keyword, _)| *keyword)));
    columns.texts("reason", excluded.iter().map(|excluded| excluded.as_ref().map(|(_, reason)| reason)));
    for name in program.inputs().iter().filter(|_| with_inputs) {
        columns.values(name, &inputs(table, name, rows.iter().map(|ranked| ranked.row())));
    }
    let decides = queue.decides();
    let report = RankReport {
        formula: &given.text,
        table,
        ranking,
        not_considered,
        rows: &[],
        inputs: &[],
        terms: None,
        schema: &queue.schema,
        rules: &[],
        decides: &decides,
        checked: None,
        page: None,
    };
    let doubts = worded(site.warnings_for(&given.parsed.names()));
    let document = written(&report, &doubts)?;
    columns.finish(warnings, document)
}

/// An input of these rows; `None` if the scheduler ignores the job and the value was not read.
fn inputs(table: &JobTable, name: &str, rows: impl Iterator<Item = usize>) -> Vec<Option<Value>> {
    let Some(column) = table.column(name) else { return rows.map(|_| None).collect() };
    let is_fairshare = FairshareInput::NAMES.iter().any(|(fairshare, _)| *fairshare == name);
    let is_known = |row: &usize| column.is_set(*row) || (table.exclusion(*row).is_none() && !is_fairshare);
    rows.map(|row| Some(row).filter(is_known).map(|row| column.value(row))).collect()
}

fn comparison(site: &OpenedSite, old: &Given, new: &Given) -> PyResult<Table> {
    let compared = site.compare(CompareRequest::new(&old.parsed, &new.parsed)).map_err(|error| site_error(&error))?;
    let submitted = OldNew { old, new }.map(|given| FormulaSubmission::to_openpbs(&given.text));
    let checked = site.check_compared(site, submitted.as_ref(), &compared);
    let found = compared.findings.old.iter().chain(&compared.findings.new);
    let mut doubted = doubts(found.chain(failures(&checked.old)).chain(failures(&checked.new)));
    doubted.dedup();
    let (table, sides) = (&compared.table, &compared.sides);
    let rows = compared_rows(&compared.comparison);
    let jobs: Vec<_> = rows.iter().map(|ranked| compared.comparison.job(ranked.row())).collect();
    let rank = |rank: Option<usize>| rank.map(|rank| rank as i64);
    let score = |ranking: &job_sort_formula::Ranking, row: usize| {
        ranking.score(row).map(|score| score.value).filter(|value| value.is_finite())
    };
    let mut columns = TableBuilder::default();
    columns.texts("id", rows.iter().map(|ranked| Some(table.id(ranked.row()))));
    columns.texts("entity", rows.iter().map(|ranked| Some(table.entity(ranked.row()))));
    columns.texts("queue", rows.iter().map(|ranked| Some(table.queue(ranked.row()))));
    columns.integers("old_rank", jobs.iter().map(|job| rank(job.old)));
    columns.integers("new_rank", jobs.iter().map(|job| rank(job.new)));
    columns.floats("old_score", rows.iter().map(|ranked| score(&sides.old.ranking, ranked.row())));
    columns.floats("new_score", rows.iter().map(|ranked| score(&sides.new.ranking, ranked.row())));
    columns.integers("moved", jobs.iter().map(|job| job.moved()));
    let decides = compared.decides();
    let report = CompareReport {
        formulas: OldNew { old: &old.text, new: &new.text },
        table,
        rankings: OldNew { old: &sides.old.ranking, new: &sides.new.ranking },
        comparison: &compared.comparison,
        rows: &[],
        rules: OldNew { old: &sides.old.rules, new: &sides.new.rules },
        decides: OldNew { old: &decides.old, new: &decides.new },
        checked: OldNew::default(),
        listed: ListedJobs::default(),
        page: None,
    };
    let doubts = worded(site.warnings_for(&[old.parsed.names(), new.parsed.names()].concat()));
    let document = written(&report, &doubts)?;
    columns.finish(site.warnings().iter().chain(&compared.warnings).chain(&doubted), document)
}

fn shares(site: &OpenedSite, request: &SharesRequest) -> PyResult<Table> {
    let of_policies = site.shares(request).map_err(|error| site_error(&error))?;
    let Some(shares) = of_policies.first() else { return Err(PyValueError::new_err("no policy")) };
    let nodes = shares.nodes(&[], false);
    let view = PolicyView {
        name: shares.policy.as_str(),
        tree: shares.assessed.tree(),
        shares: shares.assessed.shares(),
        is_pbs: shares.policy == PolicyName::Pbs,
        has_factors: shares.has_factors,
        nodes: &nodes,
        settings: Some(&shares.settings),
        assumed: None,
    };
    let rows: Vec<_> = nodes.iter().map(|&node| numbers(&view, node)).collect();
    let mut columns = TableBuilder::default();
    columns.texts("name", nodes.iter().map(|&node| Some(view.tree.name(node))));
    columns.paths("path", nodes.iter().map(|&node| view.tree.path(node)));
    columns.texts("kind", nodes.iter().map(|&node| Some(kind(&view, node))));
    // every tree has a root
    for (index, (name, _)) in rows[0].iter().enumerate() {
        let values = rows.iter().map(|numbers| &numbers[index].1);
        match *name {
            "shares" | "raw_shares" => columns.integers(name, values.map(serde_json::Value::as_i64)),
            _ => columns.floats(name, values.map(float)),
        }
    }
    let views = [PolicyView { nodes: &[], ..view }];
    let report = SharesReport { views: &views, shown: &views, policies: &[], usage_unit: &shares.usage_unit };
    let document = written(&report, &worded(site.warnings_for(&["fairshare_factor"])))?;
    columns.finish(site.warnings().iter().chain(&shares.notes), document)
}

/// A number of the JSON, in which one that is not finite is a text.
fn float(value: &serde_json::Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.parse().ok())
}

fn read_queue(jobs: FileSource, wanted: Option<Vec<String>>, declared: Vec<(String, InputType)>) -> PyResult<Table> {
    let files = SiteFiles::default().declaring(declared).with(Role::Queue, jobs);
    let site = OpenedSite::from_files(files, SiteOptions::default()).map_err(|error| site_error(&error))?;
    let read = |names: &[String]| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        site.jobs(&names).map_err(|error| site_error(&error))
    };
    let numeric = |schema: &Schema| {
        let known = schema.iter().filter(|(_, entry)| entry.input_type.is_numeric() && entry.replaced_by.is_none());
        known.map(|(name, _)| name.to_owned()).collect::<Vec<String>>()
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
    let SiteJobs { table, warnings, .. } = &jobs;
    let mut columns = TableBuilder::default();
    let rows = 0..table.len();
    columns.texts("id", rows.clone().map(|row| Some(table.id(row))));
    columns.texts("entity", rows.clone().map(|row| Some(table.entity(row))));
    columns.texts("queue", rows.clone().map(|row| Some(table.queue(row))));
    columns.texts("state", rows.clone().map(|row| Some(table.state(row).letter())));
    for name in &names {
        let values = inputs(table, name, rows.clone());
        // a fair-share number of which the jobs say nothing is no column
        if is_given || values.iter().any(Option::is_some) || table.is_empty() {
            columns.values(name, &values);
        }
    }
    let undeclared = names.iter().filter(|name| jobs.schema.entry(name).is_none()).map(|name| {
        Message::from(format!(
            "`{}` is 0 for every job: no resource of that name is declared, and no job has it",
            clipped(name)
        ))
    });
    let undeclared: Vec<Message> = undeclared.collect();
    columns.finish(site.warnings().iter().chain(warnings).chain(&undeclared), "{}".to_owned())
}
