//! The readers of each [`TreeFormat`](super::TreeFormat): tables of `sshare` and of `show assoc`, files
//! for `sacctmgr load`, and `sshare --json`.

use std::collections::HashSet;

use job_sort_formula::fairshare::Release;
use jsf_json::clipped;

use crate::associations::{Associations, Cells, OBJECTS, ROOT, TreeFormat, WHOLE, unrecognised};
use crate::non_empty;
use crate::records::{JsonDocument, record_of};
use crate::slurm_conf::logical_lines;
use crate::tables::{Place, Row, Table};

const NO_PARENTS: &str = "the table does not give the parents of accounts, so all are put below the root: use \
                          `sacctmgr -P show assoc tree`, or a format with `ParentName`";

/// Reads the table of `sshare -a -l`, in which also the rows of users are indented, or of
/// `sacctmgr -P show assoc`. The usual columns of `show assoc` do not give the parent of an account:
/// only `tree` does (by leading blanks), or a column `ParentName`.
pub fn read_table(table: &Table<'_>) -> Result<Associations, String> {
    let is_sshare = table.has("RawShares") || !table.has("Share");
    let format = if is_sshare {
        TreeFormat::Sshare
    } else {
        TreeFormat::ShowAssoc
    };
    let mut records = Associations::new(format);
    records.tree.usage_known = is_sshare && table.has("RawUsage");
    records.names_are_cut = table.has_fixed_width();
    records.lacks_partitions = !table.has("Partition");
    if is_sshare {
        for column in ["User", "RawShares"] {
            if !table.has(column) {
                let advice = "print it with `sshare -a -l -P`";
                return Err(format!(" has no column `{column}`: {advice}"));
            }
        }
        if !records.tree.usage_known {
            let missing = "there is no column `RawUsage`, so every usage is taken as 0";
            records.warnings.push((0, missing.to_owned()));
        }
    }
    let mut parent_names = ["ParentName", "ParName", "Parent"].into_iter();
    let mut parents = if is_sshare || is_indented(table) {
        Parents::Indented(Vec::new())
    } else {
        Parents::Unknown
    };
    if !is_sshare && let Some(column) = parent_names.find(|name| table.has(name)) {
        parents = Parents::Column(column);
    }
    for row in table.rows_of_clusters() {
        let place = row.place;
        if let Some(above) = row.cluster {
            if !records.rows.is_empty() {
                // the rows above the first line `CLUSTER: name` are of a cluster without a name
                records.tree.cluster.get_or_insert_default();
            }
            if records.is_of_other_cluster(place, above) {
                continue;
            }
        }
        let row = row.require_whole()?;
        let cluster = row.cell("Cluster");
        if is_sshare {
            if records.tree.cluster.is_none() && table.has("Cluster") {
                records.tree.cluster = Some(cluster.to_owned());
            }
        } else if row.cluster.is_none() && records.is_of_other_cluster(place, cluster) {
            continue;
        }
        let (account, user) = (row.cell("Account"), row.cell("User"));
        let is_user = !user.is_empty();
        let mut cells = Cells {
            is_user,
            name: if is_user { user } else { account },
            account: Some(account.to_owned()),
            partition: row.cell("Partition"),
            shares: row.cell("Share"),
            ..Cells::default()
        };
        if is_sshare || !is_user {
            cells.account = parents.parent(&row, is_user);
        }
        if is_sshare {
            cells.shares = row.cell("RawShares");
            cells.usage = row.cell("RawUsage");
            cells.norm_shares = row.cell("NormShares");
            cells.fairshare = row.cell("FairShare");
            if is_user && let Some(enclosing) = wrong_level(cells.account.as_deref(), account) {
                return Err(place.fault(format_args!(
                    "the row is of account `{account}` but is {enclosing}; leading blanks give the level, were they removed?"
                )));
            }
        }
        records.add(place, cells)?;
    }
    let mut rows = records.rows.iter();
    if matches!(parents, Parents::Unknown)
        && rows.any(|row| row.is_account() && row.account.is_some())
    {
        records.warnings.push((WHOLE, NO_PARENTS.to_owned()));
    }
    Ok(records)
}

/// What gives the parents of accounts.
enum Parents {
    Column(&'static str),
    /// Leading blanks: the accounts from the root down to the latest row, each with its depth.
    Indented(Vec<(usize, String)>),
    Unknown,
}

impl Parents {
    /// The account that a row is in; `None` at the top level.
    fn parent(&mut self, row: &Row<'_>, is_user: bool) -> Option<String> {
        let account = row.cell("Account");
        match self {
            Self::Indented(above) => {
                let padded = row.padded_cell("Account");
                let depth = padded.len() - padded.trim_start_matches(' ').len();
                while let Some((other, _)) = above.last()
                    && *other >= depth
                {
                    above.pop();
                }
                let parent = above.last().map(|(_, name)| name.clone());
                if !is_user {
                    above.push((depth, account.to_owned()));
                }
                parent
            }
            Self::Column(column) => non_empty(row.cell(column).to_owned()),
            Self::Unknown if account == ROOT => None,
            Self::Unknown => Some(ROOT.to_owned()),
        }
    }
}

/// Whether leading blanks give the level of the accounts: the first account has none and a later
/// one has some. Without `tree`, accounts may be aligned to the right instead.
fn is_indented(table: &Table<'_>) -> bool {
    let rows = table.rows().flatten();
    let mut blanks = rows.map(|row| row.padded_cell("Account").starts_with(' '));
    blanks.next() == Some(false) && blanks.any(|begins_with_blank| begins_with_blank)
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
pub fn read_sacctmgr_file(text: &str) -> Result<Associations, String> {
    let mut records = Associations::new(TreeFormat::SacctmgrFile);
    // the accounts that a `Parent` line may name
    let mut declared = HashSet::from([ROOT.to_owned()]);
    let mut parent = ROOT.to_owned();
    for (number, line) in logical_lines(text) {
        let place = Place::line(number);
        let Some((object, rest)) = line.split_once('-') else {
            records.warn_at(place, "the line has no ` - `; `sacctmgr load` ignores it");
            continue;
        };
        let object = object.trim();
        let keyword = object.to_ascii_lowercase();
        if !OBJECTS.contains(&&*keyword) {
            return Err(place.fault(format_args!(
                "`{}` is not an object of `sacctmgr load`, expected `Cluster`, `Parent`, `Account`, `User` or `QOS`",
                clipped(object)
            )));
        }
        if keyword == "qos" {
            continue;
        }
        let options = Options::parse(rest).map_err(|text| place.fault(text))?;
        let Some(name) = &options.name else {
            let found = clipped(rest.trim());
            return Err(place.fault(format_args!(
                "there is no name in `{found}`, expected `{object} - 'name':key=value`"
            )));
        };
        let lower = name.to_ascii_lowercase();
        let is_user = keyword == "user";
        match keyword.as_str() {
            "cluster" | "machine" => {
                if let Some(first) = records.tree.cluster.replace(lower) {
                    return Err(place.fault(format_args!(
                        "`{name}` is a second cluster after `{first}`; `sacctmgr load` takes one at a time"
                    )));
                }
                continue;
            }
            "parent" if !declared.contains(&lower) => {
                return Err(place.fault(format_args!(
                    "`{lower}` is not an account on a line above, so it cannot be a parent"
                )));
            }
            "parent" => {
                parent = lower;
                continue;
            }
            _ if is_user => {}
            _ => _ = declared.insert(lower.clone()),
        }
        let cells = Cells {
            is_user,
            name: if is_user { name } else { &lower },
            account: Some(parent.clone()),
            partition: &options.partition,
            shares: options.shares.as_deref().unwrap_or("1"),
            ..Cells::default()
        };
        records.add(place, cells)?;
    }
    Ok(records)
}

/// The name and the `key=value` options on a line.
#[derive(Debug, Default)]
struct Options {
    name: Option<String>,
    shares: Option<String>,
    partition: String,
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
    let mut quote = None;
    let parts = text.split(|c| {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
        quote.is_none() && c == ':'
    });
    let parts = parts.collect();
    match quote {
        Some(_) => Err("a quotation mark is not closed".to_owned()),
        None => Ok(parts),
    }
}

/// The text without the blanks and the quotation marks around it.
fn unquoted(text: &str) -> String {
    text.trim().trim_matches(['\'', '"']).to_owned()
}

/// The keys of an association in JSON, each with the column that `sshare -P` has for it.
const JSON_KEYS: [(&str, &str); 9] = [
    ("name", "Name"),
    ("parent", "ParentName"),
    ("partition", "Partition"),
    ("cluster", "Cluster"),
    ("shares", "RawShares"),
    ("shares_normalized", "NormShares"),
    ("usage", "RawUsage"),
    ("fairshare", "FairShare"),
    ("type", "Type"),
];

/// Reads what `sshare -a --json` prints.
pub fn read_sshare_json(text: &str) -> Result<Associations, String> {
    let document = JsonDocument::read(text, "shares").map_err(unrecognised)?;
    let mut records = Associations::new(TreeFormat::SshareJson);
    records.tree.usage_known = true;
    let version = document.version.as_deref();
    records.tree.document.release = version.and_then(Release::from_version);
    for (number, item) in (1..).zip(document.items) {
        let place = Place {
            what: "entry",
            number,
        };
        let entry = record_of(item, &JSON_KEYS).map_err(|error| place.fault(error))?;
        // a user or an account may be called `NONE`; the parent of the root is not set
        let name = entry.written("Name").unwrap_or_default();
        let parent = match name {
            "root" => entry.text("ParentName"),
            _ => entry.written("ParentName").unwrap_or_default(),
        };
        if records.is_of_other_cluster(place, entry.text("Cluster")) {
            continue;
        }
        if !entry.has_key("Type") {
            let fault = "it has no `type`, which says whether it is a user or an account";
            return Err(place.fault(fault));
        }
        let is_user = entry.text("Type").split(',').any(|kind| kind == "USER");
        let cells = Cells {
            is_user,
            name,
            account: non_empty(parent.to_owned()),
            partition: entry.text("Partition"),
            shares: entry.text("RawShares"),
            usage: entry.text("RawUsage"),
            norm_shares: entry.text("NormShares"),
            // an account has 0 where the text has a blank
            fairshare: if is_user { entry.text("FairShare") } else { "" },
        };
        records.add(place, cells)?;
    }
    Ok(records)
}
