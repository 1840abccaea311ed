//! The first screen of a document: what matters most of it, in a limited number of lines.
//!
//! In: a document, and the number of lines. Out: its headline, the facts and sections of the first
//! screen with as many rows as there is room for, and a last line that says what is left out.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr;

use crate::view::document::table::{RowLimit, Table};
use crate::view::document::terminal::{TableLines, TerminalStyle, columns_left_out, cut};
use crate::view::document::{Block, Detail, Document, Fact, Medium, Section};
use crate::view::printable::printable;

/// A table keeps at least so many rows, if it has them.
const MIN_ROWS: usize = 3;
/// A text of a fact keeps at least so many lines, if it has them.
const MIN_LINES: usize = 2;

/// A section as lines.
struct Chunk<'d> {
    heading: &'d str,
    brief: &'d str,
    pieces: Vec<Piece>,
}

/// Lines that are shown together, or the rows of a table, of which some can be left out.
enum Piece {
    Lines(Vec<String>),
    Rows {
        /// The lines of each row that is shown.
        rows: Vec<Vec<String>>,
        /// Which of them stay as long as there are others.
        is_kept: Vec<bool>,
        /// How many rows are left out already.
        left_out: usize,
        leave_out: LeaveOut,
        /// How many rows are kept, if there are as many.
        least: usize,
    },
}

/// Which row of a table is left out next.
#[derive(Clone, Copy)]
enum LeaveOut {
    Last,
    Middle,
    /// The one farthest from this row.
    Around(usize),
}

/// Writes the first screen.
pub(crate) fn write(
    style: TerminalStyle,
    document: &Document<'_>,
    height: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut head = style.lines(|out| style.write_headline(document, out))?;
    let mut facts: Vec<_> = document
        .facts
        .iter()
        .filter(|fact| fact.detail == Detail::FirstScreen)
        .cloned()
        .collect();
    let mut hidden = Vec::new();
    facts
        .iter_mut()
        .for_each(|fact| shorten(style, fact, height / 3, &mut hidden));
    if !facts.is_empty() {
        head.push(String::new());
        head.extend(style.lines(|out| style.write_facts(&facts, out))?);
    }
    let shown = text_sections(document).filter(|section| section.detail == Detail::FirstScreen);
    let mut chunks = shown
        .map(|section| chunk(style, section, height))
        .collect::<io::Result<Vec<_>>>()?;
    hidden.extend(headings_in_full(document));
    // one line says what is left out
    let most = height.saturating_sub(head.len() + 1);
    leave_out_rows(&mut chunks, most);
    leave_out_chunks(style, &mut chunks, most, &mut hidden);
    head.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    for line in chunks.iter().flat_map(Chunk::lines).take(most) {
        writeln!(out, "{line}")?;
    }
    match footer(
        &chunks,
        &hidden,
        document.read_on,
        style.prose_width.unwrap_or(usize::MAX),
    ) {
        footer if footer.is_empty() => Ok(()),
        footer => writeln!(out, "{}", style.cut(&footer)),
    }
}

/// Cuts the long texts of a fact to their part of `height` lines, so that a long formula leaves
/// room for what it does. Adds what is cut to `hidden`.
fn shorten(style: TerminalStyle, fact: &mut Fact, height: usize, hidden: &mut Vec<String>) {
    let Some(width) = style.prose_width else {
        return;
    };
    let lines = (height / fact.lines.len().max(1)).max(MIN_LINES);
    let most = lines.saturating_mul(width.saturating_sub(fact.heading.width() + 2));
    let mut is_cut = false;
    for text in fact.lines.iter_mut().filter(|text| text.width() > most) {
        *text = cut(text, most);
        is_cut = true;
    }
    hidden.extend(is_cut.then(|| format!("the whole {}", fact.heading)));
}

/// The sections that text shows.
fn text_sections<'d, 'a>(document: &'d Document<'a>) -> impl Iterator<Item = &'d Section<'a>> {
    document
        .sections
        .iter()
        .filter(|section| section.is_in_text())
}

/// The headings of what is shown in full only; facts have none of their own.
fn headings_in_full(document: &Document<'_>) -> Vec<String> {
    let sections = text_sections(document).filter(|section| section.detail == Detail::Full);
    let headings = sections
        .map(|section| label(&section.heading).to_owned())
        .filter(|label| !label.is_empty());
    let has_facts = document
        .facts
        .iter()
        .any(|fact| fact.detail == Detail::Full);
    has_facts
        .then(|| "the rules".to_owned())
        .into_iter()
        .chain(headings)
        .collect()
}

fn chunk<'d>(
    style: TerminalStyle,
    section: &'d Section<'_>,
    height: usize,
) -> io::Result<Chunk<'d>> {
    let mut first = vec![String::new()];
    if !section.heading.is_empty() {
        first.extend(style.lines(|out| style.write_prose(&section.heading, out))?);
    }
    let mut pieces = vec![Piece::Lines(first)];
    for block in &section.blocks {
        match block {
            Block::Table(table) => pieces.extend(table_pieces(style, table, height)?),
            Block::List(items) if !section.heading.is_empty() => {
                pieces.push(list_piece(style, items)?)
            }
            _ => pieces.push(Piece::Lines(
                style.lines(|out| style.write_block(block, out))?,
            )),
        }
    }
    Ok(Chunk {
        heading: &section.heading,
        brief: &section.brief,
        pieces,
    })
}

/// A list of sentences, whose last ones can be left out.
fn list_piece(style: TerminalStyle, items: &[String]) -> io::Result<Piece> {
    let rows = items
        .iter()
        .map(|item| style.lines(|out| style.write_prose(item, out)));
    let rows = rows.collect::<io::Result<Vec<_>>>()?;
    Ok(Piece::Rows {
        is_kept: vec![false; rows.len()],
        rows,
        left_out: 0,
        leave_out: LeaveOut::Last,
        least: 1,
    })
}

/// The headings of a table, its rows, at most as many as there are lines, and perhaps the columns
/// that do not fit.
fn table_pieces(style: TerminalStyle, table: &Table<'_>, height: usize) -> io::Result<[Piece; 3]> {
    let limit = if height == usize::MAX {
        RowLimit::All
    } else {
        table.limit.at_most(height)
    };
    let TableLines {
        heading,
        rows,
        dropped,
    } = style.table_lines(table, limit);
    let left_out = table.len() - rows.len();
    let leave_out = match (table.focus, table.limit) {
        (Some(row), RowLimit::All) if row < rows.len() => LeaveOut::Around(row),
        (_, RowLimit::Ends(_)) => LeaveOut::Middle,
        _ => LeaveOut::Last,
    };
    let note = if table.names_dropped && !dropped.is_empty() {
        style.lines(|out| style.write_prose(&columns_left_out(&dropped), out))?
    } else {
        Vec::new()
    };
    let is_kept = (0..rows.len())
        .map(|row| left_out == 0 && table.kept.contains(&row))
        .collect();
    Ok([
        Piece::Lines(heading),
        Piece::Rows {
            rows,
            is_kept,
            left_out,
            leave_out,
            least: MIN_ROWS,
        },
        Piece::Lines(note),
    ])
}

/// Leaves out rows, one after the other of the table that shows most, until the lines fit or all
/// tables are short.
fn leave_out_rows(chunks: &mut [Chunk<'_>], most: usize) {
    while line_count(chunks) > most {
        let tables = chunks
            .iter_mut()
            .flat_map(|chunk| &mut chunk.pieces)
            .filter_map(|piece| match piece {
                Piece::Rows {
                    rows,
                    is_kept,
                    left_out,
                    leave_out,
                    least,
                } if rows.len() > *least => Some((rows, is_kept, left_out, leave_out)),
                _ => None,
            });
        let Some((rows, is_kept, left_out, leave_out)) = tables.max_by_key(|(rows, ..)| rows.len())
        else {
            return;
        };
        *left_out += 1;
        match leave_out {
            LeaveOut::Last => drop(rows.pop()),
            LeaveOut::Middle => {
                let row = middle_row(is_kept);
                is_kept.remove(row);
                rows.remove(row);
            }
            LeaveOut::Around(row) if *row + 1 < rows.len() - *row => drop(rows.pop()),
            LeaveOut::Around(row) => {
                rows.remove(0);
                *row -= 1;
            }
        }
    }
}

/// The row nearest to the middle of those that need not be kept; the one in the middle if all are.
fn middle_row(is_kept: &[bool]) -> usize {
    let middle = is_kept.len() / 2;
    let others = (0..is_kept.len()).filter(|&row| !is_kept[row]);
    others
        .min_by_key(|row| row.abs_diff(middle))
        .unwrap_or(middle)
}

/// Leaves out the last sections until the lines fit. The first one is kept.
fn leave_out_chunks(
    style: TerminalStyle,
    chunks: &mut [Chunk<'_>],
    most: usize,
    hidden: &mut Vec<String>,
) {
    let mut kept = chunks.len();
    while kept > 1 && line_count(chunks) > most {
        kept -= 1;
        let chunk = &mut chunks[kept];
        hidden.push(chunk.name().to_owned());
        chunk.shorten(style);
    }
    if line_count(chunks) > most {
        hidden.push("what is cut here".to_owned());
    }
}

fn line_count(chunks: &[Chunk<'_>]) -> usize {
    chunks.iter().flat_map(Chunk::lines).count()
}

/// What is left out, and where more is said.
fn footer(chunks: &[Chunk<'_>], hidden: &[String], read_on: &str, width: usize) -> String {
    let without_heading = chunks
        .iter()
        .filter(|chunk| chunk.heading.is_empty())
        .map(Chunk::left_out)
        .sum();
    let with_heading = chunks.iter().filter(|chunk| !chunk.heading.is_empty());
    let cut = with_heading
        .map(|chunk| (chunk.left_out(), label(chunk.heading)))
        .chain([(without_heading, "rows")]);
    let cut = cut
        .filter(|(rows, _)| *rows > 0)
        .map(|(rows, nouns)| more(rows, nouns));
    let left_out: Vec<String> = cut.chain(counted(hidden)).collect();
    let shown = match (left_out.is_empty(), read_on.is_empty()) {
        (true, true) => return String::new(),
        (true, false) => return format!("more: {read_on}"),
        (false, true) => "more: --full".to_owned(),
        (false, false) => format!("more: {read_on}, --full"),
    };
    let room = width.saturating_sub(shown.width() + 3);
    // the hint is worth more than one name
    let is_too_narrow = left_out.first().is_none_or(|first| first.width() > room);
    if is_too_narrow {
        shown
    } else {
        format!("{shown} ({})", fitting(&left_out, room))
    }
}

/// `2 more jobs`, `1 more entity`, `1 more neighbour of 17`, `1 more row of what decides`.
fn more(count: usize, heading: &str) -> String {
    if heading.starts_with("what ") || heading.starts_with("who ") {
        let row = if count == 1 { "row" } else { "rows" };
        return format!("{count} more {row} of {heading}");
    }
    let noun = heading.split(" of ").next().unwrap_or(heading);
    match singular(noun).filter(|_| count == 1) {
        Some(singular) => format!("1 more {singular}{}", &heading[noun.len()..]),
        None => format!("{count} more {heading}"),
    }
}

/// The singular of a noun of one word in the plural.
fn singular(noun: &str) -> Option<String> {
    if noun.contains(' ') {
        return None;
    }
    let of_y = noun.strip_suffix("ies").map(|stem| format!("{stem}y"));
    of_y.or_else(|| noun.strip_suffix('s').map(str::to_owned))
}

/// The first of some names that fit into a width, with an ellipsis for the others; at least one.
fn fitting(names: &[String], width: usize) -> String {
    let mut text = String::new();
    for (index, name) in names.iter().enumerate() {
        let more = if index + 1 == names.len() { 0 } else { 3 };
        if index > 0 && text.width() + 2 + name.width() + more > width {
            return text + ", …";
        }
        text += if index > 0 { ", " } else { "" };
        text += name;
    }
    text
}

/// A heading without what explains it.
fn label(heading: &str) -> &str {
    let end = [" (", ", "]
        .iter()
        .filter_map(|mark| heading.find(mark))
        .min();
    &heading[..end.unwrap_or(heading.len())]
}

/// The names, and how often those are listed that are listed several times.
fn counted(names: &[String]) -> Vec<String> {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for name in names {
        match counts.iter_mut().find(|(known, _)| known == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let words = counts.into_iter().map(|(name, count)| match count {
        1 => name.to_owned(),
        _ => format!("{count} {}s", name.trim_start_matches("a ")),
    });
    words.collect()
}

impl TerminalStyle {
    /// A line of at most the terminal's width, with an ellipsis where it is cut.
    fn cut(self, line: &str) -> String {
        let line = printable(line);
        match self.prose_width {
            Some(width) if line.width() > width => cut(&line, width),
            _ => line.into_owned(),
        }
    }
}

impl Chunk<'_> {
    fn lines(&self) -> impl Iterator<Item = &String> {
        self.pieces.iter().flat_map(|piece| {
            let (lines, rows): (&[String], &[Vec<String>]) = match piece {
                Piece::Lines(lines) => (lines, &[]),
                Piece::Rows { rows, .. } => (&[], rows),
            };
            lines.iter().chain(rows.iter().flatten())
        })
    }

    /// Leaves only the line that replaces the section.
    fn shorten(&mut self, style: TerminalStyle) {
        let brief = Some(self.brief).filter(|brief| !brief.is_empty());
        self.pieces = vec![Piece::Lines(
            brief.map(|brief| style.cut(brief)).into_iter().collect(),
        )];
    }

    /// What the section is called where it is left out.
    fn name(&self) -> &str {
        let has_table = self
            .pieces
            .iter()
            .any(|piece| matches!(piece, Piece::Rows { .. }));
        match self.heading {
            "" if has_table => "a table",
            "" => "a finding",
            heading => label(heading),
        }
    }

    /// How many rows of its tables are left out.
    fn left_out(&self) -> usize {
        let left_out = self.pieces.iter().map(|piece| match piece {
            Piece::Lines(_) => 0,
            Piece::Rows { left_out, .. } => *left_out,
        });
        left_out.sum()
    }
}

impl Section<'_> {
    /// Whether a terminal and Markdown show the section: it has more than charts.
    pub(crate) fn is_in_text(&self) -> bool {
        self.medium != Medium::Page
            && !self
                .blocks
                .iter()
                .all(|block| matches!(block, Block::Chart(_)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::document::table::{Cell, Column};

    fn table(rows: usize) -> Table<'static> {
        Table::new(vec![Column::number("rank", 9)], rows, |index| {
            vec![Cell::Count(index)]
        })
    }

    fn document(rows: [usize; 2]) -> Document<'static> {
        let [first, second] = rows;
        Document {
            command: "jsf test",
            title: "Test".to_owned(),
            headline: "The answer is 42.".to_owned(),
            facts: vec![
                Fact::new("formula", "ncpus"),
                Fact::new("order", "value").in_full(),
            ],
            sections: vec![
                Section::new("jobs").table(table(first)),
                Section::new("queues").table(table(second)),
                Section::new("sizes").table(table(7)).in_full(),
            ],
            read_on: "jsf explain --job ID",
        }
    }

    fn screen(document: &Document<'_>, height: usize) -> Vec<String> {
        let mut out = Vec::new();
        write(TerminalStyle::default(), document, height, &mut out).expect("text");
        String::from_utf8(out)
            .expect("text")
            .lines()
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn what_is_left_out_is_counted_in_its_number() {
        for (count, heading, counted) in [
            (1, "jobs", "1 more job"),
            (2, "jobs", "2 more jobs"),
            (1, "entities", "1 more entity"),
            (1, "neighbours of 17", "1 more neighbour of 17"),
            (1, "what decides", "1 more row of what decides"),
            (2, "what changes", "2 more rows of what changes"),
            (1, "starting now", "1 more starting now"),
        ] {
            assert_eq!(more(count, heading), counted);
        }
    }

    #[test]
    fn a_screen_has_at_most_its_lines_and_says_what_is_left_out() {
        for (rows, height) in [
            ([0, 0], 24),
            ([5, 5], 24),
            ([100, 2], 24),
            ([1_000_000, 40], 24),
            ([40, 40], 12),
        ] {
            let lines = screen(&document(rows), height);
            assert!(lines.len() <= height, "{rows:?} in {height}: {lines:#?}");
            assert_eq!(lines[0], "The answer is 42.");
            assert!(
                lines.last().expect("a line").contains("--full"),
                "{lines:#?}"
            );
        }
        let lines = screen(&document([100, 2]), 24);
        assert_eq!(lines.len(), 24);
        assert_eq!(
            lines[23],
            "more: jsf explain --job ID, --full (88 more jobs, the rules, sizes)"
        );
    }

    #[test]
    fn a_formula_is_whole_where_the_lines_are_not_limited() {
        let long = "ncpus + ".repeat(500) + "1";
        let style = TerminalStyle {
            prose_width: Some(60),
            ..TerminalStyle::default()
        };
        let mut document = document([5, 2]);
        document.facts[0] = Fact::new("formula", long);
        let mut out = Vec::new();
        write(style, &document, usize::MAX, &mut out).expect("text");
        assert_eq!(
            String::from_utf8(out)
                .expect("text")
                .matches("ncpus")
                .count(),
            500
        );
    }

    #[test]
    fn a_long_formula_is_cut_and_leaves_room_for_the_jobs() {
        let long = "ncpus + ".repeat(500) + "1";
        let style = TerminalStyle {
            prose_width: Some(80),
            ..TerminalStyle::default()
        };
        for (texts, is_cut) in [
            (vec!["ncpus + 1"], false),
            (vec![&*long], true),
            (vec![&*long; 2], true),
        ] {
            let mut document = document([100, 2]);
            let texts: Vec<String> = texts.into_iter().map(str::to_owned).collect();
            document.facts[0] = Fact::with_lines("formula", texts.clone());
            let mut out = Vec::new();
            write(style, &document, 24, &mut out).expect("text");
            let text = String::from_utf8(out).expect("text");
            let lines: Vec<&str> = text.lines().collect();
            assert_eq!(lines.len(), 24, "{text}");
            assert!(
                lines.iter().position(|line| *line == "jobs") <= Some(12),
                "{text}"
            );
            assert_eq!(text.matches("ncpus + ncpus").count() > 0, is_cut, "{text}");
            assert_eq!(
                lines[..12]
                    .iter()
                    .filter(|line| line.ends_with('…'))
                    .count(),
                if is_cut { texts.len() } else { 0 }
            );
            assert_eq!(lines[23].contains("the whole formula"), is_cut, "{text}");
        }
    }
}
