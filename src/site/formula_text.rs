//! The text of a formula and its source.

use std::path::Path;

use super::SiteError;
use super::documents::read_formula_document;
use super::files::SiteFiles;
use super::source::FileSource;
use crate::pbs::files::formula_source::{formula_in, other_directive, pasted};
use crate::pbs::resource_amount::NumberMode;
use crate::pbs::submission::FormulaSubmission;

/// In how many places a document is searched for a formula.
const MAX_STARTS: usize = 1000;

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
    /// The text before the formula in its source; empty if the source does not contain the formula.
    pub before: String,
    /// The bytes of the formula before which its source has a line break and a tab, as listings of PBS wrap long values.
    pub wraps: Vec<usize>,
}

impl FormulaText {
    /// A formula that was given as text: the formula alone, or pasted as `job_sort_formula = …`, as the directive
    /// `set server job_sort_formula = "…"` or as the command `qmgr -c '…'`.
    ///
    /// # Errors
    /// The text is another directive, such as one that sets `job_sort_formula_threshold`.
    pub fn new(text: impl Into<String>) -> Result<Self, SiteError> {
        let given = text.into();
        if let Some(directive) = other_directive(&given) {
            return Err(SiteError::content(directive));
        }
        Ok(match pasted(&given) {
            Some(formula) => Self::in_document(formula, "FORMULA".into(), &given),
            None => Self { text: given, origin: "FORMULA".into(), before: String::new(), wraps: Vec::new() },
        })
    }

    fn in_document(text: String, origin: String, document: &str) -> Self {
        let (before, wraps) = place(document, &text);
        Self { before: before.to_owned(), wraps, text, origin }
    }

    /// Reads the formula from a file: plain text, `sched_formula`, `qmgr -c 'print server'`, `qstat -Bf` as text or
    /// JSON; the format is detected from the content.
    ///
    /// # Errors
    /// The file cannot be read, or it contains no formula.
    pub fn read(path: &Path) -> Result<Self, SiteError> {
        Self::read_source(&path.into())
    }

    /// The file with a formula as a source that can be read several times, for [`SiteFiles::formula`]; `-` is standard
    /// input.
    ///
    /// # Errors
    /// Standard input cannot be read.
    pub fn source(path: &Path) -> Result<FileSource, SiteError> {
        FileSource::from(path).kept()
    }

    fn read_source(source: &FileSource) -> Result<Self, SiteError> {
        let (name, document) = (source.name(), read_formula_document(source)?);
        let text = formula_in(&name, &document).map_err(SiteError::content)?;
        Ok(Self::in_document(text, name, &document))
    }

    /// Reads the formula from the file that was given for it, else the formula in force from the first document of the server that contains one, else from
    /// `sched_priv/sched_formula`.
    pub(super) fn in_force(files: &SiteFiles) -> Result<Self, SiteError> {
        if let Some(source) = &files.formula {
            return Self::read_source(source);
        }
        let sources = files.server.iter().chain(&files.sched_formula);
        let mut first_error = None;
        for source in sources {
            match Self::read_source(source) {
                Err(error @ SiteError::Content(_)) => first_error = first_error.or(Some(error)),
                read => return read,
            }
        }
        let message = "no formula: give its text, or a document that has it";
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

/// The text before a formula in a document, and the bytes of the formula before which the document has a line break and
/// a tab; an empty text if the document does not contain the formula.
fn place<'d>(document: &'d str, formula: &str) -> (&'d str, Vec<usize>) {
    let from = document.find("job_sort_formula").map_or(0, |at| at + "job_sort_formula".len());
    let Some(first) = formula.chars().next() else { return ("", Vec::new()) };
    let mut starts = document[from..].match_indices(first).take(MAX_STARTS).map(|(at, _)| from + at);
    let found = starts.find_map(|at| Some((&document[..at], wraps(&document[at..], formula)?)));
    found.unwrap_or_default()
}

/// Where a text that begins with a formula wraps it; `None` if it does not begin with the formula.
fn wraps(text: &str, formula: &str) -> Option<Vec<usize>> {
    let (mut rest, mut wraps) = (text, Vec::new());
    for (at, character) in formula.char_indices() {
        if !rest.starts_with(character) {
            rest = rest.strip_prefix("\r\n\t").or_else(|| rest.strip_prefix("\n\t"))?;
            wraps.push(at);
        }
        rest = rest.strip_prefix(character)?;
    }
    Some(wraps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formula_is_found_in_its_document() {
        let listing = "Server: vm\n    job_sort_formula = a + b\n\t + c\n    x = a\n";
        assert_eq!(place(listing, "a + b + c"), ("Server: vm\n    job_sort_formula = ", vec![5]));
        let json = "{\"Server\":{\"a\":{\n\"job_sort_formula\": \"a + b\"}}}";
        assert_eq!(place(json, "a + b"), ("{\"Server\":{\"a\":{\n\"job_sort_formula\": \"", vec![]));
        assert_eq!(place("x", "a + b"), ("", vec![]));
        assert_eq!(place("a", ""), ("", vec![]));
    }
}
