//! `jsf simulate --param`: a log simulated once for each combination of values that are filled into the
//! formula, a row of the answer each, for people, as JSON and as CSV.

use std::fmt::Display;
use std::io::{self, Write};
use std::iter;

use job_sort_formula::Formula;
use jsf_simulate::{GoalState, JudgedGoal, Summary};
use jsf_site::{FormulaText, Site, SiteError};
use serde::{Serialize, Serializer};
use serde_json::Value as Json;

use crate::answers::{Answer, Format, object};
use crate::cli::formula::read_formula;
use crate::cli::messages::{answered, warn};
use crate::cli::outcome::{CliError, Outcome};
use crate::cli::output::Output;
use crate::cli::progress::{end_simulation_at_interrupt, on_all_cores, until_interrupted};
use crate::commands::simulate::simulated_log::{SimulatedLog, meets_goals};
use crate::commands::simulate::{SimulateArgs, SimulateQuestion};
use crate::csv::{CsvText, CsvWriter};
use crate::questions::log::log_counts;
use crate::questions::values::number_within;
use crate::view::document::{Cell, Column, Document, Fact, Section, Table, cells};
use crate::view::goals::not_judged;
use crate::view::words::{count, duration, grouped_count, percent, significant};

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
pub(super) fn param(text: &str) -> Result<Param, String> {
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

impl SimulateArgs {
    /// Simulates the formula with each combination of the values that are to be filled in.
    pub(super) fn sweep(
        &self,
        site: &Site,
        question: &SimulateQuestion,
        out: &mut impl Write,
    ) -> Result<Outcome, CliError> {
        if self.answer.format == Format::Swf {
            return Err(CliError::usage(
                "--format swf writes one schedule: give no --param",
            ));
        }
        let template = read_formula(&self.formula, Some(site))?;
        let mut names: Vec<&str> = Vec::new();
        let mut first = Vec::new();
        for Param { name, values } in &self.param {
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
            text: filled(&template.text, &self.param, &first),
            ..template.clone()
        };
        let submitted = filled.submitted(site.numbers());
        let is_document = self.answer.format.is_document();
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
        let combinations = combinations(&self.param)?;
        let runs = on_all_cores("simulating", combinations.len(), |index| {
            run_one(&log, &template.text, &self.param, &combinations[index])
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
        Output::new(self.answer, answer, warnings).write(out)?;
        let is_met = runs.iter().any(|run| meets_goals(&run.goals));
        Ok(Outcome::fine_if(is_met))
    }
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
        // one after the other: a value is a number, in which no other name is found
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
    fn write_as(&self, _format: Format, _texts: CsvText, out: &mut dyn Write) -> io::Result<()> {
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
