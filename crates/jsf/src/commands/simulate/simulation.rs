//! A log simulated under one formula, and what is found about that.

use job_sort_formula::Formula;
use job_sort_formula::diagnostic::{Diagnostic, Severity};
use job_sort_formula::rank::{Consequence, OnError};
use jsf_openpbs::check::{Checked, Verdict};
use jsf_openpbs::submission::FormulaSubmission;
use jsf_simulate::{EvaluationErrors, Observer, Workload};
use jsf_site::{SimulatedQueue, Site, SiteError};

use crate::cli::args::log::simulation;
use crate::cli::{CliError, GivenFormula, Progress, warn, warn_all};
use crate::commands::simulate::anonymity::{without_findings_of_queue, without_names};
use crate::commands::simulate::answer::{Found, SimulationReport};
use crate::commands::simulate::failures_in_words::{FailingJobs, is_fatal};
use crate::commands::simulate::interruption::{Counter, end_simulation_at_interrupt};
use crate::commands::simulate::judged_log::JudgedLog;
use crate::commands::simulate::request::SimulateArgs;
use crate::commands::simulate::rules_in_words::rules_in_words;
use crate::commands::simulate::site_of_log::is_change;
use crate::view::printable::printable;

/// What is simulated.
#[derive(Clone, Copy)]
pub(crate) struct Simulation<'a> {
    pub(crate) arguments: &'a SimulateArgs,
    pub(crate) site: &'a Site,
    pub(crate) log: &'a JudgedLog,
}

impl<'a> Simulation<'a> {
    /// Simulates the log under a formula.
    /// `before` is what it is compared with: its warnings are not shown again, and if Ctrl-C ended
    /// it, this one ends with as many jobs.
    pub(crate) fn simulate(
        &self,
        given: &GivenFormula,
        before: Option<&SimulationReport<'_>>,
    ) -> Result<SimulationReport<'a>, CliError> {
        let Self {
            arguments,
            site,
            log,
        } = *self;
        let workload = &log.workload;
        let on_error = arguments.site.on_error;
        let formula = given.parsed()?;
        let found = site.lint(formula, workload);
        let simulated = self.run_until_interrupted(formula, before);
        let is_refused = matches!(simulated, Err(SiteError::NotArithmetic));
        if is_refused || !arguments.format.is_document() || arguments.text.full {
            given.draw(found.iter().cloned());
        }
        if is_refused {
            return Err(CliError::Findings);
        }
        let simulated = simulated?;
        let own_warnings = own_warnings(&simulated, before);
        self.warn_of(&simulated, &own_warnings);
        let errors = &simulated.schedule.errors;
        let shares = simulated.shares.as_deref();
        let failing = FailingJobs::new(formula, workload, errors, shares, on_error);
        let mut checked = self.check(&given.submitted)?;
        // the old formula of a comparison may be the one that is mended
        let is_judged = before.is_some() || !is_change(arguments);
        // for every job, or for one where that is not allowed
        let fails = errors.jobs() > 0
            && (on_error == OnError::Fail || errors.jobs() == workload.jobs().len());
        let mut is_fine = !(fails || is_judged && is_unusable(&checked, errors));
        let mut drawn = given.drawn_on_page(&found);
        for warning in &own_warnings {
            drawn.push(printable(&format!("warning: {warning}")).into_owned());
        }
        if let Some(failing) = &failing {
            let clause = failing.clause("the formula");
            let line = format!("{}: {clause}", failure_kind(arguments));
            drawn.push(printable(&line).into_owned());
        }
        for found in found {
            is_fine &= found.severity != Severity::Error;
            add_unknown(&mut checked.findings, given.submitted.in_source(found));
        }
        let rules = rules_in_words(site, arguments.site.rules, log, given.text(), &simulated);
        let results = simulated.results(workload, log.warm_up);
        let goals = results.judge(
            log.goals.as_ref(),
            workload,
            &simulated.schedule,
            before.map(|before| &*before.goals),
        );
        let mut report = SimulationReport::new(given.text(), workload, simulated, results, goals);
        report.found = Found {
            checked: Some(checked),
            failing,
            rules,
            drawn,
            is_fine,
            ..report.found
        };
        Ok(report)
    }

    /// Runs the simulation, shows how far it is, and ends it after Ctrl-C.
    fn run_until_interrupted(
        &self,
        formula: &Formula,
        before: Option<&SimulationReport<'_>>,
    ) -> Result<SimulatedQueue, SiteError> {
        let workload = &self.log.workload;
        let mut most = None;
        if let Some(before) = before
            && !before.complete
        {
            most = Some(before.jobs.started().count());
        }
        end_simulation_at_interrupt();
        let mut counter = Counter {
            progress: Progress::start("simulating"),
            jobs: workload.jobs().len(),
            most,
        };
        self.run_once(formula, workload, &mut counter)
    }

    /// Runs the simulation that the arguments ask for.
    pub(crate) fn run_once(
        &self,
        formula: &Formula,
        workload: &Workload,
        observer: &mut dyn Observer,
    ) -> Result<SimulatedQueue, SiteError> {
        let arguments = self.arguments;
        let options = simulation(&arguments.log, &arguments.site);
        let simulated = self.site.simulate(formula, workload, options, observer);
        simulated.map_err(|error| without_names(arguments, error))
    }

    /// Warns of a simulation, where no document does, and of one that Ctrl-C has ended.
    fn warn_of(&self, simulated: &SimulatedQueue, warnings: &[String]) {
        let workload = &self.log.workload;
        if !self.arguments.format.is_document() {
            warn_all(warnings);
        }
        if !simulated.schedule.is_complete {
            let jobs = workload.jobs().len();
            let mut started = 0;
            for job in 0..jobs {
                started += usize::from(simulated.schedule.start(job).is_some());
            }
            warn(format_args!(
                "interrupted: the results are those of the {started} of {jobs} jobs that have started"
            ));
        }
    }

    /// The result of checking the formula. The queue of the site shows crashes that no job of the
    /// log shows; they decide the exit code in every format.
    fn check(&self, submitted: &FormulaSubmission) -> Result<Checked, SiteError> {
        let of_queue = self.site.check_with_queue(submitted);
        let checked = self.site.check(submitted);
        let checked = checked.map_err(|error| without_names(self.arguments, error))?;
        if let Ok(Some(of_queue)) = of_queue
            && is_fatal(&of_queue)
            && of_queue.verdict != Verdict::Refused
        {
            return Ok(without_findings_of_queue(self.arguments, of_queue, checked));
        }
        Ok(checked)
    }
}

/// The warnings that the side before does not have. It is simulated first, and does not know yet
/// which are its own.
fn own_warnings(simulated: &SimulatedQueue, before: Option<&SimulationReport<'_>>) -> Vec<String> {
    let Some(before) = before else {
        return simulated.warnings.clone();
    };
    let mut own = Vec::new();
    for warning in &simulated.warnings {
        if !before.warnings.contains(warning) {
            own.push(format!("under the new formula: {warning}"));
        }
    }
    own
}

/// Whether the server refuses a formula, or the scheduler crashes of it, with the jobs of the
/// site's queue or of the log.
fn is_unusable(checked: &Checked, errors: &EvaluationErrors) -> bool {
    let mut kinds = errors.kinds();
    let crashes = kinds.any(|(_, error)| error.consequence == Consequence::Crash);
    checked.has_errors() || crashes || is_fatal(checked)
}

/// The kind of a message about jobs for which a formula fails.
pub(crate) fn failure_kind(arguments: &SimulateArgs) -> &'static str {
    if arguments.site.on_error == OnError::Fail {
        "error"
    } else {
        "warning"
    }
}

/// Adds a finding unless it is there already.
fn add_unknown(known: &mut Vec<Diagnostic>, found: Diagnostic) {
    for one in known.iter() {
        if (one.code, one.span) == (found.code, found.span) {
            return;
        }
    }
    known.push(found);
}
