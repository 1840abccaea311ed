//! A document as a page for a browser: one file, which loads nothing and runs no script but its
//! own.
//!
//! Out: HTML with tables that can be sorted and charts in SVG. The page's policy forbids every
//! script and style but those that it contains, which it names by their SHA-256, whatever the names
//! of jobs and users are. Of two formulas the page marks what is between their equal ends.

use std::io::{self, Write};
use std::iter;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use job_sort_formula::rank::OldNew;
use minijinja::{Environment, Value, context};
use serde::Serialize;

use crate::view::document::{
    Block, Cell, Chart, Column, Document, DrawingStyle, Fact, Fit, Medium, Section, Table, Tone,
};
use crate::view::words::{capitalised, grouped_count, printable};

/// The mark of every page, near its beginning, by which a later command knows a page that it may
/// replace.
pub const GENERATOR: &str = r#"<meta name="generator" content="jsf">"#;

const TEMPLATE: &str = include_str!("page.html");
pub(crate) const STYLE: &str = include_str!("page.css");
pub(crate) const SCRIPT: &str = include_str!("page.js");
// the policy of a page names the style and the script by their hashes; a test says them after a
// change, so that no crate for SHA-256 is a part of the command
const STYLE_HASH: &str = "sha256-a+dhzOkdBAw3Nuyv6TiUZOoZBXSsOy1N3K1OFmg9uuA=";
const SCRIPT_HASH: &str = "sha256-i6gfeHMEvvIjeujRlu81VT0L3Iyac6c9+nQ/XAENVB4=";

/// The most rows of a table, so that a page has a bounded size whatever the queue is.
const MAX_ROWS: usize = 1000;
/// The headings of columns of numbers that say what changes.
const EFFECTS: [&str; 2] = ["gained", "points"];
/// How a page draws text with lines of its own, which have as many characters as a page, which is
/// 62 rem wide, has room for in the usual monospaced fonts.
const PAGE_DRAWING: DrawingStyle = DrawingStyle {
    coloured: false,
    width: 110,
};
/// The deepest level of a tree that is moved to the right of the level above: `page.css` has a
/// class for each of them.
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
    let (mut first, mut rules) = (Vec::new(), Vec::new());
    for fact in &document.facts {
        let part = if fact.is_in_full {
            &mut rules
        } else {
            &mut first
        };
        part.push(fact);
    }
    let page = context! {
        kind => document.command,
        title => document.title,
        headline => sentence_pieces(&document.headline),
        facts => page_facts(first),
        // they are folded away at the end
        rules => page_facts(rules),
        command => printable(command_line),
        sections => page_sections(&document.sections),
    };
    let policy = format!(
        "default-src 'none'; style-src '{STYLE_HASH}'; script-src '{SCRIPT_HASH}'; base-uri 'none'; form-action 'none'"
    );
    let version = env!("CARGO_PKG_VERSION");
    let context = context! { page, policy, style => STYLE, script => SCRIPT, version };
    write_template("page.html", TEMPLATE, context, out)
}

/// Writes a template with what it gets. It is written as a whole, so that an error of `out` keeps
/// its kind.
pub(crate) fn write_template(
    name: &str,
    template: &str,
    context: Value,
    out: &mut dyn Write,
) -> io::Result<()> {
    // by the ending of the name minijinja escapes what it inserts
    let page = Environment::new().render_named_str(name, template, context);
    let page = page.map_err(io::Error::other)?;
    out.write_all(page.as_bytes())?;
    out.write_all(b"\n")
}

/// Bytes in base64.
pub(crate) fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// A part of a text: marked is a name in a sentence, or what differs in a formula.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Piece {
    text: String,
    is_marked: bool,
}

/// A cell of a table. `value` is the number by which the column is sorted.
#[derive(Debug, Serialize)]
struct PageCell {
    text: String,
    value: Option<String>,
    class: String,
    bar: Option<Bar>,
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
pub(crate) fn page_facts<'f>(facts: impl IntoIterator<Item = &'f Fact>) -> Vec<Value> {
    let mut shown = Vec::new();
    for Fact { heading, lines, .. } in facts {
        // the formula has a section of its own
        if heading != "formula" {
            let lines: Vec<_> = lines.iter().map(|line| sentence_pieces(line)).collect();
            shown.push(context! { heading, lines });
        }
    }
    shown
}

/// The sections of a document that a page shows: each with the name by which a link finds it.
pub(crate) fn page_sections<'s, 'a: 's>(
    sections: impl IntoIterator<Item = &'s Section<'a>>,
) -> Vec<Value> {
    let mut shown = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for section in sections {
        if section.medium == Medium::Text {
            continue;
        }
        let pieces = sentence_pieces(&capitalised(&section.heading));
        let heading: String = pieces.iter().map(|piece| &*piece.text).collect();
        let name = section_name(&heading);
        // a link leads to the first of two equal names
        let id = match names.iter().filter(|known| **known == name).count() {
            0 => name.clone(),
            same => format!("{name}-{}", same + 1),
        };
        names.push(name);
        let mut blocks = Vec::new();
        for block in &section.blocks {
            match block {
                Block::List(items) => blocks.extend(items.iter().map(|item| note(item))),
                Block::Prose(text) => blocks.push(note(text)),
                Block::Formulas(formulas) => {
                    let rows = marked_formulas(formulas);
                    blocks.push(context! { kind => "formulas", rows });
                }
                Block::Drawn(draw) => {
                    let text = draw(PAGE_DRAWING);
                    blocks.push(context! { kind => "drawing", text });
                }
                Block::Chart(draw) => blocks.push(page_chart(&draw())),
                Block::Table(table) => blocks.push(page_table(table, &heading)),
            }
        }
        shown.push(context! { id, heading, pieces, blocks });
    }
    shown
}

/// The words of a heading, as the name of a link has them.
fn section_name(heading: &str) -> String {
    /// The most words of a name.
    const MAX_WORDS: usize = 6;
    let lower = heading.to_lowercase();
    let mut words: Vec<&str> = lower
        .split(|character: char| !character.is_ascii_alphanumeric())
        .collect();
    words.retain(|word| !word.is_empty());
    words.truncate(MAX_WORDS);
    format!("section-{}", words.join("-"))
}

fn note(text: &str) -> Value {
    context! { kind => "note", pieces => sentence_pieces(text) }
}

fn page_chart(chart: &Chart) -> Value {
    let mut figures = vec![context! { svg => chart.wide, class => "wide" }];
    if !chart.narrow.is_empty() {
        figures.push(context! { svg => chart.narrow, class => "narrow" });
    }
    let mut legend = Vec::new();
    for (class, text) in chart.legend {
        legend.push(context! { class, text });
    }
    context! { kind => "chart", figures, legend, summary => chart.summary }
}

/// The first rows of a table. Its name is what it is about, for readers who do not see the headings
/// around it.
fn page_table(table: &Table<'_>, heading: &str) -> Value {
    let shown = table.columns_on(Medium::Page);
    let cells = first_rows(table);
    let effect = effect_column(&shown, &cells);
    let mut columns = Vec::new();
    for (index, column) in shown.iter().enumerate() {
        columns.push(context! {
            heading => printable(&column.heading),
            is_number => column.fit == Fit::Number,
            // a narrow screen shows what changes beside the names
            is_effect => effect == Some(index),
        });
    }
    let omitted = match table.len() - cells.len() {
        0 => String::new(),
        more => format!(
            "Left out: {}; --format json has all.",
            grouped_count(more, "row")
        ),
    };
    let mut words = vec![heading, table.summary];
    words.retain(|words| !words.is_empty());
    context! {
        kind => "table",
        name => words.join(": "),
        summary => table.summary,
        columns,
        rows => page_rows(&shown, &cells),
        omitted,
    }
}

/// The rows of a table that a page shows.
fn first_rows<'a>(table: &Table<'a>) -> Vec<Vec<Cell<'a>>> {
    let rows = 0..table.len().min(MAX_ROWS);
    rows.map(|row| table.row_on(Medium::Page, row)).collect()
}

fn page_rows(columns: &[&Column], cells: &[Vec<Cell<'_>>]) -> Vec<Vec<PageCell>> {
    let mut rows = Vec::new();
    for row in cells {
        let mut shown = Vec::new();
        for (cell, column) in iter::zip(row, columns) {
            shown.push(PageCell::new(cell, column));
        }
        rows.push(shown);
    }
    for (index, column) in columns.iter().enumerate() {
        if column.has_bar {
            draw_bars(cells, &mut rows, index);
        }
    }
    rows
}

/// The column of what changes, if there is one.
fn effect_column(columns: &[&Column], rows: &[Vec<Cell<'_>>]) -> Option<usize> {
    for (index, column) in columns.iter().enumerate() {
        if EFFECTS.contains(&&*column.heading) || rows.iter().any(|row| row[index].is_change()) {
            return Some(index);
        }
    }
    columns.iter().position(|column| column.has_bar)
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
            bar: None,
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
    // without an exponent, 1e300 would be 301 digits
    if number.fract() == 0.0 && number.abs() < 1e15 {
        format!("{number:.0}")
    } else {
        format!("{number:?}")
    }
}

/// Draws a bar beside each number of a column, all from the same zero.
fn draw_bars(cells: &[Vec<Cell<'_>>], rows: &mut [Vec<PageCell>], column: usize) {
    // a column of zeros has bars without a width, and none that is not a number
    let (mut largest, mut zero) = (f64::MIN_POSITIVE, 0.0);
    for row in cells {
        let number = row[column].number().unwrap_or(0.0);
        largest = number.abs().max(largest);
        if number < 0.0 {
            zero = 50.0;
        }
    }
    for (cells, row) in iter::zip(cells, rows) {
        let Some(number) = cells[column].number() else {
            continue;
        };
        let width = number.abs() / largest * (100.0 - zero);
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
        Tone::Neutral if matches!(cell, Cell::Longer(..)) => "same",
        Tone::Neutral => "new",
    }
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

/// Formulas that share less are two formulas: marks would be on nearly everything, and say nothing.
const LEAST_SHARED: f64 = 0.3;

/// Both formulas with the parts marked that differ, or the only one; `tag` is the element that
/// marks a piece.
fn marked_formulas(formulas: &OldNew<String>) -> Vec<Value> {
    let (old, new) = (printable(&formulas.old), printable(&formulas.new));
    let sides = marked_pieces(&old, &new);
    if old == new {
        return vec![context! { side => "", tag => "span", pieces => sides.new }];
    }
    vec![
        context! { side => "old", tag => "del", pieces => sides.old },
        context! { side => "new", tag => "ins", pieces => sides.new },
    ]
}

/// The pieces of two texts: what is between the tokens with which both begin and those with which
/// both end is marked.
fn marked_pieces(old: &str, new: &str) -> OldNew<Vec<Piece>> {
    let (old, new) = (tokens(old), tokens(new));
    let start = equal_tokens(old.iter(), new.iter());
    let end = equal_tokens(old[start..].iter().rev(), new[start..].iter().rev());
    let shared = letters(&old[..start]) + letters(&old[old.len() - end..]);
    let all = letters(&old) + letters(&new);
    if (2 * shared) as f64 >= LEAST_SHARED * all as f64 {
        OldNew::new(old, new).map(|tokens| pieces(&tokens, start, tokens.len() - end))
    } else {
        OldNew::new(old, new).map(|tokens| pieces(&tokens, tokens.len(), tokens.len()))
    }
}

/// How many tokens are equal until the first ones that are not.
fn equal_tokens<'t>(
    one: impl Iterator<Item = &'t &'t str>,
    other: impl Iterator<Item = &'t &'t str>,
) -> usize {
    iter::zip(one, other)
        .take_while(|(one, other)| one == other)
        .count()
}

/// The number of characters that are no blanks, which are equal in any two formulas.
fn letters(tokens: &[&str]) -> usize {
    let mut letters = 0;
    for token in tokens {
        letters += token.chars().filter(|one| !one.is_whitespace()).count();
    }
    letters
}

/// The text of tokens, of which those from `start` to `end` are marked.
fn pieces(tokens: &[&str], start: usize, end: usize) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (part, is_marked) in [
        (&tokens[..start], false),
        (&tokens[start..end], true),
        (&tokens[end..], false),
    ] {
        if !part.is_empty() {
            let text = part.concat();
            pieces.push(Piece { text, is_marked });
        }
    }
    pieces
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '.')
}

/// The length of the name or the number with which a text begins, in bytes.
fn word_length(text: &str) -> usize {
    text.len() - text.trim_start_matches(is_word).len()
}

/// The names and the numbers of a formula, and every other character alone.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let mut end = word_length(rest).max(first.len_utf8());
        // the exponent of a number has a sign
        if first.is_ascii_digit()
            && rest[..end].ends_with(['e', 'E'])
            && rest[end..].starts_with(['+', '-'])
        {
            end += 1 + word_length(&rest[end + 1..]);
        }
        tokens.push(&rest[..end]);
        rest = &rest[end..];
    }
    tokens
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    #[test]
    fn the_policy_names_the_style_and_the_script() {
        assert_eq!(content_hash(STYLE), STYLE_HASH);
        assert_eq!(content_hash(SCRIPT), SCRIPT_HASH);
    }

    /// The hash by which a page's policy names a style or a script that it contains.
    pub(crate) fn content_hash(text: &str) -> String {
        format!("sha256-{}", base64(&sha256(text)))
    }

    /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
    const ROUNDS: [u32; 64] = [
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
        0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
        0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
        0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
        0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
        0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
        0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
        0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
        0xc67178f2,
    ];
    /// The same of the square roots of the first eight.
    const START: [u32; 8] = [
        0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
        0x5be0cd19,
    ];

    /// SHA-256, of which a crate would bring seven others.
    fn sha256(text: &str) -> [u8; 32] {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0x80);
        bytes.resize((bytes.len() + 8).next_multiple_of(64) - 8, 0);
        bytes.extend((text.len() as u64 * 8).to_be_bytes());
        let mut state = START;
        for block in bytes.as_chunks::<64>().0 {
            compress(&mut state, block);
        }
        let mut hash = [0; 32];
        for (bytes, word) in hash.as_chunks_mut::<4>().0.iter_mut().zip(state) {
            *bytes = word.to_be_bytes();
        }
        hash
    }

    fn compress(state: &mut [u32; 8], block: &[u8; 64]) {
        let mut words = [0; 64];
        for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
            *word = u32::from_be_bytes(*bytes);
        }
        for index in 16..64 {
            let [before, last] = [words[index - 15], words[index - 2]];
            let one = before.rotate_right(7) ^ before.rotate_right(18) ^ before >> 3;
            let other = last.rotate_right(17) ^ last.rotate_right(19) ^ last >> 10;
            words[index] = one
                .wrapping_add(other)
                .wrapping_add(words[index - 16])
                .wrapping_add(words[index - 7]);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
        for (round, word) in ROUNDS.into_iter().zip(words) {
            let sum = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
            let choice = e & f ^ !e & g;
            let first = h
                .wrapping_add(sum)
                .wrapping_add(choice)
                .wrapping_add(round)
                .wrapping_add(word);
            let sum = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
            let majority = a & b ^ a & c ^ b & c;
            (h, g, f, e) = (g, f, e, d.wrapping_add(first));
            (d, c, b, a) = (c, b, a, first.wrapping_add(sum).wrapping_add(majority));
        }
        for (word, more) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *word = word.wrapping_add(more);
        }
    }

    fn rows_of(column: Column, rows: impl Into<Vec<Vec<Cell<'static>>>>) -> Vec<Vec<PageCell>> {
        let table = Table::from_rows([column], rows.into());
        page_rows(&table.columns_on(Medium::Page), &first_rows(&table))
    }

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
    fn every_section_has_a_link_of_its_own() {
        let sections = ["jobs", "Terms of \"><b>7", "terms of <b> 7", "", ""].map(Section::new);
        let ids: Vec<String> = page_sections(&sections)
            .into_iter()
            .map(|section| section.get_attr("id").expect("an id").to_string())
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
        let rows = rows_of(Column::number("won", 9).with_bar(), rows);
        let bars: Vec<_> = rows.iter().filter_map(|row| row[0].bar.as_ref()).collect();
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

    /// Hashes of Python's `hashlib`, among them those of texts that fill a block but for 8 and 9
    /// bytes.
    #[test]
    fn hashes_are_those_of_another_implementation() {
        for (text, expected) in [
            (
                String::new(),
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
            ),
            (
                "abc".to_owned(),
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
            ),
            (
                "a".repeat(55),
                "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318",
            ),
            (
                "a".repeat(56),
                "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a",
            ),
            (
                "grüße\n".repeat(1000),
                "dfe9434b1ad4a94e1f122d6f6553bc8569a66bd792aa797d7fb45f509bdaed67",
            ),
        ] {
            let hash: String = sha256(&text)
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            assert_eq!(hash, expected, "{} bytes", text.len());
        }
    }

    fn marked(old: &str, new: &str) -> (String, String) {
        let OldNew {
            old: before,
            new: after,
        } = marked_pieces(old, new);
        (bracketed(before), bracketed(after))
    }

    fn bracketed(pieces: Vec<Piece>) -> String {
        pieces
            .into_iter()
            .map(|one| {
                if one.is_marked {
                    format!("[{}]", one.text)
                } else {
                    one.text
                }
            })
            .collect()
    }

    #[test]
    fn what_differs_is_marked() {
        for (old, new, before, after) in [
            ("a + b", "a + b", "a + b", "a + b"),
            ("a + 10*b", "a + 12*b", "a + [10]*b", "a + [12]*b"),
            ("a + b", "a + b - c", "a + b", "a + b[ - c]"),
            ("", "x", "", "x"),
            ("pow(2, mem)", "exp(mem)", "[pow(2, ]mem)", "[exp(]mem)"),
            (
                "pow(2, x / y)",
                "100 * z + w / 3600",
                "pow(2, x / y)",
                "100 * z + w / 3600",
            ),
            ("a * 1e-7", "a * 1e+7", "a * [1e-7]", "a * [1e+7]"),
            (
                "(beta) + (4 * alpha)",
                "(beta) + 100 * alpha + c",
                "(beta) + [(4 * alpha)]",
                "(beta) + [100 * alpha + c]",
            ),
        ] {
            assert_eq!(marked(old, new), (before.to_owned(), after.to_owned()));
        }
    }
}
