//! The page for a browser that a command writes beside what it prints.

use std::io::{self, Write};
use std::path::Path;

use job_sort_formula::Site;
use job_sort_formula::diagnostic::Diagnostic;
use job_sort_formula::pbs::submission::FormulaSubmission;
use job_sort_formula::report::{draw_finding, few_of_each_code};
use job_sort_formula::site::{FormulaText, PolicyShares, SharesRequest};

use super::atomic_file::replace_file;
use super::{CliError, finding_with_options, formula_source, report};

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
pub(super) fn tree(site: &Site) -> Result<Option<PolicyShares>, CliError> {
    let files = site.files();
    if files.tree.is_none() && files.resource_group.is_none() {
        return Ok(None);
    }
    Ok(site.shares(&SharesRequest::default())?.into_iter().next())
}

/// The number of characters in a line of a finding.
const WIDTH: usize = 110;

/// Findings on the parsed formula, drawn under the text that was submitted: of each code the first ten, then how many more
/// there are.
pub(super) fn drawn(source: &FormulaText, submitted: &FormulaSubmission<'_>, findings: &[Diagnostic]) -> Vec<String> {
    let (few, others) = few_of_each_code(findings);
    let draw = |found: &Diagnostic| {
        let found = finding_with_options(&submitted.in_source(found.clone()));
        draw_finding(&formula_source(source), &found, false, Some(WIDTH))
    };
    let others = others.into_iter().map(|(code, count)| format!("and {count} more findings {code}"));
    few.into_iter().map(draw).chain(others).collect()
}
