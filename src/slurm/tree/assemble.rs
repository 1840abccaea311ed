//! From the rows of any document to the tree: every row checked, parents put before children, own usage found.

use std::collections::HashMap;

use crate::fairshare::{Release, Shares};

use crate::slurm::tree::association::full_name;
use crate::slurm::tree::error::Source;
use crate::slurm::tree::raw_shares::TakenShares;
use crate::slurm::tree::{
    Association, AssociationKind, AssociationTree, MAX_ASSOCIATIONS, MAX_NAME, Place, RowFault, TreeFormat,
    TreeReadError, TreeWarning,
};

const ROOT: &str = "root";
/// What the name of a partition starts with that the document does not name; no partition's does.
pub(in crate::slurm) const UNNAMED_PARTITION: &str = "?";

/// A row of a document.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) place: Place,
    pub(super) kind: AssociationKind,
    pub(super) name: String,
    /// The account that it is in; `None` for the top.
    pub(super) parent: Option<String>,
    pub(super) partition: String,
    pub(super) shares: Shares,
    pub(super) usage: f64,
}

/// All rows of a document.
#[derive(Debug)]
pub(super) struct Records {
    pub(super) format: TreeFormat,
    pub(super) cluster: Option<String>,
    pub(super) release: Option<Release>,
    /// Whether an account's usage holds that of its members.
    pub(super) usage_known: bool,
    /// Whether it says which partition an association is bound to.
    pub(super) names_partitions: bool,
    /// Whether names longer than their column end in `+`.
    pub(super) names_are_cut: bool,
    pub(super) rows: Vec<Record>,
    pub(super) warnings: Vec<TreeWarning>,
}

impl Records {
    pub(super) fn of(format: TreeFormat) -> Self {
        let (rows, warnings) = (Vec::new(), Vec::new());
        Self {
            format,
            cluster: None,
            release: None,
            usage_known: false,
            names_partitions: true,
            names_are_cut: false,
            rows,
            warnings,
        }
    }

    /// Adds a row, if there is room for it and its names are of a sane length.
    pub(super) fn push(&mut self, source: Source<'_>, row: Record) -> Result<(), TreeReadError> {
        let parent = row.parent.as_deref().unwrap_or(ROOT);
        if [row.name.as_str(), parent, &row.partition].iter().any(|name| name.len() > MAX_NAME) {
            return Err(source.at(row.place, RowFault::LongName));
        }
        if row.name.is_empty() || parent.is_empty() {
            return Err(source.at(row.place, RowFault::NoName));
        }
        if self.rows.len() > MAX_ASSOCIATIONS {
            return Err(TreeReadError::TooMany { source_name: source.name() });
        }
        self.rows.push(row);
        Ok(())
    }

    /// Says so if Slurm takes these shares as others.
    pub(super) fn note_shares(&mut self, place: Place, name: &str, text: &str, taken: TakenShares) -> Shares {
        if !taken.as_written {
            let (name, text) = (name.to_owned(), text.to_owned());
            self.warnings.push(TreeWarning::OddShares { place, name, text, taken: taken.shares });
        }
        taken.shares
    }
}

pub(super) fn assemble(source: Source<'_>, records: Records) -> Result<AssociationTree, TreeReadError> {
    let Records { format, cluster, release, usage_known, names_partitions, names_are_cut, mut rows, mut warnings } =
        records;
    if rows.is_empty() {
        return Err(TreeReadError::NoRows { source_name: source.name() });
    }
    if names_are_cut {
        warnings.extend(cut_names(&rows));
    }
    let root = top(source, &rows, &mut warnings)?;
    if !names_partitions {
        name_partitions(&mut rows, names_are_cut, &mut warnings);
    }
    let rows = without_duplicates(source, rows, &root, names_are_cut, &mut warnings)?;
    let rows = parents_first(source, rows, &root)?;
    let own = if usage_known { own_usage(&rows, &mut warnings) } else { vec![0.0; rows.len()] };
    let mut tree = AssociationTree {
        format: Some(format),
        cluster,
        release,
        root,
        root_usage: 0.0,
        usage_known,
        nodes: Vec::new(),
        warnings,
    };
    for (row, usage) in rows.into_iter().zip(own) {
        let Record { kind, name, parent, partition, shares, .. } = row;
        match parent {
            Some(parent) => tree.nodes.push(Association { kind, name, parent, partition, shares, usage }),
            None => tree.root_usage = usage,
        }
    }
    Ok(tree)
}

fn cut_names(rows: &[Record]) -> Option<TreeWarning> {
    let mut cut = rows.iter().filter(|row| row.name.ends_with('+'));
    let first = cut.next()?;
    Some(TreeWarning::NameCut { place: first.place, name: first.name.clone(), count: 1 + cut.count() })
}

/// The name of the one row without a parent, `root` where there is no such row.
fn top(source: Source<'_>, rows: &[Record], warnings: &mut Vec<TreeWarning>) -> Result<String, TreeReadError> {
    let mut tops = rows.iter().filter(|row| row.parent.is_none());
    let Some(first) = tops.next() else { return Ok(ROOT.to_owned()) };
    if let Some(second) = tops.find(|second| second.name != first.name) {
        let fault = RowFault::SecondTop { name: second.name.clone(), top: first.name.clone() };
        return Err(source.at(second.place, fault));
    }
    if first.name != ROOT {
        warnings.push(TreeWarning::TopIsNotRoot { place: first.place, name: first.name.clone() });
    }
    Ok(first.name.clone())
}

/// A user who stands in an account several times has an association for each of so many partitions. Where the document
/// has no column for them, all but the first get one by number.
fn name_partitions(rows: &mut [Record], names_are_cut: bool, warnings: &mut Vec<TreeWarning>) {
    let mut seen: HashMap<(String, String), (Place, u32)> = HashMap::new();
    let is_whole = |row: &&mut Record| !(names_are_cut && row.name.ends_with('+'));
    for row in rows.iter_mut().filter(|row| row.kind == AssociationKind::User).filter(is_whole) {
        let account = row.parent.clone().unwrap_or_default();
        let (first, times) = seen.entry((account.clone(), row.name.clone())).or_insert((row.place, 0));
        *times += 1;
        if *times > 1 {
            row.partition = format!("{UNNAMED_PARTITION}{times}");
            let (place, name, partition) = (row.place, row.name.clone(), row.partition.clone());
            warnings.push(TreeWarning::UnnamedPartition { place, name, account, first: *first, partition });
        }
    }
}

/// The rows without those whose association was on one before: the daemon's database holds no such thing, and
/// `sacctmgr load` passes over them.
fn without_duplicates(
    source: Source<'_>,
    rows: Vec<Record>,
    root: &str,
    names_are_cut: bool,
    warnings: &mut Vec<TreeWarning>,
) -> Result<Vec<Record>, TreeReadError> {
    let mut accounts: HashMap<String, Place> = HashMap::new();
    let mut users: HashMap<(String, String), Place> = HashMap::new();
    let implicit_root = rows.iter().all(|row| row.parent.is_some());
    if let Some(first) = rows.first().filter(|_| implicit_root) {
        accounts.insert(root.to_owned(), first.place);
    }
    let mut kept = Vec::with_capacity(rows.len());
    for row in rows {
        let parent = row.parent.as_deref().unwrap_or_default();
        let first = match row.kind {
            AssociationKind::Account => *accounts.entry(row.name.clone()).or_insert(row.place),
            AssociationKind::User => {
                let key = (parent.to_owned(), full_name(&row.name, &row.partition).into_owned());
                *users.entry(key).or_insert(row.place)
            }
        };
        if first == row.place && !(implicit_root && row.kind == AssociationKind::Account && row.name == root) {
            kept.push(row);
        } else if names_are_cut && (row.name.ends_with('+') || row.partition.ends_with('+')) {
            return Err(source
                .at(row.place, RowFault::CutAlike { name: full_name(&row.name, &row.partition).into_owned(), first }));
        } else {
            let (place, parent) = (row.place, parent.to_owned());
            let name = full_name(&row.name, &row.partition).into_owned();
            warnings.push(TreeWarning::Duplicate { place, name, parent, first });
        }
    }
    Ok(kept)
}

/// The rows in an order in which every parent stands before its children, siblings as they were.
fn parents_first(source: Source<'_>, rows: Vec<Record>, root: &str) -> Result<Vec<Record>, TreeReadError> {
    let mut at: HashMap<&str, Option<usize>> = HashMap::from([(root, None)]);
    let accounts = rows.iter().enumerate().filter(|(_, row)| row.kind == AssociationKind::Account);
    at.extend(accounts.map(|(index, row)| (row.name.as_str(), Some(index))));
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); rows.len()];
    let mut waiting = Vec::new();
    let mut in_order = true;
    for (index, row) in rows.iter().enumerate() {
        let Some(parent) = row.parent.as_deref() else {
            waiting.push(index);
            continue;
        };
        match at.get(parent) {
            None => {
                let fault = RowFault::UnknownParent { name: row.name.clone(), parent: parent.to_owned() };
                return Err(source.at(row.place, fault));
            }
            Some(None) => waiting.push(index),
            Some(&Some(above)) => {
                in_order &= above < index;
                children[above].push(index);
            }
        }
    }
    if in_order {
        return Ok(rows);
    }
    waiting.reverse();
    let mut order = Vec::with_capacity(rows.len());
    while let Some(index) = waiting.pop() {
        order.push(index);
        waiting.extend(children[index].iter().rev());
    }
    let mut rows: Vec<Option<Record>> = rows.into_iter().map(Some).collect();
    let ordered = order.into_iter().filter_map(|index| rows[index].take()).collect();
    match rows.into_iter().flatten().find(|row| row.kind == AssociationKind::Account) {
        Some(row) => Err(source.at(row.place, RowFault::Cycle(row.name))),
        None => Ok(ordered),
    }
}

/// What is left of each row's usage without that of its members. The running totals of a daemon are not exact sums,
/// and are printed without their fractions, so that one unit too little is nothing to speak of.
fn own_usage(rows: &[Record], warnings: &mut Vec<TreeWarning>) -> Vec<f64> {
    let mut below: HashMap<&str, f64> = HashMap::new();
    for row in rows {
        let above = row.parent.as_deref().unwrap_or_default();
        *below.entry(above).or_default() += row.usage;
    }
    let own = rows.iter().map(|row| {
        let members = match row.kind {
            AssociationKind::Account => below.get(row.name.as_str()).copied().unwrap_or(0.0),
            AssociationKind::User => 0.0,
        };
        let own = row.usage - members;
        if own < -1.0 && own < -1e-9 * members {
            let (place, name) = (row.place, row.name.clone());
            warnings.push(TreeWarning::UsageBelowMembers { place, name, usage: row.usage, below: members });
        }
        own.max(0.0)
    });
    own.collect()
}
