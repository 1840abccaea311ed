//! `jsf simulate --param`: one run for each combination of values that are filled into the formula.

use std::io::Write;
use std::iter;

use job_sort_formula::Formula;
use jsf_site::{FormulaText, Site, SiteError};

use crate::answer::Format;
use crate::cli::output::Output;
use crate::cli::{CliError, GivenFormula, Outcome, read_formula, warn};
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
    let filled = FormulaText {
        text: filled(&template.text, &arguments.param, &first),
        ..template.clone()
    };
    let filled = GivenFormula::new(filled, arguments.site.numbers);
    let log = JudgedLog::read(arguments, site, &[&filled])?;
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
    let no_waits = runs.iter().find_map(|run| run.no_waits.as_deref());
    if let Some(warning) = no_waits
        && !arguments.format.is_document()
    {
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
    let formula = match Formula::parse(&text) {
        Ok(formula) => formula,
        Err(error) => return Err(CliError::content(format!("`{text}`: {error}"))),
    };
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
    let mut valued = Vec::new();
    for (param, value) in iter::zip(params, values) {
        valued.push((param.name.clone(), value.clone()));
    }
    Ok(Some(SweptRun {
        params: valued,
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

fn is_name(text: &str) -> bool {
    let mut letters = text.chars();
    !text.is_empty()
        && !text.starts_with(|first: char| first.is_ascii_digit())
        && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
}

/// The formula with values in the place of the names in braces.
fn filled(template: &str, params: &[Param], values: &[String]) -> String {
    let mut text = template.to_owned();
    for (param, value) in iter::zip(params, values) {
        text = text.replace(&format!("{{{}}}", param.name), value);
    }
    text
}
