//! `jsf fit`

use std::io::Write;
use std::ops::ControlFlow;
use std::path::PathBuf;

use job_sort_formula::diagnostic::{Diagnostic, Severity};
use job_sort_formula::formula::Template;
use jsf_fit::goals::{
    FitError, FitObserver, FitOptions, FitProgress, Recommendation, fit_goals, formulas_read,
};
use jsf_fit::wishes::{WishError, WishOptions, Wishes, fit_wishes};
use jsf_fit::{is_scale_free, starts};
use jsf_openpbs::check::Verdict;
use jsf_site::{FileSource, FormulaText, Site, is_stdin};

use crate::answer::Answer;
use crate::cli::args::FormulaArgs;
use crate::cli::args::log::simulated_files;
use crate::cli::args::site::require_one_reader;
use crate::cli::output::Output;
use crate::cli::{
    CliError, FormulaOptions, Outcome, Progress, draw, draw_all, log, open_site, read_formula,
    read_formula_of, show_site, warn, warn_all,
};
use crate::commands::fit::answer::{GoalFitReport, WishFitReport, not_advised, unmet_wishes};
use crate::commands::fit::formula_to_set::FormulaToSet;
use crate::commands::fit::request::FitArgs;
use crate::commands::simulate::interruption::{end_simulation_at_interrupt, until_interrupted};
use crate::commands::simulate::site_of_log::is_from_stdin;

/// How the formula in force is given.
const OLD: FormulaOptions = FormulaOptions {
    text: "--old",
    file: "--old \"$(cat FILE)\"",
};
/// With what the codes of findings about names begin.
const OF_NAMES: &str = "JSF2";
/// The longest file of wishes, in bytes.
const MAX_WISHES_BYTES: u64 = 4 << 20;

pub(crate) fn run(arguments: &FitArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    require_one_reader(&options_from_stdin(arguments))?;
    if !arguments.formula.is_given() {
        return Err(CliError::usage(
            "no template: give its text, such as '{a=1:0..50}*ncpus + eligible_time', or -f FILE",
        ));
    }
    if arguments.goals.is_none() && arguments.wishes.is_none() && arguments.prefer.is_empty() {
        return Err(CliError::usage(
            "nothing is wanted: give --prefer or --wishes for the queue, or --goals and --workload for a log",
        ));
    }
    let source = read_formula(&arguments.formula, None)?;
    let template = match Template::parse(&source.text) {
        Ok(template) => template,
        Err(error) => {
            draw(&source, &error.diagnostic());
            return Ok(Outcome::Findings);
        }
    };
    end_simulation_at_interrupt();
    match &arguments.goals {
        Some(_) => fit_log(arguments, &template, out),
        None => fit_queue(arguments, &template, out),
    }
}

/// Finds the constants that meet wishes about the jobs that wait.
fn fit_queue(
    arguments: &FitArgs,
    template: &Template,
    out: &mut impl Write,
) -> Result<Outcome, CliError> {
    let no_formula = FormulaArgs {
        formula: None,
        formula_file: None,
    };
    let site = open_site(&arguments.site, &no_formula, None)?;
    if !can_work(arguments, &site, template)? {
        return Ok(Outcome::Findings);
    }
    let wishes = read_wishes(arguments)?;
    let evaluations = arguments
        .evaluations
        .unwrap_or(WishOptions::default().evaluations);
    let options = WishOptions {
        seed: arguments.seed,
        evaluations,
    };
    let progress = Progress::start("ranking");
    let fit = fit_wishes(&site, template, &wishes, &options, &mut |ended| {
        progress.show_fraction(ended.met, ended.total);
        until_interrupted()
    });
    drop(progress);
    let fit = fit.map_err(wish_error)?;
    warn_if_interrupted(!fit.is_complete);
    let to_set = FormulaToSet::new(&site, &fit.formula, unmet_wishes(&fit));
    let report = WishFitReport::new(template.text(), &fit, &to_set);
    write(arguments, &site, &report, out)?;
    Ok(Outcome::fine_if(fit.is_feasible && !to_set.has_errors()))
}

/// Finds the constants that meet goals about the waits of a log.
fn fit_log(
    arguments: &FitArgs,
    template: &Template,
    out: &mut impl Write,
) -> Result<Outcome, CliError> {
    let Some(path) = &arguments.goals else {
        return Err(CliError::usage("no goals: give a file"));
    };
    let files = simulated_files(&arguments.site)?.for_workload();
    let site = Site::from_files(files, arguments.site.rules(None))?;
    if !can_work(arguments, &site, template)? {
        return Ok(Outcome::Findings);
    }
    let goals = log::read_goals(path, &site)?;
    let in_force = match &arguments.old {
        Some(old) => {
            let given = FormulaArgs {
                formula: Some(old.clone()),
                formula_file: None,
            };
            Some(read_formula_of(OLD, &given, None)?.text)
        }
        None => site.formula_text().ok().map(|formula| formula.text),
    };
    let formulas = formulas_read(template, in_force.as_deref());
    let workload = log::open(
        &arguments.log,
        arguments.log.rules(),
        &site,
        &formulas.iter().collect::<Vec<_>>(),
        Some(&goals),
    )?;
    log::messages(&workload, true).iter().for_each(warn);
    let options = FitOptions {
        in_force,
        is_scale_free: is_scale_free(template) && site.threshold().is_none(),
        seed: arguments.seed,
        evaluations: arguments
            .evaluations
            .unwrap_or(FitOptions::default().evaluations),
        held_out: arguments.held_out,
        force: arguments.force,
        warm_up: arguments
            .log
            .warm_up
            .map(|seconds| i64::try_from(seconds).unwrap_or(i64::MAX)),
        simulation: arguments.log.simulation(&arguments.site),
    };
    let observer = Counter(Progress::start("simulating"));
    let fit = fit_goals(&site, template, &workload, &goals, &options, &observer);
    drop(observer);
    let fit = fit.map_err(fit_error)?;
    warn_if_interrupted(fit.is_interrupted);
    if !arguments.format.is_document() {
        warn_all(&fit.held_out.warnings);
    }
    let to_set = FormulaToSet::new(&site, &fit.formula, not_advised(&fit));
    let report = GoalFitReport::new(template.text(), &fit, &to_set);
    write(arguments, &site, &report, out)?;
    let is_met = fit
        .goals
        .iter()
        .all(|goal| !goal.train.is_missed() && !goal.held_out.is_missed());
    let is_found = fit.reason.recommendation() != Recommendation::None;
    let has_errors = fit.reason.recommendation() == Recommendation::Use && to_set.has_errors();
    Ok(Outcome::fine_if(is_met && is_found && !has_errors))
}

/// Whether the server takes the template with its start values, and knows its names; what is wrong
/// otherwise is drawn.
fn can_work(arguments: &FitArgs, site: &Site, template: &Template) -> Result<bool, CliError> {
    show_site(&arguments.site, site, arguments.format.is_document());
    warn_all(&site.warnings());
    let source = FormulaText::new(template.fill(&starts(template)))?;
    let submitted = source.submitted(arguments.site.numbers);
    let checked = site.check(&submitted)?;
    let is_fatal = |found: &Diagnostic| {
        found.severity == Severity::Error
            && (checked.verdict == Verdict::Refused || found.code.name().starts_with(OF_NAMES))
    };
    let mut fatal = checked.findings.clone();
    fatal.retain(is_fatal);
    draw_all(&source, &fatal);
    Ok(fatal.is_empty())
}

/// Shows how many formulas have been simulated, and ends after Ctrl-C.
struct Counter(Progress);

impl FitObserver for Counter {
    fn progress(&self, progress: &FitProgress) -> ControlFlow<()> {
        self.0.show_fraction(progress.evaluations, progress.planned);
        self.poll()
    }

    fn poll(&self) -> ControlFlow<()> {
        until_interrupted()
    }
}

fn warn_if_interrupted(is_interrupted: bool) {
    if is_interrupted {
        warn("interrupted: this is the best so far");
    }
}

fn write(
    arguments: &FitArgs,
    site: &Site,
    answer: &impl Answer,
    out: &mut impl Write,
) -> Result<(), CliError> {
    let output = Output::new(arguments.format, arguments.text, &[]);
    output
        .with_page(
            arguments.report.as_deref(),
            vec![site],
            read_files(arguments),
        )
        .write(answer, out)
}

fn read_wishes(arguments: &FitArgs) -> Result<Wishes, CliError> {
    let mut wishes = Wishes::default();
    for pair in arguments.prefer.chunks_exact(2) {
        wishes.prefer(&pair[0], &pair[1]).map_err(wish_error)?;
    }
    if let Some(path) = &arguments.wishes {
        let source = FileSource::Path(path.clone());
        wishes
            .read(&source.name(), &log::read_text(&source, MAX_WISHES_BYTES)?)
            .map_err(wish_error)?;
    }
    Ok(wishes)
}

fn wish_error(error: WishError) -> CliError {
    match error {
        WishError::Site(error) => error.into(),
        error => CliError::content(error),
    }
}

fn fit_error(error: FitError) -> CliError {
    match error {
        FitError::Site(error) => error.into(),
        FitError::TooShort { .. } => {
            CliError::content(format!("{error}; --force fits it all the same"))
        }
        error => CliError::content(error),
    }
}

/// The options that read standard input.
fn options_from_stdin(arguments: &FitArgs) -> Vec<&'static str> {
    let mut options = Vec::new();
    options.extend(is_from_stdin(&arguments.formula).then_some("the template"));
    for (name, path) in [
        ("--wishes", &arguments.wishes),
        ("--goals", &arguments.goals),
    ] {
        options.extend(path.as_deref().is_some_and(is_stdin).then_some(name));
    }
    options.extend(arguments.site.files_from(is_stdin));
    let workloads = arguments.log.workload.iter().filter(|path| is_stdin(path));
    options.extend(workloads.map(|_| "--workload"));
    options
}

/// The files that are read besides those of the site.
fn read_files(arguments: &FitArgs) -> Vec<&PathBuf> {
    let single = [
        &arguments.formula.formula_file,
        &arguments.wishes,
        &arguments.goals,
    ];
    single
        .into_iter()
        .flatten()
        .chain(&arguments.log.workload)
        .collect()
}
