//! The formulas of a site: which of its documents have one, and which of them is in force; the text of
//! each, what it was read from, and its place there.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use job_sort_formula::diagnostic::{Message, Need};
use job_sort_formula::formula::name_resolution::Resolution;
use job_sort_formula::formula::syntax::Expr;
use job_sort_formula::schema::InputType;
use job_sort_formula::{Formula, Span};
use jsf_ingest::FileKind;
use jsf_json::{clipped, decode_utf8};
use jsf_openpbs::files::formula_text::{
    SourceFormula, formula_in, other_directive, pasted, sets_only_formulas,
};
use jsf_openpbs::files::objects::{DEFAULT, repeated};
use jsf_openpbs::files::resources::add_resources;
use jsf_openpbs::files::server::{listed_schedulers, scheduler_of_partition};
use jsf_openpbs::{FormulaSubmission, NumberMode, Queues};
use jsf_words::quoted_list;

use crate::files::decompression::unquoted;
use crate::settings::{SiteDocument, parsed};
use crate::{FileSource, Role, Site, SiteError, SiteFiles};

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

impl Site {
    /// The formula by which the jobs are ranked unless another one is named: that of the file that
    /// was given for it ([`Role::Formula`]), else the one in force.
    ///
    /// # Errors
    /// The site has neither, or the file cannot be read.
    pub fn formula_text(&self) -> Result<FormulaText, SiteError> {
        let SiteFormulas {
            given, in_force, ..
        } = &self.formulas;
        match given.as_ref().or(in_force.as_ref()) {
            Some(formula) => formula.clone().map_err(SiteError::Content),
            None => Err(SiteError::missing("no formula: ", Need::Formula)),
        }
    }

    /// The formula in force, even if another was given: the server's, else that in
    /// `sched_priv/sched_formula`. `None` if the site has neither, or the file cannot be read.
    pub fn formula_in_force(&self) -> Option<FormulaText> {
        self.formulas.in_force.as_ref()?.as_ref().ok().cloned()
    }

    /// Finds the formulas, and the scheduler whose formula is given.
    pub(crate) fn read_formulas(
        &mut self,
        files: &SiteFiles,
        documents: &[SiteDocument<'_>],
    ) -> Result<(), SiteError> {
        let partition = files.partition.as_deref();
        let given = parsed(documents, files.all(Role::Formula)).first().copied();
        if let Some(document) = given {
            // that of the partition's scheduler, if the document has one
            let own = partition.and_then(|name| FormulaText::of_partition(document, name));
            let formula = match own {
                Some(formula) => Ok(formula),
                None => FormulaText::of_document(document, true),
            };
            self.add_names_from_formula_file(document, formula.as_ref().ok())?;
            if let Ok(formula) = &formula {
                self.formulas.all.push(formula.clone());
            }
            self.formulas.given = Some(formula);
        }
        for document in parsed(documents, files.all(Role::Server)) {
            match partition {
                Some(partition) => {
                    if let Some(formula) = FormulaText::of_partition(document, partition) {
                        self.add_in_use(Ok(formula));
                    }
                }
                // the formula of the server is that of the default scheduler
                None => self.add_in_use(FormulaText::of_document(document, false)),
            }
        }
        for document in parsed(documents, files.all(Role::SchedFormula)) {
            self.add_in_use(FormulaText::of_document(document, false));
        }
        match partition {
            Some(partition) => self.require_partition(partition),
            None => {
                let mut with_formulas = Vec::from_iter(given);
                with_formulas.extend(parsed(documents, files.all(Role::Server)));
                self.choose_scheduler(given, &with_formulas);
                Ok(())
            }
        }
    }

    /// If the file of the formula describes a server, adds the names that it lists; if the server
    /// wrote it, those in its formula. Nothing else of it is used.
    fn add_names_from_formula_file(
        &mut self,
        document: &SiteDocument<'_>,
        formula: Option<&FormulaText>,
    ) -> Result<(), SiteError> {
        let SiteDocument { name, objects, .. } = document;
        let mut repeated = repeated(objects);
        repeated.retain(|what| what.ends_with(".job_sort_formula"));
        self.warn_of_repeated(name, &repeated)?;
        if document.is_of_server() {
            add_resources(name, objects, &mut self.schema);
            Queues::read(name, objects)?.add_seen_to(&mut self.schema);
        }
        if let Some(formula) = formula
            && (document.is_of_server() || document.kind == FileKind::SchedFormula)
        {
            let added = self.add_formula_names(formula);
            if document.kind == FileKind::Qmgr
                && sets_only_formulas(objects.text)
                && !added.is_empty()
            {
                self.warnings.of_files.push(format!(
                    "`{name}` sets a formula with {}, which nothing else declares and which is taken as known to the server: to check a \
                     formula that is still to be set, give the formula alone",
                    quoted_list(&added)
                ));
            }
        }
        Ok(())
    }

    /// Adds what a document of the server or the scheduler has: a formula that the server has
    /// accepted, with its names, so that PBS knows them. It is in force if no document before has a
    /// formula; warns if it is another one.
    fn add_in_use(&mut self, formula: Result<FormulaText, Message>) {
        if let Ok(formula) = &formula {
            let text = formula.all_lines();
            if let Some(Ok(used)) = &self.formulas.in_force
                && used.all_lines().trim() != text.trim()
            {
                let (first, other) = (&used.origin, &formula.origin);
                self.warnings.of_files.push(format!(
                    "`{first}` and `{other}` contain different formulas, `{}` and `{}`; the one in `{first}` is used unless you give \
                     a formula",
                    clipped(&used.all_lines()),
                    clipped(&text)
                ));
            }
            self.add_formula_names(formula);
            self.formulas.all.push(formula.clone());
        }
        let in_force = &mut self.formulas.in_force;
        if in_force.is_none() || formula.is_ok() && matches!(in_force, Some(Err(_))) {
            *in_force = Some(formula);
        }
    }

    /// Warns about the formulas of other schedulers in the documents, and keeps the partition of
    /// the scheduler whose formula is given.
    fn choose_scheduler(
        &mut self,
        given: Option<&SiteDocument<'_>>,
        documents: &[&SiteDocument<'_>],
    ) {
        for document in documents {
            if document.kind != FileKind::Qmgr {
                continue;
            }
            let SiteDocument { name, objects, .. } = document;
            let server_formula = SourceFormula::of_server(objects);
            let mut schedulers = listed_schedulers(objects);
            schedulers.retain(|scheduler| scheduler.formula.is_some());
            let is_given = matches!(given, Some(given) if given.source == document.source);
            let is_used = is_given && server_formula.is_none() && schedulers.len() == 1;
            for scheduler in &schedulers {
                let formula = scheduler
                    .formula
                    .as_ref()
                    .map_or("", |formula| &formula.text);
                let shown = clipped(formula);
                if scheduler.name != DEFAULT {
                    let consequence = if is_used {
                        "it is used here, as the only one"
                    } else {
                        "it is not used here: all other jobs belong to the default scheduler"
                    };
                    let of_whom = &scheduler.name;
                    self.warnings.of_files.push(format!(
                        "`{name}`: the formula `{shown}` is that of the scheduler `{of_whom}`; {consequence}"
                    ));
                    if is_used {
                        self.partition.clone_from(&scheduler.partition);
                    }
                } else if let Some(used) = &server_formula
                    && used.text != formula
                {
                    let used = clipped(&used.text);
                    self.warnings.of_files.push(format!(
                        "`{name}` has the formula `{used}` of the server, which is used, and `{shown}` of the default scheduler: \
                         a server accepts only one (error 15226)"
                    ));
                }
            }
        }
    }

    /// Adds the names in a formula that the server or the scheduler wrote. Returns those that
    /// nothing declares.
    fn add_formula_names(&mut self, formula: &FormulaText) -> Vec<String> {
        let Ok(formula) = Formula::parse(&formula.all_lines()) else {
            return Vec::new();
        };
        let mut added = Vec::new();
        for name in formula.names() {
            if let Resolution::Undefined = Resolution::from_schema(name, &self.schema) {
                // the server accepts a formula only if its names are numbers, of whichever type
                self.schema.add_seen(name, InputType::Float);
                added.push(name.to_owned());
            }
        }
        added
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
    // from the end, so that the places before it stay right
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
