//! The tables that Slurm's tools print: cells separated by `|`, columns below a line of dashes, or
//! words.

use std::borrow::Cow;
use std::fmt::{self, Display};

/// A place in a document with associations.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// A `line`, or an `entry` of a JSON list.
    pub what: &'static str,
    /// Counted from 1.
    pub number: usize,
}

impl Place {
    pub fn line(number: usize) -> Self {
        Self {
            what: "line",
            number,
        }
    }

    /// A fault there that Slurm would neither write nor accept, in words that follow the name of the
    /// document.
    pub fn fault(self, text: impl Display) -> String {
        format!(", {self}: {text}")
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.what, self.number)
    }
}

/// A table with its header parsed.
#[derive(Debug)]
pub struct Table<'t> {
    text: &'t str,
    header: &'t str,
    columns: Columns,
    names: Vec<String>,
    first_row: usize,
    /// The cluster of a line `CLUSTER: name` above the header.
    cluster: Option<&'t str>,
}

#[derive(Debug)]
enum Columns {
    Piped,
    /// Words, of which the last ones of a row may be missing.
    Words,
    /// The start and the width of each column, in bytes.
    Fixed(Vec<(usize, usize)>),
}

impl Columns {
    /// The cells of a line. Text that is wider than its column of a fixed width moves the columns
    /// after it to the right.
    fn cells<'t>(&self, line: &'t str) -> Vec<Cow<'t, str>> {
        let spans = match self {
            Self::Piped => return line.split('|').map(Cow::Borrowed).collect(),
            Self::Words => return line.split_ascii_whitespace().map(Cow::Borrowed).collect(),
            Self::Fixed(spans) => spans,
        };
        let bytes = line.as_bytes();
        let mut shift = 0;
        let mut cells = Vec::with_capacity(spans.len());
        for (start, width) in spans {
            let start = (start + shift).min(bytes.len());
            let mut end = (start + width).min(bytes.len());
            while end < bytes.len() && !bytes[end].is_ascii_whitespace() {
                end += 1;
                shift += 1;
            }
            cells.push(String::from_utf8_lossy(&bytes[start..end]));
        }
        cells
    }
}

/// The place of a row, and its cells.
pub struct Row<'s> {
    pub place: Place,
    /// The cluster of the last line `CLUSTER: name` above it.
    pub cluster: Option<&'s str>,
    names: &'s [String],
    cells: Vec<Cow<'s, str>>,
    /// What is wrong if it has another number of cells than the header.
    fault: Option<String>,
}

impl Row<'_> {
    /// The row, if it has as many cells as the header.
    pub fn require_whole(self) -> Result<Self, String> {
        match self.fault {
            Some(fault) => Err(fault),
            None => Ok(self),
        }
    }

    /// The cell of a column without its leading and trailing blanks; empty if there is no such
    /// column.
    pub fn cell(&self, column: &str) -> &str {
        self.padded_cell(column).trim()
    }

    /// The cell of a column with its leading and trailing blanks.
    pub fn padded_cell(&self, column: &str) -> &str {
        position(self.names, column).map_or("", |index| self.cell_at(index))
    }

    /// The cell at an index as it is.
    pub fn cell_at(&self, index: usize) -> &str {
        match self.cells.get(index) {
            Some(cell) => cell,
            None => "",
        }
    }
}

/// The index of the first column with a name.
fn position(names: &[String], name: &str) -> Option<usize> {
    names.iter().position(|column| is_column(column, name))
}

/// Whether a column, without the blanks in its name, has that name, which may be cut at the
/// column's width.
fn is_column(column: &str, name: &str) -> bool {
    match column.strip_suffix('+') {
        Some(start) => start.len() > 3 && name.starts_with(start),
        None => column.eq_ignore_ascii_case(name),
    }
}

impl<'t> Table<'t> {
    /// The table that a text begins with.
    pub fn parse(text: &'t str) -> Option<Self> {
        let mut table = Self::of_words(text)?;
        if table.columns_are_words() {
            let (number, rule) = table.lines().next()?;
            table.columns = Columns::Fixed(spans(rule)?);
            table.first_row = number;
            table.read_names();
        }
        Some(table)
    }

    /// The table that a text begins with, in which words are columns if nothing else separates them.
    pub fn of_words(text: &'t str) -> Option<Self> {
        let mut lines = (1..).zip(text.lines());
        let mut first = || lines.find(|(_, line)| is_content(line));
        let (mut number, mut header) = first()?;
        let cluster = cluster_line(header);
        if cluster.is_some() {
            (number, header) = first()?;
        }
        let columns = if header.contains('|') {
            Columns::Piped
        } else {
            Columns::Words
        };
        let mut table = Self {
            text,
            header,
            columns,
            names: Vec::new(),
            first_row: number,
            cluster,
        };
        table.read_names();
        Some(table)
    }

    fn read_names(&mut self) {
        self.names.clear();
        for name in self.columns.cells(self.header) {
            // older releases print blanks, `Raw Shares`
            self.names.push(name.replace(' ', ""));
        }
    }

    fn columns_are_words(&self) -> bool {
        matches!(self.columns, Columns::Words)
    }

    /// The lines below the header, with their numbers.
    fn lines(&self) -> impl Iterator<Item = (usize, &'t str)> {
        (1..)
            .zip(self.text.lines())
            .skip(self.first_row)
            .filter(|(_, line)| is_content(line))
    }

    /// What is said if the last line has no line end. One of words is no row then.
    pub fn unended(&self) -> Option<String> {
        if self.text.ends_with('\n') || self.columns_are_words() {
            return None;
        }
        let line = self.text.lines().count();
        Some(format!(
            "line {line} has no line end: the file may be cut off"
        ))
    }

    /// The index of the first column with a name.
    pub fn column(&self, name: &str) -> Option<usize> {
        position(&self.names, name)
    }

    pub fn has(&self, name: &str) -> bool {
        self.column(name).is_some()
    }

    /// The indices of all columns with a name.
    pub fn columns(&self, name: &str) -> impl Iterator<Item = usize> {
        (0..self.names.len()).filter(|index| is_column(&self.names[*index], name))
    }

    /// Whether `|` separates the cells.
    pub fn is_piped(&self) -> bool {
        matches!(self.columns, Columns::Piped)
    }

    /// Whether the columns have a fixed width, at which longer names are cut.
    pub fn has_fixed_width(&self) -> bool {
        matches!(self.columns, Columns::Fixed(_))
    }

    /// The rows above the second line `CLUSTER: name`, if there is one. A row with another number
    /// of cells than the header is an error.
    pub fn rows(&self) -> impl Iterator<Item = Result<Row<'_>, String>> {
        self.rows_of_clusters()
            .take_while(|row| row.cluster == self.cluster)
            .map(Row::require_whole)
    }

    /// The rows of all clusters, whole or not: only those of the cluster that is read have to be.
    /// Below each line `CLUSTER: name` the header is repeated.
    pub fn rows_of_clusters(&self) -> impl Iterator<Item = Row<'_>> {
        let mut cluster = self.cluster;
        self.lines().filter_map(move |(number, line)| {
            if let Some(other) = cluster_line(line) {
                cluster = Some(other);
                return None;
            }
            // also where the outputs of several calls are one file
            let is_header = line == self.header || cluster != self.cluster && spans(line).is_some();
            (!is_header).then(|| self.row(Place::line(number), cluster, line))
        })
    }

    fn row<'s>(&'s self, place: Place, cluster: Option<&'s str>, line: &'s str) -> Row<'s> {
        let cells = self.columns.cells(line);
        let (found, expected) = (cells.len(), self.names.len());
        let is_whole = if self.columns_are_words() {
            // the last cells may be blank, and whether the last word is whole shows only the line end
            line.as_bytes().as_ptr_range().end < self.text.as_bytes().as_ptr_range().end
        } else {
            found == expected
        };
        let mut fault = None;
        if !is_whole {
            let advice = if found > expected {
                ": is there a `|` in a name?"
            } else {
                "; was it cut off?"
            };
            fault = Some(place.fault(format_args!(
                "it has {found} cells, but the header has {expected}{advice}"
            )));
        }
        Row {
            place,
            cluster,
            names: &self.names,
            cells,
            fault,
        }
    }
}

fn is_content(line: &str) -> bool {
    !line.trim().is_empty() && !line.starts_with('#')
}

fn cluster_line(line: &str) -> Option<&str> {
    line.strip_prefix("CLUSTER: ").map(str::trim)
}

/// The columns below a line of dashes; `None` if the line contains anything else.
fn spans(rule: &str) -> Option<Vec<(usize, usize)>> {
    if !rule.bytes().all(|byte| matches!(byte, b'-' | b' ' | b'\r')) {
        return None;
    }
    let mut spans = Vec::new();
    let mut start = 0;
    for run in rule.split(' ') {
        let width = run.trim_end().len();
        if width > 0 {
            spans.push((start, width));
        }
        start += run.len() + 1;
    }
    (!spans.is_empty()).then_some(spans)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_wider_than_its_column_moves_the_rest() {
        let text = "Account    RawUsage User\n---------- ------- ----\n root      123456789012  ann\n b               7  bob\n";
        let table = Table::parse(text).expect("a table");
        let rows: Vec<Vec<String>> = table
            .rows()
            .map(|row| {
                row.expect("sound")
                    .cells
                    .iter()
                    .map(|cell| cell.trim_end().to_owned())
                    .collect()
            })
            .collect();
        assert_eq!(
            rows,
            [[" root", "123456789012", " ann"], [" b", "      7", " bob"]]
        );
    }
}
