//! Slurm's associations. In: the output of one of its tools, in any [`TreeFormat`]. Out: a
//! [`SlurmTree`].
//!
//! The rows of any format become a [`TreeDocument`]: every row is checked, parents are put before
//! children, and the usage of members is subtracted from that of their account.

use std::collections::HashMap;
use std::fmt::Display;

use job_sort_formula::fairshare::policy::classic::Classic;
use job_sort_formula::fairshare::policy::fair_tree::FairTree;
use job_sort_formula::fairshare::policy::stored_shares;
use job_sort_formula::fairshare::tree_document::{TreeDocument, TreeNode};
use job_sort_formula::fairshare::{NodeKind, Policy, PolicyRules, Release, ShareTree, Shares};
use jsf_json::{clipped, decode_utf8, strip_byte_order_mark};

use crate::non_empty;
use crate::tables::{Place, Table};

mod association_files;
#[cfg(test)]
mod tests;

/// The most associations that are read.
const MAX_ASSOCIATIONS: usize = 1_000_000;
/// The longest name that is read, in bytes.
const MAX_NAME: usize = 4096;

const EXPECTED: &str = "`sshare -a -l` (with `-P` or not), `sshare --json`, a file of `sacctmgr dump` or for \
                        `sacctmgr load`, or `sacctmgr -P show assoc`, `flux account export-db --fairshare-emulate`, \
                        or native JSON, {\"children\":[{\"name\":…,\"shares\":…}]}";
/// The first words of the lines of a file for `sacctmgr load`.
const OBJECTS: &[&str] = &[
    "cluster", "machine", "parent", "account", "project", "user", "qos",
];

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
    /// The column `FairShare` of each node of `document`, `None` if it is blank; empty where rows
    /// are missing.
    pub printed_fairshare: Vec<Option<f64>>,
    /// What is said of second rows of associations, which are ignored.
    pub duplicates: Vec<String>,
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
    let text = decode_utf8(strip_byte_order_mark(bytes));
    if text.trim_start().starts_with('{') {
        let records = association_files::read_sshare_json(&text)?;
        return records.build(TreeFormat::SshareJson);
    }
    let first = first_line(&text);
    let is_object = |(word, _): (&str, _)| OBJECTS.contains(&&*word.trim().to_ascii_lowercase());
    let (format, mut records);
    if let Some(table) = Table::parse(&text).filter(is_of_associations) {
        let is_sshare = table.has("RawShares") || !table.has("Share");
        format = if is_sshare {
            TreeFormat::Sshare
        } else {
            TreeFormat::ShowAssoc
        };
        records = association_files::read_table(&table, is_sshare)?;
    } else if first.split_once('-').is_some_and(is_object) {
        format = TreeFormat::SacctmgrFile;
        records = association_files::read_sacctmgr_file(&text)?;
    } else if first.starts_with("root|") || first.starts_with("root ") {
        // the first row of `sshare -n`
        let fault = " is a table without its header line: print it without `-n`";
        return Err(fault.to_owned());
    } else {
        let first = clipped(first);
        return Err(unrecognised(format!("a text that begins with `{first}`")));
    }
    if !text.ends_with('\n') {
        let line = Place::line(text.lines().count());
        records.warn_at(
            line,
            "the last line has no line end; was the document cut off?",
        );
    }
    records.build(format)
}

/// Whether a table is one of `sshare` or of `sacctmgr show assoc`.
fn is_of_associations(table: &Table<'_>) -> bool {
    let mut numbers = [
        "RawShares",
        "Share",
        "NormShares",
        "EffectvUsage",
        "RawUsage",
    ]
    .into_iter();
    table.has("Account") && numbers.any(|column| table.has(column))
}

/// The first line that is neither blank nor a comment.
fn first_line(text: &str) -> &str {
    let mut lines = text.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    first.unwrap_or_default()
}

/// The document seems to be something else.
fn unrecognised(found: impl Display) -> String {
    format!(" is {found}, expected {EXPECTED}")
}

const ROOT: &str = "root";
/// The largest error of a number that the daemon sent and `sshare` printed with six decimals.
const PRINTED_PRECISION: f64 = 1.5e-6;
/// The first character of a partition that the document does not name. No real partition has it.
const UNNAMED_PARTITION: &str = "?";

/// A row of a document.
#[derive(Debug)]
struct Association {
    place: Place,
    kind: NodeKind,
    name: String,
    /// The account that it is in; `None` for the root.
    parent: Option<String>,
    /// Empty for an association with all partitions.
    partition: String,
    shares: Shares,
    usage: f64,
    /// The normalised share in the document.
    norm_shares: Option<f64>,
    /// The fair-share factor in the document.
    fairshare: Option<f64>,
}

impl Association {
    fn is_account(&self) -> bool {
        self.kind != NodeKind::Entity
    }

    fn full_name(&self) -> String {
        if self.partition.is_empty() {
            self.name.clone()
        } else {
            format!("{}:{}", self.name, self.partition)
        }
    }
}

/// All rows of a document.
#[derive(Debug, Default)]
struct Associations {
    cluster: Option<String>,
    release: Option<Release>,
    /// Whether the document has usage; the usage of an account then includes that of its members.
    usage_known: bool,
    /// Whether the document does not contain the partitions of associations.
    lacks_partitions: bool,
    /// Whether a name longer than its column ends in `+`.
    names_are_cut: bool,
    rows: Vec<Association>,
    duplicates: Vec<String>,
    warnings: Vec<String>,
    /// The rows of other clusters: the place and the cluster of the first, and their number.
    other_clusters: Option<(Place, String, usize)>,
}

impl Associations {
    /// Checks a row and adds it. `value` is the text in a column, empty where there is none.
    fn add<'r>(
        &mut self,
        place: Place,
        kind: NodeKind,
        name: &str,
        parent: Option<String>,
        value: impl Fn(&str) -> &'r str,
    ) -> Result<(), String> {
        let shares = match value("RawShares") {
            // the root's shares have no meaning
            _ if parent.is_none() => Shares::Count(1),
            "" => {
                let fault = format_args!("`{name}` has no shares; was the line cut off?");
                return Err(place.fault(fault));
            }
            text => self.shares(place, name, text)?,
        };
        let mut usage = 0.0;
        if self.usage_known {
            let text = value("RawUsage");
            usage = text.parse().unwrap_or(f64::NAN);
            if !(usage.is_finite() && usage >= 0.0) {
                return Err(place.fault(format_args!(
                    "the usage of `{name}` is `{}`, expected a number of at least 0",
                    clipped(text)
                )));
            }
        }
        let (above, partition) = (parent.as_deref().unwrap_or(ROOT), value("Partition"));
        if name.len().max(above.len()).max(partition.len()) > MAX_NAME {
            let fault = format!("a name is longer than {MAX_NAME} bytes");
            return Err(place.fault(fault));
        }
        if name.is_empty() || above.is_empty() {
            return Err(place.fault("the account has no name"));
        }
        if self.rows.len() > MAX_ASSOCIATIONS {
            return Err(format!(" has more than {MAX_ASSOCIATIONS} associations"));
        }
        self.rows.push(Association {
            place,
            kind,
            name: name.to_owned(),
            parent,
            partition: partition.to_owned(),
            shares,
            usage,
            norm_shares: value("NormShares").parse().ok(),
            fairshare: value("FairShare").parse().ok(),
        });
        Ok(())
    }

    /// The shares that a text denotes, with a warning if Slurm stores another number.
    fn shares(&mut self, place: Place, name: &str, text: &str) -> Result<Shares, String> {
        let Some((stored, is_exact)) = parse_shares(text) else {
            return Err(place.fault(format_args!(
                "the shares of `{name}` are `{text}`, which Slurm rejects; expected a whole number or `parent`"
            )));
        };
        if !is_exact {
            let stored = match stored {
                Shares::Count(count) => count.to_string(),
                Shares::Parent => "`parent`".to_owned(),
            };
            let text = format!("`{name}` has shares `{text}`, which Slurm stores as {stored}");
            self.warn_at(place, text);
        }
        Ok(stored)
    }

    /// Whether a row is of another cluster than the first row. Such a row must not be read; it is
    /// counted for a warning. The empty name counts as a cluster of its own.
    fn is_of_other_cluster(&mut self, place: Place, cluster: &str) -> bool {
        let read = self.cluster.get_or_insert_with(|| cluster.to_owned());
        if read == cluster {
            return false;
        }
        match &mut self.other_clusters {
            Some((_, _, rows)) => *rows += 1,
            None => self.other_clusters = Some((place, cluster.to_owned(), 1)),
        }
        true
    }

    /// Warns of the rows of other clusters.
    fn finish_clusters(&mut self) {
        self.cluster = self.cluster.take().and_then(non_empty);
        let Some((place, cluster, rows)) = self.other_clusters.take() else {
            return;
        };
        let read = self.cluster.as_deref().unwrap_or_default();
        let text = format!(
            "only cluster `{read}` is read, and {rows} rows of others, such as `{cluster}`, are ignored"
        );
        self.warn_at(place, text);
    }

    /// Warns of the whole document.
    fn warn(&mut self, text: impl Into<String>) {
        self.warnings.push(text.into());
    }

    fn warn_at(&mut self, place: Place, text: impl Display) {
        self.warn(format!("{place}: {text}"));
    }

    /// The tree of the rows of a document in a format.
    fn build(mut self, format: TreeFormat) -> Result<SlurmTree, String> {
        if self.rows.is_empty() {
            return Err(String::from(" contains no associations; was it cut off?"));
        }
        if self.names_are_cut {
            self.warn_of_cut_names();
        }
        let root = self.root()?;
        self.resolve_repeated(&root)?;
        self.put_parents_first(&root)?;
        if self.usage_known {
            self.subtract_members();
        }
        // under fair tree the root has no normalised shares, under every other policy all of them
        let mut is_fair_tree = None;
        let mut norm_shares = Vec::new();
        let mut printed_fairshare = Vec::new();
        for row in &self.rows {
            if row.parent.is_some() {
                norm_shares.push(row.norm_shares);
                printed_fairshare.push(row.fairshare);
            } else if is_fair_tree.is_none() {
                is_fair_tree = row.norm_shares.map(|shares| shares < 0.5);
            }
        }
        let document = self.document(root);
        if let Some(missing) = missing_rows(&document, &norm_shares, is_fair_tree) {
            self.warnings.push(missing);
            // all numbers differ then
            printed_fairshare.clear();
        }
        Ok(SlurmTree {
            document,
            format,
            cluster: self.cluster,
            usage_known: self.usage_known,
            is_fair_tree,
            printed_fairshare,
            duplicates: self.duplicates,
            warnings: self.warnings,
        })
    }

    fn warn_of_cut_names(&mut self) {
        let mut rows = self.rows.iter();
        if let Some(first) = rows.find(|row| row.name.ends_with('+')) {
            let text = format!(
                "names such as `{}` were cut at the width of their column; with `-P`, `sshare` and `sacctmgr` print them in full",
                first.name
            );
            self.warn_at(first.place, text);
        }
    }

    /// The name of the only row without a parent, `root` if there is no such row.
    fn root(&mut self) -> Result<String, String> {
        let mut tops = self.rows.iter().filter(|row| row.parent.is_none());
        let Some(first) = tops.next() else {
            return Ok(ROOT.to_owned());
        };
        if let Some(second) = tops.find(|second| second.name != first.name) {
            return Err(second.place.fault(format_args!(
                    "`{}` is at the top level beside `{}`; leading blanks give the level, were they removed?",
                    second.name, first.name
                ),
            ));
        }
        let (place, name) = (first.place, first.name.clone());
        if name != ROOT {
            let text =
                format!("the top account is `{name}`, expected `root`; was the output filtered?");
            self.warn_at(place, text);
        }
        Ok(name)
    }

    /// Removes all rows of an association but the first: the daemon's database holds an association
    /// once, and `sacctmgr load` ignores a second line. In a document without partitions, each row of
    /// a user in one account is the user's association with one partition: the second row gets the
    /// partition `?2`, the third `?3`, and so on.
    fn resolve_repeated(&mut self, root: &str) -> Result<(), String> {
        // by the account of a user, and the name; accounts are in no account
        let mut known: HashMap<(Option<String>, String), (Place, u32)> = HashMap::new();
        let implicit_root = self.rows.iter().all(|row| row.parent.is_some());
        if implicit_root && let Some(first) = self.rows.first() {
            known.insert((None, root.to_owned()), (first.place, 1));
        }
        let mut kept = Vec::new();
        for mut row in std::mem::take(&mut self.rows) {
            let parent = row.parent.clone().unwrap_or_default();
            let name = row.full_name();
            let key = if row.is_account() {
                (None, row.name.clone())
            } else {
                (Some(parent.clone()), name.clone())
            };
            let (first_place, times) = known.entry(key).or_insert((row.place, 0));
            *times += 1;
            if *times == 1 {
                kept.push(row);
                continue;
            }
            let place = row.place;
            if self.names_are_cut && (row.name.ends_with('+') || row.partition.ends_with('+')) {
                let fault = format_args!(
                    "`{name}` was cut at the width of its column and is on {first_place} too; with `-P`, `sshare` and \
                     `sacctmgr` print names in full"
                );
                return Err(place.fault(fault));
            }
            let repeated = format!("{place}: `{name}` in `{parent}` is on {first_place} already");
            if self.lacks_partitions && !row.is_account() {
                row.partition = format!("{UNNAMED_PARTITION}{times}");
                let own_name = row.full_name();
                self.warnings.push(format!(
                    "{repeated}: a user has one association per partition, and only `sshare -m` or a column `Partition` \
                     gives the partition; this association is called `{own_name}`"
                ));
                kept.push(row);
            } else {
                self.duplicates
                    .push(format!("{repeated}; this row is ignored"));
            }
        }
        self.rows = kept;
        Ok(())
    }

    /// Sorts the rows so that every parent is before its children; siblings keep their order.
    fn put_parents_first(&mut self, root: &str) -> Result<(), String> {
        let rows = &self.rows;
        let mut accounts: HashMap<&str, Option<usize>> = HashMap::from([(root, None)]);
        for (index, row) in rows.iter().enumerate() {
            if row.is_account() {
                accounts.insert(&row.name, Some(index));
            }
        }
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); rows.len()];
        let mut stack = Vec::new();
        let mut in_order = true;
        for (index, row) in rows.iter().enumerate() {
            let Some(parent) = row.parent.as_deref() else {
                stack.push(index);
                continue;
            };
            let Some(above) = accounts.get(parent) else {
                let name = &row.name;
                let fault =
                    format_args!("`{name}` is in `{parent}`, which is not an account of the tree");
                return Err(row.place.fault(fault));
            };
            match *above {
                None => stack.push(index),
                Some(above) => {
                    in_order &= above < index;
                    children[above].push(index);
                }
            }
        }
        if in_order {
            return Ok(());
        }
        stack.reverse();
        let rows = std::mem::take(&mut self.rows);
        let mut rows: Vec<Option<Association>> = rows.into_iter().map(Some).collect();
        while let Some(index) = stack.pop() {
            self.rows.extend(rows[index].take());
            stack.extend(children[index].iter().rev());
        }
        match rows.into_iter().flatten().find(Association::is_account) {
            Some(row) => {
                let fault = format_args!("account `{}` is nested in itself", row.name);
                Err(row.place.fault(fault))
            }
            None => Ok(()),
        }
    }

    /// Subtracts the usage of its members from that of every account. The daemon's totals are not
    /// exact sums and are printed without their decimals, so an account whose usage is less by at
    /// most 1, or by a factor of 1e-9, gives no warning.
    fn subtract_members(&mut self) {
        let mut members: HashMap<String, f64> = HashMap::new();
        for row in &self.rows {
            *members
                .entry(row.parent.clone().unwrap_or_default())
                .or_default() += row.usage;
        }
        for row in &mut self.rows {
            let members_usage = match members.get(&row.name) {
                Some(&usage) if row.is_account() => usage,
                _ => 0.0,
            };
            let own = row.usage - members_usage;
            if own < -1.0 && own < -1e-9 * members_usage {
                let text = format!(
                    "{}: account `{}` has a usage of {}, less than the {members_usage} of its members",
                    row.place, row.name, row.usage
                );
                self.warnings.push(text);
            }
            // the tree adds the usage of members up again
            row.usage = own.max(0.0);
        }
    }

    /// The checked rows, parents first, as nodes.
    fn document(&mut self, root: String) -> TreeDocument {
        let mut document = TreeDocument {
            root,
            release: self.release,
            ..TreeDocument::default()
        };
        let mut accounts: HashMap<String, usize> = HashMap::new();
        for row in std::mem::take(&mut self.rows) {
            let Some(parent) = row.parent else {
                document.usage = row.usage;
                continue;
            };
            if row.kind != NodeKind::Entity {
                accounts.insert(row.name.clone(), document.nodes.len());
            }
            document.nodes.push(TreeNode {
                kind: row.kind,
                name: row.name,
                parent: accounts.get(&parent).copied(),
                partition: non_empty(row.partition),
                shares: row.shares,
                usage: (row.usage != 0.0).then_some(row.usage),
                cgroup: None,
            });
        }
        document
    }
}

/// Compares the normalised shares in the document with those computed from its rows. The document's
/// are less if rows of siblings are missing: `sshare` was run without `-a`, or `PrivateData` hides
/// other users from the user who ran it.
fn missing_rows(
    document: &TreeDocument,
    printed: &[Option<f64>],
    is_fair_tree: Option<bool>,
) -> Option<String> {
    if printed.iter().all(Option::is_none) {
        return None;
    }
    let tree = document.share_tree().ok()?;
    let fair_tree = FairTree::new(PolicyRules::Scheduler);
    let classic = Classic::new(PolicyRules::Scheduler);
    let mut candidates = Vec::new();
    if is_fair_tree != Some(false) {
        candidates.push(differences(&tree, printed, &fair_tree));
    }
    if is_fair_tree != Some(true) {
        candidates.push(differences(&tree, printed, &classic));
    }
    // the policy that explains more of the shares
    let found = candidates.into_iter().min_by_key(Vec::len)?;
    let &(index, printed_share, computed_share) = found.first()?;
    let node = document.nodes.get(index)?;
    let count = found.len();
    let text = format!(
        "rows are missing: the normalised share of `{}` in `{}` is {printed_share:.6}, but {computed_share:.6} among \
         the rows here, as for {count} in all, so the shares computed here are wrong; print all rows with `sshare -a -l -P` (if \
         `PrivateData` hides other users, run it as an operator)",
        node.full_name(),
        document.parent_name(node)
    );
    Some(text)
}

/// The associations whose printed share is less than the computed one: the index, and the two
/// shares.
fn differences(
    tree: &ShareTree,
    printed: &[Option<f64>],
    policy: &dyn Policy,
) -> Vec<(usize, f64, f64)> {
    let shares = policy.assess(tree);
    let mut differences = Vec::new();
    for (index, (node, printed)) in tree.nodes().skip(1).zip(printed).enumerate() {
        let association = shares.association(node);
        let computed = association.and_then(|association| association.norm_shares);
        if let (Some(printed), Some(computed)) = (*printed, computed)
            && computed - printed > PRINTED_PRECISION
        {
            differences.push((index, printed, computed));
        }
    }
    differences
}

/// Reads shares (`parent` or a number) as Slurm stores them. The second part is whether Slurm
/// stores exactly what the text says. Returns `None` for a text that `sacctmgr` rejects.
///
/// The number ends at the first character that is not a digit (`1.5` is 1), but a zero must be
/// alone (`0x10` is rejected). Recorded in `tests/golden/slurm/fairshare_values_2205.txt`.
fn parse_shares(text: &str) -> Option<(Shares, bool)> {
    if text.eq_ignore_ascii_case("parent") {
        return Some((Shares::Parent, true));
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let end = unsigned.find(|c: char| !c.is_ascii_digit());
    let is_integer = !unsigned.is_empty() && end.is_none();
    let whole = match &unsigned[..end.unwrap_or(unsigned.len())] {
        "" => 0,
        digits => digits.parse().unwrap_or(i64::MAX),
    };
    if whole == 0 && !is_integer {
        return None;
    }
    let number = if text.starts_with('-') { -whole } else { whole };
    let shares = stored_shares(number);
    let is_exact = match shares {
        Shares::Count(count) => count == number,
        Shares::Parent => number == i64::from(i32::MAX),
    };
    Some((shares, is_exact && is_integer))
}
