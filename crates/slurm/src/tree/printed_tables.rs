//! The tables that `sshare -a -l` and `sacctmgr -P show assoc` print.
//!
//! The usual columns of `show assoc` do not give the parent of an account: only `tree` does (by
//! leading blanks), or a column `ParentName`.

use job_sort_formula::fairshare::{NodeKind, Shares};

use crate::non_empty;
use crate::tree::TreeFormat;
use crate::tree::records::{ROOT, Record, Records, invalid_usage, no_shares};
use crate::tree::table::{Row, Table};

const SSHARE_ADVICE: &str = "print it with `sshare -a -l -P`";
const SHOW_ASSOC_ADVICE: &str = "print it with `sacctmgr -P show assoc tree`";

const NO_PARENTS: &str = "the table does not give the parents of accounts, so all are put below the root: use \
                          `sacctmgr -P show assoc tree`, or a format with `ParentName`";

/// What gives the parents of accounts.
enum Parents {
    Column(usize),
    /// Leading blanks: the accounts from the root down to the latest row, each with its depth.
    Indented(Vec<(usize, String)>),
    Unknown,
}

/// Reads a table of `sshare`, in which also the rows of users are indented, or of `show assoc`.
pub fn read(text: &str, format: TreeFormat) -> Result<Records, String> {
    let is_sshare = format == TreeFormat::Sshare;
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
        records.cluster = table.cluster.map(str::to_owned);
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
    for row in table.rows() {
        let row = row?;
        let place = row.place;
        if !is_sshare && records.is_of_other_cluster(place, row.cell(cluster)) {
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
    if !is_sshare {
        records.finish_clusters();
    } else if records.cluster.is_some()
        && let Some((place, cluster, rows)) = table.other_clusters()
    {
        records.warn_of_other_cluster(place, cluster, rows);
    }
    if matches!(parents, Parents::Unknown) {
        let mut rows = records.rows.iter();
        if rows.any(|row| row.kind == NodeKind::Group && row.parent.is_some()) {
            records.warn(NO_PARENTS);
        }
    }
    Ok(records)
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
