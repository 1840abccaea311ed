//! The nodes and partitions that `slurm.conf` describes, a line for each or for several.

use std::collections::HashMap;

use crate::conf::settings::split_settings;
use crate::records::Record;
use crate::values::Form;

/// The settings of nodes and partitions on which priorities depend.
const FORMS: [(&str, Form); 12] = [
    ("PriorityJobFactor", Form::Count),
    ("PriorityTier", Form::Count),
    ("Priority", Form::Count),
    ("MaxTime", Form::Limit),
    ("CPUs", Form::Count),
    ("Procs", Form::Count),
    ("Boards", Form::Count),
    ("Sockets", Form::Count),
    ("SocketsPerBoard", Form::Count),
    ("CoresPerSocket", Form::Count),
    ("ThreadsPerCore", Form::Count),
    ("CoreSpecCount", Form::Count),
];

/// The nodes and partitions of `slurm.conf`, with what their lines for `DEFAULT` give them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfObjects {
    /// One record for each node, by the key `NodeName`.
    pub(crate) nodes: Vec<Record>,
    /// One record for each partition, by the key `PartitionName`.
    pub(crate) partitions: Vec<Record>,
    /// What the lines for `DEFAULT` give, by the first key in lower case.
    defaults: HashMap<String, Record>,
}

impl ConfObjects {
    /// Adds the objects of a line. Those that are neither nodes nor partitions are not kept.
    ///
    /// # Errors
    /// A value of another form than the one of its key: the key, the value, and what is expected.
    pub(super) fn add_line(
        &mut self,
        text: &str,
        line: usize,
    ) -> Result<(), (&'static str, String, &'static str)> {
        let mut settings = split_settings(text).into_iter().flatten();
        let Some((kind, names)) = settings.next() else {
            return Ok(());
        };
        let kind = kind.to_ascii_lowercase();
        let objects = match kind.as_str() {
            "nodename" => &mut self.nodes,
            "partitionname" => &mut self.partitions,
            _ => return Ok(()),
        };
        let mut record = self.defaults.get(&kind).cloned().unwrap_or_default();
        for (key, value) in settings {
            record.set(key, value, line);
        }
        let wrong = FORMS.into_iter().find_map(|(key, form)| {
            let value = record.get(key)?;
            let is_wrong = form.fault(key, "", value).is_some();
            is_wrong.then(|| (key, value.to_owned(), form.expected()))
        });
        if names.eq_ignore_ascii_case("DEFAULT") {
            self.defaults.insert(kind, record);
            return wrong.map_or(Ok(()), Err);
        }
        for name in expand(names) {
            let mut object = record.clone();
            object.set(&kind, &name, line);
            objects.push(object);
        }
        wrong.map_or(Ok(()), Err)
    }
}

/// The most names that are made of one list of hosts, so that `n[1-999999999]` cannot use up the
/// memory.
const MAX_NAMES: usize = 200_000;

/// The names of a list of hosts, `n[1-8,12],gpu[01-04]`. A part that is not a range stays as it is.
fn expand(list: &str) -> Vec<String> {
    let mut names = Vec::new();
    for part in split_outside_brackets(list) {
        expand_part(part, &mut names);
    }
    names.truncate(MAX_NAMES);
    names
}

/// The parts between commas that are not in brackets.
fn split_outside_brackets(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    list.split(move |c| {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        c == ',' && depth <= 0
    })
    .map(str::trim)
    .filter(|part| !part.is_empty())
}

/// Appends the names of `prefix[ranges]suffix`; the suffix may have brackets again.
fn expand_part(part: &str, names: &mut Vec<String>) {
    let (prefix, rest) = part.split_once('[').unwrap_or((part, ""));
    let Some((ranges, suffix)) = rest.split_once(']') else {
        names.push(part.to_owned());
        return;
    };
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let width = first.len();
        let (Ok(from), Ok(to)) = (first.parse::<u64>(), last.parse::<u64>()) else {
            continue;
        };
        for number in from..=to {
            if names.len() >= MAX_NAMES {
                return;
            }
            expand_part(&format!("{prefix}{number:0width$}{suffix}"), names);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_keep_their_zeros() {
        assert_eq!(
            expand("n[1-2,8],g[08-10]x,single"),
            ["n1", "n2", "n8", "g08x", "g09x", "g10x", "single"]
        );
        assert_eq!(expand("r[1-2]c[1-2]"), ["r1c1", "r1c2", "r2c1", "r2c2"]);
        assert_eq!(expand("n[1-99999999999]").len(), MAX_NAMES);
        assert!(expand("n[a-b]").is_empty());
    }
}
