//! `jsf page`: a page on which a formula is edited while the queue follows, and what the page shows
//! after each change.
//!
//! In: a [`WhatIf`] and the text of a formula. Out: JSON with the sections that the documents have,
//! which the page's script turns into elements, and the findings with their places in the text.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use flate2::Compression;
use flate2::write::GzEncoder;
use job_sort_formula::Formula;
use job_sort_formula::diagnostic::{Applicability, Diagnostic, Message, Span};
use job_sort_formula::formula::syntax::{Expr, ExprId, ExprKind};
use job_sort_formula::python::BinaryOperator;
use job_sort_formula::rank::OldNew;
use jsf_openpbs::check::Checked;
use jsf_openpbs::qmgr_command::object_or_server;
use jsf_site::{ComparedQueue, FormulaText, SiteError, WhatIf, is_stdin};
use minijinja::context;
use serde::Serialize;

use crate::answers::{Answer, object};
use crate::asked_formula::AskedFormula;
#[cfg(feature = "command")]
use crate::cli::{
    formula::{QueueArgs, check_and_report, read_formula},
    messages::answered,
    outcome::{CliError, Outcome},
    page_file::PageFile,
    site::require_one_reader,
};
use crate::commands::check::{CheckAnswer, set_command};
use crate::commands::compare::view::{facts, headline, places};
use crate::commands::compare::{compared_rows, numbers};
use crate::commands::shares::view::tree_section;
use crate::view::document::page::{
    SCRIPT, STYLE, base64, page_facts, page_sections, sentence_pieces, write_template,
};
use crate::view::document::terminal::TerminalStyle;
use crate::view::document::{Cell, Column, Section, Table, cells};
use crate::view::groups::group_sections;
use crate::view::verdict::{NO_FORMULA_IN_SLURM, has_effect, verdict_sentence};
use crate::view::words::printable;

/// `jsf page`
#[cfg(feature = "command")]
#[derive(Debug, Args)]
#[command(after_help = "\
The page is one file, which works without a network and sends nothing. It holds what the files say about the server, the
queues, the scheduler and the fair-share tree, and of each job its id, entity, queue, state, place in the order of submission
and the numbers that a formula can use. Other files can be dropped onto it.

Examples:
  jsf page --site examples/site --out page.html
  jsf page 'eligible_time / 3600 + ncpus' --site examples/site \\
      --out page.html
  jsf page -f examples/formulas/alcf.txt --site examples/site --out page.html")]
pub struct PageArgs {
    /// The formula that the page begins with, and the queue that it ranks.
    #[command(flatten)]
    queue: QueueArgs,
    /// The file to write; - is standard output
    #[arg(long, short_alias = 'o', value_name = "FILE.html")]
    out: PathBuf,
}

#[cfg(feature = "command")]
impl PageArgs {
    /// `jsf page`
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<Outcome, CliError> {
        /// The WebAssembly module of the page, if this build has it.
        #[cfg(page_module)]
        const MODULE: Option<&[u8]> = Some(include_bytes!(env!("JSF_PAGE_MODULE")));
        #[cfg(not(page_module))]
        const MODULE: Option<&[u8]> = None;
        let Some(module) = MODULE else {
            return Err(CliError::usage(
                "this build of jsf cannot write the page, which needs a WebAssembly module: released binaries have it; from the \
             sources, `bindings/wasm/build.sh` builds it and says how to build a jsf that carries it",
            ));
        };
        let PageArgs {
            queue:
                QueueArgs {
                    formula,
                    site: given,
                    threshold,
                },
            out: path,
        } = self;
        require_one_reader(&[], given, &[("the formula", formula.file())])?;
        // without the given formula, which is compared with that of the site
        let site = given.open(None, *threshold)?;
        let is_given = formula.is_given();
        let in_force = match site.formula_text() {
            Ok(in_force) => Some(in_force),
            // the page then compares with the first formula that can be ranked
            Err(SiteError::Missing(_)) if is_given => None,
            Err(error) => return Err(error.into()),
        };
        let formula_file = &formula.formula_file;
        let formula = match &in_force {
            Some(in_force) if !is_given => in_force.clone(),
            _ => read_formula(formula, None)?,
        };
        given.show(&site, true);
        let (bundle, _) = answered("reading the jobs", false, |warnings, _| {
            warnings.add(site.warnings());
            let bundle = site.to_bundle()?;
            warnings.add(bundle.warnings.clone());
            Ok(bundle)
        })?;
        let formula = AskedFormula::new(formula, given.numbers);
        let outcome = check_and_report(&site, &formula)?;
        let page = WhatIfPage {
            formula: formula.text().trim_end(),
            in_force: in_force.as_ref().map(|in_force| in_force.text.trim_end()),
            object: &object_or_server(in_force.as_ref().map_or("", |in_force| &in_force.before)),
            warnings: &bundle.warnings,
            bundle: &bundle.bytes,
            module,
        };
        if is_stdin(path) {
            page.write(out)?
        } else {
            let file = PageFile {
                path,
                sites: vec![&site],
                read_files: formula_file.iter().collect(),
            };
            // before the page is made, which takes longer than to refuse its name
            file.require_replaceable()?;
            let mut bytes = Vec::new();
            page.write(&mut bytes)?;
            file.write(&bytes)?
        }
        Ok(outcome)
    }
}

const TEMPLATE: &str = include_str!("what_if/what_if.html");
const PAGE_STYLE: &str = include_str!("what_if/what_if.css");
const PAGE_SCRIPT: &str = include_str!("what_if/what_if.js");
/// The hashes of what the page contains: the style and the script of every page, then its own.
const STYLE_HASH: &str = "sha256-N4Qt4L7+ExEE765zP73tgFg2S8e3xTWOhp+fJwh3eK0=";
const SCRIPT_HASH: &str = "sha256-chdGeuad8i0RtYcfKUF3p7yJJTwWpmyMunwhJjGuNKA=";

/// The most findings that are sent to the page; the others are counted.
const MAX_FINDINGS: usize = 20;
/// The most literals that get a slider.
const MAX_LITERALS: usize = 40;
/// The numbers that convert seconds, minutes, hours and days, or bytes, kB, MB and GB.
const UNITS: [f64; 7] = [
    60.0,
    3600.0,
    86_400.0,
    604_800.0,
    1024.0,
    1_048_576.0,
    1_073_741_824.0,
];
/// The most inputs that are shown beside a job.
const MAX_INPUTS: usize = 6;

/// A page that holds a site and the WebAssembly module which ranks its queue.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct WhatIfPage<'a> {
    /// The formula that the page begins with.
    pub formula: &'a str,
    /// The formula with which it is compared; `None`: the first one that can be ranked.
    pub in_force: Option<&'a str>,
    /// The object that `qmgr` sets the formula of, such as `server`.
    pub object: &'a str,
    /// What is doubtful about the site, one sentence each.
    pub warnings: &'a [Message],
    /// [`Site::to_bundle`](jsf_site::Site::to_bundle).
    #[serde(skip)]
    pub bundle: &'a [u8],
    /// The module of `bindings/wasm`.
    #[serde(skip)]
    pub module: &'a [u8],
}

impl WhatIfPage<'_> {
    /// Writes the page.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let context = context! {
            style_hash => STYLE_HASH,
            script_hash => SCRIPT_HASH,
            style => [STYLE, PAGE_STYLE].concat(),
            script => [SCRIPT, PAGE_SCRIPT].concat(),
            // no text in it can end the element
            settings => serde_json::to_string(self)?.replace('<', "\\u003c"),
            module => encoded(self.module)?,
            bundle => encoded(self.bundle)?,
            version => env!("CARGO_PKG_VERSION"),
        };
        write_template("what_if.html", TEMPLATE, context, out)
    }
}

/// The bytes compressed by gzip, in base64.
fn encoded(bytes: &[u8]) -> io::Result<String> {
    // browsers decompress it without a library
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    Ok(base64(&encoder.finish()?))
}

/// The last ranking and its comparison with the formula in force, as JSON with the first jobs whose
/// id, entity or queue contains the text that is searched; `None` if no formula was ranked. If
/// `is_complete`, the charts and the tables of entities are in it too.
pub fn ranking_json(
    what_if: &WhatIf,
    first: usize,
    searched: &str,
    is_complete: bool,
) -> Option<String> {
    let queue = what_if.queue()?;
    let formula = what_if.formula()?;
    let checked = what_if.check(formula).ok();
    let formulas = OldNew::new(what_if.in_force(), formula);
    let has_effect = has_effect(checked.as_ref());
    let mut sections = Vec::new();
    // the charts need all rows, and they wait until a slider rests
    if is_complete {
        sections.push(places(queue, &compared_rows(&queue.comparison)));
        sections.extend(group_sections(&queue.comparison, false));
        sections.extend(what_if.tree().map(tree_section));
    }
    let mut warnings = Vec::new();
    for warning in &queue.warnings {
        warnings.push(printable(&warning.to_string()).into_owned());
    }
    let update = object! {
        headline: sentence_pieces(&headline(queue, formulas, OldNew::new(None, checked.as_ref()))),
        facts: page_facts(&facts(queue, formulas, has_effect)),
        // as `jsf compare` writes them as JSON
        numbers: numbers(queue),
        formulas: page_sections(&[Section::formulas(formulas.old, formulas.new)]).remove(0),
        queue: page_sections(&[jobs(queue, first, searched)]).remove(0),
        sections: page_sections(&sections),
        warnings,
        is_refused: checked.as_ref().is_some_and(Checked::is_refused),
    };
    serde_json::to_string(&update).ok()
}

/// The first jobs in the new order.
fn jobs<'a>(queue: &'a ComparedQueue, first: usize, searched: &str) -> Section<'a> {
    let wanted = searched.to_lowercase();
    let table = queue.table();
    let inputs = queue.sides.new.program.inputs();
    let inputs = &inputs[..inputs.len().min(MAX_INPUTS)];
    let mut columns = vec![
        Column::number("rank", 9),
        Column::number("before", 9),
        Column::number("moved", 9),
        Column::text("job", 9),
        Column::text("entity", 9),
        Column::text("queue", 9),
        Column::number("value", 9),
    ];
    for name in inputs {
        columns.push(Column::number(&**name, 9));
    }
    let mut rows = Vec::new();
    for job in queue.comparison.moves() {
        if rows.len() == first {
            break;
        }
        let row = job.row;
        let names = [table.id(row), table.entity(row), table.queue(row)];
        if !names
            .iter()
            .any(|name| name.to_lowercase().contains(&wanted))
        {
            continue;
        }
        let score = queue.sides.new.ranking.score(row);
        let [id, entity, queue] = names;
        let mut cells = cells![
            job.new,
            job.old,
            job.moved().map(Cell::Places),
            id,
            entity,
            queue,
            score.map(|score| Cell::Score(score.value)),
        ];
        for name in inputs {
            cells.push(table.column(name).map(|column| column.value(row)).into());
        }
        rows.push(cells);
    }
    let count = rows.len();
    let heading = match count {
        _ if !wanted.is_empty() => format!("Jobs found: {count}"),
        count if count < queue.comparison.considered.new => format!("The first {count} jobs"),
        _ => "The queue".to_owned(),
    };
    Section::new(heading).table(Table::from_rows(columns, rows))
}

/// A number in the formula.
#[derive(Serialize)]
struct ShownLiteral {
    start: usize,
    end: usize,
    text: String,
    value: f64,
    is_integer: bool,
    /// `weight` if it multiplies inputs, `divisor` if they are divided by it, `unit` if it converts
    /// one unit into another, or `other`, such as an exponent or the argument of a function.
    role: &'static str,
    /// What it is, such as ``weight of `fairshare_factor` ``.
    name: String,
}

/// The result of a check, as JSON; `object` is what `qmgr` sets the formula of.
pub fn check_json(text: &str, object: &str, checked: &Checked) -> Option<String> {
    let source = FormulaText {
        text: text.to_owned(),
        origin: "formula".to_owned(),
        written: text.to_owned(),
        ..FormulaText::default()
    };
    let mut findings = Vec::new();
    for found in checked.findings.iter().take(MAX_FINDINGS) {
        findings.push(shown_finding(text, found));
    }
    let (command, reason) = match command(text, object, checked) {
        Ok(command) => (Some(command), String::new()),
        Err(reason) => (None, reason),
    };
    let mut verdict = Vec::new();
    // the page lists the findings itself, at their places in the text
    let without_findings = Checked {
        findings: Vec::new(),
        ..checked.clone()
    };
    let answer = CheckAnswer {
        source: &source,
        checked: &without_findings,
    };
    TerminalStyle::default()
        .write(&answer.document(), &mut verdict)
        .ok()?;
    let sentence = verdict_sentence(checked, "this");
    let update = object! {
        // how many more findings there are
        omitted: checked.findings.len() - findings.len(),
        findings,
        sentence: sentence.map(|sentence| sentence_pieces(&sentence)),
        verdict: String::from_utf8_lossy(&verdict).trim_end().to_owned(),
        command,
        reason,
        is_refused: checked.is_refused(),
        literals: literals(text),
    };
    serde_json::to_string(&update).ok()
}

/// A finding; its places count UTF-16 units, as a browser does.
fn shown_finding(text: &str, found: &Diagnostic) -> impl Serialize + use<> {
    let (start, end) = utf16_range(text, found.span);
    let mut shown_fix = None;
    if let Some(fix) = &found.fix
        && fix.applicability != Applicability::DisplayOnly
    {
        let (start, end) = utf16_range(text, fix.span);
        shown_fix = Some(object! {
            start,
            end,
            replacement: fix.replacement.clone(),
            is_safe: fix.applicability == Applicability::Safe,
        });
    }
    let help = found.help.as_ref().map(Message::to_string);
    object! {
        code: found.code,
        severity: found.severity,
        message: printable(&found.message).into_owned(),
        start,
        end,
        label: printable(&found.label).into_owned(),
        help: printable(&help.unwrap_or_default()).into_owned(),
        fix: shown_fix,
    }
}

/// The UTF-16 units of the text at which a span starts and ends.
fn utf16_range(text: &str, span: Span) -> (usize, usize) {
    (utf16_units(text, span.start), utf16_units(text, span.end))
}

/// The number of UTF-16 units before a place.
fn utf16_units(text: &str, at: u32) -> usize {
    let before = text.get(..at as usize).unwrap_or_default();
    before.encode_utf16().count()
}

/// The command that sets the formula, or why none is given.
fn command(text: &str, object: &str, checked: &Checked) -> Result<String, String> {
    if checked.has_errors() || checked.is_refused() {
        let why = "No command for a formula with an error. `jsf check --qmgr --force` prints it all the same.";
        return Err(why.to_owned());
    }
    if checked.runs_slurm {
        return Err(format!("{NO_FORMULA_IN_SLURM}."));
    }
    set_command(object, text).map_err(|why| format!("No command: {why}."))
}

/// The numbers in a formula, in the order of the text.
fn literals(text: &str) -> Vec<ShownLiteral> {
    let Ok(formula) = Formula::parse(text) else {
        return Vec::new();
    };
    let expr = formula.expr();
    let parents = parents(expr);
    let mut literals = Vec::new();
    for (id, node) in expr.iter() {
        if let ExprKind::Literal { text: digits, .. } = &node.kind
            // Python's digits may be grouped, Rust's not
            && let Ok(value) = digits.replace('_', "").parse()
        {
            let (start, end) = utf16_range(text, node.span);
            let (role, name) = role(expr, &parents, id, value);
            literals.push(ShownLiteral {
                start,
                end,
                text: digits.to_string(),
                value,
                is_integer: !digits.contains(|c: char| !c.is_ascii_digit() && c != '_'),
                role,
                name,
            });
        }
    }
    literals.sort_by_key(|literal| literal.start);
    literals.truncate(MAX_LITERALS);
    literals
}

/// The node above each node, by index.
fn parents(expr: &Expr) -> Vec<Option<ExprId>> {
    let mut parents = vec![None; expr.nodes().len()];
    for (id, node) in expr.iter() {
        for child in node.kind.children() {
            parents[child.index()] = Some(id);
        }
    }
    parents
}

/// What a number is for, and its name.
fn role(expr: &Expr, parents: &[Option<ExprId>], id: ExprId, value: f64) -> (&'static str, String) {
    // before weights and divisors: nobody tries another number of seconds in an hour
    if UNITS.contains(&value) {
        return ("unit", format!("the unit {value}"));
    }
    let mut is_divisor = false;
    let mut below = id;
    // the inputs that it multiplies or divides: the other factors of the product that it is in
    let mut names = BTreeSet::new();
    // up to the sum, the function or the condition of which the product is a part
    while let Some(above) = parents[below.index()] {
        match &expr.node(above).kind {
            ExprKind::Parenthesized(_) | ExprKind::Unary { .. } => {}
            ExprKind::Binary { op, left, right }
                if matches!(
                    op,
                    BinaryOperator::Multiply | BinaryOperator::Divide | BinaryOperator::FloorDivide
                ) =>
            {
                let is_right = *right == below;
                is_divisor ^= is_right && *op != BinaryOperator::Multiply;
                inputs_below(expr, if is_right { *left } else { *right }, &mut names);
            }
            _ => break,
        }
        below = above;
    }
    let what = if is_divisor { "divisor" } else { "weight" };
    if names.is_empty() {
        return ("other", "number".to_owned());
    }
    let names = Vec::from_iter(names).join("`, `");
    (what, format!("{what} of `{names}`"))
}

/// The names below a node, but for those of functions.
fn inputs_below<'e>(expr: &'e Expr, id: ExprId, names: &mut BTreeSet<&'e str>) {
    let mut open = vec![id];
    while let Some(id) = open.pop() {
        match &expr.node(id).kind {
            ExprKind::Name(name) => {
                names.insert(&**name);
            }
            // the other child is the function, which is a name too
            ExprKind::Call { positional, .. } => open.extend(positional.iter().copied()),
            kind => open.extend(kind.children()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::document::page::tests::content_hash;

    #[test]
    fn the_policy_names_the_style_and_the_script() {
        assert_eq!(content_hash(&[STYLE, PAGE_STYLE].concat()), STYLE_HASH);
        assert_eq!(content_hash(&[SCRIPT, PAGE_SCRIPT].concat()), SCRIPT_HASH);
    }

    #[test]
    fn only_weights_and_divisors_of_inputs_have_sliders() {
        let formula = "100 * fairshare_factor + eligible_time / 3600 + ncpus / 7 - -(2.5 * log(mem + 1)) + 8 * 60 + x ** 2";
        let shown: Vec<(String, &str, String)> = literals(formula)
            .into_iter()
            .map(|literal| (literal.text, literal.role, literal.name))
            .collect();
        let expected = [
            ("100", "weight", "weight of `fairshare_factor`"),
            ("3600", "unit", "the unit 3600"),
            ("7", "divisor", "divisor of `ncpus`"),
            ("2.5", "weight", "weight of `mem`"),
            ("1", "other", "number"),
            ("8", "other", "number"),
            ("60", "unit", "the unit 60"),
            ("2", "other", "number"),
        ];
        assert_eq!(
            shown,
            expected.map(|(text, role, name)| (text.to_owned(), role, name.to_owned()))
        );
    }

    #[test]
    fn a_divisor_of_a_divisor_is_a_weight() {
        let roles: Vec<&str> = literals("x / (y / 5) + 9 / x")
            .into_iter()
            .map(|literal| literal.role)
            .collect();
        assert_eq!(roles, ["weight", "weight"]);
    }
}
