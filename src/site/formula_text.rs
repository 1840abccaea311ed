//! The text of a formula and its source.

use std::path::Path;

use super::SiteError;
use super::files::{SiteFiles, display_name, read_text};
use crate::pbs::files::formula_source::formula_in;
use crate::pbs::resource_amount::NumberMode;
use crate::pbs::submission::FormulaSubmission;

/// The text of a formula and its source.
///
/// ```
/// use job_sort_formula::Site;
///
/// let site = Site::open("examples/site")?;
/// assert_eq!(site.formula_text()?.text, "pow(2, -(fairshare_tree_usage/fairshare_perc))");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct FormulaText {
    /// The formula.
    pub text: String,
    /// The name of its source for messages: a file, or `FORMULA` for the command line.
    pub origin: String,
    /// The text before the formula in its source; empty if the source does not contain the formula verbatim.
    pub before: String,
}

impl FormulaText {
    /// A formula that was given as text.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), origin: "FORMULA".into(), before: String::new() }
    }

    /// Reads the formula from a file: plain text, `sched_formula`, `qmgr -c 'print server'`, `qstat -Bf` as text or
    /// JSON; the format is detected from the content.
    ///
    /// # Errors
    /// The file cannot be read, or it contains no formula.
    pub fn read(path: &Path) -> Result<Self, SiteError> {
        let document = read_text(path)?;
        let text = formula_in(&display_name(path), &document).map_err(SiteError::content)?;
        let from = document.find("job_sort_formula").map_or(0, |at| at + "job_sort_formula".len());
        let before = document[from..].find(&text).map_or("", |at| &document[..from + at]).to_owned();
        Ok(Self { text, origin: path.display().to_string(), before })
    }

    /// Reads the formula in force from the server's document, else from `sched_priv/sched_formula`.
    pub(super) fn in_force(files: &SiteFiles) -> Result<Self, SiteError> {
        let in_sched_priv = files.sched_priv.as_ref().map(|folder| folder.join("sched_formula"));
        let path = files.server.clone().or(in_sched_priv);
        path.map_or_else(
            || {
                let message = "no formula: give its text, --formula-file FILE, --server FILE or --sched-priv DIR";
                Err(SiteError::Missing(message.into()))
            },
            |path| Self::read(&path),
        )
    }

    /// The formula as Python reads it: with OpenPBS's numbers, from the string literal in the scheduler's script.
    pub fn submitted(&self, numbers: NumberMode) -> FormulaSubmission<'_> {
        match numbers {
            NumberMode::OpenPbs => FormulaSubmission::to_openpbs(&self.text),
            NumberMode::Exact | NumberMode::Decimal => FormulaSubmission::as_expression(&self.text),
        }
    }
}
