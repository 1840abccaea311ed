//! The first screen of a document: what matters most of it, in a limited number of lines.
//!
//! In: a document, and the number of lines. Out: its headline, the facts and sections of the first
//! screen with as many rows as there is room for, and a last line that says what is left out.

use unicode_width::UnicodeWidthStr;

use crate::view::document::table::{RowLimit, Table};
use crate::view::document::terminal::{TerminalStyle, columns_left_out, cut};
use crate::view::document::{Block, Document, Fact, Section};
use crate::view::printable::printable;

/// A table keeps at least so many rows, if it has them.
const MIN_ROWS: usize = 3;
/// A text of a fact keeps at least so many lines, if it has them.
const MIN_LINES: usize = 2;

/// A section as lines.
struct ShownSection<'d, 'a> {
    section: &'d Section<'a>,
    /// The most rows of each of its tables and lists.
    rows: usize,
    lines: Vec<String>,
    /// How many rows are left out.
    left_out: usize,
}

impl<'d, 'a> ShownSection<'d, 'a> {
    /// The section with as many rows as a screen of `height` lines could show.
    fn new(section: &'d Section<'a>, style: TerminalStyle, height: usize) -> Self {
        let mut rows = 0;
        for block in &section.blocks {
            match block {
                Block::Table(table) => rows = table.len().max(rows),
                Block::List(items) if !section.heading.is_empty() => rows = items.len().max(rows),
                _ => {}
            }
        }
        if height == usize::MAX {
            rows = height;
        }
        rows = rows.min(height);
        let mut shown = Self {
            section,
            rows,
            lines: Vec::new(),
            left_out: 0,
        };
        shown.draw(style);
        shown
    }

    /// Whether the section is still understood with one row less.
    fn can_be_shorter(&self) -> bool {
        let mut blocks = self.section.blocks.iter();
        let has_list = blocks.any(|block| matches!(block, Block::List(_)));
        self.rows > if has_list { 1 } else { MIN_ROWS }
    }

    fn draw(&mut self, style: TerminalStyle) {
        let Self { section, rows, .. } = *self;
        self.lines = vec![String::new()];
        self.left_out = 0;
        if !section.heading.is_empty() {
            self.lines.extend(style.prose(&section.heading));
        }
        for block in &section.blocks {
            match block {
                Block::Table(table) => {
                    let shown = shown_rows(table, rows);
                    self.left_out += table.len() - shown.len();
                    let (drawn, dropped) = style.table(table, &shown);
                    self.lines.extend(drawn);
                    if table.names_dropped && !dropped.is_empty() {
                        self.lines.extend(style.prose(&columns_left_out(&dropped)));
                    }
                }
                Block::List(items) if !section.heading.is_empty() => {
                    let shown = items.len().min(rows);
                    self.left_out += items.len() - shown;
                    for item in &items[..shown] {
                        self.lines.extend(style.prose(item));
                    }
                }
                _ => self.lines.extend(style.block(block)),
            }
        }
    }

    /// Leaves only the line that replaces the section, and returns what the section is called.
    fn replace(&mut self, style: TerminalStyle) -> String {
        self.lines.clear();
        self.left_out = 0;
        if !self.section.brief.is_empty() {
            self.lines.push(style.cut(&self.section.brief));
        }
        if !self.section.heading.is_empty() {
            return label(&self.section.heading).to_owned();
        }
        for block in &self.section.blocks {
            if let Block::Table(_) = block {
                return "a table".to_owned();
            }
        }
        "a finding".to_owned()
    }
}

/// The rows of a table that are shown if there is room for so many.
fn shown_rows(table: &Table<'_>, most: usize) -> Vec<usize> {
    let len = table.len();
    if most == usize::MAX || (most >= len && table.limit.rows(len).len() == len) {
        return (0..len).collect();
    }
    if let (Some(focus), RowLimit::All) = (table.focus, table.limit) {
        let start = focus.saturating_sub((most - 1) / 2).min(len - most);
        return (start..start + most).collect();
    }
    let limit = table.limit.at_most(most);
    let RowLimit::Ends(most) = limit else {
        return limit.rows(len);
    };
    // the rows that are kept, then the others from both ends
    let mut order = table.kept.clone();
    for row in 0..most.div_ceil(2) {
        order.extend([row, len - 1 - row]);
    }
    let mut shown = Vec::new();
    for row in order {
        if shown.len() < most && !shown.contains(&row) {
            shown.push(row);
        }
    }
    shown.sort_unstable();
    shown
}

/// The lines of the first screen.
pub(crate) fn lines(style: TerminalStyle, document: &Document<'_>, height: usize) -> Vec<String> {
    let mut lines = style.headline(document);
    let mut hidden = Vec::new();
    let mut facts = Vec::new();
    for fact in &document.facts {
        if !fact.is_in_full {
            facts.push(shortened(style, fact, height / 3, &mut hidden));
        }
    }
    if !facts.is_empty() {
        lines.push(String::new());
        lines.extend(style.facts(&facts));
    }
    hidden.extend(headings_in_full(document));
    // one line says what is left out
    let most = height.saturating_sub(lines.len() + 1);
    let mut sections = Vec::new();
    for section in document.text_sections() {
        if !section.is_in_full {
            sections.push(ShownSection::new(section, style, height));
        }
    }
    fit(style, &mut sections, most, &mut hidden);
    let width = style.prose_width.unwrap_or(usize::MAX);
    let footer = footer(&sections, &hidden, document.read_on, width);
    let end = lines.len().saturating_add(most);
    for shown in sections {
        lines.extend(shown.lines);
    }
    lines.truncate(end);
    if !footer.is_empty() {
        lines.push(style.cut(&footer));
    }
    lines
}

/// Leaves out rows, one after the other of the section that shows most, then the last sections,
/// until the lines fit. The first section is kept. Adds what is left out to `hidden`.
fn fit(
    style: TerminalStyle,
    sections: &mut [ShownSection<'_, '_>],
    most: usize,
    hidden: &mut Vec<String>,
) {
    while line_count(sections) > most {
        let shortenable = sections.iter_mut().filter(|shown| shown.can_be_shorter());
        let Some(longest) = shortenable.max_by_key(|shown| shown.rows) else {
            break;
        };
        longest.rows -= 1;
        longest.draw(style);
    }
    for index in (1..sections.len()).rev() {
        if line_count(sections) <= most {
            return;
        }
        hidden.push(sections[index].replace(style));
    }
    if line_count(sections) > most {
        hidden.push("what is cut here".to_owned());
    }
}

fn line_count(sections: &[ShownSection<'_, '_>]) -> usize {
    sections.iter().map(|shown| shown.lines.len()).sum()
}

/// A fact whose long texts are cut to their part of `height` lines, so that a long formula leaves
/// room for what it does. Adds what is cut to `hidden`.
fn shortened(style: TerminalStyle, fact: &Fact, height: usize, hidden: &mut Vec<String>) -> Fact {
    let mut fact = fact.clone();
    let Some(width) = style.prose_width else {
        return fact;
    };
    let lines = (height / fact.lines.len().max(1)).max(MIN_LINES);
    let most = lines.saturating_mul(width.saturating_sub(fact.heading.width() + 2));
    let mut is_cut = false;
    for text in &mut fact.lines {
        if text.width() > most {
            *text = cut(text, most);
            is_cut = true;
        }
    }
    if is_cut {
        hidden.push(format!("the whole {}", fact.heading));
    }
    fact
}

/// The headings of what is shown in full only; facts have none of their own.
fn headings_in_full(document: &Document<'_>) -> Vec<String> {
    let mut headings = Vec::new();
    if document.facts.iter().any(|fact| fact.is_in_full) {
        headings.push("the rules".to_owned());
    }
    for section in document.text_sections() {
        if section.is_in_full && !section.heading.is_empty() {
            headings.push(label(&section.heading).to_owned());
        }
    }
    headings
}

/// What is left out, and where more is said.
fn footer(
    sections: &[ShownSection<'_, '_>],
    hidden: &[String],
    read_on: &str,
    width: usize,
) -> String {
    let mut left_out = Vec::new();
    let mut without_heading = 0;
    for shown in sections {
        match shown.section.heading.as_str() {
            "" => without_heading += shown.left_out,
            heading if shown.left_out > 0 => left_out.push(more(shown.left_out, label(heading))),
            _ => {}
        }
    }
    if without_heading > 0 {
        left_out.push(more(without_heading, "rows"));
    }
    left_out.extend(counted(hidden));
    let shown = match (read_on, left_out.is_empty()) {
        ("", true) => return String::new(),
        (_, true) => format!("more: {read_on}"),
        ("", false) => "more: --full".to_owned(),
        (_, false) => format!("more: {read_on}, --full"),
    };
    let room = width.saturating_sub(shown.width() + 3);
    // the hint is worth more than one name
    match left_out.first() {
        Some(first) if first.width() <= room => format!("{shown} ({})", fitting(&left_out, room)),
        _ => shown,
    }
}

/// `2 more jobs`, `1 more entity`, `1 more neighbour of 17`, `1 more row of what decides`.
fn more(count: usize, heading: &str) -> String {
    if heading.starts_with("what ") || heading.starts_with("who ") {
        let row = if count == 1 { "row" } else { "rows" };
        return format!("{count} more {row} of {heading}");
    }
    let noun = heading.split(" of ").next().unwrap_or(heading);
    match singular(noun) {
        Some(singular) if count == 1 => format!("1 more {singular}{}", &heading[noun.len()..]),
        _ => format!("{count} more {heading}"),
    }
}

/// The singular of a noun of one word in the plural.
fn singular(noun: &str) -> Option<String> {
    if noun.contains(' ') {
        return None;
    }
    if let Some(stem) = noun.strip_suffix("ies") {
        return Some(format!("{stem}y"));
    }
    noun.strip_suffix('s').map(str::to_owned)
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
    let (label, _) = heading.split_once(" (").unwrap_or((heading, ""));
    let (label, _) = label.split_once(", ").unwrap_or((label, ""));
    label
}

/// The names, and how often those are listed that are listed several times.
fn counted(names: &[String]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for (index, name) in names.iter().enumerate() {
        if names[..index].contains(name) {
            continue;
        }
        let count = names.iter().filter(|other| *other == name).count();
        words.push(match count {
            1 => name.clone(),
            _ => format!("{count} {}s", name.trim_start_matches("a ")),
        });
    }
    words
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
        lines(TerminalStyle::default(), document, height)
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
        let text = lines(style, &document, usize::MAX).join("\n");
        assert_eq!(text.matches("ncpus").count(), 500);
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
            let lines = lines(style, &document, 24);
            let text = lines.join("\n");
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
