//! Reads Slurm's associations. In: the output of one of its tools, in any [`TreeFormat`]. Out: a
//! [`SlurmTree`].

mod printed_tables;
mod records;
mod sacctmgr_file;
mod sshare_json;
pub(crate) mod table;

use std::collections::HashMap;
use std::fmt::{self, Display};

use job_sort_formula::fairshare::tree_document::TreeDocument;
use jsf_json::{clipped, decode_utf8, strip_byte_order_mark};
use serde_json::value::RawValue;

use table::Table;

/// The longest document that is read, in bytes.
pub const MAX_BYTES: usize = 1 << 30;
/// The most associations that are read.
pub const MAX_ASSOCIATIONS: usize = 1_000_000;
/// The longest name that is read, in bytes.
pub const MAX_NAME: usize = 4096;

const EXPECTED: &str = "`sshare -a -l` (with `-P` or not), `sshare --json`, a file of `sacctmgr dump` or for \
                        `sacctmgr load`, or `sacctmgr -P show assoc`, `flux account export-db --fairshare-emulate`, \
                        or native JSON, {\"children\":[{\"name\":…,\"shares\":…}]}";
/// The first words of the lines of a file for `sacctmgr load`.
const OBJECTS: &[&str] = &[
    "cluster", "machine", "parent", "account", "project", "user", "qos",
];

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
    pub(super) fn fault(self, text: impl Display) -> String {
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

/// The associations of one cluster, as read from a document.
#[derive(Debug, Clone, PartialEq)]
pub struct SlurmTree {
    /// The tree. A user's second association in an account, in a document without partitions, has
    /// the partition `?2`, the third `?3`, and so on.
    pub document: TreeDocument,
    /// The document's format.
    pub format: TreeFormat,
    /// The cluster, if the document names it.
    pub cluster: Option<String>,
    /// Whether the document has usage.
    pub usage_known: bool,
    /// Whether the document was printed under the policy fair tree; `None` if its columns do not
    /// show this.
    pub is_fair_tree: Option<bool>,
    /// The column `FairShare` of each node of `document`; `None` if it is blank.
    pub printed_fairshare: Vec<Option<f64>>,
    /// What is said of second rows of associations, which are ignored.
    pub duplicates: Vec<String>,
    /// Whether normalised shares in the document are less than those computed from its rows, as
    /// where rows are missing.
    pub has_missing_rows: bool,
    /// What else is unusual in the document, in the order in which it was found.
    pub warnings: Vec<String>,
}

/// A format of an association tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TreeFormat {
    /// The output of `sshare -a -l`, in columns or with `-P` or `-p`.
    Sshare,
    /// The output of `sshare -a --json`.
    SshareJson,
    /// A file that `sacctmgr dump` writes and `sacctmgr load` reads.
    SacctmgrFile,
    /// The output of `sacctmgr -P show assoc`.
    ShowAssoc,
}

/// Reads a document with Slurm's associations in any [`TreeFormat`], which is detected by content.
///
/// If the document has several clusters, the first is read and a warning counts the rows of
/// the others, except in a file for `sacctmgr load`, where a second cluster is an error. What is
/// unusual but can be read unambiguously gives a warning; everything else that Slurm would
/// neither write nor accept is an error.
///
/// ```
/// let text = "Account|User|RawShares|NormShares|RawUsage\nroot|||1.0|70\n a||40|1.0|50\n  a|ann|parent|1.0|30\n";
/// let tree = jsf_slurm::read_tree("sshare.txt", text.as_bytes())?;
/// let account = &tree.document.nodes[0];
/// assert_eq!((account.name.as_str(), account.usage), ("a", Some(20.0)));
/// assert_eq!(tree.document.share_tree()?.len(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Why it cannot be read, with its name and the line if there is one.
pub fn read_tree(source_name: &str, bytes: &[u8]) -> Result<SlurmTree, String> {
    read(bytes).map_err(|fault| format!("`{source_name}`{fault}"))
}

fn read(bytes: &[u8]) -> Result<SlurmTree, String> {
    if bytes.len() > MAX_BYTES {
        return Err(format!(" is longer than {MAX_BYTES} bytes"));
    }
    let text = decode_utf8(strip_byte_order_mark(bytes));
    let format = TreeFormat::detect(&text)?;
    let mut records = match format {
        TreeFormat::SshareJson => sshare_json::read(&text)?,
        TreeFormat::Sshare | TreeFormat::ShowAssoc => printed_tables::read(&text, format)?,
        TreeFormat::SacctmgrFile => sacctmgr_file::read(&text)?,
    };
    if format != TreeFormat::SshareJson && !text.ends_with('\n') {
        let line = Place::Line(text.lines().count());
        records.warn_at(
            line,
            "the last line has no line end; was the document cut off?",
        );
    }
    records.build(format)
}

impl TreeFormat {
    fn detect(text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        let Some(first) =
            lines.find(|line| !matches!(line.trim_start().chars().next(), None | Some('#')))
        else {
            return match text.trim() {
                "" => Err(unrecognised("empty")),
                _ => Err(unrecognised("nothing but comments")),
            };
        };
        if let Some(found) = binary_format(text) {
            return Err(unrecognised(found));
        }
        match first.trim_start().as_bytes().first() {
            Some(b'{') => Self::detect_json(text),
            Some(b'[') if is_list(text) => Err(unrecognised("a JSON list")),
            _ => Self::detect_lines(text, first),
        }
    }

    fn detect_json(text: &str) -> Result<Self, String> {
        let keys: HashMap<String, &RawValue> = serde_json::from_str(text).map_err(json_error)?;
        if keys.contains_key("shares") {
            return Ok(Self::SshareJson);
        }
        let found = if keys.contains_key("associations") {
            "a JSON object with `associations`, as `sacctmgr --json show assoc` prints it"
        } else if keys.contains_key("children") {
            "a tree in native JSON"
        } else {
            "a JSON object without `shares`"
        };
        Err(unrecognised(found))
    }

    fn detect_lines(text: &str, first: &str) -> Result<Self, String> {
        if text.contains('\r') && !text.contains('\n') {
            let found =
                "a text whose lines end with carriage returns only, which no tool of Slurm writes";
            return Err(unrecognised(found));
        }
        let shown = clipped(first.trim_end());
        if let Some(table) = Table::parse(text) {
            let Some(format) = Self::detect_table(&table) else {
                return Err(unrecognised(format!("a table with the header `{shown}`")));
            };
            return Ok(format);
        }
        if let Some((object, _)) = first.split_once('-')
            && OBJECTS.contains(&object.trim().to_ascii_lowercase().as_str())
        {
            return Ok(Self::SacctmgrFile);
        }
        let looks_like_a_row = first.contains('|') || first.split_ascii_whitespace().count() > 3;
        let found = if looks_like_a_row && first.trim_start().starts_with("root") {
            "a table without its header line; print it without `-n`".to_owned()
        } else {
            format!("a text that begins with `{shown}`")
        };
        Err(unrecognised(found))
    }

    fn detect_table(table: &Table<'_>) -> Option<Self> {
        if !table.has("Account") {
            None
        } else if table.has("RawShares") {
            Some(Self::Sshare)
        } else if table.has("Share") {
            Some(Self::ShowAssoc)
        } else if table.has("NormShares") || table.has("EffectvUsage") || table.has("RawUsage") {
            Some(Self::Sshare)
        } else {
            None
        }
    }
}

/// The document seems to be something else.
fn unrecognised(found: impl Display) -> String {
    format!(" is {found}, expected {EXPECTED}")
}

/// The error of malformed JSON, or of JSON with another structure.
fn json_error(error: serde_json::Error) -> String {
    let reason = error.to_string();
    if error.is_data() {
        unrecognised(format!("JSON of another structure ({reason})"))
    } else {
        format!(" is not valid JSON: {reason}")
    }
}

fn is_list(text: &str) -> bool {
    serde_json::from_str::<Vec<&RawValue>>(text).is_ok()
}

/// What the document is if it is not a text.
fn binary_format(text: &str) -> Option<&'static str> {
    // a UTF-16 byte order mark is not UTF-8
    let is_utf16 = (text.starts_with("\u{fffd}ff\u{fffd}fe")
        || text.starts_with("\u{fffd}fe\u{fffd}ff"))
        && text.chars().take(8).any(|c| c == '\0');
    if is_utf16 {
        return Some("UTF-16, save it as UTF-8");
    }
    // control characters, or more than a few invalid bytes at the beginning
    let mut invalid = 0;
    for c in text.chars().take(512) {
        invalid += usize::from(c == '\u{fffd}');
        if invalid > 16 || c.is_control() && !c.is_whitespace() {
            return Some("binary data");
        }
    }
    None
}

#[cfg(test)]
mod tests;
