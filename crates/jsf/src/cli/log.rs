//! The log of the commands that simulate, and the goals that they judge it by.

use std::path::Path;

use job_sort_formula::Formula;
use jsf_simulate::{Goals, LogRules, MAX_GOALS_BYTES, Workload};
use jsf_site::{FileSource, Site};

use crate::cli::args::log::LogArgs;
use crate::cli::{CliError, Progress, warn};
use crate::commands::simulate::log_facts::{cut_by_end, left_out_and_assumed};

/// Reads the goals that simulations are judged by.
pub(crate) fn read_goals(path: &Path, site: &Site) -> Result<Goals, CliError> {
    let source = FileSource::Path(path.to_owned());
    let text = read_text(&source, MAX_GOALS_BYTES as u64)?;
    Goals::parse(&source.name(), &text, site.schema()).map_err(
        |error| match FileSource::description(text.as_bytes()) {
            Some(description) => CliError::content(format!(
                "`{}` {description}, expected goals as TOML",
                source.name()
            )),
            None => CliError::content(error),
        },
    )
}

/// Reads a file of at most `limit` bytes, which must be text.
pub(crate) fn read_text(source: &FileSource, limit: u64) -> Result<String, CliError> {
    let bytes = source.read_up_to(limit)?;
    String::from_utf8(bytes)
        .map_err(|_| CliError::content(format!("`{}` is not UTF-8 text", source.name())))
}

/// Reads a log with what the formulas and the conditions of the goals need.
///
/// # Errors
/// The log cannot be read, or it has nothing of what the goals name.
pub(crate) fn open(
    arguments: &LogArgs,
    rules: LogRules,
    site: &Site,
    formulas: &[&Formula],
    goals: Option<&Goals>,
) -> Result<Workload, CliError> {
    let progress = Progress::start("reading the workload");
    let conditions = goals.into_iter().flat_map(Goals::conditions);
    let formulas: Vec<&Formula> = formulas.iter().copied().chain(conditions).collect();
    let workload = site.open_workload(&arguments.sources(), &formulas, rules)?;
    drop(progress);
    if let Some(goals) = goals {
        site.check_goals(goals, &workload)?.iter().for_each(warn);
    }
    Ok(workload)
}

/// What is to be said about a log; with counts of what was left out and assumed, where no document
/// has them.
pub(crate) fn messages(workload: &Workload, has_counts: bool) -> Vec<String> {
    let mut messages = [&*workload.faults().messages(), &*workload.notes].concat();
    if has_counts {
        let cut = cut_by_end(workload).map(|cut| format!("the log is {cut}"));
        messages.extend(cut.into_iter().chain(left_out_and_assumed(workload)));
    }
    messages
}
