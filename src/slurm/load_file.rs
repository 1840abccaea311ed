//! A tree as a file for `sacctmgr load`.
//!
//! Limits (`GrpTRES`, `MaxJobs`, QOS, coordinators and the like) are no part of a tree and so not in the file.

mod names;

use std::collections::{HashMap, VecDeque};
use std::fmt::Write as _;

use thiserror::Error;

use crate::fairshare::Shares;
use crate::slurm::tree::{Association, AssociationKind, AssociationTree, MOST_SHARES, UNNAMED_PARTITION};
use names::{Accounts, Users, written};

/// A file and what it does not carry over.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LoadFile {
    /// The file.
    pub text: String,
    /// What is lost, or is not as it was.
    pub losses: Vec<LoadLoss>,
}

/// Something that a file for `sacctmgr load` does not carry over.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum LoadLoss {
    /// The usage: Slurm keeps it in a file of its own, `assoc_usage`, and no command sets it.
    #[error("the usage of {} is left behind: a file for `sacctmgr load` holds none", associations(*.0))]
    Usage(usize),
    /// A name that Slurm cannot hold, or holds already.
    #[error("`{name}` in `{parent}` becomes `{written}`")]
    Renamed {
        /// The name.
        name: String,
        /// The account that it is in.
        parent: String,
        /// What is written.
        written: String,
    },
    /// A user's name with capitals.
    #[error("user `{0}` becomes lower case unless slurmdbd has PreserveCaseUser")]
    UserCase(String),
    /// Shares that Slurm cannot hold.
    #[error("`{name}` has {shares} shares, of which Slurm takes {written}")]
    Shares {
        /// The association.
        name: String,
        /// Its shares.
        shares: i64,
        /// What is written.
        written: i64,
    },
    /// A partition that the tree's document did not name.
    #[error("nothing says to which partition `{name}` in `{parent}` is bound: write its name in place of `{written}`")]
    UnnamedPartition {
        /// The user.
        name: String,
        /// The account.
        parent: String,
        /// What is written.
        written: String,
    },
    /// The user that every new cluster has.
    #[error("a new cluster has a user `root` in account `root` with 1 share, which counts among the top accounts")]
    RootUser,
}

fn associations(count: usize) -> String {
    if count == 1 { "one association".to_owned() } else { format!("{count} associations") }
}

/// Writes the file: `Parent` blocks from the top down, members in the order of the tree, since `sacctmgr load` keeps
/// that order and fair tree decides ties between accounts by it.
///
/// ```
/// use job_sort_formula::slurm::{load_file::load_file, read_tree};
///
/// let dump = "Cluster - 'c':Fairshare=1\nParent - 'root'\nUser - 'root':Fairshare=1\nAccount - 'a':Fairshare=40\n";
/// let written = load_file(&read_tree("c.cfg", dump.as_bytes())?, "c");
/// assert!(written.text.ends_with("Account - 'a':Description='a':Organization='a':Fairshare=40\n"));
/// assert_eq!(written.losses, []);
/// # Ok::<(), job_sort_formula::slurm::tree::TreeReadError>(())
/// ```
pub fn load_file(tree: &AssociationTree, cluster: &str) -> LoadFile {
    let mut file = LoadFile::default();
    let cluster = written(cluster).to_lowercase();
    // writing to a string cannot fail
    let _ = writeln!(file.text, "Cluster - '{cluster}':Fairshare=1");
    let accounts = Accounts::of(tree, &mut file.losses);
    let users = Users::of(tree, &accounts, &mut file.losses);
    for (parent, members) in blocks(tree) {
        let _ = writeln!(file.text, "Parent - '{}'", accounts.written(parent));
        for index in members {
            let line = line(tree, index, &accounts, &users, &mut file.losses);
            let _ = writeln!(file.text, "{line}");
        }
    }
    let used = tree.nodes.iter().filter(|node| node.usage != 0.0).count() + usize::from(tree.root_usage != 0.0);
    if used > 0 {
        file.losses.push(LoadLoss::Usage(used));
    }
    let is_root_user =
        |node: &Association| node.kind == AssociationKind::User && node.name == "root" && node.parent == tree.root;
    if !tree.nodes.iter().any(is_root_user) {
        file.losses.push(LoadLoss::RootUser);
    }
    file
}

/// The accounts that have members, from the top down, and where their members are.
fn blocks(tree: &AssociationTree) -> Vec<(&str, Vec<usize>)> {
    let mut members: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, node) in tree.nodes.iter().enumerate() {
        members.entry(&node.parent).or_default().push(index);
    }
    let mut blocks = Vec::new();
    let mut waiting = VecDeque::from([tree.root.as_str()]);
    while let Some(account) = waiting.pop_front() {
        let Some(members) = members.remove(account) else { continue };
        let accounts = members.iter().filter_map(|&index| tree.nodes.get(index));
        waiting.extend(accounts.filter(|node| node.kind == AssociationKind::Account).map(|node| node.name.as_str()));
        blocks.push((account, members));
    }
    blocks
}

fn line(
    tree: &AssociationTree,
    index: usize,
    accounts: &Accounts<'_>,
    users: &Users<'_>,
    losses: &mut Vec<LoadLoss>,
) -> String {
    let node = &tree.nodes[index];
    let shares = match node.shares {
        Shares::Parent => "parent".to_owned(),
        Shares::Count(shares) => {
            let kept = if shares < 0 { 1 } else { shares.min(i64::from(MOST_SHARES)) };
            if kept != shares {
                losses.push(LoadLoss::Shares { name: node.name.clone(), shares, written: kept });
            }
            kept.to_string()
        }
    };
    match node.kind {
        AssociationKind::Account => {
            let name = accounts.written(&node.name);
            format!("Account - '{name}':Description='{name}':Organization='{name}':Fairshare={shares}")
        }
        AssociationKind::User => {
            let partition = match node.partition.as_str() {
                "" => String::new(),
                partition => {
                    let partition = written(partition);
                    if partition.starts_with(UNNAMED_PARTITION) {
                        let (name, parent, written) = (node.name.clone(), node.parent.clone(), partition.clone());
                        losses.push(LoadLoss::UnnamedPartition { name, parent, written });
                    }
                    format!(":Partition='{partition}'")
                }
            };
            let default = accounts.written(users.default_account(&node.name).unwrap_or(&node.parent));
            format!("User - '{}'{partition}:DefaultAccount='{default}':Fairshare={shares}", users.written(index))
        }
    }
}

#[cfg(test)]
mod tests;
