//! A document in a terminal: lines of its width, and tables whose least important columns are
//! dropped until they fit.

use std::borrow::Cow;
use std::io::{self, Write};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::view::document::table::{Cell, Column, Fit, MIN_TREE_NAME, Table};
use crate::view::document::{Block, Document, DrawingStyle, Fact, Medium, screen};
use crate::view::ordered_writer::write_in_order;
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
        if let Some(height) = self.height {
            return screen::write(self, document, height, out);
        }
        self.write_headline(document, out)?;
        if !document.facts.is_empty() {
            writeln!(out)?;
            self.write_facts(&document.facts, out)?;
        }
        for section in document.text_sections() {
            writeln!(out)?;
            if !section.heading.is_empty() {
                self.write_prose(&section.heading, out)?;
            }
            for block in &section.blocks {
                self.write_block(block, out)?;
            }
        }
        Ok(())
    }

    /// Writes the answer, in bold where there are colours.
    pub(crate) fn write_headline(
        self,
        document: &Document<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if !self.coloured {
            return self.write_prose(&document.headline, out);
        }
        for line in self.lines(|out| self.write_prose(&document.headline, out))? {
            writeln!(out, "\u{1b}[1m{line}\u{1b}[0m")?;
        }
        Ok(())
    }

    /// What `write` writes, as lines.
    pub(crate) fn lines(
        self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<Vec<String>> {
        let mut text = Vec::new();
        write(&mut text)?;
        Ok(String::from_utf8_lossy(&text)
            .lines()
            .map(str::to_owned)
            .collect())
    }

    pub(crate) fn write_block(self, block: &Block<'_>, out: &mut dyn Write) -> io::Result<()> {
        match block {
            Block::Prose(text) => self.write_prose(text, out),
            Block::List(items) => {
                for item in items {
                    self.write_prose(item, out)?;
                }
                Ok(())
            }
            Block::Formulas(formulas) if formulas.old == formulas.new => {
                self.write_prose(&formulas.new, out)
            }
            Block::Formulas(formulas) => {
                let sides = [("old", &formulas.old), ("new", &formulas.new)];
                let facts = sides.map(|(side, formula)| Fact::new(side, formula.clone()));
                self.write_facts(&facts, out)
            }
            Block::Drawn(drawing) => {
                let style = DrawingStyle {
                    coloured: self.coloured,
                    width: self.prose_width,
                };
                writeln!(out, "{}", (drawing.0)(style))
            }
            Block::Table(table) => self.write_table(table, out),
            Block::Chart(_) => Ok(()),
        }
    }

    /// Writes a sentence in lines of the width, if there is a limit.
    pub(crate) fn write_prose(self, text: &str, out: &mut dyn Write) -> io::Result<()> {
        let text = printable(text);
        match self.prose_width {
            Some(width) if text.width() > width => {
                writeln!(out, "{}", wrapped(&text, width).join("\n"))
            }
            _ => writeln!(out, "{text}"),
        }
    }

    /// Writes the headings below each other, and their texts beside them.
    pub(crate) fn write_facts(self, facts: &[Fact], out: &mut dyn Write) -> io::Result<()> {
        /// A text begins in the same column as the others if its heading is at most this wide.
        const MAX_HEADING: usize = 18;
        let headings = facts
            .iter()
            .map(|fact| fact.heading.width() + 1)
            .filter(|width| *width <= MAX_HEADING);
        let indent = headings.max().unwrap_or(0) + 1;
        let width = self
            .prose_width
            .map(|width| width.saturating_sub(indent).max(MIN_WRAPPED));
        for Fact { heading, lines, .. } in facts {
            let mut label = if heading.is_empty() {
                String::new()
            } else {
                format!("{heading}:")
            };
            for line in lines {
                let line = printable(line.trim_end());
                let parts =
                    width.map_or_else(|| vec![line.to_string()], |width| wrapped(&line, width));
                for part in parts {
                    writeln!(
                        out,
                        "{}",
                        format!("{}{part}", padded(&label, indent)).trim_end()
                    )?;
                    label.clear();
                }
            }
        }
        Ok(())
    }

    /// The lines of some rows of a table under its headings, and the headings of the columns that
    /// do not fit.
    pub(crate) fn table_lines(
        self,
        table: &Table<'_>,
        rows: &[usize],
    ) -> (Vec<String>, Vec<String>) {
        let layout = self.layout(table, rows);
        let mut text = Vec::new();
        layout.write_heading(&mut text);
        for &row in rows {
            layout.write_row(&text_cells(table, row), &mut text);
        }
        let text = String::from_utf8_lossy(&text);
        let dropped = layout.dropped().into_iter().map(str::to_owned);
        (text.lines().map(str::to_owned).collect(), dropped.collect())
    }

    fn layout(self, table: &Table<'_>, rows: &[usize]) -> Layout {
        let columns = table
            .columns
            .iter()
            .filter(|column| column.medium != Medium::Page)
            .cloned()
            .collect();
        let sample = rows
            .iter()
            .take(table.measured)
            .map(|&row| text_cells(table, row));
        Layout::new(columns, sample, self.table_width)
    }

    /// Writes a table with all rows, and names the columns that do not fit.
    fn write_table(self, table: &Table<'_>, out: &mut dyn Write) -> io::Result<()> {
        let rows: Vec<usize> = (0..table.len()).collect();
        let layout = self.layout(table, &rows);
        let mut heading = Vec::new();
        layout.write_heading(&mut heading);
        out.write_all(&heading)?;
        write_in_order(&rows, out, |rows, text| {
            for &row in rows {
                layout.write_row(&text_cells(table, row), text);
            }
        })?;
        match layout.dropped().as_slice() {
            [] => Ok(()),
            dropped => self.write_prose(&columns_left_out(dropped), out),
        }
    }
}

/// The note on the columns that do not fit.
pub(crate) fn columns_left_out<S: AsRef<str>>(dropped: &[S]) -> String {
    let names: Vec<&str> = dropped.iter().map(AsRef::as_ref).collect();
    format!("columns left out: {}; --wide shows all", names.join(", "))
}

/// The cells of the columns that text shows.
fn text_cells(table: &Table<'_>, row: usize) -> Vec<String> {
    let shown = table
        .columns
        .iter()
        .zip(table.row(row))
        .filter(|(column, _)| column.medium != Medium::Page);
    shown.map(|(_, cell)| text_of(&cell)).collect()
}

/// A cell as text shows it.
pub(crate) fn text_of(cell: &Cell<'_>) -> String {
    match cell {
        Cell::Node { lines, text, .. } => format!("{lines}{text}"),
        Cell::Bar(part) => bar(*part),
        _ => cell
            .written()
            .map_or_else(|| "-".to_owned(), Cow::into_owned),
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
        let mut widths: Vec<usize> = columns
            .iter()
            .map(|column| column.heading.width())
            .collect();
        for cells in sample {
            for (width, cell) in widths.iter_mut().zip(&cells) {
                *width = printable(cell).width().min(MAX_PADDED).max(*width);
            }
        }
        let widths = widths.into_iter().map(Some).collect();
        let mut layout = Self {
            columns,
            widths,
            is_limited: limit.is_some(),
        };
        if let Some(limit) = limit {
            layout.fit(limit);
        }
        layout
    }

    fn fit(&mut self, limit: usize) {
        while !self.narrow(limit, least_wrapped) && !self.narrow(limit, least_text) {
            let shown = (0..self.columns.len()).filter(|&index| self.widths[index].is_some());
            let least = shown
                .clone()
                .min_by_key(|&index| (self.columns[index].importance, usize::MAX - index));
            match least.filter(|_| shown.count() > 1) {
                Some(index) => self.widths[index] = None,
                None => return,
            }
        }
    }

    /// Makes columns narrower, the widest first, and returns whether the table fits. `min` gives
    /// the least width of the columns that can be narrower.
    fn narrow(&mut self, limit: usize, min: fn(Fit) -> Option<usize>) -> bool {
        while self.total() > limit {
            let wide =
                self.columns
                    .iter()
                    .zip(&self.widths)
                    .enumerate()
                    .filter(|(_, (column, width))| {
                        let least = min(column.fit).map(|min| min.max(column.heading.width()));
                        least.is_some_and(|least| width.is_some_and(|width| width > least))
                    });
            let widest = wide
                .max_by_key(|(_, (_, width))| **width)
                .map(|(index, _)| index);
            let Some(width) = widest.and_then(|index| self.widths[index].as_mut()) else {
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
    fn dropped(&self) -> Vec<&str> {
        let dropped = self
            .columns
            .iter()
            .zip(&self.widths)
            .filter(|(_, width)| width.is_none());
        dropped
            .map(|(column, _)| &*column.heading)
            .filter(|heading| !heading.is_empty())
            .collect()
    }

    /// Appends the line of headings.
    fn write_heading(&self, text: &mut Vec<u8>) {
        self.write_row(
            &self
                .columns
                .iter()
                .map(|column| column.heading.clone())
                .collect::<Vec<_>>(),
            text,
        );
    }

    /// Appends a row: one line, and further ones if its last cell is wrapped.
    fn write_row(&self, cells: &[String], text: &mut Vec<u8>) {
        let mut line = String::new();
        let mut at = 0;
        let mut rest = Vec::new();
        for ((column, width), cell) in self.columns.iter().zip(&self.widths).zip(cells) {
            let Some(width) = *width else { continue };
            if at > 0 {
                at += GAP;
                line.extend(std::iter::repeat_n(
                    ' ',
                    at.saturating_sub(line.width()).max(GAP),
                ));
            }
            let cell = printable(cell);
            let is_long = self.is_limited && cell.width() > width;
            match column.fit {
                Fit::Number => {
                    line.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.width())));
                    line.push_str(&cell);
                }
                Fit::Text { .. } if is_long => line.push_str(&cut(&cell, width)),
                Fit::Code if is_long => line.push_str(&excerpt(&cell, width)),
                Fit::Wrapped if is_long => {
                    rest = first_lines(wrapped(&cell, width));
                    line.push_str(&rest.remove(0));
                }
                Fit::Text { .. } | Fit::Code | Fit::Wrapped => line.push_str(&cell),
            }
            at += width;
        }
        text.extend_from_slice(line.trim_end().as_bytes());
        text.push(b'\n');
        let indent = self.total() - self.widths.last().copied().flatten().unwrap_or(0);
        for part in rest {
            text.extend(std::iter::repeat_n(b' ', indent));
            text.extend_from_slice(part.as_bytes());
            text.push(b'\n');
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
        let mut text = Vec::new();
        layout.write_heading(&mut text);
        rows.iter()
            .for_each(|cells| layout.write_row(cells, &mut text));
        let dropped = layout.dropped().into_iter().map(str::to_owned).collect();
        (String::from_utf8(text).unwrap(), dropped)
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
