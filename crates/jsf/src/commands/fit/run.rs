//! `jsf fit`

use std::io::Write;
use std::path::PathBuf;

use job_sort_formula::diagnostic::{Diagnostic, Severity};
use job_sort_formula::formula::{Formula, Template};
use jsf_fit::goals::{FitError, FitProgress, Recommendation, fit_goals, formulas_read};
use jsf_fit::starts;
use jsf_fit::wishes::{WishError, Wishes, fit_wishes};
use jsf_openpbs::check::Verdict;
use jsf_site::{FormulaText, Site, is_stdin};

use crate::answer::Answer;
use crate::cli::args::FormulaArgs;
use crate::cli::args::log::{simulated_files, simulation, workload_readers};
use crate::cli::args::site::require_one_reader;
use crate::cli::output::Output;
use crate::cli::{
    CliError, FormulaOptions, Outcome, Progress, draw, draw_all, read_formula, read_formula_of,
    show_site, warn, warn_all,
};
use crate::commands::fit::answer::{GoalFitReport, WishFitReport, not_advised, unmet_wishes};
use crate::commands::fit::formula_to_set::FormulaToSet;
use crate::commands::fit::request::FitArgs;
use crate::commands::simulate::interruption::{end_simulation_at_interrupt, until_interrupted};
use crate::commands::simulate::log_facts::messages;
use crate::text_files::{MAX_WISHES_BYTES, read_goals, read_text};

/// How the formula in force is given.
const OLD: FormulaOptions = FormulaOptions {
    text: "--old",
    file: "--old \"$(cat FILE)\"",
};
/// With what the codes of findings about names begin.
const OF_NAMES: &str = "JSF2";

pub(crate) fn run(arguments: &FitArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    require_one_file(arguments)?;
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
    let template = Template::parse(&source.text).map_err(|error| {
        draw(&source, &error.diagnostic());
        CliError::Findings
    })?;
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
    let site = arguments.site.open(&FormulaArgs::default(), None)?;
    require_working(arguments, &site, template)?;
    let wishes = read_wishes(arguments)?;
    let options = arguments.search.for_wishes();
    let progress = Progress::start("ranking");
    let fit = fit_wishes(&site, template, &wishes, &options, &mut |ended| {
        progress.show_fraction(ended.met, ended.total);
        until_interrupted()
    });
    drop(progress);
    let fit = fit.map_err(wish_error)?;
    warn_if_interrupted(!fit.is_complete);
    let to_set = FormulaToSet::new(&site, &fit.formula, unmet_wishes(&fit));
    let report = WishFitReport {
        template: template.text(),
        fit: &fit,
        to_set: &to_set,
        warnings: Vec::new(),
    };
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
    require_working(arguments, &site, template)?;
    let goals = read_goals(path, &site)?;
    let in_force = match &arguments.old {
        Some(old) => {
            let given = FormulaArgs {
                formula: Some(old.clone()),
                ..FormulaArgs::default()
            };
            Some(read_formula_of(OLD, &given, None)?.text)
        }
        None => site.formula_text().ok().map(|formula| formula.text),
    };
    let formulas = formulas_read(template, in_force.as_deref());
    let log = &arguments.log;
    let progress = Progress::start("reading the workload");
    let formulas: Vec<&Formula> = formulas.iter().collect();
    let (workload, warnings) = log.open(log.rules(), &site, &formulas, Some(&goals))?;
    drop(progress);
    for message in [warnings, messages(&workload, true)].concat() {
        warn(message);
    }
    let simulation = simulation(log, &arguments.site);
    let search = &arguments.search;
    let options = search.for_goals(in_force, log, simulation);
    let progress = Progress::start("simulating");
    let observer = |fitted: FitProgress| {
        if let FitProgress::Simulated {
            evaluations,
            planned,
        } = fitted
        {
            progress.show_fraction(evaluations, planned);
        }
        until_interrupted()
    };
    let fit = fit_goals(&site, template, &workload, &goals, &options, &observer);
    drop(progress);
    let fit = fit.map_err(fit_error)?;
    warn_if_interrupted(!fit.is_complete);
    if !arguments.answer.format.is_document() {
        warn_all(&fit.held_out.warnings);
    }
    let to_set = FormulaToSet::new(&site, &fit.formula, not_advised(&fit));
    let report = GoalFitReport {
        template: template.text(),
        fit: &fit,
        to_set: &to_set,
    };
    write(arguments, &site, &report, out)?;
    let is_met = fit
        .goals
        .iter()
        .all(|goal| !goal.train.is_missed() && !goal.held_out.is_missed());
    let is_found = fit.reason.recommendation() != Recommendation::None;
    let has_errors = fit.reason.recommendation() == Recommendation::Use && to_set.has_errors();
    Ok(Outcome::fine_if(is_met && is_found && !has_errors))
}

/// The server must take the template with its start values, and know its names; what is wrong
/// otherwise is drawn.
fn require_working(arguments: &FitArgs, site: &Site, template: &Template) -> Result<(), CliError> {
    show_site(&arguments.site, site, arguments.answer.format.is_document());
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
    if fatal.is_empty() {
        Ok(())
    } else {
        Err(CliError::Findings)
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
    let output = Output::of(arguments.answer, &[]);
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
        wishes.prefer(&pair[0], &pair[1]);
    }
    if let Some(path) = &arguments.wishes {
        let (name, text) = read_text(path, MAX_WISHES_BYTES)?;
        wishes.read(&name, &text).map_err(wish_error)?;
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

/// Standard input can be only one of the files.
fn require_one_file(arguments: &FitArgs) -> Result<(), CliError> {
    let [wishes, goals] = [&arguments.wishes, &arguments.goals].map(Option::as_deref);
    let before = [
        ("the template", arguments.formula.is_from_stdin()),
        ("--wishes", wishes.is_some_and(is_stdin)),
        ("--goals", goals.is_some_and(is_stdin)),
    ];
    require_one_reader(&before, &arguments.site, &workload_readers(&arguments.log))
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
