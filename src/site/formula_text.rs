//! The text of a formula and its source.

use std::path::Path;

use super::SiteError;
use super::documents::read_formula_document;
use super::files::SiteFiles;
use super::source::FileSource;
use crate::pbs::files::formula_source::{formula_in, pasted};
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
    /// A formula that was given as text: the formula alone, or pasted as `job_sort_formula = …`, as the directive
    /// `set server job_sort_formula = "…"` or as the command `qmgr -c '…'`.
    pub fn new(text: impl Into<String>) -> Self {
        let given = text.into();
        let (text, before) = match pasted(&given) {
            Some(formula) => {
                let before = text_before(&given, &formula).to_owned();
                (formula, before)
            }
            None => (given, String::new()),
        };
        Self { text, origin: "FORMULA".into(), before }
    }

    /// Reads the formula from a file: plain text, `sched_formula`, `qmgr -c 'print server'`, `qstat -Bf` as text or
    /// JSON; the format is detected from the content.
    ///
    /// # Errors
    /// The file cannot be read, or it contains no formula.
    pub fn read(path: &Path) -> Result<Self, SiteError> {
        Self::read_source(&path.into())
    }

    fn read_source(source: &FileSource) -> Result<Self, SiteError> {
        let (name, document) = (source.name(), read_formula_document(source)?);
        let text = formula_in(&name, &document).map_err(SiteError::content)?;
        let before = text_before(&document, &text).to_owned();
        Ok(Self { text, origin: name, before })
    }

    /// Reads the formula in force from the first document of the server that contains one, else from
    /// `sched_priv/sched_formula`.
    pub(super) fn in_force(files: &SiteFiles) -> Result<Self, SiteError> {
        let sources = files.server.iter().chain(&files.sched_formula);
        let mut first_error = None;
        for source in sources {
            match Self::read_source(source) {
                Err(error @ SiteError::Content(_)) => first_error = first_error.or(Some(error)),
                read => return read,
            }
        }
        let message = "no formula: give its text, --formula-file FILE, --server FILE, --sched-priv DIR or --site PATH";
        Err(first_error.unwrap_or_else(|| SiteError::Missing(message.into())))
    }

    /// The formula as Python reads it: with OpenPBS's numbers, from the string literal in the scheduler's script.
    pub fn submitted(&self, numbers: NumberMode) -> FormulaSubmission<'_> {
        match numbers {
            NumberMode::OpenPbs => FormulaSubmission::to_openpbs(&self.text),
            NumberMode::Exact | NumberMode::Decimal => FormulaSubmission::as_expression(&self.text),
        }
    }
}

/// The text before a formula that a document contains verbatim, else an empty text.
fn text_before<'d>(document: &'d str, formula: &str) -> &'d str {
    let from = document.find("job_sort_formula").map_or(0, |at| at + "job_sort_formula".len());
    document[from..].find(formula).map_or("", |at| &document[..from + at])
}
