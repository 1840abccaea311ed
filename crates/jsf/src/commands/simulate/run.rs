//! `jsf simulate`: its arguments, and what it does: a log is simulated under one formula or two, or
//! (`--param`) once for each combination of values that are filled into the formula, a row of the
//! answer each, for people, as JSON and as CSV.

use std::fmt::Display;
use std::io::Write;
use std::{io, iter};

use clap::{Arg, Args};
use job_sort_formula::Formula;
use job_sort_formula::rank::{OldNew, OnError};
use jsf_simulate::{Difference, GoalState, JudgedGoal, Shake, Summary, Workload};
use jsf_site::{FormulaText, Role, SimulatedQueue, Site, SiteError};
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use crate::answers::{Answer, CsvText, CsvWriter, Format, GivenFormula, object};
use crate::cli::args::{
    AnswerArgs, CsvArgs, FormulaArgs, ReportArgs, TwoFormulas, formats, read_formula,
};
use crate::cli::messages::{
    answered, end_simulation_at_interrupt, on_all_cores, print_message, until_interrupted, warn,
    watched,
};
use crate::cli::output::{CliError, Outcome, Output};
use crate::cli::site::{SiteArgs, argument_of_log, kept, readers_of_log, require_one_reader};
use crate::commands::compare::run::{NO_NEW_FORMULA, NO_OLD_FORMULA, no_formula};
use crate::commands::simulate::{
    SimulateQuestion, SimulatedLog, SimulatedSide, SimulationAnswer, meets_goals, without_names,
};
use crate::questions::{log_counts, number_within};
use crate::view::document::{Cell, Column, Document, Fact, Section, Table, cells};
use crate::view::sections::not_judged;
use crate::view::words::{count, duration, grouped_count, percent, significant};

/// `jsf simulate`
#[derive(Debug, Args)]
#[command(after_help = "\
Jobs are submitted as in the log. After each submission and each end, one cycle of OpenPBS's scheduler runs under the site's \
rules. Without a site the higher value of the formula comes first, then the earlier submission, then the lower id. \
docs/simulation.md says what is modelled, how far to trust an interval, what --shake shows and how goals are judged; \
docs/input.md has the formats of logs, and docs/commands.md the keys of the JSON.

The formula gets ncpus (the processors), walltime, eligible_time (the time since the submission, without that for which a limit or \
the threshold stops it), the fair-share numbers, and the job's other resources where the log has them. queue_priority is that of \
--queues. What the log does not have is 0, with a warning.

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
    match argument.get_id().as_str() {
        "format" => argument.value_parser(formats(&[Format::Csv, Format::Swf])),
        "old" => argument
            .help("The formula before a change")
            .long_help("The formula before a change [default: FORMULA, or the site's]"),
        "new" => argument
            .help("The formula after a change")
            .long_help("The formula after a change [default: FORMULA, or the site's]"),
        // a simulation takes no decimals, and no job is worth -1
        "numbers" => argument.help(
            "The numbers of the formula: openpbs, inputs as OpenPBS prints them and the value as float32; exact, doubles",
        ),
        "on_error" => argument.help(
            "The value of a job whose evaluation fails: 0, 0 with exit code 1, or no value, so that the job ranks last",
        ),
        "queue" => argument.hide(true),
        "workload" => argument
            .required_unless_present("generate")
            .conflicts_with("generate"),
        // what is said of a log is not said of generated jobs
        "cancelled" | "overrun" | "processors_of" | "from" | "to" => {
            argument.conflicts_with("generate")
        }
        _ => argument_of_log(argument),
    }
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
    let formula = kept(arguments.formula.file())?;
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
                let summary = side.statistics(&workload, warm_up).summary;
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

/// The most combinations of values: each is a run, and all answers are kept until the last one.
const MAX_RUNS: usize = 100_000;

/// The values that are filled into a formula for a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// The name in braces.
    pub name: String,
    /// The values, as they are written into the formula.
    pub values: Vec<String>,
}

/// The most values of a parameter.
const MAX_VALUES: usize = 10_000;

/// Parses `a=1,2,5` or `a=1:10:4`.
pub(crate) fn param(text: &str) -> Result<Param, String> {
    let expected = "expected NAME=1,2,5 or NAME=LOW:HIGH:COUNT, such as a=1:10:4";
    let (name, values) = text.split_once('=').ok_or(expected)?;
    let name = name.trim().to_owned();
    if !is_name(&name) {
        return Err(expected.to_owned());
    }
    let mut listed = Vec::new();
    match values.split(':').collect::<Vec<_>>()[..] {
        [low, high, count] => {
            let count = number_within(count.trim(), 2..=MAX_VALUES, "").map_err(|_| expected)?;
            let low = finite(low).ok_or(expected)?;
            let high = finite(high).ok_or(expected)?;
            let step = (high - low) / (count - 1) as f64;
            for index in 0..count {
                listed.push((low + step * index as f64).to_string());
            }
        }
        [list] => {
            for value in list.split(',') {
                listed.push(value.trim().to_owned());
            }
        }
        _ => return Err(expected.to_owned()),
    }
    for value in &listed {
        if finite(value).is_none() {
            return Err(format!("`{value}` is not a number; {expected}"));
        }
    }
    Ok(Param {
        name,
        values: listed,
    })
}

/// Whether a text in braces is the name of a parameter.
fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|first: char| first.is_ascii_digit())
        && !text.contains(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
}

fn finite(text: &str) -> Option<f64> {
    // `inf` and `nan` are numbers for Rust, and names in a formula
    let value: f64 = text.trim().parse().ok()?;
    value.is_finite().then_some(value)
}

/// Simulates the formula with each combination of the values that are to be filled in.
pub(crate) fn sweep(
    arguments: &SimulateArgs,
    site: &Site,
    question: &SimulateQuestion,
    out: &mut impl Write,
) -> Result<Outcome, CliError> {
    if arguments.answer.format == Format::Swf {
        return Err(CliError::usage(
            "--format swf writes one schedule: give no --param",
        ));
    }
    let template = read_formula(&arguments.formula, Some(site))?;
    let mut names: Vec<&str> = Vec::new();
    let mut first = Vec::new();
    for Param { name, values } in &arguments.param {
        if names.contains(&&**name) {
            let message = format!("--param gives `{name}` more than once");
            return Err(CliError::usage(message));
        }
        if !template.text.contains(&format!("{{{name}}}")) {
            let message = format!("the formula has no `{{{name}}}` to fill in");
            return Err(CliError::usage(message));
        }
        names.push(name);
        first.extend(values.first().cloned());
    }
    // with any values: the log is read for the names, which are the same in each run
    let filled = FormulaText {
        text: filled(&template.text, &arguments.param, &first),
        ..template.clone()
    };
    let submitted = filled.submitted(site.numbers());
    let is_document = arguments.answer.format.is_document();
    let (log, warnings) = answered("reading the log", is_document, |warnings, _| {
        // a formula that does not parse is refused when it is simulated
        let formulas = Vec::from_iter(submitted.formula().ok());
        let log = SimulatedLog::read(site, question, &formulas, warnings)?;
        if !is_document {
            warnings.add(log_counts(&log.workload));
        }
        Ok(log)
    })?;
    end_simulation_at_interrupt();
    let combinations = combinations(&arguments.param)?;
    let runs = on_all_cores("simulating", combinations.len(), |index| {
        run_one(&log, &template.text, &arguments.param, &combinations[index])
    })?;
    let no_waits = runs.iter().find_map(|run| run.no_waits.as_deref());
    if let Some(warning) = no_waits
        && !is_document
    {
        warn(warning);
    }
    let answer = SweepAnswer {
        template: &template.text,
        names: &names,
        runs: &runs,
        warnings: no_waits.as_slice(),
    };
    Output::new(arguments.answer, &warnings).write(&answer, out)?;
    let is_met = runs.iter().any(|run| meets_goals(&run.goals));
    Ok(Outcome::fine_if(is_met))
}

/// One run; `None` after Ctrl-C.
fn run_one(
    log: &SimulatedLog<'_>,
    template: &str,
    params: &[Param],
    values: &[String],
) -> Result<Option<SweptRun>, CliError> {
    let text = filled(template, params, values);
    let formula = match Formula::parse(&text) {
        Ok(formula) => formula,
        Err(error) => return Err(CliError::content(format!("`{text}`: {error}"))),
    };
    let workload = &log.workload;
    let simulated = log.simulate(&formula, workload, &mut |_| until_interrupted());
    let simulated = match simulated {
        // what is left in braces is a set in Python
        Err(SiteError::NotArithmetic) => {
            if let Some(name) = unfilled(&text) {
                return Err(CliError::usage(format!(
                    "`{{{name}}}` has no value: give --param {name}=VALUES"
                )));
            }
            return Err(CliError::content(format!(
                "`{text}` is valid Python but not arithmetic"
            )));
        }
        simulated => simulated?,
    };
    if !simulated.schedule.is_complete {
        return Ok(None);
    }
    let (statistics, goals) = log.judged(&simulated, &[]);
    let mut valued = Vec::new();
    for (param, value) in iter::zip(params, values) {
        valued.push((param.name.clone(), value.clone()));
    }
    Ok(Some(SweptRun {
        params: valued,
        formula: text,
        summary: statistics.summary,
        failed: simulated.schedule.errors.jobs(),
        never_start: simulated.schedule.never_start().count(),
        goals,
        no_waits: simulated.no_waits(workload),
    }))
}

/// Every combination of the values, the last parameter changing fastest.
fn combinations(params: &[Param]) -> Result<Vec<Vec<String>>, CliError> {
    let mut combinations: Vec<Vec<String>> = vec![Vec::new()];
    for param in params {
        if combinations.len().saturating_mul(param.values.len()) > MAX_RUNS {
            return Err(CliError::usage(format!(
                "the values of --param have more than {MAX_RUNS} combinations"
            )));
        }
        let mut extended = Vec::new();
        for values in &combinations {
            for value in &param.values {
                extended.push([&values[..], std::slice::from_ref(value)].concat());
            }
        }
        combinations = extended;
    }
    Ok(combinations)
}

/// The first name in braces in a formula, which has no value.
fn unfilled(text: &str) -> Option<&str> {
    for rest in text.split('{').skip(1) {
        if let Some((name, _)) = rest.split_once('}')
            && is_name(name.trim())
        {
            return Some(name.trim());
        }
    }
    None
}

/// The formula with values in the place of the names in braces.
fn filled(template: &str, params: &[Param], values: &[String]) -> String {
    let mut text = template.to_owned();
    for (param, value) in iter::zip(params, values) {
        text = text.replace(&format!("{{{}}}", param.name), value);
    }
    text
}

/// One run.
#[derive(Debug, Clone, Serialize)]
struct SweptRun {
    /// The parameters with their values, in their order.
    #[serde(serialize_with = "serialize_params")]
    params: Vec<(String, String)>,
    /// The formula with these values.
    formula: String,
    /// The numbers of the run.
    #[serde(flatten, serialize_with = "serialize_numbers")]
    summary: Summary,
    /// The number of jobs for which the formula fails.
    failed: usize,
    /// The number of jobs that never start.
    never_start: usize,
    /// The goals, as it meets them.
    goals: Vec<JudgedGoal>,
    /// The warning that hardly any job waits.
    #[serde(skip)]
    no_waits: Option<String>,
}

/// Serialises values as numbers where they are.
fn serialize_params<S: Serializer>(
    params: &[(String, String)],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_map(params.iter().map(|(name, value)| (name, number(value))))
}

/// The numbers of a simulation by which runs are compared.
fn serialize_numbers<S: Serializer>(summary: &Summary, serializer: S) -> Result<S::Ok, S::Error> {
    let numbers = object! {
        jobs: summary.jobs,
        wait: summary.distribution_if_any(summary.wait),
        bounded_slowdown: summary.distribution_if_any(summary.bounded_slowdown),
        utilisation: summary.if_any(summary.utilisation),
        makespan: summary.if_any(summary.makespan),
        mean_queue: summary.if_any(summary.mean_queue),
    };
    numbers.serialize(serializer)
}

/// All runs.
#[derive(Debug, Clone, Copy, Serialize)]
struct SweepAnswer<'a> {
    /// The formula, with a name in braces for each parameter.
    #[serde(rename = "formula")]
    template: &'a str,
    /// The names of the parameters.
    #[serde(rename = "params")]
    names: &'a [&'a str],
    /// The warning that hardly any job waits, of the first run with one.
    warnings: &'a [&'a str],
    /// The runs.
    runs: &'a [SweptRun],
}

impl Answer for SweepAnswer<'_> {
    fn document(&self) -> Document<'_> {
        let runs = self.runs;
        let (mut has_goals, mut has_never) = (false, false);
        let mut rows = Vec::new();
        for run in runs {
            has_goals |= !run.goals.is_empty();
            has_never |= run.never_start > 0;
            let mut cells = Vec::new();
            for (_, value) in &run.params {
                cells.push(Cell::from(&**value));
            }
            let all = &run.summary;
            cells.extend(cells![
                all.if_any(duration(all.wait.mean)),
                all.if_any(duration(all.wait.p95)),
                all.if_any(significant(all.bounded_slowdown.mean)),
                all.if_any(percent(all.utilisation)),
                format!("{} of {}", met(run), judged(run)),
                run.never_start,
            ]);
            rows.push(cells);
        }
        let mut columns = Vec::new();
        for name in self.names {
            columns.push(Column::number(*name, 6));
        }
        columns.extend([
            Column::text("mean wait", 9),
            Column::text("p95 wait", 9),
            Column::number("slowdown", 8),
            Column::number("utilisation", 11),
            Column::number("goals met", 9).shown_if(has_goals),
            Column::number("never start", 9).shown_if(has_never),
        ]);
        let table = Table::from_rows(columns, rows);
        let mut sections = Vec::new();
        for warning in self.warnings {
            sections.push(Section::new("warnings").list(vec![(*warning).to_owned()]));
        }
        sections.push(Section::new("runs").table(table));
        Document {
            command: "jsf simulate",
            title: "A formula with several values".to_owned(),
            headline: headline(runs),
            facts: vec![
                Fact::new("formula", self.template.trim_end()),
                Fact::new("best", ORDER).in_full(),
            ],
            sections,
            read_on: "jsf simulate --old F --new F",
        }
    }

    /// Writes comma-separated values, a line for each run.
    // the names are those of Python and the values numbers: no cell needs a guard
    fn write_as(&self, _format: Format, _cells: CsvText, out: &mut dyn Write) -> io::Result<()> {
        let mut header = self.names.to_vec();
        header.push(NUMBERS);
        let mut csv = CsvWriter::new(&header.join(","), out)?;
        for run in self.runs {
            let summary = &run.summary;
            let numbers: [&dyn Display; 7] = [
                &summary.wait.mean,
                &summary.wait.median,
                &summary.wait.p95,
                &summary.bounded_slowdown.mean,
                &summary.utilisation,
                &summary.makespan,
                &summary.mean_queue,
            ];
            let mut record = Vec::new();
            for (_, value) in &run.params {
                record.push(value.clone());
            }
            for number in numbers {
                // without a job there is no mean, and its field is empty
                record.push(summary.if_any(number.to_string()).unwrap_or_default());
            }
            for count in [run.failed, met(run), judged(run), run.never_start] {
                record.push(count.to_string());
            }
            csv.write(record)?;
        }
        csv.finish()
    }
}

/// The fields of every run; the values of the parameters precede them.
const NUMBERS: &str = "mean_wait,median_wait,p95_wait,bounded_slowdown,utilisation,makespan,mean_queue,\
                       failed,goals_met,goals_judged,never_start";

/// The number of goals that are judged: not those about no job, nor those that refer to an old
/// formula.
fn judged(run: &SweptRun) -> usize {
    let goals = run.goals.iter();
    goals.filter(|goal| goal.state.met().is_some()).count()
}

/// The number of goals that a run meets.
fn met(run: &SweptRun) -> usize {
    let goals = run.goals.iter();
    goals.filter(|goal| goal.state == GoalState::Met).count()
}

/// A value as a number of JSON, as it is written.
fn number(value: &str) -> Json {
    // `.5` and `+1` are numbers for Rust, but not in JSON
    serde_json::from_str(value).unwrap_or_else(|_| value.into())
}

/// By what runs are compared.
const ORDER: &str = "the fewest jobs that never start, then the most goals met, then the lowest mean bounded slowdown";

/// Which run is best, and what makes it so.
fn headline(runs: &[SweptRun]) -> String {
    let Some(best) = best(runs) else {
        return "No run has ended.".to_owned();
    };
    let all = count(runs.len(), "run");
    if best.summary.jobs == 0 {
        return format!("No job starts in any of {all}.");
    }
    let mut values = Vec::new();
    for (name, value) in &best.params {
        values.push(format!("{name} = {value}"));
    }
    let mut merits = Vec::new();
    if best.never_start > 0 {
        merits.push(format!(
            "{} never start",
            grouped_count(best.never_start, "job")
        ));
    }
    if judged(best) > 0 {
        merits.push(format!(
            "{} of {} met",
            met(best),
            count(judged(best), "goal")
        ));
    }
    let slowdown = significant(best.summary.bounded_slowdown.mean);
    merits.push(format!("mean bounded slowdown {slowdown}"));
    let not_judged = match not_judged(&best.goals) {
        Some(not_judged) => format!(" {not_judged}."),
        None => String::new(),
    };
    format!(
        "Best of {all}: {} ({}).{not_judged}",
        values.join(", "),
        merits.join(", ")
    )
}

/// The run under which the fewest jobs never start; of those the one that meets most goals, and of
/// these the one with the lowest mean bounded slowdown.
fn best(runs: &[SweptRun]) -> Option<&SweptRun> {
    let mut best = runs.first()?;
    for run in runs {
        let order = run.never_start.cmp(&best.never_start);
        let order = order.then(met(best).cmp(&met(run)));
        if order.then(mean(run).total_cmp(&mean(best))).is_lt() {
            best = run;
        }
    }
    Some(best)
}

fn mean(run: &SweptRun) -> f64 {
    run.summary.bounded_slowdown.mean
}
