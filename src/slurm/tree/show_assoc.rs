//! `sacctmgr -P show assoc`. Its usual columns do not say which account is in which: only with `tree` (by leading
//! blanks) or with a column `ParentName`.

use crate::fairshare::Shares;
use crate::slurm::tree::assemble::{Record, Records};
use crate::slurm::tree::error::Source;
use crate::slurm::tree::ladder::{Ladder, indented};
use crate::slurm::tree::raw_shares::shares_of_text;
use crate::slurm::tree::table::{Row, Table};
use crate::slurm::tree::{AssociationKind, RowFault, TreeFormat, TreeReadError, TreeWarning};

const ADVICE: &str = "print it with `sacctmgr -P show assoc tree`";

/// How the table says which account is in which.
enum Parents {
    Column(usize),
    Blanks(Ladder),
    Unsaid,
}

struct Reader<'a> {
    source: Source<'a>,
    records: Records,
    parents: Parents,
    account: usize,
    user: Option<usize>,
    shares: usize,
    partition: Option<usize>,
    cluster: Option<usize>,
    /// Where the first row of another cluster is, its cluster, and how many there are.
    others: Option<(crate::slurm::tree::Place, String, usize)>,
}

pub(super) fn read(source: Source<'_>, text: &str) -> Result<Records, TreeReadError> {
    let mut records = Records::of(TreeFormat::ShowAssoc);
    let Some(table) = Table::of(text) else { return Ok(records) };
    records.names_are_cut = table.is_fixed();
    records.names_partitions = table.column(&["Partition"]).is_some();
    let account = table.need(source, "Account", ADVICE)?;
    let has_blanks = is_indented(source, &table, account);
    let parents = match table.column(&["ParentName", "Par Name", "Parent Name", "Parent"]) {
        Some(column) => Parents::Column(column),
        None if has_blanks => Parents::Blanks(Ladder::default()),
        None => Parents::Unsaid,
    };
    let mut reader = Reader {
        source,
        records,
        parents,
        account,
        user: table.column(&["User"]),
        shares: table.need(source, "Share", ADVICE)?,
        partition: table.column(&["Partition"]),
        cluster: table.column(&["Cluster"]),
        others: None,
    };
    for row in table.rows(source) {
        reader.row(&row?)?;
    }
    Ok(reader.finish())
}

/// Whether the accounts are indented below the first one. Without `tree` they may be aligned to the right instead.
fn is_indented(source: Source<'_>, table: &Table<'_>, account: usize) -> bool {
    let mut blanks = table.rows(source).flatten().filter_map(|row| Some(row.cells.get(account)?.starts_with(' ')));
    blanks.next() == Some(false) && blanks.any(|is_blank| is_blank)
}

impl Reader<'_> {
    fn row(&mut self, row: &Row<'_>) -> Result<(), TreeReadError> {
        let place = row.place;
        if self.is_of_another_cluster(row) {
            return Ok(());
        }
        let (depth, account) = indented(row.cells.get(self.account).map_or("", |cell| cell));
        let user = row.cell(self.user);
        let (kind, name) =
            if user.is_empty() { (AssociationKind::Account, account) } else { (AssociationKind::User, user) };
        let parent = self.parent(row, kind, depth, account);
        let shares = match row.cell(Some(self.shares)) {
            "" if parent.is_none() => Shares::Count(1),
            "" => return Err(self.source.at(place, RowFault::NoShares(name.to_owned()))),
            text => {
                let fault = || RowFault::Shares { name: name.to_owned(), text: text.to_owned() };
                let taken = shares_of_text(text).ok_or_else(|| self.source.at(place, fault()))?;
                self.records.note_shares(place, name, text, taken)
            }
        };
        let (name, partition) = (name.to_owned(), row.cell(self.partition).to_owned());
        self.records.push(self.source, Record { place, kind, name, parent, partition, shares, usage: 0.0 })
    }

    fn parent(&mut self, row: &Row<'_>, kind: AssociationKind, depth: usize, account: &str) -> Option<String> {
        if let (AssociationKind::Account, Parents::Blanks(ladder)) = (kind, &mut self.parents) {
            let above = ladder.above(depth).map(str::to_owned);
            ladder.stand_on(depth, account);
            return above;
        }
        match (kind, &self.parents) {
            (AssociationKind::User, _) => Some(account.to_owned()),
            (_, Parents::Column(column)) => Some(row.cell(Some(*column)).to_owned()).filter(|name| !name.is_empty()),
            _ => (account != "root").then(|| "root".to_owned()),
        }
    }

    fn is_of_another_cluster(&mut self, row: &Row<'_>) -> bool {
        let cluster = row.cell(self.cluster);
        let read = self.records.cluster.get_or_insert_with(|| cluster.to_owned());
        if read == cluster {
            return false;
        }
        self.others.get_or_insert_with(|| (row.place, cluster.to_owned(), 0)).2 += 1;
        true
    }

    fn finish(self) -> Records {
        let mut records = self.records;
        records.cluster = records.cluster.filter(|cluster| !cluster.is_empty());
        if let Some((place, cluster, rows)) = self.others {
            let read = records.cluster.clone().unwrap_or_default();
            records.warnings.push(TreeWarning::OtherCluster { place, cluster, rows, read });
        }
        let is_account = |row: &Record| row.kind == AssociationKind::Account && row.parent.is_some();
        if matches!(self.parents, Parents::Unsaid) && records.rows.iter().any(is_account) {
            records.warnings.push(TreeWarning::NoParents);
        }
        records
    }
}
