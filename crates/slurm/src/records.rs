//! The records that Slurm's tools print, and the rows of their tables and the items of their JSON in
//! the same form.
//!
//! A record has fields `Key=Value`, in several lines with an empty line after each record, or in one
//! line (`-o`). What a document describes in its records, and which forms their values have, is a
//! [`RecordKind`].
//!
//! In JSON, numbers are plain before 23.02, and objects with `set`, `infinite` and `number` since;
//! states and types are texts, then lists of texts.

use std::borrow::Cow;
use std::str::FromStr;

use jsf_json::{JsonScalar, clipped, entries, json_fault};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::tables::Table;
use crate::values::Form;

/// A record; keys are found in any case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    fields: Vec<Field>,
    /// The line of the text on which it begins, counted from 1.
    pub line: usize,
    /// Whether it goes on to what the user wrote, which comes after all that is read.
    reaches_user_text: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Field {
    key: Cow<'static, str>,
    /// The key as its document has it, if it is another.
    written: Option<&'static str>,
    value: String,
    line: usize,
}

/// How Slurm writes a value that is not set.
const NONE: [&str; 4] = ["", "(null)", "N/A", "NONE"];

impl Field {
    /// Whether it sets a key.
    fn is_set(&self, key: &str) -> bool {
        self.key.eq_ignore_ascii_case(key) && !NONE.contains(&self.value.as_str())
    }
}

impl Record {
    /// A record without fields that begins on a line.
    pub fn at(line: usize) -> Self {
        Self {
            line,
            ..Self::default()
        }
    }

    /// Gives a key a value, which replaces one that it has.
    pub fn set(&mut self, key: &str, value: &str, line: usize) {
        for known in &mut self.fields {
            if known.key.eq_ignore_ascii_case(key) {
                value.clone_into(&mut known.value);
                known.line = line;
                return;
            }
        }
        self.fields.push(Field {
            key: key.to_owned().into(),
            written: None,
            value: value.to_owned(),
            line,
        });
    }

    /// Gives a key one more value, which the document has under another one.
    pub fn add(&mut self, (written, key): (&'static str, &'static str), value: &str, line: usize) {
        self.fields.push(Field {
            key: key.into(),
            written: Some(written),
            value: value.to_owned(),
            line,
        });
    }

    /// The first value of a key that is set.
    pub fn get(&self, key: &str) -> Option<&str> {
        Some(&self.field(key)?.value)
    }

    /// The same; empty if there is none.
    pub fn text(&self, key: &str) -> &str {
        self.get(key).unwrap_or_default()
    }

    /// The first value of a key that is such a number: `squeue` calls two columns `PRIORITY`, of which
    /// one has parts of the largest priority.
    pub fn number<N: FromStr>(&self, key: &str) -> Option<N> {
        self.all(key).find_map(|value| value.parse().ok())
    }

    /// All values of a key that are set.
    pub fn all<'r>(&'r self, key: &'r str) -> impl DoubleEndedIterator<Item = &'r str> {
        let fields = self.fields.iter().filter(|field| field.is_set(key));
        fields.map(|field| field.value.as_str())
    }

    /// The first value of a key, also one that usually means that it is not set.
    pub fn written(&self, key: &str) -> Option<&str> {
        let field = self.fields.iter().find(|field| field.key == key)?;
        Some(&field.value)
    }

    /// Whether a key has this value, whichever it is.
    pub fn contains(&self, value: &str) -> bool {
        self.fields.iter().any(|field| field.value == value)
    }

    fn field(&self, key: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.is_set(key))
    }

    /// Whether a key is there, with a value that is set or not.
    pub fn has_key(&self, key: &str) -> bool {
        self.written(key).is_some()
    }

    /// Whether it has several lines.
    fn is_folded(&self) -> bool {
        self.fields.iter().any(|field| field.line > self.line)
    }
}

/// What a document describes in each of its records.
#[derive(Debug)]
pub struct RecordKind {
    /// In one word.
    pub what: &'static str,
    /// The key of its name, with which a record begins.
    pub name: &'static str,
    /// What prints the records.
    pub command: &'static str,
    /// The forms of values by their keys.
    pub forms: &'static [(&'static str, Form)],
}

impl RecordKind {
    /// The records of a text, and what is wrong with it, one sentence each. A record in which the
    /// text ends is left out.
    pub fn read(&self, text: &str) -> (Vec<Record>, Vec<String>) {
        let (records, cut) = self.whole_records(text);
        let mut problems = Vec::from_iter(cut);
        for record in &records {
            problems.extend(self.faults(record));
        }
        (records, problems)
    }

    /// Takes the rows of a table one after the other as records with these keys, each of which is
    /// that of a column. Returns what is wrong with the table; a row that is not whole is left out.
    pub fn read_table(
        &self,
        table: &Table<'_>,
        keys: &[(&'static str, &'static str)],
        mut take: impl FnMut(Record),
    ) -> Vec<String> {
        let mut columns = Vec::new();
        for names in keys {
            columns.extend(table.columns(names.0).map(|index| (index, *names)));
        }
        let mut problems = Vec::new();
        for row in table.rows() {
            match row {
                Ok(row) => {
                    let line = row.place.number;
                    let mut record = Record::at(line);
                    for (index, names) in &columns {
                        record.add(*names, row.cell_at(*index).trim(), line);
                    }
                    problems.extend(self.faults(&record));
                    take(record);
                }
                Err(fault) => problems.push(format!("a row is left out{fault}")),
            }
        }
        problems.extend(table.unended());
        problems
    }

    /// What is said of the values of a record that have another form than the one of their key.
    pub fn faults(&self, record: &Record) -> Vec<String> {
        let mut faults = Vec::new();
        for (key, form) in self.forms {
            if let Some(field) = record.field(key)
                && !record.all(key).any(|value| form.accepts(value))
            {
                let fault = format!(
                    "`{}` of {} `{}` is `{}`, expected {}; it is not used",
                    field.written.unwrap_or(key),
                    self.what,
                    clipped(record.text(self.name)),
                    clipped(&field.value),
                    form.expected()
                );
                // JSON has no lines
                faults.push(match field.line {
                    0 => fault,
                    line => format!("line {line}: {fault}"),
                });
            }
        }
        faults
    }

    /// The records of a text without the last one if the text ends within it, and what is said of
    /// its end.
    fn whole_records(&self, text: &str) -> (Vec<Record>, Option<String>) {
        let mut found = self.records(text);
        let is_folded = found.iter().any(Record::is_folded);
        let has_line_end = text.ends_with('\n');
        let last_line = text.lines().last().unwrap_or_default();
        if has_line_end && (!is_folded || last_line.trim().is_empty()) {
            return (found, None);
        }
        let Some((last, others)) = found.split_last() else {
            return (found, None);
        };
        let name = last.text(self.name);
        let name = name.split(' ').next().unwrap_or_default();
        let record = format!("the record of {} `{name}`", self.what);
        // `scontrol` prints an empty line after it, which a copy may lack
        if last.reaches_user_text || has_last_key_of(last, others) {
            let may_be_cut = format!("{record} may be cut off: the last line has no line end");
            let fault = (!has_line_end).then_some(may_be_cut);
            return (found, fault);
        }
        let fault = format!(
            "the file ends within {record} (line {}), which is left out: write all that `{}` prints",
            last.line, self.command
        );
        found.pop();
        (found, Some(fault))
    }

    /// The records of a text, each of which begins with the key of its name.
    fn records(&self, text: &str) -> Vec<Record> {
        let mut records: Vec<Record> = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            if let Some((key, _)) = line.split_once('=')
                && key.eq_ignore_ascii_case(self.name)
            {
                records.push(Record::at(number));
            }
            if let Some(record) = records.last_mut() {
                add_fields(record, line, number);
            }
        }
        records
    }
}

/// Whether a record has the last of the keys that all others have.
fn has_last_key_of(record: &Record, others: &[Record]) -> bool {
    let Some(first) = others.first() else {
        return false;
    };
    for Field { key, .. } in first.fields.iter().rev() {
        if others.iter().all(|other| other.has_key(key)) {
            return record.has_key(key);
        }
    }
    false
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

/// The items of a document, and what it says of itself.
pub struct JsonDocument<'t> {
    /// The version of Slurm that wrote it.
    pub version: Option<String>,
    pub items: Vec<&'t RawValue>,
}

impl<'t> JsonDocument<'t> {
    /// Reads a document whose items are a list of this name, or in an object of this name.
    ///
    /// # Errors
    /// What the text is instead, in words that follow `is`.
    pub fn read(text: &'t str, list: &str) -> Result<Self, String> {
        let mut version = None;
        let mut items = None;
        for (key, raw) in entries(text).map_err(|error| invalid(text, &error))? {
            let mut raw = raw.get();
            if key == "meta" {
                version = version_of(raw);
            } else if key == list {
                for (inner, inner_raw) in entries(raw).map_err(|error| invalid(raw, &error))? {
                    if inner == list {
                        raw = inner_raw.get();
                    }
                }
                items = serde_json::from_str(raw).ok();
            }
        }
        match items {
            Some(items) => Ok(Self { version, items }),
            None => Err(format!("JSON without a list `{list}`")),
        }
    }
}

fn invalid(text: &str, error: &serde_json::Error) -> String {
    format!("invalid JSON ({})", json_fault(text, error))
}

/// The key `Slurm` is `slurm` since 23.11.
fn version_of(meta: &str) -> Option<String> {
    let meta: Value = serde_json::from_str(meta).ok()?;
    let slurm = meta.get("Slurm").or(meta.get("slurm"))?;
    slurm.get("release")?.as_str().map(str::to_owned)
}

/// An item with other names for its keys; a key without one is left out.
///
/// # Errors
/// It is not valid JSON.
pub fn record_of(item: &RawValue, keys: &[(&'static str, &'static str)]) -> Result<Record, String> {
    let mut record = Record::default();
    for (key, raw) in entries(item.get()).map_err(|error| error.to_string())? {
        let Some(names) = keys.iter().find(|(known, _)| *known == key) else {
            continue;
        };
        if record.has_key(names.1) {
            return Err(format!("it has `{key}` twice"));
        }
        if let Some(text) = text_of(raw.get()) {
            // JSON has no lines
            record.add(*names, &text, 0);
        }
    }
    Ok(record)
}

/// A number since 23.02.
#[derive(Deserialize)]
struct Flagged<'t> {
    #[serde(default = "yes")]
    set: bool,
    #[serde(default)]
    infinite: bool,
    #[serde(borrow)]
    number: &'t RawValue,
}

fn yes() -> bool {
    true
}

/// The text of a value that is set, or the word for an infinite number.
fn text_of(raw: &str) -> Option<String> {
    match JsonScalar::from_text(raw) {
        JsonScalar::NULL => None,
        JsonScalar::OBJECT => {
            if let Ok(Flagged {
                set,
                infinite,
                number,
            }) = serde_json::from_str(raw)
            {
                let text = if infinite { "UNLIMITED" } else { number.get() };
                return (set || infinite).then(|| text.to_owned());
            }
            // the fair-share factor, beside the level
            let inside = entries(raw).ok()?;
            let (_, factor) = inside.iter().find(|(key, _)| key == "factor")?;
            text_of(factor.get())
        }
        JsonScalar::Other(_) => {
            let texts: Vec<String> = serde_json::from_str(raw).ok()?;
            Some(texts.join(","))
        }
        scalar => scalar.text().map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &'static str) -> RecordKind {
        RecordKind {
            what: "node",
            name,
            command: "scontrol show node",
            forms: &[],
        }
    }

    #[test]
    fn values_may_contain_blanks_and_lines_may_be_folded() {
        let text = "JobId=1 JobName=a b Priority=9 UserId=x(1)\n   Priority=5 Reason=Not now\n\nJobId=2 Priority=6 Command=/x Priority=7\n";
        let records = kind("JobId").records(text);
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
        let nodes = kind("NodeName");
        let read = |text: &str| nodes.whole_records(text);
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
}
