//! `jsf simulate`: its arguments, and what it does.

use std::io::Write;

use clap::{Arg, Args};
use job_sort_formula::rank::{OldNew, OnError};
use jsf_simulate::{Difference, Shake, Workload};
use jsf_site::{FileSource, Role, SimulatedQueue, Site, SiteError};

use crate::answer_formats::Format;
use crate::cli::args::{AnswerArgs, CsvArgs, FormulaArgs, ReportArgs, TwoFormulas, format};
use crate::cli::formula::read_formula;
use crate::cli::interrupt::{on_all_cores, until_interrupted, watched};
use crate::cli::messages::{answered, print_message};
use crate::cli::outcome::{CliError, Outcome};
use crate::cli::output::Output;
use crate::cli::site::{SiteArgs, argument_of_log, readers_of_log, require_one_reader};
use crate::commands::compare::run::{NO_NEW_FORMULA, NO_OLD_FORMULA, no_formula};
use crate::commands::simulate::sweep::{Param, param, sweep};
use crate::commands::simulate::{SimulateQuestion, SimulatedSide, SimulationAnswer, without_names};
use crate::given_formula::GivenFormula;
use crate::log_options::log_counts;
use crate::value_parsers::number_within;

const FORMATS: [Format; 5] = [
    Format::Human,
    Format::Markdown,
    Format::Json,
    Format::Csv,
    Format::Swf,
];

/// `jsf simulate`
#[derive(Debug, Args)]
#[command(after_help = "\
Jobs are submitted as in the log. After each submission and each end, one cycle of OpenPBS's scheduler runs under the site's \
rules. Without a site the higher value of the formula comes first, then the earlier submission, then the lower id. \
docs/simulation.md says what is modelled, how far to trust an interval, what --shake shows and how goals are judged; \
docs/input.md has the formats of logs, which are recognised by their content, and docs/commands.md the keys of the JSON.

The formula gets ncpus (the processors), walltime, eligible_time (the time since the submission, without that for which a limit or \
the threshold stops it), the fair-share numbers, and the job's other resources where the log has them. queue_priority is that of \
--queues. What the log does not have is 0, with a warning.

--backfill says, in place of the site's rules, what happens behind the first job that does not start:
  easy    later jobs start if, as far as walltimes tell, they do not delay it
  greedy  later jobs start wherever they fit
  none    later jobs wait

With --old and --new, each difference of waits has an interval that contains it with a confidence of 95 %; a star (`significant` \
in JSON) marks what is more than chance.

Exit codes: 0 success, 1 the formula is invalid or crashes the scheduler (of two, the new one), or fails for a job under \
--on-error fail, or a goal is missed, 2 usage error, or a file that cannot be read.

Examples:
  jsf simulate --old eligible_time --new ncpus --generate 900 --processors 64
  jsf simulate --new 'fairshare_factor * 100 + eligible_time / 3600' \\
      --site examples/site --workload examples/site/accounting.gz \\
      --processors 256")]
#[command(mut_args(of_simulation))]
pub struct SimulateArgs {
    /// The formula.
    #[command(flatten)]
    pub formula: FormulaArgs,
    /// Two formulas.
    #[command(flatten, next_help_heading = "Two formulas")]
    pub sides: TwoFormulas,
    /// The log, and by what it is judged.
    #[command(flatten, next_help_heading = None::<&str>)]
    pub question: SimulateQuestion,
    /// Fill values into the formula, a run each
    ///
    /// `a=1,2,5` or `a=1:10:4` (four values from 1 to 10) in the place of `{a}`; repeat the option
    /// for several: every combination is simulated, and has a row
    #[arg(long, value_name = "NAME=VALUES", value_parser = param, conflicts_with_all = ["old", "new", "old_file", "new_file", "report", "validate"])]
    pub param: Vec<Param>,
    /// Simulate N times more, with moved submissions
    ///
    /// By up to 30 s, and tell how far the results differ; two formulas are compared on the same
    /// moves
    #[arg(long, value_name = "N", value_parser = runs, hide_short_help = true)]
    pub shake: Option<u64>,
    /// The site.
    #[command(flatten)]
    pub site: SiteArgs,
    /// How the answer is written.
    #[command(flatten)]
    pub answer: AnswerArgs,
    /// How CSV is written.
    #[command(flatten)]
    pub csv: CsvArgs,
    /// A page.
    #[command(flatten)]
    pub report: ReportArgs,
}

/// An argument of several commands as a simulation has it.
fn of_simulation(argument: Arg) -> Arg {
    // a simulation reads other things of these files than a ranking
    let help = match argument.get_id().as_str() {
        "format" => return argument.value_parser(format(&FORMATS)),
        "old" => {
            return argument.help("The formula before a change").long_help(
                "The formula before a change: the log is simulated under it and under --new [default: FORMULA, or the site's]",
            );
        }
        "new" => {
            return argument
                .help("The formula after a change")
                .long_help("The formula after a change [default: FORMULA, or the site's]");
        }
        "site" => {
            "The site, as for `jsf rank` [default: the environment variable JSF_SITE]; its formula, resources, queues with their \
             limits, and fair-share tree with its decay are used"
        }
        "sched_priv" => {
            "The scheduler's folder sched_priv: its shares, its usage and its sched_config"
        }
        "sched_config" => {
            "The sched_config, instead of the one in --sched-priv: its order of jobs, backfilling, usage and decay"
        }
        "server" => {
            "The server: `qstat -Bf` as text or JSON, `qmgr -c 'print server'`; its formula (if none is given), its limits \
             and its backfill_depth are used"
        }
        "queues" => {
            "The queues with their priorities, limits and backfill_depth: `qstat -Qf` as text or JSON, `qmgr -c 'print server'`"
        }
        "numbers" => {
            "The numbers of the formula: openpbs, inputs as OpenPBS prints them and the value as float32; exact, doubles; \
             decimal is not available here"
        }
        "on_error" => {
            "The value of a job whose evaluation fails: 0, 0 with exit code 1, or no value, so that the job ranks last"
        }
        "queue" => return argument.hide(true),
        "workload" => {
            return argument
                .required_unless_present("generate")
                .conflicts_with("generate");
        }
        // what is said of a log is not said of generated jobs
        "cancelled" | "overrun" | "processors_of" | "from" | "to" => {
            return argument.conflicts_with("generate");
        }
        _ => return argument_of_log(argument),
    };
    argument.help(help)
}

fn runs(text: &str) -> Result<u64, String> {
    number_within(text, 1..=u64::MAX, "a number of runs from 1 on, such as 20")
}

pub(crate) fn run(arguments: &SimulateArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let format = arguments.answer.format;
    let is_document = format.is_document();
    let OldNew { old, new } = arguments.sides.formulas();
    let is_change = old.is_given() || new.is_given();
    require_one_file(arguments)?;
    if is_change && format == Format::Swf {
        return Err(CliError::usage(
            "--format swf writes one schedule: give one formula, without --old and --new",
        ));
    }
    let question = SimulateQuestion {
        usage: arguments.site.starting_usage(),
        on_error: arguments.site.on_error,
        rules: arguments.site.rules,
        ..arguments.question.clone()
    };
    let site = open_site(arguments)?;
    if !arguments.param.is_empty() {
        return sweep(arguments, &site, &question, out);
    }
    let (old, given) = if is_change {
        let OldNew { old, new } = read_formulas(arguments, &site)?;
        (Some(old), new)
    } else {
        let source = read_formula(&arguments.formula, Some(&site))?;
        (None, GivenFormula::new(source, site.numbers()))
    };
    let (mut answer, warnings) = answered("simulating", is_document, |warnings, progress| {
        let watch = watched(progress);
        let answer = SimulationAnswer::new(&site, given, old, &question, warnings, &watch)?;
        // a document has them
        if !is_document {
            warnings.add(log_counts(&answer.log.workload));
            warnings.add(answer.warnings());
        }
        Ok(answer)
    })?;
    if !is_document {
        show_sides(&answer);
    }
    answer.shake = shaken(&answer, arguments.shake)?;
    let mut files = arguments.sides.files();
    files.extend(&arguments.formula.formula_file);
    files.extend(&question.log.workload);
    Output {
        cells: arguments.csv.cells(),
        page_file: arguments.report.page_file(vec![&site], files),
        ..Output::new(arguments.answer, &warnings)
    }
    .write(&answer, out)?;
    Ok(Outcome::fine_if(answer.is_fine()))
}

/// Draws the findings about the formulas, and says for which jobs they fail.
fn show_sides(answer: &SimulationAnswer<'_>) {
    for side in answer.sides() {
        side.given.draw(side.findings.iter().cloned());
    }
    let is_error = answer.log.question.on_error == OnError::Fail;
    let kind = if is_error { "error" } else { "warning" };
    for side in answer.sides().into_iter().rev() {
        if let Some(clause) = answer.failing_clause(side) {
            print_message(kind, clause);
        }
    }
}

/// Opens the site of a log, whose jobs are not those of its queue.
fn open_site(arguments: &SimulateArgs) -> Result<Site, CliError> {
    if arguments.site.files.has(Role::Queue) {
        return Err(CliError::usage(
            "--queue has no effect in a simulation, whose jobs are those of --workload",
        ));
    }
    let formula = arguments.formula.file();
    // as a file of the site it is read once, though it may be standard input
    let formula = formula
        .map(|path| FileSource::from(path).kept())
        .transpose()?;
    let site = arguments.site.open_for_log(formula);
    let site = site.map_err(|error| match error {
        CliError::Site(error) => without_names(&arguments.question, error).into(),
        error => error,
    })?;
    let is_document = arguments.answer.format.is_document();
    arguments.site.show(&site, is_document);
    Ok(site)
}

/// Both formulas; the one that is not given is the formula of the command or the site's.
fn read_formulas(arguments: &SimulateArgs, site: &Site) -> Result<OldNew<GivenFormula>, CliError> {
    let OldNew { old, new } = arguments.sides.formulas();
    if old.is_given() && new.is_given() && arguments.formula.is_given() {
        return Err(CliError::usage(
            "give two formulas: a third one has no effect beside --old and --new",
        ));
    }
    let read = |given: &FormulaArgs| {
        if given.is_given() {
            read_formula(given, None)
        } else {
            read_formula(&arguments.formula, Some(site))
        }
    };
    match (read(&old), read(&new)) {
        (Err(CliError::Site(SiteError::Missing(_))), Ok(_)) => Err(no_formula(NO_OLD_FORMULA)),
        (Ok(_), Err(CliError::Site(SiteError::Missing(_)))) => Err(no_formula(NO_NEW_FORMULA)),
        (old, new) => {
            let sources = OldNew::new(old?, new?);
            Ok(sources.map(|source| GivenFormula::new(source, site.numbers())))
        }
    }
}

/// Standard input can be only one of the files.
fn require_one_file(arguments: &SimulateArgs) -> Result<(), CliError> {
    let OldNew { old, new } = arguments.sides.formulas();
    let before = [
        ("the formula", arguments.formula.file()),
        ("--old", old.file()),
        ("--new", new.file()),
    ];
    let mut after = readers_of_log(&arguments.question.log);
    after.push(("--goals", arguments.question.goals.as_deref()));
    require_one_reader(&before, &arguments.site, &after)
}

/// What moved submissions make of the means under a formula, or of their changes from one formula to
/// another, with the same moves for both; `None` if that is not asked for.
fn shaken(answer: &SimulationAnswer<'_>, runs: Option<u64>) -> Result<Option<Shake>, CliError> {
    let warm_up = answer.log.warm_up;
    let runs = runs.map_or(0, |runs| runs as usize);
    let runs = on_all_cores("shaking", runs, |index| {
        // the same seeds for all formulas and in each call: what differs is not the moves
        let workload = answer.log.workload.shaken(index as u64 + 1);
        let mut sides = Vec::new();
        for side in answer.sides() {
            let Some(side) = simulate(answer, &workload, side)? else {
                return Ok(None);
            };
            sides.push(side);
        }
        Ok(match &sides[..] {
            [old, new] => {
                let (old, new) = (&old.schedule, &new.schedule);
                let difference = Difference::new(&workload, old, new, warm_up);
                Some(difference.means().map(|(_, change)| change.difference()))
            }
            sides => sides.first().map(|side| {
                let summary = side.results(&workload, warm_up).statistics.summary;
                [
                    summary.wait.mean,
                    summary.wait_per_core_hour,
                    summary.bounded_slowdown.mean,
                ]
            }),
        })
    });
    Ok(Shake::new(&runs?))
}

/// Simulates a workload once more, without messages; `None` after Ctrl-C.
fn simulate(
    answer: &SimulationAnswer<'_>,
    workload: &Workload,
    side: &SimulatedSide,
) -> Result<Option<SimulatedQueue>, CliError> {
    let formula = side.given.parsed()?;
    let simulated = answer
        .log
        .simulate(formula, workload, &mut |_| until_interrupted())?;
    Ok(Some(simulated).filter(|simulated| simulated.schedule.is_complete))
}
