//! Where the formula comes from.

use job_sort_formula::Site;
use job_sort_formula::site::{FormulaText, SiteError};

use super::CliError;
use super::args::FormulaArgs;

/// Takes the formula from the argument or the file, else from the site.
pub(super) fn read(arguments: &FormulaArgs, site: Option<&Site>) -> Result<FormulaText, CliError> {
    match (&arguments.formula, &arguments.formula_file, site) {
        (Some(text), ..) => Ok(FormulaText::new(text)),
        (None, Some(path), _) => Ok(FormulaText::read(path)?),
        (None, None, Some(site)) => Ok(site.formula_text()?),
        (None, None, None) => Err(SiteError::Missing("no formula: give its text or --formula-file FILE".into()).into()),
    }
}
