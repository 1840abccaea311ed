//! `jsf fit`: its arguments, and what it does.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Arg, Args};
use job_sort_formula::diagnostic::{Diagnostic, Severity};
use job_sort_formula::formula::{Formula, Template};
use jsf_fit::goals::{FitError, FitProgress, Recommendation, fit_goals, formulas_read};
use jsf_fit::wishes::{WishError, Wishes, fit_wishes};
use jsf_openpbs::check::Verdict;
use jsf_site::{FormulaText, Site};

use crate::answer::Answer;
use crate::cli::args::{AnswerArgs, FormulaArgs, FormulaOptions, ReportArgs};
use crate::cli::formula::read_formula;
use crate::cli::interrupt::{end_simulation_at_interrupt, until_interrupted};
use crate::cli::messages::{Progress, draw, draw_all, warn, warn_all};
use crate::cli::outcome::{CliError, Outcome};
use crate::cli::output::Output;
use crate::cli::site::{SiteArgs, argument_of_log, require_one_reader};
use crate::commands::fit::goals_view::is_missed;
use crate::commands::fit::search_options::SearchOptions;
use crate::commands::fit::{GoalFitAnswer, WishFitAnswer};
use crate::commands::simulate::log_facts::log_messages;
use crate::log_options::{LogOptions, MAX_WISHES_BYTES, read_goals, read_text};

/// How the formula in force is given. A file of it has no option: the shell reads it.
const OLD: FormulaOptions = FormulaOptions {
    text: "--old",
    file: "--old \"$(cat FILE)\"",
};
/// With what the codes of findings about names begin.
const OF_NAMES: &str = "JSF2";

/// `jsf fit`
#[derive(Debug, Args)]
#[command(after_help = "\
A constant to find is written {NAME=START:LOW..HIGH}, with :log behind it where factors matter and not differences, and :int \
where it must be whole:
  '{fs=100:0..500}*fairshare_factor + {age=1:0.01..50:log}*eligible_time/3600'

What is wanted is either an order of the jobs that wait now (--prefer, --wishes), or goals about the waits of a log (--goals \
with --workload). A file of wishes has an id in each line, the best job first; blank lines separate groups whose jobs may be \
in any order, and # begins a comment. With `id,score` in each line the values of the formula are brought as near to the scores \
as they can be.

For goals the log is divided: the first part is searched, then the longest walltime is left out, and the last part (--held-out) \
is never searched. The advice is to use the formula only if what it gains over the old one on the held-out days is more than \
chance, by the intervals of `jsf simulate`; else to keep that. A log needs eight weeks and 2000 jobs, or --force. \
docs/admin-guide.md says how far to trust the answer.

Exit codes: 0 success, 1 a wish or a goal is not met, or the template or the answer has an error, 2 usage error, or a file that cannot be read.

Examples:
  jsf fit '{fs=9:0..99}*fairshare_factor + {age=1:0..9}*eligible_time/3600' \\
      --site examples/site --prefer 184208 185046
  jsf fit '{fs=9:0..99}*fairshare_factor + {age=1:0..9}*eligible_time/3600' \\
      --site examples/site --workload examples/site/accounting.gz \\
      --processors 256 --goals examples/goals.toml --evaluations 4")]
#[command(mut_args(of_fit))]
pub struct FitArgs {
    /// The template.
    #[command(flatten)]
    formula: FormulaArgs,
    /// Job A before job B; repeat it for several
    #[arg(long, value_names = ["A", "B"], num_args = 2, conflicts_with = "goals")]
    prefer: Vec<String>,
    /// The order that is wanted
    ///
    /// Ids of jobs, a line each, best first; blank lines between groups of equals; or `id,score` as
    /// CSV; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with = "goals")]
    wishes: Option<PathBuf>,
    /// The goals for the waits of a log
    ///
    /// TOML as for `jsf simulate --goals`, with `[objective] minimise = "mean bounded_slowdown"`
    /// for what is to be as small as possible once the goals are met
    #[arg(long, value_name = "FILE", requires = "workload")]
    goals: Option<PathBuf>,
    /// The log.
    #[command(flatten)]
    log: LogOptions,
    /// The formula in force
    ///
    /// With which the answer is compared [default: the site's, else first come, first served]
    #[arg(
        long,
        value_name = "FORMULA",
        allow_hyphen_values = true,
        requires = "goals"
    )]
    old: Option<String>,
    /// How constants are searched.
    #[command(flatten)]
    search: SearchOptions,
    /// The site.
    #[command(flatten)]
    site: SiteArgs,
    /// How the answer is written.
    #[command(flatten)]
    answer: AnswerArgs,
    /// A page.
    #[command(flatten)]
    report: ReportArgs,
}

/// An argument of several commands as a fit has it.
fn of_fit(argument: Arg) -> Arg {
    match argument.get_id().as_str() {
        "formula" => argument
            .value_name("TEMPLATE")
            .help("The formula with the constants to find; - is standard input"),
        "formula_file" => argument.help("The file that contains the template"),
        "workload" | "processors" => argument.requires("goals"),
        "backfill" | "warm_up" => argument.requires("goals").hide_short_help(true),
        _ => argument_of_log(argument),
    }
}

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
        Some(goals) => fit_log(arguments, goals, &template, out),
        None => fit_queue(arguments, &template, out),
    }
}

/// Finds the constants that meet wishes about the jobs that wait.
fn fit_queue(
    arguments: &FitArgs,
    template: &Template,
    out: &mut impl Write,
) -> Result<Outcome, CliError> {
    let site = arguments.site.open(None, None)?;
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
    let answer = WishFitAnswer::new(&site, template, fit);
    write(arguments, &site, &answer, out)?;
    let is_fine = answer.fit.is_feasible && !answer.to_set.has_errors();
    Ok(Outcome::fine_if(is_fine))
}

/// Finds the constants that meet goals about the waits of a log.
fn fit_log(
    arguments: &FitArgs,
    goals: &Path,
    template: &Template,
    out: &mut impl Write,
) -> Result<Outcome, CliError> {
    arguments.site.require_simulated_rules()?;
    let files = arguments.site.simulated_files()?.for_workload();
    let site = Site::from_files(files, arguments.site.options(None))?;
    require_working(arguments, &site, template)?;
    let goals = read_goals(goals, &site)?;
    let in_force = match &arguments.old {
        Some(old) => {
            let given = FormulaArgs::new(OLD, &Some(old.clone()), &None);
            Some(read_formula(&given, None)?.text)
        }
        None => site.formula_text().ok().map(|formula| formula.text),
    };
    let formulas = formulas_read(template, in_force.as_deref());
    let log = &arguments.log;
    let progress = Progress::start("reading the workload");
    let formulas: Vec<&Formula> = formulas.iter().collect();
    let (workload, warnings) = log.open(log.rules(), &site, &formulas, Some(&goals))?;
    drop(progress);
    for message in [warnings, log_messages(&workload, true)].concat() {
        warn(message);
    }
    let simulation = log.simulation(arguments.site.starting_usage());
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
    let answer = GoalFitAnswer::new(&site, template, fit);
    write(arguments, &site, &answer, out)?;
    let mut is_fine = match answer.fit.reason.recommendation() {
        Recommendation::Use => !answer.to_set.has_errors(),
        Recommendation::Keep => true,
        Recommendation::None => false,
    };
    for goal in &answer.fit.goals {
        is_fine &= !is_missed(goal);
    }
    Ok(Outcome::fine_if(is_fine))
}

/// The server must take the template with its start values, and know its names; what is wrong
/// otherwise is drawn.
fn require_working(arguments: &FitArgs, site: &Site, template: &Template) -> Result<(), CliError> {
    arguments
        .site
        .show(site, arguments.answer.format.is_document());
    warn_all(&site.warnings());
    // the check takes formulas, and which names exist does not depend on the numbers
    let source = FormulaText::new(template.fill(&template.starts()))?;
    let submitted = source.submitted(arguments.site.numbers);
    let checked = site.check(&submitted)?;
    // other errors may be those of the start values, which the search leaves
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
    Output {
        page_file: arguments
            .report
            .page_file(vec![site], read_files(arguments)),
        ..Output::new(arguments.answer, &[])
    }
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
    let before = [
        ("the template", arguments.formula.file()),
        ("--wishes", arguments.wishes.as_deref()),
        ("--goals", arguments.goals.as_deref()),
    ];
    require_one_reader(&before, &arguments.site, &arguments.log.readers())
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
