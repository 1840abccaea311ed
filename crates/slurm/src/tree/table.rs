//! Parses the tables of Slurm's tools: cells separated by `|`, or columns below a line of dashes.

use std::borrow::Cow;

use crate::tree::Place;

/// A table with its header parsed.
#[derive(Debug)]
pub struct Table<'t> {
    text: &'t str,
    columns: Columns,
    names: Vec<String>,
    first_row: usize,
    /// The cluster of a line `CLUSTER: name` above the header.
    pub cluster: Option<&'t str>,
}

#[derive(Debug)]
enum Columns {
    Piped,
    /// The start and the width of each column, in bytes.
    Fixed(Vec<(usize, usize)>),
}

impl Columns {
    /// The cells of a line. Text that is wider than its column of a fixed width moves the columns
    /// after it to the right.
    fn cells<'t>(&self, line: &'t str) -> Vec<Cow<'t, str>> {
        let Self::Fixed(spans) = self else {
            return line.split('|').map(Cow::Borrowed).collect();
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

/// The place of a row, and its cells with their leading and trailing blanks.
pub struct Row<'t> {
    pub place: Place,
    cells: Vec<Cow<'t, str>>,
}

impl Row<'_> {
    /// The cell without its leading and trailing blanks; empty if there is no such column.
    pub fn cell(&self, column: Option<usize>) -> &str {
        match column {
            Some(column) => self.padded_cell(column).trim(),
            None => "",
        }
    }

    /// The cell with its leading and trailing blanks; empty if there is no such column.
    pub fn padded_cell(&self, column: usize) -> &str {
        match self.cells.get(column) {
            Some(cell) => cell,
            None => "",
        }
    }
}

/// Whether a column has that name, which may be cut at the column's width.
pub fn is_column(column: &str, name: &str) -> bool {
    match column.strip_suffix('+') {
        Some(start) => start.len() > 3 && name.starts_with(start),
        // older releases print blanks, `Raw Shares`
        None => column
            .replace(' ', "")
            .eq_ignore_ascii_case(&name.replace(' ', "")),
    }
}

impl<'t> Table<'t> {
    /// The table of associations that a text begins with.
    pub fn parse(text: &'t str) -> Option<Self> {
        Self::parse_with(text, "Account")
    }

    /// The table that a text begins with; one with cells separated by `|` must have a column.
    pub fn parse_with(text: &'t str, column: &str) -> Option<Self> {
        let mut lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| is_content(line));
        let (mut at, mut line) = lines.next()?;
        let cluster = cluster_line(line);
        if cluster.is_some() {
            (at, line) = lines.next()?;
        }
        let columns = if line.contains('|') {
            Columns::Piped
        } else if let Some((rule_at, rule)) = lines.next()
            && let Some(spans) = spans(rule)
        {
            at = rule_at;
            Columns::Fixed(spans)
        } else {
            Columns::Fixed(spans_of_header(line)?)
        };
        let mut names = Vec::new();
        for name in columns.cells(line) {
            names.push(name.trim().to_owned());
        }
        let table = Self {
            text,
            columns,
            names,
            first_row: at + 1,
            cluster,
        };
        (table.is_fixed() || table.column(column).is_some()).then_some(table)
    }

    /// What is said if the last line has no line end.
    pub fn unended(&self) -> Option<String> {
        if self.text.ends_with('\n') {
            return None;
        }
        let line = self.text.lines().count();
        Some(format!(
            "line {line} has no line end: the file may be cut off"
        ))
    }

    /// The index of the first column with a name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|column| is_column(column, name))
    }

    pub fn has(&self, name: &str) -> bool {
        self.column(name).is_some()
    }

    /// The indices of all columns with a name.
    pub fn columns(&self, name: &str) -> impl Iterator<Item = usize> {
        let columns = self.names.iter().enumerate();
        columns
            .filter(move |(_, column)| is_column(column, name))
            .map(|(index, _)| index)
    }

    /// The index of a required column.
    pub fn required(&self, column: &'static str, advice: &'static str) -> Result<usize, String> {
        self.column(column)
            .ok_or_else(|| format!(" has no column `{column}`: {advice}"))
    }

    /// Whether the columns have a fixed width, at which longer names are cut.
    pub fn is_fixed(&self) -> bool {
        matches!(self.columns, Columns::Fixed(_))
    }

    /// The lines below the header, with their indices.
    fn lines(&self) -> impl Iterator<Item = (usize, &'t str)> + use<'t> {
        let lines = self.text.lines().enumerate().skip(self.first_row);
        lines.filter(|(_, line)| is_content(line))
    }

    /// The rows above the second line `CLUSTER: name`, if there is one. A row with another number
    /// of cells than the header is an error.
    pub fn rows<'s>(&'s self) -> impl Iterator<Item = Result<Row<'t>, String>> + 's {
        self.lines()
            .take_while(|(_, line)| cluster_line(line).is_none())
            .map(move |(at, line)| self.row(Place::Line(at + 1), line))
    }

    fn row(&self, place: Place, line: &'t str) -> Result<Row<'t>, String> {
        let cells = self.columns.cells(line);
        let (found, expected) = (cells.len(), self.names.len());
        if found == expected {
            return Ok(Row { place, cells });
        }
        let advice = if found > expected {
            ": is there a `|` in a name?"
        } else {
            "; was it cut off?"
        };
        Err(place.fault(format_args!(
            "it has {found} cells, but the header has {expected}{advice}"
        )))
    }

    /// The place of the second line `CLUSTER: name`, if there is one, the cluster that it names, and
    /// the number of rows below it.
    pub fn other_clusters(&self) -> Option<(Place, &'t str, usize)> {
        let mut found = None;
        for (at, line) in self.lines() {
            match (cluster_line(line), &mut found) {
                (Some(cluster), None) => found = Some((Place::Line(at + 1), cluster, 0)),
                (None, Some((_, _, rows)))
                    if !line.trim_start().starts_with("Account") && spans(line).is_none() =>
                {
                    *rows += 1;
                }
                _ => {}
            }
        }
        found
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

/// The columns of `sshare`, and their widths.
const SSHARE_COLUMNS: [(&str, usize); 14] = [
    ("Account", 20),
    ("User", 10),
    ("Partition", 12),
    ("RawShares", 10),
    ("NormShares", 11),
    ("RawUsage", 11),
    ("NormUsage", 11),
    ("EffectvUsage", 13),
    ("FairShare", 10),
    ("LevelFS", 10),
    ("GrpTRESMins", 30),
    ("TRESRunMins", 30),
    ("GrpCPUMins", 11),
    ("CPURunMins", 15),
];

/// The columns below a header without a line of dashes; `None` unless the header consists of more
/// than two of the columns of `sshare`. All columns but the first are aligned to the right.
fn spans_of_header(header: &str) -> Option<Vec<(usize, usize)>> {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    let mut at = 0;
    while let Some(offset) = header[at..].find(|c: char| !c.is_ascii_whitespace()) {
        let start = at + offset;
        let (width, length) = SSHARE_COLUMNS
            .iter()
            .find_map(|&(name, width)| Some((width, name_at(header, start, name)?)))?;
        let end = start + length;
        spans.push(match spans.last() {
            None if start == 0 => (0, width),
            None => (end.saturating_sub(width), width.min(end)),
            Some(&(before, size)) => {
                let first = end.saturating_sub(width).max(before + size + 1).min(start);
                (first, end - first)
            }
        });
        at = end;
    }
    (spans.len() > 2).then_some(spans)
}

/// The length of `name`, with the blanks that the header may have before its capital letters, if
/// the header has it at `start` and it ends there.
fn name_at(header: &str, start: usize, name: &str) -> Option<usize> {
    let rest = &header.as_bytes()[start..];
    let mut end = 0;
    for expected in name.bytes() {
        while end > 0 && expected.is_ascii_uppercase() && rest.get(end) == Some(&b' ') {
            end += 1;
        }
        if !rest.get(end)?.eq_ignore_ascii_case(&expected) {
            return None;
        }
        end += 1;
    }
    match rest.get(end) {
        Some(after) if !after.is_ascii_whitespace() => None,
        _ => Some(end),
    }
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
