//! A table whose rows are written as they come: the first rows decide the widths of the columns.

use std::io::{self, Write};

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::terminal::{excerpt, printable};

/// The number of blanks between two columns.
const GAP: usize = 2;
/// A column of names is not made narrower than this.
const MIN_TEXT: usize = 8;
/// A column of ids, whose start says which one it is, is not made narrower than this.
const MIN_ID: usize = 16;
/// A column of a tree's names, with the lines that join them, is not made narrower than this.
const MIN_TREE_NAME: usize = 32;
/// The last column is wrapped if at least this much is left for it; otherwise it is dropped.
const MIN_WRAPPED: usize = 16;

/// About how many bytes of a table are written at once.
const BUFFER: usize = 64 << 10;

/// A column is not made wider than this: a cell that is longer moves the rest of its row, and not every other row.
const MAX_PADDED: usize = 200;

/// A column of a table.
#[derive(Debug, Clone)]
pub(super) struct Column {
    heading: String,
    kind: ColumnKind,
    /// Of the columns that do not fit, those of the lowest importance are dropped first.
    importance: u8,
}

/// How a cell is fitted into its column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ColumnKind {
    /// Aligned to the right, never cut.
    Number,
    /// Aligned to the left, cut if it is too long.
    Text {
        /// The least width.
        min: usize,
    },
    /// A part of a formula: aligned to the left, its middle left out if it is too long.
    Code,
    /// The last column, wrapped if it is too long.
    Wrapped,
}

impl Column {
    pub(super) fn number(heading: impl Into<String>, importance: u8) -> Self {
        Self { heading: heading.into(), kind: ColumnKind::Number, importance }
    }

    pub(super) fn text(heading: impl Into<String>, importance: u8) -> Self {
        Self { heading: heading.into(), kind: ColumnKind::Text { min: MIN_TEXT }, importance }
    }

    pub(super) fn id(heading: impl Into<String>, importance: u8) -> Self {
        Self { heading: heading.into(), kind: ColumnKind::Text { min: MIN_ID }, importance }
    }

    pub(super) fn code(heading: impl Into<String>, importance: u8) -> Self {
        Self { heading: heading.into(), kind: ColumnKind::Code, importance }
    }

    pub(super) fn name(heading: impl Into<String>, importance: u8) -> Self {
        Self { heading: heading.into(), kind: ColumnKind::Text { min: MIN_TREE_NAME }, importance }
    }

    pub(super) fn wrapped(heading: impl Into<String>, importance: u8) -> Self {
        Self { heading: heading.into(), kind: ColumnKind::Wrapped, importance }
    }
}

/// The columns of a table that are shown, and their widths.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    columns: Vec<Column>,
    /// By column; `None` for a column that is dropped.
    widths: Vec<Option<usize>>,
    is_limited: bool,
}

/// Writes a whole table that fits into `width` characters, if there is a limit, and names the columns that do not fit.
///
/// # Errors
/// `out` cannot be written.
pub(super) fn write_table(
    columns: Vec<Column>,
    rows: &[Vec<String>],
    width: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_rows(columns, || rows.iter(), width, out)
}

/// [`write_table`] of rows that are made twice, to measure and to write them: the cells of all rows may take far more memory
/// than what they show.
///
/// # Errors
/// `out` cannot be written.
pub(super) fn write_rows<R: AsRef<[String]>, I: Iterator<Item = R>>(
    columns: Vec<Column>,
    rows: impl Fn() -> I,
    width: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let layout = Layout::new(columns, rows(), width);
    let mut text = Vec::new();
    layout.write_heading(&mut text);
    for cells in rows() {
        layout.write_row(cells.as_ref(), &mut text);
        if text.len() > BUFFER {
            out.write_all(&text)?;
            text.clear();
        }
    }
    out.write_all(&text)?;
    match layout.dropped().as_slice() {
        [] => Ok(()),
        dropped => writeln!(out, "columns left out: {}; --wide shows all", printable(&dropped.join(", "))),
    }
}

impl Layout {
    /// Fits the columns into `limit` characters, if there is a limit: columns of text become narrower, then the last
    /// column is wrapped, then whole columns are dropped. `sample` are the cells of the first rows.
    pub(super) fn new(
        columns: Vec<Column>,
        sample: impl Iterator<Item = impl AsRef<[String]>>,
        limit: Option<usize>,
    ) -> Self {
        let mut widths: Vec<usize> = columns.iter().map(|column| column.heading.width()).collect();
        for cells in sample {
            for (width, cell) in widths.iter_mut().zip(cells.as_ref()) {
                *width = printable(cell).width().min(MAX_PADDED).max(*width);
            }
        }
        let widths = widths.into_iter().map(Some).collect();
        let mut layout = Self { columns, widths, is_limited: limit.is_some() };
        if let Some(limit) = limit {
            layout.fit(limit);
        }
        layout
    }

    fn fit(&mut self, limit: usize) {
        loop {
            let is_wrapped = |kind: ColumnKind| (kind == ColumnKind::Wrapped).then_some(MIN_WRAPPED);
            let is_text = |kind: ColumnKind| match kind {
                ColumnKind::Text { min } => Some(min),
                ColumnKind::Code => Some(MIN_TREE_NAME),
                _ => None,
            };
            if self.narrow(limit, is_wrapped) || self.narrow(limit, is_text) {
                return;
            }
            let shown = (0..self.columns.len()).filter(|&index| self.widths[index].is_some());
            let least = shown.clone().min_by_key(|&index| (self.columns[index].importance, usize::MAX - index));
            match least.filter(|_| shown.count() > 1) {
                Some(index) => self.widths[index] = None,
                None => return,
            }
        }
    }

    /// Makes columns narrower, the widest first, and returns whether the table fits. `min` gives the least width of the
    /// columns that can be narrower.
    fn narrow(&mut self, limit: usize, min: impl Fn(ColumnKind) -> Option<usize>) -> bool {
        while self.total() > limit {
            let can_shrink = |index: &usize| {
                let column = &self.columns[*index];
                let least = min(column.kind).map(|min| min.max(column.heading.width()));
                least.is_some_and(|least| self.widths[*index].is_some_and(|width| width > least))
            };
            let widest = (0..self.columns.len()).filter(can_shrink).max_by_key(|&index| self.widths[index]);
            let Some(width) = widest.and_then(|index| self.widths[index].as_mut()) else { return false };
            *width -= 1;
        }
        true
    }

    fn total(&self) -> usize {
        let shown = self.widths.iter().flatten();
        shown.clone().sum::<usize>() + GAP * shown.count().saturating_sub(1)
    }

    /// The headings of the columns that are dropped.
    pub(super) fn dropped(&self) -> Vec<&str> {
        let is_dropped = |(column, width): (_, &Option<usize>)| width.is_none().then_some(column);
        self.columns.iter().zip(&self.widths).filter_map(is_dropped).map(|column: &Column| &*column.heading).collect()
    }

    /// Appends the line of headings.
    pub(super) fn write_heading(&self, text: &mut Vec<u8>) {
        self.write_row(&self.columns.iter().map(|column| column.heading.clone()).collect::<Vec<_>>(), text);
    }

    /// Appends a row: one line, and further ones if its last cell is wrapped.
    pub(super) fn write_row(&self, cells: &[String], text: &mut Vec<u8>) {
        let (mut line, mut at, mut rest) = (String::new(), 0, Vec::new());
        for ((column, width), cell) in self.columns.iter().zip(&self.widths).zip(cells) {
            let Some(width) = *width else { continue };
            if at > 0 {
                at += GAP;
                line.extend(std::iter::repeat_n(' ', at.saturating_sub(line.width()).max(GAP)));
            }
            let cell = printable(cell);
            match column.kind {
                ColumnKind::Number => {
                    line.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.width())));
                    line.push_str(&cell);
                }
                ColumnKind::Text { .. } if self.is_limited && cell.width() > width => line.push_str(&cut(&cell, width)),
                ColumnKind::Code if self.is_limited && cell.width() > width => line.push_str(&excerpt(&cell, width)),
                ColumnKind::Wrapped if self.is_limited && cell.width() > width => {
                    rest = wrapped(&cell, width);
                    line.push_str(&rest.remove(0));
                }
                ColumnKind::Text { .. } | ColumnKind::Code | ColumnKind::Wrapped => line.push_str(&cell),
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

/// The start of a text, with an ellipsis.
fn cut(text: &str, width: usize) -> String {
    let (mut shown, mut used) = (String::new(), 0);
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used >= width {
            break;
        }
        shown.push(character);
    }
    shown + "…"
}

/// Writes a sentence in lines of `width` characters, if there is a limit.
///
/// # Errors
/// `out` cannot be written.
pub(super) fn write_prose(text: &str, width: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    match width {
        Some(width) if text.width() > width => wrapped(text, width).iter().try_for_each(|line| writeln!(out, "{line}")),
        _ => writeln!(out, "{text}"),
    }
}

/// The lines of a text, broken between words, and within words that are longer than a line. There is at least one.
fn wrapped(text: &str, width: usize) -> Vec<String> {
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
    lines.iter_mut().for_each(|line| line.truncate(line.trim_end().len()));
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
        let layout = Layout::new(columns(), rows[..1].iter(), limit);
        let mut text = Vec::new();
        layout.write_heading(&mut text);
        rows.iter().for_each(|cells| layout.write_row(cells, &mut text));
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
            row(["1", "12.kestrel", "a-long-queue-name", "1048576", "error: float division by zero in the last term"]),
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
