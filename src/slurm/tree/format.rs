//! Which format a document has, told by its content.

use std::collections::HashMap;

use serde_json::value::RawValue;

use crate::json_visitor::clipped;
use crate::slurm::tree::error::Source;
use crate::slurm::tree::{TreeReadError, table};

const EXPECTED: &str = "`sshare -a -l` (with `-P` or not), `sshare --json`, a file of `sacctmgr dump` or for \
                        `sacctmgr load`, or `sacctmgr -P show assoc`";
/// What a line of `sacctmgr load` may start with.
pub(super) const OBJECTS: &[&str] = &["cluster", "machine", "parent", "account", "project", "user", "qos"];

/// A format that an association tree comes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TreeFormat {
    /// What `sshare -a -l` prints, in columns or with `-P` or `-p`.
    Sshare,
    /// What `sshare -a --json` prints.
    SshareJson,
    /// What `sacctmgr dump` writes and `sacctmgr load` reads.
    SacctmgrFile,
    /// What `sacctmgr -P show assoc` prints.
    ShowAssoc,
}

impl TreeFormat {
    pub(super) fn of(source: Source<'_>, text: &str) -> Result<Self, TreeReadError> {
        let Some(first) = text.lines().find(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
        else {
            return match text.trim() {
                "" => Err(TreeReadError::Empty { source_name: source.name(), expected: EXPECTED }),
                _ => Err(unrecognised(source, "nothing but comments".to_owned())),
            };
        };
        if let Some(found) = unreadable(text) {
            return Err(unrecognised(source, found.to_owned()));
        }
        match first.trim_start().as_bytes().first() {
            Some(b'{') => Self::of_json(source, text),
            Some(b'[') if is_list(text) => Err(unrecognised(source, "a JSON list".to_owned())),
            _ => Self::of_lines(source, text, first),
        }
    }

    fn of_json(source: Source<'_>, text: &str) -> Result<Self, TreeReadError> {
        let keys: HashMap<String, &RawValue> =
            serde_json::from_str(text).map_err(|error| json_error(source, &error))?;
        let found = match () {
            () if keys.contains_key("shares") => return Ok(Self::SshareJson),
            () if keys.contains_key("associations") => {
                "a JSON object with `associations`, as `sacctmgr --json show assoc` prints it"
            }
            () if keys.contains_key("children") => "a tree in the project's own JSON",
            () => "a JSON object without `shares`",
        };
        Err(unrecognised(source, found.to_owned()))
    }

    fn of_lines(source: Source<'_>, text: &str, first: &str) -> Result<Self, TreeReadError> {
        if text.contains('\r') && !text.contains('\n') {
            let found = "a text whose lines end with carriage returns alone, which no tool of Slurm's writes";
            return Err(unrecognised(source, found.to_owned()));
        }
        if let Some(header) = table::header(text) {
            let has = |name: &str| header.iter().any(|column| table::is_column(column, name));
            return match (has("Account"), has("RawShares"), has("Share")) {
                (true, true, _) => Ok(Self::Sshare),
                (true, false, true) => Ok(Self::ShowAssoc),
                (true, false, false) if has("NormShares") || has("EffectvUsage") || has("RawUsage") => Ok(Self::Sshare),
                _ => Err(unrecognised(source, format!("a table with the header `{}`", clipped(first.trim_end())))),
            };
        }
        let object = first.split('-').next().unwrap_or_default().trim().to_ascii_lowercase();
        if first.contains('-') && OBJECTS.contains(&object.as_str()) {
            return Ok(Self::SacctmgrFile);
        }
        let looks_like_a_row = first.contains('|') || first.split_ascii_whitespace().count() > 3;
        let found = if looks_like_a_row && first.trim_start().starts_with("root") {
            "a table without its header line; print it without `-n`".to_owned()
        } else {
            format!("a text that begins with `{}`", clipped(first.trim_end()))
        };
        Err(unrecognised(source, found))
    }
}

/// What is wrong with JSON: its grammar, or what it is of.
pub(super) fn json_error(source: Source<'_>, error: &serde_json::Error) -> TreeReadError {
    let reason = error.to_string();
    match error.is_data() {
        true => unrecognised(source, format!("JSON of another form ({reason})")),
        false => TreeReadError::Json { source_name: source.name(), reason },
    }
}

fn is_list(text: &str) -> bool {
    serde_json::from_str::<Vec<&RawValue>>(text).is_ok()
}

/// What a text is that is none to read.
fn unreadable(text: &str) -> Option<&'static str> {
    // a mark of the byte order is no UTF-8
    let is_utf16 = text.starts_with("\u{fffd}\u{fffd}") && text.chars().take(8).any(|c| c == '\0');
    match () {
        () if is_utf16 => Some("UTF-16, save it as UTF-8"),
        () if is_binary(text) => Some("binary data"),
        () => None,
    }
}

/// Whether the text starts with control characters, or with more than a few bytes that are no UTF-8.
fn is_binary(text: &str) -> bool {
    let start = || text.chars().take(512);
    start().any(|c| c.is_control() && !c.is_whitespace()) || start().filter(|&c| c == '\u{fffd}').count() > 16
}

fn unrecognised(source: Source<'_>, found: String) -> TreeReadError {
    TreeReadError::Unrecognised { source_name: source.name(), found, expected: EXPECTED }
}
