//! The formulas of a site: the documents that have them, or describe the server, its queues or its
//! resources, each of which is read, recognised and parsed once; the text of each formula, what it
//! was read from, and where it stands there.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use job_sort_formula::Span;
use job_sort_formula::diagnostic::Message;
use job_sort_formula::formula::syntax::Expr;
use jsf_ingest::FileKind;
use jsf_json::decode_utf8;
use jsf_openpbs::files::formula_text::{formula_in, other_directive, pasted};
use jsf_openpbs::files::server::{SourceFormula, is_resource_name, scheduler_of_partition};
use jsf_openpbs::{FormulaSubmission, NumberMode, Objects};

use crate::files::file_source::unquoted;
use crate::{FileSource, Role, SiteError};

/// In how many places a document is searched for a formula.
const MAX_STARTS: usize = 1000;

/// The text of a formula and its source.
///
/// ```
/// use jsf_site::Site;
///
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// let site = Site::open("examples/site")?;
/// assert_eq!(site.formula_text()?.text, "pow(2, -(fairshare_tree_usage/fairshare_perc))");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct FormulaText {
    /// The formula.
    pub text: String,
    /// The name of its source for messages: a file, or `FORMULA` for the command line.
    pub origin: String,
    /// The text before the formula in its source; empty if the source does not contain the formula.
    pub before: String,
    /// The formula as its source has it: with the line breaks of a listing of PBS, or with the
    /// escapes of JSON.
    pub written: String,
    /// For each byte of `text`, and for its end: where in `written` what precedes it ends, and where it
    /// starts there, after a line break, say. Empty: at the same places.
    pub places: Places,
    /// The text below the formula, which is the first line that was given: PBS ignores it.
    pub below: String,
}

/// Where what precedes each byte of a text ends in another form of it, and where the byte starts there.
type Places = Vec<(usize, usize)>;

impl FormulaText {
    /// A formula that was given as text: the formula alone, or pasted as `job_sort_formula = …`, as
    /// the directive `set server job_sort_formula = "…"` or as the command `qmgr -c '…'`.
    ///
    /// # Errors
    /// The text is another directive, such as one that sets `job_sort_formula_threshold`.
    pub fn new(text: impl Into<String>) -> Result<Self, SiteError> {
        let given = text.into();
        let given = match unquoted(given.as_bytes()) {
            Cow::Owned(text) => decode_utf8(&text).into_owned(),
            Cow::Borrowed(_) => given,
        };
        if let Some(directive) = other_directive(&given) {
            return Err(SiteError::Content(directive));
        }
        Ok(match pasted(&given) {
            Some(text) => {
                Self::in_document(SourceFormula { text, at: 0 }, "FORMULA".into(), &given)
            }
            None => Self::alone(given, "FORMULA".into()),
        })
    }

    fn in_document(formula: SourceFormula, origin: String, document: &str) -> Self {
        // in a file a carriage return belongs to the end of the line
        let alone = Self::alone(formula.text.replacen("\r\n", "\n", 1), origin);
        match find(document, formula.at, &alone.text) {
            Some((written, places)) => Self {
                before: document[..written.start].to_owned(),
                written: document[written].to_owned(),
                places,
                ..alone
            },
            None => alone,
        }
    }

    /// The first line as a formula, without its document.
    fn alone(mut text: String, origin: String) -> Self {
        let end = text.find('\n').unwrap_or(text.len());
        let below = text.split_off(end);
        Self {
            written: text.clone(),
            text,
            origin,
            below,
            ..Self::default()
        }
    }

    /// All lines that were given, for a command that joins them.
    pub fn all_lines(&self) -> String {
        format!("{}{}", self.text, self.below)
    }

    /// Replaces the formula in its document.
    #[must_use]
    pub fn with_text(self, text: String) -> Self {
        Self {
            before: self.before,
            below: self.below,
            ..Self::alone(text, self.origin)
        }
    }

    /// Reads the formula from a file: plain text, `sched_formula`, `qmgr -c 'print server'`,
    /// `qstat -Bf` as text or JSON; the format is detected from the content.
    ///
    /// # Errors
    /// The file cannot be read, or it contains no formula.
    pub fn read(path: &Path) -> Result<Self, SiteError> {
        let source = FileSource::from(path);
        let content = source.read_unless_binary(Role::Formula)?;
        let kind = content.kind;
        let text = content.into_text();
        let document = SiteDocument::new(&source, kind, &text);
        Self::of_document(&document, true).map_err(SiteError::Content)
    }

    /// The formula as Python reads it: with OpenPBS's numbers, from the string literal in the
    /// scheduler's script.
    pub fn submitted(&self, numbers: NumberMode) -> FormulaSubmission {
        submitted(&self.text, numbers).followed_by(&self.below)
    }

    /// The formula of the server or of the default scheduler, or that is all of the document; with
    /// `takes_any` else that of the only other scheduler that has one.
    pub(crate) fn of_document(
        document: &SiteDocument<'_>,
        takes_any: bool,
    ) -> Result<Self, Message> {
        let accepted = document.require(Role::Formula);
        accepted.map_err(|error| error.message())?;
        let formula = formula_in(&document.name, &document.objects, takes_any)?;
        Ok(Self::in_site_document(formula, document))
    }

    /// The formula of the scheduler with a partition.
    pub(crate) fn of_partition(document: &SiteDocument<'_>, partition: &str) -> Option<Self> {
        let formula = scheduler_of_partition(&document.objects, partition)?.formula?;
        Some(Self::in_site_document(formula, document))
    }

    fn in_site_document(formula: SourceFormula, document: &SiteDocument<'_>) -> Self {
        Self::in_document(formula, document.name.clone(), document.objects.text)
    }
}

/// The formulas in the documents of a site.
#[derive(Debug, Default)]
pub struct SiteFormulas {
    /// The one of the file that was given for it.
    pub given: Option<Result<FormulaText, Message>>,
    /// The first one of the documents of the server, else that of `sched_priv/sched_formula`; of a
    /// scheduler with a partition, its own.
    pub in_force: Option<Result<FormulaText, Message>>,
    /// All of them.
    pub all: Vec<FormulaText>,
}

impl SiteFormulas {
    /// Adds what a document of the server or the scheduler has, which is in force if no document
    /// before has a formula.
    pub fn add(&mut self, formula: Result<FormulaText, Message>) {
        if let Ok(formula) = &formula {
            self.all.push(formula.clone());
        }
        if self.in_force.is_none() || (formula.is_ok() && matches!(self.in_force, Some(Err(_)))) {
            self.in_force = Some(formula);
        }
    }
}

/// A formula as Python reads it.
pub fn submitted(text: &str, numbers: NumberMode) -> FormulaSubmission {
    match numbers {
        NumberMode::OpenPbs => FormulaSubmission::to_openpbs(text),
        NumberMode::Exact | NumberMode::Decimal => FormulaSubmission::as_expression(text),
    }
}

/// A part of a formula with other texts in place of some names.
pub fn with_names(
    expr: &Expr,
    part: Span,
    mut replacement: impl FnMut(&str) -> Option<String>,
) -> String {
    let mut names = Vec::new();
    for (_, node) in expr.iter() {
        if let Some(name) = node.name()
            && let Some(text) = replacement(name)
        {
            names.push((node.span.range(), text));
        }
    }
    names.retain(|(place, _)| part.range().contains(&place.start));
    names.sort_unstable_by_key(|(place, _)| place.start);
    let mut text = expr.text()[..part.range().end].to_owned();
    for (place, replacement) in names.into_iter().rev() {
        text.replace_range(place, &replacement);
    }
    text.split_off(part.range().start)
}

/// Finds a formula from a byte of the document on: its place, and those of its bytes there.
fn find(document: &str, from: usize, formula: &str) -> Option<(Range<usize>, Places)> {
    const NAME: &str = "job_sort_formula";
    let named = document.find(NAME);
    let from = named.map_or(from, |at| from.max(at + NAME.len()));
    let text = document.trim_start_matches('\u{feff}').trim_start();
    let is_json = text.starts_with('{');
    let first = formula.chars().next()?;
    let mut starts = 0;
    // a longer formula that is not in force may begin in the same way
    let mut begins_alike = None;
    for (at, character) in document[from..].char_indices() {
        if character != first && !(is_json && character == '\\') {
            continue;
        }
        starts += 1;
        if starts > MAX_STARTS {
            break;
        }
        let start = from + at;
        let Some(places) = match_formula(&document[start..], formula, is_json) else {
            continue;
        };
        let end = start + places.last()?.0;
        let after = &document[end..];
        let found = (start..end, places);
        if after.is_empty() || after.starts_with(['"', '\'', '\n', '\r']) {
            return Some(found);
        }
        begins_alike.get_or_insert(found);
    }
    begins_alike
}

/// Compares the start of a text with a formula; the text may wrap it, and escape its characters if
/// it is JSON. The places of the formula's bytes in the text, and of its end; `None` if the text does
/// not begin with the formula.
fn match_formula(text: &str, formula: &str, is_json: bool) -> Option<Places> {
    let mut rest = text;
    let mut places = Vec::new();
    for character in formula.chars() {
        let end = text.len() - rest.len();
        let wrapped = rest.strip_prefix("\r\n\t").or(rest.strip_prefix("\n\t"));
        if let Some(after) = wrapped
            && after.starts_with(character)
        {
            rest = after;
        }
        let place = (end, text.len() - rest.len());
        places.resize(places.len() + character.len_utf8(), place);
        if is_json && rest.starts_with('\\') {
            rest = after_escape(rest, character)?;
        } else {
            rest = rest.strip_prefix(character)?;
        }
    }
    let end = text.len() - rest.len();
    places.push((end, end));
    Some(places)
}

/// What follows the escape of this character in JSON: `\n`, `\u000a`, or the escapes of two
/// surrogates.
fn after_escape(text: &str, character: char) -> Option<&str> {
    for length in [2, 6, 12] {
        let (escape, after) = text.split_at_checked(length)?;
        let decoded: Result<char, _> = serde_json::from_str(&format!("\"{escape}\""));
        if decoded.is_ok_and(|decoded| decoded == character) {
            return Some(after);
        }
    }
    None
}

/// A document of the site, parsed once.
#[derive(Debug)]
pub struct SiteDocument<'d> {
    pub source: &'d FileSource,
    /// Its name in messages.
    pub name: String,
    pub kind: FileKind,
    pub objects: Objects<'d>,
}

impl<'d> SiteDocument<'d> {
    /// The document with this text, which was recognised as one of a kind.
    pub fn new(source: &'d FileSource, kind: FileKind, text: &'d str) -> Self {
        let is_resourcedef =
            kind == FileKind::ResourceDef || kind == FileKind::Text && is_list_of_names(text);
        Self {
            source,
            name: source.name(),
            kind,
            objects: if is_resourcedef {
                Objects::read_resourcedef(text)
            } else {
                Objects::read(text)
            },
        }
    }

    /// Refuses a document of a kind that the role does not accept.
    pub fn require(&self, role: Role) -> Result<(), SiteError> {
        let text = self.objects.text.as_bytes();
        role.require(self.kind, &self.name, text)
    }

    /// Whether the server wrote it, as an answer of qstat or of `qmgr`.
    pub fn is_of_server(&self) -> bool {
        matches!(self.kind, FileKind::Server | FileKind::Qmgr)
    }
}

/// Whether a text may be a `resourcedef` that only lists names.
fn is_list_of_names(text: &str) -> bool {
    for line in text.trim_start_matches('\u{feff}').lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_comment_or_name = match *words {
            [] => true,
            [word] => word.starts_with('#') || is_resource_name(word),
            _ => false,
        };
        if !is_comment_or_name {
            return false;
        }
    }
    true
}

/// The documents of these files.
pub fn parsed<'d>(
    documents: &'d [SiteDocument<'d>],
    sources: &[FileSource],
) -> Vec<&'d SiteDocument<'d>> {
    let mut parsed = Vec::new();
    for source in sources {
        parsed.extend(documents.iter().find(|document| document.source == source));
    }
    parsed
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The start and the text of a formula in its document, and the places from which on its bytes
    /// have others there.
    type Found = (usize, String, Vec<(usize, usize, usize)>);

    fn place(document: &str, formula: &str) -> Option<Found> {
        let (written, places) = find(document, 0, formula)?;
        let mut differences = Vec::new();
        let mut shift = 0;
        for (at, (end, start)) in places.into_iter().enumerate() {
            if formula.is_char_boundary(at) && start != at + shift {
                differences.push((at, end, start));
                shift = start - at;
            }
        }
        Some((written.start, document[written].to_owned(), differences))
    }

    #[test]
    fn a_formula_is_found_in_its_document() {
        let listing = "Server: vm\n    job_sort_formula = a + b\n\t + c\n    x = a\n";
        assert_eq!(
            place(listing, "a + b + c"),
            Some((34, "a + b\n\t + c".into(), vec![(5, 5, 7)]))
        );
        let windows = listing.replace('\n', "\r\n");
        assert_eq!(
            place(&windows, "a + b + c"),
            Some((35, "a + b\r\n\t + c".into(), vec![(5, 5, 8)]))
        );
        let json = "{\"Server\":{\"a\":{\n\"job_sort_formula\": \"a + b\"}}}";
        assert_eq!(place(json, "a + b"), Some((38, "a + b".into(), vec![])));
        let twice =
            "set server job_sort_formula = \"a + bc\"\nset server job_sort_formula = \"a + b\"\n";
        assert_eq!(place(twice, "a + b"), Some((70, "a + b".into(), vec![])));
        assert_eq!(place("x", "a + b"), None);
        assert_eq!(place("a", ""), None);
    }

    #[test]
    fn escapes_of_json_are_longer_than_their_characters() {
        let json = r#"{"job_sort_formula":"a\/b+\"c\"+\u00e9\ud835\udc4e"}"#;
        let formula = "a/b+\"c\"+é𝑎";
        let expected = vec![
            (2, 3, 3),
            (5, 7, 7),
            (7, 10, 10),
            (10, 17, 17),
            (14, 29, 29),
        ];
        assert_eq!(
            place(json, formula),
            Some((21, r#"a\/b+\"c\"+\u00e9\ud835\udc4e"#.into(), expected))
        );
        assert_eq!(
            place(r#"{"job_sort_formula":"\u0061"}"#, "a"),
            Some((21, r"\u0061".into(), vec![(1, 6, 6)]))
        );
        assert_eq!(place(r#"{"job_sort_formula":"\u00"}"#, "a"), None);
    }
}
