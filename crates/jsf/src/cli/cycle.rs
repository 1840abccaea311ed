//! `jsf cycle`

use std::io::Write;

use job_sort_formula::diagnostic::Severity;
use job_sort_formula::jobs::FoundJobs;
use jsf_report::cycle::CycleReport;
use jsf_site::{CycleRequest, CycledQueue, SiteError, find_jobs_or_arrays};

use super::args::{CycleArgs, CycleFormatName};
use super::document::{write_as_markdown, write_text};
use super::queue::{draw_submitted, none_exists};
use super::{CliError, Outcome, open_site, parsed_formula, read_formula, show_site, warn_all};

pub(super) fn run(arguments: &CycleArgs, out: &mut impl Write) -> Result<Outcome, CliError> {
    let site = open_site(&arguments.site, &arguments.formula, None)?;
    show_site(&arguments.site, &site, arguments.format.is_document());
    warn_all(site.warnings());
    let has_formula = arguments.formula.is_given() || site.formula_text().is_ok();
    let source = if has_formula { Some(read_formula(&arguments.formula, Some(&site))?) } else { None };
    let submitted = source.as_ref().map(|source| source.submitted(arguments.site.numbers));
    let mut request = CycleRequest { at: arguments.at, processors: arguments.processors, ..CycleRequest::default() };
    if let (Some(source), Some(submitted)) = (&source, &submitted) {
        let Some(formula) = parsed_formula(source, submitted) else { return Ok(Outcome::Findings) };
        request.formula = Some(formula);
    }
    request.estimated.clone_from(&arguments.jobs);
    let cycle = match site.cycle(&request) {
        Err(SiteError::NotArithmetic) => return Ok(Outcome::Findings),
        cycle => cycle?,
    };
    warn_all(&cycle.warnings);
    if let (Some(source), Some(submitted)) = (&source, &submitted) {
        draw_submitted(source, submitted, cycle.findings.iter().cloned());
    }
    let jobs = known_jobs(arguments, &cycle)?;
    let formula = source.as_ref().map_or("", |source| &source.text);
    let report = CycleReport { formula, cycle: &cycle, jobs: &jobs };
    match arguments.format {
        CycleFormatName::Human => write_text(&report.document(), arguments.text, out)?,
        CycleFormatName::Markdown => write_as_markdown(&report.document(), arguments.text, out)?,
        CycleFormatName::Json => report.write_json(out)?,
    }
    let is_wrong = cycle.findings.iter().any(|found| found.severity == Severity::Error);
    Ok(if is_wrong { Outcome::Findings } else { Outcome::Fine })
}

/// The ids of the jobs that are asked for, as the document has them.
fn known_jobs(arguments: &CycleArgs, cycle: &CycledQueue) -> Result<Vec<String>, CliError> {
    if arguments.jobs.is_empty() {
        return Ok(Vec::new());
    }
    let FoundJobs { rows, unmatched } = find_jobs_or_arrays(&cycle.table, &arguments.jobs);
    if rows.is_empty() {
        return Err(none_exists(unmatched).into());
    }
    warn_all(&unmatched);
    Ok(rows.into_iter().map(|row| cycle.table.id(row).to_owned()).collect())
}
