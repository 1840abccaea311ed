//! `sshare -a -l`, in columns or with `|` between the cells.

use crate::fairshare::Shares;
use crate::slurm::tree::assemble::{Record, Records};
use crate::slurm::tree::error::Source;
use crate::slurm::tree::ladder::{Ladder, indented};
use crate::slurm::tree::raw_shares::shares_of_text;
use crate::slurm::tree::table::{Row, Table};
use crate::slurm::tree::{AssociationKind, RowFault, TreeFormat, TreeReadError, TreeWarning};

const ADVICE: &str = "print it with `sshare -a -l -P`";

struct Columns {
    account: usize,
    user: usize,
    shares: usize,
    usage: Option<usize>,
    partition: Option<usize>,
    cluster: Option<usize>,
}

pub(super) fn read(source: Source<'_>, text: &str) -> Result<Records, TreeReadError> {
    let mut records = Records::of(TreeFormat::Sshare);
    let Some(table) = Table::of(text) else { return Ok(records) };
    let columns = Columns {
        account: table.need(source, "Account", ADVICE)?,
        user: table.need(source, "User", ADVICE)?,
        shares: table.need(source, "RawShares", ADVICE)?,
        usage: table.column(&["RawUsage"]),
        partition: table.column(&["Partition"]),
        cluster: table.column(&["Cluster"]),
    };
    records.usage_known = columns.usage.is_some();
    records.names_are_cut = table.is_fixed();
    records.names_partitions = columns.partition.is_some();
    records.cluster = table.cluster.map(str::to_owned);
    if !records.usage_known {
        records.warnings.push(TreeWarning::NoUsage);
    }
    let mut ladder = Ladder::default();
    for row in table.rows(source) {
        read_row(source, &mut records, &columns, &mut ladder, &row?)?;
    }
    if let (Some((place, cluster)), Some(read)) = (table.next_cluster(), &records.cluster) {
        let rows = table.rows_of_others();
        let (cluster, read) = (cluster.to_owned(), read.clone());
        records.warnings.push(TreeWarning::OtherCluster { place, cluster, rows, read });
    }
    Ok(records)
}

fn read_row(
    source: Source<'_>,
    records: &mut Records,
    columns: &Columns,
    ladder: &mut Ladder,
    row: &Row<'_>,
) -> Result<(), TreeReadError> {
    let place = row.place;
    let (depth, account) = indented(row.cells.get(columns.account).map_or("", |cell| cell));
    let user = row.cell(Some(columns.user));
    let above = ladder.above(depth).map(str::to_owned);
    let (kind, name) =
        if user.is_empty() { (AssociationKind::Account, account) } else { (AssociationKind::User, user) };
    if kind == AssociationKind::Account {
        ladder.stand_on(depth, account);
    } else if !above.as_deref().is_some_and(|above| same_account(above, account)) {
        let (account, above) = (account.to_owned(), above.unwrap_or_default());
        return Err(source.at(place, RowFault::Misplaced { account, above }));
    }
    let shares = match row.cell(Some(columns.shares)) {
        _ if above.is_none() => Shares::Count(1),
        "" => return Err(source.at(place, RowFault::NoShares(name.to_owned()))),
        text => {
            let fault = || RowFault::Shares { name: name.to_owned(), text: text.to_owned() };
            let taken = shares_of_text(text).ok_or_else(|| source.at(place, fault()))?;
            records.note_shares(place, name, text, taken)
        }
    };
    let usage = match columns.usage {
        None => 0.0,
        Some(column) => usage(row.cell(Some(column))).ok_or_else(|| {
            let (name, text) = (name.to_owned(), row.cell(Some(column)).to_owned());
            source.at(place, RowFault::Usage { name, text })
        })?,
    };
    if let Some(cluster) = columns.cluster.filter(|_| records.cluster.is_none()) {
        records.cluster = Some(row.cell(Some(cluster)).to_owned());
    }
    let partition = row.cell(columns.partition).to_owned();
    let name = name.to_owned();
    records.push(source, Record { place, kind, name, parent: above, partition, shares, usage })
}

/// Whether a user's row names the account that it stands below. Either name may be cut, the deeper one sooner.
fn same_account(above: &str, named: &str) -> bool {
    let start = named.strip_suffix('+').unwrap_or(named);
    above == named || (named.ends_with('+') && above.starts_with(start))
}

/// A finite number of at least 0; `inf` and `nan` are none.
fn usage(text: &str) -> Option<f64> {
    text.parse().ok().filter(|usage: &f64| usage.is_finite() && *usage >= 0.0)
}
