//! The readers of each [`TreeFormat`](super::TreeFormat): tables of `sshare` and of `show assoc`, files
//! for `sacctmgr load`, and `sshare --json`.

use std::collections::HashSet;

use job_sort_formula::fairshare::{NodeKind, Release, Shares};
use jsf_json::clipped;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::non_empty;
use crate::records::{Place, Row, Table, logical_lines};
use crate::tree::{ROOT, Record, Records, invalid_usage, no_shares, unrecognised};

const SSHARE_ADVICE: &str = "print it with `sshare -a -l -P`";
const SHOW_ASSOC_ADVICE: &str = "print it with `sacctmgr -P show assoc tree`";

const NO_PARENTS: &str = "the table does not give the parents of accounts, so all are put below the root: use \
                          `sacctmgr -P show assoc tree`, or a format with `ParentName`";

/// Reads the table of `sshare -a -l`, in which also the rows of users are indented, or of
/// `sacctmgr -P show assoc`. The usual columns of `show assoc` do not give the parent of an account:
/// only `tree` does (by leading blanks), or a column `ParentName`.
pub fn read_table(text: &str, is_sshare: bool) -> Result<Records, String> {
    let mut records = Records::default();
    let Some(table) = Table::parse(text) else {
        return Ok(records);
    };
    let (shares, advice) = if is_sshare {
        ("RawShares", SSHARE_ADVICE)
    } else {
        ("Share", SHOW_ASSOC_ADVICE)
    };
    let account = table.required("Account", advice)?;
    if is_sshare {
        table.required("User", advice)?;
    }
    let shares = table.required(shares, advice)?;
    let user = table.column("User");
    let partition = table.column("Partition");
    let cluster = table.column("Cluster");
    let (mut usage, mut norm_shares, mut fairshare) = (None, None, None);
    if is_sshare {
        usage = table.column("RawUsage");
        norm_shares = table.column("NormShares");
        fairshare = table.column("FairShare");
        records.usage_known = usage.is_some();
        if !records.usage_known {
            records.warn("there is no column `RawUsage`, so every usage is taken as 0");
        }
    }
    records.names_are_cut = table.is_fixed();
    records.lacks_partitions = partition.is_none();
    let parent_names = ["ParentName", "Par Name", "Parent Name", "Parent"];
    let mut parents = if is_sshare {
        Parents::Indented(Vec::new())
    } else if let Some(column) = parent_names.iter().find_map(|name| table.column(name)) {
        Parents::Column(column)
    } else if is_indented(&table, account) {
        Parents::Indented(Vec::new())
    } else {
        Parents::Unknown
    };
    for row in table.rows_of_clusters() {
        let row = row?;
        let place = row.place;
        let row_cluster = match row.cluster {
            None if !is_sshare => Some(row.cell(cluster)),
            above => above,
        };
        if let Some(row_cluster) = row_cluster
            && records.is_of_other_cluster(place, row_cluster)
        {
            continue;
        }
        let user = row.cell(user);
        let kind = if user.is_empty() {
            NodeKind::Group
        } else {
            NodeKind::Entity
        };
        let account_cell = row.padded_cell(account);
        let account = account_cell.trim_matches(' ').trim_end();
        let name = if user.is_empty() { account } else { user };
        let parent = if is_sshare || kind == NodeKind::Group {
            parents.parent(&row, account_cell, account, kind)
        } else {
            Some(account.to_owned())
        };
        if is_sshare
            && kind == NodeKind::Entity
            && let Some(enclosing) = wrong_level(parent.as_deref(), account)
        {
            return Err(place.fault(format_args!(
                "the row is of account `{account}` but is {enclosing}; leading blanks give the level, were they removed?"
            )));
        }
        let shares = match row.cell(Some(shares)) {
            // the root's shares have no meaning
            text if parent.is_none() && (is_sshare || text.is_empty()) => Shares::Count(1),
            "" => return Err(no_shares(place, name)),
            text => records.shares(place, name, text)?,
        };
        let usage = match row.cell(usage) {
            _ if usage.is_none() => 0.0,
            text => match text.parse::<f64>() {
                Ok(usage) if usage.is_finite() && usage >= 0.0 => usage,
                _ => return Err(invalid_usage(place, name, text)),
            },
        };
        if is_sshare && records.cluster.is_none() && cluster.is_some() {
            records.cluster = Some(row.cell(cluster).to_owned());
        }
        let partition = row.cell(partition).to_owned();
        records.push(Record {
            place,
            kind,
            name: name.to_owned(),
            parent,
            partition,
            shares,
            usage,
            norm_shares: row.cell(norm_shares).parse().ok(),
            fairshare: row.cell(fairshare).parse().ok(),
        })?;
    }
    records.finish_clusters();
    if matches!(parents, Parents::Unknown) {
        let mut rows = records.rows.iter();
        if rows.any(|row| row.kind == NodeKind::Group && row.parent.is_some()) {
            records.warn(NO_PARENTS);
        }
    }
    Ok(records)
}

/// What gives the parents of accounts.
enum Parents {
    Column(usize),
    /// Leading blanks: the accounts from the root down to the latest row, each with its depth.
    Indented(Vec<(usize, String)>),
    Unknown,
}

impl Parents {
    /// The account that a row is in; `None` at the top level.
    fn parent(
        &mut self,
        row: &Row<'_>,
        account_cell: &str,
        account: &str,
        kind: NodeKind,
    ) -> Option<String> {
        match self {
            Self::Indented(above) => {
                let depth = account_cell.len() - account_cell.trim_start_matches(' ').len();
                while let Some((other, _)) = above.last()
                    && *other >= depth
                {
                    above.pop();
                }
                let parent = above.last().map(|(_, name)| name.clone());
                if kind == NodeKind::Group {
                    above.push((depth, account.to_owned()));
                }
                parent
            }
            Self::Column(column) => non_empty(row.cell(Some(*column)).to_owned()),
            Self::Unknown if account == ROOT => None,
            Self::Unknown => Some(ROOT.to_owned()),
        }
    }
}

/// Whether leading blanks give the level of the accounts: the first account has none and a later
/// one has some. Without `tree`, accounts may be aligned to the right instead.
fn is_indented(table: &Table<'_>, account: usize) -> bool {
    let mut is_first = true;
    for row in table.rows().flatten() {
        let begins_with_blank = row.padded_cell(account).starts_with(' ');
        if begins_with_blank {
            return !is_first;
        }
        is_first = false;
    }
    false
}

/// Where a user's row is, unless the account that it names can be the one that it is nested in: that
/// may end in `+`, cut at the width of the column; `parent`, which is indented less, then keeps at
/// least as many characters.
fn wrong_level(parent: Option<&str>, named: &str) -> Option<String> {
    let Some(parent) = parent else {
        return Some("at the top level".to_owned());
    };
    let is_right = match named.strip_suffix('+') {
        Some(start) => parent.starts_with(start),
        None => parent == named,
    };
    if is_right {
        None
    } else {
        Some(format!("nested in `{parent}`"))
    }
}

/// Reads a file of `sacctmgr dump`, or one written by hand, as `sacctmgr load` reads it: that stops at
/// a line that it cannot use, ignores a line without `-` and a repeated line for an association, and
/// adds the associations before the first `Parent` line to the root.
pub fn read_sacctmgr_file(text: &str) -> Result<Records, String> {
    let mut reader = FileReader {
        records: Records::default(),
        declared_accounts: HashSet::from([ROOT.to_owned()]),
        parent: ROOT.to_owned(),
    };
    for line in logical_lines(text) {
        reader.read_line(Place::Line(line.number), &line.text)?;
    }
    Ok(reader.records)
}

/// The longest line that `sacctmgr load` does not split, in bytes.
const MAX_LINE_BYTES: usize = 4095;

struct FileReader {
    records: Records,
    /// The accounts that a `Parent` line may name.
    declared_accounts: HashSet<String>,
    parent: String,
}

/// The name and the `key=value` options on a line.
#[derive(Debug, Default)]
struct Options {
    name: Option<String>,
    shares: Option<String>,
    partition: String,
}

impl FileReader {
    fn read_line(&mut self, place: Place, line: &str) -> Result<(), String> {
        let Some((object, rest)) = line.split_once('-') else {
            let text = "the line has no ` - `; `sacctmgr load` ignores it";
            self.records.warn_at(place, text);
            return Ok(());
        };
        if line.len() > MAX_LINE_BYTES {
            let text = "the line is longer than 4095 bytes; it is read as one line, but `sacctmgr load` splits it";
            self.records.warn_at(place, text);
        }
        let object = object.trim();
        let keyword = object.to_ascii_lowercase();
        match keyword.as_str() {
            "qos" => return Ok(()),
            "cluster" | "machine" | "parent" | "account" | "project" | "user" => {}
            _ => {
                return Err(place.fault(format_args!(
                        "`{}` is not an object of `sacctmgr load`, expected `Cluster`, `Parent`, `Account`, `User` or `QOS`",
                        clipped(object)
                    ),
                ));
            }
        }
        let options = Options::parse(rest).map_err(|text| place.fault(text))?;
        let Some(name) = options.name.clone() else {
            let found = clipped(rest.trim());
            return Err(place.fault(format_args!(
                "there is no name in `{found}`, expected `{object} - 'name':key=value`"
            )));
        };
        match keyword.as_str() {
            "cluster" | "machine" => self.set_cluster(place, name),
            "parent" => self.set_parent(place, name.to_ascii_lowercase()),
            "user" => self.add_association(place, NodeKind::Entity, name, options),
            _ => self.add_association(place, NodeKind::Group, name.to_ascii_lowercase(), options),
        }
    }

    fn set_cluster(&mut self, place: Place, name: String) -> Result<(), String> {
        match &self.records.cluster {
            Some(first) => Err(place.fault(format_args!(
                "`{name}` is a second cluster after `{first}`; `sacctmgr load` takes one at a time"
            ))),
            None => {
                self.records.cluster = Some(name.to_ascii_lowercase());
                Ok(())
            }
        }
    }

    fn set_parent(&mut self, place: Place, name: String) -> Result<(), String> {
        if !self.declared_accounts.contains(&name) {
            return Err(place.fault(format_args!(
                "`{name}` is not an account on a line above, so it cannot be a parent"
            )));
        }
        self.parent = name;
        Ok(())
    }

    fn add_association(
        &mut self,
        place: Place,
        kind: NodeKind,
        name: String,
        options: Options,
    ) -> Result<(), String> {
        let shares = match options.shares {
            None => Shares::Count(1),
            Some(text) => self.records.shares(place, &name, &text)?,
        };
        if kind == NodeKind::Group {
            self.declared_accounts.insert(name.clone());
        } else if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            let text = format!(
                "user `{name}` keeps its capital letters here, but slurmdbd stores the name in lower case unless it \
                 has `PreserveCaseUser`"
            );
            self.records.warn_at(place, text);
        }
        self.records.push(Record {
            place,
            kind,
            name,
            parent: Some(self.parent.clone()),
            partition: options.partition,
            shares,
            usage: 0.0,
            norm_shares: None,
            fairshare: None,
        })
    }
}

impl Options {
    /// Parses a name and `key=value` options, separated by `:`, in any order:
    /// `'name':key='value':key=value`.
    fn parse(text: &str) -> Result<Self, String> {
        let mut options = Self::default();
        for part in parts(text.trim())? {
            match part.split_once('=') {
                // also `key+=value` and `key-=value`
                Some((key, value)) => {
                    options.set(key.trim_end_matches(['+', '-']), unquoted(value))
                }
                None if part.trim().is_empty() => {}
                None if options.name.is_some() => {
                    return Err(format!(
                        "`{}` is not an option, expected `key=value`",
                        clipped(part)
                    ));
                }
                None => options.name = non_empty(unquoted(part)),
            }
        }
        Ok(options)
    }

    /// A key may be abbreviated to any prefix, `shares` to two letters or more. Unknown keys and
    /// empty values have no effect.
    fn set(&mut self, key: &str, value: String) {
        let key = key.trim().to_ascii_lowercase();
        if value.is_empty() || key.is_empty() {
            return;
        }
        if "partition".starts_with(&key) {
            self.partition = value;
        } else if "fairshare".starts_with(&key) || (key.len() > 1 && "shares".starts_with(&key)) {
            self.shares = Some(value);
        }
    }
}

/// Splits at the colons that are not inside quotation marks.
fn parts(text: &str) -> Result<Vec<&str>, String> {
    let mut parts = Vec::new();
    let mut quote = None;
    let mut start = 0;
    for (index, c) in text.char_indices() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (None, ':') => {
                parts.push(&text[start..index]);
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    if quote.is_some() {
        Err("a quotation mark is not closed".to_owned())
    } else {
        Ok(parts)
    }
}

/// The text without the blanks and the quotation marks around it.
fn unquoted(text: &str) -> String {
    text.trim().trim_matches(['\'', '"']).to_owned()
}

/// Reads what `sshare -a --json` prints.
pub fn read_sshare_json(text: &str) -> Result<Records, String> {
    let document: SshareJsonDocument<'_> = serde_json::from_str(text)
        .map_err(|error| unrecognised(format!("JSON of another structure ({error})")))?;
    let mut records = Records::default();
    if let Some(meta) = document.meta
        && let Ok(meta) = serde_json::from_str::<Meta>(meta.get())
    {
        records.release = Release::from_version(&meta.slurm.release);
    }
    for (index, raw) in document.shares.shares.into_iter().enumerate() {
        let place = Place::Entry(index + 1);
        let entry: Entry = serde_json::from_str(raw.get())
            .map_err(|error| place.fault(without_place(&error.to_string())))?;
        if !records.is_of_other_cluster(place, &entry.cluster) {
            push(&mut records, place, entry)?;
        }
    }
    records.usage_known = true;
    records.finish_clusters();
    Ok(records)
}

fn push(records: &mut Records, place: Place, entry: Entry) -> Result<(), String> {
    let kind = if entry.r#type.is_user() {
        NodeKind::Entity
    } else {
        NodeKind::Group
    };
    let Entry {
        name,
        parent,
        partition,
        ..
    } = entry;
    let parent = non_empty(parent);
    let shares = match entry.shares.value() {
        _ if parent.is_none() => Shares::Count(1),
        None => return Err(no_shares(place, &name)),
        Some(number) => records.shares(place, &name, &number.trunc().to_string())?,
    };
    let usage = entry.usage.value().unwrap_or(0.0);
    if !(usage.is_finite() && usage >= 0.0) {
        return Err(invalid_usage(place, &name, &usage.to_string()));
    }
    let norm_shares = entry.shares_normalized.as_ref().and_then(Number::value);
    let fairshare = match entry.fairshare {
        // an account has 0 where the text has a blank
        Some(Fairshare::Factor { factor }) if kind == NodeKind::Entity => factor.value(),
        _ => None,
    };
    records.push(Record {
        place,
        kind,
        name,
        parent,
        partition,
        shares,
        usage,
        norm_shares,
        fairshare,
    })
}

/// The reason without its line and column, which count from the start of the entry.
fn without_place(reason: &str) -> &str {
    reason.split(" at line ").next().unwrap_or(reason)
}

#[derive(Deserialize)]
struct SshareJsonDocument<'d> {
    #[serde(borrow)]
    shares: Outer<'d>,
    /// The release that wrote the document; a `meta` of another structure is ignored.
    #[serde(borrow, default)]
    meta: Option<&'d RawValue>,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(alias = "Slurm")]
    slurm: Version,
}

#[derive(Deserialize)]
struct Version {
    release: String,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with a list `shares`")]
struct Outer<'d> {
    #[serde(borrow)]
    shares: Vec<&'d RawValue>,
}

/// An association. Its other keys are ignored: they hold what a policy computed.
#[derive(Deserialize)]
struct Entry {
    name: String,
    #[serde(default)]
    parent: String,
    #[serde(default)]
    partition: String,
    #[serde(default)]
    cluster: String,
    shares: Number,
    #[serde(default)]
    shares_normalized: Option<Number>,
    #[serde(default)]
    fairshare: Option<Fairshare>,
    usage: Number,
    r#type: Types,
}

/// A number, plain or in an object with flags, depending on the release.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "`shares` or `usage` is neither a number nor an object with `set` and `number`"
)]
enum Number {
    Whole(i64),
    Real(f64),
    Flagged { set: bool, number: f64 },
}

impl Number {
    fn value(&self) -> Option<f64> {
        match *self {
            Self::Whole(number) => Some(number as f64),
            Self::Real(number) => Some(number),
            Self::Flagged { set, number } => set.then_some(number),
        }
    }
}

/// The fair-share factor; a value of another structure is ignored.
#[derive(Deserialize)]
#[serde(untagged)]
enum Fairshare {
    Factor { factor: Number },
    Other(serde::de::IgnoredAny),
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "`type` is neither a text nor a list of texts")]
enum Types {
    One(String),
    Several(Vec<String>),
}

impl Types {
    fn is_user(&self) -> bool {
        match self {
            Self::One(kind) => kind == "USER",
            Self::Several(kinds) => kinds.iter().any(|kind| kind == "USER"),
        }
    }
}
