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
mod svg;
#[cfg(feature = "archives")]
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
#[cfg(feature = "archives")]
pub use what_if::{Shown, WhatIfPage, check_json, ranking_json};

use crate::pbs::number_format;
use crate::python::Value as PythonValue;
use crate::report::terminal::printable;

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
    /// The answer, in one sentence.
    headline: String,
    facts: Vec<Fact>,
    sections: Vec<Section>,
}

/// A rule that the ranking follows, or a number about it.
#[derive(Debug, Serialize)]
struct Fact {
    heading: String,
    text: String,
}

/// A part of a page. Every field is optional.
#[derive(Debug, Default, Serialize)]
struct Section {
    heading: String,
    note: String,
    formulas: Vec<MarkedFormula>,
    /// Findings as they are drawn in a terminal.
    findings: Vec<String>,
    /// An SVG element.
    chart: String,
    legend: Vec<LegendEntry>,
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

#[derive(Debug, PartialEq, Eq, Serialize)]
struct Piece {
    text: String,
    changed: bool,
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
}

/// A bar in a cell, in percent of its width.
#[derive(Debug, Serialize)]
struct Bar {
    start: f64,
    width: f64,
    class: &'static str,
}

impl Section {
    fn new(heading: impl Into<String>) -> Self {
        Self { heading: heading.into(), ..Self::default() }
    }

    fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
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
        let shown: Vec<_> = rows.take(MAX_ROWS).collect();
        let omitted = match all.saturating_sub(shown.len()) {
            0 => String::new(),
            more => format!("{more} more rows are left out; --format json has all."),
        };
        Self { columns: columns.collect(), rows: shown, omitted }
    }
}

impl Cell {
    /// A text, or a dash if it is empty.
    fn text(text: &str) -> Self {
        let text = if text.is_empty() { "–".into() } else { printable(text) };
        Self { text: text.into_owned(), ..Self::default() }
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
            Some(count) => Self::number(count.to_string(), count),
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
            Some(value) => Self::number(value.repr(), value.to_f64().map_or(Value::Null, Into::into)),
            None => Self::count(None),
        }
    }

    /// A number with this many decimals, or a dash.
    fn decimals(number: Option<f64>, decimals: usize) -> Self {
        match number {
            Some(number) => Self::number(format!("{number:.decimals$}"), number),
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

    /// A number of places with its sign, coloured.
    fn places(places: Option<i64>) -> Self {
        let Some(places) = places else { return Self::number("–", Value::Null) };
        let (sign, class) = match places {
            1.. => ("+", "n up"),
            0 => ("", "n"),
            _ => ("−", "n down"),
        };
        Self { class: class.to_owned(), ..Self::number(format!("{sign}{}", places.unsigned_abs()), places) }
    }
}

/// The rules of a ranking as facts, without the formula, which has a section of its own.
fn facts(rules: &[(&'static str, String)]) -> Vec<Fact> {
    let fact = |(heading, text): &(&str, String)| Fact {
        heading: heading.trim_end_matches(':').to_owned(),
        text: printable(text).into_owned(),
    };
    rules.iter().filter(|(heading, _)| *heading != "formula:").map(fact).collect()
}

/// The only formula of a page.
fn formula_section(formula: &str) -> Section {
    let pieces = vec![Piece { text: printable(formula.trim_end()).into_owned(), changed: false }];
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
