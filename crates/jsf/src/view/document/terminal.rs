//! A document in a terminal: lines of its width, and tables whose least important columns are
//! dropped until they fit.

use std::io::{self, Write};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::view::document::table::{Cell, Column, Fit, MIN_TREE_NAME, Table};
use crate::view::document::{Block, Document, DrawingStyle, Fact, Medium, screen};
use crate::view::printable::{excerpt, printable};

/// The number of blanks between two columns.
const GAP: usize = 2;
/// The last column is wrapped if at least this much is left for it; otherwise it is dropped.
const MIN_WRAPPED: usize = 16;
/// The most lines of a cell that is wrapped.
const MAX_CELL_LINES: usize = 6;
/// A column is not made wider than this: a cell that is longer moves the rest of its row, and not
/// every other row.
const MAX_PADDED: usize = 200;
/// The number of characters of the longest bar.
const BAR: f64 = 24.0;

/// How a terminal shows a document.
#[derive(Debug, Clone, Copy, Default)]
pub struct TerminalStyle {
    /// The number of characters in a line of a table; `None`: as many as needed.
    pub table_width: Option<usize>,
    /// The number of characters in a line of a sentence; `None`: as many as needed.
    pub prose_width: Option<usize>,
    /// The number of lines of the first screen, `usize::MAX` for all its rows; `None`: the document
    /// in full.
    pub height: Option<usize>,
    /// Whether to use colours.
    pub coloured: bool,
}

impl TerminalStyle {
    /// Writes a document.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write(self, document: &Document<'_>, out: &mut dyn Write) -> io::Result<()> {
        match self.height {
            Some(height) => write_lines(screen::lines(self, document, height), out),
            None => self.write_in_full(document, out),
        }
    }

    /// Writes the whole document, row by row, as a table may have millions of them.
    fn write_in_full(self, document: &Document<'_>, out: &mut dyn Write) -> io::Result<()> {
        write_lines(self.headline(document), out)?;
        if !document.facts.is_empty() {
            writeln!(out)?;
            write_lines(self.facts(&document.facts), out)?;
        }
        for section in document.text_sections() {
            writeln!(out)?;
            if !section.heading.is_empty() {
                write_lines(self.prose(&section.heading), out)?;
            }
            for block in &section.blocks {
                match block {
                    Block::Table(table) => self.write_table(table, out)?,
                    _ => write_lines(self.block(block), out)?,
                }
            }
        }
        Ok(())
    }

    /// Writes all rows of a table, and names the columns that do not fit.
    fn write_table(self, table: &Table<'_>, out: &mut dyn Write) -> io::Result<()> {
        let layout = self.layout(table, 0..table.len());
        let mut lines = Vec::new();
        layout.push_heading(&mut lines);
        for row in 0..table.len() {
            layout.push_row(&text_cells(table, row), &mut lines);
            write_lines(lines.drain(..), out)?;
        }
        write_lines(lines, out)?;
        match &layout.dropped()[..] {
            [] => Ok(()),
            dropped => write_lines(self.prose(&columns_left_out(dropped)), out),
        }
    }

    /// The answer, in bold where there are colours.
    pub(crate) fn headline(self, document: &Document<'_>) -> Vec<String> {
        let mut lines = self.prose(&document.headline);
        if self.coloured {
            for line in &mut lines {
                *line = format!("\u{1b}[1m{line}\u{1b}[0m");
            }
        }
        lines
    }

    /// The lines of a block that is no table.
    pub(crate) fn block(self, block: &Block<'_>) -> Vec<String> {
        match block {
            Block::Prose(text) => self.prose(text),
            Block::List(items) => items.iter().flat_map(|item| self.prose(item)).collect(),
            Block::Formulas(formulas) if formulas.old == formulas.new => self.prose(&formulas.new),
            Block::Formulas(formulas) => {
                let sides = [("old", &formulas.old), ("new", &formulas.new)];
                self.facts(&sides.map(|(side, formula)| Fact::new(side, formula.clone())))
            }
            Block::Drawn(draw) => {
                let drawn = draw(DrawingStyle {
                    coloured: self.coloured,
                    width: self.prose_width,
                });
                drawn.lines().map(str::to_owned).collect()
            }
            Block::Table(_) | Block::Chart(_) => Vec::new(),
        }
    }

    /// A sentence in lines of the width, if there is a limit.
    pub(crate) fn prose(self, text: &str) -> Vec<String> {
        let text = printable(text);
        match self.prose_width {
            Some(width) if text.width() > width => wrapped(&text, width),
            _ => vec![text.into_owned()],
        }
    }

    /// The headings below each other, and their texts beside them.
    pub(crate) fn facts(self, facts: &[Fact]) -> Vec<String> {
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
        let width = self.prose_width.unwrap_or(usize::MAX);
        let width = width.saturating_sub(indent).max(MIN_WRAPPED);
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
    pub(crate) fn table(self, table: &Table<'_>, rows: &[usize]) -> (Vec<String>, Vec<String>) {
        let layout = self.layout(table, rows.iter().copied());
        let mut lines = Vec::new();
        layout.push_heading(&mut lines);
        for &row in rows {
            layout.push_row(&text_cells(table, row), &mut lines);
        }
        (lines, layout.dropped())
    }

    fn layout(self, table: &Table<'_>, rows: impl Iterator<Item = usize>) -> Layout {
        let columns = table.columns_on(Medium::Text).into_iter().cloned();
        let sample = rows.take(table.measured);
        let sample = sample.map(|row| text_cells(table, row));
        Layout::new(columns.collect(), sample, self.table_width)
    }
}

fn write_lines(lines: impl IntoIterator<Item = String>, out: &mut dyn Write) -> io::Result<()> {
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// The note on the columns that do not fit.
pub(crate) fn columns_left_out(dropped: &[String]) -> String {
    format!("columns left out: {}; --wide shows all", dropped.join(", "))
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
        Cell::Bar(part) => bar(*part),
        _ => cell.written().unwrap_or("-".into()).into_owned(),
    }
}

/// A bar for a part of the whole, which may be negative.
fn bar(part: f64) -> String {
    let length = (part.abs().min(1.0) * BAR).round() as usize;
    let bar = "█".repeat(length);
    if part < 0.0 { format!("-{bar}") } else { bar }
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
    /// Fits the columns into `limit` characters, if there is a limit: columns of text become
    /// narrower, then the last column is wrapped, then whole columns are dropped. `sample` are the
    /// cells of the first rows.
    fn new(
        columns: Vec<Column>,
        sample: impl Iterator<Item = Vec<String>>,
        limit: Option<usize>,
    ) -> Self {
        let headings = columns.iter().map(|column| column.heading.width());
        let mut widths: Vec<usize> = headings.collect();
        for cells in sample {
            for (width, cell) in widths.iter_mut().zip(&cells) {
                *width = printable(cell).width().min(MAX_PADDED).max(*width);
            }
        }
        let mut layout = Self {
            columns,
            widths: widths.into_iter().map(Some).collect(),
            is_limited: limit.is_some(),
        };
        if let Some(limit) = limit {
            layout.fit(limit);
        }
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
pub(crate) fn cut(text: &str, width: usize) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

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

    fn drawn(rows: &[Vec<String>], limit: Option<usize>) -> (String, Vec<String>) {
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
        assert_eq!(drawn(&rows, None), (expected.to_owned(), vec![]));
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
            let (text, dropped) = drawn(&rows, Some(limit));
            let widest = text.lines().map(UnicodeWidthStr::width).max();
            assert!(widest <= Some(limit.max(8)), "{limit}: {text}");
            assert_eq!(dropped.is_empty(), limit >= 52, "{limit}: {text}");
        }
        let (text, dropped) = drawn(&rows, Some(52));
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
        let (text, _) = drawn(&[row(["1", "\u{1b}[2J", "日本", "1", ""])], None);
        assert!(text.contains(r"\x1b[2J  日本   "), "{text}");
    }
}
