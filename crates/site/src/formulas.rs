//! A formula at a site: its text and where that stands, what the server answers to it and what it
//! gives for each job of the queue, and how far its values are those in a scheduler's log.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use job_sort_formula::diagnostic::{Code, Diagnostic, Message, Need, Span};
use job_sort_formula::formula::Formula;
use job_sort_formula::formula::program::Program;
use job_sort_formula::formula::syntax::Expr;
use job_sort_formula::jobs::JobTable;
use job_sort_formula::python::Value;
use job_sort_formula::rank::explain::medians;
use job_sort_formula::rank::{OnError, ScorePrecision, WorkBudget};
use job_sort_formula::schema::{InputType, Schema};
use jsf_json::decode_utf8;
use jsf_openpbs::amounts::NumberMode;
use jsf_openpbs::check::{Checked, ExchangeRate, ScoredQueue, SiteFacts, exchange_rates};
use jsf_openpbs::files::server::{
    SourceFormula, formula_in, other_directive, pasted, scheduler_of_partition,
};
use jsf_openpbs::replay::{
    OtherFormula, Replay, ReplayedQueue, formulas_set, logged_values, replay,
};
use jsf_openpbs::submission::FormulaSubmission;

use crate::file_source::{SiteDocument, SiteText, unquoted};
use crate::share_tree::SiteTree;
use crate::site_jobs::ColumnsRequest;
use crate::{FileSource, PolicyName, RankedQueue, Role, Site, SiteError};

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
#[derive(Debug, Clone)]
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
    /// Where `written` differs from `text`, ascending.
    pub differences: Vec<WrittenDifference>,
    /// The text below the formula, which is the first line that was given: PBS ignores it.
    pub below: String,
}

/// A place where the formula in its source differs from its text. Up to the next one, both are
/// alike again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenDifference {
    /// The byte of the formula.
    pub at: usize,
    /// Where what precedes this byte ends in the source's form.
    pub end: usize,
    /// Where what follows starts there: after a line break, or where an escape ends.
    pub start: usize,
}

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
            Some((written, differences)) => Self {
                before: document[..written.start].to_owned(),
                written: document[written].to_owned(),
                differences,
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
            before: String::new(),
            differences: Vec::new(),
            below,
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
        let text = SiteText::read(&source, Role::Formula)?;
        let document = SiteDocument::new(&text);
        Self::given(&document, None).map_err(SiteError::Content)
    }

    /// The file with a formula as a source that can be read several times, for [`Role::Formula`];
    /// `-` is standard input.
    ///
    /// # Errors
    /// Standard input cannot be read.
    pub fn source(path: &Path) -> Result<FileSource, SiteError> {
        FileSource::from(path).kept()
    }

    /// The formula as Python reads it: with OpenPBS's numbers, from the string literal in the
    /// scheduler's script.
    pub fn submitted(&self, numbers: NumberMode) -> FormulaSubmission {
        submitted(&self.text, numbers).followed_by(&self.below)
    }

    /// The formula of the server or of the default scheduler, or that is all of the document.
    pub(crate) fn of_document(document: &SiteDocument<'_>) -> Result<Self, Message> {
        require_formula(document)?;
        let formula = formula_in(&document.name, &document.objects, false)?;
        Ok(Self::in_site_document(formula, document))
    }

    /// The formula of the scheduler with a partition.
    pub(crate) fn of_partition(document: &SiteDocument<'_>, partition: &str) -> Option<Self> {
        let formula = scheduler_of_partition(&document.objects, partition)?.formula?;
        Some(Self::in_site_document(formula, document))
    }

    /// The formula of a document that was given for it: that of the scheduler with the partition,
    /// else that of the default scheduler, else that of the only one that has one.
    pub(crate) fn given(
        document: &SiteDocument<'_>,
        partition: Option<&str>,
    ) -> Result<Self, Message> {
        require_formula(document)?;
        if let Some(partition) = partition
            && let Some(formula) = Self::of_partition(document, partition)
        {
            return Ok(formula);
        }
        let formula = formula_in(&document.name, &document.objects, true)?;
        Ok(Self::in_site_document(formula, document))
    }

    fn in_site_document(formula: SourceFormula, document: &SiteDocument<'_>) -> Self {
        Self::in_document(formula, document.name.clone(), document.objects.text)
    }
}

fn require_formula(document: &SiteDocument<'_>) -> Result<(), Message> {
    let accepted = document.require(Role::Formula);
    accepted.map_err(|error| error.message())
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

/// Finds a formula from a byte of the document on: its place, and where the document differs from
/// it.
fn find(
    document: &str,
    from: usize,
    formula: &str,
) -> Option<(Range<usize>, Vec<WrittenDifference>)> {
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
        let Some((length, differences)) = match_formula(&document[start..], formula, is_json)
        else {
            continue;
        };
        let end = start + length;
        let after = &document[end..];
        let found = (start..end, differences);
        if after.is_empty() || after.starts_with(['"', '\'', '\n', '\r']) {
            return Some(found);
        }
        begins_alike.get_or_insert(found);
    }
    begins_alike
}

/// Compares the start of a text with a formula; the text may wrap it, and escape its characters if
/// it is JSON. The length of the formula in the text, and where both differ; `None` if the text
/// does not begin with the formula.
fn match_formula(
    text: &str,
    formula: &str,
    is_json: bool,
) -> Option<(usize, Vec<WrittenDifference>)> {
    let mut rest = text;
    let mut differences = Vec::new();
    for (at, character) in formula.char_indices() {
        let wrapped = rest.strip_prefix("\r\n\t").or(rest.strip_prefix("\n\t"));
        if let Some(after) = wrapped
            && after.starts_with(character)
        {
            differences.push(WrittenDifference {
                at,
                end: text.len() - rest.len(),
                start: text.len() - after.len(),
            });
            rest = after;
        }
        match rest.strip_prefix('\\') {
            Some(escape) if is_json => {
                rest = after_escape(escape, character)?;
                let end = text.len() - rest.len();
                differences.push(WrittenDifference {
                    at: at + character.len_utf8(),
                    end,
                    start: end,
                });
            }
            _ => rest = rest.strip_prefix(character)?,
        }
    }
    Some((text.len() - rest.len(), differences))
}

/// What follows the escape of this character in JSON; `escape` begins after its backslash.
fn after_escape(escape: &str, character: char) -> Option<&str> {
    let mut rest = escape.chars();
    let is_same = match rest.next()? {
        'b' => character == '\u{8}',
        'f' => character == '\u{c}',
        'n' => character == '\n',
        'r' => character == '\r',
        't' => character == '\t',
        'u' => {
            let mut units = [0; 2];
            let mut digits = escape;
            for (index, unit) in character.encode_utf16(&mut units).iter().enumerate() {
                digits = digits.strip_prefix(if index == 0 { "u" } else { "\\u" })?;
                let (hexadecimal, after) = digits.split_at_checked(4)?;
                if u16::from_str_radix(hexadecimal, 16) != Ok(*unit) {
                    return None;
                }
                digits = after;
            }
            return Some(digits);
        }
        other => other == character,
    };
    is_same.then_some(rest.as_str())
}

/// The most work of the exchange rates, in units of a [`WorkBudget`]: a twentieth of a second.
const RATES_WORK: u64 = 50_000_000;

impl Site {
    /// Checks a formula: the server's answer, and the result for every job of the queue, if there
    /// is one. Without the fair-share tree that the formula needs, or if the queue is empty or
    /// missing in the site's folder, a finding says that it was tried on none.
    ///
    /// # Errors
    /// The jobs or the tree cannot be read.
    pub fn check(&self, submitted: &FormulaSubmission) -> Result<Checked, SiteError> {
        self.check_with(submitted, self.request(&[]).document)
    }

    /// Checks a formula as [`check`](Self::check) does, with the jobs that wait beside those of a
    /// log, if the files were [opened](crate::SiteFiles::for_workload) for one and there are any.
    ///
    /// # Errors
    /// As for [`check`](Self::check).
    pub fn check_with_queue(
        &self,
        submitted: &FormulaSubmission,
    ) -> Result<Option<Checked>, SiteError> {
        let Some(queue) = &self.files.queue_beside_log else {
            return Ok(None);
        };
        queue.check(Role::Queue)?;
        Ok(Some(self.check_with(submitted, Some(queue))?))
    }

    fn check_with(
        &self,
        submitted: &FormulaSubmission,
        queue: Option<&FileSource>,
    ) -> Result<Checked, SiteError> {
        let (Ok(formula), Some(source)) = (submitted.formula(), queue) else {
            let mut program = None;
            if let Ok(formula) = submitted.formula() {
                program = formula.compile(&self.schema).ok();
            }
            let mut checked =
                self.checked_unranked(submitted, &self.schema, program.as_ref(), None);
            if self.files.root.is_some() && self.files.lacks_queue() {
                checked
                    .findings
                    .extend(untried(submitted, "the site has no jobs (`qstat -f`)"));
            }
            return Ok(checked);
        };
        let names = formula.names();
        let request = ColumnsRequest {
            document: queue,
            ..self.request(&names).again()
        };
        let mut read = self.read_for_formula(formula, &request)?;
        let jobs = &mut read.jobs;
        let guessed_types = self.guessed_types(formula, &jobs.table, &jobs.schema);
        for name in &guessed_types {
            jobs.warnings.push(guessed_type(name));
        }
        let is_empty = jobs.table.is_empty();
        let mut missing = None;
        if let Some(program) = &read.program
            && self.tree.is_none()
        {
            missing = self.require_own_shares(program.inputs(), &jobs.table).err();
        }
        let mut checked = if read.program.is_some() && missing.is_none() {
            let ranked = self.rank_read_jobs(read)?;
            let checked = self.check_ranked(submitted, &ranked);
            Checked {
                rates: self.rates(&ranked.program, &ranked.schema, Some(&ranked)),
                warnings: ranked.warnings,
                ..checked
            }
        } else {
            let (schema, program) = (&read.jobs.schema, read.program.as_ref());
            Checked {
                warnings: read.jobs.warnings.clone(),
                ..self.checked_unranked(submitted, schema, program, Some(&read.findings))
            }
        };
        checked.guessed_types = guessed_types;
        if let Some(missing) = missing {
            let reason = missing.to_string();
            checked.findings.extend(untried(submitted, &reason));
        } else if is_empty {
            let reason = format!("`{}` has no job", source.name());
            checked.findings.extend(untried(submitted, &reason));
        }
        Ok(checked)
    }

    /// Checks the text of a formula as [`check`](Self::check) does, with the numbers of this site,
    /// and of the site of a log as [`check_with_queue`](Self::check_with_queue) does if there are
    /// jobs that wait.
    ///
    /// # Errors
    /// As for [`check`](Self::check).
    pub fn check_text(&self, text: &str) -> Result<Checked, SiteError> {
        let submitted = submitted(text, self.rules.numbers);
        match self.check_with_queue(&submitted)? {
            Some(checked) => Ok(checked),
            None => self.check(&submitted),
        }
    }

    /// Checks a formula that has ranked the queue, as [`check`](Self::check) does, but for the
    /// exchange rates.
    pub fn check_ranked(&self, submitted: &FormulaSubmission, queue: &RankedQueue) -> Checked {
        let scored = ScoredQueue {
            table: &queue.table,
            ranking: &queue.ranking,
            not_considered: &queue.not_considered,
            precision: self.precision(),
            tree: queue.pbs_tree(),
        };
        let known = SiteFacts {
            program: Some(&queue.program),
            lint: Some(&queue.findings),
            queue: Some(scored),
            ..SiteFacts::default()
        };
        self.checked(submitted, &queue.schema, known)
    }

    /// Checks a formula that has ranked no jobs; the findings about its text may be known.
    fn checked_unranked(
        &self,
        submitted: &FormulaSubmission,
        schema: &Schema,
        program: Option<&Program>,
        lint: Option<&[Diagnostic]>,
    ) -> Checked {
        let known = SiteFacts {
            program,
            lint,
            ..SiteFacts::default()
        };
        let mut checked = self.checked(submitted, schema, known);
        if let Some(program) = program {
            checked.rates = self.rates(program, schema, None);
        }
        checked
    }

    /// Checks a formula with these names, of which the findings about the text and the jobs that it
    /// has ranked may be known.
    fn checked(
        &self,
        submitted: &FormulaSubmission,
        schema: &Schema,
        known: SiteFacts<'_>,
    ) -> Checked {
        let table = known.queue.map(|queue| queue.table);
        let mut constants = Vec::new();
        if let Ok(formula) = submitted.formula() {
            for name in formula.names() {
                if let Some(amounts) = self.site_constant(name, schema, table) {
                    constants.push((name, amounts));
                }
            }
        }
        let facts = SiteFacts {
            config: Some(&self.config),
            server: Some(&self.server),
            threshold: self.threshold(),
            defaulted: &self.queues.defaulted_resources(),
            queues: Some(&self.queues),
            hidden: &self.hidden,
            constants: &constants,
            python_source: self.python.source.as_deref(),
            runs_slurm: self.slurm.is_some()
                || self.tree.as_ref().is_some_and(SiteTree::is_of_slurm),
            ..known
        };
        Checked::new(submitted, schema, &facts)
    }

    /// What inputs are worth in time of waiting, but for those that the site alone decides.
    pub(crate) fn rates(
        &self,
        program: &Program,
        schema: &Schema,
        queue: Option<&RankedQueue>,
    ) -> Vec<ExchangeRate> {
        if self.precision() == ScorePrecision::Decimal {
            return Vec::new();
        }
        let table = queue.map(|queue| &queue.table);
        let considered = queue.filter(|queue| !queue.ranking.order().is_empty());
        let inputs = match considered {
            Some(queue) => medians(program, &queue.table, queue.ranking.order()),
            None => {
                let names = program.inputs().iter();
                names.map(|name| plain_value(schema, name)).collect()
            }
        };
        let mut rates = exchange_rates(program, schema, &inputs, &mut WorkBudget::new(RATES_WORK));
        rates.retain(|rate| {
            let is_known = considered.is_some() || rate.is_constant;
            is_known && self.site_constant(&rate.name, schema, table).is_none()
        });
        rates
    }

    /// The names of a formula that no document declares and that are numbers by the amounts of the
    /// jobs only: a string can have such amounts too.
    pub(crate) fn guessed_types(
        &self,
        formula: &Formula,
        table: &JobTable,
        schema: &Schema,
    ) -> Vec<String> {
        let names = formula.names();
        let mut guessed = Vec::new();
        for (name, _) in table.undeclared() {
            let is_declared = self.schema.entry(name).is_some();
            if names.contains(&name) && !is_declared && schema.is_numeric(name) {
                guessed.push(name.to_owned());
            }
        }
        guessed
    }
}

/// The finding that a formula was tried on no job.
fn untried(submitted: &FormulaSubmission, reason: &str) -> Option<Diagnostic> {
    let expr = submitted.formula().ok()?.expr();
    let message = format!("the formula was tried on no job: {reason}");
    let found = Diagnostic::new(Code::TriedOnNoJob, message, expr.span());
    Some(submitted.in_source(found))
}

/// A value at which rates that hold for every job are measured.
fn plain_value(schema: &Schema, name: &str) -> Value {
    match schema.input_type(name) {
        Some(InputType::Ratio) => Value::Float(0.5),
        Some(InputType::Duration) => Value::Int(3600),
        Some(InputType::Size) => Value::Int(1 << 20),
        _ => Value::Int(1),
    }
}

/// A warning about a name whose type is known from the jobs only.
fn guessed_type(name: &str) -> Message {
    let guess = format!(
        "`{name}` is declared by no document: it is taken for a number because the jobs' amounts are numbers; qmgr refuses \
         the formula if it is a string, so "
    );
    Message::asking(guess, [Need::ResourceType, Need::Resources])
}

/// A log compared with a queue, and the warnings about the queue.
#[derive(Debug)]
pub struct LogReplay {
    /// The comparison.
    pub replay: Replay,
    /// The warnings about the jobs and their inputs, one sentence each.
    pub warnings: Vec<Message>,
}

impl Site {
    /// Compares every value in a log of `pbs_sched` with the value of the same job in the queue.
    ///
    /// # Errors
    /// The log cannot be read or has no values, the numbers are not OpenPBS's, or the queue cannot
    /// be ranked, see [`rank`](Self::rank).
    pub fn replay(
        &self,
        log: impl Into<FileSource>,
        formula: &Formula,
    ) -> Result<LogReplay, SiteError> {
        if self.rules.numbers != NumberMode::OpenPbs || self.rules.on_error == OnError::Null {
            return Err(SiteError::missing(
                "a scheduler's log has OpenPBS's numbers: ",
                Need::OpenPbsNumbers,
            ));
        }
        let log = log.into();
        let bytes = log.read_unless_binary(Role::Log)?.bytes;
        if logged_values(&bytes).next().is_none() {
            return Err(SiteError::content(format!(
                "`{}` is not a log with values: expected lines such as \
                 `…;pbs_sched;Job;12.vm;Formula Evaluation = 0.8843`, which pbs_sched writes with \
                 `qmgr -c 'set sched log_events = 4095'`",
                log.name()
            )));
        }
        let candidates = self.other_formulas(&log.name(), &bytes, formula);
        let names = formula.names();
        let read = self.read_for_formula(formula, &self.request(&names).again())?;
        let ranked = self.rank_read_jobs(read)?;
        let mut others = Vec::new();
        for (origin, text) in candidates {
            others.extend(self.score_other(origin, text));
        }
        let policy = self.policy.build_policy(PolicyName::Pbs, &[]);
        let queue = ReplayedQueue {
            reread: &|change| {
                let entities = ranked.table.entities().iter().map(|entity| &**entity);
                self.tree
                    .as_ref()?
                    .pbs_tree_with_usage(self.policy.rules, entities, change)
                    .ok()
            },
            program: &ranked.program,
            table: &ranked.table,
            scores: ranked.ranking.scores(),
            tree: ranked.pbs_tree(),
            policy: &*policy,
            decay: self.decay_by_periods(),
            others: &others,
            has_usage: self.files.has(Role::Usage) || self.files.has(Role::Tree),
            has_queues: !self.queues.is_empty(),
        };
        Ok(LogReplay {
            replay: replay(&bytes, &queue),
            warnings: ranked.warnings,
        })
    }

    /// The formulas of the site's files, and those that a server's log beside the scheduler's
    /// names, except `formula`: where each comes from, and its text.
    fn other_formulas(&self, log: &str, bytes: &[u8], formula: &Formula) -> Vec<(String, String)> {
        let mut found: Vec<(String, String)> = Vec::new();
        let mut add = |origin: String, text: &str| {
            let text = text.trim();
            if text != formula.text().trim() && found.iter().all(|(_, known)| known != text) {
                found.push((origin, text.to_owned()));
            }
        };
        for formula in &self.formulas.all {
            add(format!("`{}`", formula.origin), &formula.text);
        }
        for text in formulas_set(bytes) {
            add(format!("`{log}`, which a server's log line names"), &text);
        }
        found
    }

    /// The scores of the jobs under another formula; `None` if it cannot be ranked with this site.
    fn score_other(&self, origin: String, text: String) -> Option<OtherFormula> {
        let submission = submitted(&text, NumberMode::OpenPbs);
        let formula = submission.formula().ok()?;
        let names = formula.names();
        let read = self.read_for_formula(formula, &self.request(&names).again());
        let ranked = self.rank_read_jobs(read.ok()?);
        Some(OtherFormula {
            origin,
            scores: ranked.ok()?.ranking.scores().clone(),
            text,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The start, the text and the differences of a formula in its document.
    type Found = (usize, String, Vec<(usize, usize, usize)>);

    fn place(document: &str, formula: &str) -> Option<Found> {
        let (written, differences) = find(document, 0, formula)?;
        let differences = differences
            .iter()
            .map(|place| (place.at, place.end, place.start))
            .collect();
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
