//! Slurm's associations. In: the output of one of its tools, in any [`TreeFormat`]. Out: a
//! [`SlurmTree`].
//!
//! The rows of any format become a [`TreeDocument`]: every row is checked, parents are put before
//! children, and the usage of members is subtracted from that of their account.

use std::collections::HashMap;
use std::fmt::Display;

use job_sort_formula::ShareTree;
use job_sort_formula::fairshare::tree_document::{TreeDocument, TreeNode};
use job_sort_formula::fairshare::{
    Classic, FairTree, NodeId, NodeKind, Policy, PolicyRules, Shares, stored_shares,
};
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
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SlurmTree {
    /// The tree. A user's second association in an account, in a document without partitions, has
    /// the partition `?2`, the third `?3`, and so on.
    pub document: TreeDocument,
    /// The document's format.
    pub format: TreeFormat,
    /// The cluster, if the document names it.
    pub cluster: Option<String>,
    /// Whether the document has usage; in the document that of an account includes that of its members.
    pub usage_known: bool,
    /// Whether the document was printed under the policy fair tree; `None` if its columns do not
    /// show this.
    pub is_fair_tree: Option<bool>,
    /// The column `FairShare` of each node of `document`, `None` if it is blank; empty where rows
    /// are missing.
    pub printed_fairshare: Vec<Option<f64>>,
    /// What is said of the first one of the second rows of associations, which are ignored.
    pub duplicate: Option<String>,
    /// What is unusual in the document, in the order of its lines.
    pub warnings: Vec<String>,
}

/// A format of an association tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum TreeFormat {
    /// The output of `sshare -a -l`, in columns or with `-P` or `-p`.
    #[default]
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
        return association_files::read_sshare_json(&text)?.build();
    }
    let first = first_line(&text);
    let is_object = |(word, _): (&str, _)| OBJECTS.contains(&&*word.trim().to_ascii_lowercase());
    let mut records = if let Some(table) = Table::parse(&text).filter(is_of_associations) {
        association_files::read_table(&table)?
    } else if first.split_once('-').is_some_and(is_object) {
        association_files::read_sacctmgr_file(&text)?
    } else if first.starts_with("root|") || first.starts_with("root ") {
        // the first row of `sshare -n`
        let fault = " is a table without its header line: print it without `-n`";
        return Err(fault.to_owned());
    } else {
        let first = clipped(first);
        return Err(unrecognised(format!("a text that begins with `{first}`")));
    };
    if !text.ends_with('\n') {
        let line = Place::line(text.lines().count());
        records.warn_at(
            line,
            "the last line has no line end; was the document cut off?",
        );
    }
    records.build()
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
    /// The node; what the document says of its usage includes that of its members.
    node: TreeNode,
    /// The account that it is in; `None` for the root.
    account: Option<String>,
    usage: f64,
    /// The normalised share in the document.
    norm_shares: Option<f64>,
    /// The fair-share factor in the document.
    fairshare: Option<f64>,
}

impl Association {
    fn is_account(&self) -> bool {
        self.node.kind != NodeKind::Entity
    }
}

/// What a row says; what it does not say is empty.
#[derive(Debug, Default)]
struct Cells<'r> {
    is_user: bool,
    name: &'r str,
    /// The account that it is in; `None` for the root.
    account: Option<String>,
    /// Empty for an association with all partitions.
    partition: &'r str,
    shares: &'r str,
    usage: &'r str,
    norm_shares: &'r str,
    fairshare: &'r str,
}

/// All rows of a document.
#[derive(Debug, Default)]
struct Associations {
    /// What becomes of them.
    tree: SlurmTree,
    /// Whether the document does not contain the partitions of associations.
    lacks_partitions: bool,
    /// Whether a name longer than its column ends in `+`.
    names_are_cut: bool,
    rows: Vec<Association>,
    /// The rows of other clusters: the place and the cluster of the first, and their number.
    other_clusters: Option<(Place, String, usize)>,
    /// What is unusual in the document, each with the number of its line: 0 for what is found before
    /// any, [`WHOLE`] for what all of them show.
    warnings: Vec<(usize, String)>,
}

/// Stands for the line of what all lines show.
const WHOLE: usize = usize::MAX;

impl Associations {
    fn new(format: TreeFormat) -> Self {
        Self {
            tree: SlurmTree {
                format,
                ..SlurmTree::default()
            },
            ..Self::default()
        }
    }

    /// Checks a row and adds it.
    fn add(&mut self, place: Place, row: Cells<'_>) -> Result<(), String> {
        let name = row.name;
        let shares = match row.shares {
            // the root's shares have no meaning
            _ if row.account.is_none() => Shares::Count(1),
            "" => {
                let fault = format_args!("`{name}` has no shares; was the line cut off?");
                return Err(place.fault(fault));
            }
            text => self.shares(place, name, text)?,
        };
        let mut usage = 0.0;
        if self.tree.usage_known {
            usage = row.usage.parse().unwrap_or(f64::NAN);
            if !(usage.is_finite() && usage >= 0.0) {
                return Err(place.fault(format_args!(
                    "the usage of `{name}` is `{}`, expected a number of at least 0",
                    clipped(row.usage)
                )));
            }
        }
        let account = row.account.as_deref().unwrap_or(ROOT);
        if name.len().max(account.len()).max(row.partition.len()) > MAX_NAME {
            let fault = format!("a name is longer than {MAX_NAME} bytes");
            return Err(place.fault(fault));
        }
        if name.is_empty() || account.is_empty() {
            return Err(place.fault("the account has no name"));
        }
        if self.rows.len() > MAX_ASSOCIATIONS {
            return Err(format!(" has more than {MAX_ASSOCIATIONS} associations"));
        }
        self.rows.push(Association {
            place,
            node: TreeNode {
                kind: if row.is_user {
                    NodeKind::Entity
                } else {
                    NodeKind::Group
                },
                name: name.to_owned(),
                parent: None,
                partition: non_empty(row.partition.to_owned()).filter(|_| row.is_user),
                shares,
                usage: None,
                cgroup: None,
            },
            account: row.account,
            usage,
            norm_shares: row.norm_shares.parse().ok(),
            fairshare: row.fairshare.parse().ok(),
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
        let read = self.tree.cluster.get_or_insert(cluster.to_owned());
        if read == cluster {
            return false;
        }
        let others = &mut self.other_clusters;
        let (.., rows) = others.get_or_insert((place, cluster.to_owned(), 0));
        *rows += 1;
        true
    }

    fn warn_at(&mut self, place: Place, text: impl Display) {
        self.warnings
            .push((place.number, format!("{place}: {text}")));
    }

    /// The tree of the rows.
    fn build(mut self) -> Result<SlurmTree, String> {
        if self.rows.is_empty() {
            return Err(String::from(" contains no associations; was it cut off?"));
        }
        self.tree.cluster = self.tree.cluster.and_then(non_empty);
        if let Some((place, other, rows)) = self.other_clusters.take() {
            let read = self.tree.cluster.as_deref().unwrap_or_default();
            let text = format!(
                "only cluster `{read}` is read, and {rows} rows of others, such as `{other}`, are ignored"
            );
            self.warn_at(place, text);
        }
        let mut rows = self.rows.iter();
        if self.names_are_cut
            && let Some(first) = rows.find(|row| row.node.name.ends_with('+'))
        {
            let text = format!(
                "names such as `{}` were cut at the width of their column; with `-P`, `sshare` and `sacctmgr` print them in full",
                first.node.name
            );
            self.warn_at(first.place, text);
        }
        self.tree.document.root = self.root()?;
        self.resolve_repeated()?;
        let norm_shares = self.add_nodes()?;
        let mut tree = self.tree;
        if let Some(missing) = tree.missing_rows(&norm_shares) {
            self.warnings.push((WHOLE, missing));
            // all numbers differ then
            tree.printed_fairshare.clear();
        }
        self.warnings.sort_by_key(|(line, _)| *line);
        let warnings = self.warnings.into_iter();
        tree.warnings = warnings.map(|(_, warning)| warning).collect();
        Ok(tree)
    }

    /// The name of the only row without an account, `root` if there is no such row.
    fn root(&mut self) -> Result<String, String> {
        let mut tops = self.rows.iter().filter(|row| row.account.is_none());
        let Some(Association { place, node, .. }) = tops.next() else {
            return Ok(ROOT.to_owned());
        };
        let name = node.name.clone();
        if let Some(second) = tops.find(|second| second.node.name != name) {
            return Err(second.place.fault(format_args!(
                "`{}` is at the top level beside `{name}`; leading blanks give the level, were they removed?",
                second.node.name
            )));
        }
        if name != ROOT {
            let text =
                format!("the top account is `{name}`, expected `root`; was the output filtered?");
            self.warn_at(*place, text);
        }
        Ok(name)
    }

    /// Removes all rows of an association but the first: the daemon's database holds an association
    /// once, and `sacctmgr load` ignores a second line. In a document without partitions, each row of
    /// a user in one account is the user's association with one partition: the second row gets the
    /// partition `?2`, the third `?3`, and so on.
    fn resolve_repeated(&mut self) -> Result<(), String> {
        // by the account of a user, and the name; accounts are in no account
        let mut known: HashMap<(Option<String>, String), (Place, u32)> = HashMap::new();
        let first = &self.rows[0];
        if self.rows.iter().all(|row| row.account.is_some()) {
            known.insert((None, self.tree.document.root.clone()), (first.place, 1));
        }
        let mut kept = Vec::new();
        for mut row in std::mem::take(&mut self.rows) {
            let name = row.node.full_name();
            let account = row.account.clone().unwrap_or_default();
            let within = (!row.is_account()).then(|| account.clone());
            let (first_place, times) = known
                .entry((within, name.clone()))
                .or_insert((row.place, 0));
            *times += 1;
            if *times == 1 {
                kept.push(row);
                continue;
            }
            let place = row.place;
            let partition = row.node.partition.as_deref().unwrap_or_default();
            if self.names_are_cut && (row.node.name.ends_with('+') || partition.ends_with('+')) {
                return Err(place.fault(format_args!(
                    "`{name}` was cut at the width of its column and is on {first_place} too; with `-P`, `sshare` and \
                     `sacctmgr` print names in full"
                )));
            }
            let repeated = format!("`{name}` in `{account}` is on {first_place} already");
            if self.lacks_partitions && !row.is_account() {
                row.node.partition = Some(format!("{UNNAMED_PARTITION}{times}"));
                let text = format!(
                    "{repeated}: a user has one association per partition, and only `sshare -m` or a column `Partition` \
                     gives the partition; this association is called `{}`",
                    row.node.full_name()
                );
                self.warn_at(place, text);
                kept.push(row);
            } else {
                let ignored = format!("{repeated}; this row is ignored");
                self.tree
                    .duplicate
                    .get_or_insert(format!("{place}: {ignored}"));
                self.warn_at(place, ignored);
            }
        }
        self.rows = kept;
        Ok(())
    }

    /// The row of the account that each row is in; `None` for the root, and below one without a row.
    fn accounts(&self) -> Result<Vec<Option<usize>>, String> {
        let root = self.tree.document.root.as_str();
        let mut by_name: HashMap<&str, Option<usize>> = HashMap::from([(root, None)]);
        for (index, row) in self.rows.iter().enumerate() {
            if row.is_account() {
                by_name.insert(&row.node.name, Some(index));
            }
        }
        let mut accounts = Vec::new();
        for Association {
            place,
            node,
            account,
            ..
        } in &self.rows
        {
            accounts.push(match account {
                None => None,
                Some(account) => *by_name.get(account.as_str()).ok_or_else(|| {
                    let name = &node.name;
                    place.fault(format_args!(
                        "`{name}` is in `{account}`, which is not an account of the tree"
                    ))
                })?,
            });
        }
        Ok(accounts)
    }

    /// Makes nodes of the rows, every parent before its children, and returns their normalised shares.
    ///
    /// The usage of its members is subtracted from that of every account. The daemon's totals are not
    /// exact sums and are printed without their decimals, so an account whose usage is less by at
    /// most 1, or by a factor of 1e-9, gives no warning.
    fn add_nodes(&mut self) -> Result<Vec<Option<f64>>, String> {
        let accounts = self.accounts()?;
        let mut members_usage = vec![0.0; self.rows.len()];
        for (row, account) in self.rows.iter().zip(&accounts) {
            if let Some(account) = account {
                members_usage[*account] += row.usage;
            }
        }
        let mut nodes = vec![None; self.rows.len()];
        let mut norm_shares = Vec::new();
        let rows = std::mem::take(&mut self.rows);
        let mut rows: Vec<Option<Association>> = rows.into_iter().map(Some).collect();
        for index in parents_first(&accounts) {
            let Some(mut row) = rows[index].take() else {
                continue;
            };
            let members_usage = members_usage[index];
            let own = row.usage - members_usage;
            if own < -1.0 && own < -1e-9 * members_usage {
                let text = format!(
                    "account `{}` has a usage of {}, less than the {members_usage} of its members",
                    row.node.name, row.usage
                );
                self.warn_at(row.place, text);
            }
            // the tree adds the usage of members up again
            let own = own.max(0.0);
            if row.account.is_none() {
                self.tree.document.usage = own;
                // under fair tree the root has no normalised shares, under every other policy all of them
                self.tree.is_fair_tree = row.norm_shares.map(|shares| shares < 0.5);
                continue;
            }
            row.node.usage = (own != 0.0).then_some(own);
            row.node.parent = accounts[index].and_then(|account| nodes[account]);
            nodes[index] = Some(self.tree.document.nodes.len());
            self.tree.document.nodes.push(row.node);
            self.tree.printed_fairshare.push(row.fairshare);
            norm_shares.push(row.norm_shares);
        }
        match rows.into_iter().flatten().find(Association::is_account) {
            Some(row) => {
                let fault = format_args!("account `{}` is nested in itself", row.node.name);
                Err(row.place.fault(fault))
            }
            None => Ok(norm_shares),
        }
    }
}

/// The indices of the rows with these accounts, every account before its members; siblings keep their
/// order. What is nested in itself is left out.
fn parents_first(accounts: &[Option<usize>]) -> Vec<usize> {
    let rows = 0..accounts.len();
    if rows
        .clone()
        .all(|row| accounts[row].is_none_or(|account| account < row))
    {
        return rows.collect();
    }
    let mut stack = Vec::new();
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); accounts.len()];
    for row in rows.rev() {
        match accounts[row] {
            None => stack.push(row),
            Some(account) => members[account].push(row),
        }
    }
    let mut order = Vec::new();
    while let Some(row) = stack.pop() {
        order.push(row);
        stack.append(&mut members[row]);
    }
    order
}

impl SlurmTree {
    /// Compares the normalised shares in the document with those computed from its rows. The document's
    /// are less if rows of siblings are missing: `sshare` was run without `-a`, or `PrivateData` hides
    /// other users from the user who ran it.
    fn missing_rows(&self, printed: &[Option<f64>]) -> Option<String> {
        if printed.iter().all(Option::is_none) {
            return None;
        }
        let tree = self.document.share_tree().ok()?;
        let fair_tree = FairTree::new(PolicyRules::Scheduler);
        let classic = Classic::new(PolicyRules::Scheduler);
        let mut candidates = Vec::new();
        if self.is_fair_tree != Some(false) {
            candidates.push(differences(&tree, printed, &fair_tree));
        }
        if self.is_fair_tree != Some(true) {
            candidates.push(differences(&tree, printed, &classic));
        }
        // the policy that explains more of the shares
        let found = candidates.into_iter().min_by_key(Vec::len)?;
        let &(node, printed_share, computed_share) = found.first()?;
        let count = found.len();
        let account = tree.parent(node).map_or("", |account| tree.name(account));
        Some(format!(
            "rows are missing: the normalised share of `{}` in `{account}` is {printed_share:.6}, but {computed_share:.6} \
             among the rows here, as for {count} in all, so the shares computed here are wrong; print all rows with \
             `sshare -a -l -P` (if `PrivateData` hides other users, run it as an operator)",
            tree.name(node)
        ))
    }
}

/// The associations whose printed share is less than the computed one, with the two shares.
fn differences(
    tree: &ShareTree,
    printed: &[Option<f64>],
    policy: &dyn Policy,
) -> Vec<(NodeId, f64, f64)> {
    let shares = policy.assess(tree);
    let mut differences = Vec::new();
    for (node, printed) in tree.nodes().skip(1).zip(printed) {
        if let Some(association) = shares.association(node)
            && let (Some(printed), Some(computed)) = (*printed, association.norm_shares)
            && computed - printed > PRINTED_PRECISION
        {
            differences.push((node, printed, computed));
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
