//! `jsf simulate`

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use job_sort_formula::Formula;
use job_sort_formula::diagnostic::Severity;
use job_sort_formula::fairshare::PolicyRules;
use job_sort_formula::rank::{Consequence, OldNew, OnError};
use jsf_openpbs::check::{Checked, Verdict};
use jsf_openpbs::resource_amount::NumberMode;
use jsf_openpbs::submission::FormulaSubmission;
use jsf_simulate::{
    Decay, Difference, EvaluationErrors, GoalState, Goals, JudgedGoal, LogRules, Observer, Results, Validation, WarmUp,
    Workload, WorkloadModel, generate,
};
use jsf_site::{
    FormulaText, ProcessorsSource, Role, SimulateRequest, SimulatedQueue, Site, SiteError, SiteFiles, check_warm_up,
};
use signal_hook::consts::SIGINT;
use signal_hook::flag::{self, register_conditional_shutdown};

use crate::answer::Format;
use crate::cli::args::FormulaArgs;
use crate::cli::args::log::{simulated_files, starting_usage};
use crate::cli::args::site::{PolicyArg, is_stdin, note_idle, refuse_idle, require_one_reader};
use crate::cli::output::{Output, Page};
use crate::cli::page_file::drawn;
use crate::cli::queue::draw_submitted;
use crate::cli::{
    CliError, FormulaOptions, Outcome, Progress, STDIN, log, parsed_formula, read_formula, read_formula_of, report,
    show_site, warn, warn_all,
};
use crate::commands::compare::run::{NO_NEW_FORMULA, NO_OLD_FORMULA, no_formula};
use crate::commands::simulate::answer::SimulationReport;
use crate::commands::simulate::change::SimulatedChangeReport;
use crate::commands::simulate::failures::FailingJobs;
use crate::commands::simulate::request::SimulateArgs;
use crate::commands::simulate::shake::{shaken_change, shaken_side};
use crate::commands::simulate::sweep::{Sweep, filled};
use crate::commands::simulate::view::failing_clauses;
use crate::view::printable::printable;
use crate::view::without::without_words;
use crate::view::words::{too_short, waiting_time};

/// Whether Ctrl-C was pressed.
pub(crate) static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// The exit code of a process that Ctrl-C ends.
const INTERRUPTED: i32 = 130;

/// A log and how it is judged.
struct Log {
    workload: Workload,
    /// The goals by which a simulation is judged.
    goals: Option<Goals>,
    /// How long after the first submission the jobs begin that are counted, in seconds.
    warm_up: i64,
    /// Whether that is the time in which usage that starts fresh decays once.
    is_until_decay: bool,
}

pub(crate) fn run(arguments: &SimulateArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    require_one_reader(&readers(arguments))?;
    arguments.csv.note_idle(arguments.format == Format::Csv);
    if is_change(arguments) && arguments.format == Format::Swf {
        return Err(CliError::usage("--format swf writes one schedule: give one formula, without --old and --new"));
    }
    let site = open_site(arguments)?;
    warn_of_site(arguments, &site);
    if !arguments.param.is_empty() {
        return sweep(arguments, &site, out);
    }
    if !is_change(arguments) {
        let source = read_formula(&arguments.formula, Some(&site))?;
        let submitted = source.submitted(arguments.site.numbers);
        let log = read_log(arguments, &site, &[&submitted])?;
        let side = simulate(arguments, &site, &log, &source, &submitted, None)?;
        let Some(side) = side else { return Ok(Outcome::Findings) };
        report_failing(arguments, side.failing.iter().map(|failing| failing.clause("the formula")).collect());
        return write_side(arguments, &site, &log, &source, &submitted, &side, out);
    }
    let sources = formulas(arguments, &site)?;
    let submitted = OldNew {
        old: sources.old.submitted(arguments.site.numbers),
        new: sources.new.submitted(arguments.site.numbers),
    };
    let log = read_log(arguments, &site, &[&submitted.old, &submitted.new])?;
    let old = simulate(arguments, &site, &log, &sources.old, &submitted.old, None)?;
    let Some(old) = old else { return Ok(Outcome::Findings) };
    let new = simulate(arguments, &site, &log, &sources.new, &submitted.new, Some(&old))?;
    let Some(new) = new else { return Ok(Outcome::Findings) };
    let workload = &log.workload;
    let validation = Validation::new(workload, &old.simulated.schedule, log.warm_up);
    let [old_rules, new_rules] =
        [&sources.old, &sources.new].map(|source| rules(arguments, &site, &log, source, &old.simulated));
    let sides = OldNew {
        old: side_report(workload, &sources.old, &old, &old_rules),
        new: side_report(workload, &sources.new, &new, &new_rules),
    };
    report_failing(arguments, failing_clauses(sides));
    let difference = Difference::new(workload, &old.simulated.schedule, &new.simulated.schedule, log.warm_up);
    let shake = shaken_change(arguments, &site, &log.workload, log.warm_up, &submitted)?;
    let is_same = sources.old.text == sources.new.text;
    let change = SimulatedChangeReport {
        sides: &sides,
        difference: &difference,
        validation: validation.as_ref(),
        shake: shake.as_ref(),
        findings: OldNew { old: if is_same { &[][..] } else { &old.findings }, new: &*new.findings },
    };
    output(arguments, &site).write(&change, out)?;
    Ok(if old.is_fine && new.is_fine && meets_goals(&new) { Outcome::Fine } else { Outcome::Findings })
}

/// Simulates the formula with each combination of the values that are to be filled in.
fn sweep(arguments: &SimulateArgs, site: &Site, out: &mut impl Write) -> Result<Outcome, CliError> {
    if arguments.format == Format::Swf {
        return Err(CliError::usage("--format swf writes one schedule: give no --param"));
    }
    let template = read_formula(&arguments.formula, Some(site))?;
    let names: Vec<&str> = arguments.param.iter().map(|param| &*param.name).collect();
    if let Some(twice) = (1..names.len()).find(|&index| names[..index].contains(&names[index])) {
        return Err(CliError::usage(format!("--param gives `{}` more than once", names[twice])));
    }
    if let Some(unused) = arguments.param.iter().find(|param| !template.text.contains(&format!("{{{}}}", param.name))) {
        return Err(CliError::usage(format!("the formula has no `{{{}}}` to fill in", unused.name)));
    }
    let first: Vec<String> = arguments.param.iter().filter_map(|param| param.values.first().cloned()).collect();
    let filled = FormulaText { text: filled(&template.text, &arguments.param, &first), ..template.clone() };
    let log = read_log(arguments, site, &[&filled.submitted(arguments.site.numbers)])?;
    end_simulation_at_interrupt();
    let sweep = Sweep {
        arguments,
        site,
        workload: &log.workload,
        warm_up: log.warm_up,
        goals: log.goals.as_ref(),
        template: &template.text,
    };
    sweep.run(out)
}

/// A workload simulated under one formula.
struct Side {
    simulated: SimulatedQueue,
    results: Results,
    /// The goals, as it meets them.
    goals: Vec<JudgedGoal>,
    /// The result of checking the formula: with the queue of the site if it cannot work there, else without jobs.
    checked: Checked,
    /// The jobs for which it fails.
    failing: Option<FailingJobs>,
    /// The warnings about the simulation, as a document shows them.
    warnings: Vec<String>,
    /// The findings about the formula and the warnings about its simulation, as they are shown in a terminal.
    findings: Vec<String>,
    /// Whether the formula works.
    is_fine: bool,
}

fn side_report<'a>(
    workload: &'a Workload,
    source: &'a FormulaText,
    side: &'a Side,
    rules: &'a [(&'static str, String)],
) -> SimulationReport<'a> {
    SimulationReport {
        formula: &source.text,
        workload,
        schedule: &side.simulated.schedule,
        statistics: &side.results.statistics,
        fairness: side.results.fairness.as_ref(),
        validation: None,
        shake: None,
        policy: side.simulated.policy,
        decay: side.simulated.decay,
        processors: side.simulated.processors,
        processors_source: side.simulated.processors_source,
        goals: &side.goals,
        checked: Some(&side.checked),
        failing: side.failing.as_ref(),
        without: &side.simulated.left_out,
        has_no_waits: side.simulated.no_waits(workload).is_some(),
        warnings: &side.warnings,
        rules,
        findings: &[],
    }
}

fn write_side(
    arguments: &SimulateArgs,
    site: &Site,
    log: &Log,
    source: &FormulaText,
    submitted: &FormulaSubmission<'_>,
    side: &Side,
    out: &mut impl Write,
) -> Result<Outcome, CliError> {
    let workload = &log.workload;
    let validation = Validation::new(workload, &side.simulated.schedule, log.warm_up);
    if arguments.validate && validation.is_none() {
        return Err(CliError::content(
            "the log does not say how long its jobs waited, so there is nothing to compare with",
        ));
    }
    let rules = rules(arguments, site, log, source, &side.simulated);
    let shake = shaken_side(arguments, site, &log.workload, log.warm_up, submitted)?;
    let report = SimulationReport {
        validation: validation.as_ref().filter(|_| arguments.validate),
        shake: shake.as_ref(),
        findings: &side.findings,
        ..side_report(workload, source, side, &rules)
    };
    output(arguments, site).write(&report, out)?;
    Ok(if side.is_fine && meets_goals(side) { Outcome::Fine } else { Outcome::Findings })
}

/// How the answer is written.
fn output<'a>(arguments: &'a SimulateArgs, site: &'a Site) -> Output<'a> {
    let page = arguments.report.as_deref();
    Output {
        cells: arguments.csv.cells(),
        page: page.map(|path| Page { path, sites: vec![site], files: read_files(arguments).collect() }),
        ..Output::new(arguments.format, arguments.text, &[])
    }
}

/// Whether no goal is missed.
fn meets_goals(side: &Side) -> bool {
    side.goals.iter().all(|goal| goal.state != GoalState::Missed)
}

/// Whether two formulas are to be compared.
fn is_change(arguments: &SimulateArgs) -> bool {
    let SimulateArgs { old, new, old_file, new_file, .. } = arguments;
    old.is_some() || new.is_some() || old_file.is_some() || new_file.is_some()
}

/// Both formulas; the one that is not given is the formula of the command or the site's.
fn formulas(arguments: &SimulateArgs, site: &Site) -> Result<OldNew<FormulaText>, CliError> {
    let SimulateArgs { old, new, old_file, new_file, formula, .. } = arguments;
    let has_both = (old.is_some() || old_file.is_some()) && (new.is_some() || new_file.is_some());
    if has_both && formula.is_given() {
        return Err(CliError::usage("give two formulas: a third one has no effect beside --old and --new"));
    }
    let given_old = FormulaArgs { formula: old.clone(), formula_file: old_file.clone() };
    let given_new = FormulaArgs { formula: new.clone(), formula_file: new_file.clone() };
    let old = side_formula(FormulaOptions::OLD, &given_old, formula, site);
    let new = side_formula(FormulaOptions::NEW, &given_new, formula, site);
    match (old, new) {
        (Err(CliError::Site(SiteError::Missing(_))), Ok(_)) => Err(no_formula(NO_OLD_FORMULA)),
        (Ok(_), Err(CliError::Site(SiteError::Missing(_)))) => Err(no_formula(NO_NEW_FORMULA)),
        (old, new) => Ok(OldNew { old: old?, new: new? }),
    }
}

/// The formula that the options of a side give, else that of the command or the site's.
fn side_formula(
    options: FormulaOptions,
    given: &FormulaArgs,
    formula: &FormulaArgs,
    site: &Site,
) -> Result<FormulaText, CliError> {
    if given.is_given() { read_formula_of(options, given, None) } else { read_formula(formula, Some(site)) }
}

fn read_log(arguments: &SimulateArgs, site: &Site, submitted: &[&FormulaSubmission<'_>]) -> Result<Log, CliError> {
    let goals = arguments.goals.as_deref().map(|path| log::read_goals(path, site)).transpose()?;
    let workload = read_workload(arguments, site, submitted, goals.as_ref())?;
    let default = default_warm_up(arguments, site, &workload)?;
    let given = arguments.log.warm_up.map(|seconds| i64::try_from(seconds).unwrap_or(i64::MAX));
    let warm_up = given.unwrap_or(default.seconds());
    check_warm_up(&workload, warm_up)?;
    Ok(Log { workload, goals, warm_up, is_until_decay: given.is_none() && default.seconds() > 0 })
}

/// Which of the first jobs do not count unless the arguments say it.
fn default_warm_up(arguments: &SimulateArgs, site: &Site, workload: &Workload) -> Result<WarmUp, CliError> {
    if arguments.log.warm_up.is_some() {
        return Ok(WarmUp::None);
    }
    let usage = starting_usage(&arguments.site).unwrap_or_default();
    let warm_up = site.warm_up(workload, usage, arguments.log.decay);
    let warm_up = warm_up.map_err(|error| without_names(arguments, error))?;
    too_short(warm_up).iter().for_each(warn);
    Ok(warm_up)
}

fn read_workload(
    arguments: &SimulateArgs,
    site: &Site,
    submitted: &[&FormulaSubmission<'_>],
    goals: Option<&Goals>,
) -> Result<Workload, CliError> {
    let SimulateArgs { load, seed, .. } = *arguments;
    if let (Some(jobs), Some(processors)) = (arguments.generate, arguments.log.processors) {
        let _progress = Progress::start("generating the workload");
        let mut workload = generate(&WorkloadModel { jobs, processors, load, seed, ..WorkloadModel::default() });
        if arguments.anonymise {
            workload.anonymise();
        }
        return Ok(workload);
    }
    // a formula that does not parse is drawn when it is simulated
    let formulas: Vec<&Formula> = submitted.iter().filter_map(|submitted| submitted.formula().ok()).collect();
    let rules = LogRules { anonymise: arguments.anonymise, ..arguments.log.rules() };
    let workload = log::open(&arguments.log, rules, site, &formulas, goals)?;
    log::messages(&workload, !arguments.format.is_document()).iter().for_each(warn);
    Ok(workload)
}

/// Shows how far a simulation is, and ends it after Ctrl-C.
struct Counter {
    progress: Progress,
    jobs: usize,
    /// After how many starts it ends because Ctrl-C ended the one before there.
    most: Option<usize>,
}

impl Observer for Counter {
    fn progress(&mut self, started: usize) -> ControlFlow<()> {
        self.progress.show_fraction(started, self.most.unwrap_or(self.jobs));
        let is_over = match self.most {
            Some(most) => started >= most,
            None => IS_INTERRUPTED.load(Ordering::Relaxed),
        };
        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// The number of jobs that have started.
fn started(simulated: &SimulatedQueue, workload: &Workload) -> usize {
    (0..workload.jobs().len()).filter(|&job| simulated.schedule.start(job).is_some()).count()
}

/// From now on the first Ctrl-C ends the simulation, and what it has is written; the second one ends the process. Where no
/// handler can be set, the first one does.
pub(crate) fn end_simulation_at_interrupt() {
    static IS_SET: Once = Once::new();
    IS_SET.call_once(|| {
        let _ = register_conditional_shutdown(SIGINT, INTERRUPTED, &IS_INTERRUPTED)
            .and_then(|_| flag::register(SIGINT, &IS_INTERRUPTED));
    });
}

/// Simulates a workload under a formula; `None` if it is not arithmetic, and the finding is drawn. `before` is what it is
/// compared with: its warnings are not shown again, and if Ctrl-C ended it, this one ends with as many jobs.
fn simulate(
    arguments: &SimulateArgs,
    site: &Site,
    log: &Log,
    source: &FormulaText,
    submitted: &FormulaSubmission<'_>,
    before: Option<&Side>,
) -> Result<Option<Side>, CliError> {
    let workload = &log.workload;
    let Some(formula) = parsed_formula(source, submitted) else { return Ok(None) };
    let interrupted = before.map(|before| &before.simulated).filter(|before| !before.schedule.is_complete);
    let most = interrupted.map(|before| started(before, workload));
    let found = site.lint(formula, workload);
    end_simulation_at_interrupt();
    let mut counter = Counter { progress: Progress::start("simulating"), jobs: workload.jobs().len(), most };
    let simulated = run_once(arguments, site, formula, workload, &mut counter);
    drop(counter);
    let is_refused = matches!(simulated, Err(SiteError::NotArithmetic));
    if is_refused || !arguments.format.is_document() || arguments.text.full {
        draw_submitted(source, submitted, found.iter().cloned());
    }
    let simulated = match simulated {
        Err(SiteError::NotArithmetic) => return Ok(None),
        simulated => simulated?,
    };
    let shown = before.map_or(&[][..], |before| &before.simulated.warnings);
    let others = simulated.warnings.iter().filter(|warning| !shown.contains(warning));
    // the old side of a comparison is simulated first, and does not know yet which warnings are its own
    let of_side = if before.is_some() { "under the new formula: " } else { "" };
    let others: Vec<String> = others.map(|warning| of_side.to_owned() + warning).collect();
    if !arguments.format.is_document() {
        warn_all(&others);
    }
    if !simulated.schedule.is_complete {
        let jobs = workload.jobs().len();
        let started = started(&simulated, workload);
        warn(format_args!("interrupted: the results are those of the {started} of {jobs} jobs that have started"));
    }
    let errors = &simulated.schedule.errors;
    let shares = simulated.shares.as_deref();
    let failing = FailingJobs::new(formula, workload, errors, shares, arguments.site.on_error);
    let fails =
        errors.jobs() > 0 && (arguments.site.on_error == OnError::Fail || errors.jobs() == workload.jobs().len());
    let results = simulated.results(workload, log.warm_up);
    let old = before.map(|before| &*before.goals);
    let goals = results.judge(log.goals.as_ref(), workload, &simulated.schedule, old);
    let mut checked = check(arguments, site, submitted)?;
    // the old formula of a comparison may be the one that is mended
    let is_judged = before.is_some() || !is_change(arguments);
    let has_error = found.iter().any(|found| found.severity == Severity::Error);
    let is_fine = !(fails || has_error || is_judged && is_unusable(&checked, errors));
    let mut findings = drawn(source, submitted, &found);
    let failures =
        failing.iter().map(|failing| format!("{}: {}", failure_kind(arguments), failing.clause("the formula")));
    let drawn_warnings = others.iter().map(|warning| format!("warning: {warning}"));
    findings.extend(drawn_warnings.chain(failures).map(|text| printable(&text).into_owned()));
    let warnings = simulated.warnings.iter().map(|warning| format!("warning {warning}")).collect();
    for found in found.iter().map(|found| submitted.in_source(found.clone())) {
        let is_known = checked.findings.iter().any(|known| (known.code, known.span) == (found.code, found.span));
        checked.findings.extend((!is_known).then_some(found));
    }
    Ok(Some(Side { simulated, results, goals, checked, failing, warnings, findings, is_fine }))
}

/// Runs the simulation that the arguments ask for.
pub(crate) fn run_once(
    arguments: &SimulateArgs,
    site: &Site,
    formula: &Formula,
    workload: &Workload,
    observer: &mut dyn Observer,
) -> Result<SimulatedQueue, SiteError> {
    let request = SimulateRequest {
        decay_period: arguments.log.decay,
        decay_factor: arguments.log.decay_factor,
        processors: arguments.log.processors,
        backfill: arguments.log.backfill,
        usage: starting_usage(&arguments.site).unwrap_or_default(),
        ..SimulateRequest::new(formula, workload, observer)
    };
    site.simulate(request).map_err(|error| without_names(arguments, error))
}

/// An error about the files of a site, which may quote any of their names. --anonymise shows that there is one alone.
fn without_names(arguments: &SimulateArgs, error: SiteError) -> SiteError {
    match error {
        SiteError::Content(_) if arguments.anonymise => {
            let text = "the files of the site cannot be used; the reason may contain names, which --anonymise hides";
            SiteError::Content(text.to_owned().into())
        }
        error => error,
    }
}

/// Shows the warnings about the files of a site, which may quote any of their names; with --anonymise, that there are some.
fn warn_of_site(arguments: &SimulateArgs, site: &Site) {
    match site.warnings() {
        warnings if !arguments.anonymise => warn_all(warnings),
        [] => {}
        _ => warn("the warnings about the files of the site may contain names, which --anonymise hides"),
    }
}

/// Whether the server refuses a formula, or the scheduler crashes of it, with the jobs of the site's queue or of the log.
fn is_unusable(checked: &Checked, errors: &EvaluationErrors) -> bool {
    let has_error = checked.findings.iter().any(|found| found.severity == Severity::Error);
    let crashes = errors.kinds().any(|(_, error)| error.consequence == Consequence::Crash);
    has_error || crashes || is_fatal(checked)
}

/// Whether the scheduler cannot work with a formula, so that no waits are shown.
fn is_fatal(checked: &Checked) -> bool {
    matches!(checked.verdict, Verdict::Refused | Verdict::Crashes | Verdict::CrashesAtStart { .. })
}

/// The result of checking a formula. The queue of the site tells of crashes that no job of the log shows, which decides the exit
/// code in every format.
fn check(arguments: &SimulateArgs, site: &Site, submitted: &FormulaSubmission<'_>) -> Result<Checked, SiteError> {
    let of_queue = site.check_with_queue(submitted).ok().flatten();
    let checked = site.check(submitted).map_err(|error| without_names(arguments, error))?;
    Ok(match of_queue.filter(|checked| is_fatal(checked) && checked.verdict != Verdict::Refused) {
        // what is found in the queue may name its entities
        Some(of_queue) if arguments.anonymise => Checked { findings: checked.findings, ..of_queue },
        Some(of_queue) => of_queue,
        None => checked,
    })
}

/// Says for which jobs the formulas fail, where no document does.
fn report_failing(arguments: &SimulateArgs, clauses: Vec<String>) {
    if !clauses.is_empty() && !arguments.format.is_document() {
        report(failure_kind(arguments), clauses.join("; "));
    }
}

/// The kind of a message about jobs for which a formula fails.
fn failure_kind(arguments: &SimulateArgs) -> &'static str {
    if arguments.site.on_error == OnError::Fail { "error" } else { "warning" }
}

/// The options that read standard input.
fn readers(arguments: &SimulateArgs) -> Vec<&'static str> {
    let SimulateArgs { formula, old, new, old_file, new_file, .. } = arguments;
    let formulas =
        [("the formula", &formula.formula, &formula.formula_file), ("--old", old, old_file), ("--new", new, new_file)];
    let formulas = formulas
        .into_iter()
        .filter(|(_, text, file)| text.as_deref() == Some(STDIN) || file.as_deref().is_some_and(is_stdin))
        .map(|(name, ..)| name);
    let workloads = arguments.log.workload.iter().filter(|path| is_stdin(path)).map(|_| "--workload");
    let goals = arguments.goals.iter().filter(|path| is_stdin(path)).map(|_| "--goals");
    formulas.chain(arguments.site.files_from(is_stdin)).chain(workloads).chain(goals).collect()
}

/// The files that are read besides those of the site.
fn read_files(arguments: &SimulateArgs) -> impl Iterator<Item = &PathBuf> {
    let formulas = [&arguments.formula.formula_file, &arguments.old_file, &arguments.new_file];
    formulas.into_iter().flatten().chain(&arguments.log.workload)
}

fn open_site(arguments: &SimulateArgs) -> Result<Site, CliError> {
    if arguments.site.numbers == NumberMode::Decimal {
        return Err(CliError::usage("a simulation computes with doubles, not with decimals"));
    }
    if arguments.site.policy == Some(PolicyArg::All) {
        return Err(CliError::usage("a simulation needs one policy, not `all` of them"));
    }
    let of_queue = ("--queue", arguments.site.files.has(Role::Queue));
    refuse_idle(&[of_queue], "in a simulation, whose jobs are those of --workload")?;
    let formula = match &arguments.formula.formula {
        Some(text) if text == STDIN => Some(FormulaText::source(STDIN.as_ref())?),
        Some(_) => None,
        None => arguments.formula.formula_file.as_deref().map(FormulaText::source).transpose()?,
    };
    let files = formula
        .into_iter()
        .fold(simulated_files(&arguments.site)?, |files, formula| files.with(Role::Formula, formula));
    let files = files.for_workload();
    if !has_tree(&files) {
        let options = [
            ("--decay", arguments.log.decay.is_some()),
            ("--decay-factor", arguments.log.decay_factor.is_some()),
            ("--policy", arguments.site.policy.is_some()),
            ("--slurm-conf", arguments.site.files.has(Role::SlurmConf)),
            ("--slurm-release", arguments.site.slurm_release.is_some()),
        ];
        note_idle(&options, "without a fair-share tree: give --tree FILE or --sched-priv DIR");
    }
    let site = Site::from_files(files, arguments.site.rules(None)).map_err(|error| without_names(arguments, error))?;
    show_site(&arguments.site, &site, arguments.format.is_document());
    Ok(site)
}

/// The size of the machine with where it is from, and what a cycle starts.
pub(crate) fn machine_in_words(simulated: &SimulatedQueue) -> String {
    let processors = match simulated.processors {
        1 => "1 processor".to_owned(),
        processors => format!("{processors} processors"),
    };
    let source = match simulated.processors_source {
        ProcessorsSource::Given => String::new(),
        source => format!(" {} (--processors)", source.in_words()),
    };
    format!("{processors}{source}, {}", simulated.backfilling)
}

fn has_tree(files: &SiteFiles) -> bool {
    [Role::Tree, Role::ResourceGroup, Role::SchedPriv].into_iter().any(|role| files.has(role))
}

/// What is shown above the tables.
fn rules(
    arguments: &SimulateArgs,
    site: &Site,
    log: &Log,
    source: &FormulaText,
    simulated: &SimulatedQueue,
) -> Vec<(&'static str, String)> {
    let machine = machine_in_words(simulated);
    let mut rules = vec![("formula", source.text.trim_end().to_owned()), ("machine", machine)];
    if has_tree(site.files()) {
        let whose = match arguments.site.rules {
            PolicyRules::Documented => "the published document",
            PolicyRules::Scheduler => "the daemon",
        };
        let decay = simulated.decay.map_or_else(|| "usage does not decay".to_owned(), decay_in_words);
        let policy = site.policy().as_str();
        rules.push(("fair share", format!("policy {policy} by the rules of {whose} (--rules); {decay}")));
    }
    if log.warm_up > 0 {
        let reason = if log.is_until_decay { ", until usage decays" } else { "" };
        let first = log.workload.jobs().first().map_or(0, |job| job.submit);
        let jobs = log.workload.count_before(first.saturating_add(log.warm_up));
        let left_out =
            format!("{jobs} jobs of the first {} are left out{reason} (--warm-up)", waiting_time(log.warm_up));
        rules.push(("warm-up", left_out));
    }
    let limits = &simulated.limits;
    rules.extend(site.python_rule());
    let without = without_words(&simulated.left_out);
    rules.extend((!without.is_empty()).then_some(("without", without)));
    rules.extend((!limits.is_empty()).then(|| ("limits", limits.join("; "))));
    rules
}

/// How usage decays; in steps that take less than half of it, also the time in which half of it is left.
fn decay_in_words(decay: Decay) -> String {
    let every = waiting_time(i64::try_from(decay.period).unwrap_or(i64::MAX));
    let factor = (decay.factor * 1e6).round() / 1e6;
    let half_life = half_life(decay).map(|seconds| format!(" (half-life {})", waiting_time(seconds)));
    format!("usage decays by the factor {factor} every {every}{}", half_life.unwrap_or_default())
}

/// The time in which steps of a decay leave half of the usage, in seconds, rounded to minutes or hours; `None` if the first one does.
fn half_life(Decay { period, factor }: Decay) -> Option<i64> {
    let steps = (factor > 0.5 && factor < 1.0).then(|| 0.5_f64.ln() / factor.ln())?;
    let seconds = period as f64 * steps;
    let unit = if seconds < 86_400.0 { 60.0 } else { 3600.0 };
    Some(((seconds / unit).round() * unit) as i64)
}
