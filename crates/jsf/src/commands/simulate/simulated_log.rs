//! A log that is run through time at a site, under a formula, until it ends or Ctrl-C is pressed; and
//! by which rules.

use std::ops::ControlFlow;

use job_sort_formula::Formula;
use job_sort_formula::diagnostic::Severity;
use job_sort_formula::fairshare::PolicyRules;
use job_sort_formula::rank::{Consequence, OnError};
use jsf_openpbs::check::{Checked, Verdict};
use jsf_openpbs::submission::FormulaSubmission;
use jsf_simulate::{
    Decay, EvaluationErrors, GoalState, Goals, JudgedGoal, LogRules, Observer, Preemptions,
    Workload, WorkloadModel, generate,
};
use jsf_site::{PolicyName, Role, SimulatedQueue, Site, SiteError, SiteFiles, check_warm_up};

use crate::cli::interrupt::{end_simulation_at_interrupt, until_interrupted};
use crate::cli::messages::{Progress, warn};
use crate::cli::outcome::CliError;
use crate::commands::simulate::log_facts::log_messages;
use crate::commands::simulate::simulate_args::SimulateArgs;
use crate::commands::simulate::view::{FailingJobs, is_fatal};
use crate::commands::simulate::{Found, SimulationAnswer};
use crate::given_formula::GivenFormula;
use crate::log_options::read_goals;
use crate::view::document::Fact;
use crate::view::sections::{facts_of, without_words};
use crate::view::words::{count, duration, significant, too_short, waiting_time};

/// What is simulated: a log at a site, and how it is judged.
pub(crate) struct Simulation<'a> {
    pub(crate) arguments: &'a SimulateArgs,
    pub(crate) site: &'a Site,
    pub(crate) workload: Workload,
    /// The goals by which a simulation is judged.
    pub(crate) goals: Option<Goals>,
    /// How long after the first submission the jobs begin that are counted, in seconds.
    pub(crate) warm_up: i64,
    /// Whether that is the time in which usage that starts fresh decays once.
    is_until_decay: bool,
}

impl<'a> Simulation<'a> {
    /// Reads the log with what the formulas and the goals need, or generates one.
    pub(crate) fn read(
        arguments: &'a SimulateArgs,
        site: &'a Site,
        given: &[&GivenFormula],
    ) -> Result<Self, CliError> {
        let goals = match &arguments.goals {
            Some(path) => Some(read_goals(path, site)?),
            None => None,
        };
        let workload = match (arguments.generate, arguments.log.processors) {
            (Some(jobs), Some(processors)) => generate_workload(arguments, jobs, processors.get()),
            _ => read_workload(arguments, site, given, goals.as_ref())?,
        };
        let (warm_up, is_until_decay) = match arguments.log.warm_up_seconds() {
            Some(seconds) => (seconds, false),
            None => {
                let options = arguments.log.simulation(arguments.site.starting_usage());
                let warm_up = site.warm_up(&workload, &options);
                let warm_up = warm_up.map_err(|error| without_names(arguments, error))?;
                too_short(warm_up).iter().for_each(warn);
                (warm_up.seconds(), warm_up.seconds() > 0)
            }
        };
        check_warm_up(&workload, warm_up)?;
        Ok(Self {
            arguments,
            site,
            workload,
            goals,
            warm_up,
            is_until_decay,
        })
    }

    /// Simulates the log under a formula.
    /// `before` is what it is compared with: its warnings are not shown again, and if Ctrl-C ended
    /// it, this one ends with as many jobs.
    pub(crate) fn simulate(
        &self,
        given: &GivenFormula,
        before: Option<&SimulationAnswer<'_>>,
    ) -> Result<SimulationAnswer<'_>, CliError> {
        let Self {
            arguments,
            site,
            workload,
            ..
        } = self;
        let on_error = arguments.site.on_error;
        let formula = given.parsed()?;
        // the check below knows no job of the log, and so no condition that all of them meet
        let found = site.lint(formula, workload);
        let simulated = self.run_until_interrupted(formula, before);
        let is_refused = matches!(simulated, Err(SiteError::NotArithmetic));
        // people read the findings in the answer
        if is_refused || !arguments.answer.format.is_document() || arguments.answer.text.full {
            given.draw(found.iter().cloned());
        }
        if is_refused {
            return Err(CliError::Findings);
        }
        let simulated = simulated?;
        if !simulated.schedule.is_complete {
            let jobs = workload.jobs().len();
            let started = (0..jobs).filter(|&job| simulated.schedule.start(job).is_some());
            let started = started.count();
            warn(format_args!(
                "interrupted: the results are those of the {started} of {jobs} jobs that have started"
            ));
        }
        let errors = &simulated.schedule.errors;
        let failing = FailingJobs::new(workload, errors, on_error);
        let mut checked = self.check(&given.submitted)?;
        // the old formula of a comparison may be the one that is mended
        let is_judged = before.is_some() || !arguments.is_change();
        // for every job, or for one where that is not allowed
        let fails = errors.jobs() > 0
            && (on_error == OnError::Fail || errors.jobs() == workload.jobs().len());
        let mut is_fine = !(fails || is_judged && is_unusable(&checked, errors));
        let drawn = given.drawn_on_page(&given.in_source(found.iter().cloned()));
        for found in found {
            is_fine &= found.severity != Severity::Error;
            let found = given.submitted.in_source(found);
            let mut known = checked.findings.iter();
            if !known.any(|one| (one.code, one.span) == (found.code, found.span)) {
                checked.findings.push(found);
            }
        }
        let facts = self.facts(given.text(), &simulated);
        let mut answer = SimulationAnswer::new(
            given.text(),
            workload,
            simulated,
            self.warm_up,
            self.goals.as_ref(),
            before.map(|before| &*before.goals),
        );
        answer.found = Found {
            checked: Some(checked),
            failing,
            facts,
            drawn,
            is_fine,
        };
        Ok(answer)
    }

    /// Runs the simulation, shows how far it is, and ends it after Ctrl-C.
    fn run_until_interrupted(
        &self,
        formula: &Formula,
        before: Option<&SimulationAnswer<'_>>,
    ) -> Result<SimulatedQueue, SiteError> {
        let workload = &self.workload;
        // where Ctrl-C ended the side before, this one ends with as many jobs
        let mut most = None;
        if let Some(before) = before
            && !before.simulated.schedule.is_complete
        {
            most = Some(before.started().count());
        }
        // until now Ctrl-C ends the process, as there is no result that could be written
        end_simulation_at_interrupt();
        let progress = Progress::start("simulating");
        self.run_once(formula, workload, &mut |started| {
            progress.show_fraction(started, most.unwrap_or(workload.jobs().len()));
            match most {
                Some(most) if started >= most => ControlFlow::Break(()),
                Some(_) => ControlFlow::Continue(()),
                None => until_interrupted(),
            }
        })
    }

    /// Runs the simulation that the arguments ask for.
    pub(crate) fn run_once(
        &self,
        formula: &Formula,
        workload: &Workload,
        observer: &mut dyn Observer,
    ) -> Result<SimulatedQueue, SiteError> {
        let arguments = self.arguments;
        let options = arguments.log.simulation(arguments.site.starting_usage());
        let simulated = self.site.simulate(formula, workload, options, observer);
        simulated.map_err(|error| without_names(arguments, error))
    }

    /// The result of checking the formula. The queue of the site shows crashes that no job of the
    /// log shows; they decide the exit code in every format.
    fn check(&self, submitted: &FormulaSubmission) -> Result<Checked, SiteError> {
        // a queue that cannot be read does not concern the log
        let of_queue = self.site.check_with_queue(submitted);
        let checked = self.site.check(submitted);
        let checked = checked.map_err(|error| without_names(self.arguments, error))?;
        if let Ok(Some(mut of_queue)) = of_queue
            && is_fatal(&of_queue)
            && of_queue.verdict != Verdict::Refused
        {
            // these findings may name the entities of the queue
            if self.arguments.anonymise {
                of_queue.findings = checked.findings;
            }
            return Ok(of_queue);
        }
        Ok(checked)
    }

    /// The rules of a simulation under a formula, of which those that make it believable are on the first
    /// screen, and the machine unless its size was given.
    fn facts(&self, formula: &str, simulated: &SimulatedQueue) -> Vec<Fact> {
        let site = self.site;
        let machine = Fact::new("machine", machine_in_words(simulated));
        let mut facts = vec![
            Fact::new("formula", formula.trim_end()),
            machine.in_full_if(simulated.processors.are_given()),
        ];
        if has_tree(site.files()) {
            let whose = match self.arguments.site.rules {
                PolicyRules::Documented => "the published document",
                PolicyRules::Scheduler => "the daemon",
            };
            let decay = decay_in_words(simulated.decay);
            // what `fairshare_factor` is depends on the policy: the first screen names one of Slurm
            let policy = site.policy();
            let text = format!(
                "policy {} by the rules of {whose} (--rules); {decay}",
                policy.as_str()
            );
            facts.push(Fact::new("fair share", text).in_full_if(policy == PolicyName::Pbs));
        }
        if self.warm_up > 0 {
            facts.push(Fact::new("warm-up", self.warm_up_in_words()));
        }
        facts.extend(facts_of(&Vec::from_iter(site.python_rule())));
        if !simulated.left_out.is_empty() {
            facts.push(Fact::new("without", without_words(&simulated.left_out)).in_full());
        }
        if let Some(preemptions) = &simulated.schedule.preemptions {
            facts.push(Fact::new("preemption", preemptions_in_words(preemptions)));
        }
        if !simulated.limits.is_empty() {
            let limits = format!("running jobs of {}", simulated.limits.join(", "));
            facts.push(Fact::new("limits", limits).in_full());
        }
        facts
    }

    /// Which of the first jobs do not count.
    fn warm_up_in_words(&self) -> String {
        let reason = if self.is_until_decay {
            ", until usage decays"
        } else {
            ""
        };
        let first = self.workload.jobs().first().map_or(0, |job| job.submit);
        let jobs = self
            .workload
            .count_before(first.saturating_add(self.warm_up));
        format!(
            "{jobs} jobs of the first {} are left out{reason} (--warm-up)",
            waiting_time(self.warm_up)
        )
    }
}

/// Whether the server refuses a formula, or the scheduler crashes of it, with the jobs of the
/// site's queue or of the log.
fn is_unusable(checked: &Checked, errors: &EvaluationErrors) -> bool {
    let mut kinds = errors.kinds();
    let crashes = kinds.any(|(_, error)| error.consequence == Consequence::Crash);
    checked.has_errors() || crashes || is_fatal(checked)
}

/// Whether no goal is missed.
pub(crate) fn meets_goals(goals: &[JudgedGoal]) -> bool {
    goals.iter().all(|goal| goal.state != GoalState::Missed)
}

fn generate_workload(arguments: &SimulateArgs, jobs: usize, processors: u32) -> Workload {
    let SimulateArgs { load, seed, .. } = *arguments;
    let _progress = Progress::start("generating the workload");
    let mut workload = generate(&WorkloadModel {
        jobs,
        processors,
        load,
        seed,
        ..WorkloadModel::default()
    });
    if arguments.anonymise {
        workload.anonymise();
    }
    workload
}

fn read_workload(
    arguments: &SimulateArgs,
    site: &Site,
    given: &[&GivenFormula],
    goals: Option<&Goals>,
) -> Result<Workload, CliError> {
    // a formula that does not parse is drawn when it is simulated
    let formulas: Vec<&Formula> = given
        .iter()
        .filter_map(|given| given.submitted.formula().ok())
        .collect();
    let rules = LogRules {
        anonymise: arguments.anonymise,
        ..arguments.log.rules()
    };
    let progress = Progress::start("reading the workload");
    let (workload, warnings) = arguments.log.open(rules, site, &formulas, goals)?;
    drop(progress);
    let has_counts = !arguments.answer.format.is_document();
    for message in [warnings, log_messages(&workload, has_counts)].concat() {
        warn(message);
    }
    Ok(workload)
}

/// An error about the files of a site. --anonymise shows that there is one alone.
pub(crate) fn without_names(arguments: &SimulateArgs, error: SiteError) -> SiteError {
    match error {
        SiteError::Content(_) if arguments.anonymise => {
            let text = "the files of the site cannot be used; the reason may contain names, which --anonymise hides";
            SiteError::Content(text.to_owned().into())
        }
        error => error,
    }
}

/// How often jobs gave way, and what was lost by it.
fn preemptions_in_words(preemptions: &Preemptions) -> String {
    let Preemptions {
        suspended,
        requeued,
        deleted,
        lost_core_seconds,
    } = preemptions;
    let hours = significant(*lost_core_seconds as f64 / 3600.0);
    format!(
        "jobs suspended {suspended} times, requeued {requeued}, deleted {deleted}; {hours} core hours lost"
    )
}

/// The size of the machine with where it is from, and what a cycle starts.
fn machine_in_words(simulated: &SimulatedQueue) -> String {
    let processors = count(simulated.processors.total as usize, "processor");
    let source = if simulated.processors.are_given() {
        String::new()
    } else {
        let source = simulated.processors.source_in_words();
        format!(" {source} (--processors)")
    };
    let placed = match simulated.placed {
        0 => String::new(),
        placed => format!(", chunks of {} on hosts", count(placed, "job")),
    };
    format!("{processors}{source}{placed}, {}", simulated.backfilling)
}

/// The time after which half of the usage is left, or less where the first step leaves less.
fn decay_in_words(decay: Option<Decay>) -> String {
    let Some(Decay { period, factor }) = decay else {
        return "usage does not decay".to_owned();
    };
    let steps = (0.5_f64.ln() / factor.ln()).max(1.0);
    match period as f64 * steps {
        half_life if half_life.is_finite() => format!("half-life {}", duration(half_life)),
        // by the factor 1
        _ => "usage does not decay".to_owned(),
    }
}

fn has_tree(files: &SiteFiles) -> bool {
    [Role::Tree, Role::ResourceGroup, Role::SchedPriv]
        .into_iter()
        .any(|role| files.has(role))
}
