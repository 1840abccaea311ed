//! `jsf simulate --param`: one run for each combination of values that are filled into the formula.

use std::io::Write;

use job_sort_formula::Formula;
use jsf_site::{FormulaText, Site, SiteError};

use crate::answer::Format;
use crate::cli::output::Output;
use crate::cli::{CliError, Outcome, read_formula, warn};
use crate::commands::simulate::interruption::{
    Interruptible, end_simulation_at_interrupt, on_all_cores,
};
use crate::commands::simulate::judged_log::JudgedLog;
use crate::commands::simulate::request::{Param, SimulateArgs};
use crate::commands::simulate::run::meets_goals;
use crate::commands::simulate::simulation::Simulation;
use crate::commands::simulate::sweep_answer::{SweepReport, SweptRun};

/// The most combinations of values.
const MAX_RUNS: usize = 100_000;

/// Simulates the formula with each combination of the values that are to be filled in.
pub(crate) fn sweep(
    arguments: &SimulateArgs,
    site: &Site,
    out: &mut impl Write,
) -> Result<Outcome, CliError> {
    if arguments.format == Format::Swf {
        return Err(CliError::usage(
            "--format swf writes one schedule: give no --param",
        ));
    }
    let template = read_formula(&arguments.formula, Some(site))?;
    for (index, param) in arguments.param.iter().enumerate() {
        let name = &param.name;
        let others = &arguments.param[..index];
        if others.iter().any(|other| other.name == *name) {
            let message = format!("--param gives `{name}` more than once");
            return Err(CliError::usage(message));
        }
        if !template.text.contains(&format!("{{{name}}}")) {
            let message = format!("the formula has no `{{{name}}}` to fill in");
            return Err(CliError::usage(message));
        }
    }
    let first = arguments
        .param
        .iter()
        .filter_map(|param| param.values.first().cloned());
    let filled = FormulaText {
        text: filled(&template.text, &arguments.param, &first.collect::<Vec<_>>()),
        ..template.clone()
    };
    let log = JudgedLog::read(
        arguments,
        site,
        &[&filled.submitted(arguments.site.numbers)],
    )?;
    end_simulation_at_interrupt();
    let simulation = Simulation {
        arguments,
        site,
        log: &log,
    };
    let combinations = combinations(&arguments.param)?;
    let runs = on_all_cores("simulating", combinations.len(), |index| {
        run_one(&simulation, &template.text, &combinations[index])
    })?;
    let params = arguments.param.iter();
    let names: Vec<&str> = params.map(|param| &*param.name).collect();
    let no_waits = runs.iter().find_map(|run| run.no_waits.as_deref());
    if let Some(warning) = no_waits.filter(|_| !arguments.format.is_document()) {
        warn(warning);
    }
    let report = SweepReport {
        template: &template.text,
        names: &names,
        runs: &runs,
        no_waits,
    };
    Output::new(arguments.format, arguments.text, &[]).write(&report, out)?;
    let is_met = runs.iter().any(|run| meets_goals(&run.goals));
    Ok(Outcome::fine_if(is_met))
}

/// One run; `None` after Ctrl-C.
fn run_one(
    simulation: &Simulation<'_>,
    template: &str,
    values: &[String],
) -> Result<Option<SweptRun>, CliError> {
    let params = &simulation.arguments.param;
    let text = filled(template, params, values);
    let formula =
        Formula::parse(&text).map_err(|error| CliError::content(format!("`{text}`: {error}")))?;
    let JudgedLog {
        workload,
        goals,
        warm_up,
        ..
    } = simulation.log;
    let simulated = match simulation.run_once(&formula, workload, &mut Interruptible) {
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
    let results = simulated.results(workload, *warm_up);
    let goals = results.judge(goals.as_ref(), workload, &simulated.schedule, None);
    let params = params.iter().zip(values);
    Ok(Some(SweptRun {
        params: params
            .map(|(param, value)| (param.name.clone(), value.clone()))
            .collect(),
        formula: text,
        summary: results.statistics.summary,
        failed: simulated.schedule.errors.jobs(),
        never_start: simulated.schedule.never_start().count(),
        goals,
        no_waits: simulated.no_waits(workload),
    }))
}

/// Every combination of the values, the last parameter changing fastest.
fn combinations(params: &[Param]) -> Result<Vec<Vec<String>>, CliError> {
    let count = params.iter().try_fold(1_usize, |count, param| {
        count.checked_mul(param.values.len())
    });
    if count.is_none_or(|count| count > MAX_RUNS) {
        return Err(CliError::usage(format!(
            "the values of --param have more than {MAX_RUNS} combinations"
        )));
    }
    let mut combinations: Vec<Vec<String>> = vec![Vec::new()];
    for param in params {
        let mut extended = Vec::with_capacity(combinations.len() * param.values.len());
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
    let in_braces = text
        .split('{')
        .skip(1)
        .filter_map(|rest| Some(rest.split_once('}')?.0));
    in_braces.map(str::trim).find(|text| is_name(text))
}

fn is_name(text: &str) -> bool {
    let has_letters = text
        .chars()
        .all(|letter| letter.is_alphanumeric() || letter == '_');
    has_letters && !text.starts_with(|first: char| first.is_ascii_digit()) && !text.is_empty()
}

/// The formula with values in the place of the names in braces.
fn filled(template: &str, params: &[Param], values: &[String]) -> String {
    let pairs = params.iter().zip(values);
    pairs.fold(template.to_owned(), |text, (param, value)| {
        text.replace(&format!("{{{}}}", param.name), value)
    })
}
