//! The page for a browser that a command writes beside what it prints.

use std::io::{self, Write};
use std::path::Path;

use job_sort_formula::Site;
use job_sort_formula::diagnostic::Diagnostic;
use job_sort_formula::pbs::submission::FormulaSubmission;
use job_sort_formula::report::draw_finding;
use job_sort_formula::site::{FormulaText, PolicyShares, SharesRequest};

use super::usage_file::replace_file;
use super::{CliError, formula_source, report};

/// Writes a page to a file, of which a reader sees either all or nothing.
pub(super) fn write_page(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), CliError> {
    let mut page = Vec::new();
    write(&mut page)?;
    replace_file(path, &page)
        .map_err(|error| io::Error::new(error.kind(), format!("`{}`: {error}", path.display())))?;
    report("note", format_args!("the page is in `{}`", path.display()));
    Ok(())
}

/// The fair-share tree of a site under the policy in force; `None` if it has none.
pub(super) fn tree(site: &Site) -> Option<PolicyShares> {
    site.shares(&SharesRequest::default()).ok()?.into_iter().next()
}

/// The most findings on a page; the others are counted.
const MAX_FINDINGS: usize = 50;
/// The number of characters in a line of a finding.
const WIDTH: usize = 110;

/// Findings on the parsed formula, drawn under the text that was submitted.
pub(super) fn drawn(
    source: &FormulaText,
    submitted: &FormulaSubmission<'_>,
    findings: impl IntoIterator<Item = Diagnostic>,
) -> Vec<String> {
    let mut findings = findings.into_iter();
    let draw = |found| draw_finding(&formula_source(source), &submitted.in_source(found), false, Some(WIDTH));
    let mut drawn: Vec<String> = findings.by_ref().take(MAX_FINDINGS).map(draw).collect();
    let more = findings.count();
    if more > 0 {
        drawn.push(format!("{more} more findings"));
    }
    drawn
}
