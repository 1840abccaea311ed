//! A document as a page for a browser: one file, which loads nothing and runs no script but its
//! own.
//!
//! Out: HTML with tables that can be sorted and charts in SVG. The page's policy forbids every
//! script and style but those that it contains, whatever the names of jobs and users are.

mod difference;
mod order;
mod sha256;

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use minijinja::{Environment, context};
use serde::Serialize;

use crate::view::document::page::difference::marked_formulas;
use crate::view::document::page::order::{heading_on_page, in_order};
use crate::view::document::table::{Cell, Column, Fit, Table, Tone};
use crate::view::document::{
    Block, Chart, ChartSvg, Detail, Document, DrawingStyle, Fact, Medium, Section,
};
use crate::view::printable::printable;
use crate::view::words::{capitalised, grouped_count};

/// The mark of every page, near its beginning, by which a later command knows a page that it may
/// replace.
pub const GENERATOR: &str = r#"<meta name="generator" content="jsf">"#;

const TEMPLATE: &str = include_str!("page.html");
pub(crate) const STYLE: &str = include_str!("page.css");
pub(crate) const SCRIPT: &str = include_str!("page.js");

/// The most rows of a table.
const MAX_ROWS: usize = 1000;
/// The headings of columns of numbers that say what changes.
const EFFECTS: [&str; 2] = ["gained", "points"];
/// The number of characters in a line of a drawing.
const DRAWING_WIDTH: usize = 110;
/// The deepest level of a tree that is moved to the right of the level above.
const MAX_INDENT: usize = 4;

/// Writes a document as a page, which shows `command_line`.
///
/// # Errors
/// `out` cannot be written.
pub fn write_page(
    document: &Document<'_>,
    command_line: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut environment = Environment::new();
    environment
        .add_template("page.html", TEMPLATE)
        .map_err(io::Error::other)?;
    let template = environment
        .get_template("page.html")
        .map_err(io::Error::other)?;
    let policy = format!(
        "default-src 'none'; style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'",
        content_hash(STYLE),
        content_hash(SCRIPT)
    );
    let version = env!("CARGO_PKG_VERSION");
    let (first, rules): (Vec<&Fact>, Vec<&Fact>) = document
        .facts
        .iter()
        .partition(|fact| fact.detail == Detail::FirstScreen);
    let sections = in_order(document.command, &document.sections);
    let page = Page {
        kind: document.command,
        title: &document.title,
        headline: sentence_pieces(&document.headline),
        facts: page_facts(first),
        rules: page_facts(rules),
        command: printable(command_line).into_owned(),
        sections: page_sections(sections),
    };
    let context = context! { page, policy, style => STYLE, script => SCRIPT, version };
    let text = template.render(context).map_err(io::Error::other)?;
    out.write_all(text.as_bytes())?;
    out.write_all(b"\n")
}

/// The hash by which a page's policy names a style or a script that it contains.
pub(crate) fn content_hash(text: &str) -> String {
    format!("sha256-{}", base64(&sha256::sha256(text)))
}

/// Bytes in base64.
pub(crate) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// What the template gets.
#[derive(Debug, Serialize)]
struct Page<'d> {
    /// What the page shows, above the headline.
    kind: &'d str,
    /// The title of the browser's window.
    title: &'d str,
    headline: Vec<Piece>,
    facts: Vec<PageFact>,
    /// The facts that are folded away at the end.
    rules: Vec<PageFact>,
    /// The command that wrote the page.
    command: String,
    sections: Vec<PageSection>,
}

/// A fact on a page.
#[derive(Debug, Serialize)]
pub(crate) struct PageFact {
    heading: String,
    lines: Vec<Vec<Piece>>,
}

/// A section on a page.
#[derive(Debug, Serialize)]
pub(crate) struct PageSection {
    /// The name by which a link finds it.
    id: String,
    heading: String,
    /// The heading, in which names are marked.
    pieces: Vec<Piece>,
    blocks: Vec<PageBlock>,
}

/// A piece of a section on a page.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum PageBlock {
    Note { pieces: Vec<Piece> },
    Formulas { rows: Vec<MarkedFormula> },
    Drawing { text: String },
    Chart(PageChart),
    Table(PageTable),
}

/// A chart, and what its marks mean.
#[derive(Debug, Serialize)]
struct PageChart {
    /// One for wide screens, and one for narrow ones if there is one.
    figures: Vec<Figure>,
    legend: Vec<LegendEntry>,
    /// What opens and closes the chart; a chart without it is always shown.
    summary: &'static str,
}

/// An SVG element, and the screens that show it.
#[derive(Debug, Serialize)]
struct Figure {
    svg: String,
    class: &'static str,
}

/// A formula in which what differs from another one is marked.
#[derive(Debug, Serialize)]
pub(crate) struct MarkedFormula {
    side: &'static str,
    /// The element that marks a piece.
    tag: &'static str,
    pieces: Vec<Piece>,
}

/// A part of a text: marked is a name in a sentence, or what differs in a formula.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Piece {
    text: String,
    is_marked: bool,
}

#[derive(Debug, Serialize)]
struct LegendEntry {
    class: &'static str,
    text: &'static str,
}

#[derive(Debug, Serialize)]
struct PageTable {
    /// What the table is about, for readers who do not see the headings around it.
    name: String,
    /// What opens and closes the table; a table without it is always shown.
    summary: &'static str,
    columns: Vec<Heading>,
    rows: Vec<Vec<PageCell>>,
    /// The note on the rows that are left out; empty if all are shown.
    omitted: String,
}

#[derive(Debug, Serialize)]
struct Heading {
    heading: String,
    is_number: bool,
    /// Whether it is the column of what changes, which a narrow screen shows beside the names.
    is_effect: bool,
}

/// A cell of a table. `value` is the number by which the column is sorted.
#[derive(Debug, Default, Serialize)]
struct PageCell {
    text: String,
    value: Option<String>,
    class: String,
    bar: Option<Bar>,
    /// Spaces as wide as the decimals that the number lacks, so that the points of a column are
    /// below each other.
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

/// The facts of a document.
pub(crate) fn page_facts<'f>(facts: impl IntoIterator<Item = &'f Fact>) -> Vec<PageFact> {
    // the formula has a section of its own
    let shown = facts
        .into_iter()
        .filter(|fact| fact.heading != "formula")
        .map(|fact| PageFact {
            heading: fact.heading.clone(),
            lines: fact
                .lines
                .iter()
                .map(|line| sentence_pieces(line))
                .collect(),
        });
    shown.collect()
}

/// The sections of a document.
pub(crate) fn page_sections<'s, 'a: 's>(
    sections: impl IntoIterator<Item = &'s Section<'a>>,
) -> Vec<PageSection> {
    let mut shown: Vec<PageSection> = Vec::new();
    for section in sections {
        let Some(heading) = heading_on_page(section) else {
            continue;
        };
        let pieces = sentence_pieces(&capitalised(heading));
        let heading: String = pieces.iter().map(|piece| &*piece.text).collect();
        let name = section_name(&heading);
        let same = shown
            .iter()
            .filter(|known| section_name(&known.heading) == name)
            .count();
        let id = if same == 0 {
            name
        } else {
            format!("{name}-{}", same + 1)
        };
        let blocks = section
            .blocks
            .iter()
            .map(|block| page_block(block, &heading))
            .collect();
        shown.push(PageSection {
            id,
            heading,
            pieces,
            blocks,
        });
    }
    shown
}

/// The words of a heading, as the name of a link has them.
fn section_name(heading: &str) -> String {
    /// The most words of a name.
    const MAX_WORDS: usize = 6;
    let lower = heading.to_lowercase();
    let words = lower
        .split(|character: char| !character.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    format!(
        "section-{}",
        words.take(MAX_WORDS).collect::<Vec<_>>().join("-")
    )
}

fn page_block(block: &Block<'_>, heading: &str) -> PageBlock {
    match block {
        Block::Prose(text) => PageBlock::Note {
            pieces: sentence_pieces(text),
        },
        Block::List(items) => PageBlock::Note {
            pieces: sentence_pieces(&items.join(" ")),
        },
        Block::Formulas(formulas) => PageBlock::Formulas {
            rows: marked_formulas(formulas),
        },
        Block::Drawn(drawing) => PageBlock::Drawing {
            text: (drawing.0)(DrawingStyle {
                coloured: false,
                width: Some(DRAWING_WIDTH),
            }),
        },
        Block::Chart(chart) => {
            let Chart {
                svg,
                legend,
                summary,
            } = (chart.0)();
            let legend = legend
                .into_iter()
                .map(|(class, text)| LegendEntry { class, text })
                .collect();
            PageBlock::Chart(PageChart {
                figures: figures(svg),
                legend,
                summary,
            })
        }
        Block::Table(table) => PageBlock::Table(page_table(table, heading)),
    }
}

/// The elements of a chart.
fn figures(svg: ChartSvg) -> Vec<Figure> {
    let ChartSvg { wide, narrow } = svg;
    let narrow = (!narrow.is_empty()).then_some(Figure {
        svg: narrow,
        class: "narrow",
    });
    [Figure {
        svg: wide,
        class: "wide",
    }]
    .into_iter()
    .chain(narrow)
    .collect()
}

/// The first rows of a table.
fn page_table(table: &Table<'_>, heading: &str) -> PageTable {
    let columns: Vec<&Column> = table
        .columns
        .iter()
        .filter(|column| column.medium != Medium::Text)
        .collect();
    let shown = (0..table.len().min(MAX_ROWS)).map(|row| {
        let cells = table
            .columns
            .iter()
            .zip(table.row(row))
            .filter(|(column, _)| column.medium != Medium::Text);
        cells.map(|(_, cell)| cell).collect()
    });
    let shown: Vec<Vec<Cell<'_>>> = shown.collect();
    let effect = effect_column(&columns, &shown);
    let headings = columns.iter().enumerate().map(|(index, column)| Heading {
        heading: printable(&column.heading).into_owned(),
        is_number: column.fit == Fit::Number,
        is_effect: effect == Some(index),
    });
    let headings: Vec<Heading> = headings.collect();
    let page_row = |row: &Vec<Cell<'_>>| {
        row.iter()
            .zip(&columns)
            .map(|(cell, column)| PageCell::new(cell, column))
            .collect()
    };
    let mut rows: Vec<Vec<PageCell>> = shown.iter().map(page_row).collect();
    for (index, column) in columns.iter().enumerate() {
        align_points(&mut rows, index);
        if column.has_bar {
            draw_bars(&shown, &mut rows, index);
        }
    }
    let omitted = match table.len().saturating_sub(rows.len()) {
        0 => String::new(),
        more => format!(
            "Left out: {}; --format json has all.",
            grouped_count(more, "row")
        ),
    };
    let words = [heading, table.summary]
        .into_iter()
        .filter(|words| !words.is_empty());
    let name = words.collect::<Vec<_>>().join(": ");
    PageTable {
        name,
        summary: table.summary,
        columns: headings,
        rows,
        omitted,
    }
}

/// The column of what changes, if there is one.
fn effect_column(columns: &[&Column], rows: &[Vec<Cell<'_>>]) -> Option<usize> {
    let is_change = |cell: &Cell<'_>| {
        matches!(
            cell,
            Cell::Places(_) | Cell::Arrow(_) | Cell::Gained(_) | Cell::Longer(..)
        )
    };
    let is_effect = |(index, column): (usize, &&Column)| {
        EFFECTS.contains(&&*column.heading) || rows.iter().any(|row| is_change(&row[index]))
    };
    columns
        .iter()
        .enumerate()
        .position(is_effect)
        .or_else(|| columns.iter().position(|column| column.has_bar))
}

impl PageCell {
    fn new(cell: &Cell<'_>, column: &Column) -> Self {
        /// Longer texts are broken into lines.
        const MAX_LINE: usize = 40;
        let text = cell.grouped();
        let text = text.as_deref().unwrap_or("–");
        let long = if text.chars().nth(MAX_LINE).is_some() {
            "long"
        } else {
            ""
        };
        let class = match cell {
            _ if column.fit == Fit::Number => format!("n{}", class_of(cell.tone())),
            Cell::Text(_) | Cell::Prose(_) => long.to_owned(),
            Cell::Code(_) => format!("{long} code"),
            Cell::Node { depth, is_code, .. } => {
                let code = if *is_code { " code" } else { "" };
                format!("{long}{code} depth-{}", depth.min(&MAX_INDENT))
            }
            _ => class_of(cell.tone()).to_owned(),
        };
        let value = cell.number().map(number_text);
        Self {
            text: printable(text).into_owned(),
            value,
            class: class.trim().to_owned(),
            ..Self::default()
        }
    }
}

/// The class that colours the text of a cell.
fn class_of(tone: Tone) -> &'static str {
    match tone {
        Tone::Neutral => "",
        Tone::Better => " up",
        Tone::Worse => " down",
    }
}

/// A number as JSON has it.
fn number_text(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e15 {
        format!("{number:.0}")
    } else {
        format!("{number:?}")
    }
}

/// Draws a bar beside each number of a column, all from the same zero.
fn draw_bars(cells: &[Vec<Cell<'_>>], rows: &mut [Vec<PageCell>], column: usize) {
    let numbers = cells.iter().filter_map(|row| row[column].number());
    let largest = numbers.clone().map(f64::abs).fold(0.0, f64::max);
    let zero = if numbers.clone().any(|number| number < 0.0) {
        50.0
    } else {
        0.0
    };
    for (cells, row) in cells.iter().zip(rows) {
        let Some(number) = cells[column].number() else {
            continue;
        };
        let part = if largest > 0.0 {
            number.abs() / largest
        } else {
            0.0
        };
        let width = part * (100.0 - zero);
        let start = if number < 0.0 { zero - width } else { zero };
        row[column].bar = Some(Bar {
            zero,
            start,
            width,
            class: class_of_bar(&cells[column]),
        });
    }
}

/// The class of a bar: a colour only for what is better or worse, and more than chance.
fn class_of_bar(cell: &Cell<'_>) -> &'static str {
    match cell.tone() {
        Tone::Better => "up",
        Tone::Worse => "down",
        Tone::Neutral if matches!(cell, Cell::Longer(..) | Cell::Starred(..)) => "same",
        Tone::Neutral => "new",
    }
}

/// Pads the numbers of a column to the same number of decimals with spaces, which add no digits.
/// Numbers among times end where the times do.
fn align_points(rows: &mut [Vec<PageCell>], column: usize) {
    const FIGURE_SPACE: &str = "\u{2007}";
    const PUNCTUATION_SPACE: &str = "\u{2008}";
    let has_unit =
        |cell: &PageCell| cell.value.is_some() && cell.text.ends_with(char::is_alphabetic);
    if rows.iter().any(|row| has_unit(&row[column])) {
        return;
    }
    let most = rows
        .iter()
        .filter_map(|row| decimals(&row[column]))
        .max()
        .unwrap_or(0);
    for cell in rows.iter_mut().map(|row| &mut row[column]) {
        cell.padding = match decimals(cell) {
            Some(0) if most > 0 => PUNCTUATION_SPACE.to_owned() + &FIGURE_SPACE.repeat(most),
            Some(decimals) => FIGURE_SPACE.repeat(most - decimals),
            None => String::new(),
        };
    }
}

/// The number of decimals of a plain number.
fn decimals(cell: &PageCell) -> Option<usize> {
    let (whole, decimals) = cell.text.split_once('.').unwrap_or((&cell.text, ""));
    let is_plain = whole
        .chars()
        .all(|character| character.is_ascii_digit() || ",+-−".contains(character))
        && decimals.bytes().all(|character| character.is_ascii_digit());
    (cell.value.is_some() && is_plain).then_some(decimals.len())
}

/// A sentence for people, in which back-ticks mark names.
pub(crate) fn sentence_pieces(text: &str) -> Vec<Piece> {
    /// The most characters of a name in a sentence.
    const MAX_NAME: usize = 80;
    let mut pieces = Vec::new();
    for (index, part) in text.split('`').enumerate() {
        let is_marked = index % 2 == 1;
        let shown = printable(part);
        let text = match shown.char_indices().nth(MAX_NAME) {
            Some((end, _)) if is_marked => format!("{}…", &shown[..end]),
            _ => shown.into_owned(),
        };
        if !text.is_empty() {
            pieces.push(Piece { text, is_marked });
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_a_sentence_are_marked() {
        let pieces = sentence_pieces("`100000.vm` gains 10 places");
        let shown: Vec<_> = pieces
            .iter()
            .map(|piece| (piece.text.as_str(), piece.is_marked))
            .collect();
        assert_eq!(shown, [("100000.vm", true), (" gains 10 places", false)]);
        let long = sentence_pieces(&format!("`{}`", "x".repeat(4096)));
        assert_eq!(long[0].text.chars().count(), 81);
    }

    #[test]
    fn the_points_of_a_column_are_aligned() {
        let rows = ["1", "2.5", "1,000.25", "1e-7", "50 %"]
            .map(|text| vec![Cell::Written(text.to_owned(), Some(1.0))]);
        let table = page_table(
            &Table::from_rows(vec![Column::number("value", 9)], rows),
            "",
        );
        let paddings: Vec<usize> = table
            .rows
            .iter()
            .map(|row| row[0].padding.chars().count())
            .collect();
        assert_eq!(paddings, [3, 1, 0, 0, 0]);
        let rows = ["1", "2.5", "1 h"].map(|text| vec![Cell::Written(text.to_owned(), Some(1.0))]);
        let table = page_table(
            &Table::from_rows(vec![Column::number("value", 9)], rows),
            "",
        );
        assert!(
            table
                .rows
                .iter()
                .all(|row| row[0].padding.is_empty() && row[0].class == "n")
        );
    }

    #[test]
    fn every_section_has_a_link_of_its_own() {
        let sections = ["jobs", "Terms of \"><b>7", "terms of <b> 7", "", ""].map(Section::new);
        let ids: Vec<String> = page_sections(&sections)
            .into_iter()
            .map(|section| section.id)
            .collect();
        assert_eq!(
            ids,
            [
                "section-jobs",
                "section-terms-of-b-7",
                "section-terms-of-b-7-2",
                "section-",
                "section--2"
            ]
        );
    }

    #[test]
    fn bars_begin_at_the_same_zero() {
        let rows = [5, -10, 0].map(|places| vec![Cell::Places(places)]);
        let table = page_table(
            &Table::from_rows(vec![Column::number("won", 9).with_bar()], rows),
            "",
        );
        let bars: Vec<_> = table
            .rows
            .iter()
            .filter_map(|row| row[0].bar.as_ref())
            .collect();
        let shown: Vec<_> = bars
            .iter()
            .map(|bar| (bar.zero, bar.start, bar.width, bar.class))
            .collect();
        assert_eq!(
            shown,
            [
                (50.0, 50.0, 25.0, "up"),
                (50.0, 0.0, 50.0, "down"),
                (50.0, 50.0, 0.0, "new")
            ]
        );
    }
}
