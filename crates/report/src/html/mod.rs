//! Reports as pages for a browser: one file each, which loads nothing and runs no script but its own.
//!
//! In: what the other formats get. Out: HTML with tables that can be sorted and charts in SVG. The page's policy forbids
//! every script and style but those that it contains, whatever the names of jobs and users are.

mod charts;
mod compare;
mod explain;
mod groups;
mod rank;
mod shares;
mod simulate;
mod svg;
mod wait_charts;
mod what_if;

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use minijinja::{Environment, context};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

pub use compare::CompareHtml;
pub use explain::write_explanation;
pub use rank::RankHtml;
pub use shares::write_shares;
pub use simulate::SimulationHtml;
pub use what_if::{Shown, WhatIfPage, check_json, ranking_json};

use crate::explain::human::MAX_VALUE;
use crate::simulation::seconds as words;
use crate::terminal::printable;
use job_sort_formula::python::Value as PythonValue;
use jsf_openpbs::number_format;

/// The mark of every page, near its beginning, by which a later command knows a page that it may replace.
pub const GENERATOR: &str = r#"<meta name="generator" content="jsf">"#;

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The most rows of a table.
const MAX_ROWS: usize = 1000;

/// A page.
#[derive(Debug, Serialize)]
struct Page {
    /// What the page shows, above the headline.
    kind: &'static str,
    /// The title of the browser's window.
    title: String,
    /// The answer, in one sentence, in which names are marked.
    headline: Vec<Piece>,
    facts: Vec<Fact>,
    /// The command that wrote the page.
    command: String,
    sections: Vec<Section>,
}

/// A rule that the ranking follows, or a number about it.
#[derive(Debug, Serialize)]
struct Fact {
    heading: String,
    lines: Vec<Vec<Piece>>,
}

/// A part of a page. Every field is optional.
#[derive(Debug, Default, Serialize)]
struct Section {
    heading: String,
    note: Vec<Piece>,
    formulas: Vec<MarkedFormula>,
    /// Findings as they are drawn in a terminal.
    findings: Vec<String>,
    /// An SVG element.
    chart: String,
    legend: Vec<LegendEntry>,
    /// What opens and closes the table; a table without it is always shown.
    summary: String,
    table: Option<Table>,
}

/// A formula in which what differs from another one is marked.
#[derive(Debug, Serialize)]
struct MarkedFormula {
    side: &'static str,
    /// The element that marks a piece.
    tag: &'static str,
    pieces: Vec<Piece>,
}

/// A part of a text: marked is a name in a sentence, or what differs in a formula.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Piece {
    text: String,
    is_marked: bool,
}

#[derive(Debug, Serialize)]
struct LegendEntry {
    class: &'static str,
    text: String,
}

#[derive(Debug, Serialize)]
struct Table {
    columns: Vec<Heading>,
    rows: Vec<Vec<Cell>>,
    /// What is said of the rows that are left out; empty if all are shown.
    omitted: String,
}

#[derive(Debug, Serialize)]
struct Heading {
    heading: String,
    is_number: bool,
}

/// A cell of a table. `value` is the number as the JSON format has it, by which the column is sorted.
#[derive(Debug, Default, Serialize)]
struct Cell {
    text: String,
    value: Option<String>,
    class: String,
    bar: Option<Bar>,
    /// Spaces as wide as the decimals that the number lacks, so that the points of a column are below each other.
    padding: String,
}

/// A bar in a cell that begins at zero, in percent of its width.
#[derive(Debug, Serialize)]
struct Bar {
    zero: f64,
    start: f64,
    width: f64,
    class: &'static str,
}

impl Bar {
    /// The bar of one of some numbers, of which the farthest from zero is `largest`.
    fn new(number: f64, largest: f64, has_negative: bool) -> Self {
        let zero = if has_negative { 50.0 } else { 0.0 };
        let part = if largest > 0.0 && number.is_finite() { number.abs() / largest } else { 0.0 };
        let width = part * (100.0 - zero);
        let (start, class) = if number < 0.0 { (zero - width, "down") } else { (zero, "up") };
        Self { zero, start, width, class }
    }
}

impl Section {
    fn new(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), ..Self::default() }
    }

    fn note(mut self, note: impl AsRef<str>) -> Self {
        self.note = sentence_pieces(note.as_ref());
        self
    }

    fn chart(mut self, chart: String, legend: &[(&'static str, &str)]) -> Self {
        self.chart = chart;
        self.legend = legend.iter().map(|&(class, text)| LegendEntry { class, text: text.to_owned() }).collect();
        self
    }

    fn table(mut self, table: Table) -> Self {
        self.table = Some(table);
        self
    }
}

impl Table {
    /// A table of the first [`MAX_ROWS`] rows, whose number is the iterator's lower bound. A heading that begins with `#` is that of a column of numbers.
    fn new<H: AsRef<str>>(headings: &[H], rows: impl Iterator<Item = Vec<Cell>>) -> Self {
        let columns = headings.iter().map(|heading| match heading.as_ref().strip_prefix('#') {
            Some(heading) => Heading { heading: heading.to_owned(), is_number: true },
            None => Heading { heading: heading.as_ref().to_owned(), is_number: false },
        });
        let all = rows.size_hint().0;
        let mut shown: Vec<_> = rows.take(MAX_ROWS).collect();
        let omitted = match all.saturating_sub(shown.len()) {
            0 => String::new(),
            more => format!("{} more rows are left out; --format json has all.", grouped(&more.to_string())),
        };
        (0..headings.len()).for_each(|column| align_points(&mut shown, column));
        Self { columns: columns.collect(), rows: shown, omitted }
    }
}

/// Pads the numbers of a column to the same number of decimals with spaces, which add no digits.
fn align_points(rows: &mut [Vec<Cell>], column: usize) {
    const FIGURE_SPACE: &str = "\u{2007}";
    const PUNCTUATION_SPACE: &str = "\u{2008}";
    let decimals = |cell: &Cell| {
        let (whole, decimals) = cell.text.split_once('.').unwrap_or((&cell.text, ""));
        let is_plain = whole.chars().all(|character| character.is_ascii_digit() || ",+-−".contains(character))
            && decimals.bytes().all(|character| character.is_ascii_digit());
        (cell.value.is_some() && is_plain).then_some(decimals.len())
    };
    let most = rows.iter().filter_map(|row| decimals(&row[column])).max().unwrap_or(0);
    for cell in rows.iter_mut().map(|row| &mut row[column]) {
        cell.padding = match decimals(cell) {
            Some(0) if most > 0 => PUNCTUATION_SPACE.to_owned() + &FIGURE_SPACE.repeat(most),
            Some(decimals) => FIGURE_SPACE.repeat(most - decimals),
            None => String::new(),
        };
    }
}

/// The numbers of a text with their digits in groups of three, if they have more than four before the point.
fn grouped(text: &str) -> String {
    let mut grouped = String::with_capacity(text.len());
    let mut before = None;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let digits = rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len());
        let is_whole = !before.is_some_and(|before: char| before.is_alphanumeric() || matches!(before, '.' | '_'));
        let end = if digits > 0 { digits } else { first.len_utf8() };
        for (index, character) in rest[..end].char_indices() {
            if digits > 4 && is_whole && index > 0 && (digits - index).is_multiple_of(3) {
                grouped.push(',');
            }
            grouped.push(character);
        }
        before = rest[..end].chars().next_back();
        rest = &rest[end..];
    }
    grouped
}

/// A sentence for people, in which back-ticks mark names.
fn sentence_pieces(text: &str) -> Vec<Piece> {
    /// The most characters of a name in a sentence.
    const MAX_NAME: usize = 80;
    let piece = |(index, part): (usize, &str)| {
        let is_marked = index % 2 == 1;
        let shown = printable(part);
        let text = match shown.char_indices().nth(MAX_NAME) {
            Some((end, _)) if is_marked => format!("{}…", &shown[..end]),
            _ if is_marked => shown.into_owned(),
            _ => grouped(&shown),
        };
        Piece { text, is_marked }
    };
    text.split('`').enumerate().map(piece).filter(|piece| !piece.text.is_empty()).collect()
}

impl Cell {
    /// A text, or a dash if it is empty.
    fn text(text: &str) -> Self {
        Self::prose(if text.is_empty() { "–" } else { text })
    }

    /// A text that may be empty.
    fn prose(text: &str) -> Self {
        /// Longer texts are broken into lines.
        const MAX_LINE: usize = 40;
        let is_long = text.chars().nth(MAX_LINE).is_some();
        let class = if is_long { "long".to_owned() } else { String::new() };
        Self { text: printable(text).into_owned(), class, ..Self::default() }
    }

    /// A part of a formula.
    fn code(text: &str) -> Self {
        let cell = Self::prose(text);
        Self { class: format!("{} code", cell.class), ..cell }
    }

    /// A number: `value` as it is in JSON, and `text` as it is shown.
    fn number(text: impl Into<String>, value: impl Into<Value>) -> Self {
        let value: Value = value.into();
        let value = if value.is_null() { None } else { Some(value.to_string()) };
        Self { text: text.into(), value, class: "n".to_owned(), ..Self::default() }
    }

    /// A whole number, or a dash.
    fn count(count: Option<usize>) -> Self {
        match count {
            Some(count) => Self::number(grouped(&count.to_string()), count),
            None => Self::number("–", Value::Null),
        }
    }

    /// A value that jobs are compared by, with the digits that OpenPBS logs, or a dash.
    fn score(score: Option<f64>) -> Self {
        match score {
            Some(score) => Self::number(number_format::logged(score), score),
            None => Self::count(None),
        }
    }

    /// A value of Python, or a dash.
    fn python(value: Option<&PythonValue>) -> Self {
        match value {
            Some(value) => Self::number(value.repr_within(MAX_VALUE), value.to_f64().map_or(Value::Null, Into::into)),
            None => Self::count(None),
        }
    }

    /// A number with this many decimals, or a dash.
    fn decimals(number: Option<f64>, decimals: usize) -> Self {
        match number {
            Some(number) => Self::number(grouped(&format!("{number:.decimals$}")), number),
            None => Self::number("–", Value::Null),
        }
    }

    /// A part of a whole, in percent; its value is the part.
    fn percent(part: Option<f64>) -> Self {
        match part {
            Some(part) => Self::number(format!("{:.2} %", part * 100.0), part),
            None => Self::number("–", Value::Null),
        }
    }

    /// A time in words; its value is in seconds.
    fn time(seconds: f64) -> Self {
        Self::number(words(seconds), seconds)
    }

    /// How much longer a time is, in words, coloured unless that may be chance.
    fn longer(seconds: f64, is_significant: bool) -> Self {
        let (sign, class) = match seconds.round() {
            0.0 => ("", "n"),
            rounded if rounded > 0.0 => ("+", "n down"),
            _ => ("−", "n up"),
        };
        let class = if is_significant { class } else { "n" };
        Self { class: class.to_owned(), ..Self::number(format!("{sign}{}", words(seconds.abs())), seconds) }
    }

    /// A number of places with its sign, coloured.
    fn places(places: Option<i64>) -> Self {
        let Some(places) = places else { return Self::number("–", Value::Null) };
        let (sign, class) = match places {
            1.. => ("+", "n up"),
            0 => ("", "n"),
            _ => ("−", "n down"),
        };
        Self {
            class: class.to_owned(),
            ..Self::number(format!("{sign}{}", grouped(&places.unsigned_abs().to_string())), places)
        }
    }
}

/// The rules of a ranking as facts, without the formula, which has a section of its own. A line without a heading belongs
/// to the one above, and so does one with the same heading.
fn facts(rules: &[(&str, String)]) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    for (heading, text) in rules.iter().filter(|(heading, _)| *heading != "formula:") {
        let heading = heading.trim_end_matches(':');
        let line = sentence_pieces(text);
        match facts.last_mut() {
            Some(last) if heading.is_empty() || heading == last.heading => last.lines.push(line),
            _ => facts.push(Fact { heading: heading.to_owned(), lines: vec![line] }),
        }
    }
    facts
}

/// The only formula of a page.
fn formula_section(formula: &str) -> Section {
    let pieces = vec![Piece { text: printable(formula.trim_end()).into_owned(), is_marked: false }];
    Section { formulas: vec![MarkedFormula { side: "", tag: "span", pieces }], ..Section::new("Formula") }
}

/// The findings as they are drawn in a terminal; no section without findings.
fn findings_section(findings: &[String]) -> Option<Section> {
    let section = Section { findings: findings.to_vec(), ..Section::new("Findings") };
    (!findings.is_empty()).then_some(section)
}

impl Page {
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut environment = Environment::new();
        environment.add_template("page.html", TEMPLATE).map_err(io::Error::other)?;
        let template = environment.get_template("page.html").map_err(io::Error::other)?;
        let policy = format!(
            "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
            hash(STYLE),
            hash(SCRIPT)
        );
        let version = env!("CARGO_PKG_VERSION");
        let context = context! { page => self, policy, style => STYLE, script => SCRIPT, version };
        let text = template.render(context).map_err(io::Error::other)?;
        out.write_all(text.as_bytes())?;
        out.write_all(b"\n")
    }
}

/// The hash by which a page's policy names a style or a script that it contains.
fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64.encode(Sha256::digest(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_numbers_are_grouped() {
        for (text, expected) in [
            ("1234 12345 1234567", "1234 12,345 1,234,567"),
            ("0.123456 21513473.625", "0.123456 21,513,473.625"),
            ("-60118114 a123456 7-00:00:00", "-60,118,114 a123456 7-00:00:00"),
            ("", ""),
        ] {
            assert_eq!(grouped(text), expected);
        }
    }

    #[test]
    fn names_in_a_sentence_are_marked() {
        let pieces = sentence_pieces("`100000.vm` gains 100000 places");
        let shown: Vec<_> = pieces.iter().map(|piece| (piece.text.as_str(), piece.is_marked)).collect();
        assert_eq!(shown, [("100000.vm", true), (" gains 100,000 places", false)]);
        let long = sentence_pieces(&format!("`{}`", "x".repeat(4096)));
        assert_eq!(long[0].text.chars().count(), 81);
    }

    #[test]
    fn the_points_of_a_column_are_aligned() {
        let cell = |text: &str| vec![Cell::number(text, 1)];
        let rows = ["1", "2.5", "1,000.25", "1e-7", "50 %"].map(cell);
        let table = Table::new(&["#value"], rows.into_iter());
        let paddings: Vec<usize> = table.rows.iter().map(|row| row[0].padding.chars().count()).collect();
        assert_eq!(paddings, [3, 1, 0, 0, 0]);
    }
}
