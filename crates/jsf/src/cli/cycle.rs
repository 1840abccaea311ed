//! `jsf cycle`

use std::io::Write;

use jsf_report::cycle::CycleReport;
use jsf_site::{CycleRequest, SiteError};

use super::args::{CycleArgs, CycleFormatName};
use super::document::{write_as_markdown, write_text};
use super::queue::draw_submitted;
use super::{CliError, Outcome, open_site, parsed_formula, read_formula, show_site, warn, warn_all};

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
    Ok(Outcome::Fine)
}

/// The ids of the jobs that are asked for, as the document has them.
fn known_jobs(arguments: &CycleArgs, cycle: &jsf_site::CycledQueue) -> Result<Vec<String>, CliError> {
    let mut known = Vec::new();
    let mut unknown = Vec::new();
    for asked in &arguments.jobs {
        match cycle.table.row(asked) {
            Some(row) => known.push(cycle.table.id(row).to_owned()),
            None => unknown.push(asked.as_str()),
        }
    }
    let message = format!("no job of the document is `{}`", unknown.join("`, `"));
    match (known.is_empty(), unknown.is_empty()) {
        (true, false) => return Err(CliError::content(message)),
        (false, false) => warn(&message),
        _ => {}
    }
    Ok(known)
}
