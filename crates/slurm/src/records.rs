//! Records of `Key=Value`, as `scontrol show` prints them: in several lines with an empty line
//! after each record, or in one line (`-o`).

use crate::values::Form;

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
                faults.push(format!("line {}: {fault}", field.line));
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
