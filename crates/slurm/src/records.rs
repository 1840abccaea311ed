//! The forms in which Slurm's tools print: tables, records, values, and the lines of its files.
//!
//! A table has cells separated by `|`, or columns below a line of dashes ([`Table`]). A record has
//! fields `Key=Value`, in several lines with an empty line after each record, or in one line (`-o`)
//! ([`Record`]). A value of another form than is expected is named instead of being taken for none
//! ([`Form`]); amounts of trackable resources (TRES) are `cpu=16,mem=62.50G,gres/gpu=4`
//! ([`TresAmounts`]). In `slurm.conf` and in the files of `sacctmgr` comments are removed, continued
//! lines joined, and escapes resolved ([`logical_lines`]).

use std::borrow::Cow;
use std::fmt::{self, Display};

use jsf_json::clipped;

use crate::times::{TimeLimit, parse_time};

/// The largest `nice` that Slurm accepts, and without its sign the smallest.
const MAX_NICE: i64 = 2_147_483_645;

/// The form of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Whole,
    Count,
    Nice,
    Number,
    Processors,
    Time,
    Limit,
    Memory,
    Amounts,
}

impl Form {
    fn accepts(self, text: &str) -> bool {
        let has_digit = text.contains(|c: char| c.is_ascii_digit());
        match self {
            Self::Whole => text.parse::<i64>().is_ok(),
            Self::Count => text.parse::<u32>().is_ok(),
            Self::Nice => nice(text).is_some(),
            Self::Number => text.parse::<f64>().is_ok_and(f64::is_finite),
            Self::Processors => processors(text).is_some(),
            // words such as `Unknown` mean that there is no value
            Self::Time => !has_digit || parse_time(text).is_some() || text.parse::<i64>().is_ok(),
            Self::Limit => !has_digit || TimeLimit::parse(text) != TimeLimit::OfPartition,
            Self::Memory => parse_amount(text, true).is_some(),
            Self::Amounts => TresAmounts::unreadable_part(text).is_none(),
        }
    }

    pub fn expected(self) -> &'static str {
        match self {
            Self::Whole => "a whole number",
            Self::Count | Self::Processors => "a whole number from 0 to 4294967295",
            Self::Nice => "a whole number from -2147483645 to 2147483645",
            Self::Number => "a number",
            Self::Time => "a time such as `2026-11-27T08:54:58`",
            Self::Limit => "a time such as `1-00:00:00`, or `UNLIMITED`",
            Self::Memory => "an amount of memory such as `4G`",
            Self::Amounts => "amounts such as `cpu=4,mem=8G`",
        }
    }

    /// What is said of a value of another form: the key, what has the value, and the value.
    pub fn fault(self, key: &str, of: &str, value: &str) -> Option<String> {
        if self.accepts(value) {
            return None;
        }
        let (value, expected) = (clipped(value), self.expected());
        Some(format!(
            "`{key}` of {of} is `{value}`, expected {expected}; it is not used"
        ))
    }
}

/// `nice`, if Slurm accepts it. Before 23.02 `squeue --json` prints a negative number as one of 32
/// bits without a sign.
pub fn nice(text: &str) -> Option<i64> {
    let number = match text.parse().ok()? {
        unsigned @ 0x8000_0000..0x1_0000_0000 => unsigned - 0x1_0000_0000,
        number => number,
    };
    (-MAX_NICE..=MAX_NICE).contains(&number).then_some(number)
}

/// A number of processors: a pending job may have a range, `4-8`, and multiples of 1024 are printed
/// as `2K`.
pub fn processors(text: &str) -> Option<u32> {
    let count = parse_amount(text.split('-').next()?, false)?;
    (count.fract() == 0.0 && count <= f64::from(u32::MAX)).then_some(count as u32)
}

/// Amounts by their names in lower case; memory is in MB.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TresAmounts(pub(crate) Vec<(String, f64)>);

impl TresAmounts {
    /// Parses a list; a part that is not an amount is left out, and of several of one name the first
    /// one counts.
    pub fn parse(text: &str) -> Self {
        Self(text.split(',').filter_map(part).collect())
    }

    /// The first part of a list that is not an amount.
    fn unreadable_part(text: &str) -> Option<&str> {
        let mut parts = text.split(',');
        parts.find(|text| !text.trim().is_empty() && part(text).is_none())
    }

    /// The amount of a resource.
    pub(crate) fn get(&self, name: &str) -> Option<f64> {
        let (_, amount) = self.0.iter().find(|(known, _)| known == name)?;
        Some(*amount)
    }

    /// Replaces the memory, which is printed with two decimals of its unit, by the exact number of
    /// MB, if that is printed as this.
    pub(crate) fn refine_memory(&mut self, megabytes: f64) {
        let mut amounts = self.0.iter_mut();
        if let Some((_, printed)) = amounts.find(|(name, _)| name == "mem")
            // half of the second decimal, and a little for the arithmetic
            && (*printed - megabytes).abs() <= 0.006 * unit_of(*printed)
        {
            *printed = megabytes;
        }
    }
}

/// The name and the amount of a part of a list.
fn part(text: &str) -> Option<(String, f64)> {
    let (name, amount) = text.split_once('=')?;
    let name = name.trim().to_ascii_lowercase();
    let is_memory = matches!(name.as_str(), "mem" | "vmem");
    Some((name, parse_amount(amount.trim(), is_memory)?))
}

/// The unit in which so many MB are printed, in MB.
fn unit_of(megabytes: f64) -> f64 {
    let mut unit = 1.0;
    while megabytes >= unit * 1024.0 {
        unit *= 1024.0;
    }
    unit
}

/// A number with a unit in powers of 1024, of which M counts 1 for memory.
pub fn parse_amount(text: &str, is_memory: bool) -> Option<f64> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let steps = match text[number.len()..].chars().next() {
        None if is_memory => 2,
        None => 0,
        Some(unit) => " KMGTPE".find(unit.to_ascii_uppercase())? as i32,
    };
    let scale = 1024_f64.powi(if is_memory { steps - 2 } else { steps });
    let number: f64 = number.parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number * scale)
}

/// A record; keys are found in any case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    fields: Vec<Field>,
    /// The line of the text on which it begins, counted from 1.
    pub line: usize,
    /// The line on which its last field is.
    last_line: usize,
    /// Whether it goes on to what the user wrote, which comes after all that is read.
    reaches_user_text: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Field {
    key: String,
    value: String,
    line: usize,
}

/// How Slurm writes a value that is not set.
const NONE: [&str; 4] = ["", "(null)", "N/A", "NONE"];

impl Record {
    /// A record without fields that begins on a line.
    pub fn at(line: usize) -> Self {
        Self {
            line,
            ..Self::default()
        }
    }

    /// Gives a key a value, unless it has one.
    pub fn set_first(&mut self, key: &str, value: &str, line: usize) {
        if self.get(key).is_none() {
            self.set(key, value, line);
        }
    }

    /// The value of a key, if it is set.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.raw(key).filter(|value| !NONE.contains(value))
    }

    fn raw(&self, key: &str) -> Option<&str> {
        Some(&self.field(key)?.value)
    }

    fn field(&self, key: &str) -> Option<&Field> {
        let mut fields = self.fields.iter();
        fields.find(|field| field.key.eq_ignore_ascii_case(key))
    }

    /// A number that is the value of a key.
    pub fn number<N: std::str::FromStr>(&self, key: &str) -> Option<N> {
        self.get(key)?.parse().ok()
    }

    /// What is said of values that have another form than the one of their key.
    pub fn faults(&self, forms: &[(&str, Form)], of: &str) -> Vec<String> {
        let mut faults = Vec::new();
        for (key, form) in forms {
            if let Some(field) = self.field(key)
                && !NONE.contains(&field.value.as_str())
                && let Some(fault) = form.fault(key, of, &field.value)
            {
                // JSON has no lines
                faults.push(match field.line {
                    0 => fault,
                    line => format!("line {line}: {fault}"),
                });
            }
        }
        faults
    }

    /// Gives a key a value, which replaces one that it has.
    pub fn set(&mut self, key: &str, value: &str, line: usize) {
        self.last_line = line;
        for known in &mut self.fields {
            if known.key.eq_ignore_ascii_case(key) {
                value.clone_into(&mut known.value);
                known.line = line;
                return;
            }
        }
        self.fields.push(Field {
            key: key.to_owned(),
            value: value.to_owned(),
            line,
        });
    }
}

/// The records of a text without the last one if the text ends within it, and what is said of its
/// end. `what` is what a record describes, and `command` prints it.
pub fn whole_records(
    text: &str,
    first: &str,
    what: &str,
    command: &str,
) -> (Vec<Record>, Option<String>) {
    let mut found = records(text, first);
    let is_folded = found.iter().any(|record| record.last_line > record.line);
    let has_line_end = text.ends_with('\n');
    let last_line = text.lines().last().unwrap_or_default();
    if has_line_end && (!is_folded || last_line.trim().is_empty()) {
        return (found, None);
    }
    let Some((last, others)) = found.split_last() else {
        return (found, None);
    };
    let name = last.raw(first).unwrap_or_default();
    let name = format!("{what} `{}`", name.split(' ').next().unwrap_or_default());
    let line = last.line;
    if last.reaches_user_text || has_last_key_of(last, others) {
        if has_line_end {
            return (found, None);
        }
        let fault = format!("the record of {name} may be cut off: the last line has no line end");
        return (found, Some(fault));
    }
    found.pop();
    let fault = format!(
        "the file ends within the record of {name} (line {line}), which is left out: write all that `{command}` prints"
    );
    (found, Some(fault))
}

/// Whether a record has the last of the keys that all others have.
fn has_last_key_of(record: &Record, others: &[Record]) -> bool {
    let Some(first) = others.first() else {
        return false;
    };
    for Field { key, .. } in first.fields.iter().rev() {
        if others.iter().all(|other| other.field(key).is_some()) {
            return record.field(key).is_some();
        }
    }
    false
}

/// The records of a text, each of which begins with a line that begins with `first=`.
pub fn records(text: &str, first: &str) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some((key, _)) = line.split_once('=')
            && key.eq_ignore_ascii_case(first)
        {
            records.push(Record::at(index + 1));
        }
        if let Some(record) = records.last_mut() {
            add_fields(record, line, index + 1);
        }
    }
    records
}

/// Adds the fields of a line. A word without a key belongs to the value before it, as values may
/// contain blanks. Of a key that occurs twice the last value counts: the name of a job, which
/// may contain what looks like a key, comes before the others.
fn add_fields(record: &mut Record, line: &str, number: usize) {
    let mut field: Option<(&str, String)> = None;
    for word in line.split_ascii_whitespace() {
        if let Some((key, value)) = word.split_once('=')
            && is_key(key)
        {
            if let Some((key, value)) = field.replace((key, value.to_owned())) {
                record.set(key, &value, number);
            }
            // what follows is text of the user
            if matches!(key, "Command" | "Comment" | "WorkDir") {
                record.reaches_user_text = true;
                return;
            }
        } else if let Some((_, value)) = &mut field {
            value.push(' ');
            value.push_str(word);
        }
    }
    if let Some((key, value)) = field {
        record.set(key, &value, number);
    }
}

fn is_key(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b":/._-".contains(&byte))
}

/// A place in a document with associations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A line, counted from 1.
    Line(usize),
    /// An entry of a JSON list, counted from 1.
    Entry(usize),
}

impl Place {
    /// A fault there that Slurm would neither write nor accept, in words that follow the name of the
    /// document.
    pub fn fault(self, text: impl Display) -> String {
        format!(", {self}: {text}")
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(number) => write!(f, "line {number}"),
            Self::Entry(number) => write!(f, "entry {number}"),
        }
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
    /// The cluster of the last line `CLUSTER: name` above it.
    pub cluster: Option<&'t str>,
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
            header: line,
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

    /// The rows above the second line `CLUSTER: name`, if there is one. A row with another number
    /// of cells than the header is an error.
    pub fn rows<'s>(&'s self) -> impl Iterator<Item = Result<Row<'t>, String>> + 's {
        let is_of_first = |row: &Row<'_>| row.cluster == self.cluster;
        self.rows_of_clusters()
            .take_while(move |row| row.as_ref().map_or(true, is_of_first))
    }

    /// The rows of all clusters; below each line `CLUSTER: name` the header is repeated.
    pub fn rows_of_clusters<'s>(&'s self) -> impl Iterator<Item = Result<Row<'t>, String>> + 's {
        let mut cluster = self.cluster;
        let lines = self.text.lines().enumerate().skip(self.first_row);
        lines.filter_map(move |(at, line)| {
            if let Some(other) = cluster_line(line) {
                cluster = Some(other);
                return None;
            }
            let is_header =
                cluster != self.cluster && (line == self.header || spans(line).is_some());
            if is_header || !is_content(line) {
                return None;
            }
            Some(self.row(Place::Line(at + 1), cluster, line))
        })
    }

    fn row(
        &self,
        place: Place,
        cluster: Option<&'t str>,
        line: &'t str,
    ) -> Result<Row<'t>, String> {
        let cells = self.columns.cells(line);
        let (found, expected) = (cells.len(), self.names.len());
        if found == expected {
            return Ok(Row {
                place,
                cluster,
                cells,
            });
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

/// A line after joining, and its first line in the file.
#[derive(Debug, PartialEq, Eq)]
pub struct LogicalLine {
    /// The first line in the file, counted from 1.
    pub number: usize,
    pub text: String,
}

/// The lines that are not blank.
pub fn logical_lines(text: &str) -> Vec<LogicalLine> {
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((index, first)) = lines.next() {
        let mut joined = without_comment(first).to_owned();
        while let Some(end) = continued(&joined) {
            joined.truncate(end);
            let Some((_, next)) = lines.next() else { break };
            joined.push_str(without_comment(next));
        }
        let text = unescaped(joined.trim());
        if !text.is_empty() {
            let number = index + 1;
            found.push(LogicalLine { number, text });
        }
    }
    found
}

/// The line up to the first `#` without a backslash before it.
fn without_comment(line: &str) -> &str {
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        if c == '#' && !escaped {
            return &line[..at];
        }
        escaped = c == '\\' && !escaped;
    }
    line
}

/// The length of a line without the backslash at its end, which joins the next line to it; `None`
/// if it has none.
fn continued(line: &str) -> Option<usize> {
    let text = line.trim_end();
    let backslashes = text.bytes().rev().take_while(|&byte| byte == b'\\').count();
    (backslashes % 2 == 1).then(|| text.len() - 1)
}

/// The line with its escapes resolved.
fn unescaped(line: &str) -> String {
    let mut chars = line.chars();
    let mut text = String::with_capacity(line.len());
    while let Some(c) = chars.next() {
        text.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_counted_in_megabytes() {
        let amounts = TresAmounts::parse("cpu=16,mem=62.50G,node=1,GRES/gpu=4,billing=1K,x");
        assert_eq!(amounts.get("mem"), Some(64_000.0));
        assert_eq!(amounts.get("gres/gpu"), Some(4.0));
        assert_eq!(amounts.get("billing"), Some(1024.0));
        assert_eq!(amounts.get("x"), None);
        assert_eq!(parse_amount("2048K", true), Some(2.0));
        assert_eq!(parse_amount("nan", false), None);
    }

    #[test]
    fn a_value_of_another_form_is_named() {
        for (form, good, bad) in [
            (Form::Count, "4294967295", "1e30"),
            (Form::Nice, "-2147483645", "-99999999999"),
            (Form::Processors, "4-8", "99999999999999999999"),
            (Form::Processors, "2K", "many"),
            (Form::Time, "Unknown", "27.11.2026"),
            (Form::Time, "2026-11-27T08:54:58", "2026-11-27T08:54:99"),
            (Form::Limit, "Partition_Limit", "5 days"),
            (Form::Memory, "1500M", "1500Q"),
            (Form::Amounts, "cpu=1,mem=2G", "cpu=one"),
        ] {
            assert_eq!(form.fault("K", "job `1`", good), None, "{good}");
            let said = form.fault("K", "job `1`", bad);
            let start = format!("`K` of job `1` is `{bad}`, expected ");
            assert!(said.is_some_and(|said| said.starts_with(&start)), "{bad}");
        }
        assert_eq!(processors("2K"), Some(2048));
    }

    #[test]
    fn values_may_contain_blanks_and_lines_may_be_folded() {
        let text = "JobId=1 JobName=a b Priority=9 UserId=x(1)\n   Priority=5 Reason=Not now\n\nJobId=2 Priority=6 Command=/x Priority=7\n";
        let records = records(text, "JobId");
        assert_eq!(records.len(), 2);
        assert_eq!(records[0].get("jobname"), Some("a b"));
        assert_eq!(records[0].get("Reason"), Some("Not now"));
        assert_eq!(records[0].number("Priority"), Some(5));
        assert_eq!(records[1].number("Priority"), Some(6));
        assert_eq!(records[1].line, 4);
    }

    #[test]
    fn a_record_that_the_text_cuts_off_is_named() {
        let whole =
            "NodeName=a X=1\n   Y=2\n   Z=3\n\nNodeName=b X=1\n   Y=2\n   Z=3\n   Reason=r\n\n";
        let in_one_line = "NodeName=a X=1 Y=2 Z=3\nNodeName=b X=1 Y=2 Z=3\n";
        let read = |text: &str| whole_records(text, "NodeName", "node", "scontrol show node");
        for text in [whole, in_one_line, ""] {
            assert_eq!(read(text).1, None, "{text}");
        }
        // what follows the last line end of a record is no part of it
        assert_eq!(read(whole.trim_end_matches('\n')).0.len(), 2);
        for text in [whole, in_one_line] {
            let second = text.rfind("NodeName").expect("a record");
            for end in second + 11..text.rfind("Z=").expect("a key") {
                let (records, fault) = read(&text[..end]);
                let is_named = fault.is_some_and(|fault| fault.contains("record of node `b`"));
                assert!(records.len() == 1 && is_named, "{}", &text[..end]);
            }
        }
    }

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

    #[test]
    fn lines_are_joined_and_comments_removed() {
        let text = "# c\na=1 \\ # more\n  b=2\n\nc=\\#x\\\\ # d\n last \\";
        let expected = [(2, "a=1   b=2"), (5, "c=#x\\"), (6, "last")];
        assert_eq!(
            logical_lines(text),
            expected.map(|(number, text)| LogicalLine {
                number,
                text: text.to_owned()
            })
        );
    }
}
