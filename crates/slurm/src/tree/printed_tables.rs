//! The tables that `sshare -a -l` and `sacctmgr -P show assoc` print.
//!
//! The usual columns of `show assoc` do not give the parent of an account: only `tree` does (by
//! leading blanks), or a column `ParentName`.

use job_sort_formula::fairshare::{NodeKind, Shares};

use crate::tree::records::{ROOT, Record, Records, invalid_usage, no_shares};
use crate::tree::table::{Indentation, Row, Table, indented};
use crate::tree::{Place, TreeFormat};

const SSHARE_ADVICE: &str = "print it with `sshare -a -l -P`";
const SHOW_ASSOC_ADVICE: &str = "print it with `sacctmgr -P show assoc tree`";

const NO_PARENTS: &str = "the table does not give the parents of accounts, so all are put below the root: use \
                          `sacctmgr -P show assoc tree`, or a format with `ParentName`";

/// The columns of `sshare`.
struct SshareColumns {
    account: usize,
    user: usize,
    shares: usize,
    usage: Option<usize>,
    norm_shares: Option<usize>,
    fairshare: Option<usize>,
    partition: Option<usize>,
    cluster: Option<usize>,
}

pub(super) fn read_sshare(text: &str) -> Result<Records, String> {
    let mut records = Records::new(TreeFormat::Sshare);
    let Some(table) = Table::parse(text) else {
        return Ok(records);
    };
    let columns = SshareColumns {
        account: table.required("Account", SSHARE_ADVICE)?,
        user: table.required("User", SSHARE_ADVICE)?,
        shares: table.required("RawShares", SSHARE_ADVICE)?,
        usage: table.column(&["RawUsage"]),
        norm_shares: table.column(&["NormShares"]),
        fairshare: table.column(&["FairShare"]),
        partition: table.column(&["Partition"]),
        cluster: table.column(&["Cluster"]),
    };
    records.usage_known = columns.usage.is_some();
    records.names_are_cut = table.is_fixed();
    records.has_partitions = columns.partition.is_some();
    records.cluster = table.cluster.map(str::to_owned);
    if !records.usage_known {
        records.warn("there is no column `RawUsage`, so every usage is taken as 0");
    }
    let mut indentation = Indentation::default();
    for row in table.rows() {
        read_sshare_row(&mut records, &columns, &mut indentation, &row?)?;
    }
    if let Some((place, cluster)) = table.next_cluster()
        && records.cluster.is_some()
    {
        records.warn_of_other_cluster(place, cluster, table.rows_of_other_clusters());
    }
    Ok(records)
}

fn read_sshare_row(
    records: &mut Records,
    columns: &SshareColumns,
    indentation: &mut Indentation,
    row: &Row<'_>,
) -> Result<(), String> {
    let place = row.place;
    let (depth, account) = indented(row.cells.get(columns.account).map_or("", |cell| cell));
    let (kind, name) = account_or_user(account, row.cell(Some(columns.user)));
    let parent = indentation.parent(depth).map(str::to_owned);
    if kind == NodeKind::Group {
        indentation.push(depth, account);
    } else if !parent
        .as_deref()
        .is_some_and(|parent| is_same_account(parent, account))
    {
        let enclosing = match parent {
            Some(parent) => format!("nested in `{parent}`"),
            None => "at the top level".to_owned(),
        };
        return Err(place.fault(format_args!(
                "the row is of account `{account}` but is {enclosing}; leading blanks give the level, were they removed?"
            ),
        ));
    }
    let shares = parse_shares(
        records,
        place,
        name,
        row.cell(Some(columns.shares)),
        parent.is_none(),
    )?;
    let usage = match row.cell(columns.usage) {
        _ if columns.usage.is_none() => 0.0,
        text => parse_usage(text).ok_or_else(|| invalid_usage(place, name, text))?,
    };
    if let Some(cluster) = columns.cluster.filter(|_| records.cluster.is_none()) {
        records.cluster = Some(row.cell(Some(cluster)).to_owned());
    }
    let partition = row.cell(columns.partition).to_owned();
    records.push(Record {
        usage,
        norm_shares: row.cell(columns.norm_shares).parse().ok(),
        fairshare: row.cell(columns.fairshare).parse().ok(),
        ..Record::new(place, kind, name.to_owned(), parent, partition, shares)
    })
}

/// What gives the parent of an account in a table of `show assoc`.
enum Parents {
    Column(usize),
    Indented(Indentation),
    Unknown,
}

pub(super) fn read_show_assoc(text: &str) -> Result<Records, String> {
    let mut records = Records::new(TreeFormat::ShowAssoc);
    let Some(table) = Table::parse(text) else {
        return Ok(records);
    };
    let account = table.required("Account", SHOW_ASSOC_ADVICE)?;
    let shares_column = table.required("Share", SHOW_ASSOC_ADVICE)?;
    let [user, partition, cluster] =
        ["User", "Partition", "Cluster"].map(|name| table.column(&[name]));
    records.names_are_cut = table.is_fixed();
    records.has_partitions = partition.is_some();
    let mut parents = match table.column(&["ParentName", "Par Name", "Parent Name", "Parent"]) {
        Some(column) => Parents::Column(column),
        None if is_indented(&table, account) => Parents::Indented(Indentation::default()),
        None => Parents::Unknown,
    };
    for row in table.rows() {
        let row = row?;
        let place = row.place;
        if records.is_of_other_cluster(place, row.cell(cluster)) {
            continue;
        }
        let (depth, account) = indented(row.cells.get(account).map_or("", |cell| cell));
        let (kind, name) = account_or_user(account, row.cell(user));
        let parent = parents.parent(&row, kind, depth, account);
        let shares = match row.cell(Some(shares_column)) {
            "" if parent.is_none() => Shares::Count(1),
            text => parse_shares(&mut records, place, name, text, false)?,
        };
        let partition = row.cell(partition).to_owned();
        records.push(Record::new(
            place,
            kind,
            name.to_owned(),
            parent,
            partition,
            shares,
        ))?;
    }
    records.finish_clusters();
    let mut accounts = records
        .rows
        .iter()
        .filter(|row| row.kind == NodeKind::Group);
    if matches!(parents, Parents::Unknown) && accounts.any(|row| row.parent.is_some()) {
        records.warn(NO_PARENTS);
    }
    Ok(records)
}

impl Parents {
    fn parent(
        &mut self,
        row: &Row<'_>,
        kind: NodeKind,
        depth: usize,
        account: &str,
    ) -> Option<String> {
        match self {
            _ if kind == NodeKind::Entity => Some(account.to_owned()),
            Self::Indented(indentation) => {
                let parent = indentation.parent(depth).map(str::to_owned);
                indentation.push(depth, account);
                parent
            }
            Self::Column(column) => {
                Some(row.cell(Some(*column)).to_owned()).filter(|name| !name.is_empty())
            }
            Self::Unknown => (account != ROOT).then(|| ROOT.to_owned()),
        }
    }
}

/// Whether leading blanks give the level of the accounts: the first account has none and a later
/// one has some. Without `tree`, accounts may be aligned to the right instead.
fn is_indented(table: &Table<'_>, account: usize) -> bool {
    let mut blanks = table
        .rows()
        .flatten()
        .filter_map(|row| Some(row.cells.get(account)?.starts_with(' ')));
    blanks.next() == Some(false) && blanks.any(|begins_with_blank| begins_with_blank)
}

/// The kind of a row and the name of its association: the user's if the row has a user, otherwise
/// the account's.
fn account_or_user<'n>(account: &'n str, user: &'n str) -> (NodeKind, &'n str) {
    if user.is_empty() {
        (NodeKind::Group, account)
    } else {
        (NodeKind::Entity, user)
    }
}

/// Parses the shares in a cell. The root's shares have no meaning and are taken as 1.
fn parse_shares(
    records: &mut Records,
    place: Place,
    name: &str,
    text: &str,
    is_root: bool,
) -> Result<Shares, String> {
    match text {
        _ if is_root => Ok(Shares::Count(1)),
        "" => Err(no_shares(place, name)),
        text => records.shares(place, name, text),
    }
}

/// Whether the account that a user's row names can be the account that the row is nested in.
/// `named` may end in `+`, cut at the width of the column; `parent`, which is indented less, then
/// keeps at least as many characters.
fn is_same_account(parent: &str, named: &str) -> bool {
    let start = named.strip_suffix('+').unwrap_or(named);
    parent == named || (named.ends_with('+') && parent.starts_with(start))
}

/// Parses a usage: a finite number of at least 0.
fn parse_usage(text: &str) -> Option<f64> {
    text.parse()
        .ok()
        .filter(|usage: &f64| usage.is_finite() && *usage >= 0.0)
}
