//! A document in a terminal: lines of its width, and tables whose least important columns are
//! dropped until they fit.
//!
//! The first screen has a limited number of lines: the headline, the facts and sections that matter
//! most with as many rows as there is room for, and a last line that says what is left out.

use std::io::{self, Write};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::view::document::{
    Block, Cell, Column, Document, DrawingStyle, Fact, Fit, MIN_TREE_NAME, Medium, RowLimit,
    Section, Table,
};
use crate::view::words::{count, excerpt, printable};

/// The number of blanks between two columns.
const GAP: usize = 2;
/// The last column is wrapped if at least this much is left for it; otherwise it is dropped.
const MIN_WRAPPED: usize = 16;
/// The most lines of a cell that is wrapped.
const MAX_CELL_LINES: usize = 6;
/// A column is not made wider than this: a cell that is longer moves the rest of its row, and not
/// every other row.
const MAX_PADDED: usize = 200;

/// How a terminal shows a document. A width or a height of `usize::MAX` is no limit.
#[derive(Debug, Clone, Copy)]
pub struct TerminalStyle {
    /// The number of characters in a line of a table.
    pub table_width: usize,
    /// The number of characters in a line of a sentence.
    pub prose_width: usize,
    /// The number of lines of the first screen.
    pub height: usize,
    /// Whether everything is shown, and not the first screen alone.
    pub is_full: bool,
    /// Whether to use colours.
    pub coloured: bool,
}

impl Default for TerminalStyle {
    /// Everything, without limits and colours.
    fn default() -> Self {
        Self {
            table_width: usize::MAX,
            prose_width: usize::MAX,
            height: usize::MAX,
            is_full: true,
            coloured: false,
        }
    }
}

impl TerminalStyle {
    /// Writes a document.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write(self, document: &Document<'_>, out: &mut dyn Write) -> io::Result<()> {
        for line in lines(self, document) {
            writeln!(out, "{line}")?;
        }
        Ok(())
    }

    /// A sentence in lines of the width.
    fn prose(self, text: &str) -> Vec<String> {
        let text = printable(text);
        if text.width() > self.prose_width {
            return wrapped(&text, self.prose_width);
        }
        vec![text.into_owned()]
    }

    /// The headings below each other, and their texts beside them.
    fn facts(self, facts: &[Fact]) -> Vec<String> {
        /// A text begins in the same column as the others if its heading is at most this wide.
        const MAX_HEADING: usize = 18;
        let mut widest = 0;
        for fact in facts {
            let width = fact.heading.width() + 1;
            if width <= MAX_HEADING {
                widest = widest.max(width);
            }
        }
        let indent = widest + 1;
        let width = self.prose_width.saturating_sub(indent).max(MIN_WRAPPED);
        let mut shown = Vec::new();
        for Fact { heading, lines, .. } in facts {
            let mut label = heading.clone();
            if !label.is_empty() {
                label.push(':');
            }
            for line in lines {
                for part in wrapped(&printable(line.trim_end()), width) {
                    let line = format!("{}{part}", padded(&label, indent));
                    shown.push(line.trim_end().to_owned());
                    label.clear();
                }
            }
        }
        shown
    }

    /// The lines of some rows of a table under its headings, and the headings of the columns that
    /// do not fit.
    fn table(self, table: &Table<'_>, rows: &[usize]) -> (Vec<String>, Vec<String>) {
        let columns = table.columns_on(Medium::Text).into_iter().cloned();
        let sample = rows.iter().take(table.measured);
        let sample = sample.map(|&row| text_cells(table, row));
        let layout = Layout::new(columns.collect(), sample, self.table_width);
        let mut lines = Vec::new();
        layout.push_heading(&mut lines);
        for &row in rows {
            layout.push_row(&text_cells(table, row), &mut lines);
        }
        (lines, layout.dropped())
    }
}

/// The cells of the columns that text shows.
fn text_cells(table: &Table<'_>, row: usize) -> Vec<String> {
    table
        .row_on(Medium::Text, row)
        .iter()
        .map(text_of)
        .collect()
}

/// A cell as text shows it.
pub(crate) fn text_of(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Node { lines, text, .. } => format!("{lines}{text}"),
        _ => cell.written().unwrap_or("-".into()).into_owned(),
    }
}

/// The columns of a table that are shown, and their widths.
#[derive(Debug, Clone)]
struct Layout {
    columns: Vec<Column>,
    /// By column; `None` for a column that is dropped.
    widths: Vec<Option<usize>>,
    is_limited: bool,
}

impl Layout {
    /// Fits the columns into `limit` characters: columns of text become
    /// narrower, then the last column is wrapped, then whole columns are dropped. `sample` are the
    /// cells of the first rows.
    fn new(columns: Vec<Column>, sample: impl Iterator<Item = Vec<String>>, limit: usize) -> Self {
        let headings = columns.iter().map(|column| column.heading.width());
        let mut widths: Vec<usize> = headings.collect();
        for cells in sample {
            for (width, cell) in widths.iter_mut().zip(&cells) {
                // an escaped character is wider than itself
                *width = printable(cell).width().min(MAX_PADDED).max(*width);
            }
        }
        let mut layout = Self {
            columns,
            widths: widths.into_iter().map(Some).collect(),
            is_limited: limit < usize::MAX,
        };
        layout.fit(limit);
        layout
    }

    fn fit(&mut self, limit: usize) {
        while !self.narrow(limit, least_wrapped) && !self.narrow(limit, least_text) {
            let mut shown: Vec<usize> = (0..self.columns.len()).collect();
            shown.retain(|&index| self.widths[index].is_some());
            if shown.len() < 2 {
                return;
            }
            // of several that are equally important, the last
            shown.sort_by_key(|&index| (self.columns[index].importance, usize::MAX - index));
            self.widths[shown[0]] = None;
        }
    }

    /// Makes columns narrower, the widest first, and returns whether the table fits. `min` gives
    /// the least width of the columns that can be narrower.
    fn narrow(&mut self, limit: usize, min: fn(Fit) -> Option<usize>) -> bool {
        while self.total() > limit {
            let mut widest: Option<&mut usize> = None;
            for (column, width) in self.columns.iter().zip(&mut self.widths) {
                if let Some(width) = width
                    && let Some(least) = min(column.fit)
                    && *width > least.max(column.heading.width())
                    && widest.as_ref().is_none_or(|widest| *width >= **widest)
                {
                    widest = Some(width);
                }
            }
            let Some(width) = widest else {
                return false;
            };
            *width -= 1;
        }
        true
    }

    fn total(&self) -> usize {
        let shown = self.widths.iter().flatten();
        shown.clone().sum::<usize>() + GAP * shown.count().saturating_sub(1)
    }

    /// The headings of the columns that are dropped.
    fn dropped(&self) -> Vec<String> {
        let mut dropped = Vec::new();
        for (column, width) in self.columns.iter().zip(&self.widths) {
            if width.is_none() && !column.heading.is_empty() {
                dropped.push(column.heading.clone());
            }
        }
        dropped
    }

    /// Appends the line of headings.
    fn push_heading(&self, lines: &mut Vec<String>) {
        let headings = self.columns.iter().map(|column| column.heading.clone());
        self.push_row(&headings.collect::<Vec<_>>(), lines);
    }

    /// Appends a row: one line, and further ones if its last cell is wrapped.
    fn push_row(&self, cells: &[String], lines: &mut Vec<String>) {
        let mut line = String::new();
        let mut at = 0;
        let mut rest = Vec::new();
        for ((column, width), cell) in self.columns.iter().zip(&self.widths).zip(cells) {
            let Some(width) = *width else { continue };
            if at > 0 {
                at += GAP;
                line += &" ".repeat(at.saturating_sub(line.width()).max(GAP));
            }
            let cell = printable(cell);
            // without a limit, a cell that is wider than those measured moves the rest of its row
            let is_long = self.is_limited && cell.width() > width;
            match column.fit {
                Fit::Number => {
                    line += &" ".repeat(width.saturating_sub(cell.width()));
                    line += &cell;
                }
                Fit::Text { .. } if is_long => line += &cut(&cell, width),
                Fit::Code if is_long => line += &excerpt(&cell, width),
                Fit::Wrapped if is_long => {
                    rest = first_lines(wrapped(&cell, width));
                    line += &rest.remove(0);
                }
                Fit::Text { .. } | Fit::Code | Fit::Wrapped => line += &cell,
            }
            at += width;
        }
        lines.push(line.trim_end().to_owned());
        let indent = self.total() - self.widths.last().copied().flatten().unwrap_or(0);
        for part in rest {
            lines.push(" ".repeat(indent) + &part);
        }
    }
}

/// The least width of the last column.
fn least_wrapped(fit: Fit) -> Option<usize> {
    (fit == Fit::Wrapped).then_some(MIN_WRAPPED)
}

/// The least width of a column of text.
fn least_text(fit: Fit) -> Option<usize> {
    match fit {
        Fit::Text { min } => Some(min),
        Fit::Code => Some(MIN_TREE_NAME),
        Fit::Number | Fit::Wrapped => None,
    }
}

/// The first lines of a cell, with an ellipsis where more are left out.
fn first_lines(mut lines: Vec<String>) -> Vec<String> {
    if lines.len() > MAX_CELL_LINES {
        lines.truncate(MAX_CELL_LINES);
        lines[MAX_CELL_LINES - 1].pop();
        lines[MAX_CELL_LINES - 1].push('…');
    }
    lines
}

/// A text with blanks up to a width.
fn padded(text: &str, width: usize) -> String {
    let blanks = " ".repeat(width.saturating_sub(text.width()).max(1));
    format!("{text}{blanks}")
}

/// The start of a text, with an ellipsis.
fn cut(text: &str, width: usize) -> String {
    let mut shown = String::new();
    let mut used = 0;
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used >= width {
            break;
        }
        shown.push(character);
    }
    shown + "…"
}

/// The lines of a text, broken between words, and within words that are longer than a line. There
/// is at least one.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in text.split_inclusive(' ') {
        if used > 0 && used + word.trim_end().width() > width {
            lines.push(String::new());
            used = 0;
        }
        for character in word.chars() {
            let wide = character.width().unwrap_or(0);
            if used + wide > width && character != ' ' {
                lines.push(String::new());
                used = 0;
            }
            if let Some(line) = lines.last_mut() {
                line.push(character);
            }
            used += wide;
        }
    }
    for line in &mut lines {
        line.truncate(line.trim_end().len());
    }
    lines
}

/// A table keeps at least so many rows, if it has them.
const MIN_ROWS: usize = 3;
/// A text of a fact keeps at least so many lines, if it has them.
const MIN_LINES: usize = 2;

/// A section as lines, with at most so many rows of each of its tables, three at least, and two
/// fewer of each of its lists; and how many rows of both are left out.
fn drawn(section: &Section<'_>, style: TerminalStyle, rows: usize) -> (Vec<String>, usize) {
    let mut lines = vec![String::new()];
    let mut left_out = 0;
    let heading = section.text_heading();
    if !heading.is_empty() {
        lines.extend(style.prose(heading));
    }
    for block in &section.blocks {
        match block {
            Block::Table(table) => {
                let shown = shown_rows(table, rows);
                left_out += table.len() - shown.len();
                let (drawn, dropped) = style.table(table, &shown);
                lines.extend(drawn);
                if (table.names_dropped || style.is_full) && !dropped.is_empty() {
                    let dropped = dropped.join(", ");
                    let note = format!("columns left out: {dropped}; --wide shows all");
                    lines.extend(style.prose(&note));
                }
            }
            Block::List(items) => {
                // a warning is understood without the others, a row of a table is not
                let shown = items.len().min(rows - (MIN_ROWS - 1));
                left_out += items.len() - shown;
                for item in &items[..shown] {
                    lines.extend(style.prose(item));
                }
            }
            Block::Prose(text) => lines.extend(style.prose(text)),
            Block::Drawn(draw) => {
                let drawn = draw(DrawingStyle {
                    coloured: style.coloured,
                    width: style.prose_width,
                });
                lines.extend(drawn.lines().map(str::to_owned));
            }
            Block::Formulas(_) | Block::Chart(_) => {}
        }
    }
    (lines, left_out)
}

/// What a section that is left out is called.
fn name<'s>(section: &'s Section<'_>) -> &'s str {
    match (&*section.heading, section.first_heading()) {
        ("", Some(first)) => label(first),
        ("", None) => "findings",
        (heading, _) => label(heading),
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

/// The lines of the first screen, or of the document in full.
fn lines(style: TerminalStyle, document: &Document<'_>) -> Vec<String> {
    let TerminalStyle {
        height, is_full, ..
    } = style;
    let mut lines = style.prose(&document.headline);
    if style.coloured {
        for line in &mut lines {
            // bold
            *line = format!("\u{1b}[1m{line}\u{1b}[0m");
        }
    }
    let mut hidden = Vec::new();
    let mut facts = Vec::new();
    for fact in &document.facts {
        if is_full || !fact.is_in_full {
            // a long formula leaves room for what it does
            facts.push(shortened(style, fact, height / 3, &mut hidden));
        }
    }
    if !facts.is_empty() {
        lines.push(String::new());
        lines.extend(style.facts(&facts));
    }
    if document.facts.iter().any(|fact| fact.is_in_full) {
        hidden.push("the rules".to_owned());
    }
    let (mut first, mut others) = (Vec::new(), Vec::new());
    for section in document.text_sections() {
        if is_full || !section.is_in_full {
            first.push(section);
        } else {
            others.push(section);
        }
    }
    // one line says what is left out
    let most = height.saturating_sub(lines.len() + 1);
    let end = lines.len().saturating_add(most);
    let (shown, left_out) = fitted(style, &first, most, &mut others);
    lines.extend(shown);
    // the first section is kept however long it is
    lines.truncate(end);
    for section in document.text_sections() {
        if others.iter().any(|other| std::ptr::eq(*other, section)) {
            hidden.push(name(section).to_owned());
        }
    }
    if !is_full {
        lines.extend(style.footer(left_out, hidden, document.read_on));
    }
    lines
}

/// The lines of the sections that fit into `most` of them, and how many rows are left out: each has
/// its fewest rows before the first ones have more. Of the others, which `hidden` gets, a line is
/// shown if they have one that replaces them.
fn fitted<'d, 'a>(
    style: TerminalStyle,
    sections: &[&'d Section<'a>],
    most: usize,
    hidden: &mut Vec<&'d Section<'a>>,
) -> (Vec<String>, usize) {
    let is_limited = style.height < usize::MAX;
    let fewest = if is_limited { MIN_ROWS } else { usize::MAX };
    // a finding that is not drawn has a line at least
    let mut reserved = sections.iter().filter(|one| !one.brief.is_empty()).count();
    let mut used = 0;
    let mut shown = Vec::new();
    for &section in sections {
        let brief = usize::from(!section.brief.is_empty());
        reserved -= brief;
        let (mut lines, mut left_out) = drawn(section, style, fewest);
        if !shown.is_empty() && used + lines.len() + reserved > most {
            hidden.push(section);
            lines = vec![style.cut(&section.brief); brief];
            left_out = 0;
        }
        used += lines.len();
        shown.push((section, lines, left_out));
    }
    let mut spare = if is_limited {
        most.saturating_sub(used)
    } else {
        0
    };
    let mut all = Vec::new();
    let mut all_left_out = 0;
    for (section, mut lines, mut left_out) in shown {
        let room = lines.len() + spare;
        // of a row with several lines, where its last cell is wrapped, there is room for fewer
        let mut more = (MIN_ROWS + 1..=MIN_ROWS + spare).rev();
        while left_out > 0
            && let Some(rows) = more.next()
        {
            let (longer, still_left_out) = drawn(section, style, rows);
            if longer.len() <= room {
                (lines, left_out) = (longer, still_left_out);
                break;
            }
        }
        spare = room - lines.len();
        all.extend(lines);
        all_left_out += left_out;
    }
    (all, all_left_out)
}

/// A fact whose long texts are cut to their part of `height` lines, so that a long formula leaves
/// room for what it does. Adds what is cut to `hidden`.
fn shortened(style: TerminalStyle, fact: &Fact, height: usize, hidden: &mut Vec<String>) -> Fact {
    let mut fact = fact.clone();
    let lines = (height / fact.lines.len().max(1)).max(MIN_LINES);
    let width = style.prose_width.saturating_sub(fact.heading.width() + 2);
    // both may have no limit
    let most = lines.saturating_mul(width);
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

/// A heading without what explains it.
fn label(heading: &str) -> &str {
    let (label, _) = heading.split_once(" (").unwrap_or((heading, ""));
    let (label, _) = label.split_once(", ").unwrap_or((label, ""));
    label
}

impl TerminalStyle {
    /// What is left out, and where more is said.
    fn footer(self, rows: usize, mut hidden: Vec<String>, read_on: &str) -> Option<String> {
        if rows > 0 {
            hidden.insert(0, count(rows, "more row"));
        }
        hidden.dedup();
        let full = format!("--full ({})", hidden.join(", "));
        let shown = match (read_on, hidden.is_empty()) {
            ("", true) => return None,
            ("", false) => full,
            (_, true) => read_on.to_owned(),
            (_, false) => format!("{read_on}, {full}"),
        };
        Some(self.cut(&format!("more: {shown}")))
    }

    /// A line of at most the terminal's width, with an ellipsis where it is cut.
    fn cut(self, line: &str) -> String {
        let line = printable(line);
        if line.width() > self.prose_width {
            return cut(&line, self.prose_width);
        }
        line.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::document::{Cell, Column};

    fn columns() -> Vec<Column> {
        vec![
            Column::number("rank", 9),
            Column::text("job", 9),
            Column::text("queue", 2),
            Column::number("mem (kb)", 3),
            Column::wrapped("note", 5),
        ]
    }

    fn row(cells: [&str; 5]) -> Vec<String> {
        cells.map(str::to_owned).to_vec()
    }

    fn fitted_rows(rows: &[Vec<String>], limit: usize) -> (String, Vec<String>) {
        let layout = Layout::new(columns(), rows[..1].iter().cloned(), limit);
        let mut lines = Vec::new();
        layout.push_heading(&mut lines);
        rows.iter()
            .for_each(|cells| layout.push_row(cells, &mut lines));
        (lines.join("\n") + "\n", layout.dropped())
    }

    #[test]
    fn without_a_limit_every_cell_is_shown_whole() {
        let rows = [
            row(["1", "12.kestrel", "workq", "1048576", "error: a"]),
            row(["10000", "1.a", "a very long queue", "0", ""]),
        ];
        let expected = "\
rank  job         queue  mem (kb)  note
   1  12.kestrel  workq   1048576  error: a
10000  1.a        a very long queue         0
";
        assert_eq!(
            fitted_rows(&rows, usize::MAX),
            (expected.to_owned(), vec![])
        );
    }

    #[test]
    fn columns_wrap_and_drop_until_the_table_fits() {
        let rows = [
            row([
                "1",
                "12.kestrel",
                "a-long-queue-name",
                "1048576",
                "error: float division by zero in the last term",
            ]),
            row(["2", "13.kestrel.example.org", "q", "1", ""]),
        ];
        for limit in (1..120).rev() {
            let (text, dropped) = fitted_rows(&rows, limit);
            let widest = text.lines().map(UnicodeWidthStr::width).max();
            assert!(widest <= Some(limit.max(8)), "{limit}: {text}");
            assert_eq!(dropped.is_empty(), limit >= 52, "{limit}: {text}");
        }
        let (text, dropped) = fitted_rows(&rows, 52);
        let expected = "\
rank  job       queue     mem (kb)  note
   1  12.kest…  a-long-…   1048576  error: float
                                    division by zero
                                    in the last term
   2  13.kest…  q                1
";
        assert_eq!(text, expected, "{dropped:?}");
    }

    #[test]
    fn control_characters_are_escaped() {
        let (text, _) = fitted_rows(&[row(["1", "\u{1b}[2J", "日本", "1", ""])], usize::MAX);
        assert!(text.contains(r"\x1b[2J  日本   "), "{text}");
    }

    fn table(rows: usize) -> Table<'static> {
        let rows = (0..rows).collect();
        Table::new(vec![Column::number("rank", 9)], rows, |&index| {
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
        let style = TerminalStyle {
            height,
            is_full: false,
            ..TerminalStyle::default()
        };
        lines(style, document)
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
            "more: jsf explain --job ID, --full (88 more rows, the rules, sizes)"
        );
    }

    #[test]
    fn a_formula_is_whole_where_the_lines_are_not_limited() {
        let long = "ncpus + ".repeat(500) + "1";
        let style = TerminalStyle {
            prose_width: 60,
            is_full: false,
            ..TerminalStyle::default()
        };
        let mut document = document([5, 2]);
        document.facts[0] = Fact::new("formula", long);
        let text = lines(style, &document).join("\n");
        assert_eq!(text.matches("ncpus").count(), 500);
    }

    #[test]
    fn a_long_formula_is_cut_and_leaves_room_for_the_jobs() {
        let long = "ncpus + ".repeat(500) + "1";
        let style = TerminalStyle {
            prose_width: 80,
            height: 24,
            is_full: false,
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
            let lines = lines(style, &document);
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
