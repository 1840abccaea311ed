//! Parses the tables of Slurm's tools: cells separated by `|`, or columns below a line of dashes.

use std::borrow::Cow;

use crate::tree::Place;

/// A table with its header parsed.
#[derive(Debug)]
pub(crate) struct Table<'t> {
    text: &'t str,
    columns: Columns,
    names: Vec<String>,
    first_row: usize,
    /// The cluster of a line `CLUSTER: name` above the header.
    pub(crate) cluster: Option<&'t str>,
}

#[derive(Debug)]
enum Columns {
    Piped,
    /// The start and the width of each column, in bytes.
    Fixed(Vec<(usize, usize)>),
}

/// The place of a row, and its cells with their leading and trailing blanks.
pub(crate) struct Row<'t> {
    pub(crate) place: Place,
    pub(crate) cells: Vec<Cow<'t, str>>,
}

impl Row<'_> {
    /// The cell without its leading and trailing blanks; empty if there is no such column.
    pub(crate) fn cell(&self, column: Option<usize>) -> &str {
        column
            .and_then(|column| self.cells.get(column))
            .map_or("", |cell| cell.trim())
    }
}

/// Whether a column has that name, which may be cut at the column's width.
pub(crate) fn is_column(column: &str, name: &str) -> bool {
    match column.strip_suffix('+') {
        Some(start) => start.len() > 3 && name.starts_with(start),
        // older releases print blanks, `Raw Shares`
        None => column
            .split(' ')
            .collect::<String>()
            .eq_ignore_ascii_case(&name.replace(' ', "")),
    }
}

/// The names in the header, if the text begins with one.
pub(crate) fn header(text: &str) -> Option<Vec<String>> {
    Table::parse(text).map(|table| table.names)
}

impl<'t> Table<'t> {
    /// The table of associations that a text begins with.
    pub(crate) fn parse(text: &'t str) -> Option<Self> {
        Self::parse_with(text, "Account")
    }

    /// The table that a text begins with; one with cells separated by `|` must have a column.
    pub(crate) fn parse_with(text: &'t str, column: &str) -> Option<Self> {
        let mut lines = text
            .lines()
            .enumerate()
            .filter(|(_, line)| is_content(line));
        let (mut at, mut line) = lines.next()?;
        let cluster = cluster_line(line);
        if cluster.is_some() {
            (at, line) = lines.next()?;
        }
        if line.contains('|') {
            let names: Vec<String> = line.split('|').map(|name| name.trim().to_owned()).collect();
            let is_header = names.iter().any(|name| is_column(name, column));
            return is_header.then(|| Self {
                text,
                columns: Columns::Piped,
                names,
                first_row: at + 1,
                cluster,
            });
        }
        let (rule_at, spans) = match lines
            .next()
            .and_then(|(rule_at, rule)| Some((rule_at, spans(rule)?)))
        {
            Some(found) => found,
            None => (at, spans_of_header(line)?),
        };
        let names = cells(line, &spans)
            .iter()
            .map(|name| name.trim().to_owned())
            .collect();
        Some(Self {
            text,
            columns: Columns::Fixed(spans),
            names,
            first_row: rule_at + 1,
            cluster,
        })
    }

    /// What is said if the last line has no line end.
    pub(crate) fn unended(&self) -> Option<String> {
        let line = self.text.lines().count();
        (!self.text.ends_with('\n'))
            .then(|| format!("line {line} has no line end: the file may be cut off"))
    }

    /// The index of the column with one of these names.
    pub(crate) fn column(&self, names: &[&str]) -> Option<usize> {
        names
            .iter()
            .find_map(|name| self.names.iter().position(|column| is_column(column, name)))
    }

    /// The indices of all columns with a name.
    pub(crate) fn columns(&self, name: &str) -> impl Iterator<Item = usize> {
        let columns = self.names.iter().enumerate();
        columns
            .filter(move |(_, column)| is_column(column, name))
            .map(|(index, _)| index)
    }

    /// The index of a required column.
    pub(crate) fn required(
        &self,
        column: &'static str,
        advice: &'static str,
    ) -> Result<usize, String> {
        self.column(&[column])
            .ok_or_else(|| format!(" has no column `{column}`: {advice}"))
    }

    /// Whether the columns have a fixed width, at which longer names are cut.
    pub(crate) fn is_fixed(&self) -> bool {
        matches!(self.columns, Columns::Fixed(_))
    }

    /// The rows above the second line `CLUSTER: name`, if there is one. A row with another number
    /// of cells than the header is an error.
    pub(crate) fn rows<'s>(&'s self) -> impl Iterator<Item = Result<Row<'t>, String>> + 's {
        let lines = self
            .text
            .lines()
            .enumerate()
            .skip(self.first_row)
            .filter(|(_, line)| is_content(line));
        let lines = lines.take_while(|(_, line)| cluster_line(line).is_none());
        lines.map(move |(at, line)| {
            let place = Place::Line(at + 1);
            let cells = match &self.columns {
                Columns::Piped => line.split('|').map(Cow::Borrowed).collect::<Vec<_>>(),
                Columns::Fixed(spans) => cells(line, spans),
            };
            match (cells.len(), self.names.len()) {
                (found, expected) if found == expected => Ok(Row { place, cells }),
                (found, expected) => Err(cell_count_fault(place, found, expected)),
            }
        })
    }

    /// The number of rows below the second line `CLUSTER: name`.
    pub(crate) fn rows_of_other_clusters(&self) -> usize {
        let lines = self
            .text
            .lines()
            .skip(self.first_row)
            .skip_while(|line| cluster_line(line).is_none());
        lines
            .filter(|line| {
                is_content(line)
                    && cluster_line(line).is_none()
                    && !line.trim_start().starts_with("Account")
                    && spans(line).is_none()
            })
            .count()
    }

    /// The place of the second line `CLUSTER: name`, if there is one, and the cluster that it
    /// names.
    pub(crate) fn next_cluster(&self) -> Option<(Place, &'t str)> {
        let mut lines = self.text.lines().enumerate().skip(self.first_row);
        lines.find_map(|(at, line)| Some((Place::Line(at + 1), cluster_line(line)?)))
    }
}

/// The fault of a line with more or fewer cells than the header.
fn cell_count_fault(place: Place, found: usize, expected: usize) -> String {
    let advice = if found > expected {
        ": is there a `|` in a name?"
    } else {
        "; was it cut off?"
    };
    place.fault(format_args!(
        "it has {found} cells, but the header has {expected}{advice}"
    ))
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
    let mut rest = header[start..].char_indices().peekable();
    for expected in name.chars() {
        while expected.is_ascii_uppercase()
            && rest.peek().is_some_and(|&(at, c)| at > 0 && c == ' ')
        {
            rest.next();
        }
        rest.next()
            .filter(|(_, c)| c.eq_ignore_ascii_case(&expected))?;
    }
    let end = rest.peek().map_or(header.len() - start, |&(at, _)| at);
    header[start + end..]
        .chars()
        .next()
        .is_none_or(|c| c.is_ascii_whitespace())
        .then_some(end)
}

/// The cells of a line in columns of fixed width. Text that is wider than its column moves the
/// columns after it to the right.
fn cells<'t>(line: &'t str, spans: &[(usize, usize)]) -> Vec<Cow<'t, str>> {
    let bytes = line.as_bytes();
    let mut shift = 0;
    let cut = spans.iter().map(|&(start, width)| {
        let start = (start + shift).min(bytes.len());
        let mut end = (start + width).min(bytes.len());
        while bytes
            .get(end)
            .is_some_and(|byte| !byte.is_ascii_whitespace())
        {
            end += 1;
            shift += 1;
        }
        String::from_utf8_lossy(&bytes[start..end])
    });
    cut.collect()
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
