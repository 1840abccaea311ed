//! Records of `Key=Value`, as `scontrol show` prints them: in several lines with an empty line
//! after each record, or in one line (`-o`).

/// A record; keys are found in any case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Record {
    fields: Vec<(String, String)>,
    /// The line of the text on which it begins, counted from 1.
    pub(crate) line: usize,
}

/// Values that stand for none.
const NONE: [&str; 4] = ["", "(null)", "N/A", "NONE"];

impl Record {
    /// The value of a key, unless it stands for none.
    pub(crate) fn get(&self, key: &str) -> Option<&str> {
        self.raw(key).filter(|value| !NONE.contains(value))
    }

    fn raw(&self, key: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        let found = fields.find(|(name, _)| name.eq_ignore_ascii_case(key));
        found.map(|(_, value)| value.as_str())
    }

    /// A number that is the value of a key.
    pub(crate) fn number<N: std::str::FromStr>(&self, key: &str) -> Option<N> {
        self.get(key)?.parse().ok()
    }

    /// Gives a key a value, which replaces one that it has.
    pub(crate) fn set(&mut self, key: &str, value: &str) {
        let known = self.fields.iter_mut();
        match known
            .into_iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(key))
        {
            Some((_, known)) => value.clone_into(known),
            None => self.fields.push((key.to_owned(), value.to_owned())),
        }
    }
}

/// The records of a text, each of which begins with a line that begins with `first=`.
pub(crate) fn records(text: &str, first: &str) -> Vec<Record> {
    let mut records: Vec<Record> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let begins = line
            .get(..first.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(first))
            && line[first.len()..].starts_with('=');
        if begins {
            records.push(Record {
                line: index + 1,
                ..Record::default()
            });
        }
        if let Some(record) = records.last_mut() {
            add_fields(record, line);
        }
    }
    records
}

/// Adds the fields of a line. A word without a key belongs to the value before it, as values may
/// contain blanks. Of a key that occurs twice the last value counts: the name of a job, which
/// may contain what looks like a key, comes before the others.
fn add_fields(record: &mut Record, line: &str) {
    let mut field: Option<(&str, String)> = None;
    for word in line.split_ascii_whitespace() {
        let key = word.split_once('=').filter(|(key, _)| is_key(key));
        match (key, &mut field) {
            (Some((key, value)), _) => {
                if let Some((key, value)) = field.replace((key, value.to_owned())) {
                    record.set(key, &value);
                }
                // what follows is text of the user
                if matches!(key, "Command" | "Comment" | "WorkDir") {
                    return;
                }
            }
            (None, Some((_, value))) => {
                value.push(' ');
                value.push_str(word);
            }
            (None, None) => {}
        }
    }
    if let Some((key, value)) = field {
        record.set(key, &value);
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
}
