//! Writes a tree as a file for `sacctmgr load`.
//!
//! Limits (`GrpTRES`, `MaxJobs`, QOS, coordinators) are not part of a tree, so the file has none.

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;

use job_sort_formula::diagnostic::is_control;
use job_sort_formula::fairshare::tree_document::TreeDocument;
use job_sort_formula::fairshare::unique_names::{UniqueNames, truncated};
use job_sort_formula::fairshare::{NodeKind, Shares};
use thiserror::Error;

use crate::tree::UNNAMED_PARTITION;

/// The largest number of shares; the next one means `parent`.
const MAX_SHARES: i64 = i32::MAX as i64 - 1;

/// A file, and what it does not preserve.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LoadFile {
    /// The file.
    pub text: String,
    /// What is missing or changed in the file.
    pub losses: Vec<LoadLoss>,
}

/// Something that a file for `sacctmgr load` does not preserve.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum LoadLoss {
    /// The usage: Slurm keeps it in its state file `assoc_usage`, and no command sets it.
    #[error("the usage of {} is not written: a file for `sacctmgr load` has none", associations(*.0))]
    Usage(usize),
    /// A name that Slurm cannot store, or that is already in use.
    #[error("`{name}` in `{parent}` becomes `{written}`")]
    Renamed {
        /// The name.
        name: String,
        /// The account that it is in.
        parent: String,
        /// The name in the file.
        written: String,
    },
    /// A user's name with a capital letter.
    #[error("user `{0}` becomes lower case unless slurmdbd has PreserveCaseUser")]
    UpperCaseUser(String),
    /// Shares that Slurm cannot store.
    #[error("`{name}` has {shares} shares, written as {written}: Slurm stores 0 to 2147483646")]
    Shares {
        /// The association.
        name: String,
        /// Its shares.
        shares: i64,
        /// The shares in the file.
        written: i64,
    },
    /// A partition that the tree's document does not name.
    #[error("the partition of `{name}` in `{parent}` is not known: replace `{written}` by its name")]
    UnnamedPartition {
        /// The user.
        name: String,
        /// The account.
        parent: String,
        /// The placeholder in the file.
        written: String,
    },
    /// The user that every new cluster has.
    #[error(
        "a new cluster has a user `root` in account `root` with 1 share, which competes with the top accounts: after \
         loading, `sacctmgr modify user where name=root account=root cluster=NAME set fairshare=0`"
    )]
    RootUser,
}

fn associations(count: usize) -> String {
    if count == 1 { "one association".to_owned() } else { format!("{count} associations") }
}

/// Writes the file: `Parent` blocks from the root down, members in the order of the tree, which `sacctmgr load` keeps
/// and by which fair tree breaks ties between accounts.
///
/// ```
/// use jsf_slurm::{load_file::format_load_file, read_tree};
///
/// let dump = "Cluster - 'c':Fairshare=1\nParent - 'root'\nUser - 'root':Fairshare=1\nAccount - 'a':Fairshare=40\n";
/// let written = format_load_file(&read_tree("c.cfg", dump.as_bytes())?.document, "c");
/// assert!(written.text.ends_with("Account - 'a':Description='a':Organization='a':Fairshare=40\n"));
/// assert_eq!(written.losses, []);
/// # Ok::<(), jsf_slurm::tree::TreeReadError>(())
/// ```
pub fn format_load_file(tree: &TreeDocument, cluster: &str) -> LoadFile {
    let mut file = LoadFile::default();
    let cluster = valid_name(cluster).to_lowercase();
    // writing to a string cannot fail
    let _ = writeln!(file.text, "Cluster - '{cluster}':Fairshare=1");
    let accounts = Accounts::new(tree, &mut file.losses);
    let users = Users::new(tree, &accounts, &mut file.losses);
    for (parent, members) in blocks(tree) {
        let _ = writeln!(file.text, "Parent - '{}'", accounts.written(parent));
        for index in members {
            let line = member_line(tree, index, &accounts, &users, &mut file.losses);
            let _ = writeln!(file.text, "{line}");
        }
    }
    let used = tree.nodes.iter().filter(|node| node.usage.is_some_and(|usage| usage != 0.0)).count();
    let used = used + usize::from(tree.usage != 0.0);
    if used > 0 {
        file.losses.push(LoadLoss::Usage(used));
    }
    let mut top_users = tree.nodes.iter().filter(|node| node.kind == NodeKind::Entity && node.parent.is_none());
    if !top_users.any(|node| node.name == "root") {
        file.losses.push(LoadLoss::RootUser);
    }
    file
}

/// The names of the accounts that have members, from the root down, each with the indices of its members.
fn blocks(tree: &TreeDocument) -> Vec<(&str, Vec<usize>)> {
    let mut members: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
    for (index, node) in tree.nodes.iter().enumerate() {
        members.entry(node.parent).or_default().push(index);
    }
    let mut blocks = Vec::new();
    let mut queue = VecDeque::from([(None, tree.root.as_str())]);
    while let Some((account, name)) = queue.pop_front() {
        let Some(members) = members.remove(&account) else { continue };
        let below = members.iter().map(|&index| (index, &tree.nodes[index]));
        let accounts = below.filter(|(_, node)| node.kind != NodeKind::Entity);
        queue.extend(accounts.map(|(index, node)| (Some(index), node.name.as_str())));
        blocks.push((name, members));
    }
    blocks
}

/// The line of the node with this index.
fn member_line(
    tree: &TreeDocument,
    index: usize,
    accounts: &Accounts<'_>,
    users: &Users<'_>,
    losses: &mut Vec<LoadLoss>,
) -> String {
    let node = &tree.nodes[index];
    let shares = match node.shares {
        Shares::Parent => "parent".to_owned(),
        Shares::Count(shares) => {
            let kept = if shares < 0 { 1 } else { shares.min(MAX_SHARES) };
            if kept != shares {
                losses.push(LoadLoss::Shares { name: node.name.clone(), shares, written: kept });
            }
            kept.to_string()
        }
    };
    match node.kind {
        NodeKind::Group | NodeKind::Root => {
            let name = accounts.written(&node.name);
            format!("Account - '{name}':Description='{name}':Organization='{name}':Fairshare={shares}")
        }
        NodeKind::Entity => {
            let parent = tree.parent_name(node);
            let partition = match node.partition.as_deref().unwrap_or_default() {
                "" => String::new(),
                partition => {
                    let partition = valid_name(partition);
                    if partition.starts_with(UNNAMED_PARTITION) {
                        losses.push(LoadLoss::UnnamedPartition {
                            name: node.name.clone(),
                            parent: parent.to_owned(),
                            written: partition.clone(),
                        });
                    }
                    format!(":Partition='{partition}'")
                }
            };
            let default = accounts.written(users.default_account(&node.name).unwrap_or(parent));
            format!("User - '{}'{partition}:DefaultAccount='{default}':Fairshare={shares}", users.written(index))
        }
    }
}

/// The longest name in Slurm's database, in bytes.
const MAX_NAME: usize = 255;

/// The name with `_` for every character that has a meaning in the file, without blanks at its ends and truncated to the
/// length that Slurm stores; `_` if nothing is left.
fn valid_name(name: &str) -> String {
    let text: String = name
        .trim()
        .chars()
        .map(|c| if is_control(c) || matches!(c, '\'' | '"' | '\\' | '#' | '=') { '_' } else { c })
        .collect();
    if text.is_empty() { "_".to_owned() } else { truncated(&text, MAX_NAME).to_owned() }
}

/// The names of the accounts in the file.
struct Accounts<'t> {
    written: HashMap<&'t str, String>,
}

impl<'t> Accounts<'t> {
    /// Chooses the names: Slurm stores accounts in lower case, and the top account must be `root`.
    fn new(tree: &'t TreeDocument, losses: &mut Vec<LoadLoss>) -> Self {
        let mut names = HashMap::from([(tree.root.as_str(), "root".to_owned())]);
        let mut taken = UniqueNames::new(str::to_ascii_lowercase, MAX_NAME);
        taken.take("", "root");
        for node in tree.nodes.iter().filter(|node| node.kind != NodeKind::Entity) {
            if names.contains_key(node.name.as_str()) {
                continue;
            }
            let name = taken.claim("", &valid_name(&node.name).to_ascii_lowercase());
            if name != node.name {
                let parent = tree.parent_name(node).to_owned();
                losses.push(LoadLoss::Renamed { name: node.name.clone(), parent, written: name.clone() });
            }
            names.insert(&node.name, name);
        }
        Self { written: names }
    }

    fn written<'s>(&'s self, account: &'s str) -> &'s str {
        self.written.get(account).map_or(account, String::as_str)
    }
}

/// The names of the users in the file, and the first account of each.
struct Users<'t> {
    /// By the index of the user's node.
    written: HashMap<usize, String>,
    default_account: HashMap<&'t str, &'t str>,
}

impl<'t> Users<'t> {
    /// Chooses the names: Slurm may store users in lower case, so two users of an account must differ in more than case.
    fn new(tree: &'t TreeDocument, accounts: &Accounts<'_>, losses: &mut Vec<LoadLoss>) -> Self {
        let mut users = Self { written: HashMap::new(), default_account: HashMap::new() };
        let mut taken = UniqueNames::new(str::to_ascii_lowercase, MAX_NAME);
        for (index, node) in tree.nodes.iter().enumerate().filter(|(_, node)| node.kind == NodeKind::Entity) {
            let is_first = !users.default_account.contains_key(node.name.as_str());
            let parent = tree.parent_name(node);
            users.default_account.entry(&node.name).or_insert(parent);
            let scope = format!("{}\0{}", accounts.written(parent), node.partition.as_deref().unwrap_or_default());
            let name = taken.claim(&scope, &valid_name(&node.name));
            if name == node.name {
                if is_first && name.bytes().any(|byte| byte.is_ascii_uppercase()) {
                    losses.push(LoadLoss::UpperCaseUser(name.clone()));
                }
            } else {
                let parent = parent.to_owned();
                losses.push(LoadLoss::Renamed { name: node.name.clone(), parent, written: name.clone() });
            }
            users.written.insert(index, name);
        }
        users
    }

    fn written(&self, index: usize) -> &str {
        self.written.get(&index).map_or("", String::as_str)
    }

    fn default_account(&self, user: &str) -> Option<&'t str> {
        self.default_account.get(user).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_tree;
    use job_sort_formula::fairshare::{Member, Naming, TreeBuilder};

    fn messages(file: &LoadFile) -> Vec<String> {
        file.losses.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn what_slurm_cannot_store_is_changed_and_reported() {
        let mut builder = TreeBuilder::new("TREEROOT").naming(Naming::PerGroup).lenient();
        let top = builder.root();
        let physics = builder.add(top, Member::group("Physics").shares(-5)).expect("room");
        builder.add(top, Member::group("physics").shares(3_000_000_000)).expect("room");
        builder.add(physics, Member::entity("O'Hara").usage(7.0)).expect("room");
        builder.add(physics, Member::entity("o_hara").shares_of_parent()).expect("room");
        builder.add(physics, Member::entity("Bob")).expect("room");
        let file = format_load_file(&TreeDocument::from_tree(&builder.finish()), "Here");
        assert_eq!(
            file.text,
            "Cluster - 'here':Fairshare=1\nParent - 'root'\n\
             Account - 'physics':Description='physics':Organization='physics':Fairshare=1\n\
             Account - 'physics_2':Description='physics_2':Organization='physics_2':Fairshare=2147483646\n\
             Parent - 'physics'\nUser - 'O_Hara':DefaultAccount='physics':Fairshare=1\n\
             User - 'o_hara_2':DefaultAccount='physics':Fairshare=parent\n\
             User - 'Bob':DefaultAccount='physics':Fairshare=1\n"
        );
        assert_eq!(
            messages(&file),
            [
                "`Physics` in `TREEROOT` becomes `physics`",
                "`physics` in `TREEROOT` becomes `physics_2`",
                "`O'Hara` in `Physics` becomes `O_Hara`",
                "`o_hara` in `Physics` becomes `o_hara_2`",
                "user `Bob` becomes lower case unless slurmdbd has PreserveCaseUser",
                "`Physics` has -5 shares, written as 1: Slurm stores 0 to 2147483646",
                "`physics` has 3000000000 shares, written as 2147483646: Slurm stores 0 to 2147483646",
                "the usage of one association is not written: a file for `sacctmgr load` has none",
                "a new cluster has a user `root` in account `root` with 1 share, which competes with the top accounts: \
                 after loading, `sacctmgr modify user where name=root account=root cluster=NAME set fairshare=0`",
            ]
        );
        read_tree("written", file.text.as_bytes()).expect("what is written can be read");
    }

    #[test]
    fn partitions_and_the_default_account_are_written() {
        let text = "Cluster - c\nAccount - a\nAccount - b\nParent - a\nUser - ann:Partition='x:y':Fairshare=2\nUser - ann\n\
            Parent - b\nUser - ann:Fairshare=parent\n";
        let tree = read_tree("hand.cfg", text.as_bytes()).expect("sound").document;
        let file = format_load_file(&tree, "c");
        assert!(file.text.contains("User - 'ann':Partition='x:y':DefaultAccount='a':Fairshare=2\n"), "{}", file.text);
        assert!(
            file.text.ends_with("Parent - 'b'\nUser - 'ann':DefaultAccount='a':Fairshare=parent\n"),
            "{}",
            file.text
        );
        let again = read_tree("written", file.text.as_bytes()).expect("sound").document;
        assert_eq!(again.nodes, tree.nodes);
        assert_eq!(tree.share_tree().expect("sound").len(), 6);
    }
}
